//! The configuration that `ralph-gate init` writes: what was found in, a commented text out.

use std::collections::BTreeSet;
use std::path::Path;

use ralph_gate_component::Word as _;
use serde::Serialize;

use super::catalogue::{CARGO, CI, CMAKE, Ecosystem, SAMPLES, TASK_FILES, TASKS};
use super::survey::{Proposal, Survey, started_files, survey};
use super::{Config, ConfigError, FILE_NAMES, check_command};
use crate::memory::DEFAULT_ROOT;
use crate::runner::agents::Client;
use crate::worktree::Baseline;

/// What is written.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Ways of testing, and what each lacks.
    pub tests: Vec<Planned>,
    /// Linters and type checkers: only as comments.
    pub lints: Vec<Proposal>,
    /// The ecosystems whose tests are frozen.
    pub ecosystems: Vec<&'static Ecosystem>,
    /// What tools write, as patterns.
    pub generated: BTreeSet<String>,
    /// The parts of that in which nothing steers a runner, as patterns.
    pub inert: BTreeSet<String>,
    /// Files that may not appear because of what else is there, as patterns.
    pub protected: Vec<String>,
}

/// A proposed check, and why it can't run here.
#[derive(Debug, Clone, Serialize)]
pub struct Planned {
    /// The check.
    #[serde(flatten)]
    pub proposal: Proposal,
    /// Why it can't run here: then it is written as a comment.
    pub problem: Option<String>,
}

impl Plan {
    /// From what was found; `probe` says whether a check can run.
    pub fn new(
        workspace: &Path,
        survey: Survey,
        mut probe: impl FnMut(&Proposal) -> Result<(), String>,
    ) -> Self {
        let planned = |mut proposal: Proposal| Planned {
            problem: proposal.settle(&mut probe).err(),
            proposal,
        };
        let mut ecosystems = survey.ecosystems;
        if ecosystems.is_empty() {
            ecosystems.push(&TASKS);
        }
        let is_there = |pattern: &&str| workspace.join(pattern.trim_end_matches('/')).exists();
        if CI.locks.iter().any(is_there) {
            ecosystems.push(&CI);
        }
        Self {
            tests: survey.tests.into_iter().map(planned).collect(),
            lints: survey.lints,
            ecosystems,
            generated: survey.generated,
            inert: survey.inert,
            protected: survey.protected,
        }
    }

    /// The ids of the checks that can run.
    pub fn ids(&self) -> Vec<&str> {
        self.ready().map(|proposal| proposal.id.as_str()).collect()
    }

    /// The checks that can run.
    pub fn ready(&self) -> impl Iterator<Item = &Proposal> {
        let ready = self
            .tests
            .iter()
            .filter(|planned| planned.problem.is_none());
        ready.map(|planned| &planned.proposal)
    }

    /// The checks that can't run here.
    pub fn lacking(&self) -> impl Iterator<Item = (&Proposal, &str)> {
        let lacking = |planned: &Planned| planned.problem.is_some();
        let lacking = self.tests.iter().filter(move |planned| lacking(planned));
        lacking.map(|planned| {
            let problem = planned.problem.as_deref().unwrap_or_default();
            (&planned.proposal, problem)
        })
    }
}

