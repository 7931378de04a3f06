//! Loops that are begun, watched, ended and resumed over HTTP.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::extent::is_full;
use ralph_gate_tests::place::Place;
use ralph_gate_tests::web::{Connection, Served};
use serde_json::{Value, json};

/// An agent that says what its iteration is, and promises in the third one. In a session named after it, it waits.
const AGENT: &str = r#"
case "$RALPH_GATE_SESSION" in
    waiting*) while ! test -f go; do sleep 0.05; done ;;
esac
echo "iteration $RALPH_GATE_ITERATION of $RALPH_GATE_SESSION"
if test "$RALPH_GATE_ITERATION" -ge 3; then echo "<promise>COMPLETE</promise>"; fi
"#;

const CONFIG: &str = r#"
[agent]
argv = ["sh", "agent.sh"]

[checks.notes]
kind = "file"
path = "agent.sh"
"#;

fn place() -> Place {
    Place::new(&[("agent.sh", AGENT), ("ralph-gate.toml", CONFIG)])
}

fn server(place: &Place) -> Served {
    let arguments = ["--config", "ralph-gate.toml", "--max-loops", "600"];
    Served::start(place.command(binary()), &arguments).unwrap()
}

fn request(session: &str) -> Value {
    json!({
        "mode": "ralph", "session_key": session, "completion_token": "COMPLETE", "completion_checks": ["notes"],
        "loop_max_iters": 8, "no_progress_limit": 0, "prompt": "count",
    })
}

/// Begins the loop `waiting`, and cancels it in its first iteration. Gives the connection that did so.
fn cancel_while_waiting(server: &Served) -> Connection {
    let mut stream = begin(server, &request("waiting"));
    while stream.event().unwrap().unwrap().0 != "iteration_started" {}
    let mut connection = server.connect().unwrap();
    connection.post("/v1/loops/waiting/cancel", "").unwrap();
    stream.events().unwrap();
    connection
}

/// Begins a loop. Gives the connection, on which its events come.
fn begin(server: &Served, request: &Value) -> Connection {
    let mut connection = server.connect().unwrap();
    let answer = connection.post("/v1/loops", &request.to_string()).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);
    connection
}

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

/// The iterations that were judged, by the log of a loop.
fn iterations(memory: &Path) -> Vec<u64> {
    let log = fs::read_to_string(memory.join("events.jsonl")).unwrap();
    log.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["event"] == "verdict")
        .map(|event| event["data"]["iteration"]["index"].as_u64().unwrap())
        .filter(|index| *index > 0)
        .collect()
}

#[test]
fn a_loop_is_told_from_its_beginning_to_its_end() {
    let place = place();
    let server = server(&place);
    let mut stream = begin(&server, &request("counted"));
    let events = stream.events().unwrap();
    let told = names(&events);
    assert_eq!(told[0], "opened");
    for (name, times) in [
        ("iteration_started", 3),
        // Once before the agent begins, and after each of its turns.
        ("check_finished", 4),
        ("final_blocked", 2),
        ("verdict", 3),
        ("stopped", 1),
    ] {
        let count = told.iter().filter(|it| **it == name).count();
        assert_eq!(count, times, "{name} in {told:?}");
    }
    let (last, data) = events.last().unwrap();
    assert_eq!(
        (last.as_str(), &data["stop_reason"]),
        ("stopped", &json!("completed"))
    );

    let mut connection = server.connect().unwrap();
    let status = connection.get("/v1/loops/counted").unwrap();
    assert_eq!(
        (status.status, status.json()["state"].clone()),
        (200, json!("stopped"))
    );
    assert_eq!(status.json()["iteration"], 3);
    let all = connection.get("/v1/loops").unwrap().json();
    assert_eq!(all["loops"][0]["key"]["session_key"], "counted");
    let again = connection
        .post("/v1/loops", &request("counted").to_string())
        .unwrap();
    assert_eq!(
        (again.status, again.json()["code"].clone()),
        (409, json!("session_exists"))
    );
    let nobody = connection.get("/v1/loops/nobody").unwrap();
    assert_eq!(
        (nobody.status, nobody.json()["code"].clone()),
        (404, json!("memory_no_session"))
    );
}

