//! Invariant 7: every vector names its rule and runs on every host; there is no list of exceptions.

use std::path::Path;

use serde_json::Value;

use super::{Violation, read};
use crate::sources;

const VECTORS: &str = "tests/vectors";

/// Keys by which a vector could take itself out.
const OPT_OUTS: &[&str] = &[
    "skip", "skip_on", "only", "only_on", "ignore", "disabled", "hosts",
];

/// Parts of a file name that would be such a list.
const LISTS: &[&str] = &[
    "exception",
    "exclude",
    "skip",
    "ignore",
    "known-fail",
    "known_fail",
    "xfail",
];

/// Every file under `tests/vectors`.
pub(super) fn check(root: &Path) -> Vec<Violation> {
    let mut violations = Vec::new();
    let files = sources::below(root, VECTORS, &[""]);
    if files.is_empty() {
        return vec![Violation::new(VECTORS, 0, "there are no vectors")];
    }
    for path in files {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        if let Some(word) = LISTS.iter().find(|word| name.contains(**word)) {
            let message = format!(
                "looks like a list of exceptions (`{word}`); every vector runs on every host"
            );
            violations.push(Violation::new(&path, 0, message));
        }
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            check_file(root, &path, &mut violations);
        }
    }
    violations
}

fn check_file(root: &Path, path: &Path, violations: &mut Vec<Violation>) {
    let text = match read(root, path) {
        Ok(text) => text,
        Err(violation) => return violations.push(violation),
    };
    let vector: Value = match serde_json::from_str(&text) {
        Ok(vector) => vector,
        Err(error) => {
            return violations.push(Violation::new(
                path,
                error.line(),
                format!("is not JSON: {error}"),
            ));
        }
    };
    let rule = vector
        .get("rule")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if rule.trim().is_empty() {
        violations.push(Violation::new(
            path,
            0,
            "has no `rule` that says in one sentence what it proves",
        ));
    }
    for key in OPT_OUTS.iter().filter(|key| vector.get(**key).is_some()) {
        let message = format!(
            "`{key}` would let a host leave this vector out; every vector runs on every host"
        );
        violations.push(Violation::new(path, 0, message));
    }
}
