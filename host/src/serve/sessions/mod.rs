//! Sessions that the server keeps for harnesses that run their loops themselves.
//!
//! A harness begins a session with a contract and shows each iteration; the server asks the gate, remembers, and answers with
//! the verdict. The contract and the state of the loop are the server's: what the harness sends is evidence alone. Each state
//! has a version, and a change says which one it is about, so that of two who write at the same time none is lost.
//!
//! Sessions are never those of the server's own loops: nobody shows evidence for a loop whose checks the server runs.

mod condition;
mod keep;
mod path;
mod turns;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use hyper::{Method, StatusCode, header};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::Shared;
use super::asked::Asked;
use super::error::ServeError;
use super::problem::{Problem, check_text};
use super::reply::{JSON, Reply, set_text, text};
use crate::engine::{CallError, GateEngine, Iteration, Mode, PrdUpdate, Resumption};
use crate::evidence::now_ms;
use crate::memory::course::{
    Evaluated, LoopRecord, Reopened, ResumeRecord, Run, check_labels, reopen, word,
};
use crate::memory::{LoopMemoryStore, MemoryError, Recording, SessionKey, State};
use condition::{Condition, is_known, tag};
use keep::{Keep, LONGEST_WAIT};
pub(super) use path::Path;
use turns::{Turn, Turns};

/// The lines of an event log.
const LINES: &str = "application/x-ndjson";

/// How many sessions are listed.
const LISTED: usize = 10_000;
/// The longest name or reason of an operator, in bytes.
const LONGEST_NOTE: usize = 1024;

/// The sessions of a server.
#[derive(Debug)]
pub(super) struct Sessions {
    keep: Keep,
    turns: Arc<Turns>,
}

impl Sessions {
    /// The sessions in a folder, or at an address of a bucket.
    pub(super) fn at(place: &str) -> Result<Self, ServeError> {
        if !place.contains("://") {
            return Ok(Self::new(Keep::Files(PathBuf::from(place))));
        }
        #[cfg(feature = "bucket")]
        {
            let root = ralph_gate_bucket::BucketRoot::from_url(
                place,
                &ralph_gate_bucket::Options::default(),
            );
            let root = root.map_err(|error| ServeError::Store {
                code: error.code(),
                message: error.to_string(),
            })?;
            Ok(Self::new(Keep::Bucket(root)))
        }
        #[cfg(not(feature = "bucket"))]
        Err(ServeError::Store {
            code: "serve_store",
            message: format!(
                "`{place}` is in a bucket, and this program was built without the feature `bucket`"
            ),
        })
    }

    fn new(keep: Keep) -> Self {
        let turns = Arc::default();
        Self { keep, turns }
    }

    /// Waits until nobody else writes to a session through this server, but not for ever.
    async fn turn(&self, key: &SessionKey) -> Result<Turn, Problem> {
        let turn = tokio::time::timeout(LONGEST_WAIT, self.turns.take(key)).await;
        turn.map_err(|_| {
            let seconds = LONGEST_WAIT.as_secs();
            let detail =
                format!("others have been writing to the session for {seconds} s; try again");
            Problem::by_code("memory_busy", detail)
        })
    }

    /// Opens a session in a state that whoever asks has seen.
    fn open<'g>(
        &self,
        gate: &'g GateEngine,
        key: &SessionKey,
        condition: &Condition,
        seen: &mut u64,
    ) -> Result<(Box<dyn LoopMemoryStore + 'g>, State), Problem> {
        // Nobody has to look whether a state is there that was changed while this one waited.
        condition.check_not_before(*seen)?;
        let store = self.keep.open(gate, key).map_err(memory_problem)?;
        let state = store.state();
        *seen = state.revision;
        condition.check(state.revision)?;
        Ok((store, state))
    }

    /// Whether they are in this very folder.
    pub(super) fn are_in(&self, folder: &std::path::Path) -> bool {
        let real = |path: &std::path::Path| {
            let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            path.canonicalize().unwrap_or(absolute)
        };
        match &self.keep {
            Keep::Files(root) => real(root) == real(folder),
            #[cfg(feature = "bucket")]
            Keep::Bucket(_) => false,
        }
    }
}

/// What a session begins with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Beginning {
    /// The request, as `/v1/route` takes it.
    request: Box<RawValue>,
    #[serde(default)]
    policy: Option<Box<RawValue>>,
    #[serde(default)]
    prd: Option<String>,
    #[serde(default)]
    task_class: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    argv: Vec<String>,
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    record: Recording,
}

/// An iteration that is to be judged.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    iteration: Iteration,
    #[serde(default)]
    prd: Vec<PrdUpdate>,
    #[serde(default)]
    runs: Vec<Run>,
}

/// A loop that is to go on, under the contract that it has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GoingOn {
    operator: String,
    reason: String,
}

