//! Deciding: one iteration and the state before it give the verdict and the state after it.

mod checks;
mod decide;
mod needs;
mod token;

use serde::Serialize;

use crate::contract::{Contract, Enforcement, Mode};
use crate::decimal::Decimal;
use crate::error::{ErrorCode, GateError};
use crate::feedback;
use crate::fingerprint::{self, Fingerprint};
use crate::iteration::{Action, FailureCode, Iteration};
use crate::promise::{self, PromiseReport};
use crate::routing;
use crate::signal::Signal;
use crate::snapshot::State;
use crate::tree::decode::shorten;
use crate::vocabulary::vocabulary;
use checks::Assessed;
pub use checks::CheckAssessment;
pub use needs::{Need, NeedKind};

vocabulary! {
    /// What the harness must do.
    Decision {
        /// Go on with another iteration.
        Continue = "continue",
        /// End the loop.
        Stop = "stop",
        /// Do what it would have done without the gate.
        PassThrough = "pass_through",
    }
}

vocabulary! {
    /// Why a loop ended.
    StopReason {
        /// The contract is met, or an operator said so.
        Completed = "completed",
        /// The hard bound on iterations.
        MaxIters = "max_iters",
        /// The loop stands still.
        NoProgress = "no_progress",
        /// Cost, tool calls or time.
        BudgetExceeded = "budget_exceeded",
        /// A person or the harness canceled it.
        ContextCanceled = "context_canceled",
        /// A person is needed.
        Blocked = "blocked",
        /// Something broke.
        Error = "error",
    }
}

/// One reason why the iteration is not complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The kind.
    pub code: FailureCode,
    /// The check, where it belongs to one.
    pub check: Option<String>,
    /// For a person and for the agent.
    pub reason: String,
}

/// How close one guardrail is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Guardrail {
    /// The contract's field.
    pub name: String,
    /// How much is used.
    pub used: String,
    /// How much there is.
    pub limit: String,
    /// Rounded down.
    pub percent: u32,
}

/// Totals over the loop, this iteration included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// The iteration's index.
    pub iteration: u32,
    /// Wall-clock time.
    pub elapsed_ms: u32,
    /// Calls of tools.
    pub tool_calls: u32,
    /// Money.
    pub cost_usd: Decimal,
    /// Tokens of the model.
    pub tokens: u32,
    /// Iterations in a row that errored or timed out.
    pub consecutive_failures: u32,
    /// Reruns of checks.
    pub check_retries: u32,
    /// The guardrails that are on.
    pub guardrails: Vec<Guardrail>,
}

/// What an enforcing gate would have said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShadowVerdict {
    /// The decision.
    pub decision: Decision,
    /// The stop reason.
    pub stop_reason: Option<StopReason>,
    /// The detail.
    pub detail: Option<String>,
    /// The signal.
    pub signal: Signal,
}

/// The gate's answer for one iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What the harness must do.
    pub decision: Decision,
    /// Why the loop ended.
    pub stop_reason: Option<StopReason>,
    /// Which guardrail.
    pub detail: Option<String>,
    /// None when the decision is `pass_through`.
    pub signal: Option<Signal>,
    /// The agent said final and was not let go.
    pub intercepted: bool,
    /// An operator completed the loop.
    pub overridden: bool,
    /// Everything that stands in the way.
    pub failures: Vec<Failure>,
    /// The smallest set of facts that would have completed the loop.
    pub needs: Vec<Need>,
    /// The text for the agent's next turn.
    pub feedback: String,
    /// What the output promises.
    pub promise: PromiseReport,
    /// What the work looks like.
    pub fingerprint: Fingerprint,
    /// Totals.
    pub counters: Counters,
    /// The state after this iteration.
    pub snapshot: Option<String>,
    /// The mode that applied.
    pub mode: Mode,
    /// The profile that applied.
    pub profile: Option<String>,
    /// What an enforcing gate would have said.
    pub shadow: Option<ShadowVerdict>,
    /// How each check of the contract was judged.
    pub checks: Vec<CheckAssessment>,
    /// Results that the contract doesn't name.
    pub unused_checks: Vec<String>,
    /// Checks that count as passed because an operator waived them.
    pub waived: Vec<String>,
}

