//! Clients whose hook is the gate, and what is remembered of their loops.

use serde_json::Value;

use super::limited::Ended;
use super::model_server::{Turn, last_said};
use super::stage::Stage;
use super::{Client, Run, STATE, Scope};
use crate::binary::binary;
use crate::place::Place;
use crate::said::Said;

const CONFIG: &str = r#"[contract]
mode = "ralph"
completion_checks = ["made"]
loop_max_iters = 6

[checks.made]
argv = ["test", "-e", "made.txt"]
"#;

/// A loop of a client, as it is remembered.
#[derive(Debug, PartialEq, Eq)]
pub struct Remembered {
    /// How many verdicts there were.
    pub iterations: usize,
    /// Why it ended, if it has.
    pub stop_reason: Option<String>,
}

impl Remembered {
    /// One that has ended.
    pub fn new(iterations: usize, stop_reason: &str) -> Self {
        Self {
            iterations,
            stop_reason: Some(stop_reason.to_owned()),
        }
    }
}

/// Runs a client whose hook is the gate, configured as everyone who works in the repository gets it.
///
/// # Panics
///
/// If that fails.
pub fn run_gated(run: Run<'_>) -> Ended {
    let run = run.gated().configured_in(Scope::Project);
    run.start().expect("it starts").assert_success()
}

/// What is remembered of the only loop of a place, after its memory was found to be in order.
///
/// # Panics
///
/// If there is none, or another one, or its memory is not in order.
pub fn remembered(stage: &Stage) -> Remembered {
    let mut loops = all_remembered(&stage.place);
    assert_eq!(loops.len(), 1, "{loops:?}");
    loops.remove(0)
}

/// The same for all loops of a place, by the names of their sessions.
///
/// # Panics
///
/// If a memory is not in order.
pub fn all_remembered(place: &Place) -> Vec<Remembered> {
    let sessions = ralph_gate(place, &["memory", "list", "--json"]).json();
    let sessions = sessions["sessions"].as_array().expect("a list");
    let keys = sessions.iter().map(|it| it["key"]["session_key"].as_str());
    keys.map(|key| from_log(place, key.expect("a key")))
        .collect()
}

fn from_log(place: &Place, key: &str) -> Remembered {
    ralph_gate(place, &["memory", "verify", key]);
    let log = ralph_gate(place, &["logs", key, "--json"]).stdout;
    let events = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let verdicts: Vec<Value> = events
        .filter(|it: &Value| it["event"] == "verdict")
        .collect();
    for (index, verdict) in verdicts.iter().enumerate() {
        assert_eq!(verdict["data"]["iteration"]["index"], index + 1, "{key}");
    }
    let last = &verdicts.last().expect("a verdict")["data"]["verdict"];
    Remembered {
        iterations: verdicts.len(),
        stop_reason: last["stop_reason"].as_str().map(str::to_owned),
    }
}

fn ralph_gate(place: &Place, arguments: &[&str]) -> Said {
    let mut command = place.command(binary());
    command
        .args(arguments)
        .env("XDG_STATE_HOME", place.beside(STATE));
    Said::by(&mut command).assert_code(0)
}

/// An agent that says "done" too early is refused twice, with reasons that reach the model, and let go when the check
/// passes. Gives what the client said.
///
/// # Panics
///
/// If anything is otherwise.
pub fn is_refused_twice_and_let_go(client: Client) -> Ended {
    let turns = [
        Turn::say("All done."),
        Turn::say("I am sure that all is done."),
        Turn::run("touch made.txt"),
        Turn::say("Now it is there."),
    ];
    let stage = Stage::new(client, &[("ralph-gate.toml", CONFIG)], turns);

    let ended = run_gated(stage.run());

    let asked = stage.model.conversation();
    assert_eq!(asked.len(), 4, "{ended:?}");
    let reasons = [
        "iteration 1 of 6 was refused.\n- made: check_failed: exit code 1",
        "iteration 2 of 6 was refused.\n- made: check_failed, unchanged since iteration 1",
    ];
    for (reason, request) in reasons.iter().zip(&asked[1..]) {
        let said = last_said(request);
        assert!(said.contains(reason), "{said}");
    }
    assert!(ended.stdout.contains("Now it is there."), "{ended:?}");
    assert_eq!(remembered(&stage), Remembered::new(3, "completed"));
    ended
}
