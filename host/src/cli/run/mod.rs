//! `ralph-gate run`: any agent, until the evidence says done.

mod given;
mod json;
mod line;
mod live;
mod plain;
mod screen;
mod text;
mod watcher;

use std::path::{Path, PathBuf};
use std::process::Command;

use ralph_gate::config::{Config, ConfigDraft, ConfigError, Request, Task, starter};
use ralph_gate::engine::{Decision, Mode, Resumption, StopReason};
use ralph_gate::memory::SessionKey;
use ralph_gate::memory::course::add_label;
use ralph_gate::process::{self, Interruption, Reach, Role, Signals};
use ralph_gate::runner::{self, Control, Ended, Loop, Options, Resumed, RunError, Watch};

use super::args::RunArgs;
use super::error::CliError;
use super::excerpt::text_of;
use super::input::Input;
use super::policy::Policies;
use super::telemetry::{self, Both};
use super::terminal::{Severity, Terminal, clean, print};
use super::{Exit, STARTED_IN, gate};
use given::LoopConfig;
pub(super) use live::{Frame, Size, is_drawn, is_wanted, restore};
pub(super) use ralph_gate::runner::ending::words;
pub(super) use text::{iterations, running, seconds};
use watcher::Watcher;

/// The exit code of a process that was interrupted twice.
const INTERRUPTED: i32 = 130;
/// The longest task from standard input, in bytes.
const MAX_PROMPT: usize = 512 * 1024;
/// What a person should know where processes can't be found by their ancestry.
const GROUPS_ONLY: &str = "on this system only process groups can be killed, so what an agent moves to another group \
    may outlive the loop; run it in a container when that matters";

pub(crate) fn run(args: &RunArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let LoopConfig {
        draft,
        protects_by_default,
        runners,
    } = given::configuration(args)?;
    let (config, task) = route(args, draft)?;
    see_that_nothing_changed(args, &config, &task)?;
    // A server has routed the request itself. Its configuration may describe checks for requests to choose from.
    if args.owner.is_none() {
        config.ensure_asked(&task)?;
    }
    let is_standard = task.routing.mode == Mode::Standard;
    if is_standard || process::role() == Role::Inner {
        say_where(args, &config, terminal);
        if protects_by_default && !terminal.is_json() {
            let existing = starter::protected_files(&config.workspace, &args.checks);
            if let Some(line) = given::describe(&existing) {
                terminal.warn(|_| line);
            }
        }
        if let Some(line) = runners.filter(|_| !terminal.is_json()) {
            terminal.warn(|_| line);
        }
    }
    if is_standard {
        return standard(args, &config, &task, terminal);
    }
    match process::role() {
        Role::Outer => guarded(args, terminal),
        Role::Inner => looped(args, &config, &task, terminal),
    }
}

/// A configuration that is not in the current folder may not be the one that was expected.
fn say_where(args: &RunArgs, config: &Config, terminal: &Terminal) {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let is_elsewhere =
        here.is_ok_and(|here| config.workspace.canonicalize().is_ok_and(|it| it != here));
    if args.config.is_none() && is_elsewhere && !terminal.is_json() {
        let file = clean(&config.file.display().to_string());
        terminal.warn(|_| format!("using {file}\n"));
    }
}

/// Whoever started this may have said what it is to come to: an agent could have edited the files meanwhile.
fn see_that_nothing_changed(args: &RunArgs, config: &Config, task: &Task) -> Result<(), RunError> {
    let is_other = |expected: &Option<String>, found: Option<&str>| {
        expected.is_some() && expected.as_deref() != found
    };
    let text = config.text_digest();
    if is_other(&args.expect_config, Some(&text))
        || is_other(&args.expect_contract, task.routing.digest.as_deref())
    {
        return Err(RunError::ConfigChanged {
            file: config.file.clone(),
        });
    }
    Ok(())
}

/// The configuration that was named, or that of the current folder or of one above it.
pub(crate) fn load(named: Option<&Path>) -> Result<Config, CliError> {
    Ok(Config::load(&file(named)?)?)
}

