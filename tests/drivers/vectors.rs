//! Runs every vector through the component, by both of its faces, and compares bytes.

use ralph_gate_tests::typed::Typed;
use ralph_gate_tests::{
    Component, Host as _, Native, failures, files, input_text, name, read, run,
};

#[test]
fn every_vector_holds_through_the_component() {
    let failures = failures(&mut Component::load().unwrap()).unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_typed_face_gives_the_bytes_of_the_json_face() {
    let mut typed = Typed::load().unwrap();
    let mut compared = 0;
    for path in files().unwrap() {
        let vector = read(&path).unwrap();
        let expected = run(&vector, &mut Native).unwrap();
        let mut previous = None;
        for (call, expected) in vector.calls.iter().zip(&expected) {
            let input = input_text(call, previous).unwrap();
            previous = Some(expected.as_str());
            let Ok(answer) = typed.call(&call.function, &input) else {
                // What is not JSON, or has fields that no record has, can't even be handed over.
                assert!(
                    expected.starts_with("{\"error\""),
                    "{}: no typed form",
                    name(&path)
                );
                continue;
            };
            if expected.starts_with("{\"error\"") {
                assert_eq!(code(&answer), code(expected), "{}", name(&path));
            } else if !has_places(expected) {
                assert_eq!(answer, *expected, "{}", name(&path));
            }
            compared += 1;
        }
    }
    assert!(compared > 300, "only {compared} calls were compared");
}

/// An error's code. Its places differ: records have no lines.
fn code(answer: &str) -> String {
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    answer["error"]["code"].as_str().unwrap().to_owned()
}

/// Whether an answer has warnings with places in a request, which the two faces lay out differently.
fn has_places(answer: &str) -> bool {
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    let is_route = answer.get("reason").is_some() && answer.get("enforcement").is_some();
    is_route && answer["warnings"] != serde_json::json!([])
}
