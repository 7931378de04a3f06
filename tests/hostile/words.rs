//! What strangers say, where people and agents see it: nothing of it moves a cursor, turns a line around or hides.

use std::fs;
use std::process::Command;

use ralph_gate::visible::is_hidden;
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::policies;
use ralph_gate_tests::said::Said;

/// Runs a command on a policy of the corpus.
fn run(words: &[&str], name: &str) -> Said {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.wasm");
    fs::write(&file, policies::component(name).unwrap()).unwrap();
    Said::by(
        Command::new(binary())
            .arg("policy")
            .args(words)
            .arg(&file)
            .args(["--color", "never"])
            .env("XDG_CACHE_HOME", folder.path()),
    )
}

/// All that was said. Lines may end.
fn visible(said: &Said) -> String {
    let all = format!("{}{}", said.stdout, said.stderr);
    let hidden: Vec<char> = all
        .chars()
        .filter(|it| is_hidden(*it) && *it != '\n')
        .collect();
    assert!(hidden.is_empty(), "{hidden:?} in {all}");
    all
}

#[test]
fn reasons_reach_a_terminal_without_what_does_something_to_it() {
    for name in ["words-escapes", "words-turned-around", "words-orders"] {
        let said = run(&["run"], name);
        assert_eq!(said.code, 0, "{said:?}");
        let text = visible(&said);
        assert!(text.starts_with("fail\n"), "{text}");
        // Each reason is one line, so that no line of it looks like the host's.
        assert_eq!(said.stdout.lines().count(), 3, "{text}");
    }
}

#[test]
fn what_a_policy_prints_reaches_a_terminal_clean() {
    let said = run(&["run", "--wasi", "deny-all"], "wasi-print-escapes");
    let text = visible(&said);
    assert!(text.contains("it printed 36 bytes"), "{text}");
    assert!(text.contains("\\u{1b}[2J"), "{text}");
}

#[test]
fn a_description_reaches_a_terminal_and_a_configuration_clean() {
    let said = run(&["inspect"], "describe-escapes");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(visible(&said).contains("\\u{1b}[31mred"), "{said:?}");
    let said = run(&["pin"], "describe-escapes");
    assert_eq!(said.code, 0, "{said:?}");
    let text = visible(&said);
    // The line end in its name does not begin a line of the configuration.
    assert!(
        text.lines().all(|line| !line.starts_with("id = 1")),
        "{text}"
    );
    assert!(text.contains("[checks.\"31mredid10owned\"]"), "{text}");
}

#[test]
fn names_of_imports_and_artifacts_reach_a_terminal_clean() {
    for (words, name) in [
        (&["run"][..], "import-with-escapes"),
        (&["inspect"], "import-with-escapes"),
        (&["inspect"], "describe-wants-what-is-not-there"),
        (&["pin"], "describe-wants-what-is-not-there"),
    ] {
        let text = visible(&run(words, name));
        assert!(text.contains("\\u{1b}[2J"), "{words:?} {name}: {text}");
    }
}

#[test]
fn machines_get_the_same_words_as_json() {
    for name in ["words-escapes", "words-turned-around", "words-orders"] {
        let said = run(&["run", "--json"], name);
        assert_eq!(said.json()["outcome"], "fail");
        assert!(
            !said.stdout.trim_end().contains(char::is_control),
            "{said:?}"
        );
    }
    let said = run(&["run", "--json"], "import-with-escapes");
    assert_eq!(said.json()["error"]["code"], "import_denied");
}
