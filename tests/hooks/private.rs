//! A client's loop that records digests only: its hooks answer as ever, and its log says nothing.

use std::fs;

use ralph_gate_tests::event_schema;

use crate::project::Project;

#[test]
fn a_clients_loop_is_held_and_released_although_its_log_holds_digests() {
    let project = Project::new();
    let config = "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"work\"]\n\n[checks.work]\nkind = \"file\"\n\
                  path = \"done.txt\"\nexists = true\n\n[memory]\nrecord = \"digest_only\"\n";
    project.write("ralph-gate.toml", config);
    let words = [
        "loop",
        "start",
        "--completion-promise",
        "COMPLETE",
        "Paint the shed.",
    ];
    assert_eq!(project.gate(&words, "").code, 0);
    for turn in 0..2 {
        let answer = project.stop("It is violet now.", turn > 0);
        assert_eq!(answer["decision"], "block", "{answer}");
        let reason = answer["reason"].as_str().unwrap();
        assert!(reason.contains("Paint the shed."), "{reason}");
    }
    project.write("done.txt", "");
    let answer = project.stop("It is violet.\n<promise>COMPLETE</promise>", true);
    assert_ne!(answer["decision"], "block", "{answer}");
    let sessions = fs::read_dir(project.work().join(".ralph")).unwrap();
    let [session] = sessions
        .map(Result::unwrap)
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    let log = fs::read_to_string(session.path().join("events.jsonl")).unwrap();
    for secret in ["shed", "violet", "done.txt"] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
    let names = event_schema::check(&log);
    assert_eq!(names.iter().filter(|name| *name == "verdict").count(), 3);
    // The checks that the loop began with are in its memory, not in the log.
    let key = "claude-code/s1";
    let said = project.gate(&["audit", key, "--json"], "");
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["truth"], "complete");
}
