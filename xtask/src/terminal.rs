//! What the commands print: steps with their times, sizes, tables; colour only on a terminal.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, stdout};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::Result;

/// Says what is being done, does it, and says how long it took.
pub(crate) fn step<T>(title: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("{} {title}", bold("==>"));
    let start = Instant::now();
    let result = work();
    let time = seconds(start.elapsed());
    match &result {
        Ok(_) => println!("    {} {time}", green("done,")),
        Err(_) => println!("    {} {time}", red("failed,")),
    }
    result
}

/// `1.2 s`, or minutes when there are many.
pub(crate) fn seconds(time: Duration) -> String {
    let whole = time.as_secs();
    if whole < 100 {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} min {:02} s", whole / 60, whole % 60)
    }
}

/// `56123 bytes (54.8 KiB)`.
pub(crate) fn size(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10) / 1024;
    format!("{bytes} bytes ({}.{} KiB)", tenths / 10, tenths % 10)
}

/// Lines of cells, padded to columns and indented by two.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::from(" ");
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, " {cell:<width$} ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Text in green, when colour is on.
pub(crate) fn green(text: &str) -> String {
    paint("32", text)
}

/// Text in red, when colour is on.
pub(crate) fn red(text: &str) -> String {
    paint("31", text)
}

/// Text in yellow, when colour is on.
pub(crate) fn yellow(text: &str) -> String {
    paint("33", text)
}

/// Bold text, when colour is on.
pub(crate) fn bold(text: &str) -> String {
    paint("1", text)
}

/// Faint text, when colour is on.
pub(crate) fn faint(text: &str) -> String {
    paint("2", text)
}

fn paint(code: &str, text: &str) -> String {
    static COLOUR: OnceLock<bool> = OnceLock::new();
    let colour = *COLOUR.get_or_init(|| {
        let asked_off = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        stdout().is_terminal() && !asked_off
    });
    if colour {
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact_in_bytes_and_rounded_down_in_kib() {
        assert_eq!(size(0), "0 bytes (0.0 KiB)");
        assert_eq!(size(1023), "1023 bytes (0.9 KiB)");
        assert_eq!(size(56_109), "56109 bytes (54.7 KiB)");
    }

    #[test]
    fn times_switch_to_minutes() {
        assert_eq!(seconds(Duration::from_millis(1_250)), "1.2 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 05 s");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [
            vec!["a".to_owned(), "x".to_owned()],
            vec!["long".to_owned(), "y".to_owned()],
        ];
        assert_eq!(table(&rows), "  a     x\n  long  y\n");
    }
}
