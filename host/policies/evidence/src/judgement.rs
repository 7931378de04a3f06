//! The answer of a policy, and how reasons quote a text.

use std::fmt::Display;

/// Three-valued. Only `Pass` passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// What was asked for holds.
    Pass,
    /// It does not hold.
    Fail,
    /// It can't be told.
    Unknown,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// What came of it.
    pub outcome: Outcome,
    /// Why, for people and for the agent's next turn. Empty when it passed.
    pub reasons: Vec<String>,
}

impl Judgement {
    /// It holds.
    pub fn pass() -> Self {
        Self {
            outcome: Outcome::Pass,
            reasons: Vec::new(),
        }
    }

    /// It does not hold.
    pub fn fail(reasons: Vec<String>) -> Self {
        Self {
            outcome: Outcome::Fail,
            reasons,
        }
    }

    /// It can't be told.
    pub fn unknown(reason: impl Display) -> Self {
        Self {
            outcome: Outcome::Unknown,
            reasons: vec![reason.to_string()],
        }
    }
}

/// The most characters of a text that a reason quotes.
const LONGEST_QUOTE: usize = 200;

/// A text in back quotes, on one line and not too long.
pub fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}

/// A text on one line and not too long. Looks at no more of it than it needs.
pub fn shortened(text: &str) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let space = (!line.is_empty()).then_some(' ');
        for character in space.into_iter().chain(word.chars()) {
            if length == LONGEST_QUOTE {
                line.push('…');
                return line;
            }
            line.push(character);
            length += 1;
        }
    }
    line
}
