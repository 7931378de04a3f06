//! Pieces that all parts of the page are made of.

use crate::model::{Report, RunList};
use crate::render::number;
use crate::render::rows::{Cell, counted};
use crate::render::text::{LONGEST_NAME, html as escape, name};

/// The most runs that a list shows.
pub(super) const MOST_RUNS: usize = 50;

/// A table in a box of its own, which scrolls where a screen is too narrow.
pub(super) fn table(class: &str, caption: &str, head: &[(&str, bool)], rows: &str) -> String {
    let mut cells = String::new();
    for (text, is_number) in head {
        let class = if *is_number { " class=\"n\"" } else { "" };
        cells.push_str(&format!("<th scope=\"col\"{class}>{text}</th>"));
    }
    let label = escape(caption);
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">\
         <table class=\"{class}\"><caption>{label}</caption>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}

/// A cell with its number, and below it what belongs to it.
pub(super) fn two_lines(cell: &Cell) -> String {
    let mut value = escape(&cell.value);
    if !cell.known {
        value = format!("<span class=\"absent\">{value}</span>");
    }
    if cell.detail.is_empty() {
        value
    } else {
        format!(
            "{value}<span class=\"detail\">{}</span>",
            escape(&cell.detail)
        )
    }
}

/// A count that opens to the runs behind it. `place` is where the JSON has all of them.
pub(super) fn runs(report: &Report, title: &str, list: &RunList, place: &str) -> String {
    let title = escape(title);
    if list.is_empty() {
        return format!("<p class=\"no-runs\">{title}<span class=\"count\">0</span></p>\n");
    }
    let mut items = String::new();
    for place in list.iter().take(MOST_RUNS) {
        let run = usize::try_from(*place)
            .ok()
            .and_then(|place| report.runs.get(place));
        let id = run.map_or("not in the report", |run| run.id.as_str());
        items.push_str(&format!(
            "<li><code>{}</code></li>",
            escape(&name(id, LONGEST_NAME))
        ));
    }
    let more = list.len().saturating_sub(MOST_RUNS);
    let rest = if more > 0 {
        format!(
            "<p class=\"note\">and {}: <code>{}</code> in the JSON</p>",
            counted(more, "more", "more"),
            escape(place)
        )
    } else {
        String::new()
    };
    format!(
        "<details class=\"runs\"><summary>{title}<span class=\"count\">{}</span></summary><ul class=\"ids\">{items}</ul>{rest}</details>\n",
        number::count(list.len() as u64)
    )
}

/// Which colour is which arm.
pub(super) fn legend(report: &Report) -> String {
    let key = |class: &str, title: &str, arm: &str| {
        format!(
            "<li><span class=\"key {class}\" aria-hidden=\"true\"></span>{title}: <code>{}</code></li>",
            escape(&name(arm, LONGEST_NAME))
        )
    };
    format!(
        "<ul class=\"legend\">{}{}</ul>\n",
        key("before", "before", &report.before.name),
        key("after", "after", &report.after.name)
    )
}
