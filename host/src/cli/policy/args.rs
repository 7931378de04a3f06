//! The arguments of `ralph-gate policy`.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use ralph_gate::config::WasiGrant;
use ralph_gate::policy::Language;
use ralph_gate_component::Word;

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Make a new project in a folder of its name, which builds and passes its cases
    #[command(after_help = "Examples:
  ralph-gate policy new no-todo
  ralph-gate policy new --lang python no-todo")]
    New(NewArgs),
    /// Make a component out of a core module, as a compiler for WebAssembly leaves it
    #[command(
        after_help = "Example:\n  ralph-gate policy wrap target/wasm32-unknown-unknown/release/policy.wasm -o policy.wasm"
    )]
    Wrap(WrapArgs),
    /// Show what a policy wants of its host, what it offers, and what it says of itself
    #[command(after_help = "Examples:
  ralph-gate policy inspect policy.wasm
  ralph-gate policy inspect builtin:cel --json

Exit codes: 0 it can be run, 1 it can't.")]
    Inspect(InspectArgs),
    /// Print the check for ralph-gate.toml, with the digest of the file
    #[command(after_help = "Examples:
  ralph-gate policy pin policies/no-todo.wasm
  ralph-gate policy pin policies/no-todo.wasm --write")]
    Pin(PinArgs),
    /// Let a policy judge evidence: JSON on standard input, none means empty
    #[command(after_help = "Examples:
  ralph-gate policy run policy.wasm < evidence.json
  ralph-gate policy run builtin:cel --settings '{\"expr\": \"iteration < 5\"}' --json

Exit codes: 0 it gave a judgement, 1 it gave none.")]
    Run(RunArgs),
    /// Compare what a policy makes of the cases in a file with what it should
    #[command(
        after_help = "Example:\n  ralph-gate policy test policy.wasm --cases cases.json

Exit codes: 0 all cases are as expected, 1 one is not."
    )]
    Test(CasesArgs),
    /// Measure a policy: how long it takes to compile, and fuel, time and memory of each case
    #[command(after_help = "Example:\n  ralph-gate policy bench policy.wasm --cases cases.json")]
    Bench(CasesArgs),
    /// Compile a policy, as a process of its own: for the host itself
    #[command(hide = true)]
    Compile,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// The language it is written in
    #[arg(long, value_name = "LANGUAGE", default_value = "rust", value_parser = words::<Language>())]
    pub(crate) lang: String,
    /// The policy's name: lower-case letters, digits and hyphens
    pub(crate) name: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WrapArgs {
    /// The core module
    #[arg(value_name = "CORE")]
    pub(crate) module: PathBuf,
    /// The component to write
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PinArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// The check's id; the policy's own name when absent
    #[arg(long, value_name = "ID")]
    pub(crate) check: Option<String>,
    /// Put the new digest into the configuration of this folder, where it pins this file
    #[arg(long)]
    pub(crate) write: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// The evidence; standard input when absent or `-`
    #[arg(long, value_name = "FILE")]
    pub(crate) evidence: Option<PathBuf>,
    /// What the policy is told beside it, as JSON
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) settings: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CasesArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// The file of cases
    #[arg(long, value_name = "FILE", default_value = "cases.json")]
    pub(crate) cases: PathBuf,
}

/// Which policy is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct PolicyArgs {
    /// The component, or `builtin:cel` or `builtin:rego`
    #[arg(value_name = "POLICY")]
    pub(crate) file: PathBuf,
    /// What it gets of WASI, which components with a standard library ask for
    #[arg(long, value_name = "GRANT", default_value = "none", value_parser = words::<WasiGrant>())]
    pub(crate) wasi: String,
}

/// What it may use.
#[derive(Debug, clap::Args)]
pub(crate) struct LimitArgs {
    /// How many instructions one call may use
    #[arg(long, value_name = "UNITS")]
    pub(crate) fuel: Option<u64>,
    /// How long one call may take, in milliseconds
    #[arg(long, value_name = "MS")]
    pub(crate) timeout_ms: Option<u64>,
    /// How much memory one call may have, in bytes
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_memory_bytes: Option<usize>,
    /// How long it may take to compile, in milliseconds
    #[arg(long, value_name = "MS")]
    pub(crate) compile_timeout_ms: Option<u64>,
}

/// Only these words.
fn words<W: Word + 'static>() -> PossibleValuesParser {
    PossibleValuesParser::new(W::ALL.iter().map(|word| word.as_str()))
}
