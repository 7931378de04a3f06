//! Loops that are played through the real gate and remembered by the real memory, so that there are logs to ask about.

use std::collections::BTreeMap;

use ralph_gate_component::json;
use ralph_gate_history::Unanswered;
use ralph_gate_memory::course::{Evaluated, LoopRecord, Reopened, ResumeRecord, reopen};
use ralph_gate_memory::disk::{Disk as _, Place};
use ralph_gate_memory::{Gate, InMemoryStore, Recording, SessionKey, Under};
use ralph_gate_types::{
    Action, CallError, CheckResult, EngineError, Iteration, Outcome, Prd, PrdUpdate, ProgressEntry,
    ProgressLog, Resumption, Routing, SnapshotView, Usage, Verdict,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The gate, as the questions ask it.
#[allow(
    clippy::unnecessary_wraps,
    reason = "a gate may give no answer; this one always does"
)]
pub(crate) fn gate(function: &str, input: &str) -> Result<String, Unanswered> {
    Ok(json::call(function, input))
}

/// The gate, as the memory asks it.
#[derive(Debug)]
struct Formats;

fn ask<T: DeserializeOwned>(function: &str, input: &Value) -> Result<T, CallError> {
    let answer: Value = serde_json::from_str(&json::call(function, &input.to_string())).unwrap();
    assert!(answer.get("error").is_none(), "{answer:#}");
    serde_json::from_value(answer).map_err(|error| {
        CallError::Engine(EngineError::Trap {
            reason: error.to_string(),
        })
    })
}

fn text(answer: &Value, name: &str) -> String {
    answer[name].as_str().unwrap().to_owned()
}

impl Gate for Formats {
    /// The gate's crate is no component.
    fn digest(&self) -> Option<&str> {
        None
    }

    fn read_prd(&self, text: &str) -> Result<Prd, CallError> {
        ask("read_prd", &json!({ "text": text }))
    }

    fn update_prd(&self, text: &str, updates: &[PrdUpdate]) -> Result<String, CallError> {
        let input = json!({ "text": text, "updates": updates });
        ask("update_prd", &input).map(|answer: Value| self::text(&answer, "text"))
    }

    fn read_progress(&self, text: &str) -> Result<ProgressLog, CallError> {
        ask("read_progress", &json!({ "text": text }))
    }

    fn write_progress(&self, entry: &ProgressEntry) -> Result<String, CallError> {
        let input = json!({ "entry": entry });
        ask("write_progress", &input).map(|answer: Value| text(&answer, "text"))
    }

    fn read_snapshot(&self, text: &str) -> Result<SnapshotView, CallError> {
        ask("read_snapshot", &json!({ "text": text }))
    }

    fn resume(
        &self,
        contract: &str,
        snapshot: &str,
        resumption: &Resumption,
    ) -> Result<String, CallError> {
        let input = json!({ "contract": contract, "snapshot": snapshot, "resumption": resumption });
        ask("resume", &input).map(|answer: Value| text(&answer, "snapshot"))
    }
}

/// A loop that is played.
pub(crate) struct Played {
    store: InMemoryStore<'static>,
    contract: String,
    snapshot: Option<String>,
    index: u32,
    record: Recording,
}

impl Played {
    pub(crate) fn new(contract: &str) -> Self {
        Self::recorded(contract, Recording::Full)
    }

    /// One of which so much is recorded.
    pub(crate) fn recorded(contract: &str, record: Recording) -> Self {
        let routing: Routing = ask("route", &json!({ "request": contract })).unwrap();
        let contract = routing.contract.unwrap();
        let begun = LoopRecord {
            version: "0.1.0".to_owned(),
            at_ms: 1_000,
            session: Some("history".to_owned()),
            mode: routing.mode,
            profile: routing.profile,
            enforcement: routing.enforcement,
            task_class: None,
            labels: BTreeMap::new(),
            contract: contract.clone(),
            contract_digest: routing.digest.unwrap(),
            rules_digest: String::new(),
            argv: vec!["agent".to_owned()],
            prompt: "make it work".to_owned(),
            client: None,
            request: None,
            attended: None,
            given: None,
        };
        let key = SessionKey::Session("history".to_owned());
        let start = begun.start(None).unwrap().recorded(record);
        Self {
            store: InMemoryStore::new(&Formats, &key, &start).unwrap(),
            contract,
            snapshot: None,
            index: 0,
            record,
        }
    }

