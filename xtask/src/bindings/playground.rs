//! The playground: a site of files, built out of `bindings/web/playground` and the package for browsers, tested in Chromium.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::npm::run_tests;
use super::{Tested, gate};
use crate::install::{self, Place};
use crate::process;
use crate::setup::{Skip, ensure_package};
use crate::terminal::step;
use crate::workspace::Workspace;

/// The sources.
const SOURCE: &str = "bindings/web/playground";

/// Where its packages are installed, and the site is built.
fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target().join("bindings/playground")
}

/// The package for browsers, built.
fn web(workspace: &Workspace) -> PathBuf {
    workspace.target().join("bindings/web")
}

/// The site, as a file server serves it.
pub(crate) fn site(workspace: &Workspace) -> PathBuf {
    folder(workspace).join("site")
}

/// Installs and builds. The package for browsers must have been built before. Gives why it was not possible.
pub(crate) fn package(workspace: &Workspace) -> Result<Option<Skip>> {
    let title = "installing what builds the playground";
    if let Some(skip) = step(title, || ensure(workspace))? {
        return Ok(Some(skip));
    }
    step("building the playground", || build(workspace))?;
    Ok(None)
}

/// Installs what builds the site. Gives why that was not possible.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Option<Skip>> {
    if !web(workspace).join("dist").is_dir() {
        let reason = "the package for browsers, on which it is built, is not there";
        return Ok(Some(skip(reason.to_owned())));
    }
    let place = Place::of_npm(workspace.path(SOURCE), folder(workspace));
    let contents = "Vite, CodeMirror, jco and Playwright, 190 MB on the disk";
    if let Some(reason) = install::npm(workspace, &place, contents)? {
        return Ok(Some(skip(reason)));
    }
    link_packages(workspace)?;
    Ok(None)
}

fn skip(reason: String) -> Skip {
    Skip {
        name: "the playground".to_owned(),
        reason,
    }
}

/// Lets the sources find what was installed, unless somebody installed it beside them.
fn link_packages(workspace: &Workspace) -> Result<()> {
    let link = workspace.path(SOURCE).join("node_modules");
    match fs::symlink_metadata(&link) {
        Ok(found) if !found.is_symlink() => return Ok(()),
        Ok(_) => fs::remove_file(&link)?,
        Err(_) => {}
    }
    std::os::unix::fs::symlink(folder(workspace).join("node_modules"), &link)
        .with_context(|| format!("{} can't be made", link.display()))
}

/// Builds the site where `ensure` has installed.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let mut npm = workspace.program("npm", &["run", "--silent", "build"]);
    npm.current_dir(workspace.path(SOURCE))
        .env("RALPH_GATE_WEB", web(workspace))
        .env("RALPH_GATE_PLAYGROUND", site(workspace));
    process::run(&mut npm)
}

/// Drives the built site in Chromium. `binary` is the command that writes real logs.
pub(crate) fn test(workspace: &Workspace, binary: &Path) -> Result<Tested> {
    if let Err(reason) = ensure_package(workspace, "chromium") {
        return Ok(Tested::skipped(skip(reason)));
    }
    let mut npm = workspace.program("npm", &["run", "--silent", "test"]);
    npm.current_dir(workspace.path(SOURCE))
        .env("RALPH_GATE_PLAYGROUND", site(workspace))
        .env("RALPH_GATE_COMPONENT", gate(workspace)?.path)
        .env("RALPH_GATE", binary);
    Ok(Tested {
        passed: run_tests(&mut npm)?,
        skips: Vec::new(),
    })
}
