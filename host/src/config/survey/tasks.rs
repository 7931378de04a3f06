//! Task runners and scripts, where nothing else tells how tests are run: make, just, Task, mise.

use std::path::Path;

use ralph_gate_component::tree::{Source, TextFormat};

use super::folder::Folder;
use super::recipes::find;
use super::{Fallback, Found, Proposal};
use crate::config::catalogue::TASKS;
use crate::evidence::reports::TestFormat;

/// The names of makefiles, in the order in which make looks for them.
pub(super) const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
pub(super) const JUSTFILES: &[&str] = &["justfile", ".justfile", "Justfile"];
pub(super) const TASKFILES: &[&str] = &[
    "Taskfile.yml",
    "Taskfile.yaml",
    "taskfile.yml",
    "taskfile.yaml",
];
pub(super) const MISE_FILES: &[&str] = &["mise.toml", ".mise.toml"];
/// Scripts whose name says that they test.
const SCRIPTS: &[&str] = &[
    "test.sh",
    "run-tests.sh",
    "run_tests.sh",
    "runtests.sh",
    "scripts/test",
    "scripts/test.sh",
    "script/test",
    "bin/test",
];

pub(super) fn look(folder: &Folder<'_>, found: &mut Found) {
    make(folder, found);
    let mut propose = |id: &str, file: Option<&str>, argv: &[&str], probe: &[&str]| {
        if let Some(file) = file {
            let tests = Proposal::new(id, folder, file, &TASKS);
            found.tests.push(tests.argv(argv).probe(probe));
            found.ecosystems.push(&TASKS);
        }
    };
    let naming = |files: &[&'static str], names: fn(&str) -> bool| {
        let file = folder.first(files)?;
        folder.read(file).filter(|text| names(text)).map(|_| file)
    };
    let just = naming(JUSTFILES, in_justfile);
    propose(
        "just_test",
        just,
        &["just", "test"],
        &["just", "--show", "test"],
    );
    let task = naming(TASKFILES, in_taskfile);
    propose("task_test", task, &["task", "test"], &["task", "--version"]);
    let mise = naming(MISE_FILES, in_mise).or_else(|| folder.first(&["mise-tasks/test"]));
    propose(
        "mise_test",
        mise,
        &["mise", "run", "test"],
        &["mise", "--version"],
    );
    if found.tests.is_empty() {
        found.tests.extend(script(folder));
        if !found.tests.is_empty() {
            found.ecosystems.push(&TASKS);
        }
    }
}

fn make(folder: &Folder<'_>, found: &mut Found) {
    let Some(file) = folder.first(MAKEFILES) else {
        return;
    };
    found.ecosystems.push(&TASKS);
    let text = folder.read(file).unwrap_or_default();
    let target = ["test", "check"]
        .into_iter()
        .find(|target| in_makefile(&text, target));
    if let Some(target) = target {
        let tests = Proposal::new(&format!("make_{target}"), folder, file, &TASKS);
        let words = ["make", target].map(str::to_owned);
        found.tests.push(tests.made_anew(&words));
    }
    if in_makefile(&text, "lint") {
        let lint = Proposal::new("make_lint", folder, file, &TASKS);
        found.lints.push(lint.argv(["make", "lint"]));
    }
}

/// Whether make does the same without its built-in rules, by what it would do.
const SAME_WITHOUT_RULES: &str =
    r#"plain=$("$0" -n -B "$@") && test "$("$0" -n -B -r "$@")" = "$plain""#;

impl Proposal {
    /// A command of make, by which everything is made anew. With its built-in rules, make would run a file such as
    /// `Makefile.sh` to remake a makefile; they are only left in place where the project needs them.
    pub(in crate::config) fn made_anew(self, words: &[String]) -> Self {
        let (make, rest) = words.split_at(words.len().min(1));
        let with = |options: &[&str]| -> Vec<String> {
            let options = options.iter().map(ToString::to_string);
            let words = make.iter().cloned().chain(options);
            words.chain(rest.iter().cloned()).collect()
        };
        // Without `-B`, a file of that name would be all that the target has to make.
        let mut proposal = self.argv(with(&["-B", "-r"]));
        let compare = ["sh", "-c", SAME_WITHOUT_RULES].map(str::to_owned);
        proposal.probe = compare.into_iter().chain(words.iter().cloned()).collect();
        proposal.fallback = Some(Fallback {
            argv: with(&["-B"]),
            probe: with(&["-n"]),
        });
        proposal
    }
}

