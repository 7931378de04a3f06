//! The lines of Claude Code.
//!
//! ```text
//! {"type":"user","message":{"role":"user","content":"Build it."},"isSidechain":false,"cwd":"/p","sessionId":"…",…}
//! {"type":"assistant","message":{"id":"msg_1","content":[{"type":"text","text":"I look."}],"usage":{…}},…}
//! {"type":"assistant","message":{"id":"msg_1","content":[{"type":"tool_use","name":"Bash",…}],"usage":{…}},…}
//! {"type":"user","message":{"content":[{"type":"tool_result","content":"Exit code 1\n…","is_error":true,…}]},…}
//! {"type":"attachment","attachment":{"type":"hook_success","hookEvent":"Stop","content":"…"},…}
//! {"type":"cost-state","totalCostUSD":0.02,…}
//! ```
//!
//! Parts of one message are lines of their own, each with the usage of the whole message. The reason to stop is absent in
//! older versions: there, a message without a tool is the end of its turn when nothing of the agent follows it.

use serde_json::value::RawValue;

use crate::json::{count, each_element, fields, inner, is_true, text};
use crate::moment;
use crate::official;
use crate::outcome::Status;
use crate::record::{Call, Caller, Recorder, Turn, Voice};

/// What a line was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    Known,
    /// JSON, but of a kind that nobody knows, or that tells nothing.
    Other,
    /// No JSON object.
    Broken,
}

/// Tools that change files.
const EDITING: &[&str] = &["Edit", "MultiEdit", "NotebookEdit", "Write"];
/// Tools that only look, or only keep notes.
const LOOKING: &[&str] = &[
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillBash",
    "KillShell",
    "LS",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "NotebookRead",
    "Read",
    "ReadMcpResourceTool",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
];

/// What must be remembered between lines.
#[derive(Debug, Default)]
pub(crate) struct ClaudeCode {
    /// Lines of subagents, and those of the agent itself.
    pub(crate) sidechain: u64,
    pub(crate) main: u64,
    /// A command that a person typed, until it is known whether the client did it by itself or asked the agent.
    command: Option<String>,
}

/// Commands that the client does by itself, so that nothing else may follow them. What they print tells it of others.
const LOCAL: &[&str] = &[
    "clear",
    "compact",
    "config",
    "context",
    "cost",
    "exit",
    "help",
    "login",
    "logout",
    "mcp",
    "memory",
    "model",
    "permissions",
    "quit",
    "resume",
    "rewind",
    "status",
    "usage",
];

impl ClaudeCode {
    /// Reads a line.
    pub(crate) fn read(&mut self, line: &str, record: &mut Recorder<'_>) -> Reading {
        let names = [
            "type",
            "isSidechain",
            "timestamp",
            "sessionId",
            "cwd",
            "version",
            "message",
        ];
        let Some([kind, sidechain, timestamp, session, cwd, version, message]) =
            fields(line, names)
        else {
            return Reading::Broken;
        };
        let is_sidechain = is_true(sidechain);
        let kind = text(kind).unwrap_or_default();
        if matches!(kind.as_str(), "user" | "assistant") {
            self.sidechain += u64::from(is_sidechain);
            self.main += u64::from(!is_sidechain);
            record.session(text(session));
            record.project(text(cwd));
            record.version(text(version));
        }
        let moment = text(timestamp);
        let ms = moment.and_then(|moment| moment::milliseconds(&moment));
        match kind.as_str() {
            "assistant" => {
                if !is_sidechain {
                    self.command_reached_agent(record);
                }
                assistant(line, message, is_sidechain, record);
            }
            "user" => self.user(line, message, is_sidechain, record),
            "attachment" => attachment(line, record),
            "system" => system(line, record),
            "cost-state" => {
                cost(line, record);
                return Reading::Known;
            }
            _ => return Reading::Other,
        }
        record.at(ms);
        Reading::Known
    }

    /// The transcript is over.
    pub(crate) fn end(&mut self, record: &mut Recorder<'_>) {
        self.command_reached_agent(record);
    }

    /// What a person typed was a prompt.
    fn command_reached_agent(&mut self, record: &mut Recorder<'_>) {
        if let Some(said) = self.command.take() {
            record.prompt(Voice::Person, &said);
        }
    }

