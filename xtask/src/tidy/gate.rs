//! Invariant 2: the gate uses no files, clock, environment, threads, randomness or hash-ordered maps,
//! no `unsafe` outside generated code, and knows WIT in one file only.

use std::path::{Path, PathBuf};

use super::lexer::{Token, lex_without_tests, paths, without_module};
use super::{Violation, files_with, read};
use crate::sources;

/// Where the gate's code is.
pub(super) const GATE: [&str; 2] = ["gate-component/src", "gate-component/text/src"];
/// The one file that knows WIT.
const WIT_FILE: &str = "gate-component/src/component.rs";
/// What generates the bindings.
const GENERATOR: &str = "wit_bindgen";
/// The module of that file which the generated bindings are in.
const GENERATED: &str = "bindings";

/// Parts of the standard library that reach the world, or differ between two runs.
const MODULES: &[(&[&str], &str)] = &[
    (&["std", "fs"], "files"),
    (&["std", "time"], "the clock"),
    (&["std", "env"], "the environment"),
    (&["std", "thread"], "threads"),
    (&["std", "process"], "processes"),
    (&["std", "net"], "the network"),
    (&["std", "os"], "the operating system"),
    (&["std", "random"], "randomness"),
    (&["std", "io", "stdin"], "standard input"),
    (
        &["std", "*"],
        "everything at once, which hides what is used",
    ),
    (&["std", "self"], "the standard library under another name"),
];

/// Words that mean the same, wherever they come from.
const WORDS: &[(&str, &str)] = &[
    ("HashMap", "hash order"),
    ("HashSet", "hash order"),
    ("RandomState", "randomness"),
    ("rand", "randomness"),
    ("getrandom", "randomness"),
    ("SystemTime", "the clock"),
    ("Instant", "the clock"),
    ("println", "standard output"),
    ("eprintln", "standard error"),
];

/// The gate reaches nothing outside itself.
pub(super) fn pure(root: &Path) -> Vec<Violation> {
    let mut violations = Vec::new();
    let files = GATE.map(|folder| sources::below(root, folder, &[".rs"]));
    for path in files.into_iter().flatten() {
        match read(root, &path) {
            Ok(text) => check(&path, &lex_without_tests(&text), &mut violations),
            Err(violation) => violations.push(violation),
        }
    }
    violations
}

fn check(path: &PathBuf, tokens: &[Token], violations: &mut Vec<Violation>) {
    for used in paths(tokens, "std") {
        if let Some((module, what)) = MODULES.iter().find(|(module, _)| used.starts_with(module)) {
            let module = module.join("::");
            let message = format!("the gate is pure and may not use `{module}` ({what})");
            violations.push(Violation::new(path, used.line, message));
        }
    }
    for token in tokens {
        if let Some((word, what)) = WORDS.iter().find(|(word, _)| token.is_word(word)) {
            let message = format!("the gate is pure and may not use `{word}` ({what})");
            violations.push(Violation::new(path, token.line, message));
        }
    }
    let own = if path == Path::new(WIT_FILE) {
        without_module(tokens, GENERATED)
    } else {
        tokens.to_vec()
    };
    for token in own.iter().filter(|token| token.is_word("unsafe")) {
        let message = format!("the gate has no `unsafe` outside `mod {GENERATED}` of {WIT_FILE}");
        violations.push(Violation::new(path, token.line, message));
    }
}

/// Only one file names the bindings generator.
pub(super) fn one_wit_file(root: &Path) -> Vec<Violation> {
    let mut violations = Vec::new();
    let files = GATE.map(|folder| files_with(root, folder, &[GENERATOR]));
    for (path, text) in files.into_iter().flatten() {
        if path == Path::new(WIT_FILE) {
            continue;
        }
        let tokens = lex_without_tests(&text);
        for token in tokens.iter().filter(|token| token.is_word(GENERATOR)) {
            let message = format!("only {WIT_FILE} knows WIT; move what needs `{GENERATOR}` there");
            violations.push(Violation::new(&path, token.line, message));
        }
    }
    violations
}
