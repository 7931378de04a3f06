//! The abstract state space: dimensions as data, and every combination of their values.

use crate::situation::{
    Action, After, Check, CheckResult, Contract, Iteration, Mode, Outcome, Output, Place, Signal,
    Text, Usage, Work,
};
use Outcome::{Error, Fail, Pass};

/// The limit of each budget in this space: cents, tool calls, milliseconds.
pub(crate) const LIMIT: u32 = 100;
/// What an earlier iteration spent of each budget.
pub(crate) const SPENT: u32 = 40;

/// One point of the space: a contract, what came before, and the iteration that is judged.
#[derive(Debug, Clone)]
pub(crate) struct Situation {
    pub(crate) contract: Contract,
    pub(crate) turn: Iteration,
    pub(crate) before: Before,
    pub(crate) last_permitted: bool,
    /// The iteration that is judged has a result for a check that the contract doesn't name.
    pub(crate) unused: bool,
}

/// What came before the iteration that is judged. All of it is really played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    Nothing,
    Spending,
    Equal,
    AlmostEqual,
    Oscillation,
    OscillationOfThree,
    BrokenOscillation,
    Plateau,
    AlmostPlateau,
    AllFailed,
    Failure,
    BrokenFailures,
    EqualPlateau,
    EqualAroundFailures,
    OscillationOfEight,
    Blocked,
    AlmostBlocked,
    BrokenBlocked,
    IsBaseline,
    FailedBaseline,
    PassedBaseline,
    LeftBaseline,
    Waived,
    PassedHere,
    FailedHere,
    ErredHere,
    FlakyHere,
    FailedHereOnce,
    Stopped,
}

/// A value of a dimension: its name, and what it does to a situation.
pub(crate) struct Value {
    pub(crate) name: String,
    apply: Box<dyn Fn(&mut Situation) + Send + Sync>,
}

/// One thing that situations differ in. The first value is the plainest one.
pub(crate) struct Dimension {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<Value>,
}

impl Dimension {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            values: Vec::new(),
        }
    }

    pub(crate) fn with(
        mut self,
        name: &str,
        apply: impl Fn(&mut Situation) + Send + Sync + 'static,
    ) -> Self {
        self.values.push(Value {
            name: name.to_owned(),
            apply: Box::new(apply),
        });
        self
    }

    /// Only these values. Panics on a name that doesn't exist, so that none is left out by mistake.
    pub(crate) fn only(mut self, names: &[&str]) -> Self {
        for name in names {
            assert!(
                self.values.iter().any(|value| value.name == *name),
                "the dimension `{}` has no value `{name}`",
                self.name
            );
        }
        self.values
            .retain(|value| names.contains(&value.name.as_str()));
        self
    }
}

/// All combinations of the values of some dimensions.
pub(crate) struct Space {
    pub(crate) name: &'static str,
    pub(crate) dimensions: Vec<Dimension>,
}

impl Space {
    pub(crate) fn new(name: &'static str, dimensions: Vec<Dimension>) -> Self {
        Self { name, dimensions }
    }

    pub(crate) fn size(&self) -> usize {
        self.dimensions
            .iter()
            .map(|dimension| dimension.values.len())
            .product()
    }

    /// Which value each dimension has in the state of this number. The last dimension changes
    /// fastest.
    pub(crate) fn digits(&self, number: usize) -> Vec<usize> {
        let mut rest = number;
        let mut digits: Vec<usize> = self
            .dimensions
            .iter()
            .rev()
            .map(|dimension| {
                let digit = rest % dimension.values.len();
                rest /= dimension.values.len();
                digit
            })
            .collect();
        digits.reverse();
        digits
    }

    pub(crate) fn situation(&self, digits: &[usize]) -> Situation {
        let mut situation = Situation::plain();
        for (dimension, digit) in self.dimensions.iter().zip(digits) {
            if let Some(value) = dimension.values.get(*digit) {
                (value.apply)(&mut situation);
            }
        }
        situation
    }

    /// The values that are not the plainest ones, by name.
    pub(crate) fn describe(&self, digits: &[usize]) -> String {
        let named: Vec<String> = self
            .dimensions
            .iter()
            .zip(digits)
            .filter_map(|(dimension, digit)| {
                let value = dimension.values.get(*digit)?;
                (*digit > 0).then(|| format!("{}: {}", dimension.name, value.name))
            })
            .collect();
        format!("{} [{}]", self.name, named.join(", "))
    }
}

impl Situation {
    /// What no dimension changes: a ralph contract with one required check and limits within reach.
    fn plain() -> Self {
        Self {
            contract: Contract {
                mode: Mode::Ralph,
                checks: vec![Check::required("tests")],
                max_tool_calls: LIMIT,
                max_duration_ms: LIMIT,
                max_tokens: LIMIT,
                budget_cents: Some(LIMIT),
                ..Contract::default()
            },
            turn: Iteration::default(),
            before: Before::Nothing,
            last_permitted: false,
            unused: false,
        }
    }

    /// The contract, the iterations before, and the iteration that is judged.
    pub(crate) fn play(mut self) -> (Contract, Vec<Iteration>, Iteration) {
        let mut past = self.past();
        let first = u32::from(!matches!(
            self.before,
            Before::IsBaseline
                | Before::FailedBaseline
                | Before::PassedBaseline
                | Before::LeftBaseline
        ));
        for (index, iteration) in (first..).zip(&mut past) {
            iteration.index = index;
        }
        self.turn.index = first + u32::try_from(past.len()).expect("a short past");
        if self.unused {
            self.turn.results.push(CheckResult::new("spelling", Fail));
        }
        self.contract.loop_max_iters = self.turn.index.max(1) + u32::from(!self.last_permitted);
        (self.contract, past, self.turn)
    }

