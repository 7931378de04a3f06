//! JSON values that a scanner may write in more than one way, read without keeping what is not needed.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// More findings, rules or runs than any report has.
const ENTRIES_LIMIT: usize = 100_000;

/// A list of at most 100 000 entries.
pub(super) struct Bounded<T> {
    pub(super) items: Vec<T>,
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T> Bounded<T> {
    /// One entry more, if there is room for it.
    pub(super) fn push<E: Error>(&mut self, item: T) -> Result<(), E> {
        if self.items.len() >= ENTRIES_LIMIT {
            let message = format!("a list has more than {ENTRIES_LIMIT} entries");
            return Err(E::custom(message));
        }
        self.items.push(item);
        Ok(())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Bounded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(BoundedVisitor(PhantomData))
    }
}

struct BoundedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for BoundedVisitor<T> {
    type Value = Bounded<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut list = Bounded::default();
        while let Some(entry) = entries.next_element()? {
            list.push::<A::Error>(entry)?;
        }
        Ok(list)
    }
}

/// A single value. Lists and objects are known only to have been there.
pub(super) enum Word {
    Text(String),
    Number(f64),
    Other,
}

impl Word {
    /// The value, if it is a text.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) | Self::Other => None,
        }
    }

    /// The value as a place in a list. Negative numbers stand for no place.
    pub(super) fn index(&self) -> Option<usize> {
        match self {
            Self::Number(number) if *number >= 0.0 => format!("{number}").parse().ok(),
            _ => None,
        }
    }

    /// The value as somebody would write it.
    pub(super) fn shown(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::Other => None,
        }
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordVisitor)
    }
}

struct WordVisitor;

impl<'de> Visitor<'de> for WordVisitor {
    type Value = Word;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Word, E> {
        Ok(Word::Text(text.to_owned()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Word, E> {
        Ok(Word::Number(number))
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "numbers are places in lists and severities, which are small"
    )]
    fn visit_u64<E>(self, number: u64) -> Result<Word, E> {
        Ok(Word::Number(number as f64))
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "numbers are places in lists and severities, which are small"
    )]
    fn visit_i64<E>(self, number: i64) -> Result<Word, E> {
        Ok(Word::Number(number as f64))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Word, E> {
        Ok(Word::Other)
    }

    fn visit_unit<E>(self) -> Result<Word, E> {
        Ok(Word::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Word, A::Error> {
        while entries.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Word::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Word, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Word::Other)
    }
}
