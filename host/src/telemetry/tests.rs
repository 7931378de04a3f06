//! Tests of spans and of sending them.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::channel;

use serde_json::{Value as Json, json};

use super::*;
use crate::config::Telemetry;

/// A line of a log. Its seals are not looked at here.
fn line(event: &str, data: &Json) -> String {
    json!({
        "seq": 1, "prev": "before", "event": event,
        "run": { "mode": "ralph", "enforcement": "enforce", "gate": "gate-digest" },
        "data": data, "digest": format!("digest of {data}"),
    })
    .to_string()
}

fn started(at_ms: u64) -> String {
    line(
        "loop_started",
        &json!({
            "version": "1", "at_ms": at_ms, "mode": "ralph", "profile": null, "enforcement": "enforce",
            "contract_digest": "c", "rules_digest": "r", "argv": ["/usr/bin/codex", "exec"], "prompt": "secret task",
            "session": "night", "labels": { "arm": "b" },
        }),
    )
}

fn verdict(index: u64, at_ms: u64, stop_reason: Option<&str>) -> String {
    let decision = if stop_reason.is_some() {
        "stop"
    } else {
        "continue"
    };
    line(
        "verdict",
        &json!({
            "at_ms": at_ms,
            "iteration": {
                "index": index, "action": "final", "output": "secret words",
                "checks": [{ "id": "tests", "outcome": "fail", "reason": "secret reason" }],
                "usage": { "elapsed_ms": 400, "tool_calls": 2, "cost_usd": "0.1", "tokens": 7 },
            },
            "verdict": {
                "decision": decision, "stop_reason": stop_reason, "signal": "LOOP_CONTINUE", "intercepted": true,
                "failures": [{ "code": "check_failed", "check": "tests", "reason": "secret reason" }],
                "counters": { "iteration": index, "tokens": 7 * index },
            },
        }),
    )
}

fn evidence(at_ms: u64, duration_ms: u64, outcome: &str) -> String {
    let data = json!({
        "check": "tests", "kind": "tests_green", "started_at_ms": at_ms, "duration_ms": duration_ms,
        "outcome": outcome, "reason": "secret reason", "tests": { "passed": 1, "failed": 2, "skipped": 0 },
        "attempts": [{ "exit": 1 }],
    });
    line("evidence", &data)
}

fn resumed(at_ms: u64) -> String {
    let data = json!({ "at_ms": at_ms, "operator": "me", "reason": "x", "contract_digest": "c" });
    line("loop_resumed", &data)
}

fn spans(lines: &[String], content: Content) -> Vec<Span> {
    let mut spans = Spans::new(content);
    let mut all: Vec<Span> = lines.iter().flat_map(|line| spans.add(line)).collect();
    all.extend(spans.close());
    all
}

fn get<'s>(span: &'s Span, key: &str) -> Option<&'s Value> {
    let found = span.attributes.iter().find(|it| it.key == key);
    found.map(|it| &it.value)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn a_loop_is_a_trace_with_a_span_for_each_iteration_and_check() {
    let agent = json!({ "started_at_ms": 1100, "duration_ms": 300, "exit": 0, "timed_out": false });
    let lines = [
        started(1000),
        line("agent_ended", &agent),
        evidence(1400, 50, "fail"),
        verdict(1, 1500, None),
        verdict(2, 2500, Some("max_iters")),
    ];
    let spans = spans(&lines, Content::Withheld);
    let names: Vec<&str> = spans.iter().map(|it| it.name.as_str()).collect();
    let expected = [
        "ralph.check tests",
        "invoke_agent codex",
        "invoke_agent codex",
        "ralph.loop",
    ];
    assert_eq!(names, expected);
    let [check, first, second, root] = spans.as_slice() else {
        panic!("{spans:?}");
    };
    assert!(spans.iter().all(|it| it.trace == root.trace));
    assert_eq!(root.parent, None);
    assert_eq!(
        (first.parent, second.parent),
        (Some(root.id), Some(root.id))
    );
    assert_eq!(check.parent, Some(first.id));
    assert_ne!(first.id, second.id);
    let times = |span: &Span| (span.start.0, span.end.0);
    assert_eq!(times(check), (1400, 1450));
    // By its own count it took 400 ms, which is less than the agent was seen to take.
    assert_eq!(times(first), (1100, 1500));
    assert_eq!(times(second), (2100, 2500));
    assert_eq!(times(root), (1000, 2500));
    for (span, key, value) in [
        (root, "ralph.stop_reason", Some(text("max_iters"))),
        (root, "ralph.contract.digest", Some(text("c"))),
        (root, "ralph.gate.digest", Some(text("gate-digest"))),
        (root, "ralph.label.arm", Some(text("b"))),
        (root, "ralph.iterations", Some(Value::Whole(2))),
        (root, "ralph.ended", Some(Value::Flag(true))),
        (first, "gen_ai.operation.name", Some(text("invoke_agent"))),
        (first, "gen_ai.provider.name", Some(text("openai"))),
        (first, "gen_ai.conversation.id", Some(text("night"))),
        (first, "ralph.usage.tokens", Some(Value::Whole(7))),
        (first, "ralph.decision", Some(text("continue"))),
        (first, "error.type", None),
        (check, "ralph.tests.failed", Some(Value::Whole(2))),
    ] {
        assert_eq!(get(span, key), value.as_ref(), "{key}");
    }
    assert_eq!(first.status, Status::Unset);
}

