//! Which files are looked after while a loop runs, and how strictly.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::WorktreeError;
use super::pattern::Patterns;

/// Which files are looked after. Patterns are globs relative to the workspace, where one without a slash matches at
/// any depth, a folder stands for everything inside, and `!` takes out again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protection {
    /// Files that may not change, and of which there may be no new ones.
    #[serde(rename = "patterns")]
    pub protected: Vec<String>,
    /// Files that may not change once they are there. New ones are allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frozen: Vec<String>,
    /// Files of which only some values may not change, appear or go: JSON pointers by pattern. What `frozen` takes
    /// out with `!` is taken out here, too. A new file in a directory that had nothing to look after may have them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, Vec<String>>,
}

impl Protection {
    /// Whether nothing is looked after.
    pub fn is_empty(&self) -> bool {
        let names_none = |patterns: &[String]| patterns.iter().all(|text| text.starts_with('!'));
        names_none(&self.protected) && names_none(&self.frozen) && self.parts.is_empty()
    }

    /// Those of these files that no pattern names, neither to look after the whole file nor to except it.
    pub fn unnamed(&self, mut files: Vec<String>) -> Result<Vec<String>, WorktreeError> {
        let rules = Rules::new(self)?;
        let is_named = |path: &String| {
            let path = path.as_bytes();
            let matched = rules.matching(path);
            rules.is_spared(path) || matched.is_some_and(|matched| matched.whole())
        };
        files.retain(|path| !is_named(path));
        Ok(files)
    }
}

/// A protection, ready to match paths.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) protected: Patterns,
    pub(super) frozen: Patterns,
    parts: Patterns,
    pointers: BTreeMap<String, Vec<String>>,
}

/// Which patterns match a path.
#[derive(Debug, Default)]
pub(super) struct Matched {
    pub(super) protected: Vec<usize>,
    pub(super) frozen: Vec<usize>,
    pub(super) parts: Vec<usize>,
}

impl Matched {
    /// Whether the file as a whole is looked after.
    pub(super) fn whole(&self) -> bool {
        !self.protected.is_empty() || !self.frozen.is_empty()
    }

    fn is_empty(&self) -> bool {
        !self.whole() && self.parts.is_empty()
    }
}

impl Rules {
    pub(super) fn new(protection: &Protection) -> Result<Self, WorktreeError> {
        let exceptions = protection
            .frozen
            .iter()
            .filter(|text| text.starts_with('!'));
        let parts: Vec<String> = protection.parts.keys().chain(exceptions).cloned().collect();
        Ok(Self {
            protected: Patterns::new(&protection.protected)?,
            frozen: Patterns::new(&protection.frozen)?,
            parts: Patterns::new(&parts)?,
            pointers: protection.parts.clone(),
        })
    }

    /// Only files of which there may be no new ones.
    pub(super) fn of(patterns: &[String]) -> Result<Self, WorktreeError> {
        Self::new(&Protection {
            protected: patterns.to_vec(),
            ..Protection::default()
        })
    }

    /// What matches a path. None if nothing does.
    pub(super) fn matching(&self, path: &[u8]) -> Option<Matched> {
        let matched = Matched {
            protected: self.protected.matching(path),
            frozen: self.frozen.matching(path),
            parts: self.parts.matching(path),
        };
        (!matched.is_empty()).then_some(matched)
    }

    /// Whether something that is looked after can be inside of a folder.
    pub(super) fn reach_into(&self, folder: &[u8]) -> bool {
        let all = [&self.protected, &self.frozen, &self.parts];
        all.iter().any(|patterns| patterns.reach_into(folder))
    }

    /// Whether a new link there could bring in a file that may not appear.
    pub(super) fn watch_links(&self, link: &[u8]) -> bool {
        self.protected.reach_into(link)
    }

    /// Whether a path is taken out of what is looked after.
    pub(super) fn is_spared(&self, path: &[u8]) -> bool {
        self.protected.is_spared(path) || self.frozen.is_spared(path)
    }

    /// The parts of a file that are looked after, each once.
    pub(super) fn pointers(&self, matched: &Matched) -> Vec<String> {
        let texts = self.parts.texts();
        let named = matched.parts.iter().filter_map(|index| texts.get(*index));
        let pointers = named.filter_map(|text| self.pointers.get(text)).flatten();
        let mut pointers: Vec<String> = pointers.cloned().collect();
        pointers.sort();
        pointers.dedup();
        pointers
    }

    /// The patterns that were not among those.
    pub(super) fn unused(&self, used: &Used) -> Vec<String> {
        let not_in = |patterns: &Patterns, used: &[usize]| {
            let texts = patterns.texts().iter().enumerate();
            let unused = texts.filter(|(index, _)| !used.contains(index));
            unused
                .map(|(_, text)| text.clone())
                .collect::<Vec<String>>()
        };
        let mut unused = not_in(&self.protected, &used.0.protected);
        unused.extend(not_in(&self.frozen, &used.0.frozen));
        unused.extend(not_in(&self.parts, &used.0.parts));
        unused
    }
}

/// Which patterns matched anything.
#[derive(Debug, Default)]
pub(super) struct Used(Matched);

impl Used {
    pub(super) fn add(&mut self, matched: &Matched) {
        let add = |used: &mut Vec<usize>, matched: &[usize]| {
            for index in matched {
                if !used.contains(index) {
                    used.push(*index);
                }
            }
        };
        add(&mut self.0.protected, &matched.protected);
        add(&mut self.0.frozen, &matched.frozen);
        add(&mut self.0.parts, &matched.parts);
    }
}
