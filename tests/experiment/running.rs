//! What is run, in which order, and what it leaves.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use crate::bench::{Bench, events, promise, work};

#[test]
fn every_task_is_run_in_both_arms_from_a_fresh_workspace() {
    let bench = Bench::new(
        "",
        &[
            ("honest", &[vec![work(), promise()]]),
            ("hasty", &[vec![promise()], vec![work(), promise()]]),
        ],
    );
    let conducted = bench.experiment(&[]).finished();
    assert_eq!(conducted.runs("ended").len(), 4);
    let of = |run: &str| {
        let end = bench.record(run)["ended"].clone();
        (
            end["decision"].clone(),
            end["stop_reason"].clone(),
            end["iteration"].clone(),
        )
    };
    // Whoever is not held says done and is gone.
    for run in ["standard/honest/1", "standard/hasty/1"] {
        assert_eq!(
            of(run),
            (json!("pass_through"), json!(null), json!(1)),
            "{run}"
        );
    }
    assert_eq!(
        of("ralph/honest/1"),
        (json!("stop"), json!("completed"), json!(1))
    );
    assert_eq!(
        of("ralph/hasty/1"),
        (json!("stop"), json!("completed"), json!(2))
    );
    for run in ["standard/honest/1", "ralph/hasty/1"] {
        let workspace = bench.results().join("runs").join(run).join("workspace");
        let task = run.split('/').nth(1).unwrap();
        let copied = fs::read_to_string(workspace.join(format!("src/{task}.txt"))).unwrap();
        assert_eq!(copied, task);
        assert!(workspace.join(".git").is_dir() && workspace.join("done.txt").is_file());
    }
    assert!(
        !bench.work().join("tasks/honest/done.txt").exists(),
        "the task stays as it was"
    );
}

#[test]
fn each_log_says_which_run_of_which_experiment_it_is() {
    let bench = Bench::new("repeats = 2", &[("honest", &[vec![work(), promise()]])]);
    bench.experiment(&[]).finished();
    let log = bench.log("standard/honest/2");
    let start = &log[0]["data"];
    assert_eq!(start["session"], "trial/standard/honest/2");
    assert_eq!(
        start["labels"],
        json!({ "arm": "standard", "experiment": "trial", "repeat": "2", "task": "honest" })
    );
    assert_eq!(
        (&start["task_class"], &start["enforcement"]),
        (&json!("chores"), &json!("shadow"))
    );
    assert_eq!(start["prompt"], "Do honest.");
    let verdict = &log
        .iter()
        .rfind(|event| event["event"] == "verdict")
        .unwrap()["data"]["verdict"];
    assert_eq!(
        verdict["shadow"]["stop_reason"], "completed",
        "what a gate would have said"
    );
    let sessions: BTreeSet<String> = bench
        .logs()
        .iter()
        .map(|log| events(log)[0]["data"]["session"].to_string())
        .collect();
    assert_eq!(sessions.len(), 4);
}

#[test]
fn the_order_is_the_one_that_was_shown_and_depends_on_the_seed() {
    let honest: &[Vec<_>] = &[vec![work(), promise()]];
    let bench = Bench::new(
        "repeats = 2",
        &[("a", honest), ("b", honest), ("c", honest)],
    );
    let shown = bench.experiment(&["--dry-run"]).runs("planned");
    assert!(!bench.results().exists(), "nothing is written");
    assert_eq!(shown, bench.experiment(&["--dry-run"]).runs("planned"));
    assert_eq!(shown.len(), 12);
    let conducted = bench.experiment(&[]).finished();
    assert_eq!(conducted.runs("begun"), shown);
    let plan = bench.read("plan.toml").replace("seed = 7", "seed = 8");
    bench.write("plan.toml", &plan.replace("../results", "../others"));
    assert_ne!(shown, bench.experiment(&["--dry-run"]).runs("planned"));
}

#[test]
fn several_runs_at_a_time_are_the_same_runs() {
    let honest: &[Vec<_>] = &[vec![work(), promise()]];
    let bench = Bench::new("", &[("a", honest), ("b", honest), ("c", honest)]);
    let conducted = bench.experiment(&["--jobs", "3"]).finished();
    let ended: BTreeSet<String> = conducted.runs("ended").into_iter().collect();
    assert_eq!(ended.len(), 6);
    assert_eq!(bench.logs().len(), 6);
}

#[test]
fn at_the_end_it_says_how_the_arms_are_compared() {
    let bench = Bench::new("", &[("honest", &[vec![work(), promise()]])]);
    let last = bench.experiment(&[]).finished().0.last();
    let command: Vec<&str> = last["report"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect();
    assert_eq!(
        command[..7],
        [
            "ralph-gate",
            "report",
            "--before",
            "experiment=trial,arm=standard",
            "--after",
            "experiment=trial,arm=ralph",
            "--primary"
        ]
    );
    let pattern = command.last().unwrap();
    assert!(
        pattern.ends_with("results/runs/*/*/*/workspace/.ralph/*/events.jsonl"),
        "{pattern}"
    );
}
