//! Questions about logs that the real memory wrote of loops that the real gate judged.

mod kit;

use kit::{Played, gate};
use ralph_gate_history::{Log, Outcome as Replayed, State, Unanswered, replay, what_if};
use ralph_gate_memory::Recording;
use ralph_gate_types::{OperatorNote, Outcome};

const CONTRACT: &str = "mode: ralph\ncompletion_token: COMPLETE\ncompletion_checks: [work]\n";
const DONE: &str = "All done.\n<promise>COMPLETE</promise>\n";
const BLOCKED: &str = "I can't.\n<promise>LOOP_BLOCKED</promise>\n";

/// Four turns that say they are done and are not, then one that is.
fn five() -> Played {
    five_recorded(Recording::Full)
}

fn five_recorded(record: Recording) -> Played {
    let mut played = Played::recorded(CONTRACT, record);
    for turn in 1..=4 {
        played.turn(&format!("Try {}.\n{DONE}", "I".repeat(turn)), Outcome::Fail);
    }
    played.turn(DONE, Outcome::Pass);
    played
}

#[test]
fn the_logs_of_the_examples_are_what_is_written_today() {
    let logs = [
        ("events", five().log()),
        ("digest-only", five_recorded(Recording::DigestOnly).log()),
    ];
    for (name, log) in logs {
        let file = format!("{}/testdata/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &log).unwrap();
        }
        assert!(std::fs::read_to_string(&file).unwrap() == log, "{name}");
    }
}

/// What each line says about what the loop ran under.
fn runs(log: &str) -> Vec<serde_json::Value> {
    let line = |line| serde_json::from_str::<serde_json::Value>(line).unwrap()["run"].clone();
    log.lines().map(line).collect()
}

