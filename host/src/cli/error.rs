//! What can go wrong on the command line: the thing, the place, the remedy.

use std::fmt;
use std::io;
use std::string::FromUtf8Error;

#[cfg(unix)]
use ralph_gate::config::ConfigError;
use ralph_gate::engine::{EngineError, GateError, Problem};
#[cfg(unix)]
use ralph_gate::experiment::ExperimentError;
#[cfg(unix)]
use ralph_gate::harness::HarnessError;
#[cfg(unix)]
use ralph_gate::harness::install::InstallError;
#[cfg(unix)]
use ralph_gate::runner::RunError;
use ralph_gate::visible::as_json;
use serde_json::{Value, json};
use thiserror::Error;

use super::excerpt::excerpt;
use super::input::Source;

/// How large an input is, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Exactly(u64),
    MoreThan(u64),
    /// In the JSON that the gate gets, in which some characters take more room.
    AsJson(u64),
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(bytes) => write!(f, "{bytes} bytes"),
            Self::MoreThan(bytes) => write!(f, "more than {bytes} bytes"),
            Self::AsJson(bytes) => write!(f, "{bytes} bytes as JSON"),
        }
    }
}

/// A command that could not be carried out.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// The arguments don't make sense together.
    #[error("{message}")]
    Usage { message: String },
    /// The file is not there, not readable, or not a file.
    #[error("{file} can't be read: {reason}")]
    Unreadable {
        file: Source,
        reason: String,
        help: &'static str,
    },
    /// The bytes are not text.
    #[error("{file} is not UTF-8 text: byte {offset}, in line {line}, is not part of a character")]
    NotUtf8 {
        file: Source,
        offset: usize,
        line: usize,
    },
    /// The text is not JSON. Only for inputs that the command itself has to put into a larger JSON text.
    #[error("{file}:{line}:{column}: not valid JSON: {reason}")]
    NotJson {
        file: Source,
        line: usize,
        column: usize,
        reason: String,
    },
    /// More bytes than the gate takes.
    #[error("{file} has {observed} and the limit is {limit}")]
    InputTooLarge {
        file: Source,
        observed: Size,
        limit: usize,
    },
    /// The gate said no. An error of the gate is data.
    #[error("{file}: {}", error.message)]
    Gate {
        file: Source,
        error: Box<GateError>,
        /// The gate's answer, byte for byte.
        answer: String,
        /// Characters that stood before the file's first line in the gate's input.
        shift: u32,
    },
    /// The gate could not be run.
    #[error("{}{error}", file.as_ref().map_or_else(String::new, |file| format!("{file}: ")))]
    Engine {
        file: Option<Source>,
        error: EngineError,
    },
    /// A log can't be read or asked.
    #[error("{file}: {error}")]
    History {
        file: Source,
        error: ralph_gate_history::HistoryError,
    },
    /// The gate's answer is not what this version of the command knows.
    #[error("the gate's answer can't be understood: {reason}")]
    Answer { reason: String },
    /// A table of labels has problems. All of them are listed.
    #[cfg(unix)]
    #[error("{file}: {}, and nothing was written", counted(problems.len()))]
    Labels {
        file: Source,
        problems: Vec<Problem>,
    },
    /// A session's memory said no.
    #[cfg(unix)]
    #[error(transparent)]
    Memory(#[from] ralph_gate::memory::MemoryError),
    /// A loop could not be run, or not to its end.
    #[cfg(unix)]
    #[error(transparent)]
    Run(#[from] RunError),
    /// An experiment can't begin or go on.
    #[cfg(unix)]
    #[error(transparent)]
    Experiment(ExperimentError),
    /// The loop of a client can't be begun or ended.
    #[cfg(unix)]
    #[error(transparent)]
    Harness(HarnessError),
    /// Hooks can't be put in or taken out.
    #[cfg(unix)]
    #[error("{error}")]
    Install {
        error: Box<InstallError>,
        help: String,
    },
    /// A policy gave no judgement.
    #[cfg(unix)]
    #[error("{policy}: {error}")]
    Policy {
        policy: String,
        error: ralph_gate::policy::PolicyError,
    },
    /// Evidence or cases of policies can't be used.
    #[cfg(unix)]
    #[error("{file}: {error}")]
    Cases {
        file: Source,
        error: ralph_gate::policy::CaseError,
    },
    /// There is no new project.
    #[cfg(unix)]
    #[error(transparent)]
    NewPolicy(#[from] ralph_gate::policy::NewError),
    /// Nobody said which loop is meant.
    #[cfg(unix)]
    #[error("several loops are running here: {}", keys.join(", "))]
    SeveralLoops { keys: Vec<String> },
    /// Logs for a report can't be found or read.
    #[cfg(unix)]
    #[error(transparent)]
    Report(ralph_gate::report::ReportError),
    /// Nobody knows where spans are to be sent.
    #[cfg(unix)]
    #[error(transparent)]
    Telemetry(#[from] ralph_gate::telemetry::TelemetryError),
    /// The server can't be started.
    #[cfg(all(unix, feature = "serve"))]
    #[error(transparent)]
    Serve(ralph_gate::serve::ServeError),
    /// Spans were not taken.
    #[cfg(unix)]
    #[error("{file}: {error}")]
    Unsent {
        file: Source,
        error: ralph_gate::telemetry::Unsent,
    },
    /// Standard output is full or gone.
    #[error("standard output can't be written: {reason}")]
    Output { reason: String },
}

#[cfg(unix)]
impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::Run(error.into())
    }
}

#[cfg(all(unix, feature = "serve"))]
impl From<ralph_gate::serve::ServeError> for CliError {
    fn from(error: ralph_gate::serve::ServeError) -> Self {
        match error {
            ralph_gate::serve::ServeError::Config(error) => error.into(),
            error => Self::Serve(error),
        }
    }
}

#[cfg(unix)]
impl From<ExperimentError> for CliError {
    fn from(error: ExperimentError) -> Self {
        match error {
            ExperimentError::Config(error) => error.into(),
            error => Self::Experiment(error),
        }
    }
}

#[cfg(unix)]
impl From<HarnessError> for CliError {
    fn from(error: HarnessError) -> Self {
        match error {
            HarnessError::Config(error) => error.into(),
            HarnessError::Run(error) => error.into(),
            error => Self::Harness(error),
        }
    }
}

#[cfg(unix)]
impl From<ralph_gate::process::GuardError> for CliError {
    fn from(error: ralph_gate::process::GuardError) -> Self {
        Self::Run(error.into())
    }
}

impl CliError {
    pub(crate) fn unreadable(file: Source, error: &io::Error) -> Self {
        let (reason, help) = match error.kind() {
            io::ErrorKind::NotFound => ("there is no such file".to_owned(), "check the path"),
            io::ErrorKind::IsADirectory => ("it is a folder".to_owned(), "name a file inside it"),
            io::ErrorKind::PermissionDenied => (
                "permission denied".to_owned(),
                "make it readable for this user",
            ),
            _ => (error.to_string(), "check the path and the disk"),
        };
        Self::Unreadable { file, reason, help }
    }

    pub(crate) fn not_utf8(file: Source, error: &FromUtf8Error) -> Self {
        let offset = error.utf8_error().valid_up_to();
        let before = error.as_bytes().iter().take(offset);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        Self::NotUtf8 { file, offset, line }
    }

    pub(crate) fn not_json(file: Source, error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let reason = match text.split(" at line ").next() {
            _ if error.is_eof() => "the text ends too early",
            Some(reason) => reason,
            None => &text,
        };
        Self::NotJson {
            file,
            line: error.line(),
            column: error.column().max(1),
            reason: reason.to_owned(),
        }
    }

    /// The error's name for machines.
    fn code(&self) -> String {
        let code = match self {
            Self::Usage { .. } => "usage",
            Self::Unreadable { .. } => "unreadable_input",
            Self::NotUtf8 { .. } => "not_utf8",
            Self::NotJson { .. } => "invalid_json",
            Self::InputTooLarge { .. } => "input_too_large",
            Self::Engine { error, .. } => error.code(),
            // The gate's own code is in its answer.
            Self::Gate { .. } => "gate",
            Self::History { error, .. } => &error.code,
            Self::Answer { .. } => "unexpected_answer",
            #[cfg(unix)]
            Self::Memory(error) => error.code(),
            #[cfg(unix)]
            Self::Labels { .. } => "invalid_labels",
            #[cfg(unix)]
            Self::Run(error) => return error.code(),
            #[cfg(unix)]
            Self::Experiment(error) => error.code(),
            #[cfg(unix)]
            Self::Harness(error) => error.code(),
            #[cfg(unix)]
            Self::Install { error, .. } => error.code(),
            #[cfg(unix)]
            Self::Policy { error, .. } => error.code(),
            #[cfg(unix)]
            Self::Cases { .. } => "invalid_cases",
            #[cfg(unix)]
            Self::NewPolicy(_) => "no_new_policy",
            #[cfg(unix)]
            Self::SeveralLoops { .. } => "several_loops",
            #[cfg(unix)]
            Self::Report(_) => "unreadable_logs",
            #[cfg(unix)]
            Self::Telemetry(_) => "invalid_telemetry",
            #[cfg(all(unix, feature = "serve"))]
            Self::Serve(error) => error.code(),
            #[cfg(unix)]
            Self::Unsent { .. } => "not_sent",
            Self::Output { .. } => "unwritable_output",
        };
        code.to_owned()
    }

    /// What to do about it.
    pub(crate) fn help(&self) -> Option<&str> {
        match self {
            Self::Usage { .. } => Some("see `ralph-gate --help`"),
            Self::Unreadable { help, .. } => Some(help),
            Self::NotUtf8 { .. } => Some("save it as UTF-8"),
            Self::NotJson { .. } => {
                Some("is it the right file, and complete? `--help` shows what belongs into it")
            }
            Self::InputTooLarge { .. } => Some("pass only the end of long outputs"),
            Self::Answer { .. } => {
                Some("this is a defect of ralph-gate, please report it with the input")
            }
            Self::Output { .. } => Some("check the disk, or where the output goes"),
            Self::Engine { error, .. } => Some(error.help()),
            #[cfg(unix)]
            Self::Memory(error) => Some(error.help()),
            #[cfg(unix)]
            Self::Run(error) => error.help(),
            #[cfg(unix)]
            Self::Labels { .. } => Some("correct the table and import it again"),
            #[cfg(unix)]
            Self::Experiment(error) => error.help(),
            #[cfg(unix)]
            Self::Harness(error) => Some(error.help()),
            #[cfg(unix)]
            Self::Install { help, .. } => Some(help),
            #[cfg(unix)]
            Self::Policy { error, .. } => error.help(),
            #[cfg(unix)]
            Self::Cases { .. } => Some("`ralph-gate policy new` makes an example of such a file"),
            #[cfg(unix)]
            Self::NewPolicy(_) => Some("choose another name or place"),
            #[cfg(unix)]
            Self::SeveralLoops { .. } => Some("name the one that is meant"),
            #[cfg(unix)]
            Self::Unsent { .. } => Some("is a collector listening there for OTLP over HTTP?"),
            #[cfg(unix)]
            Self::Telemetry(_) => None,
            #[cfg(all(unix, feature = "serve"))]
            Self::Serve(_) => None,
            // It says by itself what to do.
            #[cfg(unix)]
            Self::Report(_) => None,
            Self::Gate { .. } | Self::History { .. } => None,
        }
    }

    /// Problems of a configuration or request, and the file that they are in.
    #[cfg(unix)]
    pub(crate) fn problems_of_config(&self) -> Option<(String, &[Problem])> {
        match self {
            Self::Run(RunError::Config(
                ConfigError::Invalid { file, problems, .. }
                | ConfigError::CannotWork { file, problems, .. },
            )) if !problems.is_empty() => Some((file.display().to_string(), problems)),
            Self::Labels { file, problems } => Some((file.to_string(), problems)),
            _ => None,
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn problems_of_config(&self) -> Option<(String, &[Problem])> {
        None
    }

    /// Problems of what the command line names. Their paths are arguments, and they are in no file.
    #[cfg(unix)]
    pub(crate) fn problems_of_arguments(&self) -> &[Problem] {
        match self {
            Self::Run(RunError::Config(error)) => error.arguments(),
            _ => &[],
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn problems_of_arguments(&self) -> &[Problem] {
        &[]
    }

    pub(crate) fn file(&self) -> Option<&Source> {
        match self {
            Self::Unreadable { file, .. }
            | Self::NotUtf8 { file, .. }
            | Self::NotJson { file, .. }
            | Self::InputTooLarge { file, .. }
            | Self::Gate { file, .. }
            | Self::History { file, .. } => Some(file),
            #[cfg(unix)]
            Self::Cases { file, .. } | Self::Labels { file, .. } | Self::Unsent { file, .. } => {
                Some(file)
            }
            Self::Engine { file, .. } => file.as_ref(),
            #[cfg(unix)]
            Self::Memory(_)
            | Self::Run(_)
            | Self::Experiment(_)
            | Self::Harness(_)
            | Self::Install { .. }
            | Self::Policy { .. }
            | Self::NewPolicy(_)
            | Self::SeveralLoops { .. }
            | Self::Report(_)
            | Self::Telemetry(_) => None,
            #[cfg(all(unix, feature = "serve"))]
            Self::Serve(_) => None,
            Self::Usage { .. } | Self::Answer { .. } | Self::Output { .. } => None,
        }
    }

    /// The error in the JSON form that the gate's errors have, with the file beside it.
    pub(crate) fn json(&self) -> String {
        if let Self::Gate { answer, .. } = self {
            return answer.clone();
        }
        let message = match self.help() {
            Some(help) => format!("{self}; {help}"),
            None => self.to_string(),
        };
        let file = match self.problems_of_config() {
            Some((file, _)) => Some(file),
            None => self.file().map(ToString::to_string),
        };
        let mut error = serde_json::Map::from_iter([
            ("code".to_owned(), json!(self.code())),
            ("message".to_owned(), json!(message)),
            ("path".to_owned(), Value::Null),
            ("problems".to_owned(), json!(self.place())),
            ("file".to_owned(), json!(file)),
        ]);
        #[cfg(unix)]
        if let Self::Policy { error: reached, .. } = self {
            error.insert("limit".to_owned(), json!(reached.limit()));
        }
        as_json(&json!({ "error": error }))
    }

    /// The line of the input that is not JSON.
    pub(crate) fn excerpt(&self) -> Option<String> {
        let Self::NotJson {
            file, line, column, ..
        } = self
        else {
            return None;
        };
        let (line, column) = (u32::try_from(*line).ok()?, u32::try_from(*column).ok()?);
        excerpt(&file.text()?, line, column)
    }

    /// The place in the file, as a list of problems.
    fn place(&self) -> Vec<Value> {
        let of_file = self.problems_of_config();
        let of_file = of_file.map_or(&[] as &[_], |(_, problems)| problems);
        let of_arguments = self.problems_of_arguments();
        if !of_file.is_empty() || !of_arguments.is_empty() {
            let all = of_file.iter().chain(of_arguments);
            return all.map(|problem| json!(problem)).collect();
        }
        match self {
            Self::NotJson {
                line,
                column,
                reason,
                ..
            } => vec![json!({
                "path": "", "line": line, "column": column, "message": reason, "help": self.help(),
            })],
            _ => Vec::new(),
        }
    }
}

#[cfg(unix)]
fn counted(problems: usize) -> String {
    match problems {
        1 => "1 problem".to_owned(),
        more => format!("{more} problems"),
    }
}

/// A problem's place as the person sees it: in the file, not in the larger text that the gate got.
pub(crate) fn place_in_file(problem: &Problem, shift: u32) -> (u32, u32) {
    match problem.line {
        1 => (1, problem.column.saturating_sub(shift).max(1)),
        line => (line, problem.column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(line: u32, column: u32) -> Problem {
        Problem {
            path: String::new(),
            line,
            column,
            message: String::new(),
            help: None,
        }
    }

    #[test]
    fn only_the_first_line_is_shifted() {
        assert_eq!(place_in_file(&problem(1, 20), 13), (1, 7));
        assert_eq!(place_in_file(&problem(2, 20), 13), (2, 20));
        assert_eq!(place_in_file(&problem(0, 0), 13), (0, 0));
    }

    #[test]
    fn broken_text_is_named_by_byte_and_line() {
        let error = String::from_utf8(b"one\ntwo \xff".to_vec()).unwrap_err();
        let error = CliError::not_utf8(Source::Stdin, &error);
        assert_eq!(
            error.to_string(),
            "standard input is not UTF-8 text: byte 8, in line 2, is not part of a character"
        );
    }

    #[test]
    fn an_error_as_json_has_the_fields_of_a_gate_error() {
        let error = CliError::Unreadable {
            file: Source::File("x".into()),
            reason: "r".into(),
            help: "h",
        };
        let json: Value = serde_json::from_str(&error.json()).unwrap();
        assert_eq!(json["error"]["code"], "unreadable_input");
        assert_eq!(json["error"]["message"], "x can't be read: r; h");
        assert_eq!(json["error"]["path"], Value::Null);
        assert_eq!(json["error"]["file"], "x");
    }
}
