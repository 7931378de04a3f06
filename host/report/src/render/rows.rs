//! What every form of a report shows in its rows: cells as texts, and what a difference means.

use crate::model::{
    Amount, AmountRow, Better, Comparison, Difference, Estimate, Interval, Rate, RateRow, Standing,
};

use super::number;

/// One metric in both arms.
pub(super) struct Row<'a> {
    /// For a person; not yet escaped.
    pub(super) title: String,
    /// Where there is little room, only such rows are shown.
    pub(super) key: bool,
    /// It is a share of runs, and no amount per run.
    pub(super) is_share: bool,
    /// It has to be said which way is better.
    pub(super) says_direction: bool,
    /// Chosen before the experiment.
    pub(super) primary: bool,
    /// Which way is better.
    pub(super) better: Better,
    /// Before.
    pub(super) before: Cell,
    /// After.
    pub(super) after: Cell,
    /// After minus before.
    pub(super) difference: Cell,
    /// The p value that counts: adjusted where it has to be.
    pub(super) p: Option<f64>,
    /// The numbers behind it, where there are any.
    pub(super) source: Option<&'a Difference>,
    /// What divides the difference to make it comparable with others: one, or the amount before.
    pub(super) scale: Option<f64>,
    /// What it means.
    pub(super) meaning: Meaning,
}

/// A number and what belongs to it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    /// The number, or why there is none.
    pub(super) value: String,
    /// In brackets: of how many, or how sure.
    pub(super) detail: String,
    /// How sure it is, where `detail` says something else; else the same.
    pub(super) interval: String,
    /// There is a number.
    pub(super) known: bool,
}

impl Cell {
    fn known(value: String, interval: String) -> Self {
        Self {
            value,
            detail: interval.clone(),
            interval,
            known: true,
        }
    }

    fn absent(reason: &str) -> Self {
        Self {
            value: reason.to_owned(),
            ..Self::default()
        }
    }

    /// So many are known, and so many are needed.
    fn too_few(short: Option<(u64, u64)>) -> Self {
        let of = |(known, needs)| format!("{} of {}", number::count(known), number::count(needs));
        Self {
            value: "too few data".to_owned(),
            detail: short.map(of).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// On one line.
    pub(super) fn whole(&self) -> String {
        if self.detail.is_empty() {
            self.value.clone()
        } else {
            format!("{} ({})", self.value, self.detail)
        }
    }
}

/// What chance gives less often than this is taken for more than chance.
const SIGNIFICANT: f64 = 0.05;

/// What a difference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The whole interval is on the better side.
    Better,
    /// The whole interval is on the worse side.
    Worse,
    /// The whole interval is on one side, and neither is better.
    Changed,
    /// The interval reaches over zero, or among so many metrics one would look like this by chance.
    Unclear,
    /// There is no interval.
    Unknown,
}

impl Meaning {
    /// In a word or two.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Changed => "changed",
            Self::Unclear => "unclear",
            Self::Unknown => "too few data",
        }
    }

    fn of(better: Better, difference: Option<&Difference>) -> Self {
        let Some(difference) = difference else {
            return Self::Unknown;
        };
        let Some(Interval { low, high }) = difference.interval else {
            return Self::Unknown;
        };
        // An audit of the completions of unknown truth could turn it around.
        let reaches_over = |range: Interval| range.low <= 0.0 && range.high >= 0.0;
        if difference.bounds.is_some_and(reaches_over) {
            return Self::Unclear;
        }
        // An interval stands for itself alone; the adjusted p value knows of the others.
        let may_be_chance = difference.p_adjusted.is_some_and(|p| p >= SIGNIFICANT);
        // Intervals of whole numbers often end at zero. They tell something if the test does.
        let is_tested = counting_p(difference).is_some_and(|p| p < SIGNIFICANT);
        let estimate = difference.estimate;
        let is_above = low > 0.0 || (is_tested && low >= 0.0 && estimate > 0.0);
        let is_below = high < 0.0 || (is_tested && high <= 0.0 && estimate < 0.0);
        match better {
            _ if may_be_chance || !(is_above || is_below) => Self::Unclear,
            Better::Neither => Self::Changed,
            Better::Higher if is_above => Self::Better,
            Better::Lower if is_below => Self::Better,
            _ => Self::Worse,
        }
    }
}

/// Which way is better, in words.
pub(super) fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
        Better::Neither => "neither way is better",
    }
}

/// The rows of a comparison: its rates, then its amounts.
pub(super) fn rows(comparison: &Comparison) -> Vec<Row<'_>> {
    let rates = comparison.rates.iter().map(rate_row);
    rates
        .chain(comparison.amounts.iter().flat_map(amount_rows))
        .collect()
}

/// The row of a share.
pub(super) fn rate_row(row: &RateRow) -> Row<'_> {
    let source = row.difference.as_ref();
    Row {
        title: row.title.clone(),
        key: true,
        is_share: true,
        says_direction: row.better != Better::Neither,
        primary: row.primary,
        better: row.better,
        before: rate(&row.before),
        after: rate(&row.after),
        difference: difference(source, None, number::points, number::bare_points),
        p: source.and_then(counting_p),
        source,
        scale: Some(1.0),
        meaning: Meaning::of(row.better, source),
    }
}

