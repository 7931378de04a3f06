//! The module and the query: measured before the engine parses them.

use ralph_gate_policy_evidence::LONGEST_TEXT;
use thiserror::Error;

use crate::rules::{self, RulesError};
use crate::tokens::tokens;

/// Why a text is not given to the engine.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ModuleError {
    #[error("the {part} is too long: it has {size} bytes, and at most {LONGEST_TEXT} are read")]
    TooLong { part: &'static str, size: usize },
    /// The engine takes it for the end.
    #[error("the {part} has a NUL character at byte {offset}")]
    Nul { part: &'static str, offset: usize },
    #[error("the {part} is refused: {cause}")]
    Refused {
        part: &'static str,
        cause: RulesError,
    },
}

/// A module that the engine can be given, and the query if there is one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Module<'t> {
    pub(crate) text: &'t str,
    pub(crate) query: Option<&'t str>,
}

impl<'t> Module<'t> {
    /// Looks at the texts. Never recurses deeper than the limits allow.
    pub(crate) fn new(text: &'t str, query: Option<&'t str>) -> Result<Self, ModuleError> {
        check("module", text, |text| rules::check(&tokens(text)))?;
        if let Some(query) = query {
            check("query", query, |query| {
                rules::depth(&tokens(query))?;
                Ok(())
            })?;
        }
        Ok(Self { text, query })
    }

    /// Whether a name is a word of the module or of the query, wherever it stands.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        [Some(self.text), self.query]
            .into_iter()
            .flatten()
            .any(|text| has_word(text, name))
    }
}

fn check(
    part: &'static str,
    text: &str,
    measure: impl FnOnce(&str) -> Result<(), RulesError>,
) -> Result<(), ModuleError> {
    if text.len() > LONGEST_TEXT {
        let size = text.len();
        return Err(ModuleError::TooLong { part, size });
    }
    if let Some(offset) = text.find('\0') {
        return Err(ModuleError::Nul { part, offset });
    }
    measure(text).map_err(|cause| ModuleError::Refused { part, cause })
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(start, _)| {
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(start + word.len()..).unwrap_or_default();
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}
