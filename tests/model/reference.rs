//! The reference model: the specification's decision table, written as plainly as possible.
//!
//! It shares no code with the gate. Where the gate keeps a bounded state, the model keeps the whole
//! history and looks through it again each time.

use crate::answer::{
    Answer, Assessment, Counters, Decision, Detail, ErrorCode, Failure, FailureCode, LoopSignal,
    RoutedMode, Ruling, Standstill, StopReason, Verdict,
};
use crate::situation::{
    Action, After, Cause, Check, CheckResult, Claim, Contract, Enforcement, Iteration, Mode,
    OnFlaky, Outcome, Output, Place, PromiseRules, Signal, Text, Token, Usage, Work,
};

/// A line of the decision table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    Canceled,
    Override,
    Completed,
    SaidError,
    SaidBlocked,
    Budget,
    MaxIters,
    Failures,
    NoProgress,
    Otherwise,
}

/// The ten lines in their order.
pub(crate) const ORDER: [Line; 10] = [
    Line::Canceled,
    Line::Override,
    Line::Completed,
    Line::SaidError,
    Line::SaidBlocked,
    Line::Budget,
    Line::MaxIters,
    Line::Failures,
    Line::NoProgress,
    Line::Otherwise,
];

/// A single rule that a wrong model gets wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    CanceledIgnored,
    OverrideNeedsNoPermission,
    OverrideNotMarked,
    MissingPasses,
    StalePasses,
    UnknownPasses,
    TamperingIgnored,
    RatioIgnored,
    TokenIgnored,
    ContraryIgnored,
    CompletesWithoutFinal,
    BetterOfTwoResults,
    FlakyAlwaysPasses,
    FlakyForgotten,
    SignalErrorBlocks,
    SignalNeedsFinal,
    BudgetOverWhenEqual,
    DurationBeforeToolCalls,
    OneIterationMore,
    OneEqualMore,
    OscillationIgnored,
    PlateauOneMore,
    PlateauBeforeNoProgress,
    OneFailureMore,
    TimeoutIsNoFailure,
    InterceptsEveryAction,
    ShadowStops,
    AutoIsRalph,
    HiddenPromisesCount,
    /// Reruns beyond the bound are left out even where they failed.
    LateFailureForgotten,
    /// Only the latest outcome on a state is remembered.
    OnlyLatestRemembered,
    /// Evidence that is stale, too, is not tampered with; nor is it beside a policy's code.
    TamperingOutweighed,
    /// Stale evidence that contradicts what was said before makes a check flaky.
    StaleIsFlaky,
    /// Results for checks that the contract doesn't name are part of the fingerprint.
    UnusedIsProgress,
    /// A rerun counts whatever the outcome before it was.
    AnyRerunCounts,
    /// A check that broke or ran too long says something of the work.
    ErrorIsFlaky,
    TokensIgnored,
    TokensAfterToolCalls,
    BlockedOnceTooMany,
    BlockedNeedNotBeInARow,
    /// An iteration that failed is compared like any other.
    FailedIsCompared,
    /// Only cycles of up to four are looked for.
    LongCyclesIgnored,
    BaselineForgotten,
    /// What was seen before the first iteration is forgotten once a check was run on another state.
    BaselineForgottenLater,
    WaiversIgnored,
    WaiverForgotten,
    WaiverNeedsNoPermission,
}

/// The rules in force: those of the specification, unless a test bends them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) order: Vec<Line>,
    pub(crate) mistakes: Vec<Mistake>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            order: ORDER.to_vec(),
            mistakes: Vec::new(),
        }
    }
}

/// What the work of an iteration looks like. Two equal ones are no progress.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shown {
    Work(Work),
    /// Stands in where the host shows no work. The number makes it one of its kind.
    Output(Output, Option<u32>),
}

/// One iteration of the past, and what the model made of it.
#[derive(Debug, Clone)]
struct Past {
    iteration: Iteration,
    judged: Vec<Judged>,
    /// None where there was nothing to compare.
    fingerprint: Option<(Shown, Vec<Recorded>)>,
    failing_required: usize,
}

/// One item of the tuple of check results: what was reported, whatever it is worth.
type Recorded = (&'static str, Outcome);

/// How one check was judged in one iteration.
#[derive(Debug, Clone)]
struct Judged {
    passed: bool,
    flaky: bool,
    code: Option<FailureCode>,
    /// What fresh evidence said in each try, in the iteration's state.
    said: Vec<Outcome>,
    retries: u32,
    /// How many tests failed, if fresh evidence says so.
    failing: Option<u32>,
}

/// What the promises of an output come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promised {
    Nothing,
    /// The token stands where it doesn't count.
    Misplaced,
    Text(Text),
    Conflict {
        contrary: bool,
    },
}

