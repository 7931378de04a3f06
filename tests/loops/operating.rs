//! An operator who looks at a loop, ends it or completes it, whatever the agent does about that.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use ralph_gate_tests::agent_script::Step;
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::waiting::wait_until;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{KEY, Running, Workplace};
use crate::kit::{promise, simple, work, write};

/// Starts a loop whose agent does this, says that it has begun, and works until it is ended.
fn start<'w>(workplace: &'w Workplace, first: &[Step]) -> Running<'w> {
    let begun = write(workplace.beside("begun"), "");
    let steps = [first, &[begun, Step::Hang]].concat();
    let running = workplace.start(&[steps]);
    running.wait_for("begun");
    running
}

fn shell(workplace: &Workplace, script: &str) -> Step {
    Step::Run {
        argv: ["sh", "-c", script].map(str::to_owned).into(),
        into: workplace.beside("said"),
    }
}

/// Ends a loop without a key, and says how that went.
fn cancel(workplace: &Workplace, running: Running<'_>) {
    let said = workplace.gate(&["cancel", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    let expected = json!({ "canceled": true, "iterations": 1, "state": "stopped", "stop_reason": "context_canceled" });
    assert_eq!(answer, expected);
    assert_eq!(running.end().code, Some(3));
}

/// A session of another loop, which is over.
fn over(workplace: &Workplace) {
    let run = workplace.gate(&["run", "--json", "--session", "other", "--", "true"]);
    assert_eq!(run.code, 3, "{run:?}");
}

#[test]
fn a_broken_configuration_keeps_nobody_from_ending_the_loop() {
    let workplace = Workplace::new(&simple(""), &[]);
    let running = start(&workplace, &[write("ralph-gate.toml", "[[[")]);
    let said = workplace.gate(&["status"]);
    assert!(said.stdout.contains("state      running"), "{said:?}");
    assert!(said.stderr.contains("warning: "), "{said:?}");
    cancel(&workplace, running);
}

#[test]
fn the_loop_that_is_running_is_meant_whatever_was_touched_last() {
    let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
    over(&workplace);
    let touch = shell(&workplace, "touch -d 2099-01-01 .ralph/other*/checkpoints");
    let running = start(&workplace, &[touch]);
    cancel(&workplace, running);
}

#[test]
fn where_several_loops_are_running_one_must_be_named() {
    let workplace = Workplace::new(&simple(""), &[]);
    let running = start(&workplace, &[]);
    let sleep = ["run", "--json", "--session", "other", "--", "sleep", "60"];
    let mut other = workplace.spawn(&sleep);
    wait_until("both are running", || workplace.gate(&["status"]).code == 1);
    let said = workplace.gate(&["cancel", "--json"]);
    assert!(said.stdout.contains("several_loops"), "{said:?}");
    assert!(said.stdout.contains("other, test"), "{said:?}");
    for key in ["other", KEY] {
        assert_eq!(workplace.gate(&["cancel", key]).code, 0);
    }
    assert_eq!(other.wait().unwrap().code(), Some(3));
    assert_eq!(running.end().code, Some(3));
}

#[test]
fn a_loop_whose_memory_was_moved_away_is_still_named() {
    let workplace = Workplace::new(&simple(""), &[]);
    let running = start(&workplace, &[shell(&workplace, "mv .ralph ../elsewhere")]);
    let said = workplace.gate(&["cancel"]);
    let work = workplace.work().canonicalize().unwrap();
    let is_named = |line: &str| {
        line.contains("running elsewhere: test (process") && line.contains(&*work.to_string_lossy())
    };
    assert!(said.stderr.lines().any(is_named), "{said:?}");
    running.signal(Signal::KILL);
    running.wait();
    workplace.mark.wait_until_gone().unwrap();
}

#[test]
fn a_shadow_loop_that_has_ended_was_not_interrupted() {
    let workplace = Workplace::new(&simple("enforcement = \"shadow\""), &[]);
    workplace.run(&[vec![promise()]]);
    let said = workplace.gate(&["status", "--json"]);
    let status: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(status["state"], "passed_through", "{status:#}");
}

#[test]
fn whoever_follows_a_loop_sees_its_last_verdict() {
    let workplace = Workplace::new(&simple(""), &[]);
    let go = Step::WaitFor(workplace.beside("go"));
    let begun = write(workplace.beside("begun"), "");
    let running = workplace.start(&[vec![begun, go, work(), promise()]]);
    running.wait_for("begun");
    let mut follow = workplace.spawn(&["logs", "--follow", "--json"]);
    let lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(lines.next().unwrap()["event"], "loop_started");
    workplace.release("go");
    let last = lines.last().unwrap();
    assert_eq!(last["data"]["verdict"]["stop_reason"], "completed");
    assert!(follow.wait().unwrap().success());
    running.finish().stopped("completed", None, 1);
}

#[test]
fn following_a_loop_ends_when_nobody_reads_any_more() {
    let workplace = Workplace::new(&simple(""), &[]);
    let running = start(&workplace, &[]);
    let mut follow = workplace.spawn(&["logs", "--follow"]);
    drop(follow.stdout.take());
    wait_until("it has noticed", || follow.try_wait().unwrap().is_some());
    running.signal(Signal::INT);
    running.end();
}

#[test]
fn without_a_loop_there_is_no_line_of_json() {
    let workplace = Workplace::new(&simple(""), &[]);
    let said = workplace.gate(&["logs", "--json"]);
    assert_eq!((said.code, said.stdout.as_str()), (0, ""));
}

impl Workplace {
    /// Starts another command of `ralph-gate` here.
    fn spawn(&self, arguments: &[&str]) -> std::process::Child {
        let mut command: Command = self.command(binary());
        command.args(arguments).stdout(Stdio::piped());
        command.spawn().unwrap()
    }
}
