//! `ralph-gate policy run`: lets a policy judge evidence.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use ralph_gate::policy::{Judgement, PolicyInput, PolicyOutcome, Run, read_evidence};
use ralph_gate::visible::as_json;
use serde_json::{Value, json};

use super::args::RunArgs;
use super::{Cached, host};
use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::input::{Input, Source};
use crate::cli::terminal::{Painter, Terminal, clean};

pub(super) fn run(args: &RunArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    if let Err(error) = serde_json::from_str::<Value>(&args.settings) {
        return Err(CliError::Usage {
            message: format!("the settings are not JSON: {error}"),
        });
    }
    let named = args.policy.read()?;
    let input = evidence(args)?;
    let limits = args.limits.limits();
    let host = host(Cached::Usual).map_err(|error| named.failed(error))?;
    named.announce(&host, terminal);
    let policy = named.load(&host, args.policy.wasi(), &limits)?;
    let run = policy.evaluate(&input, &limits);
    let run = run.map_err(|error| named.failed(error))?;
    match &run.result {
        Err(error) => Err(named.failed(error.clone())),
        Ok(judgement) => {
            let answer = as_json(&json(&run, judgement));
            terminal.print_answer(&answer, |painter| describe(painter, &run, judgement))?;
            Ok(Exit::Success)
        }
    }
}

/// The evidence from a file or standard input. Nothing there means that there is none.
fn evidence(args: &RunArgs) -> Result<PolicyInput, CliError> {
    let file = args.evidence.as_deref();
    let source = Source::new(file);
    let text = if source == Source::Stdin && io::stdin().is_terminal() {
        String::new()
    } else {
        Input::read(file)?.text
    };
    let folder = file.and_then(Path::parent).unwrap_or(Path::new("."));
    read_evidence(&text, folder, &args.settings).map_err(|error| CliError::Cases {
        file: source,
        error,
    })
}

/// A judgement and what it took, in the one form that machines read.
pub(super) fn json(run: &Run<Judgement>, judgement: &Judgement) -> Value {
    json!({
        "outcome": judgement.outcome,
        "reasons": judgement.reasons,
        "fuel": run.fuel,
        "memory": run.memory,
        "elapsed_us": u64::try_from(run.elapsed.as_micros()).unwrap_or(u64::MAX),
        "log": String::from_utf8_lossy(&run.log.text),
        "log_bytes": run.log.bytes,
    })
}

pub(super) fn outcome(painter: Painter, outcome: PolicyOutcome) -> String {
    match outcome {
        PolicyOutcome::Pass => painter.good("pass"),
        PolicyOutcome::Fail => painter.bad("fail"),
        PolicyOutcome::Unknown => painter.caution("unknown"),
    }
}

fn describe(painter: Painter, run: &Run<Judgement>, judgement: &Judgement) -> String {
    let mut text = format!("{}\n", outcome(painter, judgement.outcome));
    for reason in &judgement.reasons {
        let _ = writeln!(text, "  {}", clean(reason));
    }
    let took = format!(
        "{} units of fuel, {} bytes of memory, {:.2} ms",
        run.fuel,
        run.memory,
        run.elapsed.as_secs_f64() * 1000.0
    );
    let _ = writeln!(text, "{}", painter.dim(&took));
    if run.log.bytes > 0 {
        let _ = writeln!(text, "it printed {} bytes:", run.log.bytes);
        for line in String::from_utf8_lossy(&run.log.text).lines() {
            let _ = writeln!(text, "  {}", clean(line));
        }
    }
    text
}