/// The configuration for what was found.
///
/// ```
/// use ralph_gate::config::starter::{Plan, write};
/// use ralph_gate::config::{Config, survey};
/// use ralph_gate::runner::agents::Client;
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("go.mod"), "module m\n")?;
/// let plan = Plan::new(folder.path(), survey(folder.path()), |_| Ok(()));
/// let text = write(&plan, Client::Codex);
/// let config = Config::read("ralph-gate.toml".as_ref(), &text)?;
/// assert_eq!(config.tripwires.frozen[0], "*_test.go");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(plan: &Plan, agent: Client) -> String {
    let ids: Vec<String> = plan.ids().iter().map(|id| quote(id)).collect();
    let mut text = HEAD.to_owned();
    text.push_str(&match ids.as_slice() {
        [] => NOTHING_TO_CHECK.to_owned(),
        ids => CHECKS.replace("{ids}", &ids.join(", ")),
    });
    text.push_str(LIMITS);
    for proposal in plan.ready() {
        text.push_str(&section(proposal, ""));
    }
    for (proposal, problem) in plan.lacking() {
        let problem = one_line(problem);
        text.push_str(&format!(
            "\n# Not a check yet, because it can't run here: {problem}.\n\
             # Once it can, add {} to completion_checks and take the comment signs away.",
            quote(&proposal.id)
        ));
        text.push_str(&section(proposal, "# "));
    }
    for proposal in &plan.lints {
        text.push_str(&format!(
            "\n# To run this too, take the comment signs away and add {{ id = {}, required = false }} to\n\
             # completion_checks; without `required = false` it must pass.",
            quote(&proposal.id)
        ));
        text.push_str(&section(proposal, "# "));
    }
    if plan.tests.is_empty() {
        text.push_str(EXAMPLE);
    }
    text.push_str(AGENT);
    text.push_str(argv_of(agent));
    text.push_str(TASK);
    text.push_str(&tripwires(plan));
    text
}

/// The section of a check, each line behind `mark`.
fn section(proposal: &Proposal, mark: &str) -> String {
    let mut lines = vec![format!("[checks.{}]", proposal.id)];
    lines.push(format!("# Found in {}.", one_line(&proposal.found_in)));
    match &proposal.results {
        Some(results) => {
            lines.push("kind = \"tests_green\"".to_owned());
            lines.push(command(proposal));
            lines.push(format!("format = {}", quote(results.format.as_str())));
            if let Some(report) = &results.report {
                lines.push(format!("report = {}", quote(report)));
            }
        }
        None => {
            lines.push(command(proposal));
            if let Some(hint) = proposal.hint {
                lines.push(format!("# {hint}"));
            }
        }
    }
    if let Some(directory) = &proposal.directory {
        lines.push(format!("directory = {}", quote(directory)));
    }
    let mut text = "\n".to_owned();
    for line in lines {
        text.push_str(&format!("{mark}{line}\n"));
    }
    text
}

fn command(proposal: &Proposal) -> String {
    match proposal.argv.as_slice() {
        [shell, option, line] if shell == "sh" && option == "-c" => {
            format!("shell = {}", quote(line))
        }
        argv => {
            let words: Vec<String> = argv.iter().map(|word| quote(word)).collect();
            format!("argv = [{}]", words.join(", "))
        }
    }
}

/// A text as TOML has it.
fn quote(text: &str) -> String {
    // A text always has a JSON form, and TOML reads it.
    serde_json::to_string(text).unwrap_or_default()
}

/// What others wrote, for a comment.
fn one_line(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    text.trim_end_matches('.').to_owned()
}

const HEAD: &str = r#"# What must hold before an agent's loop may end. `ralph-gate run` reads this file.
# Every field: `ralph-gate schema config`.

[contract]
mode = "ralph"
"#;

const CHECKS: &str = "# All of these must pass; each is described in a section of its own below.\n\
                      completion_checks = [{ids}]\n";

/// A loop must never complete by default: without a check the file is refused.
const NOTHING_TO_CHECK: &str = r#"# Nothing was found here that proves the work and can run, so `ralph-gate run` refuses this file. Name the checks that
# must pass, and describe each in a section of its own below:
# completion_checks = ["tests"]
"#;

const LIMITS: &str = r#"# The loop ends after so many iterations in any case,
loop_max_iters = 50
# and after so many without fewer failing checks or tests.
plateau_limit = 10
# What it may cost in all, where the agent says what it costs:
# cost_budget_usd = "5.00"
# Ask the agent to end with <promise>COMPLETE</promise> too. The checks must pass all the same:
# completion_token = "COMPLETE"
"#;

const EXAMPLE: &str = r#"
# [checks.tests]
# The program that proves the work. It passes with exit code 0:
# argv = ["make", "check"]
# Better, if it writes JUnit XML or TAP: then tests are counted, and none may go or be skipped.
# kind = "tests_green"
# format = "junit"
# report = "report.xml"
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

