//! OpenTelemetry: what arrives at a collector, decoded by somebody else's code, and what a loop does when none does its work.

#![cfg(target_os = "linux")]

mod collector;
#[allow(dead_code, reason = "this needs a part of what whole loops need")]
#[path = "../loops/harness.rs"]
mod harness;
#[allow(dead_code, reason = "this needs a part of what whole loops need")]
#[path = "../loops/kit.rs"]
mod kit;

use std::io::Write as _;
use std::net::TcpListener;
use std::process::Stdio;

use collector::{Collector, Rogue};
use harness::{Outcome, Workplace};
use kit::{TESTS, move_on, promise, simple, tested, work};
use ralph_gate_tests::agent_script::Step;
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::waiting::wait_until;
use serde_json::{Value, json};

/// What is in no span unless somebody asks for it.
const SECRET: &str = "the agent's own words";

/// Two iterations: one that is refused, and one that is not.
fn turns() -> Vec<Vec<Step>> {
    let words = || Step::Print(format!("{SECRET}\n"));
    vec![
        vec![words(), move_on(), promise()],
        vec![words(), work(), promise()],
    ]
}

fn named<'s>(spans: &'s [Value], begins: &str) -> Vec<&'s Value> {
    let is_it = |it: &&Value| it["name"].as_str().unwrap().starts_with(begins);
    let mut found: Vec<&Value> = spans.iter().filter(is_it).collect();
    found.sort_by_key(|it| it["start"].as_u64());
    found
}

fn only<'s>(spans: &'s [Value], begins: &str) -> &'s Value {
    let found = named(spans, begins);
    assert_eq!(found.len(), 1, "{begins} in {spans:#?}");
    found[0]
}

/// Nanoseconds of milliseconds that are a number in a log.
fn nanoseconds(milliseconds: &Value) -> u64 {
    milliseconds.as_u64().unwrap() * 1_000_000
}

/// The data of events of one name, without what the checks gave before the agent began.
fn data_of(logs: &[Value], event: &str) -> Vec<Value> {
    let of_event = logs.iter().filter(|it| it["event"] == event);
    let data = of_event.map(|it| it["data"].clone());
    data.filter(|data| data["iteration"] != 0 && data["iteration"]["index"] != 0)
        .collect()
}

