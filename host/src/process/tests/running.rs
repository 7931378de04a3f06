//! One program, or several at once.

use std::path::Path;
use std::thread;
use std::time::Duration;

use super::kit::{Scene, children_named, run_quietly};
use crate::process::{Ended, Keep, StartError, Status, Stop, run};

/// Makes an orphan in a session of its own that notes its id; then goes on with what comes after it.
fn orphan(name: &str, prefix: &str, then: &str) -> String {
    format!(
        "(setsid {prefix} sh -c 'echo $$ > {name}.tmp; mv {name}.tmp {name}.pid; exec sleep 1000' &)
         while ! test -e {name}.pid; do sleep 0.01; done; {then}"
    )
}

/// Runs a script, and ends it as a timeout does once the file `ready` is there.
fn end_when_ready(scene: &Scene, script: &str) -> Ended {
    let (stop, program) = (Stop::new().unwrap(), scene.script(script));
    thread::scope(|scope| {
        let running = scope.spawn(|| run(&program, &stop, &mut |_| {}).unwrap());
        scene.until_there("ready");
        stop.cancel();
        running.join().unwrap()
    })
}

#[test]
fn a_program_gets_its_input_and_its_environment_and_nothing_else() {
    let scene = Scene::new();
    let mut program = scene.program(&[
        "sh",
        "-c",
        "cat; env | cut -d= -f1 | sort | tr '\\n' ' '; pwd; echo no >&2; exit 7",
    ]);
    program.input = b"in\n".to_vec();
    let ended = run_quietly(&program);
    let folder = scene.folder.path().canonicalize().unwrap();
    let names = "PATH PROCESS_TEST_MARK PWD RALPH_GATE_PROCESS _ ";
    let text = ended
        .stdout
        .text()
        .replace("OLDPWD ", "")
        .replace("SHLVL ", "");
    assert_eq!(
        text.replace(" _ ", " ").replace("_ ", ""),
        format!("in\n{names}{}\n", folder.display()).replace("_ ", "")
    );
    assert_eq!(ended.stderr.text(), "no\n");
    assert_eq!(ended.status, Status::Exited(7));
    assert!(ended.leftovers.is_empty());
}

#[test]
fn programs_are_looked_up_like_execvp_does_in_their_own_environment() {
    let scene = Scene::new();
    let script = |path: &str, text: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = scene.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    script("one/tool", "#!/bin/sh\necho one", 0o644);
    script("two/tool", "#!/bin/sh\necho two", 0o755);
    script("tool", "#!/bin/sh\necho here", 0o755);
    script("plain", "echo plain", 0o755);
    script("lost", "#!/no/such/interpreter\n", 0o755);
    let with = |argv: &[&str], path: Option<&str>| {
        let mut program = scene.program(argv);
        program
            .environment
            .remove("PATH".as_ref() as &std::ffi::OsStr);
        program
            .environment
            .extend(path.map(|path| ("PATH".into(), path.into())));
        run(&program, &Stop::new().unwrap(), &mut |_| {}).map(|ended| ended.stdout.text())
    };
    assert_eq!(with(&["tool"], Some("one:two")).unwrap(), "two\n");
    assert_eq!(with(&["tool"], Some("nowhere::two")).unwrap(), "here\n");
    assert_eq!(with(&["./tool"], Some("/usr/bin")).unwrap(), "here\n");
    assert_eq!(with(&["echo", "a b"], None).unwrap(), "a b\n");
    let error = |argv: &[&str], path| with(argv, Some(path)).unwrap_err();
    assert!(matches!(
        error(&["tool"], "one"),
        StartError::NotExecutable { .. }
    ));
    assert!(matches!(
        error(&["two"], "."),
        StartError::NotExecutable { .. }
    ));
    assert!(matches!(error(&["./plain"], ""), StartError::Format { .. }));
    assert!(matches!(
        error(&["./lost"], ""),
        StartError::Interpreter { .. }
    ));
    assert!(matches!(error(&[""], "/bin"), StartError::NotFound { .. }));
    assert_eq!(
        error(&["no-such-tool"], "/a:/b").to_string(),
        "program `no-such-tool` was not found in its PATH (/a:/b): install it or give its path"
    );
}

