//! The report on a terminal.

use crate::model::{Arm, Comparison, Outcome, Report, Standing};

use super::number;
use super::rows::{self, Meaning, Row, as_float, counted, rows, share};
use super::text::{LONGEST_NAME, columns, name, visible};

/// How a terminal sets texts apart.
pub trait Paint {
    /// What is looked for first.
    fn bold(&self, text: &str) -> String;
    /// What is looked at last.
    fn dim(&self, text: &str) -> String;
    /// Good news.
    fn good(&self, text: &str) -> String;
    /// Bad news.
    fn bad(&self, text: &str) -> String;
}

/// No colours at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plain;

impl Paint for Plain {
    fn bold(&self, text: &str) -> String {
        text.to_owned()
    }

    fn dim(&self, text: &str) -> String {
        text.to_owned()
    }

    fn good(&self, text: &str) -> String {
        text.to_owned()
    }

    fn bad(&self, text: &str) -> String {
        text.to_owned()
    }
}

/// How long a full bar is.
const BAR: usize = 20;
/// Over the rows of metrics.
const HEAD: &[&str] = &["metric", "before", "after", "difference", "", "p"];
/// The most task classes that are shown.
const MOST_CLASSES: usize = 40;
/// Names that are longer are folded where there is little room.
const NAME_COLUMNS: usize = 20;
/// The least width that text is broken for.
const NARROWEST: usize = 40;

