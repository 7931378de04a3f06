//! `command`: a program, and how it ends.

use super::Finding;
use super::gather::Scene;
use super::program::{self, Run};
use super::record::Attempt;
use crate::config::CheckProgram;

pub(super) fn look(scene: &Scene<'_>, program: &CheckProgram) -> (Finding, Option<Attempt>) {
    let Run { ended, attempt } = match program::run(scene, program, 0) {
        Ok(run) => run,
        Err(finding) => return (finding, None),
    };
    let finding = program::failed(program, &ended).unwrap_or_else(|| Finding::pass("exit code 0"));
    (finding, Some(attempt))
}
