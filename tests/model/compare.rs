//! Model against gate, over a whole space.

use std::fmt;
use std::ops::Range;
use std::thread;

use anyhow::{Result, anyhow};
use ralph_gate::GateEngine;

use crate::answer::Answer;
use crate::reference::{Loop, Rules};
use crate::situation::{Contract, Iteration};
use crate::space::Space;
use crate::tally::{Sampling, Tally};
use crate::wire::{GateLoop, Reply};

/// A loop on both sides, at the same iteration.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) contract: Contract,
    pub(crate) model: Loop,
    pub(crate) gate: GateLoop,
}

impl Pair {
    pub(crate) fn new(contract: &Contract, rules: &Rules) -> Result<Self> {
        Ok(Self {
            contract: contract.clone(),
            model: Loop::new(contract.clone(), rules.clone()),
            gate: GateLoop::new(contract)?,
        })
    }

    /// Plays one iteration on both sides and moves on. Gives what each side says.
    pub(crate) fn step(
        &mut self,
        iteration: &Iteration,
        tally: &mut Tally,
    ) -> Result<(Answer, Reply)> {
        let expected = self.model.step(iteration);
        let reply = self.gate.ask(iteration)?;
        tally.observe(&self.contract, iteration, &self.gate, &reply);
        self.gate.advance(&reply)?;
        Ok((expected, reply))
    }
}

/// What was played last before the iteration that is judged: the next state often shares it.
struct Played {
    contract: Contract,
    past: Vec<Iteration>,
    pair: Pair,
    differs: bool,
}

impl Played {
    fn new(
        contract: Contract,
        past: Vec<Iteration>,
        rules: &Rules,
        tally: &mut Tally,
    ) -> Result<Self> {
        let mut pair = Pair::new(&contract, rules)?;
        let mut differs = false;
        for iteration in &past {
            let (expected, reply) = pair.step(iteration, tally)?;
            differs |= expected != reply.answer;
        }
        Ok(Self {
            contract,
            past,
            pair,
            differs,
        })
    }
}

/// Every state of a space, on as many threads as there are processors.
pub(crate) fn explore(
    space: &Space,
    rules: &Rules,
    engine: &GateEngine,
    sampling: Sampling,
) -> Result<Tally> {
    in_parts(space.size(), |numbers| {
        explore_part(space, numbers, rules, engine, sampling)
    })
}

/// Does a work of many numbers, on as many threads as there are processors.
pub(crate) fn in_parts(
    size: usize,
    work: impl Fn(Range<usize>) -> Result<Tally> + Sync,
) -> Result<Tally> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = size.div_ceil(threads);
    let work = &work;
    let parts: Vec<Result<Tally>> = thread::scope(|scope| {
        let started: Vec<_> = (0..threads)
            .map(|part| {
                let numbers = (part * share).min(size)..((part + 1) * share).min(size);
                scope.spawn(move || work(numbers))
            })
            .collect();
        started
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(anyhow!("a part of the space panicked")))
            })
            .collect()
    });
    let mut tally = Tally::default();
    for part in parts {
        tally.add(part?);
    }
    Ok(tally)
}

fn explore_part(
    space: &Space,
    numbers: Range<usize>,
    rules: &Rules,
    engine: &GateEngine,
    sampling: Sampling,
) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut played: Option<Played> = None;
    for number in numbers {
        let digits = space.digits(number);
        let (contract, past, turn) = space.situation(&digits).play();
        let ready = match played.take() {
            Some(ready) if ready.contract == contract && ready.past == past => ready,
            _ => Played::new(contract, past, rules, &mut tally)?,
        };
        let expected = ready.pair.model.clone().step(&turn);
        let reply = ready.pair.gate.ask(&turn)?;
        tally.states += 1;
        tally.observe(&ready.contract, &turn, &ready.pair.gate, &reply);
        tally.ask_again(&turn, &ready.pair.gate, &reply, engine, sampling)?;
        if ready.differs || expected != reply.answer {
            tally.differ(|| minimal(space, &digits, rules));
        }
        played = Some(ready);
    }
    Ok(tally)
}

/// The plainest situation that still differs, and both answers.
fn minimal(space: &Space, digits: &[usize], rules: &Rules) -> String {
    let mut plainest = digits.to_vec();
    for place in 0..plainest.len() {
        let mut plainer = plainest.clone();
        if let Some(digit) = plainer.get_mut(place) {
            *digit = 0;
        }
        if difference(space, &plainer, rules).is_some() {
            plainest = plainer;
        }
    }
    let story = difference(space, &plainest, rules).unwrap_or_default();
    format!("{}\n{story}", space.describe(&plainest))
}

/// The first iteration of a situation in which the two sides differ.
fn difference(space: &Space, digits: &[usize], rules: &Rules) -> Option<String> {
    let (contract, mut turns, turn) = space.situation(digits).play();
    turns.push(turn);
    let mut tally = Tally::default();
    let mut pair = match Pair::new(&contract, rules) {
        Ok(pair) => pair,
        Err(error) => return Some(format!("  {error:#}")),
    };
    turns
        .iter()
        .find_map(|turn| match pair.step(turn, &mut tally) {
            Ok((expected, reply)) => {
                (expected != reply.answer).then(|| tell(turn.index, &expected, &reply))
            }
            Err(error) => Some(format!("  {error:#}")),
        })
}

/// Both answers, as far as they differ.
pub(crate) fn tell(index: u32, expected: &Answer, reply: &Reply) -> String {
    let mut story = format!("  iteration {index}\n");
    let mut line = |field: &str, model: &dyn fmt::Debug, gate: &dyn fmt::Debug| {
        let (model, gate) = (format!("{model:?}"), format!("{gate:?}"));
        if model != gate {
            story.push_str(&format!(
                "  {field}\n    model: {model}\n    gate:  {gate}\n"
            ));
        }
    };
    match (expected, &reply.answer) {
        (Answer::Verdict(model), Answer::Verdict(gate)) => {
            line("ruling", &model.ruling, &gate.ruling);
            line("shadow", &model.shadow, &gate.shadow);
            line("intercepted", &model.intercepted, &gate.intercepted);
            line("overridden", &model.overridden, &gate.overridden);
            line("mode", &model.mode, &gate.mode);
            line("failures", &model.failures, &gate.failures);
            line("checks", &model.checks, &gate.checks);
            line("unused_checks", &model.unused_checks, &gate.unused_checks);
            line("waived", &model.waived, &gate.waived);
            line("fingerprint", &model.fingerprint, &gate.fingerprint);
            line("counters", &model.counters, &gate.counters);
        }
        (model, gate) => line("answer", model, gate),
    }
    story.push_str(&format!("  input: {}", reply.input));
    story
}