#[test]
#[allow(
    clippy::too_many_lines,
    reason = "one trace, looked at from its root to its last attribute"
)]
fn a_loop_arrives_as_one_trace_in_the_conventions_for_agents() {
    let collector = Collector::start();
    let place = Workplace::new(&tested(""), TESTS);
    let endpoint = collector.endpoint();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "authorization=Bearer%20abc,x-team=a",
        ),
        ("OTEL_SERVICE_NAME", "nightly"),
        (
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=test",
        ),
    ];
    let arguments = ["--json", "--prompt", "make it work"];
    let outcome = place
        .start_among(&variables, &arguments, &[], &turns())
        .finish();
    outcome.stopped("completed", None, 2);
    assert_eq!(outcome.stderr, "");

    let requests = collector.requests("/v1/traces");
    for request in &requests {
        assert_eq!(request["headers"]["authorization"], "Bearer abc");
        assert_eq!(request["headers"]["x-team"], "a");
        assert_eq!(request["headers"]["content-type"], "application/x-protobuf");
        assert_eq!(request["resource"]["service.name"], "nightly");
        assert_eq!(request["resource"]["deployment.environment.name"], "test");
        assert_eq!(request["scope"]["name"], "ralph-gate");
    }
    let (spans, logs) = (collector.spans(), place.logs());
    let root = only(&spans, "ralph.loop");
    let iterations = named(&spans, "invoke_agent ");
    let checks = named(&spans, "ralph.check ");
    assert_eq!((iterations.len(), checks.len()), (2, 2), "{spans:#?}");
    assert_eq!(spans.len(), 5, "{spans:#?}");

    // The tree.
    assert_eq!(root["parent"], "");
    for span in &spans {
        assert_eq!(span["trace"], root["trace"], "{span:#}");
        assert_eq!(span["trace"].as_str().unwrap().len(), 32);
        assert_eq!(span["id"].as_str().unwrap().len(), 16);
        assert_eq!(span["kind"], "SPAN_KIND_INTERNAL");
        assert!(span["start"].as_u64() <= span["end"].as_u64(), "{span:#}");
    }
    for (iteration, check) in iterations.iter().zip(&checks) {
        assert_eq!(iteration["parent"], root["id"]);
        assert_eq!(check["parent"], iteration["id"]);
        for (inner, outer) in [(check, iteration), (iteration, &root)] {
            assert!(
                outer["start"].as_u64() <= inner["start"].as_u64(),
                "{inner:#} {outer:#}"
            );
            assert!(
                inner["end"].as_u64() <= outer["end"].as_u64(),
                "{inner:#} {outer:#}"
            );
        }
    }

    // The times and the words are those of the log.
    let begun = &data_of(&logs, "loop_started")[0];
    let verdicts = data_of(&logs, "verdict");
    assert_eq!(root["start"], nanoseconds(&begun["at_ms"]));
    assert_eq!(root["end"], nanoseconds(&verdicts[1]["at_ms"]));
    for (iteration, agent) in iterations.iter().zip(data_of(&logs, "agent_ended")) {
        assert!(iteration["start"].as_u64().unwrap() <= nanoseconds(&agent["started_at_ms"]));
        assert_eq!(iteration["attributes"]["ralph.agent.exit"], 0);
    }
    for (check, evidence) in checks.iter().zip(data_of(&logs, "evidence")) {
        let start = nanoseconds(&evidence["started_at_ms"]);
        assert_eq!(check["start"], start);
        assert_eq!(check["end"], start + nanoseconds(&evidence["duration_ms"]));
        let attributes = &check["attributes"];
        assert_eq!(attributes["ralph.check.id"], "tests");
        assert_eq!(attributes["ralph.check.kind"], "tests_green");
        assert_eq!(attributes["ralph.check.outcome"], evidence["outcome"]);
        assert_eq!(
            attributes["ralph.tests.failed"],
            evidence["tests"]["failed"]
        );
    }
    for (iteration, judged) in iterations.iter().zip(&verdicts) {
        assert_eq!(iteration["name"], "invoke_agent scripted-agent");
        assert_eq!(iteration["end"], nanoseconds(&judged["at_ms"]));
        let attributes = &iteration["attributes"];
        assert_eq!(attributes["gen_ai.operation.name"], "invoke_agent");
        assert_eq!(attributes["gen_ai.agent.name"], "scripted-agent");
        assert_eq!(
            attributes["ralph.iteration.index"],
            judged["iteration"]["index"]
        );
        assert_eq!(attributes["ralph.iteration.action"], "final");
        assert_eq!(attributes["ralph.mode"], "ralph");
        for name in ["decision", "signal", "intercepted", "overridden"] {
            assert_eq!(
                attributes[format!("ralph.{name}")],
                judged["verdict"][name],
                "{name}"
            );
        }
        for name in [
            "iteration",
            "elapsed_ms",
            "tool_calls",
            "tokens",
            "cost_usd",
        ] {
            let counter = &judged["verdict"]["counters"][name];
            assert_eq!(
                attributes[format!("ralph.counters.{name}")],
                *counter,
                "{name}"
            );
        }
        assert_eq!(iteration["status"]["code"], "STATUS_CODE_UNSET");
    }
    let attributes = &root["attributes"];
    assert_eq!(
        attributes["ralph.contract.digest"],
        begun["contract_digest"]
    );
    assert_eq!(attributes["ralph.rules.digest"], begun["rules_digest"]);
    assert_eq!(attributes["ralph.enforcement"], "enforce");
    assert_eq!(attributes["ralph.stop_reason"], "completed");
    assert_eq!(attributes["ralph.iterations"], 2);
    assert_eq!(attributes["ralph.ended"], true);

    // The verdicts.
    let evaluations = |iteration: &Value| {
        let events = iteration["events"].as_array().unwrap().iter();
        events
            .map(|event| {
                assert_eq!(event["name"], "gen_ai.evaluation.result");
                assert_eq!(event["at"], iteration["end"]);
                let get =
                    |name: &str| event["attributes"][format!("gen_ai.evaluation.{name}")].clone();
                json!([
                    get("name"),
                    get("score.label"),
                    get("score.value"),
                    get("explanation")
                ])
            })
            .collect::<Vec<Value>>()
    };
    assert_eq!(
        evaluations(iterations[0]),
        [
            json!(["ralph.verdict", "continue", 0.0, "tests: check_failed"]),
            json!(["tests", "fail", 0.0, null])
        ]
    );
    assert_eq!(
        evaluations(iterations[1]),
        [
            json!([
                "ralph.verdict",
                "completed",
                1.0,
                "every condition of the contract holds"
            ]),
            json!(["tests", "pass", 1.0, null])
        ]
    );

    // What they add up to.
    let metrics = collector.requests("/v1/metrics").into_iter();
    let metrics = metrics.flat_map(|it| it["metrics"].as_array().unwrap().clone());
    let metrics: Vec<Value> = metrics.collect();
    let sum = |name: &str, field: &str| -> u64 {
        let points = metrics.iter().filter(|it| it["name"] == name);
        let points = points.flat_map(|it| it["points"].as_array().unwrap());
        points.map(|it| it[field].as_u64().unwrap()).sum()
    };
    assert_eq!(sum("ralph.iterations", "sum"), 2, "{metrics:#?}");
    assert_eq!(sum("gen_ai.client.operation.duration", "count"), 2);
    assert_eq!(sum("ralph.check.duration", "count"), 2);
    for metric in &metrics {
        assert_eq!(metric["temporality"], "AGGREGATION_TEMPORALITY_DELTA");
    }
}

