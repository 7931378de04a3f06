//! The system's table of processes, as `/proc` shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use crate::process::program::Leftover;
use crate::visible::is_hidden;

/// How often the children of a process with threads that end are asked for.
const CHILDREN_TRIES: u32 = 3;
/// More than the line of any process.
const STAT_LIMIT: u64 = 4096;
/// How much of a command line is read, and how much of it is shown.
const COMMAND_READ: u64 = 4096;
const COMMAND_SHOWN: usize = 200;

/// A process at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::process) struct Process {
    pub(super) id: u32,
    pub(in crate::process) parent: u32,
    pub(super) group: u32,
    pub(super) session: u32,
    /// In ticks since the machine started. With the id, it names one process for ever.
    pub(super) start: u64,
    pub(super) life: Life,
    /// At most 15 bytes, chosen by the process itself and by no other.
    pub(in crate::process) name: String,
}

/// Processes by their ids.
pub(super) type Table = BTreeMap<u32, Process>;

/// What a process does, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process) enum Life {
    /// It can do something.
    Active,
    /// It was stopped by a signal: it can do nothing, not even start another one.
    Stopped,
    /// It has ended, and waits for its parent to notice.
    Ended,
}

impl Process {
    /// What names this process and no later one.
    pub(in crate::process) fn identity(&self) -> (u32, u64) {
        (self.id, self.start)
    }

    fn parse(id: u32, stat: &[u8]) -> Option<Self> {
        // The name stands in parentheses, and may itself contain any byte.
        let open = stat.iter().position(|byte| *byte == b'(')?;
        let close = stat.iter().rposition(|byte| *byte == b')')?;
        let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
        let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Self {
            id,
            parent: fields.get(1)?.parse().ok()?,
            // The kernel's own threads have none.
            group: fields.get(2)?.parse().unwrap_or_default(),
            session: fields.get(3)?.parse().unwrap_or_default(),
            start: fields.get(19)?.parse().ok()?,
            life: match *fields.first()? {
                "Z" | "X" | "x" => Life::Ended,
                "T" | "t" => Life::Stopped,
                _ => Life::Active,
            },
            name,
        })
    }

    /// Sends a signal to this process, and never to a later one with the same id.
    pub(super) fn signal(&self, signal: Signal) {
        let Some(id) = i32::try_from(self.id).ok().and_then(Pid::from_raw) else {
            return;
        };
        let same = || process(self.id).is_some_and(|now| now.start == self.start);
        match pidfd_open(id, PidfdFlags::empty()) {
            // The descriptor holds on to one process, so it is enough to see that it is the right one.
            Ok(held) if same() => {
                let _ = pidfd_send_signal(held, signal);
            }
            Ok(_) | Err(Errno::SRCH) => {}
            // An old system: what remains is the moment between looking and sending.
            Err(_) if same() => {
                let _ = kill_process(id, signal);
            }
            Err(_) => {}
        }
    }

    /// For people.
    pub(super) fn describe(&self) -> Leftover {
        let line = read(&format!("/proc/{}/cmdline", self.id), COMMAND_READ).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let command = match line.trim() {
            "" => format!("[{}]", self.name),
            line => line.to_owned(),
        };
        Leftover {
            pid: self.id,
            command: printable(&command),
        }
    }
}

/// One line of what a person can see.
fn printable(text: &str) -> String {
    let mut clean = String::new();
    for character in text.chars() {
        let shown = if is_hidden(character) { '?' } else { character };
        if clean.len() + shown.len_utf8() > COMMAND_SHOWN {
            break;
        }
        clean.push(shown);
    }
    clean
}

/// Whether `/proc` is there and shows this process under the id that it knows itself by.
pub(super) fn is_usable() -> bool {
    static USABLE: OnceLock<bool> = OnceLock::new();
    *USABLE.get_or_init(|| {
        let own = std::process::id();
        let shown = fs::read_link("/proc/self").ok();
        shown.is_some_and(|shown| shown.as_os_str() == own.to_string().as_str())
            && process(own).is_some()
    })
}