/// Answers a request about sessions.
pub(super) async fn answer(
    shared: &Arc<Shared>,
    path: Path,
    asked: Asked,
) -> Result<Reply, Problem> {
    let Some(sessions) = shared.sessions.clone() else {
        let detail = "this server keeps no sessions; start it with --store FOLDER";
        return Err(Problem::not_found("no_sessions", detail));
    };
    let gate = Arc::clone(&shared.gate);
    match (path, &asked.method) {
        (Path::All, &Method::GET | &Method::HEAD) => off(move || all(&sessions)).await,
        (Path::One(key), &Method::DELETE) => {
            let condition = Condition::of(&asked)?;
            let turn = sessions.turn(&key).await?;
            off(move || remove(&sessions, &gate, &key, &condition, turn)).await
        }
        (Path::One(key), &Method::PUT) => off(move || begin(&sessions, &gate, &key, &asked)).await,
        (Path::One(key), &Method::GET | &Method::HEAD) => {
            off(move || show(&sessions, &key, &asked)).await
        }
        (Path::Evaluate(key), &Method::POST) => {
            let condition = Condition::of(&asked)?;
            let shown: Shown = off(move || asked.json()).await?;
            let turn = sessions.turn(&key).await?;
            off(move || evaluate(&sessions, &gate, &key, &condition, shown, turn)).await
        }
        (Path::Resume(key), &Method::POST) => {
            asked.see_that_it_is_short()?;
            let condition = Condition::of(&asked)?;
            let going_on: GoingOn = asked.json()?;
            check_text("operator", &going_on.operator, LONGEST_NOTE)?;
            check_text("reason", &going_on.reason, LONGEST_NOTE)?;
            let turn = sessions.turn(&key).await?;
            off(move || resume(&sessions, &gate, &key, &condition, going_on, turn)).await
        }
        (Path::Events(key), &Method::GET | &Method::HEAD) => {
            off(move || events(&sessions, &key, &asked)).await
        }
        (path, _) => Err(Problem::method(path.methods())),
    }
}

/// Files, buckets, the gate and long texts: on a thread that may take its time.
async fn off<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Problem::internal(error.to_string()))?
}

fn begin(
    sessions: &Sessions,
    gate: &GateEngine,
    key: &SessionKey,
    asked: &Asked,
) -> Result<Reply, Problem> {
    asked.see_that_it_is_short()?;
    let beginning: Beginning = asked.json()?;
    check_labels(&beginning.labels).map_err(|error| invalid(error.to_string()))?;
    let policy = beginning.policy.as_ref().map_or("", |policy| policy.get());
    let routing = gate.route(beginning.request.get(), policy);
    let routing = routing.map_err(|error| call_problem(&error))?;
    if routing.mode != Mode::Ralph {
        let detail = "the request was routed to `standard`, which keeps no memory; ask for `ralph`";
        return Err(invalid(detail));
    }
    if let Some(prd) = &beginning.prd {
        gate.read_prd(prd).map_err(|error| call_problem(&error))?;
    }
    let record = LoopRecord {
        task_class: beginning.task_class,
        labels: beginning.labels,
        argv: beginning.argv,
        prompt: beginning.prompt,
        ..LoopRecord::new(key, now_ms(), &routing)
    };
    let start = record.start(beginning.prd).map_err(memory_problem)?;
    let start = start.recorded(beginning.record);
    let state = match sessions.keep.create(gate, key, &start) {
        Err(error @ MemoryError::SessionExists { .. })
            if asked.header(header::IF_NONE_MATCH).is_some() =>
        {
            let status = StatusCode::PRECONDITION_FAILED;
            return Err(Problem::new(status, error.code(), error.to_string()));
        }
        created => created.map_err(memory_problem)?,
    };
    Ok(told(StatusCode::CREATED, key, &state))
}

/// Every session, as far as it can be read.
fn all(sessions: &Sessions) -> Result<Reply, Problem> {
    let listed = sessions.keep.list(LISTED).map_err(memory_problem)?;
    let told = listed.iter().map(|session| {
        json!({
            "key": session.key, "iteration": session.iteration, "revision": session.revision,
            "events": session.events, "problem": session.problem,
        })
    });
    let body = json!({ "sessions": told.collect::<Vec<_>>() });
    Ok(text(StatusCode::OK, JSON, body.to_string()))
}

/// Removes a session in a state that whoever asks has seen.
fn remove(
    sessions: &Sessions,
    gate: &GateEngine,
    key: &SessionKey,
    condition: &Condition,
    mut turn: Turn,
) -> Result<Reply, Problem> {
    condition.check_not_before(*turn.seen)?;
    let Some(store) = sessions.keep.open_to_remove(gate, key) else {
        // Sessions in object storage are removed with its tools.
        return Err(Problem::method("GET, HEAD, PUT"));
    };
    let removed = match store {
        Ok(store) => {
            condition.check(store.state().revision)?;
            store.remove()
        }
        // It has no version to name.
        Err(MemoryError::Unreadable { .. }) if *condition == Condition::Any => {
            sessions.keep.remove_unreadable(key)
        }
        Err(error) => Err(error),
    };
    removed.map_err(memory_problem)?;
    // The next session of this key begins with its first revision.
    *turn.seen = 0;
    let body = json!({ "key": key, "removed": true });
    Ok(text(StatusCode::OK, JSON, body.to_string()))
}

