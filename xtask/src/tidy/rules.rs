//! Invariants 4 and 5: a rule of the specification exists once, in the gate.
//!
//! What translates (harnesses, command line, bindings) passes values through. So the names that only a
//! rule needs, fields of the contract and codes of the verdict, must not occur there. The names are
//! read from the gate and its WIT, so that a new one is covered as soon as it exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::lexer::{Kind, lex, lex_without_tests};
use super::{Violation, read};
use crate::bindings::python::types;
use crate::sources;

/// Parts of the host that translate.
const TRANSLATORS: &[&str] = &["host/src/harness", "host/src/cli"];

const BINDINGS: &str = "bindings";

/// Files of the bindings that hold code.
const CODE: &[&str] = &[
    ".rs", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".py", ".sh", ".html",
];

/// Where the fields of a contract are listed, as `const FIELDS`.
const CONTRACT: &str = "gate-component/src/contract/fields.rs";

const WIT: &str = "wit/gate.wit";

/// Enums of the WIT whose cases only a rule has to know.
const ENUMS: &[&str] = &["failure-code", "stop-reason", "signal"];

/// A name that a translator has to use all the same, and why.
struct Exception {
    path: &'static str,
    name: &'static str,
    reason: &'static str,
}

/// Keep it short: each entry is a place that has to change with a rule.
const MAY_NAME: &[Exception] = &[];

/// The harness and the command line contain no rule.
pub(super) fn host(root: &Path) -> Vec<Violation> {
    let names = match names(root) {
        Ok(names) => names,
        Err(violation) => return vec![violation],
    };
    let mut found = Vec::new();
    for folder in TRANSLATORS {
        for path in sources::below(root, folder, &[".rs"]) {
            if !path.ends_with("tests.rs") {
                found.extend(mentions(root, &path, &names));
            }
        }
    }
    judge(found, TRANSLATORS)
}

/// The bindings contain no rule.
pub(super) fn bindings(root: &Path) -> Vec<Violation> {
    let names = match names(root) {
        Ok(names) => names,
        Err(violation) => return vec![violation],
    };
    let mut found = Vec::new();
    for path in sources::below(root, BINDINGS, CODE) {
        if !is_test_or_type(&path) {
            found.extend(mentions(root, &path, &names));
        }
    }
    judge(found, &[BINDINGS])
}

/// A name of a rule, where it stands.
struct Mention {
    path: PathBuf,
    line: usize,
    name: String,
}

/// The names that occur in a file's code.
fn mentions(root: &Path, path: &Path, names: &BTreeSet<String>) -> Vec<Mention> {
    // What can't be read as text is no code.
    let text = read(root, path).unwrap_or_default();
    let names: Vec<&String> = names.iter().filter(|name| text.contains(*name)).collect();
    if names.is_empty() {
        return Vec::new();
    }
    let pieces: Vec<(usize, String)> = if path.extension().is_some_and(|ext| ext == "rs") {
        let tokens = lex_without_tests(&text).into_iter();
        tokens.map(|token| (token.line, token.text)).collect()
    } else {
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !is_comment(line));
        lines
            .map(|(index, line)| (index + 1, line.to_owned()))
            .collect()
    };
    let mut found = Vec::new();
    for (line, piece) in pieces {
        for name in names.iter().filter(|name| contains_word(&piece, name)) {
            found.push(Mention {
                path: path.to_path_buf(),
                line,
                name: (*name).clone(),
            });
        }
    }
    found
}

/// Takes the exceptions out, and reports those that nothing needs any more.
fn judge(found: Vec<Mention>, folders: &[&str]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut needed = BTreeSet::new();
    for Mention { path, line, name } in found {
        let exception = MAY_NAME
            .iter()
            .position(|e| Path::new(e.path) == path && e.name == name);
        if let Some(index) = exception {
            needed.insert(index);
            continue;
        }
        let message = format!(
            "`{name}` belongs to a rule, and rules live in the gate: pass the value through, \
             or add what is missing to the gate's answer"
        );
        violations.push(Violation::new(path, line, message));
    }
    for (index, Exception { path, name, reason }) in MAY_NAME.iter().enumerate() {
        let here = folders
            .iter()
            .any(|folder| Path::new(path).starts_with(folder));
        if here && !needed.contains(&index) {
            let message = format!(
                "no longer names `{name}` ({reason}): take it off the list in xtask/src/tidy/rules.rs"
            );
            violations.push(Violation::new(path, 0, message));
        }
    }
    violations
}

