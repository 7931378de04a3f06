//! opencode: the plugin of the gate, and a program that stands where the plugin looks for the gate.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::{env, fs, io};

use serde_json::json;

use super::{KEY, Run, Scope, Session, Start, write};

const SWITCHED_ON: [&str; 4] = [
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
];
pub(super) const EVENTS: &[&str] = &["experimental.text.complete"];

const PLUGIN: &str = include_str!("../../../bindings/harness-plugins/opencode/ralph-gate.js");

pub(super) fn prepare(run: &Run<'_>) -> io::Result<Start> {
    let person = run.home().join(".config/opencode");
    let project = run.place.work().join(".opencode");
    for folder in [&person, &project] {
        pretend_installed(folder)?;
    }
    write(&person.join("opencode.json"), &configuration(run))?;
    let folder = match run.scope {
        Scope::Person => person,
        Scope::Project => project,
    };
    let programs = run.beside("programs")?;
    for hook in &run.hooks {
        write(&folder.join("plugins/ralph-gate.js"), PLUGIN)?;
        symlink(&hook.command, programs.join("ralph-gate"))?;
    }
    let path = env::var("PATH").unwrap_or_default();
    let mut environment = vec![("PATH", format!("{}:{path}", programs.display()))];
    environment.extend(SWITCHED_ON.map(|name| (name, "1".to_owned())));
    Ok(Start {
        arguments: arguments(run),
        environment,
    })
}

/// opencode waits for its plugin package to be installed beside each configuration. It looks for these two.
fn pretend_installed(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("node_modules"))?;
    let lock = json!({ "packages": { "": { "dependencies": { "@opencode-ai/plugin": "*" } } } });
    write(&folder.join("package-lock.json"), &lock.to_string())
}

fn configuration(run: &Run<'_>) -> String {
    let model = json!({ "name": "scripted", "tool_call": true, "limit": { "context": 100_000, "output": 10_000 } });
    let provider = json!({
        "npm": "@ai-sdk/openai", "name": "scripted",
        "options": { "baseURL": format!("http://{}/v1", run.model), "apiKey": KEY },
        "models": { "scripted": model },
    });
    let configuration = json!({
        "model": "scripted/scripted", "small_model": "scripted/scripted",
        "autoupdate": false, "share": "disabled",
        "enabled_providers": ["scripted"], "provider": { "scripted": provider },
    });
    configuration.to_string()
}

fn arguments(run: &Run<'_>) -> Vec<String> {
    let mut arguments = vec!["run", "--format", "json", "--auto"];
    if run.session == Session::Resumed {
        arguments.push("--continue");
    }
    arguments.push(&run.prompt);
    arguments.into_iter().map(str::to_owned).collect()
}
