//! Invariant 1: the built gate component has zero imports, and nothing in it runs by itself.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::Violation;
use crate::workspace::Workspace;

/// Where `cargo xtask build` copies the component to.
const COMPONENT: &str = "gate/ralph-gate.wasm";

/// Looks at the component that was built last.
pub(super) fn check(workspace: &Workspace) -> Vec<Violation> {
    match bytes(workspace) {
        Ok(bytes) => check_bytes(&bytes),
        Err(error) => vec![violation(format!("{error:#}"))],
    }
}

/// The component's world, as WIT: what it imports and exports, without the interfaces themselves.
pub(super) fn world(workspace: &Workspace) -> Result<String> {
    let anatomy = ralph_gate_builder::anatomy(&bytes(workspace)?)?;
    let lines = anatomy.world.lines();
    let block = lines
        .skip_while(|line| !line.starts_with("world "))
        .take_while(|line| *line != "}");
    let lines: Vec<&str> = block.chain(["}"]).collect();
    Ok(lines.join("\n"))
}

fn bytes(workspace: &Workspace) -> Result<Vec<u8>> {
    std::fs::read(workspace.target().join(COMPONENT))
        .context("the component is not built; `cargo xtask build` builds it")
}

/// One violation per import and one for start functions.
pub(super) fn check_bytes(bytes: &[u8]) -> Vec<Violation> {
    let anatomy = match ralph_gate_builder::anatomy(bytes) {
        Ok(anatomy) => anatomy,
        Err(error) => return vec![violation(format!("{error:#}"))],
    };
    let mut violations = Vec::new();
    for import in anatomy.imports.iter().chain(&anatomy.core_imports) {
        violations.push(violation(format!(
            "the gate must import nothing, and imports {import}"
        )));
    }
    if anatomy.start_functions > 0 {
        let count = anatomy.start_functions;
        violations.push(violation(format!(
            "the gate must have no start function, and has {count}"
        )));
    }
    violations
}

fn violation(message: String) -> Violation {
    Violation::new(Path::new("target").join(COMPONENT), 0, message)
}
