//! `ralph-gate component`: the gate's own bytes, for another engine.

use std::io::{self, IsTerminal as _};

use ralph_gate::engine::COMPONENT;

use super::Exit;
use super::error::CliError;
use super::terminal::print_bytes;

pub(crate) fn run() -> Result<Exit, CliError> {
    if io::stdout().is_terminal() {
        return Err(CliError::Usage {
            message: "the component is binary and standard output is a terminal; \
                      write it to a file: ralph-gate component > ralph-gate.wasm"
                .to_owned(),
        });
    }
    print_bytes(COMPONENT)?;
    Ok(Exit::Success)
}
