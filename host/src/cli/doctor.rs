//! `ralph-gate doctor`: whether hooks are there and can be reached.

use ralph_gate::harness::doctor::{
    self, ClientReport, ConfigReport, Examination, LoopReport, Surroundings,
};
use ralph_gate::harness::state::StateDirectory;

use super::error::CliError;
use super::terminal::{Painter, Terminal, clean};
use super::{Exit, gate};

pub(crate) fn run(terminal: &Terminal) -> Result<Exit, CliError> {
    let root = std::env::current_dir().map_err(|error| CliError::Usage {
        message: format!("the current folder can't be used: {error}"),
    })?;
    let home = std::env::home_dir().unwrap_or_else(|| root.clone());
    let variable = |name: &str| std::env::var(name).ok();
    let surroundings = Surroundings {
        root: &root,
        home: &home,
        variable: &variable,
    };
    let found = doctor::examine(gate()?, &surroundings);
    let log = StateDirectory::find(variable).map(|state| state.log());
    let mut answer = serde_json::to_value(&found).unwrap_or_default();
    if let Some(object) = answer.as_object_mut() {
        object.insert("log".to_owned(), serde_json::json!(log));
    }
    terminal.print_answer(&answer.to_string(), |painter| {
        let mut text = describe(painter, &found);
        if let Some(log) = log {
            text.push_str(&format!("log     {}\n", clean(&log.display().to_string())));
        }
        text
    })?;
    Ok(if is_well(&found) {
        Exit::Success
    } else {
        Exit::Error
    })
}

fn is_well(found: &Examination) -> bool {
    found
        .clients
        .iter()
        .all(|client| client.problems.is_empty())
        && !matches!(found.active_loop, LoopReport::Unreadable { .. })
        && !matches!(found.config, ConfigReport::Unreadable { .. })
}

fn describe(painter: Painter, found: &Examination) -> String {
    let mut text = String::new();
    if found.clients.is_empty() {
        text.push_str(
            "no agent client was found in the path, and no hook of one in the settings\n",
        );
    }
    for client in &found.clients {
        text.push_str(&describe_client(painter, client));
    }
    text.push_str(&match &found.config {
        ConfigReport::None => "config  none: only loop files are gated\n".to_owned(),
        ConfigReport::Found { file } => format!("config  {}\n", clean(&file.display().to_string())),
        ConfigReport::Unreadable { reason } => {
            format!("config  {} {}\n", painter.bad("unusable:"), clean(reason))
        }
    });
    text.push_str(&match &found.active_loop {
        LoopReport::None => "loop    none\n".to_owned(),
        LoopReport::Active {
            file,
            iteration,
            session,
        } => format!(
            "loop    iteration {iteration} of {}, {}; the next stop goes on with it\n",
            clean(&file.display().to_string()),
            session.as_deref().map_or_else(
                || "nobody's yet".to_owned(),
                |session| format!("session {}", clean(session))
            )
        ),
        LoopReport::Unreadable { reason } => {
            format!("loop    {} {}\n", painter.bad("unusable:"), clean(reason))
        }
    });
    text
}

fn describe_client(painter: Painter, client: &ClientReport) -> String {
    let version = client.version.as_deref();
    let version = version.map_or_else(|| "not in the path".to_owned(), clean);
    let mut text = format!("{}  {version}\n", painter.bold(&client.client.to_string()));
    for hook in &client.hooks {
        let command = hook
            .command
            .as_deref()
            .map_or_else(|| "incomplete".to_owned(), clean);
        text.push_str(&format!(
            "  hook of the {} settings: {command}\n",
            hook.scope
        ));
    }
    match client.cap {
        Some(cap) => text.push_str(&format!(
            "  lets itself be told to go on {cap} times in a row\n"
        )),
        None => text.push_str("  no limit is known on how often it is told to go on\n"),
    }
    for problem in &client.problems {
        text.push_str(&format!(
            "  {} {}\n",
            painter.bad("problem:"),
            clean(problem)
        ));
    }
    for note in &client.notes {
        text.push_str(&format!("  {} {}\n", painter.caution("note:"), clean(note)));
    }
    text
}
