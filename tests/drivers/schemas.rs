//! The shipped JSON Schemas are those that the gate's types give, and judge files as the gate does.
//! `BLESS=1` rewrites them.

use std::fs;
use std::path::PathBuf;

use jsonschema::Validator;
use ralph_gate::config::Config;
use ralph_gate::schema::SCHEMAS;
use ralph_gate_component::contract;
use ralph_gate_component::routing::RoutingPolicy;
use ralph_gate_component::schema;
use ralph_gate_component::tree::{Node, Source, Value as Tree, recognise};
use ralph_gate_tests::{event_schema, files, read};
use serde_json::{Map, Number, Value, json};

fn validator(name: &str) -> Validator {
    let text = ralph_gate::schema::find(name).unwrap();
    jsonschema::draft202012::new(&serde_json::from_str(&text).unwrap()).unwrap()
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
fn the_shipped_schema_of_a_configuration_is_that_of_its_fields() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../host/schemas/config.schema.json");
    let generated = ralph_gate::config::schema::text();
    if std::env::var_os("BLESS").is_some() {
        fs::write(file, generated).unwrap();
        return;
    }
    assert_eq!(fs::read_to_string(file).unwrap(), generated);
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
        "completion_checks": ["a", { "id": "b", "required": false, "on_flaky": "fail", "retries": 1, "retry_on": ["fail"] }],
        "on_flaky": "pass", "optional_pass_ratio": 0.5, "allow_override": false, "loop_max_iters": 1,
        "no_progress_limit": 0, "plateau_limit": 0, "per_iter_timeout_ms": 1, "max_tool_calls": 0,
        "max_duration_ms": 1, "max_consecutive_failures": 1, "max_check_retries": 100, "blocked_limit": 1, "max_tokens": 0,
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
        ("/completion_checks/1/retry_on", json!("fail")),
        ("/completion_checks/1/retry_on", json!(["pass"])),
        ("/on_flaky", json!("maybe")),
        ("/optional_pass_ratio", json!(1.5)),
        ("/optional_pass_ratio", json!("half")),
        ("/allow_override", json!("true")),
        ("/loop_max_iters", json!(0)),
        ("/loop_max_iters", json!(10001)),
        ("/loop_max_iters", json!(1.5)),
        ("/no_progress_limit", json!(10001)),
        ("/plateau_limit", json!(-1)),
        ("/blocked_limit", json!(0)),
        ("/max_tokens", json!(4_000_000_001_u64)),
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
        let wrong = with_mistake(&good, pointer, mistake);
        assert_eq!(both(&wrong), (false, false), "{pointer}: {wrong}");
    }
}

/// The same with another value at a place, which need not be there yet.
fn with_mistake(good: &Value, pointer: &str, mistake: Value) -> Value {
    let mut wrong = good.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match wrong.pointer_mut(pointer) {
        Some(place) => *place = mistake,
        None => wrong.pointer_mut(parent).unwrap()[name] = mistake,
    }
    wrong
}

