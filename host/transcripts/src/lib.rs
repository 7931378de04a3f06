//! Transcripts that agent clients wrote, read as runs: what was claimed, what the last test said, how it ended.
//!
//! So the arm "before" of a report needs no new experiment. Pure: a reader of bytes and a gate go in, runs come out.
//! What a promise is, the gate says. What can't be known is `null` or `unknown`, and never guessed; a run says why.
//!
//! Checked against what Claude Code 2.1.325, Codex 0.166.0 and Gemini 0.61.0 wrote. Older forms are read as
//! far as they are known, and were not checked against their clients: Claude Code without reasons to stop, Codex without `payload`, Gemini's one JSON document.
//!
//! A line that is torn, no JSON or too long is passed over and counted. Memory does not depend on the length of a file,
//! and time only linearly.

mod claim;
mod claude_code;
mod client;
mod codex;
mod command;
mod error;
mod gate;
mod gemini;
mod json;
mod lines;
mod moment;
mod official;
mod outcome;
mod printed;
mod read;
mod record;
mod run;
mod seen;
mod shell;
mod summary;
#[cfg(test)]
mod tests;

pub use client::Client;
pub use error::ImportError;
pub use gate::{Gate, Unanswered};
pub use moment::{day_ms, milliseconds};
pub use official::{LoopFile, read_loop_file};
pub use read::{Imported, Options, Split, read};
pub use run::{
    Claim, Ending, Form, ImportedRun, LastTest, Line, LoopEnd, OfficialLoop, Outcome, Subagent,
    Truth, Why,
};
pub use summary::{Skipped, Summary};
