//! What the clients tell their hooks, word for word. `BLESS=1` writes it anew.

use std::fs;
use std::path::PathBuf;

use ralph_gate_tests::clients::Client;
use ralph_gate_tests::clients::model_server::Turn;
use ralph_gate_tests::clients::stage::{Stage, block};
use ralph_gate_tests::offline_tests;
use serde_json::Value;

use crate::steady::{Ids, shortened};

/// Two blocks with a tool between, then a second prompt in the same session.
fn observe(client: Client) -> Stage {
    let stage = Stage::anywhere(
        client,
        [
            Turn::say("First answer."),
            Turn::Write {
                path: "made.txt".to_owned(),
                text: "made".to_owned(),
            },
            Turn::say("Second answer."),
            Turn::say("Third answer."),
            Turn::say("Answer to the second prompt."),
        ],
    );
    let stop = stage.hook("stop", &[&block("Reason one."), &block("Reason two.")]);
    let others = stage.hook("other", &[]);
    let mut run = stage.run().on_stop(stop);
    for event in client
        .events()
        .iter()
        .filter(|event| **event != client.stop_event())
    {
        run = run.on(event, &others);
    }
    run.start().unwrap().assert_success();
    run.resumed().start().unwrap().assert_success();
    assert_eq!(stage.model.conversation().len(), 5);
    stage
}

fn is_as_observed(client: Client) {
    let stage = observe(client);
    let mut ids = Ids::default();
    let told = [stage.told("other"), stage.told("stop")].concat();
    let lines = told
        .iter()
        .map(|event| ids.steady(&stage.place, &event.to_string()) + "\n");
    compare(
        &format!("{}.jsonl", client.name()),
        &lines.collect::<String>(),
    );

    let path = told[0]["transcript_path"].as_str().unwrap();
    let transcript = fs::read_to_string(path).unwrap();
    let line = |line| shortened(serde_json::from_str::<Value>(line).unwrap());
    let lines = transcript
        .lines()
        .map(|text| ids.steady(&stage.place, &line(text).to_string()) + "\n");
    let transcript: String = lines.collect();
    compare_kinds(&format!("{}-transcript.jsonl", client.name()), &transcript);
}

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "clients", "observed", name]
        .iter()
        .collect()
}

fn compare(name: &str, observed: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(path(name), observed).unwrap();
    }
    let expected = fs::read_to_string(path(name)).unwrap();
    for (number, (observed, expected)) in observed.lines().zip(expected.lines()).enumerate() {
        assert_eq!(observed, expected, "line {} of {name}", number + 1);
    }
    assert_eq!(
        observed.lines().count(),
        expected.lines().count(),
        "lines of {name}"
    );
}

/// A transcript holds durations and numbers of processes: only the kinds of its lines are the same in every run.
fn compare_kinds(name: &str, observed: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(path(name), observed).unwrap();
    }
    let expected = fs::read_to_string(path(name)).unwrap();
    assert_eq!(
        kinds(observed),
        kinds(&expected),
        "the kinds of lines of {name}"
    );
}

fn kinds(transcript: &str) -> Vec<String> {
    let kind = |line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let fields: Vec<&String> = line.as_object().unwrap().keys().collect();
        format!("{fields:?} {} {}", line["type"], line["payload"]["type"])
    };
    let mut kinds: Vec<String> = transcript.lines().map(kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

offline_tests! {
    fn codex_tells_its_hooks_what_was_observed() {
        is_as_observed(Client::Codex);
    }

    fn gemini_tells_its_hooks_what_was_observed() {
        is_as_observed(Client::Gemini);
    }
}
