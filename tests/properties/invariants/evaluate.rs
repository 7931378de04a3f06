//! Rules about verdicts: always JSON, always the same, and never `completed` against the evidence.

use ralph_gate_component::contract::{self, ContractReport};
use ralph_gate_component::json as face;
use ralph_gate_component::session::Session;
use ralph_gate_component::snapshot::{MAX_BYTES, State};
use ralph_gate_component::tree::{Value as Tree, json as reader};
use ralph_gate_component::verdict::Judge;
use serde_json::{Value as Json, json};

use super::snapshot::reseal;
use super::spans::{Field, fields, skip_space};

/// Further iterations that are evaluated on the snapshot of the one before.
const ITERATIONS: usize = 4;

/// Checks a text as the input of `evaluate_final`.
pub fn check(input: &[u8]) {
    let text = super::text(input);
    let answer = call("evaluate_final", &text);
    let Some(parts) = Parts::of(&text) else {
        assert!(answer.get("error").is_some(), "{answer}");
        return;
    };
    let report = contract::check(&parts.contract, None);
    if answer.get("error").is_none() {
        assert!(report.valid);
    }
    let mut round = Loop::new(&parts.contract, parts.snapshot.clone());
    for step in 0..=ITERATIONS {
        if !round.evaluate(&parts.iteration_after(step)) {
            forged(&parts, &report);
            return;
        }
    }
    round.can_complete();
    forged(&parts, &report);
}

/// The same iteration on a snapshot that somebody sealed by hand: any state must be answered.
fn forged(parts: &Parts, report: &ContractReport) {
    let (Some(snapshot), Some(canonical)) = (&parts.snapshot, &report.contract) else {
        return;
    };
    let contract = contract::parse(canonical).expect("the canonical form can be read");
    let snapshot = reseal(snapshot, Some(Judge::new(contract).digest()));
    let Ok(state) = State::read(&snapshot) else {
        return;
    };
    let mut round = Loop::new(&parts.contract, Some(snapshot));
    round.is_forged = true;
    let iteration = with_index(&parts.iteration, state.iteration.saturating_add(1));
    round.evaluate(&iteration);
}

/// A call's answer. Panics unless it is compact JSON, and the same when asked again.
pub fn call(function: &str, input: &str) -> Json {
    let text = face::call(function, input);
    assert_eq!(text, face::call(function, input), "another answer");
    let answer = parse(&text);
    assert_eq!(answer.to_string(), text, "the answer is not compact");
    answer
}

/// An answer as a value. Panics unless it is JSON, and says why where it is an error.
fn parse(answer: &str) -> Json {
    let value: Json =
        serde_json::from_str(answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
    if let Some(error) = value.get("error") {
        let has_text = |name: &str| error.get(name).is_some_and(|text| text != "");
        assert!(has_text("code") && has_text("message"), "{answer}");
    }
    value
}

/// The parts of an input of `evaluate_final`, by their bytes.
struct Parts {
    /// The contract's text, in any format.
    contract: String,
    snapshot: Option<String>,
    iteration: String,
}

impl Parts {
    fn of(text: &str) -> Option<Self> {
        let tree = reader::read(text).ok()?;
        let Tree::Map(_) = tree.value else {
            return None;
        };
        let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let fields = fields(text, skip_space(text, mark));
        let raw = |name: &str| raw(text, &fields, name);
        let as_text = |raw: &str| serde_json::from_str::<String>(raw).ok();
        let contract = raw("contract")?;
        Some(Self {
            contract: as_text(contract).unwrap_or_else(|| contract.to_owned()),
            snapshot: raw("snapshot").and_then(as_text),
            iteration: raw("iteration")?.to_owned(),
        })
    }

    /// The iteration with a later index.
    fn iteration_after(&self, steps: usize) -> String {
        let index = index_of(&self.iteration).unwrap_or(1);
        let steps = u32::try_from(steps).unwrap();
        if steps == 0 {
            return self.iteration.clone();
        }
        with_index(&self.iteration, index.saturating_add(steps))
    }
}

fn raw<'t>(text: &'t str, fields: &[Field], name: &str) -> Option<&'t str> {
    let is_wanted = |field: &&Field| {
        let key = text.get(field.key.clone()).unwrap_or_default();
        serde_json::from_str::<String>(key).is_ok_and(|key| key == name)
    };
    let field = fields.iter().find(is_wanted)?;
    text.get(field.value.clone())
}

fn index_of(iteration: &str) -> Option<u32> {
    if !iteration.starts_with('{') {
        return None;
    }
    raw(iteration, &fields(iteration, 0), "index")?.parse().ok()
}

fn with_index(iteration: &str, index: u32) -> String {
    if !iteration.starts_with('{') {
        return iteration.to_owned();
    }
    let found = fields(iteration, 0)
        .into_iter()
        .find(|field| iteration.get(field.key.clone()) == Some("\"index\""));
    let mut text = iteration.to_owned();
    if let Some(field) = found {
        text.replace_range(field.value, &index.to_string());
    }
    text
}

