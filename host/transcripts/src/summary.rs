//! What was imported, in numbers, and what was not, with the reason.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::official::LoopFile;
use crate::read::Imported;
use crate::run::{Claim, Ending, ImportedRun, LoopEnd, OfficialLoop, Outcome, Truth, Why};
use crate::{Client, moment};

/// What was imported, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Transcripts that gave at least one run.
    pub sessions: u64,
    /// Transcripts of subagents, which count for the sessions that started them.
    pub subagents: u64,
    /// Runs.
    pub runs: u64,
    /// Runs of each client.
    pub clients: BTreeMap<String, u64>,
    /// Runs by the form of the last promise.
    pub claims: BTreeMap<String, u64>,
    /// Runs in which the agent promised to be done.
    pub claimed: u64,
    /// Runs by what the last test said; `none` is without a test.
    pub last_tests: BTreeMap<String, u64>,
    /// Runs by how they ended.
    pub endings: BTreeMap<String, u64>,
    /// Runs by the truth.
    pub truths: BTreeMap<String, u64>,
    /// Runs whose truth is not known, by the reason.
    pub unknown: BTreeMap<String, u64>,
    /// Official loops, by how they ended.
    pub loops: BTreeMap<String, u64>,
    /// Lines of all transcripts.
    pub lines: u64,
    /// Lines that were passed over because they are no JSON object.
    pub broken_lines: u64,
    /// Lines that were passed over because they are too long.
    pub too_long_lines: u64,
    /// Transcripts whose end could not be read.
    pub torn: u64,
    /// Runs that were left out because they are not in the time or folder that was asked for.
    pub left_out: u64,
    /// Files that gave no run.
    pub skipped: Vec<Skipped>,
}

/// A file that gave no run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Which.
    pub file: String,
    /// Why.
    pub reason: String,
}

impl Summary {
    /// Counts a transcript, a subagent's too, without its runs.
    pub fn add_transcript(&mut self, imported: &Imported) {
        match imported.subagent {
            None => self.sessions += 1,
            Some(_) => self.subagents += 1,
        }
        self.lines += imported.lines;
        self.broken_lines += imported.broken;
        self.too_long_lines += imported.too_long;
        self.torn += u64::from(imported.torn);
    }

    /// Counts a run.
    pub fn add_run(&mut self, run: &ImportedRun) {
        let one_more = |counts: &mut BTreeMap<String, u64>, name: String| {
            *counts.entry(name).or_default() += 1;
        };
        self.runs += 1;
        one_more(&mut self.clients, run.client.as_str().to_owned());
        one_more(&mut self.claims, run.claim.form.word());
        self.claimed += u64::from(run.claim.made == Some(true));
        let test = run.last_test.as_ref();
        let test = test.map_or("none".to_owned(), |test| test.outcome.word());
        one_more(&mut self.last_tests, test);
        one_more(&mut self.endings, run.ending.word());
        one_more(&mut self.truths, run.truth.word());
        if run.truth == Truth::Unknown {
            one_more(&mut self.unknown, run.why.word());
        }
        if let Some(official) = &run.official_loop {
            one_more(&mut self.loops, official.ended.word());
        }
    }

    /// Notes a file that gave no run.
    pub fn skip(&mut self, file: &str, reason: &str) {
        self.skipped.push(Skipped {
            file: file.to_owned(),
            reason: reason.to_owned(),
        });
    }

    /// How many last tests had an outcome.
    pub fn tests(&self, outcome: Outcome) -> u64 {
        self.last_tests.get(&outcome.word()).copied().unwrap_or(0)
    }
}

impl ImportedRun {
    /// Takes over what the state file of the same session's loop knows, where the transcript does not. Gives whether it
    /// is that loop's.
    pub fn add_loop_file(&mut self, file: &LoopFile) -> bool {
        if self.client != Client::ClaudeCode
            || self.session.is_none()
            || file.session_id != self.session
        {
            return false;
        }
        let known = file.official_loop();
        match &mut self.official_loop {
            None => self.official_loop = Some(known),
            Some(found) => {
                found.iteration = found.iteration.max(known.iteration);
                found.max_iterations = found.max_iterations.or(known.max_iterations);
                if found.completion_promise.is_none() {
                    found.completion_promise = known.completion_promise;
                }
                // The file is taken away when the loop ends.
                if found.ended == LoopEnd::Unknown {
                    found.ended = known.ended;
                }
            }
        }
        true
    }

    /// What is known of a loop whose transcript is not there.
    pub fn of_loop_file(file: &LoopFile, path: &str, project: Option<String>) -> Self {
        let started = file.started_at.as_deref().and_then(moment::milliseconds);
        let name = file.session_id.clone().unwrap_or_else(|| path.to_owned());
        Self {
            id: format!("{}:{name}", Client::ClaudeCode.as_str()),
            client: Client::ClaudeCode,
            client_version: None,
            session: file.session_id.clone(),
            file: path.to_owned(),
            project,
            started_at_ms: started,
            ended_at_ms: None,
            iterations: file.iteration,
            elapsed_ms: None,
            tool_calls: 0,
            tokens: None,
            cost_usd: None,
            model: None,
            claim: Claim::default(),
            last_test: None,
            official_loop: Some(OfficialLoop {
                ..file.official_loop()
            }),
            ending: Ending::Unknown,
            truth: Truth::Unknown,
            why: Why::NoTranscript,
            task: None,
            task_class: None,
            labels: BTreeMap::new(),
        }
    }
}
