//! The report as Markdown, for a pull request or a wiki.

use crate::model::{Arm, Report};

use super::number;
use super::rows::{self, Row, counted, rows, share};
use super::text::{LONGEST_NAME, markdown as escape, name};

/// The most task classes that are shown.
const MOST_CLASSES: usize = 100;

/// The report as Markdown with tables.
pub fn markdown(report: &Report) -> String {
    let mut page = Page(String::new());
    page.decision(report);
    page.arms(report);
    page.metrics(report);
    page.classes(report);
    page.endings(report);
    page.iterations(report);
    page.missing(report);
    page.definitions(report);
    page.0
}

struct Page(String);

impl Page {
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    fn paragraph(&mut self, text: &str) {
        self.line(text);
        self.line("");
    }

    /// `right` columns at the end hold numbers.
    fn head(&mut self, cells: &[&str], right: usize) {
        self.line(&format!("| {} |", cells.join(" | ")));
        let left = cells.len().saturating_sub(right);
        let rule = |index: usize| if index < left { "---" } else { "---:" };
        let rules: Vec<&str> = (0..cells.len()).map(rule).collect();
        self.line(&format!("| {} |", rules.join(" | ")));
    }

    fn row(&mut self, cells: &[String]) {
        self.line(&format!("| {} |", cells.join(" | ")));
    }

    fn decision(&mut self, report: &Report) {
        let decision = &report.decision;
        self.paragraph(&format!("# Decision: {}", decision.outcome.title()));
        self.paragraph(&escape(&decision.message));
        if !decision.steps.is_empty() {
            self.head(&["condition", "arithmetic", "standing"], 0);
            for step in &decision.steps {
                self.row(&[
                    escape(&step.condition),
                    escape(&step.arithmetic),
                    format!("**{}**", rows::standing(step.standing)),
                ]);
            }
            self.line("");
        }
        if let Some(needed) = decision.needed_per_arm {
            self.paragraph(&format!(
                "About {} runs in each arm would settle it, if they go like these.",
                number::count(needed)
            ));
        }
    }

    fn arms(&mut self, report: &Report) {
        self.paragraph("## Arms");
        self.head(&["", "arm", "runs"], 1);
        for (which, arm) in [("before", &report.before), ("after", &report.after)] {
            self.row(&[
                which.to_owned(),
                arm_name(arm),
                number::count(arm.runs.len() as u64),
            ]);
        }
        self.line("");
        let pairing = &report.pairing;
        let paired = if pairing.paired {
            format!("{} pairs", number::count(pairing.pairs))
        } else {
            "Not paired".to_owned()
        };
        self.paragraph(&format!("{paired}: {}", escape(&pairing.reason)));
        let ratio = &report.sample_ratio;
        let p = ratio
            .p
            .map(|p| format!(" (p {})", escape(&number::p(p))))
            .unwrap_or_default();
        self.paragraph(&format!("Sample ratio: {}{p}", escape(&ratio.message)));
    }

    fn metrics(&mut self, report: &Report) {
        self.paragraph("## Metrics");
        let all = rows(&report.overall);
        self.head(
            &[
                "metric",
                "before",
                "after",
                "difference (95 % interval)",
                "p",
                "meaning",
            ],
            5,
        );
        for row in &all {
            let mut cells = metric(row);
            cells.push(row.p.map(|p| escape(&number::p(p))).unwrap_or_default());
            cells.push(row.meaning.title().to_owned());
            self.row(&cells);
        }
        self.line("");
        self.paragraph(if all.iter().any(|row| row.primary) {
            "In bold: chosen before the experiment. The other p values are adjusted by Holm's method."
        } else {
            "The p values are adjusted by Holm's method."
        });
        for note in rows::notes(&report.overall) {
            self.paragraph(&escape(&note));
        }
    }

    fn classes(&mut self, report: &Report) {
        if report.classes.is_empty() {
            return;
        }
        self.paragraph("## Task classes");
        self.head(
            &[
                "class",
                "metric",
                "before",
                "after",
                "difference (95 % interval)",
            ],
            3,
        );
        for class in report.classes.iter().take(MOST_CLASSES) {
            let title = escape(&name(rows::class(&class.name), LONGEST_NAME));
            for row in &rows(&class.comparison) {
                let mut cells = metric(row);
                cells.insert(0, title.clone());
                self.row(&cells);
            }
        }
        self.line("");
        let more = report.classes.len().saturating_sub(MOST_CLASSES);
        if more > 0 {
            let more = counted(more, "more class", "more classes");
            self.paragraph(&format!("And {more}, which the JSON has."));
        }
    }

    fn endings(&mut self, report: &Report) {
        if report.overall.endings.is_empty() {
            return;
        }
        self.paragraph("## How runs ended");
        self.head(&["ending", "before", "", "after", ""], 4);
        for ending in &report.overall.endings {
            let mut cells = vec![escape(&name(&rows::ending(&ending.ending), LONGEST_NAME))];
            for (runs, arm) in [
                (&ending.before, &report.before),
                (&ending.after, &report.after),
            ] {
                cells.push(number::count(runs.len() as u64));
                cells.push(number::percent(share(runs.len(), arm.runs.len())));
            }
            self.row(&cells);
        }
        self.line("");
    }

    fn iterations(&mut self, report: &Report) {
        if report.overall.iterations.is_empty() {
            return;
        }
        self.paragraph("## Iterations per run");
        self.head(&["iterations", "before", "after"], 3);
        for bin in &report.overall.iterations {
            self.row(&[
                rows::range(bin.from, bin.to),
                number::count(bin.before),
                number::count(bin.after),
            ]);
        }
        self.line("");
    }

    fn missing(&mut self, report: &Report) {
        self.paragraph("## Missing data");
        if report.missing.is_empty() {
            self.paragraph("Nothing is missing.");
            return;
        }
        self.head(&["what", "runs"], 1);
        for missing in &report.missing {
            let runs = number::count(missing.runs.len() as u64);
            self.row(&[escape(&missing.message), runs]);
        }
        self.line("");
    }

    fn definitions(&mut self, report: &Report) {
        if report.definitions.is_empty() {
            return;
        }
        self.paragraph("## Definitions");
        self.head(&["metric", "what it counts"], 0);
        for definition in &report.definitions {
            self.row(&[escape(&definition.metric), escape(&definition.meaning)]);
        }
    }
}

fn arm_name(arm: &Arm) -> String {
    escape(&name(&arm.name, LONGEST_NAME))
}

fn metric(row: &Row) -> Vec<String> {
    let title = escape(&name(&row.title, LONGEST_NAME));
    let title = if row.primary {
        format!("**{title}**")
    } else {
        title
    };
    vec![
        title,
        row.before.whole(),
        row.after.whole(),
        row.difference.whole(),
    ]
}
