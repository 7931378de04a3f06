//! One turn of the agent: a fresh process, watched until all of it is gone.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Loop;
use super::agents::{self, Reader, Turn};
use super::events::AgentRecord;
use super::watch::{LoopEvent, Phase};
use crate::config::{Leftovers, PromptTo};
use crate::engine::{Action, Usage};
use crate::evidence::{Environment, Stream};
use crate::process::{self, Captured, Ended, Keep, Program, Redactor, Status};

/// How much of what an agent prints is kept as evidence, from each end.
const KEPT: usize = 16 * 1024;
/// The most of an answer that is judged: its end, where a promise stands.
pub(super) const JUDGED: usize = 256 * 1024;
/// The last lines of a failed agent's output that are shown.
const PROBLEM_LINES: usize = 8;
/// The decimal places of a cost that the gate takes.
const COST_PLACES: u32 = 12;
/// What stands for the prompt in an agent's arguments.
pub(super) const PLACEHOLDER: &str = "{prompt}";

/// How a turn ended, for the gate.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) action: Action,
    pub(super) output: String,
    pub(super) usage: Usage,
}

/// What an agent did.
pub(super) struct Taken {
    pub(super) said: Said,
    pub(super) record: AgentRecord,
}

impl Loop<'_> {
    /// What the agent inherits, and what it does not.
    pub(super) fn agent_environment(&self, index: u32) -> Environment {
        let agent = &self.config.agent;
        let mut own: BTreeMap<String, String> = agent.env.clone();
        own.insert("RALPH_GATE_ITERATION".into(), index.to_string());
        own.insert("RALPH_GATE_SESSION".into(), self.key.text().to_owned());
        own.insert(
            "RALPH_GATE_MEMORY".into(),
            self.store.path().display().to_string(),
        );
        // A key with a NUL can't be in an environment.
        own.retain(|_, value| !value.contains('\0'));
        let listed = agent.pass_env.iter().map(String::as_str);
        let client = self.agent.client;
        let listed = listed.chain(client.variables().iter().copied());
        Environment::inherit(self.environment.iter().cloned(), listed, &own)
    }

    /// Runs the agent once.
    pub(super) fn take_turn(&mut self, index: u32, prompt: &str) -> Taken {
        self.watch.see(&LoopEvent::Entered {
            iteration: index,
            phase: Phase::Agent,
        });
        let prepared = self.agent.client.prepare(&self.agent.argv);
        let mut reader = Reader::new(self.agent.client, prepared.form);
        let (argv, input) = hand_over(self.config.agent.prompt_to, &prepared.argv, prompt);
        let program = Program {
            argv,
            directory: self.config.workspace.clone(),
            environment: self.agent_environment(index).variables,
            input,
            timeout: Duration::from_millis(self.terms.per_iter_timeout_ms.into()),
            keep: Keep {
                head: KEPT,
                tail: KEPT,
            },
        };
        let started_at_ms = crate::evidence::now_ms();
        let (watch, redactor) = (self.watch, self.redactor.clone());
        let ended = process::run(&program, self.control.stop(), &mut |chunk| {
            reader.feed(chunk);
            if let Some(activity) = reader.activity() {
                watch.see(&LoopEvent::Activity(&redactor.redact(&activity)));
            }
        });
        let mut turn = redacted(reader.finish(), &redactor);
        // It could be started when the loop began: that it can't any more is the agent's own doing.
        let (ended, action) = match ended {
            Ok(ended) => {
                let action = action(&ended, &turn);
                (Some(ended), action)
            }
            Err(error) => {
                turn.error = Some(error.to_string());
                (None, Action::Error)
            }
        };
        let mut record = record(index, started_at_ms, prepared.argv, ended.as_ref(), &turn);
        self.redact(&mut record);
        record.problem = problem(&record, &turn);
        self.watch.see(&LoopEvent::AgentEnded(&record));
        let said = Said {
            action,
            usage: Usage {
                elapsed_ms: 0,
                tool_calls: turn.tool_calls,
                cost_usd: turn.cost_rounded_up(COST_PLACES),
                tokens: turn.tokens,
            },
            output: end_of(turn.output, JUDGED),
        };
        Taken { said, record }
    }

    /// Removes secrets from what is remembered and shown of a turn.
    fn redact(&self, record: &mut AgentRecord) {
        let texts = [&mut record.stdout.text, &mut record.stderr.text];
        let lists = [&mut record.argv, &mut record.leftovers];
        let listed = lists.into_iter().flatten();
        for text in texts.into_iter().chain(listed).chain(&mut record.error) {
            self.redactor.apply(text);
        }
    }

    /// Whether processes that the agent left behind count against it.
    pub(super) fn refuses_leftovers(&self) -> bool {
        self.config.agent.leftovers != Some(Leftovers::Kill)
    }
}

