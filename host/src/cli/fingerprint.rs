//! `ralph-gate fingerprint`: what an iteration's work looks like.

use std::fmt::Write as _;

use ralph_gate::engine::Fingerprint;

use super::Exit;
use super::answer::Question;
use super::args::FingerprintArgs;
use super::error::CliError;
use super::input::Input;
use super::terminal::{Painter, Terminal, clean};
use super::wrap::wrap;

pub(crate) fn run(args: &FingerprintArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let input = Input::read_json(args.file.as_deref())?;
    let (call, shift) = wrap("iteration", &input.text);
    let question = Question {
        function: "take_fingerprint",
        input: &call,
        file: &input.source,
        shift,
    };
    let answer = question.ask::<Fingerprint>()?;
    terminal.print_answer(&answer.json, |painter| describe(painter, &answer.value))?;
    Ok(Exit::Success)
}

fn describe(painter: Painter, fingerprint: &Fingerprint) -> String {
    let mut text = format!("fingerprint  {}\n", painter.bold(&fingerprint.digest));
    let _ = writeln!(
        text,
        "state        {}",
        fingerprint.state.as_deref().unwrap_or("none")
    );
    let _ = writeln!(
        text,
        "counted      {}",
        if fingerprint.counted { "yes" } else { "no" }
    );
    for part in &fingerprint.parts {
        let _ = writeln!(text, "  {}  {}", part.digest, clean(&part.name));
        if let Some(note) = &part.note {
            let _ = writeln!(text, "    {}", painter.dim(&clean(note)));
        }
    }
    text
}
