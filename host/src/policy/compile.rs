//! Compiling, in a process of its own: neither fuel nor epochs bound a compiler, and a component of two megabytes was
//! seen to keep one busy for minutes.
//!
//! The child ([`serve`]) watches itself and says which limit it reached; the parent ([`compile`]) kills it if it says
//! nothing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{panic, thread};

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::code::OwnCode;
use super::config;
use super::error::PolicyError;
use super::limits::PolicyLimits;
use crate::process::{self, Ended, Keep, Program, Status, Stop};

/// How often the child looks at itself.
const LOOK: Duration = Duration::from_millis(5);
/// How much longer than its limit the child may take before it is killed: it may be slow to say so.
const GRACE: Duration = Duration::from_secs(5);
/// The most that is read of what the child complains about.
const COMPLAINT: usize = 4000;
/// How the child ends if the compiler panics.
const PANICKED: i32 = 101;
/// The longest reason of the compiler that is handed on.
const REASON: usize = 400;

/// The program that compiles: one that calls [`serve`] with these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    /// The program and its arguments.
    pub argv: Vec<String>,
}

impl Compiler {
    /// The program that runs now, if it is `ralph-gate`.
    ///
    /// Not by its name: that may belong to another program by now.
    pub fn this_program() -> io::Result<Self> {
        let own = PathBuf::from("/proc/self/exe");
        let program = if own.exists() {
            own
        } else {
            std::env::current_exe()?
        };
        Ok(Self::at(program))
    }

    /// A `ralph-gate` somewhere.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        let program = program.into().to_string_lossy().into_owned();
        Self {
            argv: [program.as_str(), "policy", "compile"]
                .map(str::to_owned)
                .to_vec(),
        }
    }
}

/// What the child is asked, in front of the component.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    time_ms: u64,
    memory: u64,
    code: u64,
}

/// What the child answers, in front of the code.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Compiled,
    Invalid { reason: String },
    Time { observed_ms: u64 },
    Memory { observed: u64 },
    Code { observed: u64 },
}

/// Compiles a component for policies, or says which limit that reached.
pub(super) fn compile(
    compiler: &Compiler,
    component: &[u8],
    limits: &PolicyLimits,
    stop: &Stop,
) -> Result<OwnCode, PolicyError> {
    let order = Order {
        time_ms: u64::try_from(limits.compile_time.as_millis()).unwrap_or(u64::MAX),
        memory: limits.compile_memory,
        code: u64::try_from(limits.code).unwrap_or(u64::MAX),
    };
    let mut input = serde_json::to_vec(&order).map_err(PolicyError::host)?;
    input.push(b'\n');
    input.extend_from_slice(component);
    let program = Program {
        argv: compiler.argv.clone(),
        directory: PathBuf::from("/"),
        // The compiler needs nothing of what this process knows.
        environment: BTreeMap::<OsString, OsString>::new(),
        input,
        timeout: limits.compile_time.saturating_add(GRACE),
        keep: Keep {
            head: limits.code.saturating_add(COMPLAINT),
            tail: 0,
        },
    };
    let ended = process::run(&program, stop, &mut |_| {}).map_err(PolicyError::host)?;
    understand(ended, limits)
}

fn understand(mut ended: Ended, limits: &PolicyLimits) -> Result<OwnCode, PolicyError> {
    let mut output = std::mem::take(&mut ended.stdout.head);
    let line = output.iter().position(|byte| *byte == b'\n');
    let answer = line.and_then(|at| serde_json::from_slice(output.get(..at)?).ok());
    let answer: Answer = match (answer, ended.status) {
        (Some(answer), Status::Exited(0)) => answer,
        (_, Status::TimedOut) => {
            return Err(PolicyError::CompileTime {
                observed: ended.duration,
                limit: limits.compile_time,
            });
        }
        // Memory can run out faster than the child looks.
        (_, Status::Signaled(signal)) if is_out_of_memory(&ended, signal) => {
            return Err(PolicyError::CompileMemory {
                observed: hard_limit(limits.compile_memory),
                limit: limits.compile_memory,
            });
        }
        (_, status) => {
            return Err(PolicyError::Compiler {
                reason: format!("{status:?}"),
            });
        }
    };
    match answer {
        Answer::Compiled => {
            // What is left is the code, which may be large: it is not copied.
            output.drain(..=line.unwrap_or_default());
            Ok(OwnCode::compiled(output))
        }
        Answer::Invalid { reason } => Err(PolicyError::Invalid { reason }),
        Answer::Time { observed_ms } => Err(PolicyError::CompileTime {
            observed: Duration::from_millis(observed_ms),
            limit: limits.compile_time,
        }),
        Answer::Memory { observed } => Err(PolicyError::CompileMemory {
            observed,
            limit: limits.compile_memory,
        }),
        Answer::Code { observed } => Err(PolicyError::CodeTooLarge {
            observed,
            limit: limits.code,
        }),
    }
}

