//! Reads what agent clients print: the answer, the usage, the tool calls, the errors.
//!
//! Pure: a command line goes in and the one to run comes out; bytes go in and a [`Turn`] comes out. Whoever runs the
//! client does so elsewhere.
//!
//! Every client takes the prompt from standard input, whatever its length and without a shell's rules. Write it at
//! once and close the stream: Gemini waits half a second for the first byte and reads 8 MiB, Codex waits for the end.
//!
//! ```text
//! Client::recognise(argv) → Client::prepare(argv) → run it → Reader::feed(stdout)… → Reader::finish → Turn
//! ```

mod argv;
mod bounded;
mod claude;
mod codex;
mod command;
mod decimal;
mod gemini;
mod json;
mod line;
mod notes;
mod reader;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(super) use line::message;
pub use reader::Reader;

/// A program that runs an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Any other program: what it prints is the answer.
    Command,
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Command];

    /// The client that a command line starts: by the name of its program, its package or its script, also behind
    /// `env`, `npx` and the like.
    pub fn recognise(argv: &[String]) -> Self {
        argv::find(argv).map_or(Self::Command, |(client, _)| client)
    }

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Command => "command",
        }
    }

    /// The client with a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// The command line that makes the client print what can be read best. If the person chose a form of output, that
    /// form is kept. Words are added, never changed or moved.
    ///
    /// ```
    /// use ralph_gate::runner::agents::{Client, Form};
    ///
    /// let argv = ["codex", "exec", "-"].map(str::to_owned);
    /// let client = Client::recognise(&argv);
    /// let prepared = client.prepare(&argv);
    /// assert_eq!(prepared.argv, ["codex", "exec", "--json", "-"]);
    /// assert_eq!((client, prepared.form), (Client::Codex, Form::Stream));
    /// ```
    pub fn prepare(self, argv: &[String]) -> Prepared {
        match (self, argv::find(argv)) {
            (Self::Claude, Some((Self::Claude, place))) => claude::prepare(argv, place),
            (Self::Codex, Some((Self::Codex, place))) => codex::prepare(argv, place),
            (Self::Gemini, Some((Self::Gemini, place))) => gemini::prepare(argv, place),
            (Self::Command, _) => Prepared::unchanged(argv, Form::Text),
            // A name that was set by hand says how to read what is printed, but not where the client's own arguments
            // begin.
            _ => Prepared::unchanged(argv, argv::chosen_form(argv)),
        }
    }

    /// Names of the environment variables with the client's own credentials, which a host that withholds secrets must
    /// hand over. Keys that open a whole cloud account are not among them.
    pub fn credentials(self) -> &'static [&'static str] {
        match self {
            Self::Claude => claude::CREDENTIALS,
            Self::Codex => codex::CREDENTIALS,
            Self::Gemini => gemini::CREDENTIALS,
            Self::Command => &[],
        }
    }

    /// Names of the variables by which the client is set up, with its credentials. A `*` at the end stands for the rest of a
    /// name.
    pub fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Claude => claude::VARIABLES,
            Self::Codex => codex::VARIABLES,
            Self::Gemini => gemini::VARIABLES,
            Self::Command => &[],
        }
    }

    /// Whether the command line may hold a task of its own. Of a program that is not known nobody can tell.
    pub fn may_hold_a_task(self, argv: &[String]) -> bool {
        match argv::find(argv) {
            Some((_, place)) => argv::may_hold_a_task(argv.get(place + 1..).unwrap_or_default()),
            None => true,
        }
    }

    /// Where the text from standard input stands if the arguments have a prompt too. Without one it is the prompt.
    pub fn input_place(self) -> InputPlace {
        match self {
            Self::Claude => InputPlace::After,
            Self::Codex => InputPlace::AfterInTags,
            Self::Gemini => InputPlace::Before,
            Self::Command => InputPlace::Unknown,
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a client puts the text from standard input, relative to a prompt in its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputPlace {
    /// Behind it, on a new line.
    After,
    /// Behind it, between `<stdin>` tags.
    AfterInTags,
    /// In front of it, with empty lines between.
    Before,
    /// The program decides.
    Unknown,
}

/// The form of a client's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// One event a line, while the agent works.
    Stream,
    /// One document at the end.
    Json,
    /// The answer alone: neither usage nor tool calls can be read.
    Text,
}

/// A command line to run, and how to read what it prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The command line.
    pub argv: Vec<String>,
    /// What it will print.
    pub form: Form,
}

impl Prepared {
    fn unchanged(argv: &[String], form: Form) -> Self {
        Self {
            argv: argv.to_vec(),
            form,
        }
    }
}

/// What the tokens and the cost of a [`Turn`] are counted from.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// The start of this run.
    #[default]
    Run,
    /// The start of the session. If an earlier run began it, what that run used is in the numbers again.
    Session,
}

/// What an agent did in one run of its client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// The final answer, the text that is judged for promises. Of a long one the last MiB: a promise stands at the end.
    pub output: String,
    /// Bytes left out in front of it.
    pub omitted: u64,
    /// Calls of tools, those of subagents included where the client shows them.
    pub tool_calls: u32,
    /// Input with what came from a cache, and output.
    pub tokens: u32,
    /// US dollars as a plain decimal, exactly as printed (to 24 places, then rounded up), if the client says what it
    /// cost.
    pub cost_usd: Option<String>,
    /// What the tokens and the cost are counted from.
    pub span: Span,
    /// Why the client failed, as it said; or that it ended before its turn was over.
    pub error: Option<String>,
    /// The tools that the client's permissions denied to the agent, in order and each once.
    pub denied: Vec<String>,
    /// The client's name for the session, to resume it with.
    pub session_id: Option<String>,
    /// What could not be read, and what the client warned about.
    pub warnings: Vec<String>,
}

impl Turn {
    /// The cost with so many decimal places at most, rounded up. Clients add up in floats and print
    /// `0.30000000000000004`, which has more places than the gate accepts.
    pub fn cost_rounded_up(&self, places: u32) -> Option<String> {
        let cost = decimal::Decimal::parse(self.cost_usd.as_deref()?)?;
        Some(cost.rounded_up(places).to_string())
    }
}
