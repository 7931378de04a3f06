//! Texts of a log that records digests only: an object stands in the place of each.

use serde::{Deserialize, Deserializer};

/// A text, or whatever stands in its place.
#[derive(Deserialize)]
#[serde(untagged)]
enum Readable {
    Text(String),
    Other(serde::de::IgnoredAny),
}

impl Readable {
    fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Other(_) => None,
        }
    }
}

/// A text that can be read. None if there is none, or only its digest.
pub(crate) fn or_none<'de, D: Deserializer<'de>>(source: D) -> Result<Option<String>, D::Error> {
    Readable::deserialize(source).map(Readable::text)
}

/// The same for one that may not be absent: of a digest, nothing.
pub(crate) fn or_empty<'de, D: Deserializer<'de>>(source: D) -> Result<String, D::Error> {
    Ok(or_none(source)?.unwrap_or_default())
}

/// Those of a list that can be read.
pub(crate) fn readable<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<String>, D::Error> {
    let texts: Vec<Readable> = Vec::deserialize(source)?;
    Ok(texts.into_iter().filter_map(Readable::text).collect())
}
