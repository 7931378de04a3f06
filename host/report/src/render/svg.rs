//! Drawings of a report. Positions across are shares of the width, so that a drawing fits every screen and its letters and
//! dots keep their size.

use crate::model::{Better, Bin, Interval};

use super::number;
use super::rows::{Meaning, as_float, range};
use super::text::html as escape;

/// How high a row of the forest plot is where nothing else says so.
const STRIP: u32 = 60;
/// Where the bars of a distribution begin and end, from above.
const PLOT: (f64, f64) = (26.0, 206.0);
/// How high a distribution is.
const DISTRIBUTION: u32 = 236;
/// How high slopes are.
const SLOPES: u32 = 280;
/// Where slopes begin and end, from above.
const SLOPE: (f64, f64) = (22.0, 256.0);
/// Where the arms stand in slopes.
const SLOPE_SIDES: (f64, f64) = (0.22, 0.97);
/// With more bars than this, every other one is named on small screens.
const MANY_BINS: usize = 7;

/// A drawing with a text that says the same.
fn drawing(
    id: &str,
    class: &str,
    height: u32,
    title: &str,
    description: &str,
    body: &str,
) -> String {
    let (title, described) = (escape(title), escape(description));
    let labels = if description.is_empty() {
        format!("aria-labelledby=\"{id}-t\"><title id=\"{id}-t\">{title}</title>")
    } else {
        format!(
            "aria-labelledby=\"{id}-t {id}-d\"><title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{described}</desc>"
        )
    };
    format!(
        "<svg class=\"{class}\" role=\"img\" width=\"100%\" height=\"{height}\" {labels}{body}</svg>"
    )
}

/// A share of the width. What is no number is on the left.
fn across(share: f64) -> String {
    let share = if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.0
    };
    format!("{:.2}%", share * 100.0)
}

/// A range of numbers on paper, with marks at round ones.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    marks: Vec<f64>,
}

impl Axis {
    /// An axis with zero and all of these on it.
    pub(super) fn of(values: impl Iterator<Item = f64>, least: f64) -> Self {
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for value in values.filter(|value| value.is_finite()) {
            low = low.min(value);
            high = high.max(value);
        }
        if high - low < least {
            (low, high) = (low - least / 2.0, high + least / 2.0);
        }
        let room = (high - low) * 0.04;
        Self::between(
            if low < 0.0 { low - room } else { low },
            if high > 0.0 { high + room } else { high },
        )
    }

    fn between(low: f64, high: f64) -> Self {
        Self::marked(
            low,
            high,
            round_step((high - low) / 4.0, &[1.0, 2.0, 2.5, 5.0, 10.0]),
        )
    }

    fn marked(low: f64, high: f64, step: f64) -> Self {
        let first = (low / step).ceil();
        let last = (high / step).floor();
        let mut marks = Vec::new();
        let mut at = first;
        while at <= last && marks.len() < 12 {
            marks.push(at * step);
            at += 1.0;
        }
        Self { low, high, marks }
    }

    /// From zero to a round number that is not below these.
    fn from_zero(values: impl Iterator<Item = f64>, unit: &str) -> Self {
        let high = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        let high = if high > 0.0 { high } else { 1.0 };
        let step = match unit {
            "ms" => time_step(high / 4.0),
            _ => round_step(high / 4.0, &[1.0, 2.0, 5.0, 10.0]),
        };
        Self::marked(0.0, (high / step).ceil() * step, step)
    }

