//! The rules for transcripts, on files that clients wrote, and on what chance makes of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;

const COMPLETED: &[u8] = include_bytes!("../fixtures/claude-loop-completed.jsonl");
const MAX_ITERATIONS: &[u8] = include_bytes!("../fixtures/claude-loop-max-iterations.jsonl");
const SUBAGENT: &[u8] = include_bytes!("../fixtures/claude-subagent.jsonl");
const OF_A_SUBAGENT: &[u8] = include_bytes!("../fixtures/claude-of-a-subagent.jsonl");
const NO_ANSWER: &[u8] = include_bytes!("../fixtures/claude-no-answer.jsonl");
const CLAUDE_OLDER: &[u8] = include_bytes!("../fixtures/claude-older.jsonl");
const CODEX: &[u8] = include_bytes!("../fixtures/codex.jsonl");
const CODEX_LONG_TEST: &[u8] = include_bytes!("../fixtures/codex-long-test.jsonl");
const CODEX_OLDER: &[u8] = include_bytes!("../fixtures/codex-older.jsonl");
const GEMINI: &[u8] = include_bytes!("../fixtures/gemini.jsonl");
const GEMINI_DOCUMENT: &[u8] = include_bytes!("../fixtures/gemini.json");

const ALL: [&[u8]; 11] = [
    COMPLETED,
    MAX_ITERATIONS,
    SUBAGENT,
    OF_A_SUBAGENT,
    NO_ANSWER,
    CLAUDE_OLDER,
    CODEX,
    CODEX_LONG_TEST,
    CODEX_OLDER,
    GEMINI,
    GEMINI_DOCUMENT,
];

#[allow(clippy::unnecessary_wraps, reason = "a gate may fail to answer")]
fn gate(function: &str, input: &str) -> Result<String, Unanswered> {
    Ok(ralph_gate_component::json::call(function, input))
}

fn import(bytes: &[u8]) -> Result<Imported, ImportError> {
    read(bytes, "x/file.jsonl", &Options::default(), &gate)
}

fn runs(bytes: &[u8]) -> Vec<ImportedRun> {
    import(bytes).unwrap().runs
}

fn only(bytes: &[u8]) -> ImportedRun {
    let mut runs = runs(bytes);
    assert_eq!(runs.len(), 1, "{runs:#?}");
    runs.remove(0)
}

/// The outcome of the last test, and whether it is stale.
fn tested(run: &ImportedRun) -> Option<(&str, Outcome, Option<bool>)> {
    let test = run.last_test.as_ref()?;
    Some((&test.command, test.outcome, test.stale))
}

fn lines(values: &[Value]) -> Vec<u8> {
    let lines = values.iter().map(|value| format!("{value}\n"));
    lines.collect::<String>().into_bytes()
}

fn asked(text: &str) -> Value {
    json!({ "type": "user", "sessionId": "s", "message": { "content": text } })
}

fn said(id: &str, text: &str) -> Value {
    json!({ "type": "assistant", "sessionId": "s", "message": { "id": id, "stop_reason": "end_turn",
        "content": [{ "type": "text", "text": text }] } })
}

fn called(id: &str, name: &str, input: &Value) -> Value {
    json!({ "type": "assistant", "sessionId": "s", "message": { "id": format!("m{id}"), "stop_reason": "tool_use",
        "content": [{ "type": "tool_use", "id": id, "name": name, "input": input }] } })
}

fn ran(id: &str, command: &str) -> Value {
    called(id, "Bash", &json!({ "command": command }))
}

