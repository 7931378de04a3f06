//! Runs the real `ralph-gate` command and keeps everything it says.

use std::ffi::OsStr;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::{fs, thread};

use ralph_gate_tests::binary::binary;
use serde_json::Value;

/// What one run of the command left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Standard output as one JSON value on one line.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "one line of JSON: {self:?}");
        assert!(self.stdout.ends_with('\n'), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of the error on standard output.
    pub(crate) fn error_code(&self) -> String {
        assert_eq!(self.code, 1, "{self:?}");
        let json = self.json();
        let error = &json["error"];
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{self:?}"
        );
        assert!(error.get("path").is_some(), "{self:?}");
        error["code"]
            .as_str()
            .unwrap_or_else(|| panic!("{self:?}"))
            .to_owned()
    }
}

/// The command with an environment in which a defect would show its backtrace.
pub(crate) fn command<S: AsRef<OsStr>>(arguments: &[S]) -> Command {
    let mut command = Command::new(binary());
    command
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
pub(crate) fn run_with<S: AsRef<OsStr>>(arguments: &[S], stdin: &[u8]) -> Run {
    let mut child = command(arguments).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    // The command may stop reading before the end, so a closed pipe is fine.
    let writer = thread::spawn(move || {
        let _ = pipe.write_all(&stdin);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let run = Run {
        code: output
            .status
            .code()
            .expect("the command was killed by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    for text in [&run.stdout, &run.stderr] {
        assert!(
            !text.contains("stack backtrace") && !text.contains("panicked"),
            "{run:?}"
        );
    }
    run
}

/// Runs the command without input.
pub(crate) fn run<S: AsRef<OsStr>>(arguments: &[S]) -> Run {
    run_with(arguments, b"")
}

/// A folder for the files of one test.
pub(crate) struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
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
