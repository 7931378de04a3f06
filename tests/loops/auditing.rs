//! Loops that are looked at after they have ended: by their own checks, by others, and by people.

use std::fs;

use ralph_gate_tests::agent_script::Step;
use ralph_gate_tests::event_schema;
use serde_json::{Value, json};

use crate::harness::{KEY, Workplace};
use crate::kit::{move_on, promise, simple, work, write};

/// A loop that is complete by the words in a file.
fn completed() -> Workplace {
    let workplace = Workplace::new(&simple(""), &[]);
    let turns = [vec![work(), promise()]];
    workplace.run(&turns).stopped("completed", None, 1);
    workplace
}

/// A configuration that the agent does not see, with one check that must pass.
fn hidden(workplace: &Workplace, check: &str) -> String {
    let text = format!(
        "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"truly\"]\nmax_check_retries = 0\n\n[checks.truly]\n{check}\n"
    );
    let file = workplace.beside("hidden.toml");
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

const TRULY: &str = "kind = \"file\"\npath = \"done.txt\"\ncontains = \"truly done\"";

/// The audits of the log, and that the log is whole and replays all the same.
fn audits(workplace: &Workplace) -> Vec<Value> {
    let memory = workplace.memory().unwrap();
    event_schema::check(&fs::read_to_string(memory.join("events.jsonl")).unwrap());
    assert_eq!(workplace.verify().code, 0);
    let replayed = workplace.ask_log("replay", &[]);
    assert_eq!(replayed["same"], true, "{replayed:#}");
    let logs = workplace.logs().into_iter();
    let audits = logs.filter(|event| event["event"] == "audit");
    audits.map(|event| event["data"].clone()).collect()
}

#[test]
fn what_a_weak_check_let_pass_a_hidden_one_finds_and_the_last_word_counts() {
    let workplace = completed();
    let file = hidden(&workplace, TRULY);
    let said = workplace.gate(&["audit", KEY, "--config", &file, "--by", "ada", "--json"]);
    assert_eq!(said.code, 3, "{said:?}");
    let answer = said.json();
    assert_eq!(answer["truth"], "incomplete");
    assert_eq!(answer["checks"][0]["id"], "truly");
    assert_eq!(answer["checks"][0]["required"], true);
    let found = audits(&workplace);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["truth"], "incomplete");
    assert_eq!(found[0]["witness"], "audit");
    assert_eq!(found[0]["by"], "ada");
    assert_eq!(
        found[0]["reason"],
        "by hidden.toml: 1 of 1 required check failed: truly"
    );
    assert_eq!(found[0]["checks"][0]["outcome"], "fail");
    let logs = workplace.logs();
    assert_eq!(answer["event"], logs.last().unwrap()["seq"]);
    assert_eq!(logs.last().unwrap()["run"]["mode"], "ralph");

    // By its own checks the loop was right.
    let said = workplace.gate(&["audit", KEY]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stdout.contains("complete: 1 required check passed"),
        "{said:?}"
    );
    assert_eq!(audits(&workplace).len(), 2);
    // The work is looked at as it is now.
    workplace.write("done.txt", "undone\n");
    workplace.write("done.txt", "not yet\n");
    assert_eq!(workplace.gate(&["audit", KEY]).code, 3);
    let status = workplace.gate(&["status", KEY, "--json"]).json();
    assert_eq!(status["stop_reason"], "completed", "the verdict stays");
}

