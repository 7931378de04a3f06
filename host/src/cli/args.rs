//! The arguments of every command, with its help.

#[cfg(unix)]
use std::ffi::OsString;
#[cfg(unix)]
use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
#[cfg(unix)]
use clap::{Args as _, FromArgMatches as _};
use clap::{Parser, Subcommand, ValueEnum};
#[cfg(unix)]
use ralph_gate::config::{AdapterName, Promises};
#[cfg(unix)]
use ralph_gate::harness::Harness;
#[cfg(unix)]
use ralph_gate::memory::course::check_label;

/// Decide when an autonomous agent may stop: only when a contract it cannot edit is met by evidence it did
/// not write.
#[derive(Debug, Parser)]
#[command(name = "ralph-gate", version)]
#[command(after_help = "Examples:
  ralph-gate init
  ralph-gate run --prompt-file TASK.md -- claude -p
  ralph-gate evaluate --exit-code iteration.json
  ralph-gate contract check contract.yaml

Exit codes: 0 success, 1 error; `run` adds 3 stopped and 5 completed by an override, `evaluate --exit-code` 2 continue and 3 stopped.")]
pub(crate) struct Args {
    /// Print JSON, also for errors
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colour; `auto` is on a terminal, unless `NO_COLOR` is set
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub(crate) color: Color,
    /// Print only the result, warnings and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Change to this directory before anything else
    #[arg(short = 'C', global = true, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[cfg(unix)]
    Run(RunArgs),
    #[cfg(unix)]
    Experiment(ExperimentArgs),
    #[cfg(unix)]
    Init(InitArgs),
    #[cfg(unix)]
    Hook(HookArgs),
    #[cfg(unix)]
    Uninstall(UninstallArgs),
    /// Look whether the hooks of agent clients are there and can be reached, and what is in their way
    #[cfg(unix)]
    #[command(
        after_help = "Example:\n  ralph-gate doctor --json\n\nExit codes: 0 all is well, 1 there is a problem."
    )]
    Doctor,
    /// Begin, look at or end the loop of an agent client, as its slash commands do
    #[cfg(unix)]
    #[command(after_help = "Examples:
  ralph-gate loop start --max-iterations 20 --completion-promise COMPLETE \"make the tests pass\"
  ralph-gate loop cancel")]
    Loop {
        #[command(subcommand)]
        command: ClientLoopCommand,
    },
    #[cfg(unix)]
    Status(StatusArgs),
    #[cfg(unix)]
    Cancel(CancelArgs),
    #[cfg(unix)]
    Override(OverrideArgs),
    #[cfg(unix)]
    Logs(LogsArgs),
    #[cfg(unix)]
    Sessions(SessionsArgs),
    #[cfg(all(unix, feature = "serve"))]
    Serve(ServeArgs),
    #[cfg(unix)]
    Audit(AuditArgs),
    Evaluate(EvaluateArgs),
    Replay(ReplayArgs),
    WhatIf(WhatIfArgs),
    #[cfg(unix)]
    Report(ReportArgs),
    #[cfg(unix)]
    Import(TranscriptsArgs),
    #[cfg(unix)]
    ExportOtlp(OtlpArgs),
    /// Check a configuration
    #[cfg(unix)]
    #[command(after_help = "Example:\n  ralph-gate config check")]
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Work with contracts
    #[command(after_help = "Example:\n  ralph-gate contract check contract.yaml")]
    Contract {
        #[command(subcommand)]
        command: ContractCommand,
    },
    Route(RouteArgs),
    Promise(PromiseArgs),
    Fingerprint(FingerprintArgs),
    Signal(SignalArgs),
    /// Look at the memory of loops: show, verify, repair, export, import
    #[cfg(unix)]
    #[command(after_help = "Examples:
  ralph-gate memory list
  ralph-gate memory verify \"night run\"")]
    Memory {
        #[command(subcommand)]
        command: MemoryCommand,
    },
    /// Make, look at, pin, run, test and measure policies: checks that strangers wrote
    #[cfg(unix)]
    #[command(after_help = "Examples:
  ralph-gate policy new --lang js no-todo
  ralph-gate policy run builtin:cel --settings '{\"expr\": \"tests.failed == 0\"}' < evidence.json")]
    Policy {
        #[command(subcommand)]
        command: super::policy::PolicyCommand,
    },
    /// Print the JSON Schema of a file, with which an editor completes and checks it
    #[command(after_help = "Examples:
  ralph-gate schema contract > contract.schema.json
  ralph-gate schema routing
  ralph-gate schema event > event.schema.json")]
    Schema {
        /// What the file holds
        #[arg(value_parser = PossibleValuesParser::new(super::schema::names()))]
        name: String,
    },
    /// Show the version of the command and of the gate it carries
    #[command(after_help = "Example:\n  ralph-gate version --json")]
    Version,
    /// Write the gate component itself to standard output, for another engine
    #[command(after_help = "Example:\n  ralph-gate component > ralph-gate.wasm")]
    Component,
    /// Print a script that completes arguments in a shell
    #[command(
        after_help = "Example:\n  ralph-gate completions bash > ~/.local/share/bash-completion/completions/ralph-gate"
    )]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    #[cfg(unix)]
    Man(ManArgs),
}

