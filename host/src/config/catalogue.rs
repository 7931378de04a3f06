//! What decides about tests beside the code that is tested: test files, settings of runners and lock files, by
//! ecosystem. `ralph-gate init` writes from here what may not change while a loop runs.
//!
//! A pattern without a slash matches at any depth. What a tool fills by itself is taken out with `!`, beside the file that
//! tells of the ecosystem and nowhere else: a test in a directory `build` or `coverage` is a test.

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
    /// What tools write beside the file that tells of the ecosystem. No test of the project's own is in it.
    pub generated: &'static [&'static str],
    /// The parts of that in which no runner looks for its settings, or which tools fill with copies of them.
    pub inert: &'static [&'static str],
    /// What tools write anywhere, beside tests too.
    pub caches: &'static [&'static str],
}

/// A name that any of the extensions of JavaScript and TypeScript may follow.
macro_rules! script {
    ($name:literal) => {
        concat!($name, ".{js,cjs,mjs,jsx,ts,cts,mts,tsx}")
    };
}

/// By which a file of tests names plugins of pytest.
const PLUGINS: &[&str] = &["/name/pytest_plugins"];

/// pytest.
pub const PYTHON: Ecosystem = Ecosystem {
    name: "Python",
    tests: &["test*.py", "*_test.py", "*_tests.py", "tests/", "test/"],
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
        "uv.toml",
        // What the runner imports, by names that projects hardly use themselves.
        "{pytest,unittest,sitecustomize,usercustomize,pluggy,iniconfig,exceptiongroup,tomli}.{py,pyc,so,*.so}",
        "**/{pytest,_pytest,unittest,sitecustomize,usercustomize,pluggy,iniconfig,exceptiongroup,tomli}/__init__.*",
        // The others, where they come before installed packages.
        "/{packaging,pygments}.{py,pyc,so,*.so}",
        "/{packaging,pygments}/__init__.*",
        "/src/{packaging,pygments}.{py,pyc,so,*.so}",
        "/src/{packaging,pygments}/__init__.*",
        "*.pth",
        // Python reads the names of these without regard to case.
        "**/*.[eE][gG][gG]-[iI][nN][fF][oO]/entry_points.txt",
        "*.[dD][iI][sS][tT]-[iI][nN][fF][oO]/",
        // In a directory with one of these, which looks like an environment, pytest finds no tests.
        "pyvenv.cfg",
        "conda-meta/",
        "**/bin/[aA]ctivate*",
        // They run before the tests beside them.
        "**/{tests,test}/**/__init__.{pyc,so,*.so}",
    ],
    parts: &[
        (
            "pyproject.toml",
            &[
                "/tool/pytest",
                "/tool/tox",
                "/tool/uv",
                "/build-system",
                "/project/entry-points",
                "/project/scripts",
                "/tool/poetry/plugins",
                "/tool/poetry/scripts",
            ],
        ),
        ("setup.cfg", &["/tool:pytest", "/options.entry_points"]),
        // It runs before the tests beside it. An empty one may come.
        ("**/{tests,test}/**/__init__.py", &["/statements"]),
        // The plugins of a file of tests act on all tests, like a conftest.py.
        ("{test*,*_test,*_tests}.py", PLUGINS),
        ("**/{tests,test}/**/*.py", PLUGINS),
    ],
    generated: &[".venv", "venv", ".tox", ".nox"],
    inert: &[".venv", "venv", ".tox", ".nox"],
    caches: &["__pycache__", ".pytest_cache"],
};

