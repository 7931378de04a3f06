//! A report as it may be: several classes, pairs, crashes, unknown truths, and names that mean harm. Its numbers are made
//! here, by simple means: it is there to be looked at.

use std::collections::BTreeMap;

use ralph_gate_report::model::{
    Amount, AmountRow, Arm, Better, Bin, Class, Comparison, Decision, Definition, Difference,
    EndingRow, Estimate, Interval, Missing, Outcome, Pair, Pairing, Rate, RateRow, Report, RunList,
    SampleRatio, Standing, Step,
};
use ralph_gate_report::run::{Ending, Run, Truth, Used, Witness};

/// A class that would like to be markup.
pub(crate) const HOSTILE_CLASS: &str = "</script><img src=x onerror=alert(1)>";
/// A task that would like to move the cursor, turn the line, and leave its cell.
pub(crate) const HOSTILE_TASK: &str =
    "rename \u{1b}[2J\u{202e}evil\u{200b} | `x` ![p](http://e.org/p.png)\n## done";

const CLASSES: [&str; 4] = ["bugfix", "refactoring", "", HOSTILE_CLASS];
const ENDINGS: [Ending; 7] = [
    Ending::Completed,
    Ending::Released,
    Ending::MaxIters,
    Ending::NoProgress,
    Ending::BudgetExceeded,
    Ending::Error,
    Ending::Crashed,
];

/// Numbers that look like chance and are always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % most
    }
}

/// A report of so many tasks, each done once in both arms.
pub(crate) fn report(tasks: usize) -> Report {
    let mut dice = Dice(7);
    let mut runs = Vec::new();
    let mut pairs = Vec::new();
    for task in 0..tasks {
        let place = u32::try_from(runs.len()).unwrap();
        runs.push(run(task, "standard", &mut dice));
        runs.push(run(task, "ralph", &mut dice));
        pairs.push(Pair {
            name: runs[task * 2].task.clone().unwrap(),
            before: place,
            after: place + 1,
        });
    }
    let of = |arm: &str| -> RunList {
        let places = 0..u32::try_from(runs.len()).unwrap();
        places
            .filter(|place| runs[*place as usize].labels["arm"] == arm)
            .collect()
    };
    let (before, after) = (of("standard"), of("ralph"));
    let overall = compare(&runs, &before, &after, &pairs);
    let mut classes = Vec::new();
    for class in CLASSES {
        let is_in =
            |place: &u32| runs[*place as usize].task_class.as_deref().unwrap_or("") == class;
        let part = |places: &[u32]| -> RunList { places.iter().copied().filter(is_in).collect() };
        let pairs: Vec<Pair> = pairs
            .iter()
            .filter(|pair| is_in(&pair.before))
            .cloned()
            .collect();
        classes.push(Class {
            name: class.to_owned(),
            comparison: compare(&runs, &part(&before), &part(&after), &pairs),
        });
    }
    let unknown: RunList = before
        .iter()
        .chain(&after)
        .copied()
        .filter(|place| runs[*place as usize].truth == Truth::Unknown)
        .collect();
    let unpriced: RunList = before
        .iter()
        .copied()
        .filter(|place| runs[*place as usize].used.cost_usd.is_none())
        .collect();
    let decision = decision(&overall);
    Report {
        version: 2,
        before: Arm {
            name: "arm=standard".to_owned(),
            runs: before,
        },
        after: Arm {
            name: "arm=ralph".to_owned(),
            runs: after,
        },
        pairing: Pairing {
            paired: true,
            pairs: pairs.len() as u64,
            reason: "every task was done in both arms".to_owned(),
        },
        overall,
        classes,
        sample_ratio: SampleRatio {
            applies: true,
            before: tasks as u64,
            after: tasks as u64,
            p: Some(1.0),
            suspicious: false,
            message: "Runs were divided evenly, as planned.".to_owned(),
        },
        decision,
        missing: vec![
            Missing {
                message: "Nobody looked whether the work was really done.".to_owned(),
                runs: unknown,
            },
            Missing {
                message: "The cost is not known.".to_owned(),
                runs: unpriced,
            },
        ],
        definitions: definitions(),
        runs,
    }
}