#[cfg(unix)]
#[derive(Debug, Subcommand)]
pub(crate) enum ClientLoopCommand {
    Start(LoopStartArgs),
    /// Show the loop of this folder
    #[command(after_help = "Example:\n  ralph-gate loop status --json")]
    Status,
    /// End the loop of this folder; its file is kept beside the old place
    #[command(after_help = "Example:\n  ralph-gate loop cancel")]
    Cancel,
}

/// Begin a loop: the hook of the client holds its agent until the loop is over
///
/// Writes .claude/ralph-loop.local.md as the official Ralph plugin does. Where the folder has a ralph-gate.toml, its checks
/// must pass as well.
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate loop start --max-iterations 20 --completion-promise COMPLETE \"make the tests pass\"
  ralph-gate loop start --prompt-file TASK.md")]
pub(crate) struct LoopStartArgs {
    /// The most iterations; as many as the profile allows when absent
    #[arg(long, value_name = "N")]
    pub(crate) max_iterations: Option<u32>,
    /// The text that the agent promises when it is done
    #[arg(long, value_name = "TEXT")]
    pub(crate) completion_promise: Option<String>,
    /// The client's session; the first one that stops when absent
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// A file with the task
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub(crate) prompt_file: Option<PathBuf>,
    /// A file with the arguments of a slash command, as they were typed: the task with options among its words
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "prompt_file"])]
    pub(crate) arguments_file: Option<PathBuf>,
    /// The task; standard input when absent
    pub(crate) prompt: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContractCommand {
    Check(ContractCheckArgs),
}

#[cfg(unix)]
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    Check(ConfigCheckArgs),
}

/// Report every problem and weakness of a configuration, and what of it can't work here
///
/// Looks for programs and files as `ralph-gate run` does before it starts a loop. Nothing is run or written.
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate config check
  ralph-gate config check elsewhere/ralph-gate.toml --json

Exit codes: 0 `run` can start with it, also with warnings; 1 at least one problem.")]
pub(crate) struct ConfigCheckArgs {
    /// The configuration; standard input when `-`. By default ralph-gate.toml (or .yaml, .json) of the current directory or
    /// the nearest one above it: up to the root of the repository, or up to the home directory where there is none
    pub(crate) file: Option<PathBuf>,
}

/// Run an agent until the evidence says done
///
/// Each iteration is a fresh process of the agent. When it ends, the checks of the configuration are run, and the gate
/// decides whether the loop is over. Interrupted once, the loop stops so that it can be resumed; twice, at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate run --check 'pytest -q' --max-iters 5 --budget 2 --prompt \"make the tests pass\" -- claude -p
  ralph-gate run --prompt-file TASK.md -- claude -p
  ralph-gate run --json --prompt \"make the tests pass\" -- codex exec
  ralph-gate run --label arm=ralph --label task=parser --task-class bugfix
  ralph-gate run --resume

Exit codes: 0 completed, 5 completed by an operator's override, 3 stopped otherwise, 130 interrupted twice, 1 error; in
standard mode and in shadow that of the agent.")]
pub(crate) struct RunArgs {
    /// The configuration. By default ralph-gate.toml (or .yaml, .json) of the current directory or the nearest one above it:
    /// up to the root of the repository, or up to the home directory where there is none
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A command that must succeed, split into words without a shell; needs no configuration; can be given several times
    #[arg(long = "check", value_name = "COMMAND", value_parser = check)]
    pub(crate) checks: Vec<String>,
    /// The most iterations; wins over the contract
    #[arg(long = "max-iters", value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) iterations: Option<u32>,
    /// The most that the loop may cost, in US dollars; wins over the contract
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = budget)]
    pub(crate) budget: Option<String>,
    /// A request, whose fields win over those of [contract]; its mode is its own
    #[arg(long, value_name = "FILE")]
    pub(crate) request: Option<PathBuf>,
    /// The task
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt_file")]
    pub(crate) prompt: Option<String>,
    /// A file with the task; standard input when `-`
    #[arg(long, value_name = "FILE")]
    pub(crate) prompt_file: Option<PathBuf>,
    /// The session's key; a new one when absent, or with --resume the one that was written last
    #[arg(long, value_name = "KEY")]
    pub(crate) session: Option<String>,
    /// The key is a draft's id
    #[arg(long, requires = "session")]
    pub(crate) draft: bool,
    /// Mark the loop, for reports: `arm=ralph`; can be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = label, conflicts_with = "resume")]
    pub(crate) labels: Vec<(String, String)>,
    /// What kind of task it is, for reports; that of the request or of [contract] when absent
    #[arg(long, value_name = "NAME", value_parser = task_class, conflicts_with = "resume")]
    pub(crate) task_class: Option<String>,
    /// Which client the agent is, for one that is not told by its name: what it prints is read accordingly
    #[arg(long, value_name = "CLIENT", value_parser = adapter_parser())]
    pub(crate) adapter: Option<AdapterName>,
    /// Go on with a loop: the checks are run first
    #[arg(long)]
    pub(crate) resume: bool,
    /// Begin although every required check passes already and no promise is asked for
    #[arg(long, conflicts_with = "resume")]
    pub(crate) allow_green_start: bool,
    /// Accept the contract and checks as they are now, although the loop began with others
    #[arg(long, requires = "resume")]
    pub(crate) accept_contract: bool,
    /// Who resumes; the user's name when absent
    #[arg(long, value_name = "NAME", requires = "resume")]
    pub(crate) operator: Option<String>,
    /// Why it is resumed
    #[arg(long, value_name = "TEXT", requires = "resume")]
    pub(crate) reason: Option<String>,
    /// Print a line for each event, also on a terminal, instead of a view that is drawn again in place
    #[arg(long)]
    pub(crate) plain: bool,
    /// The process that started this one, whose end is also the loop's
    #[arg(long, value_name = "PID", hide = true)]
    pub(crate) owner: Option<u32>,
    /// The digest of the configuration's text; with another one, nothing is run
    #[arg(long, value_name = "DIGEST", hide = true)]
    pub(crate) expect_config: Option<String>,
    /// What the contract must come to; otherwise nothing is run
    #[arg(long, value_name = "DIGEST", hide = true)]
    pub(crate) expect_contract: Option<String>,
    /// The agent and its arguments; those of [agent] when absent
    #[arg(last = true, value_name = "AGENT")]
    pub(crate) agent: Vec<String>,
}

