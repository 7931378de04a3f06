//! What one run of a command said.

use std::process::{Command, Output};

use serde_json::Value;

/// An exit code and the two streams.
#[derive(Debug)]
pub struct Said {
    /// How it ended.
    pub code: i32,
    /// What it answered.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

impl Said {
    /// Runs a command to its end.
    ///
    /// # Panics
    ///
    /// If it can't be started, panics, is killed or prints what is no text.
    pub fn by(command: &mut Command) -> Self {
        Self::of(command.output().expect("it starts"))
    }

    /// What a command said that has ended.
    ///
    /// # Panics
    ///
    /// If it panicked, was killed or printed what is no text.
    pub fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        let said = Self {
            code: output.status.code().expect("it was killed by a signal"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        for text in [&said.stdout, &said.stderr] {
            let is_broken = text.contains("stack backtrace") || text.contains("panicked");
            assert!(!is_broken, "{said:?}");
        }
        said
    }

    /// The answer as one JSON value on one line.
    ///
    /// # Panics
    ///
    /// If it is not.
    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "one line of JSON: {self:?}");
        assert!(self.stdout.ends_with('\n'), "{self:?}");
        self.last()
    }

    /// The last line of the answer.
    ///
    /// # Panics
    ///
    /// If it is not JSON.
    pub fn last(&self) -> Value {
        let line = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of the error that is the whole answer.
    ///
    /// # Panics
    ///
    /// If that is no error.
    pub fn error_code(&self) -> String {
        self.json();
        self.last_error_code()
    }

    /// The code of the error that ended it.
    ///
    /// # Panics
    ///
    /// If none did.
    pub fn last_error_code(&self) -> String {
        assert_eq!(self.code, 1, "{self:?}");
        let last = self.last();
        let error = &last["error"];
        let message = error["message"].as_str().unwrap_or_default();
        assert!(
            !message.is_empty() && error.get("path").is_some(),
            "{self:?}"
        );
        let code = error["code"].as_str();
        code.unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }

    /// Asserts how it ended.
    ///
    /// # Panics
    ///
    /// If it ended otherwise.
    #[expect(
        clippy::return_self_not_must_use,
        reason = "often the code is all that matters"
    )]
    pub fn assert_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}
