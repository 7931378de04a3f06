//! The OpenAPI document, which is checked in, is what the WIT and the routes give.

use std::path::Path;

use super::{Violation, read};
use crate::bindings::openapi::{FILE, generate};

/// Compares the file with what is generated.
pub(super) fn document(root: &Path) -> Vec<Violation> {
    let violation = |message: String| vec![Violation::new(FILE, 0, message)];
    match (generate(root), read(root, FILE)) {
        (Err(error), _) => violation(format!("can't be generated: {error:#}")),
        (_, Err(missing)) => vec![missing],
        (Ok(generated), Ok(text)) if generated == text => Vec::new(),
        _ => violation(
            "is not what the WIT gives; `BLESS=1 cargo test --package xtask openapi` writes it anew"
                .to_owned(),
        ),
    }
}
