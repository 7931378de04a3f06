//! The report as one page: a file that needs nothing else, no network, no script.

mod comparison;
mod figures;
mod lists;
mod parts;

use crate::model::{Outcome, Report, Standing};

use super::json::embedded;
use super::number;
use super::rows::{self, counted};
use super::text::{LONGEST_NAME, html as escape, name};

/// How it looks. `</` does not occur in it: a test sees to that.
const STYLE: &str = include_str!("style.css");

/// The digest of the page's style, by which a policy lets it in, and no other: also that of a page that shows a report in a
/// frame. A test says what it must be.
pub const STYLE_HASH: &str = "sha256-0Oo3hJ3qUGilLYWxsybVjQcw6ne9JSRVXEc8sPXMhz4=";

/// The report as one page that can be opened, printed and sent as it is.
pub fn html(report: &Report) -> String {
    let data = embedded(report);
    let mut page = String::with_capacity(data.len() + 256 * 1024);
    head(&mut page, report);
    page.push_str("<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n");
    header(&mut page, report);
    let sections = sections(report);
    navigation(&mut page, &sections);
    page.push_str("<main id=\"main\" tabindex=\"-1\">\n");
    for section in &sections {
        page.push_str(&format!(
            "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n{}</section>\n",
            section.title,
            section.body,
            id = section.id
        ));
    }
    page.push_str("</main>\n");
    footer(&mut page, report);
    page.push_str("<script type=\"application/json\" id=\"report\">");
    page.push_str(&data);
    page.push_str("</script>\n</body>\n</html>\n");
    page
}

/// A part of the page under a heading of its own.
struct Section {
    id: &'static str,
    title: &'static str,
    body: String,
}

fn sections(report: &Report) -> Vec<Section> {
    let all = [
        ("arithmetic", "The decision", decision(report)),
        ("metrics", "Differences", comparison::metrics(report)),
        ("classes", "Task classes", comparison::classes(report)),
        ("endings", "How runs ended", figures::endings(report)),
        ("per-run", "Iterations per run", figures::iterations(report)),
        ("pairs", "Pairs", figures::pairs(report)),
        ("data", "Data and what is missing", lists::data(report)),
        ("definitions", "Definitions", lists::definitions(report)),
    ];
    let shown = all.into_iter().filter(|(_, _, body)| !body.is_empty());
    shown
        .map(|(id, title, body)| Section { id, title, body })
        .collect()
}

fn head(page: &mut String, report: &Report) {
    let title = format!(
        "{}: {} against {}",
        capital(report.decision.outcome.title()),
        name(&report.after.name, LONGEST_NAME),
        name(&report.before.name, LONGEST_NAME)
    );
    page.push_str(&format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{STYLE_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n",
        escape(&title)
    ));
}

fn header(page: &mut String, report: &Report) {
    let decision = &report.decision;
    let (class, sign) = match decision.outcome {
        Outcome::DefaultOn => ("go", "✓"),
        Outcome::KeepOptIn => ("halt", "×"),
        Outcome::NotEnoughData => ("hold", "?"),
    };
    page.push_str(&format!(
        "<header>\n<p class=\"eyebrow\">Effectiveness report</p>\n\
         <h1 class=\"{class}\"><span class=\"sign\" aria-hidden=\"true\">{sign}</span>{}</h1>\n\
         <p class=\"lede\">{}</p>\n<dl class=\"facts\">\n",
        capital(decision.outcome.title()),
        escape(&capital(&decision.message))
    ));
    let mut fact = |class: &str, term: &str, what: &str, detail: &str| {
        page.push_str(&format!(
            "<div class=\"{class}\"><dt>{term}</dt><dd>{what}<span class=\"detail\">{}</span></dd></div>\n",
            escape(detail)
        ));
    };
    for (class, term, arm) in [
        ("before", "Before", &report.before),
        ("after", "After", &report.after),
    ] {
        let shown = escape(&name(&arm.name, LONGEST_NAME));
        let runs = counted(arm.runs.len(), "run", "runs");
        fact(class, term, &format!("<code>{shown}</code>"), &runs);
    }
    let pairing = &report.pairing;
    let pairs = if pairing.paired {
        format!("{} pairs", number::count(pairing.pairs))
    } else {
        "Not paired".to_owned()
    };
    fact("pairing", "Compared", &pairs, &pairing.reason);
    page.push_str("</dl>\n</header>\n");
}

fn navigation(page: &mut String, sections: &[Section]) {
    page.push_str("<nav aria-label=\"Sections\">\n<ul>\n");
    for section in sections {
        let (id, title) = (section.id, section.title);
        page.push_str(&format!("<li><a href=\"#{id}\">{title}</a></li>\n"));
    }
    page.push_str("</ul>\n</nav>\n");
}

fn decision(report: &Report) -> String {
    let decision = &report.decision;
    let mut body = String::new();
    if decision.steps.is_empty() {
        body.push_str("<p>No condition was set.</p>\n");
    } else {
        body.push_str("<ol class=\"steps\">\n");
    }
    for step in &decision.steps {
        let (class, sign) = match step.standing {
            Standing::Met => ("go", "✓"),
            Standing::NotMet => ("halt", "×"),
            Standing::Open => ("hold", "?"),
        };
        body.push_str(&format!(
            "<li><p class=\"standing {class}\"><span class=\"sign\" aria-hidden=\"true\">{sign}</span>{}</p>\
             <div><p class=\"condition\">{}</p><p class=\"arithmetic\">{}</p></div></li>\n",
            capital(rows::standing(step.standing)),
            escape(&capital(&step.condition)),
            escape(&step.arithmetic)
        ));
    }
    if !decision.steps.is_empty() {
        body.push_str("</ol>\n");
    }
    if let Some(needed) = decision.needed_per_arm {
        body.push_str(&format!(
            "<p>About <strong>{} runs in each arm</strong> would settle it, if they go like these.</p>\n",
            number::count(needed)
        ));
    }
    body
}

fn footer(page: &mut String, report: &Report) {
    page.push_str(&format!(
        "<footer>\n<p>Made by <code>ralph-gate report</code>, version {} of its form. The whole report, with every run, is in \
         this file as JSON, in the element <code>script#report</code>; <code>ralph-gate report --format json</code> prints the same.</p>\n\
         </footer>\n",
        report.version
    ));
}

/// With a capital letter, unless it begins with the id of a metric.
fn capital(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    if first.contains('_') {
        return text.to_owned();
    }
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_begins_with_a_capital_letter_and_an_id_stays_as_it_is() {
        assert_eq!(capital("every condition is met"), "Every condition is met");
        assert_eq!(capital("handoff_rate falls"), "handoff_rate falls");
        assert_eq!(capital(""), "");
    }

    #[test]
    fn the_style_can_not_end_its_element_and_asks_for_nothing() {
        assert!(!STYLE.contains("</"));
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    }
}
