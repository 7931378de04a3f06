//! Files that are swapped for links, pipes and folders while a session is written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Result, ensure};
use ralph_gate::memory::Patience;
use ralph_gate_tests::random::Random;

use crate::Options;
use crate::expectation::Workspace;
use crate::tally::Tally;
use crate::worker::open;

const MEMBERS: [&str; 5] = [
    "progress.txt",
    "events.jsonl",
    "prd.json",
    "contract.json",
    "handoff.md",
];

pub(crate) fn run(options: &Options) -> Result<Tally> {
    let mut tally = Tally::new("files that are swapped during a run");
    let mut random = Random::new(options.seed);
    for _ in 0..options.swaps {
        let (swaps, failed, result) = round(&mut random)?;
        tally.run("workers", swaps > 0, failed);
        if let Err(error) = result {
            tally.violations.push(format!("{error:#}"));
        }
    }
    Ok(tally)
}

fn round(random: &mut Random) -> Result<(u64, bool, Result<()>)> {
    let mut workspace = Workspace::new()?;
    drop(open(&workspace.root(), Patience::None)?);
    let worker = Command::new(std::env::current_exe()?)
        .args(["work", &workspace.root().display().to_string(), "30"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let done = AtomicBool::new(false);
    let (swaps, output) = thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0;
            while !done.load(Ordering::Relaxed) {
                swaps += u64::from(swap(&workspace.session(), &workspace.canary(), random));
            }
            swaps
        });
        let output = worker.wait_with_output();
        done.store(true, Ordering::Relaxed);
        (swapper.join().unwrap_or_default(), output)
    });
    let output = output?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    workspace.note(&String::from_utf8_lossy(&output.stdout));
    let result = judge(&workspace, &text);
    Ok((swaps, !output.status.success(), result))
}

/// Puts something else in the place of a file.
fn swap(session: &Path, canary: &Path, random: &mut Random) -> bool {
    let path = session.join(random.pick(&MEMBERS));
    let aside = session.join("swap.tmp");
    // Two names of one file stay two names when one is renamed to the other.
    let _ = fs::remove_file(&aside);
    let made = match random.below(3) {
        0 => symlink(canary, &aside),
        1 => fs::hard_link(canary, &aside),
        _ => fs::write(&aside, "{ not what it was"),
    };
    made.is_ok() && fs::rename(&aside, &path).is_ok()
}

/// Nothing outside was touched, and what was acknowledged is there.
fn judge(workspace: &Workspace, text: &str) -> Result<()> {
    ensure!(!text.contains("panicked"), "the worker panicked: {text}");
    let store = open(&workspace.root(), Patience::None)?;
    let revision = store.state().revision;
    ensure!(
        revision >= workspace.acknowledged,
        "revision {} was acknowledged, {revision} was found",
        workspace.acknowledged
    );
    drop(store);
    workspace.check_outside()
}
