//! A plan whose tasks were looked at: everything that can be found wrong before the first run is.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use ralph_gate_component::Word as _;

use super::conduct::Experiment;
use super::error::ExperimentError;
use super::layout::Layout;
use super::lock::{PlanLock, VERSION};
use super::order::{RunId, order};
use super::plan::{AgentCommand, Arm, Named, Plan, PlannedTask, Prompt};
use super::workspace::Template;
use crate::config::{Config, ConfigError, Request, read_text};
use crate::engine::{GATE, GateEngine, Mode, Problem};
use crate::evidence::now_ms;
use crate::memory::{create_text, lock_folder, make_folder};
use crate::plain_file;
use crate::process::{self, Keep, Program};
use crate::runner::word;

/// The most of a lock file that is read.
const LIMIT: u64 = 64 << 20;

/// A plan that can be carried out.
#[derive(Debug)]
pub struct Prepared {
    pub(super) plan: Plan,
    pub(super) tasks: BTreeMap<String, Task>,
    pub(super) lock: PlanLock,
}

/// A task that can be run.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) class: Option<String>,
    pub(super) template: Template,
    /// The name of its configuration.
    pub(super) config: PathBuf,
    /// Where its loops are remembered, from the workspace.
    pub(super) memory: PathBuf,
    pub(super) prompt: Option<String>,
    pub(super) audit: Option<PathBuf>,
}

