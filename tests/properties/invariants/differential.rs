//! The rule that the gate is one function: the component answers with the bytes of the native gate.

use ralph_gate_component::json;
use serde_json::Value as Json;

/// Calls the component: a function's name and its input, then its answer or why there is none.
pub type Component<'a> = &'a mut dyn FnMut(&str, &str) -> Result<String, String>;

/// Checks one call. The first line of an input is the function's name, the rest is its input. Where the
/// name is followed by a dot and a field, the rest is the text of that field.
pub fn check(input: &[u8], component: Component<'_>) {
    let text = super::text(input);
    let (name, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let (function, input) = match name.split_once('.') {
        Some((function, field)) => (
            function,
            format!("{{{}:{}}}", Json::from(field), Json::from(rest)),
        ),
        None => (name, rest.to_owned()),
    };
    let native = json::call(function, &input);
    match component(function, &input) {
        Ok(answer) => assert_eq!(answer, native, "{function} on {input}"),
        Err(error) => panic!("the component gave up on {function}: {error}\n{input}"),
    }
}
