//! `ralph-gate report`: arms by logs and by conditions, every form, and what is wrong with a question.

use std::fs;
use std::path::Path;

use serde_json::Value;

use ralph_gate_tests::said::Said;

use crate::harness::{Files, command, run};

/// A loop that was refused twice, then complete.
const LOG: &str = include_str!("../../host/history/testdata/events.jsonl");

/// A run that was imported, with labels to choose it by.
fn imported(id: &str, arm: &str, ending: &str, truth: &str) -> String {
    format!(
        r#"{{"event":"imported_run","data":{{"id":"{id}","iterations":2,"elapsed_ms":1000,"tool_calls":3,"tokens":10,"cost_usd":"0.25","ending":"{ending}","truth":"{truth}","task_class":"fix","labels":{{"arm":"{arm}"}}}}}}"#
    ) + "\n"
}

/// Forty runs of each arm; before, every second one is false.
fn arms() -> String {
    let before = (0..40).map(|index| {
        let truth = if index % 2 == 0 {
            "incomplete"
        } else {
            "complete"
        };
        imported(&format!("b{index}"), "standard", "released", truth)
    });
    let after =
        (0..40).map(|index| imported(&format!("a{index}"), "ralph", "released", "complete"));
    before.chain(after).collect()
}

/// Files, each by its name, below a folder of their own.
struct Placed(Files);

impl Placed {
    fn new(files: &[(&str, &str)]) -> Self {
        let placed = Self(Files::new());
        for (name, content) in files {
            let path = placed.path(name);
            fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        placed
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.0.folder())
    }
}

#[test]
fn arms_are_chosen_by_conditions_and_the_table_ends_with_a_decision() {
    let files = Placed::new(&[("runs.jsonl", &arms())]);
    let runs = files.path("runs.jsonl");
    let table = run(&[
        "report",
        "--before",
        "arm=standard",
        "--after",
        "arm=ralph",
        &runs,
    ]);
    assert_eq!((table.code, table.stderr.as_str()), (0, ""), "{table:?}");
    for expected in ["False complete", "50.0", "default on", "40"] {
        assert!(
            table.stdout.contains(expected),
            "{expected}: {}",
            table.stdout
        );
    }
    let json = run(&[
        "report",
        "--json",
        "--before",
        "arm=standard",
        "--after",
        "arm=ralph",
        &runs,
    ]);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(report["decision"]["outcome"], "default_on");
    assert_eq!(report["before"]["runs"].as_array().unwrap().len(), 40);
}

#[test]
fn arms_are_chosen_by_client_and_by_source() {
    let imported = |id: &str, client: &str| {
        format!(
            r#"{{"event":"imported_run","data":{{"id":"{id}","client":"{client}","ending":"released","truth":"complete"}}}}"#
        ) + "\n"
    };
    let runs =
        imported("one", "claude-code") + &imported("two", "codex") + &imported("three", "codex");
    let files = Placed::new(&[("runs.jsonl", &runs), ("sessions/night/events.jsonl", LOG)]);
    let (runs, sessions) = (files.path("runs.jsonl"), files.path("sessions"));
    for (before, after, counts) in [
        ("client=claude-code", "client=codex", (1, 2)),
        ("source=import", "source=log", (3, 1)),
        (
            "source=import,client!=codex",
            "source=import,client=codex",
            (1, 2),
        ),
    ] {
        let said = run(&[
            "report", "--json", "--before", before, "--after", after, &runs, &sessions,
        ]);
        assert_eq!(said.code, 0, "{said:?}");
        let report: Value = serde_json::from_str(&said.stdout).unwrap();
        let count = |arm: &str| report[arm]["runs"].as_array().unwrap().len();
        assert_eq!(
            (count("before"), count("after")),
            counts,
            "{before} {after}"
        );
    }
    let said = run(&[
        "report",
        "--before",
        "client=gemini",
        "--after",
        "client=codex",
        &runs,
    ]);
    assert!(
        said.stderr.contains("client = claude-code or codex"),
        "{said:?}"
    );
    let help = run(&["report", "--help"]).stdout;
    for expected in ["client=claude-code", "source=import"] {
        assert!(help.contains(expected), "{expected}: {help}");
    }
}

