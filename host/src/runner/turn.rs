//! One turn of the agent: a fresh process, watched until all of it is gone.

use std::collections::BTreeMap;
use std::time::Duration;

use super::agents::{Reader, Turn};
use super::events::AgentRecord;
use super::watch::{LoopEvent, Phase};
use super::{Loop, RunError};
use crate::config::{Leftovers, PromptTo};
use crate::engine::{Action, Usage};
use crate::evidence::{Environment, Stream};
use crate::process::{self, Ended, Keep, Program, Status};

/// How much of what an agent prints is kept as evidence, from each end.
const KEPT: usize = 16 * 1024;
/// The most of an answer that is judged: its end, where a promise stands.
const JUDGED: usize = 256 * 1024;
/// The decimal places of a cost that the gate takes.
const COST_PLACES: u32 = 12;
/// What stands for the prompt in an agent's arguments.
const PLACEHOLDER: &str = "{prompt}";

/// What an agent did.
pub(super) struct Taken {
    pub(super) action: Action,
    pub(super) output: String,
    pub(super) usage: Usage,
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
        let listed = listed.chain(self.agent.client.credentials().iter().copied());
        Environment::inherit(self.environment.iter().cloned(), listed, &own)
    }

    /// Runs the agent once.
    pub(super) fn take_turn(&mut self, index: u32, prompt: &str) -> Result<Taken, RunError> {
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
        let watch = self.watch;
        let ended = process::run(&program, self.control.stop(), &mut |chunk| {
            reader.feed(chunk);
            if let Some(activity) = reader.activity() {
                watch.see(&LoopEvent::Activity(&activity));
            }
        })?;
        let turn = reader.finish();
        let record = record(index, started_at_ms, prepared.argv, &ended, &turn);
        self.watch.see(&LoopEvent::AgentEnded(&record));
        Ok(Taken {
            action: action(&ended, &turn),
            usage: Usage {
                elapsed_ms: 0,
                tool_calls: turn.tool_calls,
                cost_usd: turn.cost_rounded_up(COST_PLACES),
                tokens: turn.tokens,
            },
            output: end_of(turn.output, JUDGED),
            record,
        })
    }

    /// Whether processes that the agent left behind count against it.
    pub(super) fn refuses_leftovers(&self) -> bool {
        self.config.agent.leftovers != Some(Leftovers::Kill)
    }
}

/// Puts the prompt where the agent looks for it.
fn hand_over(chosen: Option<PromptTo>, argv: &[String], prompt: &str) -> (Vec<String>, Vec<u8>) {
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

fn record(
    iteration: u32,
    started_at_ms: u64,
    argv: Vec<String>,
    ended: &Ended,
    turn: &Turn,
) -> AgentRecord {
    let (exit, signal) = match ended.status {
        Status::Exited(code) => (Some(code), None),
        Status::Signaled(signal) => (None, Some(signal)),
        Status::TimedOut | Status::Canceled => (None, None),
    };
    AgentRecord {
        iteration,
        started_at_ms,
        duration_ms: u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
        argv,
        exit,
        signal,
        timed_out: ended.status == Status::TimedOut,
        canceled: ended.status == Status::Canceled,
        error: turn.error.clone(),
        tool_calls: turn.tool_calls,
        tokens: turn.tokens,
        cost_usd: turn.cost_usd.clone(),
        stdout: Stream::of(&ended.stdout, KEPT),
        stderr: Stream::of(&ended.stderr, KEPT),
        leftovers: ended
            .leftovers
            .iter()
            .map(crate::evidence::name_leftover)
            .collect(),
        warnings: turn.warnings.clone(),
    }
}

/// The end of a text, at most so many bytes of it.
fn end_of(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let mut start = text.len() - most;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default().to_owned()
}