fn show(sessions: &Sessions, key: &SessionKey, asked: &Asked) -> Result<Reply, Problem> {
    let state = sessions.keep.state(key).map_err(memory_problem)?;
    if is_known(asked, state.revision) {
        return Ok(unchanged(state.revision));
    }
    Ok(told(StatusCode::OK, key, &state))
}

fn evaluate(
    sessions: &Sessions,
    gate: &GateEngine,
    key: &SessionKey,
    condition: &Condition,
    shown: Shown,
    mut turn: Turn,
) -> Result<Reply, Problem> {
    let (mut store, state) = sessions.open(gate, key, condition, &mut turn.seen)?;
    let verdict = gate
        .evaluate_final(&state.contract, state.snapshot.as_deref(), &shown.iteration)
        .map_err(|error| call_problem(&error))?;
    let evaluated = Evaluated {
        at_ms: now_ms(),
        iteration: &shown.iteration,
        verdict: &verdict,
        events: Vec::new(),
        prd: shown.prd,
        runs: shown.runs,
        arguments: Vec::new(),
    };
    let change = evaluated.change(key).map_err(memory_problem)?;
    // Nobody hears of a verdict that is not remembered.
    let saved = store.save(&change).map_err(memory_problem)?;
    *turn.seen = saved.revision;
    let body = serde_json::to_string(&verdict).map_err(|error| memory_problem(error.into()))?;
    Ok(tagged(text(StatusCode::OK, JSON, body), saved.revision))
}

fn resume(
    sessions: &Sessions,
    gate: &GateEngine,
    key: &SessionKey,
    condition: &Condition,
    going_on: GoingOn,
    mut turn: Turn,
) -> Result<Reply, Problem> {
    let (mut store, state) = sessions.open(gate, key, condition, &mut turn.seen)?;
    let resumption = Resumption {
        operator: going_on.operator,
        reason: going_on.reason,
        accept_contract: false,
    };
    let reopened = reopen(gate, &state, &state.contract, &resumption);
    let snapshot = match reopened.map_err(|error| call_problem(&error))? {
        Reopened::New => None,
        Reopened::At(snapshot) => Some(snapshot),
        Reopened::Completed { iteration } => {
            let detail = format!("the loop is complete since iteration {iteration}; begin another");
            return Err(Problem::by_code("loop_completed", detail));
        }
    };
    let report = gate.check_contract(&state.contract, None);
    let report = report.map_err(|error| Problem::internal(error.to_string()))?;
    let record = ResumeRecord {
        at_ms: now_ms(),
        operator: resumption.operator,
        reason: resumption.reason,
        contract: state.contract.clone(),
        contract_digest: report.digest.unwrap_or_default(),
        rules_digest: String::new(),
        argv: Vec::new(),
        prompt: String::new(),
        client: None,
        request: None,
    };
    let change = record
        .change(&state, snapshot, None)
        .map_err(memory_problem)?;
    *turn.seen = store.save(&change).map_err(memory_problem)?.revision;
    Ok(told(StatusCode::OK, key, &store.state()))
}

fn events(sessions: &Sessions, key: &SessionKey, asked: &Asked) -> Result<Reply, Problem> {
    let (state, log) = sessions.keep.log(key).map_err(memory_problem)?;
    if is_known(asked, state.revision) {
        return Ok(unchanged(state.revision));
    }
    Ok(tagged(text(StatusCode::OK, LINES, log), state.revision))
}

/// A session as it is now.
fn told(status: StatusCode, key: &SessionKey, state: &State) -> Reply {
    let mut body = json!(state);
    if let Some(fields) = body.as_object_mut() {
        fields.insert("key".to_owned(), json!(key));
    }
    tagged(text(status, JSON, body.to_string()), state.revision)
}

fn unchanged(revision: u64) -> Reply {
    tagged(text(StatusCode::NOT_MODIFIED, JSON, ""), revision)
}

fn tagged(mut reply: Reply, revision: u64) -> Reply {
    set_text(&mut reply, header::ETAG, &tag(revision));
    reply
}

fn invalid(detail: impl Into<String>) -> Problem {
    Problem::by_code("invalid_input", detail)
}

/// Why a session can't be read or written.
#[allow(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn memory_problem(error: MemoryError) -> Problem {
    Problem::by_code(error.code(), format!("{error}; {}", error.help()))
}

/// What the gate said.
fn call_problem(error: &CallError) -> Problem {
    match error {
        CallError::Gate(error) => {
            Problem::by_code(&word(&error.code), error.to_string()).with("error", json!(error))
        }
        CallError::Engine(error) => Problem::internal(error.to_string()),
    }
}
