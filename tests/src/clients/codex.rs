//! Codex: its configuration and its command line.

use std::io;

use serde_json::json;

use super::{HOOK_TIMEOUT, KEY, Run, Scope, Session, Start, Trust, claude_hooks, write};

const KEY_VARIABLE: &str = "SCRIPTED_MODEL_KEY";

pub(super) const EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "Interrupt",
    "SessionEnd",
];

pub(super) fn prepare(run: &Run<'_>) -> io::Result<Start> {
    let home = run.home().join(".codex");
    write(&home.join("config.toml"), &configuration(run))?;
    let folder = match run.scope {
        Scope::Person => home.clone(),
        Scope::Project => run.place.work().join(".codex"),
    };
    let hooks = json!({ "hooks": claude_hooks(&run.hooks, HOOK_TIMEOUT) });
    write(&folder.join("hooks.json"), &hooks.to_string())?;
    Ok(Start {
        arguments: arguments(run),
        environment: vec![
            ("CODEX_HOME", home.display().to_string()),
            (KEY_VARIABLE, KEY.to_owned()),
        ],
    })
}

/// Codex knows no model of this name, so it offers the tools it offers to every model.
fn configuration(run: &Run<'_>) -> String {
    let quoted = |text: &str| json!(text).to_string();
    let work = run.place.work().display().to_string();
    format!(
        r#"model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[feedback]
enabled = false

[projects.{work}]
trust_level = "trusted"

[model_providers.scripted]
name = "scripted"
base_url = "http://{model}/v1"
env_key = "{KEY_VARIABLE}"
wire_api = "responses"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
"#,
        work = quoted(&work),
        model = run.model,
    )
}

fn arguments(run: &Run<'_>) -> Vec<String> {
    let mut arguments = vec!["exec"];
    if run.session == Session::Resumed {
        arguments.extend(["resume", "--last"]);
    }
    arguments.extend([
        "--json",
        "--disable",
        "plugins",
        "--dangerously-bypass-approvals-and-sandbox",
    ]);
    if run.trust == Trust::Given {
        arguments.push("--dangerously-bypass-hook-trust");
    }
    arguments.push(&run.prompt);
    arguments.into_iter().map(str::to_owned).collect()
}
