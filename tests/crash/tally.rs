//! What was done, and what was found.

use std::collections::BTreeMap;

/// Runs, by system call.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) name: &'static str,
    rows: BTreeMap<String, Row>,
    pub(crate) violations: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Row {
    /// Different calls of this kind that were hit.
    calls: u64,
    runs: u64,
    /// Runs in which the worker got to feel it.
    felt: u64,
    /// Runs in which the worker reported an error.
    reported: u64,
}

impl Tally {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    pub(crate) fn calls(&mut self, name: &str, calls: u64) {
        self.rows.entry(name.to_owned()).or_default().calls = calls;
    }

    pub(crate) fn run(&mut self, name: &str, felt: bool, reported: bool) {
        let row = self.rows.entry(name.to_owned()).or_default();
        row.runs += 1;
        row.felt += u64::from(felt);
        row.reported += u64::from(reported);
    }

    pub(crate) fn runs(&self) -> u64 {
        self.rows.values().map(|row| row.runs).sum()
    }

    /// A campaign that nobody felt has shown nothing.
    pub(crate) fn conclude(&mut self) {
        let felt: u64 = self.rows.values().map(|row| row.felt).sum();
        if felt == 0 {
            let runs = self.runs();
            let what = format!("nothing happened to anybody in {runs} runs");
            self.violations.push(what);
        }
    }

    pub(crate) fn print(&self, seconds: f64) {
        println!("\n{}", self.name);
        println!(
            "  {:<20} {:>8} {:>8} {:>8} {:>8}",
            "", "calls", "runs", "felt", "reported"
        );
        let mut total = Row::default();
        for (name, row) in &self.rows {
            println!(
                "  {name:<20} {:>8} {:>8} {:>8} {:>8}",
                row.calls, row.runs, row.felt, row.reported
            );
            total.calls += row.calls;
            total.runs += row.runs;
            total.felt += row.felt;
            total.reported += row.reported;
        }
        println!(
            "  {:<20} {:>8} {:>8} {:>8} {:>8}",
            "all", total.calls, total.runs, total.felt, total.reported
        );
        println!(
            "  {} runs, {} violations, {seconds:.1} s",
            total.runs,
            self.violations.len()
        );
        for violation in self.violations.iter().take(10) {
            println!("  VIOLATION {violation}");
        }
    }
}