#[test]
fn every_line_says_what_the_loop_ran_under_and_another_contract_changes_it() {
    let mut played = Played::new(CONTRACT);
    played.turn(BLOCKED, Outcome::Fail);
    let strict = format!("profile: strict\n{CONTRACT}");
    played.resume(Some(&strict)).turn(DONE, Outcome::Pass);
    let log = played.log();
    let under = |profile: Option<&str>| serde_json::json!({ "mode": "ralph", "profile": profile, "enforcement": "enforce", "gate": null });
    let (before, after) = (under(None), under(Some("strict")));
    assert_eq!(
        runs(&log),
        [before.clone(), before, after.clone(), after.clone()]
    );
    let read = Log::read(&log).unwrap();
    assert_eq!(read.report().breaks, []);
    let last = read.report().events.last().unwrap();
    assert_eq!(serde_json::to_value(&last.run).unwrap(), after);
    // It stands where every reader of lines expects it.
    let line = log.lines().last().unwrap();
    assert!(
        line.contains(r#""event":"verdict","run":{"mode":"ralph","#),
        "{line}"
    );
}

#[test]
fn a_log_from_before_lines_said_so_is_read_and_its_old_snapshots_are_told() {
    let log = include_str!("../testdata/before-run.jsonl");
    assert!(runs(log).iter().all(serde_json::Value::is_null));
    let read = Log::read(log).unwrap();
    assert_eq!(read.report().breaks, []);
    assert!(read.report().events.iter().all(|event| event.run.is_none()));
    // Its snapshots have version 1, which this gate does not read.
    let report = replay(&read, None, &gate).unwrap();
    assert_eq!((report.same, report.different), (false, 5), "{report:?}");
}

#[test]
fn a_log_of_digests_holds_no_text_and_is_not_replayable() {
    let mut played = Played::recorded(CONTRACT, Recording::DigestOnly);
    played.turn("Nothing to see.\n", Outcome::Fail);
    played.turn(DONE, Outcome::Pass);
    let log = played.log();
    for secret in ["make it work", "Nothing to see", "All done", "Not done"] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
    assert_eq!(played.begun().prompt, "make it work");
    let read = Log::read(&log).unwrap();
    let report = read.report();
    assert_eq!(report.breaks, []);
    assert_eq!(report.r#loop.as_ref().unwrap().prompt, None);
    let end = report.end.as_ref().unwrap();
    assert!(end.decided.is_complete(), "{end:?}");
    assert_eq!(end.decided.totals.cost_usd, "0.20");
    assert_eq!(
        report.iterations[0].decided.failures,
        ["work: check_failed", "token_missing"]
    );
    let replayed = replay(&read, None, &gate).unwrap();
    assert_eq!((replayed.different, replayed.not_replayed), (0, 2));
    for iteration in &replayed.iterations {
        assert_eq!(iteration.outcome, Replayed::NotReplayed);
        let problem = iteration.problem.as_deref();
        assert_eq!(problem, Some("recorded as digests only: not replayable"));
    }
    let error = what_if(&read, CONTRACT, &gate).unwrap_err();
    assert_eq!(error.code, "digest_only");
}

#[test]
fn after_digests_the_first_verdict_is_not_replayable_and_the_next_is() {
    let mut played = Played::recorded(CONTRACT, Recording::DigestOnly);
    played.turn(BLOCKED, Outcome::Fail);
    played.record(Recording::Full).resume(None);
    played
        .turn("More.\n", Outcome::Fail)
        .turn(DONE, Outcome::Pass);
    let log = played.log();
    let replayed = replay(&Log::read(&log).unwrap(), None, &gate).unwrap();
    let outcomes: Vec<Replayed> = replayed.iterations.iter().map(|it| it.outcome).collect();
    assert_eq!(
        outcomes,
        [
            Replayed::NotReplayed,
            Replayed::NotReplayed,
            Replayed::Equal
        ]
    );
    let second = replayed.iterations[1].problem.as_deref().unwrap();
    assert!(second.contains("the state before it"), "{second}");
}

#[test]
fn a_log_tells_what_the_gate_was_given_and_answered() {
    let text = five().log();
    let log = Log::read(&text).unwrap();
    let report = log.report();
    assert_eq!((report.lines, report.events.len()), (6, 6));
    assert_eq!(report.breaks, []);
    let begun = report.r#loop.as_ref().unwrap();
    assert_eq!(
        (begun.line, begun.prompt.as_deref()),
        (1, Some("make it work"))
    );
    let [first, second, ..] = report.iterations.as_slice() else {
        panic!("{report:#?}");
    };
    assert_eq!((first.index, first.line, first.at_ms), (1, 2, Some(1_000)));
    assert_eq!(first.given.contract, begun.contract);
    assert_eq!(first.given.snapshot, None);
    assert!(second.given.snapshot.is_some());
    assert_eq!(first.decided.decision, "continue");
    assert_eq!(first.decided.failures, ["work: check_failed"]);
    let end = report.end.as_ref().unwrap();
    assert!(end.ended && end.decided.is_complete());
    assert_eq!(
        (end.iteration, end.decided.totals.cost_usd.as_str()),
        (5, "0.50")
    );
}

#[test]
fn the_gate_answers_with_the_same_bytes() {
    let text = five().log();
    let report = replay(&Log::read(&text).unwrap(), None, &gate).unwrap();
    assert!(report.same, "{report:#?}");
    assert_eq!(
        (report.equal, report.different, report.not_replayed),
        (5, 0, 0)
    );
}

#[test]
fn an_edited_verdict_is_found_by_its_path_and_by_its_seal() {
    let text = five()
        .log()
        .replacen("\"cost_usd\":\"0.30\"", "\"cost_usd\":\"0.03\"", 1);
    let log = Log::read(&text).unwrap();
    let report = replay(&log, None, &gate).unwrap();
    let difference = report.first_difference.unwrap();
    assert_eq!((difference.iteration, difference.line), (3, 4));
    assert_eq!(difference.path, "counters.cost_usd");
    assert_eq!(difference.recorded.as_deref(), Some("\"0.03\""));
    assert_eq!(difference.replayed.as_deref(), Some("\"0.30\""));
    assert_eq!(report.different, 1);
    assert_eq!(
        (report.breaks[0].line, report.breaks[0].kind.as_str()),
        (4, "edited")
    );
}

#[test]
fn loops_that_somebody_went_on_with_replay() {
    let mut played = Played::new(&format!("{CONTRACT}loop_max_iters: 1\n"));
    played.turn("no", Outcome::Fail);
    // Under another contract, then after a kill, then in an operator's name.
    played.resume(Some(&format!("{CONTRACT}loop_max_iters: 3\n")));
    played.turn("no", Outcome::Fail).resume(None);
    played.turn("still no", Outcome::Fail).resume(None);
    played.judge(|iteration| {
        iteration.r#override = Some(OperatorNote {
            operator: "ada".to_owned(),
            reason: "seen it".to_owned(),
        });
    });
    let text = played.log();
    let log = Log::read(&text).unwrap();
    let report = replay(&log, None, &gate).unwrap();
    assert!(report.same, "{report:#?}");
    assert_eq!(report.equal, 4);
    let accepted = |it: &ralph_gate_history::RecordedIteration<'_>| {
        let resumption = it.given.resumption.as_ref();
        resumption.map(|resumption| resumption.accept_contract)
    };
    let iterations = log.report().iterations.iter();
    let expected = [None, Some(true), Some(false), Some(false)];
    assert_eq!(iterations.map(accepted).collect::<Vec<_>>(), expected);
}

