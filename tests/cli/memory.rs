//! `ralph-gate memory`: what a person sees of a session, and what becomes of one that somebody changed.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use ralph_gate::GateEngine;
use ralph_gate::engine::ProgressEntry;
use ralph_gate::memory::{Change, Event, FileStore, Patience, SessionKey, Start};
use serde_json::Value;

use ralph_gate_tests::said::Said;

use crate::harness::{Files, run, run_with};

static GATE: LazyLock<GateEngine> = LazyLock::new(|| GateEngine::new().unwrap());

const KEY: &str = "night run";

/// A folder with one session of five saves.
struct Session {
    files: Files,
}

impl Session {
    fn new() -> Self {
        let session = Self {
            files: Files::new(),
        };
        let mut store = session.open();
        for iteration in 1..=5 {
            let change = Change {
                progress: Some(ProgressEntry {
                    iteration,
                    title: format!("turn {iteration}"),
                    body: "learned".into(),
                }),
                events: vec![Event::new("turn", &iteration).unwrap()],
                ..Change::default()
            };
            store.save(&change).unwrap();
        }
        session
    }

    fn open(&self) -> FileStore<'static> {
        let start = Start {
            contract: r#"{"mode": "ralph", "completion_checks": ["tests"]}"#.into(),
            prd: Some(r#"{"items": [{"id": "a", "passes": true}, {"id": "b"}]}"#.into()),
            ..Start::default()
        };
        let key = SessionKey::Session(KEY.into());
        // A lock that was given up can live on for a moment in a process that another test is about to start.
        let patience = Patience::Until(Duration::from_secs(10));
        FileStore::open_or_create(&GATE, &self.root(), &key, &start, patience).unwrap()
    }

    fn root(&self) -> PathBuf {
        PathBuf::from(self.files.folder()).join(".ralph")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root()
            .join(SessionKey::Session(KEY.into()).folder())
            .join(name)
    }

    fn run(&self, arguments: &[&str]) -> Said {
        let root = self.root();
        run(&[&["memory"], arguments, &["--root", root.to_str().unwrap()]].concat())
    }

    /// The event log, line by line.
    fn events(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("events.jsonl")).unwrap();
        text.split_inclusive('\n').map(str::to_owned).collect()
    }

    /// What `verify` says about a changed event log.
    fn verify_events(&self, change: impl Fn(&mut Vec<String>)) -> (Said, Value) {
        let whole = self.events();
        let mut lines = whole.clone();
        change(&mut lines);
        fs::write(self.path("events.jsonl"), lines.concat()).unwrap();
        let text = self.run(&["verify", KEY]);
        let json = self.run(&["verify", KEY, "--json"]).json();
        fs::write(self.path("events.jsonl"), whole.concat()).unwrap();
        let files = json["files"].as_array().unwrap().clone();
        let events = files
            .into_iter()
            .find(|file| file["file"] == "events.jsonl");
        (text, events.unwrap())
    }
}

#[test]
fn a_session_is_listed_and_shown() {
    let session = Session::new();
    let list = session.run(&["list"]);
    assert!(
        list.stdout.contains("night run") && list.stdout.contains("revision 6, 5 events"),
        "{list:?}"
    );
    let json = session.run(&["list", "--json"]).json();
    assert_eq!(json["sessions"][0]["key"]["session_key"], KEY);
    let show = session.run(&["show", KEY]);
    assert_eq!((show.code, show.stderr.as_str()), (0, ""));
    for text in [
        "night run",
        "the loop goes on",
        "1 of 2 pass",
        "5 entries",
        "turn 5",
    ] {
        assert!(show.stdout.contains(text), "{text}: {show:?}");
    }
    let json = session.run(&["show", KEY, "--json"]).json();
    assert_eq!(
        (&json["revision"], &json["prd"]["passed"]),
        (&6.into(), &1.into())
    );
    assert_eq!(json["progress"]["entries"].as_array().unwrap().len(), 5);
}

#[test]
fn an_untouched_session_is_right() {
    let session = Session::new();
    let verify = session.run(&["verify", KEY]);
    assert_eq!(verify.code, 0);
    assert!(
        verify.stdout.ends_with("everything is as it was saved\n"),
        "{verify:?}"
    );
    assert_eq!(
        session.run(&["verify", KEY, "--json"]).json()["standing"],
        "right"
    );
    assert_eq!(
        session.run(&["repair", KEY]).stdout,
        "nothing had to be mended\n"
    );
}

