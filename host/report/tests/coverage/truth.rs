//! What is true of the population, calculated from the agents' Markov chain. Nothing here is drawn, and nothing asks the
//! gate.

use crate::population::{
    Agent, Arm, CHECK_OF_DONE, CHECK_OF_UNDONE, CRASH, MAX_ERRORS, MAX_ITERATIONS, POPULATION,
};

/// A probability that is not worth following.
const NOTHING: f64 = 1e-15;

/// Where the runs of one kind of agent end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fate {
    /// Completed, and done.
    pub(crate) done: f64,
    /// Completed, and not done.
    pub(crate) undone: f64,
    /// The chance of so many turns that were written down.
    pub(crate) turns: Vec<f64>,
}

impl Fate {
    /// Follows the chain: whether the work is done, and how many errors there were in a row.
    pub(crate) fn of(agent: &Agent, arm: Arm) -> Self {
        let mut fate = Self::default();
        let errors = MAX_ERRORS as usize;
        let mut now = vec![[0.0; 2]; errors];
        now[0][0] = 1.0;
        let mut index = 0;
        while now.iter().flatten().sum::<f64>() > NOTHING {
            index += 1;
            let last = arm == Arm::Ralph && index == MAX_ITERATIONS as usize;
            let mut next = vec![[0.0; 2]; errors];
            for (in_a_row, states) in now.iter().enumerate() {
                for (done, chance) in states.iter().copied().enumerate() {
                    // Killed: the turn is not written down.
                    fate.end(index - 1, chance * CRASH);
                    let chance = chance * (1.0 - CRASH);
                    let error = chance * agent.error;
                    if arm == Arm::Standard || last || in_a_row + 1 == errors {
                        fate.end(index, error);
                    } else {
                        next[in_a_row + 1][done] += error;
                    }
                    let worked = chance * (1.0 - agent.error);
                    let finished = if done == 1 {
                        worked
                    } else {
                        worked * agent.skill
                    };
                    let open = worked - finished;
                    let claimed = open * (1.0 - agent.honesty);
                    let (true_pass, false_pass) = match arm {
                        Arm::Standard => (1.0, 1.0),
                        Arm::Ralph => (CHECK_OF_DONE, CHECK_OF_UNDONE),
                    };
                    fate.done += finished * true_pass;
                    fate.undone += claimed * false_pass;
                    fate.end(index, finished * true_pass + claimed * false_pass);
                    let rest = [open - claimed * false_pass, finished * (1.0 - true_pass)];
                    for (done, rest) in rest.into_iter().enumerate() {
                        if last {
                            fate.end(index, rest);
                        } else {
                            next[0][done] += rest;
                        }
                    }
                }
            }
            now = next;
        }
        fate
    }

    fn end(&mut self, turns: usize, chance: f64) {
        if self.turns.len() <= turns {
            self.turns.resize(turns + 1, 0.0);
        }
        self.turns[turns] += chance;
    }

    /// The chance that anything was written down.
    fn known(&self) -> f64 {
        self.turns[1..].iter().sum()
    }
}

/// A whole arm.
#[derive(Debug, Clone)]
pub(crate) struct Truth {
    fates: Vec<(Agent, Fate)>,
    /// The share of each kind of agent among the runs that amounts are known of.
    weights: Vec<f64>,
}

impl Truth {
    /// Of an arm. Where runs are compared in pairs, amounts count only if both arms know theirs.
    pub(crate) fn of(arm: Arm, paired: bool) -> Self {
        let fates: Vec<(Agent, Fate)> = POPULATION
            .iter()
            .map(|agent| (*agent, Fate::of(agent, arm)))
            .collect();
        let weights = fates.iter().map(|(agent, fate)| {
            let both = Arm::ALL.iter().map(|arm| Fate::of(agent, *arm).known());
            let known = if paired { both.product() } else { fate.known() };
            agent.share * known / fate.known()
        });
        let weights = weights.collect();
        Self { fates, weights }
    }

