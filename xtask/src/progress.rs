//! A build whose progress is shown: cargo's own bar on a terminal, and elsewhere a line now and then.

use std::io::{IsTerminal as _, Read, stderr};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::process;

/// How long nothing is printed after a line.
const INTERVAL: Duration = Duration::from_secs(10);

/// Runs cargo and gives back what it printed on standard output.
pub(crate) fn capture(cargo: &mut Command) -> Result<String> {
    if stderr().is_terminal() {
        return process::capture(cargo);
    }
    cargo
        .env("CARGO_TERM_PROGRESS_WHEN", "always")
        .env("CARGO_TERM_PROGRESS_WIDTH", "120");
    process::capture_beside(cargo, |errors| follow(errors, |line| eprintln!("{line}")))
}

/// Reads what cargo says to its user, and hands on a shorter form of it, line by line.
fn follow(mut errors: impl Read, mut say: impl FnMut(&str)) {
    let mut shown: Option<Instant> = None;
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = errors.read(&mut buffer) {
        for byte in buffer.iter().take(count) {
            if !matches!(byte, b'\r' | b'\n') {
                line.push(*byte);
                continue;
            }
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            match Said::read(&text) {
                Said::Progress(progress) if shown.is_none_or(|it| it.elapsed() >= INTERVAL) => {
                    shown = Some(Instant::now());
                    say(&format!("    {progress}"));
                }
                Said::Progress(_) | Said::Usual => {}
                Said::Other => say(&text),
            }
        }
    }
    if !line.is_empty() {
        say(&String::from_utf8_lossy(&line));
    }
}

/// What a line of cargo is.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    /// How far it is.
    Progress(String),
    /// That it does what it always does.
    Usual,
    /// Anything else: a warning, an error.
    Other,
}

impl Said {
    fn read(line: &str) -> Self {
        // Cargo erases its bar before it prints something else.
        let line = line.trim_start_matches("\u{1b}[K");
        let words = line.trim_start();
        if let Some(progress) = words.strip_prefix("Building ").and_then(progress) {
            return Self::Progress(progress);
        }
        let verbs = [
            "Blocking",
            "Building",
            "Compiling",
            "Downloaded",
            "Downloading",
            "Finished",
            "Fresh",
            "Locking",
            "Updating",
        ];
        let is_usual = line.starts_with(' ') && verbs.iter().any(|verb| words.starts_with(verb));
        if words.is_empty() || is_usual {
            Self::Usual
        } else {
            Self::Other
        }
    }
}

/// `[====>    ] 212/240: serde, syn` becomes `compiling 212 of 240: serde, syn`.
fn progress(bar: &str) -> Option<String> {
    let (_, rest) = bar.split_once("] ")?;
    let (counts, crates) = rest.split_once(':').unwrap_or((rest, ""));
    let (done, all) = counts.trim().split_once('/')?;
    let (done, all): (usize, usize) = (done.parse().ok()?, all.parse().ok()?);
    let crates = crates.trim();
    let what = if crates.is_empty() { "" } else { ": " };
    Some(format!("compiling {done} of {all}{what}{crates}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_becomes_a_line_and_other_words_stay() {
        let printed = concat!(
            "   Compiling serde v1.0.0\n",
            "    Building [=======>      ] 212/240: serde, ralph-gate(build)\r",
            "    Building [=======>      ] 213/240: serde\r",
            "warning: unused\n",
            "error: it can't be built\n",
            "    Finished `dev` profile\n",
        );
        let mut lines = Vec::new();
        follow(printed.as_bytes(), |line| lines.push(line.to_owned()));
        assert_eq!(
            lines,
            [
                "    compiling 212 of 240: serde, ralph-gate(build)",
                "warning: unused",
                "error: it can't be built",
            ]
        );
    }

    #[test]
    fn a_line_that_is_torn_is_not_lost() {
        let mut lines = Vec::new();
        follow("error: killed".as_bytes(), |line| {
            lines.push(line.to_owned());
        });
        assert_eq!(lines, ["error: killed"]);
    }
}
