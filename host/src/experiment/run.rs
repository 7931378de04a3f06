//! One run: a fresh workspace, the loop as a process of its own, and how it ended.

use std::path::Path;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use ralph_gate_component::Word as _;
use serde::Deserialize;

use super::error::ExperimentError;
use super::layout::{Layout, RunFolder};
use super::order::RunId;
use super::plan::{Arm, Plan};
use super::prepare::{Prepared, Task};
use super::record::{LoopEnd, RunRecord};
use crate::engine::GateEngine;
use crate::evidence::{PolicyRunner, now_ms};
use crate::memory::{SessionKey, make_folder, move_folder, save_text};
use crate::process::{self, Ended, Keep, Program, Status, Stop};

/// The longest line of a loop that is listened to: how it ended is said in a short one.
const LINE: usize = 64 << 10;
/// How much is kept of what a loop says beside that.
const KEPT: usize = 4 << 10;
/// How the system says that a disk is full, or that this user's part of it is.
const FULL: [&str; 2] = ["(os error 28)", "(os error 122)"];

/// Everything that runs have in common.
pub(super) struct Stage<'s> {
    pub(super) prepared: &'s Prepared,
    pub(super) layout: &'s Layout,
    /// This program, to be started again.
    pub(super) program: &'s Path,
    pub(super) stop: &'s Stop,
    pub(super) gate: &'s GateEngine,
    /// Runs policies, for audits.
    pub(super) policies: Option<&'s dyn PolicyRunner>,
    /// Held for reading by runs, and for writing by whatever must be alone.
    pub(super) quiet: &'s RwLock<()>,
}

/// How far a run is, as its files tell.
#[derive(Debug)]
pub(super) enum Found {
    /// It never began.
    Nothing,
    /// It was interrupted: somebody killed the experiment, or the disk was full.
    HalfDone,
    /// It ended, however.
    Ended(Box<RunRecord>),
}