/// The file of the configuration that is meant.
fn file(named: Option<&Path>) -> Result<PathBuf, ConfigError> {
    let file = match named {
        Some(file) => file.to_owned(),
        None => Config::find_upwards(Path::new("."))?,
    };
    // Agents and checks may change their folder.
    Ok(std::path::absolute(&file).unwrap_or(file))
}

fn route(args: &RunArgs, draft: ConfigDraft) -> Result<(Config, Task), CliError> {
    let request = request_file(args, draft.config());
    let request = request.as_deref().map(Request::load).transpose()?;
    let (config, mut task) = draft.route_loop(gate()?, request.as_ref())?;
    if let Some(key) = &args.session {
        let kind = if args.draft {
            SessionKey::Draft
        } else {
            SessionKey::Session
        };
        task.key = Some(kind(key.clone()));
    }
    if let Some(class) = &args.task_class {
        task.task_class = Some(class.clone());
    }
    for (name, value) in &args.labels {
        add_label(&mut task.labels, name, value).map_err(|error| CliError::Usage {
            message: format!("{error}; name it once with --label"),
        })?;
    }
    Ok((config, task))
}

/// The request that was named, or else, of a loop that is resumed, the one that it was started with.
fn request_file(args: &RunArgs, config: &Config) -> Option<PathBuf> {
    let absolute = |file: &PathBuf| std::path::absolute(file).unwrap_or_else(|_| file.clone());
    if args.request.is_some() || !args.resume {
        return args.request.as_ref().map(absolute);
    }
    let root = config.workspace.join(config.memory.root());
    let kind = if args.draft {
        SessionKey::Draft
    } else {
        SessionKey::Session
    };
    let named = args.session.clone().map(kind);
    let key = named
        .or_else(|| config.memory_key())
        .or_else(|| runner::newest(&root).ok())?;
    // One that is gone counts as changed: that is for an operator to accept.
    runner::recorded_request(&root, &key).filter(|file| file.exists())
}

impl RunArgs {
    fn options(&self, config: &Config, terminal: &Terminal) -> Result<Options, CliError> {
        let is_piped = self.prompt_file.as_deref() == Some(Path::new("-"));
        let piped = is_piped.then(|| Input::read_up_to(None, MAX_PROMPT));
        let piped = piped.transpose()?.map(|input| input.text);
        let named = self.config.iter();
        let file = named.map(|_| config.file.to_string_lossy().into_owned());
        let flag = self.config.iter().map(|_| "--config".to_owned());
        Ok(Options {
            argv: self.agent.clone(),
            prompt: piped.or_else(|| self.prompt.clone()),
            prompt_file: self.prompt_file.clone().filter(|_| !is_piped),
            adapter: self.adapter,
            request: request_file(self, config),
            resume_arguments: flag.chain(file).collect(),
            allow_green_start: self.allow_green_start,
            policies: Some(Policies::shared(terminal)),
        })
    }

    fn resumption(&self) -> Resumption {
        let user = || std::env::var("USER").unwrap_or_else(|_| "somebody".to_owned());
        Resumption {
            operator: self.operator.clone().unwrap_or_else(user),
            reason: self
                .reason
                .clone()
                .unwrap_or_else(|| "resumed on the command line".to_owned()),
            accept_contract: self.accept_contract,
        }
    }
}

/// The agent's own completion, untouched.
fn standard(
    args: &RunArgs,
    config: &Config,
    task: &Task,
    terminal: &Terminal,
) -> Result<Exit, CliError> {
    if args.resume {
        let message =
            "there is nothing to resume in standard mode; set `mode = \"ralph\"` in [contract]";
        return Err(CliError::Usage {
            message: message.to_owned(),
        });
    }
    if !terminal.is_json() {
        let applies = text::mode_and_reason((task.routing.mode, task.routing.reason));
        terminal.warn_always(|_| {
            format!("{applies}: no check is run, and the exit code is the agent's\n")
        });
        let options = args.options(config, terminal)?;
        return Ok(Exit::Code(runner::become_agent(config, &options)?));
    }
    let once = runner::run_once(gate()?, config, &args.options(config, terminal)?)?;
    print(&json::standard(task, &once))?;
    Ok(Exit::Code(once.exit))
}