#[test]
fn a_verdict_is_an_evaluation_and_so_is_each_check() {
    let spans = spans(
        &[started(1), verdict(1, 500, Some("completed"))],
        Content::Withheld,
    );
    let events = &spans[0].events;
    let names: Vec<&str> = events.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["gen_ai.evaluation.result"; 2]);
    let get = |index: usize, key: &str| {
        let found = events[index].attributes.iter().find(|it| it.key == key);
        found.map(|it| it.value.clone())
    };
    assert_eq!(
        get(0, "gen_ai.evaluation.name"),
        Some(text("ralph.verdict"))
    );
    assert_eq!(
        get(0, "gen_ai.evaluation.score.label"),
        Some(text("completed"))
    );
    assert_eq!(
        get(0, "gen_ai.evaluation.score.value"),
        Some(Value::Fraction(1.0))
    );
    assert_eq!(
        get(0, "gen_ai.evaluation.explanation"),
        Some(text("tests: check_failed"))
    );
    assert_eq!(get(1, "gen_ai.evaluation.name"), Some(text("tests")));
    assert_eq!(
        get(1, "gen_ai.evaluation.score.value"),
        Some(Value::Fraction(0.0))
    );
}

#[test]
fn a_check_that_could_not_answer_is_an_error_and_has_no_score() {
    let lines = [
        started(1),
        evidence(10, 5, "timeout"),
        verdict(1, 500, None),
    ];
    let spans = spans(&lines, Content::Withheld);
    assert_eq!(get(&spans[0], "error.type"), Some(&text("timeout")));
    assert_ne!(spans[0].status, Status::Unset);
}

#[test]
fn no_text_of_agent_person_or_program_is_sent_unless_it_is_asked_for() {
    let tripped = json!({ "tripwire": "protected", "reason": "secret reason" });
    let lines = [
        started(1),
        evidence(10, 5, "fail"),
        line("tripwire", &tripped),
        verdict(1, 500, None),
        line(
            "audit",
            &json!({ "at_ms": 900, "truth": "incomplete", "reason": "secret reason" }),
        ),
    ];
    let sent = |content| encode_traces(&Sender::default(), &spans(&lines, content));
    let count = |bytes: &[u8]| {
        let secret = memchr::memmem::find_iter(bytes, b"secret");
        secret.count()
    };
    assert_eq!(count(&sent(Content::Withheld)), 0);
    // The task, the output, and a reason in check, tripwire, both evaluations and the audit.
    assert_eq!(count(&sent(Content::Sent)), 7);
}

#[test]
fn what_somebody_went_on_with_is_a_span_of_its_own_in_the_same_trace() {
    let lines = [
        started(1000),
        verdict(1, 1500, Some("blocked")),
        resumed(9000),
        verdict(2, 9500, Some("completed")),
    ];
    let spans = spans(&lines, Content::Withheld);
    let [_, root, second, more] = spans.as_slice() else {
        panic!("{spans:?}");
    };
    assert_eq!((root.name.as_str(), root.end), ("ralph.loop", Moment(1500)));
    assert_eq!(
        (more.name.as_str(), more.start),
        ("ralph.loop.resumed", Moment(9000))
    );
    assert_eq!(more.parent, Some(root.id));
    assert_eq!(second.parent, Some(more.id));
    assert_eq!(more.trace, root.trace);
}

#[test]
fn a_loop_that_was_killed_is_told_when_it_goes_on() {
    let lines = [started(1000), verdict(1, 1500, None), resumed(9000)];
    let spans = spans(&lines, Content::Withheld);
    let ended = |span: &Span| get(span, "ralph.ended").cloned();
    let killed = (spans[1].name.as_str(), ended(&spans[1]));
    assert_eq!(killed, ("ralph.loop", Some(Value::Flag(false))));
    assert_eq!(spans.len(), 3);
}

#[test]
fn the_same_log_gives_the_same_ids_and_another_loop_others() {
    let lines = [started(1000), verdict(1, 1500, None)];
    assert_eq!(spans(&lines, Content::Sent), spans(&lines, Content::Sent));
    let other = [started(1001), verdict(1, 1500, None)];
    let (one, other) = (spans(&lines, Content::Sent), spans(&other, Content::Sent));
    assert_ne!(one[0].trace, other[0].trace);
    assert_ne!(one[0].id, other[0].id);
}