/// A contract that is ready to judge iterations.
#[derive(Debug, Clone)]
pub struct Judge {
    contract: Contract,
    digest: String,
}

impl Judge {
    /// Make a contract ready: `auto` is resolved, the digest is taken once.
    pub fn new(mut contract: Contract) -> Self {
        contract.mode = routing::resolve(&contract).0;
        let digest = contract.digest();
        Self { contract, digest }
    }

    /// The contract, its mode resolved.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// The digest that snapshots pin.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The promise text that an iteration must end with.
    pub fn token(&self, state: Option<&State>, index: u32) -> Option<String> {
        let seal = state.map_or("", |state| state.seal.as_str());
        token::expected(&self.contract, &self.digest, seal, index)
    }

    /// Check that a state belongs to this contract and can take another iteration.
    pub fn accepts(&self, state: &State) -> Result<(), GateError> {
        if state.contract != self.digest {
            return Err(contract_changed());
        }
        if let Some(reason) = state.stopped {
            return Err(GateError::new(
                ErrorCode::LoopStopped,
                format!(
                    "the loop stopped at iteration {} with `{reason}`; resume it before another iteration",
                    state.iteration
                ),
            ));
        }
        Ok(())
    }

    /// Evaluate one iteration. In standard mode there is no state after it.
    pub fn evaluate(
        &self,
        state: Option<&State>,
        iteration: &Iteration<'_>,
    ) -> Result<(Verdict, Option<State>), GateError> {
        if self.contract.mode == Mode::Standard {
            return Ok((self.pass_through(iteration), None));
        }
        if let Some(state) = state {
            self.accepts(state)?;
        }
        self.check_waivers(iteration)?;
        if state.is_none() && iteration.index == 0 {
            let (verdict, state) = self.judge(None, &iteration.as_baseline());
            return Ok((verdict, Some(state)));
        }
        let expected = state.map_or(0, |state| state.iteration).saturating_add(1);
        if iteration.index != expected {
            return Err(out_of_order(iteration.index, expected, state.is_none()));
        }
        let (verdict, state) = self.judge(state, iteration);
        Ok((verdict, Some(state)))
    }

    fn has_nonce(&self) -> bool {
        let token = self.contract.completion_token.as_ref();
        token.is_some_and(|token| token.nonce)
    }

    /// Whether the contract names a check.
    fn names(&self, id: &str) -> bool {
        let mut checks = self.contract.completion_checks.iter();
        checks.any(|check| check.id == id)
    }

    /// A waiver for a check that does not exist is a mistake, not a waiver.
    fn check_waivers(&self, iteration: &Iteration<'_>) -> Result<(), GateError> {
        for (index, waiver) in iteration.waivers.iter().enumerate() {
            if !self.names(&waiver.check) {
                return Err(GateError {
                    path: Some(format!("iteration.waivers[{index}].check")),
                    ..GateError::new(
                        ErrorCode::InvalidInput,
                        format!(
                            "the contract names no check `{}` that could be waived",
                            shorten(&waiver.check)
                        ),
                    )
                });
            }
        }
        Ok(())
    }

    /// Standard mode: the harness's own completion, untouched.
    fn pass_through(&self, iteration: &Iteration<'_>) -> Verdict {
        Verdict {
            decision: Decision::PassThrough,
            stop_reason: None,
            detail: None,
            signal: None,
            intercepted: false,
            overridden: false,
            failures: Vec::new(),
            needs: Vec::new(),
            feedback: String::new(),
            promise: PromiseReport::default(),
            fingerprint: Fingerprint {
                digest: String::new(),
                state: None,
                counted: false,
                parts: Vec::new(),
                equal_in_a_row: 0,
                diagnosis: String::new(),
            },
            counters: Counters {
                iteration: iteration.index,
                elapsed_ms: iteration.usage.elapsed_ms,
                tool_calls: iteration.usage.tool_calls,
                cost_usd: iteration.usage.cost_usd,
                tokens: iteration.usage.tokens,
                consecutive_failures: 0,
                check_retries: 0,
                guardrails: Vec::new(),
            },
            snapshot: None,
            mode: Mode::Standard,
            profile: self.contract.profile.clone(),
            shadow: None,
            checks: Vec::new(),
            unused_checks: Vec::new(),
            waived: Vec::new(),
        }
    }