/// A loop with its whole history.
#[derive(Debug, Clone)]
pub(crate) struct Loop {
    contract: Contract,
    rules: Rules,
    /// Evidence of the run before the first iteration.
    baseline: Option<Past>,
    past: Vec<Past>,
    /// How many iterations were over when the loop was resumed last. Standing still is counted
    /// from there.
    resumed_after: usize,
    stopped: bool,
}

impl Loop {
    pub(crate) fn new(contract: Contract, rules: Rules) -> Self {
        Self {
            contract,
            rules,
            baseline: None,
            past: Vec::new(),
            resumed_after: 0,
            stopped: false,
        }
    }

    /// An operator goes on with the loop.
    pub(crate) fn resume(&mut self) {
        self.stopped = false;
        self.resumed_after = self.past.len();
    }

    /// The answer to the next iteration.
    pub(crate) fn step(&mut self, iteration: &Iteration) -> Answer {
        if self.mode() == RoutedMode::Standard {
            return Answer::Verdict(Box::new(pass_through(iteration.usage)));
        }
        if self.stopped {
            return Answer::Error(ErrorCode::LoopStopped);
        }
        if iteration.index == 0 && self.past.is_empty() && self.baseline.is_none() {
            return Answer::Verdict(Box::new(self.begin(iteration)));
        }
        if iteration.index as usize != self.past.len() + 1 {
            return Answer::Error(ErrorCode::IterationOutOfOrder);
        }
        let past = self.look_at(iteration);
        self.past.push(past);
        Answer::Verdict(Box::new(self.verdict()))
    }

    /// What is known before the first iteration. No agent has run, so nothing that it could have done
    /// counts, and nothing is decided.
    fn begin(&mut self, iteration: &Iteration) -> Verdict {
        let nothing = Iteration {
            index: 0,
            action: Action::Continue,
            results: iteration.results.clone(),
            work: iteration.work,
            tampered: iteration.tampered,
            waivers: iteration.waivers.clone(),
            output: Output {
                prose: None,
                promises: Vec::new(),
                after: After::Nothing,
            },
            ..Iteration::default()
        };
        let baseline = self.look_at(&nothing);
        self.past.push(baseline);
        let mut verdict = Verdict {
            fingerprint: Standstill::default(),
            ..self.verdict()
        };
        let going_on = self.ruling(Line::Otherwise);
        if self.contract.enforcement == Enforcement::Shadow {
            verdict.shadow = Some(going_on);
        } else {
            verdict.ruling = going_on;
        }
        self.stopped = false;
        self.baseline = self.past.pop();
        verdict
    }

    /// What an iteration shows, judged by what was seen before.
    fn look_at(&self, iteration: &Iteration) -> Past {
        let judged: Vec<Judged> = self
            .contract
            .checks
            .iter()
            .enumerate()
            .map(|(place, check)| self.judge(place, check, iteration))
            .collect();
        Past {
            iteration: iteration.clone(),
            fingerprint: shown(iteration, self.contract.token)
                .map(|shown| (shown, self.tuple(iteration))),
            failing_required: self
                .contract
                .checks
                .iter()
                .zip(&judged)
                .filter(|(check, judged)| check.required && !judged.passed)
                .count(),
            judged,
        }
    }

    // ------------------------------------------------------------------------- routing

    fn mode(&self) -> RoutedMode {
        let strict = self.contract.checks.iter().any(|check| check.required);
        match self.contract.mode {
            Mode::Ralph => RoutedMode::Ralph,
            Mode::Auto if strict || self.is(Mistake::AutoIsRalph) => RoutedMode::Ralph,
            Mode::Absent | Mode::Standard | Mode::Auto => RoutedMode::Standard,
        }
    }

    // ------------------------------------------------------------------------- deciding

    fn verdict(&mut self) -> Verdict {
        let line = self
            .rules
            .order
            .iter()
            .copied()
            .find(|line| self.applies(*line))
            .unwrap_or(Line::Otherwise);
        let ruling = self.ruling(line);
        let iteration = self.now().iteration.clone();
        let completed = ruling.stop_reason == Some(StopReason::Completed);
        let shadowed = self.contract.enforcement == Enforcement::Shadow;
        let lets_go = self.is(Mistake::InterceptsEveryAction) || iteration.action == Action::Final;
        if !shadowed || self.is(Mistake::ShadowStops) {
            self.stopped = ruling.decision == Decision::Stop;
        }
        Verdict {
            ruling: if shadowed { nothing_said() } else { ruling },
            intercepted: !shadowed && ruling.decision == Decision::Continue && lets_go,
            overridden: !shadowed && line == Line::Override && !self.is(Mistake::OverrideNotMarked),
            mode: RoutedMode::Ralph,
            shadow: shadowed.then_some(ruling),
            failures: if completed {
                Vec::new()
            } else {
                self.failures()
            },
            checks: self.assessments(),
            unused_checks: self.unused(),
            waived: self.waived(),
            fingerprint: Standstill {
                counted: self.is_compared(self.now()) && self.now().fingerprint.is_some(),
                equal_in_a_row: self.equal_in_a_row(),
            },
            counters: self.counters(),
        }
    }

