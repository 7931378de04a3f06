//! `ralph-gate contract check`: every problem of a contract at its place.

use ralph_gate::engine::ContractReport;
use serde_json::json;

use super::Exit;
use super::answer::Question;
use super::args::ContractCheckArgs;
use super::error::CliError;
use super::input::{Input, Source};
use super::terminal::{Painter, Severity, Terminal, clean, counted};

pub(crate) fn run(args: &ContractCheckArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let input = Input::read(args.file.as_deref())?;
    #[cfg(unix)]
    if super::config::is_config(&input) {
        let file = clean(&input.source.to_string());
        terminal.warn(|painter| {
            format!(
                "{} {file} is a configuration, not a contract; it is checked as `ralph-gate config check` does\n",
                painter.severity(Severity::Warning)
            )
        });
        return super::config::check(&input, terminal);
    }
    let format = args.format.as_deref().or_else(|| format_of(&input.source));
    let call = json!({ "text": input.text, "format": format }).to_string();
    let question = Question {
        function: "check_contract",
        input: &call,
        file: &input.source,
        shift: 0,
    };
    let answer = question.ask::<ContractReport>()?;
    let file = input.source.to_string();
    terminal.print_answer(&answer.json, |painter| {
        describe(painter, &file, &input.text, &answer.value)
    })?;
    Ok(if answer.value.valid {
        Exit::Success
    } else {
        Exit::Error
    })
}

/// What the file's extension says. None: the gate recognises the format from the text.
fn format_of(source: &Source) -> Option<&'static str> {
    match source.extension()?.as_str() {
        "json" => Some("json"),
        "yaml" | "yml" => Some("yaml"),
        "toml" => Some("toml"),
        _ => None,
    }
}

fn describe(painter: Painter, file: &str, source: &str, report: &ContractReport) -> String {
    let mut text = String::new();
    for problem in &report.problems {
        text.push_str(&painter.problem(Severity::Error, file, problem, 0, Some(source)));
    }
    for warning in &report.warnings {
        text.push_str(&painter.problem(Severity::Warning, file, warning, 0, Some(source)));
    }
    text.push_str(&summary(painter, file, report));
    text.push('\n');
    text
}

fn summary(painter: Painter, file: &str, report: &ContractReport) -> String {
    let warnings = counted(report.warnings.len(), "warning");
    if !report.valid {
        let problems = counted(report.problems.len(), "problem");
        return format!(
            "{file}: contract is {}: {problems}, {warnings}",
            painter.bold("not valid")
        );
    }
    let digest = report.digest.as_deref().unwrap_or("none");
    format!(
        "{file}: contract is {}, {warnings}, digest {digest}",
        painter.good("valid")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_comes_from_the_extension() {
        for (file, format) in [
            ("a.json", Some("json")),
            ("a.yml", Some("yaml")),
            ("a.YAML", Some("yaml")),
            ("a.toml", Some("toml")),
            ("a.txt", None),
            ("a", None),
        ] {
            assert_eq!(format_of(&Source::File(file.into())), format, "{file}");
        }
    }
}
