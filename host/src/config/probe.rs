//! Finds out whether a proposed check can run here, without running the tests.

use std::path::Path;
use std::time::Duration;

use super::survey::Proposal;
use crate::process::{self, Ended, Keep, Program, Status, Stop};

/// How long a quick command may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How much of its output is kept.
const KEPT: usize = 4096;
/// How much of it is told.
const TOLD: usize = 200;

/// Starts a quick command of the proposed program, such as `pytest --version`. An error says what is missing.
pub fn probe(workspace: &Path, proposal: &Proposal) -> Result<(), String> {
    if let Some(missing) = &proposal.missing {
        return Err(missing.clone());
    }
    let program = |argv: &[String]| Program {
        argv: argv.to_vec(),
        directory: match &proposal.directory {
            Some(directory) => workspace.join(directory),
            None => workspace.to_owned(),
        },
        environment: std::env::vars_os().collect(),
        input: Vec::new(),
        timeout: PATIENCE,
        keep: Keep {
            head: KEPT,
            tail: KEPT,
        },
    };
    process::can_start(&program(&proposal.argv)).map_err(|error| error.to_string())?;
    if proposal.probe.is_empty() {
        return Ok(());
    }
    let stop = Stop::new().map_err(|error| error.to_string())?;
    let ended = process::run(&program(&proposal.probe), &stop, &mut |_| ())
        .map_err(|error| error.to_string())?;
    let shown = proposal.probe.join(" ");
    match ended.status {
        Status::Exited(0) => Ok(()),
        Status::Exited(code) => Err(format!(
            "`{shown}` ends with exit code {code}{}",
            told(&ended)
        )),
        Status::Signaled(signal) => Err(format!("`{shown}` is killed by signal {signal}")),
        Status::TimedOut | Status::Canceled => Err(format!(
            "`{shown}` does not end within {} seconds",
            PATIENCE.as_secs()
        )),
    }
}

/// The last line that it printed.
fn told(ended: &Ended) -> String {
    let texts = [ended.stderr.text(), ended.stdout.text()];
    let mut lines = texts.iter().filter_map(|text| {
        text.lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
    });
    lines.next().map_or_else(String::new, |line| {
        let line: String = line.chars().take(TOLD).collect();
        format!(": {line}")
    })
}
