//! Gemini: its configuration and its command line.

use std::io;

use serde_json::{Value, json};

use super::{HOOK_TIMEOUT, KEY, Run, Scope, Session, Start, Trust, claude_hooks, write};

/// Named, because for `auto` the client asks a model which model to ask.
const MODEL: &str = "gemini-2.5-flash";

/// Without those around each request to the model, which carry the whole conversation, and without `PreCompress`,
/// which nobody waits for and which comes before each request, whether or not there is anything to compress.
pub(super) const EVENTS: &[&str] = &[
    "SessionStart",
    "BeforeAgent",
    "BeforeTool",
    "AfterTool",
    "Notification",
    "AfterAgent",
    "SessionEnd",
];

pub(super) fn prepare(run: &Run<'_>) -> io::Result<Start> {
    let hooks = json!({ "hooks": claude_hooks(&run.hooks, HOOK_TIMEOUT * 1000) });
    let mut settings = settings();
    match (run.scope, settings.as_object_mut(), hooks) {
        (Scope::Person, Some(settings), Value::Object(hooks)) => settings.extend(hooks),
        (_, _, hooks) => write(
            &run.place.work().join(".gemini/settings.json"),
            &hooks.to_string(),
        )?,
    }
    let path = run.home().join(".gemini/settings.json");
    write(&path, &settings.to_string())?;
    Ok(Start {
        arguments: arguments(run),
        environment: environment(run),
    })
}

fn environment(run: &Run<'_>) -> Vec<(&'static str, String)> {
    let mut environment = vec![
        ("GEMINI_API_KEY", KEY.to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", format!("http://{}", run.model)),
        // Otherwise it starts itself once more, with more memory: twice the time.
        ("GEMINI_CLI_NO_RELAUNCH", "true".to_owned()),
    ];
    if run.trust == Trust::Given {
        // Not `--skip-trust`, with which the hooks of the project are left out.
        environment.push(("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()));
    }
    environment
}

fn settings() -> Value {
    json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "model": { "disableLoopDetection": true, "skipNextSpeakerCheck": true },
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
    })
}

fn arguments(run: &Run<'_>) -> Vec<String> {
    let mut arguments = vec!["--model", MODEL, "--output-format", "stream-json", "--yolo"];
    if run.session == Session::Resumed {
        arguments.extend(["--resume", "latest"]);
    }
    arguments.extend(["--prompt", &run.prompt]);
    arguments.into_iter().map(str::to_owned).collect()
}
