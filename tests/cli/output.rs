//! Where output goes: pipes that close, disks that are full, colours, and text that an agent wrote.

use std::io::Write as _;

use crate::harness::{command, run, run_with};

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [
        &["--help"][..],
        &["completions", "bash"],
        &["version"],
        &["promise"],
    ] {
        let mut child = command(arguments).spawn().unwrap();
        drop(child.stdout.take());
        drop(child.stdin.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn the_verdict_keeps_its_exit_code_when_the_reader_goes_away() {
    let mut child = command(&["evaluate", "--exit-code"]).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(
            br#"{"contract": {"mode": "ralph", "completion_token": "DONE"},
                 "iteration": {"index": 1, "action": "final", "output": "not yet"}}"#,
        )
        .unwrap();
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = command(&["version"]);
    command.stdout(full);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("error: standard output can't be written: "),
        "{stderr}"
    );
}

#[test]
fn a_pipe_gets_no_colour_unless_it_is_asked_for() {
    assert!(!run(&["version"]).stdout.contains('\x1b'));
    assert!(
        run(&["version", "--color", "always"])
            .stdout
            .contains('\x1b')
    );
    assert!(
        !run(&["version", "--color", "always", "--json"])
            .stdout
            .contains('\x1b')
    );
    assert!(
        run(&["promise", "nope", "--color", "always"])
            .stderr
            .contains('\x1b')
    );
    assert!(
        !run(&["promise", "nope", "--color", "never"])
            .stderr
            .contains('\x1b')
    );
}

#[test]
fn an_agent_can_not_write_to_the_terminal() {
    let run = run_with(&["promise"], b"<promise>\x1b[2Jx\x07</promise>");
    assert_eq!(run.code, 0);
    assert!(
        !run.stdout.contains('\x1b') && !run.stdout.contains('\x07'),
        "{run:?}"
    );
    // An escape sequence is no part of the promise; any other control character is shown by its number.
    assert!(run.stdout.contains("accepted: x\\u{7}"), "{run:?}");
}
