//! Sessions that the server keeps for harnesses that run their loops themselves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::logs::Scratch;
use ralph_gate_tests::web::{Answer, Connection, Served};
use serde_json::{Value, json};

/// A server, and the folder that its sessions are in.
struct Kept {
    server: Served,
    folder: Scratch,
}

impl Kept {
    fn start() -> Self {
        let folder = Scratch::new();
        let server = serve(&folder);
        Self { server, folder }
    }

    fn connect(&self) -> Harness {
        Harness(self.server.connect().unwrap())
    }
}

fn serve(folder: &Scratch) -> Served {
    let store = folder.path().join("sessions");
    let arguments = ["--no-access-log", "--store", store.to_str().unwrap()];
    Served::start(Command::new(binary()), &arguments).unwrap()
}

/// A harness that runs its loop itself.
struct Harness(Connection);

impl Harness {
    fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let mut all = vec![("content-type", "application/json")];
        all.extend_from_slice(headers);
        let path = format!("/v1/sessions/{path}");
        let body = body.to_string();
        self.0.send(method, &path, &all, body.as_bytes()).unwrap()
    }

    fn begin(&mut self, session: &str) -> Answer {
        self.send("PUT", session, &[], &beginning())
    }

    fn get(&mut self, path: &str) -> Answer {
        self.0.get(&format!("/v1/sessions/{path}")).unwrap()
    }

    fn evaluate(&mut self, session: &str, tag: &str, iteration: &Value) -> Answer {
        let path = format!("{session}/evaluate-final");
        let body = json!({ "iteration": iteration });
        self.send("POST", &path, &[("if-match", tag)], &body)
    }
}

fn beginning() -> Value {
    json!({ "request": {
        "mode": "ralph", "completion_token": "COMPLETE", "completion_checks": ["tests"], "loop_max_iters": 1000,
        "no_progress_limit": 0, "max_consecutive_failures": 1000,
    } })
}

fn iteration(index: u64, outcome: &str) -> Value {
    json!({
        "index": index, "action": "final", "output": format!("{index}\n<promise>COMPLETE</promise>"),
        "checks": [{ "id": "tests", "outcome": outcome, "iteration": index, "reason": "2 of 3 pass" }],
    })
}

fn tag(answer: &Answer) -> String {
    answer.header("etag").unwrap().to_owned()
}

#[test]
fn a_loop_is_judged_by_the_state_that_the_server_keeps() {
    let kept = Kept::start();
    let mut harness = kept.connect();
    let begun = harness.begin("night%20run");
    assert_eq!(
        (begun.status, tag(&begun).as_str()),
        (201, "\"1\""),
        "{}",
        begun.body
    );
    assert_eq!(begun.json()["key"], json!({ "session_key": "night run" }));
    let refused = harness.evaluate("night%20run", "\"1\"", &iteration(1, "fail"));
    assert_eq!(refused.status, 200, "{}", refused.body);
    assert_eq!(refused.json()["decision"], "continue");
    let done = harness.evaluate("night%20run", &tag(&refused), &iteration(2, "pass"));
    assert_eq!(done.json()["stop_reason"], "completed", "{}", done.body);

    let state = harness.get("night%20run");
    assert_eq!((state.status, tag(&state)), (200, tag(&done)));
    assert_eq!(state.json()["iteration"], 2);
    assert_eq!(state.json()["snapshot"], done.json()["snapshot"]);
    let known = [("if-none-match", &*tag(&done))];
    let same = harness.send("GET", "night%20run", &known, &Value::Null);
    assert_eq!((same.status, same.body.as_str()), (304, ""));

    // What happened is a log like any other.
    let log = harness.get("night%20run/events");
    assert_eq!(log.header("content-type"), Some("application/x-ndjson"));
    let file = kept.folder.path().join("events.jsonl");
    fs::write(&file, &log.body).unwrap();
    let replayed = Command::new(binary())
        .args(["replay", "--json"])
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8(replayed.stdout).unwrap();
    assert!(replayed.status.success(), "{said}");
    assert!(said.contains("\"equal\":2"), "{said}");
}

#[test]
fn a_verdict_is_the_gates_own_byte_for_byte() {
    let kept = Kept::start();
    let mut harness = kept.connect();
    let contract = harness.begin("bytes").json()["contract"].clone();
    let kept = harness.evaluate("bytes", "*", &iteration(1, "fail"));
    let question = json!({ "contract": contract, "iteration": iteration(1, "fail") });
    let asked = harness.0.post("/v1/evaluate-final", &question.to_string());
    assert_eq!(kept.body, asked.unwrap().body);
}

