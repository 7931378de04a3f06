//! What counts: every run that began, however it ended.

use ralph_gate_tests::agent_script::Step;
use serde_json::json;

use crate::bench::{Bench, promise, work};

#[test]
fn an_agent_that_fails_is_a_run_like_any_other() {
    let bench = Bench::new("", &[("failing", &[vec![Step::Exit(9)]])]);
    bench.experiment(&[]).finished();
    let standard = bench.record("standard/failing/1");
    assert_eq!(standard["exit"], 9, "nothing held it");
    assert_eq!(standard["ended"]["decision"], "pass_through");
    let held = bench.record("ralph/failing/1");
    assert_eq!(held["ended"]["decision"], "stop");
    assert_ne!(held["ended"]["stop_reason"], "completed");
}

#[test]
fn a_loop_that_its_agent_kills_counts_and_the_experiment_goes_on() {
    let bench = Bench::new("", &[("killer", &[vec![]]), ("other", &[vec![]])]);
    let kill = "[ {task} != killer ] || kill -9 $PPID; echo done > done.txt; echo '<promise>COMPLETE</promise>'";
    bench.plan("", &["sh", "-c", kill], &["killer", "other"]);
    let conducted = bench.experiment(&[]).finished();
    assert_eq!(conducted.runs("ended").len(), 4);
    for arm in ["standard", "ralph"] {
        let crashed = bench.record(&format!("{arm}/killer/1"));
        assert_eq!(crashed["ended"], json!(null), "{crashed:#}");
        assert_eq!(crashed["attempt"], 1);
        assert_eq!(
            bench.log(&format!("{arm}/killer/1"))[0]["event"],
            "loop_started"
        );
        let other = bench.record(&format!("{arm}/other/1"));
        assert_ne!(other["ended"], json!(null), "{other:#}");
    }
    // It is not run again to get a better result.
    let again = bench.experiment(&[]).finished();
    assert_eq!(again.runs("begun"), [""; 0]);
}

#[test]
fn a_loop_that_did_not_begin_says_nothing_about_its_arm_and_ends_the_experiment() {
    let bench = Bench::new("", &[("honest", &[vec![work(), promise()]])]);
    // Found only when the loop begins.
    let config = bench.read("tasks/honest/ralph-gate.toml");
    bench.write(
        "tasks/honest/ralph-gate.toml",
        &format!("{config}\n[memory]\nprd = \"prd.json\"\n"),
    );
    let conducted = bench.experiment(&[]);
    assert_eq!(conducted.0.last_error_code(), "run_not_begun");
    assert!(conducted.0.stdout.contains("prd.json"), "{conducted:?}");
    assert_eq!(conducted.runs("ended"), [""; 0]);
}
