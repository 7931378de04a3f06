//! What if: the iterations of a log under another contract.
//!
//! The agent is taken to have done what it did. That is known up to the iteration in which the recorded loop ended; what it
//! would have done after that is not in the log, and is not made up.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::decided::{Decided, Failure, Standing, Totals, Verdict};
use crate::error::HistoryError;
use crate::gate::{self, Gate, Resumption};
use crate::log::{Log, LogBreak, RecordedIteration};

/// What would have happened.
#[derive(Debug, Serialize)]
pub struct WhatIfReport {
    /// Of the other contract.
    pub contract_digest: String,
    /// Of the contract that the loop began with.
    pub recorded_digest: Option<String>,
    /// How it ended.
    pub recorded: Standing,
    /// How it would have ended.
    pub other: Standing,
    /// The iterations in which the harness would have been told something else.
    pub changed: Vec<u32>,
    /// Each iteration.
    pub iterations: Vec<WhatIfIteration>,
    /// What would not have been spent.
    pub saved: Option<Totals>,
    /// Where knowledge ends, if the other contract goes on there.
    pub unknown: Option<Unknown>,
    /// What to keep in mind.
    pub notes: Vec<String>,
    /// Where the log itself was changed.
    pub breaks: Vec<LogBreak>,
}

/// Where knowledge ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// The last iteration that is known.
    pub after: u32,
    /// Why.
    pub message: String,
}

/// One iteration under both contracts.
#[derive(Debug, Serialize)]
pub struct WhatIfIteration {
    /// Its number in the loop.
    pub index: u32,
    /// The line of its verdict.
    pub line: u64,
    /// What was decided.
    pub recorded: Decided,
    /// What would have been decided.
    pub other: Option<Decided>,
    /// The whole answer under the other contract.
    pub verdict: Option<Box<RawValue>>,
    /// Whether there is one.
    pub state: State,
    /// Whether the harness would have been told something else.
    pub changed: bool,
}

/// What is known of an iteration under the other contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The gate's answer.
    Evaluated,
    /// The loop would have ended before.
    NotReached,
    /// The recorded loop had ended before and was gone on with; the other one would have gone on by itself.
    Unknown,
    /// The gate answered with an error.
    Failed,
}

/// Goes through the iterations of a log under another contract.
pub fn what_if(
    log: &Log<'_>,
    contract: &str,
    gate: &dyn Gate,
) -> Result<WhatIfReport, HistoryError> {
    let recorded = log.iterations()?;
    let Some(contract_digest) = gate::contract_digest(gate, contract)? else {
        return Err(refusal(recorded, contract, gate)?);
    };
    let mut other = Other::new(contract, gate);
    let iterations: Vec<WhatIfIteration> = recorded.iter().map(|it| other.judge(it)).collect();
    let ended = standing(recorded.last().map(|it| (it.index, &it.decided)));
    let known = iterations.iter().rev();
    let known = known.filter_map(|it| Some((it.index, it.other.as_ref()?)));
    let (Some(ended), Some(end)) = (ended, standing(known.clone().next())) else {
        return Err(other.error.unwrap_or_else(HistoryError::nothing_judged));
    };
    let is_earlier = end.ended && end.iteration < ended.iteration;
    Ok(WhatIfReport {
        contract_digest,
        recorded_digest: recorded.first().and_then(|it| it.contract_digest.clone()),
        changed: iterations
            .iter()
            .filter(|it| it.changed)
            .map(|it| it.index)
            .collect(),
        saved: is_earlier.then(|| ended.decided.totals.minus(&end.decided.totals)),
        unknown: unknown(&ended, &end),
        notes: other.notes(recorded)?,
        recorded: ended,
        other: end,
        iterations,
        breaks: log.report().breaks.clone(),
    })
}

fn standing(last: Option<(u32, &Decided)>) -> Option<Standing> {
    last.map(|(iteration, decided)| Standing {
        ended: decided.ends(),
        iteration,
        decided: decided.clone(),
    })
}

/// What the gate says to a contract that it can't use.
fn refusal(
    recorded: &[RecordedIteration<'_>],
    contract: &str,
    gate: &dyn Gate,
) -> Result<HistoryError, HistoryError> {
    let first = recorded.first().ok_or_else(HistoryError::nothing_judged)?;
    let answer = gate::evaluate(gate, contract, None, first.given.iteration)?;
    let unexplained = || HistoryError::unanswered("the contract has no digest, and no problem");
    Ok(gate::error_in(&answer).unwrap_or_else(unexplained))
}

fn unknown(recorded: &Standing, other: &Standing) -> Option<Unknown> {
    if other.ended {
        return None;
    }
    let after = other.iteration;
    let message = if recorded.ended || after < recorded.iteration {
        format!(
            "the loop ended with iteration {after}; under the other contract it would have gone on, and what the agent \
             would have done then is not in the log"
        )
    } else {
        format!("the log ends with iteration {after}, and the loop goes on")
    };
    Some(Unknown { after, message })
}

/// The loop under the other contract.
struct Other<'o> {
    contract: &'o str,
    gate: &'o dyn Gate,
    snapshot: Option<String>,
    /// Before the iteration that comes next: how both loops stand.
    before: Option<(Decided, Decided)>,
    /// Set once there is nothing more to evaluate.
    over: Option<State>,
    error: Option<HistoryError>,
    /// The first iteration after which the agent would have read something else.
    told_otherwise: Option<u32>,
    /// Checks that the log knows nothing of.
    without_evidence: BTreeSet<String>,
    passed_through: bool,
}

impl<'o> Other<'o> {
    fn new(contract: &'o str, gate: &'o dyn Gate) -> Self {
        Self {
            contract,
            gate,
            snapshot: None,
            before: None,
            over: None,
            error: None,
            told_otherwise: None,
            without_evidence: BTreeSet::new(),
            passed_through: false,
        }
    }

