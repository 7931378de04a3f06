//! The JSON Schema of a configuration, made from the fields that are read.

use ralph_gate_component::Word as _;
use serde_json::{Map, Value, json};

use super::fields::{
    AGENT_FIELDS, Field, GIT_FIELDS, MEMORY_FIELDS, PROGRESS_FIELDS, REPORT_FIELDS, Shape,
    TELEMETRY_FIELDS, TRIPWIRE_FIELDS, of_check,
};
use super::words::KindName;

/// The schema as a text.
///
/// ```
/// assert!(ralph_gate::config::schema::text().contains("tests_green"));
/// ```
pub fn text() -> String {
    // Writing a value into memory can't fail.
    let mut text = serde_json::to_string_pretty(&schema()).unwrap_or_default();
    text.push('\n');
    text
}

fn schema() -> Value {
    let contract = gate_schema("contract");
    let routing = gate_schema("routing");
    let routing_field = |name: &str| routing.pointer(&format!("/properties/{name}")).cloned();
    let checks: Vec<Value> = KindName::ALL.iter().map(|kind| check(*kind)).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ralph-gate.toml: what a loop is to prove, and how",
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": {
            "$schema": { "type": ["string", "null"] },
            "contract": about(contract, "When the loop is complete, and what ends it otherwise."),
            "checks": {
                "description": "How each check gets its result, by the ids that the contract names.",
                "type": ["object", "null"],
                "propertyNames": { "minLength": 1, "maxLength": 128, "pattern": "^\\S+$" },
                "additionalProperties": { "anyOf": checks },
            },
            "agent": section(AGENT_FIELDS, "Who does the work."),
            "memory": section(MEMORY_FIELDS, "Where the loop is remembered."),
            "routing": {
                "description": "What an operator decides for every loop.",
                "type": ["object", "null"],
                "additionalProperties": false,
                "properties": {
                    "ralph_enabled": routing_field("ralph_enabled"),
                    "require_cost_budget": routing_field("require_cost_budget"),
                },
            },
            "profiles": routing_field("profiles"),
            "tripwires": section(TRIPWIRE_FIELDS, "What an agent may not do to get its checks to pass."),
            "progress": section(PROGRESS_FIELDS, "What tells whether the work moves on."),
            "git": section(GIT_FIELDS, "What is done with the repository."),
            "report": section(REPORT_FIELDS, "When the effectiveness report says that the gate should be on by default."),
            "telemetry": section(TELEMETRY_FIELDS, "Who is told of the loop while it runs."),
        },
    })
}

/// A schema of the gate, without what belongs to a document of its own.
fn gate_schema(name: &str) -> Value {
    let text = crate::schema::gate(name).unwrap_or_default();
    let mut schema: Value = serde_json::from_str(text).unwrap_or_default();
    if let Value::Object(schema) = &mut schema {
        schema.remove("$schema");
        schema.remove("title");
    }
    schema
}

fn about(mut schema: Value, description: &str) -> Value {
    if let Value::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), json!(description));
        schema.insert("type".to_owned(), json!(["object", "null"]));
    }
    schema
}

fn section(fields: &[Field], description: &str) -> Value {
    json!({
        "description": description,
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": properties(fields),
    })
}

/// A check of one kind. Without a kind it is a command.
fn check(kind: KindName) -> Value {
    let mut properties = properties(&of_check(kind));
    let description = properties
        .get("kind")
        .and_then(|kind| kind.get("description"))
        .cloned();
    let (words, required) = match kind {
        KindName::Command => (json!([kind.as_str(), null]), json!([])),
        _ => (json!([kind.as_str()]), json!(["kind"])),
    };
    properties.insert(
        "kind".to_owned(),
        json!({ "description": description, "enum": words }),
    );
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

fn properties(fields: &[Field]) -> Map<String, Value> {
    let property = |field: &Field| {
        let mut schema = shape(field.shape);
        if let Value::Object(schema) = &mut schema {
            schema.insert("description".to_owned(), json!(field.about));
        }
        (field.name.to_owned(), schema)
    };
    fields.iter().map(property).collect()
}

/// Null is allowed wherever a field may be absent: it means the same.
fn shape(shape: Shape) -> Value {
    match shape {
        Shape::Word(words) => {
            let words: Vec<Option<&str>> = words().into_iter().map(Some).chain([None]).collect();
            json!({ "enum": words })
        }
        Shape::Text => json!({ "type": ["string", "null"] }),
        Shape::Flag => json!({ "type": ["boolean", "null"] }),
        Shape::Integer { min, max } => {
            json!({ "type": ["integer", "null"], "minimum": min, "maximum": max })
        }
        Shape::Decimal => json!({ "type": ["number", "string", "null"], "minimum": 0 }),
        Shape::Texts => json!({ "type": ["array", "null"], "items": { "type": "string" } }),
        Shape::TextTable => json!({
            "type": ["object", "null"], "additionalProperties": { "type": ["string", "number"] }
        }),
        Shape::ListTable => json!({
            "type": ["object", "null"],
            "additionalProperties": { "type": "array", "items": { "type": "string" } },
        }),
        Shape::Any => json!({}),
    }
}
