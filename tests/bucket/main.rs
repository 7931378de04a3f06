//! Sessions in a bucket of a real server: two processes of 32 threads each, on 8 sessions, without a lock; and two servers of
//! ours with 32 clients each.
//!
//! `cargo xtask test` installs the server first. `RALPH_GATE_BUCKET=full` writes 20,000 times instead of 500; the argument
//! `servers` leaves out everything but our servers. Prints what it counted, which the usual harness would keep.

#[path = "../../host/bucket/tests/storage/gate.rs"]
mod gate;
mod server;
mod servers;
mod writer;

use std::env;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{Error, ObjectStore, PutMode, PutOptions, PutPayload, UpdateVersion};
use ralph_gate_bucket::{BucketRoot, Options};
use ralph_gate_memory::{SessionKey, Standing, Start};

use gate::Native;
use server::Server;
use writer::{Told, Writers};

/// The one gate.
static GATE: Native = Native;

const SESSIONS: usize = 8;
const PROCESSES: usize = 2;
const BUCKET: &str = "loops";
const PREFIX: &str = "crowd";
/// Of how many conditional creations at the same time one must win.
const CREATIONS: usize = 64;
const ROUNDS: usize = 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["writer", process, writes] => writer::run(process, writes),
        ["servers"] => race(),
        _ => test(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bucket: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn writes() -> usize {
    let full = env::var("RALPH_GATE_BUCKET").is_ok_and(|extent| extent == "full");
    if full { 20_000 } else { 500 }
}

fn race() -> Result<()> {
    servers::race(&Server::start(0)?, writes())
}

fn test() -> Result<()> {
    let writes = writes();
    let server = Server::start(0)?;
    is_honest(&server)?;
    crowd("an honest server", &server, writes)?;
    servers::race(&server, writes)?;
    drop(server);
    // A fifth of it: every lie costs the client a pause.
    crowd("a server that lies", &Server::start(5)?, writes / 5)
}

/// The server as this process sees it. Those of the writers find it in their environment.
fn storage(server: &Server) -> Result<Arc<dyn ObjectStore>> {
    // Whoever builds a client alone chooses its TLS, also where there is none.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let store = AmazonS3Builder::new()
        .with_bucket_name(BUCKET)
        .with_endpoint(server.endpoint())
        .with_allow_http(true)
        .with_region("us-east-1")
        .with_access_key_id("test")
        .with_secret_access_key("test")
        .build()?;
    Ok(Arc::new(store))
}

/// The server keeps to conditions, or nothing else here would show anything.
fn is_honest(server: &Server) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let store = storage(server)?;
    for round in 0..ROUNDS {
        let path = Path::from(format!("honest/{round}"));
        // Versions are digests here: what is written twice has the same one.
        let created = runtime.block_on(contest(&store, &path, "created", &PutMode::Create))?;
        let stale = PutMode::Update(created);
        runtime.block_on(contest(&store, &path, "updated", &stale))?;
        let late = runtime.block_on(put(&store, &path, "late".to_owned(), &stale));
        ensure!(matches!(late, Err(Error::Precondition { .. })), "{late:?}");
    }
    let contests = 2 * ROUNDS;
    println!("the server keeps to conditions: one of {CREATIONS} won in each of {contests} rounds");
    Ok(())
}

/// Many writes at the same time on the same condition. Gives the version of the one that won.
async fn contest(
    store: &Arc<dyn ObjectStore>,
    path: &Path,
    what: &str,
    mode: &PutMode,
) -> Result<UpdateVersion> {
    let texts = (0..CREATIONS).map(|writer| format!("{what} by {writer}"));
    let writes = texts.map(|text| put(store, path, text, mode));
    let mut winners = Vec::new();
    for done in futures_util::future::join_all(writes).await {
        match done {
            Ok(version) => winners.push(version),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let count = winners.len();
    ensure!(count == 1, "{count} of {CREATIONS} won, and not one");
    winners.pop().context("no winner")
}

async fn put(
    store: &Arc<dyn ObjectStore>,
    path: &Path,
    text: String,
    mode: &PutMode,
) -> object_store::Result<UpdateVersion> {
    let payload = PutPayload::from(text.into_bytes());
    let options = PutOptions::from(mode.clone());
    store
        .put_opts(path, payload, options)
        .await
        .map(UpdateVersion::from)
}

/// What all writers of all processes did to the sessions, and what the sessions hold.
fn crowd(name: &str, server: &Server, writes: usize) -> Result<()> {
    let root = BucketRoot::of_storage(storage(server)?, Path::from(PREFIX), &Options::default())?;
    for session in 0..SESSIONS {
        root.open_or_create(&GATE, &key(session), &start())?;
    }
    let begun = Instant::now();
    let started = (0..PROCESSES)
        .map(|process| Writers::start(server, process, writes / PROCESSES))
        .collect::<Result<Vec<Writers>>>()?;
    let mut told = Told::default();
    for process in started {
        told.add(process.wait()?);
    }
    let took = begun.elapsed();
    let (mut gained, mut findings) = (0, 0);
    for session in 0..SESSIONS {
        let saved = told.saved.remove(&session).unwrap_or_default();
        gained += compare(&root, session, saved).with_context(|| format!("session {session}"))?;
        findings += root.open(&GATE, &key(session))?.findings().len();
    }
    println!(
        "{name}: {writes} saves by {PROCESSES} processes of {} threads on {SESSIONS} sessions in {:.1} s: \
         {gained} revisions gained, {} conflicts, {} other errors, {findings} findings",
        writer::THREADS,
        took.as_secs_f64(),
        told.conflicts,
        told.errors.len(),
    );
    ensure!(told.errors.is_empty(), "{:?}", told.errors);
    ensure!(gained == writes as u64 && findings == 0);
    Ok(())
}

/// A session holds exactly what writers were told that it does. Gives how many revisions that are.
fn compare(root: &BucketRoot, session: usize, mut saved: Vec<String>) -> Result<u64> {
    let verified = root.view(&key(session))?.verify(&GATE)?;
    ensure!(verified.standing() == Standing::Right, "{verified:?}");
    let store = root.open(&GATE, &key(session))?;
    let events = store.events()?;
    let mut held: Vec<String> = events
        .iter()
        .skip(1)
        .map(|record| record.event.clone())
        .collect();
    let revisions = store.state().revision - 1;
    ensure!(held.len() as u64 == revisions, "one event a revision");
    held.sort();
    saved.sort();
    if held != saved {
        let lost = saved
            .iter()
            .filter(|name| held.binary_search(name).is_err());
        let made_up = held
            .iter()
            .filter(|name| saved.binary_search(name).is_err());
        bail!(
            "{} saves are lost, {} are nobody's",
            lost.count(),
            made_up.count()
        );
    }
    Ok(revisions)
}

fn key(session: usize) -> SessionKey {
    SessionKey::Session(format!("session {session}"))
}

fn start() -> Start {
    Start {
        contract: r#"{"mode": "ralph", "completion_checks": ["tests"]}"#.into(),
        events: vec![writer::event("begun")],
        ..Start::default()
    }
}
