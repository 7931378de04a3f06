//! The published schema of `events.jsonl`, as a judge of the logs that tests leave behind.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

/// The schema, compiled once.
static EVENT: LazyLock<Validator> = LazyLock::new(|| {
    let text = ralph_gate::schema::find("event").expect("the schema is shipped");
    let schema = serde_json::from_str(&text).expect("it is JSON");
    jsonschema::draft202012::new(&schema).expect("it is a schema")
});

/// Whether a line of a log is as the schema says.
pub fn is_event(line: &Value) -> bool {
    EVENT.is_valid(line)
}

/// Sees that every line of a log is as the schema says. Gives the names of its events.
///
/// # Panics
///
/// If one is not.
pub fn check(log: &str) -> Vec<String> {
    let check = |line: &str| {
        let event: Value = serde_json::from_str(line).expect("a line is JSON");
        let name = event["event"].as_str().unwrap_or_default().to_owned();
        assert!(
            is_event(&event),
            "not as the schema says: {}",
            explain(&event)
        );
        name
    };
    log.lines().map(check).collect()
}

/// Sees that of every session below a root. What can't be read as a line is for the tests that break logs.
///
/// # Panics
///
/// If a line that is whole is not as the schema says.
pub fn check_below(root: &Path) {
    let sessions = fs::read_dir(root).into_iter().flatten().flatten();
    for session in sessions {
        let log = fs::read_to_string(session.path().join("events.jsonl")).unwrap_or_default();
        let whole = log
            .lines()
            .filter(|line| serde_json::from_str::<Value>(line).is_ok());
        check(&whole.collect::<Vec<_>>().join("\n"));
    }
}

/// What is wrong with an event, by its own part of the schema: that of the whole says only that no event fits.
fn explain(event: &Value) -> String {
    let text = ralph_gate::schema::find("event").unwrap_or_default();
    let mut schema: Value = serde_json::from_str(&text).unwrap_or_default();
    if let Some(whole) = schema.as_object_mut() {
        whole.remove("oneOf");
    }
    let name = event["event"].as_str().unwrap_or_default();
    schema["properties"]["data"] = serde_json::json!({ "$ref": format!("#/$defs/{name}") });
    let problems: Vec<String> = match jsonschema::draft202012::new(&schema) {
        Ok(validator) => validator
            .iter_errors(event)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect(),
        Err(_) => vec![format!("there is no event {name}")],
    };
    format!("{}\n{event:#}", problems.join("\n"))
}
