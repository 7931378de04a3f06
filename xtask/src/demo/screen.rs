//! What the demo shows. At most 100 columns.

use serde_json::Value;

use super::text;
use crate::terminal::{bold, faint, green, red};

const WIDTH: usize = 100;
const INDENT: usize = 13;

/// The situation, in three lines.
pub(super) fn opening() {
    println!(
        "\n{}",
        bold("An agent says it is done. The gate asks for proof.")
    );
    row(
        "project",
        "a leap-year function and its 6 tests, in a scratch git repository",
    );
    row(
        "contract",
        "the tests pass, and the output ends with <promise>COMPLETE</promise>",
    );
    row("agent", "a script plays the model; everything else is real");
}

/// One iteration: what was claimed, what was found, what was decided.
pub(super) fn iteration(index: usize, output: &str, tests: &str, tree: &str, verdict: &Value) {
    println!("\n{}", bold(&format!("Iteration {index}")));
    for (position, line) in output.lines().enumerate() {
        row(
            if position == 0 { "agent" } else { "" },
            &format!("| {line}"),
        );
    }
    row("evidence", &format!("sh test.sh: {tests}"));
    row("", &format!("git tree {}", tree.get(..12).unwrap_or(tree)));
    let released = text(verdict, "stop_reason") == "completed";
    let decided = if released {
        format!("{} (completed)", green("RELEASED"))
    } else {
        format!("{} ({})", red("REFUSED"), text(verdict, "decision"))
    };
    row("gate", &decided);
    for failure in verdict
        .get("failures")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let check = failure.get("check").and_then(Value::as_str);
        let subject = check.map_or_else(String::new, |check| format!(" {check}"));
        row(
            "",
            &format!(
                "- {}{subject}: {}",
                text(failure, "code"),
                text(failure, "reason")
            ),
        );
    }
    if let Some(first) = text(verdict, "feedback").lines().next() {
        row("to agent", &faint(&format!("{first} …")));
    }
}

/// What was seen, and where to go next.
pub(super) fn closing() {
    println!(
        "\nSeen: three claims to be done, one release, when a contract that the agent can't edit was met\n      \
         by evidence that it didn't write.\n\
         Next: README.md puts the gate into your own loop; `target/debug/ralph-gate --help` has the rest."
    );
}

fn row(label: &str, content: &str) {
    for (position, line) in wrap(content, WIDTH - INDENT).iter().enumerate() {
        let label = if position == 0 { label } else { "" };
        println!("  {label:<width$}{line}", width = INDENT - 2);
    }
}

/// Breaks at spaces. A word longer than the width stays whole.
fn wrap(content: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in content.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_break_at_spaces() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("unbreakable", 4), ["unbreakable"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
