//! Properties of the formats: one value has one meaning, whichever way it is written.

use std::fmt::Write as _;

use ralph_gate_component::contract::check;
use ralph_gate_component::fingerprint::of;
use ralph_gate_component::iteration::{Action, Artifact, ArtifactKind, Iteration};
use ralph_gate_component::signal::{Issue, IssueFile, IssueStates, Signal, decide};
use ralph_gate_component::tree::TextFormat;
use serde_json::{Map, Value as Json, json};

use crate::random::Random;

const TEXTS: &[&str] = &[
    "",
    "a",
    "yes",
    "null",
    "1",
    "1.0",
    "é",
    "😀",
    "a: b",
    "- a",
    "# a",
    "say \"hi\"",
    "C:\\dir",
    "a\nb",
    " a ",
    "{}",
    "*a",
    "&a",
    "'",
    "true",
    "\t",
    "0x1",
];

/// Any JSON value without floats, which serde would round.
fn value(random: &mut Random, depth: usize) -> Json {
    match random.below(if depth == 0 { 4 } else { 6 }) {
        0 => Json::Null,
        1 => Json::Bool(random.below(2) == 0),
        2 => Json::from(random.below(1 << 30)),
        3 => Json::from(*random.pick(TEXTS)),
        4 => (0..random.below(4))
            .map(|_| value(random, depth - 1))
            .collect(),
        _ => Json::Object(object(random, depth - 1)),
    }
}

fn object(random: &mut Random, depth: usize) -> Map<String, Json> {
    (0..random.below(4))
        .map(|_| ((*random.pick(TEXTS)).to_owned(), value(random, depth)))
        .collect()
}

/// The value with the keys of its mappings in another order.
fn turned(value: &Json) -> Json {
    match value {
        Json::Array(items) => items.iter().map(turned).collect(),
        Json::Object(fields) => Json::Object(
            fields
                .iter()
                .rev()
                .map(|(key, value)| (key.clone(), turned(value)))
                .collect(),
        ),
        scalar => scalar.clone(),
    }
}

/// The value as YAML in block style, with comments.
fn block_yaml(value: &Json, indent: usize, text: &mut String) {
    let space = " ".repeat(indent);
    match value {
        Json::Array(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(text, "\n{space}- # an item");
                block_yaml(item, indent + 2, text);
            }
        }
        Json::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                let _ = write!(text, "\n{space}{}: # a field", Json::from(key.as_str()));
                block_yaml(value, indent + 2, text);
            }
        }
        scalar => {
            let _ = write!(text, "\n{space}{scalar}");
        }
    }
}

fn digest(kind: ArtifactKind, content: &str) -> String {
    let mut iteration = Iteration::new(1, Action::Continue);
    iteration.artifacts.push(Artifact {
        name: "artifact".into(),
        kind,
        content: content.into(),
    });
    let fingerprint = of(&iteration);
    let notes: Vec<_> = fingerprint
        .parts
        .iter()
        .filter_map(|part| part.note.as_ref())
        .collect();
    assert_eq!(notes, Vec::<&String>::new(), "{content}");
    fingerprint.digest
}

#[test]
fn a_value_has_one_fingerprint_in_json_in_yaml_and_in_any_order_of_keys() {
    let mut random = Random::new(11);
    for _ in 0..500 {
        let value = value(&mut random, 4);
        let mut yaml = String::from("---");
        block_yaml(&value, 0, &mut yaml);
        yaml.push('\n');
        let expected = digest(ArtifactKind::Json, &value.to_string());
        let pretty = serde_json::to_string_pretty(&turned(&value)).unwrap();
        assert_eq!(digest(ArtifactKind::Json, &pretty), expected, "{pretty}");
        assert_eq!(digest(ArtifactKind::Yaml, &pretty), expected, "{pretty}");
        assert_eq!(digest(ArtifactKind::Yaml, &yaml), expected, "{yaml}");
    }
}

#[test]
fn two_values_have_two_fingerprints() {
    let mut random = Random::new(12);
    for _ in 0..1000 {
        let (one, other) = (value(&mut random, 3), value(&mut random, 3));
        assert_eq!(
            digest(ArtifactKind::Json, &one.to_string())
                == digest(ArtifactKind::Json, &other.to_string()),
            one == other,
            "{one} {other}"
        );
    }
}

