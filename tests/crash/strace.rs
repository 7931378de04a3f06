//! Runs a worker under strace, which kills it or lets one of its system calls fail.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, ensure};

/// What is done to one call of the worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The process is killed when it makes the call.
    Kill,
    /// The call is not made, and fails with this error.
    Error(&'static str),
    /// The call is not made, and claims that one byte was written.
    OneByte,
}

impl Fault {
    fn injection(&self) -> String {
        match self {
            Self::Kill => "signal=SIGKILL".to_owned(),
            Self::Error(name) => format!("error={name}"),
            Self::OneByte => "retval=1".to_owned(),
        }
    }
}

fn worker(root: &Path, saves: u64) -> Result<[String; 4]> {
    let program = std::env::current_exe()?;
    Ok([
        program.display().to_string(),
        "work".to_owned(),
        root.display().to_string(),
        saves.to_string(),
    ])
}

/// How often the worker makes each system call.
pub(crate) fn count(root: &Path, saves: u64) -> Result<BTreeMap<String, u64>> {
    let log = root.with_extension("strace");
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&log)
        .args(worker(root, saves)?)
        .stdin(Stdio::null())
        .output()
        .context("strace")?;
    ensure!(
        output.status.success(),
        "the worker fails on its own: {output:?}"
    );
    let text = std::fs::read_to_string(&log)?;
    std::fs::remove_file(&log)?;
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        // `123 openat(…) = 3`
        let call = line
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start();
        let name: String = call
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        if !name.is_empty()
            && call
                .get(name.len()..)
                .is_some_and(|rest| rest.starts_with('('))
        {
            *counts.entry(name).or_default() += 1;
        }
    }
    Ok(counts)
}

/// Runs the worker, and does that to the call with that number.
pub(crate) fn run(
    root: &Path,
    saves: u64,
    call: &str,
    number: u64,
    fault: &Fault,
) -> Result<Output> {
    let injection = format!("inject={call}:{}:when={number}", fault.injection());
    Command::new("strace")
        .args([
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            &format!("trace={call}"),
            "-e",
            &injection,
        ])
        .args(worker(root, saves)?)
        .stdin(Stdio::null())
        .output()
        .context("strace")
}
