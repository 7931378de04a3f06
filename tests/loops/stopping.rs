//! Agents that stop the loop's processes, to have all the time in the world.

use ralph_gate_tests::agent_script::Step;

use crate::harness::Workplace;
use crate::kit::{move_on, simple};

/// Stops a process by what a shell says is its id; `$inner` and `$outer` are the two processes of the loop.
fn stop(workplace: &Workplace, which: &str) -> Step {
    let parent = |of: &str| format!("$(cut -d ' ' -f 4 /proc/{of}/stat)");
    let script = format!(
        "inner={}; outer={}; kill -STOP {which}",
        // The shell's parent is the agent, whose parent is the loop.
        parent("$PPID"),
        parent("$inner")
    );
    Step::Run {
        argv: ["sh", "-c", &script].map(str::to_owned).into(),
        into: workplace.beside("said"),
    }
}

#[test]
fn an_agent_that_stops_the_loop_still_runs_out_of_time() {
    for which in ["$inner", "$outer"] {
        let terms = "max_consecutive_failures = 2\nper_iter_timeout_ms = 1000";
        let workplace = Workplace::new(&simple(terms), &[]);
        let stopping = vec![move_on(), stop(&workplace, which), Step::Hang];
        let outcome = workplace.run(&[stopping]);
        outcome.stopped("blocked", Some("max_consecutive_failures"), 2);
    }
}

#[test]
fn an_agent_that_stops_the_guard_and_ends_can_not_keep_the_command_from_ending() {
    let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
    let outcome = workplace.run(&[vec![move_on(), stop(&workplace, "$outer")]]);
    outcome.stopped("max_iters", None, 1);
}
