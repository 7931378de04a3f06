//! Runs the real `ralph-gate` command and keeps everything it says.

use std::ffi::OsStr;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::{fs, thread};

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::git;
use ralph_gate_tests::logs::Scratch;
use ralph_gate_tests::said::Said;

/// The command with an environment in which a defect would show its backtrace.
pub(crate) fn command<S: AsRef<OsStr>>(arguments: &[S]) -> Command {
    let mut command = Command::new(binary());
    git::apart(&mut command)
        .args(arguments)
        .env("RUST_BACKTRACE", "1")
        .env_remove("NO_COLOR");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the command with `stdin`.
pub(crate) fn run_with<S: AsRef<OsStr>>(arguments: &[S], stdin: &[u8]) -> Said {
    let mut child = command(arguments).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    // The command may stop reading before the end, so a closed pipe is fine.
    let writer = thread::spawn(move || {
        let _ = pipe.write_all(&stdin);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Said::of(output)
}

/// Runs the command without input.
pub(crate) fn run<S: AsRef<OsStr>>(arguments: &[S]) -> Said {
    run_with(arguments, b"")
}

/// A folder for the files of one test.
pub(crate) struct Files {
    folder: Scratch,
}

impl Files {
    pub(crate) fn new() -> Self {
        Self {
            folder: Scratch::new(),
        }
    }

    /// Writes a file and gives its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The path of the folder itself.
    pub(crate) fn folder(&self) -> String {
        self.folder.path().to_str().unwrap().to_owned()
    }
}
