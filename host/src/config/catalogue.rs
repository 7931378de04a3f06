//! What decides about tests beside the code that is tested: test files, settings of runners and lock files, by
//! ecosystem. `ralph-gate init` writes from here what may not change while a loop runs.
//!
//! A pattern without a slash matches at any depth. What a tool fills by itself is taken out with `!`.

/// What tests and their runner are made of, in one ecosystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ecosystem {
    /// Its name, for people.
    pub name: &'static str,
    /// Test files and what they compare with: those that are there may not change, new ones are allowed.
    pub tests: &'static [&'static str],
    /// Files that say which dependencies and targets there are: those that are there may not change.
    pub locks: &'static [&'static str],
    /// Files by which the runner is steered: they may neither change nor appear.
    pub runner: &'static [&'static str],
    /// Files of which only these values steer the runner.
    pub parts: &'static [(&'static str, &'static [&'static str])],
    /// What tools write by themselves.
    pub generated: &'static [&'static str],
}

/// pytest.
pub const PYTHON: Ecosystem = Ecosystem {
    name: "Python",
    tests: &["test_*.py", "*_test.py", "tests/", "test/"],
    locks: &[
        "uv.lock",
        "poetry.lock",
        "pdm.lock",
        "Pipfile.lock",
        "pylock.toml",
    ],
    runner: &[
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "tox.ini",
        "noxfile.py",
        "sitecustomize.py",
        "usercustomize.py",
        "pytest.py",
        "*.pth",
    ],
    parts: &[
        (
            "pyproject.toml",
            &[
                "/tool/pytest",
                "/tool/tox",
                "/project/entry-points",
                "/tool/poetry/plugins",
            ],
        ),
        ("setup.cfg", &["/tool:pytest", "/options.entry_points"]),
    ],
    generated: &[
        ".venv",
        "venv",
        ".tox",
        ".nox",
        "__pycache__",
        "*.pyc",
        ".pytest_cache",
        "*.egg-info",
    ],
};

/// Runners of npm packages: jest, vitest, mocha, node and others.
pub const JAVASCRIPT: Ecosystem = Ecosystem {
    name: "JavaScript",
    tests: &[
        "*.test.*",
        "*.spec.*",
        "__tests__/",
        "__snapshots__/",
        "*.snap",
        "test/",
        "tests/",
        "e2e/",
        "cypress/",
    ],
    locks: &[
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "bun.lock",
        "bun.lockb",
    ],
    runner: &[
        "jest.config.*",
        "jest.setup.*",
        "vitest.config.*",
        "vitest.workspace.*",
        "vitest.setup.*",
        "vite.config.*",
        "setupTests.*",
        "playwright.config.*",
        "cypress.config.*",
        ".mocharc.*",
        "karma.conf.*",
        "ava.config.*",
        ".taprc",
        ".nycrc*",
        ".c8rc*",
        "babel.config.*",
        ".babelrc*",
        ".swcrc",
        "bunfig.toml",
        ".npmrc",
        ".yarnrc*",
        ".pnpmfile.*",
        "__mocks__/",
    ],
    parts: &[(
        "package.json",
        &[
            "/scripts",
            "/jest",
            "/vitest",
            "/mocha",
            "/ava",
            "/tap",
            "/c8",
            "/nyc",
            "/babel",
            "/overrides",
            "/resolutions",
            "/pnpm",
            "/imports",
        ],
    )],
    generated: &[
        "node_modules",
        "coverage",
        ".next",
        ".nuxt",
        ".turbo",
        ".cache",
    ],
};

/// Deno, beside what JavaScript has.
pub const DENO: Ecosystem = Ecosystem {
    name: "Deno",
    tests: &["*_test.ts", "*_test.tsx", "*_test.js", "*_test.mjs"],
    locks: &["deno.lock"],
    runner: &[],
    parts: &[
        ("deno.json", &["/tasks", "/test", "/imports", "/importMap"]),
        ("deno.jsonc", &["/tasks", "/test", "/imports", "/importMap"]),
    ],
    generated: &[],
};

