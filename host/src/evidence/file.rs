//! `file`: whether a file is there, and what is in it.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use memchr::memmem;
use serde_json::Value;

use super::Finding;
use super::gather::Scene;
use crate::config::FileCondition;
use crate::plain_file;

/// The most that is read of a file.
const LIMIT: u64 = 64 << 20;
/// The most that is read as one JSON value, which takes many times as much memory.
const JSON_LIMIT: usize = 4 << 20;

pub(super) fn look(scene: &Scene<'_>, path: &str, conditions: &[FileCondition]) -> Finding {
    if conditions == [FileCondition::Absent] {
        return match fs::symlink_metadata(scene.workspace.join(path)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Finding::pass(format!("{path} is not there"))
            }
            Err(error) => Finding::error(format!("{path} can't be looked for: {error}")),
            Ok(_) => Finding::fail(format!("{path} is there, and must not be")),
        };
    }
    let bytes = match read(scene.workspace, path) {
        Ok(bytes) => bytes,
        Err(reason) => return Finding::fail(format!("{path}: {reason}")),
    };
    let wrong: Vec<String> = conditions
        .iter()
        .filter_map(|condition| judge(&bytes, condition).err())
        .collect();
    if wrong.is_empty() {
        return Finding::pass(format!("{path} is as it must be"));
    }
    Finding::fail(format!("{path} {}", wrong.join("; it ")))
}

fn judge(bytes: &[u8], condition: &FileCondition) -> Result<(), String> {
    match condition {
        FileCondition::Exists | FileCondition::Absent => Ok(()),
        FileCondition::Contains(text) => match memmem::find(bytes, text.as_bytes()) {
            Some(_) => Ok(()),
            None => Err(format!("does not contain {text:?}")),
        },
        FileCondition::Blake3(digest) => {
            let found = blake3::hash(bytes).to_hex();
            if digest.eq_ignore_ascii_case(found.as_str()) {
                Ok(())
            } else {
                Err(format!("has the digest {found}, not {digest}"))
            }
        }
        FileCondition::Pointer { pointer, equals } => point(bytes, pointer, equals.as_deref()),
    }
}

fn point(bytes: &[u8], pointer: &str, equals: Option<&str>) -> Result<(), String> {
    if bytes.len() > JSON_LIMIT {
        return Err(format!(
            "has {} bytes, and at most {JSON_LIMIT} of JSON are read",
            bytes.len()
        ));
    }
    let document: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("is not JSON: {error}"))?;
    let Some(found) = document.pointer(pointer) else {
        return Err(format!("has nothing at {pointer}"));
    };
    let Some(equals) = equals else {
        return Ok(());
    };
    let expected: Value = serde_json::from_str(equals).unwrap_or_default();
    if *found == expected {
        return Ok(());
    }
    Err(format!("has {found} at {pointer}, not {expected}"))
}

/// Reads a plain file of the workspace.
pub(super) fn read(workspace: &Path, name: &str) -> Result<Vec<u8>, String> {
    let path = inside(workspace, name)?;
    plain_file::read(&path, LIMIT).map_err(|reason| reason.to_string())
}

/// How far behind the clock that files are dated by may be: it moves in steps.
const STEP: Duration = Duration::from_millis(10);

/// Whether a file was written, or put where it is, at that moment or later. Its times can be set to anything, but not the
/// one at which they were set.
pub(super) fn was_written_since(path: &Path, moment: SystemTime) -> bool {
    let changed = fs::metadata(path).ok().and_then(|found| {
        let seconds = Duration::from_secs(u64::try_from(found.ctime()).ok()?);
        let rest = Duration::from_nanos(u64::try_from(found.ctime_nsec()).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(seconds + rest)
    });
    changed.is_some_and(|changed| changed + STEP >= moment)
}

/// Removes a file of the workspace, if it is there. Not through a link: what is elsewhere is not the agent's to have
/// removed.
pub(super) fn remove(workspace: &Path, name: &str) -> Result<(), String> {
    match fs::remove_file(removable(workspace, name)?) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// The path of a file that [`remove`] may remove: inside the workspace, and not behind a link.
pub(super) fn removable(workspace: &Path, name: &str) -> Result<PathBuf, String> {
    let path = inside(workspace, name)?;
    let above = path.ancestors().skip(1);
    for folder in above.take_while(|folder| *folder != workspace) {
        if folder.is_symlink() {
            return Err(format!(
                "{} is a link; name the place that it leads to",
                folder.display()
            ));
        }
    }
    Ok(path)
}

/// A path that stays in the workspace, as far as its text goes: whoever wrote it is trusted, but may be mistaken.
pub(super) fn inside(workspace: &Path, name: &str) -> Result<PathBuf, String> {
    let escapes = |part: Component<'_>| !matches!(part, Component::Normal(_) | Component::CurDir);
    if name.is_empty() || Path::new(name).components().any(escapes) {
        return Err("it is not a path inside the workspace".to_owned());
    }
    Ok(workspace.join(name))
}
