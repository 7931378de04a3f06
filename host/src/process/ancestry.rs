//! Who started a process: its ancestors, as far as the system shows them.

/// More generations than any sensible process has; a loop in what is read can't keep us.
const GENERATIONS: usize = 1000;
/// What a runner calls itself, so that what it started can tell where it is.
pub(super) const RUNNER: &str = "ralph-gate-loop";

/// A process among others, by its number and the moment of its start: no later one has both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity(u32, u64);

/// What names a process that lives now. None where the system doesn't show it.
pub fn identity(process: u32) -> Option<Identity> {
    let (id, start) = look(process)?.identity;
    Some(Identity(id, start))
}

/// A process above this one, or this one itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ancestor {
    /// Its number.
    pub id: u32,
    /// Whether it runs a loop.
    pub is_runner: bool,
}

/// This process and its ancestors, the nearest first. Empty where the system doesn't show them.
pub fn ancestors() -> Vec<Ancestor> {
    lineage(std::process::id())
        .into_iter()
        .map(|seen| Ancestor {
            id: seen.identity.0,
            is_runner: seen.name == RUNNER,
        })
        .collect()
}

/// Whether a process was started by this one, directly or not. None where that can't be told.
pub fn is_descendant(process: u32) -> Option<bool> {
    let lineage = lineage(process);
    let own = std::process::id();
    if lineage.iter().any(|seen| seen.identity.0 == own) {
        return Some(true);
    }
    // One that can't be followed to the first process of all may have any ancestor.
    let is_whole = lineage.last().is_some_and(|oldest| oldest.parent == 0);
    is_whole.then_some(false)
}

/// The environment that a process was started with, NUL between variables. None if it may not be read.
#[cfg(target_os = "linux")]
pub fn environment_of(process: u32) -> Option<Vec<u8>> {
    super::tree::read(&format!("/proc/{process}/environ"), u64::MAX)
}

/// The same where no system shows it.
#[cfg(not(target_os = "linux"))]
pub fn environment_of(_: u32) -> Option<Vec<u8>> {
    None
}

/// A process as it was seen on the way up.
struct Seen {
    identity: (u32, u64),
    /// 0 if the system shows none, as for the first process of all.
    parent: u32,
    name: String,
}

fn lineage(process: u32) -> Vec<Seen> {
    std::iter::successors(look(process), |seen| look(seen.parent))
        .take(GENERATIONS)
        .collect()
}

#[cfg(target_os = "linux")]
fn look(process: u32) -> Option<Seen> {
    let found = super::tree::process(process)?;
    Some(Seen {
        identity: found.identity(),
        parent: found.parent,
        name: found.name,
    })
}

#[cfg(not(target_os = "linux"))]
fn look(_: u32) -> Option<Seen> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_child_is_a_descendant_and_a_parent_is_not() {
        let mut child = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        assert_eq!(is_descendant(child.id()), Some(true));
        child.kill().unwrap();
        child.wait().unwrap();
        let line = ancestors();
        assert_eq!(line[0].id, std::process::id());
        assert_eq!(is_descendant(line[1].id), Some(false));
    }

    #[test]
    fn a_process_has_one_identity_and_another_process_another() {
        let own = std::process::id();
        assert_eq!(identity(own), identity(own));
        assert_ne!(identity(own), identity(ancestors()[1].id));
        assert_eq!(identity(u32::MAX), None);
    }

    #[test]
    fn of_a_process_that_is_gone_nothing_is_claimed() {
        assert_eq!(is_descendant(u32::MAX), None);
    }
}