/// Runners of npm packages: jest, vitest, mocha, node and others.
pub const JAVASCRIPT: Ecosystem = Ecosystem {
    name: "JavaScript",
    tests: &[
        "*.test.*",
        "*.spec.*",
        script!("{test,tests,spec}"),
        script!("*[-_]{test,spec}"),
        script!("test-*"),
        script!("*Spec"),
        script!("test{Utils,-helpers,Helpers}"),
        "__tests__/",
        "__snapshots__/",
        "*.snap",
        "test/",
        "tests/",
        "spec/",
        "e2e/",
        "cypress/",
        "{test-utils,testutils,test-helpers,testhelpers}/",
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
        "vitest.projects.*",
        "vitest.setup.*",
        "vite.config.*",
        // vite runs them.
        "postcss.config.*",
        ".postcssrc*",
        "tailwind.config.*",
        "svelte.config.*",
        "setupTests.*",
        "playwright.config.*",
        "cypress.config.*",
        ".mocharc.*",
        "karma.conf.*",
        "wdio.conf.*",
        "web-test-runner.config.*",
        "wtr.config.*",
        "jasmine.json",
        "nx.json",
        "project.json",
        "turbo.json",
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
        "**/.yarn/releases/",
        "**/.yarn/plugins/",
        ".pnp.*",
        ".pnpmfile.*",
        "pnpm-workspace.yaml",
        "__mocks__/",
        // Scripts find these before the programs of the system.
        "**/node_modules/.bin/{node,sh,bash,env,find,watchman,git,make}",
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
            "/postcss",
            "/overrides",
            "/resolutions",
            "/pnpm",
            "/imports",
            "/wireit",
            "/nx",
            "/workspaces",
            "/packageManager",
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
    // jest looks for `__mocks__` everywhere but in node_modules, and of that programs in `.bin` come before all others.
    inert: &[
        "node_modules/{[!.]*,.[!b]*}",
        ".next/standalone/**/.env*",
        ".nuxt/tailwind*",
    ],
    caches: &[],
};

const DENO_PARTS: &[&str] = &["/tasks", "/test", "/imports", "/importMap", "/scopes"];

/// Deno, beside what JavaScript has.
pub const DENO: Ecosystem = Ecosystem {
    name: "Deno",
    tests: &[script!("test"), script!("*_test")],
    locks: &["deno.lock"],
    runner: &["import_map.json"],
    parts: &[("deno.json", DENO_PARTS), ("deno.jsonc", DENO_PARTS)],
    generated: &[],
    inert: &[],
    caches: &[],
};

/// Cargo.
pub const CARGO: Ecosystem = Ecosystem {
    name: "Rust",
    tests: &[
        "tests/",
        "test/",
        "tests.rs",
        "test.rs",
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
    parts: &[
        ("*.rs", &["/cfg(test)"]),
        (
            "Cargo.toml",
            &[
                "/lib",
                "/bin",
                "/example",
                "/bench",
                "/test",
                "/dev-dependencies",
                "/build-dependencies",
                "/workspace/dependencies",
                "/workspace/members",
                "/workspace/default-members",
                "/workspace/exclude",
                "/patch",
                "/replace",
                "/profile",
                "/package/autolib",
                "/package/autobins",
                "/package/autoexamples",
                "/package/autobenches",
                "/package/autotests",
                "/package/build",
            ],
        ),
    ],
    generated: &["target"],
    inert: &["target"],
    caches: &[],
};

/// Go.
pub const GO: Ecosystem = Ecosystem {
    name: "Go",
    tests: &[
        "*_test.go",
        "testdata/",
        "{testutil,testutils,testhelper,testhelpers}/",
    ],
    locks: &["go.sum"],
    // A directory with a go.mod of its own is no part of the module: its tests would not run.
    runner: &["go.mod", "go.work", "go.work.sum", "go.env", "vendor/"],
    // It decides which tests run, and how the program ends.
    parts: &[("*_test.go", &["/func/TestMain"])],
    generated: &[],
    inert: &[],
    caches: &[],
};

/// Maven and Gradle.
pub const JVM: Ecosystem = Ecosystem {
    name: "JVM",
    tests: &[
        "**/src/test/",
        "**/src/*Test/",
        "**/src/testFixtures/",
        "**/src/it/",
        "Test*.java",
        "*Test.{java,kt,groovy,scala}",
        "*Tests.{java,kt}",
        "*TestCase.java",
        "*IT.{java,kt}",
        "*Spec.{kt,groovy,scala}",
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
    generated: &["build", "target", ".gradle"],
    inert: &["build", "target", ".gradle"],
    caches: &["**/buildSrc/{build,.gradle}"],
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
    inert: &["bin", "obj", "TestResults"],
    // A project of tests is built beside its tests.
    caches: &["**/*{.Test,Tests}/{bin,obj,TestResults}"],
};

/// Elixir's mix.
pub const ELIXIR: Ecosystem = Ecosystem {
    name: "Elixir",
    tests: &["test/", "*_test.exs", "**/config/test.exs"],
    locks: &["mix.exs", "mix.lock"],
    runner: &["test_helper.exs"],
    parts: &[],
    generated: &["_build", "deps"],
    inert: &["_build", "deps"],
    caches: &[],
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
    inert: &["vendor", ".phpunit.cache", ".phpunit.result.cache"],
    caches: &[],
};

/// Ruby.
pub const RUBY: Ecosystem = Ecosystem {
    name: "Ruby",
    tests: &["spec/", "test/", "*_spec.rb", "*_test.rb", "test_*.rb"],
    locks: &["Gemfile.lock"],
    runner: &[
        ".rspec",
        ".rspec-local",
        "Rakefile",
        "**/.bundle/config",
        ".rspec_status",
    ],
    parts: &[],
    generated: &["vendor/bundle"],
    inert: &["vendor/bundle"],
    caches: &[],
};

/// Swift packages.
pub const SWIFT: Ecosystem = Ecosystem {
    name: "Swift",
    tests: &["Tests/", "*Tests.swift"],
    locks: &["Package.swift", "Package.resolved"],
    runner: &[".swift-version"],
    parts: &[],
    generated: &[".build"],
    inert: &[".build"],
    caches: &[],
};

/// `CMake` with ctest.
pub const CMAKE: Ecosystem = Ecosystem {
    name: "CMake",
    tests: &[
        "tests/",
        "test/",
        "{test,tests}.{c,cc,cpp,cxx}",
        "*[-_]{test,tests}.{c,cc,cpp,cxx}",
        "test_*.{c,cc,cpp,cxx}",
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
    inert: &["build", "cmake-build-*"],
    caches: &[],
};

/// Dart and Flutter.
pub const DART: Ecosystem = Ecosystem {
    name: "Dart",
    tests: &["test/", "integration_test/", "*_test.dart"],
    locks: &["pubspec.lock"],
    runner: &["dart_test.yaml", "build.yaml"],
    parts: &[("pubspec.yaml", &["/dependency_overrides"])],
    generated: &[".dart_tool", "build"],
    inert: &[".dart_tool", "build"],
    caches: &[],
};

/// Files of make, just, Task and mise, scripts for tests, and the variables that these read. They may be started by any
/// runner.
pub const TASK_FILES: &[&str] = &[
    "GNUmakefile",
    "makefile",
    "Makefile",
    "*.mk",
    // From these, make makes makefiles anew by its built-in rules.
    "{GNUmakefile,makefile,Makefile,*.mk}.{C,F,S,c,cc,ch,cpp,f,l,m,mod,o,p,r,s,sh,w,web,y,ym}",
    "{GNUmakefile,makefile,Makefile,*.mk},v",
    "s.{GNUmakefile,makefile,Makefile,*.mk}",
    "RCS/",
    "SCCS/",
    "justfile",
    ".justfile",
    "Justfile",
    "Taskfile.*",
    "taskfile.*",
    "mise.toml",
    "mise.*.toml",
    ".mise.toml",
    ".mise.*.toml",
    "**/.config/mise*",
    "**/mise/config.toml",
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
    ".env",
    ".env.*",
    ".envrc",
];

/// Files that look like some of [`TASK_FILES`] and that nothing reads.
pub const SAMPLES: &[&str] = &[".env.{example,sample,template,dist}"];

/// make, just, Task and mise, and scripts.
pub const TASKS: Ecosystem = Ecosystem {
    name: "task runner",
    tests: &["tests/", "test/", "spec/"],
    locks: &[],
    runner: TASK_FILES,
    parts: &[],
    generated: &[],
    inert: &[],
    caches: &[],
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
    inert: &[],
    caches: &[],
};

/// How patterns of files in directories of tests begin, in Python: what is there comes before the project's own modules.
pub const BESIDE_TESTS: &str = "**/{tests,test}/**/";

/// All of them.
pub const ALL: &[Ecosystem] = &[
    PYTHON, JAVASCRIPT, DENO, CARGO, GO, JVM, DOTNET, ELIXIR, PHP, RUBY, SWIFT, CMAKE, DART, TASKS,
    CI,
];

/// Where programs of npm packages are, in a directory with packages.
pub const NPM_PROGRAMS: &str = "node_modules/.bin/";

/// Whether a pattern is one of these: then it means something although no file matches it.
pub fn is_known(pattern: &str) -> bool {
    if pattern.contains(BESIDE_TESTS) || pattern.contains(NPM_PROGRAMS) {
        return true;
    }
    ALL.iter().any(|ecosystem| {
        let lists = [ecosystem.tests, ecosystem.locks, ecosystem.runner];
        let mut parts = ecosystem.parts.iter();
        lists.concat().contains(&pattern) || parts.any(|(file, _)| *file == pattern)
    })
}

/// Files that people write programs in.
const SOURCES: &[&str] = &[
    "*.{c,cc,cpp,cxx,h,hpp,m,mm,rs,go,swift,zig,py,rb,php,pl,lua,r,jl}",
    "*.{js,cjs,mjs,jsx,ts,cts,mts,tsx,vue,svelte,dart,java,kt,kts,scala,groovy,clj}",
    "*.{cs,fs,vb,ex,exs,erl,hs,ml,elm,sh,bash,sql}",
];

/// The patterns of test files, of every ecosystem, without what tools write.
pub fn test_files() -> Vec<String> {
    without_generated(ALL.iter().flat_map(|ecosystem| ecosystem.tests))
}

/// The patterns of source files, of every ecosystem, without what tools write.
pub fn source_files() -> Vec<String> {
    without_generated(SOURCES.iter())
}

/// The patterns of test files, with those of these that are neither lock files nor settings: the operator may call tests whatever he likes.
pub fn tests_among(frozen: &[String]) -> Vec<String> {
    let is_lock = |pattern: &str| {
        let mut ecosystems = ALL.iter();
        ecosystems.any(|ecosystem| {
            [ecosystem.locks, ecosystem.runner]
                .concat()
                .contains(&pattern)
        })
    };
    let own = frozen
        .iter()
        .filter(|pattern| !is_lock(pattern) && !pattern.starts_with('!'));
    test_files().into_iter().chain(own.cloned()).collect()
}

fn without_generated<'p>(patterns: impl Iterator<Item = &'p &'static str>) -> Vec<String> {
    let generated = ALL
        .iter()
        .flat_map(|ecosystem| [ecosystem.generated, ecosystem.caches])
        .flatten();
    let mut patterns: Vec<String> = patterns.map(ToString::to_string).collect();
    patterns.extend(generated.map(|pattern| format!("!{pattern}")));
    patterns.sort();
    patterns.dedup();
    patterns
}

#[cfg(test)]
mod tests;
