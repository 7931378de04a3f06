//! `ralph-gate schema`: what an editor needs to complete and check a file.

use ralph_gate::schema;

use super::Exit;
use super::error::CliError;
use super::terminal::print;

/// The names that can be asked for.
pub(crate) fn names() -> Vec<&'static str> {
    schema::names()
}

pub(crate) fn run(wanted: &str) -> Result<Exit, CliError> {
    // Clap lets no other name pass.
    if let Some(text) = schema::find(wanted) {
        print(&text)?;
    }
    Ok(Exit::Success)
}
