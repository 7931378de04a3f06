//! `ralph-gate init`: a configuration that fits the folder.

use std::fs;
use std::io::{BufRead as _, IsTerminal as _, stdin, stdout};
use std::path::{Path, PathBuf};

use ralph_gate::config::starter::{self, Plan};
use ralph_gate::config::{ConfigError, FILE_NAMES, probe, survey};
use ralph_gate::memory::{replace_text, save_text};
use ralph_gate::runner::agents::Client;
use ralph_gate::worktree::{Repository, Settings};
use serde::Serialize;
use serde_json::json;

use super::Exit;
use super::args::{AgentName, InitArgs};
use super::clients;
use super::error::CliError;
use super::terminal::{Painter, Severity, Terminal, clean, print};

/// The one that is written.
const FILE: &str = "ralph-gate.toml";
const IGNORE_FILE: &str = ".gitignore";
/// Where loops are remembered.
const IGNORED: &str = ".ralph/";

/// What became of `.gitignore`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Ignoring {
    /// The memory's folder was added to it.
    Added,
    /// Git ignores the folder already.
    Already,
    /// There is no repository here.
    NoRepository,
    /// It was not asked for.
    Off,
    /// The repository or the file can't be used: nothing was changed.
    Unable,
}

pub(crate) fn run(args: &InitArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    if let Some(client) = args.client {
        return clients::install(client, args, terminal);
    }
    let folder = Path::new(".");
    let old = existing(folder);
    if let Some(file) = old.first().filter(|_| !args.force && !args.dry_run) {
        return Err(ConfigError::Exists { file: file.clone() }.into());
    }
    let agent = choose(args, terminal)?;
    let plan = Plan::new(folder, survey(folder), |proposal| probe(folder, proposal));
    let text = starter::write(&plan, agent);
    if args.dry_run {
        let answer = json!({
            "file": FILE, "checks": plan.ids(), "found": plan.tests, "lints": plan.lints, "agent": agent, "text": text,
        });
        terminal.print_answer(&answer.to_string(), |_| text.clone())?;
        return Ok(Exit::Success);
    }
    let kept = replace_text(&old, Path::new(FILE), &text)?;
    let ignoring = if args.no_gitignore {
        Ignoring::Off
    } else {
        ignore(folder)?
    };
    let answer = json!({
        "file": FILE, "checks": plan.ids(), "found": plan.tests, "lints": plan.lints, "agent": agent, "kept": kept,
        "gitignore": ignoring,
    });
    terminal.print_answer(&answer.to_string(), |painter| {
        describe(painter, &plan, agent, &kept, ignoring)
    })?;
    Ok(Exit::Success)
}

/// Configurations that are there, under any name. A link that leads nowhere is there too.
fn existing(folder: &Path) -> Vec<PathBuf> {
    let names = FILE_NAMES.iter().map(PathBuf::from);
    names
        .filter(|name| folder.join(name).symlink_metadata().is_ok())
        .collect()
}

/// The agent that was named, or that a person chooses.
fn choose(args: &InitArgs, terminal: &Terminal) -> Result<Client, CliError> {
    if let Some(name) = args.agent {
        return Ok(name.client());
    }
    let may_ask = !args.yes && !args.dry_run && !terminal.is_json();
    if may_ask && stdin().is_terminal() && stdout().is_terminal() {
        return ask(terminal);
    }
    Ok(Client::Claude)
}

/// Asks until the answer is one. Without one, it is the first.
fn ask(terminal: &Terminal) -> Result<Client, CliError> {
    loop {
        print(&format!(
            "{} claude, codex, gemini, other [claude] ",
            terminal.painter.bold("Which agent does the work?")
        ))?;
        let mut line = String::new();
        let read = stdin().lock().read_line(&mut line);
        match (read, line.trim()) {
            // The end of the input: whoever closed it does not want to be asked.
            (Err(_) | Ok(0), _) | (_, "" | "claude") => return Ok(Client::Claude),
            (_, "codex") => return Ok(Client::Codex),
            (_, "gemini") => return Ok(Client::Gemini),
            (_, "other") => return Ok(Client::Command),
            (_, other) => print(&format!("{} is none of these\n", clean(other)))?,
        }
    }
}

