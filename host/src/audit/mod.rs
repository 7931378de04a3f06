//! Audits: what turned out about a loop's work after the loop had ended, appended to its log.
//!
//! Either checks are run again ([`Auditor`]), those of the loop itself or others that its agent never saw, or somebody
//! has looked and says so in a table ([`labels`], [`import`]). Nothing here changes what the loop decided: the event `audit` stands
//! beside it, and the last one counts.

pub mod csv;
mod import;
pub mod labels;
mod session;
mod truth;

pub use csv::CsvProblem;
pub use import::{Fate, Import, ImportError, Imported};
pub use session::{Audited, Auditor, JudgedCheck};
pub use truth::truth;

use std::time::Duration;

use crate::memory::Patience;

/// How long to wait for another process that writes to the same session: it may be about to end.
const PATIENCE: Patience = Patience::Until(Duration::from_secs(1));

/// What becomes of what was found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// It is appended to the session's log.
    Append,
    /// It is only told.
    Forget,
}
