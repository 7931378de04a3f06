//! `ralph-gate evaluate`: one iteration in, one verdict out.

use ralph_gate::engine::{Decision, StopReason};
use serde::Deserialize;

use super::Exit;
use super::answer::Question;
use super::args::EvaluateArgs;
use super::error::CliError;
use super::input::Input;
use super::terminal::print;

/// What the exit code depends on.
#[derive(Deserialize)]
struct Verdict {
    decision: Decision,
    stop_reason: Option<StopReason>,
}

pub(crate) fn run(args: &EvaluateArgs) -> Result<Exit, CliError> {
    let input = Input::read(args.file.as_deref())?;
    let question = Question {
        function: "evaluate_final",
        input: &input.text,
        file: &input.source,
        shift: 0,
    };
    let answer = question.ask::<Verdict>()?;
    print(&format!("{}\n", answer.json))?;
    Ok(if args.exit_code {
        exit(&answer.value)
    } else {
        Exit::Success
    })
}

fn exit(verdict: &Verdict) -> Exit {
    match (verdict.decision, verdict.stop_reason) {
        (Decision::Continue, _) => Exit::Continue,
        (Decision::Stop, Some(StopReason::Completed)) | (Decision::PassThrough, _) => Exit::Success,
        (Decision::Stop, _) => Exit::Stopped,
    }
}
