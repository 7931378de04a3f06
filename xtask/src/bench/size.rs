//! What the command is made of: its sections, and its code by crate.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::Form;
use crate::build::{self, Profile};
use crate::process;
use crate::setup::Skip;
use crate::terminal::{green, red, step, table};
use crate::workspace::Workspace;

/// How large the command may be, in MB.
const LIMIT: f64 = 20.0;
/// Crates with less code than this are one row, in bytes.
const SMALL: u64 = 60_000;

pub(super) fn measure(workspace: &Workspace, form: Form) -> Result<Option<Skip>> {
    let profile = form.profile();
    let named = match profile {
        // It has its symbols.
        Profile::Dev => build::host(workspace, profile)?.binary,
        Profile::Release => step("linking the command with its symbols", || {
            with_symbols(workspace)
        })?,
    };
    let rows = by_crate(&symbols(&named)?);
    // Last, so that this is what is left where people look for it.
    let built = build::host(workspace, profile)?;
    let bytes = fs::metadata(&built.binary)?.len();
    println!("\n{}", table(&sections(&built.binary)?));
    println!("{}", table(&rows));
    form.enforce(say(bytes))?;
    Ok(None)
}

fn say(bytes: u64) -> Result<()> {
    let size = megabytes(bytes);
    let line = format!("the command has {size:.1} MB, at most {LIMIT} are allowed");
    if size > LIMIT {
        println!("{}", red(&line));
        bail!(line);
    }
    println!("{}", green(&line));
    Ok(())
}

/// Only the last step is done again for it.
fn with_symbols(workspace: &Workspace) -> Result<PathBuf> {
    let mut cargo = workspace.cargo(&["rustc", "--release", "--package", "ralph-gate"]);
    cargo.args([
        "--bin",
        "ralph-gate",
        "--message-format=json-render-diagnostics",
    ]);
    let messages = process::capture(cargo.args(["--", "-Cstrip=none"]))?;
    let mut programs = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        message.get("executable")?.as_str().map(PathBuf::from)
    });
    let program = programs.next_back().context("cargo built no program")?;
    let kept = workspace.target().join("bench/ralph-gate-with-symbols");
    build::replace(&kept, &fs::read(program)?)?;
    Ok(kept)
}

/// Functions, by their demangled names, and how many bytes each has.
fn symbols(program: &Path) -> Result<Vec<(u64, String)>> {
    let mut nm = Command::new("nm");
    nm.args(["--print-size", "--demangle=auto", "--defined-only"]);
    let text = process::capture(nm.arg(program))?;
    let found: Vec<_> = text.lines().filter_map(symbol).collect();
    if found.is_empty() {
        bail!("nm found no functions in {}", program.display());
    }
    Ok(found)
}

/// `0000000000401000 000000000000001a t core::fmt::write`
fn symbol(line: &str) -> Option<(u64, String)> {
    let mut words = line.splitn(4, ' ');
    let (_, size, kind, name) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let size = u64::from_str_radix(size, 16).ok()?;
    matches!(kind, "t" | "T" | "w" | "W").then(|| (size, name.to_owned()))
}

/// The crate that a function is of: the first one that its name has.
fn crate_of(name: &str) -> &str {
    let mut name = name.trim_start_matches(|sign: char| "<&*([".contains(sign));
    for word in ["mut ", "const ", "dyn "] {
        name = name.strip_prefix(word).unwrap_or(name);
    }
    match name.split_once("::") {
        Some((first, _))
            if first
                .chars()
                .all(|sign| sign.is_alphanumeric() || sign == '_') =>
        {
            first
        }
        _ if name.starts_with("git_") => "libgit2",
        _ => "other",
    }
}

fn by_crate(symbols: &[(u64, String)]) -> Vec<Vec<String>> {
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    for (size, name) in symbols {
        *sizes.entry(crate_of(name)).or_default() += size;
    }
    let all: u64 = sizes.values().sum();
    let (mut large, small): (Vec<_>, Vec<_>) =
        sizes.into_iter().partition(|(_, size)| *size >= SMALL);
    large.sort_by_key(|(name, size)| (std::cmp::Reverse(*size), *name));
    let rest: u64 = small.iter().map(|(_, size)| size).sum();
    let row = |name: &str, size: u64| {
        #[expect(clippy::cast_precision_loss, reason = "a share for people")]
        let share = 100.0 * size as f64 / all.max(1) as f64;
        vec![
            name.to_owned(),
            format!("{:.2} MB", megabytes(size)),
            format!("{share:.0} %"),
        ]
    };
    let mut rows = vec![vec![
        "code of".to_owned(),
        "size".to_owned(),
        "share".to_owned(),
    ]];
    rows.extend(large.iter().map(|(name, size)| row(name, *size)));
    rows.push(row(&format!("{} smaller ones", small.len()), rest));
    rows
}

/// The sections of the program, the large ones.
fn sections(program: &Path) -> Result<Vec<Vec<String>>> {
    let text = process::capture(Command::new("size").args(["-A", "-d"]).arg(program))?;
    let mut rows = vec![vec!["section".to_owned(), "size".to_owned()]];
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [name, size, _] = words[..]
            && let Ok(size) = size.parse::<u64>()
            && size >= SMALL
        {
            rows.push(vec![name.to_owned(), format!("{:.2} MB", megabytes(size))]);
        }
    }
    Ok(rows)
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_belongs_to_the_first_crate_of_its_name() {
        for (name, expected) in [
            ("core::fmt::write", "core"),
            (
                "<alloc::string::String as core::fmt::Write>::write_str",
                "alloc",
            ),
            (
                "<&mut serde_json::ser::Serializer<W> as serde::Serializer>::x",
                "serde_json",
            ),
            ("git_odb_open", "libgit2"),
            ("main", "other"),
        ] {
            assert_eq!(crate_of(name), expected, "{name}");
        }
    }

    #[test]
    fn only_functions_are_counted() {
        let line = "0000000000401000 000000000000001a t core::fmt::write";
        assert_eq!(symbol(line), Some((26, "core::fmt::write".to_owned())));
        assert_eq!(symbol("0000000000401000 000000000000001a r TABLE"), None);
        assert_eq!(symbol("0000000000401000 T _start"), None);
    }

    #[test]
    fn a_command_that_is_too_large_is_an_error() {
        assert!(say(20_000_000).is_ok());
        assert!(say(20_100_000).is_err());
    }
}