/// What Rust's allocator says before it gives up.
fn is_out_of_memory(ended: &Ended, signal: i32) -> bool {
    let complaint = String::from_utf8_lossy(&ended.stderr.head).into_owned();
    signal == rustix::process::Signal::ABORT.as_raw() && complaint.contains("memory allocation of")
}

/// What the system refuses, so that no single step leaps over the limit: an eighth more.
fn hard_limit(memory: u64) -> u64 {
    memory.saturating_add(memory / 8)
}

/// The child: reads an order and a component from standard input, and writes an answer and the code to standard output.
pub fn serve() -> io::Result<()> {
    let begun = Instant::now();
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    let line = input.iter().position(|byte| *byte == b'\n');
    let (order, component) = input.split_at(line.ok_or(io::ErrorKind::InvalidInput)?);
    let order: Order = serde_json::from_slice(order)?;
    let component = component.get(1..).unwrap_or_default();
    limit_memory(hard_limit(order.memory));
    // One answer, whoever gives it.
    let answering = Mutex::new(());
    thread::scope(|scope| {
        thread::Builder::new().spawn_scoped(scope, || watch(&order, begun, &answering))?;
        // A compiler that panics is not waited with until its time is over.
        let Ok(compiled) = panic::catch_unwind(|| compile_here(component)) else {
            std::process::exit(PANICKED);
        };
        let _answering = answering.lock();
        let done = match compiled {
            Err(reason) => answer(&Answer::Invalid { reason }, &[]),
            Ok(code) => {
                let observed = u64::try_from(code.len()).unwrap_or(u64::MAX);
                if observed > order.code {
                    answer(&Answer::Code { observed }, &[])
                } else {
                    answer(&Answer::Compiled, &code)
                }
            }
        };
        std::process::exit(i32::from(done.is_err()));
    })
}

fn limit_memory(bytes: u64) {
    // Where the system has no such limit, the child still looks at itself.
    let limit = Rlimit {
        current: Some(bytes),
        maximum: Some(bytes),
    };
    let _ = setrlimit(Resource::Data, limit);
}

/// Ends this process when it has reached a limit.
fn watch(order: &Order, begun: Instant, answering: &Mutex<()>) {
    loop {
        thread::sleep(LOOK);
        let observed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let reached = match resident() {
            Some(observed) if observed > order.memory => Answer::Memory { observed },
            _ if observed_ms > order.time_ms => Answer::Time { observed_ms },
            _ => continue,
        };
        let _answering = answering.lock();
        let done = answer(&reached, &[]);
        std::process::exit(i32::from(done.is_err()));
    }
}

/// Bytes of memory that this process uses now.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

fn compile_here(component: &[u8]) -> Result<Vec<u8>, String> {
    let short = |error: wasmtime::Error| {
        let reason = format!("{error:#}");
        crate::evidence::beginning_of(reason, REASON)
    };
    let config = config::config(None).map_err(short)?;
    let engine = wasmtime::Engine::new(&config).map_err(short)?;
    engine.precompile_component(component).map_err(short)
}

fn answer(answer: &Answer, code: &[u8]) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    let mut output = io::stdout().lock();
    output.write_all(&line)?;
    output.write_all(code)?;
    output.flush()
}
