//! The gate as the hook of a real client: what the agent is told, when it may stop, and what is remembered.

mod crashes;
mod promises;
mod refusals;
mod side_by_side;

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::clients::limited::Ended;
use ralph_gate_tests::clients::stage::Stage;
use ralph_gate_tests::clients::{Run, Scope};
use ralph_gate_tests::place::Place;
use ralph_gate_tests::said::Said;
use serde_json::Value;

/// A loop of a client, as it is remembered.
#[derive(Debug, PartialEq, Eq)]
struct Remembered {
    iterations: usize,
    /// Why it ended, if it has.
    stop_reason: Option<String>,
}

impl Remembered {
    fn new(iterations: usize, stop_reason: &str) -> Self {
        Self {
            iterations,
            stop_reason: Some(stop_reason.to_owned()),
        }
    }
}

/// Runs a client whose hook is the gate, configured as everyone who works in the repository gets it.
fn run_gated(run: Run<'_>) -> Ended {
    let run = run.gated().configured_in(Scope::Project);
    run.start().unwrap().assert_success()
}

/// What is remembered of the only loop of a place, after its memory was found to be in order.
fn remembered(stage: &Stage) -> Remembered {
    let mut loops = all_remembered(&stage.place);
    assert_eq!(loops.len(), 1, "{loops:?}");
    loops.remove(0)
}

/// The same for all loops of a place, by the names of their sessions.
fn all_remembered(place: &Place) -> Vec<Remembered> {
    let sessions = ralph_gate(place, &["memory", "list", "--json"]).json();
    let sessions = sessions["sessions"].as_array().unwrap();
    let keys = sessions.iter().map(|it| it["key"]["session_key"].as_str());
    keys.map(|key| from_log(place, key.unwrap())).collect()
}

fn from_log(place: &Place, key: &str) -> Remembered {
    ralph_gate(place, &["memory", "verify", key]);
    let log = ralph_gate(place, &["logs", key, "--json"]).stdout;
    let events = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let verdicts: Vec<Value> = events
        .filter(|it: &Value| it["event"] == "verdict")
        .collect();
    for (index, verdict) in verdicts.iter().enumerate() {
        assert_eq!(verdict["data"]["iteration"]["index"], index + 1, "{key}");
    }
    let last = &verdicts.last().unwrap()["data"]["verdict"];
    Remembered {
        iterations: verdicts.len(),
        stop_reason: last["stop_reason"].as_str().map(str::to_owned),
    }
}

fn ralph_gate(place: &Place, arguments: &[&str]) -> Said {
    Said::by(place.command(binary()).args(arguments)).assert_code(0)
}