impl Stage<'_> {
    pub(super) fn look(&self, id: &RunId) -> Found {
        let folder = self.layout.run(id);
        match RunRecord::load(&folder, &self.key(id)) {
            Some(record) => Found::Ended(Box::new(record)),
            None if folder.path().exists() => Found::HalfDone,
            None => Found::Nothing,
        }
    }

    /// `experiment/arm/task/repeat`
    pub(super) fn key(&self, id: &RunId) -> String {
        format!("{}/{}", self.prepared.plan.name, id.path())
    }

    /// How often a run was begun in vain.
    pub(super) fn set_aside_before(&self, id: &RunId) -> u32 {
        let numbers = 1_u32..;
        let is_taken = |number: &u32| self.layout.set_aside(id, *number).exists();
        numbers.take_while(is_taken).last().unwrap_or(0)
    }

    /// Moves a half-done run away, so that it counts nowhere and nothing is lost.
    pub(super) fn set_aside(&self, id: &RunId) -> Result<u32, ExperimentError> {
        let number = self.set_aside_before(id).saturating_add(1);
        let folder = self.layout.run(id);
        move_folder(folder.path(), &self.layout.set_aside(id, number))?;
        Ok(number)
    }

    /// Runs a loop from a fresh workspace to its end. None if it was interrupted.
    pub(super) fn run(
        &self,
        id: &RunId,
        on_iteration: &mut (dyn FnMut(u32) + Send),
    ) -> Result<Option<RunRecord>, ExperimentError> {
        let plan = &self.prepared.plan;
        let (Some(task), Some(arm)) = (self.prepared.tasks.get(&id.task), arm(plan, id)) else {
            let reason = "the plan has no such task or arm".to_owned();
            return Err(self.not_begun(id, reason));
        };
        let folder = self.layout.run(id);
        make_folder(folder.path())?;
        task.template.copy(&folder.workspace())?;
        save_text(&folder.request(), &arm.request)?;
        if let Some(prompt) = &task.prompt {
            save_text(&folder.prompt(), prompt)?;
        }
        let argv = self.argv(id, task, &folder);
        let mut listener = Listener::new(on_iteration);
        let busy = self.quiet.read().unwrap_or_else(PoisonError::into_inner);
        let started_at_ms = now_ms();
        let ended = process::run(&self.child(argv), self.stop, &mut |chunk| {
            listener.feed(chunk);
        })?;
        drop(busy);
        if self.stop.is_canceled() {
            return Ok(None);
        }
        let record = self.judge(id, &folder, started_at_ms, &ended, listener)?;
        record.save(&folder)?;
        Ok(Some(record))
    }

    /// This program, with other arguments.
    pub(super) fn child(&self, arguments: Vec<String>) -> Program {
        let program = self.program.display().to_string();
        let argv = std::iter::once(program).chain(arguments);
        Program {
            argv: argv.collect(),
            directory: self.layout.output().to_owned(),
            environment: std::env::vars_os().collect(),
            input: Vec::new(),
            // The contract ends loops, and nothing else does.
            timeout: Duration::MAX,
            keep: Keep {
                head: 0,
                tail: KEPT,
            },
        }
    }

    fn argv(&self, id: &RunId, task: &Task, folder: &RunFolder) -> Vec<String> {
        let plan = &self.prepared.plan;
        let text = |path: &Path| path.display().to_string();
        let mut argv: Vec<String> = ["run", "--json"].map(str::to_owned).into();
        let mut option = |name: &str, value: String| argv.push(format!("--{name}={value}"));
        option("config", text(&folder.workspace().join(&task.config)));
        option("request", text(&folder.request()));
        option("session", self.key(id));
        if task.prompt.is_some() {
            option("prompt-file", text(&folder.prompt()));
        }
        if let Some(class) = &task.class {
            option("task-class", class.clone());
        }
        for (name, value) in [
            ("experiment", plan.name.as_str()),
            ("arm", &id.arm),
            ("task", &id.task),
            ("repeat", &id.repeat.to_string()),
        ] {
            option("label", format!("{name}={value}"));
        }
        if let Some(agent) = &plan.agent {
            if let Some(adapter) = agent.adapter {
                option("adapter", adapter.as_str().to_owned());
            }
            argv.push("--".to_owned());
            argv.extend(agent.fill(&plan.folder, &id.task, task.class.as_deref(), id.repeat));
        }
        argv
    }

    /// The log of a run.
    pub(super) fn log(&self, id: &RunId, task: &Task) -> std::path::PathBuf {
        let session = SessionKey::Session(self.key(id)).folder();
        let memory = self.layout.run(id).workspace().join(&task.memory);
        memory.join(session).join("events.jsonl")
    }

    /// What became of it. A loop that began counts, whatever happened to it; one that did not says nothing about its arm.
    fn judge(
        &self,
        id: &RunId,
        folder: &RunFolder,
        started_at_ms: u64,
        ended: &Ended,
        listener: Listener<'_>,
    ) -> Result<RunRecord, ExperimentError> {
        let (last, error) = (listener.ended, listener.error);
        let said = || last_words(error.as_deref(), ended);
        let log = self
            .prepared
            .tasks
            .get(&id.task)
            .map(|task| self.log(id, task));
        let log = log.filter(|log| log.metadata().is_ok_and(|log| log.len() > 0));
        let Some(log) = log else {
            return Err(self.not_begun(id, said()));
        };
        if let Some(error) = error.as_ref().filter(|it| is_full(it)) {
            return Err(ExperimentError::Hindered {
                run: self.key(id),
                reason: error.clone(),
            });
        }
        let (exit, signal) = match ended.status {
            Status::Exited(code) => (Some(code), None),
            Status::Signaled(signal) => (None, Some(signal)),
            Status::TimedOut | Status::Canceled => (None, None),
        };
        let log = log.strip_prefix(folder.path()).unwrap_or(&log);
        Ok(RunRecord {
            id: self.key(id),
            attempt: self.set_aside_before(id).saturating_add(1),
            started_at_ms,
            duration_ms: u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
            exit,
            signal,
            error: last.is_none().then(said),
            ended: last,
            log: log.display().to_string(),
            audit: None,
        })
    }

    fn not_begun(&self, id: &RunId, reason: String) -> ExperimentError {
        let run = self.key(id);
        ExperimentError::NotBegun { run, reason }
    }
}

/// Whether an error says that there is no room left, for which no agent is to blame.
pub(super) fn is_full(error: &str) -> bool {
    FULL.iter().any(|full| error.contains(full))
}

