//! What a person learns of loops afterwards: lists, logs, and answers about a session by its key.

use std::fs::File;
use std::time::{Duration, SystemTime};

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::said::Said;
use ralph_gate_tests::shells::complete_in_bash;
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
fn the_example_of_sessions_prints_their_keys() {
    let workplace = completed();
    let help = workplace.gate(&["sessions", "--help"]).stdout;
    let example = help.lines().find(|line| line.contains("jq")).unwrap();
    let directory = binary().parent().unwrap().to_str().unwrap();
    let script = format!("PATH={directory}:$PATH; command -v jq > /dev/null || exit 77; {example}");
    let said = Said::by(workplace.command("sh").args(["-c", &script]));
    if said.code == 77 {
        eprintln!("skipped: there is no jq");
        return;
    }
    assert_eq!((said.code, said.stdout.as_str()), (0, "test\n"), "{said:?}");
}

#[test]
fn keys_of_sessions_are_completed_in_bash() {
    let workplace = completed();
    let second = workplace.gate(&["run", "--json", "--session", "night run", "--", "true"]);
    assert_ne!(second.code, 1, "{second:?}");
    for (words, expected) in [
        (&["logs", "te"][..], &["test"][..]),
        (&["logs", "--last", "3", "te"], &["test"]),
        (&["memory", "show", "te"], &["test"]),
        (&["replay", "test", "ni"], &["night\\ run"]),
        (&["run", "--session", "te"], &["test"]),
        (&["-C", ".", "status", "--root", ".ralph", "te"], &["test"]),
        (&["status", "--root", "elsewhere", "te"], &[]),
        (&["logs", "--last", "te"], &[]),
        (&["evaluate", "te"], &[]),
    ] {
        let mut bash = workplace.command("bash");
        let Some(offered) = complete_in_bash(&mut bash, words) else {
            return;
        };
        let offered: Vec<&str> = offered.iter().map(String::as_str).collect();
        assert_eq!(offered, expected, "{words:?}");
    }
}

#[test]
fn the_newest_session_is_first_also_within_a_second() {
    let workplace = completed();
    for key in ["b", "a", "c"] {
        workplace.gate(&["run", "--json", "--session", key, "--", "true"]);
    }
    let order = ["c", "test", "a", "b"];
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_001);
    for (key, later) in order.into_iter().rev().zip(1..) {
        let shown = workplace.gate(&["memory", "show", key, "--json"]).json();
        let folder = shown["path"].as_str().unwrap().to_owned();
        let checkpoints = File::open(workplace.work().join(folder).join("checkpoints")).unwrap();
        checkpoints
            .set_modified(second + Duration::from_millis(later))
            .unwrap();
    }
    let said = workplace.gate(&["sessions", "--keys"]);
    assert_eq!(said.stdout, "c\ntest\na\nb\n");
    let listed = workplace.gate(&["sessions", "--json"]).json();
    assert_eq!(
        listed["sessions"][0]["written_at_ms"],
        json!(1_800_000_001_004_u64)
    );
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
    // A draft has a key, too.
    let drafted = Workplace::new(&simple(""), &[]);
    let arguments = ["--json", "--draft"];
    drafted
        .start_with(
            &arguments,
            &[],
            &[vec![work(), print("<promise>COMPLETE</promise>\n")]],
        )
        .end()
        .stopped("completed", None, 1);
    for command in [
        vec!["replay", KEY],
        vec!["what-if", "--contract", contract.to_str().unwrap(), KEY],
    ] {
        let said = drafted.gate(&command);
        assert_eq!(said.code, 0, "{said:?}");
    }
}
