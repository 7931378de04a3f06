//! Reports as the real test runners write them, judged by the readers: green, with a test that fails, and with one that
//! was renamed.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ralph_gate::evidence::reports::{TestCounts, TestFormat, TestNames, read, recognise};
use tempfile::TempDir;

/// A file that makes one test fail.
const BROKEN: &str = "broken";
/// A part of one test's name, and what it is renamed to.
const RENAMED: (&str, &str) = ("stays", "other");

/// A test runner, and how it is told to write a report.
struct Runner {
    /// The project, below `projects`.
    project: &'static str,
    /// The file with the tests.
    tests: &'static str,
    argv: &'static [&'static str],
    /// The file that it writes; standard output when absent.
    report: Option<&'static str>,
    format: TestFormat,
    /// How many tests passed, failed and were skipped, when nothing is broken.
    green: (u64, u64, u64),
    /// How many the runner counts as failed when one is.
    failed: u64,
}

/// Where the runners are installed.
fn installed(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let place = target.join("readers").join(name);
    assert!(
        place.exists(),
        "{} is not there; `cargo xtask test` installs it",
        place.display()
    );
    place
}

/// The project, copied to where its runner finds what it needs.
struct Project {
    folder: TempDir,
}

impl Project {
    fn of(runner: &Runner) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("readers/projects");
        let folder = TempDir::new_in(installed("npm")).unwrap();
        copy(&source.join(runner.project), folder.path());
        Self { folder }
    }

    fn run(&self, runner: &Runner) -> (Output, Vec<u8>) {
        let (program, arguments) = runner.argv.split_first().unwrap();
        let path = [
            installed("npm").join("node_modules/.bin"),
            installed("python").join("venv/bin"),
        ];
        let inherited = std::env::var_os("PATH").unwrap();
        let path = path.into_iter().chain(std::env::split_paths(&inherited));
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.folder.path())
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("CI", "true")
            .env("NO_COLOR", "1")
            .env_remove("FORCE_COLOR")
            .env_remove("NODE_OPTIONS")
            .env_remove("NODE_TEST_CONTEXT")
            .env_remove("PYTEST_ADDOPTS")
            .env("CARGO_TARGET_DIR", self.folder.path().join("target"))
            .env("CARGO_TERM_COLOR", "never")
            .env("GOPROXY", "off")
            .env("GOTOOLCHAIN", "local")
            .env("GOFLAGS", "-mod=mod")
            .output()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        let report = match runner.report {
            Some(name) => fs::read(self.folder.path().join(name)).unwrap_or_default(),
            None => output.stdout.clone(),
        };
        (output, report)
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

impl Runner {
    fn read(&self, output: &Output, report: &[u8]) -> TestCounts {
        let shown = || {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (report, stderr) = (text(report), text(&output.stderr));
            format!("{:?}: {report}\n{stderr}", self.argv)
        };
        assert_eq!(recognise(report), Some(self.format), "{}", shown());
        read(self.format, report).unwrap_or_else(|error| panic!("{error}: {}", shown()))
    }

    fn judge(&self) {
        let project = Project::of(self);
        let counted = |counts: &TestCounts| (counts.passed, counts.failed, counts.skipped);

        let (output, report) = project.run(self);
        let green = self.read(&output, &report);
        assert!(output.status.success(), "{:?}", self.argv);
        assert_eq!(counted(&green), self.green, "{:?}", self.argv);
        let names = green.names.expect("each test has a name");

        let tests = project.folder.path().join(self.tests);
        let text = fs::read_to_string(&tests).unwrap();
        fs::write(&tests, text.replace(RENAMED.0, RENAMED.1)).unwrap();
        let (output, report) = project.run(self);
        let renamed = self.read(&output, &report);
        assert_eq!(counted(&renamed), self.green, "{:?}", self.argv);
        let gone = gone(&names, &renamed);
        assert_eq!(gone.len(), 1, "{:?}: {gone:?}", self.argv);
        assert!(gone[0].contains(RENAMED.0), "{gone:?}");
        fs::write(&tests, text).unwrap();

        fs::write(project.folder.path().join(BROKEN), "").unwrap();
        let (output, report) = project.run(self);
        let broken = self.read(&output, &report);
        assert!(!output.status.success(), "{:?}", self.argv);
        let (passed, _, skipped) = self.green;
        assert_eq!(
            counted(&broken),
            (passed - 1, self.failed, skipped),
            "{:?}",
            self.argv
        );
    }
}

