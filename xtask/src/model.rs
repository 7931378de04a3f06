//! `cargo xtask model`: the gate against an independent model, over millions of states.

use anyhow::Result;

use crate::cli::{Args, Command, Flag};
use crate::process;
use crate::setup;
use crate::terminal::step;
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command {
    name: "model",
    summary: "compare the gate with the model in every state",
    details: "Compares the gate with a model of the specification that shares no code with it, in\n\
              millions of states, in random loops and in one loop of 10,000 iterations. Prints the\n\
              number of states, the differences and the time. Takes minutes, optimised.\n\
              `cargo xtask test` always does the same in a reduced space.",
    flags: &[Flag {
        name: "--reduced",
        meaning: "the reduced space, as in `cargo xtask test`, with all that it prints",
    }],
    words: &[],
    examples: &["cargo xtask model --reduced", "cargo xtask model"],
    run,
};

fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    step("checking the toolchain", || setup::ensure(workspace))?;
    // The whole workspace, as everywhere: other features would compile wasmtime again.
    let mut cargo = workspace.cargo(&["test", "--workspace", "--test", "model"]);
    if args.has("--reduced") {
        cargo.env("RALPH_GATE_MODEL", "reduced");
    } else {
        cargo.arg("--release").env("RALPH_GATE_MODEL", "full");
    }
    // One test at a time: each uses all processors, and their lines don't mix.
    cargo.args(["--", "--nocapture", "--test-threads", "1"]);
    process::run(&mut cargo)
}