#[test]
fn a_request_that_is_wrong_begins_nothing() {
    let place = place();
    let server = server(&place);
    let mut connection = server.connect().unwrap();
    let unknown = json!({ "mode": "ralph", "completion_checks": ["nots"] });
    let answer = connection.post("/v1/loops", &unknown.to_string()).unwrap();
    assert_eq!(answer.status, 422, "{}", answer.body);
    assert!(
        answer.body.contains("there is no check `nots`"),
        "{}",
        answer.body
    );
    // Neither agent nor checks come from a request.
    for field in ["agent", "checks", "argv"] {
        let mut evil = request("evil");
        evil[field] = json!({ "argv": ["touch", "stolen"] });
        let answer = connection.post("/v1/loops", &evil.to_string()).unwrap();
        assert_eq!(answer.status, 422, "{field}: {}", answer.body);
    }
    assert!(!place.work().join("stolen").exists());
    // What no process can be handed.
    for (field, text) in [
        ("prompt", "a\0b".to_owned()),
        ("prompt", "x".repeat(100_000)),
    ] {
        let mut long = request("long");
        long[field] = json!(text);
        let answer = connection.post("/v1/loops", &long.to_string()).unwrap();
        assert_eq!(answer.status, 422, "{}", answer.body);
        assert_eq!(answer.json_code().as_deref(), Some("invalid_text"));
    }
    let broken = connection.post("/v1/loops", "{").unwrap();
    assert_eq!(broken.status, 422, "{}", broken.body);
    assert_eq!(
        connection.get("/v1/loops").unwrap().json()["loops"],
        json!([])
    );
}

#[test]
fn what_an_agent_makes_of_the_configuration_is_not_run() {
    let place = place();
    let server = server(&place);
    place.write(
        "ralph-gate.toml",
        &CONFIG.replace("agent.sh\"]", "evil.sh\"]"),
    );
    place.write("evil.sh", "touch stolen\n");
    let mut connection = server.connect().unwrap();
    let answer = connection
        .post("/v1/loops", &request("next").to_string())
        .unwrap();
    assert_eq!(answer.status, 409, "{}", answer.body);
    assert_eq!(answer.json_code().as_deref(), Some("config_changed"));
    let mut stream = begin(&server, &json!({ "prompt": "say something" }));
    let events = stream.events().unwrap();
    assert_eq!(names(&events), ["stopped"], "{events:?}");
    assert!(!place.work().join("stolen").exists());
}

#[test]
fn any_key_will_do() {
    let place = place();
    let server = server(&place);
    for key in [
        "a\0b",
        "../../etc",
        "-rf",
        "\u{202e}key",
        &"k".repeat(20_000),
    ] {
        let events = begin(&server, &request(key)).events().unwrap();
        assert_eq!(
            events.last().unwrap().1["stop_reason"],
            "completed",
            "{key:?}"
        );
    }
}

#[test]
fn a_draft_has_a_path_of_its_own() {
    let place = place();
    let server = server(&place);
    let mut draft = request("unused");
    draft.as_object_mut().unwrap().remove("session_key");
    draft["draft_id"] = json!("a draft");
    let mut connection = server.connect().unwrap();
    let begun = connection.post("/v1/loops", &draft.to_string()).unwrap();
    assert_eq!(begun.header("location"), Some("/v1/drafts/a%20draft"));
    let events = connection.events().unwrap();
    assert_eq!(events.last().unwrap().1["stop_reason"], "completed");
    let mut connection = server.connect().unwrap();
    let status = connection.get("/v1/drafts/a%20draft").unwrap();
    assert_eq!(
        (status.status, &status.json()["state"]),
        (200, &json!("stopped"))
    );
    // A session of the same name is something else.
    assert_eq!(connection.get("/v1/loops/a%20draft").unwrap().status, 404);
}

