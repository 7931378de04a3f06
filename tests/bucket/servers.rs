//! Two servers of ours on one bucket, and clients of both that write to the same sessions.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::random::Random;
use ralph_gate_tests::web::{Answer, Connection, Served};
use serde_json::{Value, json};

use crate::server::Server;
use crate::{BUCKET, SESSIONS};

const SERVERS: usize = 2;
const CLIENTS: usize = 64;
const JSON: (&str, &str) = ("content-type", "application/json");

/// What a client was told.
#[derive(Debug, Default)]
struct Told {
    saved: u64,
    refused: u64,
}

/// So many writes by all clients together: each is there, or its client was told that somebody else was first.
pub(crate) fn race(storage: &Server, writes: usize) -> Result<()> {
    let binary = binary();
    let store = format!("s3://{BUCKET}/servers");
    let start = |_| {
        let mut command = Command::new(binary);
        command
            .envs(storage.environment())
            .env("NO_PROXY", "127.0.0.1");
        Served::start(command, &["--no-access-log", "--store", &store])
    };
    let servers = (0..SERVERS).map(start).collect::<Result<Vec<Served>>>()?;
    begin(&servers)?;
    let begun = Instant::now();
    let next = AtomicUsize::new(0);
    let told = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let server = &servers[client % SERVERS];
                let next = &next;
                scope.spawn(move || write(client, server, next, writes))
            })
            .collect();
        let mut told = Told::default();
        for client in clients {
            let one = client.join().expect("no client panics")?;
            told.saved += one.saved;
            told.refused += one.refused;
        }
        anyhow::Ok(told)
    })?;
    let took = begun.elapsed();
    let mut revisions = 0;
    for session in 0..SESSIONS {
        revisions += compare(&servers[session % SERVERS], session)?;
    }
    println!(
        "{SERVERS} servers: {} writes by {CLIENTS} clients on {SESSIONS} sessions in {:.1} s: {revisions} revisions gained, \
         {} times 412, nothing else",
        told.saved,
        took.as_secs_f64(),
        told.refused,
    );
    ensure!(told.saved == writes as u64 && revisions == told.saved);
    Ok(())
}

fn path(session: usize) -> String {
    format!("/v1/sessions/{session}")
}

/// Every client begins every session: of each, one is first.
fn begin(servers: &[Served]) -> Result<()> {
    let beginning = json!({ "request": {
        "mode": "ralph", "completion_token": "COMPLETE", "completion_checks": ["tests"], "loop_max_iters": 10_000,
        "no_progress_limit": 0, "max_consecutive_failures": 10_000,
    } });
    for session in 0..SESSIONS {
        let mut statuses = Vec::new();
        for server in servers {
            let mut connection = server.connect()?;
            let body = beginning.to_string();
            let answer = connection.send("PUT", &path(session), &[JSON], body.as_bytes())?;
            statuses.push(answer.status);
        }
        ensure!(statuses == [201, 409], "{statuses:?}");
    }
    Ok(())
}

fn write(client: usize, server: &Served, next: &AtomicUsize, writes: usize) -> Result<Told> {
    let mut connection = server.connect()?;
    let mut told = Told::default();
    // The version of each session that this client has seen last.
    let mut seen = [1; SESSIONS];
    let mut pauses = Random::new(client as u64);
    loop {
        let number = next.fetch_add(1, Ordering::SeqCst);
        if number >= writes {
            return Ok(told);
        }
        let session = number % SESSIONS;
        let seen = &mut seen[session];
        loop {
            let answer = try_to_write(&mut connection, session, *seen)?;
            *seen = version(&answer).unwrap_or(*seen);
            match answer.status {
                200 => break,
                412 => told.refused += 1,
                status => bail!("{status}: {}", answer.body),
            }
            // The storage answers one after the other: who comes too late lets others try.
            thread::sleep(Duration::from_millis(pauses.below(100).into()));
        }
        told.saved += 1;
    }
}

/// The version that an answer says the session has; none where somebody was first at the last moment.
fn version(answer: &Answer) -> Option<u64> {
    answer.header("etag")?.trim_matches('"').parse().ok()
}

/// One iteration more than the version has. The first one has none, and each iteration makes one.
fn try_to_write(connection: &mut Connection, session: usize, seen: u64) -> Result<Answer> {
    let body = json!({ "iteration": {
        "index": seen, "action": "final", "output": "<promise>COMPLETE</promise>",
        "checks": [{ "id": "tests", "outcome": "fail", "iteration": seen, "reason": "1 failed" }],
    } });
    let tag = format!("\"{seen}\"");
    let headers = [JSON, ("if-match", tag.as_str())];
    let path = format!("{}/evaluate-final", path(session));
    connection.send("POST", &path, &headers, body.to_string().as_bytes())
}

/// The session's log has each iteration once, and no other. Gives how many there are.
fn compare(server: &Served, session: usize) -> Result<u64> {
    let mut connection = server.connect()?;
    let state = connection.get(&path(session))?.json();
    let log = connection.get(&format!("{}/events", path(session)))?.body;
    let mut judged = 0;
    for line in log.lines() {
        let event: Value = serde_json::from_str(line)?;
        if event["event"] == "verdict" {
            judged += 1;
            ensure!(event["data"]["iteration"]["index"] == judged, "{judged}");
        }
    }
    ensure!(state["iteration"] == judged && state["revision"] == judged + 1);
    Ok(judged)
}
