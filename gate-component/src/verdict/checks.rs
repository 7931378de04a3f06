//! Judging the evidence: each check of the contract against what the host reported.

use serde::Serialize;

use super::Failure;
use crate::contract::{Check, Contract, OnFlaky};
use crate::digest::{Digest, short};
use crate::feedback::clean;
use crate::iteration::{CheckResult, FailureCode, Iteration, Outcome};
use crate::order::sort;
use crate::snapshot::{CheckMemory, SeenOn, State};
use crate::stall::Failing;
use crate::vocabulary::Word;

/// Bytes of a reason that are kept.
const MAX_REASON: usize = 2000;

/// How one check of the contract was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckAssessment {
    /// The check.
    pub id: String,
    /// Whether it must pass.
    pub required: bool,
    /// Whether it counts as passed.
    pub passed: bool,
    /// Whether it gave different outcomes on the same state.
    pub flaky: bool,
    /// Set when it did not pass.
    pub code: Option<FailureCode>,
}

/// The evidence of one iteration, judged.
pub(super) struct Assessed {
    /// What stands in the way, checks in the contract's order.
    pub(super) failures: Vec<Failure>,
    /// What the checks say of progress.
    pub(super) failing: Failing,
    /// Reruns in this iteration.
    pub(super) retries: u32,
    checks: Vec<Judged>,
    unused: Vec<String>,
}

/// What the verdict says of the checks.
pub(super) struct Assessments {
    pub(super) checks: Vec<CheckAssessment>,
    /// For each check that fails exactly as before: since when.
    pub(super) unchanged: Vec<(String, u32)>,
    pub(super) waived: Vec<String>,
    pub(super) unused: Vec<String>,
}

/// One check, judged.
struct Judged {
    assessment: CheckAssessment,
    reason: String,
    /// None when there is no evidence of this state.
    seen: Option<Seen>,
    state: String,
    /// How many tests failed in it, where evidence of this state says so.
    failing: Option<u32>,
    /// Whether fewer tests than ever failed in it.
    fewer_tests: bool,
    waived: bool,
}

/// What a check was seen to do on one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Seen {
    passed: bool,
    failed: bool,
}

impl Seen {
    /// Unknown is no outcome that another could differ from, and a check that broke or ran too long said nothing of the
    /// work.
    fn of(outcomes: impl Iterator<Item = Outcome>) -> Self {
        outcomes.fold(Self::default(), |seen, outcome| {
            seen.and(match outcome {
                Outcome::Pass => Self {
                    passed: true,
                    failed: false,
                },
                Outcome::Fail => Self {
                    passed: false,
                    failed: true,
                },
                Outcome::Flaky => Self {
                    passed: true,
                    failed: true,
                },
                Outcome::Unknown | Outcome::Error | Outcome::Timeout => Self::default(),
            })
        })
    }

    fn and(self, other: Self) -> Self {
        Self {
            passed: self.passed || other.passed,
            failed: self.failed || other.failed,
        }
    }

    fn is_flaky(self) -> bool {
        self.passed && self.failed
    }
}

/// One result of a check, judged. Ordered from better to worse.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// Nothing hides tampering.
    tampered: bool,
    code: Option<FailureCode>,
    flaky: bool,
    reason: String,
    seen: Seen,
    retries: u32,
    /// It is about another iteration or another state.
    stale: bool,
    failing: Option<u32>,
}

/// Judge every check of the contract.
pub(super) fn assess(
    contract: &Contract,
    before: &State,
    iteration: &Iteration<'_>,
    fingerprint: Option<&str>,
) -> Assessed {
    let evidence = Evidence {
        iteration,
        fingerprint,
        may_waive: contract.allow_override,
    };
    let checks: Vec<(Judged, u32)> = contract
        .completion_checks
        .iter()
        .enumerate()
        .map(|(index, check)| evidence.judge(check, before.checks.get(index)))
        .collect();
    let retries = checks.iter().map(|(_, retries)| retries).sum();
    let checks: Vec<Judged> = checks.into_iter().map(|(judged, _)| judged).collect();
    let required = || checks.iter().filter(|check| check.assessment.required);
    let failing = required().filter(|check| !check.assessment.passed).count();
    let fewer_tests = required().any(|check| check.fewer_tests);
    Assessed {
        failures: failures(contract, iteration, &checks),
        failing: Failing {
            required: contract
                .required()
                .next()
                .map(|_| u32::try_from(failing).unwrap_or(u32::MAX)),
            fewer_tests,
        },
        retries,
        unused: unused(contract, iteration),
        checks,
    }
}