#[test]
fn a_log_gives_the_same_spans_as_the_loop_gave_while_it_ran() {
    let collector = Collector::start();
    let place = Workplace::new(&simple("loop_max_iters = 3"), &[]);
    let endpoint = collector.endpoint();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())];
    let stuck = [vec![move_on(), promise()]];
    let outcome = place
        .start_among(&variables, &["--json"], &[], &stuck)
        .finish();
    outcome.stopped("max_iters", None, 3);
    let live = collector.wait_for_spans(3 + 3 + 1);
    assert_eq!(live.len(), 3 + 3 + 1);
    collector.forget();

    let memory = place.memory().unwrap();
    let memory = memory.to_str().unwrap();
    let said = place.gate(&["export-otlp", "--json", memory, "--endpoint", &endpoint]);
    let said = said.assert_code(0);
    assert_eq!(said.json()["logs"][0]["spans"], 7, "{said:?}");
    // The collector answers before the test has read what it got.
    assert_eq!(collector.wait_for_spans(7), live);
    collector.forget();

    // What was gone on with comes once more, and nothing before it does.
    place.write("ralph-gate.toml", &simple("loop_max_iters = 9"));
    let arguments = ["--json", "--resume", "--accept-contract"];
    let outcome = place
        .start_among(&variables, &arguments, &[], &turns()[1..])
        .finish();
    outcome.stopped("completed", None, 1);
    let more = collector.wait_for_spans(3);
    let resumed = only(&more, "ralph.loop.resumed");
    let root = only(&live, "ralph.loop");
    assert_eq!(resumed["parent"], root["id"]);
    assert_eq!(resumed["trace"], root["trace"]);
    assert_eq!(only(&more, "invoke_agent")["parent"], resumed["id"]);
    assert_eq!(more.len(), 3, "{more:#?}");
}

