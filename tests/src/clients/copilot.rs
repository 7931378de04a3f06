//! GitHub Copilot CLI: its hooks, its environment and its command line.

use std::io;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::{HOOK_TIMEOUT, Hook, KEY, Run, Scope, Session, Start, Trust, write};

pub(super) const EVENTS: &[&str] = &[
    "sessionStart",
    "userPromptSubmitted",
    "preToolUse",
    "postToolUse",
    "agentStop",
    "subagentStop",
    "errorOccurred",
    "sessionEnd",
];

pub(super) fn prepare(run: &Run<'_>) -> io::Result<Start> {
    let home = run.home().join(".copilot");
    let folder = match run.scope {
        Scope::Person => home.clone(),
        Scope::Project => run.place.work().join(".github"),
    };
    let hooks = json!({ "version": 1, "hooks": hooks(&run.hooks) });
    write(&folder.join("hooks/test.json"), &hooks.to_string())?;
    // With any other value that permits the tools, the hooks of the project are left out.
    let allow_all = match run.trust {
        Trust::Given => "true",
        Trust::Withheld => "1",
    };
    let environment = [
        ("COPILOT_HOME", home.display().to_string()),
        ("COPILOT_PKG_CACHE_HOME", cache(run)?.display().to_string()),
        ("COPILOT_OFFLINE", "true".to_owned()),
        ("COPILOT_AUTO_UPDATE", "false".to_owned()),
        ("COPILOT_ALLOW_ALL", allow_all.to_owned()),
        ("COPILOT_MODEL", "scripted".to_owned()),
        ("COPILOT_PROVIDER_API_KEY", KEY.to_owned()),
        (
            "COPILOT_PROVIDER_BASE_URL",
            format!("http://{}/v1", run.model),
        ),
        ("COPILOT_PROVIDER_WIRE_API", "responses".to_owned()),
    ];
    Ok(Start {
        arguments: arguments(run),
        environment: environment.into(),
    })
}

/// Where the program unpacks 235 MB when it first starts. All homes share it, and `npm ci` removes it.
fn cache(run: &Run<'_>) -> io::Result<PathBuf> {
    let mut folder = run.client.program()?;
    // From `.bin/copilot`.
    folder.pop();
    folder.pop();
    Ok(folder.join(".cache/copilot"))
}

fn hooks(hooks: &[Hook]) -> Value {
    let mut events = Map::new();
    for hook in hooks {
        let commands = events
            .entry(hook.event.clone())
            .or_insert_with(|| json!([]));
        let command =
            json!({ "type": "command", "bash": hook.command, "timeoutSec": HOOK_TIMEOUT });
        if let Some(commands) = commands.as_array_mut() {
            commands.push(command);
        }
    }
    events.into()
}

fn arguments(run: &Run<'_>) -> Vec<String> {
    let mut arguments = vec!["--output-format", "json"];
    if run.session == Session::Resumed {
        arguments.push("--continue");
    }
    arguments.extend(["--prompt", &run.prompt]);
    arguments.into_iter().map(str::to_owned).collect()
}