/// The report for a terminal of so many columns. Rows that don't fit are broken up; nothing is left out for lack of room.
pub fn table(report: &Report, paint: &dyn Paint, width: usize) -> String {
    let mut screen = Screen {
        paint,
        width: width.max(NARROWEST),
        text: String::new(),
    };
    screen.decision(report);
    screen.arms(report);
    screen.metrics(&report.overall);
    screen.classes(report);
    screen.endings(report);
    screen.iterations(report);
    screen.missing(report);
    screen.text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tone {
    Plain,
    Bold,
    Dim,
    Good,
    Bad,
}

/// A cell: what it says, and how.
#[derive(Clone)]
struct Cell {
    value: String,
    /// In brackets behind it, or below it where a line has no room.
    detail: String,
    tone: Tone,
}

impl Cell {
    fn new(value: impl Into<String>, tone: Tone) -> Self {
        Self {
            value: value.into(),
            detail: String::new(),
            tone,
        }
    }

    fn plain(value: impl Into<String>) -> Self {
        Self::new(value, Tone::Plain)
    }

    fn of(cell: &rows::Cell, tone: Tone) -> Self {
        Self {
            value: cell.value.clone(),
            detail: cell.detail.clone(),
            tone: if cell.known { tone } else { Tone::Dim },
        }
    }

    /// A long name goes on below.
    fn fold(&mut self) {
        let place = |(place, _): &(usize, &str)| *place <= NAME_COLUMNS;
        let places = self.value.rmatch_indices(' ');
        if columns(&self.value) > NAME_COLUMNS
            && self.detail.is_empty()
            && let Some((place, _)) = places.filter(|(place, _)| *place > 2).find(place)
        {
            let indent = self.value.len() - self.value.trim_start().len();
            let rest = self.value.split_off(place);
            self.detail = " ".repeat(indent) + rest.trim_start();
        }
    }

    fn whole(&self) -> String {
        if self.detail.is_empty() {
            self.value.clone()
        } else {
            format!("{} ({})", self.value, self.detail)
        }
    }

    fn text(&self, layout: Layout) -> String {
        match layout {
            Layout::OneLine => self.whole(),
            Layout::TwoLines => self.value.clone(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    OneLine,
    TwoLines,
}

/// Rows of cells under a head. The first column is a name and stands left; so do those that `left` names.
struct Grid<'a> {
    head: &'a [&'a str],
    left: &'a [usize],
    rows: Vec<Vec<Cell>>,
}

/// The column of p values, which goes below the one before it where there is little room.
const P: usize = 5;

struct Screen<'a> {
    paint: &'a dyn Paint,
    width: usize,
    text: String,
}

impl Screen<'_> {
    fn painted(&self, text: &str, tone: Tone) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Bold => self.paint.bold(text),
            Tone::Dim => self.paint.dim(text),
            Tone::Good => self.paint.good(text),
            Tone::Bad => self.paint.bad(text),
        }
    }

    fn heading(&mut self, text: &str) {
        let line = self.paint.bold(text);
        self.text.push('\n');
        self.text.push_str(&line);
        self.text.push('\n');
    }

    /// A paragraph, broken at spaces, each line after so many blanks.
    fn paragraph(&mut self, text: &str, indent: usize, tone: Tone) {
        for line in wrap(&visible(text), self.width.saturating_sub(indent)) {
            let line = self.painted(&line, tone);
            self.text.push_str(&" ".repeat(indent));
            self.text.push_str(&line);
            self.text.push('\n');
        }
    }

    fn decision(&mut self, report: &Report) {
        let decision = &report.decision;
        let tone = match decision.outcome {
            Outcome::DefaultOn => Tone::Good,
            Outcome::KeepOptIn => Tone::Bad,
            Outcome::NotEnoughData => Tone::Bold,
        };
        let outcome = self.painted(decision.outcome.title(), tone);
        self.text.push_str(&self.paint.bold("Decision: "));
        self.text.push_str(&outcome);
        self.text.push('\n');
        self.paragraph(&decision.message, 2, Tone::Plain);
        for step in &decision.steps {
            let tone = match step.standing {
                Standing::Met => Tone::Good,
                Standing::NotMet => Tone::Bad,
                Standing::Open => Tone::Bold,
            };
            let standing = self.painted(&format!("{:<7}", rows::standing(step.standing)), tone);
            let condition = wrap(&visible(&step.condition), self.width.saturating_sub(11));
            for (index, line) in condition.iter().enumerate() {
                let start = if index == 0 {
                    standing.as_str()
                } else {
                    "       "
                };
                self.text.push_str(&format!("  {start}  {line}\n"));
            }
            self.paragraph(&step.arithmetic, 11, Tone::Dim);
        }
        if let Some(needed) = decision.needed_per_arm {
            let text = format!(
                "About {} runs in each arm would settle it, if they go like these.",
                number::count(needed)
            );
            self.paragraph(&text, 2, Tone::Plain);
        }
    }

    fn arms(&mut self, report: &Report) {
        self.heading("Arms");
        let arm = |which: &str, arm: &Arm| {
            vec![
                Cell::plain(which),
                Cell::plain(name(&arm.name, LONGEST_NAME)),
                Cell::plain(counted(arm.runs.len(), "run", "runs")),
            ]
        };
        self.grid(&Grid {
            head: &[],
            left: &[1],
            rows: vec![arm("before", &report.before), arm("after", &report.after)],
        });
        let pairing = &report.pairing;
        let text = if pairing.paired {
            format!("{} pairs: {}", number::count(pairing.pairs), pairing.reason)
        } else {
            format!("Not paired: {}", pairing.reason)
        };
        self.paragraph(&text, 2, Tone::Plain);
        let ratio = &report.sample_ratio;
        let tone = if ratio.suspicious {
            Tone::Bad
        } else {
            Tone::Plain
        };
        let p = ratio
            .p
            .map(|p| format!(" (p {})", number::p(p)))
            .unwrap_or_default();
        self.paragraph(&format!("Sample ratio: {}{p}", ratio.message), 2, tone);
    }

    fn metrics(&mut self, comparison: &Comparison) {
        self.heading("Metrics");
        let all = rows(comparison);
        self.grid(&Grid {
            head: HEAD,
            left: &[4],
            rows: all.iter().map(metric).collect(),
        });
        let note = if all.iter().any(|row| row.primary) {
            "Intervals are at 95 %. * chosen before the experiment; the other p values are adjusted by Holm's method."
        } else {
            "Intervals are at 95 %. The p values are adjusted by Holm's method."
        };
        self.paragraph(note, 2, Tone::Dim);
        for note in rows::notes(comparison) {
            self.paragraph(&note, 2, Tone::Plain);
        }
    }

    fn classes(&mut self, report: &Report) {
        if report.classes.is_empty() {
            return;
        }
        self.heading("Task classes");
        let mut lines = Vec::new();
        for class in report.classes.iter().take(MOST_CLASSES) {
            let title = name(rows::class(&class.name), LONGEST_NAME);
            lines.push(vec![Cell::new(title, Tone::Bold)]);
            let all = rows(&class.comparison);
            for row in all.iter().filter(|row| row.key) {
                let mut cells = metric(row);
                if let Some(first) = cells.first_mut() {
                    first.value.insert_str(0, "  ");
                }
                lines.push(cells);
            }
        }
        self.grid(&Grid {
            head: HEAD,
            left: &[4],
            rows: lines,
        });
        let more = report.classes.len().saturating_sub(MOST_CLASSES);
        if more > 0 {
            let text = format!(
                "and {}, which the JSON has",
                counted(more, "more class", "more classes")
            );
            self.paragraph(&text, 2, Tone::Dim);
        }
    }

    fn endings(&mut self, report: &Report) {
        if report.overall.endings.is_empty() {
            return;
        }
        self.heading("How runs ended");
        let (before, after) = (report.before.runs.len(), report.after.runs.len());
        let cells = |runs: usize, of: usize| {
            let part = share(runs, of);
            [
                Cell::plain(bar(part)),
                Cell::plain(number::count(runs as u64)),
                Cell::new(number::percent(part), Tone::Dim),
            ]
        };
        let lines = report.overall.endings.iter().map(|ending| {
            let mut line = vec![Cell::plain(name(
                &rows::ending(&ending.ending),
                LONGEST_NAME,
            ))];
            line.extend(cells(ending.before.len(), before));
            line.extend(cells(ending.after.len(), after));
            line
        });
        let grid = Grid {
            head: &["ending", "before", "", "", "after", "", ""],
            left: &[1, 4],
            rows: lines.collect(),
        };
        self.grid(&grid);
    }

    fn iterations(&mut self, report: &Report) {
        let bins = &report.overall.iterations;
        let most = bins.iter().map(|bin| bin.before.max(bin.after)).max();
        let Some(most) = most.filter(|most| *most > 0) else {
            return;
        };
        self.heading("Iterations per run");
        let cells = |runs: u64| {
            [
                Cell::plain(bar(of(runs, most))),
                Cell::plain(number::count(runs)),
            ]
        };
        let lines = bins.iter().map(|bin| {
            let mut line = vec![Cell::plain(rows::range(bin.from, bin.to))];
            line.extend(cells(bin.before));
            line.extend(cells(bin.after));
            line
        });
        let grid = Grid {
            head: &["iterations", "before", "", "after", ""],
            left: &[1, 3],
            rows: lines.collect(),
        };
        self.grid(&grid);
    }

    fn missing(&mut self, report: &Report) {
        self.heading("Missing data");
        if report.missing.is_empty() {
            self.paragraph("Nothing is missing.", 2, Tone::Plain);
        }
        for missing in &report.missing {
            let runs = counted(missing.runs.len(), "run", "runs");
            self.paragraph(&format!("{} ({runs})", missing.message), 2, Tone::Plain);
        }
    }

    fn grid(&mut self, grid: &Grid) {
        let folded = grid.folded();
        let layouts = [(Layout::OneLine, grid), (Layout::TwoLines, &folded)];
        let fitting = layouts.into_iter().find_map(|(layout, grid)| {
            let widths = grid.widths(layout);
            let total = widths.iter().sum::<usize>() + 2 * widths.len();
            (total <= self.width).then_some((layout, grid, widths))
        });
        let Some((layout, grid, widths)) = fitting else {
            self.stacked(grid);
            return;
        };
        if !grid.head.is_empty() {
            let head = grid.head.iter().map(|head| Cell::new(*head, Tone::Dim));
            let head: Vec<Cell> = head.collect();
            self.line(
                grid,
                &widths,
                head.iter().map(|cell| (cell.value.clone(), cell.tone)),
            );
        }
        for row in &grid.rows {
            let values = row.iter().map(|cell| (cell.text(layout), cell.tone));
            self.line(grid, &widths, values);
            if layout == Layout::TwoLines && row.iter().any(|cell| !cell.detail.is_empty()) {
                let details = row.iter().map(|cell| (cell.detail.clone(), Tone::Dim));
                self.line(grid, &widths, details);
            }
        }
    }

    fn line(&mut self, grid: &Grid, widths: &[usize], cells: impl Iterator<Item = (String, Tone)>) {
        let mut line = String::new();
        for (index, ((text, tone), width)) in cells.zip(widths).enumerate() {
            let blank = " ".repeat(width.saturating_sub(columns(&text)));
            let painted = if text.is_empty() {
                String::new()
            } else {
                self.painted(&text, tone)
            };
            line.push_str("  ");
            if index == 0 || grid.left.contains(&index) {
                line.push_str(&painted);
                line.push_str(&blank);
            } else {
                line.push_str(&blank);
                line.push_str(&painted);
            }
        }
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Each row as a block: its name, and below it a line for each column.
    fn stacked(&mut self, grid: &Grid) {
        let widest = grid.head.iter().map(|head| columns(head)).max();
        let widest = widest.unwrap_or_default().min(self.width / 3);
        for row in &grid.rows {
            let mut above = "";
            for (index, cell) in row.iter().enumerate() {
                let head = grid.head.get(index).copied().unwrap_or_default();
                let text = cell.whole();
                if text.is_empty() {
                    continue;
                }
                let painted = self.painted(&text, cell.tone);
                if index == 0 {
                    self.text.push_str(&format!("  {painted}\n"));
                } else if head.is_empty() && !above.is_empty() {
                    // It belongs to the column before it.
                    self.text.truncate(self.text.trim_end().len());
                    self.text.push_str(&format!("  {painted}\n"));
                } else {
                    let label = self.paint.dim(&format!("{head:<widest$}"));
                    self.text.push_str(&format!("    {label}  {painted}\n"));
                }
                above = if head.is_empty() { above } else { head };
            }
        }
    }
}