fn run(task: usize, arm: &str, dice: &mut Dice) -> Run {
    let is_ralph = arm == "ralph";
    let roll = dice.below(100);
    let ending = match roll {
        0..=1 => Ending::Crashed,
        2..=3 => Ending::Error,
        4..=7 if is_ralph => Ending::NoProgress,
        8..=12 if is_ralph => Ending::MaxIters,
        13..=15 if is_ralph => Ending::BudgetExceeded,
        _ if is_ralph => Ending::Completed,
        4..=7 => Ending::MaxIters,
        _ => Ending::Released,
    };
    let truth = match dice.below(100) {
        0..=4 => Truth::Unknown,
        _ if !ending.is_completed() => Truth::Incomplete,
        5..=39 if !is_ralph => Truth::Incomplete,
        5..=7 => Truth::Incomplete,
        _ => Truth::Complete,
    };
    let iterations = u32::try_from(1 + dice.below(if is_ralph { 9 } else { 6 })).unwrap();
    let cents = 6 * u64::from(iterations) + dice.below(30);
    let class = CLASSES[task % CLASSES.len()];
    let name = if task == 4 {
        HOSTILE_TASK.to_owned()
    } else {
        format!("task-{:03}", task + 1)
    };
    Run {
        id: format!("{arm}/{name}"),
        task: Some(name),
        task_class: Some(class.into()).filter(|_| !class.is_empty()),
        labels: BTreeMap::from([("arm".to_owned(), arm.to_owned())]).into(),
        mode: Some(arm.into()),
        enforcement: Some(if is_ralph { "enforce" } else { "shadow" }.into()),
        started_at_ms: Some(1_767_225_600_000 + task as u64 * 600_000),
        ending,
        interceptions: u32::from(is_ralph && iterations > 2),
        truth,
        witness: match truth {
            Truth::Unknown => None,
            _ if is_ralph => Some(Witness::Audit),
            _ => Some(Witness::Shadow),
        },
        used: Used {
            iterations: Some(iterations),
            elapsed_ms: Some(u64::from(iterations) * (38_000 + dice.below(20_000))),
            tool_calls: Some(u64::from(iterations) * (3 + dice.below(5))),
            tokens: Some(u64::from(iterations) * (9_000 + dice.below(4_000))),
            cost_usd: (is_ralph || task % 9 != 3)
                .then(|| format!("{}.{:02}", cents / 100, cents % 100)),
        },
        ..Run::default()
    }
}

fn compare(runs: &[Run], before: &[u32], after: &[u32], pairs: &[Pair]) -> Comparison {
    let false_complete = |run: &Run| match run.truth {
        _ if !run.ending.is_completed() => Counts::Not,
        Truth::Unknown => Counts::Unaudited,
        truth => Counts::of(truth == Truth::Incomplete),
    };
    let handoff =
        |run: &Run| Counts::of(!run.ending.is_completed() && run.ending != Ending::Crashed);
    let row = |metric: &str, title: &str, better, primary, is: &dyn Fn(&Run) -> Counts| {
        let (before, after) = (rate(runs, before, is), rate(runs, after, is));
        RateRow {
            metric: metric.to_owned(),
            title: title.to_owned(),
            better,
            primary,
            difference: difference(&before, &after, primary),
            before,
            after,
        }
    };
    let mut iterations: Vec<Bin> = (1..=9)
        .map(|from| Bin {
            from,
            to: from,
            before: 0,
            after: 0,
        })
        .collect();
    for (places, is_after) in [(before, false), (after, true)] {
        for place in places {
            let bin = &mut iterations[runs[*place as usize].used.iterations.unwrap() as usize - 1];
            *(if is_after {
                &mut bin.after
            } else {
                &mut bin.before
            }) += 1;
        }
    }
    let ended = |places: &[u32], ending: Ending| -> RunList {
        let places = places.iter().copied();
        places
            .filter(|place| runs[*place as usize].ending == ending)
            .collect()
    };
    Comparison {
        rates: vec![
            row(
                "completion_rate",
                "Completed",
                Better::Higher,
                false,
                &|run| Counts::of(run.ending.is_completed()),
            ),
            row(
                "false_complete_rate",
                "False completes",
                Better::Lower,
                true,
                &false_complete,
            ),
            row(
                "handoff_rate",
                "Handed off",
                Better::Neither,
                false,
                &handoff,
            ),
        ],
        amounts: amounts(runs, before, after),
        endings: ENDINGS
            .into_iter()
            .map(|ending| EndingRow {
                ending: ending.as_str().to_owned(),
                before: ended(before, ending),
                after: ended(after, ending),
            })
            .filter(|row| !row.before.is_empty() || !row.after.is_empty())
            .collect(),
        iterations,
        pairs: pairs.to_vec(),
    }
}

