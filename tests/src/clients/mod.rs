//! Real agent clients, offline, each in a home of its own, against a model that says what a test wants.

mod claude_code;
mod codex;
mod copilot;
pub mod gated;
mod gemini;
mod http;
pub mod limited;
pub mod model_server;
pub mod offline;
mod opencode;
pub mod stage;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs, io};

use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;

use crate::binary::binary;
use crate::git;
use crate::place::Place;
use limited::Ended;
use offline::DEAD_PROXY;

/// Longer than any run here takes, shorter than anybody waits.
pub const LIMIT: Duration = Duration::from_mins(3);
/// How long a client waits for a hook, in seconds.
const HOOK_TIMEOUT: u64 = 120;
/// After how many seconds the gate answers in any case.
const DEADLINE: u64 = 100;
/// The directory of a place in which clients and hooks keep what is no setting.
const STATE: &str = "state";
/// What the clients believe to be their key.
const KEY: &str = "test-key";

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Client {
    /// Claude Code of Anthropic.
    ClaudeCode,
    /// Codex of OpenAI.
    Codex,
    /// The command line of GitHub Copilot.
    Copilot,
    /// The command line of Gemini.
    Gemini,
    /// An old version of Claude Code, which tells its hooks less.
    OldClaudeCode,
    /// opencode, which has plugins instead of hooks.
    Opencode,
}

/// Where the configuration of the hooks is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Into the home of the person.
    #[default]
    Person,
    /// Into the work folder.
    Project,
}

/// Which session a prompt is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Session {
    /// A new one.
    #[default]
    New,
    /// The last one of this place.
    Resumed,
}

/// Whether the person trusts the hooks and the work folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// Said to be trusted, by the options a client has for tests.
    #[default]
    Given,
    /// Nobody said anything.
    Withheld,
}

/// A command that a client runs when something happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The client's name for what happens.
    pub event: String,
    /// A command of the shell.
    pub command: String,
}

/// One run of a client.
#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// Which client.
    pub client: Client,
    /// Where its work folder is.
    pub place: &'a Place,
    /// The home of the person who runs it, beside the work folder.
    pub home: &'static str,
    /// Where the model listens.
    pub model: SocketAddr,
    /// Its hooks.
    pub hooks: Vec<Hook>,
    /// Where they are configured.
    pub scope: Scope,
    /// Whether they are trusted.
    pub trust: Trust,
    /// Which session the prompt is for.
    pub session: Session,
    /// The prompt.
    pub prompt: String,
    /// When to give up.
    pub limit: Duration,
}

/// How a client is started.
struct Start {
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
}

impl Client {
    /// The name, as in the names of files.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Gemini => "gemini",
            Self::OldClaudeCode => "old-claude-code",
            Self::Opencode => "opencode",
        }
    }

    /// The gate's name for the client, which is the same for all of its versions.
    fn gate_name(self) -> &'static str {
        match self {
            Self::OldClaudeCode => Self::ClaudeCode.name(),
            Self::ClaudeCode | Self::Codex | Self::Copilot | Self::Gemini | Self::Opencode => {
                self.name()
            }
        }
    }

    /// The client's name for the moment when the agent wants to stop.
    pub fn stop_event(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Codex | Self::OldClaudeCode => "Stop",
            Self::Copilot => "agentStop",
            Self::Gemini => "AfterAgent",
            Self::Opencode => "experimental.text.complete",
        }
    }

    /// Everything the client tells hooks.
    pub fn events(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode | Self::OldClaudeCode => claude_code::EVENTS,
            Self::Codex => codex::EVENTS,
            Self::Copilot => copilot::EVENTS,
            Self::Gemini => gemini::EVENTS,
            Self::Opencode => opencode::EVENTS,
        }
    }

    /// Where the client is installed: in the build folder, in which this very program is, too.
    fn program(self) -> io::Result<PathBuf> {
        let (program, command) = match self {
            Self::ClaudeCode => (claude_code::PROGRAM, "setup"),
            Self::Codex => ("clients/npm/node_modules/.bin/codex", "setup"),
            Self::Copilot => ("clients/npm/node_modules/.bin/copilot", "setup"),
            Self::Gemini => ("clients/npm/node_modules/.bin/gemini", "setup"),
            Self::OldClaudeCode => ("clients/npm-claude-code/node_modules/.bin/claude", "setup"),
            Self::Opencode => (
                "clients/npm-opencode/node_modules/opencode-linux-x64/bin/opencode",
                "test --all",
            ),
        };
        let this = env::current_exe()?;
        let mut programs = this.ancestors().map(|folder| folder.join(program));
        programs.find(|program| program.exists()).ok_or_else(|| {
            io::Error::other(format!(
                "{} is not installed in the build folder: `cargo xtask {command}` does that",
                self.name()
            ))
        })
    }
}

