//! The OpenAPI documents, which are checked in, are what the WIT and the routes give.

use std::path::Path;

use super::{Violation, read};
use crate::bindings::openapi::{Face, generate};

/// Compares each file with what is generated.
pub(super) fn documents(root: &Path) -> Vec<Violation> {
    let found = Face::ALL.map(|face| document(root, face));
    found.into_iter().flatten().collect()
}

fn document(root: &Path, face: Face) -> Vec<Violation> {
    let file = face.file();
    let violation = |message: String| vec![Violation::new(file, 0, message)];
    match (generate(root, face), read(root, file)) {
        (Err(error), _) => violation(format!("can't be generated: {error:#}")),
        (_, Err(missing)) => vec![missing],
        (Ok(generated), Ok(text)) if generated == text => Vec::new(),
        _ => violation(
            "is not what the WIT gives; `BLESS=1 cargo test --package xtask openapi` writes it anew"
                .to_owned(),
        ),
    }
}
