//! One run of a transcript, as it is written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::client::Client;

/// A line of what an import writes: `{"event":"imported_run","data":{…}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum Line {
    /// A run.
    ImportedRun(Box<ImportedRun>),
}

/// One run: a session, an official loop in one, or the answer to one prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedRun {
    /// `CLIENT:SESSION`, with `#2` for the second run of a session.
    pub id: String,
    /// Who wrote the transcript.
    pub client: Client,
    /// The client's version, if it says so.
    pub client_version: Option<String>,
    /// The client's name for the session.
    pub session: Option<String>,
    /// Where the transcript is.
    pub file: String,
    /// The folder that the agent worked in.
    pub project: Option<String>,
    /// The first moment that is noted, in milliseconds since 1970.
    pub started_at_ms: Option<u64>,
    /// The last one.
    pub ended_at_ms: Option<u64>,
    /// Turns of the agent that ended, each a moment at which a stop hook is asked.
    pub iterations: u32,
    /// From the first moment to the last one.
    pub elapsed_ms: Option<u64>,
    /// Calls of tools, those of subagents included.
    pub tool_calls: u64,
    /// Tokens as the client reports them, those of subagents included: what was read, cached or not, and what was written.
    pub tokens: Option<u64>,
    /// An exact decimal, where the client notes the cost.
    pub cost_usd: Option<String>,
    /// The model that was asked last.
    pub model: Option<String>,
    /// What the agent promised in its last turn.
    pub claim: Claim,
    /// The last command that runs tests, if there was one.
    pub last_test: Option<LastTest>,
    /// The official plugin's loop, if it was one.
    #[serde(rename = "loop")]
    pub official_loop: Option<OfficialLoop>,
    /// How it ended.
    pub ending: Ending,
    /// Whether the work is really done, as far as the last test tells.
    pub truth: Truth,
    /// Why the truth is what it is.
    pub why: Why,
    /// What it worked on, if it was labelled so.
    pub task: Option<String>,
    /// The kind of task, if it was labelled so.
    pub task_class: Option<String>,
    /// What it was marked with.
    pub labels: BTreeMap<String, String>,
}

/// What a subagent used, from a transcript of its own: a part of the session that started it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    /// Who wrote the transcript.
    pub client: Client,
    /// The client's name for the session that started it. None: the transcript does not tell.
    pub session: Option<String>,
    /// The first moment that is noted, in milliseconds since 1970.
    pub started_at_ms: Option<u64>,
    /// Tokens as the client reports them.
    pub tokens: Option<u64>,
    /// Calls of tools.
    pub tool_calls: u64,
}

/// What the agent promised in its last turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Whether it promised to be done. None: something looks like a promise and is none by the gate's rules, or the last
    /// turn is not known.
    pub made: Option<bool>,
    /// In which form.
    pub form: Form,
    /// What it promised.
    pub text: Option<String>,
    /// In how many turns there was a promise that counts.
    pub turns: u32,
}

/// The form of a promise: what the gate says of the last tag, or that there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// It counts.
    Accepted,
    /// Something other than one context block follows it.
    NotLast,
    /// An earlier tag counts.
    NotFirst,
    /// In a fenced code block.
    InFencedCode,
    /// In a code span.
    InInlineCode,
    /// In a block quote.
    InBlockQuote,
    /// In an HTML comment.
    InComment,
    /// In a raw HTML block.
    InHtmlBlock,
    /// Indented by four spaces or more, as code is.
    InIndentedCode,
    /// Something else stands on its line.
    NotAlone,
    /// Inside, or around, another promise.
    Nested,
    /// There is no closing tag.
    Unclosed,
    /// There is no text between the tags.
    Empty,
    /// Another promise says something else.
    Conflicting,
    /// The text without tags, on the last line.
    BareWord,
    /// There is none.
    None,
    /// The last turn is not known.
    #[default]
    Unknown,
}

