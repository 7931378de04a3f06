//! Why a report can't be taken as evidence.

use super::text::clean;

/// More than any message needs of a text that somebody else wrote.
const QUOTE_LIMIT: usize = 200;

/// Why a report can't be taken as evidence. None of these means that a test failed: it is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// What every report of this kind has is not there.
    #[error("the report has no {what}")]
    Missing {
        /// What was looked for.
        what: &'static str,
    },
    /// Something began and did not end: the report is torn, or the runner died.
    #[error("line {line}: {what} has no end")]
    Unfinished {
        /// Where it began, counted from 1.
        line: u64,
        /// What began.
        what: String,
    },
    /// The report's own numbers don't agree.
    #[error("line {line}: {place} says {said} and has {found}")]
    Contradiction {
        /// Counted from 1.
        line: u64,
        /// What makes the claim.
        place: String,
        /// The claim.
        said: String,
        /// What the rest of the report shows.
        found: String,
    },
    /// The runner itself says that it did not get to the end.
    #[error("line {line}: the run was given up: {reason}")]
    GivenUp {
        /// Counted from 1.
        line: u64,
        /// In the runner's words.
        reason: String,
    },
    /// Something stands where it can't stand.
    #[error("line {line}: {what}")]
    Malformed {
        /// Counted from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// The scanner's report is not one.
    #[error("the findings can't be read: {reason}")]
    Findings {
        /// What is wrong, and where.
        reason: String,
    },
}

impl ReportError {
    pub(super) fn unfinished(line: u64, what: &str) -> Self {
        Self::Unfinished {
            line,
            what: clean(what, QUOTE_LIMIT),
        }
    }

    pub(super) fn contradiction(line: u64, place: &str, said: &str, found: &str) -> Self {
        Self::Contradiction {
            line,
            place: clean(place, QUOTE_LIMIT),
            said: said.to_owned(),
            found: found.to_owned(),
        }
    }

    pub(super) fn given_up(line: u64, reason: &str) -> Self {
        Self::GivenUp {
            line,
            reason: clean(reason, QUOTE_LIMIT),
        }
    }

    pub(super) fn malformed(line: u64, what: &str) -> Self {
        Self::Malformed {
            line,
            what: clean(what, QUOTE_LIMIT),
        }
    }

    pub(super) fn findings(reason: &str) -> Self {
        Self::Findings {
            reason: clean(reason, QUOTE_LIMIT),
        }
    }
}