/// Cargo.
pub const CARGO: Ecosystem = Ecosystem {
    name: "Rust",
    tests: &[
        "tests/",
        "tests.rs",
        "*_test.rs",
        "*_tests.rs",
        "test_*.rs",
        "*.snap",
    ],
    locks: &["Cargo.lock"],
    runner: &[
        "**/.cargo/config.toml",
        "**/.cargo/config",
        "**/.config/nextest.toml",
        "build.rs",
        "rust-toolchain.toml",
        "rust-toolchain",
    ],
    parts: &[(
        "Cargo.toml",
        &[
            "/lib/test",
            "/lib/doctest",
            "/lib/harness",
            "/test",
            "/patch",
            "/replace",
            "/profile",
            "/package/autotests",
            "/package/build",
        ],
    )],
    generated: &["target"],
};

/// Go.
pub const GO: Ecosystem = Ecosystem {
    name: "Go",
    tests: &["*_test.go", "testdata/"],
    locks: &["go.mod", "go.sum"],
    runner: &["go.work", "go.work.sum", "go.env"],
    parts: &[],
    generated: &["vendor"],
};

/// Maven and Gradle.
pub const JVM: Ecosystem = Ecosystem {
    name: "JVM",
    tests: &[
        "**/src/test/",
        "**/src/integrationTest/",
        "**/src/it/",
        "*Test.java",
        "*Tests.java",
        "*IT.java",
        "*Test.kt",
        "*Spec.groovy",
        "*Spec.scala",
    ],
    locks: &[
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "settings.gradle.kts",
        "gradle.lockfile",
        "libs.versions.toml",
        "verification-metadata.xml",
    ],
    runner: &[
        ".mvn/",
        "mvnw",
        "gradlew",
        "**/gradle/wrapper/",
        "gradle.properties",
        "init.gradle",
        "buildSrc/",
        "junit-platform.properties",
        "**/META-INF/services/org.junit.*",
    ],
    parts: &[],
    generated: &["**/build/", "**/target/", ".gradle"],
};

/// .NET.
pub const DOTNET: Ecosystem = Ecosystem {
    name: ".NET",
    tests: &[
        "*.Tests/",
        "*.Test/",
        "*Tests/",
        "tests/",
        "test/",
        "*Tests.cs",
        "*Test.cs",
        "*Tests.fs",
        "*.verified.*",
    ],
    locks: &["packages.lock.json", "Directory.Packages.props"],
    runner: &[
        "*.runsettings",
        "Directory.Build.props",
        "Directory.Build.targets",
        "global.json",
        "nuget.config",
        "NuGet.Config",
        "xunit.runner.json",
        "*testconfig.json",
    ],
    parts: &[],
    generated: &["bin", "obj", "TestResults"],
};

/// Elixir's mix.
pub const ELIXIR: Ecosystem = Ecosystem {
    name: "Elixir",
    tests: &["test/", "*_test.exs", "**/config/test.exs"],
    locks: &["mix.exs", "mix.lock"],
    runner: &["test_helper.exs"],
    parts: &[],
    generated: &["_build", "deps"],
};

/// PHP's Composer.
pub const PHP: Ecosystem = Ecosystem {
    name: "PHP",
    tests: &["tests/", "test/", "*Test.php"],
    locks: &["composer.lock"],
    runner: &[
        "phpunit.xml",
        "phpunit.xml.dist",
        "phpunit.dist.xml",
        "codeception.yml",
        ".phpunit.xml",
    ],
    parts: &[("composer.json", &["/scripts", "/autoload-dev", "/config"])],
    generated: &["vendor", ".phpunit.cache", ".phpunit.result.cache"],
};

/// Ruby.
pub const RUBY: Ecosystem = Ecosystem {
    name: "Ruby",
    tests: &["spec/", "test/", "*_spec.rb", "*_test.rb"],
    locks: &["Gemfile.lock"],
    runner: &[
        ".rspec",
        ".rspec-local",
        "Rakefile",
        "**/.bundle/config",
        ".rspec_status",
    ],
    parts: &[],
    generated: &["**/vendor/bundle"],
};

/// Swift packages.
pub const SWIFT: Ecosystem = Ecosystem {
    name: "Swift",
    tests: &["Tests/", "*Tests.swift"],
    locks: &["Package.swift", "Package.resolved"],
    runner: &[".swift-version"],
    parts: &[],
    generated: &[".build"],
};