/// What of a workspace is protected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProtectedFiles {
    /// How many files.
    pub files: usize,
    /// The ecosystems that at least one of them belongs to.
    pub ecosystems: Vec<&'static str>,
}

/// What `init` would protect in a workspace, as `[tripwires]`, with the files that these checks start.
pub fn protection(workspace: &Path, checks: &[String]) -> Result<String, ConfigError> {
    Ok(tripwires(&plan_with(workspace, checks)?))
}

/// The files that exist of what [`protection`] names. None of them where nobody can tell: then the loop reports it.
pub fn protected_files(workspace: &Path, checks: &[String]) -> ProtectedFiles {
    let plan = plan_with(workspace, checks).ok();
    let existing = plan.and_then(|plan| existing(workspace, &plan));
    existing.unwrap_or_default()
}

fn plan_with(workspace: &Path, checks: &[String]) -> Result<Plan, ConfigError> {
    let mut plan = Plan::new(workspace, survey(workspace), |_| Ok(()));
    let own = Config::read(&workspace.join(FILE_NAMES[0]), &tripwires(&plan))?;
    // What can't be run is refused where it is added to the configuration.
    let commands = checks.iter().filter_map(|text| check_command(text).ok());
    let mut started: Vec<String> = commands
        .flat_map(|argv| started_files(workspace, "", &argv))
        .collect();
    started.sort();
    started.dedup();
    let unprotected = own.tripwires.unprotected(started);
    plan.protected
        .extend(unprotected.iter().map(|path| exactly(path)));
    Ok(plan)
}

/// The pattern of one file.
fn exactly(path: &str) -> String {
    format!("/{}", globset::escape(path))
}

fn existing(workspace: &Path, plan: &Plan) -> Option<ProtectedFiles> {
    let config = Config::read(&workspace.join(FILE_NAMES[0]), &tripwires(plan)).ok()?;
    let protection = config.tripwires.protection();
    let excluded = [DEFAULT_ROOT.to_owned()];
    let baseline = Baseline::take(workspace, &protection, &excluded)
        .ok()?
        .baseline;
    let is_there = |ecosystem: &&&Ecosystem| {
        let parts = ecosystem.parts.iter().map(|(file, _)| *file);
        let lists = [ecosystem.tests, ecosystem.locks, ecosystem.runner];
        let patterns = lists.into_iter().flatten().copied().chain(parts);
        let patterns: Vec<String> = patterns.map(str::to_owned).collect();
        baseline.holds(&patterns).unwrap_or_default()
    };
    let ecosystems = plan.ecosystems.iter().filter(is_there);
    Some(ProtectedFiles {
        files: baseline.len(),
        ecosystems: ecosystems.map(|ecosystem| ecosystem.name).collect(),
    })
}

/// What may not change, by the ecosystems that are there and the files that checks start.
fn tripwires(plan: &Plan) -> String {
    let texts =
        |patterns: &[&str]| -> Vec<String> { patterns.iter().map(ToString::to_string).collect() };
    let (mut frozen, mut protected) = (Vec::new(), Vec::new());
    let mut parts: Vec<(&str, &[&str])> = Vec::new();
    for ecosystem in &plan.ecosystems {
        frozen.extend(texts(ecosystem.tests));
        frozen.extend(texts(ecosystem.locks));
        protected.extend(texts(ecosystem.runner));
        parts.extend(ecosystem.parts);
    }
    let planned = plan.tests.iter().map(|planned| &planned.proposal);
    let started = planned.flat_map(|proposal| &proposal.started);
    protected.extend(started.map(|path| exactly(path)));
    protected.extend(plan.protected.iter().cloned());
    protected.extend(texts(TASK_FILES));
    let caches = plan
        .ecosystems
        .iter()
        .flat_map(|ecosystem| ecosystem.caches);
    let caches: Vec<String> = caches.map(|pattern| format!("!{pattern}")).collect();
    let except = |patterns: &BTreeSet<String>| -> Vec<String> {
        let patterns = patterns.iter().map(|pattern| format!("!{pattern}"));
        patterns.chain(caches.iter().cloned()).collect()
    };
    frozen.extend(except(&plan.generated));
    // A runner may look for its settings where no test is.
    protected.extend(except(&plan.inert));
    protected.extend(SAMPLES.iter().map(|pattern| format!("!{pattern}")));
    let has = |named: Ecosystem| plan.ecosystems.iter().any(|it| it.name == named.name);
    let mut text = FROZEN.to_owned();
    if has(CARGO) {
        text.push_str(IN_SOURCE);
    }
    if has(CMAKE) {
        text.push_str(IN_LISTS);
    }
    text.push_str(&list("frozen", &frozen));
    text.push_str(PROTECTED);
    text.push_str(&list("protected_paths", &protected));
    if !parts.is_empty() {
        text.push_str(PARTS);
        for (file, pointers) in parts {
            let pointers: Vec<String> = pointers.iter().map(|pointer| quote(pointer)).collect();
            text.push_str(&format!("{} = [{}]\n", quote(file), pointers.join(", ")));
        }
    }
    text
}

