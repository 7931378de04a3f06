//! The whole campaign: kills and errors at every system call, and everything else that can happen to files.

use std::collections::BTreeMap;
use std::fs::{File, FileTimes};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, Output};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, ensure};
use ralph_gate_tests::random::Random;

use crate::expectation::Workspace;
use crate::strace::{self, Fault};
use crate::tally::Tally;
use crate::{Options, crowd, swap, tight};

/// Saves of one worker.
const SAVES: u64 = 7;
/// Workers that go on with the same session before a new one begins.
const LIVES: u64 = 25;

/// What can fail in the calls that change or read files.
const ERRORS: [&str; 5] = ["ENOSPC", "EIO", "EDQUOT", "EROFS", "EINTR"];
const FILE_CALLS: &[&str] = &[
    "fsync",
    "ftruncate",
    "mkdirat",
    "openat",
    "pread64",
    "renameat",
    "renameat2",
    "unlinkat",
    "write",
    "flock",
    "fstat",
    "newfstatat",
    "statx",
    "utimensat",
    "getdents64",
    "close",
    "lseek",
];

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let mut failed = false;
    let mut report = |mut tally: Tally, start: Instant| {
        tally.conclude();
        tally.print(start.elapsed().as_secs_f64());
        failed |= !tally.violations.is_empty();
    };
    let counts = counts()?;
    let start = Instant::now();
    report(kills(options, &counts)?, start);
    let start = Instant::now();
    report(errors(options, &counts)?, start);
    let start = Instant::now();
    report(crowd::run(options), start);
    let start = Instant::now();
    report(swap::run(options)?, start);
    let start = Instant::now();
    report(tight::run(options), start);
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The calls of a worker that begins a session.
fn counts() -> Result<BTreeMap<String, u64>> {
    let workspace = Workspace::new()?;
    let counts = strace::count(&workspace.root(), SAVES)?;
    // Only once, and before the worker is anything.
    Ok(counts
        .into_iter()
        .filter(|(name, _)| name != "execve")
        .collect())
}

/// A session that one worker after the other goes on with.
struct Series {
    workspace: Workspace,
    lives: u64,
    random: Random,
}

impl Series {
    fn new(seed: u64) -> Result<Self> {
        Ok(Self {
            workspace: Workspace::new()?,
            lives: 0,
            random: Random::new(seed),
        })
    }

    /// One worker, to whom that happens.
    fn life(&mut self, call: &str, number: u64, fault: &Fault) -> Result<Output> {
        if self.lives == LIVES {
            self.workspace = Workspace::new()?;
            self.lives = 0;
        }
        self.lives += 1;
        self.jump_clock()?;
        let output = strace::run(&self.workspace.root(), SAVES, call, number, fault)?;
        self.workspace
            .note(&String::from_utf8_lossy(&output.stdout));
        Ok(output)
    }

    /// Gives files times as if the clock had jumped.
    fn jump_clock(&mut self) -> Result<()> {
        let year = Duration::from_hours(365 * 24);
        for name in ["progress.txt", "events.jsonl", "prd.json", "contract.json"] {
            let time = match self.random.below(6) {
                0 => SystemTime::UNIX_EPOCH,
                1 => SystemTime::now() + 80 * year,
                _ => continue,
            };
            if let Ok(file) = File::options()
                .append(true)
                .open(self.workspace.session().join(name))
            {
                file.set_times(FileTimes::new().set_modified(time))?;
            }
        }
        Ok(())
    }
}

fn kills(options: &Options, counts: &BTreeMap<String, u64>) -> Result<Tally> {
    let mut tally = Tally::new("killed at a system call");
    let mut series = Series::new(options.seed)?;
    let calls: Vec<(&String, u64)> = counts
        .iter()
        .flat_map(|(name, count)| (1..=*count).map(move |number| (name, number)))
        .collect();
    for (name, count) in counts {
        tally.calls(name, *count);
    }
    // Each call once if there are enough kills, and then any of them.
    let stride = (calls.len() as u64).div_ceil(options.kills.max(1)).max(1);
    let every = calls.iter().step_by(usize::try_from(stride)?);
    let mut planned: Vec<(&String, u64)> = every.copied().collect();
    while (planned.len() as u64) < options.kills {
        planned.push(series.random.pick(&calls));
    }
    for (name, number) in planned {
        let output = series.life(name, number, &Fault::Kill)?;
        let killed = output.status.signal() == Some(9) || output.status.code() == Some(128 + 9);
        tally.run(name, killed, false);
        if !killed && !output.status.success() {
            tally
                .violations
                .push(format!("{name} {number}: the worker ended with {output:?}"));
        }
        judge(
            &mut series,
            &mut tally,
            &format!("killed at {name} {number}"),
        )?;
    }
    Ok(tally)
}

fn errors(options: &Options, counts: &BTreeMap<String, u64>) -> Result<Tally> {
    let mut tally = Tally::new("a system call that fails");
    let mut series = Series::new(options.seed + 1)?;
    let mut planned = Vec::new();
    for (name, count) in counts
        .iter()
        .filter(|(name, _)| FILE_CALLS.contains(&name.as_str()))
    {
        tally.calls(name, *count);
        for number in 1..=*count {
            planned.extend(ERRORS.map(|error| (name, number, Fault::Error(error))));
        }
    }
    ensure!(!planned.is_empty(), "the worker makes no call on files");
    let stride = (planned.len() as u64)
        .div_ceil(options.errors.max(1))
        .max(1);
    let mut planned: Vec<_> = planned
        .into_iter()
        .step_by(usize::try_from(stride)?)
        .collect();
    // Few, and each of them leaves something else behind.
    if let Some((name, count)) = counts.get_key_value("write") {
        planned.extend((1..=*count).map(|number| (name, number, Fault::OneByte)));
    }
    for (name, number, fault) in &planned {
        let output = series.life(name, *number, fault)?;
        let reported = !output.status.success();
        tally.run(name, reported, reported);
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.signal().is_some() || said.contains("panicked") {
            tally.violations.push(format!(
                "{name} {number} {fault:?}: the worker ended with {output:?}"
            ));
        }
        judge(
            &mut series,
            &mut tally,
            &format!("{fault:?} at {name} {number}"),
        )?;
    }
    Ok(tally)
}

/// Looks at what a worker left behind. After a violation a new session begins.
fn judge(series: &mut Series, tally: &mut Tally, what: &str) -> Result<()> {
    if let Err(error) = series.workspace.check() {
        let place = format!("run {}, {what}", tally.runs());
        tally.violations.push(format!("{place}: {error:#}"));
        series.workspace = Workspace::new()?;
        series.lives = 0;
    }
    Ok(())
}