/// All processes, by id.
pub(super) fn processes() -> Table {
    if !is_usable() {
        return BTreeMap::new();
    }
    ids("/proc")
        .into_iter()
        .filter_map(|id| Some((id, process(id)?)))
        .collect()
}

/// One process, if it is there.
pub(in crate::process) fn process(id: u32) -> Option<Process> {
    Process::parse(id, &read(&format!("/proc/{id}/stat"), STAT_LIMIT)?)
}

/// This process and its descendants, without those in `skip` and what is below them; much cheaper than all processes.
/// One whose parent ends at that moment may be missing. All processes, if the system doesn't tell.
pub(super) fn family(skip: &BTreeSet<u32>) -> Table {
    let own = std::process::id();
    let Some(mut ahead) = own_children() else {
        return processes();
    };
    let mut found: Table = process(own).into_iter().map(|top| (own, top)).collect();
    while let Some(id) = ahead.pop_first() {
        if skip.contains(&id) || found.contains_key(&id) {
            continue;
        }
        if let Some(process) = process(id) {
            // What has ended has no children any more.
            if process.life != Life::Ended {
                ahead.extend(children(id).unwrap_or_default());
            }
            found.insert(id, process);
        }
    }
    found
}

/// The children of this process, which is the cheapest of all. None if the system doesn't tell.
pub(super) fn own_children() -> Option<BTreeSet<u32>> {
    // Where a thread of this process has just ended, it is enough to look again.
    (0..CHILDREN_TRIES).find_map(|_| children(std::process::id()))
}

fn children(id: u32) -> Option<BTreeSet<u32>> {
    let folder = format!("/proc/{id}/task");
    let mut children = BTreeSet::new();
    for thread in fs::read_dir(folder).ok()? {
        // A thread that has ended meanwhile gave its children to another one, which may be behind us.
        let list = fs::read_to_string(thread.ok()?.path().join("children")).ok()?;
        let ids = list.split_ascii_whitespace();
        children.extend(ids.filter_map(|id| id.parse::<u32>().ok()));
    }
    Some(children)
}

/// The numbers among a folder's names.
pub(super) fn ids(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries.filter_map(number).collect()
}

/// Bytes that most files of the system have room in.
const ROOM: usize = 4096;

/// At most so many bytes of a file. None if it can't be read.
pub(in crate::process) fn read(path: &str, limit: u64) -> Option<Vec<u8>> {
    // The system says of these files that they are empty. With room for most of them, one look is enough.
    let mut bytes = Vec::with_capacity(ROOM);
    let file = File::open(path).ok()?;
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_full_of_parentheses_does_not_hide_the_fields() {
        let stat = b"7 (a) Z 1 (\xff\n) S 3 5 6 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        let process = Process::parse(7, stat).unwrap();
        assert_eq!((process.parent, process.group, process.session), (3, 5, 6));
        assert_eq!((process.start, process.life), (4711, Life::Active));
        assert_eq!(process.name, "a) Z 1 (\u{fffd}\n");
    }

    #[test]
    fn a_line_that_is_cut_off_is_no_process() {
        let stat = b"7 (a) S 3 5 6 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711";
        for end in 0..stat.len() - 4 {
            assert_eq!(Process::parse(7, &stat[..end]), None, "{end}");
        }
    }

    #[test]
    fn a_command_is_one_bounded_line() {
        assert_eq!(printable("a\n\u{1b}[2Jb\u{202e}c"), "a??[2Jb?c");
        assert_eq!(printable(&"€".repeat(100)).len(), 198);
    }

    #[test]
    fn this_process_is_in_the_table() {
        let own = std::process::id();
        assert!(is_usable());
        assert_eq!(
            processes().get(&own).unwrap().start,
            process(own).unwrap().start
        );
    }
}
