//! Rules about routing: what did not ask for the gate is never touched, and never fails.

use ralph_gate_component::tree::{Source, Value as Tree, recognise};
use serde_json::{Value as Json, json};

use super::contract::is_canonical;
use super::evaluate::call;

/// Checks a text as a request, and what follows a separator as the routing policy.
pub fn check(input: &[u8]) {
    let text = super::text(input);
    let (request, policy) = match text.split_once(super::SEPARATOR) {
        Some((request, policy)) => (request, Some(policy)),
        None => (text.as_ref(), None),
    };
    let answer = route(request, &json!(policy));
    meaning(&answer);
    if policy.is_none() && is_silent(request) {
        assert_eq!(answer["reason"], "not_requested", "{answer}");
    }
    switched_off(request);
}

fn route(request: &str, policy: &Json) -> Json {
    call(
        "route",
        &json!({"request": request, "policy": policy}).to_string(),
    )
}

fn meaning(answer: &Json) {
    if answer.get("error").is_some() {
        return;
    }
    let (mode, reason) = (answer["mode"].as_str(), answer["reason"].as_str());
    match (answer["contract"].as_str(), answer["digest"].as_str()) {
        (Some(contract), Some(digest)) => {
            assert_eq!(mode, Some("ralph"));
            assert!(matches!(reason, Some("requested" | "strict_checks")));
            is_canonical(contract, digest);
            let contract: Json = serde_json::from_str(contract).unwrap();
            assert_eq!(contract["mode"], "ralph");
            assert_eq!(contract["enforcement"], answer["enforcement"]);
            assert_eq!(contract["profile"], answer["profile"]);
        }
        (None, None) => assert_eq!(mode, Some("standard")),
        _ => panic!("a contract without its digest: {answer}"),
    }
}

/// Whether a request can be read, says no mode and starts no loop.
fn is_silent(request: &str) -> bool {
    match Source::new(request, recognise(request))
        .read()
        .map(|tree| tree.value)
    {
        Ok(Tree::Map(entries)) => entries
            .iter()
            .all(|entry| entry.key != "mode" && entry.key != "requested"),
        _ => false,
    }
}

/// The kill switch sends everything that can be read to the harness.
fn switched_off(request: &str) {
    let answer = route(request, &json!({"ralph_enabled": false}));
    if Source::new(request, recognise(request)).read().is_ok() {
        assert_eq!(answer["mode"], "standard", "{answer}");
        assert_eq!(answer["reason"], "disabled");
        assert_eq!(answer["contract"], Json::Null);
    } else {
        assert_eq!(answer["error"]["code"], "invalid_input");
    }
}
