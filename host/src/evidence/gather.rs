//! Runs the checks that a contract names, as many at a time as there are processors.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ralph_gate_component::Word as _;

use super::no_high_risk::Threshold;
use super::policy::PolicyRunner;
use super::program::Ours;
use super::record::{Attempt, Evidence};
use super::stories::Stories;
use super::tests_green::Expectation;
use super::{Finding, command, file, git, no_high_risk, policy, prd_all_pass, tests_green};
use crate::config::{Check, Config, Judge, KindName, Terms};
use crate::engine::Outcome;
use crate::process::{Redactor, Stop};

/// What checks look at.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'s> {
    /// Where the work is.
    pub workspace: &'s Path,
    /// Folders of it that are not part of the work.
    pub excluded: &'s [String],
    /// The host's own variables.
    pub environment: &'s Ours,
    /// Removes secrets from whatever is remembered.
    pub redactor: &'s Redactor,
    /// Which iteration it is.
    pub iteration: u32,
    /// What the work looks like.
    pub tree: Option<&'s str>,
    /// The commit that the loop began with.
    pub first_commit: Option<&'s str>,
    /// When it began to be looked at.
    pub begun: SystemTime,
    /// Runs policies, if anything does.
    pub policies: Option<&'s dyn PolicyRunner>,
    /// Ends everything.
    pub stop: &'s Stop,
}

/// What happens to checks, for whoever watches.
#[derive(Debug, Clone, Copy)]
pub enum CheckEvent<'e> {
    /// It runs.
    Started(&'e str),
    /// It has a result.
    Ended(&'e Evidence),
}

/// Which checks are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All that the contract needs.
    All,
    /// Those that count tests.
    Tests,
}

/// One check to be run.
pub(super) struct Job<'j> {
    /// Its place in the contract.
    place: usize,
    pub(super) id: &'j str,
    pub(super) check: &'j Check,
    retries: u32,
    /// After which outcomes.
    retry_on: &'j [Outcome],
}

/// Runs every check about the work itself that the contract names, or that proves a story of a checklist that the
/// contract names. Gives the evidence in the order of the contract.
pub fn gather(
    scene: &Scene<'_>,
    config: &Config,
    terms: &Terms,
    wanted: Wanted,
    watch: &(dyn Fn(CheckEvent<'_>) + Sync),
) -> Vec<Evidence> {
    let jobs = jobs(config, terms, wanted);
    let (judges, jobs): (Vec<Job<'_>>, Vec<Job<'_>>) = jobs
        .into_iter()
        .partition(|job| matches!(job.check, Check::Policy(_)));
    let (programs, looks): (Vec<Job<'_>>, Vec<Job<'_>>) =
        jobs.into_iter().partition(|job| job.check.runs_a_program());
    // What the programs leave is what is looked at, and what was seen is what is judged.
    let mut known = perform_all(scene, &programs, &[], watch);
    known.extend(perform_all(scene, &looks, &[], watch));
    let seen = in_order(known.clone());
    known.extend(perform_all(scene, &judges, &seen, watch));
    in_order(known)
}

fn in_order(mut evidence: Vec<(usize, Evidence)>) -> Vec<Evidence> {
    evidence.sort_by_key(|(place, _)| *place);
    evidence.into_iter().map(|(_, evidence)| evidence).collect()
}

/// How many checks run at the same time. Asking costs a dozen files.
static WORKERS: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));

/// Runs checks that don't depend on each other. Gives the evidence with the place of each in the contract.
fn perform_all(
    scene: &Scene<'_>,
    jobs: &[Job<'_>],
    known: &[Evidence],
    watch: &(dyn Fn(CheckEvent<'_>) + Sync),
) -> Vec<(usize, Evidence)> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Evidence)>> = Mutex::new(Vec::new());
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            watch(CheckEvent::Started(job.id));
            let evidence = perform(scene, job, known);
            watch(CheckEvent::Ended(&evidence));
            if let Ok(mut results) = results.lock() {
                results.push((job.place, evidence));
            }
        }
    };
    std::thread::scope(|scope| {
        // This thread is one of the workers, and often the only one that is needed.
        if jobs.len() > 1 {
            for _ in 1..jobs.len().min(*WORKERS) {
                scope.spawn(work);
            }
        }
        work();
    });
    results.into_inner().unwrap_or_default()
}

/// The checks about the work itself, each once.
pub(super) fn jobs<'j>(config: &'j Config, terms: &'j Terms, wanted: Wanted) -> Vec<Job<'j>> {
    let mut seen = BTreeSet::new();
    let mut jobs = Vec::new();
    let mut push = |id: &'j str, retries: u32, retry_on: &'j [Outcome]| match config.checks.get(id)
    {
        Some(check) if is_wanted(check, wanted) && seen.insert(id) => {
            let place = jobs.len();
            jobs.push(Job {
                place,
                id,
                check,
                retries,
                retry_on,
            });
        }
        _ => {}
    };
    for named in &terms.completion_checks {
        push(&named.id, named.retries, &named.retry_on);
    }
    for named in &terms.completion_checks {
        if let Some(Check::PrdAllPass { proofs }) = config.checks.get(&named.id) {
            for proof in proofs.values().flatten() {
                push(proof, 0, &[]);
            }
        }
    }
    jobs
}