/// A valid contract.
fn contract(random: &mut Random) -> Json {
    let ids = ["tests_green", "lint", "docs"];
    let checks: Vec<Json> = ids
        .iter()
        .map(|id| match random.below(2) {
            0 => json!({ "id": id }),
            _ => json!({"id": id, "required": random.below(2) == 0, "on_flaky": "pass"}),
        })
        .collect();
    json!({
        "mode": *random.pick(&["ralph", "auto", "standard"]),
        "completion_token": {"text": *random.pick(&["DONE", "ALL  DONE", "é: #"]), "nonce": random.below(2) == 0},
        "completion_checks": checks,
        "loop_max_iters": 1 + random.below(9999),
        "cost_budget_usd": *random.pick(&["0.30", "12", "0.000000000001"]),
        "profile": *random.pick(&["ralph", "strict", "shadow"]),
        "allow_override": random.below(2) == 0,
    })
}

fn inline_toml(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(inline_toml).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, value)| format!("{key} = {}", inline_toml(value)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
        scalar => scalar.to_string(),
    }
}

#[test]
fn a_contract_has_one_digest_in_json_yaml_and_toml() {
    let mut random = Random::new(13);
    for _ in 0..300 {
        let contract = contract(&mut random);
        let json = check(&contract.to_string(), None);
        assert!(json.valid, "{:?}", json.problems);
        let mut yaml = String::new();
        block_yaml(&contract, 0, &mut yaml);
        let mut toml = String::new();
        for (key, value) in contract.as_object().unwrap() {
            let _ = writeln!(toml, "{key} = {}", inline_toml(value));
        }
        for (format, text) in [(TextFormat::Yaml, yaml), (TextFormat::Toml, toml)] {
            for format in [Some(format), None] {
                let report = check(&text, format);
                assert_eq!(report.problems, [], "{text}");
                assert_eq!(report.digest, json.digest, "{text}");
            }
        }
    }
}

#[test]
fn front_matter_says_the_same_as_data() {
    let ids = ["a", "b", "c", "007", "true"];
    let mut random = Random::new(14);
    let mut signals = Vec::new();
    for _ in 0..1500 {
        let (mut data, mut files) = (IssueStates::default(), IssueStates::default());
        for id in ids.iter().take(1 + random.below(ids.len())) {
            let depends_on: Vec<String> = (0..random.below(3))
                .map(|_| (*random.pick(&ids)).to_owned())
                .filter(|other| other != id)
                .collect();
            let issue = Issue {
                id: (*id).to_owned(),
                status: (*random.pick(&["proposed", "in_progress", "blocked", "done", "done"]))
                    .to_owned(),
                needs_human: random.below(2) == 0,
                depends_on,
            };
            files.files.push(as_file(&issue, random.below(3)));
            data.issues.push(issue);
        }
        let (data, files) = (decide(&data), decide(&files));
        assert_eq!(data, files);
        signals.push(data.signal);
    }
    for signal in [
        Signal::Done,
        Signal::Continue,
        Signal::Blocked,
        Signal::Error,
    ] {
        assert!(signals.contains(&signal), "no state gave {signal}");
    }
}

/// An issue as a file, in one of several layouts.
fn as_file(issue: &Issue, layout: usize) -> IssueFile {
    let Issue {
        id,
        status,
        needs_human,
        depends_on,
    } = issue;
    let (end, mark) = match layout {
        0 => ("\n", ""),
        1 => ("\r\n", ""),
        _ => ("\n", "\u{feff}"),
    };
    let dependencies = match depends_on.as_slice() {
        [] => String::new(),
        [only] => format!("blocked_by: {only}{end}"),
        several => format!("depends_on: [{}]{end}", several.join(", ")),
    };
    IssueFile {
        path: format!("issues/{id}.md"),
        text: format!(
            "{mark}---{end}# an issue{end}status: {status}{end}{dependencies}needs_human: {needs_human}{end}\
             title: any{end}---{end}status: done{end}---{end}"
        ),
    }
}
