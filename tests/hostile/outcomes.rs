//! Every hostile policy in a process of its own: it comes to the end that it must come to, within its limits, the same each
//! time, and its host lives.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{fmt, thread};

use ralph_gate::policy::PolicyLimits;
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::extent::is_full;
use ralph_gate_tests::trials::{Report, attempt};

use crate::case::{self, Case};

/// What everything takes beside what is limited: the machine may be busy, and a compiler that does not end itself is given
/// five seconds more.
const SLACK: Duration = Duration::from_secs(10);
/// Bytes that the host has before it has seen a policy, and what it needs beside what is limited: the compiler's answers,
/// the parts of a component in its own data structures, the allocator's holes.
const HOST: u64 = 48 << 20;
/// The same of the process that compiles.
const COMPILER: u64 = 48 << 20;
/// Files that the host has open: its own, and one for each memory of a policy.
const FILES: usize = 20;
/// Threads of the host: the first, the clock, one that policies run on, and the one that looks at the compilers.
const THREADS: usize = 4;
/// The longest message, in bytes: what a policy may say of itself, and a few words.
const MESSAGE: usize = 4200;

#[test]
fn every_policy_comes_to_its_typed_end_within_its_limits_and_the_same_each_time() {
    let repeats = if is_full() { 100 } else { 5 };
    let cases = case::all();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    // Before the clocks run.
    binary();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let row = Row::of(case, repeats);
                    done.lock().unwrap().push(row);
                }
            });
        }
    });
    let mut rows = done.into_inner().unwrap();
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    println!("{}", Row::title());
    for row in &rows {
        println!("{row}");
    }
    let violations: Vec<String> = rows.iter().flat_map(Row::violations).collect();
    println!("{} policies, {} violations", rows.len(), violations.len());
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}

/// What became of one policy.
struct Row {
    name: String,
    report: Report,
    size: usize,
    violations: Vec<String>,
}

impl Row {
    fn of(case: &Case, repeats: u32) -> Self {
        let name = case.name.clone();
        let component = match case.component() {
            Ok(component) => component,
            Err(error) => return Self::broken(name, format!("can't be made: {error:#}")),
        };
        let order = case.order(repeats);
        let program = Path::new(env!("CARGO_BIN_EXE_policy-trial"));
        let report = match attempt(program, order, &component) {
            Ok(report) => report,
            Err(error) => return Self::broken(name, format!("{error:#}")),
        };
        let mut violations = case.violations(&report);
        violations.extend(beyond(&order.limits(), component.len(), &report));
        Self {
            name,
            report,
            size: component.len(),
            violations,
        }
    }

    fn broken(name: String, violation: String) -> Self {
        Self {
            name,
            report: Report::default(),
            size: 0,
            violations: vec![violation],
        }
    }

    fn title() -> String {
        format!(
            "{:<36} {:>9} {:<22} {:>12} {:>12} {:>10} {:>6} {:>6} {:>6} {:>8}",
            "policy",
            "bytes",
            "outcome",
            "observed",
            "limit",
            "fuel",
            "again",
            "ms",
            "MB",
            "compiler"
        )
    }

    fn violations(&self) -> impl Iterator<Item = String> + '_ {
        let violations = self.violations.iter();
        violations.map(|violation| format!("{}: {violation}", self.name))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = &self.report;
        let outcome = report.outcome.as_ref();
        let outcome = outcome.map_or_else(|| report.code.clone(), |it| format!("judged {it}"));
        let number = |number: Option<u64>| number.map_or_else(String::new, |it| it.to_string());
        write!(
            f,
            "{:<36} {:>9} {outcome:<22} {:>12} {:>12} {:>10} {:>6} {:>6} {:>6} {:>8}",
            self.name,
            self.size,
            number(report.reached.map(|it| it.0)),
            number(report.reached.map(|it| it.1)),
            report.fuel,
            report.repeats,
            report.millis,
            report.peak >> 20,
            report.compiler_peak >> 20,
        )
    }
}

/// What is beyond what the host promises.
fn beyond(limits: &PolicyLimits, size: usize, report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    let mut at_most = |what: &str, observed: u64, limit: u64| {
        if observed > limit {
            found.push(format!(
                "{what}: {observed}, and at most {limit} is promised"
            ));
        }
    };
    let wide = |number: usize| u64::try_from(number).unwrap();
    // One call to describe itself and one to judge.
    let time = limits.compile_time + 2 * limits.time + SLACK;
    at_most(
        "ms",
        report.millis,
        u64::try_from(time.as_millis()).unwrap(),
    );
    // The file, as it is and on its way to the compiler; the code, as it comes and as it is loaded; what the policy has.
    let size = wide(size.min(limits.component)) * 3 + wide(size);
    let memory = HOST + size + 2 * wide(limits.code) + wide(limits.memory);
    at_most("bytes of the host", report.peak, memory);
    let memory = COMPILER + limits.compile_memory + limits.compile_memory / 8;
    at_most("bytes of the compiler", report.compiler_peak, memory);
    at_most("files", wide(report.files), wide(FILES));
    at_most("threads", wide(report.threads), wide(THREADS));
    at_most("bytes of the log", report.log.0, wide(limits.log));
    at_most(
        "bytes of the message",
        wide(report.message.len()),
        wide(MESSAGE),
    );
    if let Some(difference) = &report.difference {
        found.push(format!("not the same each time: {difference}"));
    }
    if let Some(limit) = limit_of(&report.code, limits) {
        match report.reached {
            Some((observed, said)) if said == limit && observed >= limit => {}
            other => found.push(format!("the limit is {limit}, and this is said: {other:?}")),
        }
    }
    // Of several things that are counted.
    let is_counted = matches!(
        report.code.as_str(),
        "too_many_instances" | "judgement_too_large"
    );
    if is_counted
        && report
            .reached
            .is_none_or(|(observed, limit)| observed <= limit)
    {
        found.push(format!(
            "a limit is reached, and this is said: {:?}",
            report.reached
        ));
    }
    found
}

/// The limit whose number an outcome must name.
fn limit_of(code: &str, limits: &PolicyLimits) -> Option<u64> {
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap();
    let wide = |number: usize| u64::try_from(number).unwrap();
    match code {
        "component_too_large" => Some(wide(limits.component)),
        "compile_timed_out" => Some(ms(limits.compile_time)),
        "compile_out_of_memory" => Some(limits.compile_memory),
        "code_too_large" => Some(wide(limits.code)),
        "out_of_fuel" => Some(limits.fuel),
        "timed_out" => Some(ms(limits.time)),
        "out_of_memory" => Some(wide(limits.memory)),
        "stack_overflow" => Some(wide(PolicyLimits::STACK)),
        "result_too_large" => Some(wide(limits.lifted)),
        _ => None,
    }
}
