//! Runs a check's program, once or more often, and keeps what it printed.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::Finding;
use super::environment::Environment;
use super::gather::Scene;
use super::record::{Attempt, Stream, name_leftover};
use crate::config::CheckProgram;
use crate::engine::Outcome;
use crate::memory::private_directory::PrivateDirectory;
use crate::process::{self, Ended, Keep, Program, Status};

/// The most of a program's output that is told to the agent: the end of it, where errors stand.
const TOLD: usize = 1500;

/// A program that has ended, and the record of it.
pub(super) struct Run {
    pub(super) ended: Ended,
    pub(super) attempt: Attempt,
}

/// Runs a program. A finding if it could not even be started.
pub(super) fn run(scene: &Scene<'_>, program: &CheckProgram, extra: usize) -> Result<Run, Finding> {
    let environment = Environment::inherit(
        scene.environment.iter().cloned(),
        program.pass_env.iter().map(String::as_str),
        &program.env,
    );
    let mut environment = environment.variables;
    let cache = private_cache(&mut environment)?;
    let kept = program.max_output_bytes as usize;
    let prepared = Program {
        argv: program.argv.clone(),
        directory: match &program.directory {
            Some(directory) => scene.workspace.join(directory),
            None => scene.workspace.to_owned(),
        },
        environment,
        input: Vec::new(),
        timeout: program.timeout(),
        keep: Keep {
            head: kept.max(extra),
            tail: kept,
        },
    };
    let ended = process::run(&prepared, scene.stop, &mut |_| ())
        .map_err(|error| Finding::error(error.to_string()))?;
    drop(cache);
    let attempt = attempt(program, &ended, kept);
    Ok(Run { ended, attempt })
}

/// Where Python looks for compiled modules before it looks in `__pycache__`.
const PYTHON_CACHE: &str = "PYTHONPYCACHEPREFIX";

/// An empty directory for what Python compiles, unless the user names one: what an agent put into `__pycache__` in the work
/// is not read then. It lasts as long as what is returned.
fn private_cache(
    environment: &mut BTreeMap<OsString, OsString>,
) -> Result<Option<PrivateDirectory>, Finding> {
    if environment.contains_key(OsStr::new(PYTHON_CACHE)) {
        return Ok(None);
    }
    let directory = PrivateDirectory::new()
        .map_err(|error| Finding::error(format!("no temporary directory can be made: {error}")))?;
    environment.insert(PYTHON_CACHE.into(), directory.path().into());
    Ok(Some(directory))
}

fn attempt(program: &CheckProgram, ended: &Ended, kept: usize) -> Attempt {
    let (exit, signal) = match ended.status {
        Status::Exited(code) => (Some(code), None),
        Status::Signaled(signal) => (None, Some(signal)),
        Status::TimedOut | Status::Canceled => (None, None),
    };
    Attempt {
        outcome: Outcome::Unknown,
        argv: program.argv.clone(),
        exit,
        signal,
        duration_ms: u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
        stdout: Some(Stream::of(&ended.stdout, kept)),
        stderr: Some(Stream::of(&ended.stderr, kept)),
        leftovers: ended.leftovers.iter().map(name_leftover).collect(),
    }
}

/// How it ended, where that alone says that it did not pass. None if it exited with 0.
pub(super) fn failed(program: &CheckProgram, ended: &Ended) -> Option<Finding> {
    let (outcome, what) = match ended.status {
        Status::Exited(0) => return None,
        Status::Exited(code) => (Outcome::Fail, format!("exit code {code}")),
        Status::Signaled(signal) => (Outcome::Error, format!("killed by signal {signal}")),
        Status::TimedOut => (
            Outcome::Timeout,
            format!("killed after {} ms, the limit", program.timeout_ms),
        ),
        Status::Canceled => (Outcome::Unknown, "canceled".to_owned()),
    };
    Some(Finding::new(outcome, format!("{what}{}", told(ended))))
}

/// The end of what it printed, for the agent.
pub(super) fn told(ended: &Ended) -> String {
    let stderr = ended.stderr.text();
    let stdout = ended.stdout.text();
    let text = match (stdout.trim(), stderr.trim()) {
        ("", text) | (text, "") => text.to_owned(),
        (stdout, stderr) => format!("{}\n{stderr}", end_of(stdout, TOLD / 2)),
    };
    match end_of(&text, TOLD) {
        "" => String::new(),
        text => format!("\n{text}"),
    }
}

/// The last bytes of a text, from the beginning of a line where there is one.
fn end_of(text: &str, most: usize) -> &str {
    let mut start = text.len().saturating_sub(most);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let end = text.get(start..).unwrap_or_default();
    if start == 0 {
        return end;
    }
    match end.split_once('\n') {
        Some((_, lines)) if !lines.is_empty() => lines,
        _ => end,
    }
}

/// The bytes of a report that a program wrote: a file, or what it printed.
pub(super) fn report(
    workspace: &Path,
    report: Option<&str>,
    ended: &Ended,
) -> Result<Vec<u8>, Finding> {
    match report {
        Some(name) => super::file::read(workspace, name)
            .map_err(|reason| Finding::error(format!("the report {name} can't be used: {reason}"))),
        None if ended.stdout.left_out() == 0 => {
            Ok([ended.stdout.head.as_slice(), &ended.stdout.tail].concat())
        }
        None => Err(Finding::error(format!(
            "the results have {} bytes on standard output, more than are kept; let them be written to a file and name \
             it as `report`",
            ended.stdout.total
        ))),
    }
}

/// What the host's own environment looks like.
pub(super) type Ours = Vec<(OsString, OsString)>;