#[test]
fn verify_names_the_line_that_was_edited_removed_or_moved() {
    let session = Session::new();
    let edit: fn(&mut Vec<String>) =
        |lines| lines[2] = lines[2].replace("\"data\":3", "\"data\":4");
    let remove: fn(&mut Vec<String>) = |lines| drop(lines.remove(1));
    let cut: fn(&mut Vec<String>) = |lines| lines.truncate(3);
    let swap: fn(&mut Vec<String>) = |lines| lines.swap(1, 3);
    let cases = [
        (edit, 3, "line 3 was edited"),
        (remove, 2, "one line was removed in front of line 2"),
        (
            cut,
            4,
            "the log ends before line 4, and the newest checkpoint knows 5 lines",
        ),
        (swap, 2, "line 2 was moved: it was written as line 4"),
    ];
    for (change, line, message) in cases {
        let (text, events) = session.verify_events(change);
        assert_eq!((text.code, text.stderr.as_str()), (1, ""), "{message}");
        assert!(
            text.stdout
                .contains(&format!("wrong  events.jsonl: {message}\n")),
            "{text:?}"
        );
        assert_eq!(
            (&events["line"], &events["message"]),
            (&line.into(), &message.into())
        );
    }
    assert_eq!(session.run(&["verify", KEY]).code, 0);
}

#[test]
fn an_edit_that_anybody_may_make_is_no_fault() {
    let session = Session::new();
    fs::write(
        session.path("prd.json"),
        r#"{"items": [{"id": "a"}, {"id": "b", "passes": true}]}"#,
    )
    .unwrap();
    let verify = session.run(&["verify", KEY]);
    assert_eq!(verify.code, 0);
    assert!(
        verify
            .stdout
            .contains("changed  prd.json: edited since: `a` no longer passes, `b` passes now"),
        "{verify:?}"
    );
}

#[test]
fn repair_says_in_one_paragraph_what_it_did() {
    let session = Session::new();
    fs::write(session.path("prd.json"), "no\u{1b}[31m json").unwrap();
    fs::write(session.path("contract.json"), "{}").unwrap();
    let repair = session.run(&["repair", KEY]);
    assert_eq!((repair.code, repair.stderr.as_str()), (0, ""));
    assert_eq!(repair.stdout.lines().count(), 1, "{repair:?}");
    assert!(!repair.stdout.contains('\u{1b}'), "{repair:?}");
    for text in [
        "contract.json: it was edited",
        "prd.json: it can't be read",
        "kept as quarantine/prd.json-",
    ] {
        assert!(repair.stdout.contains(text), "{text}: {repair:?}");
    }
    assert_eq!(session.run(&["verify", KEY]).code, 0);
    let again = session.run(&["repair", KEY, "--json"]).json();
    assert_eq!(again["findings"], Value::Array(Vec::new()));
}

#[test]
fn a_session_is_carried_elsewhere_in_one_file() {
    let session = Session::new();
    fs::create_dir(session.path("quarantine")).unwrap();
    fs::write(session.path("quarantine/x"), b"\xff\x00").unwrap();
    let export = session.run(&["export", KEY]);
    assert_eq!((export.code, export.stderr.as_str()), (0, ""));
    let elsewhere = Files::new();
    let root = format!("{}/.ralph", elsewhere.folder());
    let import = |text: &str| {
        run_with(
            &["memory", "import", "--root", &root, "--json"],
            text.as_bytes(),
        )
    };
    let imported = import(&export.stdout).json();
    assert_eq!(imported["revision"], 6);
    let again = run(&["memory", "export", KEY, "--root", &root]);
    assert_eq!(again.stdout, export.stdout);
    assert_eq!(run(&["memory", "verify", KEY, "--root", &root]).code, 0);
    assert_eq!(import(&export.stdout).error_code(), "memory_session_exists");
}

