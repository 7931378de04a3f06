//! Judging: the engine evaluates `deny` and the query over the evidence.

use std::num::{NonZeroU32, NonZeroUsize};

use anyhow::{Context as _, Result};
use ralph_gate_policy_evidence::{
    Document, Judgement, LONGEST_TEXT, is_identifier, quoted, shortened,
};
use regorus::{Engine, PolicyLengthConfig, Value};

use crate::module::Module;

/// What the engine calls the module in its messages.
const FILE: &str = "module";

/// Judges the document by the module.
pub(crate) fn judge(module: &Module<'_>, document: Document) -> Judgement {
    match evaluate(module, document) {
        Ok(judgement) => judgement,
        Err(error) => Judgement::unknown(plain(&format!("{error:#}"))),
    }
}

fn evaluate(module: &Module<'_>, document: Document) -> Result<Judgement> {
    let mut engine = Engine::new();
    engine.set_policy_length_config(lengths());
    engine.add_policy(FILE.to_owned(), module.text.to_owned())?;
    engine.set_input(Value::from(serde_json::Value::Object(document)));
    let package = package(&engine)?;
    let denials = denials(&mut engine, &package)?;
    if !denials.is_empty() {
        return Ok(Judgement::fail(denials));
    }
    let query = match module.query {
        Some(query) => query.to_owned(),
        None if engine.has_declared_rule_rooted_at(FILE, "allow")? => format!("{package}.allow"),
        None => {
            return Ok(Judgement::unknown(format!(
                "the package `{package}` has no rule `allow`: add one, or name what must be true in `query`"
            )));
        }
    };
    decide(&mut engine, &query)
}

/// A line may be as long as the whole text.
fn lengths() -> PolicyLengthConfig {
    let default = PolicyLengthConfig::default();
    PolicyLengthConfig {
        max_col: u32::try_from(LONGEST_TEXT)
            .ok()
            .and_then(NonZeroU32::new)
            .unwrap_or(default.max_col),
        max_lines: NonZeroUsize::new(LONGEST_TEXT).unwrap_or(default.max_lines),
        ..default
    }
}

/// The module's package as a path, such as `data.gate` or `data["my-gate"]`.
fn package(engine: &Engine) -> Result<String> {
    let packages = engine.get_policy_package_components()?;
    let package = packages.first().context("the module has no package")?;
    let steps = package.components.iter().map(|name| {
        if is_identifier(name) {
            format!(".{name}")
        } else {
            format!("[{}]", serde_json::Value::from(name.as_str()))
        }
    });
    Ok(format!("data{}", steps.collect::<String>()))
}

/// What the rule `deny` says, if there is one.
fn denials(engine: &mut Engine, package: &str) -> Result<Vec<String>> {
    if !engine.has_declared_rule_rooted_at(FILE, "deny")? {
        return Ok(Vec::new());
    }
    let rule = format!("{package}.deny");
    let items: Vec<Value> = match engine.eval_rule(rule.clone())? {
        Value::Set(items) => items.iter().cloned().collect(),
        Value::Array(items) => items.iter().cloned().collect(),
        Value::Undefined => Vec::new(),
        other => anyhow::bail!(
            "`{rule}` must be a set or list of texts, and is {}",
            kind(&other)
        ),
    };
    Ok(items.iter().map(message).collect())
}

/// A text as it is, anything else as JSON.
fn message(denial: &Value) -> String {
    match denial {
        Value::String(text) => text.to_string(),
        other => other.to_string(),
    }
}

/// Asks whether the query is true.
fn decide(engine: &mut Engine, query: &str) -> Result<Judgement> {
    let text = quoted(query);
    let answers = engine
        .eval_query(query.to_owned(), false)
        .map_err(|error| {
            anyhow::anyhow!("{text} can't be evaluated: {}", plain(&error.to_string()))
        })?
        .result;
    let values: Vec<&Value> = answers
        .iter()
        .flat_map(|answer| {
            answer
                .expressions
                .iter()
                .map(|expression| &expression.value)
        })
        .collect();
    Ok(match values.as_slice() {
        [Value::Bool(true)] => Judgement::pass(),
        [Value::Bool(false)] => Judgement::fail(vec![format!("{text} is false")]),
        [] | [Value::Undefined] => Judgement::unknown(format!(
            "{text} is undefined: no rule for it applies, and there is no `default`"
        )),
        [other] => Judgement::unknown(format!(
            "{text} is neither true nor false, but {}",
            kind(other)
        )),
        several => Judgement::unknown(format!(
            "{text} has {} values, and must have one",
            several.len()
        )),
    })
}

/// What a value is, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Set(_) => "a set",
        Value::Object(_) => "an object",
        Value::Undefined => "undefined",
    }
}

/// The engine's message on one line: what is wrong, and where. The engine draws the line with a mark below.
fn plain(message: &str) -> String {
    let place = message.split("--> ").nth(1).and_then(place);
    let what = match message.rsplit_once("error: ") {
        Some((_, what)) => what,
        None => message,
    };
    let what = match what.trim() {
        // What it expects after a query is its end, which has no name.
        "expecting" => "expecting an expression".to_owned(),
        what => shortened(what),
    };
    match place {
        Some((part, line, column)) => {
            format!("{what} (line {line}, column {column} of the {part})")
        }
        None => what,
    }
}

/// The part, line and column in `module:2:13`.
fn place(text: &str) -> Option<(&str, u32, u32)> {
    let line = text.lines().next()?;
    let mut pieces = line.rsplitn(3, ':');
    let column = pieces.next()?.trim().parse().ok()?;
    let row = pieces.next()?.parse().ok()?;
    let part = if pieces.next()? == FILE {
        FILE
    } else {
        "query"
    };
    Some((part, row, column))
}
