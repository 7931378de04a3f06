//! `ralph-gate route`: where a request goes, and why.

use std::fmt::Write as _;

use ralph_gate::engine::Routing;
use serde_json::json;

use super::Exit;
use super::answer::{Answer, Question};
use super::args::RouteArgs;
use super::error::CliError;
use super::input::{Input, Source};
use super::terminal::{Painter, Severity, Terminal, clean};
use super::words::word;

pub(crate) fn run(args: &RouteArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let sources = [args.file.as_deref(), args.policy.as_deref()].map(Source::new);
    if args.policy.is_some() && sources == [Source::Stdin, Source::Stdin] {
        return Err(CliError::Usage {
            message: "the request and the policy can't both come from standard input".to_owned(),
        });
    }
    let request = Input::read(args.file.as_deref())?;
    let policy = args
        .policy
        .as_deref()
        .map(|file| Input::read(Some(file)))
        .transpose()?;
    let answer = ask(&request.text, policy.as_ref(), &request.source)
        .map_err(|error| blame_policy(error, policy.as_ref()))?;
    let file = request.source.to_string();
    terminal.print_answer(&answer.json, |painter| {
        describe(painter, &file, Some(&request.text), &answer.value)
    })?;
    Ok(Exit::Success)
}

fn ask(request: &str, policy: Option<&Input>, file: &Source) -> Result<Answer<Routing>, CliError> {
    let call = match policy {
        Some(policy) => json!({ "request": request, "policy": policy.text }),
        None => json!({ "request": request }),
    };
    Question {
        function: "route",
        input: &call.to_string(),
        file,
        shift: 0,
    }
    .ask()
}

/// Gives an error the right file: with a policy that is wrong in itself, an empty request fails as well.
fn blame_policy(error: CliError, policy: Option<&Input>) -> CliError {
    match (error, policy) {
        (error @ CliError::Gate { .. }, Some(policy)) => ask("{}", Some(policy), &policy.source)
            .err()
            .unwrap_or(error),
        (error, _) => error,
    }
}

fn describe(painter: Painter, file: &str, source: Option<&str>, routing: &Routing) -> String {
    let mut text = String::new();
    for warning in &routing.warnings {
        text.push_str(&painter.problem(Severity::Warning, file, warning, 0, source));
    }
    let none = || "none".to_owned();
    for (name, value) in [
        ("mode", painter.bold(&word(&routing.mode))),
        ("reason", word(&routing.reason)),
        (
            "profile",
            routing.profile.as_deref().map_or_else(none, clean),
        ),
        ("enforcement", word(&routing.enforcement)),
        ("digest", routing.digest.as_deref().map_or_else(none, clean)),
    ] {
        let _ = writeln!(text, "{name:<12} {value}");
    }
    text
}