#[test]
fn what_can_not_be_started_is_an_error_that_names_it() {
    let scene = Scene::new();
    let start = |change: &dyn Fn(&mut crate::process::Program)| {
        let mut program = scene.program(&["true"]);
        change(&mut program);
        run(&program, &Stop::new().unwrap(), &mut |_| {}).unwrap_err()
    };
    assert!(matches!(
        start(&|program| program.argv.clear()),
        StartError::NoName
    ));
    let zero = start(&|program| program.argv.push("a\0b".into()));
    assert_eq!(
        zero.to_string(),
        "argument 1 of program `true` contains a zero byte: remove it"
    );
    let zero = start(&|program| drop(program.environment.insert("A".into(), "\0".into())));
    assert!(matches!(zero, StartError::ZeroByte { .. }));
    let name = start(&|program| drop(program.environment.insert("A=B".into(), "".into())));
    assert!(matches!(name, StartError::VariableName { .. }));
    let missing = start(&|program| program.directory = "/no/such/folder".into());
    assert!(missing.to_string().contains("/no/such/folder"), "{missing}");
    let file = start(&|program| program.directory = "/bin/sh".into());
    assert!(matches!(file, StartError::Directory { .. }));
    let large = start(&|program| program.argv.push("a".repeat(64 << 20)));
    assert!(matches!(large, StartError::TooLarge { .. }));
}

#[test]
fn a_relative_directory_is_seen_from_here_and_a_relative_program_from_there() {
    let scene = Scene::new();
    let mut program = scene.program(&["./sh", "-c", "pwd"]);
    let up = "../".repeat(std::env::current_dir().unwrap().components().count());
    program.directory = Path::new(&format!("{up}bin")).to_owned();
    assert_eq!(run_quietly(&program).status, Status::Exited(0));
}

#[test]
fn a_broken_pipe_ends_a_program_as_it_should() {
    let scene = Scene::new();
    let ended = run_quietly(&scene.script("(yes; echo $? >&2) | head -1"));
    assert_eq!(ended.stdout.text(), "y\n");
    assert_eq!(ended.stderr.text(), "141\n");
    let ended = run_quietly(&scene.program(&["sh", "-c", "kill -PIPE $$"]));
    assert_eq!(ended.status, Status::Signaled(13));
}

#[test]
fn input_that_is_not_read_blocks_nobody() {
    let scene = Scene::new();
    for script in ["true", "exec <&-; echo done", "head -c 10 > /dev/null"] {
        let mut program = scene.script(script);
        program.input = vec![b'x'; 10 << 20];
        assert_eq!(run_quietly(&program).status, Status::Exited(0), "{script}");
    }
    let mut program = scene.program(&["wc", "-c"]);
    program.input = vec![b'x'; 10 << 20];
    assert_eq!(run_quietly(&program).stdout.text().trim(), "10485760");
}

#[test]
fn floods_on_both_streams_are_digested_in_bounded_memory() {
    const SIZE: usize = 100 << 20;
    let scene = Scene::new();
    let mut program =
        scene.script("yes out | head -c 104857600 & yes err | head -c 104857600 >&2; wait");
    program.keep = Keep { head: 8, tail: 4 };
    let mut digest = blake3::Hasher::new();
    let ended = run(&program, &Stop::new().unwrap(), &mut |chunk| {
        digest.update(chunk);
    });
    let ended = ended.unwrap();
    let expected = blake3::hash(&b"out\n".repeat(SIZE / 4));
    assert_eq!(ended.stdout.total, SIZE as u64);
    assert_eq!(ended.stderr.total, SIZE as u64);
    assert_eq!(ended.stdout.digest, *expected.as_bytes());
    assert_eq!(digest.finalize(), expected);
    assert_eq!(
        ended.stderr.digest,
        *blake3::hash(&b"err\n".repeat(SIZE / 4)).as_bytes()
    );
    assert_eq!(
        ended.stderr.text(),
        "err\nerr\n[… 104857588 bytes left out …]\nerr\n"
    );
}