/// Run a set of tasks in two arms, so that a report can compare them
///
/// The plan says which tasks, which two contracts, how often, and by which metric they are compared. Each run is a process
/// of `ralph-gate run` in a fresh copy of its task's folder. What is planned is written down before the first run, and may not
/// change after it. Interrupted, even killed, it goes on where it stopped when it is started again.
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate experiment plan.toml --dry-run
  ralph-gate experiment plan.toml
  ralph-gate experiment plan.toml --json | jq -r 'select(.event == \"ended\") | .run.id'

The plan:
  name = \"tests-first\"
  seed = 7
  primary_metric = \"false_complete_rate\"
  agent = [\"my-agent\", \"--task\", \"{task}\"]
  [arms.standard]
  enforcement = \"shadow\"
  [arms.ralph]
  enforcement = \"enforce\"
  [[tasks]]
  id = \"fix-parser\"
  class = \"bugfix\"
  folder = \"tasks/fix-parser\"
  prompt = \"Make the parser accept empty lists.\"
  audit = \"hidden/fix-parser.toml\"

Exit codes: 0 every run is done, 3 interrupted, 1 error.")]
pub(crate) struct ExperimentArgs {
    /// The plan, as TOML, YAML or JSON
    pub(crate) plan: PathBuf,
    /// The folder for the results; that of the plan when absent
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// How many runs at a time; with more than one, runs can disturb each other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) jobs: u8,
    /// Look at everything and print the order, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print a line for each run, also on a terminal, instead of a bar that is drawn again in place
    #[arg(long)]
    pub(crate) plain: bool,
}

/// Write a ralph-gate.toml that fits this folder, or install the hooks of an agent client
///
/// Without a client: looks for tests of Python, JavaScript, Deno, Rust, Go, JVM, .NET, Elixir, PHP, Ruby, Swift, `CMake` and Dart
/// projects and for those of a task runner (make, just, Task, mise, scripts), and makes a check of each way of testing that it
/// finds. Nothing is overwritten. In a git repository, `.ralph/` is added to .gitignore unless it is ignored already.
///
/// With a client: puts hooks that call `ralph-gate hook` into its settings, shows the difference, and leaves every other
/// setting as it is. `ralph-gate uninstall` takes exactly that out again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate init
  ralph-gate init --agent codex --yes
  ralph-gate init --dry-run
  ralph-gate init claude-code
  ralph-gate init codex --dry-run")]
pub(crate) struct InitArgs {
    /// The client whose hooks are installed
    #[arg(value_parser = harness_parser(), value_name = "CLIENT", conflicts_with_all = ["agent", "yes", "force", "no_gitignore"])]
    pub(crate) client: Option<Harness>,
    /// Whose settings: the project's, those of this copy of it, or the person's
    #[arg(long, value_enum, value_name = "SCOPE", default_value_t = HookScope::Project, requires = "client")]
    pub(crate) scope: HookScope,
    /// The program that the hooks run; when absent this one, by its name where it is in the PATH
    #[arg(long, value_name = "PATH", requires = "client")]
    pub(crate) command: Option<PathBuf>,
    /// Leave Gemini's own detection of loops on, which may end a loop early
    #[arg(long, requires = "client")]
    pub(crate) keep_loop_detection: bool,
    /// Who does the work; asked on a terminal, claude otherwise
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,
    /// Ask nothing
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write a new one although there is one; the old one is kept as .bak
    #[arg(long)]
    pub(crate) force: bool,
    /// Leave .gitignore alone
    #[arg(long)]
    pub(crate) no_gitignore: bool,
}

/// Print the manual page, or write that of every command into a directory
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate man | man -l -
  ralph-gate man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The directory, which is created where there is none
    #[arg(value_name = "DIR")]
    pub(crate) pages: Option<PathBuf>,
}

