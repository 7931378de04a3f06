//! The configuration that `ralph-gate init` writes: what was found in, a commented text out.

use serde_json::Value;

use crate::runner::agents::Client;

/// What npm writes where there are no tests.
const NPM_PLACEHOLDER: &str = "no test specified";

/// A way of testing that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tests {
    /// `Cargo.toml`
    Cargo(CargoScope),
    /// `package.json` with a script for tests.
    Npm(NpmRunner),
    /// Any of the files that pytest reads.
    Pytest,
    /// `go.mod`
    Go,
    /// A makefile with the target `test`.
    Make,
}

/// What `cargo test` covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CargoScope {
    /// One package.
    Package,
    /// All members: without being asked, cargo tests only the package at the root.
    Workspace,
}

/// What `npm test` runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NpmRunner {
    /// `node --test`, whose results can be read.
    Node,
    /// Something else: its exit code is the result.
    Other,
}

impl Tests {
    /// By the text of a `Cargo.toml`.
    pub fn in_cargo_manifest(text: &str) -> Self {
        let is_workspace = text.lines().any(|line| line.trim() == "[workspace]");
        Self::Cargo(if is_workspace {
            CargoScope::Workspace
        } else {
            CargoScope::Package
        })
    }

    /// By the text of a `package.json`.
    pub fn in_package_json(text: &str) -> Option<Self> {
        let package: Value = serde_json::from_str(text).ok()?;
        let script = package.pointer("/scripts/test")?.as_str()?;
        if script.trim().is_empty() || script.contains(NPM_PLACEHOLDER) {
            return None;
        }
        let words: Vec<&str> = script.split_whitespace().collect();
        let is_node = words.first() == Some(&"node") && words.contains(&"--test");
        Some(Self::Npm(if is_node {
            NpmRunner::Node
        } else {
            NpmRunner::Other
        }))
    }

    /// By the text of a `pyproject.toml`, `setup.cfg` or `tox.ini`, in which other tools have their settings too.
    pub fn in_python_settings(text: &str) -> Option<Self> {
        text.contains("pytest").then_some(Self::Pytest)
    }

    /// By the text of a makefile.
    pub fn in_makefile(text: &str) -> Option<Self> {
        let has_target = text.lines().any(|line| match line.split_once(':') {
            // Neither a recipe nor an assignment such as `test := 1`.
            Some((targets, rest)) => {
                !line.starts_with(char::is_whitespace)
                    && !rest.starts_with('=')
                    && !rest.starts_with(":=")
                    && targets.split_whitespace().any(|target| target == "test")
            }
            None => false,
        });
        has_target.then_some(Self::Make)
    }

    /// The id of the check.
    pub fn id(self) -> &'static str {
        match self {
            Self::Cargo(_) => "cargo_test",
            Self::Npm(_) => "npm_test",
            Self::Pytest => "pytest",
            Self::Go => "go_test",
            Self::Make => "make_test",
        }
    }

    fn argv(self) -> &'static str {
        match self {
            Self::Cargo(CargoScope::Package) => r#"["cargo", "test"]"#,
            Self::Cargo(CargoScope::Workspace) => r#"["cargo", "test", "--workspace"]"#,
            Self::Npm(_) => r#"["npm", "test"]"#,
            Self::Pytest => r#"["pytest"]"#,
            Self::Go => r#"["go", "test", "-json", "./..."]"#,
            Self::Make => r#"["make", "test"]"#,
        }
    }

    /// How its results are read, where they can be.
    fn format(self) -> Option<&'static str> {
        match self {
            Self::Cargo(_) => Some("cargo"),
            Self::Npm(NpmRunner::Node) => Some("node"),
            Self::Pytest => Some("pytest"),
            Self::Go => Some("go_json"),
            Self::Npm(NpmRunner::Other) | Self::Make => None,
        }
    }

    /// Files that an agent might change to make the tests pass.
    fn protected(self) -> &'static [&'static str] {
        match self {
            Self::Cargo(_) => &["**/tests/**"],
            Self::Npm(_) => &["package.json", "**/*.test.*", "**/__tests__/**"],
            Self::Pytest => &["**/test_*.py", "**/*_test.py", "**/conftest.py"],
            Self::Go => &["**/*_test.go"],
            Self::Make => &["Makefile"],
        }
    }

    fn section(self) -> String {
        let mut text = format!("\n[checks.{}]\n", self.id());
        match self.format() {
            Some(format) => text.push_str(&format!(
                "# Counts the tests: fewer of them, or more that are skipped, trips a wire.\n\
                 kind = \"tests_green\"\nargv = {}\nformat = \"{format}\"\n",
                self.argv()
            )),
            None => text.push_str(&format!(
                "# Passes with exit code 0.\nkind = \"command\"\nargv = {}\n",
                self.argv()
            )),
        }
        text
    }
}

