//! The loop's own cost: time per iteration beside the bare agent, late beside early, and memory that does not grow.

mod watcher;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use ralph_gate::config::Config;
use ralph_gate::engine::{GateEngine, StopReason};
use ralph_gate::process;
use ralph_gate::runner::{Control, Loop, Options};
use ralph_gate_tests::clock::{Limits, median, micros, ratio};
use ralph_gate_tests::git;

use watcher::Watcher;

/// An agent that does nothing.
const AGENT: &str = "/bin/true";
/// How often it is started by itself, before the loop and after it.
const BARE: usize = 500;
/// How old a repository is, at least, when it is measured.
const AT_REST: Duration = Duration::from_secs(3);
/// What the loop may add to an iteration of an agent, in milliseconds.
const OWN_LIMIT: f64 = 2.0;
/// What a late iteration may take beside an early one.
const FLAT_LIMIT: f64 = 1.25;
/// What the memory late in a loop may be beside that early in it.
const GROWTH_LIMIT: f64 = 1.10;

fn main() -> ExitCode {
    let quick = std::env::args().any(|argument| argument == "--quick");
    process::claim().expect("orphans come here");
    let gate = GateEngine::new().expect("the gate loads");
    let mut limits = Limits::new();
    let short = if quick { 100 } else { 1000 };
    println!(
        "one iteration with {AGENT} as the agent and one check of a file, median, in milliseconds"
    );
    println!(
        "{:>28} {:>10} {:>10} {:>10}",
        "", "bare", "iteration", "own"
    );
    let repository = Place::new(Kind::Repository);
    let (in_repository, own) = measure(&gate, &repository, short);
    let length = if quick { 300 } else { 10_000 };
    let folder = Place::new(Kind::Folder);
    let (in_folder, own_in_folder) = measure(&gate, &folder, length);
    println!("bare: the same program, started and waited for without anything else");
    limits.at_most(
        "what the loop adds in a folder, milliseconds",
        own_in_folder,
        OWN_LIMIT,
    );
    limits.at_most(
        "what the loop adds in a repository, milliseconds",
        own,
        OWN_LIMIT,
    );
    lengths(&repository, &in_repository, short, &mut limits);
    lengths(&folder, &in_folder, length, &mut limits);
    limits.conclude(quick)
}

/// What the agent works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A folder without git.
    Folder,
    /// A repository with a hundred files.
    Repository,
}

/// Where a loop runs: in memory, so that a sync costs nothing.
struct Place {
    folder: tempfile::TempDir,
    kind: Kind,
}

impl Place {
    fn new(kind: Kind) -> Self {
        let memory = Path::new("/dev/shm");
        let memory = if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        let folder = tempfile::Builder::new()
            .prefix("bench")
            .tempdir_in(memory)
            .expect("a folder");
        let place = Self { folder, kind };
        if kind == Kind::Repository {
            place.fill();
        }
        place
    }

    fn fill(&self) {
        for number in 0..100 {
            let file = self.folder.path().join(format!("file-{number}.txt"));
            fs::write(file, format!("line {number}\n").repeat(50)).expect("written");
        }
        // As `ralph-gate init` does it.
        fs::write(self.folder.path().join(".gitignore"), ".ralph/\n").expect("written");
        git::repository(self.folder.path());
        // One that was made just now has to be looked at more closely.
        std::thread::sleep(AT_REST);
    }

    /// The file whose existence ends the loop.
    fn goal(&self) -> PathBuf {
        self.folder.path().join("done.txt")
    }

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Folder => "in a folder",
            Kind::Repository => "in a repository, 100 files",
        }
    }

    fn config(&self, length: u32) -> Config {
        let text = format!(
            r#"
                [contract]
                mode = "ralph"
                completion_checks = ["done"]
                loop_max_iters = {length}
                no_progress_limit = 0
                # The file appears while the checks run, after the work was looked at.
                on_flaky = "pass"

                [checks.done]
                kind = "file"
                path = "done.txt"
                exists = true

                [agent]
                argv = ["{AGENT}"]
                prompt = "Do nothing."
            "#
        );
        let file = self.folder.path().join("ralph-gate.toml");
        fs::write(&file, &text).expect("written");
        Config::load(&file).expect("a configuration")
    }
}

/// Runs a loop of so many iterations between two rows of bare agents, and prints its row. Gives what the loop adds to
/// an iteration, in milliseconds.
fn measure(gate: &GateEngine, place: &Place, length: u32) -> (Watcher, f64) {
    let mut bare = bare();
    let watcher = run(gate, place, length);
    bare.extend(self::bare());
    let (bare, iteration) = (median(bare), median(watcher.times()));
    let milliseconds = |time: Duration| micros(time) / 1e3;
    let own = milliseconds(iteration) - milliseconds(bare);
    println!(
        "{:>28} {:>10.2} {:>10.2} {own:>10.2}",
        place.name(),
        milliseconds(bare),
        milliseconds(iteration)
    );
    (watcher, own)
}

fn run(gate: &GateEngine, place: &Place, length: u32) -> Watcher {
    let config = place.config(length);
    let task = config.route(gate, None).expect("a task");
    let control = Control::new().expect("a control");
    let watcher = Watcher::new(length, place.goal());
    let begun = Loop::begin(
        gate,
        &config,
        &task,
        &Options::default(),
        &control,
        &watcher,
    );
    let ended = begun.expect("a loop").run().expect("it ends");
    assert_eq!(ended.verdict.stop_reason, Some(StopReason::Completed));
    assert_eq!(ended.iteration, length);
    watcher
}

/// The agent by itself.
fn bare() -> Vec<Duration> {
    let start = |_| {
        let begin = Instant::now();
        let output = Command::new(AGENT).stdin(Stdio::null()).output();
        assert!(output.expect("it runs").status.success());
        begin.elapsed()
    };
    (0..BARE).map(start).collect()
}

/// Compares what is late with what is early.
fn lengths(place: &Place, watcher: &Watcher, length: u32, limits: &mut Limits) {
    let times = watcher.times();
    let tenth = times.len() / 10;
    let early = median(times[tenth / 2..tenth + tenth / 2].to_vec());
    let late = median(times[times.len() - tenth..].to_vec());
    let (before, after) = watcher.memory();
    println!("\na loop of {length} iterations {}", place.name());
    println!("{:>28} {:>10.2} ms", "early", micros(early) / 1e3);
    println!("{:>28} {:>10.2} ms", "late", micros(late) / 1e3);
    println!("{:>28} {:>10} KiB", "memory after a tenth", before);
    println!("{:>28} {:>10} KiB", "memory at the end", after);
    let growth = f64::from(after) / f64::from(before);
    limits.at_most(
        "a late iteration beside an early one",
        ratio(late, early),
        FLAT_LIMIT,
    );
    limits.at_most(
        "memory at the end beside that after a tenth",
        growth,
        GROWTH_LIMIT,
    );
}
