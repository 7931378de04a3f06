//! Finds transcripts: in paths that were named, or where the clients keep theirs.

use std::env;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use ralph_gate_transcripts::{Client, Summary};

use super::super::error::CliError;
use super::super::input::Source;

/// How deep folders are looked into.
const DEPTH: usize = 32;

/// What a file seems to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Transcript,
    /// The state of an official loop.
    Loop,
}

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

/// Where a client keeps its transcripts.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) client: Client,
    pub(super) path: PathBuf,
    pub(super) found: bool,
}

/// The files of all clients, or of one.
pub(super) fn in_places(
    client: Option<Client>,
    summary: &mut Summary,
) -> Result<(Vec<Place>, Vec<Found>), CliError> {
    let home = env::var_os("HOME").filter(|home| !home.is_empty());
    let Some(home) = home.map(PathBuf::from) else {
        return Err(CliError::Usage {
            message: "HOME is not set, so the clients' folders can't be found; name transcripts or folders"
                .to_owned(),
        });
    };
    let folder = |variable: &str, name: &str| {
        let set = env::var_os(variable).filter(|value| !value.is_empty());
        set.map_or_else(|| home.join(name), PathBuf::from)
    };
    let mut places = Vec::new();
    let mut files = Vec::new();
    for each in Client::ALL {
        if client.is_some_and(|client| client != each) {
            continue;
        }
        let path = match each {
            Client::ClaudeCode => folder("CLAUDE_CONFIG_DIR", ".claude").join("projects"),
            Client::Codex => folder("CODEX_HOME", ".codex").join("sessions"),
            Client::Gemini => home.join(".gemini/tmp"),
        };
        let found = path.is_dir();
        if found {
            walk(&path, DEPTH, summary, &mut |file, _| {
                if is_of(each, &file) {
                    files.push(Found {
                        path: file,
                        kind: Kind::Transcript,
                    });
                }
            });
        }
        places.push(Place {
            client: each,
            path,
            found,
        });
    }
    files.sort();
    Ok((places, files))
}

/// Whether a file in a client's own folder is called like a transcript. Other files there are the client's own affair.
fn is_of(client: Client, file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_session = name.starts_with("session-");
    match client {
        Client::ClaudeCode => name.ends_with(".jsonl"),
        Client::Codex => name.starts_with("rollout-") && name.ends_with(".jsonl"),
        Client::Gemini => is_session && (name.ends_with(".json") || name.ends_with(".jsonl")),
    }
}

/// The files that were named, and all in the folders that were named.
pub(super) fn in_paths(paths: &[PathBuf], summary: &mut Summary) -> Result<Vec<Found>, CliError> {
    let mut files = Vec::new();
    for path in paths {
        let metadata = fs::metadata(path);
        let metadata =
            metadata.map_err(|error| CliError::unreadable(Source::File(path.clone()), &error))?;
        if metadata.is_dir() {
            let mut foreign = Vec::new();
            walk(path, DEPTH, summary, &mut |file, is_plain| {
                match kind_of(&file) {
                    // What is no plain file is opened, refused and named.
                    Some(kind) => files.push(Found { path: file, kind }),
                    None if !is_plain => foreign.push((file, "it is not a plain file")),
                    None => foreign.push((file, "its name is not that of a transcript")),
                }
            });
            for (file, reason) in foreign {
                summary.skip(&file.display().to_string(), reason);
            }
        } else {
            let kind = kind_of(path).unwrap_or(Kind::Transcript);
            files.push(Found {
                path: path.clone(),
                kind,
            });
            // Claude Code keeps what the session's subagents did beside its transcript.
            let subagents = path.with_extension("").join("subagents");
            if subagents.is_dir() {
                walk(&subagents, 0, summary, &mut |file, _| {
                    if is_of(Client::ClaudeCode, &file) {
                        files.push(Found {
                            path: file,
                            kind: Kind::Transcript,
                        });
                    }
                });
            }
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn kind_of(file: &Path) -> Option<Kind> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with("ralph-loop") && name.ends_with(".local.md") {
        Some(Kind::Loop)
    } else if name.ends_with(".jsonl") || name.ends_with(".json") {
        Some(Kind::Transcript)
    } else {
        None
    }
}

/// Calls `act` with each file below a folder, and whether it is a plain one. Links to folders are not followed.
fn walk(folder: &Path, depth: usize, summary: &mut Summary, act: &mut dyn FnMut(PathBuf, bool)) {
    let named = folder.display().to_string();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return summary.skip(&named, &unreadable(&error)),
    };
    for entry in entries {
        let (path, kind) = match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
            Ok(found) => found,
            Err(error) => {
                summary.skip(&named, &unreadable(&error));
                continue;
            }
        };
        if !kind.is_dir() {
            act(path, kind.is_file());
        } else if depth > 0 {
            walk(&path, depth - 1, summary, act);
        } else {
            summary.skip(&path.display().to_string(), "it is too deep in the folder");
        }
    }
}

/// Opens a file without waiting for anything, or says why not.
pub(super) fn open(path: &Path) -> Result<File, String> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        return Err("it is not a plain file".to_owned());
    }
    File::open(path).map_err(|error| unreadable(&error))
}

fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "it is not there".to_owned(),
        ErrorKind::PermissionDenied => "it can't be read: permission denied".to_owned(),
        _ => format!("it can't be read: {error}"),
    }
}

/// The folder that a session of Gemini worked in: `chats` stands beside a file that says so.
pub(super) fn gemini_project(file: &Path) -> Option<String> {
    let place = file.parent()?.parent()?.join(".project_root");
    let mut text = String::new();
    let opened = open(&place).ok()?;
    opened.take(4096).read_to_string(&mut text).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
