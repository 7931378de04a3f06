//! Many processes that want to write to one session, and some of them die.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, ensure};
use ralph_gate::memory::{MemoryError, Standing, View};
use ralph_gate_tests::random::Random;

use crate::expectation::Workspace;
use crate::tally::Tally;
use crate::worker::key;
use crate::{Options, gate};

const PROCESSES: u64 = 8;

pub(crate) fn run(options: &Options) -> Tally {
    let mut tally = Tally::new("eight processes that append");
    for (what, killer) in [("all live", false), ("some are killed", true)] {
        let appends = if killer {
            options.appends.div_ceil(4)
        } else {
            options.appends
        };
        tally.calls(what, PROCESSES * appends);
        let result = round(appends, killer, options.seed);
        tally.run(what, true, false);
        if let Err(error) = result {
            tally.violations.push(format!("{what}: {error:#}"));
        }
    }
    tally
}

fn spawn(workspace: &Workspace, name: &str, appends: u64) -> Result<Child> {
    Command::new(std::env::current_exe()?)
        .args([
            "append",
            &workspace.root().display().to_string(),
            name,
            &appends.to_string(),
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("a worker")
}

fn round(appends: u64, killer: bool, seed: u64) -> Result<()> {
    let mut workspace = Workspace::without_numbers()?;
    let mut children = Vec::new();
    for index in 0..PROCESSES {
        children.push(spawn(&workspace, &format!("p{index}"), appends)?);
    }
    if killer {
        let mut random = Random::new(seed);
        for child in children.iter_mut().step_by(2) {
            thread::sleep(Duration::from_millis(u64::from(random.below(20))));
            child.kill()?;
        }
    }
    let done = AtomicBool::new(false);
    let root = workspace.root();
    let (outputs, read) = thread::scope(|scope| {
        let reader = scope.spawn(|| read_all_the_time(&root, &done));
        let outputs: Vec<_> = children.into_iter().map(Child::wait_with_output).collect();
        done.store(true, Ordering::Relaxed);
        (outputs, reader.join())
    });
    let readings = read.map_err(|_| anyhow!("the reader panicked"))??;
    println!("  {readings} times read meanwhile");
    let mut acknowledged = Vec::new();
    for (index, output) in outputs.into_iter().enumerate() {
        let output = output?;
        ensure!(
            killer || output.status.success(),
            "process {index}: {output:?}"
        );
        let text = String::from_utf8(output.stdout)?;
        let count = text.lines().count();
        acknowledged.extend((0..count).map(|number| format!("p{index} {number}.")));
        workspace.note(&text);
    }
    // Whoever was killed may have saved one entry that nobody heard of.
    let found = workspace.titles()?;
    for title in &acknowledged {
        let count = found.iter().filter(|found| *found == title).count();
        ensure!(count == 1, "`{title}` is there {count} times");
    }
    let unheard = found.len() - acknowledged.len();
    ensure!(
        unheard <= if killer { 4 } else { 0 },
        "{unheard} entries that nobody acknowledged"
    );
    // Every entry is a revision, after the one that began the session.
    workspace.acknowledged = workspace.acknowledged.max(found.len() as u64 + 1);
    workspace.check()
}

/// A reader never waits, and never sees anything wrong.
fn read_all_the_time(root: &Path, done: &AtomicBool) -> Result<u64> {
    let mut readings = 0;
    while !done.load(Ordering::Relaxed) {
        let verification = match View::open(root, &key()).and_then(|view| view.verify(gate())) {
            Ok(verification) => verification,
            Err(MemoryError::NoSession { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let wrong: Vec<_> = verification
            .files
            .iter()
            .filter(|file| file.standing == Standing::Wrong)
            .collect();
        ensure!(wrong.is_empty(), "a reader found {wrong:?}");
        readings += 1;
    }
    Ok(readings)
}
