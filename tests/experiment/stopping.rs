//! Experiments that are stopped, and go on.

use std::fs;

use ralph_gate_tests::agent_script::Step;
use ralph_gate_tests::waiting::wait_until;
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, logs_below, promise, work};

/// Three tasks, of which the middle one waits in its first run until it is released.
fn with_one_that_waits() -> Bench {
    let honest: &[Vec<Step>] = &[vec![work(), promise()]];
    let bench = Bench::new("", &[("a", honest), ("b", honest), ("c", honest)]);
    let order = bench.experiment(&["--dry-run"]).runs("planned");
    let third = order[2].split('/').nth(1).unwrap().to_owned();
    let wait = vec![
        Step::Write {
            path: bench.beside("reached"),
            text: String::new(),
        },
        Step::WaitFor(bench.beside("go")),
        work(),
        promise(),
    ];
    bench.script(&third, &[wait]);
    bench
}

/// Stops an experiment in its third run, and looks at what going on does.
fn goes_on_after(signal: Signal) {
    let bench = with_one_that_waits();
    let order = bench.experiment(&["--dry-run"]).runs("planned");
    let mut child = bench.start();
    bench.wait_for("reached");
    kill_process(Pid::from_child(&child), signal).unwrap();
    wait_until("the end of the experiment", || {
        child.try_wait().unwrap().is_some()
    });
    bench.mark.wait_until_gone().unwrap();
    let half_done = bench.results().join("runs").join(&order[2]);
    assert!(half_done.is_dir() && !half_done.join("run.json").exists());

    bench.release("go");
    let conducted = bench.experiment(&[]).finished();
    assert_eq!(conducted.runs("set_aside"), order[2..3]);
    assert_eq!(
        conducted.runs("begun"),
        order[2..],
        "what was done is not run again"
    );
    for (place, run) in order.iter().enumerate() {
        let attempt = if place == 2 { 2 } else { 1 };
        assert_eq!(bench.record(run)["attempt"], attempt, "{run}");
    }
    assert_eq!(
        bench.logs().len(),
        order.len(),
        "none is lost and none is there twice"
    );
    let kept = bench.results().join("set-aside").join(&order[2]).join("1");
    assert_eq!(logs_below(&kept).len(), 1, "nothing is deleted");

    let third = bench.experiment(&[]).finished();
    assert_eq!(third.runs("begun"), [""; 0], "it is finished");
}

#[test]
fn an_experiment_that_was_killed_goes_on_without_a_lost_or_doubled_run() {
    goes_on_after(Signal::KILL);
}

#[test]
fn an_experiment_that_was_interrupted_goes_on_where_it_stopped() {
    goes_on_after(Signal::INT);
}

#[test]
fn two_processes_do_not_work_on_the_same_experiment() {
    let bench = with_one_that_waits();
    let mut first = bench.start();
    bench.wait_for("reached");
    let words = ["experiment", "plan.toml", "--json"];
    let mut second = bench.command(ralph_gate_tests::binary::binary());
    let second = ralph_gate_tests::said::Said::by(second.args(words));
    assert_eq!(second.last_error_code(), "experiment_busy");
    bench.release("go");
    wait_until("the end of the experiment", || {
        first.try_wait().unwrap().is_some()
    });
    assert!(first.wait().unwrap().success());
    bench.mark.wait_until_gone().unwrap();
}

#[test]
fn a_record_that_is_damaged_is_not_taken_for_a_run_that_is_done() {
    let bench = Bench::new("", &[("honest", &[vec![work(), promise()]])]);
    bench.experiment(&[]).finished();
    let file = bench.results().join("runs/ralph/honest/1/run.json");
    fs::write(&file, "{\"id\": \"trial/ral").unwrap();
    let conducted = bench.experiment(&[]).finished();
    assert_eq!(conducted.runs("begun"), ["ralph/honest/1"]);
    assert_eq!(bench.record("ralph/honest/1")["attempt"], 2);
}
