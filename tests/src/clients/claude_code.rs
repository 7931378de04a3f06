//! Claude Code: its settings and its command line.

use std::io;

use serde_json::json;

use super::{HOOK_TIMEOUT, KEY, Run, Scope, Session, Start, claude_hooks, write};

/// The package of the platform, because the program of `@anthropic-ai/claude-code` itself needs its install script.
pub(super) const PROGRAM: &str = if cfg!(target_arch = "aarch64") {
    "clients/npm/node_modules/@anthropic-ai/claude-code-linux-arm64/claude"
} else {
    "clients/npm/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
};
const SWITCHED_ON: [&str; 4] = [
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
];

pub(super) const EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Notification",
    "PreCompact",
    "SubagentStop",
    "Stop",
    "SessionEnd",
];

pub(super) fn prepare(run: &Run<'_>) -> io::Result<Start> {
    let folder = match run.scope {
        Scope::Person => run.home(),
        Scope::Project => run.place.work(),
    };
    let settings = json!({ "hooks": claude_hooks(&run.hooks, HOOK_TIMEOUT) });
    write(&folder.join(".claude/settings.json"), &settings.to_string())?;
    let mut environment = vec![
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("ANTHROPIC_BASE_URL", format!("http://{}", run.model)),
    ];
    environment.extend(SWITCHED_ON.map(|name| (name, "1".to_owned())));
    Ok(Start {
        arguments: arguments(run),
        environment,
    })
}

fn arguments(run: &Run<'_>) -> Vec<String> {
    let mut arguments = vec!["--print"];
    if run.session == Session::Resumed {
        arguments.push("--continue");
    }
    arguments.push(&run.prompt);
    // The list of tools comes last, because it would take a prompt behind it as another tool. The option that skips all
    // permissions is refused to root, who runs the tests that have a network of their own.
    arguments.extend([
        "--output-format",
        "stream-json",
        "--verbose",
        "--permission-mode",
        "acceptEdits",
        "--allowedTools",
        "Bash",
    ]);
    arguments.into_iter().map(str::to_owned).collect()
}
