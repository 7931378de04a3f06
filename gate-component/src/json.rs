//! The JSON face: one string in, one string out, the same on the command line, over HTTP and in the vectors.

use serde::Serialize;

use crate::contract::{self, Contract, PromiseRules};
use crate::error::{ErrorCode, GateError, Problem};
use crate::iteration::Iteration;
use crate::loop_file::{self, LoopFile, LoopFileChange};
use crate::prd::{self, PrdUpdate};
use crate::progress::{self, ProgressEntry};
use crate::routing::{self, RoutingPolicy};
use crate::session::{self, Resumption, Session};
use crate::signal::{self, IssueStates};
use crate::tree::decode::{Decoder, Fields, Path, closest, shorten};
use crate::tree::{Node, Source, TextFormat, Value};
use crate::{fingerprint, promise, snapshot};

/// A value's JSON form. Compact, fields in the order of the WIT.
pub fn to_text<T: Serialize>(value: &T) -> String {
    // Writing our own types into memory can't fail; the fallback keeps the face total.
    serde_json::to_string(value).unwrap_or_else(|_| String::from("null"))
}

/// The JSON form of an error.
pub fn error_text(error: &GateError) -> String {
    #[derive(Serialize)]
    struct Wrapper<'a> {
        error: &'a GateError,
    }
    to_text(&Wrapper { error })
}

type Answer = Result<String, GateError>;
type Function = fn(&Input<'_, '_>) -> Answer;

/// Every function of the face, by name.
const FUNCTIONS: &[(&str, Function)] = &[
    ("check_contract", check_contract),
    ("decide_signal", decide_signal),
    ("evaluate_final", evaluate_final),
    ("parse_promises", parse_promises),
    ("read_loop_file", read_loop_file),
    ("read_prd", read_prd),
    ("read_progress", read_progress),
    ("read_snapshot", read_snapshot),
    ("resume", resume),
    ("route", route),
    ("take_fingerprint", take_fingerprint),
    ("update_loop_file", update_loop_file),
    ("update_prd", update_prd),
    ("write_brief", write_brief),
    ("write_loop_file", write_loop_file),
    ("write_progress", write_progress),
];

/// Call a function by its name. Always answers with JSON: the result, or `{"error": …}`.
///
/// ```
/// let answer = ralph_gate_component::json::call("parse_promises", r#"{"output": "<promise>DONE</promise>"}"#);
/// assert!(answer.starts_with(r#"{"accepted":"DONE""#));
/// ```
pub fn call(function: &str, input: &str) -> String {
    answer(function, input).unwrap_or_else(|error| error_text(&error))
}

/// The names of all functions.
pub fn functions() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name)
}

/// Call a function by its name, for callers that tell an error from a result: what [`call`] answers with, but for errors.
pub fn answer(name: &str, text: &str) -> Result<String, GateError> {
    let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
        let remedy = match closest(name, functions()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!(
                "the functions are {}",
                functions().collect::<Vec<_>>().join(", ")
            ),
        };
        return Err(GateError::new(
            ErrorCode::UnknownFunction,
            format!("there is no function `{}`; {remedy}", shorten(name)),
        ));
    };
    let source = Source::new(text, TextFormat::Json);
    let tree = source.read().map_err(|problem| {
        GateError::from_problems(
            ErrorCode::InvalidJson,
            "the input is not JSON",
            vec![problem],
        )
    })?;
    function(&Input {
        source,
        tree: &tree,
    })
}

/// Evaluate an iteration given as JSON on an open session.
pub fn evaluate_on(session: &mut Session, iteration: &str) -> String {
    let source = Source::new(iteration, TextFormat::Json);
    let tree = match source.read() {
        Ok(tree) => tree,
        Err(problem) => {
            let error = GateError::from_problems(
                ErrorCode::InvalidJson,
                "the iteration is not JSON",
                vec![problem],
            );
            return error_text(&error);
        }
    };
    decode_iteration(source, &tree, Path::Root, true)
        .and_then(|iteration| session.evaluate_final(&iteration))
        .map_or_else(|error| error_text(&error), |verdict| to_text(&verdict))
}

/// A function's parameters.
struct Input<'t, 's> {
    source: Source<'s>,
    tree: &'t Node<'s>,
}

impl<'t, 's> Input<'t, 's> {
    /// The parameters, which must be among `known`; then read them with `read`.
    fn read<T>(
        &self,
        known: &[&str],
        read: impl FnOnce(&mut Decoder<'s>, Fields<'t, 's>) -> Option<T>,
    ) -> Result<T, GateError> {
        let mut decoder = Decoder::new(self.source);
        let value = decoder
            .object(self.tree, Path::Root, known)
            .and_then(|fields| read(&mut decoder, fields));
        finish(value, decoder.into_problems())
    }

    fn text(&self, known: &[&str], name: &str) -> Result<&'t str, GateError> {
        self.read(known, |decoder, fields| {
            required_text(decoder, fields, name)
        })
    }