/// `CMake` with ctest.
pub const CMAKE: Ecosystem = Ecosystem {
    name: "CMake",
    tests: &[
        "tests/",
        "test/",
        "*_test.cpp",
        "*_test.cc",
        "test_*.cpp",
        "test_*.c",
    ],
    locks: &["conan.lock", "vcpkg.json"],
    runner: &[
        "CTestConfig.cmake",
        "CTestCustom.cmake",
        "CTestCustom.ctest",
        "CMakePresets.json",
        "CMakeUserPresets.json",
    ],
    parts: &[],
    generated: &["build", "cmake-build-*"],
};

/// Dart and Flutter.
pub const DART: Ecosystem = Ecosystem {
    name: "Dart",
    tests: &["test/", "integration_test/", "*_test.dart"],
    locks: &["pubspec.lock"],
    runner: &["dart_test.yaml", "build.yaml"],
    parts: &[("pubspec.yaml", &["/dependency_overrides"])],
    generated: &[".dart_tool", "build"],
};

/// make, just, Task and mise, and scripts.
pub const TASKS: Ecosystem = Ecosystem {
    name: "task runner",
    tests: &["tests/", "test/", "spec/"],
    locks: &[],
    runner: &[
        "GNUmakefile",
        "makefile",
        "Makefile",
        "*.mk",
        "justfile",
        ".justfile",
        "Justfile",
        "Taskfile.*",
        "taskfile.*",
        "mise.toml",
        ".mise.toml",
        "mise-tasks/",
        ".mise/",
        "test.sh",
        "run-tests.sh",
        "run_tests.sh",
        "runtests.sh",
        "scripts/test",
        "scripts/test.sh",
        "script/test",
        "bin/test",
    ],
    parts: &[],
    generated: &[],
};

/// Continuous integration, wherever it is.
pub const CI: Ecosystem = Ecosystem {
    name: "continuous integration",
    tests: &[],
    locks: &[
        ".github/workflows/",
        ".gitlab-ci.yml",
        ".circleci/",
        ".buildkite/",
        ".travis.yml",
        ".drone.yml",
        ".woodpecker.yml",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
        "appveyor.yml",
        "Jenkinsfile",
    ],
    runner: &[],
    parts: &[],
    generated: &[],
};

/// All of them.
pub const ALL: &[Ecosystem] = &[
    PYTHON, JAVASCRIPT, DENO, CARGO, GO, JVM, DOTNET, ELIXIR, PHP, RUBY, SWIFT, CMAKE, DART, TASKS,
    CI,
];

/// Whether a pattern is one of these: then it means something although no file matches it.
pub fn is_known(pattern: &str) -> bool {
    ALL.iter().any(|ecosystem| {
        let lists = [ecosystem.tests, ecosystem.locks, ecosystem.runner];
        let mut parts = ecosystem.parts.iter();
        lists.concat().contains(&pattern) || parts.any(|(file, _)| *file == pattern)
    })
}

/// The patterns of test files, of every ecosystem, without what tools write.
pub fn test_files() -> Vec<String> {
    let tests = ALL.iter().flat_map(|ecosystem| ecosystem.tests);
    let generated = ALL.iter().flat_map(|ecosystem| ecosystem.generated);
    let mut patterns: Vec<String> = tests.map(ToString::to_string).collect();
    patterns.extend(generated.map(|pattern| format!("!{pattern}")));
    patterns.sort();
    patterns.dedup();
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worktree::{Baseline, Protection};

    #[test]
    fn every_pattern_can_be_used() {
        let folder = tempfile::tempdir().unwrap();
        for ecosystem in ALL {
            let texts = |patterns: &[&str]| patterns.iter().map(ToString::to_string).collect();
            let protection = Protection {
                protected: texts(ecosystem.runner),
                frozen: texts(&[ecosystem.tests, ecosystem.locks].concat()),
                parts: ecosystem
                    .parts
                    .iter()
                    .map(|(file, pointers)| ((*file).to_owned(), texts(pointers)))
                    .collect(),
            };
            Baseline::take(folder.path(), &protection, &[]).unwrap();
            for pattern in ecosystem.runner {
                assert!(is_known(pattern), "{pattern}");
            }
        }
        assert!(!is_known("test/typo"));
        assert!(test_files().contains(&"!node_modules".to_owned()));
    }
}
