//! The command line: arguments in, text out. What is decided is decided by the gate.

mod answer;
mod args;
#[cfg(unix)]
mod audit;
#[cfg(unix)]
mod client_loop;
#[cfg(unix)]
mod clients;
mod completions;
mod component;
#[cfg(unix)]
mod config;
mod contract;
#[cfg(unix)]
mod doctor;
mod error;
mod evaluate;
mod excerpt;
#[cfg(unix)]
mod experiment;
mod fingerprint;
mod help;
mod history;
#[cfg(unix)]
mod hook;
#[cfg(unix)]
mod import;
#[cfg(unix)]
mod init;
mod input;
#[cfg(unix)]
mod loops;
#[cfg(unix)]
mod man;
#[cfg(unix)]
mod memory;
#[cfg(unix)]
mod policy;
mod promise;
#[cfg(unix)]
mod report;
mod route;
#[cfg(unix)]
mod run;
mod schema;
#[cfg(all(unix, feature = "serve"))]
mod serve;
mod signal;
#[cfg(unix)]
mod telemetry;
mod terminal;
mod usage;
mod version;
mod words;
mod wrap;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock};

use clap::FromArgMatches as _;
use ralph_gate::engine::GateEngine;

use args::{Args, Command, ContractCommand};
use error::CliError;
use terminal::{ErrorForm, Terminal};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command did what it was asked.
    Success,
    /// It could not, or what it checked has a problem.
    Error,
    /// The agent must go on (`evaluate --exit-code`).
    Continue,
    /// The loop ended, but not completed (`run`, `evaluate --exit-code`).
    Stopped,
    /// The loop was told to end, and has not ended yet (`cancel`, `override`).
    #[cfg(unix)]
    Ending,
    /// An operator completed the loop by hand (`run`).
    #[cfg(unix)]
    Overridden,
    /// What another process ended with.
    #[cfg(unix)]
    Code(i32),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Success => Self::SUCCESS,
            Exit::Error => Self::from(1),
            Exit::Continue => Self::from(2),
            Exit::Stopped => Self::from(3),
            #[cfg(unix)]
            Exit::Ending => Self::from(4),
            #[cfg(unix)]
            Exit::Overridden => Self::from(5),
            #[cfg(unix)]
            Exit::Code(code) => Self::from(u8::try_from(code).unwrap_or(1)),
        }
    }
}

/// Runs the command that the process was started with.
pub(crate) fn run() -> ExitCode {
    std::panic::set_hook(Box::new(report_defect));
    let args = match read_args() {
        Ok(args) => args,
        Err(error) => return usage::report(error).into(),
    };
    let terminal = Terminal::new(args.json, args.color).with_quiet(args.quiet);
    let form = match args.command {
        Command::Evaluate(_) if !args.json => ErrorForm::Both,
        _ if args.json => ErrorForm::Json,
        _ => ErrorForm::Text,
    };
    let entered = args.directory.as_deref().map_or(Ok(()), enter);
    match entered.and_then(|()| dispatch(args.command, &terminal)) {
        Ok(exit) => exit.into(),
        Err(error) => terminal.report(&error, form).into(),
    }
}

fn read_args() -> Result<Args, clap::Error> {
    #[cfg(unix)]
    if let Some(args) = args::HookArgs::usual() {
        return Ok(Args {
            json: false,
            color: args::Color::Auto,
            quiet: false,
            directory: None,
            command: Command::Hook(args),
        });
    }
    Args::from_arg_matches(&help::command().try_get_matches()?)
}

/// The directory that the process was started in, where another one was asked for.
static STARTED_IN: OnceLock<PathBuf> = OnceLock::new();

/// Changes to the directory that was asked for.
fn enter(directory: &Path) -> Result<(), CliError> {
    let changed = std::env::current_dir().and_then(|before| {
        STARTED_IN.get_or_init(|| before);
        std::env::set_current_dir(directory)
    });
    changed.map_err(|error| CliError::Usage {
        message: format!("-C {}: {error}", directory.display()),
    })
}

