//! `cargo xtask hostile`: policies that mean harm, and a host that must not come to any.

use anyhow::Result;

use crate::cli::{Args, Command, Flag};
use crate::process;
use crate::setup;
use crate::terminal::step;
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command {
    name: "hostile",
    summary: "run policies that mean harm: the host lives, and each ends as it must",
    details: "Every policy of tests/hostile in a process of its own, asked 100 times: its outcome, what was\n\
              observed and the limit, fuel, time, and the most memory that the host and its compiler had.\n\
              Then components that were cut and changed, a crowd of 1000 honest policies beside hostile\n\
              ones, and files that were planted in the cache of compiled code. Nothing else should run\n\
              meanwhile. Takes about ten minutes. `cargo xtask test` always does less of the same.",
    flags: &[Flag {
        name: "--seed N",
        meaning: "another choice of what is random; 1 unless said",
    }],
    words: &[],
    examples: &["cargo xtask hostile", "cargo xtask hostile --seed 7"],
    run,
};

fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    step("checking the toolchain", || setup::ensure(workspace))?;
    let seed = args.number("--seed").unwrap_or(1).to_string();
    step("running hostile policies", || {
        let mut cargo = workspace.cargo(&["test", "--workspace", "--release", "--test", "hostile"]);
        cargo
            .env("RALPH_GATE_CRASH", "full")
            .env("RALPH_GATE_CRASH_SEED", seed)
            .args(["--", "--nocapture", "--test-threads", "1"]);
        process::run(&mut cargo)
    })
}
