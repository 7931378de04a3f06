//! The store on a real folder: what is saved is there, what others do is taken in.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::engine::{GateEngine, PrdUpdate, ProgressEntry};

static GATE: LazyLock<GateEngine> = LazyLock::new(|| GateEngine::new().unwrap());

const CONTRACT: &str = r#"{"mode": "ralph", "completion_checks": ["tests"]}"#;
const PRD: &str = r#"{"items": [{"id": "a", "passes": false}, {"id": "b", "passes": false}]}"#;

struct Session {
    folder: TempDir,
    key: SessionKey,
}

impl Session {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
            key: SessionKey::Session("test".into()),
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join(".ralph")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(self.key.folder()).join(name)
    }

    /// A lock that was given up can live on for a moment in a process that another thread is about to start.
    fn try_open(&self) -> Result<FileStore<'static>, MemoryError> {
        self.open_with(Patience::Until(Duration::from_secs(10)))
    }

    fn open_with(&self, patience: Patience) -> Result<FileStore<'static>, MemoryError> {
        let start = Start {
            contract: CONTRACT.into(),
            prd: Some(PRD.into()),
            ..Start::default()
        };
        FileStore::open_or_create(&GATE, &self.root(), &self.key, &start, patience)
    }

    fn open(&self) -> FileStore<'static> {
        self.try_open().unwrap()
    }

    fn codes(&self) -> Vec<FindingCode> {
        codes(self.open().findings())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }
}

fn codes(findings: &[Finding]) -> Vec<FindingCode> {
    findings.iter().map(|finding| finding.code).collect()
}

/// One iteration: a snapshot that the gate made, an entry and an event.
fn iteration(store: &FileStore<'_>, title: &str) -> Change {
    let state = store.state();
    let index = state.iteration + 1;
    let input = format!(
        r#"{{"contract": {}, "snapshot": {}, "iteration": {{"index": {index}, "action": "continue", "output": "{title}"}}}}"#,
        state.contract,
        serde_json::to_string(&state.snapshot).unwrap(),
    );
    let verdict: serde_json::Value =
        serde_json::from_str(&GATE.call("evaluate_final", &input).unwrap()).unwrap();
    Change {
        snapshot: Some(Snapshot {
            iteration: index,
            text: verdict["snapshot"].as_str().unwrap().to_owned(),
        }),
        progress: Some(entry(index, title)),
        events: vec![Event::new("verdict", &verdict["decision"]).unwrap()],
        ..Change::default()
    }
}

fn entry(iteration: u32, title: &str) -> ProgressEntry {
    ProgressEntry {
        iteration,
        title: title.into(),
        body: "learned".into(),
    }
}

fn go_on(store: &mut FileStore<'_>, title: &str) -> Saved {
    let change = iteration(store, title);
    store.save(&change).unwrap()
}

#[test]
fn what_is_saved_is_there_after_a_restart() {
    let session = Session::new();
    let mut store = session.open();
    let change = Change {
        prd: vec![PrdUpdate {
            id: "a".into(),
            passes: true,
            evidence: Some("3 passed".into()),
        }],
        handoff: Handoff::Write("# Handoff\n".into()),
        ..iteration(&store, "one")
    };
    let saved = store.save(&change).unwrap();
    assert_eq!((saved.revision, saved.findings), (2, vec![]));
    let state = store.state();
    drop(store);
    let store = session.open();
    assert_eq!(store.findings(), []);
    assert_eq!(store.state(), state);
    assert_eq!((state.iteration, state.events), (1, 1));
    assert_eq!(store.prd().unwrap().unwrap().passed, 1);
    assert_eq!(store.progress().unwrap().entries, [entry(1, "one")]);
    assert_eq!(session.read("contract.json"), CONTRACT);
    assert_eq!(session.read("handoff.md"), "# Handoff\n");
    assert!(
        session
            .read("prd.json")
            .contains(r#""evidence": "3 passed""#)
    );
}

#[test]
fn old_checkpoints_are_cleared_away_and_the_logs_stay_whole() {
    let session = Session::new();
    let mut store = session.open();
    for index in 0..50 {
        assert_eq!(go_on(&mut store, &format!("entry {index}")).findings, []);
    }
    drop(store);
    let kept = fs::read_dir(session.path("checkpoints")).unwrap().count() as u64;
    assert!((4..20).contains(&kept), "{kept}");
    let store = session.open();
    assert_eq!(store.findings(), []);
    assert_eq!(store.progress().unwrap().entries.len(), 50);
    assert_eq!(session.read("events.jsonl").lines().count(), 50);
}

#[test]
fn a_second_writer_is_told_who_the_first_one_is() {
    let session = Session::new();
    let store = session.open();
    let error = session.open_with(Patience::None).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(&format!("process {}", std::process::id())),
        "{text}"
    );
    drop(store);
    session.open();
}

