//! Differences as a forest plot, overall and by task class.

use crate::model::{Better, Interval, Report};
use crate::render::number;
use crate::render::rows::{self, Meaning, Row, amount_rows, rate_row, rows};
use crate::render::svg::{Axis, Strip, axis, strip};
use crate::render::text::{LONGEST_NAME, html as escape, name};

use super::parts;

/// The most task classes that are shown.
const MOST_CLASSES: usize = 100;
/// An axis shows at least so much, or noise would look like news.
const LEAST: f64 = 0.1;

/// All metrics over all runs.
pub(super) fn metrics(report: &Report) -> String {
    let overall = &report.overall;
    let rates: Vec<Row> = overall.rates.iter().map(rate_row).collect();
    let amounts: Vec<Row> = overall.amounts.iter().flat_map(amount_rows).collect();
    let mut body = String::from(
        "<p>After minus before, with 95 % intervals. The tinted side is the better one. \
         <span class=\"marks\">A <b class=\"better\">●</b> dot is clearly better, a <b class=\"worse\">■</b> square clearly worse, \
         a <b>○</b> ring not clear: its interval reaches over zero, its adjusted p value is 0.05 or more, or an audit of more \
         completions could turn it around.</span></p>\n",
    );
    if !rates.is_empty() {
        let caption = "Shares of runs, differences in percentage points";
        body.push_str(&forest("share", caption, "Metric", &rates, "points"));
    }
    for note in rows::notes(overall) {
        body.push_str(&format!("<p class=\"note\">{}</p>\n", escape(&note)));
    }
    if !amounts.is_empty() {
        let caption = "Amounts per run: less is better; drawn in percent of the amount before";
        body.push_str(&forest("amount", caption, "Metric", &amounts, "change"));
    }
    body.push_str(&tests(&rows(overall)));
    body.push_str("<div class=\"behind\"><h3>Runs behind the shares</h3>\n<div class=\"lists\">\n");
    for (index, row) in overall.rates.iter().enumerate() {
        for (arm, rate) in [("before", &row.before), ("after", &row.after)] {
            let title = format!("{}, {arm}", row.title);
            let place = format!("overall.rates[{index}].{arm}.runs");
            body.push_str(&parts::runs(report, &title, &rate.runs, &place));
        }
    }
    body.push_str("</div></div>\n");
    body
}

/// A table whose rows are drawn, too. Roles are said in full, because on a phone its rows are laid out in another way.
fn forest(id: &str, caption: &str, first: &str, rows: &[Row], unit: &str) -> String {
    let found: Vec<Option<(f64, Interval)>> = rows.iter().map(drawn).collect();
    let values = found
        .iter()
        .flatten()
        .flat_map(|(estimate, interval)| [*estimate, interval.low, interval.high]);
    let scale = Axis::of(values, LEAST);
    let mut body = String::new();
    for (index, (row, found)) in rows.iter().zip(found).enumerate() {
        body.push_str(&forest_row(&format!("{id}-{index}"), row, found, &scale));
    }
    let label = escape(caption);
    let mut head = String::new();
    for (text, class) in [
        (first, ""),
        ("Before", "n"),
        ("After", "n"),
        ("After minus before", "plot"),
        ("Difference", "n"),
        ("Meaning", "m"),
        ("p", "n"),
    ] {
        head.push_str(&format!(
            "<th scope=\"col\" role=\"columnheader\" class=\"{class}\">{text}</th>"
        ));
    }
    format!(
        "<table class=\"forest\" role=\"table\"><caption>{label}</caption>\n\
         <thead role=\"rowgroup\"><tr role=\"row\">{head}</tr></thead>\n<tbody role=\"rowgroup\">\n{body}</tbody>\n\
         <tfoot aria-hidden=\"true\"><tr><td></td><td></td><td></td><td class=\"plot\">{}</td><td></td><td></td><td></td></tr></tfoot></table>\n",
        axis(&scale, unit)
    )
}

