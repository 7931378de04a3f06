//! The npm package `ralph-gate-web`: built out of `bindings/web`, the face of the package for Node and the gate; tested in Chromium.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{Tested, copy_sources, gate, npm};
use crate::bench::Form;
use crate::install::{self, Place};
use crate::process;
use crate::setup::{self, Skip};
use crate::terminal::step;
use crate::workspace::{Workspace, in_ci};

/// The sources.
const SOURCE: &str = "bindings/web";
/// The face, which is the same for Node.
const FACE: &str = "bindings/node/src/face";
/// What answers with the package in a browser, for the vectors, and its name where the package is installed.
const SCRIPTS: &[npm::Script] = &[("chromium.mjs", "host.mjs"), ("browser.mjs", "browser.mjs")];

/// The folder in which the package is built. Its `dist` is what is shipped.
fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target().join("bindings/web")
}

/// A project that has the package and nothing else.
fn installed(workspace: &Workspace) -> PathBuf {
    workspace.target().join("bindings/web-installed")
}

/// Installs and builds. Gives why that was not possible.
pub(crate) fn package(workspace: &Workspace) -> Result<Option<Skip>> {
    let title = "installing what builds the package for browsers";
    if let Some(skip) = step(title, || ensure(workspace))? {
        return Ok(Some(skip));
    }
    step("building the package for browsers", || build(workspace))?;
    Ok(None)
}

/// Installs what builds the package, and the browser that runs it. Gives why that was not possible.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Option<Skip>> {
    let place = Place::of_npm(workspace.path(SOURCE), folder(workspace));
    let contents = "jco, TypeScript, esbuild and Playwright, 160 MB on the disk";
    let reason = match install::npm(workspace, &place, contents)? {
        Some(reason) => Some(reason),
        None => setup::ensure_package(workspace, "chromium").err(),
    };
    Ok(reason.map(|reason| Skip {
        name: "the package for browsers".to_owned(),
        reason,
    }))
}

/// Builds the package where `ensure` has installed, and installs it in a project that has nothing else.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let folder = folder(workspace);
    npm::clear(&folder.join("src"))?;
    copy_sources(&workspace.path(SOURCE).join("src"), &folder.join("src"))?;
    copy_sources(&workspace.path(FACE), &folder.join("src/face"))?;
    for name in ["build.mjs", "package.json", "tsconfig.json", "README.md"] {
        fs::copy(workspace.path(SOURCE).join(name), folder.join(name))?;
    }
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(workspace.path(name), folder.join(name))?;
    }
    npm::write_generated(workspace, &folder)?;
    npm::write_embedded(&folder, &[("gate", &gate(workspace)?)])?;
    build_history(workspace, &folder)?;
    let mut node = workspace.program("node", &["build.mjs", "embedded.json"]);
    process::run(node.current_dir(&folder))?;
    let tarball = npm::pack(workspace, &folder)?;
    npm::install_in_empty_project(workspace, &tarball, &installed(workspace), SCRIPTS)
}

/// What reads logs, in the folder `page` of a package, and the types of what it says.
pub(super) fn build_history(workspace: &Workspace, package: &Path) -> Result<()> {
    let types = "src/reports.ts";
    fs::copy(workspace.path(SOURCE).join(types), package.join(types))?;
    bindgen(
        workspace,
        "ralph-gate-page",
        "history",
        &package.join("page"),
    )
}

/// The gate as wasm-bindgen makes it, to be compared with what is shipped.
fn build_comparison(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target().join("bindings/web-comparison");
    bindgen(workspace, "ralph-gate-comparison", "gate", &folder)
}

/// Compiles a crate of `bindings/web` as the gate is compiled, and makes the JavaScript around it.
fn bindgen(workspace: &Workspace, package: &str, name: &str, folder: &Path) -> Result<()> {
    let (target, profile) = (ralph_gate_builder::TARGET, ralph_gate_builder::PROFILE);
    ralph_gate_builder::ensure_target(workspace.root())?;
    let mut compile = cargo(workspace, &["build", "--package", package]);
    compile.args(["--target", target, "--profile", profile]);
    process::run(compile.env("RUSTFLAGS", "-C target-feature=+simd128"))?;
    process::run(&mut cargo(
        workspace,
        &["build", "--bin", "ralph-gate-glue"],
    ))?;
    npm::clear(folder)?;
    let module = format!("{}.wasm", package.replace('-', "_"));
    let built = cargo_folder(workspace);
    let mut glue = Command::new(built.join("debug/ralph-gate-glue"));
    glue.arg(built.join(target).join(profile).join(module));
    process::run(glue.arg(name).arg(folder))
}

/// cargo in the workspace of its own that `bindings/web` is.
fn cargo(workspace: &Workspace, args: &[&str]) -> Command {
    let mut cargo = workspace.cargo(args);
    cargo
        .current_dir(workspace.path(SOURCE))
        .env("CARGO_TARGET_DIR", cargo_folder(workspace));
    if in_ci() {
        cargo.arg("--locked");
    }
    cargo
}

fn cargo_folder(workspace: &Workspace) -> PathBuf {
    workspace.target().join("bindings/web-cargo")
}

/// Formatting and clippy, which the steps of the same names leave out here, then the package's tests in Chromium.
/// `host` is the command that the page is compared with.
pub(crate) fn test(workspace: &Workspace, host: &Path) -> Result<Tested> {
    let manifest = workspace.path(SOURCE).join("Cargo.toml");
    let mut fmt = workspace.cargo(&["fmt", "--all", "--check", "--manifest-path"]);
    process::run(fmt.arg(manifest))?;
    let mut clippy = cargo(workspace, &["clippy", "--workspace"]);
    process::run(clippy.args(["--", "-D", "warnings"]))?;
    let mut node = workspace.program("node", &["--test", "bindings/web/test/"]);
    node.env("RALPH_GATE", host)
        .env("CARGO_TARGET_DIR", workspace.target());
    Ok(Tested {
        passed: npm::run_tests(&mut node)?,
        skips: Vec::new(),
    })
}

/// `cargo xtask bench web`: the two ways to bring the gate to a browser, side by side.
pub(crate) fn bench(workspace: &Workspace, form: Form) -> Result<Option<Skip>> {
    if let Some(skip) = package(workspace)? {
        return Ok(Some(skip));
    }
    step("building the gate with wasm-bindgen", || {
        build_comparison(workspace)
    })?;
    step("measuring in Chromium", || {
        let mut node = workspace.program("node", &["bindings/web/bench/compare.mjs"]);
        if form.is_quick() {
            node.arg("--quick");
        }
        process::run(node.env("CARGO_TARGET_DIR", workspace.target()))
    })?;
    Ok(None)
}