#[test]
fn a_log_without_its_contract_needs_the_right_one() {
    let text = five().log();
    let begun = Log::read(&text).unwrap().report().r#loop.clone().unwrap();
    let contract = begun.contract.unwrap();
    let escaped = serde_json::to_string(&contract).unwrap();
    let text = text.replacen(&format!("\"contract\":{escaped},"), "", 1);
    let log = Log::read(&text).unwrap();
    let ask = |contract: Option<&str>| replay(&log, contract, &gate);
    assert_eq!(ask(None).unwrap_err().code, "no_contract");
    assert_eq!(
        ask(Some("mode: ralph\ncompletion_token: X"))
            .unwrap_err()
            .code,
        "wrong_contract"
    );
    // As it was written by a person, too.
    assert!(ask(Some(CONTRACT)).unwrap().same);
    assert!(ask(Some(&contract)).unwrap().same);
}

#[test]
fn the_same_contract_changes_nothing() {
    let text = five().log();
    let report = what_if(&Log::read(&text).unwrap(), CONTRACT, &gate).unwrap();
    assert_eq!(report.changed, Vec::<u32>::new());
    assert_eq!(Some(report.contract_digest), report.recorded_digest);
    assert_eq!(report.other, report.recorded);
    assert!(report.saved.is_none() && report.unknown.is_none());
    assert_eq!(
        report.notes,
        ["the agent would have been told the same after every iteration"]
    );
}

#[test]
fn an_earlier_end_says_what_it_saves() {
    let text = five().log();
    let stricter = format!("{CONTRACT}cost_budget_usd: 0.25\n");
    let report = what_if(&Log::read(&text).unwrap(), &stricter, &gate).unwrap();
    assert_eq!(report.changed, [3]);
    let decided = &report.other.decided;
    assert_eq!(decided.stop_reason.as_deref(), Some("budget_exceeded"));
    assert_eq!(decided.detail.as_deref(), Some("cost_budget_usd"));
    let saved = report.saved.unwrap();
    assert_eq!(
        (saved.iterations, saved.elapsed_ms, saved.tool_calls),
        (2, 2_000, 2)
    );
    assert_eq!((saved.tokens, saved.cost_usd.as_str()), (20, "0.20"));
    let states: Vec<State> = report.iterations.iter().map(|it| it.state).collect();
    let [evaluated, missed] = [State::Evaluated, State::NotReached];
    assert_eq!(states, [evaluated, evaluated, evaluated, missed, missed]);
}