/// Of a run, how much it used.
type Of = fn(&Run) -> Option<f64>;

fn amounts(runs: &[Run], before: &[u32], after: &[u32]) -> Vec<AmountRow> {
    let all: [(&str, &str, &str, Of); 5] = [
        ("iterations", "Iterations", "iterations", |run| {
            run.used.iterations.map(f64::from)
        }),
        ("latency_ms", "Time", "ms", |run| {
            run.used.elapsed_ms.map(|ms| ms as f64)
        }),
        ("tool_calls", "Tool calls", "calls", |run| {
            run.used.tool_calls.map(|calls| calls as f64)
        }),
        ("tokens", "Tokens", "tokens", |run| {
            run.used.tokens.map(|tokens| tokens as f64)
        }),
        ("cost_usd", "Cost", "USD", |run| {
            run.used.cost_usd.as_ref()?.parse().ok()
        }),
    ];
    all.into_iter()
        .map(|(metric, title, unit, of)| {
            let (before, after) = (amount(runs, before, of), amount(runs, after, of));
            AmountRow {
                metric: metric.to_owned(),
                title: title.to_owned(),
                unit: unit.to_owned(),
                median_difference: apart(&before.median, &after.median, Some(0.021)),
                p95_difference: apart(&before.p95, &after.p95, None),
                mean_difference: apart(&before.mean, &after.mean, Some(0.034)),
                before,
                after,
            }
        })
        .collect()
}

/// How a run counts in a rate.
#[derive(Clone, Copy, PartialEq)]
enum Counts {
    Yes,
    No,
    Unaudited,
    Not,
}