/// The rows of an amount: its median and its 95th percentile, and of money also the mean, which a budget is made of.
pub(super) fn amount_rows(row: &AmountRow) -> Vec<Row<'_>> {
    let median: fn(&Amount) -> &Estimate = |amount| &amount.median;
    let mut rows = vec![
        amount_row(row, "median", median, row.median_difference.as_ref()),
        amount_row(
            row,
            "p95",
            |amount| &amount.p95,
            row.p95_difference.as_ref(),
        ),
    ];
    if row.unit == "USD" {
        let mean = row.mean_difference.as_ref();
        rows.push(amount_row(row, "mean", |amount| &amount.mean, mean));
    }
    rows
}

fn amount_row<'a>(
    row: &'a AmountRow,
    what: &str,
    of: fn(&Amount) -> &Estimate,
    source: Option<&'a Difference>,
) -> Row<'a> {
    let (before, after) = (of(&row.before), of(&row.after));
    let lacks = |estimate: &Estimate, amount: &Amount| {
        let needs = estimate.needs?;
        Some((amount.known, needs))
    };
    let short = match (lacks(before, &row.before), lacks(after, &row.after)) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    let write = |value| number::difference(value, &row.unit);
    Row {
        title: format!("{}, {what}", row.title),
        key: matches!(
            (row.metric.as_str(), what),
            ("iterations", "median") | ("cost_usd", "mean")
        ),
        is_share: false,
        says_direction: false,
        primary: false,
        // Turns, time, calls, tokens and money are all spent.
        better: Better::Lower,
        before: estimate(before, &row.before, &row.unit),
        after: estimate(after, &row.after, &row.unit),
        difference: difference(source, short, write, write),
        p: source.and_then(counting_p),
        source,
        scale: before.value.filter(|value| *value > 0.0),
        meaning: Meaning::of(Better::Lower, source),
    }
}

fn counting_p(difference: &Difference) -> Option<f64> {
    difference.p_adjusted.or(difference.p)
}

fn rate(rate: &Rate) -> Cell {
    let of = format!(
        "{} of {}",
        number::count(rate.count),
        number::count(rate.of)
    );
    let range = rate
        .interval
        .map(|interval| number::interval(interval, number::percent));
    match rate.rate {
        Some(share) => Cell {
            detail: of,
            ..Cell::known(number::percent(share), range.unwrap_or_default())
        },
        None if !rate.unaudited.is_empty() => Cell {
            detail: counted(rate.unaudited.len(), "completion", "completions"),
            ..Cell::absent("not audited")
        },
        None => Cell::absent("no runs"),
    }
}

/// What can be said of shares although some completions were not audited, a sentence for each.
pub(super) fn notes(comparison: &Comparison) -> Vec<String> {
    let arms = comparison
        .rates
        .iter()
        .flat_map(|row| [(row, "before", &row.before), (row, "after", &row.after)]);
    arms.filter_map(|(row, arm, rate)| {
        let bounds = rate.bounds?;
        let unaudited = counted(rate.unaudited.len(), "completion was", "completions were");
        let with = if rate.unaudited.len() == 1 {
            "it"
        } else {
            "them"
        };
        Some(format!(
            "{}, {arm}: {unaudited} not audited; with {with}, the rate is between {}.",
            row.title,
            number::interval(bounds, number::percent).replace(" to ", " and ")
        ))
    })
    .collect()
}

/// An amount, how sure it is, or how many runs are missing.
pub(super) fn estimate(estimate: &Estimate, amount: &Amount, unit: &str) -> Cell {
    let Some(value) = estimate.value else {
        return Cell::absent("not known");
    };
    let write = |value| number::amount(value, unit);
    match (estimate.interval, estimate.needs) {
        (Some(interval), _) => Cell::known(write(value), number::interval(interval, write)),
        (None, Some(needs)) => Cell::too_few(Some((amount.known, needs))),
        (None, None) => Cell::known(write(value), String::new()),
    }
}

fn difference(
    source: Option<&Difference>,
    short: Option<(u64, u64)>,
    write: impl Fn(f64) -> String,
    write_bound: impl Fn(f64) -> String,
) -> Cell {
    match source {
        Some(Difference {
            estimate,
            interval: Some(interval),
            ..
        }) => Cell::known(write(*estimate), number::interval(*interval, write_bound)),
        _ => Cell::too_few(short),
    }
}

/// An ending for a person.
pub(super) fn ending(ending: &str) -> String {
    let known = match ending {
        "completed" => "completed",
        "released" => "released unchecked",
        "max_iters" => "last iteration",
        "no_progress" => "no progress",
        "budget_exceeded" => "budget used up",
        "context_canceled" => "canceled",
        "blocked" => "blocked",
        "error" => "error",
        "client_ended" => "client ended",
        "crashed" => "crashed",
        "unknown" => "not known",
        other => return other.to_owned(),
    };
    known.to_owned()
}

