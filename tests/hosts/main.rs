//! Runs every vector on every host and prints one table: `cargo test --workspace --test hosts -- [HOST …]`.
//!
//! Without names all hosts are asked. A host that was not built is a failure: `cargo xtask test` builds them first.

mod partner;
mod relay;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fmt};

use anyhow::{Context as _, Result, bail};
use partner::Partner;
use ralph_gate_tests::web::OverHttp;
use ralph_gate_tests::{Component, Host, Native, failures, files, read};

/// Where a host's part is, and how it is started.
struct Entry {
    name: &'static str,
    open: fn(&Path) -> Result<Box<dyn Host>>,
}

/// Every host. A host that is not Rust is one entry with a command; paths are seen from cargo's target folder.
const HOSTS: &[Entry] = &[
    Entry {
        name: "native",
        open: |_| Ok(Box::new(Native)),
    },
    Entry {
        name: "wasmtime",
        open: |_| Ok(Box::new(Component::load()?)),
    },
    Entry {
        name: "node",
        open: |target| {
            let partner = target.join("bindings/node-installed/host.mjs");
            Partner::start("node", "node", &partner, "cargo xtask package node")
        },
    },
    Entry {
        name: "python",
        open: |target| {
            let python = target.join("bindings/python/installed/bin/python");
            let partner = Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts/python.py");
            Partner::start(
                "python",
                python,
                &partner,
                "cargo xtask package python --test",
            )
        },
    },
    Entry {
        name: "chromium",
        open: |target| {
            let partner = target.join("bindings/web-installed/host.mjs");
            Partner::start("chromium", "node", &partner, "cargo xtask package web")
        },
    },
    Entry {
        name: "http",
        open: |_| Ok(Box::new(OverHttp::serve()?)),
    },
    Entry {
        name: "wasmtime-serve",
        open: |target| {
            let wasmtime = target.join("wasmtime/bin/wasmtime");
            Ok(Box::new(OverHttp::wasmtime(&wasmtime)?))
        },
    },
];

/// How a host fared.
struct Line {
    name: &'static str,
    vectors: usize,
    calls: usize,
    failures: Vec<String>,
    time: Duration,
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool> {
    let mut lines = Vec::new();
    for entry in wanted()? {
        lines.push(ask(entry).with_context(|| format!("the host `{}`", entry.name))?);
    }
    println!(
        "{:<14} {:>8} {:>6} {:>6} {:>6} {:>9}",
        "host", "vectors", "calls", "equal", "other", "time"
    );
    for line in &lines {
        println!("{line}");
    }
    for failure in lines.iter().flat_map(|line| &line.failures) {
        eprintln!("{failure}");
    }
    let has = |name: &str| lines.iter().any(|line| line.name == name);
    if has("node") && has("python") {
        relay::run(&target()?).context("one loop in three languages")?;
    }
    Ok(lines.iter().all(|line| line.failures.is_empty()))
}

/// The hosts that are named, or all of them.
fn wanted() -> Result<Vec<&'static Entry>> {
    // Whatever begins with a dash is for the harness that this target does without.
    let names: Vec<String> = env::args()
        .skip(1)
        .filter(|it| !it.starts_with('-'))
        .collect();
    if names.is_empty() {
        return Ok(HOSTS.iter().collect());
    }
    let find = |name: &String| {
        let found = HOSTS.iter().find(|host| host.name == *name);
        found.with_context(|| {
            let known: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
            format!("there is no host `{name}`; there are {}", known.join(", "))
        })
    };
    names.iter().map(find).collect()
}

fn ask(entry: &Entry) -> Result<Line> {
    let mut host = (entry.open)(&target()?)?;
    let start = Instant::now();
    let failures = failures(host.as_mut())?;
    let time = start.elapsed();
    let (mut vectors, mut calls) = (0, 0);
    for path in files()? {
        vectors += 1;
        calls += read(&path)?.calls.len();
    }
    if vectors == 0 {
        bail!("there are no vectors");
    }
    Ok(Line {
        name: entry.name,
        vectors,
        calls,
        failures,
        time,
    })
}

/// cargo's target folder: this program is `target/PROFILE/deps/hosts-…`.
fn target() -> Result<std::path::PathBuf> {
    let program = env::current_exe()?;
    let folder = program.ancestors().nth(3);
    Ok(folder.context("no target folder")?.to_path_buf())
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let other = self.failures.len();
        write!(
            f,
            "{:<14} {:>8} {:>6} {:>6} {:>6} {:>7} ms",
            self.name,
            self.vectors,
            self.calls,
            self.vectors - other,
            other,
            self.time.as_millis()
        )
    }
}
