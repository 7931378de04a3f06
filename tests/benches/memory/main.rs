//! The memory's speed: a save beside the least that is durable and beside a plain write, in one run.

mod loops;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ralph_gate::engine::GateEngine;
use ralph_gate::memory::{FileStore, Patience};
use ralph_gate_tests::clock::{Limits, median, medians, micros, ratio};

use loops::{Loop, key};

/// What a save may cost beyond its two syncs, in microseconds.
const OWN_LIMIT: f64 = 100.0;
/// What opening a session of 10,000 iterations may take, in milliseconds.
const OPEN_LIMIT: f64 = 20.0;
/// What a save late in a loop may cost beside an early one.
const FLAT_LIMIT: f64 = 1.25;

fn main() -> ExitCode {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let budget = Duration::from_millis(if quick { 300 } else { 3000 });
    let gate = GateEngine::new().expect("the gate loads");
    let mut limits = Limits::new();
    saves(&gate, budget, &mut limits);
    lengths(&gate, if quick { 1000 } else { 10_000 }, &mut limits);
    limits.conclude(quick)
}

/// A folder on the disk, and one in memory, where a sync costs nothing.
fn folders() -> [(&'static str, PathBuf); 2] {
    let memory = Path::new("/dev/shm");
    let memory = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    [
        ("on the disk", PathBuf::from(env!("CARGO_TARGET_TMPDIR"))),
        ("in memory", memory),
    ]
}

fn scratch(folder: &Path) -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("bench")
        .tempdir_in(folder)
        .expect("a folder")
}

fn saves(gate: &GateEngine, budget: Duration, limits: &mut Limits) {
    println!("saving one iteration, median of many, in microseconds");
    println!(
        "{:>12} {:>12} {:>12} {:>12} {:>10}",
        "", "plain write", "two syncs", "save", "own"
    );
    for (name, folder) in folders() {
        let scratch = scratch(&folder);
        let mut plain = Plain::new(&scratch.path().join("plain"));
        let mut least = Least::new(&scratch.path().join("least"));
        let mut store = Loop::new(gate, &scratch.path().join(".ralph"));
        let [plain, least, save] = medians(
            budget,
            [&mut || plain.save(), &mut || least.save(), &mut || {
                store.save();
            }],
        );
        let own = micros(save) - micros(least);
        println!(
            "{name:>12} {:>12.1} {:>12.1} {:>12.1} {own:>10.1}",
            micros(plain),
            micros(least),
            micros(save)
        );
        if name == "in memory" {
            limits.at_most(
                "a save where syncs cost nothing, microseconds",
                micros(save),
                OWN_LIMIT,
            );
        }
    }
    println!("plain write: the same bytes to the same files, without any guarantee");
    println!(
        "two syncs: one file of the checkpoint's size written, synced, renamed, its folder synced\n"
    );
}

fn lengths(gate: &GateEngine, length: u32, limits: &mut Limits) {
    let [_, (_, folder)] = folders();
    let scratch = scratch(&folder);
    let root = scratch.path().join(".ralph");
    let mut store = Loop::new(gate, &root);
    let mut times = Vec::new();
    for _ in 0..length {
        let begin = Instant::now();
        store.save();
        times.push(begin.elapsed());
    }
    let part = times.len() / 10;
    let early = median(times[10..10 + part].to_vec());
    let late = median(times[times.len() - part..].to_vec());
    drop(store);
    let size = |name: &str| {
        let path = root.join(key().folder()).join(name);
        fs::metadata(path).map_or(0, |metadata| metadata.len()) / 1024
    };
    println!(
        "a session of {length} iterations, in memory: events.jsonl {} KiB, progress.txt {} KiB",
        size("events.jsonl"),
        size("progress.txt")
    );
    let [open] = medians(
        Duration::from_millis(300),
        [&mut || drop(FileStore::open(gate, &root, &key(), Patience::None).expect("it opens"))],
    );
    println!("{:>12} {:>12.1} us", "early save", micros(early));
    println!(
        "{:>12} {:>12.1} us {:>6.2}x",
        "late save",
        micros(late),
        ratio(late, early)
    );
    println!("{:>12} {:>12.2} ms", "opening", micros(open) / 1e3);
    limits.at_most(
        "a late save beside an early one",
        ratio(late, early),
        FLAT_LIMIT,
    );
    limits.at_most("opening, milliseconds", micros(open) / 1e3, OPEN_LIMIT);
}

/// The same bytes, written without any guarantee.
struct Plain {
    folder: PathBuf,
}

impl Plain {
    fn new(folder: &Path) -> Self {
        fs::create_dir(folder).expect("a folder");
        Self {
            folder: folder.to_owned(),
        }
    }

    fn save(&mut self) {
        for (name, text) in loops::appended() {
            let file = File::options()
                .append(true)
                .create(true)
                .open(self.folder.join(name));
            file.and_then(|mut file| file.write_all(text.as_bytes()))
                .expect("written");
        }
        for (name, text) in loops::replaced() {
            fs::write(self.folder.join(name), text).expect("written");
        }
    }
}

/// The least that makes a save durable.
struct Least {
    folder: PathBuf,
    bytes: Vec<u8>,
}

impl Least {
    fn new(folder: &Path) -> Self {
        fs::create_dir(folder).expect("a folder");
        Self {
            folder: folder.to_owned(),
            bytes: vec![b'x'; loops::checkpoint_size()],
        }
    }

    fn save(&mut self) {
        let temporary = self.folder.join("new");
        let mut file = File::create(&temporary).expect("a file");
        file.write_all(&self.bytes).expect("written");
        file.sync_all().expect("synced");
        fs::rename(&temporary, self.folder.join("checkpoint")).expect("renamed");
        File::open(&self.folder)
            .and_then(|folder| folder.sync_all())
            .expect("synced");
    }
}