    fn judge(&mut self, recorded: &RecordedIteration<'_>) -> WhatIfIteration {
        if self.over.is_none() {
            self.over = self.step_over(recorded);
        }
        let answer = match self.over {
            Some(_) => None,
            None => self.evaluate(recorded),
        };
        let (verdict, other) = answer.unzip();
        WhatIfIteration {
            index: recorded.index,
            line: recorded.line,
            changed: other
                .as_ref()
                .is_some_and(|it| it.differs(&recorded.decided)),
            recorded: recorded.decided.clone(),
            other,
            verdict,
            state: self.over.unwrap_or(State::Evaluated),
        }
    }

    /// Between two iterations: whether the other loop gets to this one.
    fn step_over(&mut self, recorded: &RecordedIteration<'_>) -> Option<State> {
        let (was, other) = self.before.as_ref()?;
        match (was.ends(), other.ends()) {
            (false, false) => None,
            (false, true) => Some(State::NotReached),
            (true, false) => Some(State::Unknown),
            (true, true) if other.is_complete() => Some(State::NotReached),
            // Both ended here, and somebody went on.
            (true, true) => self.resume(recorded.given.resumption.as_ref()),
        }
    }

    /// Goes on as the recorded loop was gone on with.
    fn resume(&mut self, resumption: Option<&Resumption>) -> Option<State> {
        let (snapshot, resumption) = self.snapshot.as_deref().zip(resumption)?;
        let resumption = Resumption {
            accept_contract: false,
            ..resumption.clone()
        };
        match gate::resume(self.gate, self.contract, snapshot, &resumption) {
            Ok(snapshot) => {
                self.snapshot = Some(snapshot);
                None
            }
            Err(error) => Some(self.fail(error)),
        }
    }

    fn fail(&mut self, error: HistoryError) -> State {
        self.error = Some(error);
        State::Failed
    }

    fn evaluate(&mut self, recorded: &RecordedIteration<'_>) -> Option<(Box<RawValue>, Decided)> {
        if let Some(reason) = recorded.not_replayable {
            self.over = Some(self.fail(HistoryError::digest_only(reason)));
            return None;
        }
        let snapshot = self.snapshot.as_deref();
        match decide(self.gate, self.contract, snapshot, recorded.given.iteration) {
            Ok((answer, verdict)) => {
                let decided = verdict.decided();
                self.notice(recorded, &verdict);
                self.before = Some((recorded.decided.clone(), decided.clone()));
                self.snapshot = verdict.snapshot;
                Some((answer, decided))
            }
            Err(error) => {
                self.over = Some(self.fail(error));
                None
            }
        }
    }

    fn notice(&mut self, recorded: &RecordedIteration<'_>, verdict: &Verdict) {
        if verdict.feedback != recorded.feedback {
            self.told_otherwise.get_or_insert(recorded.index);
        }
        let is_missing = |failure: &&Failure| failure.code == "missing_evidence";
        let missing = verdict.failures.iter().filter(is_missing);
        for check in missing.filter_map(|failure| failure.check.as_ref()) {
            let same = format!("{check}: missing_evidence");
            if !recorded.decided.failures.contains(&same) {
                self.without_evidence.insert(check.clone());
            }
        }
        self.passed_through |= verdict.decided().decision == "pass_through";
    }

    /// What to keep in mind.
    fn notes(&self, recorded: &[RecordedIteration<'_>]) -> Result<Vec<String>, HistoryError> {
        let mut notes = Vec::new();
        notes.push(match self.told_otherwise {
            Some(index) => format!(
                "after iteration {index} the agent would have been told something else, and might have acted otherwise; \
                 here it is taken to have done the same"
            ),
            None => "the agent would have been told the same after every iteration".to_owned(),
        });
        for check in &self.without_evidence {
            notes.push(format!(
                "the log has no evidence for the check {check}, which counts as not passed"
            ));
        }
        if self.passed_through {
            notes.push(
                "the other contract does not bind: the gate lets the agent go whenever it wants to"
                    .to_owned(),
            );
        }
        if let Some(error) = &self.error {
            notes.push(format!(
                "the gate could not judge every iteration: {}",
                error.message
            ));
        }
        notes.extend(self.other_token(recorded)?);
        Ok(notes)
    }

    /// An agent can't promise what nobody asked it for.
    fn other_token(
        &self,
        recorded: &[RecordedIteration<'_>],
    ) -> Result<Option<String>, HistoryError> {
        let Some(wanted) = gate::first_token(self.gate, self.contract)? else {
            return Ok(None);
        };
        let contract = recorded.first().and_then(|it| it.given.contract.as_deref());
        let told = match contract {
            Some(contract) => gate::first_token(self.gate, contract)?,
            None => return Ok(None),
        };
        Ok((told.as_ref() != Some(&wanted)).then(|| {
            format!(
                "the other contract asks for the promise {wanted}, of which the agent was not told"
            )
        }))
    }
}

/// A verdict, as it was written and as it is read.
fn decide(
    gate: &dyn Gate,
    contract: &str,
    snapshot: Option<&str>,
    iteration: &RawValue,
) -> Result<(Box<RawValue>, Verdict), HistoryError> {
    let answer = gate::evaluate(gate, contract, snapshot, iteration)?;
    if let Some(error) = gate::error_in(&answer) {
        return Err(error);
    }
    let unread = |error: serde_json::Error| HistoryError::unanswered(&error.to_string());
    let verdict: Verdict = serde_json::from_str(&answer).map_err(unread)?;
    Ok((RawValue::from_string(answer).map_err(unread)?, verdict))
}
