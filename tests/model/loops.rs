//! Random long loops: the model with its whole history against the gate with its snapshot.

use anyhow::Result;
use ralph_gate::GateEngine;

use crate::answer::{Answer, Decision, StopReason};
use crate::compare::{Pair, in_parts, tell};
use crate::reference::Rules;
use crate::situation::{
    Action, After, Cause, Check, CheckResult, Claim, Contract, Enforcement, Iteration, Mode,
    OnFlaky, Outcome, Output, Place, PromiseRules, Signal, Text, Token, Usage, Work,
};
use crate::tally::{Property, Sampling, Tally, enforced};
use ralph_gate_tests::random::Random;

/// The longest loop that is played.
const LONGEST: u32 = 60;
/// The outcomes after which a check may be rerun.
const RETRY_ON: [Option<&[Outcome]>; 5] = [
    None,
    None,
    Some(&[Outcome::Fail]),
    Some(&[Outcome::Fail, Outcome::Error, Outcome::Timeout]),
    Some(&[]),
];
const IDS: [&str; 4] = ["tests", "lint", "style", "docs"];

/// Plays the loops of these seeds.
pub(crate) fn play(
    seeds: u32,
    rules: &Rules,
    engine: &GateEngine,
    sampling: Sampling,
) -> Result<Tally> {
    in_parts(seeds as usize, |numbers| {
        let mut tally = Tally::default();
        for number in numbers {
            play_one(number as u64, rules, engine, sampling, &mut tally)?;
        }
        Ok(tally)
    })
}

fn play_one(
    seed: u64,
    rules: &Rules,
    engine: &GateEngine,
    sampling: Sampling,
    tally: &mut Tally,
) -> Result<()> {
    let mut random = Random::new(seed);
    let contract = contract(&mut random);
    let habits = Habits::new(&mut random);
    let mut pair = Pair::new(&contract, rules)?;
    let mut past: Vec<Iteration> = Vec::new();
    if random.once_in(3) {
        let baseline = iteration(&mut random, &contract, &habits, &past, 0);
        if compare(seed, &mut pair, &baseline, engine, sampling, tally)?.is_none() {
            return Ok(());
        }
    }
    let mut resumed = false;
    let length = if random.once_in(16) {
        LONGEST
    } else {
        1 + random.below(12)
    };
    while past.len() < length as usize {
        let next = u32::try_from(past.len())? + 1;
        if random.once_in(30) {
            let index = if next > 1 && random.once_in(2) {
                next - 1
            } else {
                next + 1 + random.below(2)
            };
            let stray = iteration(&mut random, &contract, &habits, &past, index);
            compare(seed, &mut pair, &stray, engine, sampling, tally)?;
        }
        let turn = iteration(&mut random, &contract, &habits, &past, next);
        let Some(verdict) = compare(seed, &mut pair, &turn, engine, sampling, tally)? else {
            return Ok(());
        };
        past.push(turn);
        let Answer::Verdict(verdict) = verdict else {
            return Ok(());
        };
        if enforced(&contract, &verdict) && !resumed {
            tally.property(Property::LoopEnds, next <= contract.loop_max_iters, || {
                format!(
                    "seed {seed}: iteration {next} of {}",
                    contract.loop_max_iters
                )
            });
        }
        if verdict.ruling.decision != Decision::Stop {
            continue;
        }
        let late = iteration(&mut random, &contract, &habits, &past, next + 1);
        compare(seed, &mut pair, &late, engine, sampling, tally)?;
        if verdict.ruling.stop_reason == Some(StopReason::Completed) || random.once_in(3) {
            return Ok(());
        }
        pair.model.resume();
        pair.gate.resume()?;
        resumed = true;
    }
    Ok(())
}

/// Plays one iteration on both sides. None when they differ: what follows says nothing.
fn compare(
    seed: u64,
    pair: &mut Pair,
    turn: &Iteration,
    engine: &GateEngine,
    sampling: Sampling,
    tally: &mut Tally,
) -> Result<Option<Answer>> {
    let before = pair.gate.clone();
    let (expected, reply) = pair.step(turn, tally)?;
    tally.states += 1;
    tally.ask_again(turn, &before, &reply, engine, sampling)?;
    if expected == reply.answer {
        return Ok(Some(expected));
    }
    tally.differ(|| format!("seed {seed}\n{}", tell(turn.index, &expected, &reply)));
    Ok(None)
}

