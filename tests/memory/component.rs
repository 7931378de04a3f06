//! The memory's component against the memory that the host links: the same files, byte for byte, whatever happens to them,
//! and each goes on where the other ended.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_gate::engine::{Iteration, Resumption, Routing, Verdict};
use ralph_gate::memory::course::{Evaluated, LoopRecord, Reopened, ResumeRecord, Run, reopen};
use ralph_gate::memory::{
    Change, Event, FileStore, Handoff, Patience, Recording, SessionKey, Standing, Under, View,
};
use ralph_gate_tests::gate;
use ralph_gate_tests::logs::Scratch;
use ralph_gate_tests::memory_component::{MemoryInstance, OpenMemory};
use serde_json::{Value, json};

const PRD: &str = r#"{"items": [{"id": "a", "passes": false}, {"id": "b", "passes": false}]}"#;

/// A lock that was given up can live on for a moment in a process that another test is about to start.
const PATIENCE: Patience = Patience::Until(Duration::from_secs(10));

fn key() -> SessionKey {
    SessionKey::Session("night run".into())
}

fn routing() -> Routing {
    let request = "mode: ralph\ncompletion_checks: [tests]\nloop_max_iters: 4\n";
    gate().route(request, "").unwrap()
}

/// A turn of the agent whose tests fail, or pass.
fn turn(index: u32, passes: bool) -> Iteration {
    let iteration = json!({
        "index": index,
        "action": "final",
        "output": format!("turn {index}: “done”, says the agent"),
        "checks": [{ "id": "tests", "outcome": if passes { "pass" } else { "fail" }, "reason": "2 of 14\nfailed" }],
        "artifacts": [{ "name": "tree", "kind": "digest", "content": format!("tree-{index}") }],
        "usage": { "elapsed_ms": 1200, "tool_calls": 3, "cost_usd": 0.14 },
    });
    serde_json::from_str(&iteration.to_string()).unwrap()
}

/// What is told to a memory after a turn, in both languages.
struct Told {
    iteration: Iteration,
    verdict: Verdict,
}

impl Told {
    fn judged(contract: &str, snapshot: Option<&str>, iteration: Iteration) -> Self {
        let verdict = gate()
            .evaluate_final(contract, snapshot, &iteration)
            .unwrap();
        Self { iteration, verdict }
    }

    fn at_ms(&self) -> u64 {
        1_760_000_000_000 + u64::from(self.iteration.index)
    }
}

/// A memory, however it is run.
trait Memory {
    fn begin(root: &Path) -> Self;
    fn open(root: &Path) -> Self;
    fn state(&mut self) -> Value;
    fn findings(&mut self) -> Value;
    fn remember(&mut self, told: &Told) -> Value;
    fn resume(&mut self, resumption: &Resumption) -> Value;
    fn save(&mut self, number: u32, handoff: Option<&str>) -> Value;
    fn look(&mut self) -> Value;

    /// One turn from where the session stands.
    fn go_on(&mut self, passes: bool) -> Told {
        let state = self.state();
        let contract = state["contract"].as_str().unwrap().to_owned();
        let index = u32::try_from(state["iteration"].as_u64().unwrap()).unwrap() + 1;
        let told = Told::judged(&contract, state["snapshot"].as_str(), turn(index, passes));
        self.remember(&told);
        told
    }
}