/// Take the hooks of an agent client out of its settings, and nothing else
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate uninstall claude-code
  ralph-gate uninstall codex --dry-run")]
pub(crate) struct UninstallArgs {
    /// The client
    #[arg(value_parser = harness_parser(), value_name = "CLIENT")]
    pub(crate) client: Harness,
    /// Whose settings
    #[arg(long, value_enum, value_name = "SCOPE", default_value_t = HookScope::Project)]
    pub(crate) scope: HookScope,
    /// Show the difference and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Whose settings are meant.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookScope {
    Project,
    Local,
    User,
}

/// An agent that `init` knows how to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentName {
    Claude,
    Codex,
    Gemini,
    Other,
}

/// Answer an agent client that asks whether its agent may stop
///
/// Reads the client's event from standard input and prints what that client understands: nothing where the agent may
/// stop, or one JSON object. `ralph-gate init <client>` puts it into the client's settings. It always answers before the
/// deadline and always exits with 0: clients take anything else for leave to stop. What was asked and answered is in
/// ~/.local/state/ralph-gate/hook.log, a JSON object a line.
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate hook claude-code < event.json
  ralph-gate hook codex --deadline 50")]
pub(crate) struct HookArgs {
    /// The client; recognised by its event when absent
    #[arg(value_parser = harness_parser(), value_name = "CLIENT")]
    pub(crate) harness: Option<Harness>,
    /// Answer after so many seconds, whatever is known then; less than the client's own timeout
    #[arg(long, value_name = "SECONDS", default_value_t = 570, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) deadline: u32,
    /// Count promises as the official Ralph plugin does: anywhere, and without tags if nothing else was said
    #[arg(long)]
    pub(crate) compat: bool,
    /// Run the checks and answer whoever asks next
    #[arg(long, hide = true)]
    pub(crate) attend: bool,
    /// What is wrong with the arguments. The event is answered all the same.
    #[arg(skip)]
    pub(crate) problem: Option<String>,
    /// The event, where standard input was read already.
    #[arg(skip)]
    pub(crate) event: Option<Vec<u8>>,
}

/// How long a program that was started without arguments waits for an event, in milliseconds.
#[cfg(unix)]
const EVENT_TIMEOUT_MS: i64 = 500;

#[cfg(unix)]
impl HookArgs {
    /// Those of this process, if a client started it as a hook. A client waits for hooks after every turn, and to parse the
    /// arguments of every other command takes longer than to parse these.
    ///
    /// A client takes an exit code other than 0 for leave to stop, so wrong arguments are no error where an event can be
    /// read: they are left out and named. Without arguments the event alone says what is asked, because several versions of
    /// Claude Code leave out the arguments of a hook.
    pub(crate) fn usual() -> Option<Self> {
        let given: Vec<OsString> = std::env::args_os().skip(1).collect();
        match given.first() {
            None => Self::of_event(),
            Some(command) if command == "hook" => Self::of_arguments(&given),
            Some(_) => None,
        }
    }

    fn of_arguments(given: &[OsString]) -> Option<Self> {
        let parse = |given: &[OsString]| {
            let hook = Self::augment_args(clap::Command::new("hook"));
            let matches = hook.try_get_matches_from(given)?;
            Self::from_arg_matches(&matches)
        };
        let error = match parse(given) {
            Ok(args) => return Some(args),
            Err(error) => error,
        };
        // Whoever asks for help, or types this on a terminal, is no client.
        if !error.use_stderr() || std::io::stdin().is_terminal() {
            return None;
        }
        let known = |argument: &&OsString| {
            let with_it = [OsString::from("hook"), (*argument).clone()];
            parse(&with_it).is_ok()
        };
        let (command, arguments) = given.split_first()?;
        let known: Vec<OsString> = arguments.iter().filter(known).cloned().collect();
        // Several of them may still not go together.
        let left = [vec![command.clone()], known].concat();
        let args = parse(&left).or_else(|_| parse(std::slice::from_ref(command)));
        let message = error.to_string();
        let message = message.lines().next().unwrap_or_default();
        args.ok().map(|args| Self {
            problem: Some(message.trim_start_matches("error: ").to_owned()),
            ..args
        })
    }

    /// Without arguments: an event on standard input that some client sends.
    fn of_event() -> Option<Self> {
        if std::io::stdin().is_terminal() || !is_readable(&std::io::stdin()) {
            return None;
        }
        let mut event = Vec::new();
        let longest = ralph_gate::harness::LONGEST as u64 + 1;
        std::io::stdin()
            .lock()
            .take(longest)
            .read_to_end(&mut event)
            .ok()?;
        // An event that can't be answered must be said to be so; anything else is no event.
        let is_event = event.trim_ascii_start().starts_with(b"{");
        let mut args = Self::of_arguments(&[OsString::from("hook")])?;
        args.event = Some(event).filter(|_| is_event);
        args.event.is_some().then_some(args)
    }

