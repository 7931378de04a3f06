//! How runs ended, how many iterations they took, and what became of each pair.

use crate::model::{Pair, Report};
use crate::render::number;
use crate::render::rows::{self, counted, evenly, share};
use crate::render::svg::{Part, Slopes, distribution, slopes, stacked};
use crate::render::text::{LONGEST_NAME, html as escape, name};
use crate::run::{Run, Truth};

use super::parts;

/// The most pairs that are drawn and listed.
const MOST_PAIRS: usize = 200;

/// Endings with a colour of their own.
const KNOWN: &[&str] = &[
    "completed",
    "released",
    "max_iters",
    "no_progress",
    "budget_exceeded",
    "context_canceled",
    "blocked",
    "error",
    "client_ended",
    "crashed",
];

/// A class for a colour: a name of ours, whatever the ending is called.
fn class_of(ending: &str) -> &'static str {
    let known = KNOWN.iter().find(|known| **known == ending);
    known.copied().unwrap_or("unknown")
}

/// Stacked endings of both arms, with the table that is their legend.
pub(super) fn endings(report: &Report) -> String {
    let endings = &report.overall.endings;
    if endings.is_empty() {
        return String::new();
    }
    let mut body = String::from("<figure>\n");
    let arms = [
        ("before", "Before", &report.before),
        ("after", "After", &report.after),
    ];
    for (id, title, arm) in arms {
        let of = arm.runs.len();
        let count = |index: usize| {
            let ending = endings.get(index);
            ending.map_or(0, |ending| match id {
                "before" => ending.before.len(),
                _ => ending.after.len(),
            })
        };
        let mut parts = Vec::new();
        let mut said = Vec::new();
        for (index, ending) in endings.iter().enumerate() {
            let part = share(count(index), of);
            if part > 0.0 {
                let shown = rows::ending(&ending.ending);
                said.push(format!("{shown} {}", number::percent(part)));
            }
            parts.push(Part {
                number: index + 1,
                class: class_of(&ending.ending),
                share: part,
            });
        }
        let runs = counted(of, "run", "runs");
        let drawn = stacked(
            &format!("endings-{id}"),
            &parts,
            &format!("How runs ended, {id}"),
            &format!("Of {runs}: {}.", said.join(", ")),
        );
        body.push_str(&format!(
            "<p class=\"bar-title\">{title}<span class=\"beside\">{} · {runs}</span></p>\n{drawn}\n",
            escape(&name(&arm.name, LONGEST_NAME))
        ));
    }
    body.push_str("<figcaption>Shares of the runs of each arm. The numbers are those of the table.</figcaption>\n</figure>\n");
    body.push_str(&ending_table(report));
    body.push_str(
        "<div class=\"behind\"><h3>Runs behind the endings</h3>\n<div class=\"lists\">\n",
    );
    for (index, ending) in endings.iter().enumerate() {
        for (arm, list) in [("before", &ending.before), ("after", &ending.after)] {
            let title = format!("{}, {arm}", rows::ending(&ending.ending));
            let place = format!("overall.endings[{index}].{arm}");
            body.push_str(&parts::runs(report, &title, list, &place));
        }
    }
    body.push_str("</div></div>\n");
    body
}

fn ending_table(report: &Report) -> String {
    let mut lines = String::new();
    for (index, ending) in report.overall.endings.iter().enumerate() {
        lines.push_str(&format!(
            "<tr><td class=\"swatch\"><span class=\"key e-{}\">{}</span></td><th scope=\"row\">{}</th>",
            class_of(&ending.ending),
            index + 1,
            escape(&name(&rows::ending(&ending.ending), LONGEST_NAME))
        ));
        for (runs, arm) in [
            (&ending.before, &report.before),
            (&ending.after, &report.after),
        ] {
            lines.push_str(&format!(
                "<td class=\"n\">{}</td><td class=\"n\">{}</td>",
                number::count(runs.len() as u64),
                number::percent(share(runs.len(), arm.runs.len()))
            ));
        }
        lines.push_str("</tr>\n");
    }
    let head = [
        ("No.", false),
        ("Ending", false),
        ("Before", true),
        ("Share", true),
        ("After", true),
        ("Share", true),
    ];
    parts::table("plain", "How runs ended", &head, &lines)
}

/// The distribution of iterations, with its numbers.
pub(super) fn iterations(report: &Report) -> String {
    let bins = &report.overall.iterations;
    if bins.is_empty() {
        return String::new();
    }
    let totals = [
        bins.iter().map(|bin| bin.before).sum::<u64>(),
        bins.iter().map(|bin| bin.after).sum::<u64>(),
    ];
    let part = |count: u64, of: u64| {
        let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        number::percent(share(size(count), size(of)))
    };
    let mut said = Vec::new();
    let mut lines = String::new();
    for bin in bins {
        let range = rows::range(bin.from, bin.to);
        let [before, after] = [part(bin.before, totals[0]), part(bin.after, totals[1])];
        said.push(format!("{range}: before {before}, after {after}"));
        lines.push_str(&format!(
            "<tr><th scope=\"row\">{range}</th><td class=\"n\">{}</td><td class=\"n\">{before}</td><td class=\"n\">{}</td><td class=\"n\">{after}</td></tr>\n",
            number::count(bin.before),
            number::count(bin.after)
        ));
    }
    let drawn = distribution(
        bins,
        "How many runs took how many iterations, in shares of each arm",
        &format!("Iterations: {}.", said.join("; ")),
    );
    let head = [
        ("Iterations", false),
        ("Before", true),
        ("Share", true),
        ("After", true),
        ("Share", true),
    ];
    format!(
        "<figure>\n{}{drawn}\n<figcaption>Shares of the runs of each arm whose iterations are known.</figcaption>\n</figure>\n\
         <details class=\"numbers\"><summary>The numbers behind this figure</summary>\n{}</details>\n",
        parts::legend(report),
        parts::table("plain", "Iterations per run", &head, &lines)
    )
}

