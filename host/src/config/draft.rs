//! A configuration that was read and may have problems: they are reported together with those of its contract.

use std::path::Path;

use super::error::ConfigError;
use super::{Config, Request, Task, format_of, read_text, sections};
use crate::engine::{GateEngine, Problem};
use crate::memory::course::Given;

/// A configuration whose problems are not reported yet.
#[derive(Debug)]
pub struct ConfigDraft {
    config: Config,
    problems: Vec<Problem>,
}

impl ConfigDraft {
    /// Reads a file. An error where it can't be read or parsed.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        let text = read_text(file)?;
        Self::read(file, &text)
    }

    /// Reads a text as if it were in that file. An error where it can't be parsed.
    pub fn read(file: &Path, text: &str) -> Result<Self, ConfigError> {
        let (config, problems) = sections::read(file, text, format_of(file, text))?;
        Ok(Self { config, problems })
    }

    /// What could be read of it. Fields with problems have their defaults.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Adds what the command line gives, as [`Config::give`] does.
    pub fn give(&mut self, given: &Given) -> Result<(), ConfigError> {
        self.config.give(given)
    }

    /// The configuration, or every problem of its sections. The contract is not judged.
    pub fn finish(self) -> Result<Config, ConfigError> {
        if self.problems.is_empty() {
            return Ok(self.config);
        }
        Err(ConfigError::invalid(self.config.file, self.problems))
    }

    /// The configuration and its task, routed as [`Config::route_loop`] does; or every problem of the sections and of the
    /// contract, in the order of the text.
    pub fn route_loop(
        self,
        gate: &GateEngine,
        request: Option<&Request>,
    ) -> Result<(Config, Task), ConfigError> {
        let routed = self.config.route_loop(gate, request);
        if self.problems.is_empty() {
            return Ok((self.config, routed?));
        }
        let mut problems = self.problems;
        match routed {
            // Those of a request are in another file, and are reported once this one is correct.
            Err(ConfigError::Invalid {
                file,
                problems: of_contract,
                ..
            }) if file == self.config.file => problems.extend(of_contract),
            Err(ConfigError::Invalid { .. }) => {}
            Ok(task) => {
                let not_asked = self.config.not_asked(&task).into_iter().collect();
                problems.extend(self.config.located(not_asked));
            }
            Err(error) => return Err(error),
        }
        Err(ConfigError::invalid(self.config.file, in_order(problems)))
    }
}

/// The problems in the order of the text, each once.
pub(super) fn in_order(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_key(|problem| (problem.line, problem.column));
    let mut kept: Vec<Problem> = Vec::with_capacity(problems.len());
    for problem in problems {
        // Host and gate both know the fields of `[routing]`.
        let is_same = |known: &Problem| {
            (known.line, known.column, &known.path) == (problem.line, problem.column, &problem.path)
                && known.message == problem.message
        };
        if !kept.iter().any(is_same) {
            kept.push(problem);
        }
    }
    kept
}
