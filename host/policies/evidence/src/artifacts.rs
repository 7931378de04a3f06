//! Artifacts: reading one in pieces, and what its content is.

use std::collections::BTreeMap;

use serde_json::Value;
use thiserror::Error;

use crate::ArtifactInfo;

/// The most bytes of an artifact that is loaded.
pub const LARGEST_ARTIFACT: u64 = 4 << 20;

/// The most JSON values in all artifacts that are loaded. A value takes much more memory than its text.
pub const MOST_VALUES: usize = 100_000;

/// How many bytes are asked for at a time.
const PIECE: u32 = 256 << 10;

/// Where the bytes of artifacts come from: the host, or a test.
pub trait Artifacts {
    /// At most `length` bytes from `offset`; none only after the end.
    fn read(&self, name: &str, offset: u64, length: u32) -> Result<Vec<u8>, ReadError>;
}

/// Artifacts in memory, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArtifactsInMemory(pub BTreeMap<String, Vec<u8>>);

impl Artifacts for ArtifactsInMemory {
    fn read(&self, name: &str, offset: u64, length: u32) -> Result<Vec<u8>, ReadError> {
        let bytes = self.0.get(name).ok_or(ReadError::UnknownName)?;
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Ok(bytes.iter().skip(offset).take(length).copied().collect())
    }
}

/// Why there are no bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The host does not know the name.
    #[error("the host does not know it")]
    UnknownName,
    /// The host gives no more bytes in this evaluation.
    #[error("the host's limit on bytes read in one evaluation is used up")]
    LimitReached,
}

/// Why an artifact that is mentioned can't be judged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LoadError {
    /// Too long.
    #[error(
        "the artifact `{name}` is too large: it has {size} bytes, and at most {LARGEST_ARTIFACT} are loaded"
    )]
    TooLarge {
        /// Which.
        name: String,
        /// How many bytes it has.
        size: u64,
    },
    /// Too many values.
    #[error(
        "the artifact `{name}` is too large: with it there are {values} JSON values, and at most {MOST_VALUES} are loaded"
    )]
    TooManyValues {
        /// Which.
        name: String,
        /// How many values there are, with those of earlier artifacts.
        values: usize,
    },
    /// Neither JSON nor text.
    #[error("the artifact `{name}` is neither JSON nor text: byte {offset} is not UTF-8")]
    Binary {
        /// Which.
        name: String,
        /// Where it stops being text.
        offset: usize,
    },
    /// Not all bytes came.
    #[error("the artifact `{name}` ends after {read} of {size} bytes")]
    Short {
        /// Which.
        name: String,
        /// How many bytes came.
        read: u64,
        /// How many it should have.
        size: u64,
    },
    /// The host gave no bytes.
    #[error("the artifact `{name}` can't be read: {cause}")]
    Unreadable {
        /// Which.
        name: String,
        /// Why.
        cause: ReadError,
    },
}

/// Loads artifacts, one after the other, as long as they are not too much together.
pub(crate) struct Loader<'a> {
    artifacts: &'a dyn Artifacts,
    values: usize,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(artifacts: &'a dyn Artifacts) -> Self {
        Self {
            artifacts,
            values: 0,
        }
    }

    /// The content: the value if it is JSON, else the text.
    pub(crate) fn load(&mut self, info: &ArtifactInfo) -> Result<Value, LoadError> {
        let bytes = self.bytes(info)?;
        let text = String::from_utf8(bytes).map_err(|error| LoadError::Binary {
            name: info.name.clone(),
            offset: error.utf8_error().valid_up_to(),
        })?;
        self.values += most_values(&text);
        if self.values > MOST_VALUES {
            return Err(LoadError::TooManyValues {
                name: info.name.clone(),
                values: self.values,
            });
        }
        Ok(serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    fn bytes(&self, info: &ArtifactInfo) -> Result<Vec<u8>, LoadError> {
        let name = || info.name.clone();
        if info.size > LARGEST_ARTIFACT {
            return Err(LoadError::TooLarge {
                name: name(),
                size: info.size,
            });
        }
        let mut bytes = Vec::new();
        loop {
            let offset = bytes.len() as u64;
            let piece = self
                .artifacts
                .read(&info.name, offset, PIECE)
                .map_err(|cause| LoadError::Unreadable {
                    name: name(),
                    cause,
                })?;
            let size = offset + piece.len() as u64;
            if size > LARGEST_ARTIFACT {
                return Err(LoadError::TooLarge { name: name(), size });
            }
            if piece.is_empty() {
                break;
            }
            bytes.extend_from_slice(&piece);
        }
        let read = bytes.len() as u64;
        if read < info.size {
            return Err(LoadError::Short {
                name: name(),
                read,
                size: info.size,
            });
        }
        Ok(bytes)
    }
}

/// At least as many values as the text has, should it be JSON: each but the first follows one of these marks.
fn most_values(text: &str) -> usize {
    let is_composed = text.trim_start().starts_with(['[', '{']);
    let marks = text.bytes().filter(|byte| b",:[{".contains(byte));
    if is_composed { 1 + marks.count() } else { 1 }
}
