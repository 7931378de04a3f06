//! Claude Code: `-p --output-format stream-json --verbose`, or one `json` document.
//!
//! Checked against 2.1.325. A `result` line ends each turn; `total_cost_usd` and `modelUsage` in it are those of the
//! whole session, with all earlier runs if the session was continued. `model_usage_since_last_result`, which only the
//! stream has, is what this run used, subagents included.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::argv;
use super::decimal::Decimal;
use super::json::{each_element, each_value, fields, is_true, text, total};
use super::notes::{End, Notes, Reading};
use super::{Form, Prepared, Span};

/// Names of variables with credentials. Keys of a whole cloud account are not among them.
pub(super) const CREDENTIALS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_AWS_API_KEY",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_FOUNDRY_API_KEY",
    "ANTHROPIC_FOUNDRY_AUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
    "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
];

/// Names of the variables that set it up.
pub(super) const VARIABLES: &[&str] = &[
    "ANTHROPIC_*",
    "API_TIMEOUT_MS",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_REGION",
    "BASH_*",
    "CLAUDE_*",
    "CLOUD_ML_REGION",
    "DISABLE_*",
    "ENABLE_*",
    "MAX_MCP_OUTPUT_TOKENS",
    "MAX_THINKING_TOKENS",
    "MCP_*",
    "USE_BUILTIN_RIPGREP",
    "VERTEX_REGION_*",
];

/// Calls whose identities are remembered, and the longest identity that is.
const CALLS: usize = 10_000;
const CALL_ID_LIMIT: usize = 64;

/// Asks for the stream where the person left the form open. Only `--print` prints one.
pub(super) fn prepare(argv: &[String], client: usize) -> Prepared {
    let words = argv.get(client + 1..).unwrap_or_default();
    let form = match argv::value(words, &["--output-format"]) {
        Some("stream-json") => Form::Stream,
        Some("json") => Form::Json,
        None if argv::before_dashes(words).any(is_print) => {
            let asked = ["--output-format", "stream-json", "--verbose"];
            return Prepared {
                argv: argv::with(argv, client + 1, &asked),
                form: Form::Stream,
            };
        }
        _ => Form::Text,
    };
    Prepared::unchanged(argv, form)
}

/// `--print`, `-p`, or `-p` together with `-c` in one word.
fn is_print(word: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    word == "--print"
        || (letters.contains('p') && letters.bytes().all(|letter| b"pc".contains(&letter)))
}

/// What must be remembered between lines.
#[derive(Debug, Default)]
pub(super) struct Claude {
    /// The message that the answer comes from: its blocks arrive on lines of their own.
    message: Option<String>,
    calls: BTreeSet<String>,
    used: Used,
}

/// What the `result` lines so far say about this run.
#[derive(Debug, Default, Clone, Copy)]
enum Used {
    #[default]
    Nothing,
    /// The sum of what each of them added.
    Known(Usage),
    /// One did not say what it added.
    Unknown,
}

#[derive(Debug, Default, Clone, Copy)]
struct Usage {
    tokens: u64,
    cost: Decimal,
}

impl Claude {
    pub(super) fn read(&mut self, event: &str, notes: &mut Notes) -> Reading {
        let names = ["type", "session_id", "message", "parent_tool_use_id"];
        let Some([kind, session, message, parent]) = fields(event, names) else {
            return Reading::Broken;
        };
        match text(kind).as_deref() {
            Some("assistant") => {
                if let Some(message) = message {
                    self.assistant(message.get(), parent, notes);
                }
            }
            Some("result") => self.result(event, notes),
            Some("system" | "user" | "stream_event") => {}
            _ => return Reading::Unknown,
        }
        notes.session(text(session));
        Reading::Known
    }

    /// A document: the `result` alone, or with `--verbose` an array of what the stream would have had.
    pub(super) fn read_document(&mut self, document: &str, notes: &mut Notes) -> Reading {
        if !document.starts_with('[') {
            return self.read(document, notes);
        }
        let mut reading = Reading::Broken;
        let whole = each_element(document, |event| {
            if self.read(event.get(), notes) == Reading::Known {
                reading = Reading::Known;
            }
        });
        whole.map_or(Reading::Broken, |()| reading)
    }