    fn applies(&self, line: Line) -> bool {
        let now = &self.now().iteration;
        let signal = match self.promised() {
            Promised::Text(Text::Signal(signal)) => Some(signal),
            _ => None,
        }
        .filter(|_| now.action == Action::Final || !self.is(Mistake::SignalNeedsFinal));
        match line {
            Line::Canceled => now.canceled && !self.is(Mistake::CanceledIgnored),
            Line::Override => {
                now.overridden
                    && (self.contract.allow_override || self.is(Mistake::OverrideNeedsNoPermission))
            }
            Line::Completed => self.complete(),
            Line::SaidError => signal == Some(Signal::Error),
            Line::SaidBlocked => {
                signal == Some(Signal::Blocked)
                    && self.blocked_in_a_row()
                        >= self.contract.blocked_limit
                            + u32::from(self.is(Mistake::BlockedOnceTooMany))
            }
            Line::Budget => self.exceeded().is_some(),
            Line::MaxIters => {
                now.index
                    >= self.contract.loop_max_iters + u32::from(self.is(Mistake::OneIterationMore))
            }
            Line::NoProgress => self.is_compared(self.now()) && self.standing_still().is_some(),
            Line::Failures => {
                self.failures_in_a_row()
                    >= self.contract.max_consecutive_failures
                        + u32::from(self.is(Mistake::OneFailureMore))
            }
            Line::Otherwise => true,
        }
    }

    fn ruling(&self, line: Line) -> Ruling {
        let stop = |reason, detail, signal| Ruling {
            decision: Decision::Stop,
            stop_reason: Some(reason),
            detail,
            signal: Some(signal),
        };
        let blocked = LoopSignal::Blocked;
        match line {
            Line::Canceled => stop(StopReason::ContextCanceled, None, blocked),
            Line::Override | Line::Completed => stop(StopReason::Completed, None, LoopSignal::Done),
            Line::SaidError if self.is(Mistake::SignalErrorBlocks) => {
                stop(StopReason::Blocked, None, blocked)
            }
            Line::SaidError => stop(StopReason::Error, None, LoopSignal::Error),
            Line::SaidBlocked => stop(StopReason::Blocked, None, blocked),
            Line::Budget => stop(StopReason::BudgetExceeded, self.exceeded(), blocked),
            Line::MaxIters => stop(StopReason::MaxIters, None, blocked),
            Line::NoProgress => stop(StopReason::NoProgress, self.standing_still(), blocked),
            Line::Failures => stop(
                StopReason::Blocked,
                Some(Detail::MaxConsecutiveFailures),
                blocked,
            ),
            Line::Otherwise => Ruling {
                decision: Decision::Continue,
                stop_reason: None,
                detail: None,
                signal: Some(LoopSignal::Continue),
            },
        }
    }

    fn complete(&self) -> bool {
        let now = self.now();
        let is_final = now.iteration.action == Action::Final;
        (is_final || self.is(Mistake::CompletesWithoutFinal))
            && (!self.contrary() || self.is(Mistake::ContraryIgnored))
            && self.token_met()
            && now.failing_required == 0
            && self.ratio_met()
            && !self.tampered()
    }

    /// Cost, then tokens, then tool calls, then duration. Over is more than the limit, not equal to it.
    fn exceeded(&self) -> Option<Detail> {
        let counters = self.totals();
        let over = |used: u32, limit: u32| {
            used > limit || (self.is(Mistake::BudgetOverWhenEqual) && used == limit)
        };
        let cost = self
            .contract
            .budget_cents
            .is_some_and(|budget| over(counters.cents, budget));
        let tokens = self.contract.max_tokens > 0
            && over(counters.tokens, self.contract.max_tokens)
            && !self.is(Mistake::TokensIgnored);
        let late = self.is(Mistake::TokensAfterToolCalls);
        let calls = over(counters.tool_calls, self.contract.max_tool_calls);
        let duration = over(counters.elapsed_ms, self.contract.max_duration_ms);
        let swapped = self.is(Mistake::DurationBeforeToolCalls);
        if cost {
            Some(Detail::CostBudgetUsd)
        } else if tokens && !(late && calls) {
            Some(Detail::MaxTokens)
        } else if swapped && duration {
            Some(Detail::MaxDurationMs)
        } else if calls {
            Some(Detail::MaxToolCalls)
        } else if duration {
            Some(Detail::MaxDurationMs)
        } else {
            None
        }
    }

    fn failures_in_a_row(&self) -> u32 {
        let failed = |past: &&Past| match past.iteration.action {
            Action::Error => true,
            Action::Timeout => !self.is(Mistake::TimeoutIsNoFailure),
            Action::Final | Action::Continue => false,
        };
        count(self.since_resumed().iter().rev().take_while(failed))
    }

