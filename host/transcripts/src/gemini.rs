//! The lines of Gemini, and its one JSON document of earlier versions.
//!
//! ```text
//! {"sessionId":"…","projectHash":"…","startTime":"…","lastUpdated":"…","kind":"main"}
//! {"id":"1","timestamp":"…","type":"user","content":[{"text":"Build it."}]}
//! {"id":"2","timestamp":"…","type":"gemini","content":"I look.","tokens":{"total":110,…},"model":"…"}
//! {"id":"2",…,"toolCalls":[{"id":"…","name":"run_shell_command","args":{…},"result":[…],"status":"success"}]}
//! {"$set":{"lastUpdated":"…"}}
//! ```
//!
//! A message is written again when its tools have ended; the last one counts. One that was written only once may have had
//! tools: a session that was killed right then looks like one that ended. There is no cost.

use serde_json::value::RawValue;

use crate::claude_code::Reading;
use crate::json::{count, each_element, fields, inner, text};
use crate::moment;
use crate::outcome::Status;
use crate::record::{Call, Caller, Recorder, Turn, Voice};
use crate::seen::Seen;

/// Tools that change files.
const EDITING: &[&str] = &["edit", "replace", "write_file"];
/// Tools that only look, or only keep notes.
const LOOKING: &[&str] = &[
    "glob",
    "google_web_search",
    "grep_search",
    "list_directory",
    "read_file",
    "read_many_files",
    "search_file_content",
    "web_fetch",
    "write_todos",
];

/// What must be remembered between lines.
#[derive(Debug, Default)]
pub(crate) struct Gemini {
    prompts: Seen,
    /// The messages of the agent, with how many of their calls were seen.
    messages: Seen,
    is_subagent: bool,
}

impl Gemini {
    /// Whether another session started this one.
    pub(crate) fn is_subagent(&self) -> bool {
        self.is_subagent
    }

    /// Reads a line, or the document of a session.
    pub(crate) fn read(&mut self, line: &str, record: &mut Recorder<'_>) -> Reading {
        let names = ["sessionId", "type", "$set", "messages", "kind"];
        let Some([session, kind, set, messages, session_kind]) = fields(line, names) else {
            return Reading::Broken;
        };
        if session.is_some() && kind.is_none() {
            self.head(text(session), text(session_kind).as_deref(), record);
        }
        if kind.is_some() {
            return self.message(line, record);
        }
        // What is set anew when a session is gone on with: messages that were seen are not told again.
        let [replayed] = inner(set, ["messages"]);
        for messages in [messages, replayed].into_iter().flatten() {
            each_element(Some(messages), |message| {
                self.message(message.get(), record);
            });
        }
        if session.is_some() || set.is_some() {
            Reading::Known
        } else {
            Reading::Other
        }
    }

    /// The beginning of a session.
    pub(crate) fn head(
        &mut self,
        session: Option<String>,
        kind: Option<&str>,
        record: &mut Recorder<'_>,
    ) {
        record.session(session);
        self.is_subagent |= kind == Some("subagent");
    }

    /// Reads one message.
    pub(crate) fn message(&mut self, message: &str, record: &mut Recorder<'_>) -> Reading {
        let names = ["id", "timestamp", "type", "content", "displayContent"];
        let Some([id, timestamp, kind, content, display]) = fields(message, names) else {
            return Reading::Broken;
        };
        let id = text(id).unwrap_or_default();
        let moment = text(timestamp);
        let ms = moment.and_then(|moment| moment::milliseconds(&moment));
        match text(kind).as_deref() {
            Some("user") => {
                if !self.prompts.is_new(&id) {
                    return Reading::Known;
                }
                let said = words(content);
                if said.starts_with("<session_context>") {
                    return Reading::Known;
                }
                // The answers of tools have no words; they stand beside the calls as well.
                if !said.is_empty() {
                    let voice = if display.is_some() {
                        Voice::Machine
                    } else {
                        Voice::Person
                    };
                    record.prompt(voice, &said);
                }
            }
            Some("gemini") => self.said(id, message, content, record),
            Some("error") => record.failed(),
            Some("info") if words(content).starts_with("Request cancelled") => record.interrupted(),
            _ => return Reading::Other,
        }
        record.at(ms);
        Reading::Known
    }

