//! What is compiled for the demo, and for `cargo xtask` itself, is compiled for the tests too: cargo builds nothing twice.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::Violation;
use crate::process;
use crate::workspace::Workspace;

/// Which features crates have in common is decided here.
const ALIKE: &str = "host/alike/Cargo.toml";

/// Builds whose dependencies must be among those of the whole workspace.
const PARTS: [&[&str]; 2] = [
    &["--package", "ralph-gate", "--no-default-features"],
    &["--package", "xtask"],
];

/// What only tests, servers on object storage and policies need: the command itself is built without it.
const NOT_FOR_USERS: [&str; 5] = ["object_store", "reqwest", "jsonschema", "cel", "regorus"];
/// The most crates that the demo compiles.
const MAX_DEMO_CRATES: usize = 240;

pub(super) fn check(workspace: &Workspace) -> Vec<Violation> {
    compare(workspace).unwrap_or_else(|error| vec![Violation::new(ALIKE, 0, format!("{error:#}"))])
}

fn compare(workspace: &Workspace) -> Result<Vec<Violation>> {
    let all = units(workspace, &["--workspace"])?;
    let mut violations = Vec::new();
    for part in PARTS {
        for unit in units(workspace, part)?.difference(&all) {
            let message = format!(
                "`cargo build {}` compiles {unit}, which the tests have with other features: name them here",
                part.join(" "),
            );
            violations.push(Violation::new(ALIKE, 0, message));
        }
    }
    let [demo, _] = PARTS;
    violations.extend(too_much(&units(workspace, demo)?));
    Ok(violations)
}

/// What the demo should not compile.
fn too_much(units: &BTreeSet<String>) -> Vec<Violation> {
    let crates: BTreeSet<&str> = units
        .iter()
        .filter_map(|unit| unit.split('@').next())
        .collect();
    let mut violations = Vec::new();
    for name in NOT_FOR_USERS.iter().filter(|name| crates.contains(*name)) {
        let message = format!(
            "the demo compiles {name}, which a user does not need: put it behind a feature"
        );
        violations.push(Violation::new("host/Cargo.toml", 0, message));
    }
    if crates.len() > MAX_DEMO_CRATES {
        let message = format!(
            "the demo compiles {} crates; the limit is {MAX_DEMO_CRATES}",
            crates.len()
        );
        violations.push(Violation::new("host/Cargo.toml", 0, message));
    }
    violations
}

/// What cargo would build, without the packages of this workspace.
fn units(workspace: &Workspace, parts: &[&str]) -> Result<BTreeSet<String>> {
    // Unstable in cargo, whose version is pinned.
    let mut cargo = workspace.cargo(&["build", "--unit-graph", "-Zunstable-options"]);
    cargo.env("RUSTC_BOOTSTRAP", "1").args(parts);
    let graph: Value = serde_json::from_str(&process::capture(&mut cargo)?)?;
    let units = graph.get("units").and_then(Value::as_array);
    let units = units.context("cargo's unit graph has no units")?;
    Ok(units.iter().filter_map(name).collect())
}

/// `registry+…#serde@1.0.0` as `serde@1.0.0`, with what else decides whether it is compiled again.
fn name(unit: &Value) -> Option<String> {
    let package = unit.get("pkg_id")?.as_str()?;
    if package.starts_with("path+") {
        return None;
    }
    let (_, package) = package.rsplit_once('#')?;
    let kind = unit.pointer("/target/kind/0")?.as_str()?;
    let mode = unit.get("mode")?.as_str()?;
    let level = unit.pointer("/profile/opt_level")?.as_str()?;
    let features = unit.get("features")?.as_array()?;
    let features: Vec<&str> = features.iter().filter_map(Value::as_str).collect();
    Some(format!(
        "{package} ({kind}, {mode}, optimised {level}) with the features [{}]",
        features.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_compiles_no_object_store_and_not_too_much() {
        let units = |names: &[String]| {
            let named = names
                .iter()
                .map(|name| format!("{name}@1.0.0 (lib, build, optimised 0) with the features []"));
            too_much(&named.collect())
        };
        assert_eq!(units(&["serde".to_owned()]), []);
        let [violation] = &units(&["serde".to_owned(), "object_store".to_owned()])[..] else {
            panic!("one violation");
        };
        assert!(
            violation.to_string().contains("object_store"),
            "{violation}"
        );
        let many: Vec<String> = (0..=MAX_DEMO_CRATES)
            .map(|n| format!("crate-{n}"))
            .collect();
        assert_eq!(units(&many).len(), 1);
    }
}
