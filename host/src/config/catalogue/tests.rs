//! What each ecosystem's runners take for tests and settings, and that the patterns know it.

use std::fs;
use std::path::Path;

use super::*;
use crate::worktree::{Baseline, Protection, Stamps};

fn texts(patterns: &[&str]) -> Vec<String> {
    patterns.iter().map(ToString::to_string).collect()
}

fn protection(ecosystem: &Ecosystem) -> Protection {
    let parts = ecosystem.parts.iter();
    let caches = ecosystem.caches.iter().map(|pattern| format!("!{pattern}"));
    let without = |patterns: &[&str]| texts(patterns).into_iter().chain(caches.clone()).collect();
    Protection {
        protected: without(ecosystem.runner),
        frozen: without(&[ecosystem.tests, ecosystem.locks].concat()),
        parts: parts
            .map(|(file, pointers)| ((*file).to_owned(), texts(pointers)))
            .collect(),
    }
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What is noticed when a file changes from one text to another; none if it is not there.
fn noticed(ecosystem: &Ecosystem, path: &str, before: Option<&str>, after: &str) -> usize {
    let folder = tempfile::tempdir().unwrap();
    if let Some(before) = before {
        write(folder.path(), path, before);
    }
    let taken = Baseline::take(folder.path(), &protection(ecosystem), &[]).unwrap();
    write(folder.path(), path, after);
    let differences = taken
        .baseline
        .compare(folder.path(), &mut Stamps::default());
    differences.unwrap().len()
}

#[test]
fn every_pattern_can_be_used() {
    let folder = tempfile::tempdir().unwrap();
    for ecosystem in ALL {
        Baseline::take(folder.path(), &protection(ecosystem), &[]).unwrap();
        for pattern in ecosystem.runner {
            assert!(is_known(pattern), "{pattern}");
        }
    }
    assert!(!is_known("test/typo"));
    assert!(test_files().contains(&"!node_modules".to_owned()));
}

/// Files that runners take for tests by their default settings, and helpers.
const TESTS: &[(&Ecosystem, &[&str])] = &[
    // pytest, unittest and Django.
    (
        &PYTHON,
        &[
            "test_a.py",
            "a/b_test.py",
            "testing_a.py",
            "app/tests.py",
            "a/model_tests.py",
            "tests/a/b.py",
        ],
    ),
    // node --test, jest, vitest, mocha, jasmine, AVA, and helpers.
    (
        &JAVASCRIPT,
        &[
            "test.js",
            "a/test.mjs",
            "test-calc.js",
            "calc-test.js",
            "calc_test.cjs",
            "calc.test.ts",
            "test/a.js",
            "__tests__/a.jsx",
            "a.spec.tsx",
            "spec.js",
            "tests.ts",
            "calc-spec.js",
            "calc_spec.js",
            "CalcSpec.js",
            "spec/a.js",
            "src/test-utils.tsx",
            "src/test-utils/render.ts",
            "testutils/a.ts",
            "src/testUtils.ts",
        ],
    ),
    (&DENO, &["test.ts", "a/test.jsx", "a_test.ts", "a_test.mts"]),
    (
        &CARGO,
        &[
            "tests/a.rs",
            "test/a.rs",
            "src/test.rs",
            "src/tests.rs",
            "src/a_test.rs",
            "src/a_tests.rs",
        ],
    ),
    (
        &GO,
        &[
            "a_test.go",
            "testdata/a",
            "internal/testutil/a.go",
            "testhelpers/a.go",
        ],
    ),
    // Surefire, Failsafe, Gradle and Android.
    (
        &JVM,
        &[
            "src/test/java/a/A.java",
            "app/src/androidTest/A.kt",
            "src/functionalTest/java/A.java",
            "src/testFixtures/java/A.java",
            "a/TestA.java",
            "a/ATest.java",
            "a/ATests.java",
            "a/ATestCase.java",
            "a/AIT.java",
            "a/ASpec.groovy",
            "a/ATest.kt",
        ],
    ),
    (
        &DOTNET,
        &[
            "App.Tests/A.cs",
            "AppTests/A.cs",
            "tests/A.cs",
            "a/ATests.cs",
        ],
    ),
    (&ELIXIR, &["test/a_test.exs"]),
    (&PHP, &["tests/A.php", "a/ATest.php"]),
    (&RUBY, &["spec/a_spec.rb", "test/a_test.rb", "a/test_a.rb"]),
    (&SWIFT, &["Tests/ATests/A.swift", "ATests.swift"]),
    (
        &CMAKE,
        &[
            "tests/a.cpp",
            "a_test.cc",
            "test_a.c",
            "test.cpp",
            "a-test.cxx",
        ],
    ),
    (&DART, &["test/a_test.dart", "integration_test/a.dart"]),
];

#[test]
fn what_runners_take_for_tests_by_default_is_frozen() {
    for (ecosystem, paths) in TESTS {
        for path in *paths {
            assert_eq!(
                noticed(ecosystem, path, Some("a"), "b"),
                1,
                "{} {path}",
                ecosystem.name
            );
            assert_eq!(
                noticed(ecosystem, path, None, "b"),
                0,
                "{} {path}",
                ecosystem.name
            );
        }
    }
}

/// Files by which runners are steered.
const SETTINGS: &[(&Ecosystem, &[&str])] = &[
    (
        &PYTHON,
        &[
            "conftest.py",
            "tests/conftest.py",
            "pytest.py",
            "pytest.pyc",
            "pytest/__init__.py",
            "unittest/__init__.py",
            "_pytest/__init__.py",
            "sitecustomize/__init__.py",
            "usercustomize.py",
            "a.egg-info/entry_points.txt",
            "src/a.egg-info/entry_points.txt",
            "a-1.dist-info/entry_points.txt",
            "src/x.DIST-INFO/entry_points.txt",
            "X.Egg-Info/entry_points.txt",
            "uv.toml",
            "pytest.ini",
            ".pytest.ini",
            "pytest.toml",
            "tox.ini",
            "noxfile.py",
            "a.pth",
            "pytest.so",
            "pluggy.py",
            "src/iniconfig.cpython-312-x86_64-linux-gnu.so",
            "tomli/__init__.py",
            "packaging.py",
            "src/pygments/__init__.py",
            "tests/pyvenv.cfg",
            "tests/conda-meta/history",
            "tests/bin/activate",
            "tests/__init__.pyc",
            "tests/a/__init__.abi3.so",
        ],
    ),
    (
        &JAVASCRIPT,
        &[
            "jest.config.ts",
            "jest.setup.js",
            "vitest.config.mts",
            "vitest.workspace.ts",
            "vitest.setup.ts",
            "vite.config.ts",
            "src/setupTests.js",
            "playwright.config.ts",
            "cypress.config.js",
            ".mocharc.json",
            "karma.conf.js",
            "ava.config.js",
            "babel.config.json",
            ".babelrc",
            "bunfig.toml",
            ".npmrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            "__mocks__/fs.js",
            "vitest.projects.ts",
            "packages/a/vitest.config.ts",
            "packages/a/vitest.workspace.json",
            "packages/a/vite.config.mjs",
            "packages/a/jest.config.cjs",
            "packages/a/jest.config.json",
            "packages/a/.mocharc.json",
            "packages/a/test/.mocharc.cjs",
            "test/jest.config.ts",
            "web-test-runner.config.mjs",
            "wtr.config.js",
            "spec/support/jasmine.json",
            "wdio.conf.ts",
            "nx.json",
            "packages/a/project.json",
            "turbo.json",
            "pnpm-workspace.yaml",
            ".yarn/releases/yarn.cjs",
            ".yarn/plugins/a.cjs",
            ".pnp.cjs",
            ".pnp.loader.mjs",
            "postcss.config.cjs",
            ".postcssrc.json",
            "tailwind.config.js",
            "svelte.config.js",
            "coverage/__mocks__/expect.js",
            "node_modules/.bin/node",
            "a/node_modules/.bin/sh",
        ],
    ),
    (&DENO, &["import_map.json"]),
    (
        &CARGO,
        &[
            ".cargo/config.toml",
            ".cargo/config",
            "a/.cargo/config.toml",
            "build.rs",
            "rust-toolchain.toml",
            "rust-toolchain",
            ".config/nextest.toml",
        ],
    ),
    (
        &GO,
        &[
            "go.work",
            "go.env",
            "go.mod",
            "calc/go.mod",
            "vendor/modules.txt",
            "vendor/example.org/assert/assert.go",
        ],
    ),
    (
        &TASKS,
        &[
            "Makefile",
            "GNUmakefile",
            "Makefile.sh",
            "Makefile.o",
            "rules.mk.sh",
            "GNUmakefile,v",
            "RCS/Makefile,v",
            "SCCS/s.Makefile",
            "s.rules.mk",
            ".env",
            ".env.test",
            ".envrc",
            "mise.local.toml",
            "mise.ci.toml",
            ".mise.local.toml",
            ".config/mise.toml",
            ".config/mise/config.toml",
            "mise/config.toml",
        ],
    ),
];

/// Files that say what is installed, built or run elsewhere: those that are there may not change.
const LOCKS: &[(&Ecosystem, &[&str])] = &[
    (
        &PYTHON,
        &[
            "uv.lock",
            "poetry.lock",
            "pdm.lock",
            "Pipfile.lock",
            "pylock.toml",
        ],
    ),
    (
        &JAVASCRIPT,
        &[
            "package-lock.json",
            "npm-shrinkwrap.json",
            "yarn.lock",
            "pnpm-lock.yaml",
            "bun.lock",
            "bun.lockb",
        ],
    ),
    (&DENO, &["deno.lock"]),
    (&CARGO, &["Cargo.lock"]),
    (&GO, &["go.mod", "go.sum"]),
    (
        &JVM,
        &[
            "pom.xml",
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle.kts",
            "gradle.lockfile",
            "gradle/libs.versions.toml",
        ],
    ),
    (&DOTNET, &["packages.lock.json", "Directory.Packages.props"]),
    (&ELIXIR, &["mix.exs", "mix.lock"]),
    (&PHP, &["composer.lock"]),
    (&RUBY, &["Gemfile.lock"]),
    (&SWIFT, &["Package.swift", "Package.resolved"]),
    (&DART, &["pubspec.lock"]),
    (
        &CI,
        &[
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            ".circleci/config.yml",
            ".buildkite/pipeline.yml",
            ".travis.yml",
            "azure-pipelines.yml",
            "bitbucket-pipelines.yml",
            "Jenkinsfile",
        ],
    ),
];

#[test]
fn what_says_what_is_installed_or_run_elsewhere_may_not_change() {
    for (ecosystem, paths) in LOCKS {
        for path in *paths {
            let name = ecosystem.name;
            assert_eq!(noticed(ecosystem, path, Some("a"), "b"), 1, "{name} {path}");
        }
    }
}

#[test]
fn what_steers_a_runner_may_not_appear() {
    for (ecosystem, paths) in SETTINGS {
        for path in *paths {
            assert_eq!(
                noticed(ecosystem, path, None, "b"),
                1,
                "{} {path}",
                ecosystem.name
            );
        }
    }
}

/// Files of honest work that look like settings.
const PLAIN: &[(&Ecosystem, &[&str])] = &[
    (
        &PYTHON,
        &["app/packaging.py", "app/pygments/__init__.py", "bin/act.py"],
    ),
    (&JAVASCRIPT, &["node_modules/.bin/jest", "postcss.js"]),
    (&TASKS, &["Makefile.am", "config.mk.in", "deploy.sh"]),
];

#[test]
fn what_only_looks_like_settings_may_appear() {
    for (ecosystem, paths) in PLAIN {
        for path in *paths {
            assert_eq!(noticed(ecosystem, path, None, "b"), 0, "{path}");
        }
    }
}

#[test]
fn the_values_that_steer_a_runner_may_not_appear() {
    let package = |name: &str| format!("{{\"{name}\": {{}}}}");
    let toml = |name: &str| format!("[{name}]\na = 1\n");
    let mut cases: Vec<(&Ecosystem, &str, String)> = Vec::new();
    for name in [
        "scripts",
        "jest",
        "wireit",
        "nx",
        "workspaces",
        "packageManager",
        "postcss",
    ] {
        cases.push((&JAVASCRIPT, "package.json", package(name)));
    }
    for name in ["tasks", "imports", "scopes"] {
        cases.push((&DENO, "deno.json", package(name)));
    }
    for name in [
        "tool.pytest",
        "tool.uv",
        "build-system",
        "project.scripts",
        "tool.poetry.scripts",
    ] {
        cases.push((&PYTHON, "pyproject.toml", toml(name)));
    }
    for name in [
        "dev-dependencies",
        "build-dependencies",
        "workspace.dependencies",
        "patch.crates-io",
        "profile.test",
        "lib",
        "bin",
        "example",
        "bench",
    ] {
        cases.push((&CARGO, "Cargo.toml", toml(name)));
    }
    cases.push((&CARGO, "Cargo.toml", "[lib]\npath = \"a.rs\"\n".to_owned()));
    cases.push((&PYTHON, "setup.cfg", toml("tool:pytest")));
    for text in [
        "[workspace]\nmembers = [\"a\"]\n",
        "[package]\nautobins = false\n",
    ] {
        cases.push((&CARGO, "Cargo.toml", text.to_owned()));
    }
    for (ecosystem, path, text) in cases {
        let before = if path.ends_with("json") { "{}" } else { "" };
        assert_eq!(noticed(ecosystem, path, Some(before), &text), 1, "{text}");
    }
}

#[test]
fn new_files_beside_tests_may_not_act_on_them() {
    let patch = "import calc\ncalc.add = lambda a, b: 3\n";
    for path in [
        "tests/__init__.py",
        "test/a/__init__.py",
        "a/tests/__init__.py",
    ] {
        assert_eq!(noticed(&PYTHON, path, None, patch), 1, "{path}");
        assert_eq!(noticed(&PYTHON, path, None, "\n"), 0, "{path}");
    }
    assert_eq!(noticed(&PYTHON, "calc/__init__.py", None, patch), 0);
    for path in [
        "test_zz.py",
        "testing.py",
        "a/zz_test.py",
        "tests/helper.py",
        "a/test/deep/b.py",
    ] {
        for plugins in [
            "pytest_plugins = [\"rigged\"]\n",
            "pytest_plugins: list[str] = [\"rigged\"]\n",
            "import a\n\na.b, pytest_plugins = 1, (\"rigged\",)\n",
        ] {
            assert_eq!(noticed(&PYTHON, path, None, plugins), 1, "{path} {plugins}");
        }
        let honest = "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef a():\n    yield\n";
        assert_eq!(noticed(&PYTHON, path, None, honest), 0, "{path}");
    }
    let main = "package a\n\nfunc TestMain(m *testing.M) {}\n";
    assert_eq!(noticed(&GO, "zz_test.go", None, main), 1);
    assert_eq!(
        noticed(
            &GO,
            "zz_test.go",
            None,
            "package a\n\nfunc TestMore(t *testing.T) {}\n"
        ),
        0
    );
}

#[test]
fn a_new_module_may_not_take_the_place_of_a_frozen_test() {
    for (test, path) in [
        ("test_calc.py", "test_calc/__init__.py"),
        ("tests/test_calc.py", "tests/test_calc/__init__.pyc"),
        ("tests/test_calc.py", "tests/test_calc.abi3.so"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), test, "a");
        let taken = Baseline::take(folder.path(), &protection(&PYTHON), &[]).unwrap();
        let compare = || {
            let compared = taken
                .baseline
                .compare(folder.path(), &mut Stamps::default());
            compared.unwrap().len()
        };
        // Data for the test.
        write(folder.path(), "test_calc/data.txt", "a");
        assert_eq!(compare(), 0, "{path}");
        write(folder.path(), path, "");
        assert_eq!(compare(), 1, "{path}");
    }
}

#[test]
fn what_tools_write_beside_tests_is_no_change_of_them() {
    for (ecosystem, path) in [
        (&PYTHON, "tests/__pycache__/test_a.cpython-312.pyc"),
        (&DOTNET, "tests/App.Tests/obj/project.assets.json"),
        (&DOTNET, "AppTests/bin/Debug/A.dll"),
        (&JVM, "buildSrc/build/classes/A.class"),
    ] {
        assert_eq!(noticed(ecosystem, path, Some("a"), "b"), 0, "{path}");
    }
}

#[test]
fn patterns_of_the_operator_are_those_of_tests_unless_they_are_of_lock_files() {
    let among = tests_among(&texts(&["checks/", "Cargo.lock", "!checks/tmp"]));
    assert!(among.contains(&"checks/".to_owned()) && among.contains(&"*_test.go".to_owned()));
    assert!(
        !among.contains(&"Cargo.lock".to_owned()) && !among.contains(&"!checks/tmp".to_owned())
    );
}
