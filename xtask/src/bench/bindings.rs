//! An evaluation in every language, beside a decision of the same size in other engines, in one run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::{Form, bench_command};
use crate::bindings::{node, web};
use crate::install::{self, Place};
use crate::process;
use crate::setup::Skip;
use crate::terminal::{green, red, step, table};
use crate::workspace::Workspace;

/// The columns.
const SIZES: [&str; 2] = ["1KiB", "64KiB"];
/// All programs are started this often, in turns, so that noise hits all of them alike; the middle counts.
const ROUNDS: usize = 3;
/// What everything is compared with.
const BASE: &str = "wasmtime";
/// How many times as long as in wasmtime an evaluation may take in Node.
const NODE_LIMIT: f64 = 3.0;

/// Microseconds by line and column, a figure for each round.
type Figures = BTreeMap<(String, &'static str), Vec<f64>>;

/// A program that prints `{"1KiB": …, "64KiB": …}`, or that for each of several lines.
struct Program {
    /// The line, for one that prints a single one.
    line: &'static str,
    command: Command,
}

/// Builds what is measured, measures it, and says whether it is fast enough.
pub(super) fn measure(workspace: &Workspace, form: Form) -> Result<Option<Skip>> {
    for package in [node::package, web::package] {
        if let Some(skip) = package(workspace)? {
            return Ok(Some(skip));
        }
    }
    let peers = step("installing the peers", || install_peers(workspace))?;
    if let Some(reason) = peers {
        let name = "bindings".to_owned();
        return Ok(Some(Skip { name, reason }));
    }
    let mut figures = Figures::new();
    let rounds = if form == Form::Short { 1 } else { ROUNDS };
    for round in 1..=rounds {
        step(&format!("measuring, round {round} of {rounds}"), || {
            for mut program in programs(workspace, form) {
                run(&mut program, &mut figures)?;
            }
            Ok(())
        })?;
    }
    form.enforce(report(&figures))?;
    Ok(None)
}

fn peers(workspace: &Workspace) -> PathBuf {
    workspace.target().join("bindings/node-peers")
}

fn install_peers(workspace: &Workspace) -> Result<Option<String>> {
    let place = Place::of_npm(workspace.path("bindings/node/bench"), peers(workspace));
    install::npm(
        workspace,
        &place,
        "cedar-wasm and opa-wasm, 15 MB on the disk",
    )
}

/// Every program, and what it needs. A language whose package is not built is not measured, and that is said.
fn programs(workspace: &Workspace, form: Form) -> Vec<Program> {
    let budget = if form.is_quick() { "200" } else { "1500" };
    let script = |path: &str| {
        let mut node = Command::new("node");
        node.arg(workspace.path(path)).arg(budget);
        node
    };
    let rust = bench_command(workspace, "bindings", form);
    let mut gate = script("bindings/node/bench/evaluate.mjs");
    gate.current_dir(node::installed(workspace));
    let mut others = script("bindings/node/bench/peers.mjs");
    others
        .current_dir(peers(workspace))
        .env("RALPH_GATE_BUILT", node::folder(workspace));
    let mut python = Command::new(
        workspace
            .target()
            .join("bindings/python/installed/bin/python"),
    );
    python.arg(workspace.path("bindings/python/bench/evaluate.py"));
    let chromium = script("bindings/web/bench/evaluate.mjs");
    let all = [
        ("", rust),
        ("Node", gate),
        ("Python", python),
        ("Chromium", chromium),
        ("", others),
    ];
    let mut programs = Vec::new();
    for (line, command) in all {
        if missing(&command) {
            println!("    {line} is not measured: its package is not built");
            continue;
        }
        programs.push(Program { line, command });
    }
    programs
}

/// Whether the program or its script is not there.
fn missing(command: &Command) -> bool {
    let paths = std::iter::once(command.get_program()).chain(command.get_args());
    let mut paths = paths.map(std::path::Path::new);
    paths.any(|path| path.is_absolute() && !path.exists())
}

fn run(program: &mut Program, figures: &mut Figures) -> Result<()> {
    let printed = process::capture(&mut program.command)?;
    let last = printed.lines().rev().find(|line| line.starts_with('{'));
    let last = last.with_context(|| format!("{} prints no figures", program.line))?;
    let value: Value = serde_json::from_str(last)?;
    let lines = match program.line {
        "" => value.as_object().cloned().unwrap_or_default(),
        line => [(line.to_owned(), value)].into_iter().collect(),
    };
    for (line, value) in lines {
        for size in SIZES {
            let figure = value.get(size).and_then(Value::as_f64);
            let figure = figure.with_context(|| format!("{line} has no figure for {size}"))?;
            figures
                .entry((line.clone(), size))
                .or_default()
                .push(figure);
        }
    }
    Ok(())
}

/// The one in the middle.
fn middle(figures: &Figures, line: &str, size: &'static str) -> Option<f64> {
    let mut rounds = figures.get(&(line.to_owned(), size))?.clone();
    rounds.sort_by(f64::total_cmp);
    rounds.get(rounds.len() / 2).copied()
}

fn report(figures: &Figures) -> Result<()> {
    let mut header = vec!["evaluate-final".to_owned()];
    for size in SIZES {
        header.push(format!("{size}, µs"));
        header.push(format!("beside {BASE}"));
    }
    let mut rows = vec![header];
    for line in lines(figures) {
        let mut row = vec![line.clone()];
        for size in SIZES {
            let (time, base) = middle(figures, &line, size)
                .zip(middle(figures, BASE, size))
                .with_context(|| format!("no figure of {line} for {size}"))?;
            row.push(format!("{time:.1}"));
            row.push(format!("{:.2}x", time / base));
        }
        rows.push(row);
    }
    print!("{}", table(&rows));
    println!(
        "  opa-wasm, floor: a policy by hand that only reads its input (bindings/node/bench/floor.wat); OPA's own take longer"
    );
    let broken = judge(figures)?;
    if broken.is_empty() {
        println!(
            "{} Node is within {NODE_LIMIT} times {BASE}, and faster than cedar-wasm",
            green("good:")
        );
        return Ok(());
    }
    println!("{}", red("slower than it may be"));
    bail!("{}", broken.join("; "))
}

/// The gate's own lines first, by what they take.
fn lines(figures: &Figures) -> Vec<String> {
    let mut lines: Vec<String> = figures.keys().map(|(line, _)| line.clone()).collect();
    lines.dedup();
    let time = |line: &str| middle(figures, line, SIZES[0]).unwrap_or(f64::MAX);
    lines.sort_by(|one, other| {
        let peer = |line: &str| line.contains("-wasm");
        (peer(one).cmp(&peer(other))).then(time(one).total_cmp(&time(other)))
    });
    lines
}

/// Every limit that is not kept.
fn judge(figures: &Figures) -> Result<Vec<String>> {
    let mut broken = Vec::new();
    for size in SIZES {
        let figure = |line: &str| {
            middle(figures, line, size).with_context(|| format!("{line} was not measured"))
        };
        let node = figure("Node")?;
        let ratio = node / figure(BASE)?;
        if ratio > NODE_LIMIT {
            broken.push(format!(
                "{size}: Node takes {ratio:.2} times as long as {BASE}, the limit is {NODE_LIMIT}"
            ));
        }
        let peer = figure("cedar-wasm")?;
        if node >= peer {
            broken.push(format!(
                "{size}: Node takes {node:.1} µs, cedar-wasm {peer:.1} µs"
            ));
        }
    }
    Ok(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(node: f64) -> Figures {
        let mut figures = Figures::new();
        let lines = [("wasmtime", 10.0), ("Node", node), ("cedar-wasm", 40.0)];
        for (line, time) in lines {
            for size in SIZES {
                let rounds = vec![time * 9.0, time, time / 9.0];
                figures.insert((line.to_owned(), size), rounds);
            }
        }
        figures
    }

    #[test]
    fn the_round_in_the_middle_counts() {
        assert_eq!(middle(&figures(20.0), "Node", "1KiB"), Some(20.0));
    }

    #[test]
    fn both_limits_bind_at_each_size() {
        assert!(judge(&figures(20.0)).unwrap().is_empty());
        assert_eq!(judge(&figures(31.0)).unwrap().len(), 2);
        assert_eq!(judge(&figures(41.0)).unwrap().len(), 4);
        assert!(judge(&Figures::new()).is_err());
    }

    #[test]
    fn peers_come_last() {
        assert_eq!(lines(&figures(5.0)), ["Node", "wasmtime", "cedar-wasm"]);
    }
}
