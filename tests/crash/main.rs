//! The memory against the real thing: processes that are killed, system calls that fail, disks that are full.
//!
//! `memory-crash campaign` starts itself again as the worker, under strace; `cargo xtask crash` runs it.

mod campaign;
mod crowd;
mod expectation;
mod strace;
mod swap;
mod tally;
mod tight;
mod worker;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use ralph_gate_tests::gate;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            // Standard error may be what fails.
            let _ = std::io::Write::write_all(
                &mut std::io::stderr(),
                format!("error: {error:#}\n").as_bytes(),
            );
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<ExitCode> {
    match arguments {
        ["campaign", options @ ..] => campaign::run(&Options::read(options)?),
        ["work", root, saves] => worker::work(Path::new(root), number(saves)?),
        ["append", root, name, count] => worker::append(Path::new(root), name, number(count)?),
        ["fill", root] => tight::fill(Path::new(root)),
        _ => bail!(
            "usage: memory-crash campaign [--kills N] [--errors N] [--appends N] [--swaps N] [--disks N] [--seed N]"
        ),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse()
        .ok()
        .with_context(|| format!("`{text}` is not a number"))
}

/// How much of everything.
pub(crate) struct Options {
    kills: u64,
    errors: u64,
    appends: u64,
    swaps: u64,
    /// Disks that are filled, which needs the right to mount.
    disks: u64,
    seed: u64,
}

impl Options {
    fn read(mut arguments: &[&str]) -> Result<Self> {
        let mut options = Self {
            kills: 300,
            errors: 300,
            appends: 25,
            swaps: 40,
            disks: 1,
            seed: 1,
        };
        while let [name, value, rest @ ..] = arguments {
            match *name {
                "--kills" => options.kills = number(value)?,
                "--errors" => options.errors = number(value)?,
                "--appends" => options.appends = number(value)?,
                "--swaps" => options.swaps = number(value)?,
                "--disks" => options.disks = number(value)?,
                "--seed" => options.seed = number(value)?,
                other => bail!("there is no option `{other}`"),
            }
            arguments = rest;
        }
        match arguments {
            [] => Ok(options),
            [name, ..] => bail!("`{name}` needs a number"),
        }
    }
}