/// What one loop's iterations have in common, so that loops stand still, swing and fail in rows.
struct Habits {
    states: usize,
    /// The work goes round in a cycle of this length, mostly.
    cycle: Option<usize>,
    shows_artifacts: bool,
    shows_tool_outputs: bool,
    fails_once_in: u32,
    finals_once_in: u32,
    outcomes: Vec<Outcome>,
}

impl Habits {
    fn new(random: &mut Random) -> Self {
        Self {
            states: 1 + random.index(4),
            cycle: random.pick(&[
                None,
                None,
                Some(1),
                Some(2),
                Some(3),
                Some(4),
                Some(5),
                Some(8),
                Some(9),
            ]),
            shows_artifacts: !random.once_in(4),
            shows_tool_outputs: random.once_in(3),
            fails_once_in: random.pick(&[2, 4, 20]),
            finals_once_in: random.pick(&[1, 2, 4]),
            outcomes: random.pick(&[
                vec![Outcome::Fail],
                vec![Outcome::Pass, Outcome::Fail],
                vec![Outcome::Pass, Outcome::Pass, Outcome::Pass, Outcome::Fail],
                vec![
                    Outcome::Pass,
                    Outcome::Fail,
                    Outcome::Unknown,
                    Outcome::Error,
                    Outcome::Timeout,
                    Outcome::Flaky,
                ],
            ]),
        }
    }
}

fn contract(random: &mut Random) -> Contract {
    let token = random.pick(&[Token::None, Token::Text, Token::Text, Token::Nonce]);
    let least = usize::from(token == Token::None);
    let number = least + random.index(IDS.len() + 1 - least);
    let checks = IDS
        .iter()
        .take(number)
        .map(|id| Check {
            id,
            required: !random.once_in(3),
            on_flaky: random.pick(&[None, None, Some(OnFlaky::Pass), Some(OnFlaky::Fail)]),
            retries: random.pick(&[None, None, None, Some(0)]),
            retry_on: random.pick(&RETRY_ON),
        })
        .collect();
    Contract {
        mode: random.pick(&[Mode::Ralph, Mode::Ralph, Mode::Ralph, Mode::Auto]),
        enforcement: random.pick(&[
            Enforcement::Enforce,
            Enforcement::Enforce,
            Enforcement::Shadow,
        ]),
        token,
        promise_rules: random.pick(&[
            PromiseRules::Strict,
            PromiseRules::Strict,
            PromiseRules::Lenient,
        ]),
        checks,
        on_flaky: random.pick(&[OnFlaky::Pass, OnFlaky::Fail]),
        ratio_percent: random.pick(&[0, 0, 34, 50, 100]),
        allow_override: !random.once_in(4),
        loop_max_iters: if random.once_in(3) {
            LONGEST
        } else {
            1 + random.below(12)
        },
        no_progress_limit: random.below(7),
        plateau_limit: random.below(7),
        blocked_limit: 1 + random.below(3),
        max_tokens: random.pick(&[0, 0, random.clone().below(7)]),
        max_tool_calls: random.pick(&[1000, 1000, random.clone().below(7)]),
        max_duration_ms: random.pick(&[1000, 1000, 1 + random.clone().below(6)]),
        max_consecutive_failures: 1 + random.below(6),
        max_check_retries: random.below(3),
        budget_cents: random.pick(&[None, Some(1000), Some(random.clone().below(7))]),
    }
}

fn iteration(
    random: &mut Random,
    contract: &Contract,
    habits: &Habits,
    past: &[Iteration],
    index: u32,
) -> Iteration {
    let action = if random.once_in(habits.fails_once_in) {
        random.pick(&[Action::Error, Action::Timeout])
    } else if random.once_in(habits.finals_once_in) {
        Action::Final
    } else {
        Action::Continue
    };
    let (work, prose) = work(random, habits, past);
    Iteration {
        index,
        action,
        canceled: random.once_in(150),
        output: output(random, prose),
        results: results(random, contract, habits, past, work),
        work,
        tampered: random.once_in(60),
        usage: Usage {
            elapsed_ms: random.below(3),
            tool_calls: random.below(3),
            cents: random.below(3),
            tokens: random.below(3),
        },
        overridden: random.once_in(150),
        waivers: waivers(random, contract),
    }
}

/// Rarely, a check that an operator waives.
fn waivers(random: &mut Random, contract: &Contract) -> Vec<&'static str> {
    if contract.checks.is_empty() || !random.once_in(40) {
        return Vec::new();
    }
    let check = contract.checks.get(random.index(contract.checks.len()));
    check.map(|check| check.id).into_iter().collect()
}