#[test]
fn a_log_of_another_version_a_damaged_one_and_no_log_at_all_are_no_reason_to_panic() {
    let real = include_str!("../../history/testdata/events.jsonl");
    let lines: Vec<String> = real.lines().map(str::to_owned).collect();
    let whole = spans(&lines, Content::Sent);
    assert!(whole.len() > 2, "{whole:?}");
    // Without its beginning.
    let rest = spans(&lines[1..], Content::Sent);
    assert!(rest.iter().any(|it| it.name == "invoke_agent agent"));
    let odd = [
        "",
        "{}",
        "[]",
        "null",
        "\u{0}",
        r#"{"event":"verdict","data":{}}"#,
        r#"{"event":"verdict","data":7}"#,
        r#"{"event":"loop_started","data":null}"#,
        r#"{"event":"evidence","data":{"check":4}}"#,
        r#"{"event":"audit","data":{"at_ms":18446744073709551615}}"#,
        r#"{"event":"verdict","data":{"at_ms":18446744073709551615,"iteration":{"usage":{"elapsed_ms":1}}}}"#,
    ];
    let odd: Vec<String> = odd.iter().map(|line| (*line).to_owned()).collect();
    encode_traces(&Sender::default(), &spans(&odd, Content::Sent));
}

/// A collector that does as it is told with each connection, and the settings to reach it.
fn collector(answer: impl Fn(&mut TcpStream) + Send + 'static, timeout_ms: u64) -> Settings {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer(&mut stream.unwrap());
        }
    });
    settings(port, timeout_ms)
}

fn settings(port: u16, timeout_ms: u64) -> Settings {
    let variable = |name: &str| match name {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" => Some(format!("http://127.0.0.1:{port}/own/path")),
        "OTEL_EXPORTER_OTLP_HEADERS" => Some("authorization=Bearer%20x".to_owned()),
        "OTEL_EXPORTER_OTLP_TIMEOUT" => Some(timeout_ms.to_string()),
        _ => None,
    };
    let settings = Settings::find(&variable, &Telemetry::default());
    settings.unwrap().unwrap()
}

/// Reads a request: its head, and its body.
fn request(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        bytes.extend(byte);
    }
    let head = String::from_utf8(bytes).unwrap();
    let (_, length) = head.split_once("Content-Length: ").unwrap();
    let length = length.lines().next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}

fn log(folder: &Path, lines: &[String]) -> std::path::PathBuf {
    let path = folder.join("events.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

#[test]
fn a_request_is_the_encoded_spans_with_the_headers_of_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [started(1000), verdict(1, 1500, Some("completed"))];
    let log = log(folder.path(), &lines);
    let (say, told) = channel();
    let settings = collector(
        move |stream| {
            say.send(request(stream)).unwrap();
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                .unwrap();
        },
        10_000,
    );
    assert_eq!(export(&settings, &log, Moment(0)).unwrap(), 2);
    let (head, body) = told.recv().unwrap();
    assert!(head.starts_with("POST /own/path HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nauthorization: Bearer x\r\n"), "{head}");
    assert!(
        head.contains("\r\nContent-Type: application/x-protobuf\r\n"),
        "{head}"
    );
    assert_eq!(
        body,
        encode_traces(&settings.sender, &spans(&lines, Content::Withheld))
    );
}

#[test]
fn only_what_ended_since_a_moment_is_sent_with_the_checks_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        started(1000),
        verdict(1, 1500, None),
        evidence(1600, 10, "pass"),
        verdict(2, 2500, None),
    ];
    let log = log(folder.path(), &lines);
    let settings = collector(
        |stream| {
            request(stream);
            stream
                .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
                .unwrap();
        },
        10_000,
    );
    assert_eq!(export(&settings, &log, Moment(2500)).unwrap(), 2);
    assert_eq!(export(&settings, &log, Moment(2501)).unwrap(), 0);
    assert_eq!(export(&settings, &log, Moment(0)).unwrap(), 4);
}

#[test]
fn a_collector_that_refuses_hangs_drips_or_talks_nonsense_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), &[started(1000), verdict(1, 1500, None)]);
    let failed = |settings: &Settings| export(settings, &log, Moment(0)).unwrap_err().to_string();
    let refused = collector(
        |stream| {
            request(stream);
            stream
                .write_all(b"HTTP/1.1 429 Too Many Requests\r\n\r\n")
                .unwrap();
        },
        10_000,
    );
    assert!(failed(&refused).contains("status 429"));
    let silent = collector(
        |stream| {
            request(stream);
            // Until the other side is gone.
            let _ = stream.read(&mut [0]);
        },
        200,
    );
    let late = failed(&silent);
    assert!(late.contains("did not answer within"), "{late}");
    let dripping = collector(
        |stream| {
            request(stream);
            // As long as anybody listens, and never a whole line.
            while stream.write_all(b"H").is_ok() {
                std::thread::yield_now();
            }
        },
        200,
    );
    let dripped = failed(&dripping);
    assert!(
        dripped.contains("can't be reached") || dripped.contains("within"),
        "{dripped}"
    );
    let nonsense = collector(
        |stream| {
            request(stream);
            stream.write_all(b"SSH-2.0-OpenSSH\r\n").unwrap();
        },
        10_000,
    );
    assert!(failed(&nonsense).contains("does not speak HTTP"));
    // A port that nobody listens on any more.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    assert!(failed(&settings(port, 10_000)).contains("can't be reached"));
}