impl Hook {
    /// A hook for one event.
    pub fn new(event: impl Into<String>, command: impl Into<String>) -> Self {
        Self {
            event: event.into(),
            command: command.into(),
        }
    }
}

impl<'a> Run<'a> {
    /// A first run without hooks.
    pub fn new(client: Client, place: &'a Place, model: SocketAddr) -> Self {
        Self {
            client,
            place,
            home: "home",
            model,
            hooks: Vec::new(),
            scope: Scope::default(),
            trust: Trust::default(),
            session: Session::default(),
            prompt: "Do the thing.".to_owned(),
            limit: LIMIT,
        }
    }

    /// With a hook for the moment when the agent wants to stop.
    #[must_use]
    pub fn on_stop(self, command: impl Into<String>) -> Self {
        let event = self.client.stop_event();
        self.on(event, command)
    }

    /// With a hook for an event, by the client's name for it.
    #[must_use]
    pub fn on(mut self, event: &str, command: impl Into<String>) -> Self {
        self.hooks.push(Hook::new(event, command));
        self
    }

    /// With the gate as the hook that is asked when the agent wants to stop.
    #[must_use]
    pub fn gated(self) -> Self {
        let gate = binary().display();
        let command = match self.client {
            Client::ClaudeCode
            | Client::Codex
            | Client::Copilot
            | Client::Gemini
            | Client::OldClaudeCode => {
                let client = self.client.gate_name();
                format!("{gate} hook {client} --deadline {DEADLINE}")
            }
            // The plugin names the rest.
            Client::Opencode => gate.to_string(),
        };
        self.on_stop(command)
    }

    /// With the hooks configured there.
    #[must_use]
    pub fn configured_in(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// With hooks that nobody trusted.
    #[must_use]
    pub fn untrusted(self) -> Self {
        Self {
            trust: Trust::Withheld,
            ..self
        }
    }

    /// By a person with this home.
    #[must_use]
    pub fn at_home(self, home: &'static str) -> Self {
        Self { home, ..self }
    }

    /// As the next prompt of the last session.
    #[must_use]
    pub fn resumed(self) -> Self {
        Self {
            session: Session::Resumed,
            ..self
        }
    }

    /// Writes the configuration, runs the client to its end and tells what became of it.
    pub fn start(&self) -> io::Result<Ended> {
        let start = match self.client {
            Client::ClaudeCode | Client::OldClaudeCode => claude_code::prepare(self)?,
            Client::Codex => codex::prepare(self)?,
            Client::Copilot => copilot::prepare(self)?,
            Client::Gemini => gemini::prepare(self)?,
            Client::Opencode => opencode::prepare(self)?,
        };
        let mut command = Command::new(self.client.program()?);
        command
            .current_dir(self.place.work())
            .args(&start.arguments)
            .env_clear();
        git::apart(&mut command)
            .envs([self.place.mark.variable()])
            .envs(self.common_environment()?)
            .envs(start.environment);
        limited::run(&mut command, self.limit, &self.beside("logs")?)
    }

    /// What every client gets of the environment: nothing that leads to the person's own files, or outside.
    fn common_environment(&self) -> io::Result<Vec<(&'static str, String)>> {
        let path = |path: &Path| path.display().to_string();
        let home = self.home();
        Ok(vec![
            ("PATH", env::var("PATH").unwrap_or_default()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "dumb".to_owned()),
            ("HOME", path(&home)),
            ("TMPDIR", path(&self.beside("temporary")?)),
            ("XDG_CONFIG_HOME", path(&home.join(".config"))),
            ("XDG_DATA_HOME", path(&home.join(".local/share"))),
            // The same for all homes: there the loops of a place are.
            ("XDG_STATE_HOME", path(&self.place.beside(STATE))),
            ("XDG_CACHE_HOME", path(&home.join(".cache"))),
            ("HTTP_PROXY", DEAD_PROXY.to_owned()),
            ("HTTPS_PROXY", DEAD_PROXY.to_owned()),
            ("NO_PROXY", "127.0.0.1,localhost".to_owned()),
        ])
    }

    fn home(&self) -> PathBuf {
        self.place.beside(self.home)
    }

    /// A folder of this person, beside the home.
    fn beside(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.place.beside(&format!("{}-{name}", self.home));
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }
}

/// The hooks in the shape that Claude Code, Codex and Gemini share, with the unit of their time limit.
fn claude_hooks(hooks: &[Hook], timeout: u64) -> Value {
    let mut events = Map::new();
    for hook in hooks {
        let groups = events
            .entry(hook.event.clone())
            .or_insert_with(|| json!([]));
        let group = json!({ "hooks": [{ "type": "command", "command": hook.command, "timeout": timeout }] });
        if let Some(groups) = groups.as_array_mut() {
            groups.push(group);
        }
    }
    events.into()
}

/// Writes a file, with the folders above it; whoever reads it meanwhile finds the whole text, the old one or the new.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}
