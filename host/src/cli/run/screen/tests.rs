//! The live view without a terminal: events in, lines out.

use std::path::Path;
use std::sync::LazyLock;

use ralph_gate::engine::{GateEngine, Mode, RouteReason};
use ralph_gate::evidence::Attempt;
use ralph_gate::memory::SessionKey;
use serde_json::json;

use super::super::super::args::Color;
use super::super::super::terminal::{Painter, Terminal};
use super::*;

static GATE: LazyLock<GateEngine> = LazyLock::new(|| GateEngine::new().unwrap());
const ROOMY: usize = 50;

fn plain() -> Painter {
    Terminal::new(false, Color::Never).painter
}

fn open(screen: &mut Screen) {
    screen.see(
        &LoopEvent::Opened {
            key: &SessionKey::Session("night".into()),
            memory: Path::new("/project/.ralph/night"),
            mode: (Mode::Ralph, RouteReason::Requested),
            iteration: 0,
            at_most: 9,
            overridable: true,
            argv: &["claude".into(), "-p".into()],
            checks: &["tests".into(), "lint".into()],
            withheld: &[],
            others: 0,
        },
        0,
    );
}

fn enter(screen: &mut Screen, iteration: u32, phase: Phase, now: Moment) {
    screen.see(&LoopEvent::Entered { iteration, phase }, now);
}

fn end_check(screen: &mut Screen, id: &str, outcome: Outcome, reason: &str) {
    let evidence = Evidence {
        check: id.to_owned(),
        kind: "command",
        iteration: 1,
        started_at_ms: 0,
        duration_ms: 1200,
        tree: None,
        outcome,
        reason: reason.to_owned(),
        tests: None,
        code: None,
        policy: None,
        attempts: Vec::<Attempt>::new(),
    };
    screen.see(&LoopEvent::Check(CheckEvent::Ended(&evidence)), 0);
}

/// What the gate says when the tests fail.
fn refusal() -> Verdict {
    let contract = json!({
        "mode": "ralph", "completion_checks": ["tests", "lint"], "loop_max_iters": 9,
    });
    let iteration = json!({
        "index": 1, "action": "final",
        "checks": [
            { "id": "tests", "outcome": "fail", "reason": "2 of 14 failed\nmore" },
            { "id": "lint", "outcome": "pass" },
        ],
        "usage": { "elapsed_ms": 72_000, "tool_calls": 3 },
    });
    let iteration = serde_json::from_value(iteration).unwrap();
    GATE.evaluate_final(&contract.to_string(), None, &iteration)
        .unwrap()
}

fn decide(screen: &mut Screen, now: Moment) {
    let verdict = refusal();
    screen.see(
        &LoopEvent::Decided {
            iteration: 1,
            verdict: &verdict,
        },
        now,
    );
}

fn region(screen: &Screen, now: Moment, most: usize) -> Vec<String> {
    let lines = screen.region(now, most);
    lines.iter().map(|line| line.cut(plain(), 100)).collect()
}

fn permanent(screen: &mut Screen) -> Vec<String> {
    let lines = screen.take_permanent();
    lines.iter().map(|line| line.whole(plain())).collect()
}

/// A loop whose first iteration was refused, in its second one.
fn refused() -> Screen {
    let mut screen = Screen::new("/project".into());
    open(&mut screen);
    enter(&mut screen, 1, Phase::Agent, 1000);
    enter(&mut screen, 1, Phase::Checks, 60_000);
    end_check(&mut screen, "tests", Outcome::Fail, "2 of 14 failed\nmore");
    end_check(&mut screen, "lint", Outcome::Pass, "exit code 0");
    decide(&mut screen, 73_000);
    enter(&mut screen, 2, Phase::Agent, 73_000);
    screen
}

#[test]
fn an_agent_at_work_is_shown_with_its_time_and_what_it_does() {
    let mut screen = Screen::new("/project".into());
    open(&mut screen);
    enter(&mut screen, 1, Phase::Agent, 1000);
    screen.see(&LoopEvent::Activity("tool: Edit a.rs\nsecond line"), 2000);
    assert_eq!(
        region(&screen, 62_000, ROOMY),
        [
            "loop night  iteration 1 of 9  1 min 2 s",
            "agent 1 min 1 s  claude -p  tool: Edit a.rs",
            "checks",
            "  waiting  tests",
            "  waiting  lint ",
        ]
    );
}

#[test]
fn a_running_check_shows_how_long_it_runs() {
    let mut screen = Screen::new("/project".into());
    open(&mut screen);
    enter(&mut screen, 1, Phase::Checks, 0);
    screen.see(&LoopEvent::Check(CheckEvent::Started("lint")), 1000);
    assert_eq!(
        region(&screen, 4000, ROOMY)[3..],
        ["  waiting  tests", "  running  lint        3 s  "]
    );
}

