//! `ralph-gate config check`: every problem of a configuration at its place, and what of it can't work here.

use std::path::Path;

use ralph_gate::config::{Config, ConfigDraft, Task, Terms};
use ralph_gate::engine::Problem;
use ralph_gate::runner::review;
use ralph_gate_component::Word as _;
use serde_json::{Value, json};

use super::args::{ConfigCheckArgs, ConfigCommand};
use super::error::CliError;
use super::input::{Input, Source};
use super::policy::Policies;
use super::terminal::{Painter, Severity, Terminal, clean, counted};
use super::words::word;
use super::{Exit, gate};

pub(crate) fn run(command: &ConfigCommand, terminal: &Terminal) -> Result<Exit, CliError> {
    let ConfigCommand::Check(args) = command;
    let input = read(args)?;
    check(&input, terminal)
}

fn read(args: &ConfigCheckArgs) -> Result<Input, CliError> {
    match &args.file {
        Some(file) => Input::read(Some(file)),
        None => Input::read(Some(&Config::find_upwards(Path::new("."))?)),
    }
}

/// Checks a configuration and prints what was found.
pub(super) fn check(input: &Input, terminal: &Terminal) -> Result<Exit, CliError> {
    let found = Found::of(input)?;
    let file = input.source.to_string();
    terminal.print_answer(&found.json(&file).to_string(), |painter| {
        found.describe(painter, &file, &input.text)
    })?;
    Ok(if found.problems.is_empty() {
        Exit::Success
    } else {
        Exit::Error
    })
}

/// What is to be said about a configuration.
struct Found {
    /// None where it has problems that keep it from being read.
    usable: Option<(Config, Task)>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Found {
    fn of(input: &Input) -> Result<Self, CliError> {
        let file = match &input.source {
            // Programs are looked for from its directory.
            Source::File(file) => std::path::absolute(file).unwrap_or_else(|_| file.clone()),
            Source::Stdin => input.source.to_string().into(),
        };
        // As `run` does: it is a loop that the file is checked for.
        let routed: Result<_, CliError> = gate().and_then(|gate| {
            let draft = ConfigDraft::read(&file, &input.text)?;
            Ok(draft.route_loop(gate, None)?)
        });
        let (config, task) = match routed {
            Ok(routed) => routed,
            Err(error) => {
                let Some((_, problems)) = error.problems_of_config() else {
                    return Err(error);
                };
                return Ok(Self {
                    usable: None,
                    problems: problems.to_vec(),
                    warnings: Vec::new(),
                });
            }
        };
        let review = review(&config, &task, &Policies::silent())?;
        let mut warnings = warnings(&config, &task);
        warnings.extend(review.warnings);
        Ok(Self {
            usable: Some((config, task)),
            problems: review.problems,
            warnings,
        })
    }

    fn json(&self, file: &str) -> Value {
        let usable = self.usable.as_ref();
        let task = usable.map(|(_, task)| task);
        json!({
            "file": file,
            "valid": self.problems.is_empty(),
            "mode": task.map(|task| task.routing.mode),
            "digest": task.and_then(|task| task.routing.digest.clone()),
            "checks": usable.map(|(config, task)| checks(config, task)),
            "problems": self.problems,
            "warnings": self.warnings,
        })
    }

    fn describe(&self, painter: Painter, file: &str, source: &str) -> String {
        let all = |severity, problems: &[Problem]| -> String {
            let problems = problems.iter();
            problems
                .map(|problem| painter.problem(severity, file, problem, 0, Some(source)))
                .collect()
        };
        let mut text = all(Severity::Error, &self.problems);
        text.push_str(&all(Severity::Warning, &self.warnings));
        let warnings = counted(self.warnings.len(), "warning");
        let file = clean(file);
        text.push_str(&match &self.usable {
            None => format!(
                "{file}: configuration is {}: {}\n",
                painter.bold("not valid"),
                counted(self.problems.len(), "problem")
            ),
            Some(_) if !self.problems.is_empty() => format!(
                "{file}: configuration {}: {}, {warnings}\n",
                painter.bold("can't work here"),
                counted(self.problems.len(), "problem")
            ),
            Some((config, task)) => format!(
                "{file}: configuration is {}, mode {}, {} required, {warnings}\n",
                painter.good("valid"),
                word(&task.routing.mode),
                counted(required(config, task), "check"),
            ),
        });
        text
    }
}

fn required(config: &Config, task: &Task) -> usize {
    let checks = checks(config, task);
    checks
        .iter()
        .filter(|check| check["required"] == true)
        .count()
}

/// Every check, and what the contract makes of it.
fn checks(config: &Config, task: &Task) -> Vec<Value> {
    let named = task.terms.as_ref().map_or(&[] as &[_], Terms::named);
    let checks = config.checks.iter().map(|(id, check)| {
        let named = named.iter().find(|named| named.id == *id);
        json!({
            "id": id,
            "kind": check.kind().as_str(),
            "named": named.is_some(),
            "required": named.is_some_and(|named| named.required),
        })
    });
    checks.collect()
}

/// What the gate says about the contract, and checks that nothing asks for.
fn warnings(config: &Config, task: &Task) -> Vec<Problem> {
    let mut warnings: Vec<Problem> = task
        .warnings
        .iter()
        .map(|(_, problem)| problem.clone())
        .collect();
    if let Some(terms) = &task.terms {
        warnings.extend(config.never_run(terms));
    }
    warnings
}

/// Whether a text is a configuration, and not a contract alone.
pub(super) fn is_config(input: &Input) -> bool {
    let file = match &input.source {
        Source::File(file) => file.as_path(),
        Source::Stdin => Path::new(""),
    };
    Config::has_sections(file, &input.text)
}

#[cfg(test)]
mod tests {
    use ralph_gate::config::ConfigError;

    use super::*;

    fn is(name: &str, text: &str) -> bool {
        is_config(&Input {
            source: Source::File(name.into()),
            text: text.to_owned(),
        })
    }

    #[test]
    fn a_configuration_is_told_from_a_contract_by_its_sections() {
        assert!(is("a.toml", "[contract]\nmode = \"ralph\"\n"));
        assert!(is("a.json", "{\"checks\": {}}"));
        assert!(!is(
            "a.toml",
            "mode = \"ralph\"\ncompletion_checks = [\"a\"]\n"
        ));
        assert!(!is("a.toml", "= broken"));
    }

    #[test]
    fn an_error_that_is_no_problem_of_the_file_is_an_error() {
        let error: CliError = ConfigError::Standard.into();
        assert!(error.problems_of_config().is_none());
    }
}
