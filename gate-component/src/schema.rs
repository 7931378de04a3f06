//! JSON Schemas of what people write, for their editors. Made from the fields that the decoder reads.
//!
//! A schema never refuses what the gate accepts. Some of what the gate refuses no schema can say: two checks of
//! one name, a profile that does not exist, a contract that nothing could prove.

use serde_json::{Map, Value, json};

use crate::contract::fields::{
    CHECK_FIELDS, FIELDS, Field, MAX_CHECKS, MAX_NAME, MAX_TOKEN, NOT_IN_PROFILES, POLICY_FIELDS,
    REQUEST_FIELDS, Shape, TOKEN_FIELDS,
};
use crate::decimal::MAX_WHOLE;

/// The dialect that all schemas are written in.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Every schema by the name of its file, without the extension.
///
/// ```
/// let names: Vec<&str> = ralph_gate_component::schema::all().into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["contract", "request", "routing"]);
/// ```
pub fn all() -> Vec<(&'static str, String)> {
    let request: Vec<Field> = FIELDS.iter().chain(REQUEST_FIELDS).copied().collect();
    [
        (
            "contract",
            "A contract: when a loop is complete, and what ends it otherwise",
            FIELDS,
        ),
        (
            "request",
            "A request to be routed: a contract, and who asks",
            &request,
        ),
        (
            "routing",
            "A routing policy: what an operator decides for every request",
            POLICY_FIELDS,
        ),
    ]
    .map(|(name, title, fields)| (name, document(title, fields)))
    .into()
}

fn document(title: &str, fields: &[Field]) -> String {
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!(DIALECT));
    schema.insert("title".to_owned(), json!(title));
    if let Value::Object(object) = object(fields, &[]) {
        schema.extend(object);
    }
    // Writing a value into memory can't fail.
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// An object with these fields and no others.
fn object(fields: &[Field], required: &[&str]) -> Value {
    let defaults = defaults();
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| (field.name.to_owned(), property(field, &defaults)))
        .collect();
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    if !required.is_empty() {
        insert(&mut schema, "required", json!(required));
    }
    insert(&mut schema, "properties", Value::Object(properties));
    schema
}

fn property(field: &Field, defaults: &Value) -> Value {
    let mut schema = json!({ "description": field.about });
    let shape = shape(field.shape);
    if let (Value::Object(schema), Value::Object(shape)) = (&mut schema, shape) {
        schema.extend(shape);
    }
    match defaults.get(field.name) {
        None | Some(Value::Null) => {}
        Some(default) => insert(&mut schema, "default", default.clone()),
    }
    schema
}

/// Null is allowed wherever a field may be absent: it means the same.
fn shape(shape: Shape) -> Value {
    match shape {
        Shape::Word(words) => {
            let words: Vec<Option<&str>> = words().into_iter().map(Some).chain([None]).collect();
            json!({ "enum": words })
        }
        Shape::Words(words) => {
            json!({ "type": ["array", "null"], "items": { "enum": words() } })
        }
        Shape::Name => json!({ "type": ["string", "null"], "minLength": 1, "maxLength": MAX_NAME }),
        Shape::Text => json!({ "type": ["string", "null"] }),
        Shape::Flag => json!({ "type": ["boolean", "null"] }),
        Shape::Integer { min, max } => {
            json!({ "type": ["integer", "null"], "minimum": min, "maximum": max })
        }
        Shape::Decimal => json!({
            "type": ["number", "string", "null"], "minimum": 0, "maximum": MAX_WHOLE, "pattern": "^[0-9.eE+-]+$"
        }),
        Shape::Ratio => json!({
            "type": ["number", "string", "null"], "minimum": 0, "maximum": 1, "pattern": "^[0-9.eE+-]+$"
        }),
        Shape::Token => json!({ "anyOf": [
            token_text(),
            with(object(TOKEN_FIELDS, &["text"]), "text", token_text()),
            { "type": "null" },
        ] }),
        Shape::Checks => {
            json!({ "type": ["array", "null"], "maxItems": MAX_CHECKS, "items": { "anyOf": [
            check_id(),
            with(object(CHECK_FIELDS, &["id"]), "id", check_id()),
        ] } })
        }
        Shape::Profiles => {
            let fields: Vec<Field> = FIELDS
                .iter()
                .copied()
                .filter(|field| !NOT_IN_PROFILES.contains(&field.name))
                .collect();
            json!({
                "type": ["object", "null"],
                "propertyNames": { "minLength": 1, "maxLength": MAX_NAME },
                "additionalProperties": object(&fields, &[]),
            })
        }
    }
}

fn token_text() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": MAX_TOKEN, "pattern": "^[^<>]*$" })
}

fn check_id() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": MAX_NAME, "pattern": "^\\S+$" })
}

/// An object's schema in which one property has more to say.
fn with(mut schema: Value, name: &str, more: Value) -> Value {
    let property = schema.pointer_mut(&format!("/properties/{name}"));
    if let (Some(Value::Object(property)), Value::Object(more)) = (property, more) {
        property.extend(more);
    }
    schema
}

fn insert(schema: &mut Value, name: &str, value: Value) {
    if let Value::Object(schema) = schema {
        schema.insert(name.to_owned(), value);
    }
}

/// What a contract is that leaves everything out.
fn defaults() -> Value {
    let text = crate::contract::parse("{}").map(|contract| contract.canonical());
    let mut defaults: Value = text
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    // What marks the canonical form is no default of the others; checks are required unless they say otherwise.
    insert(&mut defaults, "effective", json!(false));
    insert(&mut defaults, "required", json!(true));
    insert(&mut defaults, "retry_on", json!(["error", "timeout"]));
    insert(&mut defaults, "nonce", json!(false));
    insert(&mut defaults, "requested", json!(false));
    insert(&mut defaults, "ralph_enabled", json!(true));
    insert(&mut defaults, "require_cost_budget", json!(false));
    defaults
}
