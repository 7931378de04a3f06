//! `cargo xtask tidy`: the invariants of ARCHITECTURE.md and the house rules, each a small check.
//!
//! A check gets the root of a tree and gives back what is wrong there, so that the tests can run it on
//! a copy that was broken on purpose.

mod builds;
mod component;
mod gate;
mod host;
mod house;
mod lexer;
mod licences;
mod markdown;
mod openapi;
mod python;
mod rules;
mod vectors;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::build::{self, Profile};
use crate::cli::{Args, Command};
use crate::setup;
use crate::sources;
use crate::terminal::{red, step};
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command {
    name: "tidy",
    summary: "check the invariants of ARCHITECTURE.md and the house rules",
    details: "Builds, then prints one line `tidy: path:line: message` for everything that breaks an\n\
              invariant of ARCHITECTURE.md or a house rule.",
    flags: &[],
    words: &[],
    examples: &["cargo xtask tidy"],
    run,
};

/// Something that breaks a rule, at its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// Relative to the root.
    path: PathBuf,
    /// From 1; 0 for the whole file.
    line: usize,
    message: String,
}

impl Violation {
    fn new(path: impl AsRef<Path>, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.as_ref().to_path_buf(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tidy: {}:", self.path.display())?;
        if self.line > 0 {
            write!(f, "{}:", self.line)?;
        }
        write!(f, " {}", self.message)
    }
}

/// One invariant or house rule, and what it looks at.
struct Check<T: ?Sized> {
    name: &'static str,
    run: fn(&T) -> Vec<Violation>,
}

const fn check_of<T: ?Sized>(name: &'static str, run: fn(&T) -> Vec<Violation>) -> Check<T> {
    Check { name, run }
}

/// The checks that look at source files alone. The numbers are those of the invariants in
/// ARCHITECTURE.md.
const OF_THE_TREE: &[Check<Path>] = &[
    check_of("2: the gate is pure", gate::pure),
    check_of("2: the memory is pure", gate::pure_memory),
    check_of("2: the shipped policies are pure", gate::pure_policies),
    check_of("2: the gate behind HTTP is pure", gate::pure_http),
    check_of("2: only component.rs knows WIT", gate::one_wit_file),
    check_of(
        "3: only the engine and the policies name wasmtime",
        host::wasmtime,
    ),
    check_of("3: only the memory writes files", host::writes),
    check_of("5: the host asks the component", host::asks_the_component),
    check_of(
        "4: the harness and the command line contain no rule",
        rules::host,
    ),
    check_of("5: the bindings contain no rule", rules::bindings),
    check_of("6: compiled code is loaded in one place", host::loading),
    check_of("7: every vector runs on every host", vectors::check),
    check_of("the types of Python are those of the WIT", python::types),
    check_of(
        "the OpenAPI document is that of the WIT and the routes",
        openapi::documents,
    ),
    check_of("every Rust file says what it is", house::first_lines),
    check_of("versions stand in the workspace table", house::versions),
    check_of(
        "no file names a person's folder or a package registry",
        house::places,
    ),
    check_of("the files that people expect exist", house::expected_files),
    check_of(
        "the changelog has an Unreleased section",
        markdown::changelog,
    ),
    check_of("links in Markdown lead somewhere", markdown::links),
    check_of(
        "`cargo xtask` commands in the README exist",
        markdown::xtask_commands,
    ),
];

/// The checks that look at what was built, or at what cargo would build.
const OF_THE_BUILD: &[Check<Workspace>] = &[
    check_of(
        "1: the gate component imports nothing and runs nothing at start",
        component::check,
    ),
    check_of(
        "`ralph-gate` commands in the README exist",
        markdown::gate_commands,
    ),
    check_of(
        "the demo, the tests and cargo xtask compile the same dependencies",
        builds::check,
    ),
    check_of(
        "the licences in deny.toml are those of the dependencies",
        licences::check,
    ),
];

/// How many checks there are.
pub(crate) const COUNT: usize = OF_THE_TREE.len() + OF_THE_BUILD.len();

fn run(workspace: &Workspace, _: &Args) -> Result<()> {
    step("checking the toolchain", || setup::ensure(workspace))?;
    build::host(workspace, Profile::Dev)?;
    println!("{}", component::world(workspace)?);
    step("checking the invariants", || check(workspace))
}

/// Runs every check and prints what is wrong.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let of_the_build = OF_THE_BUILD
        .iter()
        .map(|check| (check.name, (check.run)(workspace)));
    let of_the_tree = OF_THE_TREE
        .iter()
        .map(|check| (check.name, (check.run)(workspace.root())));
    let mut count = 0;
    for (name, violations) in of_the_build.chain(of_the_tree) {
        for violation in &violations {
            println!("{violation}");
        }
        if !violations.is_empty() {
            println!("    {} {name}", red("broken:"));
        }
        count += violations.len();
    }
    match count {
        0 => {
            println!("    {COUNT} checks, nothing to report");
            Ok(())
        }
        1 => bail!("tidy found 1 violation"),
        _ => bail!("tidy found {count} violations"),
    }
}

/// The text of a file, or a violation that says why there is none.
fn read(root: &Path, path: impl AsRef<Path>) -> Result<String, Violation> {
    let path = path.as_ref();
    std::fs::read_to_string(root.join(path))
        .map_err(|error| Violation::new(path, 0, format!("can't be read: {error}")))
}

/// The Rust files below a folder that contain one of the words anywhere: the others need no lexing.
fn files_with(root: &Path, folder: &str, words: &[&str]) -> Vec<(PathBuf, String)> {
    let files = sources::below(root, folder, &[".rs"]).into_iter();
    let texts = files.filter_map(|path| read(root, &path).ok().map(|text| (path, text)));
    texts
        .filter(|(_, text)| words.iter().any(|word| text.contains(word)))
        .collect()
}