    /// The contract: an object, or a string with the text in any format.
    fn contract(&self, node: &Node<'_>) -> Result<Contract, GateError> {
        match &node.value {
            Value::String(text) => contract::parse(text),
            _ => contract::from_node(self.source, node, Path::Root.field("contract")),
        }
    }
}

fn finish<T>(value: Option<T>, problems: Vec<Problem>) -> Result<T, GateError> {
    match value {
        Some(value) if problems.is_empty() => Ok(value),
        _ => Err(GateError::from_problems(
            ErrorCode::InvalidInput,
            "the input",
            problems,
        )),
    }
}

fn required_text<'t>(
    decoder: &mut Decoder<'_>,
    fields: Fields<'t, '_>,
    name: &str,
) -> Option<&'t str> {
    let node = decoder.require(fields, Path::Root, name)?;
    decoder.string(node, Path::Root.field(name))
}

fn optional_text<'t>(
    decoder: &mut Decoder<'_>,
    fields: Fields<'t, '_>,
    name: &str,
) -> Option<&'t str> {
    let node = fields.get(name)?;
    decoder.string(node, Path::Root.field(name))
}

fn decode_iteration<'t>(
    source: Source<'_>,
    node: &'t Node<'_>,
    path: Path<'_>,
    index_matters: bool,
) -> Result<Iteration<'t>, GateError> {
    let mut decoder = Decoder::new(source);
    let iteration = Iteration::decode(&mut decoder, node, path, index_matters);
    if let Some(iteration) = &iteration {
        iteration.validate(Path::Root, &mut |below, message, help| {
            let at = below.locate(node);
            decoder.problem_at(
                at,
                format!(
                    "{path}{}{below}",
                    if matches!(path, Path::Root) { "" } else { "." }
                ),
                message,
                help,
            );
        });
    }
    match (iteration, decoder.into_problems()) {
        (Some(iteration), problems) if problems.is_empty() => Ok(iteration),
        (_, problems) => Err(GateError::from_problems(
            ErrorCode::InvalidInput,
            "the iteration",
            problems,
        )),
    }
}

/// The answer of functions that give a file's text.
fn text_answer(text: String) -> String {
    #[derive(Serialize)]
    struct Answer {
        text: String,
    }
    to_text(&Answer { text })
}

fn check_contract(input: &Input<'_, '_>) -> Answer {
    let (text, format) = input.read(&["text", "format"], |decoder, fields| {
        let text = required_text(decoder, fields, "text");
        let format: Option<TextFormat> = fields
            .get("format")
            .and_then(|node| decoder.word(node, Path::Root.field("format")));
        Some((text?, format))
    })?;
    Ok(to_text(&contract::check(text, format)))
}

fn route(input: &Input<'_, '_>) -> Answer {
    let (request, policy) = input.read(&["request", "policy"], |decoder, fields| {
        let request = decoder.require(fields, Path::Root, "request")?;
        Some((request, fields.get("policy")))
    })?;
    let policy = match policy {
        None => RoutingPolicy::default(),
        Some(Node {
            value: Value::String(text),
            ..
        }) => RoutingPolicy::parse(text)?,
        Some(node) => RoutingPolicy::from_node(input.source, node, Path::Root.field("policy"))?,
    };
    let routing = match &request.value {
        Value::String(text) => routing::route_text(text, &policy)?,
        _ => routing::route(input.source, request, Path::Root.field("request"), &policy)?,
    };
    Ok(to_text(&routing))
}

fn open(
    input: &Input<'_, '_>,
    contract: &Node<'_>,
    snapshot: Option<&str>,
) -> Result<Session, GateError> {
    Session::with_contract(input.contract(contract)?, snapshot)
}

fn evaluate_final(input: &Input<'_, '_>) -> Answer {
    let (contract, snapshot, iteration) =
        input.read(&["contract", "snapshot", "iteration"], |decoder, fields| {
            let contract = decoder.require(fields, Path::Root, "contract");
            let snapshot = optional_text(decoder, fields, "snapshot");
            let iteration = decoder.require(fields, Path::Root, "iteration");
            Some((contract?, snapshot, iteration?))
        })?;
    let mut session = open(input, contract, snapshot)?;
    let path = Path::Root.field("iteration");
    let iteration = decode_iteration(input.source, iteration, path, true)?;
    session
        .evaluate_final(&iteration)
        .map(|verdict| to_text(&verdict))
}

fn write_brief(input: &Input<'_, '_>) -> Answer {
    let (contract, snapshot) = input.read(&["contract", "snapshot"], |decoder, fields| {
        let contract = decoder.require(fields, Path::Root, "contract");
        let snapshot = optional_text(decoder, fields, "snapshot");
        Some((contract?, snapshot))
    })?;
    Ok(to_text(&open(input, contract, snapshot)?.brief()))
}

