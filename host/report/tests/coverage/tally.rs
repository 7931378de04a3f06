//! How often intervals contain what is true.

use std::collections::BTreeMap;

use ralph_gate_report::model::Interval;

/// What an interval at 95 % may really be, from and to.
const LEAST: f64 = 0.93;
const MOST: f64 = 0.97;

/// A coverage is refuted by counts that it would give less often than this. There are 78 quantities, and none of them may
/// be wrong by chance alone.
const REFUTED: f64 = 1e-5;

/// How exactly a quantity can be covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As stated.
    Smooth,
    /// A quantile of whole numbers: the bounds are whole numbers too, so that an interval contains more than it has to, or
    /// less. Only that it is not too short can be asked.
    Whole,
}

/// One quantity.
#[derive(Debug, Clone)]
struct Quantity {
    kind: Kind,
    truth: f64,
    covered: u32,
    of: u32,
    /// Intervals wholly below the truth, and wholly above.
    below: u32,
    above: u32,
    width: f64,
}

impl Quantity {
    fn share(&self) -> f64 {
        f64::from(self.covered) / f64::from(self.of)
    }
}

/// How the interval of a quantity is made.
fn method(name: &str) -> String {
    let statistic = ["median", "p95", "mean"]
        .into_iter()
        .find(|it| name.contains(&format!(" {it} ")));
    let is_difference = name.ends_with(" difference");
    match (statistic, is_difference) {
        (None, false) => "rates: Wilson".to_owned(),
        (None, true) => "rates: Newcombe".to_owned(),
        (Some(statistic), false) => format!("{statistic}: bootstrap"),
        (Some(statistic), true) => format!("{statistic}: bootstrap of the difference"),
    }
}

/// All quantities, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    quantities: BTreeMap<String, Quantity>,
}

impl Tally {
    pub(crate) fn add(&mut self, name: &str, kind: Kind, truth: f64, interval: Option<Interval>) {
        let interval = interval.unwrap_or_else(|| panic!("{name} has no interval"));
        let quantity = self.quantities.entry(name.to_owned()).or_insert(Quantity {
            kind,
            truth,
            covered: 0,
            of: 0,
            below: 0,
            above: 0,
            width: 0.0,
        });
        // Sums of decimals miss whole numbers by a last digit.
        let slack = 1e-9 * truth.abs();
        quantity.of += 1;
        quantity.width += interval.high - interval.low;
        if interval.high < truth - slack {
            quantity.below += 1;
        } else if interval.low > truth + slack {
            quantity.above += 1;
        } else {
            quantity.covered += 1;
        }
    }

    pub(crate) fn join(mut self, other: Self) -> Self {
        for (name, more) in other.quantities {
            match self.quantities.get_mut(&name) {
                None => {
                    self.quantities.insert(name, more);
                }
                Some(known) => {
                    known.covered += more.covered;
                    known.of += more.of;
                    known.below += more.below;
                    known.above += more.above;
                    known.width += more.width;
                }
            }
        }
        self
    }

    /// Each way to make intervals covers 95 %, within two points, over all its quantities; and nothing refutes that for each
    /// quantity alone, whose share is known to a point only after 500 repetitions. Gives a table and what is wrong.
    pub(crate) fn strictly(&self) -> (String, Vec<String>) {
        let mut methods = Tally::default();
        for (name, quantity) in &self.quantities {
            if quantity.kind == Kind::Smooth {
                let pooled = Tally {
                    quantities: [(method(name), quantity.clone())].into(),
                };
                methods = methods.join(pooled);
            }
        }
        let (mut table, mut wrong) = self.leniently();
        let (pooled, outside) = methods.judge(|method| (LEAST..=MOST).contains(&method.share()));
        table.push_str("\nall quantities of one kind together (truth and width: of one of them)\n");
        table.push_str(&pooled);
        wrong.extend(outside);
        (table, wrong)
    }

    /// Nothing refutes that each quantity is covered as stated, however few repetitions there are. Gives a table and what
    /// is refuted.
    pub(crate) fn leniently(&self) -> (String, Vec<String>) {
        self.judge(|quantity| {
            let (covered, of) = (quantity.covered, quantity.of);
            let too_few = at_most(covered, of, LEAST) < REFUTED;
            let too_many = at_most(of - covered, of, 1.0 - MOST) < REFUTED;
            !too_few && (quantity.kind == Kind::Whole || !too_many)
        })
    }

    fn judge(&self, holds: impl Fn(&Quantity) -> bool) -> (String, Vec<String>) {
        let mut table = format!(
            "{:<44} {:>12} {:>9} {:>7} {:>7} {:>10}\n",
            "quantity", "truth", "covered", "below", "above", "width"
        );
        let mut wrong = Vec::new();
        for (name, quantity) in &self.quantities {
            let line = format!(
                "{name:<44} {:>12.4} {:>7.1} % {:>7} {:>7} {:>10.4}",
                quantity.truth,
                100.0 * quantity.share(),
                quantity.below,
                quantity.above,
                quantity.width / f64::from(quantity.of),
            );
            table.push_str(&line);
            table.push_str(match (holds(quantity), quantity.kind) {
                (true, Kind::Smooth) => "\n",
                (true, Kind::Whole) => "  whole numbers: at least\n",
                (false, _) => "  WRONG\n",
            });
            if !holds(quantity) {
                wrong.push(line);
            }
        }
        (table, wrong)
    }

    pub(crate) fn len(&self) -> usize {
        self.quantities.len()
    }
}

/// The chance of at most so many of `of`, each with this chance.
fn at_most(count: u32, of: u32, chance: f64) -> f64 {
    let ln = |n: u32| libm::lgamma(f64::from(n) + 1.0);
    let weight = |k: u32| {
        let ways = ln(of) - ln(k) - ln(of - k);
        let each = f64::from(k) * libm::log(chance) + f64::from(of - k) * libm::log(1.0 - chance);
        libm::exp(ways + each)
    };
    (0..=count).map(weight).sum()
}

#[test]
fn few_repetitions_refute_only_what_is_clearly_wrong() {
    let tally = |covered: u32, of: u32| {
        let mut tally = Tally::default();
        for place in 0..of {
            let truth = if place < covered { 0.5 } else { 2.0 };
            let interval = Interval {
                low: 0.0,
                high: 1.0,
            };
            let mut one = Tally::default();
            one.add("it", Kind::Smooth, truth, Some(interval));
            tally = tally.join(one);
        }
        tally
    };
    let fails = |covered, of| !tally(covered, of).leniently().1.is_empty();
    assert!(!fails(57, 60) && !fails(60, 60) && !fails(49, 60));
    assert!(fails(40, 60) && fails(500, 500) && fails(430, 500));
    let outside = |covered, of| tally(covered, of).strictly().1.len();
    assert_eq!(outside(484, 500), 0);
    assert_eq!(outside(486, 500), 1);
    assert_eq!(outside(464, 500), 1);
    assert!((at_most(1, 2, 0.5) - 0.75).abs() < 1e-12);
}

#[test]
fn quantities_are_pooled_by_how_their_intervals_are_made() {
    assert_eq!(method("completion_rate before"), "rates: Wilson");
    assert_eq!(method("handoff_rate difference"), "rates: Newcombe");
    assert_eq!(method("cost_usd p95 after"), "p95: bootstrap");
    assert_eq!(
        method("cost_usd mean difference"),
        "mean: bootstrap of the difference"
    );
}