    /// One turn: what the agent says, and what the check `work` finds. Each takes a second, a tool call and ten cents.
    pub(crate) fn turn(&mut self, output: &str, found: Outcome) -> &mut Self {
        self.judge(|iteration| {
            iteration.action = Action::Final;
            output.clone_into(&mut iteration.output);
            iteration.checks = vec![CheckResult::new("work", found)];
        })
    }

    /// An iteration that is what `change` makes of an empty one.
    pub(crate) fn judge(&mut self, change: impl FnOnce(&mut Iteration)) -> &mut Self {
        self.index += 1;
        let mut iteration = Iteration {
            index: self.index,
            action: Action::Continue,
            usage: Usage {
                elapsed_ms: 1_000,
                tool_calls: 1,
                cost_usd: Some("0.1".to_owned()),
                tokens: 10,
            },
            ..Iteration::default()
        };
        change(&mut iteration);
        let input =
            json!({ "contract": self.contract, "snapshot": self.snapshot, "iteration": iteration });
        let verdict: Verdict = ask("evaluate_final", &input).unwrap();
        let evaluated = Evaluated {
            at_ms: 1_000 * u64::from(self.index),
            iteration: &iteration,
            verdict: &verdict,
            events: Vec::new(),
            prd: Vec::new(),
            runs: Vec::new(),
            arguments: Vec::new(),
        };
        let change = evaluated.change(self.store.key()).unwrap();
        self.store.save(&change).unwrap();
        self.snapshot = verdict.snapshot;
        self
    }

    /// Somebody goes on with it, perhaps under another contract.
    pub(crate) fn resume(&mut self, contract: Option<&str>) -> &mut Self {
        let request = contract.unwrap_or(&self.contract);
        let routing: Routing = ask("route", &json!({ "request": request })).unwrap();
        let resumption = Resumption {
            operator: "ada".to_owned(),
            reason: "looked into it".to_owned(),
            accept_contract: contract.is_some(),
        };
        let contract = routing.contract.unwrap();
        let state = self.store.state();
        let reopened = reopen(&Formats, &state, &contract, &resumption).unwrap();
        let Reopened::At(snapshot) = reopened else {
            panic!("{reopened:?}");
        };
        let run = Under {
            mode: routing.mode,
            profile: routing.profile,
            enforcement: routing.enforcement,
            record: self.record,
        };
        let record = ResumeRecord {
            at_ms: 0,
            operator: resumption.operator,
            reason: resumption.reason,
            contract: contract.clone(),
            contract_digest: routing.digest.unwrap(),
            rules_digest: String::new(),
            argv: Vec::new(),
            prompt: String::new(),
            client: None,
            request: None,
        };
        let change = record
            .change(&state, Some(snapshot.clone()), Some(run))
            .unwrap();
        self.store.save(&change).unwrap();
        (self.contract, self.snapshot) = (contract, Some(snapshot));
        self
    }

    /// So much is recorded from the next resumption on.
    pub(crate) fn record(&mut self, record: Recording) -> &mut Self {
        self.record = record;
        self
    }

    /// How it began, as far as going on needs it.
    pub(crate) fn begun(&self) -> LoopRecord {
        self.store.recall().unwrap()[0].read().unwrap()
    }

    /// Its `events.jsonl`.
    pub(crate) fn log(&self) -> String {
        let place = Place::member("events.jsonl");
        let (bytes, _) = self.store.disk().read(&place, 0).unwrap().unwrap();
        String::from_utf8(bytes).unwrap()
    }
}
