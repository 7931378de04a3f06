//! Invariant 2: the gate, the loop's memory, the gate behind HTTP and the shipped policies use no files, clock, environment, threads, randomness or
//! hash-ordered maps, no `unsafe` outside generated code, and know WIT in one file only.

use std::path::{Path, PathBuf};

use super::lexer::{Token, lex_without_tests, paths, without_module};
use super::{Violation, files_with, read};
use crate::sources;

/// Where the gate's code is.
pub(super) const GATE: [&str; 2] = ["gate-component/src", "gate-component/text/src"];
/// Where the shipped policies' code is.
pub(super) const POLICIES: [&str; 3] = [
    "host/policies/cel/src",
    "host/policies/evidence/src",
    "host/policies/rego/src",
];
/// Where the code of the loop's memory is, that of the types which it shares with the host, and what asks about its logs.
pub(super) const MEMORY: [&str; 3] = ["host/history/src", "host/memory/src", "host/types/src"];
/// Where the code is that answers requests of HTTP.
pub(super) const HTTP: [&str; 1] = ["bindings/http/src"];
/// The one file of a package that knows WIT.
const WIT_FILE: &str = "component.rs";
/// What generates the bindings.
const GENERATOR: &str = "wit_bindgen";
/// The module of that file which the generated bindings are in.
const GENERATED: &str = "bindings";

/// A word that a file has to use all the same, and why.
struct Exception {
    path: &'static str,
    word: &'static str,
    reason: &'static str,
}

/// Keep it short: each entry is a place where two runs could differ.
const MAY_USE: &[Exception] = &[Exception {
    path: "host/policies/cel/src/values.rs",
    word: "HashMap",
    reason: "the engine makes its maps from one; in a component its order is always the same",
}];

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
    check_all(root, &rust_files(root, &GATE), "the gate")
}

/// The memory reaches the disk that it is given, and nothing else.
pub(super) fn pure_memory(root: &Path) -> Vec<Violation> {
    check_all(root, &rust_files(root, &MEMORY), "the memory")
}

/// What answers requests reaches what it is asked and what it answers, and nothing else.
pub(super) fn pure_http(root: &Path) -> Vec<Violation> {
    let mut files = rust_files(root, &HTTP);
    files.retain(|path| !path.ends_with("tests.rs"));
    check_all(root, &files, "the gate behind HTTP")
}

/// Neither does a shipped policy.
pub(super) fn pure_policies(root: &Path) -> Vec<Violation> {
    let mut files = rust_files(root, &POLICIES);
    files.retain(|path| !path.ends_with("tests.rs"));
    let mut violations = check_all(root, &files, "a shipped policy");
    for exception in MAY_USE {
        let is_used = read(root, exception.path).is_ok_and(|text| text.contains(exception.word));
        if !is_used {
            let message = format!(
                "no longer uses `{}`: take it off the list in tidy ({})",
                exception.word, exception.reason
            );
            violations.push(Violation::new(exception.path, 0, message));
        }
    }
    violations
}

fn rust_files(root: &Path, folders: &[&str]) -> Vec<PathBuf> {
    let folders = folders.iter();
    folders
        .flat_map(|folder| sources::below(root, folder, &[".rs"]))
        .collect()
}

/// Whether a file is the one of its package that knows WIT.
fn knows_wit(path: &Path) -> bool {
    folders().any(|folder| path == Path::new(folder).join(WIT_FILE))
}

/// Everything that is pure.
pub(super) fn folders() -> impl Iterator<Item = &'static &'static str> {
    GATE.iter().chain(&MEMORY).chain(&POLICIES).chain(&HTTP)
}

fn check_all(root: &Path, files: &[PathBuf], who: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for path in files {
        match read(root, path) {
            Ok(text) => check(path, &lex_without_tests(&text), who, &mut violations),
            Err(violation) => violations.push(violation),
        }
    }
    violations
}

fn check(path: &PathBuf, tokens: &[Token], who: &str, violations: &mut Vec<Violation>) {
    for used in paths(tokens, "std") {
        if let Some((module, what)) = MODULES.iter().find(|(module, _)| used.starts_with(module)) {
            let module = module.join("::");
            let message = format!("{who} is pure and may not use `{module}` ({what})");
            violations.push(Violation::new(path, used.line, message));
        }
    }
    for token in tokens {
        if let Some((word, what)) = WORDS.iter().find(|(word, _)| token.is_word(word)) {
            let is_allowed =
                |allowed: &Exception| path == Path::new(allowed.path) && allowed.word == *word;
            if !MAY_USE.iter().any(is_allowed) {
                let message = format!("{who} is pure and may not use `{word}` ({what})");
                violations.push(Violation::new(path, token.line, message));
            }
        }
    }
    let own = if knows_wit(path) {
        without_module(tokens, GENERATED)
    } else {
        tokens.to_vec()
    };
    for token in own.iter().filter(|token| token.is_word("unsafe")) {
        let message = format!("{who} has no `unsafe` outside `mod {GENERATED}` of {WIT_FILE}");
        violations.push(Violation::new(path, token.line, message));
    }
}

/// Only one file names the bindings generator.
pub(super) fn one_wit_file(root: &Path) -> Vec<Violation> {
    let mut violations = Vec::new();
    let files = folders().flat_map(|folder| files_with(root, folder, &[GENERATOR]));
    for (path, text) in files {
        if knows_wit(&path) {
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