fn gone(before: &TestNames, now: &TestCounts) -> Vec<String> {
    let now = now.names.as_ref().expect("each test has a name");
    before.gone(now).map(str::to_owned).collect()
}

#[test]
fn pytest_with_subtests_as_junit() {
    Runner {
        project: "pytest",
        tests: "test_sum.py",
        argv: &[
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--junit-xml=r.xml",
        ],
        report: Some("r.xml"),
        format: TestFormat::Junit,
        green: (6, 0, 2),
        failed: 1,
    }
    .judge();
}

#[test]
fn pytest_with_subtests_as_it_prints() {
    Runner {
        project: "pytest",
        tests: "test_sum.py",
        argv: &["pytest", "-v", "-p", "no:cacheprovider"],
        report: None,
        format: TestFormat::Pytest,
        green: (6, 0, 2),
        // A failed subtest, and the test that it belongs to.
        failed: 2,
    }
    .judge();
}

#[test]
fn jest_with_tests_to_be_written() {
    Runner {
        project: "jest",
        tests: "sum.test.js",
        argv: &["jest", "--ci"],
        report: Some("junit.xml"),
        format: TestFormat::Junit,
        // To its reporter, one that is to be written passed.
        green: (6, 0, 1),
        failed: 1,
    }
    .judge();
}

#[test]
fn vitest_as_tap() {
    Runner {
        project: "vitest",
        tests: "sum.test.mjs",
        argv: &["vitest", "run", "--reporter=tap"],
        report: None,
        format: TestFormat::Tap,
        green: (8, 0, 1),
        failed: 1,
    }
    .judge();
}

#[test]
fn vitest_as_junit() {
    Runner {
        project: "vitest",
        tests: "sum.test.mjs",
        argv: &[
            "vitest",
            "run",
            "--reporter=default",
            "--reporter=junit",
            "--outputFile.junit=reports/r.xml",
        ],
        report: Some("reports/r.xml"),
        format: TestFormat::Junit,
        green: (7, 0, 2),
        failed: 1,
    }
    .judge();
}

#[test]
fn mocha_as_tap() {
    Runner {
        project: "mocha",
        tests: "sum.test.js",
        argv: &["mocha", "--reporter", "tap", "sum.test.js"],
        report: None,
        format: TestFormat::Tap,
        green: (4, 0, 2),
        failed: 1,
    }
    .judge();
}

#[test]
fn mocha_as_junit() {
    Runner {
        project: "mocha",
        tests: "sum.test.js",
        argv: &[
            "mocha",
            "--reporter",
            "xunit",
            "--reporter-option",
            "output=reports/r.xml",
            "sum.test.js",
        ],
        report: Some("reports/r.xml"),
        format: TestFormat::Junit,
        green: (4, 0, 2),
        failed: 1,
    }
    .judge();
}

fn node(reporter: &'static [&'static str], format: TestFormat) -> Runner {
    Runner {
        project: "node",
        tests: "sum.test.js",
        argv: reporter,
        report: None,
        format,
        green: (4, 0, 2),
        failed: 1,
    }
}

#[test]
fn node_in_each_of_its_forms() {
    node(&["node", "--test", "--test-reporter=tap"], TestFormat::Node).judge();
    node(
        &["node", "--test", "--test-reporter=spec"],
        TestFormat::Node,
    )
    .judge();
    node(
        &["node", "--test", "--test-reporter=junit"],
        TestFormat::Junit,
    )
    .judge();
}

#[test]
fn cargo_with_its_doc_tests() {
    Runner {
        project: "cargo",
        tests: "src/lib.rs",
        argv: &["cargo", "test", "--offline", "--no-fail-fast"],
        report: None,
        format: TestFormat::Cargo,
        green: (5, 0, 1),
        failed: 1,
    }
    .judge();
}

#[test]
fn go_with_subtests() {
    if Command::new("go").arg("version").output().is_err() {
        let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(
            !in_ci,
            "go is not installed, and with CI=true nothing is skipped"
        );
        println!("skipped: go is not installed");
        return;
    }
    Runner {
        project: "go",
        tests: "sum_test.go",
        argv: &["go", "test", "-json", "./..."],
        report: None,
        format: TestFormat::GoJson,
        green: (4, 0, 1),
        failed: 1,
    }
    .judge();
}