/// The last command that runs tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastTest {
    /// As it was given to the shell, at most 1,000 bytes of it.
    pub command: String,
    /// What it said.
    pub outcome: Outcome,
    /// How that is known, or why it is not.
    pub detail: String,
    /// Whether files were changed afterwards. None: a command followed that may have done so.
    pub stale: Option<bool>,
}

/// What a test command said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All was as it should be.
    Pass,
    /// Something was not.
    Fail,
    /// Neither is clear.
    Unknown,
}

/// A loop of the official Ralph plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfficialLoop {
    /// The iteration that it was in last, by its own count.
    pub iteration: u32,
    /// The most iterations; 0 is without a bound.
    pub max_iterations: Option<u32>,
    /// The promise that would end it.
    pub completion_promise: Option<String>,
    /// How it ended.
    pub ended: LoopEnd,
}

/// How an official loop ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopEnd {
    /// The plugin found the promise.
    Completed,
    /// The plugin counted to its bound.
    MaxIterations,
    /// Somebody canceled it.
    Canceled,
    /// The plugin could not go on.
    Failed,
    /// Its state file says that it goes on.
    Active,
    /// Not known.
    #[default]
    Unknown,
}

/// How a run ended: words of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The agent ended its last turn by itself.
    Released,
    /// The official loop counted to its bound.
    MaxIters,
    /// A person interrupted the agent, or canceled the loop.
    ContextCanceled,
    /// The client, the model or the plugin gave up with an error.
    Error,
    /// The transcript ends within a turn.
    Crashed,
    /// Not known.
    Unknown,
}

/// Whether the work is really done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    /// The last test passed on the files as they were left.
    Complete,
    /// The last test failed on the files as they were left.
    Incomplete,
    /// Not known.
    Unknown,
}

/// Why the truth is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The last test passed.
    TestPassed,
    /// The last test failed.
    TestFailed,
    /// No command that runs tests is in the transcript.
    NoTest,
    /// What the last test said is not clear.
    TestUnclear,
    /// Files were changed after the last test.
    ChangedAfterTest,
    /// A command followed the last test that may have changed files.
    PerhapsChangedAfterTest,
    /// There is no transcript, only the state of a loop.
    NoTranscript,
}

/// As a value is written in JSON.
macro_rules! written {
    ($($name:ident),*) => {$(
        impl $name {
            /// As it is written in JSON.
            pub fn word(self) -> String {
                match serde_json::to_value(self) {
                    Ok(serde_json::Value::String(word)) => word,
                    _ => String::new(),
                }
            }
        }
    )*};
}
written!(Form, Outcome, LoopEnd, Ending, Truth, Why);

impl ImportedRun {
    /// Whether a subagent may be one of this run's session.
    pub fn is_of_session(&self, subagent: &Subagent) -> bool {
        self.client == subagent.client && self.session.is_some() && self.session == subagent.session
    }

    /// Counts what a subagent used.
    pub fn add_subagent(&mut self, subagent: &Subagent) {
        self.tool_calls = self.tool_calls.saturating_add(subagent.tool_calls);
        if let Some(tokens) = subagent.tokens {
            self.tokens = Some(self.tokens.unwrap_or(0).saturating_add(tokens));
        }
    }

    /// Says what is known of the truth, from the last test. The claim is no part of it: if only those who claim to be done
    /// could be right, but anybody wrong, a share of the wrong ones would say nothing.
    pub(crate) fn judge(&mut self) {
        (self.truth, self.why) = match &self.last_test {
            None => (Truth::Unknown, Why::NoTest),
            Some(test) => match (test.outcome, test.stale) {
                (Outcome::Unknown, _) => (Truth::Unknown, Why::TestUnclear),
                (_, Some(true)) => (Truth::Unknown, Why::ChangedAfterTest),
                (_, None) => (Truth::Unknown, Why::PerhapsChangedAfterTest),
                (Outcome::Fail, Some(false)) => (Truth::Incomplete, Why::TestFailed),
                (Outcome::Pass, Some(false)) => (Truth::Complete, Why::TestPassed),
            },
        };
    }
}