/// One loop, evaluated call by call and on an open session at the same time.
pub struct Loop {
    /// The contract's text, in any format.
    contract: String,
    effective: Option<Json>,
    snapshot: Option<String>,
    session: Option<Session>,
    is_forged: bool,
}

impl Loop {
    /// A loop from its contract's text, new or from its snapshot.
    pub fn new(contract: &str, snapshot: Option<String>) -> Self {
        let effective = contract::parse(contract).ok().map(|contract| {
            let canonical = Judge::new(contract).contract().canonical();
            serde_json::from_str(&canonical).expect("the canonical form is JSON")
        });
        Self {
            session: Session::open(contract, snapshot.as_deref()).ok(),
            contract: contract.to_owned(),
            effective,
            snapshot,
            is_forged: false,
        }
    }

    /// The promise text that the next iteration must end with.
    pub fn token(&self) -> Option<String> {
        self.session.as_ref()?.brief().token
    }

    /// Evaluates one iteration. Gives whether the loop goes on.
    pub fn evaluate(&mut self, iteration: &str) -> bool {
        let text = face::call("evaluate_final", &self.input(iteration));
        let answer = parse(&text);
        match &mut self.session {
            Some(session) => same(&face::evaluate_on(session, iteration), &text, &answer),
            None => assert!(answer.get("error").is_some(), "{answer}"),
        }
        if answer.get("error").is_some() {
            return false;
        }
        let contract = self.effective.as_ref().expect("the contract can be used");
        let iteration: Json = serde_json::from_str(iteration).expect("the iteration is JSON");
        let verdict = Verdict {
            contract,
            iteration: &iteration,
            answer: &answer,
        };
        verdict.check(self.is_forged);
        let goes_on = answer["decision"] != "stop";
        self.snapshot = answer["snapshot"].as_str().map(str::to_owned);
        if !goes_on {
            self.is_over(&iteration);
        }
        goes_on
    }

    /// A loop that goes on can be completed: by a final on new work, with the promise that the gate asks
    /// for and every check passed.
    pub fn can_complete(&mut self) {
        let (Some(session), Some(contract)) = (&self.session, &self.effective) else {
            return;
        };
        if contract["mode"] != "ralph" {
            return;
        }
        let brief = session.brief();
        let promise = brief
            .token
            .map_or_else(String::new, |token| format!("<promise>{token}</promise>"));
        let checks: Vec<Json> = items(&contract["completion_checks"])
            .iter()
            .map(|check| json!({"id": check["id"], "outcome": "pass"}))
            .collect();
        let iteration = json!({
            "index": brief.iteration,
            "action": "final",
            "output": promise,
            "checks": checks,
            "artifacts": [{"name": "work", "kind": "digest", "content": "never seen before"}],
        });
        let answer = parse(&face::call(
            "evaluate_final",
            &self.input(&iteration.to_string()),
        ));
        let is_enforced = contract["enforcement"] == "enforce";
        let ruling = if is_enforced {
            &answer
        } else {
            &answer["shadow"]
        };
        assert_eq!(ruling["stop_reason"], "completed", "{answer}");
    }

    fn input(&self, iteration: &str) -> String {
        let snapshot = Json::from(self.snapshot.clone());
        let contract = Json::from(self.contract.as_str());
        format!(r#"{{"contract":{contract},"snapshot":{snapshot},"iteration":{iteration}}}"#)
    }

    /// A loop that has stopped accepts no further iteration.
    fn is_over(&self, iteration: &Json) {
        let mut next = iteration.clone();
        let index = next["index"].as_u64().expect("an index is a number");
        next["index"] = Json::from(index.saturating_add(1).min(u64::from(u32::MAX)));
        let answer = parse(&face::call(
            "evaluate_final",
            &self.input(&next.to_string()),
        ));
        assert_eq!(answer["error"]["code"], "loop_stopped");
    }
}

/// A session gives the same verdict. The places of problems differ, since it sees the iteration alone.
fn same(on_session: &str, text: &str, answer: &Json) {
    if answer.get("error").is_none() {
        assert_eq!(on_session, text, "a session answers differently");
        return;
    }
    assert_eq!(parse(on_session)["error"]["code"], answer["error"]["code"]);
}

/// A verdict and what it was made from.
struct Verdict<'a> {
    contract: &'a Json,
    iteration: &'a Json,
    answer: &'a Json,
}

