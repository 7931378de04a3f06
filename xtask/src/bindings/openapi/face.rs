//! The operations of the gate: one for each function of the JSON face, and what is asked of a server itself.

use anyhow::{Context as _, Result};
use ralph_gate_http::routes::{ROUTES, Route, Target};
use serde_json::{Map, Value, json};
use wit_parser::{Function, Type, TypeDefKind};

use super::schemas::{WORK, Way, nullable, of_type};
use super::{Operation, Request, Success, reference};
use crate::bindings::wit::{Wit, docs, snake};

/// Parameters that may be left out although their type has no case for that.
const MAY_BE_ABSENT: &[(&str, &str)] = &[
    ("parse_promises", "rules"),
    ("route", "policy"),
    ("update_prd", "updates"),
];

/// Parameters that are an object of this schema, or a text in any format.
const WRITTEN: &[(&str, &str)] = &[
    ("contract", "Contract"),
    ("policy", "RoutingPolicy"),
    ("request", "Request"),
];

/// The longest text of a contract, request or policy.
const MAX_WRITTEN: u32 = 1 << 20;

/// Functions that are given a snapshot, with which the rest of a request may be in conflict.
const WITH_STATE: &[&str] = &["evaluate_final", "read_snapshot", "resume", "write_brief"];

/// Requests that are answered with 200. Snapshots are opaque, and none is made up here.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "evaluate_final",
        r#"{"contract": {"mode": "ralph", "completion_token": "COMPLETE", "completion_checks": ["tests_green"], "loop_max_iters": 5}, "snapshot": null, "iteration": {"index": 1, "action": "final", "output": "All done.\n<promise>COMPLETE</promise>", "checks": [{"id": "tests_green", "outcome": "fail", "reason": "2 of 14 failed"}]}}"#,
    ),
    (
        "check_contract",
        r#"{"text": "mode: ralph\ncompletion_checks: [tests_green]\n", "format": "yaml"}"#,
    ),
    (
        "route",
        r#"{"request": {"mode": "auto", "completion_checks": ["tests_green"]}, "policy": {"ralph_enabled": true}}"#,
    ),
    (
        "parse_promises",
        r#"{"output": "All done.\n<promise>COMPLETE</promise>", "rules": "strict"}"#,
    ),
    (
        "take_fingerprint",
        r#"{"iteration": {"artifacts": [{"name": "workflow.yaml", "kind": "yaml", "content": "a: 1"}]}}"#,
    ),
    (
        "decide_signal",
        r#"{"states": {"issues": [{"id": "a", "status": "done"}, {"id": "b", "status": "proposed", "depends_on": ["a"]}]}}"#,
    ),
    (
        "write_brief",
        r#"{"contract": {"mode": "ralph", "completion_token": "COMPLETE"}}"#,
    ),
    (
        "read_prd",
        r#"{"text": "{\"items\": [{\"id\": \"a\", \"passes\": true}]}"}"#,
    ),
    (
        "update_prd",
        r#"{"text": "{\"items\": [{\"id\": \"a\", \"passes\": false}]}", "updates": [{"id": "a", "passes": true, "evidence": "tests_green"}]}"#,
    ),
    ("read_progress", r##"{"text": "# Learnings\n"}"##),
    (
        "write_progress",
        r#"{"entry": {"iteration": 3, "title": "parser", "body": "It works."}}"#,
    ),
    (
        "read_loop_file",
        r#"{"text": "---\niteration: 2\nmax_iterations: 50\n---\nDo it."}"#,
    ),
    (
        "update_loop_file",
        r#"{"text": "---\niteration: 2\nmax_iterations: 50\n---\nDo it.", "change": {"iteration": 3}}"#,
    ),
    (
        "write_loop_file",
        r#"{"file": {"iteration": 1, "max_iterations": 50, "completion_promise": "COMPLETE", "prompt": "Do it."}}"#,
    ),
];

/// The operations of every route.
pub(super) fn operations(wit: &Wit) -> Result<Vec<Operation>> {
    let mut operations = Vec::new();
    for route in ROUTES {
        match route.target {
            Target::Function(name) => operations.push(call(wit, route, name)?),
            Target::OpenApi => {
                let answer = json!({ "type": "object", "required": ["openapi", "info", "paths"] });
                let description = "This document.";
                operations.extend(look(route, "read_openapi", description, &answer));
            }
            Target::Health => {
                let description = "Whether the gate answers, and which version.";
                operations.extend(look(route, "read_health", description, &health()));
            }
        }
    }
    operations.push(Operation {
        path: "/v1/call/{function}",
        method: "post",
        id: "call".to_owned(),
        description: "Any function by the name that it has in the JSON face, for clients that are told which. What it \
                      takes and gives is described at its own path."
            .to_owned(),
        request: Some(Request {
            schema: json!({ "type": "object" }),
            example: None,
        }),
        answer: Some(json!({ "type": "object" })),
        success: Success::default(),
        headers: &[],
        problems: vec![400, 404, 405, 409, 413, 415, 422],
    });
    Ok(operations)
}

