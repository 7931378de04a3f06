//! The effectiveness report over a gigabyte of logs, beside counting their lines and beside jq.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::{Form, quoted};
use crate::build;
use crate::process;
use crate::scratch::Scratch;
use crate::setup::{self, Skip};
use crate::terminal::{green, red, step, table};
use crate::workspace::Workspace;

/// Bytes a second that the report has to read, in MB.
const SPEED: f64 = 200.0;
/// How much memory it may take, in MB.
const MEMORY: f64 = 300.0;
/// Runs that are reported on; all their logs together have about ten thousand times as many bytes.
const RUNS: usize = 100_000;
/// Different loops among them; the others are copies under other names.
const DIFFERENT: usize = 2_000;

/// What one program took.
struct Taken {
    seconds: f64,
    /// At most, in MB, if that could be seen.
    memory: Option<f64>,
}

/// Makes logs, and reports on them.
pub(super) fn measure(workspace: &Workspace, form: Form) -> Result<Option<Skip>> {
    if let Err(reason) = step("looking for jq", || {
        Ok(setup::ensure_package(workspace, "jq"))
    })? {
        let name = "report".to_owned();
        return Ok(Some(Skip { name, reason }));
    }
    let built = build::host(workspace, form.profile())?;
    let scratch = Scratch::new("bench-report")?;
    let logs = scratch.path("runs");
    let runs = if form.is_quick() { RUNS / 20 } else { RUNS };
    let bytes = step(&format!("making the logs of {runs} runs"), || {
        make(workspace, &logs, runs, form)
    })?;
    let megabytes = bytes / 1e6;
    let (ours, wc, jq) = step(&format!("reading {megabytes:.0} MB three times"), || {
        let output = scratch.path("report.json");
        let mut report = Command::new(&built.binary);
        report
            .args(["report", "--before", "arm=standard", "--after", "arm=ralph"])
            .args(["--by", "task_class", "--output"])
            .arg(&output)
            .arg(&logs)
            .stderr(Stdio::null());
        let ours = time(&mut report)?;
        let found = format!("find {} -name events.jsonl -print0", quoted(&logs));
        let wc = time(&mut shell(&format!(
            "{found} | wc -l --files0-from=- | tail -n 1"
        )))?;
        let jq = time(&mut shell(&format!(
            "{found} | xargs -0 cat | jq -n '{COMPLETION_RATE}'"
        )))?;
        Ok((ours, wc, jq))
    })?;
    form.enforce(say(megabytes, &ours, &wc, &jq))?;
    Ok(None)
}

/// The completion rate alone, of all runs.
const COMPLETION_RATE: &str = r#"reduce (inputs | select(.event == "verdict") | .data.verdict | select(.decision != "continue")) as $v
  ({runs: 0, completed: 0}; .runs += 1 | if $v.stop_reason == "completed" then .completed += 1 else . end)
  | .completed / .runs"#;

fn shell(script: &str) -> Command {
    let mut bash = Command::new("bash");
    bash.args(["-c", script]).stdout(Stdio::null());
    bash
}

/// Lets a program run, and looks at its memory meanwhile: the system remembers the most that it had.
fn time(program: &mut Command) -> Result<Taken> {
    let begun = Instant::now();
    let mut child = program.spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut memory = None;
    let ended = loop {
        if let Ok(text) = fs::read_to_string(&status) {
            memory = highest(&text).or(memory);
        }
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        thread::sleep(Duration::from_millis(5));
    };
    if !ended.success() {
        bail!("{} ended with {ended}", program.get_program().display());
    }
    Ok(Taken {
        seconds: begun.elapsed().as_secs_f64(),
        memory,
    })
}

/// The most memory that a process has had, in MB.
fn highest(status: &str) -> Option<f64> {
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}

/// Makes the logs. Gives their size in bytes.
fn make(workspace: &Workspace, folder: &Path, runs: usize, form: Form) -> Result<f64> {
    let program = build::example(workspace, "population", form.profile())?;
    let mut program = Command::new(program);
    program
        .arg(folder)
        .args([runs.to_string(), DIFFERENT.min(runs).to_string()]);
    let printed = process::capture(&mut program)?;
    let bytes = printed.trim().parse();
    bytes.with_context(|| format!("the program that makes logs said {printed:?}"))
}

fn say(megabytes: f64, ours: &Taken, wc: &Taken, jq: &Taken) -> Result<()> {
    let row = |name: &str, taken: &Taken| {
        vec![
            name.to_owned(),
            format!("{:.2} s", taken.seconds),
            format!("{:.0} MB/s", megabytes / taken.seconds),
            format!("{:.2}", taken.seconds / ours.seconds),
        ]
    };
    let rows = [
        ["program", "time", "speed", "beside the report"]
            .map(str::to_owned)
            .to_vec(),
        row("ralph-gate report", ours),
        row("wc -l", wc),
        row("jq, the completion rate alone", jq),
    ];
    print!("{}", table(&rows));
    let speed = megabytes / ours.seconds;
    let memory = ours
        .memory
        .context("the memory of the report could not be seen")?;
    println!("  {megabytes:.0} MB of events, at most {memory:.0} MB of memory");
    if speed < SPEED || memory > MEMORY {
        println!("{}", red("slower or larger than it may be"));
        bail!(
            "{speed:.0} MB/s and {memory:.0} MB of memory; {SPEED} MB/s and {MEMORY} MB are the limits"
        );
    }
    println!(
        "{} at least {SPEED} MB/s with at most {MEMORY} MB",
        green("good:")
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_memory_is_what_the_system_says() {
        let status = "Name:\tx\nVmPeak:\t 9999 kB\nVmHWM:\t    1000 kB\n";
        assert_eq!(highest(status), Some(1.024));
        assert_eq!(highest("Name:\tx\n"), None);
    }

    #[test]
    fn limits_are_on_speed_and_memory() {
        let taken = |seconds, memory| Taken {
            seconds,
            memory: Some(memory),
        };
        let other = taken(1.0, 1.0);
        assert!(say(1000.0, &taken(4.9, 299.0), &other, &other).is_ok());
        assert!(say(1000.0, &taken(5.1, 299.0), &other, &other).is_err());
        assert!(say(1000.0, &taken(4.9, 301.0), &other, &other).is_err());
    }
}
