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
    Ok(violations)
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
