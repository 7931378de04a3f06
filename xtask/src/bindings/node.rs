//! The npm package `ralph-gate`: built in the build folder out of `bindings/node` and the gate, tested as it is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{Tested, copy_sources, gate, memory, npm, web};
use crate::install::{self, Place};
use crate::process;
use crate::replay;
use crate::setup::Skip;
use crate::terminal::step;
use crate::workspace::Workspace;

/// The sources.
const SOURCE: &str = "bindings/node";

/// What goes into the project that has the package: the partner for the vectors, what goes on with a session, and what
/// replays logs.
const SCRIPTS: &[npm::Script] = &[
    ("node.mjs", "host.mjs"),
    ("memory.mjs", "memory.mjs"),
    ("replay.mjs", "replay.mjs"),
];

/// The folder in which the package is built. Its `dist` is what is shipped.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target().join("bindings/node")
}

/// A project that has the package and nothing else.
pub(crate) fn installed(workspace: &Workspace) -> PathBuf {
    workspace.target().join("bindings/node-installed")
}

/// Installs and builds. Gives why that was not possible.
pub(crate) fn package(workspace: &Workspace) -> Result<Option<Skip>> {
    let title = "installing what builds the package for Node";
    if let Some(skip) = step(title, || ensure(workspace))? {
        return Ok(Some(skip));
    }
    step("building the package for Node", || build(workspace))?;
    Ok(None)
}

/// Installs what builds the package. Gives why that was not possible.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Option<Skip>> {
    let place = Place::of_npm(workspace.path(SOURCE), folder(workspace));
    let contents = "jco, TypeScript and esbuild, 150 MB on the disk";
    let reason = install::npm(workspace, &place, contents)?;
    Ok(reason.map(|reason| skip("the package for Node", reason)))
}

fn skip(name: &str, reason: String) -> Skip {
    Skip {
        name: name.to_owned(),
        reason,
    }
}

/// Builds the package where `ensure` has installed, and installs it in a project that has nothing else.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let folder = folder(workspace);
    npm::clear(&folder.join("src"))?;
    copy_sources(&workspace.path(SOURCE), &folder)?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(workspace.path(name), folder.join(name))?;
    }
    npm::write_generated(workspace, &folder)?;
    let (gate, memory) = (gate(workspace)?, memory(workspace)?);
    npm::write_embedded(&folder, &[("gate", &gate), ("memory", &memory)])?;
    web::build_history(workspace, &folder)?;
    let mut node = workspace.program("node", &["build.mjs", "embedded.json"]);
    process::run(node.current_dir(&folder))?;
    let tarball = npm::pack(workspace, &folder)?;
    npm::install_in_empty_project(workspace, &tarball, &installed(workspace), SCRIPTS)
}

/// Runs the package's tests in the project that `build` made. With the command of the host a session goes back and forth.
pub(crate) fn test(workspace: &Workspace, host: Option<&Path>) -> Result<Tested> {
    let project = installed(workspace);
    npm::clear(&project.join("test"))?;
    copy_sources(&workspace.path(SOURCE).join("test"), &project.join("test"))?;
    let mut tested = Tested::default();
    let mut node = workspace.program("node", &["--test", "test/"]);
    node.current_dir(&project)
        .env("RALPH_GATE_ROOT", workspace.root())
        .env("RALPH_GATE_BUILT", folder(workspace))
        .env(replay::VARIABLE, replay::made(workspace)?)
        .env("RALPH_GATE_DIGEST", gate(workspace)?.digest);
    match host {
        Some(host) => {
            node.env("RALPH_GATE_BINARY", host);
        }
        None => println!(
            "    without the host no session goes back and forth: `cargo xtask test` does that too"
        ),
    }
    tell_runtimes(workspace, &mut node, &mut tested.skips)?;
    tested.passed = npm::run_tests(&mut node)?;
    match test_examples(workspace)? {
        Ok(passed) => tested.passed += passed,
        Err(skip) => tested.skips.push(skip),
    }
    Ok(tested)
}

/// The examples, in a project that has the frameworks they are for.
fn test_examples(workspace: &Workspace) -> Result<Result<usize, Skip>> {
    let source = workspace.path(SOURCE).join("examples");
    let project = workspace.target().join("bindings/node-examples");
    let place = Place::of_npm(source.clone(), project.clone());
    let contents = "the AI SDK and the Claude Agent SDK, 80 MB on the disk";
    if let Some(reason) = install::npm(workspace, &place, contents)? {
        return Ok(Err(skip("the examples for Node", reason)));
    }
    copy_sources(&source, &project)?;
    let package = project.join("node_modules/ralph-gate");
    npm::clear(&package)?;
    copy_sources(
        &installed(workspace).join("node_modules/ralph-gate"),
        &package,
    )?;
    let mut node = workspace.program("node", &["--test", "examples.test.mjs"]);
    node.current_dir(&project)
        .env("RALPH_GATE_BUILT", folder(workspace));
    npm::run_tests(&mut node).map(Ok)
}

/// Bun and Deno, where their packages run.
fn tell_runtimes(workspace: &Workspace, node: &mut Command, skips: &mut Vec<Skip>) -> Result<()> {
    let target = workspace.target().join("bindings/node-runtimes");
    let reason = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let source = workspace.path(SOURCE).join("test/runtimes");
        let place = Place::of_npm(source, target.clone());
        install::npm(workspace, &place, "Bun and Deno, 190 MB on the disk")?
    } else {
        Some("their packages are for Linux on x86-64".to_owned())
    };
    if let Some(reason) = reason {
        skips.push(skip("the package in Bun and Deno", reason));
        return Ok(());
    }
    let modules = target.join("node_modules");
    node.env(
        "RALPH_GATE_BUN",
        modules.join("@oven/bun-linux-x64/bin/bun"),
    );
    node.env(
        "RALPH_GATE_DENO",
        modules.join("@deno/linux-x64-glibc/deno"),
    );
    Ok(())
}
