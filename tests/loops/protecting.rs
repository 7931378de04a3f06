//! Tests and what steers them: what was there stays as it was, and new tests may come.

use ralph_gate_tests::agent_script::Step;

use crate::harness::Workplace;
use crate::kit::{RUN_TESTS, append, delete, promise, replace, work, write};

/// A loop whose tests are frozen, whose runner's settings may not appear, and whose scripts are frozen in their file.
const FROZEN: &str = r#"
[contract]
mode = "ralph"
completion_token = "COMPLETE"
completion_checks = ["tests"]
max_check_retries = 0
loop_max_iters = 2

[checks.tests]
kind = "tests_green"
argv = ["sh", "run-tests.sh"]
format = "tap"

[tripwires]
frozen = ["tests/"]
protected_paths = ["run-tests.sh", "conftest.py", "**/.cargo/config.toml"]
frozen_parts = { "package.json" = ["/scripts"] }
"#;

/// One test passes, one fails until done.txt is there.
const FILES: &[(&str, &str)] = &[
    ("run-tests.sh", RUN_TESTS),
    ("tests/one.sh", "true\n"),
    ("tests/two.sh", "test -f done.txt\n"),
    (
        "package.json",
        "{\"scripts\": {\"test\": \"sh run-tests.sh\"}, \"version\": \"1\"}\n",
    ),
];

/// An agent that does this in its first turn, and says in each that it is done.
fn once(steps: &[Step]) -> Vec<Vec<Step>> {
    let mut turn = steps.to_vec();
    turn.push(promise());
    vec![turn, vec![promise()]]
}

#[test]
fn a_frozen_test_may_neither_change_nor_go() {
    let attacks = [
        replace("tests/two.sh", "test -f done.txt", "true"),
        delete("tests/two.sh"),
    ];
    for attack in attacks {
        let workplace = Workplace::new(FROZEN, FILES);
        let outcome = workplace.run(&once(&[attack]));
        outcome.always_tampered("frozen");
    }
}

#[test]
fn a_frozen_test_stops_even_work_that_is_done() {
    let workplace = Workplace::new(FROZEN, FILES);
    let outcome = workplace.run(&once(&[append("tests/two.sh", "# better\n"), work()]));
    outcome.always_tampered("frozen");
}

#[test]
fn new_tests_beside_frozen_ones_are_allowed() {
    let workplace = Workplace::new(FROZEN, FILES);
    let outcome = workplace.run(&once(&[
        work(),
        write("tests/three.sh", "test -f done.txt\n"),
    ]));
    outcome.stopped("completed", None, 1);
}

#[test]
fn a_setting_of_a_runner_that_appears_where_none_was_is_noticed() {
    for path in ["conftest.py", "tests/conftest.py", "sub/.cargo/config.toml"] {
        let workplace = Workplace::new(FROZEN, FILES);
        let outcome = workplace.run(&once(&[work(), write(path, "true\n")]));
        outcome.always_tampered("protected_paths");
    }
}

#[test]
fn of_a_file_with_frozen_parts_only_these_are_frozen() {
    let version = "\"version\": \"1\"";
    let workplace = Workplace::new(FROZEN, FILES);
    let outcome = workplace.run(&once(&[
        work(),
        replace(
            "package.json",
            version,
            "\"version\": \"2\", \"dependencies\": {\"a\": \"1\"}",
        ),
    ]));
    outcome.stopped("completed", None, 1);
    let workplace = Workplace::new(FROZEN, FILES);
    let outcome = workplace.run(&once(&[
        work(),
        replace("package.json", "sh run-tests.sh", "true"),
    ]));
    outcome.always_tampered("frozen");
}

#[test]
fn a_frozen_file_that_is_put_back_is_forgiven() {
    let workplace = Workplace::new(FROZEN, FILES);
    let outcome = workplace.run(&[
        vec![write("tests/two.sh", "true\n"), work(), promise()],
        vec![write("tests/two.sh", "test -f done.txt\n"), promise()],
    ]);
    outcome.stopped("completed", None, 2);
}

/// The warnings of a run.
fn warnings(outcome: &crate::harness::Outcome) -> Vec<String> {
    let events = outcome.events("warning").into_iter();
    events
        .map(|event| event["message"].as_str().unwrap().to_owned())
        .filter(|message| !message.starts_with("no prompt"))
        .collect()
}

#[test]
fn tests_that_nobody_protects_are_warned_of_and_named_when_the_loop_completes() {
    let config = FROZEN.split("[tripwires]").next().unwrap();
    let workplace = Workplace::new(config, FILES);
    let outcome = workplace.run(&once(&[write("tests/two.sh", "true\n")]));
    outcome.stopped("completed", None, 1);
    assert!(
        outcome
            .stderr
            .contains("an agent can make it pass by changing its tests")
            && outcome.stderr.contains("`frozen`"),
        "{outcome:#?}"
    );
    let told = warnings(&outcome);
    let named = "the tests of tests were not protected; changed since the loop began: tests/two.sh (changed); look at them";
    assert_eq!(told.last().map(String::as_str), Some(named), "{outcome:#?}");
}

