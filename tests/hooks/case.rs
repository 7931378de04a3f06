//! One case: a project, and questions one after the other.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ralph_gate_tests::said::Said;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::project::{Project, stop_event};

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
        let project = Project::new();
        for (path, text) in &self.files {
            project.write(path, text);
        }
        for (index, step) in self.steps.iter().enumerate() {
            step.run(&project)
                .map_err(|problem| format!("step {}: {problem}", index + 1))?;
        }
        Ok(())
    }
}

impl Step {
    fn run(&self, project: &Project) -> Result<(), String> {
        for (path, text) in &self.write {
            project.write(path, text);
        }
        for path in &self.remove {
            fs::remove_file(project.work().join(path)).unwrap();
        }
        let said = self.ask(project);
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
            let found = project.read(path);
            if found != *text {
                return Err(format!("{path} is {found:?} instead of {text:?}: {said:?}"));
            }
        }
        Ok(())
    }

    fn ask(&self, project: &Project) -> Said {
        let mut arguments = vec!["hook"];
        match self.harness.as_deref() {
            None => arguments.push("claude-code"),
            Some("") => {}
            Some(harness) => arguments.push(harness),
        }
        arguments.extend(self.args.iter().map(String::as_str));
        let work = project.work();
        let input = self.stdin.clone().unwrap_or_else(|| self.event(&work));
        let input = input.replace("{work}", &work.display().to_string());
        let said = project.gate(&arguments, &input);
        assert_eq!(said.code, 0, "{said:?}");
        said
    }

    fn event(&self, work: &Path) -> String {
        let mut event = stop_event(work, "I am done.", false);
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
