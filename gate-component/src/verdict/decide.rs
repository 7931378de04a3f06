//! The decision table of ARCHITECTURE.md, "Deciding": the first line that applies is the ruling. The order is total.

use super::{Decision, Failure, StopReason};
use crate::contract::Contract;
use crate::iteration::{Action, Iteration};
use crate::promise::PromiseReport;
use crate::signal::Signal;
use crate::snapshot::State;

/// Everything that the table looks at. The state includes this iteration.
pub(super) struct Facts<'a> {
    pub(super) contract: &'a Contract,
    pub(super) state: &'a State,
    pub(super) iteration: &'a Iteration<'a>,
    pub(super) promise: &'a PromiseReport,
    pub(super) failures: &'a [Failure],
}

/// One line of the table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ruling {
    pub(super) stop: Option<StopReason>,
    pub(super) detail: Option<&'static str>,
    pub(super) signal: Signal,
    pub(super) overridden: bool,
    pub(super) diagnosis: Option<String>,
}

impl Ruling {
    pub(super) fn decision(&self) -> Decision {
        match self.stop {
            Some(_) => Decision::Stop,
            None => Decision::Continue,
        }
    }

    fn stop(reason: StopReason, detail: Option<&'static str>, signal: Signal) -> Self {
        Self {
            stop: Some(reason),
            detail,
            signal,
            overridden: false,
            diagnosis: None,
        }
    }
}

/// The first line that applies.
pub(super) fn decide(facts: &Facts<'_>) -> Ruling {
    let Facts {
        contract,
        state,
        iteration,
        promise,
        failures,
    } = facts;
    // 1
    if iteration.canceled {
        return Ruling::stop(StopReason::ContextCanceled, None, Signal::Blocked);
    }
    // 2
    if contract.allow_override && iteration.override_by.is_some() {
        return Ruling {
            overridden: true,
            ..Ruling::stop(StopReason::Completed, None, Signal::Done)
        };
    }
    // 3
    if iteration.action == Action::Final && promise.contrary.is_none() && failures.is_empty() {
        return Ruling::stop(StopReason::Completed, None, Signal::Done);
    }
    // 4
    if promise.signal == Some(Signal::Error) {
        return Ruling::stop(StopReason::Error, None, Signal::Error);
    }
    // 5
    if promise.signal == Some(Signal::Blocked) && state.blocked_in_a_row >= contract.blocked_limit {
        return Ruling::stop(StopReason::Blocked, None, Signal::Blocked);
    }
    // 6
    if let Some(budget) = exceeded(contract, state) {
        return Ruling::stop(StopReason::BudgetExceeded, Some(budget), Signal::Blocked);
    }
    // 7
    if iteration.index >= contract.loop_max_iters {
        return Ruling::stop(StopReason::MaxIters, None, Signal::Blocked);
    }
    // 8
    if state.consecutive_failures >= contract.max_consecutive_failures {
        return Ruling::stop(
            StopReason::Blocked,
            Some("max_consecutive_failures"),
            Signal::Blocked,
        );
    }
    // 9
    if !iteration.action.is_failure()
        && let Some(stall) = state.stall.stall(iteration.index, contract)
    {
        return Ruling {
            diagnosis: Some(stall.diagnosis),
            ..Ruling::stop(StopReason::NoProgress, Some(stall.detail), Signal::Blocked)
        };
    }
    // 10
    Ruling {
        stop: None,
        detail: None,
        signal: Signal::Continue,
        overridden: false,
        diagnosis: None,
    }
}

/// The first budget that is exceeded: cost, then tokens, then tool calls, then duration.
fn exceeded(contract: &Contract, state: &State) -> Option<&'static str> {
    if contract
        .cost_budget_usd
        .is_some_and(|budget| state.cost_usd > budget)
    {
        return Some("cost_budget_usd");
    }
    if contract.max_tokens > 0 && state.tokens > contract.max_tokens {
        return Some("max_tokens");
    }
    if state.tool_calls > contract.max_tool_calls {
        return Some("max_tool_calls");
    }
    if state.elapsed_ms > contract.max_duration_ms {
        return Some("max_duration_ms");
    }
    None
}
