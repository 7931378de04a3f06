//! JSON Schemas of the WIT's types. What is given is closed, as the gate refuses unknown fields; what is answered may grow.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};
use wit_parser::{Enum, Record, Type, TypeDefKind, TypeId};

use super::{reference, with};
use crate::bindings::wit::{Wit, docs, is_required, pascal, snake};

/// Schemas of what is written by people.
const WRITTEN: &[(&str, &str)] = &[
    ("Contract", "contract"),
    ("Request", "request"),
    ("RoutingPolicy", "routing"),
];

/// What of an iteration a fingerprint is taken of: neither index nor action have to be said.
pub(super) const WORK: &str = "IterationWork";

/// A name or note of 1 to 1024 bytes.
const LABEL: &str = r#"{"minLength": 1, "maxLength": 1024}"#;

/// What the gate demands of a field, beside its type in the WIT.
const BOUNDS: &[(&str, &str, &str)] = &[
    ("artifact", "name", LABEL),
    ("check-result", "attempts", r#"{"maxItems": 128}"#),
    (
        "check-result",
        "code",
        r##"{"anyOf": [{"$ref": "#/components/schemas/FailureCode", "pattern": "^(evidence_tampered$|control_failed$|check_unavailable$|policy_)"}, {"type": "null"}]}"##,
    ),
    (
        "check-result",
        "id",
        r#"{"minLength": 1, "maxLength": 128}"#,
    ),
    ("iteration", "index", r#"{"minimum": 0}"#),
    ("operator-note", "operator", LABEL),
    ("operator-note", "reason", LABEL),
    ("resumption", "operator", LABEL),
    ("resumption", "reason", LABEL),
    ("tampering", "what", LABEL),
    ("tool-output", "name", LABEL),
    (
        "usage",
        "cost-usd",
        r#"{"type": ["string", "number", "null"], "minimum": 0, "maximum": 1000000000000, "pattern": "^[0-9.eE+-]+$"}"#,
    ),
    ("waiver", "check", r#"{"minLength": 1, "maxLength": 128}"#),
    ("waiver", "operator", LABEL),
    ("waiver", "reason", LABEL),
];

/// Every schema that the operations of the gate refer to.
pub(super) fn of(wit: &Wit, root: &Path) -> Result<Map<String, Value>> {
    let mut schemas = Map::new();
    for (name, id) in &wit.interface.types {
        match wit.kind(*id) {
            Some(TypeDefKind::Enum(cases)) => {
                schemas.insert(pascal(name), words(wit.docs(*id), cases));
            }
            Some(TypeDefKind::Record(record)) => add_record(wit, &mut schemas, *id, name, record)?,
            Some(TypeDefKind::Resource) => {}
            _ => bail!("`{name}` is of a kind that has no JSON Schema yet"),
        }
    }
    for (name, file) in WRITTEN {
        let path = format!("gate-component/schemas/{file}.schema.json");
        let text = fs::read_to_string(root.join(&path)).context(path)?;
        let mut schema: Map<String, Value> = serde_json::from_str(&text)?;
        schema.shift_remove("$schema");
        schemas.insert((*name).to_owned(), Value::Object(schema));
    }
    schemas.insert(WORK.to_owned(), work(&schemas)?);
    Ok(schemas)
}

/// A type that goes both ways has two schemas.
fn add_record(
    wit: &Wit,
    schemas: &mut Map<String, Value>,
    id: TypeId,
    name: &str,
    record: &Record,
) -> Result<()> {
    if wit.answered.contains(&id) {
        let schema = object(wit, id, name, record, Way::Answered)?;
        schemas.insert(record_name(wit, id, name, Way::Answered), schema);
    }
    if wit.given.contains(&id) {
        let schema = object(wit, id, name, record, Way::Given)?;
        schemas.insert(record_name(wit, id, name, Way::Given), schema);
    }
    Ok(())
}

/// An iteration of which nothing has to be said.
fn work(schemas: &Map<String, Value>) -> Result<Value> {
    let mut work = schemas
        .get("Iteration")
        .context("the WIT has no record `iteration`")?
        .clone();
    let fields = work.as_object_mut().context("an object")?;
    fields.shift_remove("required");
    fields.insert(
        "description".to_owned(),
        json!("One turn of the agent, as far as it shows progress."),
    );
    let properties = work.get_mut("properties").and_then(Value::as_object_mut);
    let properties = properties.context("an object with properties")?;
    properties.insert("index".to_owned(), nullable(number()));
    properties.insert("action".to_owned(), nullable(reference("Action")));
    Ok(work)
}

/// Whether a value is given to the gate or comes from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Given,
    Answered,
}

fn record_name(wit: &Wit, id: TypeId, name: &str, way: Way) -> String {
    let both = way == Way::Given && wit.answered.contains(&id);
    format!("{}{}", pascal(name), if both { "Input" } else { "" })
}

fn words(description: Option<&str>, cases: &Enum) -> Value {
    let mut text = description.unwrap_or_default().to_owned();
    let mut names = Vec::new();
    for case in &cases.cases {
        let name = snake(&case.name);
        if let Some(docs) = docs(&case.docs) {
            text.push_str(&format!("\n- `{name}`: {docs}"));
        }
        names.push(name);
    }
    json!({ "description": text, "type": "string", "enum": names })
}

fn object(wit: &Wit, id: TypeId, name: &str, record: &Record, way: Way) -> Result<Value> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in &record.fields {
        let must = way == Way::Answered || is_required(name, &field.name);
        let mut schema = of_type(wit, field.ty, way)?;
        if !must {
            schema = nullable(schema);
        }
        if way == Way::Given {
            schema = bound(schema, name, &field.name)?;
        }
        if let Some(docs) = docs(&field.docs) {
            schema = with(schema, "description", json!(docs));
        }
        let field = snake(&field.name);
        if must {
            required.push(field.clone());
        }
        properties.insert(field, schema);
    }
    let mut schema = json!({ "type": "object" });
    if let Some(docs) = wit.docs(id) {
        schema = with(schema, "description", json!(docs));
    }
    if way == Way::Given {
        schema = with(schema, "additionalProperties", json!(false));
    }
    if !required.is_empty() {
        schema = with(schema, "required", json!(required));
    }
    Ok(with(schema, "properties", Value::Object(properties)))
}

fn bound(schema: Value, record: &str, field: &str) -> Result<Value> {
    let found = BOUNDS
        .iter()
        .find(|(known, name, _)| (*known, *name) == (record, field));
    let keywords: Map<String, Value> = match found {
        Some((.., keywords)) => serde_json::from_str(keywords)?,
        None => return Ok(schema),
    };
    let keywords = keywords.into_iter();
    Ok(keywords.fold(schema, |schema, (keyword, value)| {
        with(schema, &keyword, value)
    }))
}

/// The schema of a value.
pub(super) fn of_type(wit: &Wit, ty: Type, way: Way) -> Result<Value> {
    Ok(match ty {
        Type::Bool => json!({ "type": "boolean" }),
        Type::U32 => number(),
        Type::String => json!({ "type": "string" }),
        Type::Id(id) => match wit.kind(id) {
            Some(TypeDefKind::Option(inner)) => nullable(of_type(wit, *inner, way)?),
            Some(TypeDefKind::List(inner)) => {
                json!({ "type": "array", "items": of_type(wit, *inner, way)? })
            }
            Some(TypeDefKind::Record(_)) => reference(&record_name(wit, id, wit.name(id)?, way)),
            _ => reference(&pascal(wit.name(id)?)),
        },
        _ => bail!("{ty:?} has no JSON Schema yet"),
    })
}

fn number() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX })
}