    /// Iterations in a row in which the agent said that it is blocked.
    fn blocked_in_a_row(&self) -> u32 {
        let blocked = |past: &&Past| {
            self.promised_in(&past.iteration) == Promised::Text(Text::Signal(Signal::Blocked))
        };
        let past = self.since_resumed().iter().rev();
        if self.is(Mistake::BlockedNeedNotBeInARow) {
            return count(past.filter(blocked));
        }
        count(past.take_while(blocked))
    }

    /// Whether an iteration is compared with others: an agent that crashes does not stand still.
    fn is_compared(&self, past: &Past) -> bool {
        !matches!(past.iteration.action, Action::Error | Action::Timeout)
            || self.is(Mistake::FailedIsCompared)
    }

    // ------------------------------------------------------------------------- evidence

    fn judge(&self, place: usize, check: &Check, iteration: &Iteration) -> Judged {
        let judged = iteration
            .results
            .iter()
            .filter(|result| result.id == check.id)
            .map(|result| self.judge_result(place, check, result, iteration));
        let worst = if self.is(Mistake::BetterOfTwoResults) {
            judged.min_by_key(|judged| self.badness(judged))
        } else {
            judged.max_by_key(|judged| self.badness(judged))
        };
        let judged = worst.unwrap_or(Judged {
            passed: self.is(Mistake::MissingPasses),
            flaky: false,
            code: (!self.is(Mistake::MissingPasses)).then_some(FailureCode::MissingEvidence),
            said: Vec::new(),
            retries: 0,
            failing: None,
        });
        let tampered = judged.code == Some(FailureCode::EvidenceTampered);
        if self.is_waived(check.id, Some(iteration)) && !tampered {
            return Judged {
                passed: true,
                code: None,
                ..judged
            };
        }
        judged
    }

    /// Whether an operator waived a check, in this iteration or in one before.
    fn is_waived(&self, id: &str, now: Option<&Iteration>) -> bool {
        let before = self.baseline.iter().chain(&self.past);
        let before = before
            .map(|past| &past.iteration)
            .filter(|_| now.is_none() || !self.is(Mistake::WaiverForgotten));
        let mut waivers = before.chain(now).flat_map(|iteration| &iteration.waivers);
        !self.is(Mistake::WaiversIgnored)
            && (self.contract.allow_override || self.is(Mistake::WaiverNeedsNoPermission))
            && waivers.any(|waived| *waived == id)
    }

    fn waived(&self) -> Vec<String> {
        let checks = self.contract.checks.iter();
        checks
            .filter(|check| self.is_waived(check.id, None))
            .map(|check| check.id.to_owned())
            .collect()
    }

    fn judge_result(
        &self,
        place: usize,
        check: &Check,
        result: &CheckResult,
        iteration: &Iteration,
    ) -> Judged {
        let bound = check.retries.unwrap_or(self.contract.max_check_retries);
        let tries: Vec<Outcome> = if result.attempts.is_empty() {
            vec![result.outcome]
        } else {
            self.allowed_tries(check, &result.attempts, 1 + bound as usize)
        };
        let retries = count(tries.iter().skip(1));
        // Only a pass passes: a rerun beyond the bound can't turn a failure into a pass, and what
        // was reported in the end can't be turned into a pass by leaving reruns out.
        let counted = tries.last().copied().unwrap_or(result.outcome);
        let outcome = if passes(counted) && !self.is(Mistake::LateFailureForgotten) {
            result.outcome
        } else {
            counted
        };
        let stale = stale(result, iteration.work) && !self.is(Mistake::StalePasses);
        // Which of two reasons is told is open, but nothing may be tampered with.
        let refused = match result.cause {
            Some(Cause::Tampered) if !self.is(Mistake::TamperingOutweighed) => {
                Some(FailureCode::EvidenceTampered)
            }
            _ if stale => Some(FailureCode::StaleEvidence),
            cause => cause.map(code_of_cause),
        };
        if stale && !self.is(Mistake::StaleIsFlaky) {
            return Judged {
                passed: false,
                flaky: false,
                code: refused,
                said: Vec::new(),
                retries,
                failing: None,
            };
        }
        let flaky = outcome == Outcome::Flaky
            || if self.is(Mistake::OnlyLatestRemembered) {
                let latest = self.latest(place, iteration.work);
                self.contradict(&tries)
                    || latest.is_some_and(|latest| self.contradict(&[latest, outcome]))
            } else {
                let mut seen = tries.clone();
                seen.push(outcome);
                seen.extend(self.said_before(place, iteration.work));
                self.contradict(&seen)
            };
        let on_flaky = check.on_flaky.unwrap_or(self.contract.on_flaky);
        let passed = refused.is_none()
            && match outcome {
                Outcome::Pass | Outcome::Flaky => {
                    !flaky || on_flaky == OnFlaky::Pass || self.is(Mistake::FlakyAlwaysPasses)
                }
                Outcome::Unknown => self.is(Mistake::UnknownPasses),
                Outcome::Fail | Outcome::Error | Outcome::Timeout => false,
            };
        let code = refused.or((!passed).then_some(match outcome {
            // More exact than "flaky".
            Outcome::Error => FailureCode::CheckErrored,
            Outcome::Timeout => FailureCode::CheckTimedOut,
            Outcome::Unknown => FailureCode::CheckFailed,
            _ if flaky => FailureCode::CheckFlaky,
            _ => FailureCode::CheckFailed,
        }));
        let mut said = tries;
        said.push(outcome);
        Judged {
            passed,
            flaky,
            code,
            said: if stale { Vec::new() } else { said },
            retries,
            failing: result.failing.filter(|_| !stale),
        }
    }