impl Counts {
    fn of(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

fn rate(runs: &[Run], places: &[u32], is: &dyn Fn(&Run) -> Counts) -> Rate {
    let those = |wanted: Counts| -> RunList {
        let places = places.iter().copied();
        places
            .filter(|place| is(&runs[*place as usize]) == wanted)
            .collect()
    };
    let (counted, unaudited) = (those(Counts::Yes), those(Counts::Unaudited));
    let of = counted.len() + those(Counts::No).len();
    let more = unaudited.len() as f64;
    let (count, all) = (counted.len() as f64, of as f64);
    Rate {
        count: counted.len() as u64,
        of: of as u64,
        rate: (of > 0).then(|| count / all),
        interval: (of > 0).then(|| wilson(count, all)),
        runs: counted,
        bounds: (!unaudited.is_empty()).then(|| Interval {
            low: count / (all + more),
            high: (count + more) / (all + more),
        }),
        unaudited,
    }
}

fn wilson(count: f64, of: f64) -> Interval {
    let z = 1.96;
    let middle = count / of + z * z / (2.0 * of);
    let half = z * (count / of * (1.0 - count / of) / of + z * z / (4.0 * of * of)).sqrt();
    let scale = 1.0 + z * z / of;
    Interval {
        low: ((middle - half) / scale).max(0.0),
        high: ((middle + half) / scale).min(1.0),
    }
}

fn difference(before: &Rate, after: &Rate, primary: bool) -> Option<Difference> {
    let (p1, p2) = (after.rate?, before.rate?);
    let (one, two) = (after.interval?, before.interval?);
    let p = if (p1 - p2).abs() > 0.15 {
        0.0006
    } else {
        0.183
    };
    Some(Difference {
        estimate: p1 - p2,
        interval: (before.of >= 8).then(|| Interval {
            low: p1 - p2 - ((p1 - one.low).powi(2) + (two.high - p2).powi(2)).sqrt(),
            high: p1 - p2 + ((one.high - p1).powi(2) + (p2 - two.low).powi(2)).sqrt(),
        }),
        bounds: None,
        method: "Newcombe".to_owned(),
        p: Some(p),
        p_adjusted: (!primary).then_some(p * 2.0),
        test: Some("Fisher, exact".to_owned()),
    })
}

fn amount(runs: &[Run], places: &[u32], of: fn(&Run) -> Option<f64>) -> Amount {
    let mut values: Vec<f64> = places
        .iter()
        .filter_map(|place| of(&runs[*place as usize]))
        .collect();
    values.sort_by(f64::total_cmp);
    let known = values.len();
    let at = |share: f64| {
        let place = (known.max(1) - 1) as f64 * share;
        values
            .get(place.clamp(0.0, known.max(1) as f64 - 1.0) as usize)
            .copied()
    };
    let spread = 1.0 / (known.max(1) as f64).sqrt();
    let estimate = |share: f64, needs: usize| {
        let around = || {
            let low = at((share - spread).max(0.0))?;
            Some(Interval {
                low,
                high: at((share + spread).min(1.0))?,
            })
        };
        Estimate {
            value: at(share),
            interval: (known >= needs).then(around).flatten(),
            needs: (known < needs).then_some(needs as u64),
        }
    };
    let total: f64 = values.iter().sum();
    let mean = total / known.max(1) as f64;
    let unknown = places
        .iter()
        .copied()
        .filter(|place| of(&runs[*place as usize]).is_none());
    Amount {
        known: known as u64,
        of: places.len() as u64,
        median: estimate(0.5, 6),
        p95: estimate(0.95, 59),
        mean: Estimate {
            value: (known > 0).then_some(mean),
            interval: (known > 1).then_some(Interval {
                low: mean * 0.9,
                high: mean * 1.1,
            }),
            needs: (known < 2).then_some(2),
        },
        total: (known > 0).then_some(total),
        unknown: unknown.collect(),
    }
}

fn apart(before: &Estimate, after: &Estimate, p: Option<f64>) -> Option<Difference> {
    let (one, two) = (after.interval?, before.interval?);
    let estimate = after.value? - before.value?;
    Some(Difference {
        estimate,
        interval: Some(Interval {
            low: estimate - (one.high - one.low + two.high - two.low) / 4.0,
            high: estimate + (one.high - one.low + two.high - two.low) / 4.0,
        }),
        bounds: None,
        method: "bootstrap, 10,000 times".to_owned(),
        p,
        p_adjusted: p.map(|p| p * 3.0),
        test: p.map(|_| "permutation".to_owned()),
    })
}

fn decision(overall: &Comparison) -> Decision {
    let row = &overall.rates[1];
    let found = row.difference.as_ref().unwrap();
    let fall = found.interval.map(|found| Interval {
        low: -found.high,
        high: -found.low,
    });
    let sure = fall.map_or(0.0, |fall| fall.low);
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    Decision {
        outcome: Outcome::DefaultOn,
        message: "False completes fall by more than was asked for, and cost rises by less than is allowed.".to_owned(),
        steps: vec![
            Step {
                condition: "false completes fall by at least 5 points".to_owned(),
                estimate: Some(-found.estimate),
                interval: fall,
                threshold: 0.05,
                standing: Standing::Met,
                arithmetic: format!(
                    "{} - {} = {} points, at least {} of them sure; 5.0 asked",
                    percent(row.before.rate.unwrap()),
                    percent(row.after.rate.unwrap()),
                    percent(-found.estimate),
                    percent(sure)
                ),
            },
            Step {
                condition: "the mean cost rises by at most 80 %".to_owned(),
                estimate: Some(0.13),
                interval: Some(Interval { low: 0.01, high: 0.26 }),
                threshold: 0.8,
                standing: Standing::Met,
                arithmetic: "0.39 / 0.35 = 1.13, surely at most 1.26; 1.80 allowed".to_owned(),
            },
        ],
        needed_per_arm: None,
    }
}

fn definitions() -> Vec<Definition> {
    let all = [
        (
            "completion_rate",
            "Runs that ended completed, of all runs, also those that crashed.",
        ),
        (
            "false_complete_rate",
            "Runs that ended completed although an audit, a label or the shadow verdict says otherwise, of the audited completions.",
        ),
        (
            "handoff_rate",
            "Runs that ended at a limit, blocked, canceled or with an error, and were handed to a person, of all runs.",
        ),
        ("iterations", "Turns of the agent in a run."),
        (
            "cost_usd",
            "What a run cost, in US dollars, as the agent's client reported it.",
        ),
    ];
    let of = |(metric, meaning): (&str, &str)| Definition {
        metric: metric.to_owned(),
        meaning: meaning.to_owned(),
    };
    all.into_iter().map(of).collect()
}
