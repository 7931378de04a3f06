//! `ralph-gate schema`: what an editor needs to complete and check a file.

use ralph_gate::schema::SCHEMAS;

use super::Exit;
use super::error::CliError;
use super::terminal::print;

/// The names that can be asked for.
pub(crate) fn names() -> Vec<&'static str> {
    SCHEMAS.iter().map(|(name, _)| *name).collect()
}

pub(crate) fn run(wanted: &str) -> Result<Exit, CliError> {
    // Clap lets no other name pass.
    if let Some((_, text)) = SCHEMAS.iter().find(|(name, _)| *name == wanted) {
        print(text)?;
    }
    Ok(Exit::Success)
}
