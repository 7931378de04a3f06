//! What a loop is marked with, for reports.

use crate::harness::{KEY, Workplace};
use crate::kit::{promise, simple, work};

#[test]
fn a_loop_says_whose_it_is_and_what_it_is_marked_with() {
    let workplace = Workplace::new(&simple("task_class = \"chores\""), &[]);
    let marks = [
        "--json",
        "--label",
        "arm=ralph",
        "--label",
        "task=parser",
        "--task-class",
        "bugfix",
    ];
    let outcome = workplace
        .start_with(&marks, &[], &[vec![work(), promise()]])
        .finish();
    outcome.stopped("completed", None, 1);
    let start = &workplace.logs()[0]["data"];
    assert_eq!(start["session"], KEY);
    assert_eq!(
        start["labels"],
        serde_json::json!({ "arm": "ralph", "task": "parser" })
    );
    assert_eq!(start["task_class"], "bugfix", "the command line wins");
}

#[test]
fn a_loop_without_labels_does_not_mention_them() {
    let workplace = Workplace::new(&simple("task_class = \"chores\""), &[]);
    workplace
        .run(&[vec![work(), promise()]])
        .stopped("completed", None, 1);
    let start = &workplace.logs()[0]["data"];
    assert_eq!(start.get("labels"), None);
    assert_eq!(start["task_class"], "chores");
}

#[test]
fn labels_that_can_not_be_used_are_refused_before_anything_begins() {
    let workplace = Workplace::new(&simple(""), &[]);
    for (label, reason) in [
        ("arm", "a label is NAME=VALUE"),
        ("Arm=ralph", "the label `Arm` has a name that can't be used"),
        ("arm=", "the label `arm` has no value"),
        (
            "arm=a\u{1b}b",
            "the value of the label `arm` has a control character",
        ),
    ] {
        let said = workplace.gate(&["run", "--json", "--label", label, "--", "true"]);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.stdout.contains(reason), "{said:?}");
    }
    let said = workplace.gate(&[
        "run", "--json", "--label", "a=1", "--label", "a=2", "--", "true",
    ]);
    assert!(
        said.stdout.contains("the label `a` is there twice"),
        "{said:?}"
    );
    assert_eq!(workplace.memory(), None);
}
