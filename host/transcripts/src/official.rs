//! Loops of the official Ralph plugin: what its scripts and its hook say, and its state file.

use serde::{Deserialize, Serialize};

use crate::error::ImportError;
use crate::gate::{Gate, ask};
use crate::run::{LoopEnd, OfficialLoop};

/// What the setup script prints when a loop begins.
const ACTIVATED: &str = "Ralph loop activated";
/// What the hook says to the person when it sends the agent back.
const ITERATION: &str = "Ralph iteration ";
/// What the hook prints when it lets the agent go.
const HOOK: &str = "Ralph loop: ";

/// News of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum News {
    /// It began.
    Began(OfficialLoop),
    /// It goes on, in this iteration.
    Goes {
        iteration: u32,
        promise: Option<String>,
    },
    /// It is over.
    Over(LoopEnd),
}

/// What the setup script printed, in a text around it.
pub(crate) fn began(text: &str) -> Option<News> {
    let (_, text) = text.split_once(ACTIVATED)?;
    let mut found = OfficialLoop {
        iteration: 1,
        ..OfficialLoop::default()
    };
    // The lines of the script come first; what follows is the person's prompt.
    for line in text.lines().take(8) {
        if let Some(number) = line.strip_prefix("Max iterations: ")
            && found.max_iterations.is_none()
        {
            found.max_iterations = match number.trim() {
                "unlimited" => Some(0),
                number => number.parse().ok(),
            };
        } else if let Some(promise) = line.strip_prefix("Completion promise: ") {
            // It is the last of them.
            let promise = promise.split(" (ONLY output when TRUE").next();
            let promise = promise.unwrap_or_default().trim();
            if !promise.is_empty() && !promise.starts_with("none (runs forever)") {
                found.completion_promise = Some(promise.to_owned());
            }
            break;
        }
    }
    Some(News::Began(found))
}

/// What the hook said, to the person or on its output.
pub(crate) fn said_by_hook(text: &str) -> Option<News> {
    if let Some((before, rest)) = text.split_once(ITERATION)
        && before.chars().count() < 80
    {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let iteration = rest.get(..digits)?.parse().ok()?;
        let promise = rest.split_once("<promise>").map(|(_, rest)| rest);
        let promise = promise.and_then(|rest| rest.split_once("</promise>"));
        let promise = promise.map(|(promise, _)| promise.to_owned());
        return Some(News::Goes { iteration, promise });
    }
    let (before, rest) = text.split_once(HOOK)?;
    if before.chars().count() >= 80 {
        return None;
    }
    let end = if rest.starts_with("Max iterations (") {
        LoopEnd::MaxIterations
    } else if rest.starts_with("Detected <promise>") {
        LoopEnd::Completed
    } else {
        LoopEnd::Failed
    };
    Some(News::Over(end))
}

/// Whether a command of the shell is the one that begins a loop.
pub(crate) fn is_setup(command: &str) -> bool {
    command.contains("setup-ralph-loop")
}

/// Whether a slash command cancels a loop: `<command-name>/cancel-ralph</command-name>`.
pub(crate) fn is_cancel(prompt: &str) -> bool {
    let Some((_, rest)) = prompt.split_once("<command-name>") else {
        return false;
    };
    let name = rest.split('<').next().unwrap_or_default();
    name.ends_with("cancel-ralph")
}

/// The state file of a loop, `.claude/ralph-loop.local.md`, as the gate reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopFile {
    /// Whether the loop runs.
    pub active: bool,
    /// The iteration that the agent is in.
    pub iteration: u32,
    /// The session that owns the loop.
    pub session_id: Option<String>,
    /// 0 is what the file says for "unlimited".
    pub max_iterations: u32,
    /// The promise that ends the loop.
    pub completion_promise: Option<String>,
    /// When the loop began, as the file says it.
    pub started_at: Option<String>,
}

/// Reads a state file: the gate does.
pub fn read_loop_file(text: &str, gate: &dyn Gate) -> Result<LoopFile, ImportError> {
    #[derive(Serialize)]
    struct Input<'t> {
        text: &'t str,
    }
    ask(gate, "read_loop_file", &Input { text }).map_err(|error| match error {
        ImportError::Gate(reason) => ImportError::LoopFile(reason),
        other => other,
    })
}

impl LoopFile {
    /// The loop that the file tells of.
    pub(crate) fn official_loop(&self) -> OfficialLoop {
        OfficialLoop {
            iteration: self.iteration,
            max_iterations: Some(self.max_iterations),
            completion_promise: self.completion_promise.clone(),
            ended: if self.active {
                LoopEnd::Active
            } else {
                LoopEnd::Unknown
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_setup_script_prints_begins_a_loop() {
        let text = "# Ralph Loop Command\n\n🔄 Ralph loop activated in this session!\n\nIteration: 1\nMax iterations: 5\nCompletion promise: ALL DONE (ONLY output when TRUE - do not lie!)\n\nMax iterations: 99\n";
        let expected = OfficialLoop {
            iteration: 1,
            max_iterations: Some(5),
            completion_promise: Some("ALL DONE".to_owned()),
            ended: LoopEnd::Unknown,
        };
        assert_eq!(began(text), Some(News::Began(expected)));
        let text = "🔄 Ralph loop activated in this session!\n\nIteration: 1\nMax iterations: unlimited\nCompletion promise: none (runs forever)\n";
        let expected = OfficialLoop {
            iteration: 1,
            max_iterations: Some(0),
            ..OfficialLoop::default()
        };
        assert_eq!(began(text), Some(News::Began(expected)));
        assert_eq!(began("Build it."), None);
    }

    #[test]
    fn what_the_hook_says_is_told_from_what_others_say() {
        let goes = |iteration, promise: Option<&str>| News::Goes {
            iteration,
            promise: promise.map(str::to_owned),
        };
        for (text, expected) in [
            (
                "🔄 Ralph iteration 12 | To stop: output <promise>DONE</promise> (ONLY when statement is TRUE - do not lie to exit!)",
                Some(goes(12, Some("DONE"))),
            ),
            (
                "🔄 Ralph iteration 2 | No completion promise set - loop runs infinitely",
                Some(goes(2, None)),
            ),
            (
                "🛑 Ralph loop: Max iterations (5) reached.",
                Some(News::Over(LoopEnd::MaxIterations)),
            ),
            (
                "✅ Ralph loop: Detected <promise>DONE</promise>",
                Some(News::Over(LoopEnd::Completed)),
            ),
            (
                "⚠️  Ralph loop: State file corrupted",
                Some(News::Over(LoopEnd::Failed)),
            ),
            ("All checks passed.", None),
        ] {
            assert_eq!(said_by_hook(text), expected, "{text}");
        }
    }
}