#[test]
fn what_an_agent_adds_to_the_progress_log_stays() {
    let session = Session::new();
    let mut store = session.open();
    go_on(&mut store, "one");
    let mine = format!("{}My own note.\n", session.read("progress.txt"));
    session.write("progress.txt", &mine);
    let saved = go_on(&mut store, "two");
    assert_eq!(codes(&saved.findings), [FindingCode::ProgressAdded]);
    drop(store);
    let text = session.read("progress.txt");
    assert!(text.starts_with(&mine) && text.contains("two"));
    assert_eq!(session.codes(), []);
}

#[test]
fn an_edit_of_the_same_length_is_noticed_at_once() {
    let session = Session::new();
    let mut store = session.open();
    for index in 0..20 {
        go_on(&mut store, &format!("entry {index}"));
        let path = session.path("progress.txt");
        let text = fs::read_to_string(&path)
            .unwrap()
            .replace("learned", "LEARNED");
        let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        drop(file);
        let saved = go_on(&mut store, "next");
        assert_eq!(
            codes(&saved.findings),
            [FindingCode::ProgressEdited],
            "{index}"
        );
    }
    assert_eq!(session.read("progress.txt").matches("LEARNED").count(), 39);
}

#[test]
fn an_agents_edit_of_the_checklist_is_merged_with_ours() {
    let session = Session::new();
    let mut store = session.open();
    let theirs = PRD.replace(
        r#""id": "b", "passes": false"#,
        r#""id": "b", "passes": true, "note": 1"#,
    );
    session.write("prd.json", &theirs);
    let update = PrdUpdate {
        id: "a".into(),
        passes: true,
        evidence: None,
    };
    let saved = store
        .save(&Change {
            prd: vec![update],
            ..Change::default()
        })
        .unwrap();
    assert_eq!(codes(&saved.findings), [FindingCode::PrdEdited]);
    assert!(
        saved.findings[0].message.contains("`b` passes now"),
        "{:?}",
        saved.findings
    );
    assert_eq!(
        session.read("prd.json"),
        theirs.replace(
            r#""id": "a", "passes": false"#,
            r#""id": "a", "passes": true"#
        )
    );
}

#[test]
fn a_checklist_that_cant_be_read_is_set_aside() {
    let session = Session::new();
    drop(session.open());
    session.write("prd.json", "{ not json");
    let store = session.open();
    assert_eq!(codes(store.findings()), [FindingCode::PrdDamaged]);
    assert_eq!(session.read("prd.json"), PRD);
    let kept = store.findings()[0].kept.clone().unwrap();
    assert_eq!(session.read(&kept), "{ not json");
    assert!(session.path(&format!("{kept}.reason.txt")).exists());
    drop(store);
    assert_eq!(session.codes(), []);
}

/// A session whose loop has stopped.
fn stopped() -> (Session, FileStore<'static>) {
    let session = Session::new();
    let mut store = session.open();
    let change = Change {
        handoff: Handoff::Write("# Handoff\n".into()),
        ..iteration(&store, "stopped")
    };
    store.save(&change).unwrap();
    (session, store)
}

fn complete() -> Change {
    Change {
        handoff: Handoff::Withdraw,
        ..Change::default()
    }
}

#[test]
fn a_handoff_stays_until_it_is_withdrawn() {
    let (session, mut store) = stopped();
    go_on(&mut store, "goes on");
    assert_eq!(session.read("handoff.md"), "# Handoff\n");
    assert_eq!(store.save(&complete()).unwrap().findings, []);
    assert_eq!(store.state().handoff, None);
    drop(store);
    assert!(!session.path("handoff.md").exists());
    assert_eq!(session.codes(), []);
}

