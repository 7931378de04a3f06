//! The lines of Codex.
//!
//! ```text
//! {"timestamp":"…","type":"session_meta","payload":{"id":"…","cwd":"/p","cli_version":"0.166.0",…}}
//! {"timestamp":"…","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"…","call_id":"…"}}
//! {"timestamp":"…","type":"response_item","payload":{"type":"function_call_output","call_id":"…","output":"…Process exited with code 0\n…"}}
//! {"timestamp":"…","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{…}}}}
//! {"timestamp":"…","type":"event_msg","payload":{"type":"task_complete",…}}
//! ```
//!
//! Cached input is part of the input, reasoning part of the output; there is no cost. A task may have several turns: a hook
//! that blocks is a prompt within it. Before its lines had a `payload`, an item was the line itself.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::claude_code::Reading;
use crate::json::{count, each_element, fields, inner, integer, is_true, text};
use crate::moment;
use crate::outcome::Status;
use crate::record::{Call, Caller, Recorder, Turn, Voice};

/// Tools that only look, or only keep notes.
const LOOKING: &[&str] = &[
    "get_goal",
    "grep_files",
    "list_dir",
    "read_file",
    "request_user_input",
    "update_plan",
    "view_image",
    "web_search",
];
/// Commands that still run, by the client's number for them.
const RUNNING: usize = 1000;

/// What must be remembered between lines.
#[derive(Debug, Default)]
pub(crate) struct Codex {
    /// The call that began a command which still runs.
    running: BTreeMap<u64, String>,
    /// Calls that wait for a command which still runs.
    waiting: BTreeMap<String, String>,
    /// Exit codes that were noted before the answer of the call.
    codes: BTreeMap<String, i64>,
    is_subagent: bool,
    /// The session that started this one.
    parent: Option<String>,
}

impl Codex {
    /// Whether another session started this one.
    pub(crate) fn is_subagent(&self) -> bool {
        self.is_subagent
    }

    /// The session that started this one, where that is told.
    pub(crate) fn parent(&self) -> Option<String> {
        self.parent.clone()
    }

    /// Reads a line.
    pub(crate) fn read(&mut self, line: &str, record: &mut Recorder<'_>) -> Reading {
        let Some([kind, timestamp, payload]) = fields(line, ["type", "timestamp", "payload"])
        else {
            return Reading::Broken;
        };
        let ms = text(timestamp).and_then(|moment| moment::milliseconds(&moment));
        let kind = text(kind);
        let reading = match (kind.as_deref(), payload) {
            (Some("session_meta"), Some(payload)) => self.meta(payload, record),
            (Some("turn_context"), Some(payload)) => {
                let [model, cwd] = inner(Some(payload), ["model", "cwd"]);
                record.model(text(model));
                record.project(text(cwd));
                Reading::Known
            }
            (Some("response_item"), Some(payload)) => self.item(payload.get(), record),
            (Some("event_msg"), Some(payload)) => self.event(payload, record),
            (Some(_), None) => self.item(line, record),
            (None, None) => {
                let [id] = fields(line, ["id"]).unwrap_or_default();
                record.session(text(id));
                Reading::Known
            }
            _ => Reading::Other,
        };
        if reading == Reading::Known {
            record.at(ms);
        }
        reading
    }

    fn meta(&mut self, payload: &RawValue, record: &mut Recorder<'_>) -> Reading {
        let names = ["id", "cwd", "cli_version", "source"];
        let [id, cwd, version, source] = inner(Some(payload), names);
        record.session(text(id));
        record.project(text(cwd));
        record.version(text(version));
        let [subagent] = inner(source, ["subagent"]);
        self.is_subagent |= subagent.is_some();
        let [spawned] = inner(subagent, ["thread_spawn"]);
        let [parent] = inner(spawned, ["parent_thread_id"]);
        if self.parent.is_none() {
            self.parent = text(parent);
        }
        Reading::Known
    }

