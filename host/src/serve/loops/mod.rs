//! Loops: begun by a request, run by processes of their own, told as streams of events.
//!
//! The agent and the checks come from the server's configuration. A request says what is to hold, and whose loop it is. A
//! loop belongs to the server and not to the connection that began it: whoever is cut off asks for its events again.

mod feed;
mod path;
mod process;
mod tell;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hyper::{Method, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::asked::Asked;
use super::problem::{Problem, check_text};
use super::reply::{Reply, events, json as as_json};
use crate::config::{Config, ConfigError, Request};
use crate::engine::{Mode, OperatorNote};
use crate::evidence::now_ms;
use crate::memory::{SessionKey, list, make_folder, save_text};
use crate::runner::{Ask, Outside, RunError};
use feed::Feed;
pub(super) use path::Path;
use process::{Begun, Start};

/// The longest prompt, in bytes: it is handed to the loop's process as an argument.
const LONGEST_PROMPT: usize = 64 << 10;
/// The longest name or reason of an operator, in bytes.
const LONGEST_NOTE: usize = 1000;
/// How many loops that have ended are kept for whoever asks for their events, and how many bytes of events.
const MAX_ENDED: usize = 256;
const MAX_ENDED_BYTES: usize = 64 << 20;
/// How many sessions are listed.
const LISTED: usize = 10_000;

/// The loops of a server.
#[derive(Debug)]
pub(super) struct Loops {
    config: Config,
    /// Where the sessions are.
    pub(super) root: PathBuf,
    running: Mutex<BTreeMap<SessionKey, Arc<Feed>>>,
    /// The events of loops that have ended, the newest last.
    ended: Mutex<VecDeque<(SessionKey, Arc<Feed>)>>,
    begun: AtomicU64,
}

impl Loops {
    pub(super) fn new(config: Config) -> Self {
        Self {
            root: config.workspace.join(config.memory.root()),
            config,
            running: Mutex::default(),
            ended: Mutex::default(),
            begun: AtomicU64::new(0),
        }
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<SessionKey, Arc<Feed>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A loop that is under way here.
    fn feed(&self, key: &SessionKey) -> Option<Arc<Feed>> {
        self.running().get(key).cloned()
    }

    /// The events of a loop that is under way here, or that has ended and whose events are still kept.
    fn told(&self, key: &SessionKey) -> Option<Arc<Feed>> {
        self.feed(key).or_else(|| self.ended(key))
    }

    /// The events of a loop that has ended.
    fn ended(&self, key: &SessionKey) -> Option<Arc<Feed>> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let found = ended.iter().rev().find(|(it, _)| it == key);
        found.map(|(_, feed)| Arc::clone(feed))
    }

    /// Keeps the events of a loop that has ended, and forgets the oldest ones beyond the limits.
    fn keep_ended(&self, key: &SessionKey, feed: &Arc<Feed>) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|(it, _)| it != key);
        ended.push_back((key.clone(), Arc::clone(feed)));
        let mut bytes: usize = ended.iter().map(|(_, feed)| feed.size()).sum();
        while ended.len() > MAX_ENDED || bytes > MAX_ENDED_BYTES && ended.len() > 1 {
            let Some((_, oldest)) = ended.pop_front() else {
                return;
            };
            bytes = bytes.saturating_sub(oldest.size());
        }
    }

    /// Takes a seat for a loop, or says why there is none.
    fn seat(self: &Arc<Self>, key: &SessionKey, limit: usize) -> Result<Seat, Problem> {
        let mut running = self.running();
        if running.contains_key(key) {
            let detail = format!("a loop of the session {:?} is running", key.text());
            return Err(Problem::new(StatusCode::CONFLICT, "loop_running", detail));
        }
        if running.len() >= limit {
            let detail = format!("{limit} loops are running; try again when one has stopped");
            return Err(Problem::busy("too_many_loops", detail, limit));
        }
        // A client that heard the events of an earlier run goes on behind the last one.
        let feed = self.ended(key).map(|ended| Feed::behind(&ended));
        let feed = Arc::new(feed.unwrap_or_default());
        running.insert(key.clone(), Arc::clone(&feed));
        drop(running);
        Ok(Seat {
            loops: Arc::clone(self),
            key: key.clone(),
            feed,
        })
    }

    /// Every loop that is under way here.
    pub(super) fn keys(&self) -> Vec<SessionKey> {
        self.running().keys().cloned().collect()
    }

    fn outside(&self, key: &SessionKey) -> Outside {
        Outside {
            root: self.root.clone(),
            key: key.clone(),
        }
    }

    /// A key that no other loop has.
    fn new_key(&self) -> SessionKey {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        SessionKey::Session(format!("loop-{}-{}-{number}", now_ms(), std::process::id()))
    }

    /// The request of a session, which going on with it needs again.
    fn request_file(&self, key: &SessionKey) -> PathBuf {
        self.root
            .join("requests")
            .join(format!("{}.json", key.folder()))
    }

    /// Tells every loop to end, so that it can be resumed.
    pub(super) fn cancel_all(&self) {
        for key in self.keys() {
            // One that has just ended has ended.
            let _ = self.outside(&key).ask(&Ask::Cancel);
        }
    }
}