#[test]
fn who_has_not_seen_the_newest_state_changes_nothing() {
    let kept = Kept::start();
    let (mut one, mut other) = (kept.connect(), kept.connect());
    let begun = tag(&one.begin("shared"));
    let without = one.send(
        "POST",
        "shared/evaluate-final",
        &[],
        &json!({ "iteration": iteration(1, "fail") }),
    );
    assert_eq!(
        (without.status, without.json_code().as_deref()),
        (428, Some("precondition_required"))
    );
    let first = one.evaluate("shared", &begun, &iteration(1, "fail"));
    assert_eq!(first.status, 200);
    let late = other.evaluate("shared", &begun, &iteration(1, "pass"));
    assert_eq!(
        (late.status, late.json_code().as_deref()),
        (412, Some("memory_conflict")),
        "{}",
        late.body
    );
    assert_eq!(tag(&late), tag(&first));
    assert_eq!(tag(&other.get("shared")), tag(&first));
}

#[test]
fn what_is_wrong_is_said_and_changes_nothing() {
    let kept = Kept::start();
    let mut harness = kept.connect();
    let begun = tag(&harness.begin("kept"));
    for (method, path, body, expected) in [
        ("PUT", "kept", beginning(), (409, "memory_session_exists")),
        ("GET", "other", Value::Null, (404, "memory_no_session")),
        (
            "GET",
            "other/events",
            Value::Null,
            (404, "memory_no_session"),
        ),
        (
            "PUT",
            "new",
            json!({ "request": { "mode": "standard" } }),
            (422, "invalid_input"),
        ),
        (
            "PUT",
            "new",
            json!({ "request": { "loop_max_iters": -1, "mode": "ralph" } }),
            (422, "invalid_contract"),
        ),
        (
            "PUT",
            "new",
            json!({ "request": beginning()["request"], "prd": "no checklist" }),
            (422, "invalid_file"),
        ),
        (
            "PUT",
            "new",
            json!({ "request": beginning()["request"], "prompt": "x".repeat(1 << 20) }),
            (413, "body_too_large"),
        ),
        (
            "PUT",
            "new",
            json!({ "request": {}, "surprise": 1 }),
            (422, "invalid_json"),
        ),
        ("PATCH", "kept", Value::Null, (405, "method_not_allowed")),
        (
            "POST",
            "kept/evaluate-final",
            json!({ "iteration": { "index": 7, "action": "final" } }),
            (409, "iteration_out_of_order"),
        ),
        (
            "POST",
            "kept/evaluate-final",
            json!({ "iteration": { "index": "1" } }),
            (422, "invalid_json"),
        ),
        (
            "POST",
            "other/evaluate-final",
            json!({ "iteration": iteration(1, "pass") }),
            (404, "memory_no_session"),
        ),
        (
            "POST",
            "other/resume",
            json!({ "operator": "ada", "reason": "why not" }),
            (404, "memory_no_session"),
        ),
        (
            "POST",
            "kept/resume",
            json!({ "operator": "ada", "reason": "x".repeat(1 << 20) }),
            (413, "body_too_large"),
        ),
    ] {
        let headers: &[_] = if method == "POST" {
            &[("if-match", "*")]
        } else {
            &[]
        };
        let answer = harness.send(method, path, headers, &body);
        let code = answer.json_code();
        assert_eq!(
            (answer.status, code.as_deref().unwrap_or_default()),
            expected,
            "{method} {path}: {}",
            answer.body
        );
    }
    let twice = harness.send("PUT", "kept", &[("if-none-match", "*")], &beginning());
    assert_eq!(twice.status, 412, "{}", twice.body);
    assert_eq!(tag(&harness.get("kept")), begun);
    assert_eq!(harness.get("new").status, 404);
}

#[test]
fn a_loop_that_stopped_goes_on_when_an_operator_says_so() {
    let kept = Kept::start();
    let mut harness = kept.connect();
    let mut start = beginning();
    start["request"]["loop_max_iters"] = json!(1);
    harness.send("PUT", "stopped", &[], &start);
    let stopped = harness.evaluate("stopped", "*", &iteration(1, "fail"));
    assert_eq!(
        stopped.json()["stop_reason"],
        "max_iters",
        "{}",
        stopped.body
    );
    let again = harness.evaluate("stopped", "*", &iteration(2, "pass"));
    assert_eq!(
        (again.status, again.json_code().as_deref()),
        (409, Some("loop_stopped"))
    );
    let body = json!({ "operator": "ada", "reason": "one more" });
    let resumed = harness.send(
        "POST",
        "stopped/resume",
        &[("if-match", &tag(&stopped))],
        &body,
    );
    assert_eq!(resumed.status, 200, "{}", resumed.body);
    let done = harness.evaluate("stopped", &tag(&resumed), &iteration(2, "pass"));
    assert_eq!(done.json()["stop_reason"], "completed", "{}", done.body);
    let resumed = harness.send("POST", "stopped/resume", &[("if-match", "*")], &body);
    assert_eq!(
        (resumed.status, resumed.json_code().as_deref()),
        (409, Some("loop_completed"))
    );
}

