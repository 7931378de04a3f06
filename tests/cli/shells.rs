//! What shells and `man` learn of the commands.

use std::fs;
use std::process::{Command, Stdio};

use ralph_gate_tests::shells::complete_in_bash;

use crate::commands::COMMANDS;
use crate::harness::{Files, run};

fn offered(words: &[&str]) -> Option<Vec<String>> {
    let folder = Files::new();
    complete_in_bash(
        Command::new("bash")
            .current_dir(folder.folder())
            .stdin(Stdio::null()),
        words,
    )
}

#[test]
fn options_and_commands_below_the_first_level_are_completed_in_bash() {
    for (words, expected) in [
        (&["run", "--max"][..], "--max-iters"),
        (&["memory", "ver"], "verify"),
        (&["memory", "verify", "--dr"], "--draft"),
        (&["what-if", "--contr"], "--contract"),
        (&["--color", "nev"], "never"),
        (&["eval"], "evaluate"),
    ] {
        let Some(offered) = offered(words) else {
            return;
        };
        assert_eq!(offered, [expected], "{words:?}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let files = Files::new();
    let folder = format!("{}/man1", files.folder());
    let answer = run(&["man", "--json", &folder]).json();
    let written = answer["files"].as_array().unwrap();
    assert!(!written.is_empty());
    for command in COMMANDS {
        let name = format!("ralph-gate-{}.1", command.join("-"));
        assert!(written.contains(&name.as_str().into()), "{name}: {answer}");
        let page = fs::read_to_string(format!("{folder}/{name}")).unwrap();
        assert!(
            page.contains(".SH NAME") && page.contains("Example"),
            "{name}"
        );
    }
    let main = fs::read_to_string(format!("{folder}/ralph-gate.1")).unwrap();
    assert_eq!(run(&["man"]).stdout, main);
    let is_wrong = |file: &&serde_json::Value| {
        let name = file.as_str().unwrap();
        name.ends_with("help.1") || name == "ralph-gate-policy-compile.1"
    };
    assert_eq!(written.iter().find(is_wrong), None, "not for people");
}
