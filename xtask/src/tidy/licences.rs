//! deny.toml tells the truth: its licences cover every dependency, and none is left over.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Violation, read};
use crate::process;
use crate::workspace::Workspace;

const DENY: &str = "deny.toml";

/// Asks cargo for the licence of every dependency.
pub(super) fn check(workspace: &Workspace) -> Vec<Violation> {
    let deny = match read(workspace.root(), DENY) {
        Ok(deny) => deny,
        Err(violation) => return vec![violation],
    };
    let mut cargo = workspace.cargo(&["metadata", "--format-version", "1"]);
    let metadata =
        process::capture(&mut cargo).and_then(|text| Ok(serde_json::from_str::<Value>(&text)?));
    match metadata {
        Ok(metadata) => compare(&deny, &metadata),
        Err(error) => vec![Violation::new(
            "Cargo.toml",
            0,
            format!("cargo can't list the dependencies: {error:#}"),
        )],
    }
}

/// What `deny.toml` allows beside what the dependencies have.
pub(super) fn compare(deny: &str, metadata: &Value) -> Vec<Violation> {
    let allowed = allowed(deny);
    let mut seen = BTreeSet::new();
    let mut violations = Vec::new();
    for package in metadata
        .get("packages")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        // The workspace's own packages have no source.
        if package.get("source").is_none_or(Value::is_null) {
            continue;
        }
        let text = |field: &str| {
            package
                .get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let licence = text("license");
        let tokens = tokens(licence);
        seen.extend(leaves(&tokens));
        let mut rest = tokens.as_slice();
        if !any_of(&mut rest, &allowed) || !rest.is_empty() {
            let message = format!(
                "does not allow the licence of {} {}, `{licence}`: add it to `allow`, or do without the crate",
                text("name"),
                text("version")
            );
            violations.push(Violation::new(DENY, 0, message));
        }
    }
    for left_over in allowed.difference(&seen) {
        violations.push(Violation::new(
            DENY,
            0,
            format!("allows `{left_over}`, which no dependency has"),
        ));
    }
    violations
}

/// The strings in `allow = [ … ]` of `[licenses]`.
fn allowed(deny: &str) -> BTreeSet<String> {
    let section = deny.split("\n[licenses]").nth(1).unwrap_or_default();
    let list = section
        .split("\nallow = [")
        .nth(1)
        .and_then(|rest| rest.split(']').next())
        .unwrap_or_default();
    let lines = list
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    lines
        .flat_map(|line| line.split(','))
        .map(|item| item.trim().trim_matches('"').to_owned())
        .filter(|item| !item.is_empty())
        .collect()
}

/// A licence expression in pieces: `(`, `)`, `OR`, `AND`, or a licence with its exception.
fn tokens(expression: &str) -> Vec<String> {
    // Old manifests write a slash for OR.
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut tokens: Vec<String> = Vec::new();
    for word in spaced.split_whitespace() {
        let with = tokens.last().is_some_and(|last| last.ends_with(" WITH"));
        match tokens.last_mut() {
            Some(last) if word == "WITH" || with => {
                last.push(' ');
                last.push_str(word);
            }
            _ => tokens.push(word.to_owned()),
        }
    }
    tokens
}

fn leaves(tokens: &[String]) -> impl Iterator<Item = String> {
    tokens
        .iter()
        .filter(|token| !matches!(token.as_str(), "(" | ")" | "OR" | "AND"))
        .cloned()
}

/// `a OR b`: AND binds more tightly.
fn any_of(tokens: &mut &[String], allowed: &BTreeSet<String>) -> bool {
    let mut result = all_of(tokens, allowed);
    while next_is(tokens, "OR") {
        result |= all_of(tokens, allowed);
    }
    result
}

fn all_of(tokens: &mut &[String], allowed: &BTreeSet<String>) -> bool {
    let mut result = one(tokens, allowed);
    while next_is(tokens, "AND") {
        result &= one(tokens, allowed);
    }
    result
}

fn one(tokens: &mut &[String], allowed: &BTreeSet<String>) -> bool {
    if next_is(tokens, "(") {
        let result = any_of(tokens, allowed);
        return next_is(tokens, ")") && result;
    }
    let Some((licence, rest)) = tokens.split_first() else {
        return false;
    };
    *tokens = rest;
    allowed.contains(licence)
}

/// Takes the token when it comes next.
fn next_is(tokens: &mut &[String], wanted: &str) -> bool {
    match tokens.split_first() {
        Some((first, rest)) if first == wanted => {
            *tokens = rest;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(expression: &str, allow: &[&str]) -> bool {
        let allowed = allow.iter().map(|&name| name.to_owned()).collect();
        let tokens = tokens(expression);
        let mut rest = tokens.as_slice();
        any_of(&mut rest, &allowed) && rest.is_empty()
    }

    #[test]
    fn expressions_are_met_as_they_read() {
        assert!(met("MIT OR GPL-3.0", &["MIT"]));
        assert!(met("GPL-3.0/MIT", &["MIT"]));
        assert!(!met("MIT AND GPL-3.0", &["MIT"]));
        assert!(!met("(MIT OR Apache-2.0) AND Unicode-3.0", &["MIT"]));
        assert!(met(
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            &["MIT", "Unicode-3.0"]
        ));
        assert!(met("A WITH e OR B", &["A WITH e"]));
        assert!(!met("A WITH e", &["A"]));
        assert!(!met("", &["MIT"]) && !met("(MIT", &["MIT"]) && !met("MIT MIT", &["MIT"]));
    }

    #[test]
    fn the_list_is_read_from_its_own_section() {
        let deny = "[graph]\nallow = [\"X\"]\n[licenses]\nallow = [\n \"MIT\", # why\n \"A WITH e\",\n]\n[bans]\n";
        let list: Vec<String> = allowed(deny).into_iter().collect();
        assert_eq!(list, ["A WITH e", "MIT"]);
    }
}
