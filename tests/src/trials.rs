//! Trials of policies: one policy in a process of its own, so that what it does to its host can be seen from outside.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use ralph_gate::policy::{
    Artifact, Counts, FindingOutcome, PolicyFinding, PolicyInput, PolicyLimits, Wasi,
};
use serde::{Deserialize, Serialize};

use crate::binary::{BUILT, binary};
use crate::extent::is_full;

/// What a policy may use in a trial: little, so that a trial is short. The compiler is the same in every profile, as the
/// crates that do the work are optimised in all of them, but beside the other tests it gets half of the time.
pub fn limits() -> PolicyLimits {
    PolicyLimits {
        component: 8 << 20,
        compile_time: Duration::from_secs(if is_full() { 10 } else { 5 }),
        compile_memory: 512 << 20,
        code: 32 << 20,
        fuel: 20_000_000,
        time: Duration::from_secs(2),
        memory: 64 << 20,
        read: 2 << 20,
        ..PolicyLimits::default()
    }
}

/// What every policy is asked.
pub fn input() -> PolicyInput {
    let artifact = |name: &str, bytes: Vec<u8>| Artifact {
        name: name.to_owned(),
        bytes: Arc::from(bytes),
        fresh: true,
    };
    PolicyInput {
        iteration: 3,
        findings: vec![PolicyFinding {
            id: "tests".to_owned(),
            kind: "tests_green".to_owned(),
            outcome: FindingOutcome::Fail,
            reason: "1 of 3 failed".to_owned(),
            tests: Some(Counts {
                passed: 2,
                failed: 1,
                skipped: 0,
            }),
            exit: Some(1),
        }],
        artifacts: vec![
            artifact("big", vec![b'a'; 1_500_000]),
            artifact("notes", b"nothing to see".to_vec()),
        ],
        settings: r#"{"level": 3}"#.to_owned(),
    }
}

/// What the process is told.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Order {
    /// Whether it gets the WASI that denies everything.
    pub deny_all: bool,
    /// How much fuel it gets, where that is not what all others get.
    pub fuel: Option<u64>,
    /// How often it is asked again, to see that it answers the same.
    pub repeats: u32,
}

impl Order {
    /// What the policy may use.
    pub fn limits(self) -> PolicyLimits {
        let usual = limits();
        PolicyLimits {
            fuel: self.fuel.unwrap_or(usual.fuel),
            ..usual
        }
    }

    /// What the policy gets.
    pub fn wasi(self) -> Wasi {
        if self.deny_all {
            Wasi::DenyAll
        } else {
            Wasi::Absent
        }
    }
}

/// What the process says at its end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Report {
    /// `judged`, or the code of the error.
    pub code: String,
    /// The outcome of its judgement.
    pub outcome: Option<String>,
    /// The reasons of its judgement.
    pub reasons: Vec<String>,
    /// The error in words.
    pub message: String,
    /// What was observed and what is allowed, where a limit was reached.
    pub reached: Option<(u64, u64)>,
    /// Units of fuel of the call that ended it.
    pub fuel: u64,
    /// Bytes of its log that were kept, and that it printed.
    pub log: (u64, u64),
    /// How long it took until there was an answer, compiling it among it.
    pub millis: u64,
    /// How often it was asked again.
    pub repeats: u32,
    /// The first answer that was not the one before.
    pub difference: Option<String>,
    /// The most memory that the host had at any time, in bytes.
    pub peak: u64,
    /// The same of the process that compiles, as far as it was seen.
    pub compiler_peak: u64,
    /// Files that the host had open at the end.
    pub files: usize,
    /// Threads that the host had at the end.
    pub threads: usize,
}

/// Tries a component in a process of its own. An error means that the process, which is the host, did not live to say
/// what became of it.
///
/// # Panics
///
/// If `ralph-gate` can't be built.
pub fn attempt(program: &Path, order: Order, component: &[u8]) -> Result<Report> {
    let mut child = Command::new(program)
        .arg(serde_json::to_string(&order)?)
        .env(BUILT, binary())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| program.display().to_string())?;
    let mut stdin = child.stdin.take().context("a pipe")?;
    stdin.write_all(component)?;
    drop(stdin);
    let output = child.wait_with_output()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("the host ended with {}: {complaint}", output.status);
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("no report: {complaint}"))
}
