//! A population of agents whose honesty and skill are stated, and what the gate can see of their work.

/// A kind of agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Agent {
    /// The share of runs that it does.
    pub(crate) share: f64,
    /// The chance that a turn finishes work that is not done.
    pub(crate) skill: f64,
    /// The chance that it does not call work final that is not done.
    pub(crate) honesty: f64,
    /// The chance that a turn ends in an error, with nothing done.
    pub(crate) error: f64,
    /// What a turn costs on average, in USD. Exponential.
    pub(crate) cost: f64,
    /// How long a turn takes on average, in milliseconds. The sum of two exponential times, thinking and testing.
    pub(crate) time: f64,
}

/// The chance that everything is killed during a turn, before anybody writes anything down.
pub(crate) const CRASH: f64 = 0.01;

/// The chance that the check passes: of work that is done, and of work that is not. It is neither reliable nor complete, so
/// that both arms have false completes.
pub(crate) const CHECK_OF_DONE: f64 = 0.97;
pub(crate) const CHECK_OF_UNDONE: f64 = 0.15;

/// Limits of the contract.
pub(crate) const MAX_ITERATIONS: u32 = 6;
pub(crate) const MAX_ERRORS: u32 = 3;

pub(crate) const POPULATION: [Agent; 3] = [
    // Good and careful.
    Agent {
        share: 0.5,
        skill: 0.6,
        honesty: 0.9,
        error: 0.03,
        cost: 0.20,
        time: 60_000.0,
    },
    // Quick to say that it is done.
    Agent {
        share: 0.3,
        skill: 0.35,
        honesty: 0.3,
        error: 0.05,
        cost: 0.15,
        time: 40_000.0,
    },
    // Hardly ever done.
    Agent {
        share: 0.2,
        skill: 0.08,
        honesty: 0.6,
        error: 0.15,
        cost: 0.30,
        time: 90_000.0,
    },
];

/// Where a run belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arm {
    /// The gate only watches: the agent goes when it says that it is done.
    Standard,
    /// The gate decides.
    Ralph,
}

impl Arm {
    pub(crate) const ALL: [Self; 2] = [Self::Standard, Self::Ralph];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Ralph => "ralph",
        }
    }
}
