//! A million evaluations in Node, and what Python does of them, with flat memory.

use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::Form;
use crate::bindings::node;
use crate::process;
use crate::setup::Skip;
use crate::terminal::{green, step};
use crate::workspace::Workspace;

/// Runs each language's own script; a leak is a failure.
pub(super) fn measure(workspace: &Workspace, form: Form) -> Result<Option<Skip>> {
    if let Some(skip) = node::package(workspace)? {
        return Ok(Some(skip));
    }
    let count = how_many(form, ["1000000", "100000", "20000"]);
    step(&format!("{count} evaluations in Node"), || {
        let mut script = Command::new("node");
        script.arg("--expose-gc");
        script.arg(workspace.path("bindings/node/bench/leak.mjs"));
        check(script.arg(count).current_dir(node::installed(workspace)))
    })?;
    let python = workspace
        .target()
        .join("bindings/python/installed/bin/python");
    if !python.exists() {
        println!("    Python is not measured: its package is not built");
        return Ok(None);
    }
    let count = how_many(form, ["200000", "20000", "5000"]);
    step(&format!("{count} evaluations in Python"), || {
        // It judges by itself, and says so with its exit code.
        let mut script = Command::new(&python);
        script.arg(workspace.path("bindings/python/bench/leak.py"));
        process::run(script.arg(count))
    })?;
    Ok(None)
}

/// How often is evaluated, by the form.
fn how_many(form: Form, [full, quick, short]: [&'static str; 3]) -> &'static str {
    match form {
        Form::Full => full,
        Form::Quick => quick,
        Form::Short => short,
    }
}

/// The script says how many bytes more there are at the end, and how many there may be.
fn check(script: &mut Command) -> Result<()> {
    let printed = process::capture(script)?;
    let value: Value = serde_json::from_str(printed.trim())?;
    let number = |name: &str| {
        let number = value.get(name).and_then(Value::as_i64);
        number.with_context(|| format!("the script does not say `{name}`"))
    };
    let (grown, limit) = (number("grown_bytes")?, number("limit_bytes")?);
    println!("    {}", printed.trim());
    if grown > limit {
        bail!("the memory grew by {grown} bytes; {limit} are allowed");
    }
    println!("{} the memory stayed flat", green("good:"));
    Ok(())
}
