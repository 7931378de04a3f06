//! Ends a run before the agent's first turn where something is known that can't work, and tells `config check` the same.

use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use super::agents::Client;
use super::begin::{Options, client, excluded, find};
use super::protection::ProtectionReport;
use super::{Agent, Control, RunError};
use crate::config::{Check, Config, Task, Terms, shell_word};
use crate::engine::{Outcome, Problem};
use crate::evidence::{
    Evidence, PolicyRunner, PolicyTrial, Scene, needs_a_policy, preflight, secrets,
};
use crate::process::Stop;

/// For which loop a configuration has to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreflightScope {
    /// One that begins, with the files that a new memory is made of.
    NewLoop,
    /// One that is resumed.
    ResumedLoop,
}

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
    scope: PreflightScope,
) -> Result<(), RunError> {
    let policies = options.policies.as_deref();
    let mut problems = of_checks(config, terms, policies, PolicyTrial::Run, control.stop());
    if scope == PreflightScope::NewLoop {
        problems.extend(of_memory(config));
    }
    let mut arguments = Vec::new();
    if let Err(error) = agent.find(config) {
        // It may be that of the command line, or the one that a resumed loop began with.
        let is_configured = options.argv.is_empty() && agent.argv == config.agent.argv;
        if is_configured {
            problems.push(problem("agent.argv", error.to_string()));
        } else {
            let program = agent.argv.first().map_or("", String::as_str);
            let argument = format!("-- {}", shell_word(program));
            arguments.push(problem(&argument, error.to_string()));
        }
    }
    ensure_none(config, problems, arguments)
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
    ensure_none(config, problems.collect(), Vec::new())
}

/// Why a cost budget can't end a loop, where it can't.
pub(super) fn cost_warning(terms: &Terms, client: Client) -> Option<&'static str> {
    let is_blind = terms.cost_budget_usd.is_some() && client != Client::Claude;
    is_blind
        .then_some("the agent does not say what it costs, so the cost budget can't end this loop")
}

/// What a loop of a configuration would be refused for or warn of when it begins. Every problem is at its place in the
/// file.
#[derive(Debug, Clone, Default)]
pub struct Review {
    /// What can't work here.
    pub problems: Vec<Problem>,
    /// What is weak.
    pub warnings: Vec<Problem>,
}

/// Looks at everything that can be known before a loop begins. No program is run, no policy of the workspace either, and
/// no loop is created.
pub fn review(
    config: &Config,
    task: &Task,
    policies: &Arc<dyn PolicyRunner>,
) -> Result<Review, RunError> {
    let stop = Stop::new().map_err(|error| RunError::System {
        what: "the configuration can't be checked",
        error,
    })?;
    let mut problems: Vec<Problem> = config.not_asked(task).into_iter().collect();
    let mut warnings = Vec::new();
    problems.extend(of_agent(config));
    if let Some(terms) = &task.terms {
        let policies = Some(policies.as_ref());
        problems.extend(of_checks(
            config,
            terms,
            policies,
            PolicyTrial::DigestOnly,
            &stop,
        ));
        problems.extend(of_memory(config));
        warnings.extend(ProtectionReport::look(config, terms, &excluded(config))?.warnings);
        warnings.extend(of_cost(config, terms));
    }
    Ok(Review {
        problems: config.located(problems),
        warnings: config.located(warnings),
    })
}

/// Checks that can't give a result here.
fn of_checks(
    config: &Config,
    terms: &Terms,
    policies: Option<&dyn PolicyRunner>,
    trial: PolicyTrial,
    stop: &Stop,
) -> Vec<Problem> {
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
        policies,
        stop,
    };
    preflight(&scene, config, terms, trial)
}

/// Files that the memory of a new loop is made of and that can't be read.
fn of_memory(config: &Config) -> Vec<Problem> {
    let memory = &config.memory;
    let files = [
        ("memory.prd", &memory.prd),
        ("memory.progress", &memory.progress),
    ];
    let named = files.into_iter();
    named
        .filter_map(|(path, file)| unreadable(config, path, file.as_deref()?))
        .collect()
}

/// What can't work of the agent that the configuration names, where it names one.
fn of_agent(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !config.agent.argv.is_empty()
        && let Err(error) = find(config, &config.agent.argv)
    {
        problems.push(problem("agent.argv", error.to_string()));
    }
    let file = config.agent.prompt_file.as_deref();
    problems.extend(file.and_then(|file| unreadable(config, "agent.prompt_file", file)));
    problems
}

fn of_cost(config: &Config, terms: &Terms) -> Option<Problem> {
    if config.agent.argv.is_empty() {
        return None;
    }
    let client = client(config.agent.adapter, &config.agent.argv);
    let warning = cost_warning(terms, client)?;
    Some(problem("contract.cost_budget_usd", warning.to_owned()))
}

fn unreadable(config: &Config, path: &str, file: &str) -> Option<Problem> {
    let error = fs::read_to_string(config.workspace.join(file)).err()?;
    Some(problem(path, format!("{file} can't be read: {error}")))
}

fn ensure_none(
    config: &Config,
    problems: Vec<Problem>,
    arguments: Vec<Problem>,
) -> Result<(), RunError> {
    if problems.is_empty() && arguments.is_empty() {
        return Ok(());
    }
    Err(config.cannot_work(problems, arguments).into())
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