    fn place(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// The next round number that is not below: one of `steps` times a power of ten.
fn round_step(least: f64, steps: &[f64]) -> f64 {
    if !(least.is_finite() && least > 0.0) {
        return 1.0;
    }
    let mut unit = 1.0;
    while unit > least && unit > 1e-9 {
        unit /= 10.0;
    }
    while unit * 10.0 <= least && unit < 1e300 {
        unit *= 10.0;
    }
    let mut steps = steps.iter().map(|step| step * unit);
    let step = steps.find(|step| *step >= least * 0.999_999);
    step.unwrap_or(unit * 10.0)
}

/// The next round time that is not below, in milliseconds.
fn time_step(least: f64) -> f64 {
    let seconds = [
        1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0,
    ];
    let mut round = seconds.into_iter().map(|seconds| seconds * 1000.0);
    if least < 500.0 {
        return round_step(least, &[1.0, 2.0, 5.0, 10.0]);
    }
    let step = round.find(|step| *step >= least);
    step.unwrap_or_else(|| round_step(least / 3_600_000.0, &[1.0, 2.0, 5.0, 10.0]) * 3_600_000.0)
}

/// One row of the forest plot.
pub(super) struct Strip<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) better: Better,
    pub(super) meaning: Meaning,
    /// None: too few data.
    pub(super) found: Option<(f64, Interval)>,
    pub(super) primary: bool,
}

/// Estimate, interval, zero, and which side is better. It fills the row, however high that is.
pub(super) fn strip(strip: &Strip, axis: &Axis) -> String {
    let zero = axis.place(0.0);
    let mut body = String::new();
    for mark in &axis.marks {
        let x = across(axis.place(*mark));
        body.push_str(&format!(
            "<line class=\"grid\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"100%\"/>"
        ));
    }
    let side = match strip.better {
        Better::Higher => Some((zero, 1.0 - zero)),
        Better::Lower => Some((0.0, zero)),
        Better::Neither => None,
    };
    if let Some((x, width)) = side {
        let (x, width) = (across(x), across(width));
        body.push_str(&format!(
            "<rect class=\"side\" x=\"{x}\" y=\"0\" width=\"{width}\" height=\"100%\"/>"
        ));
    }
    let x = across(zero);
    body.push_str(&format!(
        "<line class=\"zero\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"100%\"/>"
    ));
    if let Some((estimate, interval)) = strip.found {
        let class = meaning_class(strip.meaning);
        let (low, high) = (
            across(axis.place(interval.low)),
            across(axis.place(interval.high)),
        );
        // A drawing within the drawing, because only so lengths in pixels begin in the middle.
        body.push_str(&format!(
            "<svg class=\"{class}\" y=\"50%\" overflow=\"visible\" aria-hidden=\"true\">\
             <line class=\"ci\" x1=\"{low}\" x2=\"{high}\" y1=\"0\" y2=\"0\"/>\
             <line class=\"cap\" x1=\"{low}\" x2=\"{low}\" y1=\"-5\" y2=\"5\"/>\
             <line class=\"cap\" x1=\"{high}\" x2=\"{high}\" y1=\"-5\" y2=\"5\"/>"
        ));
        body.push_str(&marker(strip, &across(axis.place(estimate))));
        body.push_str("</svg>");
    }
    drawing(strip.id, "strip", STRIP, strip.title, "", &body)
}

/// A dot for better, a square for worse, a ring where nothing is clear: not by colour alone.
fn marker(strip: &Strip, x: &str) -> String {
    let size = if strip.primary { 6.5 } else { 5.0 };
    match strip.meaning {
        Meaning::Worse => {
            let edge = size * 1.8;
            let half = size * 0.9;
            format!(
                "<rect class=\"dot\" x=\"{x}\" y=\"-{half:.1}\" width=\"{edge:.1}\" height=\"{edge:.1}\" transform=\"translate(-{half:.1} 0)\"/>"
            )
        }
        Meaning::Unclear => format!("<circle class=\"ring\" cx=\"{x}\" cy=\"0\" r=\"{size}\"/>"),
        _ => format!("<circle class=\"dot\" cx=\"{x}\" cy=\"0\" r=\"{size}\"/>"),
    }
}

fn meaning_class(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Better => "better",
        Meaning::Worse => "worse",
        Meaning::Changed | Meaning::Unclear | Meaning::Unknown => "unclear",
    }
}

