//! `ralph-gate policy`: make, look at, pin, run, test and measure policies.

mod args;
mod cases;
mod inspect;
mod new;
mod pin;
mod run;

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ralph_gate::config::WasiGrant;
use ralph_gate::evidence::{PolicyComponent, PolicyQuestion, PolicyRunner};
use ralph_gate::policy::{
    CodeCache, Compiler, Judgement, Policy, PolicyError, PolicyHost, PolicyLimits, Run, Shipped,
    Wasi,
};
use ralph_gate_component::Word as _;

use super::Exit;
use super::error::CliError;
use super::input::{Source, read_bytes};
use super::run::is_drawn;
use super::terminal::{Terminal, clean};
pub(crate) use args::PolicyCommand;
use args::{LimitArgs, PolicyArgs};

/// How a policy is named that this program carries.
const BUILT_IN: &str = "builtin:";

pub(crate) fn run(command: &PolicyCommand, terminal: &Terminal) -> Result<Exit, CliError> {
    match command {
        PolicyCommand::New(args) => new::make(args, terminal),
        PolicyCommand::Wrap(args) => new::wrap_module(args, terminal),
        PolicyCommand::Inspect(args) => inspect::run(args, terminal),
        PolicyCommand::Pin(args) => pin::run(args, terminal),
        PolicyCommand::Run(args) => run::run(args, terminal),
        PolicyCommand::Test(args) => cases::test(args, terminal),
        PolicyCommand::Bench(args) => cases::bench(args, terminal),
        PolicyCommand::Compile => {
            ralph_gate::policy::serve().map_err(|error| CliError::Output {
                reason: error.to_string(),
            })?;
            Ok(Exit::Success)
        }
    }
}

/// Runs the policies of loops. Nothing is made before the first one is asked.
#[derive(Debug)]
pub(crate) struct Policies {
    host: OnceLock<Result<PolicyHost, PolicyError>>,
    /// Whether a person is told when one is compiled.
    tells: bool,
}

impl Policies {
    /// Tells on standard error which policy is compiled.
    pub(crate) fn shared(terminal: &Terminal) -> Arc<dyn PolicyRunner> {
        Arc::new(Self {
            host: OnceLock::new(),
            tells: !terminal.is_quiet(),
        })
    }

    /// Tells nothing.
    pub(crate) fn silent() -> Arc<dyn PolicyRunner> {
        Arc::new(Self {
            host: OnceLock::new(),
            tells: false,
        })
    }
}

impl PolicyRunner for Policies {
    fn judge(&self, question: &PolicyQuestion<'_>) -> Result<Run<Judgement>, PolicyError> {
        let host = self.host.get_or_init(|| host(Cached::Usual));
        let host = host.as_ref().map_err(Clone::clone)?;
        if let PolicyComponent::Pinned(bytes) = question.component
            && self.tells
            && !is_drawn()
            && !host.is_compiled(bytes)
        {
            let _ = io::stderr().write_all(compiling(question.check).as_bytes());
        }
        host.judge(question)
    }
}

/// What is said while a policy is compiled, which can take seconds.
fn compiling(policy: &str) -> String {
    format!("compiling policy {}\n", clean(policy))
}

/// Whether compiled code is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cached {
    /// Where it usually is.
    Usual,
    /// Nowhere.
    No,
}

fn host(cached: Cached) -> Result<PolicyHost, PolicyError> {
    let failed = |error: io::Error| PolicyError::Host {
        reason: error.to_string(),
    };
    let compiler = Compiler::this_program().map_err(failed)?;
    let place = CodeCache::usual_place(|name| std::env::var(name).ok());
    // Without a cache everything takes longer, and nothing else.
    let cache = place.filter(|_| cached == Cached::Usual);
    let cache = cache.and_then(|place| CodeCache::open(&place).ok());
    PolicyHost::new(compiler, cache)
}

/// A component that a person named.
enum Named {
    File { source: Source, bytes: Vec<u8> },
    BuiltIn(Shipped),
}

impl PolicyArgs {
    fn read(&self) -> Result<Named, CliError> {
        if let Some(name) = self.file.to_str().and_then(|it| it.strip_prefix(BUILT_IN)) {
            let shipped = Shipped::ALL.iter().find(|it| it.as_str() == name);
            return shipped
                .map(|it| Named::BuiltIn(*it))
                .ok_or_else(|| CliError::Usage {
                    message: format!(
                        "there is no {BUILT_IN}{name}; there are builtin:cel and builtin:rego"
                    ),
                });
        }
        let bytes = read_component(&self.file)?;
        Ok(Named::File {
            source: Source::File(self.file.clone()),
            bytes,
        })
    }

    fn wasi(&self) -> Wasi {
        match WasiGrant::parse(&self.wasi) {
            Some(WasiGrant::DenyAll) => Wasi::DenyAll,
            _ => Wasi::Absent,
        }
    }
}

fn read_component(file: &Path) -> Result<Vec<u8>, CliError> {
    read_bytes(file, PolicyLimits::default().component)
}

impl Named {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::File { bytes, .. } => bytes,
            Self::BuiltIn(shipped) => shipped.component(),
        }
    }

    fn load(
        &self,
        host: &PolicyHost,
        wasi: Wasi,
        limits: &PolicyLimits,
    ) -> Result<Arc<Policy>, CliError> {
        match self {
            Self::File { bytes, .. } => host.load(bytes, wasi, limits),
            Self::BuiltIn(shipped) => host.load_shipped(*shipped),
        }
        .map_err(|error| self.failed(error))
    }

    /// Says that it will be compiled, if so.
    fn announce(&self, host: &PolicyHost, terminal: &Terminal) {
        if let Self::File { source, bytes } = self
            && !host.is_compiled(bytes)
        {
            terminal.warn(|_| compiling(&source.to_string()));
        }
    }

    fn failed(&self, error: PolicyError) -> CliError {
        CliError::Policy {
            policy: match self {
                Self::File { source, .. } => source.to_string(),
                Self::BuiltIn(shipped) => format!("{BUILT_IN}{}", shipped.as_str()),
            },
            error,
        }
    }
}

impl LimitArgs {
    fn limits(&self) -> PolicyLimits {
        let usual = PolicyLimits::default();
        PolicyLimits {
            fuel: self.fuel.unwrap_or(usual.fuel),
            time: self.timeout_ms.map_or(usual.time, Duration::from_millis),
            memory: self.max_memory_bytes.unwrap_or(usual.memory),
            compile_time: self
                .compile_timeout_ms
                .map_or(usual.compile_time, Duration::from_millis),
            ..usual
        }
    }
}