#[test]
fn notes_that_a_person_made_in_a_handoff_are_kept_when_it_is_withdrawn() {
    let (session, mut store) = stopped();
    session.write("handoff.md", "# Handoff\nI mended it.\n");
    let findings = store.save(&complete()).unwrap().findings;
    assert_eq!(codes(&findings), [FindingCode::FileReplaced]);
    assert!(!session.path("handoff.md").exists());
    let kept = findings[0].kept.clone().unwrap();
    assert_eq!(session.read(&kept), "# Handoff\nI mended it.\n");
}

#[test]
fn a_handoff_that_came_back_after_a_crash_is_taken_away_again() {
    let (session, mut store) = stopped();
    store.save(&complete()).unwrap();
    drop(store);
    session.write("handoff.md", "# Handoff\n");
    assert_eq!(session.codes(), [FindingCode::FileRedone]);
    assert!(!session.path("handoff.md").exists());
    assert_eq!(session.codes(), []);
}

#[test]
fn a_handoff_of_a_loop_that_has_not_stopped_is_set_aside() {
    let session = Session::new();
    let mut store = session.open();
    session.write("handoff.md", "# All is well\n");
    assert_eq!(codes(&store.look().unwrap()), [FindingCode::FileReplaced]);
    assert!(!session.path("handoff.md").exists());
    assert_eq!(store.look().unwrap(), []);
}

#[test]
fn an_edited_contract_is_restored() {
    let session = Session::new();
    let mut store = session.open();
    session.write("contract.json", "{}");
    let saved = store.save(&Change::default()).unwrap();
    assert_eq!(codes(&saved.findings), [FindingCode::ContractEdited]);
    assert_eq!(session.read("contract.json"), CONTRACT);
}

#[test]
fn links_are_set_aside_and_never_followed() {
    let session = Session::new();
    let mut store = session.open();
    go_on(&mut store, "one");
    drop(store);
    let outside = session.folder.path().join("outside");
    fs::write(&outside, "precious").unwrap();
    for name in ["prd.json", "progress.txt", "events.jsonl", "contract.json"] {
        let text = session.read(name);
        for hard in [false, true] {
            fs::remove_file(session.path(name)).unwrap();
            if hard {
                fs::hard_link(&outside, session.path(name)).unwrap();
            } else {
                symlink(&outside, session.path(name)).unwrap();
            }
            let mut store = session.open();
            assert!(
                codes(store.findings()).contains(&FindingCode::FileReplaced),
                "{name}"
            );
            assert_eq!(session.read(name), text, "{name}");
            store.save(&Change::default()).unwrap();
            assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
        }
    }
}

#[test]
fn a_root_or_session_that_is_a_link_is_refused() {
    let session = Session::new();
    let elsewhere = session.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, session.root()).unwrap();
    let error = session.try_open().unwrap_err();
    assert!(error.to_string().ends_with("is a symbolic link"), "{error}");
    fs::remove_file(session.root()).unwrap();
    fs::create_dir(session.root()).unwrap();
    symlink(&elsewhere, session.path("")).unwrap_or_else(|_| {
        symlink(&elsewhere, session.root().join(session.key.folder())).unwrap();
    });
    let error = session.try_open().unwrap_err();
    assert!(error.to_string().ends_with("is a symbolic link"), "{error}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn folders_that_are_swapped_during_a_run_are_noticed() {
    let session = Session::new();
    let mut store = session.open();
    let elsewhere = session.folder.path().join("elsewhere");
    fs::rename(session.path("checkpoints"), &elsewhere).unwrap();
    symlink(&elsewhere, session.path("checkpoints")).unwrap();
    let count = |path: &Path| fs::read_dir(path).unwrap().count();
    let before = count(&elsewhere);
    let error = store.save(&Change::default()).unwrap_err();
    assert!(error.to_string().contains("no longer the one"), "{error}");
    assert_eq!(count(&elsewhere), before);
}

