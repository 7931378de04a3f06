//! Going on with a loop that has stopped.

use crate::harness::Workplace;
use crate::kit::{move_on, promise, simple, work};

#[test]
fn a_loop_that_a_person_mended_completes_without_the_agent() {
    let config = simple("loop_max_iters = 1").replace("completion_token = \"COMPLETE\"\n", "");
    let workplace = Workplace::new(&config, &[]);
    workplace
        .run(&[vec![promise()]])
        .stopped("max_iters", None, 1);
    workplace.write("done.txt", "done\n");
    let outcome = workplace.resume(&[vec![move_on()]]);
    outcome.stopped("completed", None, 1);
    assert!(outcome.events("agent_ended").is_empty());
    assert!(!workplace.work().join("notes.txt").exists());
}

#[test]
fn a_loop_that_has_completed_does_not_go_on() {
    let workplace = Workplace::new(&simple(""), &[]);
    workplace
        .run(&[vec![work(), promise()]])
        .stopped("completed", None, 1);
    let outcome = workplace
        .start_with(&["--json", "--resume"], &[], &[vec![promise()]])
        .end();
    assert_eq!(outcome.error_code(), "loop_completed");
}

#[test]
fn a_loop_does_not_go_on_under_other_checks_unless_an_operator_accepts_them() {
    let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
    workplace
        .run(&[vec![promise()]])
        .stopped("max_iters", None, 1);
    let other = workplace
        .read("ralph-gate.toml")
        .replace("done.txt", "other.txt");
    workplace.write("ralph-gate.toml", &other);
    workplace.write("other.txt", "done\n");
    let turns = [vec![promise()]];
    let outcome = workplace
        .start_with(&["--json", "--resume"], &[], &turns)
        .end();
    assert_eq!(outcome.error_code(), "checks_changed");
    let arguments = ["--json", "--resume", "--accept-contract"];
    let outcome = workplace.start_with(&arguments, &[], &turns).finish();
    assert_eq!(outcome.stop().0, "completed");
}