/// Whether the checks of a contract may take their time: programs do, and so does compiling a policy.
pub(crate) fn may_take_time(config: &Config, terms: &Terms) -> bool {
    let jobs = jobs(config, terms, Wanted::All);
    jobs.iter().any(|job| match job.check {
        Check::Policy(check) => matches!(check.judge, Judge::Component(_)),
        check => check.runs_a_program(),
    })
}

/// The first policy that a contract needs.
pub(crate) fn needs_a_policy<'j>(config: &'j Config, terms: &'j Terms) -> Option<&'j str> {
    let jobs = jobs(config, terms, Wanted::All);
    let policy = jobs
        .iter()
        .find(|job| matches!(job.check, Check::Policy(_)));
    policy.map(|job| job.id)
}

/// The checklist is judged when the others are known.
fn is_wanted(check: &Check, wanted: Wanted) -> bool {
    match check {
        Check::PrdAllPass { .. } => false,
        Check::TestsGreen { .. } => true,
        _ => wanted == Wanted::All,
    }
}

/// Runs one check, and again after an outcome that the contract allows to be rerun.
fn perform(scene: &Scene<'_>, job: &Job<'_>, known: &[Evidence]) -> Evidence {
    let begun = Instant::now();
    let started_at_ms = now_ms();
    let mut attempts = Vec::new();
    let mut last = Finding::error("it was not run");
    // A policy says the same of the same evidence.
    let retries = match job.check {
        Check::Policy(_) => 0,
        _ => job.retries,
    };
    for _ in 0..=retries {
        let start = Instant::now();
        let (mut finding, attempt) = look(scene, job, known);
        let mut attempt =
            attempt.unwrap_or_else(|| Attempt::plain(Outcome::Unknown, elapsed_ms(start)));
        attempt.outcome = finding.outcome;
        attempt.redact(scene.redactor);
        attempts.push(attempt);
        finding.redact(scene.redactor);
        last = finding;
        if !job.retry_on.contains(&last.outcome) || scene.stop.is_canceled() {
            break;
        }
    }
    if attempts.len() > 1 {
        // Behind the first line: most of those who tell reasons tell no other.
        let end = last.reason.find('\n').unwrap_or(last.reason.len());
        last.reason.insert_str(end, &reruns(&attempts));
    }
    Evidence {
        check: job.id.to_owned(),
        kind: job.check.kind().as_str(),
        iteration: scene.iteration,
        started_at_ms,
        duration_ms: elapsed_ms(begun),
        tree: scene.tree.map(str::to_owned),
        outcome: last.outcome,
        reason: last.reason,
        tests: last.tests,
        code: last.code,
        policy: last.policy.map(|record| *record),
        attempts,
    }
}

/// What a person is told of reruns: they must not go unnoticed.
fn reruns(attempts: &[Attempt]) -> String {
    let outcomes: Vec<&str> = attempts
        .iter()
        .map(|attempt| match attempt.outcome {
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
            Outcome::Unknown => "unknown",
            Outcome::Error => "error",
            Outcome::Timeout => "timeout",
            Outcome::Flaky => "flaky",
        })
        .collect();
    format!(" (run {} times: {})", attempts.len(), outcomes.join(", "))
}

fn look(scene: &Scene<'_>, job: &Job<'_>, known: &[Evidence]) -> (Finding, Option<Attempt>) {
    match job.check {
        Check::Command { program } => command::look(scene, program),
        Check::TestsGreen {
            program,
            format,
            report,
            min_tests,
            allow_skipped,
        } => {
            let expected = Expectation {
                format: *format,
                report: report.as_deref(),
                min_tests: *min_tests,
                allow_skipped: *allow_skipped,
            };
            tests_green::look(scene, program, &expected)
        }
        Check::NoHighRisk {
            program,
            report,
            severity,
            level_default,
        } => {
            let threshold = Threshold {
                severity: *severity,
                level_default: *level_default,
            };
            no_high_risk::look(scene, program.as_ref(), report.as_deref(), threshold)
        }
        Check::Git(check) => (git::look(scene, check), None),
        Check::File { path, conditions } => (file::look(scene, path, conditions), None),
        Check::Policy(check) => (policy::look(scene, job.id, check, known), None),
        // Judged when the others are known.
        Check::PrdAllPass { .. } => (Finding::error("it was not judged"), None),
    }
}

/// The checks of the checklist, once the stories are settled.
pub fn look_at_stories(
    scene: &Scene<'_>,
    config: &Config,
    terms: &Terms,
    stories: Result<Option<&Stories>, &str>,
) -> Vec<Evidence> {
    let named = terms.completion_checks.iter();
    named
        .filter(|named| matches!(config.checks.get(&named.id), Some(Check::PrdAllPass { .. })))
        .map(|named| {
            let mut finding = prd_all_pass::look(stories);
            finding.redact(scene.redactor);
            Evidence {
                check: named.id.clone(),
                kind: KindName::PrdAllPass.as_str(),
                iteration: scene.iteration,
                started_at_ms: now_ms(),
                duration_ms: 0,
                tree: scene.tree.map(str::to_owned),
                outcome: finding.outcome,
                reason: finding.reason,
                tests: None,
                code: None,
                policy: None,
                attempts: vec![Attempt::plain(finding.outcome, 0)],
            }
        })
        .collect()
}

fn elapsed_ms(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Now, in milliseconds since 1970.
pub fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}
