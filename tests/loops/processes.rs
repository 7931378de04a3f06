//! Processes that an agent leaves behind, and what is left when the loop itself is killed. That nothing is alive after
//! a run, the harness checks in every test.

use std::panic::AssertUnwindSafe;

use ralph_gate_tests::agent_script::{Keeps, Step};
use ralph_gate_tests::waiting::wait_until;
use rustix::process::Signal;

use crate::harness::{Outcome, Running, Workplace};
use crate::kit::{detach, promise, simple, work, write};

/// A process that has left its parent and would go on for a minute.
fn straggler(workplace: &Workplace, environment: Keeps) -> Step {
    detach(
        environment,
        &[write(workplace.beside("begun"), ""), Step::Hang],
    )
}

/// Ends its turn only when the straggler is there.
fn wait(workplace: &Workplace) -> Step {
    Step::WaitFor(workplace.beside("begun"))
}

#[test]
#[should_panic(expected = "left alive")]
fn a_process_that_is_left_alive_fails_a_test() {
    let workplace = Workplace::new(&simple(""), &[]);
    let mut left = workplace.leave("sleep", "60");
    // A process that is only just there has no environment yet.
    wait_until("it can be seen", || !workplace.mark.alive().is_empty());
    let looked = std::panic::catch_unwind(AssertUnwindSafe(|| workplace.see_that_all_are_dead()));
    left.kill().unwrap();
    left.wait().unwrap();
    if let Err(panic) = looked {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn a_process_that_goes_on_behind_the_agents_back_is_killed_and_counts_against_it() {
    for environment in [Keeps::Everything, Keeps::OnlyTheMark] {
        let workplace = Workplace::new(&simple("loop_max_iters = 2"), &[]);
        let outcome = workplace.run(&[vec![
            straggler(&workplace, environment),
            wait(&workplace),
            work(),
            promise(),
        ]]);
        outcome.always_tampered("leftover_processes");
        let [agent, ..] = &outcome.events("agent_ended")[..] else {
            panic!("{outcome:#?}");
        };
        assert_eq!(agent["agent"]["exit"], 0);
    }
}

#[test]
fn an_edit_that_comes_after_the_agents_end_does_not_happen() {
    let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
    let late = detach(
        Keeps::OnlyTheMark,
        &[
            write(workplace.beside("begun"), ""),
            Step::WaitFor(workplace.beside("go")),
            write("late.txt", ""),
        ],
    );
    let outcome = workplace.run(&[vec![late, wait(&workplace), work(), promise()]]);
    outcome.always_tampered("leftover_processes");
    workplace.release("go");
    assert!(!workplace.work().join("late.txt").exists());
}

#[test]
fn where_the_configuration_allows_it_leftovers_are_only_killed() {
    let config = simple("") + "\n[agent]\nleftovers = \"kill\"\n";
    let workplace = Workplace::new(&config, &[]);
    let outcome = workplace.run(&[vec![
        straggler(&workplace, Keeps::Everything),
        wait(&workplace),
        work(),
        promise(),
    ]]);
    outcome.stopped("completed", None, 1);
}

#[test]
fn an_iteration_that_takes_too_long_is_ended_with_all_that_it_started() {
    let terms = "loop_max_iters = 1\nper_iter_timeout_ms = 500";
    let workplace = Workplace::new(&simple(terms), &[]);
    let outcome = workplace.run(&[vec![
        straggler(&workplace, Keeps::OnlyTheMark),
        work(),
        promise(),
        Step::Hang,
    ]]);
    outcome.never_completed();
    outcome.stopped("max_iters", None, 1);
    assert_eq!(outcome.events("agent_ended")[0]["agent"]["timed_out"], true);
}

#[test]
fn a_check_that_takes_too_long_is_ended_with_all_that_it_started() {
    let config = simple("loop_max_iters = 1\nmax_check_retries = 0").replace(
        "kind = \"file\"\npath = \"done.txt\"\ncontains = \"done\"",
        "shell = \"setsid sleep 60 & sleep 60\"\ntimeout_ms = 200",
    );
    let workplace = Workplace::new(&config, &[]);
    let outcome = workplace.run(&[vec![promise()]]);
    outcome.always_refused("check_timed_out", Some("work"));
}

/// Starts a loop whose agent and a process of its own are at work.
fn with_a_busy_loop(use_it: impl FnOnce(&Workplace, Running<'_>)) {
    let workplace = Workplace::new(&simple(""), &[]);
    let running = workplace.start(&[vec![straggler(&workplace, Keeps::OnlyTheMark), Step::Hang]]);
    running.wait_for("begun");
    use_it(&workplace, running);
}

#[test]
fn a_canceled_loop_leaves_no_process() {
    with_a_busy_loop(|workplace, running| {
        let said = workplace.gate(&["cancel"]);
        assert_eq!(said.code, 0, "{said:?}");
        running.finish().stopped("context_canceled", None, 1);
    });
}

#[test]
fn a_loop_that_is_interrupted_twice_ends_at_once_and_leaves_no_process() {
    with_a_busy_loop(|workplace, running| {
        running.signal(Signal::INT);
        running.signal(Signal::INT);
        let outcome = running.end();
        outcome.never_completed();
        // Two signals that come at the same time may be one.
        assert!(matches!(outcome.code, Some(3 | 130)), "{outcome:?}");
        goes_on(workplace);
    });
}

#[test]
fn a_loop_that_is_asked_to_end_leaves_no_process() {
    with_a_busy_loop(|_, running| {
        running.signal(Signal::TERM);
        running.finish().stopped("context_canceled", None, 1);
    });
}

#[test]
fn a_loop_that_is_killed_leaves_no_process_and_goes_on_later() {
    with_a_busy_loop(|workplace, running| {
        running.signal(Signal::KILL);
        let outcome = running.wait();
        assert_eq!(outcome.code, None);
        workplace.mark.wait_until_gone().unwrap();
        outcome.never_completed();
        goes_on(workplace);
    });
}

#[test]
fn a_loop_whose_inner_process_is_killed_leaves_no_process_and_goes_on_later() {
    with_a_busy_loop(|workplace, mut running| {
        running.kill_runner();
        let outcome = running.end();
        assert_eq!(outcome.code, Some(137), "{outcome:?}");
        goes_on(workplace);
    });
}

#[test]
fn an_agent_that_kills_the_loop_does_not_complete_it() {
    let workplace = Workplace::new(&simple(""), &[]);
    let kill = Step::Run {
        // The shell's parent is the agent, whose parent is the loop.
        argv: ["sh", "-c", "kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat)"]
            .map(str::to_owned)
            .into(),
        into: workplace.beside("said"),
    };
    let outcome = workplace.start(&[vec![work(), kill, Step::Hang]]).end();
    outcome.never_completed();
    assert_eq!(outcome.code, Some(137), "{outcome:?}");
    let outcome = workplace.resume(&[vec![promise()]]);
    assert_eq!(outcome.stop().0, "completed");
}

/// The loop can be resumed, and completes.
fn goes_on(workplace: &Workplace) {
    wait_until("nobody holds the session", || {
        let said = workplace.gate(&["status", "--json"]);
        !said.stdout.contains("\"running\"")
    });
    let outcome: Outcome = workplace.resume(&[vec![work(), promise()]]);
    assert_eq!(outcome.stop().0, "completed");
}
