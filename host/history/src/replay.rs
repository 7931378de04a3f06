//! Replay: every iteration of a log is evaluated again, and must be answered with the same bytes.

use serde::Serialize;

use crate::difference::{self, Difference};
use crate::error::HistoryError;
use crate::gate::{self, Gate};
use crate::log::{Log, LogBreak, RecordedIteration};

/// Whether the gate still answers as it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplayReport {
    /// In every iteration.
    pub same: bool,
    /// Iterations with the same answer.
    pub equal: usize,
    /// Iterations with another answer.
    pub different: usize,
    /// Iterations that could not be evaluated.
    pub not_replayed: usize,
    /// The first of all differences.
    pub first_difference: Option<Difference>,
    /// Each iteration.
    pub iterations: Vec<ReplayedIteration>,
    /// Where the log itself was changed.
    pub breaks: Vec<LogBreak>,
}

/// One iteration, evaluated again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplayedIteration {
    /// Its number in the loop.
    pub index: u32,
    /// The line of its verdict.
    pub line: u64,
    /// How it went.
    pub outcome: Outcome,
    /// Where the answers differ first.
    pub difference: Option<Difference>,
    /// Why it was not replayed.
    pub problem: Option<String>,
}

/// How replaying an iteration went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The same bytes.
    Equal,
    /// Other bytes.
    Different,
    /// It could not be evaluated.
    NotReplayed,
}

/// Evaluates every iteration again, each from the state that was recorded before it, and compares the answers. A
/// `contract` is needed only for logs that do not carry theirs.
pub fn replay(
    log: &Log<'_>,
    contract: Option<&str>,
    gate: &dyn Gate,
) -> Result<ReplayReport, HistoryError> {
    let iterations = log.iterations()?;
    let spare = Spare::of(iterations, contract, gate)?;
    let iterations = iterations.iter().map(|it| again(it, &spare, gate));
    let iterations: Vec<ReplayedIteration> = iterations.collect();
    let count = |outcome| iterations.iter().filter(|it| it.outcome == outcome).count();
    Ok(ReplayReport {
        same: iterations.iter().all(|it| it.outcome == Outcome::Equal),
        equal: count(Outcome::Equal),
        different: count(Outcome::Different),
        not_replayed: count(Outcome::NotReplayed),
        first_difference: iterations.iter().find_map(|it| it.difference.clone()),
        breaks: log.report().breaks.clone(),
        iterations,
    })
}

/// The contract that stands in for one which a log does not carry.
struct Spare<'c> {
    contract: Option<&'c str>,
    digest: Option<String>,
}

impl<'c> Spare<'c> {
    fn of(
        iterations: &[RecordedIteration<'_>],
        contract: Option<&'c str>,
        gate: &dyn Gate,
    ) -> Result<Self, HistoryError> {
        let digest = match contract {
            Some(contract) => gate::contract_digest(gate, contract)?,
            None => None,
        };
        let spare = Self { contract, digest };
        if iterations.iter().any(|it| spare.contract_of(it).is_some()) {
            return Ok(spare);
        }
        let first = iterations
            .first()
            .and_then(|it| it.contract_digest.as_deref());
        match contract {
            None => Err(HistoryError::no_contract()),
            Some(_) => Err(HistoryError::wrong_contract(
                first.unwrap_or("not recorded"),
            )),
        }
    }

    /// What an iteration was judged by.
    fn contract_of<'s>(&'s self, iteration: &'s RecordedIteration<'_>) -> Option<&'s str> {
        let is_it = self.digest.is_some() && self.digest == iteration.contract_digest;
        let spare = self.contract.filter(|_| is_it);
        iteration.given.contract.as_deref().or(spare)
    }
}

fn again(
    recorded: &RecordedIteration<'_>,
    spare: &Spare<'_>,
    gate: &dyn Gate,
) -> ReplayedIteration {
    let mut replayed = ReplayedIteration {
        index: recorded.index,
        line: recorded.line,
        outcome: Outcome::Equal,
        difference: None,
        problem: None,
    };
    match answer_again(recorded, spare, gate) {
        Ok(answer) if answer == recorded.verdict.get() => {}
        Ok(answer) => {
            let place = difference::first(recorded.verdict.get(), &answer);
            replayed.outcome = Outcome::Different;
            replayed.difference = Some(Difference {
                iteration: recorded.index,
                line: recorded.line,
                path: place.path,
                recorded: place.recorded,
                replayed: place.replayed,
            });
        }
        Err(error) => {
            replayed.outcome = Outcome::NotReplayed;
            replayed.problem = Some(error.message);
        }
    }
    replayed
}

/// What the gate says now to what it was given then.
fn answer_again(
    recorded: &RecordedIteration<'_>,
    spare: &Spare<'_>,
    gate: &dyn Gate,
) -> Result<String, HistoryError> {
    if let Some(reason) = recorded.not_replayable {
        return Err(HistoryError::digest_only(reason));
    }
    let contract = spare
        .contract_of(recorded)
        .ok_or_else(HistoryError::no_contract)?;
    let given = &recorded.given;
    let snapshot = match (&given.snapshot, &given.resumption) {
        // A loop that was killed was never stopped: it goes on from where it was.
        (Some(snapshot), Some(resumption))
            if resumption.accept_contract || gate::is_stopped(gate, snapshot)? =>
        {
            Some(gate::resume(gate, contract, snapshot, resumption)?)
        }
        (snapshot, _) => snapshot.clone(),
    };
    let answer = gate::evaluate(gate, contract, snapshot.as_deref(), given.iteration)?;
    Ok(answer)
}
