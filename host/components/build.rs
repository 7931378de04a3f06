//! Builds the gate component and, by feature, the loop's memory, the shipped policies and the gate behind HTTP.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result};

fn main() -> Result<()> {
    let manifest_dir = directory("CARGO_MANIFEST_DIR")?;
    let workspace = manifest_dir
        .ancestors()
        .nth(2)
        .context("the package ralph-gate-components is not inside its workspace")?;
    let out_dir = directory("OUT_DIR")?;
    watch(&manifest_dir, workspace);
    // Beside the directory `debug` or `release`, not in it: the cargo that waits for this script holds a lock there. All
    // profiles and features share it, so that nothing is compiled twice.
    let guest = out_dir
        .ancestors()
        .nth(4)
        .context("OUT_DIR is not in a target directory")?
        .join("guest");
    let write = |name: &str, component: &[u8]| {
        let path = out_dir.join(format!("{name}.wasm"));
        fs::write(&path, component).with_context(|| format!("cannot write {}", path.display()))
    };
    write("gate", &ralph_gate_builder::build(workspace, &guest)?)?;
    if is_on("POLICIES") {
        for policy in ralph_gate_builder::SHIPPED {
            let component = ralph_gate_builder::build_policy(workspace, &guest, policy)?;
            write(policy.name, &component)?;
        }
    }
    if is_on("MEMORY") {
        let memory = ralph_gate_builder::build_memory(workspace, &guest)?;
        write("memory", &memory)?;
    }
    if is_on("SERVE") {
        write("http", &ralph_gate_builder::build_http(workspace, &guest)?)?;
    }
    Ok(())
}

/// Whether a feature of this package is on.
fn is_on(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{feature}")).is_some()
}

/// Says exactly what this script depends on, so that nothing else runs it again.
fn watch(manifest_dir: &Path, workspace: &Path) {
    let mut inputs = vec![manifest_dir.join("build.rs")];
    inputs.extend(ralph_gate_builder::inputs(workspace));
    if is_on("MEMORY") {
        inputs.extend(ralph_gate_builder::memory_inputs(workspace));
    }
    if is_on("SERVE") {
        inputs.extend(ralph_gate_builder::http_inputs(workspace));
    }
    if is_on("POLICIES") {
        inputs.extend(ralph_gate_builder::policy_inputs(workspace));
    }
    for input in inputs {
        println!("cargo::rerun-if-changed={}", input.display());
    }
}

fn directory(variable: &str) -> Result<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .with_context(|| format!("cargo did not set {variable}"))
}
