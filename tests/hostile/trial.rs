//! The host in a trial: asks one policy, and says what became of it and of itself. `policy-trial ORDER < COMPONENT`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use ralph_gate::evidence::{PolicyComponent, PolicyQuestion, PolicyRunner as _};
use ralph_gate::policy::{
    Compiler, Judgement, Policy, PolicyError, PolicyHost, PolicyInput, PolicyLimits, PolicyOutcome,
    Run,
};
use ralph_gate::process::Stop;
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::trials::{Order, Report, input};

/// How often the compilers are looked at.
const LOOK: Duration = Duration::from_millis(2);
/// How often one is asked that only the clock can end, at most.
const SLOW: u32 = 2;

fn main() -> Result<()> {
    let order = std::env::args().nth(1).context("an order is missing")?;
    let order: Order = serde_json::from_str(&order)?;
    let mut component = Vec::new();
    io::stdin().lock().read_to_end(&mut component)?;
    let report = run(order, &component)?;
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

fn run(order: Order, component: &[u8]) -> Result<Report> {
    let host = PolicyHost::new(Compiler::at(binary()), None)?;
    let compilers = Compilers::watch();
    let (limits, input) = (order.limits(), input());
    let begun = Instant::now();
    let judged = host.judge(&PolicyQuestion {
        check: "trial",
        component: PolicyComponent::Pinned(component),
        wasi: order.wasi(),
        input: &input,
        limits: &limits,
        stop: &Stop::new()?,
    });
    let mut report = told(judged);
    report.millis = u64::try_from(begun.elapsed().as_millis())?;
    report.compiler_peak = compilers.peak();
    if let Ok(policy) = host.load(component, order.wasi(), &limits) {
        ask_again(&policy, order.repeats, &input, &limits, &mut report)?;
    }
    report.peak = status("VmHWM:")? * 1024;
    report.threads = usize::try_from(status("Threads:")?)?;
    report.files = fs::read_dir("/proc/self/fd")?.count();
    Ok(report)
}

fn told(judged: Result<Run<Judgement>, PolicyError>) -> Report {
    let mut report = Report::default();
    let result = match judged {
        Ok(run) => {
            report.fuel = run.fuel;
            report.log = (run.log.text.len() as u64, run.log.bytes);
            run.result
        }
        Err(error) => Err(error),
    };
    match result {
        Ok(judgement) => {
            report.code = String::from("judged");
            let outcome = match judgement.outcome {
                PolicyOutcome::Pass => "pass",
                PolicyOutcome::Fail => "fail",
                PolicyOutcome::Unknown => "unknown",
            };
            report.outcome = Some(outcome.to_owned());
            report.reasons = judgement.reasons;
        }
        Err(error) => {
            report.code = String::from(error.code());
            report.message = error.to_string();
            report.reached = error.limit().map(|it| (it.observed, it.limit));
        }
    }
    report
}

/// Asks it again and again: to describe itself and to judge, each time in the same words.
fn ask_again(
    policy: &Arc<Policy>,
    repeats: u32,
    input: &PolicyInput,
    limits: &PolicyLimits,
    report: &mut Report,
) -> Result<()> {
    let mut first: Option<(String, String)> = None;
    let mut repeats = repeats;
    while report.repeats < repeats && report.difference.is_none() {
        let (said, judged) = (policy.describe(limits)?, policy.evaluate(input, limits)?);
        if said.result.is_err() {
            report.fuel = said.fuel;
        }
        let is_slow = is_timed_out(&said) || is_timed_out(&judged);
        if is_slow {
            repeats = repeats.min(SLOW);
        }
        let now = (in_words(&said), in_words(&judged));
        match &first {
            None => first = Some(now),
            Some(before) if *before != now => {
                report.difference = Some(format!("{before:?} and then {now:?}"));
            }
            Some(_) => {}
        }
        report.repeats += 1;
    }
    Ok(())
}

fn is_timed_out<T>(run: &Run<T>) -> bool {
    matches!(run.result, Err(PolicyError::Time { .. }))
}

/// Everything that must be the same each time. How far one got that the clock ended is not.
fn in_words<T: std::fmt::Debug>(run: &Run<T>) -> String {
    if is_timed_out(run) {
        return "timed out".to_owned();
    }
    format!("{:?} {} {} {:?}", run.result, run.fuel, run.memory, run.log)
}

/// A number of what the kernel says about this process.
fn status(field: &str) -> Result<u64> {
    number(&fs::read_to_string("/proc/self/status")?, field).with_context(|| field.to_owned())
}

fn number(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Looks at the processes that compile, as long as it is kept.
struct Compilers(Arc<Seen>);

#[derive(Default)]
struct Seen {
    peak: AtomicU64,
    over: AtomicBool,
}

impl Compilers {
    fn watch() -> Self {
        let seen = Arc::new(Seen::default());
        let watched = Arc::clone(&seen);
        thread::spawn(move || {
            while !watched.over.load(Ordering::Relaxed) {
                for child in children() {
                    let status = fs::read_to_string(format!("/proc/{child}/status"));
                    let peak = number(&status.unwrap_or_default(), "VmHWM:").unwrap_or(0);
                    watched.peak.fetch_max(peak * 1024, Ordering::Relaxed);
                }
                thread::sleep(LOOK);
            }
        });
        Self(seen)
    }

    fn peak(self) -> u64 {
        self.0.over.store(true, Ordering::Relaxed);
        self.0.peak.load(Ordering::Relaxed)
    }
}

fn children() -> BTreeSet<u32> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|text| {
            let ids = text.split_whitespace().filter_map(|id| id.parse().ok());
            ids.collect::<Vec<u32>>()
        })
        .collect()
}