#[test]
fn a_program_that_takes_too_long_is_ended() {
    let scene = Scene::new();
    let mut program = scene.program(&["sleep", "1000"]);
    program.timeout = Duration::from_millis(50);
    assert_eq!(run_quietly(&program).status, Status::TimedOut);
    scene.assert_dead(0);
}

#[test]
fn a_program_that_ignores_being_asked_is_ended() {
    let scene = Scene::new();
    let ended = end_when_ready(
        &scene,
        "trap '' TERM; echo begun; touch ready; while :; do sleep 1000; done",
    );
    assert_eq!(ended.status, Status::Canceled);
    assert_eq!(ended.stdout.text(), "begun\n");
    scene.assert_dead(0);
}

#[test]
fn a_program_that_is_asked_to_end_may_still_write() {
    let scene = Scene::new();
    let ended = end_when_ready(
        &scene,
        "trap 'echo saved; exit 0' TERM; touch ready; while :; do sleep 0.01; done",
    );
    assert_eq!(ended.status, Status::Canceled);
    assert_eq!(ended.stdout.text(), "saved\n");
    scene.assert_dead(0);
}

#[test]
fn an_end_reaches_daemons_in_sessions_of_their_own() {
    let scene = Scene::new();
    let two = orphan("two", "env -i", "touch ready; sleep 1000");
    let ended = end_when_ready(&scene, &orphan("one", "", &two));
    assert_eq!(ended.status, Status::Canceled);
    assert_eq!(ended.leftovers, []);
    scene.assert_dead(2);
}

#[test]
fn an_end_reaches_processes_below_a_parent_that_lives_although_nothing_marks_them() {
    let scene = Scene::new();
    let noting = "echo $$ > one.tmp; mv one.tmp one.pid; exec sleep 1000";
    let script = format!(
        "setsid env -i sh -c '{noting}' > /dev/null 2>&1 &
         while ! test -e one.pid; do sleep 0.01; done; touch ready; sleep 1000"
    );
    let ended = end_when_ready(&scene, &script);
    assert_eq!(ended.status, Status::Canceled);
    scene.assert_dead(1);
}

#[test]
fn an_end_reaches_a_deep_chain() {
    let scene = Scene::new();
    let chain = "f() { if test $1 -gt 0; then f $(($1 - 1)) & wait; else touch ready; sleep 1000; fi; }; f 50";
    let ended = end_when_ready(&scene, chain);
    assert_eq!(ended.status, Status::Canceled);
    scene.assert_dead(0);
}

#[test]
fn what_a_program_leaves_running_is_named_and_killed() {
    let scene = Scene::new();
    let ended = run_quietly(&scene.script("sleep 1000 & echo done"));
    assert_eq!(ended.status, Status::Exited(0));
    assert_eq!(ended.stdout.text(), "done\n");
    let commands: Vec<&str> = ended
        .leftovers
        .iter()
        .map(|left| left.command.as_str())
        .collect();
    assert_eq!(commands, ["sleep 1000"]);
    scene.assert_dead(0);
    for prefix in ["", "env -i"] {
        let scene = Scene::new();
        let ended = run_quietly(&scene.script(&orphan("one", prefix, "exit 3")));
        assert_eq!(ended.status, Status::Exited(3));
        assert_eq!(ended.leftovers.len(), 1, "{prefix}");
        scene.assert_dead(1);
    }
}

#[test]
fn what_ends_by_itself_soon_after_its_program_is_no_leftover() {
    let scene = Scene::new();
    let ended = run_quietly(&scene.script("(sleep 0.05; echo late) & echo done"));
    assert_eq!(ended.leftovers, []);
    assert_eq!(ended.stdout.text(), "done\nlate\n");
    scene.assert_dead(0);
}

#[test]
fn orphans_that_ended_are_reaped() {
    let scene = Scene::new();
    // The name is short enough for the system's table of processes.
    std::os::unix::fs::symlink("/bin/sleep", scene.folder.path().join("reap-me")).unwrap();
    let ended =
        run_quietly(&scene.script("(./reap-me 0 &) ; (setsid ./reap-me 1000 &); ./reap-me 0.1"));
    assert_eq!(ended.leftovers.len(), 1);
    assert!(children_named("reap-me").is_empty());
}