impl Assessed {
    /// Remember each check, and say what the verdict needs.
    pub(super) fn finish(self, state: &mut State, index: u32, compared: bool) -> Assessments {
        let before = std::mem::take(&mut state.checks);
        let mut unchanged = Vec::new();
        for (position, judged) in self.checks.iter().enumerate() {
            let failure = judged.failure_digest(index);
            let old = before.get(position);
            let same = old.filter(|old| !failure.is_empty() && old.failure == failure);
            let since = same.map_or(index, |old| old.since);
            if same.is_some() {
                unchanged.push((judged.assessment.id.clone(), since));
            }
            let mut memory = judged.remember(old, index, failure, since);
            if compared {
                memory.fewest = judged.fewest(old);
            }
            state.checks.push(memory);
        }
        let waived = self.checks.iter().filter(|judged| judged.waived);
        Assessments {
            waived: waived.map(|judged| judged.assessment.id.clone()).collect(),
            checks: self
                .checks
                .into_iter()
                .map(|judged| judged.assessment)
                .collect(),
            unchanged,
            unused: self.unused,
        }
    }
}

impl Judged {
    /// Empty when the check passed, and when the agent is told nothing of it.
    fn failure_digest(&self, index: u32) -> String {
        let Some(code) = self.assessment.code.filter(|_| index > 0) else {
            return String::new();
        };
        let mut digest = Digest::new("failure");
        digest
            .bytes(code.as_str().as_bytes())
            .bytes(self.reason.as_bytes());
        short(&digest.hex()).to_owned()
    }

    /// An iteration without evidence does not make the gate forget what it knew.
    fn remember(
        &self,
        old: Option<&CheckMemory>,
        index: u32,
        failure: String,
        since: u32,
    ) -> CheckMemory {
        let (state, seen) = match (self.seen, old) {
            (Some(seen), _) => (&self.state, seen),
            (None, None) => (&self.state, Seen::default()),
            (None, Some(old)) => (
                &old.state,
                Seen {
                    passed: old.passed,
                    failed: old.failed,
                },
            ),
        };
        CheckMemory {
            state: state.clone(),
            passed: seen.passed,
            failed: seen.failed,
            failure,
            since,
            fewest: old.and_then(|old| old.fewest),
            waived: self.waived,
            baseline: self.baseline(index, old),
        }
    }

    /// What it did before the first iteration: kept, so that a way back to that state is no new start.
    fn baseline(&self, index: u32, old: Option<&CheckMemory>) -> Option<SeenOn> {
        if index > 0 {
            return old?.baseline.clone();
        }
        let seen = self.seen.filter(|seen| *seen != Seen::default())?;
        (!self.state.is_empty()).then(|| SeenOn {
            state: self.state.clone(),
            passed: seen.passed,
            failed: seen.failed,
        })
    }

    /// The fewest tests that failed in it so far.
    fn fewest(&self, old: Option<&CheckMemory>) -> Option<u32> {
        match (self.failing, old.and_then(|old| old.fewest)) {
            (Some(now), Some(fewest)) => Some(now.min(fewest)),
            (now, fewest) => now.or(fewest),
        }
    }
}

struct Evidence<'a> {
    iteration: &'a Iteration<'a>,
    fingerprint: Option<&'a str>,
    may_waive: bool,
}

