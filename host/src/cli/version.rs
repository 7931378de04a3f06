//! `ralph-gate version`: which command, which gate, which engine.

use ralph_gate::engine::GATE;
use serde_json::json;

use super::Exit;
use super::error::CliError;
use super::terminal::{Painter, Terminal};

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run(terminal: &Terminal) -> Result<Exit, CliError> {
    let answer = json!({
        "version": VERSION,
        "gate": { "digest": GATE.digest, "size": GATE.size, "wit": GATE.wit },
        "engine": GATE.engine,
        "target": GATE.target,
        "loaded": GATE.loaded,
    });
    terminal.print_answer(&answer.to_string(), describe)?;
    Ok(Exit::Success)
}

fn describe(painter: Painter) -> String {
    format!(
        "{}\n\
         gate    BLAKE3 {}, {} bytes\n\
         wit     {}\n\
         engine  {}\n\
         loaded  {} for {}\n",
        painter.bold(&format!("ralph-gate {VERSION}")),
        GATE.digest,
        GATE.size,
        GATE.wit,
        GATE.engine,
        GATE.loaded,
        GATE.target,
    )
}