    fn said(
        &mut self,
        id: String,
        message: &str,
        content: Option<&RawValue>,
        record: &mut Recorder<'_>,
    ) {
        let [tokens, model, calls] =
            fields(message, ["tokens", "model", "toolCalls"]).unwrap_or_default();
        let mut count_of_calls = 0_u64;
        each_element(calls, |_| count_of_calls += 1);
        // One for the message itself. A message that is told again without more calls is a copy.
        if self.messages.more(&id, count_of_calls + 1) == 0 {
            return;
        }
        let [total] = inner(tokens, ["total"]);
        if let Some(total) = count(total) {
            record.used(&id, total);
        }
        record.model(text(model));
        let turn = if count_of_calls > 0 {
            Turn::Goes
        } else {
            Turn::Perhaps
        };
        record.said_again(Some(id), words(content).trim(), turn);
        each_element(calls, |call| {
            let [id, name, arguments, result, status] =
                inner(Some(call), ["id", "name", "args", "result", "status"]);
            let id = text(id).unwrap_or_default();
            let name = text(name).unwrap_or_default();
            let what = match name.as_str() {
                "run_shell_command" => {
                    let [command] = inner(arguments, ["command"]);
                    text(command).map_or(Call::Other, Call::Shell)
                }
                name if EDITING.contains(&name) => Call::Edit,
                name if LOOKING.contains(&name) => Call::Look,
                _ => Call::Other,
            };
            let is_shell = matches!(what, Call::Shell(_));
            record.called(&id, Caller::Agent, what);
            let said = result_text(result);
            let status = end(text(status).as_deref(), is_shell, &said);
            record.answered(&id, &status, &said);
        });
    }
}

/// A text, or the texts of its parts.
fn words(content: Option<&RawValue>) -> String {
    let mut said = text(content).unwrap_or_default();
    each_element(content, |part| {
        let [words, thought] = inner(Some(part), ["text", "thought"]);
        if let Some(words) = text(words)
            && thought.is_none()
        {
            if !said.is_empty() {
                said.push('\n');
            }
            said.push_str(&words);
        }
    });
    said
}

fn result_text(result: Option<&RawValue>) -> String {
    let mut all = text(result).unwrap_or_default();
    each_element(result, |part| {
        let [response] = inner(Some(part), ["functionResponse"]);
        let [response] = inner(response, ["response"]);
        let [output, error] = inner(response, ["output", "error"]);
        for said in [text(output), text(error)].into_iter().flatten() {
            all.push_str(&said);
            all.push('\n');
        }
    });
    // The words of the command begin behind the client's own.
    let said = all.trim_start().strip_prefix("<untrusted_context>");
    let said = said.unwrap_or(&all).trim_start();
    said.strip_prefix("Output: ").unwrap_or(said).to_owned()
}

/// The client notes an exit code that is not zero below the output; earlier versions noted zero as well.
fn end(status: Option<&str>, is_shell: bool, said: &str) -> Status {
    match status {
        Some("success") => {}
        Some("error") => return Status::Exit(1),
        Some("cancelled") => return Status::Unfinished("it was canceled"),
        _ => return Status::Unfinished("it was not seen to end"),
    }
    if !is_shell {
        return Status::Exit(0);
    }
    for (begins, reason) in [
        ("Command was automatically cancelled", "it ran out of time"),
        ("Command was cancelled", "it was canceled"),
        ("Command moved to background", "it ran in the background"),
    ] {
        if said.starts_with(begins) {
            return Status::Unfinished(reason);
        }
    }
    let mut tail = said.lines().rev().take(8);
    let code = tail.find_map(|line| line.strip_prefix("Exit Code: "));
    match code.map(str::trim) {
        Some("(none)") => Status::NotTold,
        Some(code) => code.parse().map_or(Status::NotTold, Status::Exit),
        None if said.contains("\nSignal: ") => Status::Unfinished("it was killed"),
        None if said.contains("Process Group PGID: ") => Status::Exit(0),
        None => Status::NotTold,
    }
}