#[test]
fn a_removed_lock_is_noticed() {
    let session = Session::new();
    let mut store = session.open();
    fs::remove_file(session.path("lock")).unwrap();
    let error = store.save(&Change::default()).unwrap_err();
    assert!(error.to_string().contains("lock is no longer"), "{error}");
}

#[test]
fn pipes_and_folders_in_place_of_files_do_not_stop_anything() {
    let session = Session::new();
    drop(session.open());
    fs::remove_file(session.path("prd.json")).unwrap();
    let pipe = session.path("prd.json");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(pipe)
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(
        session.codes(),
        [FindingCode::FileReplaced, FindingCode::FileRestored]
    );
    fs::remove_file(session.path("contract.json")).unwrap();
    fs::create_dir(session.path("contract.json")).unwrap();
    assert_eq!(
        session.codes(),
        [FindingCode::FileReplaced, FindingCode::FileRestored]
    );
    assert_eq!(session.codes(), []);
}

#[test]
fn without_a_checkpoint_nothing_is_invented() {
    let session = Session::new();
    let mut store = session.open();
    go_on(&mut store, "one");
    drop(store);
    for revision in 1..=2 {
        session.write(&format!("checkpoints/{revision:010}.json"), "{}");
    }
    let error = session.try_open().unwrap_err();
    assert_eq!(error.code(), "memory_unreadable");
    assert!(
        error.to_string().contains("checkpoints/0000000002.json"),
        "{error}"
    );
    // Nor the second time, when they have been set aside.
    assert_eq!(session.try_open().unwrap_err().code(), "memory_unreadable");
    assert!(session.path("quarantine/0000000002.json-1").exists());
}

#[test]
fn a_damaged_checkpoint_gives_way_to_the_one_before() {
    let session = Session::new();
    let mut store = session.open();
    go_on(&mut store, "one");
    go_on(&mut store, "two");
    drop(store);
    session.write("checkpoints/0000000003.json", "torn");
    let store = session.open();
    assert_eq!(store.state().iteration, 1);
    let found = codes(store.findings());
    assert!(
        found.contains(&FindingCode::CheckpointDamaged)
            && found.contains(&FindingCode::EventsAdded),
        "{found:?}"
    );
    assert!(session.read("progress.txt").contains("two"));
    drop(store);
    assert_eq!(session.codes(), [FindingCode::ProgressAdded]);
}

#[test]
fn iterations_do_not_go_back() {
    let session = Session::new();
    let mut store = session.open();
    let first = iteration(&store, "one");
    go_on(&mut store, "one");
    go_on(&mut store, "two");
    assert_eq!(store.save(&first).unwrap_err().code(), "memory_went_back");
}

#[test]
fn a_memory_without_a_disk_behaves_the_same() {
    let key = SessionKey::Draft("d".into());
    let start = Start {
        contract: CONTRACT.into(),
        prd: Some(PRD.into()),
        ..Start::default()
    };
    let mut store = InMemoryStore::new(&*GATE, &key, &start).unwrap();
    let store: &mut dyn LoopMemoryStore = &mut store;
    for index in 0..30 {
        let change = Change {
            progress: Some(entry(index, "one")),
            events: vec![Event::new("e", &index).unwrap()],
            ..Change::default()
        };
        assert_eq!(store.save(&change).unwrap().findings, []);
    }
    assert_eq!(store.progress().unwrap().entries.len(), 30);
    assert_eq!((store.state().revision, store.state().events), (31, 30));
    assert_eq!(store.prd().unwrap().unwrap().total, 2);
}

#[test]
fn no_key_leads_out_of_the_root() {
    let long = "k".repeat(10_000);
    let keys = [
        "..",
        "../../x",
        "/etc/passwd",
        "a\0b",
        "CON",
        "x\ny",
        "lock",
        "Key",
        "key",
        "-rf",
        "\u{202e}",
        &long,
    ];
    let mut session = Session::new();
    for (index, key) in keys.iter().enumerate() {
        session.key = SessionKey::Session((*key).to_owned());
        let mut store = session.open();
        go_on(&mut store, "one");
        drop(store);
        assert_eq!(session.open().state().iteration, 1, "{key:?}");
        let sessions = list(&session.root()).unwrap();
        assert_eq!(sessions.len(), index + 1, "{key:?}");
        assert!(
            sessions.iter().all(|session| session.problem.is_none()),
            "{sessions:?}"
        );
    }
    let outside = fs::read_dir(session.folder.path()).unwrap().count();
    assert_eq!(outside, 1, "only the root is there");
    session.key = SessionKey::Session(String::new());
    assert_eq!(session.try_open().unwrap_err().code(), "memory_empty_key");
}

