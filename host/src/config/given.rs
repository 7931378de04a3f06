//! What the command line adds to a configuration: checks and limits.

use ralph_gate_component::Word as _;
use ralph_gate_component::tree::decode::{Decoder, Path};
use ralph_gate_component::tree::{Entry, Source, TextFormat, Value};

use super::check::{Check, CheckProgram};
use super::error::ConfigError;
use super::request::Start;
use super::{Config, json as texts};
use crate::evidence::reports::TestFormat;
use crate::memory::course::{Given, RunnerCommand};

/// The longest id that is made from a command, in bytes.
const MAX_ID: usize = 40;
/// The field by which the gate is told that the request starts a loop.
const REQUESTED: &str = "requested";
/// What only a shell understands.
const SHELL: [char; 9] = ['|', '&', ';', '<', '>', '(', ')', '`', '$'];

/// What was added to a configuration, for the contract.
#[derive(Debug, Clone, Default)]
pub(super) struct Added {
    given: Given,
    /// The ids of the checks.
    ids: Vec<String>,
}

impl Config {
    /// Adds checks and limits. The checks become required ones; the limits win over those of the contract.
    pub fn give(&mut self, given: &Given) -> Result<(), ConfigError> {
        for text in &given.checks {
            let argv = check_command(text).map_err(|reason| ConfigError::Check {
                text: text.clone(),
                reason,
            })?;
            let id = self.free_id(text);
            let check = match given.runners.get(text) {
                Some(runner) => run_by(runner),
                None => Check::Command {
                    program: CheckProgram::new(argv),
                },
            };
            self.checks.insert(id.clone(), check);
            self.given.ids.push(id);
        }
        if let Some(protection) = &given.protection {
            self.tripwires = Self::read(&self.file, protection)?.tripwires;
        }
        self.given.given = given.clone();
        Ok(())
    }

    /// What was given on the command line, if anything was.
    pub fn given(&self) -> Option<&Given> {
        Some(&self.given.given).filter(|given| !given.is_empty())
    }

    /// The argument that gave the check that a path such as `checks.make-test.argv` leads to. None if it is no such path.
    pub(super) fn given_at(&self, path: &str) -> Option<String> {
        let rest = path.strip_prefix("checks.")?;
        let leads_to = |id: &&String| {
            let field = rest.strip_prefix(id.as_str());
            field.is_some_and(|field| field.is_empty() || field.starts_with('.'))
        };
        let id = self
            .checks
            .keys()
            .filter(leads_to)
            .max_by_key(|id| id.len())?;
        let index = self.given.ids.iter().position(|given| given == id)?;
        let command = self.given.given.checks.get(index)?;
        Some(format!("--check {}", shell_word(command)))
    }

    /// An id that says what is run, and that no other check has.
    fn free_id(&self, text: &str) -> String {
        let id = id_of(text);
        let others = (2_u32..).map(|number| format!("{id}-{number}"));
        let mut candidates = std::iter::once(id.clone()).chain(others);
        let free = candidates.find(|candidate| !self.checks.contains_key(candidate));
        free.unwrap_or(id)
    }
}

/// A check that runs a test runner, and counts its tests where their results can be read.
fn run_by(runner: &RunnerCommand) -> Check {
    let program = CheckProgram::new(runner.argv.clone());
    let named = |format: &&TestFormat| Some(format.as_str()) == runner.format.as_deref();
    match TestFormat::ALL.iter().find(named).copied() {
        Some(format) => Check::TestsGreen {
            program,
            format: Some(format),
            report: None,
            min_tests: 1,
            allow_skipped: true,
        },
        None => Check::Command { program },
    }
}

/// `pytest -q` is `pytest-q`.
fn id_of(text: &str) -> String {
    let is_kept = |character: char| character.is_ascii_alphanumeric() || "._:/".contains(character);
    let words = text.split(|character| !is_kept(character));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut id = words.join("-");
    id.truncate(MAX_ID);
    match id.trim_end_matches('-') {
        "" => "check".to_owned(),
        id => id.to_owned(),
    }
}

impl Added {
    /// A contract with these fields and what was added.
    pub(super) fn object<'e, 'a: 'e>(
        &self,
        fields: impl Iterator<Item = &'e Entry<'a>>,
        start: Start,
    ) -> String {
        let fields: Vec<&Entry<'_>> = fields.collect();
        let mut added = Vec::new();
        if start == Start::Asked {
            added.push((REQUESTED, "true".to_owned()));
        }
        let find = |name: &str| fields.iter().find(|entry| entry.key == name);
        if !self.ids.is_empty() {
            // To name a check is to ask for a loop.
            if find("mode").is_none() {
                added.push(("mode", text("ralph")));
            }
            let named = find("completion_checks").map(|entry| &entry.node);
            match named.map(|node| (node, &node.value)) {
                // What is no list is the gate's to refuse.
                Some((_, Value::List(_))) | None => {
                    added.push((
                        "completion_checks",
                        self.with_ids(named.map(texts::write).as_deref()),
                    ));
                }
                Some(_) => {}
            }
        }
        if let Some(most) = self.given.loop_max_iters {
            added.push(("loop_max_iters", most.to_string()));
        }
        if let Some(budget) = &self.given.cost_budget_usd {
            added.push(("cost_budget_usd", text(budget)));
        }
        let kept = fields.iter().filter(|entry| {
            let is_replaced = |(name, _): &(&str, String)| entry.key == *name;
            !added.iter().any(is_replaced)
        });
        let kept = kept.map(|entry| (entry.key.as_ref(), texts::write(&entry.node)));
        texts::object(kept.chain(added.clone()))
    }

    /// A list, as JSON, with the ids behind what is in it.
    fn with_ids(&self, list: Option<&str>) -> String {
        let before = list.and_then(|list| list.strip_prefix('[')?.strip_suffix(']'));
        let before = before.filter(|items| !items.is_empty()).map(str::to_owned);
        let items = before.into_iter().chain(self.ids.iter().map(|id| text(id)));
        format!("[{}]", items.collect::<Vec<_>>().join(","))
    }
}

fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A word as it is typed in a shell.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain =
        |character: char| character.is_alphanumeric() || "-_./:=,@%+".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Refuses what is no amount of money of zero or more.
pub fn check_budget(amount: &str) -> Result<(), String> {
    let quoted = text(amount);
    let source = || Source::new(&quoted, TextFormat::Json);
    let node = source().read().map_err(|problem| problem.message)?;
    let mut decoder = Decoder::new(source());
    decoder.decimal(&node, Path::Root);
    let problem = decoder.into_problems().into_iter().next();
    problem.map_or(Ok(()), |problem| Err(problem.message))
}

/// The program and the arguments of a command, with the quotes of a shell and without a shell. What only a shell
/// understands is refused, because it would reach the program as an argument.
pub fn check_command(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    // None between words.
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                quoted(character, &mut characters, word)?;
            }
            '\\' => {
                let next = characters.next().ok_or("it ends in a backslash")?;
                word.get_or_insert_default().push(next);
            }
            character if character.is_whitespace() => words.extend(word.take()),
            character if SHELL.contains(&character) => {
                return Err(format!(
                    "`{character}` needs a shell, and none is used; quote it, or write \"sh -c '…'\""
                ));
            }
            character => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    match words.first() {
        None => Err("it names no program".to_owned()),
        Some(program) if program.is_empty() => Err("it names no program".to_owned()),
        Some(program) if is_assignment(program) => Err(format!(
            "`{program}` sets a variable, which needs a shell; write \"env {text}\""
        )),
        Some(_) => Ok(words),
    }
}

/// Takes the rest of a quoted part.
fn quoted(
    quote: char,
    characters: &mut std::str::Chars<'_>,
    word: &mut String,
) -> Result<(), String> {
    while let Some(character) = characters.next() {
        match character {
            character if character == quote => return Ok(()),
            '\\' if quote == '"' => match characters.next() {
                Some(next @ ('"' | '\\' | '$' | '`')) => word.push(next),
                Some(next) => word.extend(['\\', next]),
                None => break,
            },
            character => word.push(character),
        }
    }
    Err(format!("the quote {quote} is not closed"))
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        let mut characters = name.chars();
        characters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && characters.all(|rest| rest.is_ascii_alphanumeric() || rest == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_splits_it_and_no_shell_is_used() {
        for (text, words) in [
            ("pytest -q", vec!["pytest", "-q"]),
            ("  a\t'b c'\"d e\"f  ", vec!["a", "b cd ef"]),
            (
                r#"sh -c "test \"$X\" = 'y'; true""#,
                vec!["sh", "-c", "test \"$X\" = 'y'; true"],
            ),
            (r"a\ b \| ''", vec!["a b", "|", ""]),
            (
                "go test ./... -run 'A|B'",
                vec!["go", "test", "./...", "-run", "A|B"],
            ),
            ("env A=b c", vec!["env", "A=b", "c"]),
        ] {
            assert_eq!(check_command(text).unwrap(), words, "{text}");
        }
    }

    #[test]
    fn a_command_that_only_a_shell_understands_is_refused() {
        for text in [
            "a && b",
            "a | b",
            "a > b",
            "echo $HOME",
            "a;b",
            "`a`",
            "(a)",
        ] {
            assert!(
                check_command(text).unwrap_err().contains("needs a shell"),
                "{text}"
            );
        }
        assert!(
            check_command("CI=1 make")
                .unwrap_err()
                .contains("env CI=1 make")
        );
        for text in ["", " ", "''", "a 'b", "a \"b", "a\\"] {
            assert!(check_command(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_id_of_a_check_comes_from_its_command() {
        assert_eq!(id_of("pytest -q"), "pytest-q");
        assert_eq!(id_of("cargo test --workspace"), "cargo-test-workspace");
        assert_eq!(id_of("'é'"), "check");
        let mut config = Config::empty("x".as_ref()).unwrap();
        let checks = vec!["make test".to_owned(), "make  test".to_owned()];
        config
            .give(&Given {
                checks,
                ..Given::default()
            })
            .unwrap();
        let ids: Vec<&String> = config.checks.keys().collect();
        assert_eq!(ids, ["make-test", "make-test-2"]);
    }
}
