//! Looks whether the hooks of clients are there and can be reached, and what else would be in their way.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_gate_component::Word as _;
use serde::Serialize;

use super::Harness;
use super::install::{Action, LoopDetection, Scope, Status, Target, Wanted, plan, status};
use super::person::look;
use super::project::find_config;
use crate::engine::GateEngine;
use crate::process::{self, Keep, Program, Stop};

/// How long a client may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much is kept of what it says.
const KEPT: usize = 1024;
/// The longest version, in characters.
const LONGEST: usize = 80;

/// What there is to know.
#[derive(Debug, Clone, Serialize)]
pub struct Examination {
    /// Each client of which anything was found.
    pub clients: Vec<ClientReport>,
    /// The loop of this folder.
    pub active_loop: LoopReport,
    /// The configuration of this folder, or why it can't be used.
    pub config: ConfigReport,
}

/// What is known of one client.
#[derive(Debug, Clone, Serialize)]
pub struct ClientReport {
    /// The client.
    pub client: Harness,
    /// Its version, if its program is in the path and says so.
    pub version: Option<String>,
    /// How often in a row it lets itself be told to go on; none if there is no limit that is known.
    pub cap: Option<u32>,
    /// Where its hooks are.
    pub hooks: Vec<HookReport>,
    /// What a person should do.
    pub problems: Vec<String>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// The hooks of one scope.
#[derive(Debug, Clone, Serialize)]
pub struct HookReport {
    /// Whose settings.
    pub scope: &'static str,
    /// What they run.
    pub command: Option<String>,
}

/// The loop of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum LoopReport {
    /// There is none.
    None,
    /// There is one, by whichever plugin.
    Active {
        /// Its file.
        file: PathBuf,
        /// The iteration that it is in.
        iteration: u32,
        /// Whose it is; the first session's that stops when absent.
        session: Option<String>,
    },
    /// Its file can't be used.
    Unreadable {
        /// Why.
        reason: String,
    },
}

/// The configuration of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ConfigReport {
    /// There is none: only loop files are gated.
    None,
    /// There is one.
    Found {
        /// Where.
        file: PathBuf,
    },
    /// It can't be used.
    Unreadable {
        /// Why.
        reason: String,
    },
}

/// Where to look.
#[derive(Clone, Copy)]
pub struct Surroundings<'s> {
    /// The project's folder.
    pub root: &'s Path,
    /// The person's home folder.
    pub home: &'s Path,
    /// Variables of the environment.
    pub variable: &'s dyn Fn(&str) -> Option<String>,
}

/// Looks at everything. Nothing is changed.
pub fn examine(gate: &GateEngine, surroundings: &Surroundings<'_>) -> Examination {
    let clients = Harness::ALL
        .iter()
        .map(|it| examine_client(*it, surroundings));
    Examination {
        clients: clients.flatten().collect(),
        active_loop: match look(gate, surroundings.root) {
            Ok(Some(found)) => LoopReport::Active {
                file: found.path,
                iteration: found.file.iteration,
                session: found.file.session_id,
            },
            Ok(None) => LoopReport::None,
            Err(error) => LoopReport::Unreadable {
                reason: error.to_string(),
            },
        },
        config: match find_config(surroundings.root) {
            Ok(None) => ConfigReport::None,
            Ok(Some(config)) => ConfigReport::Found { file: config.file },
            Err(error) => ConfigReport::Unreadable {
                reason: error.to_string(),
            },
        },
    }
}

/// None if there is neither the client nor a hook for it.
fn examine_client(harness: Harness, surroundings: &Surroundings<'_>) -> Option<ClientReport> {
    let version = version(harness, surroundings);
    let mut report = ClientReport {
        client: harness,
        version,
        cap: harness.cap(surroundings.variable),
        hooks: Vec::new(),
        problems: Vec::new(),
        notes: Vec::new(),
    };
    for scope in harness.scopes() {
        let target = Target {
            harness,
            scope: *scope,
            root: surroundings.root,
            home: surroundings.home,
        };
        report.look_at(&target, surroundings);
    }
    let is_known = report.version.is_some() || !report.hooks.is_empty();
    if report.hooks.is_empty() && report.problems.is_empty() && is_known {
        let help = format!(
            "no hook is registered: `ralph-gate init {}` does that",
            harness.as_str()
        );
        report.problems.push(help);
    }
    (is_known || !report.problems.is_empty()).then_some(report)
}

impl ClientReport {
    fn look_at(&mut self, target: &Target<'_>, surroundings: &Surroundings<'_>) {
        let scope = target.scope.as_str();
        match status(target) {
            Status::NotInstalled => return,
            Status::Installed { command } => {
                if target.harness != Harness::Opencode && !can_run(&command, surroundings) {
                    self.problems.push(format!(
                        "the hook of the {scope} settings runs {command}, which can't be started: run `ralph-gate init` again"
                    ));
                }
                self.hooks.push(HookReport {
                    scope,
                    command: Some(command),
                });
            }
            Status::Partly { missing } => {
                self.problems.push(format!(
                    "of the {scope} settings this is missing: {}; run `ralph-gate init` again",
                    missing.join(", ")
                ));
                self.hooks.push(HookReport {
                    scope,
                    command: None,
                });
            }
            Status::Unreadable(reason) => {
                self.problems.push(reason);
                return;
            }
        }
        let wanted = Wanted {
            command: Path::new("ralph-gate"),
            plugin: "",
            loop_detection: LoopDetection::Leave,
        };
        // What installing would say is what a person should know.
        if let Ok(plan) = plan(target, &Action::Install(wanted)) {
            self.notes.extend(plan.notes);
        }
    }
}

impl Harness {
    /// The settings that it has.
    fn scopes(self) -> &'static [Scope] {
        match self {
            Self::ClaudeCode => &[Scope::Project, Scope::Local, Scope::User],
            _ => &[Scope::Project],
        }
    }

    /// What its program is called.
    fn program(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor-agent",
            Self::Opencode => "opencode",
        }
    }
}

/// The first line of what a client says about itself.
fn version(harness: Harness, surroundings: &Surroundings<'_>) -> Option<String> {
    let argv = [harness.program(), "--version"].map(str::to_owned).into();
    let program = program(argv, surroundings);
    let ended = process::run(&program, &Stop::new().ok()?, &mut |_| ()).ok()?;
    let said = ended.stdout.text();
    let line = said.lines().find(|line| !line.trim().is_empty())?;
    Some(line.trim().chars().take(LONGEST).collect())
}

fn can_run(command: &str, surroundings: &Surroundings<'_>) -> bool {
    process::can_start(&program(vec![command.to_owned()], surroundings)).is_ok()
}

fn program(argv: Vec<String>, surroundings: &Surroundings<'_>) -> Program {
    Program {
        argv,
        directory: surroundings.root.to_owned(),
        environment: std::env::vars_os().collect(),
        input: Vec::new(),
        timeout: PATIENCE,
        keep: Keep {
            head: KEPT,
            tail: 0,
        },
    }
}
