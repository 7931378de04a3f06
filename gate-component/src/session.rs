//! A loop: a contract that is read once, and the state that each iteration moves on.

use serde::Serialize;

use crate::contract::{self, Contract, Mode};
use crate::error::{ErrorCode, GateError};
use crate::iteration::Iteration;
use crate::snapshot::State;
use crate::verdict::{Judge, Verdict, contract_changed};

/// One loop.
///
/// ```
/// use ralph_gate_component::iteration::{Action, Iteration};
/// use ralph_gate_component::session::Session;
/// let mut session = Session::open("mode: ralph\ncompletion_token: COMPLETE", None).unwrap();
/// let mut turn = Iteration::new(1, Action::Final);
/// turn.output = "done".into();
/// let verdict = session.evaluate_final(&turn).unwrap();
/// assert!(verdict.intercepted);
/// ```
#[derive(Debug, Clone)]
pub struct Session {
    judge: Judge,
    state: Option<State>,
    snapshot: Option<String>,
}

/// What to tell the agent before an iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Brief {
    /// The index of the iteration to come.
    pub iteration: u32,
    /// The promise text that it has to end with.
    pub token: Option<String>,
    /// For the agent.
    pub text: String,
}

/// An operator's decision to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumption {
    /// Who.
    pub operator: String,
    /// Why.
    pub reason: String,
    /// Pin the contract given now.
    pub accept_contract: bool,
}

impl Session {
    /// Open a loop from its contract's text, new or from its snapshot.
    pub fn open(contract: &str, snapshot: Option<&str>) -> Result<Self, GateError> {
        Self::with_contract(contract::parse(contract)?, snapshot)
    }

    /// Open a loop from a contract.
    pub fn with_contract(contract: Contract, snapshot: Option<&str>) -> Result<Self, GateError> {
        let judge = Judge::new(contract);
        // In standard mode a snapshot is kept and ignored.
        let state = match snapshot.filter(|_| judge.contract().mode == Mode::Ralph) {
            Some(text) => Some(State::read(text)?),
            None => None,
        };
        if let Some(state) = &state
            && state.contract != judge.digest()
        {
            return Err(contract_changed());
        }
        Ok(Self {
            judge,
            state,
            snapshot: snapshot.map(str::to_owned),
        })
    }

    /// Evaluate the next iteration and move on. After an error nothing has changed.
    pub fn evaluate_final(&mut self, iteration: &Iteration<'_>) -> Result<Verdict, GateError> {
        let (mut verdict, state) = self.judge.evaluate(self.state.as_ref(), iteration)?;
        match state {
            Some(state) => {
                self.state = Some(state);
                self.snapshot.clone_from(&verdict.snapshot);
            }
            None => verdict.snapshot.clone_from(&self.snapshot),
        }
        Ok(verdict)
    }

    /// The state as of the last evaluated iteration.
    pub fn snapshot(&self) -> Option<&str> {
        self.snapshot.as_deref()
    }

    /// What to tell the agent before the next iteration.
    pub fn brief(&self) -> Brief {
        let contract = self.judge.contract();
        let iteration = self
            .state
            .as_ref()
            .map_or(0, |state| state.iteration)
            .saturating_add(1);
        if contract.mode == Mode::Standard {
            return Brief {
                iteration,
                token: None,
                text: String::new(),
            };
        }
        let token = self.judge.token(self.state.as_ref(), iteration);
        let text = brief_text(contract, self.state.as_ref(), iteration, token.as_deref());
        Brief {
            iteration,
            token,
            text,
        }
    }
}

fn brief_text(
    contract: &Contract,
    state: Option<&State>,
    iteration: u32,
    token: Option<&str>,
) -> String {
    let is_waived = |place: usize| {
        let known = state.and_then(|state| state.checks.get(place));
        contract.allow_override && known.is_some_and(|check| check.waived)
    };
    let names = |required: bool| {
        contract
            .completion_checks
            .iter()
            .enumerate()
            .filter(|(place, check)| check.required == required && !is_waived(*place))
            .map(|(_, check)| check.id.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut text = format!(
        "This is iteration {iteration} of at most {}.\n",
        contract.loop_max_iters
    );
    let (required, optional) = (names(true), names(false));
    if !required.is_empty() {
        text.push_str(&format!(
            "You are done only when these checks pass: {required}. They are run for you.\n"
        ));
    }
    if !optional.is_empty() {
        let ratio = contract.optional_pass_ratio;
        text.push_str(&format!(
            "Optional checks, of which a share of {ratio} must pass: {optional}.\n"
        ));
    }
    if let Some(token) = token {
        text.push_str(&format!(
            "When everything holds, end your output with a promise tag around this text: {token}\n"
        ));
    }
    text
}

/// Go on with a stopped loop, or with another contract. Gives the new snapshot.
pub fn resume(
    contract: Contract,
    snapshot: &str,
    resumption: &Resumption,
) -> Result<String, GateError> {
    let judge = Judge::new(contract);
    if judge.contract().mode == Mode::Standard {
        return Err(GateError::new(
            ErrorCode::InvalidInput,
            "a loop in standard mode has no state to resume; set `mode: ralph`",
        ));
    }
    let mut state = State::read(snapshot)?;
    if state.contract != judge.digest() {
        if !resumption.accept_contract {
            return Err(contract_changed());
        }
        judge.digest().clone_into(&mut state.contract);
        // What is remembered of checks goes by their place in the contract.
        state.checks.clear();
    }
    state.stopped = None;
    state.detail = None;
    state.consecutive_failures = 0;
    state.blocked_in_a_row = 0;
    state.resumed = state.resumed.saturating_add(1);
    state.stall.reset();
    for check in &mut state.checks {
        check.fewest = None;
        check.forget_states();
    }
    Ok(state.write())
}
