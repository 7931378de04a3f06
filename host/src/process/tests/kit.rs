//! What the tests share.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::process::{Ended, Keep, Program, Stop, claim, run};

/// Ends a test that would otherwise hang; no rule depends on it.
pub(super) const LONG: Duration = Duration::from_mins(1);
/// The variable that marks what one test started.
const MARK: &str = "PROCESS_TEST_MARK";

/// A folder and a mark of its own. When it goes, everything that carries the mark, or wrote its id into the folder, is
/// killed: also if the test failed.
pub(super) struct Scene {
    pub(super) folder: TempDir,
    pub(super) mark: String,
}

impl Scene {
    pub(super) fn new() -> Self {
        claim().unwrap();
        Self::unclaimed()
    }

    /// For a process of its own that has not claimed its orphans.
    pub(super) fn unclaimed() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            folder: TempDir::new().unwrap(),
            mark: format!("mark-{}-{number}-end", std::process::id()),
        }
    }

    pub(super) fn environment(&self) -> BTreeMap<OsString, OsString> {
        [
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            (MARK.into(), self.mark.clone().into()),
        ]
        .into()
    }

    pub(super) fn program(&self, argv: &[&str]) -> Program {
        Program {
            argv: argv.iter().map(|text| (*text).to_owned()).collect(),
            directory: self.folder.path().to_owned(),
            environment: self.environment(),
            input: Vec::new(),
            timeout: LONG,
            keep: Keep {
                head: 4096,
                tail: 4096,
            },
        }
    }

    /// A shell script.
    pub(super) fn script(&self, script: &str) -> Program {
        self.program(&["sh", "-c", script])
    }

    /// This very executable, as somebody else; see `roles.rs`.
    pub(super) fn role(&self, role: &str) -> Command {
        let test = module_path!().replace("::kit", "::roles::play");
        let (_, test) = test.split_once("::").unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env("PROCESS_TEST_ROLE", role)
            .env(MARK, &self.mark)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    }

    /// The processes that carry this test's mark, and those that wrote their ids into `*.pid`.
    pub(super) fn alive(&self) -> BTreeSet<u32> {
        let marked = ids().filter(|id: &u32| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&self.mark) && is_alive(*id)
        });
        marked
            .chain(self.noted().filter(|id| is_alive(*id)))
            .collect()
    }

    /// The ids in the files `*.pid` of the folder.
    pub(super) fn noted(&self) -> impl Iterator<Item = u32> {
        let files = fs::read_dir(self.folder.path())
            .into_iter()
            .flatten()
            .flatten();
        let files = files.filter(|file| file.path().extension().is_some_and(|end| end == "pid"));
        files.filter_map(|file| fs::read_to_string(file.path()).ok()?.trim().parse().ok())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.folder.path().join(name).exists()
    }

    /// Waits for a file that a program makes.
    pub(super) fn until_there(&self, name: &str) {
        until(name, || self.has(name));
    }

    /// Fails if anything lives, and if there are fewer noted processes than there should have been.
    pub(super) fn assert_dead(&self, noted: usize) {
        assert_eq!(self.noted().count(), noted);
        assert_eq!(described(&self.alive()), Vec::<String>::new());
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for _ in 0..50 {
            let alive = self.alive();
            if alive.is_empty() {
                return;
            }
            for id in alive {
                let _ = kill_process(pid(id), Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub(super) fn pid(id: u32) -> Pid {
    Pid::from_raw(i32::try_from(id).unwrap()).unwrap()
}

/// Neither gone nor waiting to be reaped.
pub(super) fn is_alive(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .trim()
        .chars()
        .next();
    !matches!(state, None | Some('Z' | 'X'))
}

fn described(ids: &BTreeSet<u32>) -> Vec<String> {
    let line = |id: &u32| fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
    ids.iter().map(|id| format!("{id} {}", line(id))).collect()
}

pub(super) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "still waiting: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(super) fn run_quietly(program: &Program) -> Ended {
    run(program, &Stop::new().unwrap(), &mut |_| {}).unwrap()
}

/// A child of a test that dies with it.
pub(super) struct Killed(pub(super) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The children of this process with that name, also those that have ended and were not reaped.
pub(super) fn children_named(name: &str) -> Vec<u32> {
    let own = std::process::id().to_string();
    let is_it = |id: &u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default();
        let parent = fields.split_whitespace().nth(1);
        stat.contains(&format!("({name})")) && parent == Some(&own)
    };
    ids().filter(is_it).collect()
}

fn ids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