#[test]
fn texts_are_sent_only_where_the_configuration_says_so() {
    for content in [false, true] {
        let collector = Collector::start();
        let endpoint = collector.endpoint();
        let telemetry = format!("\n[telemetry]\nendpoint = \"{endpoint}\"\ncontent = {content}\n");
        let place = Workplace::new(&(simple("") + &telemetry), &[]);
        let outcome = place.run(&turns());
        outcome.stopped("completed", None, 2);
        let sent = serde_json::to_string(&collector.spans()).unwrap();
        assert!(sent.contains("invoke_agent"));
        assert_eq!(sent.contains(SECRET), content, "{sent}");
    }
}

#[test]
fn what_a_collector_knows_us_by_reaches_neither_agent_nor_repository() {
    let collector = Collector::start();
    let endpoint = collector.endpoint();
    let telemetry = format!("\n[telemetry]\nendpoint = \"{endpoint}\"\n");
    let place = Workplace::new(&(simple("") + &telemetry), &[]);
    let look = Step::Run {
        argv: vec!["env".to_owned()],
        into: place.beside("environment"),
    };
    let variables = [("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc")];
    let turns = [vec![look, work(), promise()]];
    let outcome = place
        .start_among(&variables, &["--json"], &[], &turns)
        .finish();
    outcome.stopped("completed", None, 1);
    let environment = std::fs::read_to_string(place.beside("environment")).unwrap();
    assert!(environment.contains("PATH="), "{environment}");
    assert!(
        !environment.contains("OTEL_EXPORTER_OTLP_HEADERS"),
        "{environment}"
    );
    assert!(!environment.contains("abc"), "{environment}");
    let requests = collector.requests("/v1/traces");
    assert!(!requests.is_empty());
    for request in requests {
        assert_eq!(request["headers"].get("authorization"), None, "{request:#}");
    }
}

/// Asks the hook of Claude Code in a place. Gives its answer.
fn ask_hook(
    place: &Workplace,
    variables: &[(&str, &str)],
    message: &str,
    is_continued: bool,
) -> Value {
    let event = json!({
        "session_id": "s1", "cwd": place.work(), "hook_event_name": "Stop",
        "transcript_path": place.work().join("none.jsonl"), "permission_mode": "default",
        "stop_hook_active": is_continued, "last_assistant_message": message,
    });
    let mut command = place.command(binary());
    command.envs(variables.iter().copied());
    command.args(["hook", "claude-code"]).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(event.to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

#[test]
fn what_a_hook_decides_is_sent_by_another_process_after_its_answer() {
    let collector = Collector::start();
    let endpoint = collector.endpoint();
    let telemetry = format!("\n[telemetry]\nendpoint = \"{endpoint}\"\n");
    let place = Workplace::new(&(simple("") + &telemetry), &[]);
    let promise = "Done.\n<promise>COMPLETE</promise>";

    assert_eq!(ask_hook(&place, &[], promise, false)["decision"], "block");
    let first = collector.wait_for_spans(2);
    assert_eq!(
        only(&first, "invoke_agent claude-code")["attributes"]["ralph.decision"],
        "continue"
    );
    assert_eq!(
        only(&first, "invoke_agent")["attributes"]["gen_ai.provider.name"],
        "anthropic"
    );

    place.write("done.txt", "done\n");
    ask_hook(&place, &[], promise, true);
    let all = collector.wait_for_spans(5);
    assert_eq!(
        only(&all, "ralph.loop")["attributes"]["ralph.stop_reason"],
        "completed"
    );
    assert_eq!(named(&all, "invoke_agent").len(), 2);
    assert_eq!(named(&all, "ralph.check").len(), 2);
    place.mark.wait_until_gone().unwrap();
    assert_eq!(collector.spans().len(), 5);
}

#[test]
fn a_hook_does_not_wait_for_a_collector() {
    let place = Workplace::new(&simple(""), &[]);
    let endpoint = Rogue::Silent.listen();
    // Its own process gives up then.
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "8000"),
    ];
    let answer = ask_hook(&place, &variables, "Done.", false);
    assert_eq!(answer["decision"], "block");
    // It was answered while another process still waits for the collector.
    wait_until("the process that sends", || {
        let alive = place.mark.alive();
        alive.iter().any(|(_, line)| line.contains("export-otlp"))
    });
    place.mark.wait_until_gone().unwrap();
}

