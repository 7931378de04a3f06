//! Tests of whole requests and their responses.

use super::*;

const JSON: Option<&str> = Some("application/json");

fn post(path: &str) -> Request<'_> {
    Request {
        method: "POST",
        path,
        content_type: JSON,
        ..Request::default()
    }
}

fn get(path: &str) -> Request<'_> {
    Request {
        method: "GET",
        path,
        ..Request::default()
    }
}

fn unread() -> Result<Vec<u8>, BodyError> {
    panic!("the body is not wanted")
}

fn header<'r>(response: &'r Response, name: &str) -> Option<&'r str> {
    let found = response.headers.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| value.as_str())
}

/// Asserts a problem, and gives its body.
fn problem(response: &Response, status: u16, code: &str) -> String {
    let body = response.body.clone().unwrap().into_owned();
    assert_eq!(response.status, status, "{body}");
    assert_eq!(header(response, "content-type"), Some(problem::MEDIA_TYPE));
    assert!(body.contains(&format!(r#""code":"{code}""#)), "{body}");
    body
}

#[test]
fn a_function_answers_with_the_bytes_of_the_json_face() {
    for route in ROUTES {
        let Target::Function(name) = route.target else {
            continue;
        };
        for input in [r#"{"text": "a"}"#, "{}", r#"{"output": "é"}"#, "[", ""] {
            let response = answer(&post(route.path), || Ok(input.as_bytes().to_vec()));
            let face = json::call(name, input);
            let body = response.body.clone().unwrap();
            if response.status == 200 {
                assert_eq!(body, face);
            } else {
                let error = face.strip_prefix('{').unwrap();
                assert!(body.ends_with(error), "{body}\n{face}");
            }
            let length = body.len().to_string();
            assert_eq!(header(&response, "content-length"), Some(length.as_str()));
        }
    }
}

#[test]
fn what_the_gate_refuses_has_a_status_by_its_code() {
    let broken = answer(&post("/v1/route"), || Ok(b"{".to_vec()));
    problem(&broken, 400, "invalid_json");
    let unknown = answer(&post("/v1/route"), || Ok(b"{\"x\": 1}".to_vec()));
    problem(&unknown, 422, "invalid_input");
    let snapshot = answer(&post("/v1/snapshot/read"), || {
        Ok(br#"{"text": "x"}"#.to_vec())
    });
    problem(&snapshot, 409, "invalid_snapshot");
}

#[test]
fn a_contract_with_problems_is_a_report_and_not_an_error() {
    let response = answer(&post("/v1/contract/check"), || {
        Ok(br#"{"text": "mode: rlaph"}"#.to_vec())
    });
    assert_eq!(response.status, 200);
    assert!(response.body.unwrap().starts_with(r#"{"valid":false"#));
}

#[test]
fn an_unknown_path_is_answered_with_the_one_that_was_meant() {
    let response = answer(&post("/v1/evaluate_final?a=b"), unread);
    let body = problem(&response, 404, "not_found");
    assert!(
        body.contains("did you mean `/v1/evaluate-final`?"),
        "{body}"
    );
    for path in ["", "*", "/", "/v1", "/v1/route/", "/v1/%72oute"] {
        problem(&answer(&get(path), unread), 404, "not_found");
    }
    let long = format!("/{}", "\u{0}\"".repeat(100_000));
    assert!(problem(&answer(&get(&long), unread), 404, "not_found").len() < 1000);
}

#[test]
fn a_query_changes_nothing() {
    assert_eq!(answer(&get("/healthz?x=1"), unread).status, 200);
}

#[test]
fn another_method_is_answered_with_those_that_are_taken() {
    for (path, method, allow) in [
        ("/v1/route", "GET", "POST"),
        ("/v1/route", "HEAD", "POST"),
        ("/v1/route", "post", "POST"),
        ("/healthz", "POST", "GET, HEAD"),
        ("/v1/openapi.json", "DELETE", "GET, HEAD"),
    ] {
        let request = Request {
            method,
            ..post(path)
        };
        let response = answer(&request, unread);
        assert_eq!(
            (response.status, header(&response, "allow")),
            (405, Some(allow))
        );
    }
}

#[test]
fn the_head_alone_has_the_headers_of_the_whole() {
    for path in ["/healthz", "/v1/openapi.json", "/nothing"] {
        let head = Request {
            method: "HEAD",
            ..get(path)
        };
        let (head, whole) = (answer(&head, unread), answer(&get(path), unread));
        assert_eq!(
            (head.status, head.headers, head.body),
            (whole.status, whole.headers, None)
        );
    }
}

#[test]
fn a_body_must_be_said_to_be_json() {
    for content_type in [
        None,
        Some("text/plain"),
        Some("application/json; charset=x"),
    ] {
        let request = Request {
            content_type,
            ..post("/v1/route")
        };
        problem(&answer(&request, unread), 415, "unsupported_media_type");
    }
    let request = Request {
        content_encoding: Some("gzip"),
        ..post("/v1/route")
    };
    problem(&answer(&request, unread), 415, "unsupported_media_type");
}

#[test]
fn a_body_that_is_said_to_be_too_large_is_not_read() {
    let mut request = post("/v1/route");
    request.content_length = Some(MAX_BODY + 1);
    let body = problem(&answer(&request, unread), 413, "body_too_large");
    assert!(
        body.contains(r#""observed":16777217,"limit":16777216"#),
        "{body}"
    );
    request.content_length = Some(MAX_BODY);
    let response = answer(&request, || Err(BodyError::TooLarge));
    let body = problem(&response, 413, "body_too_large");
    assert!(!body.contains("observed") && body.contains(r#""limit":16777216"#));
}

#[test]
fn a_body_that_is_broken_is_a_problem_of_the_caller() {
    let response = answer(&post("/v1/route"), || Err(BodyError::Incomplete));
    problem(&response, 400, "incomplete_body");
    let response = answer(&post("/v1/route"), || Ok(b"{\"a\xff".to_vec()));
    let body = problem(&response, 400, "invalid_utf8");
    assert!(body.contains("from byte 3 on"), "{body}");
}

#[test]
fn health_says_which_version_answers() {
    let body = answer(&get("/healthz"), unread).body.unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(body, format!(r#"{{"status":"ok","version":"{version}"}}"#));
}

#[test]
fn every_function_answers_to_its_own_name_and_one_that_is_not_there_does_not() {
    let input = r#"{"output": "é"}"#;
    let named = answer(&post("/v1/call/parse_promises"), || Ok(input.into()));
    let routed = answer(&post("/v1/promise"), || Ok(input.into()));
    assert_eq!((named.status, &named), (200, &routed));
    let unknown = answer(&post("/v1/call/parse_promise"), || Ok(input.into()));
    let body = problem(&unknown, 404, "unknown_function");
    assert!(body.contains("did you mean `parse_promises`?"), "{body}");
    let looked = answer(&get("/v1/call/parse_promises"), unread);
    problem(&looked, 405, "method_not_allowed");
    assert_eq!(header(&looked, "allow"), Some("POST"));
    assert_eq!(routes::path_of("parse_promises"), "/v1/promise");
    assert_eq!(routes::path_of("made_up"), "/v1/call/made_up");
}
