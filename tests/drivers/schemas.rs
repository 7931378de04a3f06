//! The shipped JSON Schemas are those that the gate's types give, and judge files as the gate does.
//! `BLESS=1` rewrites them.

use std::fs;
use std::path::PathBuf;

use jsonschema::Validator;
use ralph_gate::schema::SCHEMAS;
use ralph_gate_component::contract;
use ralph_gate_component::routing::RoutingPolicy;
use ralph_gate_component::schema;
use ralph_gate_component::tree::{Node, Source, Value as Tree, recognise};
use ralph_gate_tests::{files, read};
use serde_json::{Map, Number, Value, json};

fn validator(name: &str) -> Validator {
    let (_, text) = SCHEMAS.iter().find(|(known, _)| *known == name).unwrap();
    jsonschema::draft202012::new(&serde_json::from_str(text).unwrap()).unwrap()
}

/// A text in any format as a validator takes it. Numbers become floats, as they do in editors.
fn value(text: &str) -> Option<Value> {
    fn convert(node: &Node<'_>) -> Value {
        match &node.value {
            Tree::Null => Value::Null,
            Tree::Bool(flag) => json!(flag),
            Tree::Number(text) => text
                .parse::<u64>()
                .map(|number| json!(number))
                .ok()
                .or_else(|| Number::from_f64(text.parse().ok()?).map(Value::Number))
                .unwrap_or(Value::Null),
            Tree::String(text) => json!(text),
            Tree::List(items) => items.iter().map(convert).collect(),
            Tree::Map(entries) => entries
                .iter()
                .map(|entry| (entry.key.to_string(), convert(&entry.node)))
                .collect::<Map<_, _>>()
                .into(),
        }
    }
    let source = Source::new(text, recognise(text));
    source.read().ok().as_ref().map(convert)
}

#[test]
fn the_shipped_schemas_are_those_of_the_types() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../gate-component/schemas");
    let generated = schema::all();
    if std::env::var_os("BLESS").is_some() {
        for (name, text) in &generated {
            fs::write(folder.join(format!("{name}.schema.json")), text).unwrap();
        }
        return;
    }
    let shipped: Vec<(&str, String)> = SCHEMAS
        .iter()
        .map(|(name, text)| (*name, (*text).to_owned()))
        .collect();
    assert_eq!(shipped, generated);
    assert_eq!(fs::read_dir(folder).unwrap().count(), generated.len());
}

#[test]
fn what_the_gate_accepts_no_schema_refuses() {
    let (contract_schema, routing_schema) = (validator("contract"), validator("routing"));
    let (mut contracts, mut policies) = (0, 0);
    let mut judge = |text: &str| {
        let Some(value) = value(text) else { return };
        if contract::check(text, None).valid {
            assert!(contract_schema.is_valid(&value), "{text}");
            contracts += 1;
        }
        if RoutingPolicy::parse(text).is_ok() && value.is_object() {
            assert!(routing_schema.is_valid(&value), "{text}");
            policies += 1;
        }
    };
    for path in files().unwrap() {
        for call in read(&path).unwrap().calls {
            let Some(input) = call.input else { continue };
            for field in ["text", "contract", "policy"] {
                match &input[field] {
                    Value::Null => {}
                    Value::String(text) => judge(text),
                    other => judge(&other.to_string()),
                }
            }
        }
    }
    assert!(contracts > 100 && policies > 5, "{contracts} {policies}");
}

#[test]
fn a_single_mistake_is_found_by_the_gate_and_by_the_schema() {
    let good = json!({
        "mode": "ralph", "profile": "strict", "effective": false, "enforcement": "shadow",
        "completion_token": { "text": "COMPLETE", "nonce": true, "seed": "a" }, "promise_rules": "lenient",
        "completion_checks": ["a", { "id": "b", "required": false, "on_flaky": "fail", "retries": 1 }],
        "on_flaky": "pass", "optional_pass_ratio": 0.5, "allow_override": false, "loop_max_iters": 1,
        "no_progress_limit": 0, "plateau_limit": 0, "per_iter_timeout_ms": 1, "max_tool_calls": 0,
        "max_duration_ms": 1, "max_consecutive_failures": 1, "max_check_retries": 100,
        "cost_budget_usd": "0.30", "feedback_max_bytes": 256, "$schema": "contract.schema.json",
    });
    let schema = validator("contract");
    let both = |value: &Value| {
        let by_gate = contract::check(&value.to_string(), None).valid;
        (by_gate, schema.is_valid(value))
    };
    assert_eq!(both(&good), (true, true));
    let mistakes = [
        ("/mode", json!("ralf")),
        ("/mode", json!(1)),
        ("/profile", json!("")),
        ("/effective", json!("yes")),
        ("/enforcement", json!("shadows")),
        ("/completion_token", json!("")),
        ("/completion_token", json!("<done>")),
        ("/completion_token", json!(7)),
        ("/completion_token/text", json!(null)),
        ("/completion_token/nonce", json!(1)),
        ("/completion_token/nonse", json!(true)),
        ("/completion_token/seed", json!("")),
        ("/promise_rules", json!("loose")),
        ("/completion_checks", json!({ "a": true })),
        ("/completion_checks", json!(vec!["x"; 65])),
        ("/completion_checks/0", json!("a b")),
        ("/completion_checks/0", json!("")),
        ("/completion_checks/0", json!("x".repeat(129))),
        ("/completion_checks/1/id", json!("a b")),
        ("/completion_checks/1/required", json!("no")),
        ("/completion_checks/1/on_flaky", json!("ignore")),
        ("/completion_checks/1/retries", json!(101)),
        ("/completion_checks/1/retry", json!(1)),
        ("/on_flaky", json!("maybe")),
        ("/optional_pass_ratio", json!(1.5)),
        ("/optional_pass_ratio", json!("half")),
        ("/allow_override", json!("true")),
        ("/loop_max_iters", json!(0)),
        ("/loop_max_iters", json!(10001)),
        ("/loop_max_iters", json!(1.5)),
        ("/no_progress_limit", json!(10001)),
        ("/plateau_limit", json!(-1)),
        ("/per_iter_timeout_ms", json!(0)),
        ("/max_tool_calls", json!("1")),
        ("/max_duration_ms", json!(2_592_000_001_u64)),
        ("/max_consecutive_failures", json!(0)),
        ("/max_check_retries", json!(101)),
        ("/cost_budget_usd", json!(-0.1)),
        ("/cost_budget_usd", json!("cheap")),
        ("/feedback_max_bytes", json!(255)),
        ("/$schema", json!(1)),
        ("/loop_max_iter", json!(1)),
    ];
    for (pointer, mistake) in mistakes {
        let mut wrong = good.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match wrong.pointer_mut(pointer) {
            Some(place) => *place = mistake,
            None => wrong.pointer_mut(parent).unwrap()[name] = mistake,
        }
        assert_eq!(both(&wrong), (false, false), "{pointer}: {wrong}");
    }
}
