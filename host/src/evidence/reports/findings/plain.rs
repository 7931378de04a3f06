//! A plain JSON list of findings, as many scanners write it in one way or another.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::value::{Bounded, Word};
use super::{Finding, Severity};

/// One entry of a list. Scanners differ in what they call its parts.
#[derive(serde::Deserialize, Default)]
#[serde(default, expecting = "an object that describes a finding")]
pub(super) struct Listed {
    severity: Option<Word>,
    level: Option<Word>,
    risk: Option<Word>,
    rule: Option<Word>,
    id: Option<Word>,
    message: Option<Word>,
    title: Option<Word>,
    description: Option<Word>,
    path: Option<Word>,
    file: Option<Word>,
}

impl Listed {
    /// The finding; `key` is what it is called if it has no other name.
    pub(super) fn finding(&self, key: &str, level_default: Option<Severity>) -> Finding {
        let rule = first_of([&self.rule, &self.id]).unwrap_or_else(|| key.to_owned());
        let message = first_of([&self.message, &self.title, &self.description]);
        let place = first_of([&self.path, &self.file]);
        Finding::new(
            self.severity(level_default),
            &rule,
            &message.unwrap_or_default(),
            place.as_deref(),
        )
    }

    /// The worst of what it says. An entry that says nothing may be anything, unless the caller knows better.
    fn severity(&self, level_default: Option<Severity>) -> Severity {
        let said = [&self.severity, &self.level, &self.risk];
        let said = said.into_iter().flatten();
        let usual = level_default.unwrap_or(Severity::High);
        said.map(severity).max().unwrap_or(usual)
    }
}

fn first_of<const N: usize>(words: [&Option<Word>; N]) -> Option<String> {
    words.into_iter().flatten().find_map(Word::shown)
}

fn severity(word: &Word) -> Severity {
    let word = word.text().map(|text| text.trim().to_ascii_lowercase());
    match word.as_deref() {
        Some("info" | "note" | "none" | "negligible") => Severity::Info,
        Some("low") => Severity::Low,
        Some("medium" | "moderate" | "warning") => Severity::Medium,
        Some("critical" | "blocker") => Severity::Critical,
        // Also what nobody has heard of.
        _ => Severity::High,
    }
}

/// Findings in a list, or in an object by their names.
pub(super) struct List {
    entries: Bounded<(String, Listed)>,
}

impl List {
    pub(super) fn findings(
        &self,
        level_default: Option<Severity>,
    ) -> impl Iterator<Item = Finding> {
        let entries = self.entries.items.iter();
        entries.map(move |(key, listed)| listed.finding(key, level_default))
    }
}

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = List;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of findings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List, A::Error> {
        let mut entries = Bounded::default();
        while let Some(listed) = list.next_element()? {
            entries.push::<A::Error>((String::new(), listed))?;
        }
        Ok(List { entries })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<List, A::Error> {
        let mut entries = Bounded::default();
        while let Some(entry) = map.next_entry()? {
            entries.push::<A::Error>(entry)?;
        }
        Ok(List { entries })
    }
}