/// As the host has it.
struct Native(FileStore<'static>);

impl Native {
    fn begin_recorded(root: &Path, record: Recording) -> Self {
        let routing = routing();
        let begun = LoopRecord {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            at_ms: 1_760_000_000_000,
            session: Some(key().text().to_owned()),
            mode: routing.mode,
            profile: routing.profile,
            enforcement: routing.enforcement,
            task_class: Some("chores".into()),
            labels: [("arm".to_owned(), "ralph".to_owned())].into(),
            contract: routing.contract.unwrap(),
            contract_digest: routing.digest.unwrap(),
            rules_digest: "rules".into(),
            argv: vec!["agent".into(), "--fast".into()],
            prompt: "Do it.".into(),
            client: None,
            request: None,
            attended: None,
            given: None,
        };
        let start = begun.start(Some(PRD.into())).unwrap().recorded(record);
        Self(FileStore::open_or_create(gate(), root, &key(), &start, PATIENCE).unwrap())
    }
}

impl Memory for Native {
    fn begin(root: &Path) -> Self {
        Self::begin_recorded(root, Recording::Full)
    }

    fn open(root: &Path) -> Self {
        Self(FileStore::open(gate(), root, &key(), PATIENCE).unwrap())
    }

    fn state(&mut self) -> Value {
        serde_json::to_value(self.0.state()).unwrap()
    }

    fn findings(&mut self) -> Value {
        serde_json::to_value(self.0.findings()).unwrap()
    }

    fn remember(&mut self, told: &Told) -> Value {
        let evaluated = Evaluated {
            at_ms: told.at_ms(),
            iteration: &told.iteration,
            verdict: &told.verdict,
            events: vec![Event::new("agent_ended", &json!({ "exit": 0 })).unwrap()],
            prd: vec![update("a")],
            arguments: Vec::new(),
            runs: vec![Run {
                check: "tests".into(),
                argv: vec!["cargo".into(), "test".into()],
            }],
        };
        let change = evaluated.change(&key()).unwrap();
        serde_json::to_value(self.0.save(&change).unwrap()).unwrap()
    }

    fn resume(&mut self, resumption: &Resumption) -> Value {
        let routing = routing();
        let run = Under {
            mode: routing.mode,
            profile: routing.profile,
            enforcement: routing.enforcement,
            record: Recording::Full,
        };
        let record = ResumeRecord {
            at_ms: 1_760_000_000_999,
            operator: resumption.operator.clone(),
            reason: resumption.reason.clone(),
            contract: routing.contract.unwrap(),
            contract_digest: routing.digest.unwrap(),
            rules_digest: String::new(),
            argv: Vec::new(),
            prompt: String::new(),
            client: None,
            request: None,
        };
        let state = self.0.state();
        let Reopened::At(snapshot) = reopen(gate(), &state, &record.contract, resumption).unwrap()
        else {
            panic!("there is something to go on from");
        };
        let change = record.change(&state, Some(snapshot), Some(run)).unwrap();
        serde_json::to_value(self.0.save(&change).unwrap()).unwrap()
    }

    fn save(&mut self, number: u32, handoff: Option<&str>) -> Value {
        let change = Change {
            events: vec![Event::new("note", &json!({ "number": number })).unwrap()],
            handoff: match handoff {
                Some(text) => Handoff::Write(text.into()),
                None => Handoff::Keep,
            },
            ..Change::default()
        };
        serde_json::to_value(self.0.save(&change).unwrap()).unwrap()
    }

    fn look(&mut self) -> Value {
        serde_json::to_value(self.0.look().unwrap()).unwrap()
    }
}

fn update(id: &str) -> ralph_gate::engine::PrdUpdate {
    ralph_gate::engine::PrdUpdate {
        id: id.into(),
        passes: true,
        evidence: Some("seen".into()),
    }
}

/// As another language has it.
struct Component(OpenMemory);

fn beginning() -> Value {
    json!({
        "at_ms": 1_760_000_000_000_u64, "routing": routing(), "prd": PRD, "task_class": "chores",
        "labels": { "arm": "ralph" },
        "argv": ["agent", "--fast"], "prompt": "Do it.", "rules_digest": "rules",
    })
}

impl Memory for Component {
    fn begin(root: &Path) -> Self {
        let instance = MemoryInstance::new(root, &key()).unwrap();
        Self(instance.begin(&key(), &beginning()).unwrap())
    }

    fn open(root: &Path) -> Self {
        let instance = MemoryInstance::new(root, &key()).unwrap();
        Self(instance.open(&key()).unwrap())
    }

    fn state(&mut self) -> Value {
        self.0.state()
    }

    fn findings(&mut self) -> Value {
        self.0.findings()
    }

    fn remember(&mut self, told: &Told) -> Value {
        let evaluated = json!({
            "at_ms": told.at_ms(), "iteration": told.iteration, "verdict": told.verdict,
            "events": [{ "event": "agent_ended", "data": { "exit": 0 } }],
            "prd": [{ "id": "a", "passes": true, "evidence": "seen" }],
            "runs": [{ "check": "tests", "argv": ["cargo", "test"] }],
        });
        self.0.remember(&evaluated).unwrap()
    }

    fn resume(&mut self, resumption: &Resumption) -> Value {
        let resumed = json!({ "at_ms": 1_760_000_000_999_u64, "resumption": resumption });
        self.0.resume(&resumed).unwrap()
    }

    fn save(&mut self, number: u32, handoff: Option<&str>) -> Value {
        let handoff = match handoff {
            Some(text) => json!({ "write": text }),
            None => json!("keep"),
        };
        let events = json!([{ "event": "note", "data": { "number": number } }]);
        self.0
            .save(&json!({ "events": events, "handoff": handoff }))
            .unwrap()
    }

    fn look(&mut self) -> Value {
        self.0.look().unwrap()
    }
}

/// A root with one session.
struct Place(Scratch);

impl Place {
    fn new() -> Self {
        Self(Scratch::new())
    }

    fn root(&self) -> PathBuf {
        self.0.path().join(".ralph")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(key().folder()).join(name)
    }

    /// Every file, by name. Of the lock only that it is there: it names a moment.
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        for folder in ["", "checkpoints", "quarantine"] {
            let Ok(entries) = fs::read_dir(self.path(folder)) else {
                continue;
            };
            for entry in entries.map(Result::unwrap) {
                let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
                let content = match fs::read_link(entry.path()) {
                    Ok(target) => format!("leads to {}", target.display()),
                    Err(_) if name == "/lock" || entry.path().is_dir() => String::new(),
                    Err(_) => {
                        String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned()
                    }
                };
                files.insert(name, content);
            }
        }
        files
    }

    fn standing(&self) -> Standing {
        let view = View::open(&self.root(), &key()).unwrap();
        let verification = view.verify(gate()).unwrap();
        verification.standing()
    }
}