/// A task class for a person; not yet escaped.
pub(super) fn class(name: &str) -> &str {
    if name.is_empty() { "no class" } else { name }
}

/// A standing for a person.
pub(super) fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Met => "met",
        Standing::NotMet => "not met",
        Standing::Open => "open",
    }
}

/// A share of a whole; of nothing it is nothing.
pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        as_float(part) / as_float(whole)
    }
}

/// A count to draw with. Counts of runs are far below where this loses digits.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of runs are far below 2^52"
)]
pub(super) fn as_float(count: usize) -> f64 {
    count as f64
}

/// `1 run`, `2 runs`.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    let word = if count == 1 { one } else { many };
    format!("{} {word}", number::count(count as u64))
}

/// `3`, or `4 to 6`.
pub(super) fn range(from: u32, to: u32) -> String {
    if from >= to {
        number::count(from.into())
    } else {
        format!(
            "{} to {}",
            number::count(from.into()),
            number::count(to.into())
        )
    }
}

/// At most `most` things, evenly out of all of them, in their order.
pub(super) fn evenly<T>(all: &[T], most: usize) -> Vec<&T> {
    let shown = all.len().min(most);
    (0..shown)
        .filter_map(|index| all.get(index * all.len() / shown))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(low: f64, high: f64, p_adjusted: Option<f64>) -> Difference {
        Difference {
            estimate: f64::midpoint(low, high),
            interval: Some(Interval { low, high }),
            bounds: None,
            method: String::new(),
            p: p_adjusted,
            p_adjusted,
            test: None,
        }
    }

    fn meaning(better: Better, low: f64, high: f64) -> Meaning {
        Meaning::of(better, Some(&difference(low, high, None)))
    }

    #[test]
    fn a_metric_among_many_means_something_only_if_its_adjusted_p_value_says_so_too() {
        let of = |p| Meaning::of(Better::Lower, Some(&difference(-0.2, -0.1, Some(p))));
        assert_eq!(of(0.049), Meaning::Better);
        assert_eq!(of(0.05), Meaning::Unclear);
    }

    #[test]
    fn an_interval_that_ends_at_zero_means_something_only_if_the_test_says_so_too() {
        let of = |low, p| Meaning::of(Better::Lower, Some(&difference(low, 1.0, p)));
        assert_eq!(of(0.0, None), Meaning::Unclear);
        assert_eq!(of(0.0, Some(0.04)), Meaning::Worse);
        assert_eq!(of(-0.5, Some(0.04)), Meaning::Unclear);
    }

    #[test]
    fn a_difference_that_an_audit_could_turn_around_is_unclear() {
        let of = |low, high| {
            let found = Difference {
                bounds: Some(Interval { low, high }),
                ..difference(-0.2, -0.1, None)
            };
            Meaning::of(Better::Lower, Some(&found))
        };
        assert_eq!(of(-0.3, -0.05), Meaning::Better);
        assert_eq!(of(-0.3, 0.05), Meaning::Unclear);
    }

    #[test]
    fn a_difference_means_something_only_if_its_whole_interval_is_on_one_side() {
        assert_eq!(meaning(Better::Higher, 0.1, 0.2), Meaning::Better);
        assert_eq!(meaning(Better::Lower, 0.1, 0.2), Meaning::Worse);
        assert_eq!(meaning(Better::Lower, -0.2, -0.1), Meaning::Better);
        assert_eq!(meaning(Better::Neither, -0.2, -0.1), Meaning::Changed);
        assert_eq!(meaning(Better::Lower, -0.2, 0.0), Meaning::Unclear);
        assert_eq!(Meaning::of(Better::Lower, None), Meaning::Unknown);
    }

    #[test]
    fn an_estimate_without_an_interval_says_how_many_runs_are_missing() {
        let amount = Amount {
            known: 12,
            of: 14,
            median: Estimate::default(),
            p95: Estimate::default(),
            mean: Estimate::default(),
            total: None,
            unknown: Vec::new(),
        };
        let short = Estimate {
            value: Some(9.0),
            interval: None,
            needs: Some(59),
        };
        let cell = estimate(&short, &amount, "iterations");
        assert_eq!(cell.whole(), "too few data (12 of 59)");
        assert!(!cell.known);
        let none = estimate(&Estimate::default(), &amount, "iterations");
        assert_eq!(none.whole(), "not known");
    }

    #[test]
    fn a_part_is_taken_evenly_out_of_the_whole() {
        let all: Vec<usize> = (0..1000).collect();
        let some = evenly(&all, 200);
        assert_eq!(some.len(), 200);
        assert_eq!(some.first(), Some(&&0));
        assert_eq!(some.last(), Some(&&995));
        assert_eq!(evenly(&all[..3], 200), [&0, &1, &2]);
        assert!(evenly::<u8>(&[], 200).is_empty());
    }

    #[test]
    fn a_range_of_one_number_is_that_number() {
        assert_eq!(range(3, 3), "3");
        assert_eq!(range(4, 1000), "4 to 1,000");
    }
}