#[test]
fn arms_are_logs_too_and_a_folder_is_every_log_in_it() {
    let files = Placed::new(&[
        ("old/one/events.jsonl", LOG),
        ("new/two/events.jsonl", LOG),
        ("new/three/events.jsonl", LOG),
    ]);
    let pattern = files.path("old/*/events.jsonl");
    let folder = files.path("new");
    let json = run(&["report", "--json", "--before", &pattern, "--after", &folder]);
    assert_eq!(json.code, 0, "{json:?}");
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    let ids: Vec<&str> = report["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["history", "history (2)", "history (3)"]);
    assert_eq!(report["before"]["runs"], serde_json::json!([2]));
    assert_eq!(report["after"]["runs"], serde_json::json!([0, 1]));
}

#[test]
fn the_name_of_the_file_says_the_form_and_nothing_is_half_written() {
    let files = Placed::new(&[("runs.jsonl", &arms())]);
    let runs = files.path("runs.jsonl");
    for (name, expected) in [
        ("r.html", "<!doctype html>"),
        ("r.md", "# "),
        ("r.json", "{\"version\":"),
        ("r.txt", "decision"),
    ] {
        let output = files.path(name);
        let said = run(&[
            "report",
            "--before",
            "arm=standard",
            "--after",
            "arm=ralph",
            "--output",
            &output,
            &runs,
        ]);
        assert_eq!((said.code, said.stdout.as_str()), (0, ""), "{said:?}");
        let text = fs::read_to_string(&output).unwrap();
        assert!(
            text.to_lowercase().contains(expected),
            "{name}: {}",
            &text[..text.len().min(300)]
        );
    }
    let nowhere = files.path("nowhere/r.html");
    let said = run(&[
        "report",
        "--before",
        "arm=standard",
        "--after",
        "arm=ralph",
        "--output",
        &nowhere,
        &runs,
    ]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("can't be written"), "{said:?}");
    let left: Vec<_> = fs::read_dir(files.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        left.iter()
            .all(|name| !name.to_string_lossy().contains(".new")),
        "{left:?}"
    );
}

#[test]
fn thresholds_come_from_the_configuration_and_the_command_line_wins() {
    let config = "[report]\nmin_false_complete_reduction = 0.9\n";
    let files = Placed::new(&[("runs.jsonl", &arms()), ("ralph-gate.toml", config)]);
    let outcome = |more: &[&str]| {
        let arguments = [
            "report",
            "--json",
            "--before",
            "arm=standard",
            "--after",
            "arm=ralph",
            "runs.jsonl",
        ];
        let mut command = command(&[&arguments, more].concat());
        let said = Said::by(command.current_dir(files.path("")));
        let report: Value =
            serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"));
        report["decision"]["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(outcome(&[]), "keep_opt_in");
    assert_eq!(outcome(&["--min-reduction", "0.1"]), "default_on");
    assert_eq!(
        outcome(&["--min-reduction", "0.1", "--primary", "handoff_rate"]),
        "keep_opt_in"
    );
}

#[test]
fn a_question_that_makes_no_sense_is_answered_with_what_would() {
    let files = Placed::new(&[("runs.jsonl", &arms())]);
    let runs = files.path("runs.jsonl");
    let nothing = files.path("nothing");
    let cases: [(&[&str], &str); 5] = [
        (
            &["--before", "arm=old", "--after", "arm=ralph", &runs],
            "the arm arm=old has no run; there are 80 runs, with arm = ralph or standard",
        ),
        (
            &["--before", "arm=ralph", "--after", "arm=ralph", &runs],
            "is in both arms",
        ),
        (
            &["--before", "arm=a,b", "--after", "arm=ralph", &runs],
            "`b` is no condition",
        ),
        (
            &["--before", &nothing, "--after", "arm=ralph", &runs],
            "no log is at",
        ),
        (
            &[
                "--before",
                "arm=standard",
                "--after",
                "arm=ralph",
                "--min-reduction",
                "lots",
                &runs,
            ],
            "`lots` is no share",
        ),
    ];
    for (arguments, expected) in cases {
        let said = run(&[&["report"], arguments].concat());
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{arguments:?}");
        assert!(
            said.stderr.contains(expected),
            "{expected}: {}",
            said.stderr
        );
    }
}

#[test]
fn what_agents_wrote_reaches_no_terminal() {
    let text = imported("\\u001b[31mred", "standard", "released", "incomplete")
        + &imported("x", "ralph", "released", "complete");
    let files = Placed::new(&[("runs.jsonl", &text)]);
    for form in ["table", "md", "html"] {
        let said = run(&[
            "report",
            "--before",
            "arm=standard",
            "--after",
            "arm=ralph",
            "--format",
            form,
            &files.path("runs.jsonl"),
        ]);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(!said.stdout.contains('\u{1b}'), "{form}");
    }
}