/// What is drawn: the difference, divided where amounts of several units share an axis.
fn drawn(row: &Row) -> Option<(f64, Interval)> {
    let source = row.source?;
    let interval = source.interval?;
    let scale = row.scale?;
    let scaled = Interval {
        low: interval.low / scale,
        high: interval.high / scale,
    };
    Some((source.estimate / scale, scaled))
}

fn forest_row(id: &str, row: &Row, found: Option<(f64, Interval)>, scale: &Axis) -> String {
    let title = name(&row.title, LONGEST_NAME);
    let meaning = row.meaning.title();
    let said = if row.difference.known {
        format!("{title}: {}, {meaning}", row.difference.whole())
    } else {
        format!("{title}: {}", row.difference.whole())
    };
    let picture = strip(
        &Strip {
            id,
            title: &said,
            better: row.better,
            meaning: row.meaning,
            found,
            primary: row.primary,
        },
        scale,
    );
    let class = match row.meaning {
        Meaning::Better => "better",
        Meaning::Worse => "worse",
        _ => "unclear",
    };
    let primary = if row.primary {
        "<span class=\"primary\">primary</span>"
    } else {
        ""
    };
    let direction = match row.better {
        Better::Higher | Better::Lower if row.says_direction => {
            format!("<span class=\"detail\">{}</span>", rows::better(row.better))
        }
        _ => String::new(),
    };
    let p = row.p.map_or_else(|| "–".to_owned(), number::p);
    let said = if row.difference.known { meaning } else { "–" };
    format!(
        "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">{}{primary}{direction}</th>\
         <td role=\"cell\" class=\"n b\">{}</td><td role=\"cell\" class=\"n a\">{}</td>\
         <td role=\"cell\" class=\"plot\">{picture}</td><td role=\"cell\" class=\"n d\">{}</td>\
         <td role=\"cell\" class=\"m {class}\">{said}</td><td role=\"cell\" class=\"n p\">{}</td></tr>\n",
        escape(&title),
        arm(row, &row.before),
        arm(row, &row.after),
        parts::two_lines(&row.difference),
        escape(&p)
    )
}

/// The number of an arm. How sure an amount is stands with the methods: here the difference matters.
fn arm(row: &Row, cell: &rows::Cell) -> String {
    if row.is_share || !cell.known {
        parts::two_lines(cell)
    } else {
        escape(&cell.value)
    }
}

/// How intervals and p values were made.
fn tests(all: &[Row]) -> String {
    let mut lines = String::new();
    let mut any_primary = false;
    for row in all {
        let Some(source) = row.source else { continue };
        any_primary |= row.primary;
        let p = |p: Option<f64>| p.map_or_else(|| "–".to_owned(), number::p);
        lines.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
            escape(&name(&row.title, LONGEST_NAME)),
            escape(&row.before.interval),
            escape(&row.after.interval),
            escape(&source.method),
            escape(source.test.as_deref().unwrap_or("–")),
            escape(&p(source.p)),
            escape(&p(source.p_adjusted)),
        ));
    }
    if lines.is_empty() {
        return String::new();
    }
    let head = [
        ("Metric", false),
        ("95 % before", true),
        ("95 % after", true),
        ("Interval of the difference", false),
        ("Test", false),
        ("p", true),
        ("p, adjusted", true),
    ];
    let note = if any_primary {
        "The primary metric was chosen before the experiment, and its p value stands as it is. Those of the others are adjusted by Holm's method."
    } else {
        "No metric was chosen before the experiment: all p values are adjusted by Holm's method."
    };
    format!(
        "<details class=\"numbers\"><summary>How intervals and p values were made</summary>\n<p class=\"note\">{note}</p>\n{}</details>\n",
        parts::table(
            "plain",
            "Intervals of each arm, and how differences were tested",
            &head,
            &lines
        )
    )
}