    /// The tries up to the bound and up to the first one after which the check is not rerun.
    fn allowed_tries(&self, check: &Check, tries: &[Outcome], bound: usize) -> Vec<Outcome> {
        let retry_on = check
            .retry_on
            .unwrap_or(&[Outcome::Error, Outcome::Timeout]);
        let mut allowed = Vec::new();
        for outcome in tries.iter().take(bound) {
            allowed.push(*outcome);
            if !retry_on.contains(outcome) && !self.is(Mistake::AnyRerunCounts) {
                break;
            }
        }
        allowed
    }

    /// Whether outcomes differ. Results are three-valued: an error or a timeout says nothing of the
    /// work, like an unknown, and contradicts nothing; else a rerun after one could never help. The
    /// specification says "different outcomes" and leaves open which ones count as different.
    fn contradict(&self, outcomes: &[Outcome]) -> bool {
        let fails = |outcome: &Outcome| match outcome {
            Outcome::Fail | Outcome::Flaky => true,
            Outcome::Error | Outcome::Timeout => self.is(Mistake::ErrorIsFlaky),
            Outcome::Pass | Outcome::Unknown => false,
        };
        outcomes.iter().copied().any(passes) && outcomes.iter().any(fails)
    }

    /// How bad a result is. The specification says that the worse of two counts, but not which of
    /// two that both don't pass is the worse. Nothing may be tampered with, so that is the worst;
    /// for the rest the later one in the taxonomy is.
    fn badness(&self, judged: &Judged) -> (u32, Option<FailureCode>, bool) {
        let level = match judged.code {
            None if judged.flaky => 1,
            None => 0,
            Some(FailureCode::EvidenceTampered) if !self.is(Mistake::TamperingOutweighed) => 3,
            Some(_) => 2,
        };
        (level, judged.code, judged.flaky)
    }

    /// The tuple of check results: what was reported for each check of the contract.
    fn tuple(&self, iteration: &Iteration) -> Vec<Recorded> {
        let named = |id: &str| self.contract.checks.iter().any(|check| check.id == id);
        let mut tuple: Vec<Recorded> = iteration
            .results
            .iter()
            .filter(|result| named(result.id) || self.is(Mistake::UnusedIsProgress))
            .map(|result| (result.id, result.outcome))
            .collect();
        tuple.sort();
        // The same said twice says nothing more.
        tuple.dedup();
        tuple
    }

    /// What evidence said of this check on these artifacts. The specification doesn't say how far
    /// back; the gate's state is bounded, so what was said of a state is forgotten once the check
    /// was run on another one, but for what was said before the first iteration. Who resumes a loop
    /// may have mended what the artifacts don't show, so all of it is forgotten then.
    fn said_before(&self, place: usize, work: Work) -> Vec<Outcome> {
        if work.artifact.is_none() || self.is(Mistake::FlakyForgotten) {
            return Vec::new();
        }
        let past = self.since_resumed();
        let said = |past: &Past| Some((past.iteration.work, past.judged.get(place)?.said.clone()));
        let newest = past
            .iter()
            .rev()
            .filter_map(said)
            .filter(|(_, said)| !said.is_empty())
            .take_while(|(then, _)| then.artifact == work.artifact);
        let on_other_work = past
            .iter()
            .filter_map(said)
            .any(|(then, said)| !said.is_empty() && then.artifact != work.artifact);
        let forgets_baseline = self.is(Mistake::BaselineForgotten)
            || self.resumed_after > 0
            || (on_other_work && self.is(Mistake::BaselineForgottenLater));
        let baseline = self
            .baseline
            .iter()
            .filter(|_| !forgets_baseline)
            .filter_map(said)
            .filter(|(then, _)| then.artifact == work.artifact);
        newest
            .chain(baseline)
            .flat_map(|(_, said)| said.into_iter().rev())
            .collect()
    }