/// Something that both runs of a pair used.
struct Used {
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    of: fn(&Run) -> Option<f64>,
}

const USED: &[Used] = &[
    Used {
        id: "slopes-iterations",
        title: "Iterations",
        unit: "iterations",
        of: |run| run.used.iterations.map(f64::from),
    },
    Used {
        id: "slopes-elapsed",
        title: "Time",
        unit: "ms",
        of: |run| run.used.elapsed_ms.map(float),
    },
    Used {
        id: "slopes-cost",
        title: "Cost",
        unit: "USD",
        of: |run| {
            let cost = run.used.cost_usd.as_deref()?;
            cost.parse().ok().filter(|cost: &f64| cost.is_finite())
        },
    },
];

#[expect(
    clippy::cast_precision_loss,
    reason = "it is drawn, and a pixel is coarser"
)]
fn float(number: u64) -> f64 {
    number as f64
}

/// Slopes from before to after, and what became of each pair.
pub(super) fn pairs(report: &Report) -> String {
    let all = &report.overall.pairs;
    if all.is_empty() {
        return String::new();
    }
    let shown: Vec<(&Pair, &Run, &Run)> = evenly(all, MOST_PAIRS)
        .into_iter()
        .filter_map(|pair| Some((pair, run(report, pair.before)?, run(report, pair.after)?)))
        .collect();
    let mut body = String::from(
        "<p>The same task before and after, a line each. Falling lines used less; the heavy line goes from median to median.</p>\n",
    );
    if all.len() > shown.len() {
        body.push_str(&format!(
            "<p class=\"note\">{} of {} pairs are drawn and listed, evenly out of all of them; all are in the JSON, in <code>overall.pairs</code>.</p>\n",
            number::count(shown.len() as u64),
            number::count(all.len() as u64)
        ));
    }
    body.push_str("<div class=\"multiples\">\n");
    for used in USED {
        body.push_str(&slope_figure(used, &shown));
    }
    body.push_str("</div>\n");
    body.push_str(&pair_table(&shown));
    body
}

fn run(report: &Report, place: u32) -> Option<&Run> {
    report.runs.get(usize::try_from(place).ok()?)
}

fn slope_figure(used: &Used, shown: &[(&Pair, &Run, &Run)]) -> String {
    let known: Vec<(f64, f64)> = shown
        .iter()
        .filter_map(|(_, before, after)| Some(((used.of)(before)?, (used.of)(after)?)))
        .collect();
    if known.is_empty() {
        return String::new();
    }
    let medians = (
        median(known.iter().map(|pair| pair.0)),
        median(known.iter().map(|pair| pair.1)),
    );
    let count = |keep: fn(&(f64, f64)) -> bool| {
        number::count(known.iter().filter(|pair| keep(pair)).count() as u64)
    };
    let said = format!(
        "Less in {}, the same in {}, more in {}. Median {} before, {} after.",
        count(|(before, after)| after < before),
        count(|(before, after)| after.total_cmp(before).is_eq()),
        count(|(before, after)| after > before),
        number::amount(medians.0, used.unit),
        number::amount(medians.1, used.unit)
    );
    let drawn = slopes(&Slopes {
        id: used.id,
        title: &format!(
            "{} of {}",
            used.title,
            counted(known.len(), "pair", "pairs")
        ),
        description: &said,
        unit: used.unit,
        pairs: &known,
        medians,
    });
    format!(
        "<figure>\n<h3>{}</h3>\n{drawn}\n<figcaption>{}</figcaption>\n</figure>\n",
        used.title,
        escape(&said)
    )
}

/// The middle, or the mean of the two in the middle.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    if sorted.len().is_multiple_of(2) && half > 0 {
        f64::midpoint(at(half - 1), at(half))
    } else {
        at(half)
    }
}

fn pair_table(shown: &[(&Pair, &Run, &Run)]) -> String {
    let mut lines = String::new();
    for (pair, before, after) in shown {
        lines.push_str(&format!(
            "<tr><th scope=\"row\"><code>{}</code></th>",
            escape(&name(&pair.name, LONGEST_NAME))
        ));
        for run in [before, after] {
            lines.push_str(&format!(
                "<td>{}<span class=\"detail\">{}</span></td>",
                rows::ending(run.ending.as_str()),
                truth(run.truth)
            ));
        }
        for used in USED {
            for run in [before, after] {
                let value = (used.of)(run).map(|value| number::amount(value, used.unit));
                lines.push_str(&format!(
                    "<td class=\"n\">{}</td>",
                    value.as_deref().unwrap_or("–")
                ));
            }
        }
        lines.push_str("</tr>\n");
    }
    let head = [
        ("Task", false),
        ("Before", false),
        ("After", false),
        ("Iterations before", true),
        ("after", true),
        ("Time before", true),
        ("after", true),
        ("Cost before", true),
        ("after", true),
    ];
    format!(
        "<details><summary>The numbers behind these figures</summary>\n{}</details>\n",
        parts::table("plain", "Pairs", &head, &lines)
    )
}

fn truth(truth: Truth) -> &'static str {
    match truth {
        Truth::Complete => "really complete",
        Truth::Incomplete => "not complete",
        Truth::Unknown => "truth not known",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_among_the_endings_gets_no_class_of_its_own() {
        assert_eq!(class_of("max_iters"), "max_iters");
        assert_eq!(class_of("x\" onload=\"y"), "unknown");
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        let of = |values: &[f64]| median(values.iter().copied());
        assert!((of(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((of(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
        assert!(of(&[]).abs() < 1e-12);
    }
}
