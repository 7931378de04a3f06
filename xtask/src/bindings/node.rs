//! The npm package `ralph-gate`: built in the build folder out of `bindings/node` and the gate.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use super::{Embedded, copy_sources, gate, typescript};
use crate::install::{self, Place};
use crate::process;
use crate::setup::Skip;
use crate::terminal::step;
use crate::workspace::Workspace;

/// The sources.
const SOURCE: &str = "bindings/node";

/// The folder in which the package is built. Its `dist` is what is shipped.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target().join("bindings/node")
}

/// Installs and builds. Gives why that was not possible.
pub(crate) fn package(workspace: &Workspace) -> Result<Option<Skip>> {
    if let Some(skip) = step("installing what builds the package for Node", || {
        ensure(workspace)
    })? {
        return Ok(Some(skip));
    }
    step("building the package for Node", || build(workspace))?;
    Ok(None)
}

/// Installs what builds the package. Gives why that was not possible.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Option<Skip>> {
    let place = Place::of_npm(workspace.path(SOURCE), folder(workspace));
    let contents = "jco, TypeScript and esbuild, 150 MB on the disk";
    Ok(install::npm(workspace, &place, contents)?.map(|reason| Skip {
        name: "the package for Node".to_owned(),
        reason,
    }))
}

/// Builds the package where `ensure` has installed.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let folder = folder(workspace);
    copy_sources(&workspace.path(SOURCE), &folder)?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(workspace.path(name), folder.join(name))?;
    }
    write_generated(workspace, &folder)?;
    write_embedded(&folder, &gate(workspace)?)?;
    let mut node = workspace.program("node", &["build.mjs", "embedded.json"]);
    process::run(node.current_dir(&folder))
}

fn write_generated(workspace: &Workspace, folder: &Path) -> Result<()> {
    let modules = typescript::generate(workspace.root())?;
    let generated = folder.join("src/generated");
    fs::create_dir_all(&generated)?;
    fs::write(generated.join("types.ts"), modules.types)?;
    fs::write(generated.join("records.ts"), modules.records)?;
    Ok(())
}

/// What travels inside the package, for `build.mjs`.
fn write_embedded(folder: &Path, gate: &Embedded) -> Result<()> {
    let list = json!({
        "identity": {
            "version": env!("CARGO_PKG_VERSION"),
            "digest": gate.digest,
            "wit": "ralph:gate@0.1.0",
        },
        "components": [{ "name": "gate", "path": gate.path }],
    });
    fs::write(folder.join("embedded.json"), list.to_string())?;
    Ok(())
}
