//! Who started a process: its ancestors, as far as the system shows them.

use std::fs;

/// More generations than any sensible process has; a loop in what is read can't keep us.
const GENERATIONS: usize = 1000;

/// This process and its ancestors, the nearest first. Empty where the system doesn't show them.
pub fn ancestors() -> Vec<u32> {
    lineage(std::process::id())
}

/// Whether a process was started by this one, directly or not. None where that can't be told.
pub fn is_descendant(process: u32) -> Option<bool> {
    let lineage = lineage(process);
    // One that can't be followed to the first process of all may have any ancestor.
    let is_whole = lineage
        .last()
        .is_some_and(|oldest| parent(*oldest) == Some(0));
    let own = std::process::id();
    if lineage.contains(&own) {
        return Some(true);
    }
    is_whole.then_some(false)
}

/// The environment that a process was started with, NUL between variables. None if it may not be read.
pub fn environment_of(process: u32) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{process}/environ")).ok()
}

fn lineage(process: u32) -> Vec<u32> {
    let next = |process: &u32| parent(*process).filter(|parent| *parent != 0);
    let first = parent(process).map(|_| process);
    std::iter::successors(first, next)
        .take(GENERATIONS)
        .collect()
}

/// The parent's number; 0 if the system shows none, as for the first process of all.
fn parent(process: u32) -> Option<u32> {
    let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything, parentheses too.
    let after = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = stat.get(after + 1..)?;
    let fields = str::from_utf8(rest).ok()?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
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
        assert_eq!(line.first(), Some(&std::process::id()));
        assert_eq!(is_descendant(line[1]), Some(false));
    }

    #[test]
    fn of_a_process_that_is_gone_nothing_is_claimed() {
        assert_eq!(is_descendant(u32::MAX), None);
    }
}