/// A loop that is under way here, until this is dropped.
#[derive(Debug)]
struct Seat {
    loops: Arc<Loops>,
    key: SessionKey,
    feed: Arc<Feed>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.feed.end();
        // An attempt that was refused told nothing, and takes the place of nothing.
        if self.feed.has_told() {
            self.loops.keep_ended(&self.key, &self.feed);
        }
        self.loops.running().remove(&self.key);
    }
}

/// Answers a request about loops.
pub(super) async fn answer(
    shared: &Arc<Shared>,
    path: Path,
    asked: Asked,
) -> Result<Reply, Problem> {
    let Some(loops) = &shared.loops else {
        let detail = "this server runs no loops; start it with --config, in a folder that has a ralph-gate.toml";
        return Err(Problem::not_found("no_loops", detail));
    };
    let loops = Arc::clone(loops);
    asked.see_that_it_is_short()?;
    match (path, &asked.method) {
        (Path::All, &Method::POST) => begin(shared, &loops, &asked).await,
        (Path::All, &Method::GET | &Method::HEAD) => blocking(move || all(&loops)).await,
        (Path::One(key), &Method::GET | &Method::HEAD) => status(shared, loops, key).await,
        (Path::Events(key), &Method::GET) => again(&loops, &key, &asked),
        (Path::Cancel(key), &Method::POST) => cancel(shared, loops, key).await,
        (Path::Override(key), &Method::POST) => complete(shared, loops, key, &asked).await,
        (Path::Resume(key), &Method::POST) => resume(shared, &loops, key, &asked).await,
        (path, _) => Err(Problem::method(path.methods())),
    }
}

/// Runs what waits for files or for other processes on a thread that may wait.
async fn blocking(
    work: impl FnOnce() -> Result<Value, RunError> + Send + 'static,
) -> Result<Reply, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| Problem::internal(error.to_string()))?;
    Ok(as_json(&done.map_err(|error| run_problem(&error))?))
}

fn all(loops: &Loops) -> Result<Value, RunError> {
    let sessions = list(&loops.root)?.into_iter().take(LISTED);
    let told = sessions.map(|session| {
        let is_running = session
            .key
            .as_ref()
            .is_some_and(|key| loops.feed(key).is_some());
        json!({
            "key": session.key, "iteration": session.iteration, "revision": session.revision,
            "running": is_running, "problem": session.problem,
        })
    });
    Ok(json!({ "loops": told.collect::<Vec<Value>>() }))
}

async fn status(
    shared: &Arc<Shared>,
    loops: Arc<Loops>,
    key: SessionKey,
) -> Result<Reply, Problem> {
    let gate = Arc::clone(&shared.gate);
    blocking(move || Ok(loops.outside(&key).look(&gate)?.json())).await
}

async fn cancel(
    shared: &Arc<Shared>,
    loops: Arc<Loops>,
    key: SessionKey,
) -> Result<Reply, Problem> {
    let gate = Arc::clone(&shared.gate);
    let cancel = move || {
        let outside = loops.outside(&key);
        let told = outside.order(&Ask::Cancel)?;
        let look = outside.look_at_end(&gate)?;
        Ok(look.end_json("canceled", told.is_some() && look.was_canceled()))
    };
    blocking(cancel).await
}

async fn complete(
    shared: &Arc<Shared>,
    loops: Arc<Loops>,
    key: SessionKey,
    asked: &Asked,
) -> Result<Reply, Problem> {
    let note: Note = asked.json()?;
    let note = OperatorNote {
        operator: note.operator,
        reason: note.reason,
    };
    check_text("operator", &note.operator, LONGEST_NOTE)?;
    check_text("reason", &note.reason, LONGEST_NOTE)?;
    let gate = Arc::clone(&shared.gate);
    let complete = move || {
        let look = loops.outside(&key).complete(&gate, &note)?;
        Ok(look.end_json("overridden", look.was_completed_by(&note)))
    };
    blocking(complete).await
}

/// The events of a loop that is under way or has ended, from the one on that the client saw last.
fn again(loops: &Loops, key: &SessionKey, asked: &Asked) -> Result<Reply, Problem> {
    let last = asked.headers.get("last-event-id");
    let last = last.and_then(|last| last.to_str().ok()?.parse().ok());
    match loops.told(key) {
        Some(feed) => Ok(events(feed.subscribe(last))),
        None => {
            let detail = format!(
                "no loop of the session {:?} is running here, and none has ended whose events are still kept; `ralph-gate logs` \
                 shows its log",
                key.text()
            );
            Err(Problem::not_found("no_loop", detail))
        }
    }
}