    /// Which promises count.
    pub(crate) fn promises(&self) -> Promises {
        if self.compat {
            Promises::Official
        } else {
            Promises::Contract
        }
    }
}

/// Whether something can be read from a descriptor soon.
#[cfg(unix)]
fn is_readable(descriptor: &impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let descriptor = descriptor.as_fd();
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: EVENT_TIMEOUT_MS * 1_000_000,
    };
    let mut fds = [PollFd::new(&descriptor, PollFlags::IN)];
    poll(&mut fds, Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// The clients, by their names; Claude Code also by that of its program.
#[cfg(unix)]
fn harness_parser() -> impl clap::builder::TypedValueParser<Value = Harness> {
    use clap::builder::{PossibleValue, TypedValueParser as _};
    use ralph_gate_component::Word as _;
    let values = Harness::ALL.iter().map(|harness| {
        let value = PossibleValue::new(harness.as_str());
        match harness {
            Harness::ClaudeCode => value.alias(CLAUDE),
            _ => value,
        }
    });
    PossibleValuesParser::new(values).try_map(|name| {
        let named = |harness: &&Harness| {
            harness.as_str() == name || (**harness == Harness::ClaudeCode && name == CLAUDE)
        };
        Harness::ALL
            .iter()
            .find(named)
            .copied()
            .ok_or("no such client")
    })
}

/// The program of Claude Code.
#[cfg(unix)]
const CLAUDE: &str = "claude";

/// Which loop is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct LoopArgs {
    /// The session's key; the one that is running, or that was written last, when absent
    pub(crate) key: Option<String>,
    /// The key is a draft's id
    #[arg(long, requires = "key")]
    pub(crate) draft: bool,
    /// The folder that holds the sessions; that of the configuration, or .ralph, when absent
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

/// Answer over HTTP: questions to the gate, and loops as streams of events
///
/// Questions that need no memory (POST /v1/evaluate-final and the like) are answered by the component that other engines run,
/// too. With a configuration, POST /v1/loops runs its agent until the evidence says done, and streams what happens. With a
/// store, PUT /v1/sessions/KEY begins a loop that somebody else runs, and the server keeps its state. GET /v1/openapi.json
/// describes every path, /metrics counts, /healthz answers.
///
/// It listens on this machine alone unless it has a token.
#[cfg(all(unix, feature = "serve"))]
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate serve
  ralph-gate serve --listen 127.0.0.1:0 --json | jq -r .address
  ralph-gate serve --listen 0.0.0.0:8080 --token-file token --config ralph-gate.toml
  ralph-gate serve --store /var/lib/ralph-gate/sessions
  curl -s localhost:8080/v1/evaluate-final -H 'content-type: application/json' -d @evaluation.json

Exit codes: 0 it was told to end, 1 error.")]
pub(crate) struct ServeArgs {
    /// The address and port; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: std::net::SocketAddr,
    /// A file with the token that requests must carry; needed beyond this machine
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The configuration whose agent and checks loops are run with; without one there are no loops
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Keep sessions for harnesses that run their loops themselves, in a folder; built with the feature `bucket` also in
    /// object storage, `s3://BUCKET/PREFIX`
    #[arg(long, value_name = "PLACE")]
    pub(crate) store: Option<String>,
    /// The most loops at the same time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) max_loops: u16,
    /// The most requests that are answered at the same time; others are told to try again
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_requests: u16,
    /// The most connections; idle ones make room for others
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_connections: u32,
    /// The longest body, in bytes; one that begins, resumes or ends a loop has at most 1 MiB
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, value_parser = clap::value_parser!(u32).range(1024..=33_554_432))]
    pub(crate) max_body: u32,
    /// How long requests and loops may take to end after the server was told to, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) grace: u16,
    /// Don't tell each request on standard error
    #[arg(long)]
    pub(crate) no_access_log: bool,
    /// Answer `/echo` with what it was sent: what the server takes without the gate
    #[arg(long, hide = true)]
    pub(crate) echo: bool,
}

/// Show how a loop goes
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate status
  ralph-gate status \"night run\" --json")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) place: LoopArgs,
}

/// End a running loop so that it can be resumed
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate cancel
  ralph-gate cancel \"night run\"

Exit codes: 0 no loop is running any more, 4 it was told to end and is still ending, 1 error.")]
pub(crate) struct CancelArgs {
    #[command(flatten)]
    pub(crate) place: LoopArgs,
}

/// Complete a loop by hand, running or not
///
/// Refused to every process that the loop itself started, and where the contract says `allow_override = false`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  ralph-gate override --operator ada --reason \"the last test needs hardware\"