#[test]
fn a_draft_is_gone_on_with_as_itself_whatever_was_written_later() {
    let contract = r#"
[contract]
mode = "ralph"
completion_token = "COMPLETE"
completion_checks = ["notes"]
loop_max_iters = 8
no_progress_limit = 0
"#;
    let config = format!("{CONFIG}{contract}");
    let place = Place::new(&[("agent.sh", AGENT), ("ralph-gate.toml", &config)]);
    let server = server(&place);
    let mut draft = request("unused");
    draft.as_object_mut().unwrap().remove("session_key");
    draft["draft_id"] = json!("waiting draft");
    let mut stream = begin(&server, &draft);
    let mut connection = server.connect().unwrap();
    let canceled = connection
        .post("/v1/drafts/waiting%20draft/cancel", "")
        .unwrap();
    assert_eq!(canceled.json()["canceled"], true, "{}", canceled.body);
    stream.events().unwrap();
    begin(&server, &request("later")).events().unwrap();
    // Nothing but the path says which one is meant.
    fs::remove_dir_all(place.work().join(".ralph/requests")).unwrap();
    place.write("go", "");
    let path = "/v1/drafts/waiting%20draft/resume";
    let refused = connection.post(path, "{}").unwrap();
    assert_eq!(refused.json()["code"], "files_changed", "{}", refused.body);
    let resumed = connection
        .post(path, r#"{"accept_contract": true}"#)
        .unwrap();
    assert_eq!(resumed.status, 200, "{}", resumed.body);
    let events = connection.events().unwrap();
    assert_eq!(events.last().unwrap().1["stop_reason"], "completed");
    let mut connection = server.connect().unwrap();
    let draft = connection.get("/v1/drafts/waiting%20draft").unwrap().json();
    assert_eq!(draft["stop_reason"], "completed", "{draft}");
}

#[test]
fn a_request_that_somebody_edits_is_not_gone_on_with() {
    let place = place();
    let server = server(&place);
    let mut connection = cancel_while_waiting(&server);
    let folder = place.work().join(".ralph/requests");
    let file = fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let weaker = r#"{"mode": "ralph", "session_key": "waiting", "completion_checks": ["notes"]}"#;
    for (text, status) in [
        (weaker.as_bytes(), 409),
        (b"", 422),
        (b"\xff", 422),
        (b"{", 422),
    ] {
        fs::write(&file, text).unwrap();
        let answer = connection.post("/v1/loops/waiting/resume", "{}").unwrap();
        assert_eq!(
            answer.status,
            status,
            "{:?}: {}",
            String::from_utf8_lossy(text),
            answer.body
        );
    }
}

#[test]
fn two_requests_for_one_session_are_one_loop() {
    let place = place();
    let server = server(&place);
    let ask = |rounds: u32| {
        let mut request = request("waiting together");
        request["loop_max_iters"] = json!(rounds);
        let mut connection = server.connect().unwrap();
        let answer = connection.post("/v1/loops", &request.to_string()).unwrap();
        let opened = (answer.status == 200).then(|| connection.event().unwrap().unwrap().1);
        (answer.status, rounds, opened)
    };
    let answers: Vec<_> = thread::scope(|scope| {
        let asked: Vec<_> = (5..13).map(|it| scope.spawn(move || ask(it))).collect();
        asked
            .into_iter()
            .map(|asked| asked.join().unwrap())
            .collect()
    });
    let begun: Vec<_> = answers
        .iter()
        .filter(|(status, ..)| *status == 200)
        .collect();
    assert_eq!(begun.len(), 1, "{answers:?}");
    assert!(
        answers
            .iter()
            .all(|(status, ..)| [200, 409].contains(status))
    );
    // And it is the one that was asked for, not what another one wrote down.
    let (_, rounds, opened) = begun[0];
    assert_eq!(opened.as_ref().unwrap()["at_most"], json!(rounds));
    let mut connection = server.connect().unwrap();
    let canceled = connection
        .post("/v1/loops/waiting%20together/cancel", "")
        .unwrap();
    assert_eq!(canceled.json()["canceled"], true, "{}", canceled.body);
    // Its stream ends when its process has.
    connection
        .get("/v1/loops/waiting%20together/events")
        .unwrap();
    connection.events().unwrap();
}

#[test]
fn a_loop_is_canceled_and_resumed() {
    let place = place();
    let server = server(&place);
    let mut stream = begin(&server, &request("waiting"));
    while stream.event().unwrap().unwrap().0 != "iteration_started" {}
    let mut connection = server.connect().unwrap();
    let twice = connection.post("/v1/loops/waiting/resume", "{}").unwrap();
    assert_eq!(
        (twice.status, twice.json()["code"].clone()),
        (409, json!("loop_running"))
    );
    let mut second = server.connect().unwrap();
    assert_eq!(second.get("/v1/loops/waiting/events").unwrap().status, 200);
    assert_eq!(second.event().unwrap().unwrap().0, "opened");

    let canceled = connection.post("/v1/loops/waiting/cancel", "").unwrap();
    assert_eq!(canceled.status, 200, "{}", canceled.body);
    assert_eq!(canceled.json()["canceled"], true);
    assert_eq!(canceled.json()["stop_reason"], "context_canceled");
    for listener in [&mut stream, &mut second] {
        let events = listener.events().unwrap();
        assert_eq!(events.last().unwrap().1["stop_reason"], "context_canceled");
    }

    place.write("go", "");
    let resumed = connection
        .post("/v1/loops/waiting/resume", r#"{"operator": "ada"}"#)
        .unwrap();
    assert_eq!(resumed.status, 200, "{}", resumed.body);
    let events = connection.events().unwrap();
    assert_eq!(
        events.last().unwrap().1["stop_reason"],
        "completed",
        "{events:?}"
    );
}

#[test]
fn an_operator_completes_a_loop() {
    let place = place();
    let server = server(&place);
    let mut stream = begin(&server, &request("waiting for ever"));
    while stream.event().unwrap().unwrap().0 != "iteration_started" {}
    let mut connection = server.connect().unwrap();
    let path = "/v1/loops/waiting%20for%20ever/override";
    let incomplete = connection.post(path, r#"{"operator": "ada"}"#).unwrap();
    assert_eq!(incomplete.status, 422, "{}", incomplete.body);
    let long = json!({ "operator": "ada", "reason": "x".repeat(1 << 20) }).to_string();
    for order in ["override", "resume", "cancel"] {
        let path = format!("/v1/loops/waiting%20for%20ever/{order}");
        let refused = connection.post(&path, &long).unwrap();
        assert_eq!(refused.status, 413, "{order}: {}", refused.body);
    }
    let note = r#"{"operator": "ada", "reason": "good enough"}"#;
    let answer = connection.post(path, note).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json()["overridden"], true);
    let events = stream.events().unwrap();
    assert_eq!(events.last().unwrap().1["stop_reason"], "completed");
}

#[test]
fn standard_mode_is_the_agent_itself() {
    let place = place();
    let server = server(&place);
    let mut stream = begin(&server, &json!({ "prompt": "say something" }));
    let events = stream.events().unwrap();
    let told = names(&events);
    assert_eq!(told.last(), Some(&"stopped"));
    assert!(
        told.iter().rev().skip(1).all(|name| *name == "output"),
        "{told:?}"
    );
    let text: String = events
        .iter()
        .filter_map(|(_, data)| data["text"].as_str())
        .collect();
    assert!(text.starts_with("iteration "), "{text}");
    for (name, data) in &events {
        assert_eq!(&data["event"], name, "one name for one event");
    }
    assert!(
        !place.work().join(".ralph").exists(),
        "nothing is remembered"
    );
}

#[test]
fn a_server_that_is_killed_takes_its_loops_along_and_none_is_lost() {
    // Agents that look for the sign often would be all that so many processes do.
    let (count, pause) = if is_full() { (500, "5") } else { (6, "0.05") };
    let agent = AGENT.replace("0.05", pause);
    let place = Place::new(&[("agent.sh", &agent), ("ralph-gate.toml", CONFIG)]);
    let mut first = server(&place);
    let sessions: Vec<String> = (0..count).map(|it| format!("waiting {it}")).collect();
    let begun = Instant::now();
    let mut streams: Vec<Connection> = sessions
        .iter()
        .map(|it| begin(&first, &request(it)))
        .collect();
    for stream in &mut streams {
        while stream.event().unwrap().unwrap().0 != "iteration_started" {}
    }
    println!(
        "{count} loops began in {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    first.process.kill().unwrap();
    first.process.wait().unwrap();
    let begun = Instant::now();
    let second = server(&place);
    let resume = |session: &String| {
        let mut connection = second.connect().unwrap();
        let path = format!("/v1/loops/{}/resume", session.replace(' ', "%20"));
        // The loop that was running ends with its server, which takes a moment.
        let answer = loop {
            let answer = connection.post(&path, "{}").unwrap();
            if answer.json_code() != Some("memory_busy".to_owned()) {
                break answer;
            }
            thread::sleep(Duration::from_millis(100));
        };
        assert_eq!(answer.status, 200, "{}", answer.body);
        connection
    };
    let streams: Vec<Connection> = sessions.iter().map(resume).collect();
    // Only now: a loop that has not noticed yet that its server is gone would go on as well.
    place.write("go", "");
    for mut stream in streams {
        let events = stream.events().unwrap();
        let (name, data) = events.last().unwrap();
        assert_eq!(
            (name.as_str(), &data["stop_reason"]),
            ("stopped", &json!("completed"))
        );
        let memory = data["memory"].as_str().unwrap();
        assert_eq!(iterations(Path::new(memory)), [1, 2, 3], "each one once");
    }
    println!(
        "{count} loops were resumed and completed in {:.1} s",
        begun.elapsed().as_secs_f64()
    );
}

#[test]
fn a_server_that_is_told_to_end_leaves_its_loops_resumable() {
    let place = place();
    let mut first = server(&place);
    let mut stream = begin(&first, &request("waiting"));
    while stream.event().unwrap().unwrap().0 != "iteration_started" {}
    assert!(first.end().unwrap().success());
    let events = stream.events().unwrap();
    assert_eq!(events.last().unwrap().1["stop_reason"], "context_canceled");
    place.write("go", "");
    let second = server(&place);
    let mut connection = second.connect().unwrap();
    assert_eq!(
        connection
            .post("/v1/loops/waiting/resume", "{}")
            .unwrap()
            .status,
        200
    );
    let events = connection.events().unwrap();
    assert_eq!(events.last().unwrap().1["stop_reason"], "completed");
}

#[test]
fn the_events_of_a_loop_that_has_ended_can_still_be_read() {
    let place = place();
    let server = server(&place);
    let mut stream = begin(&server, &request("over"));
    let heard = stream.events().unwrap();
    assert_eq!(heard.last().unwrap().0, "stopped");
    let mut connection = server.connect().unwrap();
    assert_eq!(connection.get("/v1/loops/over/events").unwrap().status, 200);
    let again = connection.events().unwrap();
    assert_eq!(again, heard);
    for (name, data) in &again {
        assert_eq!(&data["event"], name, "one name for one event");
    }
}

#[test]
fn a_request_that_is_refused_takes_no_events_of_a_loop_that_has_ended() {
    let place = place();
    let server = server(&place);
    let heard = begin(&server, &request("over")).events().unwrap();
    let mut connection = server.connect().unwrap();
    for (path, body, code) in [
        ("/v1/loops", request("over"), "session_exists"),
        ("/v1/loops/over/resume", json!({}), "loop_completed"),
    ] {
        let refused = connection.post(path, &body.to_string()).unwrap();
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert_eq!(refused.json_code().as_deref(), Some(code));
        let mut again = server.connect().unwrap();
        assert_eq!(again.get("/v1/loops/over/events").unwrap().status, 200);
        assert_eq!(again.events().unwrap(), heard, "{path}");
    }
}

#[test]
fn the_events_of_a_loop_that_is_resumed_go_on_with_the_same_numbers() {
    let place = place();
    let server = server(&place);
    let mut connection = cancel_while_waiting(&server);
    let from = |last: &str| {
        let mut connection = server.connect().unwrap();
        let headers = [("last-event-id", last)];
        let path = "/v1/loops/waiting/events";
        let answer = connection.send("GET", path, &headers, b"").unwrap();
        assert_eq!(answer.status, 200);
        connection.events().unwrap()
    };
    let first = from("0");
    place.write("go", "");
    let resumed = connection.post("/v1/loops/waiting/resume", "{}").unwrap();
    assert_eq!(resumed.status, 200, "{}", resumed.body);
    let second = connection.events().unwrap();
    // A client that was cut off before the loop was canceled misses nothing of either run.
    let last = first.len() - 1;
    let expected = [&first[last..], second.as_slice()].concat();
    assert_eq!(from(&last.to_string()), expected);
    assert_eq!(from("100000"), second, "there is no such event yet");
}

#[test]
fn the_events_of_a_loop_are_gone_with_the_server_and_its_log_is_not() {
    let place = place();
    let mut first = server(&place);
    begin(&first, &request("over")).events().unwrap();
    assert!(first.end().unwrap().success());
    let second = server(&place);
    let mut connection = second.connect().unwrap();
    let answer = connection.get("/v1/loops/over/events").unwrap();
    assert_eq!(answer.status, 404);
    assert!(answer.body.contains("ralph-gate logs"), "{}", answer.body);
    assert_eq!(connection.get("/v1/loops/over").unwrap().status, 200);
}

#[test]
fn a_request_without_a_mode_is_routed_as_the_start_of_a_loop() {
    let place = place();
    let server = server(&place);
    let mut unsaid = request("unsaid");
    unsaid.as_object_mut().unwrap().remove("mode");
    let events = begin(&server, &unsaid).events().unwrap();
    let (name, opened) = &events[0];
    assert_eq!(name, "opened");
    assert_eq!(
        (&opened["mode"], &opened["reason"]),
        (&json!("ralph"), &json!("requested"))
    );
    assert_eq!(events.last().unwrap().1["stop_reason"], "completed");
}
