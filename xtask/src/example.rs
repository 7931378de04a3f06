//! `cargo xtask example`: the worked example of an experiment, run again and compared with the report that is checked in.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use anyhow::{Context as _, Result, bail};

use crate::build::{self, Profile};
use crate::cli::{Args, Command};
use crate::process;
use crate::scratch::Scratch;
use crate::setup;
use crate::terminal::step;
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command {
    name: "example",
    summary: "run the worked example of an experiment and compare its report",
    details: "Builds the host, runs the 12 tasks of tests/example in both arms with the scripted agent, makes the report\n\
              and compares it with the one that is checked in beside the plan. BLESS=1 writes it anew. Needs sh.",
    flags: &[],
    words: &[],
    examples: &["cargo xtask example", "BLESS=1 cargo xtask example"],
    run,
};

/// Where the plan and the report are.
const FOLDER: &str = "tests/example";
/// The forms of the report, by the ends of their files' names.
const FORMATS: [&str; 3] = ["md", "html", "json"];

fn run(workspace: &Workspace, _: &Args) -> Result<()> {
    step("checking the toolchain", || setup::ensure(workspace))?;
    let built = build::host(workspace, Profile::Dev)?;
    compare(workspace, &built.binary)
}

/// Runs it. An error when the report is not the one that is checked in.
pub(crate) fn compare(workspace: &Workspace, gate: &Path) -> Result<()> {
    let folder = workspace.root().join(FOLDER);
    let scratch = Scratch::new("example")?;
    let results = scratch.path("results");
    step("running the tasks in both arms", || {
        let mut experiment = Process::new(gate);
        experiment
            .arg("experiment")
            .arg(folder.join("plan.toml"))
            .arg("--output")
            .arg(&results)
            .args(["--plain", "--color", "never"])
            .env("PATH", path_with(gate)?);
        process::capture(&mut experiment).map(drop)
    })?;
    let logs = results.join("runs/*/*/*/workspace/.ralph/*/events.jsonl");
    let mut differing = Vec::new();
    for format in FORMATS {
        let made = scratch.path(&format!("report.{format}"));
        process::run(
            Process::new(gate)
                .args(["report", "--before", "arm=standard", "--after", "arm=ralph"])
                .args(["--by", "task_class", "--omit", "latency_ms"])
                .args(["--format", format, "--output"])
                .args([&made, &logs]),
        )?;
        let kept = folder.join(format!("report.{format}"));
        if !is_same(&made, &kept)? {
            differing.push(kept);
        }
    }
    settle(&scratch, &differing)
}

/// The scripted agent is beside the gate.
fn path_with(gate: &Path) -> Result<OsString> {
    let own = gate.parent().map(Path::to_owned);
    let path = env::var_os("PATH").unwrap_or_default();
    let all = own.into_iter().chain(env::split_paths(&path));
    env::join_paths(all).context("the build folder can't be put into PATH")
}

fn is_same(made: &Path, kept: &Path) -> Result<bool> {
    let new = fs::read(made).with_context(|| format!("{} can't be read", made.display()))?;
    Ok(fs::read(kept).is_ok_and(|old| old == new))
}

fn settle(scratch: &Scratch, differing: &[PathBuf]) -> Result<()> {
    if differing.is_empty() {
        println!("the report is the one that is checked in");
        return Ok(());
    }
    let is_blessed = env::var_os("BLESS").is_some_and(|value| value == "1");
    for kept in differing {
        let name = kept.file_name().unwrap_or_default().to_string_lossy();
        let made = scratch.path(&name);
        if is_blessed {
            fs::copy(&made, kept)
                .with_context(|| format!("{} can't be written", kept.display()))?;
            println!("wrote {}", kept.display());
        } else {
            // The first difference says most.
            println!("{}", first_difference(&made, kept)?);
        }
    }
    if is_blessed {
        return Ok(());
    }
    bail!(
        "the report differs from the one in {FOLDER}; read the difference, and if it is right, BLESS=1 writes it anew"
    )
}

/// The first line that is another one.
fn first_difference(made: &Path, kept: &Path) -> Result<String> {
    const SHOWN: usize = 300;
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let (new, old) = (read(made), read(kept));
    let mut lines = (1..).zip(
        new.lines()
            .map(Some)
            .chain(std::iter::repeat(None))
            .zip(old.lines().map(Some).chain(std::iter::repeat(None))),
    );
    let end = new.lines().count().max(old.lines().count());
    let cut = |line: Option<&str>| {
        line.map_or_else(
            || "(the end)".to_owned(),
            |line| line.chars().take(SHOWN).collect(),
        )
    };
    let found = lines.find(|(number, (new, old))| new != old || *number > end);
    let (number, (new, old)) = found.context("the files differ in their line ends alone")?;
    Ok(format!(
        "{}:{number}\n- {}\n+ {}",
        kept.display(),
        cut(old),
        cut(new)
    ))
}