/// Tests talk about rules, and a type declaration describes data without deciding anything.
fn is_test_or_type(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let in_tests = path.iter().any(|part| {
        ["tests", "test", "examples", "bench"]
            .iter()
            .any(|name| part == *name)
    });
    let is_test = in_tests || name.contains(".test.") || name.starts_with("test_");
    // Another check sees to it that the types of Python are what the WIT gives.
    is_test || name.ends_with(".d.ts") || path == Path::new(types::FILE)
}

/// Lines that are only a comment in JavaScript, TypeScript, Python, shell or HTML.
fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "/*", "* ", "*/", "#", "<!--"]
        .iter()
        .any(|start| line.starts_with(start))
}

/// Whether the name occurs, and not as a part of a longer word.
fn contains_word(text: &str, name: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let (first_in_word, last_in_word) = (name.starts_with(in_word), name.ends_with(in_word));
    text.match_indices(name).any(|(start, found)| {
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(start + found.len()..).unwrap_or_default();
        !(first_in_word && before.ends_with(in_word) || last_in_word && after.starts_with(in_word))
    })
}

/// Every name that only a rule needs. One-word names such as `mode` are too common to tell.
fn names(root: &Path) -> Result<BTreeSet<String>, Violation> {
    let mut names: BTreeSet<String> = BTreeSet::from(["<promise>".to_owned()]);
    let fields = contract_fields(&read(root, CONTRACT)?);
    if fields.is_empty() {
        return Err(Violation::new(
            CONTRACT,
            0,
            "has no `const FIELDS`, from which tidy learns the contract's fields",
        ));
    }
    names.extend(fields.into_iter().filter(|field| field.contains('_')));
    let wit = read(root, WIT)?;
    for name in ENUMS {
        let cases = enum_cases(&wit, name);
        if cases.is_empty() {
            return Err(Violation::new(
                WIT,
                0,
                format!("has no enum `{name}`, from which tidy learns its cases"),
            ));
        }
        for case in cases.iter().filter(|case| case.contains('-')) {
            names.insert(case.replace('-', "_"));
            names.insert(camel_case(case));
        }
    }
    Ok(names)
}

/// The string literals of `const FIELDS: … = &[…];` that are names and not sentences.
fn contract_fields(source: &str) -> Vec<String> {
    let tokens = lex(source);
    let start = tokens
        .windows(2)
        .position(|pair| matches!(pair, [first, second] if first.is_word("const") && second.is_word("FIELDS")));
    let Some(start) = start else {
        return Vec::new();
    };
    tokens
        .iter()
        .skip(start)
        .take_while(|token| !(token.kind == Kind::Mark && token.text == ";"))
        .filter(|token| token.kind == Kind::Text && !token.text.contains(' '))
        .map(|token| token.text.clone())
        .collect()
}

/// The cases of `enum NAME { … }` in WIT.
fn enum_cases(wit: &str, name: &str) -> Vec<String> {
    let code: String = wit
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let Some((_, rest)) = code.split_once(&format!("enum {name} {{")) else {
        return Vec::new();
    };
    let Some((cases, _)) = rest.split_once('}') else {
        return Vec::new();
    };
    cases
        .split(',')
        .map(str::trim)
        .filter(|case| !case.is_empty())
        .map(str::to_owned)
        .collect()
}

/// `check-failed` as a Rust variant: `CheckFailed`.
fn camel_case(name: &str) -> String {
    name.split('-')
        .flat_map(|word| {
            let mut characters = word.chars();
            let first = characters.next().map(|c| c.to_ascii_uppercase());
            first
                .into_iter()
                .chain(characters.map(|c| c.to_ascii_lowercase()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_gate_and_its_wit() {
        assert_eq!(
            contract_fields(
                "const FIELDS: &[Field] = &[field(\"a_b\", 1, \"It is e_f.\"), field(\"c\")]; \"d\""
            ),
            ["a_b", "c"]
        );
        let wit = "enum signal { LOOP-DONE, /// no, not this\n LOOP-ERROR }";
        assert_eq!(enum_cases(wit, "signal"), ["LOOP-DONE", "LOOP-ERROR"]);
        assert_eq!(camel_case("LOOP-DONE"), "LoopDone");
        assert_eq!(camel_case("policy-out-of-fuel"), "PolicyOutOfFuel");
    }

    #[test]
    fn a_name_counts_only_as_a_whole_word() {
        assert!(contains_word("{\"max_iters\": 1}", "max_iters"));
        assert!(!contains_word("loop_max_iters", "max_iters"));
        assert!(contains_word("a <promise>x", "<promise>"));
    }
}
