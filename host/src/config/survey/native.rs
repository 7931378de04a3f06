//! Build tools that bring a test runner along: Cargo, Go, Maven, Gradle, .NET, mix, Composer, Bundler, `SwiftPM`, `CMake`,
//! Dart.

use super::folder::Folder;
use super::{Found, Proposal};
use crate::config::catalogue::{CARGO, CMAKE, DART, DOTNET, ELIXIR, GO, JVM, PHP, RUBY, SWIFT};
use crate::evidence::reports::TestFormat;

/// How tests are counted where that takes another package.
const JUNIT_HINT: &str = "To count its tests, let it write JUnit XML and set kind = \"tests_green\", format = \"junit\" and \
                          `report`, a file or a pattern.";
/// Shows that the wrapper of a build tool can start, without the download that the wrapper itself would begin with.
const JAVA: [&str; 3] = [
    "/bin/sh",
    "-c",
    "\"${JAVA_HOME:+$JAVA_HOME/bin/}java\" -version",
];

pub(super) fn look(folder: &Folder<'_>, found: &mut Found) {
    cargo(folder, found);
    go(folder, found);
    jvm(folder, found);
    dotnet(folder, found);
    elixir(folder, found);
    php(folder, found);
    ruby(folder, found);
    swift(folder, found);
    cmake(folder, found);
    dart(folder, found);
}

fn cargo(folder: &Folder<'_>, found: &mut Found) {
    let Some(manifest) = folder.read("Cargo.toml") else {
        return;
    };
    found.ecosystems.push(&CARGO);
    let is_workspace = manifest
        .lines()
        .any(|line| line.trim().starts_with("[workspace]"));
    let all: &[&str] = if is_workspace { &["--workspace"] } else { &[] };
    // Without it, of the tests behind the first target that fails nobody would know the names.
    let every: &[&str] = &["--no-fail-fast"];
    let tests = Proposal::new("cargo_test", folder, "Cargo.toml", &CARGO).probe([
        "cargo",
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
    ]);
    found.tests.push(if folder.has(".config/nextest.toml") {
        tests
            .argv([&["cargo", "nextest", "run"], every, all].concat())
            .probe(["cargo", "nextest", "--version"])
            .prints(TestFormat::Nextest)
    } else {
        tests
            .argv([&["cargo", "test"], every, all].concat())
            .prints(TestFormat::Cargo)
    });
    let clippy = [
        &["cargo", "clippy"],
        all,
        &["--all-targets", "--", "-D", "warnings"],
    ]
    .concat();
    let lint = Proposal::new("cargo_clippy", folder, "Cargo.toml", &CARGO);
    found.lints.push(lint.argv(clippy));
}

fn go(folder: &Folder<'_>, found: &mut Found) {
    if !folder.has("go.mod") {
        return;
    }
    found.ecosystems.push(&GO);
    let tests = Proposal::new("go_test", folder, "go.mod", &GO);
    found.tests.push(
        tests
            .argv(["go", "test", "-json", "./..."])
            .probe(["go", "list", "-m"])
            .prints(TestFormat::GoJson),
    );
    let lint = Proposal::new("go_vet", folder, "go.mod", &GO);
    found.lints.push(lint.argv(["go", "vet", "./..."]));
}

fn jvm(folder: &Folder<'_>, found: &mut Found) {
    if folder.has("pom.xml") {
        found.ecosystems.push(&JVM);
        let maven = if folder.is_executable("mvnw") {
            "./mvnw"
        } else {
            "mvn"
        };
        let tests = Proposal::new("maven_test", folder, "pom.xml", &JVM);
        let reports = folder.path("**/target/surefire-reports/TEST-*.xml");
        let tests = tests
            .argv([maven, "-B", "test"])
            .writes(TestFormat::Junit, reports);
        found.tests.push(match maven {
            "mvn" => tests.probe(["mvn", "--version"]),
            _ => tests.probe(JAVA),
        });
    }
    let builds = [
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "settings.gradle.kts",
    ];
    if let Some(build) = folder.first(&builds) {
        found.ecosystems.push(&JVM);
        let gradle = if folder.is_executable("gradlew") {
            "./gradlew"
        } else {
            "gradle"
        };
        let tests = Proposal::new("gradle_test", folder, build, &JVM);
        // What is up to date is not run, and then writes no report.
        let tests = tests.argv([gradle, "cleanTest", "test"]).writes(
            TestFormat::Junit,
            folder.path("**/build/test-results/test/*.xml"),
        );
        found.tests.push(match gradle {
            "gradle" => tests.probe(["gradle", "--version"]),
            _ => tests.probe(JAVA),
        });
    }
}

fn dotnet(folder: &Folder<'_>, found: &mut Found) {
    let ends = |ends: &'static [&'static str]| {
        folder.like(move |name| ends.iter().any(|end| name.ends_with(end)))
    };
    let Some(file) = ends(&[".sln", ".slnx"]).or_else(|| ends(&[".csproj", ".fsproj", ".vbproj"]))
    else {
        return;
    };
    found.ecosystems.push(&DOTNET);
    let tests = Proposal::new("dotnet_test", folder, file, &DOTNET);
    found.tests.push(
        tests
            .argv([
                "dotnet",
                "test",
                "--logger",
                "trx",
                "--results-directory",
                "TestResults",
            ])
            .probe(["dotnet", "--version"])
            .writes(TestFormat::Trx, folder.path("TestResults")),
    );
}