#[test]
fn canceling_ends_every_run_that_holds_the_switch() {
    let scenes = [Scene::new(), Scene::new()];
    let other = Scene::new();
    let (stop, unused) = (Stop::new().unwrap(), Stop::new().unwrap());
    thread::scope(|scope| {
        let running = scenes.each_ref().map(|scene| {
            let stop = stop.clone();
            let program = scene.script(&orphan("one", "", "touch ready; sleep 1000"));
            scope.spawn(move || run(&program, &stop, &mut |_| {}).unwrap())
        });
        let bystander =
            other.script("touch ready; while ! test -e go; do sleep 0.01; done; echo unharmed");
        let bystander = scope.spawn(|| {
            let program = bystander;
            run(&program, &unused, &mut |_| {}).unwrap()
        });
        scenes
            .iter()
            .chain([&other])
            .for_each(|scene| scene.until_there("ready"));
        assert!(!stop.is_canceled());
        stop.cancel();
        for run in running {
            assert_eq!(run.join().unwrap().status, Status::Canceled);
        }
        std::fs::write(other.folder.path().join("go"), "").unwrap();
        assert_eq!(bystander.join().unwrap().stdout.text(), "unharmed\n");
    });
    for scene in &scenes {
        scene.assert_dead(1);
    }
    let program = scenes[0].script("touch late");
    let late = run(&program, &stop, &mut |_| {}).unwrap();
    assert_eq!(late.status, Status::Canceled);
    assert!(!scenes[0].has("late"));
}

#[test]
fn the_end_of_one_run_kills_no_process_of_another() {
    let pairs: Vec<[Scene; 2]> = (0..4).map(|_| [Scene::new(), Scene::new()]).collect();
    let (stop, never) = (Stop::new().unwrap(), Stop::new().unwrap());
    let start = |scene: &Scene, index: usize, stop: &Stop, then: &str| {
        let prefix = if index.is_multiple_of(2) {
            ""
        } else {
            "env -i"
        };
        let program = scene.script(&orphan("one", prefix, &format!("touch ready; {then}")));
        run(&program, stop, &mut |_| {}).unwrap()
    };
    thread::scope(|scope| {
        let (start, stop, never) = (&start, &stop, &never);
        let running = pairs.iter().enumerate().map(|(index, [ended, living])| {
            let looks =
                "while ! test -e go; do sleep 0.01; done; kill -0 $(cat one.pid) && echo alive";
            (
                scope.spawn(move || start(ended, index, stop, "sleep 1000")),
                scope.spawn(move || start(living, index, never, looks)),
            )
        });
        let running: Vec<_> = running.collect();
        for scene in pairs.iter().flatten() {
            scene.until_there("ready");
        }
        stop.cancel();
        for ((ended, living), [_, scene]) in running.into_iter().zip(&pairs) {
            assert_eq!(ended.join().unwrap().status, Status::Canceled);
            std::fs::write(scene.folder.path().join("go"), "").unwrap();
            let living = living.join().unwrap();
            assert_eq!(living.stdout.text(), "alive\n");
            assert_eq!(living.leftovers.len(), 1);
        }
    });
    for scene in pairs.iter().flatten() {
        scene.assert_dead(1);
    }
}

#[test]
fn a_panic_of_the_listener_kills_the_program() {
    let scene = Scene::new();
    let program = scene.script(&orphan("one", "", "echo now; sleep 1000"));
    let panicked = thread::spawn(move || {
        let stop = Stop::new().unwrap();
        run(&program, &stop, &mut |_| panic!("the listener's own fault"))
    });
    assert!(panicked.join().is_err());
    scene.assert_dead(1);
}

#[test]
fn every_run_has_a_mark_of_its_own() {
    let scene = Scene::new();
    let marks = run_quietly(&scene.script("echo $RALPH_GATE_PROCESS"))
        .stdout
        .text();
    let next = run_quietly(&scene.script("echo $RALPH_GATE_PROCESS"))
        .stdout
        .text();
    assert_ne!(marks, next);
    assert!(
        marks.starts_with(&format!("{}-", std::process::id())),
        "{marks}"
    );
}