    fn user(
        &mut self,
        line: &str,
        message: Option<&RawValue>,
        is_sidechain: bool,
        record: &mut Recorder<'_>,
    ) {
        let [content] = inner(message, ["content"]);
        let mut said = text(content).unwrap_or_default();
        let mut has_result = false;
        each_element(content, |block| {
            let names = ["type", "text", "tool_use_id", "content", "is_error"];
            let [kind, words, call, result, is_error] = inner(Some(block), names);
            match text(kind).as_deref() {
                Some("tool_result") => {
                    has_result = true;
                    let result = result_text(result);
                    let status = status(line, is_true(is_error), &result);
                    record.answered(&text(call).unwrap_or_default(), &status, &result);
                }
                Some("text") => {
                    if !said.is_empty() {
                        said.push('\n');
                    }
                    said.push_str(&text(words).unwrap_or_default());
                }
                _ => {}
            }
        });
        if said.starts_with("[Request interrupted by user") {
            if !is_sidechain {
                self.command_reached_agent(record);
                record.interrupted();
            }
            return;
        }
        if !has_result && !is_sidechain {
            self.prompt(line, said, record);
        }
    }

    fn prompt(&mut self, line: &str, said: String, record: &mut Recorder<'_>) {
        let is_local = [
            "<local-command-",
            "<bash-input>",
            "<bash-stdout>",
            "<bash-stderr>",
        ];
        // What a person does in the client itself is not said to the agent.
        if is_local.iter().any(|mark| said.starts_with(mark)) {
            if said.starts_with("<local-command-std") {
                self.command = None;
            }
            return;
        }
        self.command_reached_agent(record);
        let names = ["isMeta", "isCompactSummary", "origin"];
        let [is_meta, is_summary, origin] = fields(line, names).unwrap_or_default();
        let [origin] = inner(origin, ["kind"]);
        let origin = text(origin);
        if is_true(is_summary) {
            // What was said before, in short: nobody asks for anything.
            return;
        }
        let by_machine = is_true(is_meta)
            || origin.as_deref().is_some_and(|kind| kind != "human")
            || said.starts_with("<task-notification>");
        if is_true(is_meta)
            && let Some(news) = official::began(&said)
        {
            record.news(news);
        } else if by_machine {
            record.prompt(Voice::Machine, &said);
        } else {
            match command_name(&said) {
                "" => record.prompt(Voice::Person, &said),
                name if LOCAL.contains(&name) => {}
                _ => self.command = Some(said),
            }
        }
    }
}

/// The name in `<command-name>/NAME</command-name>`, which stands first or behind `<command-message>`. Empty: it is none.
fn command_name(said: &str) -> &str {
    let is_command = ["<command-name>", "<command-message>"]
        .iter()
        .any(|mark| said.starts_with(mark));
    let name = said.split_once("<command-name>").filter(|_| is_command);
    let name = name.and_then(|(_, rest)| rest.split_once("</command-name>"));
    name.map_or("", |(name, _)| name.trim().trim_start_matches('/'))
}

fn assistant(
    line: &str,
    message: Option<&RawValue>,
    is_sidechain: bool,
    record: &mut Recorder<'_>,
) {
    let names = ["id", "content", "usage", "model", "stop_reason"];
    let [id, content, usage, model, stop_reason] = inner(message, names);
    let id = text(id);
    if let Some(tokens) = tokens(usage) {
        record.used(id.as_deref().unwrap_or_default(), tokens);
    }
    let api_error = fields(line, ["isApiErrorMessage"]);
    if api_error.is_some_and(|[is_error]| is_true(is_error)) {
        return record.failed();
    }
    if !is_sidechain {
        record.model(text(model));
    }
    let turn = match text(stop_reason).as_deref() {
        Some("end_turn" | "stop_sequence") => Turn::Over,
        Some("tool_use" | "pause_turn") => Turn::Goes,
        Some("max_tokens" | "refusal" | "model_context_window_exceeded") if !is_sidechain => {
            return record.failed();
        }
        _ => Turn::Perhaps,
    };
    let mut said = text(content).unwrap_or_default();
    let mut calls = Vec::new();
    each_element(content, |block| {
        let names = ["type", "text", "id", "name", "input"];
        let [kind, words, call, name, input] = inner(Some(block), names);
        match text(kind).as_deref() {
            Some("text") => {
                if !said.is_empty() {
                    said.push('\n');
                }
                said.push_str(&text(words).unwrap_or_default());
            }
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                let name = text(name).unwrap_or_default();
                calls.push((text(call).unwrap_or_default(), call_of(&name, input)));
            }
            _ => {}
        }
    });
    let caller = if is_sidechain {
        Caller::Subagent
    } else {
        record.said(id, said.trim(), turn);
        Caller::Agent
    };
    for (id, call) in calls {
        record.called(&id, caller, call);
    }
}