    fn share(&self, of: impl Fn(&Fate) -> f64) -> f64 {
        self.fates
            .iter()
            .map(|(agent, fate)| agent.share * of(fate))
            .sum()
    }

    pub(crate) fn completed(&self) -> f64 {
        self.share(|fate| fate.done + fate.undone)
    }

    pub(crate) fn verified(&self) -> f64 {
        self.share(|fate| fate.done)
    }

    pub(crate) fn false_complete(&self) -> f64 {
        self.share(|fate| fate.undone)
    }

    /// The distribution of turns of runs that are known, by agent; all of them together are 1.
    fn turns(&self) -> impl Iterator<Item = (&Agent, usize, f64)> {
        let all: f64 = self
            .fates
            .iter()
            .zip(&self.weights)
            .map(|((_, fate), weight)| weight * fate.known())
            .sum();
        let fates = self.fates.iter().zip(&self.weights);
        fates.flat_map(move |((agent, fate), weight)| {
            let turns = fate.turns.iter().enumerate().skip(1);
            turns.map(move |(count, chance)| (agent, count, weight * chance / all))
        })
    }

    /// Of iterations.
    pub(crate) fn iterations(&self, p: f64) -> f64 {
        let below = |turns: usize| -> f64 {
            let fewer = self.turns().filter(|(_, count, _)| *count <= turns);
            fewer.map(|(_, _, chance)| chance).sum()
        };
        let found = (1..1_000).find(|turns| below(*turns) >= p).unwrap();
        f64::from(u32::try_from(found).unwrap())
    }

    /// Of what every turn adds independently, with this mean.
    pub(crate) fn mean(&self, of_turn: impl Fn(&Agent) -> f64) -> f64 {
        self.turns()
            .map(|(agent, turns, chance)| chance * real(turns) * of_turn(agent))
            .sum()
    }

    /// Of a sum of exponential amounts, `parts` a turn, that have this mean together.
    pub(crate) fn quantile(&self, p: f64, parts: usize, of_turn: impl Fn(&Agent) -> f64) -> f64 {
        let below = |amount: f64| -> f64 {
            self.turns()
                .filter(|(_, _, chance)| *chance > NOTHING)
                .map(|(agent, turns, chance)| {
                    chance * erlang(turns * parts, amount * real(parts) / of_turn(agent))
                })
                .sum()
        };
        let (mut low, mut high) = (0.0, 1e9);
        while high - low > 1e-9 * high {
            let middle = f64::midpoint(low, high);
            if below(middle) < p {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// The chance that a sum of so many exponential amounts with mean 1 is at most this.
fn erlang(count: usize, amount: f64) -> f64 {
    let mut term = libm::exp(-amount);
    let mut above = term;
    for k in 1..count {
        term *= amount / real(k);
        above += term;
    }
    1.0 - above
}

fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

#[test]
fn every_run_ends_somewhere() {
    for agent in &POPULATION {
        for arm in Arm::ALL {
            let fate = Fate::of(agent, arm);
            assert!((fate.turns.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(fate.done > 0.0 && fate.undone > 0.0 && fate.done + fate.undone < 1.0);
        }
    }
}

#[test]
fn the_standard_arm_is_a_geometric_distribution() {
    for agent in &POPULATION {
        let fate = Fate::of(agent, Arm::Standard);
        let worked = (1.0 - CRASH) * (1.0 - agent.error);
        let on = worked * (1.0 - agent.skill) * agent.honesty;
        let done = worked * agent.skill / (1.0 - on);
        let undone = worked * (1.0 - agent.skill) * (1.0 - agent.honesty) / (1.0 - on);
        assert!((fate.done - done).abs() < 1e-12);
        assert!((fate.undone - undone).abs() < 1e-12);
    }
}

#[test]
fn erlangs_distribution_is_that_of_the_tables() {
    // Half of chi-square with 2 and 4 degrees of freedom: medians 1.386 and 3.357.
    assert!((erlang(1, core::f64::consts::LN_2) - 0.5).abs() < 1e-12);
    assert!((erlang(2, 3.356_694 / 2.0) - 0.5).abs() < 1e-6);
}