    fn judge(&self, before: Option<&State>, iteration: &Iteration<'_>) -> (Verdict, State) {
        let contract = &self.contract;
        let mut state = before
            .cloned()
            .unwrap_or_else(|| State::new(self.digest.clone()));
        let token = self.token(before, iteration.index);
        let nonce = token.as_deref().filter(|_| self.has_nonce());
        let promise = promise::parse(&iteration.output, contract.promise_rules);
        let mut fingerprint = fingerprint::within(iteration, nonce, &|id| self.names(id));
        let assessed = checks::assess(contract, &state, iteration, fingerprint.state.as_deref());

        add_usage(&mut state, iteration, &assessed, &promise);
        let is_baseline = iteration.index == 0;
        let is_compared = !is_baseline && !iteration.action.is_failure();
        let failing = Some(assessed.failing).filter(|_| is_compared);
        state
            .stall
            .observe(iteration.index, &mut fingerprint, failing);
        let mut failures = assessed.failures.clone();
        let blocked = token::Blocked::of(contract, &state);
        failures.extend(token::failures(
            iteration,
            &promise,
            token.as_deref(),
            blocked,
        ));

        let ruling = decide::decide(&decide::Facts {
            contract,
            state: &state,
            iteration,
            promise: &promise,
            failures: &failures,
        });
        if let Some(diagnosis) = &ruling.diagnosis {
            fingerprint.diagnosis.clone_from(diagnosis);
        }
        let completed = ruling.stop == Some(StopReason::Completed);
        let enforced = contract.enforcement == Enforcement::Enforce;
        if completed {
            failures.clear();
        }
        let assessments = assessed.finish(&mut state, iteration.index, is_compared);
        if enforced {
            state.stopped = ruling.stop;
            state.detail = ruling.detail.map(str::to_owned);
        }
        // The feedback names the next iteration's token, which depends on the state's seal.
        let snapshot = state.write();
        let decision = ruling.decision();
        let outcome = Outcome {
            iteration,
            promise: &promise,
            failures: &failures,
            assessments: &assessments,
        };
        let next_token = self.token(Some(&state), iteration.index.saturating_add(1));
        let needs = if completed {
            Vec::new()
        } else {
            self.needs(&outcome, next_token.as_deref())
        };
        let feedback = match (decision, enforced) {
            // Before the first iteration there is nothing to answer: that is what the brief is for.
            _ if is_baseline => String::new(),
            (Decision::Continue, true) => self.feedback(&outcome, next_token.as_deref()),
            _ => String::new(),
        };
        let shadow = ShadowVerdict {
            decision,
            stop_reason: ruling.stop,
            detail: ruling.detail.map(str::to_owned),
            signal: ruling.signal,
        };
        let verdict = Verdict {
            decision: if enforced {
                decision
            } else {
                Decision::PassThrough
            },
            stop_reason: ruling.stop.filter(|_| enforced),
            detail: ruling.detail.map(str::to_owned).filter(|_| enforced),
            signal: Some(ruling.signal).filter(|_| enforced),
            intercepted: enforced
                && decision == Decision::Continue
                && iteration.action == Action::Final,
            overridden: ruling.overridden && enforced,
            failures,
            needs,
            feedback,
            promise,
            fingerprint,
            counters: counters(contract, &state),
            snapshot: Some(snapshot),
            mode: contract.mode,
            profile: contract.profile.clone(),
            shadow: Some(shadow).filter(|_| !enforced),
            checks: assessments.checks,
            unused_checks: assessments.unused,
            waived: assessments.waived,
        };
        (verdict, state)
    }

    fn needs(&self, outcome: &Outcome<'_>, token: Option<&str>) -> Vec<Need> {
        needs::of(
            &self.contract,
            outcome.iteration,
            &outcome.assessments.checks,
            outcome.failures,
            outcome.promise,
            token,
        )
    }

    fn feedback(&self, outcome: &Outcome<'_>, token: Option<&str>) -> String {
        feedback::text(&feedback::Round {
            contract: &self.contract,
            iteration: outcome.iteration,
            failures: outcome.failures,
            unchanged: &outcome.assessments.unchanged,
            token,
        })
    }
}

