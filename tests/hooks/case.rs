//! One case: a project, and questions one after the other.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::said::Said;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A project, and questions one after the other.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What the case shows.
    pub(crate) rule: String,
    /// What is in the project.
    #[serde(default)]
    files: BTreeMap<String, String>,
    steps: Vec<Step>,
}

/// One question.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Step {
    /// Written before.
    write: BTreeMap<String, String>,
    /// Taken away before.
    remove: Vec<String>,
    /// Fields of the event beside those of a usual one; null takes one away.
    event: Map<String, Value>,
    /// What is on standard input instead of an event.
    stdin: Option<String>,
    /// The client; none is named if it is empty.
    harness: Option<String>,
    args: Vec<String>,
    expect: Expected,
    /// Texts that the agent is told.
    says: Vec<String>,
    /// Texts that it is not told.
    hides: Vec<String>,
    /// Texts that the person is told.
    tells: Vec<String>,
    /// What is in files afterwards; null if they are gone.
    files: BTreeMap<String, Option<String>>,
}

/// What the answer comes to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Expected {
    /// The agent must go on.
    #[default]
    Block,
    /// The agent may stop, and nothing is said.
    Allow,
    /// The agent may stop, and the person hears why.
    Tell,
    /// The agent is reminded.
    Remind,
}

/// What a client makes of an answer.
struct Heard {
    kind: Expected,
    agent: String,
    person: String,
}

impl Case {
    /// Asks every question. The first wrong answer is the problem.
    pub(crate) fn run(&self) -> Result<(), String> {
        let folder = TempDir::new().unwrap();
        let place = folder.path().canonicalize().unwrap();
        let work = place.join("work");
        fs::create_dir(&work).unwrap();
        for (path, text) in &self.files {
            write(&work, path, text);
        }
        for (index, step) in self.steps.iter().enumerate() {
            step.run(&place, &work)
                .map_err(|problem| format!("step {}: {problem}", index + 1))?;
        }
        Ok(())
    }
}

impl Step {
    fn run(&self, place: &Path, work: &Path) -> Result<(), String> {
        for (path, text) in &self.write {
            write(work, path, text);
        }
        for path in &self.remove {
            fs::remove_file(work.join(path)).unwrap();
        }
        let said = self.ask(place, work);
        let heard = hear(&said)?;
        if heard.kind != self.expect {
            return Err(format!(
                "{:?} instead of {:?}: {said:?}",
                heard.kind, self.expect
            ));
        }
        for text in &self.says {
            if !heard.agent.contains(text) {
                return Err(format!("the agent is not told {text:?}: {said:?}"));
            }
        }
        for text in &self.hides {
            if heard.agent.contains(text) {
                return Err(format!("the agent is told {text:?}: {said:?}"));
            }
        }
        for text in &self.tells {
            if !heard.person.contains(text) {
                return Err(format!("the person is not told {text:?}: {said:?}"));
            }
        }
        for (path, text) in &self.files {
            let found = fs::read_to_string(work.join(path)).ok();
            if found != *text {
                return Err(format!("{path} is {found:?} instead of {text:?}: {said:?}"));
            }
        }
        Ok(())
    }

    fn ask(&self, place: &Path, work: &Path) -> Said {
        let mut command = Command::new(binary());
        command.arg("hook");
        match self.harness.as_deref() {
            None => command.arg("claude-code"),
            Some("") => &mut command,
            Some(harness) => command.arg(harness),
        };
        let mut child = command
            .args(&self.args)
            .current_dir(work)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = self.stdin.clone().unwrap_or_else(|| self.event(work));
        // A hook need not read all of it.
        let _ = child.stdin.take().unwrap().write_all(
            input
                .replace("{work}", &work.display().to_string())
                .as_bytes(),
        );
        let said = Said::of(child.wait_with_output().unwrap());
        assert_eq!(said.code, 0, "{said:?}");
        said
    }

    fn event(&self, work: &Path) -> String {
        let mut event = json!({
            "session_id": "s1",
            "transcript_path": work.join("none.jsonl"),
            "cwd": work,
            "permission_mode": "default",
            "hook_event_name": "Stop",
            "stop_hook_active": false,
            "last_assistant_message": "I am done.",
            "background_tasks": [],
            "session_crons": [],
        });
        let fields = event.as_object_mut().unwrap();
        for (name, value) in &self.event {
            match value {
                Value::Null => fields.remove(name),
                value => fields.insert(name.clone(), value.clone()),
            };
        }
        event.to_string()
    }
}

fn write(work: &Path, path: &str, text: &str) {
    let path = work.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What Claude Code makes of an answer.
fn hear(said: &Said) -> Result<Heard, String> {
    if said.stdout.is_empty() {
        let kind = if said.stderr.is_empty() {
            Expected::Allow
        } else {
            Expected::Tell
        };
        return Ok(Heard {
            kind,
            agent: String::new(),
            person: said.stderr.clone(),
        });
    }
    let answer: Value =
        serde_json::from_str(&said.stdout).map_err(|error| format!("{error}: {said:?}"))?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let context = &answer["hookSpecificOutput"]["additionalContext"];
    let kind = match (answer["decision"].as_str(), context.as_str()) {
        (Some("block"), None) => Expected::Block,
        (None, Some(_)) => Expected::Remind,
        (None, None) => Expected::Tell,
        _ => return Err(format!("no answer that is known: {said:?}")),
    };
    Ok(Heard {
        kind,
        agent: text(&answer["reason"]) + &text(context),
        person: text(&answer["systemMessage"]) + &said.stderr,
    })
}