/// The configuration for what was found.
///
/// ```
/// use ralph_gate::config::Config;
/// use ralph_gate::config::starter::{Tests, write};
/// use ralph_gate::runner::agents::Client;
///
/// let text = write(&[Tests::Go, Tests::Make], Client::Codex);
/// let config = Config::read("ralph-gate.toml".as_ref(), &text)?;
/// assert_eq!(config.checks.len(), 2);
/// # Ok::<(), ralph_gate::config::ConfigError>(())
/// ```
pub fn write(found: &[Tests], agent: Client) -> String {
    let ids: Vec<String> = ids(found).iter().map(|id| format!("\"{id}\"")).collect();
    let mut text = HEAD.replace("{ids}", &ids.join(", "));
    for tests in found {
        text.push_str(&tests.section());
    }
    if found.is_empty() {
        text.push_str(NOTHING_FOUND);
    }
    text.push_str(AGENT);
    text.push_str(argv_of(agent));
    text.push_str(TASK);
    text.push_str(&tripwires(found));
    text
}

/// The checks that [`write()`] names.
pub fn ids(found: &[Tests]) -> Vec<&'static str> {
    match found {
        [] => vec!["tests"],
        found => found.iter().map(|tests| tests.id()).collect(),
    }
}

const HEAD: &str = r#"# What must hold before an agent's loop may end. `ralph-gate run` reads this file.
# Every field: `ralph-gate schema config`.

[contract]
mode = "ralph"
# All of these must pass; each is described in a section of its own below.
completion_checks = [{ids}]
# The loop ends after so many iterations in any case.
loop_max_iters = 50
# What it may cost in all, where the agent says what it costs:
# cost_budget_usd = "5.00"
# Ask the agent to end with <promise>COMPLETE</promise> too. The checks must pass all the same:
# completion_token = "COMPLETE"
"#;

/// It fails until somebody says what is to be proven: a loop must never complete by default.
const NOTHING_FOUND: &str = r#"
[checks.tests]
# No tests were found here. This check fails until you name the program that proves the work, for example
# argv = ["make", "check"]
kind = "command"
argv = ["false"]
"#;

const AGENT: &str =
    "\n[agent]\n# A fresh process for each iteration; it gets the task on its standard input.\n";

fn argv_of(agent: Client) -> &'static str {
    match agent {
        Client::Claude => {
            "# Without a person to ask, it needs leave to edit: add \"--permission-mode\", \"acceptEdits\" or more.\n\
             argv = [\"claude\", \"-p\"]\n"
        }
        Client::Codex => {
            "# Without a person to ask, it needs leave to edit: add \"--sandbox\", \"workspace-write\" or more.\n\
             argv = [\"codex\", \"exec\", \"-\"]\n"
        }
        Client::Gemini => {
            "# Without a person to ask, it needs leave to edit: add \"--approval-mode\", \"auto_edit\" or more.\n\
             argv = [\"gemini\"]\n"
        }
        Client::Command => {
            "# Name yours here, or behind `--`: ralph-gate run -- my-agent\n# argv = [\"my-agent\"]\n"
        }
    }
}

const TASK: &str =
    "# The task; `--prompt` and `--prompt-file` win over it:\n# prompt_file = \"TASK.md\"\n";

