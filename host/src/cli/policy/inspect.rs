//! `ralph-gate policy inspect`: the bill of capabilities.

use std::fmt::Write as _;

use ralph_gate::policy::{Bill, Description, Grant, PolicyError, PolicyLimits};
use ralph_gate::visible::as_json;
use serde_json::{Value, json};

use super::args::InspectArgs;
use super::{Cached, Named, host};
use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::terminal::{Painter, Terminal, clean};

pub(super) fn run(args: &InspectArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let named = args.policy.read()?;
    let limits = PolicyLimits::default();
    let host = host(Cached::Usual).map_err(|error| named.failed(error))?;
    let wasi = args.policy.wasi();
    named.announce(&host, terminal);
    let bill = match &named {
        Named::File { bytes, .. } => host.inspect(bytes, wasi, &limits),
        Named::BuiltIn(shipped) => host.load_shipped(*shipped).map(|it| it.bill().clone()),
    };
    let bill = bill.map_err(|error| named.failed(error))?;
    let described = named
        .load(&host, wasi, &limits)
        .map_err(|error| match error {
            CliError::Policy { error, .. } => error,
            other => PolicyError::Host {
                reason: other.to_string(),
            },
        })
        .and_then(|policy| policy.description(&limits));
    let answer = as_json(&json(&bill, &described));
    terminal.print_answer(&answer, |painter| describe(painter, &bill, &described))?;
    Ok(if described.is_ok() {
        Exit::Success
    } else {
        Exit::Error
    })
}

fn json(bill: &Bill, described: &Result<Description, PolicyError>) -> Value {
    let problem = described
        .as_ref()
        .err()
        .map(|error| json!({ "code": error.code(), "message": error.to_string() }));
    json!({ "bill": bill, "description": described.as_ref().ok(), "problem": problem })
}

fn describe(painter: Painter, bill: &Bill, described: &Result<Description, PolicyError>) -> String {
    let mut text = String::new();
    if let Ok(said) = described {
        let _ = writeln!(
            text,
            "{} {}\n  {}\n",
            painter.bold(&clean(&said.name)),
            clean(&said.version),
            clean(&said.summary)
        );
    }
    let _ = writeln!(text, "size     {} bytes", bill.size);
    let _ = writeln!(text, "digest   {}", bill.digest);
    if bill.imports.is_empty() {
        let _ = writeln!(text, "imports  {}", painter.good("nothing"));
    }
    for import in &bill.imports {
        let grant = match import.grant {
            Grant::Artifacts => painter.good("the artifacts that its check names"),
            Grant::DenyAll => painter.caution("one that denies everything"),
            Grant::Denied => painter.bad("not given"),
        };
        let _ = writeln!(text, "imports  {}: {grant}", clean(&import.name));
    }
    for export in &bill.exports {
        let _ = writeln!(text, "exports  {}", clean(export));
    }
    match described {
        Ok(said) => {
            for name in &said.wants {
                let _ = writeln!(text, "wants    the artifact {}", clean(name));
            }
            let schema = match said.settings_schema.as_str() {
                "" => "takes none",
                schema => schema,
            };
            let lines: Vec<String> = schema.lines().map(clean).collect();
            let _ = writeln!(text, "settings {}", lines.join("\n         "));
        }
        Err(error) => {
            let _ = writeln!(
                text,
                "{} {}",
                painter.bad("can't be run:"),
                clean(&error.to_string())
            );
            if let Some(help) = error.help() {
                let _ = writeln!(text, "{} {help}", painter.help());
            }
        }
    }
    text
}