impl Verdict<'_> {
    fn check(&self, is_forged: bool) {
        if self.answer["mode"] == "standard" {
            assert_eq!(self.answer["decision"], "pass_through");
            assert_eq!(self.answer["stop_reason"], Json::Null);
            return;
        }
        let is_enforced = self.contract["enforcement"] == "enforce";
        let ruling = if is_enforced {
            self.answer
        } else {
            assert_eq!(self.answer["decision"], "pass_through");
            &self.answer["shadow"]
        };
        table(ruling);
        let goes_on = ruling["stop_reason"] == Json::Null;
        let is_baseline = self.iteration["index"] == 0;
        assert!(goes_on || !is_baseline, "a baseline stops nothing");
        let is_final = self.iteration["action"] == "final" && !is_baseline;
        assert_eq!(
            self.answer["intercepted"],
            Json::Bool(is_enforced && goes_on && is_final)
        );
        if ruling["stop_reason"] == "completed" {
            self.completed();
        } else if goes_on {
            assert_ne!(self.answer["needs"], Json::Array(Vec::new()));
        }
        self.feedback(is_enforced && goes_on && !is_baseline);
        self.snapshot(is_enforced, is_forged);
    }

    /// The evidence, an operator or nothing.
    fn completed(&self) {
        assert_eq!(self.answer["failures"], Json::Array(Vec::new()));
        assert_eq!(self.answer["needs"], Json::Array(Vec::new()));
        assert_ne!(self.iteration["canceled"], Json::Bool(true));
        let is_overridden = !self.iteration["override"].is_null()
            && self.contract["allow_override"] == Json::Bool(true);
        if is_overridden {
            return;
        }
        assert_eq!(self.answer["overridden"], Json::Bool(false));
        assert_eq!(self.iteration["action"], "final");
        assert!(items(&self.iteration["tampered"]).is_empty());
        for check in items(&self.contract["completion_checks"]) {
            if check["required"] == Json::Bool(true) {
                self.passed(&check["id"]);
            }
        }
        let token = &self.contract["completion_token"];
        if let Some(text) = token["text"].as_str() {
            let promise = self.answer["promise"]["accepted"].as_str();
            let promise = promise.expect("a contract with a token completes on a promise");
            let is_kept = match token["nonce"] {
                Json::Bool(true) => promise.starts_with(text) && promise != text,
                _ => promise == text,
            };
            assert!(is_kept, "`{promise}` is not `{text}`");
        }
    }

    /// There is a result for the check, and none that is not a pass; or an operator waived it.
    fn passed(&self, id: &Json) {
        if items(&self.answer["waived"]).contains(id) {
            assert_eq!(self.contract["allow_override"], Json::Bool(true));
            return;
        }
        let results: Vec<&Json> = items(&self.iteration["checks"])
            .iter()
            .filter(|result| result["id"] == *id)
            .collect();
        assert!(!results.is_empty(), "completed without evidence for {id}");
        for result in results {
            let outcome = &result["outcome"];
            assert!(
                outcome == "pass" || outcome == "flaky",
                "completed although {result}"
            );
            assert!(result["code"].is_null(), "completed although {result}");
        }
        let judged = items(&self.answer["checks"]);
        let judged = judged.iter().find(|check| check["id"] == *id);
        assert!(judged.is_some_and(|check| check["passed"] == Json::Bool(true)));
    }

    fn feedback(&self, is_due: bool) {
        let feedback = self.answer["feedback"].as_str().expect("a text");
        assert_eq!(is_due, !feedback.is_empty());
        let limit = self.contract["feedback_max_bytes"].as_u64().unwrap();
        assert!(u64::try_from(feedback.len()).unwrap() <= limit);
        let bad = |letter: &char| letter.is_control() && !matches!(letter, '\n' | '\t');
        assert_eq!(feedback.chars().find(bad), None, "{feedback:?}");
    }

    fn snapshot(&self, is_enforced: bool, is_forged: bool) {
        let text = self.answer["snapshot"].as_str().expect("a snapshot");
        // A forged state may be as long as a snapshot can be, and grow beyond that.
        if is_forged && text.len() > MAX_BYTES / 2 {
            return;
        }
        assert!(text.len() <= MAX_BYTES, "{} bytes", text.len());
        let mut state = State::read(text).expect("what the gate writes, it reads");
        assert_eq!(state.write(), text);
        assert_eq!(self.iteration["index"], Json::from(state.iteration));
        let stopped = state.stopped.map(|reason| reason.to_string());
        if is_enforced {
            assert_eq!(self.answer["stop_reason"], Json::from(stopped));
        } else {
            assert_eq!(stopped, None);
        }
    }
}

/// Decision, stop reason and signal belong together.
fn table(ruling: &Json) {
    let (decision, signal) = match ruling["stop_reason"].as_str() {
        None => ("continue", "LOOP_CONTINUE"),
        Some("completed") => ("stop", "LOOP_DONE"),
        Some("error") => ("stop", "LOOP_ERROR"),
        Some(_) => ("stop", "LOOP_BLOCKED"),
    };
    assert_eq!(ruling["decision"], decision, "{ruling}");
    assert_eq!(ruling["signal"], signal, "{ruling}");
}

fn items(list: &Json) -> &[Json] {
    list.as_array().map_or(&[], Vec::as_slice)
}
