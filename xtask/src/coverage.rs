//! `cargo xtask coverage`: whether the report's intervals contain the truth as often as they say.

use anyhow::Result;

use crate::cli::{Args, Command, Flag};
use crate::process;
use crate::workspace::Workspace;

/// As often as a share of 95 % is known to within a point.
const REPETITIONS: u64 = 500;

pub(crate) const COMMAND: Command = Command {
    name: "coverage",
    summary: "count how often the report's intervals contain the truth",
    details: "Lets simulated agents of stated honesty and skill run 1,000 loops in each arm, through the real gate and\n\
              memory, reads the logs, compares the arms as `ralph-gate report` does, and looks whether each interval\n\
              contains what is true, which is calculated from the agents' Markov chain. 500 times, once with runs that have\n\
              nothing to do with each other and once with pairs. Prints a table. A way to make intervals whose share is outside\n\
              95 % and two points is an error, and so is a single quantity that the repetitions refute.\n\
              Takes minutes, optimised. `cargo xtask test` always does the same with fewer and smaller repetitions.",
    flags: &[Flag {
        name: "--repetitions N",
        meaning: "how often; 500 unless said. With fewer only what they refute is an error",
    }],
    words: &[],
    examples: &[
        "cargo xtask coverage --repetitions 20",
        "cargo xtask coverage",
    ],
    run,
};

fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let repetitions = args.number("--repetitions").unwrap_or(REPETITIONS);
    // Alone, without the rest of the workspace: nothing of it needs wasmtime.
    let mut cargo = workspace.cargo(&["test", "--release", "--package", "ralph-gate-report"]);
    cargo.args(["--test", "coverage"]);
    cargo.env("RALPH_GATE_COVERAGE", repetitions.to_string());
    // One design at a time: each uses all processors, and their lines don't mix.
    cargo.args(["--", "--nocapture", "--test-threads", "1"]);
    process::run(&mut cargo)
}