/// The numbers below a forest plot. Each row says them in words, so this is only for the eye.
pub(super) fn axis(axis: &Axis, unit: &str) -> String {
    let mut body = String::new();
    for mark in &axis.marks {
        let place = axis.place(*mark);
        let anchor = anchor(place);
        let x = across(place);
        body.push_str(&format!(
            "<text class=\"tick\" x=\"{x}\" y=\"14\" text-anchor=\"{anchor}\">{}</text>",
            escape(&number::mark(*mark, unit))
        ));
    }
    format!("<svg class=\"axis\" aria-hidden=\"true\" width=\"100%\" height=\"20\">{body}</svg>")
}

/// Letters at the edge stay inside.
fn anchor(place: f64) -> &'static str {
    if place < 0.02 {
        "start"
    } else if place > 0.98 {
        "end"
    } else {
        "middle"
    }
}

/// How many runs took how many iterations: two bars each, in shares of the arm.
pub(super) fn distribution(bins: &[Bin], title: &str, description: &str) -> String {
    let total = |count: fn(&Bin) -> u64| bins.iter().map(count).sum::<u64>();
    let totals = [total(|bin| bin.before), total(|bin| bin.after)];
    let shares: Vec<[f64; 2]> = bins
        .iter()
        .map(|bin| [of(bin.before, totals[0]), of(bin.after, totals[1])])
        .collect();
    let axis = Axis::from_zero(shares.iter().flatten().copied(), "%");
    let (top, bottom) = PLOT;
    let y = |share: f64| bottom - axis.place(share) * (bottom - top);
    let mut body = String::new();
    for mark in &axis.marks {
        let y = y(*mark);
        let class = if *mark > 0.0 { "grid" } else { "zero" };
        body.push_str(&format!(
            "<line class=\"{class}\" x1=\"0%\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"tick\" x=\"0\" y=\"{:.1}\">{}</text>",
            y - 4.0,
            number::mark(*mark, "%")
        ));
    }
    // The numbers of the axis stand on the left, above their lines; bars begin to the right of them.
    let left = 0.09;
    let step = (1.0 - left) / as_float(bins.len().max(1));
    for (index, (bin, shares)) in bins.iter().zip(&shares).enumerate() {
        let start = left + step * as_float(index);
        for (arm, (share, class)) in shares.iter().zip(["before", "after"]).enumerate() {
            let x = across(start + step * (0.12 + 0.38 * as_float(arm)));
            let width = across(step * 0.36);
            let above = y(*share);
            body.push_str(&format!(
                "<rect class=\"{class}\" x=\"{x}\" y=\"{above:.1}\" width=\"{width}\" height=\"{:.1}\"/>",
                bottom - above
            ));
        }
        let x = across(start + step * 0.5);
        let class = if index % 2 == 1 && bins.len() > MANY_BINS {
            "tick every-other"
        } else {
            "tick"
        };
        body.push_str(&format!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 18.0,
            range(bin.from, bin.to).replace(" to ", "–")
        ));
    }
    drawing(
        "iterations",
        "plot",
        DISTRIBUTION,
        title,
        description,
        &body,
    )
}

fn of(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    let float = |count: u64| as_float(usize::try_from(count).unwrap_or(usize::MAX));
    float(part) / float(whole)
}

/// A part of a stacked bar: which number it has in the legend, its class, and its share.
pub(super) struct Part<'a> {
    pub(super) number: usize,
    pub(super) class: &'a str,
    pub(super) share: f64,
}

/// Parts in a row, each with its number where there is room.
pub(super) fn stacked(id: &str, parts: &[Part], title: &str, description: &str) -> String {
    let mut body = String::new();
    let mut start = 0.0;
    for part in parts.iter().filter(|part| part.share > 0.0) {
        let (x, width) = (across(start), across(part.share));
        body.push_str(&format!(
            "<rect class=\"part e-{}\" x=\"{x}\" y=\"0\" width=\"{width}\" height=\"36\"/>",
            part.class
        ));
        if part.share >= 0.045 {
            let x = across(start + part.share / 2.0);
            body.push_str(&format!(
                "<text class=\"part-number\" x=\"{x}\" y=\"22.5\" text-anchor=\"middle\">{}</text>",
                part.number
            ));
        }
        start += part.share;
    }
    drawing(id, "stacked", 36, title, description, &body)
}

