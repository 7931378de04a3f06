//! Ends a run before the agent's first turn where something is known that can't work.

use std::time::SystemTime;

use super::begin::{Options, excluded};
use super::{Agent, Control, RunError};
use crate::config::{Check, Config, Terms};
use crate::engine::{Outcome, Problem};
use crate::evidence::{Evidence, Scene, needs_a_policy, preflight, secrets};

/// A loop that can't ever complete should not begin.
pub(super) fn ensure_policies_can_run(
    config: &Config,
    terms: &Terms,
    options: &Options,
) -> Result<(), RunError> {
    match (needs_a_policy(config, terms), &options.policies) {
        (Some(check), None) => Err(RunError::NoPolicies {
            check: check.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Looks at everything that can be known without the agent, and names all that can't work: no turn is worth its cost then.
pub(super) fn ensure_it_can_work(
    config: &Config,
    terms: &Terms,
    options: &Options,
    agent: &Agent,
    control: &Control,
) -> Result<(), RunError> {
    let environment: Vec<_> = std::env::vars_os().collect();
    let excluded = excluded(config);
    let scene = Scene {
        workspace: &config.workspace,
        excluded: &excluded,
        environment: &environment,
        redactor: &secrets(&environment, config),
        iteration: 0,
        tree: None,
        first_commit: None,
        begun: SystemTime::now(),
        policies: options.policies.as_deref(),
        stop: control.stop(),
    };
    let mut problems = preflight(&scene, config, terms);
    if let Err(error) = agent.find(config) {
        // It may be that of the command line, or the one that a resumed loop began with.
        let is_configured = options.argv.is_empty() && agent.argv == config.agent.argv;
        let path = if is_configured { "agent.argv" } else { "" };
        problems.push(problem(path, error.to_string()));
    }
    ensure_none(config, problems)
}

/// A check whose program could not be started when the checks were run first.
pub(super) fn ensure_checks_can_start(
    config: &Config,
    evidence: &[Evidence],
) -> Result<(), RunError> {
    let runs_a_program = |id: &str| config.checks.get(id).is_some_and(Check::runs_a_program);
    let was_started = |it: &Evidence| {
        it.attempts
            .last()
            .is_some_and(|attempt| !attempt.argv.is_empty())
    };
    let unable = evidence
        .iter()
        .filter(|it| it.outcome == Outcome::Error && runs_a_program(&it.check) && !was_started(it));
    let problems = unable.map(|it| {
        let path = format!("checks.{}", it.check);
        problem(&path, it.reason.clone())
    });
    ensure_none(config, problems.collect())
}

fn ensure_none(config: &Config, problems: Vec<Problem>) -> Result<(), RunError> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(config.cannot_work(problems).into())
}

fn problem(path: &str, message: String) -> Problem {
    Problem {
        path: path.to_owned(),
        line: 0,
        column: 0,
        message,
        help: None,
    }
}
