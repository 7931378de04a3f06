//! Runs every vector through the component, by both of its faces, and compares bytes.

use ralph_gate::engine::EngineError;
use ralph_gate_tests::typed::Typed;
use ralph_gate_tests::{
    Component, Host as _, Native, failures, files, input_text, name, read, run,
};
use serde_json::Value;

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
            let name = name(&path);
            match typed.call(&call.function, &input) {
                Ok(answer) => assert_eq!(placeless(&answer), placeless(expected), "{name}"),
                Err(error) => {
                    assert!(!error.is::<EngineError>(), "{name}: {error:#}");
                    // What is not JSON, or has fields that no record has, can't even be handed over.
                    let code = code(expected);
                    assert!(
                        FORMLESS.contains(&code.as_str()),
                        "{name}: {error:#}: {code}"
                    );
                    continue;
                }
            }
            compared += 1;
        }
    }
    assert!(compared > 300, "only {compared} calls were compared");
}

/// Where in a text a mistake is.
const PLACE: [&str; 3] = ["path", "line", "column"];

/// What the JSON face says of an input that has no typed form.
const FORMLESS: [&str; 3] = ["invalid_input", "invalid_json", "unknown_function"];

/// An error's code; none of any other answer.
fn code(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap();
    answer["error"]["code"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// An answer without what only a text has: the places of mistakes in it. Of an error its code is left.
fn placeless(answer: &str) -> String {
    let mut value: Value = serde_json::from_str(answer).unwrap();
    if value.get("error").is_some() {
        return code(answer);
    }
    // Only a route has warnings with places.
    if value.get("enforcement").is_none() {
        return answer.to_owned();
    }
    for warning in value["warnings"].as_array_mut().unwrap() {
        let fields = warning.as_object_mut().unwrap();
        fields.retain(|name, _| !PLACE.contains(&name.as_str()));
    }
    value.to_string()
}
