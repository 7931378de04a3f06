//! `cargo xtask crash`: the memory against power cuts, kills, failing calls, and what else happens to files; whole loops
//! against kills.

use std::process::Command as Process;

use anyhow::{Result, bail};

use crate::cli::{Args, Command, Flag};
use crate::process;
use crate::setup::{self, Skip};
use crate::terminal::{step, yellow};
use crate::workspace::{Workspace, in_ci};

pub(crate) const COMMAND: Command = Command {
    name: "crash",
    summary: "kill processes, cut the power, fill the disk: the memory loses nothing",
    details: "First a simulated disk that loses power at every point, then every bit of every file flipped,\n\
              then real processes: killed by strace at their system calls, with calls that fail, eight at\n\
              a time, with files that are swapped for links, on a full disk. Last, whole loops: 200 times one of\n\
              their processes is killed, and each time the loop is resumed; and a server with 500 loops. Prints what was done and found.\n\
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
    let skip = step("killing processes", || {
        let program = workspace.target().join("release/memory-crash");
        let number =
            |(name, default): &(&'static str, u64)| (*name, args.number(name).unwrap_or(*default));
        let options: Vec<(&str, u64)> = DEFAULTS.iter().map(number).collect();
        campaign(workspace, Process::new(program), &options)
    })?;
    kill_loops(workspace, args)?;
    match skip {
        None => Ok(()),
        Some(skip) if in_ci() => bail!("{skip}; with CI=true nothing may be skipped"),
        Some(skip) => {
            println!("{} {skip}", yellow("skipped"));
            Ok(())
        }
    }
}

fn kill_loops(workspace: &Workspace, args: &Args) -> Result<()> {
    step("killing and resuming loops", || {
        test_fully(workspace, args, "resume")
    })?;
    step("killing a server of 500 loops", || {
        test_fully(workspace, args, "serve")
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

/// How much could be done.
pub(crate) enum Done {
    All,
    AllBut(Skip),
    Nothing(Skip),
}

/// Does a little of it, with what `cargo test` built.
pub(crate) fn a_little(workspace: &Workspace) -> Result<Done> {
    if let Err(reason) = setup::ensure_package(workspace, "strace") {
        let name = "crash".to_owned();
        return Ok(Done::Nothing(Skip { name, reason }));
    }
    process::run(&mut workspace.cargo(&["build", "--workspace", "--bin", "memory-crash"]))?;
    let program = Process::new(workspace.target().join("debug/memory-crash"));
    Ok(match campaign(workspace, program, FEW)? {
        None => Done::All,
        Some(skip) => Done::AllBut(skip),
    })
}

/// Gives what can't be done here.
fn campaign(
    workspace: &Workspace,
    mut program: Process,
    options: &[(&str, u64)],
) -> Result<Option<Skip>> {
    let skip = no_full_disk(workspace);
    let disks = if skip.is_none() { "1" } else { "0" };
    program.args(["campaign", "--disks", disks]);
    for (name, number) in options {
        program.arg(name).arg(number.to_string());
    }
    process::run(&mut program)?;
    Ok(skip)
}

/// A small disk is mounted in a name space of its own, which not everybody may make.
fn no_full_disk(workspace: &Workspace) -> Option<Skip> {
    let mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/tmp"];
    let mut unshare = workspace.program("unshare", &["--mount", "--map-root-user"]);
    (!process::succeeds(unshare.args(mount))).then(|| Skip {
        name: "crash: a full disk".to_owned(),
        reason: "`unshare --mount --map-root-user` may not mount here".to_owned(),
    })
}
