//! The gate behind HTTP: a component of wasi:http, built in the build folder.

use std::path::PathBuf;

use anyhow::Result;

use crate::build;
use crate::terminal::{size, step};
use crate::workspace::Workspace;

/// What the component is called, also in the files for deployment.
const NAME: &str = "ralph-gate-http.wasm";

/// Builds the component, and gives where it is.
pub(crate) fn package(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target().join("bindings");
    let bytes = step("building the gate behind HTTP", || {
        ralph_gate_builder::build_http(workspace.root(), &workspace.target().join("guest"))
    })?;
    let path = folder.join("http").join(NAME);
    build::replace(&path, &bytes)?;
    let (bytes, digest) = (bytes.len() as u64, blake3::hash(&bytes).to_hex());
    println!("  {}", build::relative(workspace, &path));
    println!("  {}, BLAKE3 {digest}", size(bytes));
    Ok(path)
}