    /// The latest outcome alone, if it was on these artifacts.
    fn latest(&self, place: usize, work: Work) -> Option<Outcome> {
        let latest = self.said_before(place, work).first().copied();
        latest.filter(|outcome| *outcome != Outcome::Flaky)
    }

    /// Whether enough of the optional checks passed.
    fn ratio_met(&self) -> bool {
        let optional: Vec<bool> = self
            .contract
            .checks
            .iter()
            .zip(&self.now().judged)
            .filter(|(check, _)| !check.required)
            .map(|(_, judged)| judged.passed)
            .collect();
        let passed = count(optional.iter().filter(|passed| **passed));
        self.is(Mistake::RatioIgnored)
            || passed * 100 >= self.contract.ratio_percent * count(optional.iter())
    }

    /// Whether anything is tampered with, be it the evidence of an optional check.
    fn tampered(&self) -> bool {
        let now = self.now();
        !self.is(Mistake::TamperingIgnored)
            && (now.iteration.tampered
                || now
                    .judged
                    .iter()
                    .any(|judged| judged.code == Some(FailureCode::EvidenceTampered)))
    }

    // ------------------------------------------------------------------------- promises

    /// What the agent's output promises.
    fn promised(&self) -> Promised {
        self.promised_in(&self.now().iteration)
    }

    fn promised_in(&self, iteration: &Iteration) -> Promised {
        let output = &iteration.output;
        let seen: Vec<Text> = output
            .promises
            .iter()
            .filter(|(_, place)| counts(*place) || self.is(Mistake::HiddenPromisesCount))
            .map(|(text, _)| *text)
            .collect();
        let anywhere = || output.promises.iter().map(|(text, _)| *text);
        let uncounted = || {
            if anywhere().any(|text| self.is_token(text)) {
                Promised::Misplaced
            } else {
                Promised::Nothing
            }
        };
        match self.contract.promise_rules {
            PromiseRules::Lenient => anywhere().next().map_or(Promised::Nothing, Promised::Text),
            PromiseRules::Strict => {
                let ends = |(_, place): &(Text, Place)| counts(*place);
                let last = output.promises.last();
                match seen.first() {
                    Some(first) if seen.iter().any(|text| self.differ(*text, *first)) => {
                        Promised::Conflict {
                            contrary: seen.iter().copied().any(contrary),
                        }
                    }
                    Some(first)
                        if output.after != After::Prose
                            && (last.is_some_and(ends)
                                || self.is(Mistake::HiddenPromisesCount)) =>
                    {
                        Promised::Text(*first)
                    }
                    _ => uncounted(),
                }
            }
        }
    }

    fn contrary(&self) -> bool {
        match self.promised() {
            Promised::Text(text) => contrary(text),
            Promised::Conflict { contrary } => contrary,
            Promised::Nothing | Promised::Misplaced => false,
        }
    }

    fn token_met(&self) -> bool {
        self.contract.token == Token::None
            || self.is(Mistake::TokenIgnored)
            || matches!(self.promised(), Promised::Text(text) if self.is_token(text))
    }

    /// Whether a promise says what the token asks for in this iteration.
    fn is_token(&self, text: Text) -> bool {
        match self.contract.token {
            Token::None => false,
            Token::Text => {
                matches!(text, Text::Token | Text::StaleToken | Text::PlainToken)
            }
            Token::Nonce => text == Text::Token,
        }
    }

    fn differ(&self, left: Text, right: Text) -> bool {
        let same_token = self.contract.token != Token::Nonce
            && [left, right]
                .iter()
                .all(|text| matches!(text, Text::Token | Text::StaleToken | Text::PlainToken));
        left != right && !same_token
    }

    // ------------------------------------------------------------------------- progress

    /// No progress, then oscillation, then plateau.
    fn standing_still(&self) -> Option<Detail> {
        let plateau = self.plateau().then_some(Detail::PlateauLimit);
        if plateau.is_some() && self.is(Mistake::PlateauBeforeNoProgress) {
            return plateau;
        }
        let limit = self.contract.no_progress_limit;
        let needed = limit + u32::from(self.is(Mistake::OneEqualMore));
        if limit > 0 && self.equal_in_a_row() >= needed {
            Some(Detail::NoProgressLimit)
        } else if limit > 0 && self.oscillates(limit) && !self.is(Mistake::OscillationIgnored) {
            Some(Detail::Oscillation)
        } else {
            plateau
        }
    }

    fn equal_in_a_row(&self) -> u32 {
        let now = self.now();
        if now.fingerprint.is_none() || !self.is_compared(now) {
            return 0;
        }
        count(
            self.compared()
                .iter()
                .rev()
                .take_while(|past| past.fingerprint == now.fingerprint),
        )
    }

    /// The iterations since the loop was resumed last, but for those that failed.
    fn compared(&self) -> Vec<&Past> {
        let past = self.since_resumed().iter();
        past.filter(|past| self.is_compared(past)).collect()
    }