const FROZEN: &str = r"
[tripwires]
# Tests and lock files that are there when the loop begins: they may neither change nor go. New files are allowed, so new
# tests belong into new files. For a task that changes existing tests or dependencies, take their files out.
";

const IN_SOURCE: &str = r"# Of tests inside of source files, each item under #[cfg(test)] is frozen, by frozen_parts below. New
# modules of tests may come, and new tests.
";

const IN_LISTS: &str = r"# CMakeLists.txt is not frozen, because new source files belong into it: look at its add_test and
# set_tests_properties when the loop is done, or add it here.
";

const PROTECTED: &str = r"# What steers the test runner: it may neither change nor appear where it was not.
";

const PARTS: &str = r"# Of these files only what steers the test runner, or is a test, is frozen: values by JSON pointers, and items of source
# files.
[tripwires.frozen_parts]
";

/// A list of patterns, a few on each line, each once.
fn list(name: &str, patterns: &[String]) -> String {
    const WIDTH: usize = 100;
    let mut text = format!("{name} = [");
    let mut line = String::new();
    let mut written: Vec<&String> = Vec::new();
    for pattern in patterns {
        if written.contains(&pattern) {
            continue;
        }
        written.push(pattern);
        let item = format!(" {},", quote(pattern));
        if line.is_empty() || line.len() + item.len() > WIDTH {
            text.push_str(&line);
            "\n   ".clone_into(&mut line);
        }
        line.push_str(&item);
    }
    text.push_str(&line);
    text.push_str("\n]\n");
    text
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::LazyLock;

    use super::*;
    use crate::config::catalogue::is_known;
    use crate::config::survey;
    use crate::engine::{GateEngine, Mode};
    use crate::worktree::{Baseline, Stamps};

    static GATE: LazyLock<GateEngine> = LazyLock::new(|| GateEngine::new().unwrap());

    /// A file of each ecosystem.
    const ALL: &[(&str, &str)] = &[
        ("Cargo.toml", "[workspace]\n[lib]\n"),
        (
            "package.json",
            r#"{"scripts": {"test": "node --test", "lint": "x"}}"#,
        ),
        ("pytest.ini", ""),
        ("go.mod", "module m\n"),
        ("pom.xml", ""),
        ("app.sln", ""),
        ("mix.exs", ""),
        ("composer.json", r#"{"scripts": {"test": "x"}}"#),
        (".rspec", ""),
        ("Package.swift", ""),
        ("CMakeLists.txt", "enable_testing()"),
        ("pubspec.yaml", ""),
        ("deno.json", "{}"),
        (".github/workflows/x.yml", ""),
    ];

    fn plan(files: &[(&str, &str)], problem: Option<&str>) -> Plan {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Plan::new(folder.path(), survey(folder.path()), |_| {
            problem.map_or(Ok(()), |problem| Err(problem.to_owned()))
        })
    }

    fn accept(plan: &Plan, agent: Client) -> Config {
        let text = write(plan, agent);
        let config = Config::read(Path::new("ralph-gate.toml"), &text)
            .unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let task = config.route(&GATE, None).unwrap();
        assert_eq!(task.routing.mode, Mode::Ralph);
        assert!(task.warnings.is_empty(), "{:?}", task.warnings);
        config
    }

    #[test]
    fn every_kind_of_repository_gets_a_file_that_is_accepted_without_warnings() {
        for agent in Client::ALL {
            let config = accept(&plan(ALL, None), agent);
            assert_eq!(config.checks.len(), 13);
        }
        for file in ALL.iter().take(13) {
            assert_eq!(
                accept(&plan(&[*file], None), Client::Claude).checks.len(),
                1,
                "{file:?}"
            );
        }
    }

    #[test]
    fn a_check_that_can_not_run_is_written_as_a_comment_that_can_be_taken_up() {
        let plan = plan(ALL, Some("it\nis not there."));
        assert!(plan.ids().is_empty());
        let text = write(&plan, Client::Claude);
        let config = Config::read(Path::new("ralph-gate.toml"), &text).unwrap();
        assert!(config.checks.is_empty() && !config.tripwires.frozen.is_empty());
        let uncommented: Vec<String> = text
            .lines()
            .map(|line| {
                let field = line.strip_prefix("# ").unwrap_or(line);
                let name = field.split(" = ").next().unwrap_or_default();
                let is_field = field.contains(" = ") && !name.contains(' ');
                let is_own = [
                    "cost_budget_usd",
                    "completion_token",
                    "prompt_file",
                    "completion_checks",
                ];
                let taken = field.starts_with("[checks.") || is_field && !is_own.contains(&name);
                if taken {
                    field.to_owned()
                } else {
                    line.to_owned()
                }
            })
            .collect();
        let text = uncommented.join("\n");
        let config = Config::read(Path::new("ralph-gate.toml"), &text).unwrap();
        assert!(
            config.checks.len() > 13,
            "with the linters: {:?}",
            config.checks
        );
    }

    #[test]
    fn where_nothing_was_found_the_file_is_refused() {
        let text = write(&plan(&[], None), Client::Claude);
        assert!(!text.contains("\"false\""));
        let config = Config::read(Path::new("ralph-gate.toml"), &text).unwrap();
        let error = config.route(&GATE, None).unwrap_err();
        let ConfigError::Invalid { problems, .. } = error else {
            panic!("{error:?}");
        };
        let message = &problems[0].message;
        assert!(message.contains("nothing could ever prove"), "{message}");
        // It protects all the same.
        assert!(config.tripwires.frozen.contains(&"tests/".to_owned()));
    }

    #[test]
    fn the_agent_that_was_chosen_is_recognised() {
        for agent in [Client::Claude, Client::Codex, Client::Gemini] {
            let config = accept(&plan(ALL, None), agent);
            assert_eq!(Client::recognise(&config.agent.argv), agent);
        }
        assert!(
            accept(&plan(ALL, None), Client::Command)
                .agent
                .argv
                .is_empty()
        );
    }

    #[test]
    fn what_is_tested_is_frozen_wherever_tools_write_and_what_a_check_starts_is_protected() {
        let folder = tempfile::tempdir().unwrap();
        let write_file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let package = r#"{"scripts": {"test": "node scripts/run.js && make check"}}"#;
        let files = [
            ("package.json", package),
            ("Makefile", "check:\n\tsh ci/check.sh\n"),
            ("web/package.json", "{}"),
            ("jvm/build.gradle", ""),
            ("go/go.mod", ""),
        ];
        for (name, text) in files {
            write_file(name, text);
        }
        let looked_after = [
            "tests/coverage/a.test.js",
            "test/node_modules/chaiish/index.js",
            "jvm/src/test/java/com/x/build/ATest.java",
            "go/vendor/example.org/assert/assert.go",
            "scripts/run.js",
            "ci/check.sh",
            "Makefile",
        ];
        let spared = [
            "node_modules/a/test/a.js",
            "web/node_modules/a/test/a.js",
            "coverage/a.test.js",
            "jvm/build/ATest.java",
            ".env.example",
        ];
        for name in looked_after
            .iter()
            .chain(&spared)
            .filter(|name| **name != "Makefile")
        {
            write_file(name, "a");
        }
        let plan = Plan::new(folder.path(), survey(folder.path()), |_| Ok(()));
        let config =
            Config::read(Path::new("ralph-gate.toml"), &write(&plan, Client::Claude)).unwrap();
        let taken = Baseline::take(folder.path(), &config.tripwires.protection(), &[]).unwrap();
        let own: Vec<&String> = taken.unmatched.iter().filter(|it| !is_known(it)).collect();
        assert!(own.is_empty(), "{own:?}");
        for (names, differences) in [(&spared[..], 0), (&looked_after[..], looked_after.len())] {
            for name in names {
                write_file(name, "changed");
            }
            let compared = taken
                .baseline
                .compare(folder.path(), &mut Stamps::default());
            let compared = compared.unwrap();
            assert_eq!(compared.len(), differences, "{compared:?}");
        }
    }

    #[test]
    fn settings_are_protected_where_tools_write_unless_tools_write_settings_there() {
        let folder = tempfile::tempdir().unwrap();
        let write_file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let script = r#"{"scripts": {"test": "c8 jest"}}"#;
        write_file("package.json", script);
        write_file("web/package.json", script);
        write_file("node_modules/.bin/jest", "jest");
        let plan = Plan::new(folder.path(), survey(folder.path()), |_| Ok(()));
        let config =
            Config::read(Path::new("ralph-gate.toml"), &write(&plan, Client::Claude)).unwrap();
        let taken = Baseline::take(folder.path(), &config.tripwires.protection(), &[]).unwrap();
        let own: Vec<&String> = taken.unmatched.iter().filter(|it| !is_known(it)).collect();
        assert!(own.is_empty(), "{own:?}");
        let compare = || {
            let compared = taken
                .baseline
                .compare(folder.path(), &mut Stamps::default());
            let paths = compared.unwrap().into_iter();
            paths.map(|difference| difference.path).collect::<Vec<_>>()
        };
        for name in [
            "node_modules/a/jest.config.js",
            "node_modules/.cache/__mocks__/a.js",
            "node_modules/.bin/other",
            "web/node_modules/a/__mocks__/a.js",
            ".next/standalone/web/.env",
            ".nuxt/tailwind.config.cjs",
            "coverage/a.test.js",
        ] {
            write_file(name, "x");
        }
        assert_eq!(compare(), [""; 0]);
        let noticed = [
            ".next/__mocks__/a.js",
            "coverage/__mocks__/expect.js",
            "node_modules/.bin/jest",
            "node_modules/.bin/node",
            "web/coverage/__mocks__/a.js",
            "web/node_modules/.bin/jest",
        ];
        for name in noticed {
            write_file(name, "x");
        }
        assert_eq!(compare(), noticed);
    }

    #[test]
    fn where_the_first_command_can_not_run_the_fallback_is_written() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Makefile"), "test: prog\n").unwrap();
        let plan = |needs_rules: bool| {
            let plan = Plan::new(folder.path(), survey(folder.path()), |proposal| {
                if proposal.argv.contains(&"-r".to_owned()) && needs_rules {
                    Err("other commands".to_owned())
                } else {
                    Ok(())
                }
            });
            write(&plan, Client::Claude)
        };
        assert!(plan(false).contains(r#"argv = ["make", "-B", "-r", "test"]"#));
        assert!(plan(true).contains("\nargv = [\"make\", \"-B\", \"test\"]\n"));
    }

    #[test]
    fn tests_inside_of_source_files_are_frozen_in_a_rust_project_only() {
        let said = |files: &[(&str, &str)]| {
            write(&plan(files, None), Client::Claude).contains("#[cfg(test)]")
        };
        assert!(said(&ALL[..1]));
        assert!(!said(&ALL[1..]));
    }
}
