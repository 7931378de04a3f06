//! `ralph-gate policy test` and `bench`: a policy on the cases of a file.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ralph_gate::policy::{Case, Judgement, Policy, PolicyError, PolicyLimits, Run, read_cases};
use ralph_gate::visible::as_json;
use serde_json::{Value, json};

use super::args::CasesArgs;
use super::{Cached, Named, host, run};
use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::input::Input;
use crate::cli::terminal::{Painter, Terminal, clean};

/// How often a case is measured, unless it takes long.
const RUNS: usize = 101;
/// How long a case is measured.
const LONG: Duration = Duration::from_secs(1);

/// A policy and its cases, ready.
struct Ready {
    named: Named,
    policy: Arc<Policy>,
    cases: Vec<Case>,
    limits: PolicyLimits,
}

fn ready(args: &CasesArgs, terminal: &Terminal) -> Result<Ready, CliError> {
    let named = args.policy.read()?;
    let input = Input::read(Some(&args.cases))?;
    let folder = args.cases.parent().unwrap_or(Path::new("."));
    let cases = read_cases(&input.text, folder).map_err(|error| CliError::Cases {
        file: input.source.clone(),
        error,
    })?;
    if cases.is_empty() {
        return Err(CliError::Usage {
            message: format!("{} has no case, so nothing would be shown", input.source),
        });
    }
    let limits = args.limits.limits();
    let host = host(Cached::Usual).map_err(|error| named.failed(error))?;
    named.announce(&host, terminal);
    let policy = named.load(&host, args.policy.wasi(), &limits)?;
    Ok(Ready {
        named,
        policy,
        cases,
        limits,
    })
}

impl Ready {
    fn ask(&self, case: &Case) -> Result<Run<Judgement>, CliError> {
        let run = self.policy.evaluate(&case.input, &self.limits);
        run.map_err(|error| self.named.failed(error))
    }
}

pub(super) fn test(args: &CasesArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let ready = ready(args, terminal)?;
    let mut rows = Vec::new();
    for case in &ready.cases {
        rows.push((case, ready.ask(case)?));
    }
    let failed = rows.iter().filter(|(case, run)| !is_met(case, run)).count();
    let answer = json!({
        "cases": rows.iter().map(|(case, run)| row(case, run)).collect::<Vec<Value>>(),
        "passed": rows.len() - failed,
        "failed": failed,
    });
    terminal.print_answer(&as_json(&answer), |painter| {
        let mut text = String::new();
        for (case, run) in &rows {
            text.push_str(&verdict(painter, case, run));
        }
        let _ = writeln!(text, "{} passed, {failed} failed", rows.len() - failed);
        text
    })?;
    Ok(if failed == 0 {
        Exit::Success
    } else {
        Exit::Error
    })
}

/// A case that expects nothing is met by any judgement.
fn is_met(case: &Case, run: &Run<Judgement>) -> bool {
    match (&run.result, &case.expected) {
        (Ok(judgement), Some(expected)) => expected.is_met_by(judgement),
        (Ok(_), None) => true,
        (Err(_), _) => false,
    }
}

fn row(case: &Case, run: &Run<Judgement>) -> Value {
    let found = match &run.result {
        Ok(judgement) => run::json(run, judgement),
        Err(error) => json!({ "error": { "code": error.code(), "message": error.to_string() } }),
    };
    json!({ "name": case.name, "as_expected": is_met(case, run), "found": found })
}

fn verdict(painter: Painter, case: &Case, run: &Run<Judgement>) -> String {
    let name = clean(&case.name);
    if is_met(case, run) {
        return format!("{} {name}\n", painter.good("ok"));
    }
    let mut text = format!("{} {name}\n", painter.bad("not as expected:"));
    if let Some(expected) = &case.expected {
        let reasons = expected.reasons.as_deref();
        let _ = writeln!(
            text,
            "  expected  {}",
            said(run::outcome(painter, expected.outcome), reasons)
        );
    }
    let _ = match &run.result {
        Ok(found) => writeln!(
            text,
            "  found     {}",
            said(run::outcome(painter, found.outcome), Some(&found.reasons))
        ),
        Err(error) => writeln!(text, "  found     {}", clean(&error.to_string())),
    };
    text
}

fn said(outcome: String, reasons: Option<&[String]>) -> String {
    match reasons {
        None => outcome,
        Some(reasons) => {
            let reasons: Vec<String> = reasons.iter().map(|it| clean(it)).collect();
            format!("{outcome}: {}", reasons.join("; "))
        }
    }
}

/// What a case takes.
struct Measured<'c> {
    case: &'c Case,
    fuel: u64,
    memory: usize,
    median: Duration,
    error: Option<PolicyError>,
}

pub(super) fn bench(args: &CasesArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let ready = ready(args, terminal)?;
    let (cold, warm) = compile(args, &ready.named)?;
    let mut rows = Vec::new();
    for case in &ready.cases {
        rows.push(measure(&ready, case)?);
    }
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let cases = rows.iter().map(|row| {
        json!({
            "name": row.case.name, "fuel": row.fuel, "memory": row.memory,
            "median_us": u64::try_from(row.median.as_micros()).unwrap_or(u64::MAX),
            "error": row.error.as_ref().map(PolicyError::code),
        })
    });
    let answer = json!({
        "compile_ms": ms(cold), "load_ms": ms(warm), "cases": cases.collect::<Vec<Value>>(),
    });
    terminal.print_answer(&as_json(&answer), |painter| {
        let mut text = format!(
            "compile {:.1} ms, from the cache {:.1} ms\n\n",
            ms(cold),
            ms(warm)
        );
        let title = format!("{:>14} {:>12} {:>12}  case", "fuel", "time", "memory");
        let _ = writeln!(text, "{}", painter.bold(&title));
        for row in &rows {
            let _ = writeln!(
                text,
                "{:>14} {:>9.1} µs {:>8} KiB  {}{}",
                row.fuel,
                row.median.as_secs_f64() * 1e6,
                row.memory / 1024,
                clean(&row.case.name),
                row.error
                    .as_ref()
                    .map_or_else(String::new, |it| format!(" ({})", it.code()))
            );
        }
        text
    })?;
    Ok(Exit::Success)
}

/// How long it takes to compile, and to load what was compiled.
fn compile(args: &CasesArgs, named: &Named) -> Result<(Duration, Duration), CliError> {
    let (limits, wasi) = (args.limits.limits(), args.policy.wasi());
    let time = |cached| -> Result<Duration, CliError> {
        let host = host(cached).map_err(|error| named.failed(error))?;
        let begun = Instant::now();
        named.load(&host, wasi, &limits)?;
        Ok(begun.elapsed())
    };
    Ok((time(Cached::No)?, time(Cached::Usual)?))
}

fn measure<'c>(ready: &Ready, case: &'c Case) -> Result<Measured<'c>, CliError> {
    let begun = Instant::now();
    let mut times = Vec::new();
    let mut last = ready.ask(case)?;
    while times.len() < RUNS && (times.is_empty() || begun.elapsed() < LONG) {
        last = ready.ask(case)?;
        times.push(last.elapsed);
    }
    times.sort();
    Ok(Measured {
        case,
        fuel: last.fuel,
        memory: last.memory,
        median: times.get(times.len() / 2).copied().unwrap_or_default(),
        error: last.result.err(),
    })
}
