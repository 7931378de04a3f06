//! What npm packages of the gate have in common: generated types, what is embedded, packing, and `node --test`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::{Embedded, typescript};
use crate::process;
use crate::workspace::Workspace;

/// A script of `tests/hosts`, and its name in the project that the package is installed in.
pub(super) type Script = (&'static str, &'static str);

/// Removes a folder with all that is in it, if it is there.
pub(super) fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("{} can't be removed", folder.display()))?;
    }
    Ok(())
}

/// Writes the types that come out of the WIT and the schemas.
pub(super) fn write_generated(workspace: &Workspace, folder: &Path) -> Result<()> {
    let modules = typescript::generate(workspace.root())?;
    let generated = folder.join("src/generated");
    fs::create_dir_all(&generated)?;
    fs::write(generated.join("types.ts"), modules.types)?;
    fs::write(generated.join("records.ts"), modules.records)?;
    Ok(())
}

/// Says what travels inside the package, for `build.mjs`. The first component is the gate.
pub(super) fn write_embedded(folder: &Path, components: &[(&str, &Embedded)]) -> Result<()> {
    let (_, gate) = components.first().context("there is no gate")?;
    let named = |(name, it): &(&str, &Embedded)| json!({ "name": name, "path": it.path });
    let list = json!({
        "identity": {
            "version": env!("CARGO_PKG_VERSION"),
            "digest": gate.digest,
            "wit": "ralph:gate@0.1.0",
        },
        "components": components.iter().map(named).collect::<Vec<_>>(),
    });
    fs::write(folder.join("embedded.json"), list.to_string())?;
    Ok(())
}

/// `npm pack`: the file that would be published.
pub(super) fn pack(workspace: &Workspace, folder: &Path) -> Result<PathBuf> {
    let to = workspace.target().join("bindings");
    let mut npm = workspace.program("npm", &["pack", "--silent", "--pack-destination"]);
    let printed = process::capture(npm.arg(&to).current_dir(folder))?;
    let name = printed.lines().last().context("npm pack names no file")?;
    Ok(to.join(name))
}

/// Installs a packed package in a project that has nothing else but scripts, without any network.
pub(super) fn install_in_empty_project(
    workspace: &Workspace,
    tarball: &Path,
    project: &Path,
    scripts: &[Script],
) -> Result<()> {
    clear(project)?;
    fs::create_dir_all(project)?;
    fs::write(project.join("package.json"), r#"{ "private": true }"#)?;
    let mut npm = workspace.program("npm", &["install", "--offline", "--silent"]);
    npm.args(["--no-audit", "--no-fund", "--no-package-lock"]);
    process::run(npm.arg(tarball).current_dir(project))?;
    for (script, name) in scripts {
        let script = workspace.path("tests/hosts").join(script);
        fs::copy(script, project.join(name))?;
    }
    Ok(())
}

/// Runs `node --test` and gives how many passed. None may fail, be skipped, or be missing altogether.
pub(super) fn run_tests(node: &mut Command) -> Result<usize> {
    let (status, lines) = process::watch(node)?;
    let count = |name: &str| {
        let found = lines.iter().rev().find_map(|line| {
            let rest = line.trim_start_matches(['#', 'ℹ', ' ']);
            rest.strip_prefix(name)?.trim().parse::<usize>().ok()
        });
        found.with_context(|| format!("`node --test` does not say how many `{name}`"))
    };
    let passed = count("pass ")?;
    if !status.success() || passed == 0 || count("skipped ")? > 0 {
        bail!("`{}` ended with {status}", process::line(node));
    }
    Ok(passed)
}