/// The answer of `resume`.
#[derive(Serialize)]
struct Resumed {
    snapshot: String,
}

fn resume(input: &Input<'_, '_>) -> Answer {
    let (contract, snapshot, resumption) = input.read(
        &["contract", "snapshot", "resumption"],
        |decoder, fields| {
            let contract = decoder.require(fields, Path::Root, "contract");
            let snapshot = required_text(decoder, fields, "snapshot");
            let resumption = decoder
                .require(fields, Path::Root, "resumption")
                .and_then(|node| resumption(decoder, node, Path::Root.field("resumption")));
            Some((contract?, snapshot?, resumption?))
        },
    )?;
    let snapshot = session::resume(input.contract(contract)?, snapshot, &resumption)?;
    Ok(to_text(&Resumed { snapshot }))
}

fn resumption(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Resumption> {
    let fields = decoder.object(node, path, &["operator", "reason", "accept_contract"])?;
    let mut word = |name| {
        let node = decoder.require(fields, path, name)?;
        decoder
            .name(node, path.field(name), 1024)
            .map(str::to_owned)
    };
    let (operator, reason) = (word("operator"), word("reason"));
    let accept_contract = match fields.get("accept_contract") {
        Some(node) => decoder.bool(node, path.field("accept_contract"))?,
        None => false,
    };
    Some(Resumption {
        operator: operator?,
        reason: reason?,
        accept_contract,
    })
}

fn parse_promises(input: &Input<'_, '_>) -> Answer {
    let (output, rules) = input.read(&["output", "rules"], |decoder, fields| {
        let output = required_text(decoder, fields, "output");
        let rules = match fields.get("rules") {
            Some(node) => decoder.word(node, Path::Root.field("rules"))?,
            None => PromiseRules::Strict,
        };
        Some((output?, rules))
    })?;
    Ok(to_text(&promise::parse(output, rules)))
}

fn take_fingerprint(input: &Input<'_, '_>) -> Answer {
    let iteration = input.read(&["iteration"], |decoder, fields| {
        decoder.require(fields, Path::Root, "iteration")
    })?;
    let path = Path::Root.field("iteration");
    let iteration = decode_iteration(input.source, iteration, path, false)?;
    Ok(to_text(&fingerprint::of(&iteration)))
}

fn decide_signal(input: &Input<'_, '_>) -> Answer {
    let states = input.read(&["states"], |decoder, fields| {
        let node = decoder.require(fields, Path::Root, "states")?;
        IssueStates::decode(decoder, node, Path::Root.field("states"))
    })?;
    Ok(to_text(&signal::decide(&states)))
}

fn read_snapshot(input: &Input<'_, '_>) -> Answer {
    snapshot::view(input.text(&["text"], "text")?).map(|view| to_text(&view))
}

fn read_prd(input: &Input<'_, '_>) -> Answer {
    prd::read(input.text(&["text"], "text")?).map(|prd| to_text(&prd))
}

fn update_prd(input: &Input<'_, '_>) -> Answer {
    let (text, updates) = input.read(&["text", "updates"], |decoder, fields| {
        let text = required_text(decoder, fields, "text");
        let updates = decoder.items(
            fields.get("updates"),
            Path::Root.field("updates"),
            PrdUpdate::decode,
        );
        Some((text?, updates))
    })?;
    prd::update(text, &updates).map(text_answer)
}

fn read_progress(input: &Input<'_, '_>) -> Answer {
    Ok(to_text(&progress::read(input.text(&["text"], "text")?)))
}

fn write_progress(input: &Input<'_, '_>) -> Answer {
    let entry = input.read(&["entry"], |decoder, fields| {
        let node = decoder.require(fields, Path::Root, "entry")?;
        ProgressEntry::decode(decoder, node, Path::Root.field("entry"))
    })?;
    Ok(text_answer(progress::write(&entry)))
}

fn read_loop_file(input: &Input<'_, '_>) -> Answer {
    loop_file::read(input.text(&["text"], "text")?).map(|file| to_text(&file))
}

fn update_loop_file(input: &Input<'_, '_>) -> Answer {
    let (text, change) = input.read(&["text", "change"], |decoder, fields| {
        let text = required_text(decoder, fields, "text");
        let change = decoder
            .require(fields, Path::Root, "change")
            .and_then(|node| LoopFileChange::decode(decoder, node, Path::Root.field("change")));
        Some((text?, change?))
    })?;
    loop_file::update(text, &change).map(text_answer)
}

fn write_loop_file(input: &Input<'_, '_>) -> Answer {
    let file = input.read(&["file"], |decoder, fields| {
        let node = decoder.require(fields, Path::Root, "file")?;
        LoopFile::decode(decoder, node, Path::Root.field("file"))
    })?;
    Ok(text_answer(loop_file::write(&file)))
}
