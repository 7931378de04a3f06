//! Workspaces of many kinds, and what is found in them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use ralph_gate_component::Word as _;

use super::*;

struct Work(tempfile::TempDir);

impl Work {
    fn new(files: &[(&str, &str)]) -> Self {
        let work = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            let path = work.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        work
    }

    fn make_executable(self, name: &str) -> Self {
        let path = self.0.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// Id, directory, command, and how its results are read.
    fn found(&self) -> Vec<String> {
        let survey = survey(self.0.path());
        survey.tests.iter().map(shown).collect()
    }
}

fn shown(proposal: &Proposal) -> String {
    let mut text = format!("{}: {}", proposal.id, proposal.argv.join(" "));
    if let Some(directory) = &proposal.directory {
        text.push_str(&format!(" in {directory}"));
    }
    if let Some(results) = &proposal.results {
        text.push_str(&format!(" as {}", results.format.as_str()));
        if let Some(report) = &results.report {
            text.push_str(&format!(" from {report}"));
        }
    }
    text
}

/// Files of a repository, and the check that is found.
const CASES: &[(&[(&str, &str)], &str)] = &[
    (
        &[("Cargo.toml", "[package]")],
        "cargo_test: cargo test --no-fail-fast as cargo",
    ),
    (
        &[("Cargo.toml", "[workspace]")],
        "cargo_test: cargo test --no-fail-fast --workspace as cargo",
    ),
    (
        &[("Cargo.toml", ""), (".config/nextest.toml", "")],
        "cargo_test: cargo nextest run --no-fail-fast as nextest",
    ),
    (&[("go.mod", "")], "go_test: go test -json ./... as go_json"),
    (&[("pytest.ini", "")], "pytest: pytest -vv as pytest"),
    (&[("tests/test_a.py", "")], "pytest: pytest -vv as pytest"),
    (
        &[("setup.cfg", "[tool:pytest]")],
        "pytest: pytest -vv as pytest",
    ),
    (
        &[("pytest.ini", ""), ("uv.lock", "")],
        "pytest: uv run pytest -vv as pytest",
    ),
    (
        &[("pyproject.toml", "[tool.poetry]\n[tool.pytest]")],
        "pytest: poetry run pytest -vv as pytest",
    ),
    (
        &[("package.json", r#"{"scripts": {"test": "node --test"}}"#)],
        "npm_test: npm test as node",
    ),
    (
        &[("package.json", r#"{"scripts": {"test": "jest"}}"#)],
        "npm_test: npm test",
    ),
    (
        &[
            ("package.json", r#"{"scripts": {"test": "mocha"}}"#),
            ("yarn.lock", ""),
        ],
        "yarn_test: yarn test --reporter tap as tap",
    ),
    (
        &[
            ("package.json", r#"{"scripts": {"test": "vitest"}}"#),
            ("pnpm-lock.yaml", ""),
        ],
        "pnpm_test: pnpm test --run --reporter=junit --outputFile=node_modules/.ralph-gate-pnpm_test.xml as junit \
             from node_modules/.ralph-gate-pnpm_test.xml",
    ),
    (
        &[(
            "package.json",
            r#"{"scripts": {"test": "turbo run test"}, "packageManager": "bun@1"}"#,
        )],
        "bun_test: bun run test",
    ),
    (
        &[("deno.json", "{}")],
        "deno_test: deno test --reporter=tap as tap",
    ),
    (
        &[("pom.xml", "")],
        "maven_test: mvn -B test as junit from **/target/surefire-reports/TEST-*.xml",
    ),
    (
        &[("build.gradle.kts", "")],
        "gradle_test: gradle cleanTest test as junit from **/build/test-results/test/*.xml",
    ),
    (
        &[("app.sln", "")],
        "dotnet_test: dotnet test --logger trx --results-directory TestResults as trx from TestResults",
    ),
    (&[("mix.exs", "")], "mix_test: mix test"),
    (
        &[("composer.json", "{}"), ("phpunit.xml", "")],
        "phpunit: vendor/bin/phpunit --log-junit vendor/.ralph-gate-phpunit.xml as junit from \
             vendor/.ralph-gate-phpunit.xml",
    ),
    (
        &[("Gemfile", ""), ("spec/a_spec.rb", "")],
        "rspec: bundle exec rspec",
    ),
    (
        &[("Rakefile", ""), ("test/a_test.rb", "")],
        "rake_test: rake test",
    ),
    (
        &[("Package.swift", "")],
        "swift_test: swift test --parallel --xunit-output .build/ralph-gate.xml as junit from .build/ralph-gate*.xml",
    ),
    (&[("pubspec.yaml", "")], "dart_test: dart test"),
    (&[("Makefile", "test:\n")], "make_test: make -B -r test"),
    (
        &[("makefile", "check: all\n")],
        "make_check: make -B -r check",
    ),
    (&[("justfile", "test:\n")], "just_test: just test"),
    (
        &[("Taskfile.yml", "tasks: {test: {}}")],
        "task_test: task test",
    ),
    (
        &[("mise.toml", "[tasks.test]\n")],
        "mise_test: mise run test",
    ),
    (
        &[("run-tests.sh", "junit > out/report.xml")],
        "tests: sh run-tests.sh as junit from out/report.xml",
    ),
];

#[test]
fn every_ecosystem_is_told_by_its_files() {
    for (files, expected) in CASES {
        let work = Work::new(files);
        assert_eq!(work.found(), [*expected], "{files:?}");
        let survey = survey(work.0.path());
        assert!(!survey.ecosystems.is_empty(), "{files:?}");
    }
    let cmake = Work::new(&[("CMakeLists.txt", "enable_testing()")]).found();
    assert!(
        cmake[0].ends_with("as junit from build/ralph-gate.xml"),
        "{cmake:?}"
    );
}

#[test]
fn what_only_looks_like_tests_is_no_check_but_is_protected() {
    let placeholder = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    let work = Work::new(&[
        ("package.json", placeholder),
        ("pyproject.toml", "[tool.black]"),
        ("Makefile", "all:\n"),
        ("CMakeLists.txt", "project(x)"),
        ("composer.json", "not json"),
    ]);
    assert!(work.found().is_empty());
    let names: Vec<&str> = survey(work.0.path())
        .ecosystems
        .iter()
        .map(|it| it.name)
        .collect();
    assert_eq!(
        names,
        ["Python", "JavaScript", "PHP", "CMake", "task runner"]
    );
    assert!(
        Work::new(&[("package.json", "{}"), ("test.txt", "")])
            .found()
            .is_empty()
    );
    assert!(
        Work::new(&[("package.json", "not json")])
            .found()
            .is_empty()
    );
}

#[test]
fn a_local_program_comes_before_one_of_that_name() {
    let work = Work::new(&[("pytest.ini", ""), (".venv/bin/pytest", "")])
        .make_executable(".venv/bin/pytest");
    assert_eq!(work.found(), ["pytest: .venv/bin/pytest -vv as pytest"]);
    let work = Work::new(&[("pom.xml", ""), ("mvnw", "")]).make_executable("mvnw");
    assert_eq!(
        work.found(),
        ["maven_test: ./mvnw -B test as junit from **/target/surefire-reports/TEST-*.xml"]
    );
    let work = Work::new(&[("test.sh", "x")]).make_executable("test.sh");
    assert_eq!(work.found(), ["tests: ./test.sh"]);
}

#[test]
fn each_part_of_a_monorepo_gets_a_check_with_its_directory() {
    let vitest = r#"{"scripts": {"test": "vitest run"}}"#;
    let work = Work::new(&[
        ("README.md", ""),
        ("services/api/go.mod", ""),
        ("services/web/package.json", vitest),
        ("services/web/node_modules/.bin/vitest", ""),
        ("services/web/node_modules/other/package.json", vitest),
        ("tools/py.old/pytest.ini", ""),
        ("a/b/c/d/go.mod", ""),
    ]);
    assert_eq!(
        work.found(),
        [
            "go_test_services_api: go test -json ./... in services/api as go_json",
            "npm_test_services_web: npm test -- --run --reporter=junit \
             --outputFile=node_modules/.ralph-gate-npm_test_services_web.xml in services/web as junit from \
             services/web/node_modules/.ralph-gate-npm_test_services_web.xml",
            "pytest_tools_py_old: pytest -vv in tools/py.old as pytest",
        ]
    );
}

#[test]
fn what_a_directory_above_runs_is_not_run_again() {
    let package = r#"{"scripts": {"test": "turbo run test"}}"#;
    let inner = r#"{"scripts": {"test": "vitest"}}"#;
    let work = Work::new(&[
        ("package.json", package),
        ("packages/a/package.json", inner),
        ("packages/a/Makefile", "test:\n"),
        ("Cargo.toml", "[workspace]"),
        ("crates/b/Cargo.toml", "[package]"),
        ("go.mod", ""),
        ("sub/go.mod", ""),
        ("Makefile", "test:\n"),
    ]);
    assert_eq!(
        work.found(),
        [
            "npm_test: npm test",
            "cargo_test: cargo test --no-fail-fast --workspace as cargo",
            "go_test: go test -json ./... as go_json",
            // A module of its own, which `./...` does not reach.
            "go_test_sub: go test -json ./... in sub as go_json",
        ]
    );
}

#[test]
fn packages_that_are_installed_above_get_their_report_written_there() {
    let work = Work::new(&[
        ("pnpm-workspace.yaml", ""),
        ("pnpm-lock.yaml", ""),
        ("node_modules/.bin/vitest", ""),
        (
            "packages/a/package.json",
            r#"{"scripts": {"test": "vitest run"}}"#,
        ),
    ]);
    assert_eq!(
        work.found(),
        ["pnpm_test_packages_a: pnpm test --run --reporter=junit \
          --outputFile=../../node_modules/.ralph-gate-pnpm_test_packages_a.xml in packages/a as junit from \
          node_modules/.ralph-gate-pnpm_test_packages_a.xml"]
    );
    assert_eq!(survey(work.0.path()).tests[0].missing, None);
}

#[test]
fn what_is_not_installed_is_said() {
    let survey = |script: &str| {
        let package = format!("{{\"scripts\": {{\"test\": \"{script}\"}}}}");
        survey(Work::new(&[("package.json", &package)]).0.path())
    };
    let missing = survey("jest").tests[0].missing.clone();
    assert_eq!(
        missing.as_deref(),
        Some("jest is not installed: run `npm install`")
    );
    for script in ["turbo-x run test", "true && turbo-x", "CI=1 npx turbo-x"] {
        let missing = survey(script).tests[0].missing.clone();
        let expected = "turbo-x is not installed: run `npm install`";
        assert_eq!(missing.as_deref(), Some(expected), "{script}");
    }
    for script in [
        "node --test",
        "cd a && ./turbo-x",
        "sh -c 'a; turbo-x'",
        "if true; then exit 1; fi",
    ] {
        assert_eq!(survey(script).tests[0].missing, None, "{script}");
    }
}

#[test]
fn a_wrapper_is_tried_by_what_it_starts() {
    let work = Work::new(&[("build.gradle", ""), ("gradlew", "")]).make_executable("gradlew");
    let probe = survey(work.0.path()).tests[0].probe.join(" ");
    assert!(probe.ends_with("java\" -version"), "{probe}");
    let rails = [("Gemfile", ""), ("bin/rails", ""), ("test/a_test.rb", "")];
    let work = Work::new(&rails).make_executable("bin/rails");
    assert_eq!(
        survey(work.0.path()).tests[0].probe,
        ["bin/rails", "--version"]
    );
}

#[test]
fn a_module_of_the_project_may_not_appear_among_its_tests() {
    let work = Work::new(&[
        ("tests/test_a.py", ""),
        ("calc.py", ""),
        ("src/pkg/__init__.py", ""),
        ("data/a.txt", ""),
        ("sub/pytest.ini", ""),
        ("sub/more.py", ""),
    ]);
    assert_eq!(
        survey(work.0.path()).protected,
        [
            "**/{tests,test}/**/{calc,pkg}{.py,/__init__.py}",
            "/sub/**/{tests,test}/**/{more}{.py,/__init__.py}",
        ]
    );
}

#[test]
fn what_tools_write_is_left_out_only_beside_their_manifest() {
    let work = Work::new(&[
        ("package.json", "{}"),
        ("packages/a[1]/package.json", "{}"),
        ("services/api/build.gradle", ""),
    ]);
    let generated = survey(work.0.path()).generated;
    for pattern in [
        "/node_modules",
        "/coverage",
        "/build",
        "/packages/a[[]1[]]/{.cache,.next,.nuxt,.turbo,coverage,node_modules}",
        "/services/api/{.gradle,build,target}",
    ] {
        assert!(generated.contains(pattern), "{pattern}: {generated:?}");
    }
    assert!(generated.iter().all(|pattern| pattern.starts_with('/')));
}

#[test]
fn linters_are_proposed_beside_the_tests() {
    let work = Work::new(&[
        (
            "package.json",
            r#"{"scripts": {"lint": "eslint .", "type-check": "tsc"}}"#,
        ),
        ("pyproject.toml", "[tool.ruff]\n[tool.mypy]\n"),
        ("Cargo.toml", ""),
        ("Makefile", "lint:\n"),
    ]);
    let lints: Vec<String> = survey(work.0.path()).lints.iter().map(shown).collect();
    assert_eq!(
        lints,
        [
            "ruff: ruff check",
            "mypy: mypy .",
            "npm_lint: npm run lint",
            "npm_type_check: npm run type-check",
            "cargo_clippy: cargo clippy --all-targets -- -D warnings",
        ]
    );
}

#[test]
fn two_checks_never_have_one_id() {
    let work = Work::new(&[("a-b/go.mod", ""), ("a_b/go.mod", "")]);
    let ids: Vec<String> = survey(work.0.path())
        .tests
        .into_iter()
        .map(|it| it.id)
        .collect();
    assert_eq!(ids, ["go_test_a_b", "go_test_a_b_2"]);
}
