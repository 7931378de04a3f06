//! Python's `TypedDict`s from a JSON Schema, as far as the schema of the contract goes.

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value};

use super::types::{camel_case, quoted};

/// The type of an object, after the types of the objects in it.
pub(super) fn typed_dicts(name: &str, schema: &Value, names: &mut Vec<String>) -> Result<String> {
    let mut text = String::new();
    write_object(name, schema, names, &mut text)?;
    Ok(text)
}

fn write_object(
    name: &str,
    schema: &Value,
    names: &mut Vec<String>,
    text: &mut String,
) -> Result<()> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let (mut must, mut may) = (String::new(), String::new());
    for (field, schema) in properties(schema)? {
        // `$schema` is for editors of files.
        if field.starts_with('$') {
            continue;
        }
        let kind = annotation(&camel_case(field), schema, names, text)?;
        let docs = schema.get("description").and_then(Value::as_str);
        let docs = docs.map_or_else(String::new, |docs| quoted("    ", docs));
        let lines = format!("\n    {field}: {kind}\n{docs}");
        if required.contains(&field.as_str()) {
            must += &lines;
        } else {
            may += &lines;
        }
    }
    let docs = schema.get("title").and_then(Value::as_str);
    let docs = docs.map_or_else(String::new, |docs| quoted("    ", docs));
    let base = if must.is_empty() {
        "TypedDict".to_owned()
    } else {
        *text += &format!("\n\nclass _{name}Required(TypedDict):{must}");
        format!("_{name}Required")
    };
    let body = docs + &may;
    let body = body.trim_start_matches('\n');
    *text += &format!("\n\nclass {name}({base}, total=False):\n{body}");
    names.push(name.to_owned());
    Ok(())
}

fn properties(schema: &Value) -> Result<&Map<String, Value>> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.context("an object without properties")
}

/// The annotation of a value. Objects in it become types of their own.
fn annotation(
    name: &str,
    schema: &Value,
    names: &mut Vec<String>,
    text: &mut String,
) -> Result<String> {
    if let Some(Value::Array(words)) = schema.get("enum") {
        let known = words.iter().filter(|word| !word.is_null());
        let list: Vec<String> = known.map(Value::to_string).collect();
        let literal = format!("Literal[{}]", list.join(", "));
        return Ok(optional(&[literal], words.contains(&Value::Null)));
    }
    if let Some(Value::Array(cases)) = schema.get("anyOf") {
        let mut kinds = Vec::new();
        for case in cases {
            kinds.push(annotation(name, case, names, text)?);
        }
        let nullable = kinds.iter().any(|kind| kind == "None");
        kinds.retain(|kind| kind != "None");
        return Ok(optional(&kinds, nullable));
    }
    let types = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one.as_str()],
        _ => bail!("`{name}` in the schema has no type"),
    };
    let mut kinds = Vec::new();
    for kind in types.iter().filter(|kind| **kind != "null") {
        kinds.push(one_kind(kind, name, schema, names, text)?);
    }
    Ok(optional(&kinds, types.contains(&"null")))
}

fn one_kind(
    kind: &str,
    name: &str,
    schema: &Value,
    names: &mut Vec<String>,
    text: &mut String,
) -> Result<String> {
    Ok(match kind {
        "string" => "str".to_owned(),
        "boolean" => "bool".to_owned(),
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "array" => {
            let items = schema.get("items").context("an array without items")?;
            let one = name.strip_suffix('s').unwrap_or(name);
            format!("list[{}]", annotation(one, items, names, text)?)
        }
        "object" => {
            write_object(name, schema, names, text)?;
            name.to_owned()
        }
        other => bail!("there is no Python form for `{other}` in the schema yet"),
    })
}

fn optional(kinds: &[String], nullable: bool) -> String {
    let union = match kinds {
        [] => return "None".to_owned(),
        [one] => one.clone(),
        more => format!("Union[{}]", more.join(", ")),
    };
    if nullable {
        format!("Optional[{union}]")
    } else {
        union
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_becomes_typed_dicts() {
        let schema = json!({
            "title": "A thing",
            "properties": {
                "$schema": {"type": "string"},
                "mode": {"enum": ["a", "b", null], "description": "Which."},
                "items": {"type": ["array", "null"], "items": {"anyOf": [
                    {"type": "string"},
                    {"type": "object", "required": ["id"], "properties": {
                        "id": {"type": "string"}, "share": {"type": ["number", "string"]}}},
                ]}},
            },
        });
        let mut names = Vec::new();
        let text = typed_dicts("Thing", &schema, &mut names).unwrap();
        let expected = "\n\nclass _ItemRequired(TypedDict):\n    id: str\n\n\n\
             class Item(_ItemRequired, total=False):\n    share: Union[float, str]\n\n\n\
             class Thing(TypedDict, total=False):\n    \"\"\"A thing\"\"\"\n\n    \
             mode: Optional[Literal[\"a\", \"b\"]]\n    \"\"\"Which.\"\"\"\n\n    \
             items: Optional[list[Union[str, Item]]]\n";
        assert_eq!(text, expected);
        assert_eq!(names, ["Item", "Thing"]);
        assert!(
            typed_dicts(
                "Thing",
                &json!({"properties": {"a": {"type": "tuple"}}}),
                &mut names
            )
            .is_err()
        );
    }
}
