//! `cargo xtask crash`: the memory against power cuts, kills, failing calls, and what else happens to files; whole loops
//! against kills.

use std::process::Command as Process;

use anyhow::{Result, bail};

use crate::cli::{Args, Command, Flag};
use crate::process;
use crate::setup::{self, Skip};
use crate::terminal::step;
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command {
    name: "crash",
    summary: "kill processes, cut the power, fill the disk: the memory loses nothing",
    details: "First a simulated disk that loses power at every point, then every bit of every file flipped,\n\
              then real processes: killed by strace at their system calls, with calls that fail, eight at\n\
              a time, with files that are swapped for links, on a full disk. Last, whole loops: 200 times one of\n\
              their processes is killed, and each time the loop is resumed. Prints what was done and found.\n\
              Takes about half an hour. `cargo xtask test` always does less of the same.",
    flags: &[
        Flag {
            name: "--kills N",
            meaning: "processes that are killed; 10000 unless said",
        },
        Flag {
            name: "--errors N",
            meaning: "processes with a call that fails; 3000 unless said",
        },
        Flag {
            name: "--appends N",
            meaning: "appends by each of eight processes; 1000 unless said",
        },
        Flag {
            name: "--swaps N",
            meaning: "processes whose files are swapped; 200 unless said",
        },
        Flag {
            name: "--seed N",
            meaning: "another choice of what is random; 1 unless said",
        },
        Flag {
            name: "--real",
            meaning: "only the real processes",
        },
        Flag {
            name: "--resume",
            meaning: "only the loops that are killed and resumed",
        },
    ],
    words: &[],
    examples: &[
        "cargo xtask crash --resume",
        "cargo xtask crash --kills 500 --real",
    ],
    run,
};

/// How much of each there is.
const DEFAULTS: &[(&str, u64)] = &[
    ("--kills", 10_000),
    ("--errors", 3_000),
    ("--appends", 1_000),
    ("--swaps", 200),
    ("--seed", 1),
];

/// What `cargo xtask test` has time for.
const FEW: &[(&str, u64)] = &[
    ("--kills", 300),
    ("--errors", 200),
    ("--appends", 20),
    ("--swaps", 10),
];

fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    step("checking the toolchain", || setup::ensure(workspace))?;
    if args.has("--resume") {
        return kill_loops(workspace, args);
    }
    if let Err(reason) = setup::ensure_package(workspace, "strace") {
        bail!("{reason}; without it no process can be killed at a system call");
    }
    if !args.has("--real") {
        step("cutting the power and flipping bits", || {
            test_fully(workspace, args, "memory")
        })?;
    }
    step("building the workers", || {
        process::run(&mut workspace.cargo(&[
            "build",
            "--workspace",
            "--release",
            "--bin",
            "memory-crash",
        ]))
    })?;
    step("killing processes", || {
        let program = workspace.target().join("release/memory-crash");
        let number =
            |(name, default): &(&'static str, u64)| (*name, args.number(name).unwrap_or(*default));
        let options: Vec<(&str, u64)> = DEFAULTS.iter().map(number).collect();
        campaign(Process::new(program), &options)
    })?;
    kill_loops(workspace, args)
}

fn kill_loops(workspace: &Workspace, args: &Args) -> Result<()> {
    step("killing and resuming loops", || {
        test_fully(workspace, args, "resume")
    })
}

/// A test that does less where it is one of many.
fn test_fully(workspace: &Workspace, args: &Args, name: &str) -> Result<()> {
    let seed = args.number("--seed").unwrap_or(1).to_string();
    let mut cargo = workspace.cargo(&["test", "--workspace", "--release", "--test", name]);
    cargo
        .env("RALPH_GATE_CRASH", "full")
        .env("RALPH_GATE_CRASH_SEED", seed)
        .args(["--", "--nocapture", "--test-threads", "1"]);
    process::run(&mut cargo)
}

/// Does a little of it, with what `cargo test` built. Gives what can't be done here.
pub(crate) fn a_little(workspace: &Workspace) -> Result<Option<Skip>> {
    if let Err(reason) = setup::ensure_package(workspace, "strace") {
        let name = "crash".to_owned();
        return Ok(Some(Skip { name, reason }));
    }
    process::run(&mut workspace.cargo(&["build", "--workspace", "--bin", "memory-crash"]))?;
    campaign(
        Process::new(workspace.target().join("debug/memory-crash")),
        FEW,
    )?;
    Ok(None)
}

fn campaign(mut program: Process, options: &[(&str, u64)]) -> Result<()> {
    program.arg("campaign");
    for (name, number) in options {
        program.arg(name).arg(number.to_string());
    }
    process::run(&mut program)
}