/// Two places in which the same happened.
struct Twins {
    native: Place,
    component: Place,
}

impl Twins {
    fn new() -> Self {
        Self {
            native: Place::new(),
            component: Place::new(),
        }
    }

    fn each(&self, change: impl Fn(&Place)) {
        change(&self.native);
        change(&self.component);
    }

    #[track_caller]
    fn are_alike(&self) {
        let (native, component) = (self.native.files(), self.component.files());
        let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&native), names(&component));
        for (name, text) in native {
            // Where a message names the folder it is another one.
            let ours = self.component.root().display().to_string();
            let theirs = self.native.root().display().to_string();
            assert_eq!(text, component[&name].replace(&ours, &theirs), "{name}");
        }
    }
}

/// A loop that stops without being complete, with everything that a memory is told.
fn whole_loop<M: Memory>(place: &Place) -> Vec<Value> {
    let mut memory = M::begin(&place.root());
    let mut said = vec![memory.state()];
    memory.go_on(false);
    // An agent at work.
    let log = fs::read_to_string(place.path("progress.txt")).unwrap();
    fs::write(
        place.path("progress.txt"),
        format!("{log}learned: ünïcode\n"),
    )
    .unwrap();
    fs::write(
        place.path("prd.json"),
        PRD.replace("\"b\", \"passes\": false", "\"b\", \"passes\": true"),
    )
    .unwrap();
    fs::write(place.path("contract.json"), "{}").unwrap();
    said.push(memory.look());
    memory.go_on(false);
    for number in 0..24 {
        said.push(memory.save(number, None));
    }
    memory.go_on(false);
    let stopped = memory.go_on(false);
    assert_eq!(stopped.verdict.detail, None);
    assert!(place.path("handoff.md").exists(), "the loop stopped");
    said.push(memory.state());
    said
}

#[test]
fn the_component_writes_the_same_files_as_the_host() {
    let twins = Twins::new();
    let native = whole_loop::<Native>(&twins.native);
    let component = whole_loop::<Component>(&twins.component);
    assert_eq!(native, component);
    twins.are_alike();
    assert_eq!(twins.component.standing(), Standing::Right);
    let checkpoints = fs::read_dir(twins.component.path("checkpoints")).unwrap();
    assert!(checkpoints.count() < 24, "old ones are cleared away");
}

#[test]
fn a_stopped_loop_goes_on_in_the_component_as_in_the_host() {
    let twins = Twins::new();
    whole_loop::<Native>(&twins.native);
    whole_loop::<Component>(&twins.component);
    let resumption = Resumption {
        operator: "somebody".into(),
        reason: "mended".into(),
        accept_contract: false,
    };
    let (mut native, mut component) = (
        Native::open(&twins.native.root()),
        Component::open(&twins.component.root()),
    );
    assert_eq!(native.resume(&resumption), component.resume(&resumption));
    assert_eq!(native.state(), component.state());
    let (one, other) = (native.go_on(true), component.go_on(true));
    assert_eq!(one.verdict, other.verdict);
    drop((native, component));
    assert!(
        !twins.component.path("handoff.md").exists(),
        "it is complete"
    );
    twins.are_alike();
    let refused = Component::open(&twins.component.root())
        .0
        .resume(&json!({ "at_ms": 1, "resumption": resumption }))
        .unwrap_err();
    assert_eq!(refused.code, "loop_completed");
}