/// The same, or null.
pub(super) fn nullable(mut schema: Value) -> Value {
    match schema.get("type") {
        Some(Value::String(ty)) => {
            let types = json!([ty, "null"]);
            with(schema, "type", types)
        }
        Some(_) => schema,
        None => match schema.get_mut("anyOf").and_then(Value::as_array_mut) {
            Some(choices) => {
                let null = json!({ "type": "null" });
                if !choices.contains(&null) {
                    choices.push(null);
                }
                schema
            }
            None => json!({ "anyOf": [schema, { "type": "null" }] }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_is_of_a_field_of_the_wit() {
        let wit = Wit::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
        for (name, field, keywords) in BOUNDS {
            let id = *wit.interface.types.get(*name).unwrap();
            let Some(TypeDefKind::Record(record)) = wit.kind(id) else {
                panic!("{name} is no record")
            };
            assert!(record.fields.iter().any(|it| it.name == *field), "{field}");
            assert!(
                serde_json::from_str::<Value>(keywords).is_ok(),
                "{keywords}"
            );
        }
    }

    #[test]
    fn null_is_said_once() {
        let once = nullable(json!({ "type": "string" }));
        assert_eq!(once, json!({ "type": ["string", "null"] }));
        assert_eq!(nullable(once.clone()), once);
        let choice = nullable(reference("A"));
        assert_eq!(nullable(choice.clone()), choice);
    }
}