/// Each task class: the primary metric drawn, all of them in a table, and the runs behind its shares.
pub(super) fn classes(report: &Report) -> String {
    if report.classes.is_empty() {
        return String::new();
    }
    let shown = || report.classes.iter().take(MOST_CLASSES);
    let mut body = String::new();
    let more = report.classes.len().saturating_sub(MOST_CLASSES);
    if more > 0 {
        body.push_str(&format!(
            "<p class=\"note\">The first {MOST_CLASSES} of {} classes. The others are in the JSON, in <code>classes</code>.</p>\n",
            number::count(report.classes.len() as u64)
        ));
    }
    let primary = report.overall.rates.iter().find(|row| row.primary);
    let primary = primary.or(report.overall.rates.first());
    if let Some(primary) = primary {
        let of_classes: Vec<Row> = shown()
            .filter_map(|class| {
                let mut rates = class.comparison.rates.iter();
                let rate = rates.find(|rate| rate.metric == primary.metric)?;
                let mut row = rate_row(rate);
                rows::class(&class.name).clone_into(&mut row.title);
                row.primary = false;
                row.says_direction = false;
                Some(row)
            })
            .collect();
        let caption = format!(
            "{} by class: {}; differences in percentage points",
            primary.title,
            rows::better(primary.better)
        );
        body.push_str(&forest("class", &caption, "Class", &of_classes, "points"));
    }
    body.push_str(&class_table(report));
    body.push_str("<div class=\"behind\"><h3>Runs behind the shares of each class</h3>\n<div class=\"of-classes\">\n");
    for (class_index, class) in shown().enumerate() {
        let title = escape(&name(rows::class(&class.name), LONGEST_NAME));
        body.push_str(&format!(
            "<details class=\"runs\"><summary>{title}</summary><div class=\"lists\">\n"
        ));
        for (index, row) in class.comparison.rates.iter().enumerate() {
            for (arm, rate) in [("before", &row.before), ("after", &row.after)] {
                let title = format!("{}, {arm}", row.title);
                let place = format!("classes[{class_index}].comparison.rates[{index}].{arm}.runs");
                body.push_str(&parts::runs(report, &title, &rate.runs, &place));
            }
        }
        body.push_str("</div></details>\n");
    }
    body.push_str("</div></div>\n");
    body
}

/// One row for each class and metric.
fn class_table(report: &Report) -> String {
    let mut lines = String::new();
    for class in report.classes.iter().take(MOST_CLASSES) {
        let all = rows(&class.comparison);
        for (index, row) in all.iter().enumerate() {
            let head = if index == 0 {
                format!(
                    "<th scope=\"rowgroup\" rowspan=\"{}\">{}</th>",
                    all.len(),
                    escape(&name(rows::class(&class.name), LONGEST_NAME))
                )
            } else {
                String::new()
            };
            let first = if index == 0 { " class=\"first\"" } else { "" };
            lines.push_str(&format!(
                "<tr{first}>{head}<th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
                escape(&name(&row.title, LONGEST_NAME)),
                one_line(&row.before),
                one_line(&row.after),
                one_line(&row.difference),
                if row.difference.known { row.meaning.title() } else { "" },
            ));
        }
    }
    let head = [
        ("Class", false),
        ("Metric", false),
        ("Before", true),
        ("After", true),
        ("Difference", true),
        ("Meaning", false),
    ];
    format!(
        "<details><summary>All metrics of each class</summary>\n{}</details>\n",
        parts::table("plain groups", "All metrics of each class", &head, &lines)
    )
}

fn one_line(cell: &rows::Cell) -> String {
    if !cell.known {
        return format!("<span class=\"absent\">{}</span>", escape(&cell.whole()));
    }
    let value = escape(&cell.value);
    if cell.detail.is_empty() {
        value
    } else {
        format!(
            "{value} <span class=\"beside\">({})</span>",
            escape(&cell.detail)
        )
    }
}
