//! The types of the Python package, which are checked in, are what the WIT gives.

use std::path::Path;

use super::{Violation, read};
use crate::bindings::python::types;

/// Compares the file with what is generated.
pub(super) fn types(root: &Path) -> Vec<Violation> {
    let violation = |message: String| vec![Violation::new(types::FILE, 0, message)];
    match (types::generate(root), read(root, types::FILE)) {
        (Err(error), _) => violation(format!("can't be generated: {error:#}")),
        (_, Err(missing)) => vec![missing],
        (Ok(generated), Ok(text)) if generated == text => Vec::new(),
        _ => violation(
            "is not what the WIT gives; `BLESS=1 cargo test --package xtask python` writes it anew"
                .to_owned(),
        ),
    }
}