    /// Whether the last iterations are one cycle, seen `times` times. The specification
    /// looks for cycles of up to eight.
    fn oscillates(&self, times: u32) -> bool {
        let longest = if self.is(Mistake::LongCyclesIgnored) {
            4
        } else {
            8
        };
        let stretch = self.compared();
        (2..=longest).any(|length| {
            let whole = length * times as usize;
            let Some(start) = stretch.len().checked_sub(whole) else {
                return false;
            };
            let last = stretch.get(start..).unwrap_or_default();
            last.iter().all(|past| past.fingerprint.is_some())
                && last
                    .iter()
                    .zip(last.iter().skip(length))
                    .all(|(earlier, later)| earlier.fingerprint == later.fingerprint)
        })
    }

    /// Whether the last iterations had no fewer failing required checks than the best before.
    /// Where none fails there can't be fewer: the specification leaves it open, and the gate takes
    /// such an iteration for the end of a plateau.
    fn plateau(&self) -> bool {
        let limit = self.contract.plateau_limit + u32::from(self.is(Mistake::PlateauOneMore));
        let mut best: Option<usize> = None;
        let mut fewest: Vec<Option<u32>> = vec![None; self.contract.checks.len()];
        let mut without = 0;
        for past in self.compared() {
            let none_fails = past.failing_required == 0;
            let mut better = none_fails || best.is_none_or(|best| past.failing_required < best);
            let checks = self.contract.checks.iter().zip(&past.judged);
            for ((check, judged), fewest) in checks.zip(&mut fewest) {
                let Some(failing) = judged.failing else {
                    continue;
                };
                if fewest.is_none_or(|fewest| failing < fewest) {
                    *fewest = Some(failing);
                    better |= check.required;
                }
            }
            if better {
                best = Some(best.map_or(past.failing_required, |best| {
                    best.min(past.failing_required)
                }));
                without = 0;
            } else {
                without += 1;
            }
        }
        self.contract.plateau_limit > 0 && without >= limit
    }

    // ------------------------------------------------------------------------- what else is said

    fn failures(&self) -> Vec<Failure> {
        let now = self.now();
        let mut failures = Vec::new();
        let mut add = |code, check: Option<&str>| {
            failures.push(Failure {
                code,
                check: check.map(str::to_owned),
            });
        };
        let ratio_met = self.ratio_met();
        for (check, judged) in self.contract.checks.iter().zip(&now.judged) {
            let in_the_way =
                check.required || !ratio_met || judged.code == Some(FailureCode::EvidenceTampered);
            if let Some(code) = judged.code.filter(|_| in_the_way) {
                add(code, Some(check.id));
            }
        }
        if !ratio_met {
            add(FailureCode::RatioNotMet, None);
        }
        if now.iteration.tampered {
            add(FailureCode::EvidenceTampered, None);
        }
        if let Some(code) = self.promise_failure() {
            add(code, None);
        }
        failures.sort();
        failures
    }

    /// Only a final claims something about the promise.
    fn promise_failure(&self) -> Option<FailureCode> {
        if self.now().iteration.action != Action::Final {
            return None;
        }
        let wanted = self.contract.token != Token::None;
        match self.promised() {
            Promised::Text(Text::Signal(Signal::Continue)) => Some(FailureCode::PromiseContinue),
            Promised::Text(Text::Signal(Signal::Blocked))
                if self.blocked_in_a_row() < self.contract.blocked_limit =>
            {
                Some(FailureCode::PromiseContinue)
            }
            // The closed taxonomy has no code for these; lines 4 and 5 name them as the reason.
            Promised::Text(Text::Signal(Signal::Blocked | Signal::Error)) => None,
            Promised::Text(_) if self.token_met() => None,
            Promised::Text(_) => Some(FailureCode::TokenMismatch),
            Promised::Conflict { contrary } => {
                (wanted || contrary).then_some(FailureCode::PromiseConflict)
            }
            Promised::Misplaced => wanted.then_some(FailureCode::PromiseMisplaced),
            Promised::Nothing => wanted.then_some(FailureCode::TokenMissing),
        }
    }

    fn assessments(&self) -> Vec<Assessment> {
        self.contract
            .checks
            .iter()
            .zip(&self.now().judged)
            .map(|(check, judged)| Assessment {
                id: check.id.to_owned(),
                required: check.required,
                passed: judged.passed,
                flaky: judged.flaky,
                code: judged.code,
            })
            .collect()
    }

    fn unused(&self) -> Vec<String> {
        let named = |id: &str| self.contract.checks.iter().any(|check| check.id == id);
        let mut unused: Vec<String> = self
            .now()
            .iteration
            .results
            .iter()
            .filter(|result| !named(result.id))
            .map(|result| result.id.to_owned())
            .collect();
        unused.sort();
        unused.dedup();
        unused
    }