fn arm<'p>(plan: &'p Plan, id: &RunId) -> Option<&'p Arm> {
    plan.arms.iter().find(|arm| arm.name == id.arm)
}

/// Why a process ended, in its own words if it has some.
pub(super) fn last_words(error: Option<&str>, ended: &Ended) -> String {
    if let Some(error) = error {
        return error.to_owned();
    }
    let stderr = ended.stderr.text();
    let line = stderr.lines().rev().find(|line| !line.trim().is_empty());
    match (ended.status, line) {
        (Status::Signaled(signal), _) => format!("it was killed by signal {signal}"),
        (_, Some(line)) => line.trim().chars().take(500).collect(),
        (status, None) => format!("it ended without a word ({status:?})"),
    }
}

/// Hears what a loop says of itself, line by line.
struct Listener<'l> {
    line: Vec<u8>,
    is_too_long: bool,
    ended: Option<LoopEnd>,
    error: Option<String>,
    on_iteration: &'l mut (dyn FnMut(u32) + Send),
}

/// What matters of a line.
#[derive(Deserialize)]
struct Line {
    event: Option<String>,
    iteration: Option<u32>,
    decision: Option<String>,
    stop_reason: Option<String>,
    detail: Option<String>,
    error: Option<Said>,
}

#[derive(Deserialize)]
struct Said {
    message: String,
}

impl<'l> Listener<'l> {
    fn new(on_iteration: &'l mut (dyn FnMut(u32) + Send)) -> Self {
        Self {
            line: Vec::new(),
            is_too_long: false,
            ended: None,
            error: None,
            on_iteration,
        }
    }

    fn feed(&mut self, chunk: &[u8]) {
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, more) = rest.split_at(end);
            self.add(line);
            self.end_line();
            rest = more.get(1..).unwrap_or_default();
        }
        self.add(rest);
    }

    fn add(&mut self, part: &[u8]) {
        if self.line.len().saturating_add(part.len()) > LINE {
            self.is_too_long = true;
            self.line.clear();
        }
        if !self.is_too_long {
            self.line.extend_from_slice(part);
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_too_long) {
            return;
        }
        let Ok(line) = serde_json::from_slice::<Line>(&line) else {
            return;
        };
        if let Some(error) = line.error {
            self.error = Some(error.message);
        }
        match (line.event.as_deref(), line.iteration, line.decision) {
            (Some("phase"), Some(iteration), _) => (self.on_iteration)(iteration),
            (Some("ended"), Some(iteration), Some(decision)) => {
                self.ended = Some(LoopEnd {
                    iteration,
                    decision,
                    stop_reason: line.stop_reason,
                    detail: line.detail,
                });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_heard_however_its_lines_arrive() {
        let text = format!(
            "{}\n{}\nno json\n{}\n{}\n",
            r#"{"event":"phase","iteration":1,"phase":"agent"}"#,
            format_args!(
                r#"{{"event":"evidence","evidence":"{}"}}"#,
                "x".repeat(2 * LINE)
            ),
            r#"{"event":"phase","iteration":2,"phase":"agent"}"#,
            r#"{"event":"ended","iteration":2,"decision":"stop","stop_reason":"max_iters","detail":null}"#,
        );
        for size in [1, 7, 4096, text.len()] {
            let mut heard = Vec::new();
            let mut note = |iteration| heard.push(iteration);
            let mut listener = Listener::new(&mut note);
            for chunk in text.as_bytes().chunks(size) {
                listener.feed(chunk);
            }
            let ended = listener.ended.take().unwrap();
            assert_eq!(ended.stop_reason.as_deref(), Some("max_iters"));
            assert_eq!(listener.error, None);
            assert_eq!(heard, [1, 2], "in pieces of {size}");
        }
    }

    #[test]
    fn what_could_not_be_done_is_heard_too() {
        let mut note = |_| {};
        let mut listener = Listener::new(&mut note);
        listener.feed(b"{\"error\":{\"code\":\"config_missing\",\"message\":\"there is none\"}}\n");
        assert_eq!(listener.error.as_deref(), Some("there is none"));
        assert!(listener.ended.is_none());
    }
}