/// The next state of the work: mostly the next one of the cycle, or the same again.
fn work(random: &mut Random, habits: &Habits, past: &[Iteration]) -> (Work, Option<usize>) {
    let number = match habits.cycle {
        Some(cycle) if !random.once_in(12) => past.len() % cycle,
        _ => random.index(habits.states),
    };
    let shown = !random.once_in(25);
    let work = Work {
        artifact: (habits.shows_artifacts && shown).then_some(number),
        tool_output: (habits.shows_tool_outputs && shown).then_some(number % 2),
    };
    (work, (!random.once_in(10)).then_some(number % 4))
}

fn output(random: &mut Random, prose: Option<usize>) -> Output {
    let texts = [
        Text::Token,
        Text::Token,
        Text::StaleToken,
        Text::PlainToken,
        Text::LowerToken,
        Text::Other,
        Text::Signal(Signal::Done),
        Text::Signal(Signal::Continue),
    ];
    let places = [
        Place::Visible,
        Place::Visible,
        Place::Visible,
        Place::Fence,
        Place::InlineCode,
        Place::Quote,
        Place::Comment,
        Place::LazyQuote,
        Place::HtmlBlock,
        Place::Indented,
        Place::InLine,
        Place::Colored,
    ];
    let number = random.pick(&[0, 0, 0, 0, 1, 1, 2]);
    let mut promises: Vec<(Text, Place)> = (0..number)
        .map(|_| (random.pick(&texts), random.pick(&places)))
        .collect();
    if random.once_in(60) {
        let signal = random.pick(&[Signal::Blocked, Signal::Error]);
        promises.push((Text::Signal(signal), random.pick(&places)));
    }
    let after = if promises.is_empty() {
        After::Nothing
    } else {
        random.pick(&[After::Nothing, After::Nothing, After::Context, After::Prose])
    };
    Output {
        prose,
        promises,
        after,
    }
}

/// Mostly one result for each check; where the loop stands still, mostly the one from last time.
fn results(
    random: &mut Random,
    contract: &Contract,
    habits: &Habits,
    past: &[Iteration],
    work: Work,
) -> Vec<CheckResult> {
    let repeats = past.last().filter(|last| last.work == work);
    if let Some(last) = repeats.filter(|_| !random.once_in(3)) {
        return last.results.clone();
    }
    let mut results = Vec::new();
    for check in &contract.checks {
        let number = random.pick(&[1, 1, 1, 1, 1, 1, 1, 1, 0, 2]);
        for _ in 0..number {
            results.push(result(random, check.id, habits));
        }
        if number > 1 {
            let doubled = results.iter_mut().filter(|result| result.id == check.id);
            settle(doubled.collect());
        }
    }
    if random.once_in(10) {
        results.push(result(random, "unknown", habits));
    }
    results
}

/// Which of two equally bad results is counted and remembered is open, so there are none.
fn settle(doubled: Vec<&mut CheckResult>) {
    for (place, result) in doubled.into_iter().enumerate() {
        result.attempts.clear();
        result.failing = None;
        if matches!(result.outcome, Outcome::Unknown | Outcome::Flaky) {
            result.outcome = Outcome::Fail;
        }
        if place > 0 {
            result.cause = None;
        }
    }
}

fn result(random: &mut Random, id: &'static str, habits: &Habits) -> CheckResult {
    let mut result = CheckResult::new(id, random.pick(&habits.outcomes));
    if random.once_in(8) {
        let tries = 1 + random.index(4);
        result.attempts = (0..tries)
            .map(|_| {
                random.pick(&[
                    Outcome::Pass,
                    Outcome::Fail,
                    Outcome::Error,
                    Outcome::Unknown,
                ])
            })
            .collect();
        result.outcome = result.attempts.last().copied().unwrap_or(Outcome::Unknown);
    }
    if random.once_in(3) {
        result.reason = Some(random.pick(&["red", "blue"]));
    }
    if random.once_in(25) {
        result.cause = Some(random.pick(&[
            Cause::Tampered,
            Cause::PolicyTrapped,
            Cause::PolicyOutOfFuel,
            Cause::PolicyOutOfMemory,
            Cause::PolicyRejected,
            Cause::ControlFailed,
            Cause::CheckUnavailable,
        ]));
    }
    if random.once_in(3) {
        result.failing = Some(random.below(6));
    }
    result.iteration = random.pick(&STALE_ONCE);
    result.state = random.pick(&STALE_ONCE);
    result
}

const STALE_ONCE: [Claim; 16] = {
    let mut claims = [Claim::Unsaid; 16];
    claims[0] = Claim::Another;
    claims[1] = Claim::This;
    claims[2] = Claim::This;
    claims
};