#[test]
fn a_dry_run_tells_and_appends_nothing() {
    let workplace = completed();
    let file = hidden(&workplace, TRULY);
    let said = workplace.gate(&["audit", KEY, "--config", &file, "--dry-run"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stdout.contains("nothing was written"), "{said:?}");
    assert_eq!(audits(&workplace), Vec::<Value>::new());
}

#[test]
fn a_check_that_can_not_be_run_leaves_the_truth_unknown() {
    let workplace = completed();
    let file = hidden(&workplace, "argv = [\"no-such-program-anywhere\"]");
    let said = workplace.gate(&["audit", KEY, "--config", &file]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(audits(&workplace)[0]["truth"], "unknown");
}

#[test]
fn a_loop_that_runs_or_never_ended_is_not_audited() {
    let workplace = Workplace::new(&simple(""), &[]);
    let begun = write(workplace.beside("begun"), "");
    let mut running = workplace.start(&[vec![begun, Step::Hang]]);
    running.wait_for("begun");
    for arguments in [
        vec!["audit", KEY, "--json"],
        vec!["audit", KEY, "--json", "--dry-run"],
    ] {
        let said = workplace.gate(&arguments);
        assert_eq!(said.code, 1, "{said:?}");
        assert_eq!(said.json()["error"]["code"], "memory_busy", "{said:?}");
    }
    let table = workplace.beside("labels.csv");
    fs::write(&table, format!("session,truth\n{KEY},fail\n")).unwrap();
    let said = workplace.gate(&["audit", "--labels", table.to_str().unwrap()]);
    assert!(
        said.code == 1 && said.stderr.contains("is running"),
        "{said:?}"
    );
    running.kill_runner();
    running.wait();
    let said = workplace.gate(&["audit", KEY, "--json"]);
    assert_eq!(said.json()["error"]["code"], "loop_not_ended", "{said:?}");
}

#[test]
fn other_checks_than_the_loop_had_must_be_named() {
    let workplace = completed();
    workplace.write("ralph-gate.toml", &simple("").replace("\"done\"", "\"d\""));
    let said = workplace.gate(&["audit", KEY, "--json"]);
    assert_eq!(said.json()["error"]["code"], "other_checks", "{said:?}");
    let said = workplace.gate(&["audit", KEY, "--config", "ralph-gate.toml"]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_loop_that_was_audited_can_be_gone_on_with() {
    let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
    workplace
        .run(&[vec![move_on()]])
        .stopped("max_iters", None, 1);
    assert_eq!(workplace.gate(&["audit", KEY]).code, 3);
    workplace.write("ralph-gate.toml", &simple("loop_max_iters = 9"));
    let arguments = ["--json", "--resume", "--accept-contract"];
    let turns = [vec![move_on()], vec![work(), promise()]];
    let outcome = workplace.start_with(&arguments, &[], &turns).finish();
    assert_eq!(outcome.stop().0, "completed", "{outcome:#?}");
    assert_eq!(workplace.gate(&["audit", KEY]).code, 0);
    let truths: Vec<Value> = audits(&workplace)
        .iter()
        .map(|it| it["truth"].clone())
        .collect();
    assert_eq!(truths, ["incomplete", "complete"]);
}

#[test]
fn labels_are_imported_once_and_only_if_the_table_is_right() {
    let workplace = completed();
    let table = workplace.beside("labels.csv");
    let import = |text: &str, more: &[&str]| {
        fs::write(&table, text).unwrap();
        let mut words = vec!["audit", "--labels", table.to_str().unwrap(), "--json"];
        words.extend(more);
        workplace.gate(&words)
    };
    let bad = format!("session,truth\r\n{KEY},pass\r\nnobody,fail\r\n");
    let said = import(&bad, &[]);
    assert_eq!(said.code, 1, "{said:?}");
    let error = said.json()["error"].clone();
    assert_eq!(error["code"], "invalid_labels", "{error:#}");
    assert_eq!(error["problems"][0]["line"], 3, "{error:#}");
    assert_eq!(
        audits(&workplace),
        Vec::<Value>::new(),
        "nothing was written"
    );

    let good = format!("\u{feff}session,truth,by,reason\r\n{KEY},fail,ada,\"crashes, often\"\r\n");
    let said = import(&good, &["--dry-run"]);
    assert_eq!(said.json()["labels"][0]["fate"], "new", "{said:?}");
    for fate in ["appended", "known"] {
        let said = import(&good, &[]);
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(said.json()["labels"][0]["fate"], fate, "{said:?}");
    }
    let found = audits(&workplace);
    assert_eq!(found.len(), 1, "{found:#?}");
    let mut label = found[0].clone();
    label.as_object_mut().unwrap().remove("at_ms");
    let expected = json!({ "truth": "incomplete", "witness": "label", "by": "ada", "reason": "crashes, often", "checks": [] });
    assert_eq!(label, expected);
    // Somebody has looked again.
    let said = import(&good.replace("fail", "pass"), &[]);
    assert_eq!(said.json()["labels"][0]["fate"], "appended", "{said:?}");
    assert_eq!(audits(&workplace).len(), 2);
}

#[test]
fn an_agent_does_not_audit_its_own_loop() {
    let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
    let argv = [
        ralph_gate_tests::binary::binary().to_str().unwrap(),
        "audit",
        "--labels",
        "mine.csv",
    ];
    let ask = Step::Run {
        argv: argv.iter().map(ToString::to_string).collect(),
        into: workplace.beside("said"),
    };
    let label = write("mine.csv", &format!("session,truth\n{KEY},complete\n"));
    workplace.run(&[vec![label, ask, move_on()]]);
    let said = fs::read_to_string(workplace.beside("said")).unwrap();
    assert!(
        said.contains("a process that the loop itself started"),
        "{said}"
    );
}