#[test]
fn a_folder_of_another_key_is_not_opened() {
    let session = Session::new();
    drop(session.open());
    let other = SessionKey::Session("other".into());
    fs::rename(session.path(""), session.root().join(other.folder())).unwrap();
    let error = FileStore::open(&GATE, &session.root(), &other, Patience::None).unwrap_err();
    assert_eq!(error.code(), "memory_other_key");
}

#[test]
fn a_newer_format_is_left_alone() {
    let session = Session::new();
    drop(session.open());
    let name = "checkpoints/0000000001.json";
    let text = session
        .read(name)
        .replace("{\"version\":2,", "{\"version\":3,");
    let (body, _) = text.rsplit_once(",\"digest\"").unwrap();
    let sealed = format!(
        "{body},\"digest\":\"{}\"}}\n",
        blake3::hash(body.as_bytes()).to_hex()
    );
    session.write(name, &sealed);
    let error = session.try_open().unwrap_err();
    assert_eq!(error.code(), "memory_newer");
    assert_eq!(session.read(name), sealed);
}

#[test]
fn files_that_were_blown_up_are_set_aside_and_not_read() {
    let session = Session::new();
    let mut store = session.open();
    go_on(&mut store, "one");
    drop(store);
    for name in ["progress.txt", "events.jsonl", "prd.json", "contract.json"] {
        let text = session.read(name);
        let file = fs::OpenOptions::new()
            .write(true)
            .open(session.path(name))
            .unwrap();
        file.set_len(300 << 20).unwrap();
        drop(file);
        let found = session.codes();
        assert!(
            found.contains(&FindingCode::FileReplaced),
            "{name}: {found:?}"
        );
        assert_eq!(session.read(name), text, "{name}");
    }
    assert_eq!(session.codes(), []);
}

#[test]
fn what_others_do_while_it_is_open_is_seen_at_the_next_look() {
    let session = Session::new();
    let mut store = session.open();
    go_on(&mut store, "one");
    assert_eq!(store.look().unwrap(), []);
    session.write(
        "progress.txt",
        &format!("{}a note\n", session.read("progress.txt")),
    );
    assert_eq!(codes(&store.look().unwrap()), [FindingCode::ProgressAdded]);
    session.write("contract.json", "{}");
    assert_eq!(codes(&store.look().unwrap()), [FindingCode::ContractEdited]);
    assert_eq!(store.look().unwrap(), []);
    assert_eq!(session.read("contract.json"), CONTRACT);
}

#[test]
fn a_checkpoint_that_is_changed_while_it_is_open_is_written_again() {
    let session = Session::new();
    let mut store = session.open();
    go_on(&mut store, "one");
    let newest = "checkpoints/0000000002.json";
    let right = session.read(newest);
    session.write(newest, &right.replace("one", "two"));
    assert_eq!(
        codes(&store.look().unwrap()),
        [FindingCode::CheckpointDamaged]
    );
    fs::remove_file(session.path(newest)).unwrap();
    assert_eq!(
        codes(&store.look().unwrap()),
        [FindingCode::CheckpointDamaged]
    );
    assert_eq!(session.read(newest), right);
    assert_eq!(store.look().unwrap(), []);
}

#[test]
fn events_can_be_read_back_by_writers_and_readers() {
    let session = Session::new();
    let mut store = session.open();
    go_on(&mut store, "one");
    go_on(&mut store, "two");
    let told = |records: Vec<Record>| -> Vec<(u64, String, String)> {
        let told = |record: Record| (record.seq, record.event.clone(), record.read().unwrap());
        records.into_iter().map(told).collect()
    };
    let expected = [1, 2].map(|seq| (seq, "verdict".to_owned(), "continue".to_owned()));
    assert_eq!(told(store.events().unwrap()), expected);
    let view = View::open(&session.root(), &session.key).unwrap();
    assert_eq!(told(view.events().unwrap()), expected);
}

