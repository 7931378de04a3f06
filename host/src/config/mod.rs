//! `ralph-gate.toml`: what a loop is to prove, how its checks are run, and by whom the work is done.
//!
//! The contract, the profiles and the routing policy in it are the gate's: they are handed over as they are, and what
//! the gate finds wrong with them is reported at its place in this file.

pub mod catalogue;
mod check;
mod draft;
mod error;
mod fields;
mod given;
pub(crate) mod json;
pub(crate) mod place;
mod probe;
mod request;
mod runner_command;
pub mod schema;
mod sections;
pub mod starter;
mod survey;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ralph_gate_component::tree::{Source, TextFormat, Value};

use crate::plain_file;

pub use check::{Check, CheckProgram, FileCondition, GitCheck, Judge, PinnedFile, PolicyCheck};
pub use draft::ConfigDraft;
pub use error::{ConfigError, SearchScope};
pub(crate) use given::shell_word;
pub use given::{check_budget, check_command};
pub use probe::probe;
pub use request::{NamedCheck, Promises, Request, Task, Terms};
pub use runner_command::recognize;
pub use sections::{Agent, Git, Memory, Progress, Report, Telemetry, Tripwires};
pub use survey::{Fallback, Proposal, Results, Survey, survey};
pub use words::{AdapterName, KindName, Leftovers, PrimaryMetric, PromptTo, RecordName, WasiGrant};

/// The names that a configuration may have, in the order in which they are looked for.
pub const FILE_NAMES: [&str; 4] = [
    "ralph-gate.toml",
    "ralph-gate.yaml",
    "ralph-gate.yml",
    "ralph-gate.json",
];

/// The longest file that is read, in bytes.
const LIMIT: u64 = 16 << 20;

/// A configuration that can be used.
///
/// ```
/// use ralph_gate::config::{Check, Config};
///
/// let config = Config::read(
///     "ralph-gate.toml".as_ref(),
///     r#"
///         [contract]
///         mode = "ralph"
///         completion_checks = ["tests"]
///
///         [checks.tests]
///         argv = ["cargo", "test"]
///     "#,
/// )?;
/// assert!(matches!(config.checks["tests"], Check::Command { .. }));
/// # Ok::<(), ralph_gate::config::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Config {
    /// The file.
    pub file: PathBuf,
    /// The folder that it stands in: relative paths begin here.
    pub workspace: PathBuf,
    /// `[checks.<id>]`.
    pub checks: BTreeMap<String, Check>,
    /// `[agent]`.
    pub agent: Agent,
    /// `[memory]`.
    pub memory: Memory,
    /// `[tripwires]`.
    pub tripwires: Tripwires,
    /// `[progress]`.
    pub progress: Progress,
    /// `[git]`.
    pub git: Git,
    /// `[report]`.
    pub report: Report,
    /// `[telemetry]`.
    pub telemetry: Telemetry,
    /// What the command line added.
    given: given::Added,
    text: String,
    format: TextFormat,
}

impl Config {
    /// Finds the configuration of a folder.
    pub fn find(folder: &Path) -> Result<PathBuf, ConfigError> {
        let found: Vec<PathBuf> = FILE_NAMES
            .iter()
            .map(|name| folder.join(name))
            .filter(|path| path.exists())
            .collect();
        match found.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(ConfigError::Missing {
                folder: absolute(folder),
                search: SearchScope::Directory,
            }),
            [first, second, ..] => Err(ConfigError::Ambiguous {
                first: first.clone(),
                second: second.clone(),
            }),
        }
    }

    /// Finds the configuration that applies to a folder: its own, or that of the nearest folder above it.
    ///
    /// The search ends at the root of the repository, or at the home directory where there is no repository. Outside of
    /// both, and above a folder of another user, nothing is looked for: others may write there.
    pub fn find_upwards(folder: &Path) -> Result<PathBuf, ConfigError> {
        match Self::find(folder) {
            Err(ConfigError::Missing { .. }) => {}
            found => return found,
        }
        let missing = |search| ConfigError::Missing {
            folder: absolute(folder),
            search,
        };
        let Ok(start) = folder.canonicalize() else {
            return Err(missing(SearchScope::Directory));
        };
        let Some(top) = top_of_search(&start) else {
            return Err(missing(SearchScope::Outside));
        };
        let owner = owner(&start);
        let above = start.ancestors().skip(1);
        let mut last = None;
        for above in
            above.take_while(|above| above.starts_with(&top) && self::owner(above) == owner)
        {
            match Self::find(above) {
                Err(ConfigError::Missing { .. }) => last = Some(above.to_owned()),
                found => return found,
            }
        }
        Err(missing(
            last.map_or(SearchScope::Directory, SearchScope::UpTo),
        ))
    }

    /// A configuration that says nothing, for a folder that has none: the command line gives the rest.
    pub fn empty(folder: &Path) -> Result<Self, ConfigError> {
        let [name, ..] = FILE_NAMES;
        Self::read(&folder.join(name), "")
    }

    /// Whether a text has a section that a configuration has and a contract has not.
    pub fn has_sections(file: &Path, text: &str) -> bool {
        let source = Source::new(text, format_of(file, text));
        let Ok(root) = source.read_settings() else {
            return false;
        };
        match &root.value {
            Value::Map(entries) => entries
                .iter()
                .any(|entry| matches!(entry.key.as_ref(), "contract" | "checks")),
            _ => false,
        }
    }

    /// Reads a file.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        let text = read_text(file)?;
        Self::read(file, &text)
    }

    /// The text that it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads a text as if it were in that file.
    pub fn read(file: &Path, text: &str) -> Result<Self, ConfigError> {
        ConfigDraft::read(file, text)?.finish()
    }
}

/// The directory as a person can find it, whatever the current one is.
fn absolute(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    // A trailing `.` says nothing.
    absolute.components().collect()
}

/// Where the search for a configuration ends: at the root of the repository, or else at the home directory.
fn top_of_search(start: &Path) -> Option<PathBuf> {
    let is_repository = |folder: &&Path| folder.join(".git").exists();
    if let Some(repository) = start.ancestors().find(is_repository) {
        return Some(repository.to_owned());
    }
    let home = PathBuf::from(std::env::var_os("HOME")?)
        .canonicalize()
        .ok()?;
    let is_above = home.parent().is_some() && start.starts_with(&home);
    is_above.then_some(home)
}

/// Whose folder it is.
fn owner(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    folder.metadata().ok().map(|metadata| metadata.uid())
}

/// Reads a file that a person wrote.
pub(crate) fn read_text(file: &Path) -> Result<String, ConfigError> {
    let unreadable = |reason: String| ConfigError::Unreadable {
        file: file.to_owned(),
        reason,
    };
    let bytes = plain_file::read(file, LIMIT).map_err(|reason| unreadable(reason.to_string()))?;
    String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text".to_owned()))
}

/// The format by the file's extension, or else by the text.
pub(crate) fn format_of(file: &Path, text: &str) -> TextFormat {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => TextFormat::Toml,
        Some("yaml" | "yml") => TextFormat::Yaml,
        Some("json") => TextFormat::Json,
        _ => ralph_gate_component::tree::recognise(text),
    }
}

#[cfg(test)]
mod tests;