    fn counters(&self) -> Counters {
        let totals = self.totals();
        Counters {
            elapsed_ms: totals.elapsed_ms,
            tool_calls: totals.tool_calls,
            cost_usd: dollars(totals.cents),
            tokens: totals.tokens,
            consecutive_failures: self.failures_in_a_row(),
            check_retries: self
                .baseline
                .iter()
                .chain(&self.past)
                .flat_map(|past| &past.judged)
                .map(|judged| judged.retries)
                .sum(),
        }
    }

    fn totals(&self) -> Usage {
        let mut totals = Usage::default();
        for past in &self.past {
            totals.elapsed_ms += past.iteration.usage.elapsed_ms;
            totals.tool_calls += past.iteration.usage.tool_calls;
            totals.cents += past.iteration.usage.cents;
            totals.tokens += past.iteration.usage.tokens;
        }
        totals
    }

    // ------------------------------------------------------------------------- helpers

    fn is(&self, mistake: Mistake) -> bool {
        self.rules.mistakes.contains(&mistake)
    }

    /// The iteration that is being judged.
    fn now(&self) -> &Past {
        self.past
            .last()
            .expect("an iteration is being judged, and it is in the history")
    }

    fn since_resumed(&self) -> &[Past] {
        self.past.get(self.resumed_after..).unwrap_or_default()
    }
}

/// Nothing is remembered in standard mode, so the totals are those of the one iteration.
fn pass_through(usage: Usage) -> Verdict {
    Verdict {
        ruling: nothing_said(),
        intercepted: false,
        overridden: false,
        mode: RoutedMode::Standard,
        shadow: None,
        failures: Vec::new(),
        checks: Vec::new(),
        unused_checks: Vec::new(),
        waived: Vec::new(),
        fingerprint: Standstill::default(),
        counters: Counters {
            elapsed_ms: usage.elapsed_ms,
            tool_calls: usage.tool_calls,
            cost_usd: dollars(usage.cents),
            tokens: usage.tokens,
            consecutive_failures: 0,
            check_retries: 0,
        },
    }
}

fn nothing_said() -> Ruling {
    Ruling {
        decision: Decision::PassThrough,
        stop_reason: None,
        detail: None,
        signal: None,
    }
}

fn contrary(text: Text) -> bool {
    matches!(
        text,
        Text::Signal(Signal::Continue | Signal::Blocked | Signal::Error)
    )
}

/// Whether a promise counts where it stands. Colors change nothing.
fn counts(place: Place) -> bool {
    matches!(place, Place::Visible | Place::Colored)
}

fn passes(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Pass | Outcome::Flaky)
}

/// Evidence for another iteration, or for another state than the artifacts show now.
fn stale(result: &CheckResult, work: Work) -> bool {
    let no_state = result.state == Claim::This && work.artifact.is_none();
    result.iteration == Claim::Another || result.state == Claim::Another || no_state
}

fn code_of_cause(cause: Cause) -> FailureCode {
    match cause {
        Cause::Tampered => FailureCode::EvidenceTampered,
        Cause::PolicyTrapped => FailureCode::PolicyTrapped,
        Cause::PolicyOutOfFuel => FailureCode::PolicyOutOfFuel,
        Cause::PolicyOutOfMemory => FailureCode::PolicyOutOfMemory,
        Cause::PolicyRejected => FailureCode::PolicyRejected,
        Cause::ControlFailed => FailureCode::ControlFailed,
        Cause::CheckUnavailable => FailureCode::CheckUnavailable,
    }
}

/// What an iteration shows of its work. None where there is nothing.
fn shown(iteration: &Iteration, token: Token) -> Option<Shown> {
    let work = iteration.work;
    let output = &iteration.output;
    if work.artifact.is_some() || work.tool_output.is_some() {
        Some(Shown::Work(work))
    } else if output.prose.is_none() && output.promises.is_empty() {
        None
    } else {
        Some(Shown::Output(
            written(output, token),
            echoes(output, token).then_some(iteration.index),
        ))
    }
}

/// The output as far as it is compared: without a nonce, all the token's forms are one text.
fn written(output: &Output, token: Token) -> Output {
    let mut output = output.clone();
    for (text, place) in &mut output.promises {
        if *place == Place::Colored {
            *place = Place::Visible;
        }
        if token != Token::Nonce && matches!(text, Text::StaleToken | Text::PlainToken) {
            *text = Text::Token;
        }
    }
    output
}

/// Whether the output holds the nonce of another iteration. This iteration's own is volatile and
/// says nothing of the work; another one is text like any other, and never the same twice.
fn echoes(output: &Output, token: Token) -> bool {
    token == Token::Nonce
        && output
            .promises
            .iter()
            .any(|(text, _)| *text == Text::StaleToken)
}

fn dollars(cents: u32) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).expect("few items")
}