fn tripwires(found: &[Tests]) -> String {
    let mut paths: Vec<&str> = Vec::new();
    for tests in found {
        paths.extend(tests.protected());
    }
    if paths.is_empty() {
        paths.push("tests/**");
    }
    let paths: Vec<String> = paths.iter().map(|path| format!("\"{path}\"")).collect();
    format!(
        "\n[tripwires]\n# Files that the agent may not change; leave it out where it is to write tests:\n\
         # protected_paths = [{}]\n",
        paths.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::LazyLock;

    use super::*;
    use crate::config::{Check, Config};
    use crate::engine::{GateEngine, Mode};

    static GATE: LazyLock<GateEngine> = LazyLock::new(|| GateEngine::new().unwrap());

    const ALL: [Tests; 7] = [
        Tests::Cargo(CargoScope::Package),
        Tests::Cargo(CargoScope::Workspace),
        Tests::Npm(NpmRunner::Node),
        Tests::Npm(NpmRunner::Other),
        Tests::Pytest,
        Tests::Go,
        Tests::Make,
    ];

    /// The text as it is, and with every suggestion taken.
    fn accept(found: &[Tests], agent: Client) -> Config {
        let text = write(found, agent);
        let suggestion = |line: &str| {
            let field = line.strip_prefix("# ")?;
            let (name, _) = field.split_once(" = ")?;
            let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            // The check that was found has one already.
            (is_name && name != "argv").then(|| field.to_owned())
        };
        let bold: Vec<String> = text
            .lines()
            .map(|line| suggestion(line).unwrap_or_else(|| line.to_owned()))
            .collect();
        let mut config = None;
        for text in [bold.join("\n"), text] {
            let read = Config::read(Path::new("ralph-gate.toml"), &text).unwrap();
            let task = read.route(&GATE, None).unwrap();
            assert_eq!(task.routing.mode, Mode::Ralph);
            assert!(task.warnings.is_empty(), "{:?}", task.warnings);
            assert_eq!(task.terms().unwrap().loop_max_iters, 50);
            config = Some(read);
        }
        config.unwrap()
    }

    #[test]
    fn every_kind_of_repository_gets_a_file_that_is_accepted_without_warnings() {
        for agent in Client::ALL {
            for tests in ALL {
                let config = accept(&[tests], agent);
                assert!(config.checks.contains_key(tests.id()));
            }
            accept(&[], agent);
        }
    }

    #[test]
    fn the_agent_that_was_chosen_is_recognised() {
        for agent in [Client::Claude, Client::Codex, Client::Gemini] {
            let config = accept(&[], agent);
            assert_eq!(Client::recognise(&config.agent.argv), agent);
        }
        assert!(accept(&[], Client::Command).agent.argv.is_empty());
    }

    #[test]
    fn several_ways_of_testing_give_several_checks() {
        let all = [ALL[0], ALL[2], ALL[4], ALL[5], ALL[6]];
        let config = accept(&all, Client::Claude);
        let task = config.route(&GATE, None).unwrap();
        let checks = task.terms().unwrap().completion_checks;
        assert_eq!(checks.len(), 5);
        assert!(checks.iter().all(|check| check.required));
    }

    #[test]
    fn where_nothing_was_found_the_check_fails() {
        let config = accept(&[], Client::Claude);
        let Check::Command { program } = &config.checks["tests"] else {
            panic!("{:?}", config.checks);
        };
        assert_eq!(program.argv, ["false"]);
    }

    #[test]
    fn a_script_is_a_test_only_if_it_tests() {
        let npm = |script: &str| {
            Tests::in_package_json(&format!("{{\"scripts\": {{\"test\": \"{script}\"}}}}"))
        };
        assert_eq!(npm("node --test"), Some(Tests::Npm(NpmRunner::Node)));
        assert_eq!(
            npm("node --import tsx --test a.ts"),
            Some(Tests::Npm(NpmRunner::Node))
        );
        assert_eq!(npm("jest --test"), Some(Tests::Npm(NpmRunner::Other)));
        assert_eq!(npm("echo no test specified && exit 1"), None);
        assert_eq!(npm(" "), None);
        assert_eq!(Tests::in_package_json("{}"), None);
        assert_eq!(Tests::in_package_json("not json"), None);
    }

    #[test]
    fn a_makefile_counts_only_with_the_target() {
        for text in ["test:\n\tcargo test\n", "all test : a\n", "test:: b\n"] {
            assert_eq!(Tests::in_makefile(text), Some(Tests::Make), "{text}");
        }
        for text in [
            "tests:\n",
            "test := 1\n",
            "test ::= 1\n",
            "all:\n\ttest: x\n",
            "a: test\n",
        ] {
            assert_eq!(Tests::in_makefile(text), None, "{text}");
        }
    }
}