#[test]
fn digests_are_the_same_in_both_and_what_a_loop_needs_is_kept() {
    let twins = Twins::new();
    let mut native = Native::begin_recorded(&twins.native.root(), Recording::DigestOnly);
    let mut beginning = beginning();
    beginning["record"] = json!("digest_only");
    let instance = MemoryInstance::new(&twins.component.root(), &key()).unwrap();
    let mut component = Component(instance.begin(&key(), &beginning).unwrap());
    native.go_on(false);
    component.go_on(false);
    drop((native, component));
    // Whoever opens it next has not to be told again.
    let (mut native, mut component) = (
        Native::open(&twins.native.root()),
        Component::open(&twins.component.root()),
    );
    native.go_on(false);
    component.go_on(false);
    drop((native, component));
    twins.are_alike();
    assert_eq!(twins.component.standing(), Standing::Right);
    let log = fs::read_to_string(twins.component.path("events.jsonl")).unwrap();
    for secret in ["Do it.", "says the agent", "of 14"] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
    let view = View::open(&twins.component.root(), &key()).unwrap();
    let begun: LoopRecord = view.recall().unwrap().1[0].read().unwrap();
    assert_eq!(begun.prompt, "Do it.");
}

#[test]
fn every_line_names_the_gate_that_this_host_carries() {
    let place = Place::new();
    Component::begin(&place.root()).go_on(false);
    let log = fs::read_to_string(place.path("events.jsonl")).unwrap();
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let run = json!({ "mode": "ralph", "profile": null, "enforcement": "enforce", "gate": ralph_gate::engine::GATE.digest });
        assert_eq!(line["run"], run);
    }
}