impl Evidence<'_> {
    /// Two results for one check: the worse counts.
    fn judge(&self, check: &Check, before: Option<&CheckMemory>) -> (Judged, u32) {
        let results = self
            .iteration
            .checks
            .iter()
            .filter(|result| result.id == check.id);
        let findings: Vec<Finding> = results
            .map(|result| self.finding(check, before, result))
            .collect();
        let retries = findings.iter().map(|finding| finding.retries).sum();
        let worst = findings.into_iter().max();
        let state = self
            .fingerprint
            .map_or_else(String::new, |state| short(state).to_owned());
        let waived = self.is_waived(check, before);
        let assessment = |flaky, code: Option<FailureCode>| {
            // Nobody waives tampering.
            let code = code.filter(|code| !waived || *code == FailureCode::EvidenceTampered);
            CheckAssessment {
                id: check.id.clone(),
                required: check.required,
                passed: code.is_none(),
                flaky,
                code,
            }
        };
        match worst {
            None => {
                let judged = Judged {
                    assessment: assessment(false, Some(FailureCode::MissingEvidence)),
                    reason: "the host reported no result for this check".to_owned(),
                    seen: None,
                    state,
                    failing: None,
                    fewer_tests: false,
                    waived,
                };
                (judged, 0)
            }
            Some(finding) => {
                let fewest = before.and_then(|before| before.fewest);
                let failing = finding.failing.filter(|_| !finding.stale);
                // Evidence of another state says nothing about this one.
                let judged = Judged {
                    assessment: assessment(finding.flaky, finding.code),
                    reason: finding.reason,
                    seen: Some(finding.seen).filter(|_| !finding.stale),
                    state,
                    failing,
                    fewer_tests: failing
                        .is_some_and(|failing| fewest.is_none_or(|fewest| failing < fewest)),
                    waived,
                };
                (judged, retries)
            }
        }
    }

    /// Whether an operator waived the check, now or before.
    fn is_waived(&self, check: &Check, before: Option<&CheckMemory>) -> bool {
        self.may_waive
            && (before.is_some_and(|before| before.waived)
                || self
                    .iteration
                    .waivers
                    .iter()
                    .any(|waiver| waiver.check == check.id))
    }

    fn finding(
        &self,
        check: &Check,
        before: Option<&CheckMemory>,
        result: &CheckResult<'_>,
    ) -> Finding {
        let counted = allowed(check, &result.attempts);
        // Other attempts can't make a pass, and can't unmake a failure.
        let outcome = match (counted.last().copied(), result.outcome) {
            (Some(last), reported) if last != Outcome::Pass && reported != Outcome::Flaky => last,
            (_, reported) => reported,
        };
        let tampered = result.code == Some(FailureCode::EvidenceTampered);
        let stale = self.is_stale(result);
        let seen = if stale {
            Seen::default()
        } else {
            Seen::of(counted.iter().copied().chain([outcome])).and(self.seen_before(before))
        };
        let flaky = seen.is_flaky();
        let code = match result.code {
            Some(code) if tampered => Some(code),
            _ if stale => Some(FailureCode::StaleEvidence),
            Some(code) => Some(code),
            None => code_for(check, outcome, flaky),
        };
        let reason = match code {
            None => String::new(),
            Some(code) => self.reason(code, result, outcome, counted, check),
        };
        Finding {
            tampered,
            code,
            flaky,
            reason,
            seen,
            retries: u32::try_from(counted.len().saturating_sub(1)).unwrap_or(u32::MAX),
            stale,
            failing: result.failing,
        }
    }

    fn is_stale(&self, result: &CheckResult<'_>) -> bool {
        let other_iteration = result
            .iteration
            .is_some_and(|index| index != self.iteration.index);
        let other_state = result
            .fingerprint
            .as_deref()
            .is_some_and(|fingerprint| self.fingerprint != Some(fingerprint));
        other_iteration || other_state
    }

    /// What is remembered of the same state.
    fn seen_before(&self, before: Option<&CheckMemory>) -> Seen {
        let Some((before, state)) = before.zip(self.fingerprint.map(short)) else {
            return Seen::default();
        };
        let newest = (before.state == state).then_some(Seen {
            passed: before.passed,
            failed: before.failed,
        });
        let baseline = before.baseline.as_ref().filter(|seen| seen.state == state);
        let baseline = baseline.map(|seen| Seen {
            passed: seen.passed,
            failed: seen.failed,
        });
        newest.unwrap_or_default().and(baseline.unwrap_or_default())
    }

    fn reason(
        &self,
        code: FailureCode,
        result: &CheckResult<'_>,
        outcome: Outcome,
        counted: &[Outcome],
        check: &Check,
    ) -> String {
        if code == FailureCode::StaleEvidence {
            return match result.iteration {
                Some(index) if index != self.iteration.index => format!(
                    "the evidence is from iteration {index}, this is iteration {}",
                    self.iteration.index
                ),
                _ => "the evidence is from another state of the work".to_owned(),
            };
        }
        if counted.len() < result.attempts.len() && result.outcome == Outcome::Pass {
            return match counted.last() {
                Some(last) if !check.is_rerun_after(*last) => {
                    format!(
                        "it passed only on a rerun after `{last}`, which `retry_on` does not list"
                    )
                }
                _ => format!(
                    "it passed only after more than the {} allowed reruns",
                    check.retries
                ),
            };
        }
        let given = result
            .reason
            .as_deref()
            .filter(|reason| !reason.trim().is_empty());
        match given {
            // What a check says that passed is no reason to refuse it.
            Some(reason) if code == FailureCode::CheckFlaky && outcome == Outcome::Pass => clean(
                &format!("it failed before on this same state of the work, and now: {reason}"),
                MAX_REASON,
            ),
            Some(reason) => clean(reason, MAX_REASON),
            None => default_reason(code, outcome).to_owned(),
        }
    }
}