impl AgentName {
    fn client(self) -> Client {
        match self {
            Self::Claude => Client::Claude,
            Self::Codex => Client::Codex,
            Self::Gemini => Client::Gemini,
            Self::Other => Client::Command,
        }
    }
}

/// Has git ignore the memory, if there is a repository and it does not yet.
fn ignore(folder: &Path) -> Result<Ignoring, CliError> {
    let ignored = Repository::discover(folder, &Settings::default())
        .and_then(|repository| repository.map(|found| found.ignores(IGNORED)).transpose());
    match ignored {
        Ok(None) => return Ok(Ignoring::NoRepository),
        Ok(Some(true)) => return Ok(Ignoring::Already),
        Ok(Some(false)) => {}
        Err(_) => return Ok(Ignoring::Unable),
    }
    let file = folder.join(IGNORE_FILE);
    // A link belongs to somebody else; what is not text can't be added to.
    let text = match file.symlink_metadata() {
        Err(_) => String::new(),
        Ok(metadata) if metadata.is_file() => match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(_) => return Ok(Ignoring::Unable),
        },
        Ok(_) => return Ok(Ignoring::Unable),
    };
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    save_text(&file, &format!("{text}{gap}{IGNORED}\n"))?;
    Ok(Ignoring::Added)
}

fn describe(
    painter: Painter,
    plan: &Plan,
    agent: Client,
    kept: &[PathBuf],
    ignoring: Ignoring,
) -> String {
    let mut text = format!("{} {FILE}\n", painter.good("wrote"));
    for kept in kept {
        text.push_str(&format!("kept  {}\n", clean(&kept.display().to_string())));
    }
    for proposal in plan.ready() {
        text.push_str(&format!(
            "check {}: {} (found in {})\n",
            clean(&proposal.id),
            clean(&proposal.argv.join(" ")),
            clean(&proposal.found_in)
        ));
    }
    for (proposal, problem) in plan.lacking() {
        text.push_str(&format!(
            "{} {} (found in {}) can't run here, so it is only a comment: {}\n",
            painter.severity(Severity::Warning),
            clean(&proposal.id),
            clean(&proposal.found_in),
            clean(problem)
        ));
    }
    if plan.ids().is_empty() {
        text.push_str(&format!(
            "{} nothing that proves the work was found{}: name a check in the contract; until then `ralph-gate run` \
             refuses the file\n",
            painter.severity(Severity::Warning),
            if plan.tests.is_empty() { "" } else { " that can run" },
        ));
    }
    if !plan.lints.is_empty() {
        let lints: Vec<String> = plan.lints.iter().map(|lint| clean(&lint.id)).collect();
        text.push_str(&format!("as comments {}\n", lints.join(", ")));
    }
    let names: Vec<&str> = plan.ecosystems.iter().map(|it| it.name).collect();
    text.push_str(&format!(
        "frozen tests, lock files and test settings of {}; new test files are allowed\n",
        names.join(", ")
    ));
    match agent {
        Client::Command => text.push_str("agent none yet: name it in [agent], or behind `--`\n"),
        agent => text.push_str(&format!("agent {agent}\n")),
    }
    match ignoring {
        Ignoring::Added => text.push_str(&format!("added {IGNORED} to {IGNORE_FILE}\n")),
        Ignoring::Unable => text.push_str(&format!(
            "{IGNORE_FILE} was left as it is: add {IGNORED} to it yourself\n"
        )),
        Ignoring::Already | Ignoring::NoRepository | Ignoring::Off => {}
    }
    text.push_str(&format!(
        "{} ralph-gate run --prompt-file TASK.md\n",
        painter.help()
    ));
    text
}