    fn item(&mut self, item: &str, record: &mut Recorder<'_>) -> Reading {
        let names = ["type", "role", "content", "id", "call_id", "name"];
        let Some([kind, role, content, id, call, name]) = fields(item, names) else {
            return Reading::Other;
        };
        let call = text(call).or_else(|| text(id)).unwrap_or_default();
        let name = text(name).unwrap_or_default();
        match text(kind).as_deref() {
            Some("message") => message(text(role).as_deref(), content, text(id), record),
            Some("function_call") => {
                let [arguments] = fields(item, ["arguments"]).unwrap_or_default();
                let arguments = text(arguments).unwrap_or_default();
                let what = self.function(&call, &name, &arguments);
                record.called(&call, Caller::Agent, what);
            }
            Some("custom_tool_call") => {
                let what = if name == "apply_patch" {
                    Call::Edit
                } else {
                    Call::Other
                };
                record.called(&call, Caller::Agent, what);
            }
            Some("local_shell_call") => {
                let [action] = fields(item, ["action"]).unwrap_or_default();
                let [command] = inner(action, ["command"]);
                record.called(&call, Caller::Agent, shell(command));
            }
            Some("web_search_call") => record.called(&call, Caller::Agent, Call::Look),
            Some(
                "function_call_output" | "custom_tool_call_output" | "local_shell_call_output",
            ) => {
                let [output] = fields(item, ["output"]).unwrap_or_default();
                self.output(&call, output, record);
            }
            _ => return Reading::Other,
        }
        Reading::Known
    }

    fn function(&mut self, call: &str, name: &str, arguments: &str) -> Call {
        let names = ["command", "cmd", "session_id"];
        let [command, cmd, session] = fields(arguments, names).unwrap_or_default();
        match name {
            "shell" | "container.exec" | "shell_command" | "exec_command" | "local_shell" => {
                shell(command.or(cmd))
            }
            "write_stdin" => {
                let begun = count(session).and_then(|session| self.running.get(&session));
                if let Some(begun) = begun
                    && self.waiting.len() < RUNNING
                {
                    self.waiting.insert(call.to_owned(), begun.clone());
                    return Call::Look;
                }
                Call::Other
            }
            "apply_patch" => Call::Edit,
            name if LOOKING.contains(&name) => Call::Look,
            _ => Call::Other,
        }
    }

    fn output(&mut self, call: &str, output: Option<&RawValue>, record: &mut Recorder<'_>) {
        let said = output_text(output);
        let noted = self.codes.remove(call);
        let begun = self.waiting.remove(call).unwrap_or_else(|| call.to_owned());
        if let Some(number) = still_runs(&said) {
            if self.running.len() < RUNNING {
                self.running.insert(number, begun.clone());
            }
            let status = Status::Unfinished("it was not seen to end");
            return record.answered(&begun, &status, &said);
        }
        let status = match noted.or_else(|| exit_code(&said)) {
            Some(code) => Status::Exit(code),
            None if said.starts_with("unsupported call")
                || said.starts_with("unsupported custom") =>
            {
                Status::Unfinished("the client did not run it")
            }
            None => Status::NotTold,
        };
        record.answered(&begun, &status, &said);
    }

    fn event(&mut self, payload: &RawValue, record: &mut Recorder<'_>) -> Reading {
        let [kind] = inner(Some(payload), ["type"]);
        match text(kind).as_deref() {
            Some("token_count") => {
                let [info] = inner(Some(payload), ["info"]);
                let [total] = inner(info, ["total_token_usage"]);
                let [total] = inner(total, ["total_tokens"]);
                if let Some(total) = count(total) {
                    record.used_in_all(total);
                }
            }
            Some("user_message") => {
                let [said] = inner(Some(payload), ["message"]);
                record.prompt(Voice::Person, &text(said).unwrap_or_default());
            }
            Some("task_complete" | "turn_complete") => record.turn_over(),
            Some("turn_aborted") => record.interrupted(),
            Some("error" | "stream_error") => record.failed(),
            Some("exec_command_end") => {
                let [call, code] = inner(Some(payload), ["call_id", "exit_code"]);
                self.note(text(call), integer(code));
            }
            Some("patch_apply_end") => {
                let [success] = inner(Some(payload), ["success"]);
                if is_true(success) {
                    record.changed_files();
                }
            }
            Some("item_completed") => {
                let [item] = inner(Some(payload), ["item"]);
                let [kind, id, code, status] = inner(item, ["type", "id", "exit_code", "status"]);
                match text(kind).as_deref() {
                    Some("CommandExecution") => self.note(text(id), integer(code)),
                    Some("FileChange") if text(status).as_deref() == Some("completed") => {
                        record.changed_files();
                    }
                    _ => {}
                }
            }
            Some("task_started" | "agent_message") => {}
            _ => return Reading::Other,
        }
        Reading::Known
    }