/// What came out of an iteration, for those who have to be told.
struct Outcome<'a> {
    iteration: &'a Iteration<'a>,
    promise: &'a PromiseReport,
    failures: &'a [Failure],
    assessments: &'a checks::Assessments,
}

/// The error for a loop that began with another contract.
pub(crate) fn contract_changed() -> GateError {
    GateError::new(
        ErrorCode::ContractChanged,
        "the contract is not the one that this loop began with; use that one, \
         or let an operator accept the new one by resuming",
    )
}

fn out_of_order(index: u32, expected: u32, is_new: bool) -> GateError {
    let or_baseline = if is_new {
        ", or 0 for evidence of the run before it"
    } else {
        ""
    };
    GateError {
        path: Some("iteration.index".to_owned()),
        ..GateError::new(
            ErrorCode::IterationOutOfOrder,
            format!("the iteration's index is {index}, {expected} is expected{or_baseline}"),
        )
    }
}

fn add_usage(
    state: &mut State,
    iteration: &Iteration<'_>,
    assessed: &Assessed,
    promise: &PromiseReport,
) {
    let usage = &iteration.usage;
    state.iteration = iteration.index;
    state.elapsed_ms = state.elapsed_ms.saturating_add(usage.elapsed_ms);
    state.tool_calls = state.tool_calls.saturating_add(usage.tool_calls);
    state.cost_usd = state.cost_usd.plus(usage.cost_usd);
    state.tokens = state.tokens.saturating_add(usage.tokens);
    state.check_retries = state.check_retries.saturating_add(assessed.retries);
    let in_a_row = |count: u32, goes_on: bool| if goes_on { count.saturating_add(1) } else { 0 };
    state.consecutive_failures =
        in_a_row(state.consecutive_failures, iteration.action.is_failure());
    state.blocked_in_a_row = in_a_row(
        state.blocked_in_a_row,
        promise.signal == Some(Signal::Blocked),
    );
}

fn counters(contract: &Contract, state: &State) -> Counters {
    let mut guardrails = Vec::new();
    let mut count = |name: &str, used: u32, limit: u32| {
        let percent = u64::from(used) * 100 / u64::from(limit.max(1));
        guardrails.push(Guardrail {
            name: name.to_owned(),
            used: used.to_string(),
            limit: limit.to_string(),
            percent: u32::try_from(percent).unwrap_or(u32::MAX),
        });
    };
    count("loop_max_iters", state.iteration, contract.loop_max_iters);
    if contract.no_progress_limit > 0 {
        let equal = state.stall.runs.first().copied().unwrap_or(0);
        let equal = if state.stall.recent.is_empty() {
            0
        } else {
            equal.saturating_add(1)
        };
        count("no_progress_limit", equal, contract.no_progress_limit);
    }
    if contract.plateau_limit > 0 {
        count(
            "plateau_limit",
            state.stall.since_best,
            contract.plateau_limit,
        );
    }
    // With a limit of 1 there is nothing to come close to.
    if contract.blocked_limit > 1 {
        count(
            "blocked_limit",
            state.blocked_in_a_row,
            contract.blocked_limit,
        );
    }
    if contract.max_tokens > 0 {
        count("max_tokens", state.tokens, contract.max_tokens);
    }
    count("max_tool_calls", state.tool_calls, contract.max_tool_calls);
    count(
        "max_duration_ms",
        state.elapsed_ms,
        contract.max_duration_ms,
    );
    count(
        "max_consecutive_failures",
        state.consecutive_failures,
        contract.max_consecutive_failures,
    );
    if let Some(budget) = contract.cost_budget_usd {
        guardrails.push(Guardrail {
            name: "cost_budget_usd".to_owned(),
            used: state.cost_usd.to_string(),
            limit: budget.to_string(),
            percent: state.cost_usd.percent_of(budget),
        });
    }
    Counters {
        iteration: state.iteration,
        elapsed_ms: state.elapsed_ms,
        tool_calls: state.tool_calls,
        cost_usd: state.cost_usd,
        tokens: state.tokens,
        consecutive_failures: state.consecutive_failures,
        check_retries: state.check_retries,
        guardrails,
    }
}
