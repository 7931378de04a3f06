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

/// What a list of vectors that some host leaves out would be called.
const LISTS: &[&str] = &[
    "allowlist",
    "denylist",
    "exceptions",
    "exclude",
    "excluded",
    "expected-failures",
    "ignore",
    "ignored",
    "known-failures",
    "skip",
    "skiplist",
    "skipped",
    "xfail",
];

/// Every file under `tests/vectors`, and no list beside them that takes one out.
pub(super) fn check(root: &Path) -> Vec<Violation> {
    let mut violations = Vec::new();
    for path in sources::below(root, "tests", &[""]) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let stem = stem.to_lowercase().replace('_', "-");
        let is_vector = path.starts_with(VECTORS);
        if !is_vector && LISTS.contains(&stem.as_str()) {
            let message = "looks like a list of exceptions; every vector runs on every host";
            violations.push(Violation::new(&path, 0, message));
        }
    }
    let files = sources::below(root, VECTORS, &[""]);
    if files.is_empty() {
        violations.push(Violation::new(VECTORS, 0, "there are no vectors"));
    }
    for path in files {
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            check_file(root, &path, &mut violations);
        } else if path.file_name().is_none_or(|name| name != "README.md") {
            let message =
                "is no vector; nothing else belongs here, least of all a list of exceptions";
            violations.push(Violation::new(&path, 0, message));
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
    let calls = vector.get("calls").and_then(Value::as_array);
    for part in std::iter::once(&vector).chain(calls.into_iter().flatten()) {
        for key in OPT_OUTS.iter().filter(|key| part.get(**key).is_some()) {
            let message = format!(
                "`{key}` would let a host leave this vector out; every vector runs on every host"
            );
            violations.push(Violation::new(path, 0, message));
        }
    }
}
