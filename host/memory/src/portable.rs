//! A session as one file, to carry it elsewhere.
//!
//! JSON lines: a header, one line a file, and a last line with the digest of everything before it. What is not text is
//! written in hexadecimal digits.

use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoint;
use super::disk::{Disk, Durability, Folder, Place};
use super::error::MemoryError;
use super::key::SessionKey;
use super::view::View;
use crate::digest::Digest;

const FORMAT: &str = "ralph-gate session";
const VERSION: u32 = 1;
/// What belongs to the machine that it is on.
const LOCK: &str = "lock";

/// A file's place and content.
type PlacedFile = (Place, Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    key: SessionKey,
    revision: u64,
    files: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trailer {
    digest: Digest,
}

impl<D: Disk> View<D> {
    /// The whole session as one text.
    pub fn export(&self) -> Result<String, MemoryError> {
        self.steadily(|head, _, _| {
            let mut members = Vec::new();
            for folder in [Folder::Session, Folder::Checkpoints, Folder::Quarantine] {
                members.extend(self.members(folder)?);
            }
            let header = Header {
                format: FORMAT.to_owned(),
                version: VERSION,
                key: head.key.clone(),
                revision: head.revision,
                files: members.len(),
            };
            let mut text = format!("{}\n", serde_json::to_string(&header)?);
            for member in members {
                text.push_str(&serde_json::to_string(&member)?);
                text.push('\n');
            }
            let digest = Digest::of_content(text.as_bytes());
            text.push_str(&serde_json::to_string(&Trailer { digest })?);
            text.push('\n');
            Ok(text)
        })
    }

    /// The plain files of a folder. Links and the like are nobody's.
    fn members(&self, folder: Folder) -> Result<Vec<Member>, MemoryError> {
        let names = self.disk().list(folder)?.unwrap_or_default();
        let mut members = Vec::new();
        for name in names
            .iter()
            .filter(|name| *name != LOCK && !name.starts_with('.'))
        {
            let place = Place::new(folder, name);
            let Ok(Some((bytes, _))) = self.disk().read(&place, 0) else {
                continue;
            };
            let file = place.to_string();
            members.push(match String::from_utf8(bytes) {
                Ok(text) => Member {
                    file,
                    text: Some(text),
                    hex: None,
                },
                Err(error) => Member {
                    file,
                    text: None,
                    hex: Some(to_hex(error.as_bytes())),
                },
            });
        }
        Ok(members)
    }
}

/// A session out of a file that [`View::export`] gave.
#[derive(Debug)]
pub struct Exported {
    /// Whose it is.
    pub key: SessionKey,
    /// Its newest revision.
    pub revision: u64,
    members: Vec<PlacedFile>,
}

impl Exported {
    /// Reads it, and sees that it is whole. `file` is for messages.
    pub fn read(file: &str, text: &str) -> Result<Self, MemoryError> {
        let bad = |reason: String| MemoryError::BadExport {
            file: file.to_owned(),
            reason,
        };
        let (header, members) = parse(text).map_err(bad)?;
        check(&header, &members).map_err(bad)?;
        Ok(Self {
            key: header.key,
            revision: header.revision,
            members,
        })
    }

    /// Writes its files into a folder of which nobody knows yet.
    pub fn write(&self, folder: &impl Disk) -> Result<(), MemoryError> {
        let members = &self.members;
        folder.make_folder(Folder::Checkpoints)?;
        if members
            .iter()
            .any(|(place, _)| place.folder() == Folder::Quarantine)
        {
            folder.make_folder(Folder::Quarantine)?;
        }
        for (place, bytes) in members {
            folder.create(place, bytes, Durability::Synced)?;
        }
        for used in [Folder::Checkpoints, Folder::Quarantine, Folder::Session] {
            if folder.list(used)?.is_some() {
                folder.sync_folder(used)?;
            }
        }
        Ok(())
    }
}

fn parse(text: &str) -> Result<(Header, Vec<PlacedFile>), String> {
    let content = text
        .strip_suffix('\n')
        .ok_or("its last line is not complete")?;
    let (content, last) = content
        .rsplit_once('\n')
        .ok_or("it is not an exported session")?;
    let Trailer { digest } =
        serde_json::from_str(last).map_err(|_| "its last line is not a digest")?;
    let covered = text.get(..=content.len()).unwrap_or_default();
    if Digest::of_content(covered.as_bytes()) != digest {
        return Err("its digest does not fit its content".to_owned());
    }
    let mut lines = content.split('\n');
    let header: Header = lines
        .next()
        .and_then(|line| serde_json::from_str(line).ok())
        .ok_or("its first line is not the header of an exported session")?;
    if header.format != FORMAT {
        return Err(format!("its format is `{}`, not `{FORMAT}`", header.format));
    }
    if header.version > VERSION {
        return Err(format!(
            "it has version {} and this program knows versions up to {VERSION}",
            header.version
        ));
    }
    let members: Result<Vec<_>, String> = lines
        .enumerate()
        .map(|(index, line)| member(index + 2, line))
        .collect();
    Ok((header, members?))
}

fn member(number: usize, line: &str) -> Result<PlacedFile, String> {
    let wrong = |reason: &str| format!("line {number} {reason}");
    let member: Member = serde_json::from_str(line).map_err(|_| wrong("is not a file"))?;
    let place = place(&member.file).ok_or_else(|| wrong("names no file of a session"))?;
    let bytes = match (member.text, member.hex) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(hex)) => from_hex(&hex).ok_or_else(|| wrong("has wrong digits"))?,
        _ => return Err(wrong("has not one content")),
    };
    Ok((place, bytes))
}

/// Where a file goes. None for what would not stay where it belongs.
fn place(file: &str) -> Option<Place> {
    let (folder, name) = match file.split_once('/') {
        None => (Folder::Session, file),
        Some(("checkpoints", name)) => (Folder::Checkpoints, name),
        Some(("quarantine", name)) => (Folder::Quarantine, name),
        Some(_) => return None,
    };
    let place = Place::new(folder, name);
    let is_plain = place.to_string() == file && !name.starts_with('.') && file != LOCK;
    let is_folder = [Folder::Checkpoints, Folder::Quarantine]
        .iter()
        .any(|folder| folder.name() == Some(file));
    (is_plain && !is_folder).then_some(place)
}

/// That there is a session in it, and the one that the header says.
fn check(header: &Header, members: &[PlacedFile]) -> Result<(), String> {
    if members.len() != header.files {
        return Err(format!(
            "it has {} files and its header says {}",
            members.len(),
            header.files
        ));
    }
    let newest = Checkpoint::place(header.revision);
    let bytes = members
        .iter()
        .find(|(place, _)| *place == newest)
        .map(|(_, bytes)| bytes);
    let checkpoint = bytes.and_then(|bytes| Checkpoint::read(bytes).ok());
    match checkpoint {
        Some(checkpoint)
            if checkpoint.key == header.key && checkpoint.revision == header.revision =>
        {
            Ok(())
        }
        Some(_) => Err(format!("{newest} is that of another session")),
        None => Err(format!("{newest} is missing or can't be read")),
    }
}

fn to_hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        digits.push_str(&format!("{byte:02x}"));
    }
    digits
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| {
            u8::from_str_radix(
                str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?,
                16,
            )
            .ok()
        })
        .collect()
}