#[test]
fn tests_whose_patterns_match_no_file_are_said_to_be_unprotected() {
    let config = |tripwires: &str| {
        let config = FROZEN.split("[tripwires]").next().unwrap();
        format!("{config}[tripwires]\n{tripwires}\n")
    };
    // Patterns that match something else, or that could match a test and match none.
    for tripwires in [
        "protected_paths = [\"LICENSE\"]",
        "frozen = [\"*_test.go\", \"Cargo.lock\"]",
    ] {
        let files = [FILES, &[("LICENSE", "free\n"), ("Cargo.lock", "\n")]].concat();
        let workplace = Workplace::new(&config(tripwires), &files);
        let outcome = workplace.run(&once(&[write("tests/two.sh", "true\n")]));
        outcome.stopped("completed", None, 1);
        let told = warnings(&outcome);
        let begin = "an agent can make tests pass by changing its tests: no protected file is a test by its name";
        assert!(told[0].starts_with(begin), "{told:?}");
        let end = "changed since the loop began: tests/two.sh (changed); look at them";
        assert!(told.last().unwrap().ends_with(end), "{told:?}");
    }
    // Where no file is a test by its name, the source files that changed are named.
    let script =
        "echo 1..1; . ./verify.sh && echo ok 1 - works || { echo not ok 1 - works; exit 1; }\n";
    let files = [
        ("run-tests.sh", script),
        ("verify.sh", "false\n"),
        ("LICENSE", "free\n"),
    ];
    let protected = "protected_paths = [\"LICENSE\", \"run-tests.sh\"]";
    let workplace = Workplace::new(&config(protected), &files);
    let outcome = workplace.run(&once(&[write("verify.sh", "true\n")]));
    outcome.stopped("completed", None, 1);
    let told = warnings(&outcome);
    assert!(
        told.last().unwrap().contains("verify.sh (changed)"),
        "{told:?}"
    );
    // Whatever the operator froze is meant as tests.
    let workplace = Workplace::new(&config("frozen = [\"verify.sh\"]"), &files);
    let outcome = workplace.run(&once(&[write("done.txt", "")]));
    assert_eq!(warnings(&outcome), Vec::<String>::new());
}

#[test]
fn an_honest_agent_may_add_a_package() {
    let workplace = Workplace::new(FROZEN, FILES);
    let package = "{\"scripts\": {\"test\": \"node --test\"}}\n";
    let outcome = workplace.run(&once(&[
        work(),
        write("packages/new/package.json", package),
    ]));
    outcome.stopped("completed", None, 1);
    let workplace = Workplace::new(FROZEN, FILES);
    let outcome = workplace.run(&once(&[work(), write("tests/package.json", package)]));
    outcome.always_tampered("frozen");
}

#[test]
fn tests_that_nobody_protected_and_nobody_changed_are_said_to_be_unchanged() {
    let config = FROZEN.split("[tripwires]").next().unwrap();
    let workplace = Workplace::new(config, FILES);
    let outcome = workplace.run(&once(&[work()]));
    outcome.stopped("completed", None, 1);
    let told = warnings(&outcome);
    assert!(
        told.last()
            .unwrap()
            .ends_with("no file that is a test by its name changed since the loop began"),
        "{told:?}"
    );
}

#[test]
fn where_tests_are_protected_nothing_is_warned_of() {
    let workplace = Workplace::new(FROZEN, FILES);
    let prompt = ["--json", "--prompt", "do it"];
    let running = workplace.start_with(&prompt, &[], &once(&[work()]));
    let outcome = running.finish();
    outcome.stopped("completed", None, 1);
    assert!(
        !outcome.stderr.contains("changing its tests"),
        "{outcome:#?}"
    );
    assert_eq!(warnings(&outcome), Vec::<String>::new());
}

#[test]
fn a_script_of_a_check_that_the_agent_may_change_is_warned_of_when_the_loop_begins() {
    let config = FROZEN.replace("\"run-tests.sh\", ", "");
    let warned = |config: &str| {
        let workplace = Workplace::new(config, FILES);
        let outcome = workplace.run(&once(&[work()]));
        outcome.stopped("completed", None, 1);
        let warning = "the check tests runs run-tests.sh, which the agent may change";
        outcome.stderr.contains(warning) && outcome.stderr.contains("`protected_paths`")
    };
    assert!(warned(&config));
    assert!(!warned(FROZEN));
}