/// Whether a makefile has a target.
pub(super) fn in_makefile(text: &str, target: &str) -> bool {
    text.lines().any(|line| match line.split_once(':') {
        // Neither a recipe nor an assignment such as `test := 1`.
        Some((targets, rest)) => {
            !line.starts_with(char::is_whitespace)
                && !rest.starts_with('=')
                && !rest.starts_with(":=")
                && targets.split_whitespace().any(|name| name == target)
        }
        None => false,
    })
}

fn in_justfile(text: &str) -> bool {
    text.lines().any(|line| {
        let name = line.split([' ', ':']).next();
        name == Some("test") && line.contains(':') && !line.contains(":=")
    })
}

fn in_taskfile(text: &str) -> bool {
    has(text, TextFormat::Yaml, &["tasks", "test"])
}

fn in_mise(text: &str) -> bool {
    has(text, TextFormat::Toml, &["tasks", "test"])
}

fn has(text: &str, format: TextFormat, path: &[&str]) -> bool {
    let Ok(root) = Source::new(text, format).read_settings() else {
        return false;
    };
    find(&root, path).is_some()
}

/// A script that tests, and where it writes its results if it says so.
fn script(folder: &Folder<'_>) -> Option<Proposal> {
    let file = folder.first(SCRIPTS)?;
    let tests = Proposal::new("tests", folder, file, &TASKS);
    let tests = if folder.is_executable(file) {
        tests.argv([format!("./{file}")])
    } else {
        tests.argv(["sh", file])
    };
    let text = folder.read(file).unwrap_or_default();
    Some(match report(&text) {
        Some(report) => tests.writes(TestFormat::Junit, folder.path(&report)),
        None => tests.hint(
            "To count its tests, let it write JUnit XML or TAP and set kind = \"tests_green\" with `format` and `report`.",
        ),
    })
}

/// The XML file that a script names, where it is about `JUnit`.
fn report(text: &str) -> Option<String> {
    if !text.to_ascii_lowercase().contains("junit") && !text.contains("<testsuite") {
        return None;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    let mut names = text.split(|c| !is_part(c));
    let is_report = |name: &&str| {
        let path = Path::new(name);
        path.extension().is_some_and(|it| it == "xml") && path.is_relative()
    };
    names
        .find(is_report)
        .map(|name| name.trim_start_matches("./").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_makefile_counts_only_with_the_target() {
        for text in ["test:\n\tcargo test\n", "all test : a\n", "test:: b\n"] {
            assert!(in_makefile(text, "test"), "{text}");
        }
        for text in [
            "tests:\n",
            "test := 1\n",
            "test ::= 1\n",
            "all:\n\ttest: x\n",
            "a: test\n",
        ] {
            assert!(!in_makefile(text, "test"), "{text}");
        }
    }

    #[test]
    fn a_task_counts_only_where_tasks_are_named() {
        assert!(in_justfile("default:\n\ntest *args: build\n  cargo test\n"));
        assert!(!in_justfile("test := \"x\"\ntests:\n"));
        assert!(in_taskfile("version: '3'\ntasks:\n  test: {cmds: [x]}\n"));
        assert!(!in_taskfile("vars:\n  test: x\n"));
        assert!(in_mise("[tasks.test]\nrun = 'x'\n"));
        assert!(!in_mise("[tools]\ntest = '1'\n"));
    }

    #[test]
    fn a_report_is_named_only_by_a_script_that_is_about_junit() {
        assert_eq!(
            report("run --junit=out/r.xml\n").as_deref(),
            Some("out/r.xml")
        );
        assert_eq!(
            report("echo '<testsuite/>' > \"./r.xml\"").as_deref(),
            Some("r.xml")
        );
        assert_eq!(report("cp settings.xml x"), None);
        assert_eq!(report("junit > /tmp/r.xml"), None);
    }
}