#[test]
fn of_many_writers_none_is_lost() {
    const WRITERS: usize = 8;
    const WRITES: u64 = 15;
    let folder = Scratch::new();
    // Two processes, one folder.
    let servers = [serve(&folder), serve(&folder)];
    let begun = Harness(servers[0].connect().unwrap()).begin("crowded");
    assert_eq!(begun.status, 201);
    let refused: usize = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let server = &servers[writer % servers.len()];
                scope.spawn(move || write(&mut Harness(server.connect().unwrap()), WRITES))
            })
            .collect();
        writers.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert!(refused > 0, "they never met");
    let state = Harness(servers[1].connect().unwrap()).get("crowded").json();
    let written = u64::try_from(WRITERS).unwrap() * WRITES;
    assert_eq!(state["iteration"], written);
    assert_eq!(state["revision"], written + 1);
}

/// Writes so often, each time from the newest state. Gives how often somebody else was first.
fn write(harness: &mut Harness, times: u64) -> usize {
    let (mut refused, mut written) = (0, 0);
    while written < times {
        let state = harness.get("crowded");
        let next = state.json()["iteration"].as_u64().unwrap() + 1;
        let answer = harness.evaluate("crowded", &tag(&state), &iteration(next, "fail"));
        match answer.status {
            200 => written += 1,
            412 => refused += 1,
            status => panic!("{status}: {}", answer.body),
        }
    }
    refused
}

#[test]
fn sessions_are_kept_apart_from_loops() {
    let folder = Scratch::new();
    let config = "[agent]\nargv = [\"true\"]\n[checks.notes]\nkind = \"file\"\npath = \"notes\"\n";
    fs::write(folder.path().join("ralph-gate.toml"), config).unwrap();
    let refused = |store: &str| {
        let output = Command::new(binary())
            .current_dir(folder.path())
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--config",
                "ralph-gate.toml",
                "--store",
                store,
            ])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    for store in [".ralph", "./.ralph/../.ralph", "sub/../.ralph"] {
        fs::create_dir_all(folder.path().join(".ralph")).unwrap();
        fs::create_dir_all(folder.path().join("sub")).unwrap();
        let said = refused(store);
        assert!(said.contains("keep sessions in another folder"), "{said}");
    }
    let none = Served::start(Command::new(binary()), &[]).unwrap();
    let answer = Harness(none.connect().unwrap()).get("any");
    assert_eq!(
        (answer.status, answer.json_code().as_deref()),
        (404, Some("no_sessions"))
    );
    assert!(answer.body.contains("--store"), "{}", answer.body);
}

#[test]
fn sessions_are_listed_and_removed_in_the_state_that_was_seen() {
    let kept = Kept::start();
    let mut harness = kept.connect();
    let list =
        |harness: &mut Harness| harness.0.get("/v1/sessions").unwrap().json()["sessions"].clone();
    assert_eq!(list(&mut harness), json!([]));
    let tag = harness.begin("one").header("etag").unwrap().to_owned();
    harness.begin("two");
    let listed = list(&mut harness);
    let mut keys: Vec<String> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["key"].to_string())
        .collect();
    keys.sort();
    assert_eq!(keys.len(), 2, "{listed:#}");
    assert!(
        keys[0].contains("one") && keys[1].contains("two"),
        "{keys:?}"
    );

    let remove = |harness: &mut Harness, headers: &[(&str, &str)]| {
        let answer = harness
            .0
            .send("DELETE", "/v1/sessions/one", headers, b"")
            .unwrap();
        answer.status
    };
    assert_eq!(remove(&mut harness, &[]), 428);
    harness.evaluate("one", &tag, &iteration(1, "fail"));
    assert_eq!(remove(&mut harness, &[("if-match", &tag)]), 412);
    assert_eq!(remove(&mut harness, &[("if-match", "*")]), 200);
    assert_eq!(harness.get("one").status, 404);
    assert_eq!(list(&mut harness).as_array().unwrap().len(), 1);
    assert_eq!(remove(&mut harness, &[("if-match", "*")]), 404);
    // Its key is free again.
    assert_eq!(harness.begin("one").status, 201);
}

#[test]
fn a_session_that_cannot_be_read_is_removed_whatever_its_version_was() {
    let kept = Kept::start();
    let mut harness = kept.connect();
    let tag = tag(&harness.begin("torn"));
    let store = kept.folder.path().join("sessions");
    let sessions = fs::read_dir(&store).unwrap();
    for session in sessions.map(|session| session.unwrap().path()) {
        for file in files_below(&session) {
            fs::write(file, "torn").unwrap();
        }
    }
    let listed = harness.0.get("/v1/sessions").unwrap().json();
    assert!(listed["sessions"][0]["problem"].is_string(), "{listed}");
    let mut remove = |tag: &str| {
        let headers = [("if-match", tag)];
        let path = "/v1/sessions/torn";
        harness.0.send("DELETE", path, &headers, b"").unwrap()
    };
    let named = remove(&tag);
    assert_ne!(named.status, 200, "{}", named.body);
    let any = remove("*");
    assert_eq!(any.status, 200, "{}", any.body);
    assert_eq!(harness.begin("torn").status, 201);
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let (folders, mut files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| files_below(folder)));
    files
}