fn dispatch(command: Command, terminal: &Terminal) -> Result<Exit, CliError> {
    match command {
        #[cfg(unix)]
        Command::Run(args) => run::run(&args, terminal),
        #[cfg(unix)]
        Command::Experiment(args) => experiment::run(&args, terminal),
        #[cfg(unix)]
        Command::Init(args) => init::run(&args, terminal),
        #[cfg(unix)]
        Command::Hook(args) => hook::run(&args),
        #[cfg(unix)]
        Command::Doctor => doctor::run(terminal),
        #[cfg(unix)]
        Command::Uninstall(args) => clients::uninstall(&args, terminal),
        #[cfg(unix)]
        Command::Loop { command } => client_loop::run(&command, terminal),
        #[cfg(unix)]
        Command::Status(args) => loops::status(&args.place, terminal),
        #[cfg(unix)]
        Command::Cancel(args) => loops::cancel(&args.place, terminal),
        #[cfg(unix)]
        Command::Override(args) => loops::override_loop(&args, terminal),
        #[cfg(unix)]
        Command::Logs(args) => loops::logs(&args, terminal),
        #[cfg(unix)]
        Command::Sessions(args) => loops::sessions(&args, terminal),
        #[cfg(all(unix, feature = "serve"))]
        Command::Serve(args) => serve::run(&args, terminal),
        #[cfg(unix)]
        Command::Audit(args) => audit::run(&args, terminal),
        Command::Evaluate(args) => evaluate::run(&args, terminal),
        Command::Replay(args) => history::replay(&args, terminal),
        Command::WhatIf(args) => history::what_if(&args, terminal),
        #[cfg(unix)]
        Command::Report(args) => report::run(&args, terminal),
        #[cfg(unix)]
        Command::Import(args) => import::run(&args, terminal),
        #[cfg(unix)]
        Command::ExportOtlp(args) => telemetry::export(&args, terminal),
        #[cfg(unix)]
        Command::Config { command } => config::run(&command, terminal),
        Command::Contract {
            command: ContractCommand::Check(args),
        } => contract::run(&args, terminal),
        Command::Route(args) => route::run(&args, terminal),
        Command::Promise(args) => promise::run(&args, terminal),
        Command::Fingerprint(args) => fingerprint::run(&args, terminal),
        Command::Signal(args) => signal::run(&args, terminal),
        #[cfg(unix)]
        Command::Memory { command } => memory::run(&command, terminal),
        #[cfg(unix)]
        Command::Policy { command } => policy::run(&command, terminal),
        Command::Schema { name } => schema::run(&name),
        Command::Version => version::run(terminal),
        Command::Component => component::run(),
        Command::Completions { shell } => completions::run(shell),
        #[cfg(unix)]
        Command::Man(args) => man::run(&args, terminal),
    }
}

/// The gate, loaded when the first question is asked: a wrong file name costs nothing. It is never unloaded,
/// because the end of the process does that faster.
fn gate() -> Result<&'static GateEngine, CliError> {
    static GATE: OnceLock<GateEngine> = OnceLock::new();
    static LOADING: Mutex<()> = Mutex::new(());
    // Where two threads want it at once, one of them loads it.
    let _loading = LOADING.lock();
    if let Some(gate) = GATE.get() {
        return Ok(gate);
    }
    let gate = GateEngine::new().map_err(|error| CliError::Engine { file: None, error })?;
    Ok(GATE.get_or_init(|| gate))
}

/// A panic is a defect. It is said in one sentence, without a backtrace, and ends with the exit code of
/// every other error.
fn report_defect(info: &std::panic::PanicHookInfo<'_>) {
    #[cfg(unix)]
    run::restore();
    let place = info
        .location()
        .map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    let _ = writeln!(
        std::io::stderr(),
        "error: ralph-gate has a defect{place}: {}\nhelp: please report it with the command and its input",
        info.payload_as_str().unwrap_or("no message")
    );
    std::process::exit(1);
}