    fn note(&mut self, call: Option<String>, code: Option<i64>) {
        if let Some((call, code)) = call.zip(code)
            && self.codes.len() < RUNNING
        {
            self.codes.insert(call, code);
        }
    }
}

fn message(
    role: Option<&str>,
    content: Option<&RawValue>,
    id: Option<String>,
    record: &mut Recorder<'_>,
) {
    let mut said = String::new();
    each_element(content, |part| {
        let [words] = inner(Some(part), ["text"]);
        if let Some(words) = text(words) {
            if !said.is_empty() {
                said.push('\n');
            }
            said.push_str(&words);
        }
    });
    match role {
        Some("assistant") => record.said(id, said.trim(), Turn::Perhaps),
        Some("user") if said.starts_with("<hook_prompt") => {
            record.prompt(Voice::Machine, &said);
        }
        // What the client itself says in the person's name: its surroundings, instructions of the project.
        Some("user") if said.starts_with('<') || said.starts_with("# AGENTS.md") => {}
        Some("user") => record.prompt(Voice::Person, &said),
        _ => {}
    }
}

/// `["bash","-lc","npm test"]`, or the command itself.
fn shell(command: Option<&RawValue>) -> Call {
    if let Some(command) = text(command) {
        return Call::Shell(command);
    }
    let mut words = Vec::new();
    each_element(command, |word| words.extend(text(Some(word))));
    match words.as_slice() {
        [] => Call::Other,
        [program, ..] if program == "apply_patch" => Call::Edit,
        [_, option, script] if option.starts_with('-') && option.ends_with('c') => {
            Call::Shell(script.clone())
        }
        words => {
            let quote = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
            let words: Vec<String> = words.iter().map(quote).collect();
            Call::Shell(words.join(" "))
        }
    }
}

/// A text, an object with one, or a list of parts.
fn output_text(output: Option<&RawValue>) -> String {
    if let Some(said) = text(output) {
        return said;
    }
    let [content, said] = inner(output, ["content", "output"]);
    if let Some(said) = text(content).or_else(|| text(said)) {
        return said;
    }
    let mut all = String::new();
    each_element(output, |part| {
        let [words] = inner(Some(part), ["text"]);
        all.push_str(&text(words).unwrap_or_default());
        all.push('\n');
    });
    all
}

/// `Process running with session ID 7`, in the lines before the output.
fn still_runs(said: &str) -> Option<u64> {
    let mut head = said.lines().take(6).take_while(|line| *line != "Output:");
    head.find_map(|line| {
        line.strip_prefix("Process running with session ID ")?
            .trim()
            .parse()
            .ok()
    })
}

/// `Process exited with code 0`, `Exit code: 0`, or `{"output":"…","metadata":{"exit_code":0}}`.
fn exit_code(said: &str) -> Option<i64> {
    if said.starts_with('{') {
        let [metadata] = fields(said, ["metadata"])?;
        let [code] = inner(metadata, ["exit_code"]);
        return integer(code);
    }
    let mut head = said.lines().take(6).take_while(|line| *line != "Output:");
    head.find_map(|line| {
        let code = line.strip_prefix("Process exited with code ");
        let code = code.or_else(|| line.strip_prefix("Exit code: "))?;
        code.trim().parse().ok()
    })
}