/// What was decided, without what the clock says.
fn decisions(outcome: &Outcome) -> Vec<Value> {
    let verdicts = outcome.verdicts().into_iter();
    let decided = verdicts.map(|it| {
        json!([
            it["decision"],
            it["stop_reason"],
            it["detail"],
            it["signal"],
            it["failures"],
            it["feedback"]
        ])
    });
    decided.collect()
}

#[test]
fn no_collector_changes_what_a_loop_decides_or_keeps_it_from_its_end() {
    let undisturbed = Workplace::new(&simple(""), &[]).run(&turns());
    for rogue in Rogue::ALL {
        let endpoint = rogue.listen();
        let place = Workplace::new(&simple(""), &[]);
        // Longer than this test waits for the end of a loop.
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "60000"),
        ];
        let outcome = place
            .start_among(&variables, &["--json"], &[], &turns())
            .finish();
        assert_eq!(decisions(&outcome), decisions(&undisturbed), "{rogue:?}");
        assert_eq!(outcome.code, undisturbed.code, "{rogue:?}");
        assert_eq!(
            outcome.stderr.lines().count(),
            1,
            "{rogue:?}: {}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.contains("export-otlp"),
            "{rogue:?}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn what_is_not_supported_is_said_once_and_the_loop_runs() {
    let undisturbed = Workplace::new(&simple(""), &[]).run(&turns());
    for (name, value, remedy) in [
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "https://127.0.0.1:4318",
            "local",
        ),
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "127.0.0.1:4318",
            "http://127.0.0.1:4318",
        ),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf"),
    ] {
        let place = Workplace::new(&simple(""), &[]);
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
            (name, value),
        ];
        let outcome = place
            .start_among(&variables, &["--json"], &[], &turns())
            .finish();
        assert_eq!(decisions(&outcome), decisions(&undisturbed), "{value}");
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(remedy), "{}", outcome.stderr);
    }
}

#[test]
fn nobody_is_called_where_it_is_switched_off_or_not_asked_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let off = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_SDK_DISABLED", "true"),
    ];
    for variables in [&off[..], &[]] {
        let place = Workplace::new(&simple(""), &[]);
        let outcome = place
            .start_among(variables, &["--json"], &[], &turns())
            .finish();
        assert_eq!(outcome.stderr, "");
        ask_hook(&Workplace::new(&simple(""), &[]), variables, "Done.", false);
    }
    let called = listener.accept().map(|(_, caller)| caller);
    let error = called.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock, "{error}");
}

#[test]
fn export_otlp_says_what_is_wrong() {
    let place = Workplace::new(&simple(""), &[]);
    place.run(&turns());
    let memory = place.memory().unwrap();
    let memory = memory.to_str().unwrap();
    let error = |arguments: &[&str]| {
        let said = place.gate(&[&["export-otlp", "--json"], arguments].concat());
        (said.error_code(), said.stdout)
    };
    let (code, message) = error(&[memory]);
    assert_eq!(code, "invalid_telemetry");
    assert!(message.contains("--endpoint"), "{message}");
    let (code, message) = error(&[memory, "--endpoint", &Rogue::Refuses(500).listen()]);
    assert_eq!(code, "not_sent");
    assert!(message.contains("status 500"), "{message}");
    let (code, _) = error(&["nowhere", "--endpoint", "http://127.0.0.1:1"]);
    assert_eq!(code, "unreadable_input");
}