#[test]
fn a_single_mistake_in_a_configuration_is_found_by_the_host_and_by_the_schema() {
    let good = json!({
        "$schema": "x",
        "contract": { "mode": "ralph", "completion_checks": ["c", "t", "p", "r", "g", "f"] },
        "checks": {
            "c": { "argv": ["make"], "env": { "A": "1", "B": 2 }, "pass_env": ["X"], "directory": "d",
                   "timeout_ms": 1, "max_output_bytes": 1024 },
            "t": { "kind": "tests_green", "shell": "make test | tee log", "format": "tap", "report": "r",
                   "min_tests": 0, "allow_skipped": false },
            "p": { "kind": "prd_all_pass", "proofs": { "US-1": ["t"] } },
            "r": { "kind": "no_high_risk", "report": "r", "severity": "low" },
            "g": { "kind": "git", "clean": true, "committed": true, "branch": "main", "no_conflicts": true },
            "f": { "kind": "file", "path": "a", "exists": true, "contains": "x", "blake3": "y", "pointer": "/a",
                   "equals": [1] },
        },
        "agent": { "argv": ["claude"], "adapter": "claude", "prompt": "p", "prompt_to": "argument", "env": {},
                   "pass_env": [], "leftovers": "kill" },
        "memory": { "root": ".r", "session_key": "s", "draft_id": "d", "prd": "p" },
        "routing": { "ralph_enabled": true, "require_cost_budget": false },
        "profiles": { "own": { "loop_max_iters": 3 } },
        "tripwires": { "protected_paths": ["a/**"], "test_count": true, "skipped_tests": true, "prd_passes": true },
        "progress": { "artifacts": ["*.yaml"] },
        "git": { "commit": true },
    });
    let schema = validator("config");
    let gate = ralph_gate::GateEngine::new().unwrap();
    let both = |value: &Value| {
        let config = Config::read("c.json".as_ref(), &value.to_string());
        let by_host = config.and_then(|config| config.route(&gate, None)).is_ok();
        (by_host, schema.is_valid(value))
    };
    assert_eq!(both(&good), (true, true));
    let mistakes = [
        ("/$schema", json!(1)),
        ("/contrakt", json!({})),
        ("/contract/mode", json!("ralf")),
        ("/contract/loop_max_iter", json!(1)),
        ("/checks/c/kind", json!("comand")),
        ("/checks/c/argv", json!("make")),
        ("/checks/c/argv/0", json!(1)),
        ("/checks/c/env", json!([])),
        ("/checks/c/env/A", json!(true)),
        ("/checks/c/pass_env", json!("X")),
        ("/checks/c/directory", json!(1)),
        ("/checks/c/timeout_ms", json!(0)),
        ("/checks/c/max_output_bytes", json!(1)),
        ("/checks/c/format", json!("tap")),
        ("/checks/t/format", json!("tapp")),
        ("/checks/t/min_tests", json!(-1)),
        ("/checks/t/allow_skipped", json!("no")),
        ("/checks/p/proofs", json!(["t"])),
        ("/checks/p/argv", json!(["x"])),
        ("/checks/r/severity", json!("bad")),
        ("/checks/g/clean", json!(1)),
        ("/checks/g/branch", json!(1)),
        ("/checks/f/path", json!(1)),
        ("/checks/f/size", json!(1)),
        ("/checks/a b", json!({ "argv": ["x"] })),
        ("/agent/adapter", json!("claud")),
        ("/agent/argv", json!("claude")),
        ("/agent/prompt_to", json!("file")),
        ("/agent/leftovers", json!("allow")),
        ("/agent/model", json!("x")),
        ("/memory/root", json!(1)),
        ("/memory/path", json!("x")),
        ("/routing/ralph_enabled", json!("yes")),
        ("/routing/profiles", json!({})),
        ("/profiles/own/loop_max_iters", json!(0)),
        ("/tripwires/protected_paths", json!("tests")),
        ("/tripwires/tests", json!(true)),
        ("/progress/artifacts", json!({})),
        ("/git/commit", json!("yes")),
    ];
    for (pointer, mistake) in mistakes {
        let wrong = with_mistake(&good, pointer, mistake);
        assert_eq!(both(&wrong), (false, false), "{pointer}: {wrong}");
    }
}

/// Logs of the pure crate: of today, with and without texts, and from before lines said what a loop ran under.
const LOGS: [&str; 3] = [
    include_str!("../../host/history/testdata/events.jsonl"),
    include_str!("../../host/history/testdata/digest-only.jsonl"),
    include_str!("../../host/history/testdata/before-run.jsonl"),
];

#[test]
fn every_line_of_a_log_is_as_the_schema_of_events_says() {
    for log in LOGS {
        let names = event_schema::check(log);
        assert_eq!(names.first().map(String::as_str), Some("loop_started"));
        assert_eq!(names.last().map(String::as_str), Some("verdict"));
    }
}

#[test]
fn the_schema_of_events_knows_every_name_that_the_memory_has_and_no_other() {
    use ralph_gate::memory::course::names;
    let text = ralph_gate::schema::find("event").unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(schema["properties"]["event"]["enum"], json!(names::ALL));
    let branches = schema["oneOf"].as_array().unwrap();
    assert_eq!(branches.len(), names::ALL.len());
    for (name, branch) in names::ALL.iter().zip(branches) {
        assert_eq!(branch["properties"]["event"]["const"], json!(name));
        let place = branch["properties"]["data"]["$ref"].as_str().unwrap();
        assert!(schema.pointer(&place[1..]).is_some(), "{place}");
    }
}

#[test]
fn a_single_mistake_in_an_event_is_found_by_the_schema() {
    let line = LOGS[0].lines().nth(1).unwrap();
    let good: Value = serde_json::from_str(line).unwrap();
    assert!(event_schema::is_event(&good));
    let mistakes = [
        ("/event", json!("poem")),
        ("/event", json!("evidence")),
        ("/seq", json!(0)),
        ("/prev", json!("abc")),
        ("/digest", json!(null)),
        ("/note", json!("?")),
        ("/run", json!(null)),
        ("/run/mode", json!("ralf")),
        ("/run/gate", json!("abc")),
        ("/run/operator", json!("ada")),
        ("/data/at_ms", json!("now")),
        ("/data/recorded", json!("in part")),
        ("/data/note", json!("?")),
        ("/data/iteration/action", json!("done")),
        (
            "/data/iteration/output",
            json!({ "digest": "abc", "bytes": 3 }),
        ),
        ("/data/verdict/decision", json!("end")),
        ("/data/verdict/stop_reason", json!("bored")),
        ("/data/verdict/counters/cost_usd", json!(0.1)),
        ("/data/verdict/failures/0/code", json!("bad_luck")),
    ];
    for (pointer, mistake) in mistakes {
        let wrong = with_mistake(&good, pointer, mistake);
        assert!(!event_schema::is_event(&wrong), "{pointer}");
    }
}