fn answered(id: &str, text: &str, is_error: bool) -> Value {
    json!({ "type": "user", "sessionId": "s", "message": { "content": [
        { "type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error }] } })
}

#[test]
fn an_official_loop_is_one_run_and_what_follows_another() {
    let runs = runs(COMPLETED);
    let [first, second] = runs.as_slice() else {
        panic!("{runs:#?}");
    };
    assert_eq!(first.id, "claude-code:00000000-0000-4000-8000-000000000001");
    assert_eq!(second.id, format!("{}#2", first.id));
    let official = first.official_loop.clone().unwrap();
    let expected = OfficialLoop {
        iteration: 2,
        max_iterations: Some(5),
        completion_promise: Some("COMPLETE".to_owned()),
        ended: LoopEnd::Completed,
    };
    assert_eq!(official, expected);
    assert_eq!((first.iterations, first.tool_calls), (2, 4));
    assert_eq!(
        (first.ending, first.truth),
        (Ending::Released, Truth::Complete)
    );
    assert_eq!(first.claim.made, Some(true));
    assert_eq!(first.claim.form, Form::Accepted);
    assert_eq!(
        tested(first),
        Some(("npm test", Outcome::Pass, Some(false)))
    );
    // Six messages, each counted once: 11 + 300 + 2000 + 42.
    assert_eq!(first.tokens, Some(6 * 2353));
    // The client notes what the session cost, not its parts.
    assert_eq!((&first.cost_usd, &second.cost_usd), (&None, &None));
    assert_eq!((second.iterations, &second.official_loop), (1, &None));
    assert_eq!((second.claim.made, second.why), (Some(false), Why::NoTest));
}

#[test]
fn an_official_loop_that_counted_to_its_bound_says_so() {
    let run = only(MAX_ITERATIONS);
    let official = run.official_loop.clone().unwrap();
    assert_eq!(official.ended, LoopEnd::MaxIterations);
    assert_eq!((official.iteration, run.iterations), (2, 2));
    assert_eq!(
        (run.ending, run.truth),
        (Ending::MaxIters, Truth::Incomplete)
    );
    let expected = (
        "rm b.js; npm test 2>&1 | tail -12",
        Outcome::Fail,
        Some(false),
    );
    assert_eq!(tested(&run), Some(expected));
    assert_eq!(run.cost_usd.as_deref(), Some("0.008352"));
    assert_eq!(run.model.as_deref(), Some("claude-opus-5-5"));
    assert_eq!(run.project.as_deref(), Some("/project"));
    assert_eq!(run.client_version.as_deref(), Some("2.1.325"));
    assert!(run.elapsed_ms.unwrap() > 1000);
}

#[test]
fn how_a_loop_ended_follows_from_the_plugins_rules_where_the_hook_is_silent() {
    let end = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).unwrap();
        let silent = text.lines().filter(|line| !line.contains("hook_success"));
        let silent: Vec<&str> = silent.collect();
        let runs = runs(silent.join("\n").as_bytes());
        runs[0].official_loop.as_ref().unwrap().ended
    };
    assert_eq!(end(COMPLETED), LoopEnd::Completed);
    assert_eq!(end(MAX_ITERATIONS), LoopEnd::MaxIterations);
    // The agent said neither, and nobody sent it back: why is not known.
    let text = String::from_utf8_lossy(COMPLETED)
        .replace("All tests pass.\\n\\n<promise>COMPLETE</promise>", "So.");
    assert_eq!(end(text.as_bytes()), LoopEnd::Unknown);
}

#[test]
fn a_loop_that_is_canceled_is_canceled() {
    let began = json!({ "type": "user", "sessionId": "s", "isMeta": true, "message": { "content":
        "🔄 Ralph loop activated in this session!\n\nIteration: 1\nMax iterations: unlimited\nCompletion promise: none (runs forever)\n" } });
    let cancel = asked(
        "<command-message>cancel-ralph</command-message>\n<command-name>/ralph-loop:cancel-ralph</command-name>",
    );
    let run = only(&lines(&[
        asked("<command-name>/ralph-loop</command-name>"),
        began,
        said("m1", "One."),
        json!({ "type": "attachment", "attachment": { "type": "hook_system_message", "hookEvent": "Stop",
            "content": "🔄 Ralph iteration 2 | No completion promise set - loop runs infinitely" } }),
        said("m2", "Two."),
        cancel,
        said("m3", "Cancelled Ralph loop (was at iteration 2)"),
    ]));
    let official = run.official_loop.unwrap();
    assert_eq!(
        (official.ended, official.max_iterations),
        (LoopEnd::Canceled, Some(0))
    );
    assert_eq!((run.ending, run.iterations), (Ending::ContextCanceled, 3));
}

#[test]
fn a_promise_in_code_is_none_and_a_subagents_work_is_not_the_agents() {
    let run = only(SUBAGENT);
    assert_eq!(run.claim.made, None);
    assert_eq!(run.claim.form, Form::InInlineCode);
    assert_eq!(run.claim.text.as_deref(), Some("COMPLETE"));
    assert_eq!((run.ending, run.why), (Ending::Released, Why::NoTest));
    let imported = import(OF_A_SUBAGENT).unwrap();
    assert!(imported.runs.is_empty() && imported.subagent.is_some());
}

#[test]
fn tokens_of_subagents_count_for_the_session_that_started_them() {
    let subagent = import(OF_A_SUBAGENT).unwrap().subagent.unwrap();
    let session = "00000000-0000-4000-8000-000000000002";
    assert_eq!(subagent.session.as_deref(), Some(session));
    assert_eq!((subagent.tokens, subagent.tool_calls), (Some(2353), 0));
    let text = String::from_utf8_lossy(SUBAGENT)
        .replace("4000-8000-000000000001", "4000-8000-000000000002");
    let mut run = only(text.as_bytes());
    assert!(run.is_of_session(&subagent) && !only(SUBAGENT).is_of_session(&subagent));
    let (tokens, calls) = (run.tokens.unwrap(), run.tool_calls);
    run.add_subagent(&subagent);
    assert_eq!((run.tokens, run.tool_calls), (Some(tokens + 2353), calls));

    // Codex names the session that spawned this one.
    let child = lines(&[
        json!({ "type": "session_meta", "payload": { "id": "child", "source": { "subagent": { "thread_spawn": {
            "parent_thread_id": "parent", "depth": 1 } } } } }),
        json!({ "type": "event_msg", "payload": { "type": "token_count",
            "info": { "total_token_usage": { "total_tokens": 70 } } } }),
    ]);
    let subagent = import(&child).unwrap().subagent.unwrap();
    assert_eq!(
        (subagent.session.as_deref(), subagent.tokens),
        (Some("parent"), Some(70))
    );
    // Lines of a subagent among those of the agent count already.
    let mut side = said("side", "Looked.");
    side["isSidechain"] = json!(true);
    side["message"]["usage"] = json!({ "input_tokens": 5, "output_tokens": 2 });
    let imported = import(&lines(&[asked("Build it."), side, said("m", "Done.")])).unwrap();
    assert!(imported.has_sidechains);
    assert_eq!(imported.runs[0].tokens, Some(7));
}

/// A command that a person typed, as the client notes it.
fn typed(name: &str) -> Value {
    asked(&format!(
        "<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n            <command-args></command-args>"
    ))
}

#[test]
fn leaving_the_client_after_a_finished_turn_is_no_crash() {
    let mut caveat =
        asked("<local-command-caveat>Caveat: the messages below …</local-command-caveat>");
    caveat["isMeta"] = json!(true);
    let output = asked("<local-command-stdout>Bye!</local-command-stdout>");
    let released = [
        vec![typed("exit")],
        vec![caveat.clone(), typed("exit"), output.clone()],
        vec![typed("quit"), output.clone()],
        vec![asked("/exit")],
        // What the client does by itself says nothing to the agent either.
        vec![
            caveat,
            typed("cost"),
            output.clone(),
            typed("exit"),
            output.clone(),
        ],
        vec![typed("clear")],
    ];
    for more in released {
        let run = only(&lines(
            &[vec![asked("Build it."), said("m", "Done.")], more.clone()].concat(),
        ));
        assert_eq!(
            (run.ending, run.iterations),
            (Ending::Released, 1),
            "{more:?}"
        );
    }
    // The summary of what was said asks for nothing.
    let mut summary = asked("This session is being continued from a previous conversation …");
    summary["isCompactSummary"] = json!(true);
    let done = [
        asked("Build it."),
        said("m", "Done."),
        typed("compact"),
        summary,
    ];
    let run = only(&lines(&done));
    assert_eq!((run.ending, run.iterations), (Ending::Released, 1));
    // In the middle of a turn it is one.
    let run = only(&lines(&[
        asked("Build it."),
        ran("1", "ls"),
        typed("exit"),
        output,
    ]));
    assert_eq!(run.ending, Ending::Crashed);
    // A command that asks the agent is a prompt.
    let asks = [asked("Build it."), said("m", "Done."), typed("review")];
    assert_eq!(only(&lines(&asks)).ending, Ending::Crashed);
    let answered = [&asks[..], &[said("n", "Fine.")]].concat();
    let run = only(&lines(&answered));
    assert_eq!((run.ending, run.iterations), (Ending::Released, 2));
}

#[test]
fn an_unknown_runner_after_a_known_one_makes_the_last_test_unknown() {
    let with = |command: &str, text: &str, is_error: bool| {
        let run = only(&lines(&[
            ran("1", "cargo test"),
            answered("1", "test result: ok. 3 passed; 0 failed", false),
            ran("2", command),
            answered("2", text, is_error),
            said("m", "<promise>DONE</promise>"),
        ]));
        let (command, outcome, stale) = tested(&run).unwrap();
        (command.to_owned(), outcome, stale, run.truth)
    };
    let of = |command: &str, outcome, stale, truth| (command.to_owned(), outcome, stale, truth);
    for (command, text, is_error) in [
        ("./run_tests.sh", "all good", false),
        ("./run_tests.sh", "Exit code 1\nno idea", true),
        ("bb e2e", "", false),
        ("./run_tests.sh", "Exit code 1\n3 passed in 0.1s", true),
        ("./run_tests.sh", "1 failed, 2 passed in 0.1s", false),
    ] {
        let expected = of(command, Outcome::Unknown, Some(false), Truth::Unknown);
        assert_eq!(with(command, text, is_error), expected, "{command}: {text}");
    }
    // What is not named like tests, and prints nothing of them, may have changed files.
    let expected = of("cargo test", Outcome::Pass, None, Truth::Unknown);
    assert_eq!(with("./deploy.sh", "deployed", false), expected);
}

#[test]
fn a_command_whose_output_ends_in_a_known_summary_ran_tests() {
    let with = |command: &str, text: &str, is_error: bool| {
        let run = only(&lines(&[
            ran("1", command),
            answered("1", text, is_error),
            said("m", "<promise>DONE</promise>"),
        ]));
        (
            run.last_test.map(|test| (test.outcome, test.stale)),
            run.truth,
        )
    };
    let passed = (Some((Outcome::Pass, Some(false))), Truth::Complete);
    let failed = (Some((Outcome::Fail, Some(false))), Truth::Incomplete);
    for (summary, failing) in [
        (
            "===== 3 passed in 0.12s =====",
            "== 1 failed, 2 passed in 0.1s ==",
        ),
        (
            "Tests:       3 passed, 3 total",
            "Tests:       1 failed, 2 passed, 3 total",
        ),
        (
            "      Tests  3 passed (3)",
            "      Tests  1 failed | 2 passed (3)",
        ),
        (
            "test result: ok. 2 passed; 0 failed; 0 ignored",
            "test result: FAILED. 1 passed; 1 failed; 0 ignored",
        ),
        ("ok  \texample.com/a\t0.1s", "FAIL\texample.com/a\t0.1s"),
        ("  5 passing (10ms)", "  5 passing (10ms)\n  1 failing"),
        ("5 examples, 0 failures", "5 examples, 1 failure"),
        (
            "OK (5 tests, 7 assertions)",
            "FAILURES!\nTests: 5, Assertions: 7, Failures: 1.",
        ),
        (
            "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0",
            "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0",
        ),
        (
            "Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5",
            "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5",
        ),
    ] {
        let text = format!("building\n{summary}\n");
        assert_eq!(with("./ci", &text, false), passed, "{summary}");
        assert_eq!(
            with("./ci 2>&1 | tail -5", &text, false),
            passed,
            "{summary}"
        );
        let text = format!("Exit code 1\nbuilding\n{failing}\n");
        assert_eq!(with("./ci", &text, true), failed, "{failing}");
        // What only shows a text runs nothing.
        assert_eq!(
            with("cat ci.log", &text, false),
            (None, Truth::Unknown),
            "{failing}"
        );
    }
    // Any failure counts, also one before a pass.
    let mixed = with(
        "./ci",
        "Exit code 1\n1 failed in 0.1s\n2 passed in 0.1s",
        true,
    );
    assert_eq!(mixed, failed);
    // Only a part is shown, or the end is something else.
    assert_eq!(
        with("./ci | head -3", "3 passed in 0.1s", false).1,
        Truth::Unknown
    );
    let far = format!("3 passed in 0.1s\n{}", "deployed\n".repeat(50));
    assert_eq!(with("./ci", &far, false), (None, Truth::Unknown));
    // One of two programs ran the tests, and the other may have changed files.
    let two = with("./build && ./ci", "3 passed in 0.1s", false);
    assert_eq!(two, (Some((Outcome::Pass, None)), Truth::Unknown));
}

#[test]
fn what_was_begun_while_an_unknown_command_ran_may_have_changed_what_it_tested() {
    let run = only(&lines(&[
        ran("1", "./ci"),
        called("2", "Write", &json!({})),
        answered("2", "ok", false),
        answered("1", "3 passed in 0.1s", false),
        said("m", "<promise>DONE</promise>"),
    ]));
    assert_eq!(tested(&run), Some(("./ci", Outcome::Pass, Some(true))));
    assert_eq!(run.truth, Truth::Unknown);
}

#[test]
fn commands_that_never_answer_are_kept_up_to_a_bound() {
    let mut all: Vec<Value> = (0..3_000)
        .map(|id| ran(&format!("c{id}"), "./ci"))
        .collect();
    all.extend((0..3_000).map(|id| answered(&format!("c{id}"), "3 passed in 0.1s", false)));
    all.push(said("m", "Done."));
    assert_eq!(only(&lines(&all)).tool_calls, 3_000);
    // A summary and a command of great length are read once.
    let long = format!("{}\n3 passed in 0.1s", "x ".repeat(1 << 19));
    let command = "./ci ".repeat(1 << 17);
    let run = only(&lines(&[
        ran("1", &command),
        answered("1", &long, false),
        said("m", "Done."),
    ]));
    assert!(run.last_test.is_none_or(|test| test.command.len() <= 1000));
}

#[test]
fn a_session_that_the_model_never_answered_failed() {
    let run = only(NO_ANSWER);
    assert_eq!((run.ending, run.iterations), (Ending::Error, 0));
    assert_eq!((run.claim.made, run.claim.form), (None, Form::Unknown));
}

#[test]
fn older_lines_of_claude_code_without_reasons_to_stop_are_read() {
    let run = only(CLAUDE_OLDER);
    assert_eq!((run.iterations, run.tool_calls), (1, 3));
    // The prompt says which word is meant.
    assert_eq!((run.claim.made, run.claim.form), (None, Form::BareWord));
    assert_eq!(run.claim.text.as_deref(), Some("FIXED"));
    let expected = (
        "cd parser && python -m pytest -q",
        Outcome::Pass,
        Some(false),
    );
    assert_eq!(tested(&run), Some(expected));
    assert_eq!((run.truth, run.why), (Truth::Complete, Why::TestPassed));
    assert_eq!(run.ending, Ending::Released);
    // Four messages; of the one in two parts the larger number counts.
    assert_eq!(run.tokens, Some(4 * 110 + 2 + 4 + 6 + 8));
    assert_eq!(run.elapsed_ms, Some(8000));
}

#[test]
fn a_session_of_codex_is_read() {
    let run = only(CODEX);
    assert_eq!(run.client, Client::Codex);
    assert_eq!((run.iterations, run.tool_calls), (1, 6));
    assert_eq!((run.claim.made, run.ending), (Some(true), Ending::Released));
    assert_eq!(run.tokens, Some(660));
    assert_eq!(
        (run.cost_usd.as_deref(), run.model.as_deref()),
        (None, Some("scripted"))
    );
    // The last call that runs tests is one that the client refused.
    let test = run.last_test.unwrap();
    assert_eq!(
        (test.command.as_str(), test.outcome),
        ("npm test", Outcome::Unknown)
    );
    assert_eq!(test.detail, "the client did not run it");
}

#[test]
fn a_test_that_codex_waits_for_is_followed_to_its_end() {
    let options = Options {
        split: Split::Prompt,
        ..Options::default()
    };
    let runs = read(CODEX_LONG_TEST, "x", &options, &gate).unwrap().runs;
    let [first, second] = runs.as_slice() else {
        panic!("{runs:#?}");
    };
    let expected = ("cargo test --workspace", Outcome::Pass, Some(false));
    assert_eq!(tested(first), Some(expected));
    assert_eq!(
        (first.truth, first.ending),
        (Truth::Complete, Ending::Released)
    );
    assert_eq!((first.tokens, second.tokens), (Some(510), Some(400)));
    assert_eq!(second.ending, Ending::ContextCanceled);
    assert_eq!(second.iterations, 0);
    // As one run, files were changed after the test.
    let whole = only(CODEX_LONG_TEST);
    assert_eq!(
        (whole.truth, whole.why),
        (Truth::Unknown, Why::ChangedAfterTest)
    );
    assert_eq!(whole.claim.turns, 1);
}

#[test]
fn older_lines_of_codex_without_payload_are_read() {
    let run = only(CODEX_OLDER);
    assert_eq!(run.id, "codex:older");
    assert_eq!(
        tested(&run),
        Some(("cargo test -q", Outcome::Fail, Some(false)))
    );
    assert_eq!(
        (run.truth, run.ending),
        (Truth::Incomplete, Ending::Released)
    );
    assert_eq!((run.tokens, run.tool_calls), (None, 2));
}

#[test]
fn a_session_of_gemini_is_the_same_as_lines_and_as_a_document() {
    let run = only(GEMINI);
    assert_eq!(run.client, Client::Gemini);
    assert_eq!((run.iterations, run.tool_calls), (1, 4));
    assert_eq!(tested(&run), Some(("npm test", Outcome::Pass, Some(false))));
    assert_eq!((run.truth, run.ending), (Truth::Complete, Ending::Released));
    assert_eq!(run.tokens, Some(5 * 110));
    assert_eq!(run.model.as_deref(), Some("gemini-2.5-flash"));
    assert_eq!(only(GEMINI_DOCUMENT), run);
    let compact: Value = serde_json::from_slice(GEMINI_DOCUMENT).unwrap();
    assert_eq!(only(compact.to_string().as_bytes()), run);
}

#[test]
fn messages_that_gemini_sets_anew_are_not_told_twice() {
    let messages: Vec<Value> = GEMINI
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .filter(|line: &Value| line.get("id").is_some())
        .collect();
    let set = json!({ "$set": { "messages": messages } });
    let twice = [GEMINI, set.to_string().as_bytes()].concat();
    assert_eq!(only(&twice), only(GEMINI));
}

#[test]
fn what_changes_files_after_a_test_makes_it_stale() {
    let test = [
        ran("1", "cargo test"),
        answered("1", "test result: ok. 3 passed; 0 failed", false),
    ];
    let after = |more: &[Value]| {
        let done = said("m", "<promise>DONE</promise>");
        let run = only(&lines(&[&test, more, &[done]].concat()));
        (tested(&run).unwrap().2, run.truth)
    };
    let edit = called("2", "Edit", &json!({}));
    assert_eq!(after(&[]), (Some(false), Truth::Complete));
    assert_eq!(
        after(&[called("2", "Read", &json!({}))]),
        (Some(false), Truth::Complete)
    );
    assert_eq!(
        after(&[ran("2", "git commit -am x")]),
        (Some(false), Truth::Complete)
    );
    assert_eq!(after(&[ran("2", "./deploy")]), (None, Truth::Unknown));
    assert_eq!(
        after(&[called("2", "mcp__x__y", &json!({}))]),
        (None, Truth::Unknown)
    );
    assert_eq!(
        after(&[ran("2", "sed -i s/a/b/ x")]),
        (Some(true), Truth::Unknown)
    );
    assert_eq!(
        after(std::slice::from_ref(&edit)),
        (Some(true), Truth::Unknown)
    );
    assert_eq!(
        after(&[edit.clone(), answered("2", "ok", false)]),
        (Some(true), Truth::Unknown)
    );
    // An edit that was refused changed nothing.
    let refused = answered("2", "Exit code 1", true);
    assert_eq!(
        after(&[edit.clone(), refused]),
        (Some(false), Truth::Complete)
    );
    let again = [
        edit,
        answered("2", "ok", false),
        ran("3", "cargo test"),
        answered("3", "Exit code 101", true),
    ];
    assert_eq!(after(&again), (Some(false), Truth::Incomplete));
}

#[test]
fn a_subagents_edits_count_and_its_tests_do_not() {
    let mut edit = called("2", "Write", &json!({}));
    edit["isSidechain"] = json!(true);
    let mut test = ran("3", "cargo test");
    test["isSidechain"] = json!(true);
    let run = only(&lines(&[
        ran("1", "cargo test"),
        answered("1", "", false),
        edit,
        test,
        said("m", "So."),
    ]));
    assert_eq!(
        tested(&run),
        Some(("cargo test", Outcome::Pass, Some(true)))
    );
    assert_eq!(run.tool_calls, 3);
}

#[test]
fn the_end_of_a_transcript_says_how_the_run_ended() {
    let interrupted = asked("[Request interrupted by user]");
    let mut failed = said("m9", "API Error");
    failed["isApiErrorMessage"] = json!(true);
    for (more, expected) in [
        (vec![said("m1", "Done.")], Ending::Released),
        (vec![ran("1", "ls")], Ending::Crashed),
        (
            vec![ran("1", "ls"), answered("1", "", false)],
            Ending::Crashed,
        ),
        (vec![said("m1", "Done."), asked("Go on.")], Ending::Crashed),
        (vec![ran("1", "ls"), interrupted], Ending::ContextCanceled),
        (vec![ran("1", "ls"), failed.clone()], Ending::Error),
        (vec![failed, said("m1", "Done.")], Ending::Released),
    ] {
        let run = only(&lines(&[vec![asked("Build it.")], more.clone()].concat()));
        assert_eq!(run.ending, expected, "{more:?}");
    }
}

#[test]
fn a_torn_end_may_have_been_a_promise() {
    let whole = lines(&[
        asked("Build it."),
        said("m1", "One."),
        said("m2", "<promise>DONE</promise>"),
    ]);
    let torn = &whole[..whole.len() - 10];
    let imported = import(torn).unwrap();
    assert!(imported.torn);
    assert_eq!(imported.broken, 1);
    let run = &imported.runs[0];
    assert_eq!((run.claim.made, run.claim.form), (None, Form::Unknown));
    assert_eq!(run.ending, Ending::Unknown);
}

#[test]
fn the_truth_is_that_of_the_last_test_whether_or_not_the_agent_claims_to_be_done() {
    for (text, is_error, expected) in [
        ("", false, (Truth::Complete, Why::TestPassed)),
        ("Exit code 101", true, (Truth::Incomplete, Why::TestFailed)),
    ] {
        for said_last in [
            "<promise>DONE</promise>",
            "That is all.",
            "`<promise>DONE</promise>`",
        ] {
            let test = [ran("1", "cargo test"), answered("1", text, is_error)];
            let run = only(&lines(&[&test[..], &[said("m", said_last)]].concat()));
            assert_eq!((run.truth, run.why), expected, "{said_last}");
        }
    }
}

#[test]
fn promises_to_go_on_are_no_claims() {
    for (text, made) in [
        ("<promise>LOOP_DONE</promise>", Some(true)),
        ("<promise>LOOP_BLOCKED</promise>", Some(false)),
        ("<promise>LOOP_CONTINUE</promise>", Some(false)),
        ("<promise>DONE</promise> or not", None),
        ("```\n<promise>DONE</promise>\n```", None),
        ("I am done.", Some(false)),
        ("**DONE**", None),
    ] {
        let run = only(&lines(&[asked("Build it."), said("m", text)]));
        assert_eq!(run.claim.made, made, "{text}");
    }
}

#[test]
fn line_ends_spaces_marks_and_broken_bytes_change_nothing() {
    let plain = runs(COMPLETED);
    let text = String::from_utf8_lossy(COMPLETED);
    let crlf = text.replace('\n', "\r\n");
    assert_eq!(runs(crlf.as_bytes()), plain);
    let spaced = text.lines().map(|line| {
        let value: BTreeMap<String, Value> = serde_json::from_str(line).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        // JSON has no line ends within texts, so these are all layout.
        format!(" {} \n\n", pretty.replace('\n', " "))
    });
    let spaced: String = spaced.collect();
    assert_eq!(runs(format!("\u{feff}{spaced}").as_bytes()), plain);
    let broken = text.replace("I run the tests.", "I run\u{1} the tests");
    let mut broken = broken.into_bytes();
    let at = broken.iter().position(|byte| *byte == 1).unwrap();
    broken[at] = 0xff;
    assert_eq!(runs(&broken), plain);
    let unknown = format!("{{\"type\":\"new-kind\",\"sessionId\":\"x\"}}\nno JSON\n\0\0\0\n{text}");
    let imported = import(unknown.as_bytes()).unwrap();
    assert_eq!(imported.runs, plain);
    assert_eq!(imported.broken, 1);
    assert!(imported.others >= 1);
}

#[test]
fn what_is_no_transcript_is_refused_with_a_reason() {
    for (bytes, expected) in [
        (&b""[..], "it is empty"),
        (b"\n\n", "it is empty"),
        (
            b"hello\nworld\n",
            "it is not a transcript of Claude Code, Codex or Gemini",
        ),
        (
            b"{\"a\":1}\n",
            "it is not a transcript of Claude Code, Codex or Gemini",
        ),
        (
            b"{\n  \"a\": 1\n}\n",
            "it is not a transcript of Claude Code, Codex or Gemini",
        ),
        (
            b"\xff\xfe\x00",
            "it is not a transcript of Claude Code, Codex or Gemini",
        ),
        (
            b"{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"y\"}\n",
            "no turn of an agent is in it",
        ),
    ] {
        let error = import(bytes).unwrap_err();
        assert_eq!(error.to_string(), expected, "{bytes:?}");
    }
    let options = Options {
        client: Some(Client::Gemini),
        ..Options::default()
    };
    for bytes in [CODEX, COMPLETED] {
        let error = read(bytes, "x", &options, &gate).unwrap_err();
        assert!(
            error.to_string().ends_with("which was not asked for"),
            "{error}"
        );
    }
    let options = Options {
        client: Some(Client::Codex),
        ..Options::default()
    };
    let error = read(GEMINI_DOCUMENT, "x", &options, &gate).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it is a transcript of gemini, which was not asked for"
    );
}

#[test]
fn a_gate_that_does_not_answer_is_an_error_and_no_run_without_claim() {
    let silent = |_: &str, _: &str| Err(Unanswered("gone".to_owned()));
    let error = read(COMPLETED, "x", &Options::default(), &silent).unwrap_err();
    assert_eq!(error.to_string(), "the gate did not answer: gone");
}

#[test]
fn a_transcript_may_end_anywhere() {
    for whole in ALL {
        // Of long ones, not every end: each costs what the whole costs.
        let step = if whole.len() < 7000 { 1 } else { 17 };
        for end in (0..whole.len()).step_by(step) {
            let cut = &whole[..end];
            if let Ok(imported) = import(cut) {
                assert_eq!(imported.runs.is_empty(), imported.subagent.is_some());
                for run in imported.runs {
                    let passed = Some((Outcome::Pass, Some(false)));
                    let found = tested(&run).map(|(_, outcome, stale)| (outcome, stale));
                    assert!(run.truth != Truth::Complete || found == passed);
                }
            }
        }
    }
}

/// A generator of numbers that look random, the same ones each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

#[test]
fn whatever_chance_makes_of_a_transcript_is_read_or_refused() {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let pieces: [&[u8]; 10] = [
        b"{",
        b"}",
        b"[",
        b"\"",
        b"\\",
        b"\n",
        b"null",
        b"\xff",
        b"<promise>",
        b"-1e999",
    ];
    for whole in ALL {
        for _ in 0..200 {
            let mut bytes = whole.to_vec();
            for _ in 0..=chance.below(8) {
                let at = chance.below(bytes.len());
                let until = (at + chance.below(40)).min(bytes.len());
                let piece = match chance.below(3) {
                    0 => pieces[chance.below(pieces.len())].to_vec(),
                    1 => bytes[at..until].to_vec(),
                    _ => Vec::new(),
                };
                bytes.splice(at..until.min(at + chance.below(3) * 20), piece);
            }
            let _ = import(&bytes);
        }
    }
}

#[test]
fn lines_in_any_order_are_read() {
    let mut chance = Chance(7);
    for whole in ALL {
        let mut lines: Vec<&[u8]> = whole.split(|byte| *byte == b'\n').collect();
        for _ in 0..50 {
            for at in (1..lines.len()).rev() {
                lines.swap(at, chance.below(at + 1));
            }
            let _ = import(&lines.join(&b'\n'));
        }
    }
}

/// Gives out a transcript of any length without keeping it.
struct Endless {
    head: &'static [u8],
    turn: Vec<u8>,
    turns: u64,
    at: usize,
}

impl std::io::Read for Endless {
    fn read(&mut self, block: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.head.len() && !self.head.is_empty() {
            (self.head, self.at) = (&[], 0);
        }
        let source = if self.head.is_empty() {
            &self.turn
        } else {
            self.head
        };
        if self.turns == 0 {
            return Ok(0);
        }
        let rest = &source[self.at..];
        let length = rest.len().min(block.len());
        block[..length].copy_from_slice(&rest[..length]);
        self.at += length;
        if self.head.is_empty() && self.at == self.turn.len() {
            (self.at, self.turns) = (0, self.turns - 1);
        }
        Ok(length)
    }
}

#[test]
fn a_large_transcript_is_read_in_one_pass() {
    let turn = lines(&[
        asked(&"Go on. ".repeat(100)),
        ran("1", "cargo test"),
        answered("1", &"test a ... ok\n".repeat(200), false),
        said("m", &"words ".repeat(500)),
    ]);
    let turns = 5_000;
    let size = u64::try_from(turn.len()).unwrap() * turns;
    assert!(size > 20 << 20, "{size}");
    let endless = Endless {
        head: b"",
        turn,
        turns,
        at: 0,
    };
    let reader = std::io::BufReader::new(endless);
    let imported = read(reader, "x", &Options::default(), &gate).unwrap();
    assert_eq!(imported.lines, 4 * turns);
    assert_eq!(u64::from(imported.runs[0].iterations), turns);
}

#[test]
fn a_message_of_a_document_that_never_ends_is_given_up() {
    let endless = Endless {
        head: b"{\n\"sessionId\":\"s\",\"projectHash\":\"h\",\"messages\":[{\"id\":\"1\",\"type\":\"gemini\",\"content\":\"Hi.\"},\n{\"id\":\"",
        turn: vec![b'x'; 1 << 16],
        turns: 1 << 20,
        at: 0,
    };
    let reader = std::io::BufReader::new(endless);
    let imported = read(reader, "x", &Options::default(), &gate).unwrap();
    assert!(imported.torn);
    assert_eq!(imported.runs[0].claim.made, None);
}

#[test]
fn the_state_of_a_loop_adds_what_a_transcript_lacks() {
    let text = "---\nactive: true\niteration: 3\nsession_id: s\nmax_iterations: 9\ncompletion_promise: \"DONE\"\nstarted_at: \"2026-01-13T10:00:00Z\"\n---\n\nBuild it.\n";
    let file = read_loop_file(text, &gate).unwrap();
    let mut run = only(&lines(&[asked("Build it."), said("m", "So.")]));
    assert!(run.add_loop_file(&file));
    let official = run.official_loop.clone().unwrap();
    assert_eq!((official.iteration, official.max_iterations), (3, Some(9)));
    assert_eq!(official.ended, LoopEnd::Active);
    let mut other = only(CODEX);
    assert!(!other.add_loop_file(&file));

    let alone = ImportedRun::of_loop_file(
        &file,
        "/p/.claude/ralph-loop.local.md",
        Some("/p".to_owned()),
    );
    assert_eq!((alone.id.as_str(), alone.iterations), ("claude-code:s", 3));
    assert_eq!(alone.started_at_ms, Some(1_768_298_400_000));
    assert_eq!(
        (alone.ending, alone.why),
        (Ending::Unknown, Why::NoTranscript)
    );
    let error = read_loop_file("no front matter", &gate).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("it is not the state of a loop: "),
        "{error}"
    );
}

#[test]
fn a_summary_counts_each_run_once_in_every_respect() {
    let mut summary = Summary::default();
    for bytes in ALL {
        match import(bytes) {
            Ok(imported) => {
                summary.add_transcript(&imported);
                imported.runs.iter().for_each(|run| summary.add_run(run));
            }
            Err(error) => summary.skip("file", &error.to_string()),
        }
    }
    assert_eq!(
        (summary.sessions, summary.subagents, summary.runs),
        (10, 1, 11)
    );
    for counts in [
        &summary.clients,
        &summary.claims,
        &summary.last_tests,
        &summary.endings,
        &summary.truths,
    ] {
        assert_eq!(counts.values().sum::<u64>(), summary.runs);
    }
    let unknown: u64 = summary.unknown.values().sum();
    assert_eq!(summary.truths.get("unknown"), Some(&unknown));
    assert_eq!(summary.loops.values().sum::<u64>(), 2);
    assert_eq!(summary.skipped.len(), 0);
    assert_eq!(summary.tests(Outcome::Fail), 2);
}

#[test]
fn a_run_is_written_and_read_again_without_a_change() {
    for run in ALL
        .into_iter()
        .filter_map(|bytes| import(bytes).ok())
        .flat_map(|it| it.runs)
    {
        let line = Line::ImportedRun(Box::new(run));
        let text = serde_json::to_string(&line).unwrap();
        assert!(
            text.starts_with(r#"{"event":"imported_run","data":{"id":"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line);
    }
}
