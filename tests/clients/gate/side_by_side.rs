//! Two sessions at once in one repository: each has a loop of its own.

use std::path::Path;
use std::thread;

use ralph_gate_tests::clients::Client;
use ralph_gate_tests::clients::Run;
use ralph_gate_tests::clients::model_server::{ModelServer, Turn, last_said};
use ralph_gate_tests::clients::stage::Stage;
use ralph_gate_tests::offline_tests;

use ralph_gate_tests::clients::gated::{Remembered, all_remembered, run_gated};

const CONFIG: &str = r#"[contract]
mode = "ralph"
completion_token = "COMPLETE"
completion_checks = ["made"]
loop_max_iters = 3
no_progress_limit = 10

[checks.made]
argv = ["test", "-e", "made.txt"]
"#;

/// A command with which each of two waits for the other.
fn meet(me: &Path, other: &Path) -> Turn {
    let (me, other) = (me.display(), other.display());
    Turn::run(format!(
        "touch {me}; until [ -e {other} ]; do sleep 0.1; done"
    ))
}

fn loops_are_apart(first: Client, second: Client) {
    let stage = Stage::new(first, &[("ralph-gate.toml", CONFIG)], []);
    let (here, there) = (stage.place.beside("here"), stage.place.beside("there"));
    let finishes = ModelServer::start([
        Turn::say("Done."),
        meet(&here, &there),
        Turn::run("touch made.txt"),
        Turn::say("Done.\n\n<promise>COMPLETE</promise>"),
    ]);
    // It never promises anything.
    let never = ModelServer::start([
        Turn::say("Perhaps."),
        meet(&there, &here),
        Turn::say("Perhaps not."),
        Turn::say("Who knows?"),
    ]);
    let (finishes, never) = (finishes.unwrap(), never.unwrap());
    let run = |client, model: &ModelServer, home| {
        run_gated(Run::new(client, &stage.place, model.address()).at_home(home))
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| run(second, &never, "second"));
        run(first, &finishes, "first");
        other.join().unwrap();
    });

    let asked = [&finishes, &never].map(ModelServer::conversation);
    assert_eq!(asked.each_ref().map(Vec::len), [4, 4]);
    for conversation in &asked {
        let said = last_said(&conversation[1]);
        assert!(said.contains("iteration 1 of 3 was refused"), "{said}");
    }
    let said = last_said(&asked[1][3]);
    assert!(said.contains("iteration 2 of 3 was refused"), "{said}");
    let mut loops = all_remembered(&stage.place);
    loops.sort_by_key(|it| it.iterations);
    let expected = [
        Remembered::new(2, "completed"),
        Remembered::new(3, "max_iters"),
    ];
    assert_eq!(loops, expected);
}

offline_tests! {
    fn two_sessions_of_codex_have_loops_of_their_own() {
        loops_are_apart(Client::Codex, Client::Codex);
    }

    fn two_sessions_of_gemini_have_loops_of_their_own() {
        loops_are_apart(Client::Gemini, Client::Gemini);
    }

    fn a_session_of_codex_and_one_of_gemini_have_loops_of_their_own() {
        loops_are_apart(Client::Codex, Client::Gemini);
    }
}
