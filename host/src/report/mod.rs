//! The world's side of the effectiveness report: finding logs and reading them, many at a time.

mod error;
mod find;
mod load;

pub use error::ReportError;
pub use find::{LogFile, find};
pub use load::{Progress, load};

use std::io::{self, Write as _};
use std::path::Path;

/// Writes a report: all of it, or nothing.
pub fn write(file: &Path, text: &str) -> io::Result<()> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let beside = file.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let mut new = std::fs::File::create_new(&beside)?;
    let written = new
        .write_all(text.as_bytes())
        .and_then(|()| std::fs::rename(&beside, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}
