//! `ralph-gate evaluate`: one iteration in, one verdict out.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, stdout};

use ralph_gate::engine::{Decision, StopReason, Verdict};

use super::Exit;
use super::answer::Question;
use super::args::EvaluateArgs;
use super::error::CliError;
use super::input::Input;
use super::terminal::{Painter, Terminal, clean, print};

/// From this percentage on a guardrail is named.
const CLOSE: u32 = 80;

pub(crate) fn run(args: &EvaluateArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let input = Input::read(args.file.as_deref())?;
    let question = Question {
        function: "evaluate_final",
        input: &input.text,
        file: &input.source,
        shift: 0,
    };
    let answer = question.ask::<Verdict>()?;
    // Programs read the same line whether they ask for it or not.
    if terminal.is_json() || !stdout().is_terminal() {
        print(&format!("{}\n", answer.json))?;
    } else {
        print(&describe(terminal.painter, &answer.value))?;
    }
    Ok(if args.exit_code {
        exit(&answer.value)
    } else {
        Exit::Success
    })
}

/// The verdict for a person.
fn describe(painter: Painter, verdict: &Verdict) -> String {
    let head = match (verdict.decision, verdict.stop_reason) {
        (Decision::Continue, _) => painter.bold("continue: the agent may not stop yet"),
        (Decision::PassThrough, _) => painter.good("pass through: the gate does not decide here"),
        (Decision::Stop, Some(StopReason::Completed)) => painter.good("stop: completed"),
        (Decision::Stop, _) => painter.bad("stop: not done"),
    };
    let mut text = format!("{head}\n");
    if let Some(reason) = verdict
        .stop_reason
        .filter(|it| *it != StopReason::Completed)
    {
        let why = reason_in_words(verdict, reason);
        let _ = writeln!(text, "  why: {}", clean(&why));
    }
    for failure in &verdict.failures {
        let reason = clean(failure.reason.lines().next().unwrap_or_default());
        let _ = writeln!(text, "  {}: {reason}", clean(failure.subject()));
    }
    for guardrail in verdict
        .counters
        .guardrails
        .iter()
        .filter(|it| it.percent >= CLOSE)
    {
        let _ = writeln!(
            text,
            "  {}: {} of {} used",
            clean(&guardrail.name),
            clean(&guardrail.used),
            clean(&guardrail.limit)
        );
    }
    let _ = writeln!(text, "{}", painter.dim("--json prints all of it"));
    text
}

#[cfg(unix)]
fn reason_in_words(verdict: &Verdict, reason: StopReason) -> String {
    super::run::words(
        reason,
        verdict.detail.as_deref(),
        verdict.counters.iteration,
    )
}

#[cfg(not(unix))]
fn reason_in_words(verdict: &Verdict, reason: StopReason) -> String {
    verdict
        .detail
        .clone()
        .unwrap_or_else(|| super::words::word(&reason))
}

fn exit(verdict: &Verdict) -> Exit {
    match (verdict.decision, verdict.stop_reason) {
        (Decision::Continue, _) => Exit::Continue,
        (Decision::Stop, Some(StopReason::Completed)) | (Decision::PassThrough, _) => Exit::Success,
        (Decision::Stop, _) => Exit::Stopped,
    }
}
