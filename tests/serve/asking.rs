//! Questions to the gate, and who may ask them.

use std::process::Command;

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::web::Served;
use serde_json::json;

fn server(arguments: &[&str]) -> Served {
    Served::start(Command::new(binary()), arguments).unwrap()
}

#[test]
fn the_gate_answers_over_http_as_everywhere() {
    let server = server(&[]);
    let mut connection = server.connect().unwrap();
    let question = r#"{"output": "<promise>DONE</promise>"}"#;
    let answer = connection.post("/v1/promise", question).unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(
        answer.body,
        ralph_gate_component::json::call("parse_promises", question)
    );

    let health = connection.get("/healthz").unwrap();
    assert_eq!(
        (health.status, health.json()["status"].clone()),
        (200, json!("ok"))
    );
    let head = connection.send("HEAD", "/healthz", &[], b"").unwrap();
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    let document = connection.get("/v1/openapi.json").unwrap();
    assert_eq!(document.json()["openapi"], "3.1.0");
    assert!(document.json()["paths"]["/v1/sessions/{session}"].is_object());
}

#[test]
fn a_mistake_is_a_problem_with_a_code_and_a_remedy() {
    let server = server(&[]);
    let mut connection = server.connect().unwrap();
    let wrong = connection.post("/v1/promis", "{}").unwrap();
    assert_eq!(wrong.status, 404);
    assert_eq!(
        wrong.header("content-type"),
        Some("application/problem+json")
    );
    assert_eq!(wrong.json()["code"], "not_found");
    assert!(
        wrong.body.contains("did you mean `/v1/promise`?"),
        "{}",
        wrong.body
    );

    let method = connection.get("/v1/promise").unwrap();
    assert_eq!((method.status, method.header("allow")), (405, Some("POST")));
    let kind = [("content-type", "text/plain")];
    let kind = connection
        .send("POST", "/v1/promise", &kind, b"{}")
        .unwrap();
    assert_eq!(kind.status, 415);
    let invalid = connection.post("/v1/contract/check", "{").unwrap();
    assert_eq!(
        (invalid.status, invalid.json()["error"]["code"].clone()),
        (400, json!("invalid_json"))
    );
    let loops = connection.post("/v1/loops", "{}").unwrap();
    assert_eq!(
        (loops.status, loops.json()["code"].clone()),
        (404, json!("no_loops"))
    );
    // The connection is as good as new.
    assert_eq!(connection.get("/healthz").unwrap().status, 200);
}

#[test]
fn what_happened_is_counted_by_route() {
    let server = server(&[]);
    let mut connection = server.connect().unwrap();
    connection.post("/v1/promise", r#"{"output": ""}"#).unwrap();
    connection.get("/made/up").unwrap();
    let metrics = connection.get("/metrics").unwrap();
    for line in [
        "ralph_gate_connections 1",
        "ralph_gate_request_duration_seconds_count{method=\"POST\",route=\"/v1/promise\",status=\"200\"} 1",
        "ralph_gate_request_duration_seconds_count{method=\"GET\",route=\"other\",status=\"404\"} 1",
    ] {
        assert!(
            metrics.body.lines().any(|it| it == line),
            "{line} is not in\n{}",
            metrics.body
        );
    }
}

#[test]
fn beyond_this_machine_a_server_without_a_token_does_not_start() {
    let refused = Command::new(binary())
        .args(["serve", "--listen", "0.0.0.0:0", "--json"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stdout).unwrap();
    assert!(
        said.contains("serve_open") && said.contains("--token-file"),
        "{said}"
    );
}

#[test]
fn with_a_token_nobody_else_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "a-token-of-some-length\n").unwrap();
    let server = server(&["--token-file", file.to_str().unwrap()]);
    let mut connection = server.connect().unwrap();
    let path = "/v1/openapi.json";
    let without = connection.get(path).unwrap();
    assert_eq!(
        (without.status, without.json()["code"].clone()),
        (401, json!("unauthorized"))
    );
    assert!(without.header("www-authenticate").is_some());
    let wrong = [("authorization", "Bearer a-token-of-some-lengti")];
    assert_eq!(
        connection.send("GET", path, &wrong, b"").unwrap().status,
        401
    );
    let right = [("authorization", "Bearer a-token-of-some-length")];
    assert_eq!(
        connection.send("GET", path, &right, b"").unwrap().status,
        200
    );
    assert_eq!(connection.get("/metrics").unwrap().status, 401);
    // Whoever watches over it need not know the token.
    assert_eq!(connection.get("/healthz").unwrap().status, 200);
}

#[test]
fn a_page_of_another_site_is_not_answered() {
    let server = server(&[]);
    let mut connection = server.connect().unwrap();
    for headers in [
        [("host", "evil.example"), ("accept", "*/*")],
        [("host", "localhost"), ("origin", "https://evil.example")],
        [("host", "localhost"), ("sec-fetch-site", "cross-site")],
    ] {
        let answer = connection
            .send("GET", "/v1/openapi.json", &headers, b"")
            .unwrap();
        assert_eq!(
            (answer.status, answer.json()["code"].clone()),
            (403, json!("cross_origin"))
        );
    }
    let local = [("host", "localhost:1")];
    assert_eq!(
        connection
            .send("GET", "/v1/openapi.json", &local, b"")
            .unwrap()
            .status,
        200
    );
}

#[test]
fn told_to_end_it_ends_well() {
    let mut server = server(&[]);
    let mut connection = server.connect().unwrap();
    assert_eq!(connection.get("/healthz").unwrap().status, 200);
    assert!(server.end().unwrap().success());
}
