//! What an import says at its end: numbers, and each file that gave no run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ralph_gate_transcripts::Summary;
use serde_json::json;

use super::super::args::TranscriptsArgs;
use super::super::error::CliError;
use super::super::terminal::{Painter, Terminal, clean, print};
use super::{Place, described};

/// Prints the summary: where no runs are written to standard output there, otherwise to standard error.
pub(super) fn summary(
    terminal: &Terminal,
    args: &TranscriptsArgs,
    places: &[Place],
    summary: &Summary,
) -> Result<(), CliError> {
    use std::io::IsTerminal as _;
    let output = args
        .output
        .as_deref()
        .filter(|file| file.as_os_str() != "-");
    let to_stdout = output.is_some() || std::io::stdout().is_terminal();
    let json = || {
        let places: Vec<_> = places.iter().map(described).collect();
        let answer = json!({ "places": places, "summary": summary, "output": output });
        format!("{answer}\n")
    };
    match (terminal.is_json(), to_stdout) {
        (true, true) => print(&json()),
        (true, false) => {
            terminal.warn(|_| json());
            Ok(())
        }
        (false, true) => {
            let text = table(terminal.painter, places, summary);
            let end = match output {
                Some(file) => format!("written to {}\n", clean(&file.display().to_string())),
                None if summary.runs > 0 => "not written: name a file with --output\n".to_owned(),
                None => String::new(),
            };
            print(&format!("{text}{end}"))
        }
        (false, false) => {
            terminal.warn(|painter| table(painter, places, summary));
            Ok(())
        }
    }
}

fn table(painter: Painter, places: &[Place], summary: &Summary) -> String {
    let mut text = String::new();
    for place in places {
        let name = place.client.as_str();
        let path = clean(&place.path.display().to_string());
        let _ = if place.found {
            writeln!(text, "{:<11} {name}: {path}", "found")
        } else {
            writeln!(
                text,
                "{:<11} {}",
                "not there",
                painter.dim(&format!("{name}: {path}"))
            )
        };
    }
    let mut row = |title: &str, value: String| {
        if !value.is_empty() {
            let title = painter.bold(&format!("{title:<11}"));
            let _ = writeln!(text, "{title} {value}");
        }
    };
    let (runs, sessions) = (summary.runs, summary.sessions);
    let clients = match counts(&summary.clients) {
        clients if clients.is_empty() => clients,
        clients => format!(" ({clients})"),
    };
    let transcripts = match sessions {
        1 => "1 transcript".to_owned(),
        count => format!("{count} transcripts"),
    };
    row("runs", format!("{runs} in {transcripts}{clients}"));
    match summary.subagents {
        0 => {}
        1 => row("subagents", "1 transcript".to_owned()),
        count => row("subagents", format!("{count} transcripts")),
    }
    if runs > 0 {
        let promises = format!(
            "{}; {} claim to be done",
            counts(&summary.claims),
            summary.claimed
        );
        row("promises", promises);
        row("last tests", counts(&summary.last_tests));
        row("endings", counts(&summary.endings));
        row("truth", counts(&summary.truths));
        row("unknown", counts(&summary.unknown));
        row("loops", counts(&summary.loops));
    }
    let mut odd = Vec::new();
    for (count, what) in [
        (summary.broken_lines, "lines that are no JSON"),
        (summary.too_long_lines, "lines that are too long"),
        (summary.torn, "transcripts with a torn end"),
        (summary.left_out, "runs that were not asked for"),
    ] {
        if count > 0 {
            odd.push(format!("{count} {what}"));
        }
    }
    row("left out", odd.join(", "));
    if !summary.skipped.is_empty() {
        let count = summary.skipped.len();
        let files = if count == 1 { "file" } else { "files" };
        row("skipped", format!("{count} {files}"));
    }
    for skipped in &summary.skipped {
        let _ = writeln!(
            text,
            "  {}: {}",
            clean(&skipped.file),
            clean(&skipped.reason)
        );
    }
    text
}

/// `3 pass, 1 fail`
fn counts(counts: &BTreeMap<String, u64>) -> String {
    let counts = counts.iter().map(|(name, count)| format!("{count} {name}"));
    counts.collect::<Vec<_>>().join(", ")
}