fn health() -> Value {
    json!({
        "type": "object",
        "required": ["status", "version"],
        "properties": { "status": { "const": "ok" }, "version": { "type": "string" } },
    })
}

/// Something to look at, and its head alone.
fn look(route: &Route, id: &str, description: &str, answer: &Value) -> [Operation; 2] {
    let operation = |method, id, description, answer| Operation {
        path: route.path,
        method,
        id,
        description,
        request: None,
        answer,
        success: Success::default(),
        headers: &[],
        problems: vec![405],
    };
    [
        operation(
            "get",
            id.to_owned(),
            description.to_owned(),
            Some(answer.clone()),
        ),
        operation(
            "head",
            format!("{id}_head"),
            format!("The headers of GET alone. {description}"),
            None,
        ),
    ]
}

/// A call of a function.
fn call(wit: &Wit, route: &Route, name: &str) -> Result<Operation> {
    let function = wit.interface.functions.get(&name.replace('_', "-"));
    let function = function.with_context(|| format!("the WIT has no function for `{name}`"))?;
    let mut problems = vec![400, 405, 413, 415, 422];
    if WITH_STATE.contains(&name) {
        problems.push(409);
        problems.sort_unstable();
    }
    let example = EXAMPLES.iter().find(|(known, _)| *known == name);
    let example = example.map(|(_, text)| serde_json::from_str(text));
    Ok(Operation {
        path: route.path,
        method: "post",
        id: name.to_owned(),
        description: docs(&function.docs).unwrap_or_default().to_owned(),
        request: Some(Request {
            schema: parameters(wit, name, function)?,
            example: example.transpose()?,
        }),
        answer: Some(answer(wit, name, function)?),
        success: Success::default(),
        headers: &[],
        problems,
    })
}

fn parameters(wit: &Wit, function: &str, wit_function: &Function) -> Result<Value> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for param in &wit_function.params {
        let name = snake(&param.name);
        let mut schema = parameter(wit, function, &name, param.ty)?;
        let may_be_absent = MAY_BE_ABSENT.contains(&(function, name.as_str()));
        if may_be_absent || is_option(wit, param.ty) {
            schema = nullable(schema);
        } else {
            required.push(name.clone());
        }
        properties.insert(name, schema);
    }
    Ok(json!({
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    }))
}

fn parameter(wit: &Wit, function: &str, name: &str, ty: Type) -> Result<Value> {
    if let Some((_, schema)) = WRITTEN.iter().find(|(known, _)| *known == name) {
        let text = json!({
            "description": "The text, in JSON, YAML or TOML.",
            "type": "string",
            "maxLength": MAX_WRITTEN,
        });
        let mut choices = vec![reference(schema), text];
        if name == "request" {
            choices.push(json!({
                "description": "Anything else goes to standard mode, where that is what it asks for or what the policy \
                                says; what is wrong with it becomes a warning.",
                "type": ["object", "array", "number", "boolean"],
            }));
        }
        return Ok(json!({ "anyOf": choices }));
    }
    if (function, name) == ("take_fingerprint", "iteration") {
        return Ok(reference(WORK));
    }
    of_type(wit, ty, Way::Given)
}

fn is_option(wit: &Wit, ty: Type) -> bool {
    matches!(ty, Type::Id(id) if matches!(wit.kind(id), Some(TypeDefKind::Option(_))))
}

/// A bare text of the typed face is an object with one field in JSON.
fn answer(wit: &Wit, name: &str, function: &Function) -> Result<Value> {
    let result = function.result.context("a function without a result")?;
    let result = match result {
        Type::Id(id) => match wit.kind(id) {
            Some(TypeDefKind::Result(result)) => result.ok.context("a result without a value")?,
            _ => Type::Id(id),
        },
        other => other,
    };
    let schema = of_type(wit, result, Way::Answered)?;
    if result != Type::String {
        return Ok(schema);
    }
    let field = if name == "resume" { "snapshot" } else { "text" };
    Ok(json!({
        "type": "object",
        "required": [field],
        "properties": { field: schema },
    }))
}
