//! Runs a program with a time limit. When it ends, or the time is over, its process group ends too.

use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// The time was over.
    TimedOut,
}

/// What became of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// What it wrote to its standard output.
    pub stdout: String,
    /// What it wrote to its standard error.
    pub stderr: String,
}

impl Ended {
    /// Asserts that it ended by itself, and well.
    ///
    /// # Panics
    ///
    /// If it did not.
    #[expect(
        clippy::return_self_not_must_use,
        reason = "often the code is all that matters"
    )]
    pub fn assert_success(self) -> Self {
        assert_eq!(self.end, End::Code(0), "{self:?}");
        self
    }
}

/// Runs a command to its end, without input. Output goes to files in `folder`, so that a process that stays behind
/// can't keep the caller waiting.
pub fn run(command: &mut Command, limit: Duration, folder: &Path) -> io::Result<Ended> {
    let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
    command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?);
    let mut child = command.spawn()?;
    let group = Pid::from_child(&child);
    let over = wait(group, limit);
    // Invariant: the child has not been waited for, so the number of its group can't belong to others.
    match rustix::process::kill_process_group(group, Signal::KILL) {
        Ok(()) | Err(rustix::io::Errno::SRCH | rustix::io::Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    let status = child.wait()?;
    Ok(Ended {
        end: if over { End::TimedOut } else { end(status) },
        stdout: text(&stdout)?,
        stderr: text(&stderr)?,
    })
}

/// Waits for the child without removing it from the table of processes. True if the time was over first.
fn wait(child: Pid, limit: Duration) -> bool {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) =
            rustix::process::waitid(WaitId::Pid(child), options)
        {}
        // The receiver is gone when the time is over.
        sender.send(()).ok();
    });
    receiver.recv_timeout(limit).is_err()
}

fn end(status: ExitStatus) -> End {
    match status.code() {
        Some(code) => End::Code(code),
        None => End::Signal(status.signal().unwrap_or_default()),
    }
}

fn text(path: &Path) -> io::Result<String> {
    let bytes = std::fs::read(path)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waiting::wait_until;

    fn shell(script: &str, limit: Duration) -> Ended {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(&mut command, limit, folder.path()).unwrap()
    }

    #[test]
    fn a_program_that_ends_is_reported_with_its_output() {
        let ended = shell("echo out; echo err >&2; exit 3", Duration::from_mins(1));
        assert_eq!(ended.end, End::Code(3));
        assert_eq!(
            (ended.stdout.as_str(), ended.stderr.as_str()),
            ("out\n", "err\n")
        );
    }

    #[test]
    fn the_whole_group_ends_when_the_time_is_over() {
        let ended = shell("sleep 600 & echo $!; wait", Duration::from_millis(300));
        assert_eq!(ended.end, End::TimedOut);
        let status = format!("/proc/{}/status", ended.stdout.trim());
        // A signal takes its time, and the process may be in the table of processes until somebody waits for it.
        wait_until("the end of the group", || {
            let left = std::fs::read_to_string(&status).unwrap_or_default();
            left.is_empty() || left.contains("(zombie)") || left.contains("(dead)")
        });
    }

    #[test]
    fn what_a_program_leaves_behind_ends_with_it() {
        let ended = shell("sleep 600 & exit 0", Duration::from_mins(1));
        assert_eq!(ended.end, End::Code(0));
    }
}
