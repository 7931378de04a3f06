//! Wrong models, to show that the comparison finds them out.

use std::sync::OnceLock;

use anyhow::{Result, anyhow};

use crate::answer::Answer;
use crate::compare::Pair;
use crate::reference::{Line, Loop, Mistake, ORDER, Rules};
use crate::situation::{Contract, Iteration};
use crate::spaces;
use crate::tally::Tally;

/// A single rule broken, for every rule that the model can break.
pub(crate) const MISTAKES: &[Mistake] = &[
    Mistake::CanceledIgnored,
    Mistake::OverrideNeedsNoPermission,
    Mistake::OverrideNotMarked,
    Mistake::MissingPasses,
    Mistake::StalePasses,
    Mistake::UnknownPasses,
    Mistake::TamperingIgnored,
    Mistake::RatioIgnored,
    Mistake::TokenIgnored,
    Mistake::ContraryIgnored,
    Mistake::CompletesWithoutFinal,
    Mistake::BetterOfTwoResults,
    Mistake::FlakyAlwaysPasses,
    Mistake::FlakyForgotten,
    Mistake::SignalErrorBlocks,
    Mistake::SignalNeedsFinal,
    Mistake::BudgetOverWhenEqual,
    Mistake::DurationBeforeToolCalls,
    Mistake::OneIterationMore,
    Mistake::OneEqualMore,
    Mistake::OscillationIgnored,
    Mistake::PlateauOneMore,
    Mistake::PlateauBeforeNoProgress,
    Mistake::OneFailureMore,
    Mistake::TimeoutIsNoFailure,
    Mistake::InterceptsEveryAction,
    Mistake::ShadowStops,
    Mistake::AutoIsRalph,
    Mistake::HiddenPromisesCount,
    Mistake::LateFailureForgotten,
    Mistake::OnlyLatestRemembered,
    Mistake::TamperingOutweighed,
    Mistake::StaleIsFlaky,
    Mistake::UnusedIsProgress,
    Mistake::AnyRerunCounts,
    Mistake::ErrorIsFlaky,
    Mistake::TokensIgnored,
    Mistake::TokensAfterToolCalls,
    Mistake::BlockedOnceTooMany,
    Mistake::BlockedNeedNotBeInARow,
    Mistake::FailedIsCompared,
    Mistake::LongCyclesIgnored,
    Mistake::BaselineForgotten,
    Mistake::BaselineForgottenLater,
    Mistake::WaiversIgnored,
    Mistake::WaiverForgotten,
    Mistake::WaiverNeedsNoPermission,
];

/// Lines that exclude each other: an agent gives one signal, and one that completes gives no
/// contrary one; an iteration that failed is not compared. Their order can't be seen.
const EXCLUSIVE: [(Line, Line); 4] = [
    (Line::Failures, Line::NoProgress),
    (Line::Completed, Line::SaidError),
    (Line::Completed, Line::SaidBlocked),
    (Line::SaidError, Line::SaidBlocked),
];

/// What the gate answered in one situation, iteration by iteration.
pub(crate) struct Recording {
    contract: Contract,
    turns: Vec<Iteration>,
    answers: Vec<Answer>,
}

/// The gate's answers in all situations that tell models apart, asked for once.
pub(crate) fn recordings() -> Result<&'static [Recording]> {
    static RECORDINGS: OnceLock<Result<Vec<Recording>, String>> = OnceLock::new();
    RECORDINGS
        .get_or_init(|| record().map_err(|error| format!("{error:#}")))
        .as_deref()
        .map_err(|error| anyhow!("{error}"))
}

fn record() -> Result<Vec<Recording>> {
    let mut recordings = Vec::new();
    let mut tally = Tally::default();
    for space in spaces::telling() {
        for number in 0..space.size() {
            let (contract, mut turns, turn) = space.situation(&space.digits(number)).play();
            turns.push(turn);
            let mut pair = Pair::new(&contract, &Rules::default())?;
            let mut answers = Vec::new();
            for turn in &turns {
                answers.push(pair.step(turn, &mut tally)?.1.answer);
            }
            recordings.push(Recording {
                contract,
                turns,
                answers,
            });
        }
    }
    Ok(recordings)
}

/// How many situations it takes to find these rules out. None: they can't be told from the gate's.
pub(crate) fn found_after(rules: &Rules, recordings: &[Recording]) -> Option<usize> {
    recordings.iter().position(|recording| {
        let mut model = Loop::new(recording.contract.clone(), rules.clone());
        recording
            .turns
            .iter()
            .zip(&recording.answers)
            .any(|(turn, answer)| model.step(turn) != *answer)
    })
}

/// Every table in which one line comes before another that it belongs behind, and whether that
/// can be seen.
pub(crate) fn wrong_orders() -> Vec<(String, Rules, bool)> {
    let mut wrong = Vec::new();
    for (to, before) in ORDER.iter().enumerate() {
        for (from, line) in ORDER.iter().enumerate().skip(to + 1) {
            let mut rules = Rules::default();
            rules.order.remove(from);
            rules.order.insert(to, *line);
            let name = format!("line {} before line {}", from + 1, to + 1);
            wrong.push((name, rules, !EXCLUSIVE.contains(&(*before, *line))));
        }
    }
    wrong
}

/// Every table with one line left out. The last one is what remains when no other applies.
pub(crate) fn lines_left_out() -> Vec<(String, Rules)> {
    (0..ORDER.len() - 1)
        .map(|place| {
            let mut rules = Rules::default();
            rules.order.remove(place);
            (format!("no line {}", place + 1), rules)
        })
        .collect()
}

/// The rules with one mistake.
pub(crate) fn with(mistake: Mistake) -> Rules {
    let mut rules = Rules::default();
    rules.mistakes.push(mistake);
    rules
}
