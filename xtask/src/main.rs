//! `cargo xtask`: the project's own commands. Each command is one file; this one only picks it.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

mod bench;
mod bindings;
mod build;
mod cli;
mod clients;
mod coverage;
mod crash;
mod demo;
mod dist;
mod example;
mod fuzz;
mod hostile;
mod install;
mod model;
mod mutants;
mod peers;
mod policies;
mod process;
mod progress;
mod replay;
mod scratch;
mod setup;
mod sources;
mod terminal;
mod test;
mod tidy;
mod toolchains;
mod verify;
mod workspace;

use std::fmt;
use std::process::ExitCode;

use cli::Command;
use workspace::Workspace;

/// Every command, in the order in which a newcomer needs them.
pub(crate) const COMMANDS: &[Command] = &[
    demo::COMMAND,
    example::COMMAND,
    build::COMMAND,
    bindings::COMMAND,
    test::COMMAND,
    tidy::COMMAND,
    bench::COMMAND,
    fuzz::COMMAND,
    model::COMMAND,
    coverage::COMMAND,
    crash::COMMAND,
    hostile::COMMAND,
    mutants::COMMAND,
    dist::COMMAND,
    setup::COMMAND,
];

fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let request = match cli::parse(COMMANDS, &given) {
        Ok(request) => request,
        Err(mistake) => {
            eprintln!("error: {mistake}");
            return ExitCode::from(2);
        }
    };
    let (command, args) = match request {
        cli::Request::Help(text) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        cli::Request::Run(command, args) => (command, args),
    };
    match Workspace::find().and_then(|workspace| (command.run)(&workspace, &args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.is::<AlreadyReported>() {
                eprintln!("{} {error:#}", terminal::red("error:"));
            }
            ExitCode::FAILURE
        }
    }
}

/// A failure about which the command has said everything itself.
#[derive(Debug)]
pub(crate) struct AlreadyReported;

impl fmt::Display for AlreadyReported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("see above")
    }
}

impl std::error::Error for AlreadyReported {}