    /// One or more blocks of a message. What a subagent says is no answer, but its calls are calls.
    fn assistant(&mut self, message: &str, parent: Option<&RawValue>, notes: &mut Notes) {
        let Some([id, content]) = fields(message, ["id", "content"]) else {
            return;
        };
        if parent.is_none() {
            let id = text(id);
            if id.is_none() || id != self.message {
                notes.answer.clear();
            }
            self.message = id;
            notes.end = End::Open;
        }
        let Some(content) = content else { return };
        each_element(content.get(), |block| {
            let names = ["type", "id", "name", "input", "text"];
            let Some([kind, id, name, input, said]) = fields(block.get(), names) else {
                return;
            };
            match text(kind).as_deref() {
                Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                    self.called(text(id), notes);
                    notes.show_tool_input(text(name), input);
                }
                Some("text") if parent.is_none() => say(&text(said).unwrap_or_default(), notes),
                _ => {}
            }
        });
    }

    /// Counts each identity once. Those that can't be remembered count each time: a budget never gains.
    fn called(&mut self, id: Option<String>, notes: &mut Notes) {
        let id = id.filter(|id| id.len() <= CALL_ID_LIMIT && self.calls.len() < CALLS);
        if id.is_none_or(|id| self.calls.insert(id)) {
            notes.called();
        }
    }

    /// Of several, the last counts, but for what was used: the client prints it when all its tools have finished.
    fn result(&mut self, event: &str, notes: &mut Notes) {
        let names = [
            "result",
            "is_error",
            "subtype",
            "errors",
            "permission_denials",
        ];
        let Some([answer, is_error, subtype, errors, denials]) = fields(event, names) else {
            return;
        };
        if let Some(denials) = denials {
            each_element(denials.get(), |denial| {
                let tool = fields(denial.get(), ["tool_name"]).and_then(|[tool]| text(tool));
                notes.denied(&tool.unwrap_or_default());
            });
        }
        let answer = text(answer);
        let subtype = text(subtype).unwrap_or_default();
        notes.end = End::Reported;
        notes.error = None;
        if is_true(is_error) || subtype.starts_with("error") {
            notes.fail(&failure(errors, answer.as_deref(), &subtype));
        }
        if let Some(answer) = answer {
            notes.answer_is(&answer);
        }
        self.usage(event, notes);
    }

    fn usage(&mut self, event: &str, notes: &mut Notes) {
        let names = [
            "total_cost_usd",
            "usage",
            "modelUsage",
            "model_usage_since_last_result",
        ];
        let Some([total, main, models, since]) = fields(event, names) else {
            return;
        };
        self.used = match (self.used, since.and_then(|since| sum(since.get()))) {
            (Used::Unknown, _) | (_, None) => Used::Unknown,
            (Used::Nothing, Some(added)) => Used::Known(added),
            (Used::Known(before), Some(added)) => Used::Known(Usage {
                tokens: before.tokens.saturating_add(added.tokens),
                cost: before.cost.plus(added.cost),
            }),
        };
        if let Used::Known(used) = self.used {
            notes.span = Span::Run;
            return notes.used(used.tokens, Some(used.cost));
        }
        let models = models.and_then(|models| sum(models.get()));
        notes.span = Span::Session;
        let tokens = models.map_or_else(|| main_tokens(main), |models| models.tokens);
        let cost = total.and_then(|total| Decimal::parse(total.get()));
        notes.used(tokens, cost);
        if total.is_some() && cost.is_none() {
            notes.warn("the cost in claude's result is not an amount of money");
        }
    }
}

/// Adds a block of text to the answer.
fn say(said: &str, notes: &mut Notes) {
    if !notes.answer.is_empty() {
        notes.answer.push(b"\n");
    }
    notes.answer.push(said.as_bytes());
    notes.show_text(said);
}

fn failure(errors: Option<&RawValue>, answer: Option<&str>, subtype: &str) -> String {
    let mut first = None;
    if let Some(errors) = errors {
        each_element(errors.get(), |error| {
            first = first.take().or_else(|| text(Some(error)));
        });
    }
    first.unwrap_or_else(|| answer.unwrap_or(subtype).to_owned())
}

/// The usage of all models, if each says what it cost.
fn sum(models: &str) -> Option<Usage> {
    let mut sum = Some(Usage::default());
    each_value(models, |model| {
        sum = sum.and_then(|sum| {
            let names = [
                "inputTokens",
                "cacheReadInputTokens",
                "cacheCreationInputTokens",
                "outputTokens",
                "costUSD",
            ];
            let [input, read, created, output, cost] = fields(model.get(), names)?;
            Some(Usage {
                tokens: total(&[input, read, created, output]).saturating_add(sum.tokens),
                cost: sum.cost.plus(Decimal::parse(cost?.get())?),
            })
        });
    })?;
    sum
}

/// What older clients say: the main agent's tokens, without those of subagents.
fn main_tokens(usage: Option<&RawValue>) -> u64 {
    let names = [
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "output_tokens",
    ];
    let usage = usage.and_then(|usage| fields(usage.get(), names));
    usage.map_or(0, |counts| total(&counts))
}