/// What was read, cached or not, and what was written.
fn tokens(usage: Option<&RawValue>) -> Option<u64> {
    let names = [
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    ];
    let counts = fields(usage?.get(), names)?.map(count);
    let sum = |sum: u64, count: u64| sum.saturating_add(count);
    counts
        .iter()
        .any(Option::is_some)
        .then(|| counts.into_iter().flatten().fold(0, sum))
}

fn call_of(name: &str, input: Option<&RawValue>) -> Call {
    if name == "Bash" {
        let [command] = inner(input, ["command"]);
        return text(command).map_or(Call::Other, Call::Shell);
    }
    if EDITING.contains(&name) {
        Call::Edit
    } else if LOOKING.contains(&name) {
        Call::Look
    } else {
        Call::Other
    }
}

fn result_text(content: Option<&RawValue>) -> String {
    let mut all = text(content).unwrap_or_default();
    each_element(content, |block| {
        let [words] = inner(Some(block), ["text"]);
        if let Some(words) = text(words) {
            if !all.is_empty() {
                all.push('\n');
            }
            all.push_str(&words);
        }
    });
    all
}

/// A command that fails is an error that begins with its exit code.
fn status(line: &str, is_error: bool, result: &str) -> Status {
    let [details] = fields(line, ["toolUseResult"]).unwrap_or_default();
    let [task, interrupted] = inner(details, ["backgroundTaskId", "interrupted"]);
    if task.is_some() || result.starts_with("Command running in background") {
        return Status::Unfinished("it ran in the background");
    }
    if is_true(interrupted) {
        return Status::Unfinished("it was interrupted");
    }
    if !is_error {
        return Status::Exit(0);
    }
    let result = result.strip_prefix("Error: ").unwrap_or(result);
    let code = result.strip_prefix("Exit code ");
    let code = code.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    if result
        .lines()
        .take(3)
        .any(|line| line.starts_with("Command timed out"))
    {
        return Status::Unfinished("it ran out of time");
    }
    match code {
        Some(code) => Status::Exit(code),
        // Refused, interrupted, or of a version that tells no code: the rest of the answer may still have a summary.
        None => Status::NotTold,
    }
}

/// What hooks said, as newer versions note it.
fn attachment(line: &str, record: &mut Recorder<'_>) {
    let [attachment] = fields(line, ["attachment"]).unwrap_or_default();
    let names = ["type", "hookEvent", "content", "stderr"];
    let [kind, event, content, stderr] = inner(attachment, names);
    if text(event).as_deref() != Some("Stop") {
        return;
    }
    let kind = text(kind).unwrap_or_default();
    if !kind.starts_with("hook_") {
        return;
    }
    let said = text(content).unwrap_or_default();
    let told = official::said_by_hook(&said);
    let told = told.or_else(|| official::said_by_hook(&text(stderr)?));
    if let Some(news) = told {
        record.news(news);
    }
}

/// What older versions note of hooks, and marks that a turn is over.
fn system(line: &str, record: &mut Recorder<'_>) {
    let names = ["subtype", "content", "hookErrors"];
    let [subtype, content, errors] = fields(line, names).unwrap_or_default();
    let content = text(content).unwrap_or_default();
    if content.len() < 2000
        && let Some(news) = official::said_by_hook(&content)
    {
        return record.news(news);
    }
    match text(subtype).as_deref() {
        Some("turn_duration") => record.turn_over(),
        // The client tries again; where it succeeds, the agent goes on.
        Some("api_error") => record.failed(),
        Some("stop_hook_summary") if errors.is_none_or(|errors| errors.get() == "[]") => {
            record.turn_over();
        }
        _ => {}
    }
}

/// What the whole session cost, in a line that each process of the client writes at its end.
fn cost(line: &str, record: &mut Recorder<'_>) {
    let names = ["totalCostUSD", "hasUnknownModelCost"];
    let [total, is_unknown] = fields(line, names).unwrap_or_default();
    let total = total.map(RawValue::get).and_then(decimal);
    record.cost_in_all(total.filter(|_| !is_true(is_unknown)));
}

/// A number of JSON as a plain decimal with at most 24 places. None for one that is written with an exponent.
fn decimal(number: &str) -> Option<String> {
    let is_plain = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let places = number.split_once('.').map_or(0, |(_, places)| places.len());
    (is_plain && places <= 24 && number.len() <= 40).then(|| number.to_owned())
}
