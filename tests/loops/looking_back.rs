//! What a person learns of loops afterwards: lists, logs, and answers about a session by its key.

use serde_json::json;

use crate::harness::{KEY, Workplace};
use crate::kit::{move_on, print, simple, work};

/// A loop that was refused once and then completed.
fn completed() -> Workplace {
    let workplace = Workplace::new(&simple(""), &[]);
    let first = vec![
        move_on(),
        print("first thought\nnot yet there\n<promise>COMPLETE</promise>\n"),
    ];
    let second = vec![work(), print("<promise>COMPLETE</promise>\n")];
    workplace
        .run(&[first, second])
        .stopped("completed", None, 2);
    workplace
}

#[test]
fn sessions_are_listed_with_how_they_stand() {
    let workplace = completed();
    let said = workplace.gate(&["sessions"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stdout.contains("test  2 iterations, completed"),
        "{said:?}"
    );
    let listed = workplace.gate(&["sessions", "--json"]).json();
    let session = &listed["sessions"][0];
    assert_eq!(session["state"], "stopped");
    assert_eq!(
        (&session["stop_reason"], &session["iteration"]),
        (&json!("completed"), &json!(2))
    );
    assert_eq!(workplace.gate(&["sessions", "--keys"]).stdout, "test\n");
}

#[test]
fn logs_show_times_reasons_and_what_the_agent_said() {
    let workplace = completed();
    let said = workplace.gate(&["logs"]);
    let first = said.stdout.lines().next().unwrap();
    assert!(first.contains("Z  loop_started"), "{first}");
    assert!(
        said.stdout
            .contains("verdict  iteration 1: refused, the loop continues"),
        "{said:?}"
    );
    assert!(said.stdout.contains("          work: "), "{said:?}");
    assert!(
        said.stdout.contains("verdict  iteration 2: completed"),
        "{said:?}"
    );
    // The last line that it printed.
    assert!(
        said.stdout.contains("said: <promise>COMPLETE</promise>"),
        "{said:?}"
    );
    assert!(!said.stdout.contains("first thought"), "{said:?}");
    let all = workplace.gate(&["logs", "--agent"]);
    assert!(all.stdout.contains("said: first thought\n"), "{all:?}");
}

#[test]
fn replay_and_what_if_take_the_key_of_a_session() {
    let workplace = completed();
    for arguments in [vec!["replay"], vec!["replay", KEY]] {
        let said = workplace.gate(&arguments);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(
            said.stdout
                .contains("3 iterations, each answered with the same bytes"),
            "{said:?}"
        );
    }
    let contract = workplace.beside("other.json");
    let other = json!({ "mode": "ralph", "completion_checks": ["work"], "loop_max_iters": 1 });
    std::fs::write(&contract, other.to_string()).unwrap();
    let said = workplace.gate(&["what-if", "--contract", contract.to_str().unwrap(), KEY]);
    assert_eq!(said.code, 0, "{said:?}");
    let missing = workplace.gate(&["replay", "no-such-session"]);
    assert_eq!(missing.code, 1, "{missing:?}");
    assert!(missing.stderr.contains("no-such-session"), "{missing:?}");
}