/// Puts the prompt where the agent looks for it.
pub(super) fn hand_over(
    chosen: Option<PromptTo>,
    argv: &[String],
    prompt: &str,
) -> (Vec<String>, Vec<u8>) {
    if argv.iter().any(|argument| argument.contains(PLACEHOLDER)) {
        let fill = |argument: &String| argument.replace(PLACEHOLDER, prompt);
        return (argv.iter().map(fill).collect(), Vec::new());
    }
    match chosen.unwrap_or(PromptTo::Stdin) {
        PromptTo::Stdin => (argv.to_vec(), prompt.as_bytes().to_vec()),
        PromptTo::Argument => {
            let mut argv = argv.to_vec();
            argv.push(prompt.to_owned());
            (argv, Vec::new())
        }
    }
}

fn action(ended: &Ended, turn: &Turn) -> Action {
    match ended.status {
        Status::Exited(0) if turn.error.is_none() => Action::Final,
        Status::Exited(_) | Status::Signaled(_) => Action::Error,
        Status::TimedOut => Action::Timeout,
        Status::Canceled => Action::Continue,
    }
}

/// What the gate judges and the log keeps has no secrets in it.
fn redacted(mut turn: Turn, redactor: &Redactor) -> Turn {
    // Only the end of a long output is there.
    turn.output = redactor.redact_end(&turn.output);
    let texts = turn.warnings.iter_mut().chain(&mut turn.denied);
    for text in texts.chain(&mut turn.error) {
        redactor.apply(text);
    }
    turn
}

/// What went wrong in a turn. None if it went well.
fn problem(record: &AgentRecord, turn: &Turn) -> Option<String> {
    let mut lines: Vec<String> = record.error.iter().cloned().collect();
    let has_failed = !record.canceled && record.exit != Some(0);
    if has_failed {
        let printed = [&record.stderr.text, &record.stdout.text];
        let mut printed = printed.into_iter().map(|text| last_lines(text));
        let printed = printed.find(|lines| !lines.is_empty());
        let new = printed.unwrap_or_default().into_iter();
        let known = lines.clone();
        lines.extend(new.filter(|line| !known.iter().any(|known| known.contains(line.as_str()))));
        if lines.is_empty() {
            lines.push("it printed nothing".to_owned());
        }
    }
    if !turn.denied.is_empty() {
        lines.push(format!(
            "denied by the permissions of the client: {}; allow what the task needs in its settings or arguments",
            turn.denied.join(", ")
        ));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The last lines of what a process printed, without what a terminal would obey.
fn last_lines(text: &str) -> Vec<String> {
    let lines = text.lines().rev().map(agents::message);
    let lines = lines.filter(|line| !line.is_empty());
    let mut lines: Vec<String> = lines.take(PROBLEM_LINES).collect();
    lines.reverse();
    lines
}

fn record(
    iteration: u32,
    started_at_ms: u64,
    argv: Vec<String>,
    ended: Option<&Ended>,
    turn: &Turn,
) -> AgentRecord {
    let status = ended.map(|ended| ended.status);
    let (exit, signal) = match status {
        Some(Status::Exited(code)) => (Some(code), None),
        Some(Status::Signaled(signal)) => (None, Some(signal)),
        Some(Status::TimedOut | Status::Canceled) | None => (None, None),
    };
    AgentRecord {
        iteration,
        started_at_ms,
        duration_ms: ended.map_or(0, |ended| {
            u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX)
        }),
        argv,
        exit,
        signal,
        timed_out: status == Some(Status::TimedOut),
        canceled: status == Some(Status::Canceled),
        error: turn.error.clone(),
        problem: None,
        tool_calls: turn.tool_calls,
        tokens: turn.tokens,
        cost_usd: turn.cost_usd.clone(),
        stdout: stream(ended.map(|ended| &ended.stdout)),
        stderr: stream(ended.map(|ended| &ended.stderr)),
        leftovers: ended.map_or_else(Vec::new, |ended| {
            let leftovers = ended.leftovers.iter();
            leftovers.map(crate::evidence::name_leftover).collect()
        }),
        warnings: turn.warnings.clone(),
    }
}

fn stream(captured: Option<&Captured>) -> Stream {
    captured.map_or_else(Stream::empty, |captured| Stream::of(captured, KEPT))
}

/// The end of a text, at most so many bytes of it.
pub(super) fn end_of(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let mut start = text.len() - most;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default().to_owned()
}
