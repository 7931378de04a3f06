//! The gate in other languages: one file for each package, and what they are generated from.

pub(crate) mod http;
pub(crate) mod node;
mod npm;
pub(crate) mod openapi;
pub(crate) mod playground;
pub(crate) mod python;
mod typescript;
pub(crate) mod web;
mod wit;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::build::{self, Profile};
use crate::cli::{Args, Command, Flag};
use crate::process;
use crate::setup::{self, Skip};
use crate::terminal::step;
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command {
    name: "package",
    summary: "build the package of a language, with the gate inside",
    details: "http     the component ralph-gate-http.wasm, in target/bindings/http; for every server of wasi:http\n\
              node     the npm package ralph-gate, in target/bindings/node; what builds it is installed there with npm\n\
              python   the PyPI package ralph-gate, in target/bindings/python/dist; what builds it is installed beside it with pip\n\
              web      the npm package ralph-gate-web, in target/bindings/web; with npm too, and Debian's chromium for its tests\n\
              playground  the site, in target/bindings/playground/site, on the package for browsers",
    flags: &[Flag {
        name: "--test",
        meaning: "test it too, as it is installed in an empty project",
    }],
    words: &["http", "node", "python", "web", "playground"],
    examples: &[
        "cargo xtask package http",
        "cargo xtask package node",
        "cargo xtask package python --test",
        "cargo xtask package web --test",
    ],
    run,
};

fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    step("checking the toolchain", || setup::ensure(workspace))?;
    match args.word() {
        Some("http") => {
            http::package(workspace)?;
            if args.has("--test") {
                let mut cargo = workspace.cargo(&["test", "--package", "ralph-gate-http"]);
                process::run(&mut cargo)?;
            }
            Ok(())
        }
        Some("node") => {
            node::package(workspace).and_then(must)?;
            if args.has("--test") {
                let tested = node::test(workspace, None)?;
                tested.skips.into_iter().try_for_each(|it| must(Some(it)))?;
            }
            Ok(())
        }
        Some("python") => {
            python::package(workspace).and_then(must)?;
            if args.has("--test") {
                let tested = python::test(workspace)?;
                tested.skips.into_iter().try_for_each(|it| must(Some(it)))?;
            }
            Ok(())
        }
        Some("web") => {
            web::package(workspace).and_then(must)?;
            if args.has("--test") {
                let host = build::host(workspace, Profile::Dev)?;
                web::test(workspace, &host.binary)?;
            }
            Ok(())
        }
        Some("playground") => {
            web::package(workspace).and_then(must)?;
            playground::package(workspace).and_then(must)?;
            if args.has("--test") {
                let built = build::host(workspace, Profile::Dev)?;
                let tested = playground::test(workspace, &built.binary)?;
                tested.skips.into_iter().try_for_each(|it| must(Some(it)))?;
            }
            Ok(())
        }
        _ => {
            bail!("say which: `cargo xtask package http`, `node`, `python`, `web` or `playground`")
        }
    }
}

/// A command that was asked for by name fails where a test would be skipped.
fn must(skip: Option<Skip>) -> Result<()> {
    skip.map_or(Ok(()), |skip| bail!("{skip}"))
}

/// What came of a package's tests.
#[derive(Debug, Default)]
pub(crate) struct Tested {
    pub(crate) passed: usize,
    pub(crate) skips: Vec<Skip>,
}

impl Tested {
    /// Nothing could be tested.
    pub(crate) fn skipped(skip: Skip) -> Self {
        Self {
            passed: 0,
            skips: vec![skip],
        }
    }
}

/// A component that packages embed.
pub(crate) struct Embedded {
    /// Where its bytes are.
    pub(crate) path: PathBuf,
    /// BLAKE3 of them, in hex: what the host says of itself too.
    pub(crate) digest: String,
}

/// Builds the gate without the host. The same bytes as the host embeds: the build is reproducible.
pub(crate) fn gate(workspace: &Workspace) -> Result<Embedded> {
    embed(workspace, "gate.wasm", ralph_gate_builder::build)
}

/// Builds the loop's memory.
pub(crate) fn memory(workspace: &Workspace) -> Result<Embedded> {
    embed(workspace, "memory.wasm", ralph_gate_builder::build_memory)
}

fn embed(
    workspace: &Workspace,
    name: &str,
    build: fn(&Path, &Path) -> Result<Vec<u8>>,
) -> Result<Embedded> {
    let folder = workspace.target().join("bindings");
    // Where the host's components are built too: what they have in common is compiled once.
    let bytes = build(workspace.root(), &workspace.target().join("guest"))?;
    let path = folder.join(name);
    build::replace(&path, &bytes)?;
    Ok(Embedded {
        path,
        digest: blake3::hash(&bytes).to_hex().to_string(),
    })
}

/// Copies the files below a folder of the checkout, except those that are made where they are used.
fn copy_sources(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let entries = fs::read_dir(from).with_context(|| format!("no folder {}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name() == "node_modules" || entry.file_name() == "__pycache__" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_sources(&source, &target)?;
        } else {
            fs::copy(&source, &target)
                .with_context(|| format!("{} can't be copied", source.display()))?;
        }
    }
    Ok(())
}