/// The attempts that the contract allows: so many reruns, each after an outcome that is rerun.
fn allowed<'r>(check: &Check, attempts: &'r [Outcome]) -> &'r [Outcome] {
    let most = usize::try_from(check.retries)
        .unwrap_or(usize::MAX)
        .saturating_add(1)
        .min(attempts.len());
    let last = attempts
        .iter()
        .take(most)
        .position(|outcome| !check.is_rerun_after(*outcome));
    let end = last.map_or(most, |last| last + 1);
    attempts.get(..end).unwrap_or_default()
}

fn code_for(check: &Check, outcome: Outcome, flaky: bool) -> Option<FailureCode> {
    match outcome {
        Outcome::Pass | Outcome::Flaky if flaky => match check.on_flaky {
            OnFlaky::Pass => None,
            OnFlaky::Fail => Some(FailureCode::CheckFlaky),
        },
        Outcome::Pass | Outcome::Flaky => None,
        Outcome::Fail if flaky => Some(FailureCode::CheckFlaky),
        Outcome::Fail | Outcome::Unknown => Some(FailureCode::CheckFailed),
        Outcome::Error => Some(FailureCode::CheckErrored),
        Outcome::Timeout => Some(FailureCode::CheckTimedOut),
    }
}

fn default_reason(code: FailureCode, outcome: Outcome) -> &'static str {
    match code {
        FailureCode::CheckErrored => "the check itself broke",
        FailureCode::CheckTimedOut => "the check ran longer than it may",
        FailureCode::CheckFlaky => "the check both passed and failed on the same state",
        FailureCode::EvidenceTampered => "the evidence was tampered with",
        FailureCode::PolicyTrapped => "the policy trapped",
        FailureCode::PolicyOutOfFuel => "the policy used up its fuel",
        FailureCode::PolicyOutOfMemory => "the policy used up its memory",
        FailureCode::PolicyRejected => "the policy may not run here",
        FailureCode::ControlFailed => "a control test was not reported as it must be",
        FailureCode::CheckUnavailable => "what the check needs does not exist here",
        _ if outcome == Outcome::Unknown => "the check could not tell",
        _ => "the check failed",
    }
}

fn failures(contract: &Contract, iteration: &Iteration<'_>, checks: &[Judged]) -> Vec<Failure> {
    let failure = |judged: &Judged| {
        Some(Failure {
            code: judged.assessment.code?,
            check: Some(judged.assessment.id.clone()),
            reason: judged.reason.clone(),
        })
    };
    let mut failures: Vec<Failure> = checks
        .iter()
        .filter(|judged| judged.assessment.required)
        .filter_map(failure)
        .collect();
    let optional = || checks.iter().filter(|judged| !judged.assessment.required);
    let passed = optional().filter(|judged| judged.assessment.passed).count();
    let total = optional().count();
    let ratio = contract.optional_pass_ratio;
    if ratio.is_met_by(passed, total) {
        // Below the ratio an optional check may fail, but nothing may be tampered with.
        let tampered =
            |judged: &&Judged| judged.assessment.code == Some(FailureCode::EvidenceTampered);
        failures.extend(optional().filter(tampered).filter_map(failure));
    } else {
        failures.extend(optional().filter_map(failure));
        failures.push(Failure {
            code: FailureCode::RatioNotMet,
            check: None,
            reason: format!(
                "{passed} of {total} optional checks passed, the share must be at least {ratio}"
            ),
        });
    }
    failures.extend(iteration.tampered.iter().map(|tampering| Failure {
        code: FailureCode::EvidenceTampered,
        check: None,
        reason: clean(
            &format!("{}: {}", tampering.what, tampering.reason),
            MAX_REASON,
        ),
    }));
    failures
}

fn unused(contract: &Contract, iteration: &Iteration<'_>) -> Vec<String> {
    let mut unused: Vec<String> = iteration
        .checks
        .iter()
        .filter(|result| {
            !contract
                .completion_checks
                .iter()
                .any(|check| check.id == result.id)
        })
        .map(|result| result.id.clone().into_owned())
        .collect();
    sort(&mut unused, Ord::cmp);
    unused.dedup();
    unused
}