impl Grid<'_> {
    /// The same with p values below what they are about.
    fn folded(&self) -> Self {
        let mut rows = self.rows.clone();
        let mut head = self.head;
        if head == HEAD {
            head = head.get(..P).unwrap_or_default();
            for row in &mut rows {
                let p = row.split_off(row.len().min(P));
                if let (Some(p), Some(last)) = (p.first(), row.last_mut())
                    && !p.value.is_empty()
                {
                    last.detail = format!("p {}", p.value).replace("p < ", "p<");
                }
                if let [first, _, ..] = row.as_mut_slice() {
                    first.fold();
                }
            }
        }
        Self {
            head,
            left: self.left,
            rows,
        }
    }

    fn widths(&self, layout: Layout) -> Vec<usize> {
        let mut widths: Vec<usize> = self.head.iter().map(|head| columns(head)).collect();
        // A row of one cell is a heading, and may be as long as it likes.
        for row in self.rows.iter().filter(|row| row.len() > 1) {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                let below = match layout {
                    Layout::OneLine => 0,
                    Layout::TwoLines => columns(&cell.detail),
                };
                *width = (*width).max(columns(&cell.text(layout))).max(below);
            }
        }
        widths
    }
}

fn metric(row: &Row) -> Vec<Cell> {
    let mark = if row.primary { " *" } else { "" };
    let tone = match row.meaning {
        Meaning::Better => Tone::Good,
        Meaning::Worse => Tone::Bad,
        Meaning::Changed | Meaning::Unclear => Tone::Plain,
        Meaning::Unknown => Tone::Dim,
    };
    let meaning = match row.meaning {
        Meaning::Unknown => "",
        other => other.title(),
    };
    let arm = |cell: &rows::Cell| {
        let mut cell = Cell::of(cell, Tone::Plain);
        // How sure an arm's amount is matters less than how sure the difference is, and there is no room for both.
        if !row.is_share && cell.tone == Tone::Plain {
            cell.detail.clear();
        }
        cell
    };
    vec![
        Cell::plain(name(&row.title, LONGEST_NAME) + mark),
        arm(&row.before),
        arm(&row.after),
        Cell::of(&row.difference, tone),
        Cell::new(meaning, tone),
        Cell::plain(row.p.map(number::p).unwrap_or_default()),
    ]
}

