//! Problem details in the OpenAPI document: one response for each status, with the codes that it stands for.

use ralph_gate_http::problem::{Code, MEDIA_TYPE, TYPE};
use serde_json::{Map, Value, json};

use super::{reference as schema_reference, with};

/// The schema of every problem.
pub(super) const SCHEMA: &str = "ProblemDetails";

/// What a status is called, and when it is given.
const STATUSES: &[(u16, &str, &str)] = &[
    (400, "BadRequest", "The body can't be read."),
    (
        404,
        "NotFound",
        "There is nothing under the path. No path of this document is answered with it.",
    ),
    (
        405,
        "MethodNotAllowed",
        "The path does not take the method.",
    ),
    (
        409,
        "Conflict",
        "The request does not fit the state of the loop, which is in the snapshot.",
    ),
    (413, "ContentTooLarge", "The body is too large."),
    (
        415,
        "UnsupportedMediaType",
        "The body is not said to be JSON in UTF-8.",
    ),
    (
        422,
        "UnprocessableContent",
        "The body can be read, and what it says is invalid.",
    ),
];

/// A reference to the response of a status.
pub(super) fn reference(status: u16) -> Value {
    let found = STATUSES.iter().find(|(known, ..)| *known == status);
    let name = found.map_or("", |(_, name, _)| name);
    json!({ "$ref": format!("#/components/responses/{name}") })
}

/// The codes of a status.
fn codes(status: u16) -> Vec<&'static str> {
    let codes = Code::all().filter(|code| code.status() == status);
    codes.map(Code::as_str).collect()
}

/// One response for each status.
pub(super) fn responses() -> Map<String, Value> {
    let responses = STATUSES.iter().map(|(status, name, when)| {
        let schema = json!({
            "allOf": [
                schema_reference(SCHEMA),
                {
                    "type": "object",
                    "properties": { "status": { "const": status }, "code": { "enum": codes(*status) } },
                },
            ],
        });
        let mut response = json!({ "description": when });
        if *status == 405 {
            let allow = json!({ "description": "The methods that the path takes.", "required": true, "schema": { "type": "string" } });
            response = with(response, "headers", json!({ "Allow": allow }));
        }
        let content = json!({ MEDIA_TYPE: { "schema": schema } });
        ((*name).to_owned(), with(response, "content", content))
    });
    responses.collect()
}

/// Problem details (RFC 9457), with what the gate says.
pub(super) fn schema() -> Value {
    let codes: Vec<&str> = Code::all().map(Code::as_str).collect();
    let count =
        |description: &str| json!({ "description": description, "type": "integer", "minimum": 0 });
    json!({
        "description": "Why a request was not answered (RFC 9457).",
        "type": "object",
        "required": ["type", "title", "status", "detail", "code"],
        "properties": {
            "type": { "description": "The same for every problem with this code.", "type": "string", "pattern": format!("^{TYPE}[a-z0-9_]+$") },
            "title": { "description": "What kind of problem it is.", "type": "string" },
            "status": { "description": "The status of the response.", "type": "integer" },
            "detail": { "description": "What is wrong, where, and what to do about it.", "type": "string" },
            "code": { "description": "The kind of problem, for machines.", "type": "string", "enum": codes },
            "observed": count("How many bytes the body has, where that is known."),
            "limit": count("How many bytes it may have."),
            "error": {
                "description": "What the gate answered, as it is everywhere else. Only where the gate was asked.",
                "$ref": "#/components/schemas/GateError",
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_status_that_is_documented() {
        for code in Code::all() {
            let status = code.status();
            assert!(
                STATUSES.iter().any(|(known, ..)| *known == status),
                "{code:?}"
            );
        }
        for (status, ..) in STATUSES {
            assert!(!codes(*status).is_empty(), "{status}");
        }
    }
}