#[test]
fn a_reader_sees_the_events_that_a_killed_writer_saved_and_did_not_add_to_the_log() {
    let session = Session::new();
    let mut store = session.open();
    go_on(&mut store, "one");
    let before = session.read("events.jsonl");
    go_on(&mut store, "two");
    drop(store);
    let whole = session.read("events.jsonl");
    let view = View::open(&session.root(), &session.key).unwrap();
    for kept in [before.len(), before.len() + 1, whole.len() - 1, whole.len()] {
        session.write("events.jsonl", &whole[..kept]);
        let seen: Vec<u64> = view.events().unwrap().iter().map(|it| it.seq).collect();
        assert_eq!(seen, [1, 2], "with {kept} of {} bytes", whole.len());
        assert_eq!(session.read("events.jsonl").len(), kept, "a reader wrote");
    }
}

#[test]
fn what_a_killed_writer_did_not_come_to_write_is_not_wrong_and_what_is_gone_later_is() {
    let session = Session::new();
    let mut store = session.open();
    let contract = format!("{CONTRACT} ");
    let change = Change {
        contract: Some(contract.clone()),
        handoff: Handoff::Write("# Handoff\n".into()),
        ..iteration(&store, "one")
    };
    store.save(&change).unwrap();
    let view = View::open(&session.root(), &session.key).unwrap();
    let standing = || view.verify(&*GATE).unwrap().standing();
    for name in ["progress.txt", "handoff.md"] {
        let whole = session.read(name);
        fs::remove_file(session.path(name)).unwrap();
        assert_eq!(standing(), Standing::Changed, "{name}");
        session.write(name, &whole);
    }
    session.write("contract.json", CONTRACT);
    assert_eq!(standing(), Standing::Changed);
    session.write("contract.json", &contract);
    assert_eq!(standing(), Standing::Right);
    go_on(&mut store, "two");
    for name in ["progress.txt", "handoff.md", "contract.json"] {
        let whole = session.read(name);
        fs::remove_file(session.path(name)).unwrap();
        assert_eq!(standing(), Standing::Wrong, "{name}");
        session.write(name, &whole);
    }
    session.write("contract.json", CONTRACT);
    assert_eq!(standing(), Standing::Wrong);
}

#[test]
fn the_end_of_the_progress_log_begins_with_a_line() {
    let session = Session::new();
    let mut store = session.open();
    go_on(&mut store, "one");
    let whole = session.read("progress.txt");
    assert_eq!(store.recent_progress(1 << 20).unwrap(), whole);
    let end = store.recent_progress(whole.len() as u64 - 1).unwrap();
    // Whether the first of them is whole can't be seen from here.
    assert_eq!(end, whole.splitn(3, '\n').nth(2).unwrap());
}

#[test]
fn whoever_writes_is_known_to_those_who_ask() {
    let session = Session::new();
    assert_eq!(holder(&session.root(), &session.key).unwrap(), None);
    let store = session.open();
    let found = holder(&session.root(), &session.key).unwrap().unwrap();
    assert_eq!(found.process, Some(std::process::id()));
    drop(store);
    // It can live on for a moment in a process that another thread is about to start.
    let until = std::time::Instant::now() + Duration::from_mins(1);
    while let Some(holder) = holder(&session.root(), &session.key).unwrap() {
        assert!(std::time::Instant::now() < until, "still held: {holder:?}");
        std::thread::yield_now();
    }
}

#[test]
fn a_writer_may_wait_for_one_that_is_about_to_end() {
    let session = Session::new();
    let store = session.open();
    let patience = Patience::Until(Duration::from_mins(1));
    let (root, key) = (session.root(), session.key.clone());
    let waiting = std::thread::spawn(move || {
        FileStore::open(&GATE, &root, &key, patience).map(|store| store.state().revision)
    });
    drop(store);
    assert_eq!(waiting.join().unwrap().unwrap(), 1);
}
