//! Plans that can't be carried out, or that changed.

use crate::bench::{Bench, promise, work};

fn honest() -> Bench {
    Bench::new("", &[("honest", &[vec![work(), promise()]])])
}

/// Changes something of an experiment that has run, and gives what is said then.
fn refused(change: impl Fn(&Bench)) -> String {
    let bench = honest();
    bench.experiment(&[]).finished();
    change(&bench);
    let conducted = bench.experiment(&[]);
    assert_eq!(conducted.0.last_error_code(), "experiment_changed");
    conducted.0.last()["error"]["message"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn replace(bench: &Bench, from: &str, to: &str) {
    let plan = bench.read("plan.toml");
    assert!(plan.contains(from));
    bench.write("plan.toml", &plan.replace(from, to));
}

#[test]
fn a_plan_that_changed_after_the_first_run_is_refused_with_the_remedy() {
    for (from, to, part) in [
        ("seed = 7", "seed = 8", "`seed`"),
        ("false_complete_rate", "handoff_rate", "`primary_metric`"),
        (
            "\"enforce\"",
            "\"enforce\"\nloop_max_iters = 9",
            "`arms.ralph`",
        ),
        ("Do honest.", "Do honest well.", "`tasks.honest.prompt`"),
    ] {
        let message = refused(|bench| replace(bench, from, to));
        assert!(message.contains(&format!("changed {part};")), "{message}");
        assert!(
            message.contains("take the change back, or begin another experiment"),
            "{message}"
        );
    }
}

#[test]
fn a_task_whose_folder_changed_is_refused_too() {
    let message = refused(|bench| bench.write("tasks/honest/src/more.txt", "more"));
    assert!(
        message.contains("changed `tasks.honest.folder`;"),
        "{message}"
    );
}

#[test]
fn what_does_not_change_the_meaning_of_a_plan_may_change() {
    let bench = honest();
    bench.experiment(&[]).finished();
    replace(&bench, "seed = 7", "# A prime.\nseed = 7");
    bench.write(
        "tasks/honest/.ralph/x/events.jsonl",
        "of a loop that somebody tried by hand\n",
    );
    bench.experiment(&[]).finished();
}

#[test]
fn everything_that_is_wrong_with_a_plan_is_said_before_anything_is_run() {
    let bench = honest();
    replace(&bench, "class =", "clas =");
    replace(&bench, "primary_metric", "primary_metrik");
    let conducted = bench.experiment(&[]);
    assert_eq!(conducted.0.last_error_code(), "invalid_config");
    let error = &conducted.0.last()["error"];
    let problems: Vec<String> = error["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            format!(
                "{}:{} {} {}",
                it["line"], it["column"], it["path"], it["help"]
            )
        })
        .collect();
    assert!(
        problems
            .iter()
            .any(|it| it.contains("did you mean `primary_metric`?")),
        "{problems:?}"
    );
    assert!(
        problems.iter().any(|it| it.contains("\"tasks[0].clas\"")),
        "{problems:?}"
    );
    assert!(!bench.results().exists());
}

#[test]
fn what_the_gate_finds_wrong_with_an_arm_is_said_at_its_place_in_the_plan() {
    let bench = honest();
    replace(&bench, "\"enforce\"", "\"enforce\"\nloop_max_itres = 9");
    let conducted = bench.experiment(&["--dry-run"]);
    assert_eq!(conducted.0.last_error_code(), "invalid_config");
    let last = conducted.0.last();
    let problem = &last["error"]["problems"][0];
    assert_eq!(problem["path"], "arms.ralph.loop_max_itres", "{last:#}");
    assert_eq!(problem["line"], 11, "{last:#}");
    assert_eq!(problem["help"], "did you mean `loop_max_iters`?");
}

#[test]
fn files_and_agents_that_are_not_there_are_named_before_anything_is_run() {
    let bench = honest();
    replace(&bench, "tasks/honest", "tasks/honset");
    let conducted = bench.experiment(&[]);
    assert_eq!(conducted.0.last_error_code(), "invalid_config");
    assert!(
        conducted.0.stdout.contains("there is no such folder"),
        "{conducted:?}"
    );
    let bench = honest();
    bench.plan("", &["no-such-agent"], &["honest"]);
    let conducted = bench.experiment(&[]);
    assert_eq!(conducted.0.last_error_code(), "agent_not_started");
    assert!(!bench.results().exists());
}

#[test]
fn a_hidden_check_that_the_agent_would_see_is_refused() {
    let bench = honest();
    bench.write("tasks/honest/hidden.toml", "");
    replace(
        &bench,
        "class =",
        "audit = \"tasks/honest/hidden.toml\"\nclass =",
    );
    let conducted = bench.experiment(&["--dry-run"]);
    assert_eq!(conducted.0.last_error_code(), "invalid_config");
    assert!(
        conducted
            .0
            .stdout
            .contains("the agent would see the hidden checks"),
        "{conducted:?}"
    );
}