Exit codes: 0 completed, 4 it was told to end and is still ending, 1 error, also if it ended otherwise.")]
pub(crate) struct OverrideArgs {
    #[command(flatten)]
    pub(crate) place: LoopArgs,
    /// Who decides
    #[arg(long, value_name = "NAME")]
    pub(crate) operator: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

/// List the sessions of loops: how each stands, the newest first
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate sessions
  ralph-gate sessions --json | jq -r '.sessions[].key | .session_key // .draft_id'")]
pub(crate) struct SessionsArgs {
    /// The folder that holds the sessions; that of the configuration, or .ralph, when absent
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Print the keys alone, one a line
    #[arg(long)]
    pub(crate) keys: bool,
}

/// Show what happened in a loop: when, why, and what the agent said
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate logs
  ralph-gate logs --last 20 --follow
  ralph-gate logs --agent
  ralph-gate logs --json | jq .event")]
pub(crate) struct LogsArgs {
    #[command(flatten)]
    pub(crate) place: LoopArgs,
    /// Only the newest events
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<usize>,
    /// Follow the loop as long as it runs
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Show all that is kept of what the agent printed
    #[arg(long)]
    pub(crate) agent: bool,
}

/// Find out afterwards whether a loop's work is complete, and append that to its log
///
/// Runs the loop's own checks again in the work as it is now, or with --config those of another file, which the agent need
/// not know: its contract names which are required, and its relative paths begin in the workspace. The work is complete if
/// every required check passes, incomplete if one fails, and otherwise unknown. What is found, with the names of the
/// checks, is in the log, where an agent that goes on can read it.
///
/// With --labels, what people found out is read from a table instead: CSV with the columns session (or run), truth
/// (complete, incomplete, unknown; also pass, fail, true, false, 1, 0), and if you like by and reason.
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate audit
  ralph-gate audit \"night run\" --config ~/hidden/strict.toml
  ralph-gate audit --labels labels.csv --dry-run

Exit codes: 0 complete, 3 incomplete, 1 unknown or error; with --labels 0 imported, 1 error, and then nothing was written.")]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    pub(crate) place: LoopArgs,
    /// Whose checks are run; those of the loop itself when absent
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A table of labels to import
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key", "config"])]
    pub(crate) labels: Option<PathBuf>,
    /// Who says so; the user's name when absent
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Tell what was found, and append nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Evaluate one iteration and print the verdict: one line of JSON, or words on a terminal
///
/// The input is one JSON object with the fields contract, snapshot and iteration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate evaluate iteration.json
  ralph-gate evaluate --exit-code < iteration.json && echo completed

Exit codes with --exit-code: 0 completed or passed through, 2 continue, 3 stopped otherwise, 1 error.")]
pub(crate) struct EvaluateArgs {
    /// The input; standard input when absent or `-`
    pub(crate) file: Option<PathBuf>,
    /// Let the exit code say what was decided
    #[arg(long)]
    pub(crate) exit_code: bool,
}

/// Report every problem and weakness of a contract
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate contract check contract.yaml
  ralph-gate contract check --format toml < contract.toml

Exit codes: 0 valid, also with warnings; 1 at least one problem.")]
pub(crate) struct ContractCheckArgs {
    /// The contract; standard input when absent or `-`
    pub(crate) file: Option<PathBuf>,
    /// How it is written; recognised from the file's extension or the text when absent
    #[arg(long, value_parser = PossibleValuesParser::new(["json", "yaml", "toml"]))]
    pub(crate) format: Option<String>,
}

/// Decide whether a request goes through the gate, and why
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate route request.json
  ralph-gate route request.yaml --policy routing.toml --json")]
pub(crate) struct RouteArgs {
    /// The request, as JSON, YAML or TOML; standard input when absent or `-`
    pub(crate) file: Option<PathBuf>,
    /// The routing policy, as JSON, YAML or TOML; the default one when absent
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

/// Evaluate every iteration of a log again, and see that the gate gives the same answers byte for byte
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate replay \"night run\"
  ralph-gate replay .ralph/*/events.jsonl
  ralph-gate replay --json .ralph/night-run-… | jq '.logs[].first_difference'

Exit codes: 0 every answer is the same and no log was changed, 1 one is not, or an error.")]
pub(crate) struct ReplayArgs {
    /// Keys of sessions, logs, or folders of sessions; the session that was written last when absent
    #[arg(value_name = "SESSION|LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// The contract that they were judged by, for logs that don't carry it; contract.json beside a log when absent
    #[arg(long, value_name = "FILE")]
    pub(crate) contract: Option<PathBuf>,
}

/// Replay logs under another contract: which decisions change, when the loop would have ended, and what that saves
///
/// The agent is taken to have done what it did. What it would have done after the recorded end is not known, and not guessed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate what-if --contract stricter.yaml .ralph/*/events.jsonl
  ralph-gate what-if --json --contract cheaper.toml .ralph/night-run-… | jq '.logs[].saved'")]
pub(crate) struct WhatIfArgs {
    /// Keys of sessions, logs, or folders of sessions; the session that was written last when absent
    #[arg(value_name = "SESSION|LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// The other contract, as JSON, YAML or TOML
    #[arg(long, value_name = "FILE")]
    pub(crate) contract: PathBuf,
}

/// Compare two sets of runs: whether the gate makes loops better, how sure that is, and what follows
///
/// An arm is a condition for runs (NAME=VALUE or NAME!=VALUE, several with commas), or logs: files, directories, patterns.
/// NAME is a label or one of client (such as claude-code, codex, gemini), source (`log` or `import`), mode, profile, enforcement,
/// task, `task_class`, ending, contract, gate, id. With conditions, the runs are those of LOG.
/// Every run counts, also those that crashed. What is not known is said, and never guessed.
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate report --before arm=standard --after arm=ralph runs
  ralph-gate report --before enforcement=shadow --after enforcement=enforce --by task_class
  ralph-gate report --before 'old/**/events.jsonl' --after .ralph --output report.html
  ralph-gate report --before imported.jsonl --after .ralph --format md --min-reduction 0.1
  ralph-gate report --before source=import --after source=log imported.jsonl .ralph
  ralph-gate report --before client=codex --after client=claude-code imported.jsonl")]
pub(crate) struct ReportArgs {
    /// Logs or folders of sessions to choose from; .ralph when absent
    #[arg(value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// The arm to compare with, such as mode=standard or source=import
    #[arg(long, required = true, value_name = "ARM")]
    pub(crate) before: Vec<String>,
    /// The arm to compare, such as mode=ralph or client=claude-code
    #[arg(long, required = true, value_name = "ARM")]
    pub(crate) after: Vec<String>,
    /// A part for each of these
    #[arg(long, value_parser = PossibleValuesParser::new(["task_class"]), value_name = "WHAT")]
    pub(crate) by: Option<String>,
    /// How it is written; by the name of the output file, else as a table
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
    /// The file to write; standard output when absent or `-`
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The metric that was chosen before the experiment; `false_complete_rate` when nothing says otherwise
    #[arg(long, value_name = "METRIC", value_parser = PossibleValuesParser::new(super::report::primary_metrics()))]
    pub(crate) primary: Option<String>,
    /// By how much the primary metric has to improve before the gate should be on by default: 0.05 is five points
    #[arg(long, value_name = "SHARE")]
    pub(crate) min_reduction: Option<String>,
    /// By how much the mean cost of a run may rise for that: 0.5 is by half
    #[arg(long, value_name = "SHARE")]
    pub(crate) max_cost_increase: Option<String>,
    /// A metric to leave out, for example `latency_ms` where times can't be compared
    #[arg(long, value_name = "METRIC", value_parser = PossibleValuesParser::new(super::report::metrics()))]
    pub(crate) omit: Vec<String>,
    /// The configuration whose section `report` counts; that of this folder when absent
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// How a report is written.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Table,
    Json,
    Md,
    Html,
}

/// Read the transcripts of agent clients as runs: what was claimed, what the last test said, how it ended
///
/// Reads sessions of Claude Code, Codex and Gemini, and loops of the official Ralph plugin among them, and writes a line of
/// JSON for each run. What a transcript does not tell is null or unknown, never guessed. A summary goes to standard error; with
/// --output it is what is printed. On a terminal, runs are only written to --output.
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate import --output before.jsonl
  ralph-gate import --project . --since 2026-01-01 --label arm=before > before.jsonl
  ralph-gate import ~/.codex/sessions/2026 --each-prompt --json --output runs.jsonl

Exit codes: 0 at least one run was found, 1 none, or an error. Each file that gave none is named with the reason.")]
pub(crate) struct TranscriptsArgs {
    /// Transcripts, folders of them, or state files of the official plugin; where the clients keep theirs when absent
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Only transcripts of this client
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(["claude-code", "codex", "gemini"]))]
    pub(crate) client: Option<String>,
    /// Only runs that began on this day or later, as YYYY-MM-DD in UTC
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// Only sessions in this folder, or below it
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Mark each run, as NAME=VALUE; `task` and `task_class` say what it worked on
    #[arg(long = "label", value_name = "NAME=VALUE")]
    pub(crate) labels: Vec<String>,
    /// A run for each prompt of a person, instead of one for a session
    #[arg(long)]
    pub(crate) each_prompt: bool,
    /// The file to write; standard output when absent or `-`
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Send the spans of logs to an OpenTelemetry collector, by OTLP over HTTP
///
/// A loop is a trace, an iteration is a span `invoke_agent` with its verdict as `gen_ai.evaluation.result`. `run` and hooks
/// send the same by themselves when `OTEL_EXPORTER_OTLP_ENDPOINT` or [telemetry] names an endpoint; ids don't change when it
/// is sent again.
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate export-otlp .ralph/*/events.jsonl --endpoint http://127.0.0.1:4318
  OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 ralph-gate export-otlp --json .ralph/night-run-…

Exit codes: 0 everything was taken, 1 an error.")]
pub(crate) struct OtlpArgs {
    /// Logs, or folders of sessions
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// Where a collector listens; what OpenTelemetry's variables say when absent
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// Send the task, the agent's output and the reasons of checks along
    #[arg(long)]
    pub(crate) content: bool,
    /// Only what ended at this moment or later, in milliseconds since 1970
    #[arg(long, value_name = "MS")]
    pub(crate) since: Option<u64>,
}

/// Find the promises in an agent's output and say why each one counts or not
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate promise output.txt
  agent | ralph-gate promise --rules lenient --json")]
pub(crate) struct PromiseArgs {
    /// The agent's output; standard input when absent or `-`
    pub(crate) file: Option<PathBuf>,
    /// Which promises count; strict when absent
    #[arg(long, value_parser = PossibleValuesParser::new(["strict", "lenient"]))]
    pub(crate) rules: Option<String>,
}

/// Fingerprint the work of one iteration, so that two of them can be compared
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate fingerprint iteration.json
  jq .iteration input.json | ralph-gate fingerprint --json")]
pub(crate) struct FingerprintArgs {
    /// The iteration, as JSON; standard input when absent or `-`
    pub(crate) file: Option<PathBuf>,
}

/// Decide the loop signal from the states of issues
///
/// The states are one JSON object with the fields issues and files, or the issue files themselves, whose
/// front matter holds the state.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ralph-gate signal states.json
  ralph-gate signal .work/agent/issues/*.md")]
pub(crate) struct SignalArgs {
    /// One JSON file, or any number of issue files (*.md); JSON from standard input when absent or `-`
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// List the sessions
    #[command(after_help = "Examples:
  ralph-gate memory list
  ralph-gate memory list --root /var/lib/loops --json")]
    List(RootArgs),
    /// Show what a session holds
    #[command(after_help = "Examples:
  ralph-gate memory show \"night run\"
  ralph-gate memory show 7f3a --draft --json")]
    Show(SessionArgs),
    /// Compare every file with what was saved, and find the first event that was edited, removed or moved
    #[command(after_help = "Examples:
  ralph-gate memory verify \"night run\"
  ralph-gate memory verify \"night run\" --json

Exit codes: 0 nothing is wrong, also if others edited what they may edit; 1 something is wrong.")]
    Verify(SessionArgs),
    /// Restore what a crash or somebody else took from a session; nothing is deleted
    #[command(after_help = "Example:\n  ralph-gate memory repair \"night run\"")]
    Repair(SessionArgs),
    /// Write a session as one file, to carry it elsewhere
    #[command(after_help = "Examples:
  ralph-gate memory export \"night run\" > session.jsonl
  ralph-gate memory export \"night run\" --output session.jsonl")]
    Export(ExportArgs),
    /// Make a session from an exported file
    #[command(after_help = "Examples:
  ralph-gate memory import session.jsonl
  ralph-gate memory import --root elsewhere/.ralph < session.jsonl")]
    Import(ImportArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RootArgs {
    /// The folder that holds the sessions
    #[arg(long, value_name = "DIR", default_value = ".ralph")]
    pub(crate) root: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SessionArgs {
    /// The session's key
    pub(crate) key: String,
    /// The key is a draft's id
    #[arg(long)]
    pub(crate) draft: bool,
    #[command(flatten)]
    pub(crate) root: RootArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// The file to write; standard output when absent or `-`
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The exported session; standard input when absent or `-`
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) root: RootArgs,
}

/// The clients whose output can be read, by their names.
#[cfg(unix)]
fn adapter_parser() -> impl clap::builder::TypedValueParser<Value = AdapterName> {
    use clap::builder::TypedValueParser as _;
    use ralph_gate_component::Word as _;
    let names = AdapterName::ALL.iter().map(|adapter| adapter.as_str());
    PossibleValuesParser::new(names)
        .try_map(|name| AdapterName::parse(&name).ok_or("no such client"))
}

/// A command of which a check can be made.
#[cfg(unix)]
fn check(text: &str) -> Result<String, String> {
    ralph_gate::config::check_command(text)?;
    Ok(text.to_owned())
}

/// An amount of money, as text: it never becomes a float.
#[cfg(unix)]
fn budget(text: &str) -> Result<String, String> {
    match ralph_gate::config::check_budget(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(_) if text.starts_with('-') => Err("a budget is not negative".to_owned()),
        Err(reason) => Err(format!("{reason}; write a decimal such as 2.50")),
    }
}

/// `NAME=VALUE`
#[cfg(unix)]
fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("a label is NAME=VALUE, for example `arm=ralph`")?;
    check_label(name, value).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), value.to_owned()))
}

/// A name that a report can show.
#[cfg(unix)]
fn task_class(text: &str) -> Result<String, String> {
    check_label("task_class", text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Args::command().debug_assert();
    }

    #[cfg(unix)]
    #[test]
    fn the_help_of_init_names_every_ecosystem_that_has_tests() {
        let command = Args::command();
        let about = command.find_subcommand("init").unwrap();
        let about = about.get_long_about().unwrap().to_string();
        for ecosystem in ralph_gate::config::catalogue::ALL {
            if !ecosystem.tests.is_empty() {
                assert!(about.contains(ecosystem.name), "{}", ecosystem.name);
            }
        }
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command) {
            // Not for people.
            if command.is_hide_set() {
                return;
            }
            let help = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                help.contains("Example") && help.contains("ralph-gate"),
                "`{}` has no example",
                command.get_name()
            );
            command.get_subcommands().for_each(check);
        }
        check(&Args::command());
    }
}
