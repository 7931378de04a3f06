//! The user's state directory: the sessions of stop hooks, outside of every work tree, and an index of the clients'
//! sessions that are held.
//!
//! An agent that cleans its work tree removes nothing of this. A session that is in the index and whose loop can't be read
//! is held all the same, a bounded number of times.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::memory::foreign;
use crate::plain_file;
use crate::runner::ClientSession;

/// The most that is read of an entry of the index, in bytes.
const MAX_ENTRY: u64 = 64 * 1024;
/// The most characters of a workspace's name in that of its directory.
const MAX_NAME: usize = 40;
/// The bytes of a digest that name a file or a directory.
const NAMING_BYTES: usize = 16;

/// The state directory of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDirectory {
    path: PathBuf,
}

/// What is known of a client's session, apart from its loops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownSession {
    /// The client.
    pub harness: String,
    /// The session, as the client names it.
    pub session: String,
    /// The workspace of its loop.
    pub workspace: PathBuf,
    /// Where its loops are remembered.
    pub root: PathBuf,
    /// How often it was held although its loop can't be read.
    #[serde(default)]
    pub refusals: u32,
}

impl StateDirectory {
    /// `$XDG_STATE_HOME/ralph-gate`, or `~/.local/state/ralph-gate`. None where neither is known.
    pub fn find(environment: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let directory = |name: &str| {
            let path = environment(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let state = directory("XDG_STATE_HOME");
        let state = state.or_else(|| Some(directory("HOME")?.join(".local/state")))?;
        let path = state.join("ralph-gate");
        Some(Self { path })
    }

    /// The log of hooks.
    pub fn log(&self) -> PathBuf {
        self.path.join("hook.log")
    }

    /// Where the loops of clients in a workspace are remembered.
    pub fn sessions_of(&self, workspace: &Path) -> PathBuf {
        let workspace = workspace
            .canonicalize()
            .unwrap_or_else(|_| workspace.to_owned());
        let name = workspace.file_name().unwrap_or_default().to_string_lossy();
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        let name: String = name
            .chars()
            .filter(|it| plain(*it))
            .take(MAX_NAME)
            .collect();
        let digest = digest(&[workspace.as_os_str().as_encoded_bytes()]);
        self.path.join("hooks").join(format!("{name}-{digest}"))
    }

    /// What is known of a session. An entry that can't be read is an error: somebody damaged it.
    pub fn known(&self, session: ClientSession<'_>) -> io::Result<Option<KnownSession>> {
        let path = self.entry(session);
        let bytes = match plain_file::read(&path, MAX_ENTRY) {
            Ok(bytes) => bytes,
            Err(plain_file::Unreadable::Missing) => return Ok(None),
            Err(reason) => return Err(io::Error::other(format!("{}: {reason}", path.display()))),
        };
        let known: KnownSession = serde_json::from_slice(&bytes)
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        Ok(Some(known))
    }

    /// Writes down what is known of a session.
    pub fn remember(&self, known: &KnownSession) -> io::Result<()> {
        let session = ClientSession {
            harness: &known.harness,
            id: &known.session,
        };
        let path = self.entry(session);
        if let Some(directory) = path.parent() {
            foreign::make_private(directory)?;
        }
        foreign::replace_private(&path, &serde_json::to_vec(known)?)
    }

    /// Forgets a session whose loop a user ended.
    pub fn forget(&self, session: ClientSession<'_>) -> io::Result<()> {
        match foreign::remove(&self.entry(session)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn entry(&self, session: ClientSession<'_>) -> PathBuf {
        let digest = digest(&[session.harness.as_bytes(), b"\0", session.id.as_bytes()]);
        self.path.join("index").join(format!("{digest}.json"))
    }
}

/// Where the loops of clients are remembered under a configuration: where it says, or else in the state directory.
pub fn sessions_root(config: &Config, state: Option<&StateDirectory>) -> PathBuf {
    match (&config.memory.root, state) {
        (None, Some(state)) => state.sessions_of(&config.workspace),
        _ => config.workspace.join(config.memory.root()),
    }
}

fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let digest = hasher.finalize().to_hex();
    digest.chars().take(2 * NAMING_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn directory(home: &Path) -> StateDirectory {
        let home = home.display().to_string();
        StateDirectory::find(|name| (name == "HOME").then(|| home.clone())).unwrap()
    }

    const SESSION: ClientSession<'static> = ClientSession {
        harness: "claude-code",
        id: "../s\0 1",
    };

    #[test]
    fn the_state_directory_is_where_the_system_says_and_absolute() {
        let find = |pairs: &[(&str, &str)]| {
            let found = StateDirectory::find(|name| {
                let pair = pairs.iter().find(|(key, _)| *key == name);
                pair.map(|(_, value)| (*value).to_owned())
            });
            found.map(|found| found.path)
        };
        assert_eq!(find(&[]), None);
        assert_eq!(find(&[("HOME", "here")]), None);
        assert_eq!(
            find(&[("HOME", "/h"), ("XDG_STATE_HOME", "relative")]),
            Some("/h/.local/state/ralph-gate".into())
        );
        assert_eq!(
            find(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s")]),
            Some("/s/ralph-gate".into())
        );
    }

    #[test]
    fn workspaces_of_one_name_have_directories_of_their_own() {
        let home = tempfile::tempdir().unwrap();
        let state = directory(home.path());
        let (one, other) = (
            state.sessions_of(Path::new("/a/x y")),
            state.sessions_of(Path::new("/b/x y")),
        );
        assert_ne!(one, other);
        let name = one.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("xy-"), "{name}");
    }

    #[test]
    fn a_session_is_known_until_it_is_forgotten_and_a_damaged_entry_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let state = directory(home.path());
        assert_eq!(state.known(SESSION).unwrap(), None);
        let known = KnownSession {
            harness: SESSION.harness.to_owned(),
            session: SESSION.id.to_owned(),
            workspace: "/w".into(),
            root: "/r".into(),
            refusals: 2,
        };
        state.remember(&known).unwrap();
        assert_eq!(state.known(SESSION).unwrap(), Some(known));
        fs::write(state.entry(SESSION), "{").unwrap();
        assert!(state.known(SESSION).is_err());
        state.forget(SESSION).unwrap();
        state.forget(SESSION).unwrap();
        assert_eq!(state.known(SESSION).unwrap(), None);
    }
}
