//! `cargo xtask setup`: the parts of the toolchain that the other commands need.

use std::fmt;

use anyhow::Result;

use crate::bindings::python;
use crate::cli::{Args, Command};
use crate::clients::{self, Clients};
use crate::peers;
use crate::process;
use crate::terminal::{step, yellow};
use crate::toolchains::{self, Toolchain};
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command {
    name: "setup",
    summary: "install what is missing of the toolchain, and what the tests need beside it",
    details: "Installs the WebAssembly target, rustfmt and clippy with rustup where they are missing, and into the build\n\
              folder what tests need: Codex and Gemini CLI, with npm, what builds the templates of policies and the\n\
              package for Python, with npm and pip, and what statistics are compared with, with pip.\n\
              The other commands do this by themselves.",
    flags: &[],
    words: &[],
    examples: &["cargo xtask setup"],
    run,
};

/// Something that could not be done here, and why. Never left out of a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skip {
    pub(crate) name: String,
    pub(crate) reason: String,
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

/// What the toolchain offers.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    pub(crate) rustfmt: bool,
    pub(crate) clippy: bool,
    pub(crate) nextest: bool,
    pub(crate) skips: Vec<Skip>,
}

fn run(workspace: &Workspace, _: &Args) -> Result<()> {
    let tools = step("checking the toolchain", || ensure(workspace))?;
    let clients = step("checking the agent clients", || {
        clients::ensure(workspace, Clients::Usual)
    })?;
    let toolchains = step("checking the toolchains of policies", || {
        let skips = Toolchain::ALL.map(|it| toolchains::ensure(workspace, it));
        skips.into_iter().collect::<Result<Vec<_>>>()
    })?;
    let python = step("checking what builds the package for Python", || {
        python::ensure(workspace)
    })?;
    let references = step("checking what statistics are compared with", || {
        peers::STATISTICS.ensure(workspace)
    })?;
    let skips = tools.skips.iter().chain(&clients).chain(&python);
    let skips = skips.chain(&references);
    for skip in skips.chain(toolchains.iter().flatten()) {
        println!("{} {skip}", yellow("skipped"));
    }
    Ok(())
}

/// Installs what is missing. The target of the gate must be there; the rest may be skipped.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Tools> {
    ralph_gate_builder::ensure_target(workspace.root())?;
    let mut tools = Tools {
        rustfmt: ensure_component(workspace, "rustfmt", "fmt"),
        clippy: ensure_component(workspace, "clippy", "clippy"),
        nextest: process::succeeds(&mut workspace.cargo(&["nextest", "--version"])),
        skips: Vec::new(),
    };
    if !tools.rustfmt {
        let remedy = "rustup component add rustfmt";
        tools.skips.push(missing("rustfmt", remedy));
    }
    if !tools.clippy {
        let remedy = "rustup component add clippy";
        tools.skips.push(missing("clippy", remedy));
    }
    // No skip: `cargo test` runs the same tests.
    if !tools.nextest {
        println!("    cargo-nextest is not installed: `cargo test` takes its place");
    }
    Ok(tools)
}

fn missing(name: &str, remedy: &str) -> Skip {
    Skip {
        name: name.to_owned(),
        reason: format!("not installed, and `{remedy}` failed"),
    }
}

/// Installs a program with the system's package manager where that is possible. `Err` says why it is not there.
pub(crate) fn ensure_package(workspace: &Workspace, name: &str) -> Result<(), String> {
    ensure_program(workspace, name, name)
}

/// The same for a program whose package has another name.
pub(crate) fn ensure_program(
    workspace: &Workspace,
    program: &str,
    package: &str,
) -> Result<(), String> {
    // Not by its version, which not every program knows.
    let installed =
        || process::succeeds(&mut workspace.program("sh", &["-c", "command -v \"$0\"", program]));
    if installed() {
        return Ok(());
    }
    let root =
        process::capture(&mut workspace.program("id", &["-u"])).is_ok_and(|id| id.trim() == "0");
    if !root || !process::succeeds(&mut workspace.program("apt-get", &["--version"])) {
        return Err(format!(
            "{program} is not installed; install it with your package manager"
        ));
    }
    println!("    apt-get install {package}");
    let install = || {
        let args = ["install", "--yes", "--no-install-recommends", package];
        process::succeeds(&mut workspace.program("apt-get", &args))
    };
    // A fresh system has no package lists yet.
    if !install() {
        process::succeeds(&mut workspace.program("apt-get", &["update"]));
        install();
    }
    if installed() {
        Ok(())
    } else {
        Err(format!(
            "{program} is not installed, and apt-get could not install it"
        ))
    }
}

fn ensure_component(workspace: &Workspace, component: &str, subcommand: &str) -> bool {
    let installed = || process::succeeds(&mut workspace.cargo(&[subcommand, "--version"]));
    installed() || {
        rustup(workspace, &["component", "add", component]);
        installed()
    }
}

/// Says what it installs. Whether it worked is seen by looking again.
fn rustup(workspace: &Workspace, args: &[&str]) {
    println!("    rustup {}", args.join(" "));
    if let Err(error) = process::run(&mut workspace.program("rustup", args)) {
        println!("    {error:#}");
    }
}
