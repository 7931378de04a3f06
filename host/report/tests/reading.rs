//! What is read out of logs, whole and damaged.

use std::slice;

use ralph_gate_memory::digest::Digest;
use ralph_gate_report::read::{Found, Reader, gather, read};
use ralph_gate_report::run::{Ending, Run, Source, Truth, Witness};

/// Refused twice, then complete.
const LOG: &str = include_str!("../../history/testdata/events.jsonl");

fn lines() -> Vec<&'static str> {
    LOG.lines().collect()
}

fn one(text: &str) -> Run {
    let Found { mut runs, problems } = read("night", text.as_bytes());
    assert_eq!((runs.len(), problems.len()), (1, 0), "{problems:?}");
    runs.remove(0)
}

/// The log up to its last verdict, which tells how it ended.
fn without_end() -> String {
    let lines = lines();
    let mut verdicts = lines
        .iter()
        .filter(|line| line.contains("\"event\":\"verdict\""));
    let last = *verdicts.next_back().unwrap();
    LOG[..LOG.find(last).unwrap()].to_owned()
}

/// An event behind the log's last one, sealed as the memory does it.
fn with(event: &str, data: &str) -> String {
    let last: serde_json::Value = serde_json::from_str(lines().last().unwrap()).unwrap();
    let seq = last["seq"].as_u64().unwrap() + 1;
    let prev = last["digest"].as_str().unwrap();
    let content = format!(r#"{{"seq":{seq},"prev":"{prev}","event":"{event}","data":{data}"#);
    let digest = Digest::of_content(content.as_bytes());
    format!("{LOG}{content},\"digest\":\"{digest}\"}}\n")
}

#[test]
fn a_log_tells_how_its_loop_ended_and_what_it_used() {
    let run = one(LOG);
    let last: serde_json::Value = serde_json::from_str(lines().last().unwrap()).unwrap();
    let counters = &last["data"]["verdict"]["counters"];
    // The session's own name goes before that of its file.
    assert_eq!(run.id, "history");
    assert_eq!(run.ending, Ending::Completed);
    let iterations = run.used.iterations.map(u64::from);
    assert_eq!(iterations, counters["iteration"].as_u64());
    assert_eq!(run.used.elapsed_ms, counters["elapsed_ms"].as_u64());
    assert_eq!(run.used.cost_usd.as_deref(), counters["cost_usd"].as_str());
    assert_eq!(run.mode.as_deref(), Some("ralph"));
    assert!(run.interceptions > 0 && !run.edited);
    assert_eq!((run.truth, run.witness), (Truth::Unknown, None));
}

#[test]
fn the_client_is_that_which_asks_or_the_program_that_is_run() {
    let client = |argv: &str, more: &str| {
        let data = format!(r#"{{"session":"s","mode":"ralph","argv":{argv}{more}}}"#);
        let run = one(&format!(
            r#"{{"seq":1,"prev":"{0}","event":"loop_started","data":{data},"digest":"{0}"}}"#,
            "0".repeat(64)
        ));
        run.client.map(|client| client.to_string())
    };
    let attended = r#","attended":{"harness":"gemini","session":"s"}"#;
    for (argv, more, expected) in [
        (r#"["claude","-p"]"#, "", Some("claude-code")),
        (r#"["/usr/local/bin/codex","exec"]"#, "", Some("codex")),
        (r#"["sh","agent.sh"]"#, "", None),
        ("[]", attended, Some("gemini")),
        (
            r#"["claude"]"#,
            r#","attended":{"harness":{"digest":"x"}}"#,
            Some("claude-code"),
        ),
        (r#"{"digest":"x"}"#, "", None),
        ("[]", r#","attended":{"harness":"\u001b[2J"}"#, None),
    ] {
        assert_eq!(client(argv, more).as_deref(), expected, "{argv} {more}");
    }
}

#[test]
fn pieces_of_any_length_make_the_same_run() {
    let whole = one(LOG);
    for length in [1, 7, 1000, 100_000] {
        let mut reader = Reader::new("night");
        LOG.as_bytes()
            .chunks(length)
            .for_each(|piece| reader.feed(piece));
        assert_eq!(reader.finish().runs, slice::from_ref(&whole), "{length}");
    }
    // Windows wrote it.
    assert_eq!(one(&LOG.replace('\n', "\r\n")), whole);
    assert_eq!(one(LOG.trim_end()), whole);
}

#[test]
fn a_loop_that_was_never_ended_has_crashed() {
    let run = one(&without_end());
    assert_eq!(run.ending, Ending::Crashed);
    assert!(!run.edited);
    let begun = one(lines()[0]);
    assert_eq!(
        (begun.ending, begun.used.iterations),
        (Ending::Crashed, None)
    );
}

#[test]
fn every_edited_removed_or_moved_line_is_noticed() {
    let lines = lines();
    let is_noticed = |lines: &[&str]| {
        let found = read("x", lines.join("\n").as_bytes());
        found.runs.iter().any(|run| run.edited)
    };
    assert!(!is_noticed(&lines));
    for index in 0..lines.len() {
        let mut edited = lines.clone();
        let other = lines[index].replacen("\"data\":{", "\"data\":{ ", 1);
        edited[index] = &other;
        assert!(is_noticed(&edited), "edited {index}");
        if index > 0 && index + 1 < lines.len() {
            let mut removed = lines.clone();
            removed.remove(index);
            assert!(is_noticed(&removed), "removed {index}");
            let mut moved = lines.clone();
            moved.swap(index, index + 1);
            assert!(is_noticed(&moved), "moved {index}");
        }
    }
}

#[test]
fn a_torn_last_line_is_noticed_and_what_is_before_it_counts() {
    let found = read("x", &LOG.as_bytes()[..LOG.len() - 100]);
    let [run] = found.runs.as_slice() else {
        panic!("{found:?}")
    };
    assert!(run.edited);
}

#[test]
fn logs_behind_each_other_are_runs_of_their_own() {
    let found = read("both", format!("{LOG}{LOG}").as_bytes());
    let ids: Vec<&str> = found.runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, ["history", "history#2"]);
    let is_whole = |run: &Run| !run.edited && run.ending == Ending::Completed;
    assert!(found.runs.iter().all(is_whole));
    let all = gather([read("a", LOG.as_bytes()), read("a", LOG.as_bytes())]);
    let ids: Vec<&str> = all.runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, ["history", "history (2)"]);
}

#[test]
fn an_audit_says_what_is_true() {
    let text = with(
        "audit",
        r#"{"at_ms":5,"truth":"incomplete","witness":"audit","by":"hidden.toml","reason":"","checks":[]}"#,
    );
    let run = one(&text);
    assert_eq!(
        (run.truth, run.witness, run.edited),
        (Truth::Incomplete, Some(Witness::Audit), false)
    );
    assert_eq!(run.ending, Ending::Completed);
}

/// A verdict that did not bind, after a turn in which the agent wanted to stop.
fn in_shadow(shadow: &str, checks: &str) -> Run {
    let verdict = format!(
        r#"{{"at_ms":5,"iteration":{{"index":9,"action":"final","canceled":false}},"verdict":{{"decision":"pass_through","stop_reason":null,"detail":null,"overridden":false,"counters":{{"iteration":9,"elapsed_ms":1,"tool_calls":1,"tokens":0,"cost_usd":"0.00"}},"mode":"ralph","profile":null,"shadow":{shadow},"checks":[{checks}]}}}}"#
    );
    one(&with("verdict", &verdict))
}

#[test]
fn an_agent_that_nothing_held_is_done_only_if_it_said_so() {
    let ended = |reason: &str, detail: &str| {
        let shadow = format!(
            r#"{{"decision":"stop","stop_reason":{reason},"detail":{detail},"signal":"LOOP_BLOCKED"}}"#
        );
        in_shadow(&shadow, "").ending
    };
    assert_eq!(ended("null", "null"), Ending::Released);
    assert_eq!(ended("\"completed\"", "null"), Ending::Released);
    assert_eq!(ended("\"blocked\"", "null"), Ending::Blocked);
    assert_eq!(ended("\"error\"", "null"), Ending::Error);
    // A limit is not what the agent said.
    let limit = "\"max_consecutive_failures\"";
    assert_eq!(ended("\"blocked\"", limit), Ending::Released);
    assert_eq!(ended("\"max_iters\"", "null"), Ending::Released);
}

#[test]
fn the_required_checks_of_a_shadow_say_what_is_true() {
    let truth = |checks: &str| {
        let shadow =
            r#"{"decision":"continue","stop_reason":null,"detail":null,"signal":"LOOP_CONTINUE"}"#;
        let run = in_shadow(shadow, checks);
        (run.truth, run.witness)
    };
    let passed = r#"{"id":"a","required":true,"passed":true,"flaky":false,"code":null}"#;
    let failed = r#"{"id":"b","required":true,"passed":false,"flaky":false,"code":"check_failed"}"#;
    let errored =
        r#"{"id":"c","required":true,"passed":false,"flaky":false,"code":"check_errored"}"#;
    let optional =
        r#"{"id":"d","required":false,"passed":false,"flaky":false,"code":"check_failed"}"#;
    let shadow = Some(Witness::Shadow);
    assert_eq!(truth(passed), (Truth::Complete, shadow));
    assert_eq!(
        truth(&format!("{passed},{failed}")),
        (Truth::Incomplete, shadow)
    );
    assert_eq!(
        truth(&format!("{passed},{errored}")),
        (Truth::Unknown, None)
    );
    assert_eq!(
        truth(&format!("{passed},{optional}")),
        (Truth::Complete, shadow)
    );
    assert_eq!(truth(optional), (Truth::Unknown, None));
}

#[test]
fn a_client_that_let_its_agent_go_is_an_end_of_its_own() {
    let run = one(&with(
        "client_ended",
        r#"{"iteration":3,"blocks":8,"cap":8}"#,
    ));
    assert_eq!(run.ending, Ending::ClientEnded);
}

#[test]
fn other_lines_are_counted_and_nothing_is_lost() {
    let found = read("x", format!("not an event\n{LOG}{{}}\n\n").as_bytes());
    assert_eq!(found.runs.len(), 1);
    assert_eq!(found.problems, ["x: 2 lines are no event and not counted"]);
    assert!(read("x", b"").runs.is_empty());
    assert!(read("x", &[0xff; 1000]).runs.is_empty());
}

#[test]
fn an_imported_run_stands_by_itself() {
    let line = r#"{"event":"imported_run","data":{"id":"c1","client":"claude-code","iterations":4,"elapsed_ms":9,
        "tool_calls":2,"tokens":null,"cost_usd":null,"ending":"released","truth":"incomplete","labels":{"arm":"old"}}}"#;
    let line = line.replace('\n', " ");
    let found = read("x", format!("{line}\n{LOG}").as_bytes());
    let [imported, logged] = found.runs.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        (imported.source, logged.source),
        (Source::Import, Source::Log)
    );
    assert_eq!(imported.ending, Ending::Released);
    assert_eq!(
        (imported.truth, imported.witness),
        (Truth::Incomplete, Some(Witness::Transcript))
    );
    assert_eq!(
        (imported.used.iterations, imported.used.tokens),
        (Some(4), None)
    );
    assert!(!logged.edited);
    let found = read("x", br#"{"event":"imported_run","data":{"id":1}}"#);
    let problem = "x: line 1 is an imported run that can't be read";
    assert!(
        found.problems[0].starts_with(problem),
        "{:?}",
        found.problems
    );
}