    /// Plays what came before and sets the limits that it leads up to.
    fn past(&mut self) -> Vec<Iteration> {
        let (a, b, c) = (self.earlier(0), self.earlier(1), self.earlier(2));
        let (mut equal, mut plateau, mut failures) = (0, 0, 0);
        let past = match self.before {
            Before::Nothing => {
                equal = 3;
                failures = 3;
                Vec::new()
            }
            Before::Spending => vec![self.spend(b)],
            Before::Equal => {
                equal = 2;
                vec![a]
            }
            Before::AlmostEqual => {
                equal = 3;
                vec![a]
            }
            Before::Oscillation => {
                equal = 2;
                vec![b.clone(), a, b]
            }
            Before::OscillationOfThree => {
                equal = 2;
                vec![b.clone(), c.clone(), a, b, c]
            }
            Before::BrokenOscillation => {
                equal = 2;
                vec![c, a, b]
            }
            Before::Plateau => {
                plateau = 2;
                vec![b, c]
            }
            Before::AlmostPlateau => {
                plateau = 3;
                vec![b, c]
            }
            Before::AllFailed => {
                plateau = 2;
                vec![self.all(b, Fail), self.all(c, Fail)]
            }
            Before::Failure => {
                failures = 2;
                vec![failed(b)]
            }
            Before::BrokenFailures => {
                failures = 2;
                vec![failed(b), c]
            }
            Before::EqualPlateau => {
                (equal, plateau) = (2, 2);
                vec![c, a]
            }
            Before::EqualAroundFailures => {
                (equal, failures) = (2, 3);
                vec![a, failed(b), failed(c)]
            }
            Before::OscillationOfEight => {
                equal = 2;
                self.cycle_of_eight()
            }
            Before::Blocked | Before::AlmostBlocked => {
                self.contract.blocked_limit = 2 + u32::from(self.before == Before::AlmostBlocked);
                vec![blocked(b)]
            }
            Before::BrokenBlocked => {
                self.contract.blocked_limit = 2;
                vec![blocked(b), c]
            }
            Before::IsBaseline => Vec::new(),
            Before::FailedBaseline | Before::FailedHere => vec![self.all(a, Fail)],
            Before::PassedBaseline | Before::PassedHere => vec![self.all(a, Pass)],
            Before::LeftBaseline => vec![self.all(a, Fail), self.all(b, Fail)],
            Before::Waived => vec![Iteration {
                waivers: vec!["tests"],
                ..b
            }],
            Before::ErredHere => vec![self.all(a, Error)],
            Before::FlakyHere => vec![self.all(a.clone(), Fail), self.all(a, Pass)],
            Before::FailedHereOnce => vec![self.all(a, Fail), self.all(b, Pass)],
            Before::Stopped => vec![Iteration {
                canceled: true,
                ..b
            }],
        };
        self.contract.no_progress_limit = equal;
        self.contract.plateau_limit = plateau;
        self.contract.max_consecutive_failures = if failures == 0 { 9 } else { failures };
        past
    }

    /// Moves a part of what the turn uses to the iteration before it.
    fn spend(&mut self, before: Iteration) -> Iteration {
        let usage = &mut self.turn.usage;
        for used in [
            &mut usage.cents,
            &mut usage.tool_calls,
            &mut usage.elapsed_ms,
            &mut usage.tokens,
        ] {
            *used = used.saturating_sub(SPENT);
        }
        Iteration {
            usage: Usage {
                elapsed_ms: SPENT,
                tool_calls: SPENT,
                cents: SPENT,
                tokens: SPENT,
            },
            ..before
        }
    }

    /// Eight states of the work, and seven of them again.
    fn cycle_of_eight(&self) -> Vec<Iteration> {
        let numbers = (1..8).chain([0]).chain(1..8);
        numbers.map(|number| self.earlier(number)).collect()
    }

    /// An iteration like the one that is judged, on the work of this number, that ends nothing.
    fn earlier(&self, number: usize) -> Iteration {
        let mut earlier = Iteration {
            action: Action::Continue,
            canceled: false,
            overridden: false,
            tampered: false,
            usage: Usage::default(),
            waivers: Vec::new(),
            ..self.turn.clone()
        };
        let Work {
            artifact,
            tool_output,
        } = &mut earlier.work;
        match (artifact, tool_output) {
            (Some(artifact), _) => *artifact = number,
            (None, Some(tool_output)) => *tool_output = number,
            (None, None) => earlier.output.prose = Some(number),
        }
        if earlier.work.artifact.is_some() || earlier.work.tool_output.is_some() {
            earlier.output = Output {
                prose: None,
                promises: Vec::new(),
                after: After::Nothing,
            };
        }
        earlier
    }

    /// The same iteration, with this outcome for every check.
    fn all(&self, iteration: Iteration, outcome: Outcome) -> Iteration {
        let results = self
            .contract
            .checks
            .iter()
            .map(|check| CheckResult::new(check.id, outcome))
            .collect();
        Iteration {
            results,
            ..iteration
        }
    }
}

fn failed(iteration: Iteration) -> Iteration {
    Iteration {
        action: Action::Error,
        ..iteration
    }
}

/// An iteration whose agent says that it is blocked.
fn blocked(iteration: Iteration) -> Iteration {
    Iteration {
        output: Output {
            prose: None,
            promises: vec![(Text::Signal(Signal::Blocked), Place::Visible)],
            after: After::Nothing,
        },
        ..iteration
    }
}