async fn begin(shared: &Arc<Shared>, loops: &Arc<Loops>, asked: &Asked) -> Result<Reply, Problem> {
    let text = asked.json_text()?;
    let mut request = Request::from_json(std::path::Path::new("request"), text);
    let prompt = request
        .take_text("prompt")
        .map_err(|error| config_problem(&error))?;
    if let Some(prompt) = prompt.as_deref().filter(|prompt| !prompt.is_empty()) {
        check_text("prompt", prompt, LONGEST_PROMPT)?;
    }
    let task = loops.config.route_loop(&shared.gate, Some(&request));
    let task = task.map_err(|error| config_problem(&error))?;
    let start = Start {
        key: task.key.clone().unwrap_or_else(|| loops.new_key()),
        mode: task.routing.mode,
        contract: task.routing.digest.clone(),
        prompt,
        resume: None,
    };
    // Before anything is written: there is one request a session.
    let seat = loops.seat(&start.key, shared.limits.loops)?;
    if start.mode == Mode::Ralph {
        keep(loops, &start.key, request.text()).await?;
    }
    run(shared, start, seat).await
}

/// Writes the request down: the process that runs the loop reads it there, and so does whoever resumes it.
async fn keep(loops: &Arc<Loops>, key: &SessionKey, text: &str) -> Result<(), Problem> {
    let (file, text) = (loops.request_file(key), text.to_owned());
    let is_there = loops.root.join(key.folder()).exists();
    if is_there {
        let detail = format!(
            "the session {:?} holds a loop already; POST {}/resume goes on with it",
            key.text(),
            Path::to(key)
        );
        return Err(Problem::new(StatusCode::CONFLICT, "session_exists", detail));
    }
    let folder = loops.root.join("requests");
    let save = move || make_folder(&folder).and_then(|()| save_text(&file, &text));
    let saved = tokio::task::spawn_blocking(save).await;
    saved
        .map_err(|error| Problem::internal(error.to_string()))?
        .map_err(|error| run_problem(&error.into()))
}

async fn resume(
    shared: &Arc<Shared>,
    loops: &Arc<Loops>,
    key: SessionKey,
    asked: &Asked,
) -> Result<Reply, Problem> {
    let resumption: Resumption = if asked.body.is_empty() {
        Resumption::default()
    } else {
        asked.json()?
    };
    for (name, text) in [
        ("operator", &resumption.operator),
        ("reason", &resumption.reason),
    ] {
        if let Some(text) = text {
            check_text(name, text, LONGEST_NOTE)?;
        }
    }
    if !loops.root.join(key.folder()).exists() {
        let detail = format!("there is no session {:?}", key.text());
        return Err(Problem::not_found("memory_no_session", detail));
    }
    see_that_it_is_named(shared, loops, &key)?;
    let seat = loops.seat(&key, shared.limits.loops)?;
    let start = Start {
        key,
        mode: Mode::Ralph,
        contract: None,
        prompt: None,
        resume: Some(resumption),
    };
    run(shared, start, seat).await
}

/// The process that goes on with a loop is told its key, or reads it in the request: otherwise it would choose one itself.
fn see_that_it_is_named(shared: &Shared, loops: &Loops, key: &SessionKey) -> Result<(), Problem> {
    if process::is_argument(key.text()) {
        return Ok(());
    }
    let request = Request::load(&loops.request_file(key));
    let task = request.and_then(|request| loops.config.route_loop(&shared.gate, Some(&request)));
    let task = task.map_err(|error| config_problem(&error))?;
    if task.key.as_ref() == Some(key) {
        return Ok(());
    }
    let detail = format!(
        "the request of the session {:?} names another one",
        key.text()
    );
    Err(Problem::by_code("files_changed", detail))
}

/// Runs a loop, and answers with its events as soon as there is one.
async fn run(shared: &Arc<Shared>, start: Start, seat: Seat) -> Result<Reply, Problem> {
    let (key, feed) = (start.key.clone(), Arc::clone(&seat.feed));
    match process::run(Arc::clone(shared), start, seat).await {
        Ok(Begun::Running) => {
            let mut reply = events(feed.subscribe(None));
            super::reply::set_text(&mut reply, header::LOCATION, &Path::to(&key));
            Ok(reply)
        }
        Ok(Begun::Refused(problem)) | Err(problem) => Err(problem),
    }
}

/// Who completes a loop, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    operator: String,
    reason: String,
}

/// Who resumes a loop, and why.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Resumption {
    operator: Option<String>,
    reason: Option<String>,
    accept_contract: bool,
}

/// What is wrong with a request, or with the configuration.
fn config_problem(error: &ConfigError) -> Problem {
    let problem = Problem::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        error.code(),
        error.to_string(),
    );
    match error.problems() {
        [] => problem,
        problems => problem.with("problems", json!(problems)),
    }
}

/// Why a loop can't be asked, told or looked at.
pub(super) fn run_problem(error: &RunError) -> Problem {
    Problem::by_code(&error.code(), error.to_string())
}

/// A piece of a stream.
pub(super) type Piece = Bytes;