#[test]
fn a_changed_export_is_refused_and_leaves_nothing() {
    let session = Session::new();
    let file = session.files.folder() + "/export.jsonl";
    let export = session.run(&["export", KEY, "--output", &file]);
    assert!(export.stdout.contains("export.jsonl: "), "{export:?}");
    let text = fs::read_to_string(&file).unwrap();
    let elsewhere = Files::new();
    let root = format!("{}/.ralph", elsewhere.folder());
    for changed in [
        text.replace("learned", "leaned"),
        text[..text.len() / 2].to_owned(),
        text.lines().next().unwrap().to_owned() + "\n",
        String::new(),
        "{}\n{}\n".to_owned(),
    ] {
        let import = run_with(
            &["memory", "import", "--root", &root, "--json"],
            changed.as_bytes(),
        );
        assert_eq!(import.error_code(), "memory_bad_export");
        assert!(!PathBuf::from(&root).exists());
    }
}

#[test]
fn an_export_can_not_write_outside_its_folder() {
    let session = Session::new();
    let whole = session.run(&["export", KEY]).stdout;
    let elsewhere = Files::new();
    let root = format!("{}/.ralph", elsewhere.folder());
    for name in [
        "../evil",
        "/evil",
        "checkpoints/../../evil",
        "other/evil",
        "lock",
        ".evil",
        "checkpoints",
        "",
    ] {
        let (content, _) = whole.trim_end().rsplit_once('\n').unwrap();
        let content = format!(
            "{}\n",
            content.replacen(
                "\"file\":\"contract.json\"",
                &format!("\"file\":\"{name}\""),
                1
            )
        );
        let digest = blake3::hash(content.as_bytes());
        let forged = format!("{content}{{\"digest\":\"{digest}\"}}\n");
        let import = run_with(
            &["memory", "import", "--root", &root, "--json"],
            forged.as_bytes(),
        );
        assert_eq!(import.error_code(), "memory_bad_export", "{name}");
    }
    assert!(!PathBuf::from(&root).exists());
}

#[test]
fn a_session_in_use_can_be_read_and_not_repaired() {
    let session = Session::new();
    let store = session.open();
    assert_eq!(session.run(&["show", KEY]).code, 0);
    assert_eq!(session.run(&["verify", KEY]).code, 0);
    let repair = session.run(&["repair", KEY]);
    assert_eq!(repair.code, 1);
    let holder = format!("is being written by process {}", std::process::id());
    assert!(
        repair.stderr.contains(&holder) && repair.stderr.contains("its lock ends with it"),
        "{repair:?}"
    );
    drop(store);
    assert_eq!(session.run(&["repair", KEY]).code, 0);
}

#[test]
fn what_is_not_there_is_said_with_a_remedy() {
    let session = Session::new();
    for command in ["show", "verify", "repair", "export"] {
        assert_eq!(
            session.run(&[command, "other", "--json"]).error_code(),
            "memory_no_session"
        );
        assert_eq!(
            session
                .run(&[command, KEY, "--draft", "--json"])
                .error_code(),
            "memory_no_session"
        );
        assert_eq!(
            session.run(&[command, "", "--json"]).error_code(),
            "memory_empty_key"
        );
    }
    let show = session.run(&["show", "other"]);
    assert!(
        show.stderr
            .contains("`ralph-gate memory list` shows what is there"),
        "{show:?}"
    );
    let nowhere = run(&["memory", "list", "--root", "does/not/exist"]);
    assert_eq!(
        (nowhere.code, nowhere.stdout.as_str()),
        (0, "no session in does/not/exist\n")
    );
}

#[test]
fn a_state_that_cant_be_read_is_an_error_and_stays_one() {
    let session = Session::new();
    for name in fs::read_dir(session.path("checkpoints")).unwrap() {
        fs::write(name.unwrap().path(), "{}").unwrap();
    }
    for command in ["show", "verify", "export", "repair", "repair"] {
        assert_eq!(
            session.run(&[command, KEY, "--json"]).error_code(),
            "memory_unreadable",
            "{command}"
        );
    }
    let repair = session.run(&["repair", KEY]);
    assert!(repair.stderr.contains("nothing was deleted"), "{repair:?}");
    let kept = fs::read_dir(session.path("quarantine")).unwrap().count();
    assert_eq!(kept, 12, "six checkpoints, each with its reason");
}