/// One line per pair, from before to after, and a heavy one from median to median.
pub(super) struct Slopes<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    pub(super) unit: &'a str,
    pub(super) pairs: &'a [(f64, f64)],
    pub(super) medians: (f64, f64),
}

/// Draws slopes.
pub(super) fn slopes(slopes: &Slopes) -> String {
    let values = slopes
        .pairs
        .iter()
        .flat_map(|(before, after)| [*before, *after]);
    let axis = Axis::from_zero(values, slopes.unit);
    let (top, bottom) = SLOPE;
    let y = |value: f64| bottom - axis.place(value).clamp(0.0, 1.0) * (bottom - top);
    let (left, right) = (across(SLOPE_SIDES.0), across(SLOPE_SIDES.1));
    let mut body = String::new();
    for mark in &axis.marks {
        let y = y(*mark);
        body.push_str(&format!(
            "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"tick\" x=\"0\" y=\"{:.1}\">{}</text>",
            y + 4.0,
            escape(&number::mark(*mark, slopes.unit))
        ));
    }
    for (x, anchor, name) in [(&left, "start", "before"), (&right, "end", "after")] {
        body.push_str(&format!(
            "<text class=\"side-name\" x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{name}</text>",
            bottom + 20.0
        ));
    }
    for (before, after) in slopes.pairs {
        let class = if after < before {
            "less"
        } else if after > before {
            "more"
        } else {
            "same"
        };
        let (one, other) = (y(*before), y(*after));
        body.push_str(&format!(
            "<line class=\"slope {class}\" x1=\"{left}\" x2=\"{right}\" y1=\"{one:.1}\" y2=\"{other:.1}\"/>"
        ));
    }
    let (one, other) = (y(slopes.medians.0), y(slopes.medians.1));
    body.push_str(&format!(
        "<line class=\"median\" x1=\"{left}\" x2=\"{right}\" y1=\"{one:.1}\" y2=\"{other:.1}\"/>\
         <circle class=\"median-dot\" cx=\"{left}\" cy=\"{one:.1}\" r=\"5\"/>\
         <circle class=\"median-dot\" cx=\"{right}\" cy=\"{other:.1}\" r=\"5\"/>"
    ));
    drawing(
        slopes.id,
        "slopes",
        SLOPES,
        slopes.title,
        slopes.description,
        &body,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_zero_on_it_and_round_marks() {
        let axis = Axis::of([-0.38, -0.09].into_iter(), 0.1);
        assert!(axis.place(0.0) <= 1.0 && axis.place(-0.38) > 0.0);
        assert!(axis.marks.iter().any(|mark| mark.abs() < 1e-12));
        assert!(axis.marks.len() >= 3 && axis.marks.len() <= 7, "{axis:?}");
    }

    #[test]
    fn steps_are_one_two_or_five_times_a_power_of_ten() {
        let step = |least| round_step(least, &[1.0, 2.0, 5.0, 10.0]);
        assert!((step(0.013) - 0.02).abs() < 1e-9);
        assert!((step(3.0) - 5.0).abs() < 1e-9);
        assert!((step(10.0) - 10.0).abs() < 1e-9);
        assert!((step(f64::NAN) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn steps_of_time_are_those_of_a_clock() {
        assert!((time_step(110_000.0) - 120_000.0).abs() < 1e-9);
        assert!((time_step(3_000.0) - 5_000.0).abs() < 1e-9);
        assert!((time_step(3_700_000.0) - 7_200_000.0).abs() < 1e-9);
        assert!((time_step(30.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn no_number_breaks_a_drawing() {
        for value in [f64::NAN, f64::INFINITY, -1e300, 1e300, 0.0] {
            let axis = Axis::of([value].into_iter(), 0.1);
            let interval = Interval {
                low: value,
                high: value,
            };
            let drawn = strip(
                &Strip {
                    id: "s",
                    title: "t",
                    better: Better::Lower,
                    meaning: Meaning::Unclear,
                    found: Some((value, interval)),
                    primary: false,
                },
                &axis,
            );
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        }
    }
}