fn elixir(folder: &Folder<'_>, found: &mut Found) {
    if !folder.has("mix.exs") {
        return;
    }
    found.ecosystems.push(&ELIXIR);
    let tests = Proposal::new("mix_test", folder, "mix.exs", &ELIXIR);
    found.tests.push(
        tests
            .argv(["mix", "test"])
            .probe(["mix", "--version"])
            .hint(JUNIT_HINT),
    );
    let lint = Proposal::new("mix_format", folder, "mix.exs", &ELIXIR);
    found
        .lints
        .push(lint.argv(["mix", "format", "--check-formatted"]));
}

fn php(folder: &Folder<'_>, found: &mut Found) {
    let Some(manifest) = folder.read("composer.json") else {
        return;
    };
    found.ecosystems.push(&PHP);
    let settings = folder.first(&["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"]);
    let runner = if manifest.contains("pestphp/pest") {
        Some("pest")
    } else if settings.is_some() || manifest.contains("phpunit/phpunit") {
        Some("phpunit")
    } else {
        None
    };
    let id = runner.unwrap_or("composer_test");
    let tests = Proposal::new(id, folder, settings.unwrap_or("composer.json"), &PHP);
    let has_script = || {
        let manifest: Option<serde_json::Value> = serde_json::from_str(&manifest).ok();
        manifest.is_some_and(|manifest| manifest.pointer("/scripts/test").is_some())
    };
    if let Some(runner) = runner {
        let program = format!("vendor/bin/{runner}");
        let report = format!("vendor/.ralph-gate-{}.xml", folder.id(runner));
        let missing = (!folder.has(&program))
            .then(|| format!("{program} is not there: run `composer install`"));
        let results = folder.path(&report);
        found.tests.push(
            tests
                .probe([program.as_str(), "--version"])
                .argv([program.as_str(), "--log-junit", &report])
                .missing(missing)
                .writes(TestFormat::Junit, results),
        );
    } else if has_script() {
        found.tests.push(
            tests
                .argv(["composer", "test"])
                .probe(["composer", "--version"])
                .hint(JUNIT_HINT),
        );
    }
}

fn ruby(folder: &Folder<'_>, found: &mut Found) {
    let told = folder.first(&["Gemfile", "Rakefile", ".rspec"]);
    let Some(told) = told else {
        return;
    };
    found.ecosystems.push(&RUBY);
    let bundle: &[&str] = if folder.has("Gemfile") {
        &["bundle", "exec"]
    } else {
        &[]
    };
    let mut propose = |id: &str, told: &str, words: &[&str], probe: &[&str]| {
        found.tests.push(
            Proposal::new(id, folder, told, &RUBY)
                .argv([bundle, words].concat())
                .probe([bundle, probe].concat())
                .hint(JUNIT_HINT),
        );
    };
    if folder.has(".rspec") || folder.has_folder("spec") {
        propose("rspec", told, &["rspec"], &["rspec", "--version"]);
    } else if folder.is_executable("bin/rails") && folder.has_folder("test") {
        let tests = Proposal::new("rails_test", folder, "bin/rails", &RUBY);
        let tests = tests
            .argv(["bin/rails", "test"])
            .probe(["bin/rails", "--version"])
            .hint(JUNIT_HINT);
        found.tests.push(tests);
    } else if folder.has("Rakefile") && folder.has_folder("test") {
        propose(
            "rake_test",
            "Rakefile",
            &["rake", "test"],
            &["rake", "--version"],
        );
    }
    if let Some(file) = folder.first(&[".rubocop.yml"]) {
        let lint = Proposal::new("rubocop", folder, file, &RUBY);
        found.lints.push(lint.argv([bundle, &["rubocop"]].concat()));
    }
}

fn swift(folder: &Folder<'_>, found: &mut Found) {
    if !folder.has("Package.swift") {
        return;
    }
    found.ecosystems.push(&SWIFT);
    let tests = Proposal::new("swift_test", folder, "Package.swift", &SWIFT);
    found.tests.push(
        tests
            .argv([
                "swift",
                "test",
                "--parallel",
                "--xunit-output",
                ".build/ralph-gate.xml",
            ])
            .probe(["swift", "--version"])
            // Tests of the two frameworks are in two files.
            .writes(TestFormat::Junit, folder.path(".build/ralph-gate*.xml")),
    );
}

fn cmake(folder: &Folder<'_>, found: &mut Found) {
    let Some(lists) = folder.read("CMakeLists.txt") else {
        return;
    };
    found.ecosystems.push(&CMAKE);
    let has_tests = ["enable_testing", "include(CTest)", "add_test("]
        .iter()
        .any(|word| lists.contains(word));
    if !has_tests {
        return;
    }
    let line = "cmake -S . -B build && cmake --build build --parallel && \
                ctest --test-dir build --output-on-failure --output-junit ralph-gate.xml";
    let tests = Proposal::new("ctest", folder, "CMakeLists.txt", &CMAKE);
    found.tests.push(
        tests
            .argv(["sh", "-c", line])
            .probe(["cmake", "--version"])
            .writes(TestFormat::Junit, folder.path("build/ralph-gate.xml")),
    );
}

fn dart(folder: &Folder<'_>, found: &mut Found) {
    let Some(settings) = folder.read("pubspec.yaml") else {
        return;
    };
    found.ecosystems.push(&DART);
    let program = if settings.contains("sdk: flutter") {
        "flutter"
    } else {
        "dart"
    };
    let id = format!("{program}_test");
    let tests = Proposal::new(&id, folder, "pubspec.yaml", &DART);
    found.tests.push(
        tests
            .argv([program, "test"])
            .probe([program, "--version"])
            .hint(JUNIT_HINT),
    );
    let lint = Proposal::new(&format!("{program}_analyze"), folder, "pubspec.yaml", &DART);
    found.lints.push(lint.argv([program, "analyze"]));
}