#[test]
fn what_the_log_does_not_hold_is_unknown() {
    let mut played = Played::new(&format!("{CONTRACT}loop_max_iters: 1\n"));
    played.turn("no", Outcome::Fail).resume(Some(CONTRACT));
    played.turn(DONE, Outcome::Pass);
    let text = played.log();
    let report = what_if(&Log::read(&text).unwrap(), CONTRACT, &gate).unwrap();
    assert_eq!(report.iterations[1].state, State::Unknown);
    assert_eq!(report.unknown.unwrap().after, 1);
    assert!(!report.other.ended && report.saved.is_none());
}

#[test]
fn a_stop_that_both_have_is_gone_on_with_in_both() {
    let mut played = Played::new(CONTRACT);
    played.turn(BLOCKED, Outcome::Fail).resume(None);
    played.turn(DONE, Outcome::Pass);
    let text = played.log();
    let other = format!("{CONTRACT}max_tool_calls: 7\n");
    let report = what_if(&Log::read(&text).unwrap(), &other, &gate).unwrap();
    assert_eq!(report.changed, Vec::<u32>::new());
    assert!(report.other.decided.is_complete(), "{report:#?}");
    assert_eq!(report.other.iteration, 2);
}

#[test]
fn what_the_agent_was_not_told_and_nobody_looked_at_is_said() {
    let text = five().log();
    let log = Log::read(&text).unwrap();
    let notes = |contract: &str| what_if(&log, contract, &gate).unwrap().notes.join("\n");
    let lint = notes("mode: ralph\ncompletion_checks: [work, lint]");
    assert!(lint.contains("no evidence for the check lint"), "{lint}");
    let token = notes("mode: ralph\ncompletion_token: FINISHED");
    assert!(token.contains("asks for the promise FINISHED"), "{token}");
    let standard = notes("mode: standard");
    assert!(standard.contains("does not bind"), "{standard}");
}

#[test]
fn mistakes_of_contracts_and_gates_are_errors_with_places() {
    let text = five().log();
    let log = Log::read(&text).unwrap();
    let error = what_if(&log, "mode: ralph\nloop_max_iter: 3\n", &gate).unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.problems[0].line),
        ("invalid_contract", 2)
    );
    let silent = |_: &str, _: &str| Err(Unanswered("gone".to_owned()));
    let error = what_if(&log, CONTRACT, &silent).unwrap_err();
    assert_eq!(error.message, "the gate gave no answer: gone");
    let report = replay(&log, None, &silent).unwrap();
    assert!(
        report
            .iterations
            .iter()
            .all(|it| it.outcome == Replayed::NotReplayed)
    );
}

#[test]
fn texts_that_are_no_logs_are_refused_and_damaged_ones_are_read() {
    assert_eq!(Log::read("").unwrap_err().code, "invalid_log");
    assert_eq!(Log::read("what is this\n").unwrap_err().code, "invalid_log");
    let text = five().log();
    let first = text.lines().next().unwrap();
    let only = Log::read(first).unwrap();
    assert_eq!(
        replay(&only, None, &gate).unwrap_err().code,
        "nothing_judged"
    );
    // A line that is whole, and of a shape that nobody knows.
    let torn = text.get(..text.len() - 9).unwrap();
    let log = Log::read(torn).unwrap();
    assert_eq!(log.report().iterations.len(), 4);
    assert_eq!(log.report().breaks[0].line, 6);
    let strange = text.replacen("\"verdict\":{\"decision\"", "\"verdict\":{\"decided\"", 1);
    let log = Log::read(&strange).unwrap();
    let kinds: Vec<&str> = log
        .report()
        .breaks
        .iter()
        .map(|it| it.kind.as_str())
        .collect();
    assert_eq!(kinds, ["edited", "unreadable"]);
}