fn of(part: u64, whole: u64) -> f64 {
    let float = |count: u64| as_float(usize::try_from(count).unwrap_or(usize::MAX));
    float(part) / float(whole)
}

/// A bar of a share. What is there is never drawn as nothing.
fn bar(share: f64) -> String {
    let mut filled = 0;
    while filled < BAR && as_float(filled) + 0.5 <= share * as_float(BAR) {
        filled += 1;
    }
    if filled == 0 && share > 0.0 {
        filled = 1;
    }
    "█".repeat(filled) + &"░".repeat(BAR - filled)
}

/// Breaks a text at spaces. A word that is longer than a line is cut.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(10);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = columns(word);
        if used > 0 && used + 1 + length > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        for character in word.chars() {
            let wide = columns(character.encode_utf8(&mut [0; 4]));
            if used + wide > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(character);
            used += wide;
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_that_something_is_there() {
        assert_eq!(bar(0.0), "░".repeat(20));
        assert_eq!(bar(0.001), format!("█{}", "░".repeat(19)));
        assert_eq!(bar(0.5), format!("{}{}", "█".repeat(10), "░".repeat(10)));
        assert_eq!(bar(1.0), "█".repeat(20));
        assert_eq!(bar(f64::NAN), "░".repeat(20));
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("aaa bbb ccc ddd", 11), ["aaa bbb ccc", "ddd"]);
        assert_eq!(wrap("abcdefghijklm", 10), ["abcdefghij", "klm"]);
        assert_eq!(wrap("", 10), [""]);
    }
}