/// The outer process: whoever kills it kills all of the loop.
fn guarded(args: &RunArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let ended = started_again(args.owner);
    if is_wanted(args.plain, terminal) {
        live::restore_after_other();
    }
    Ok(Exit::Code(ended?))
}

/// This program once more, with the same arguments and under guard. Gives its exit code.
pub(super) fn started_again(owner: Option<u32>) -> Result<i32, CliError> {
    let system = |error| {
        CliError::Run(RunError::System {
            what: "this program can't be started again",
            error,
        })
    };
    let mut inner = Command::new(std::env::current_exe().map_err(system)?);
    inner.args(std::env::args_os().skip(1));
    // The arguments are read again, and `-C` begins where this process began.
    if let Some(directory) = STARTED_IN.get() {
        inner.current_dir(directory);
    }
    Ok(process::guard(inner, owner)?)
}

/// The inner process: the loop itself.
fn looped(
    args: &RunArgs,
    config: &Config,
    task: &Task,
    terminal: &Terminal,
) -> Result<Exit, CliError> {
    let (signals, reach) = process::enter()?;
    if reach == Reach::Group {
        terminal.warn(|painter| format!("{} {GROUPS_ONLY}\n", painter.severity(Severity::Warning)));
    }
    let control = Control::new().map_err(|error| RunError::System {
        what: "the loop can't be controlled",
        error,
    })?;
    listen(signals, control.clone());
    for (file, problem) in &task.warnings {
        let source = text_of(file);
        let file = file.display().to_string();
        terminal.warn_always(|painter| {
            painter.problem(Severity::Warning, &file, problem, 0, source.as_deref())
        });
    }
    let exporter = telemetry::begin(config, terminal);
    let watcher = Watcher::new(args, terminal, control.clone());
    let both = Both {
        watch: &watcher,
        exporter: exporter.as_ref(),
    };
    let ended = go(args, config, task, &control, &both, terminal);
    // What is said from here on belongs below the view.
    drop(watcher);
    telemetry::end(exporter, terminal);
    Ok(exit(&ended?))
}

fn go(
    args: &RunArgs,
    config: &Config,
    task: &Task,
    control: &Control,
    watch: &dyn Watch,
    terminal: &Terminal,
) -> Result<Ended, CliError> {
    let options = args.options(config, terminal)?;
    if !args.resume {
        let begun = Loop::begin(gate()?, config, task, &options, control, watch)?;
        return Ok(begun.run()?);
    }
    let resumption = args.resumption();
    let resumed = Loop::resume(gate()?, config, task, &options, &resumption, control, watch)?;
    match resumed {
        Resumed::Open(open) => Ok(open.run()?),
        Resumed::Complete(ended) => Ok(*ended),
    }
}

/// The first interrupt ends the loop so that it can be resumed; the second one ends everything.
pub(super) fn listen(signals: Signals, control: Control) {
    let wait = move || {
        let mut interrupts = 0;
        for signal in signals {
            interrupts += u32::from(signal == Interruption::Interrupt);
            if interrupts > 1 {
                process::end_now(INTERRUPTED);
            }
            control.cancel();
        }
    };
    // Without it a signal ends the process by itself, and the guard the rest.
    let _ = std::thread::Builder::new()
        .name("interrupts".into())
        .spawn(wait);
}

/// What is passed through is the agent's own.
fn exit(ended: &Ended) -> Exit {
    match (ended.verdict.decision, ended.verdict.stop_reason) {
        (Decision::PassThrough, _) => ended.exit.map_or(Exit::Stopped, Exit::Code),
        (_, Some(StopReason::Completed)) if ended.verdict.overridden => Exit::Overridden,
        (_, Some(StopReason::Completed)) => Exit::Success,
        _ => Exit::Stopped,
    }
}
