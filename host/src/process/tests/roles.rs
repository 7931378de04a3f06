//! This executable as a process of its own, for what concerns a whole process.

use std::process::Command;

use super::kit::{LONG, Scene, children_named, run_quietly};
use crate::process::{
    Interruption, Keep, Program, Role, Status, Stop, enter, guard, role, run, sweep,
};

/// Does nothing, unless a test has started it as somebody.
#[test]
fn play() {
    match std::env::var("PROCESS_TEST_ROLE").as_deref() {
        Ok("guard") => play_guard(),
        Ok("sweep") => play_sweep(),
        Ok("fleeing") => play_fleeing(),
        Ok("unclaimed") => play_unclaimed(),
        Ok("interrupts") => play_interrupts(),
        Ok("deaf") => play_deaf(),
        _ => {}
    }
}

/// The guard and, started by it, the runner: a loop of programs that each leave a tree behind.
fn play_guard() {
    play_outer();
    // The guard was killed before this process could watch it.
    let Ok((signals, _)) = enter() else {
        std::process::exit(3);
    };
    note_runner();
    let stop = Stop::new().unwrap();
    let switch = stop.clone();
    std::thread::spawn(move || {
        for interruption in signals {
            std::fs::write(format!("got-{interruption:?}"), "").unwrap();
            switch.cancel();
        }
    });
    while !stop.is_canceled() {
        let ended = run(&tree(), &stop, &mut |_| {}).unwrap();
        // A kill of the guard must not get here.
        std::fs::write("returned", format!("{:?}", ended.status)).unwrap();
    }
    std::process::exit(42);
}

/// Grandchildren in their own sessions, marked and not, and a chain in the foreground.
fn tree() -> Program {
    let script = "
        (setsid sh -c 'echo $$ > a.pid; sleep 1000' &)
        (setsid env -i sh -c 'echo $$ > b.pid; exec sleep 1000' > /dev/null 2>&1 &)
        (trap '' TERM; sh -c 'echo $$ > c.pid; sleep 1000' & wait) &
        while ! test -s a.pid -a -s b.pid -a -s c.pid; do sleep 0.01; done
        touch ready
        sleep 1000";
    Program {
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        directory: ".".into(),
        environment: std::env::vars_os().collect(),
        input: Vec::new(),
        timeout: LONG,
        keep: Keep { head: 0, tail: 0 },
    }
}

/// An orphan without any sign survives its run and is swept; a spared child is not.
fn play_sweep() {
    let scene = Scene::new();
    let mut spared = Command::new("sleep").arg("1000").spawn().unwrap();
    let orphan =
        "(setsid env -i sh -c 'echo $$ > a.pid; exec sleep 1000' < /dev/null > /dev/null 2>&1 &)
        while ! test -s a.pid; do sleep 0.01; done";
    let ended = run_quietly(&scene.script(orphan));
    assert_eq!(ended.status, Status::Exited(0));
    assert_eq!(scene.alive().len(), 1);
    let swept = sweep(&[spared.id()]);
    assert_eq!(swept.len(), 1, "{swept:?}");
    assert_eq!(swept[0].command, "sleep 1000");
    assert_eq!(scene.alive().len(), 0);
    let children = children_named("sleep");
    assert_eq!(children, [spared.id()]);
    spared.kill().unwrap();
    spared.wait().unwrap();
    assert_eq!(sweep(&[]), []);
}

/// Each process starts its successor in a session of its own, and ends.
const FLEEING: &str = "test $1 -ne 20 || touch ready; setsid sh flee.sh $(($1 + 1)) &";

/// A place in which `before sh flee.sh` flees while a program does `then`, once it has fled twenty times.
fn fleeing(before: &str, then: &str) -> (Scene, Program) {
    let scene = Scene::new();
    std::fs::write(scene.folder.path().join("flee.sh"), FLEEING).unwrap();
    let until_ready = "while ! test -e ready; do sleep 0.01; done";
    let program = scene.script(&format!("{before} sh flee.sh 0 & {until_ready}; {then}"));
    (scene, program)
}

fn play_fleeing() {
    let (scene, program) = fleeing("", "touch now; sleep 1000");
    let stop = Stop::new().unwrap();
    let ended = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&program, &stop, &mut |_| {}).unwrap());
        scene.until_there("now");
        stop.cancel();
        running.join().unwrap()
    });
    assert_eq!(ended.status, Status::Canceled);
    assert_eq!(ended.leftovers, []);
    scene.assert_dead(0);
    let (scene, program) = fleeing("", "true");
    let ended = run_quietly(&program);
    assert_eq!(ended.status, Status::Exited(0));
    assert_ne!(ended.leftovers, []);
    scene.assert_dead(0);
    // Without a mark or a pipe, it lives until it is swept.
    let (_scene, program) = fleeing("exec < /dev/null > /dev/null 2>&1; env -i", "true");
    run_quietly(&program);
    assert_ne!(sweep(&[]), []);
    assert!(children_named("sh").is_empty() && children_named("setsid").is_empty());
}

/// Without a claim, orphans are found by their mark.
fn play_unclaimed() {
    rustix::process::set_child_subreaper(None).unwrap();
    let scene = Scene::unclaimed();
    let orphan = "(setsid sh -c 'echo $$ > a.pid; exec sleep 1000' &)
        while ! test -s a.pid; do sleep 0.01; done";
    let ended = run_quietly(&scene.script(orphan));
    assert_eq!(ended.leftovers.len(), 1);
    scene.assert_dead(1);
}

/// Becomes the guard, unless it is the runner already.
fn play_outer() {
    if role() == Role::Outer {
        let mut inner = Command::new(std::env::current_exe().unwrap());
        inner.args(std::env::args_os().skip(1));
        std::process::exit(guard(inner, None).unwrap());
    }
}

fn note_runner() {
    let dumpable = rustix::process::dumpable_behavior().unwrap();
    std::fs::write("dumpable", format!("{dumpable:?}")).unwrap();
    std::fs::write("inner.tmp", std::process::id().to_string()).unwrap();
    std::fs::rename("inner.tmp", "inner.pid").unwrap();
}

/// The guard, and a runner that counts interrupts until it is asked to end.
fn play_interrupts() {
    play_outer();
    let (mut signals, _) = enter().unwrap();
    note_runner();
    let mut interrupts = 0;
    while signals.next() == Some(Interruption::Interrupt) {
        interrupts += 1;
        std::fs::write(format!("interrupt-{interrupts}"), "").unwrap();
    }
    std::process::exit(interrupts);
}

/// The guard, and a runner that hears interrupts and goes on.
fn play_deaf() {
    play_outer();
    let (signals, _) = enter().unwrap();
    note_runner();
    for interruption in signals {
        std::fs::write(format!("got-{interruption:?}"), "").unwrap();
    }
}