#[test]
fn a_refused_iteration_leaves_one_line_with_reason_and_time() {
    let mut screen = refused();
    assert_eq!(
        permanent(&mut screen),
        [
            "loop night begins in ralph mode (requested)  .ralph/night",
            "iteration 1  refused: tests check_failed (2 of 14 failed)  1 min 12 s",
        ]
    );
    assert_eq!(permanent(&mut screen), [""; 0]);
}

#[test]
fn the_last_results_stay_until_the_checks_run_again() {
    let mut screen = refused();
    let lines = region(&screen, 74_000, ROOMY);
    assert_eq!(
        lines[2..5],
        [
            "checks, of iteration 1",
            "  fail     tests     1.2 s  2 of 14 failed",
            "  pass     lint      1.2 s  exit code 0",
        ]
    );
    enter(&mut screen, 2, Phase::Checks, 75_000);
    assert_eq!(
        region(&screen, 75_000, ROOMY)[2..4],
        ["checks", "  waiting  tests"]
    );
}

#[test]
fn the_last_verdict_is_shown_with_its_guardrails_and_why() {
    let lines = region(&refused(), 74_000, ROOMY);
    for expected in [
        "  loop_max_iters            █░░░░░░░░░  11 %  1 of 9",
        "  max_duration_ms           ░░░░░░░░░░   0 %  1 min 12 s of 8 h 0 min",
        "last verdict  iteration 1 refused",
        "  tests  check_failed  2 of 14 failed",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{lines:#?}");
    }
}

#[test]
fn without_room_gauges_go_first_then_passed_checks_then_the_end() {
    let screen = refused();
    let all = region(&screen, 74_000, ROOMY);
    let has = |lines: &[String], text: &str| lines.iter().any(|line| line.contains(text));
    assert_eq!(region(&screen, 74_000, all.len()), all);
    let fewer = region(&screen, 74_000, all.len() - 1);
    assert!(
        !has(&fewer, "loop_max_iters") && has(&fewer, "lint"),
        "{fewer:#?}"
    );
    let fewest = region(&screen, 74_000, fewer.len() - 1);
    assert!(
        !has(&fewest, "lint") && has(&fewest, "last verdict"),
        "{fewest:#?}"
    );
    assert_eq!(region(&screen, 74_000, 2), all[..2]);
    assert_eq!(region(&screen, 74_000, 0), [""; 0]);
}

#[test]
fn nothing_that_others_wrote_reaches_the_terminal_as_a_command() {
    let mut screen = refused();
    screen.see(&LoopEvent::Activity("\x1b[2Jgone"), 0);
    screen.see(&LoopEvent::Warning("bell\x07"), 0);
    end_check(&mut screen, "te\rsts", Outcome::Fail, "\x1b]0;title\x07");
    let lines = region(&screen, 74_000, ROOMY);
    assert!(
        lines.iter().all(|line| !line.contains(char::is_control)),
        "{lines:?}"
    );
    assert!(lines[1].contains("\\u{1b}[2Jgone"), "{lines:?}");
    screen.close();
    let lines = permanent(&mut screen);
    assert!(
        lines.iter().all(|line| !line.contains(char::is_control)),
        "{lines:?}"
    );
}

#[test]
fn a_warning_is_in_the_region_and_stays_when_the_iteration_is_over() {
    let mut screen = refused();
    screen.see(&LoopEvent::Warning("not committed"), 0);
    permanent(&mut screen);
    let lines = region(&screen, 74_000, ROOMY);
    assert_eq!(lines.last().unwrap(), "warning  not committed");
    decide(&mut screen, 75_000);
    assert_eq!(permanent(&mut screen)[1], "  warning not committed");
    let lines = region(&screen, 75_000, ROOMY);
    assert!(
        !lines.iter().any(|line| line.starts_with("warning")),
        "{lines:?}"
    );
}

#[test]
fn at_the_end_a_summary_takes_the_place_of_the_region() {
    let mut screen = refused();
    permanent(&mut screen);
    let verdict = Verdict {
        decision: Decision::Stop,
        stop_reason: Some(StopReason::MaxIters),
        ..refusal()
    };
    let memory = Path::new("/project/.ralph/night");
    screen.see(
        &LoopEvent::Ended {
            iteration: 1,
            verdict: &verdict,
            memory,
        },
        80_000,
    );
    assert_eq!(region(&screen, 80_000, ROOMY), [""; 0]);
    assert_eq!(
        permanent(&mut screen),
        [
            "stopped, not done: limit of 1 iteration reached; tests: 2 of 14 failed  1 min 12 s, 3 tool calls, 0.00 USD",
            "  fail     tests     1.2 s  2 of 14 failed",
            "  pass     lint      1.2 s  exit code 0",
            "  what to do now: .ralph/night/handoff.md",
        ]
    );
}
