//! The world's side of the effectiveness report: finding logs and reading them, many at a time.

mod error;
mod find;
mod load;

pub use error::ReportError;
pub use find::{LogFile, find};
pub use load::{Progress, load};
