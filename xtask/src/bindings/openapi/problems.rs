//! Problem details in the OpenAPI document: one response for each status, with the codes that it stands for.

use ralph_gate_http::problem::{Code, MEDIA_TYPE, TYPE};
use serde_json::{Map, Value, json};

use super::{Face, reference as schema_reference, with};

/// The schema of every problem.
pub(super) const SCHEMA: &str = "ProblemDetails";

/// What a status of the component is called, and when it is given.
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

/// Those that the server has beside them, or gives for more reasons.
const OF_SERVER: &[(u16, &str, &str)] = &[
    (304, "NotModified", "Whoever asks has this version."),
    (
        401,
        "Unauthorized",
        "The server has a token, and the request has not.",
    ),
    (
        403,
        "Forbidden",
        "A page of another site asked, or a process of the loop itself.",
    ),
    (404, "NotFound", "What the path names is not there."),
    (408, "RequestTimeout", "The body took too long."),
    (
        409,
        "Conflict",
        "The request does not fit the state of the loop.",
    ),
    (
        412,
        "PreconditionFailed",
        "The session has another version by now, or is there already.",
    ),
    (
        428,
        "PreconditionRequired",
        "A change must say which version it is about.",
    ),
    (429, "TooManyRequests", "There is too much to do."),
    (
        503,
        "ServiceUnavailable",
        "The answer took too long, or a loop can't be reached.",
    ),
];

fn statuses(face: Face) -> Vec<&'static (u16, &'static str, &'static str)> {
    let of_server = if face == Face::Server { OF_SERVER } else { &[] };
    let is_other = |it: &&(u16, &str, &str)| of_server.iter().all(|(status, ..)| *status != it.0);
    let mut all: Vec<_> = STATUSES.iter().filter(is_other).chain(of_server).collect();
    all.sort_unstable();
    all
}

/// A reference to the response of a status.
pub(super) fn reference(status: u16) -> Value {
    let mut known = STATUSES.iter().chain(OF_SERVER);
    let found = known.find(|(known, ..)| *known == status);
    let name = found.map_or("", |(_, name, _)| name);
    json!({ "$ref": format!("#/components/responses/{name}") })
}

/// The codes of a status.
fn codes(status: u16) -> Vec<&'static str> {
    let codes = Code::all().filter(|code| code.status() == status);
    codes.map(Code::as_str).collect()
}

/// One response for each status.
pub(super) fn responses(face: Face) -> Map<String, Value> {
    let responses = statuses(face).into_iter().map(|(status, name, when)| {
        if *status == 304 {
            return ((*name).to_owned(), json!({ "description": when }));
        }
        let mut fields = json!({ "status": { "const": status } });
        if face == Face::Component {
            fields = with(fields, "code", json!({ "enum": codes(*status) }));
        }
        let schema = json!({
            "allOf": [schema_reference(SCHEMA), { "type": "object", "properties": fields }],
        });
        let mut response = json!({ "description": when });
        if *status == 405 {
            let allow = json!({ "description": "The methods that the path takes.", "required": true, "schema": { "type": "string" } });
            response = with(response, "headers", json!({ "Allow": allow }));
        }
        if *status == 429 {
            let again = json!({ "description": "After how many seconds to try again.", "required": true, "schema": { "type": "string" } });
            response = with(response, "headers", json!({ "Retry-After": again }));
        }
        let content = json!({ MEDIA_TYPE: { "schema": schema } });
        ((*name).to_owned(), with(response, "content", content))
    });
    responses.collect()
}

/// Problem details (RFC 9457), with what the gate says.
pub(super) fn schema(face: Face) -> Value {
    let codes: Vec<&str> = Code::all().map(Code::as_str).collect();
    let mut code = json!({ "description": "The kind of problem, for machines.", "type": "string" });
    code = match face {
        Face::Component => with(code, "enum", json!(codes)),
        // The gate's, the memory's, those of loops and those of HTTP.
        Face::Server => with(code, "pattern", json!("^[a-z0-9_]+$")),
    };
    let error = match face {
        Face::Component => json!({
            "description": "What the gate answered, as it is everywhere else. Only where the gate was asked.",
            "$ref": "#/components/schemas/GateError",
        }),
        Face::Server => json!({
            "description": "What was answered, as it is everywhere else. Only where the gate or a loop was asked.",
            "type": "object",
        }),
    };
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
            "code": code,
            "observed": count("How many bytes the body has, where that is known."),
            "limit": count("How many bytes it may have."),
            "error": error,
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