impl Prepared {
    /// Looks at every task, and asks the gate about each in both arms.
    pub fn look(plan: Plan, gate: &GateEngine) -> Result<Self, ExperimentError> {
        see_that_files_are_there(&plan)?;
        let mut parts: BTreeMap<String, String> = plan.parts();
        parts.insert("gate".to_owned(), GATE.digest.to_owned());
        let mut tasks = BTreeMap::new();
        for planned in &plan.tasks {
            let task = Task::look(&plan, planned, gate)?;
            let part = |name: &str| format!("tasks.{}.{name}", planned.id);
            parts.insert(part("folder"), task.template.digest()?);
            parts.insert(part("prompt"), task.prompt.clone().unwrap_or_default());
            if let Some(audit) = &task.audit {
                parts.insert(part("audit"), read_text(audit)?);
            }
            tasks.insert(planned.id.clone(), task);
        }
        for part in parts.values_mut() {
            *part = blake3::hash(part.as_bytes()).to_hex().to_string();
        }
        let ids: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
        let [before, after] = &plan.arms;
        let arms = [before.name.as_str(), after.name.as_str()];
        let lock = PlanLock {
            ralph_gate_experiment: VERSION,
            name: plan.name.clone(),
            created_at_ms: now_ms(),
            primary_metric: plan.primary_metric.as_str().to_owned(),
            arms: arms.map(str::to_owned),
            digest: PlanLock::digest_of(&parts),
            parts,
            order: order(plan.seed, arms, &ids, plan.repeats),
        };
        Ok(Self { plan, tasks, lock })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Every run, in the order in which they are run.
    pub fn order(&self) -> &[RunId] {
        &self.lock.order
    }

    /// Takes the folder for the results. What is planned is written before the first run; if it was before, it must be
    /// the same.
    pub fn open(self) -> Result<Experiment, ExperimentError> {
        let layout = Layout::new(&self.plan.output);
        let output = || layout.output().to_owned();
        let is_new = !layout.lock().exists();
        if is_new && layout.runs().exists() {
            return Err(ExperimentError::Occupied { output: output() });
        }
        make_folder(layout.output())?;
        let held = lock_folder(layout.output())?;
        let held = held.ok_or_else(|| ExperimentError::Busy { output: output() })?;
        if is_new {
            let text = serde_json::to_string_pretty(&self.lock)
                .map_err(crate::memory::MemoryError::from)?;
            create_text(&layout.lock(), &format!("{text}\n"))?;
        } else {
            let before = read_lock(&layout.lock())?;
            let parts = before.differences(&self.lock);
            if !parts.is_empty() {
                return Err(ExperimentError::Changed {
                    plan: self.plan.file,
                    output: output(),
                    parts,
                });
            }
        }
        Ok(Experiment::new(self, layout, held))
    }
}

fn read_lock(file: &Path) -> Result<PlanLock, ExperimentError> {
    let wrong = |reason: String| ExperimentError::Lock {
        file: file.to_owned(),
        reason,
    };
    let bytes = plain_file::read(file, LIMIT).map_err(|error| wrong(error.to_string()))?;
    let lock: PlanLock =
        serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    if lock.ralph_gate_experiment != VERSION {
        let found = lock.ralph_gate_experiment;
        return Err(wrong(format!(
            "it has version {found}, and this program knows version {VERSION}"
        )));
    }
    Ok(lock)
}

/// Everything that the plan names, and that is not there, at its place in the plan.
fn see_that_files_are_there(plan: &Plan) -> Result<(), ExperimentError> {
    let mut problems = Vec::new();
    for task in &plan.tasks {
        let folder = &task.folder;
        if !folder.path.is_dir() {
            problems.push(folder.problem("there is no such folder", None));
        } else if is_inside(&plan.output, &folder.path) {
            let help = "name a folder elsewhere with `output`";
            problems.push(folder.problem("the results would be inside of it", Some(help)));
        }
        let files = [task.audit.as_ref(), task.prompt.file()];
        for file in files.into_iter().flatten() {
            if !file.path.is_file() {
                problems.push(file.problem("there is no such file", None));
            }
        }
        if let Some(audit) = task
            .audit
            .as_ref()
            .filter(|it| is_inside(&it.path, &folder.path))
        {
            let help = "keep it outside of the task's folder, which is copied for the agent";
            problems.push(audit.problem("the agent would see the hidden checks", Some(help)));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(ConfigError::invalid(plan.file.clone(), problems).into())
}

fn is_inside(path: &Path, folder: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path));
    match (whole(path), whole(folder)) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

impl Named {
    fn problem(&self, message: &str, help: Option<&str>) -> Problem {
        Problem {
            path: self.field.clone(),
            line: self.line,
            column: self.column,
            message: format!("{message}: {}", self.path.display()),
            help: help.map(str::to_owned),
        }
    }
}

impl Prompt {
    fn file(&self) -> Option<&Named> {
        match self {
            Self::File(file) => Some(file),
            Self::Config | Self::Text(_) => None,
        }
    }
}

impl Task {
    fn look(
        plan: &Plan,
        planned: &PlannedTask,
        gate: &GateEngine,
    ) -> Result<Self, ExperimentError> {
        let folder = &planned.folder.path;
        let file = Config::find(folder)?;
        let config = Config::load(&file)?;
        let memory = PathBuf::from(config.memory.root());
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !memory.components().all(is_plain) {
            let message =
                "memory.root must be a folder inside of the workspace: each run has its own";
            let help = "leave it out for `.ralph`";
            let problem = planned.folder.problem(message, Some(help));
            return Err(ConfigError::invalid(plan.file.clone(), vec![problem]).into());
        }
        for arm in &plan.arms {
            arm.see_that_it_leaves_a_log(plan, planned, &config, gate)?;
        }
        if let Some(audit) = &planned.audit {
            see_that_it_can_be_asked(plan, audit, gate)?;
        }
        see_that_the_agent_is_there(plan.agent.as_ref(), planned, &config)?;
        let prompt = match &planned.prompt {
            Prompt::Config => None,
            Prompt::Text(text) => Some(text.clone()),
            Prompt::File(file) => Some(read_text(&file.path)?),
        };
        let config = file.file_name().map(PathBuf::from).unwrap_or_default();
        // `./.ralph` is `.ralph` in a listing.
        let memory: PathBuf = memory
            .components()
            .filter(|it| *it != Component::CurDir)
            .collect();
        Ok(Self {
            class: planned.class.clone(),
            template: Template::look(folder, &memory)?,
            config,
            memory,
            prompt,
            audit: planned.audit.as_ref().map(|audit| audit.path.clone()),
        })
    }
}

/// Hidden checks with a mistake in them would be found out after the first run only.
fn see_that_it_can_be_asked(
    plan: &Plan,
    audit: &Named,
    gate: &GateEngine,
) -> Result<(), ExperimentError> {
    let routed = Config::load(&audit.path)?.route_loop(gate, None)?;
    if routed.terms.is_some() {
        return Ok(());
    }
    let message = "the contract of the hidden checks is in standard mode, so none of them is run";
    let help = "set `mode = \"ralph\"` in its [contract]";
    let problem = audit.problem(message, Some(help));
    Err(ConfigError::invalid(plan.file.clone(), vec![problem]).into())
}

impl AgentCommand {
    /// Its arguments for one run. The runner puts the prompt in.
    pub(super) fn fill(
        &self,
        plan: &Path,
        task: &str,
        class: Option<&str>,
        repeat: u32,
    ) -> Vec<String> {
        let plan = std::path::absolute(plan).unwrap_or_else(|_| plan.to_owned());
        let plan = plan.display().to_string();
        let fill = |argument: &String| {
            argument
                .replace("{task}", task)
                .replace("{class}", class.unwrap_or_default())
                .replace("{repeat}", &repeat.to_string())
                .replace("{plan}", &plan)
        };
        self.argv.iter().map(fill).collect()
    }
}

/// A misspelt name should not end the experiment in its first run.
fn see_that_the_agent_is_there(
    agent: Option<&AgentCommand>,
    task: &PlannedTask,
    config: &Config,
) -> Result<(), ExperimentError> {
    let plan = task.folder.path.as_path();
    let argv = match agent {
        Some(agent) => agent.fill(plan, &task.id, task.class.as_deref(), 1),
        None => config.agent.argv.clone(),
    };
    process::can_start(&Program {
        argv,
        directory: config.workspace.clone(),
        environment: std::env::vars_os().collect(),
        input: Vec::new(),
        timeout: Duration::ZERO,
        keep: Keep { head: 0, tail: 0 },
    })?;
    Ok(())
}

impl Arm {
    /// What the gate makes of a task in this arm. What it finds wrong with the arm is placed in the plan.
    fn see_that_it_leaves_a_log(
        &self,
        plan: &Plan,
        task: &PlannedTask,
        config: &Config,
        gate: &GateEngine,
    ) -> Result<(), ExperimentError> {
        let request = Request::from_json(&plan.file, &self.request);
        match config.route(gate, Some(&request)) {
            Ok(routed) if routed.routing.mode == Mode::Ralph => Ok(()),
            Ok(routed) => {
                let (line, column) = self.place;
                let problem = Problem {
                    path: format!("arms.{}", self.name),
                    line,
                    column,
                    message: format!(
                        "the task {} would leave no log, because it goes to standard mode: {}",
                        task.id,
                        word(&routed.routing.reason)
                    ),
                    help: Some("see [routing] in the task's configuration".to_owned()),
                };
                Err(ConfigError::invalid(plan.file.clone(), vec![problem]).into())
            }
            Err(ConfigError::Invalid { file, problems, .. }) if file == plan.file => {
                let problems = problems.into_iter().map(|problem| self.placed(problem));
                Err(ConfigError::invalid(file, problems.collect()).into())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn placed(&self, problem: Problem) -> Problem {
        let field = problem.path.split(['.', '[']).next().unwrap_or_default();
        let (line, column) = self.places.get(field).copied().unwrap_or(self.place);
        let dot = if problem.path.is_empty() { "" } else { "." };
        Problem {
            path: format!("arms.{}{dot}{}", self.name, problem.path),
            line,
            column,
            ..problem
        }
    }
}
