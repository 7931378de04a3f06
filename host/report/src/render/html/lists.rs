//! What the numbers stand on: how runs were divided, what was not known, and what metrics count.

use crate::model::Report;
use crate::render::number;
use crate::render::text::html as escape;

use super::{capital, parts};

/// The division of runs, and what is missing.
pub(super) fn data(report: &Report) -> String {
    let ratio = &report.sample_ratio;
    let p = ratio
        .p
        .map(|p| format!(" (p {})", escape(&number::p(p))))
        .unwrap_or_default();
    let (class, sign) = match (ratio.applies, ratio.suspicious) {
        (_, true) => ("halt", "×"),
        (true, false) => ("go", "✓"),
        (false, false) => ("none", "–"),
    };
    let mut body = format!(
        "<h3>Sample ratio</h3>\n<p class=\"check {class}\"><span class=\"sign\" aria-hidden=\"true\">{sign}</span>\
         <span>{}{p}</span></p>\n<h3>Missing</h3>\n",
        escape(&capital(&ratio.message))
    );
    if report.missing.is_empty() {
        body.push_str("<p>Nothing is missing.</p>\n");
    } else {
        body.push_str("<div class=\"missing\">\n");
    }
    for (index, missing) in report.missing.iter().enumerate() {
        let place = format!("missing[{index}].runs");
        body.push_str(&parts::runs(
            report,
            &capital(&missing.message),
            &missing.runs,
            &place,
        ));
    }
    if !report.missing.is_empty() {
        body.push_str("</div>\n");
    }
    body.push_str(&amounts(report));
    body
}

/// How many runs say how much they used.
fn amounts(report: &Report) -> String {
    let mut lines = String::new();
    let mut lists = String::new();
    for (index, row) in report.overall.amounts.iter().enumerate() {
        lines.push_str(&format!(
            "<tr><th scope=\"row\">{}</th>",
            escape(&row.title)
        ));
        for (arm, amount) in [("before", &row.before), ("after", &row.after)] {
            let total = amount.total.map(|total| number::amount(total, &row.unit));
            lines.push_str(&format!(
                "<td class=\"n\">{} of {}</td><td class=\"n\">{}</td>",
                number::count(amount.known),
                number::count(amount.of),
                escape(total.as_deref().unwrap_or("–"))
            ));
            if !amount.unknown.is_empty() {
                let title = format!("{} not known, {arm}", row.title);
                let place = format!("overall.amounts[{index}].{arm}.unknown");
                lists.push_str(&parts::runs(report, &title, &amount.unknown, &place));
            }
        }
        lines.push_str("</tr>\n");
    }
    if lines.is_empty() {
        return String::new();
    }
    let head = [
        ("Amount", false),
        ("Known before", true),
        ("Total", true),
        ("Known after", true),
        ("Total", true),
    ];
    let table = parts::table(
        "plain",
        "Amounts: how many runs say how much",
        &head,
        &lines,
    );
    format!("<h3>Amounts</h3>\n{table}<div class=\"lists\">\n{lists}</div>\n")
}

/// What each metric counts.
pub(super) fn definitions(report: &Report) -> String {
    if report.definitions.is_empty() {
        return String::new();
    }
    let mut body = String::from("<dl class=\"definitions\">\n");
    for definition in &report.definitions {
        body.push_str(&format!(
            "<div><dt><code>{}</code></dt><dd>{}</dd></div>\n",
            escape(&definition.metric),
            escape(&definition.meaning)
        ));
    }
    body.push_str("</dl>\n");
    body
}