/// One thing that somebody, or a crash, did to a session's files.
type Damage = (&'static str, fn(&Place));

const DAMAGES: &[Damage] = &[
    ("the newest checkpoint is torn", |place| {
        let newest = newest(place);
        let bytes = fs::read(&newest).unwrap();
        fs::write(&newest, &bytes[..bytes.len() / 2]).unwrap();
    }),
    ("the event log is torn", |place| {
        let log = fs::read(place.path("events.jsonl")).unwrap();
        fs::write(place.path("events.jsonl"), &log[..log.len() - 9]).unwrap();
    }),
    ("an old event is edited", |place| {
        let log = fs::read_to_string(place.path("events.jsonl")).unwrap();
        fs::write(
            place.path("events.jsonl"),
            log.replacen("Do it.", "Do that.", 1),
        )
        .unwrap();
    }),
    (
        "bytes that are no text were added to the progress log",
        |place| {
            let mut log = fs::read(place.path("progress.txt")).unwrap();
            log.extend(b"\xff\xfe half a text");
            fs::write(place.path("progress.txt"), log).unwrap();
        },
    ),
    ("the progress log is a link", |place| {
        fs::rename(place.path("progress.txt"), place.path("elsewhere")).unwrap();
        symlink("elsewhere", place.path("progress.txt")).unwrap();
    }),
    ("the checklist can't be read", |place| {
        fs::write(place.path("prd.json"), "{ not a checklist").unwrap();
    }),
    ("the contract has another name elsewhere", |place| {
        fs::hard_link(place.path("contract.json"), place.path("other")).unwrap();
    }),
    ("the contract is a folder", |place| {
        fs::remove_file(place.path("contract.json")).unwrap();
        fs::create_dir(place.path("contract.json")).unwrap();
    }),
    (
        "the handoff was edited, and a save was not finished",
        |place| {
            fs::write(place.path("handoff.md"), "mine").unwrap();
            fs::write(place.path("checkpoints/.0000000099-1.new"), "half").unwrap();
        },
    ),
    ("everything but the checkpoints is gone", |place| {
        for name in [
            "events.jsonl",
            "progress.txt",
            "prd.json",
            "contract.json",
            "handoff.md",
        ] {
            fs::remove_file(place.path(name)).unwrap();
        }
    }),
];

fn newest(place: &Place) -> PathBuf {
    let entries = fs::read_dir(place.path("checkpoints")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.max().unwrap()
}

#[test]
fn the_component_mends_what_is_damaged_as_the_host_does() {
    for (what, damage) in DAMAGES {
        let twins = Twins::new();
        whole_loop::<Native>(&twins.native);
        whole_loop::<Component>(&twins.component);
        twins.native.0.spoiled(what);
        twins.component.0.spoiled(what);
        twins.each(damage);
        let mut native = Native::open(&twins.native.root());
        let mut component = Component::open(&twins.component.root());
        assert_eq!(native.findings(), component.findings(), "{what}");
        assert_ne!(native.findings(), json!([]), "{what}: nobody noticed");
        assert_eq!(
            native.save(99, Some("# Handoff\n")),
            component.save(99, Some("# Handoff\n")),
            "{what}"
        );
        drop((native, component));
        twins.are_alike();
    }
}

#[test]
fn host_and_component_continue_each_other_in_one_chain() {
    let place = Place::new();
    Native::begin(&place.root()).go_on(false);
    Component::open(&place.root()).go_on(false);
    Native::open(&place.root()).go_on(false);
    let last = Component::open(&place.root()).go_on(true);
    assert_eq!(last.iteration.index, 4);
    assert_eq!(place.standing(), Standing::Right);
    let store = Native::open(&place.root()).0;
    let names: Vec<String> = store
        .events()
        .unwrap()
        .into_iter()
        .map(|it| it.event)
        .collect();
    let turns = ["agent_ended", "verdict"].repeat(4);
    assert_eq!(names, [&["loop_started"][..], &turns].concat());
    drop(store);

    let mut instance = MemoryInstance::new(&place.root(), &key()).unwrap();
    let view = View::open(&place.root(), &key()).unwrap();
    let verified = serde_json::to_value(view.verify(gate()).unwrap()).unwrap();
    assert_eq!(instance.verify(&key()).unwrap(), verified);
    let read = instance.read(&key()).unwrap();
    assert_eq!(read["state"]["iteration"], 4);
    assert_eq!(read["prd"]["passed"], 1);
    assert_eq!(read["events"].as_array().unwrap().len(), names.len());
}

#[test]
fn a_memory_that_can_not_answer_says_why() {
    let place = Place::new();
    let instance = || MemoryInstance::new(&place.root(), &key()).unwrap();
    let code = |refused: ralph_gate_tests::memory_component::Refused| refused.code;
    assert_eq!(
        instance().open(&key()).map(drop).map_err(code),
        Err("memory_no_session".into())
    );
    let standard = json!({ "at_ms": 1, "routing": gate().route("{}", "").unwrap() });
    let refused = instance().begin(&key(), &standard).map(drop).unwrap_err();
    assert_eq!(refused.code, "memory_input");
    assert!(refused.message.contains("standard"), "{}", refused.message);
    drop(Component::begin(&place.root()));
    assert_eq!(
        instance()
            .begin(&key(), &beginning())
            .map(drop)
            .map_err(code),
        Err("memory_session_exists".into())
    );
    let mut open = instance().open(&key()).unwrap();
    let refused = open.remember(&json!({ "at_ms": 1 })).unwrap_err();
    assert_eq!(refused.code, "memory_input");
    assert!(refused.message.contains("iteration"), "{}", refused.message);
    let unknown = open.save(&json!({ "handof": "keep" })).unwrap_err();
    assert!(unknown.message.contains("handof"), "{}", unknown.message);
}

#[test]
fn an_iteration_is_remembered_in_its_one_form_however_it_was_written() {
    let place = Place::new();
    let mut memory = Component::begin(&place.root());
    let state = memory.state();
    let contract = state["contract"].as_str().unwrap();
    let short =
        json!({ "index": 1, "action": "continue", "checks": null, "usage": { "cost_usd": 0.5 } });
    let iteration: Iteration = serde_json::from_str(&short.to_string()).unwrap();
    let verdict = gate().evaluate_final(contract, None, &iteration).unwrap();
    let evaluated = json!({ "at_ms": 1, "iteration": short, "verdict": verdict });
    memory.0.remember(&evaluated).unwrap();
    let events = memory.0.events().unwrap();
    let given = &events.as_array().unwrap().last().unwrap()["data"]["iteration"];
    assert_eq!(*given, serde_json::to_value(&iteration).unwrap());
    assert_eq!(given["usage"]["cost_usd"], "0.5");
}

#[test]
fn keys_and_locks_read_the_same_everywhere() {
    let place = Place::new();
    let mut instance = MemoryInstance::new(&place.root(), &key()).unwrap();
    assert_eq!(instance.folder_name(&json!(key())).unwrap(), key().folder());
    let draft = SessionKey::Draft("../x".into());
    assert_eq!(instance.folder_name(&json!(draft)).unwrap(), draft.folder());
    let empty = instance
        .folder_name(&json!({ "session_key": "" }))
        .unwrap_err();
    assert_eq!(empty.code, "memory_empty_key");
    let text = instance.holder_text(7, "node", 100);
    let busy = instance.busy("/x/.ralph/y", &text, 103);
    assert_eq!(
        (busy.code.as_str(), busy.message.as_str()),
        (
            "memory_busy",
            "/x/.ralph/y is being written by process 7 (node), for 3 s"
        )
    );
    // What another language wrote is what the host reads.
    fs::write(place.path("lock"), &text).unwrap();
    let holder = ralph_gate::memory::holder(&place.root(), &key()).unwrap();
    assert_eq!(holder.unwrap().program.as_deref(), Some("node"));
}
