//! The example in Go: formatted, vetted, its own tests, and its loop beside a real server.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::web::Served;

/// A command of Go, which fetches nothing and keeps what it compiles in the build folder.
fn go(program: &str, arguments: &[&str]) -> Output {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/http/examples/go");
    let output = Command::new(program)
        .args(arguments)
        .current_dir(example)
        .env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go"))
        .env("GOPROXY", "off")
        .env("CGO_ENABLED", "0")
        .env("GOTOOLCHAIN", "local")
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    output
}

#[test]
fn the_example_is_as_go_wants_it() {
    let unformatted = go("gofmt", &["-l", "."]).stdout;
    assert_eq!(String::from_utf8(unformatted).unwrap(), "");
    go("go", &["vet", "./..."]);
    let tested = go("go", &["test", "-v", "./..."]).stdout;
    let tested = String::from_utf8(tested).unwrap();
    assert!(
        tested.contains("--- PASS: TestAnIterationIsSentAndItsVerdictRead"),
        "{tested}"
    );
}

#[test]
fn its_loop_ends_when_the_evidence_is_there() {
    let server = Served::start(Command::new(binary()), &["--no-access-log"]).unwrap();
    let url = format!("http://{}", server.address);
    let said = go("go", &["run", ".", &url]).stdout;
    let said = String::from_utf8(said).unwrap();
    let of_iterations: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("iteration "))
        .collect();
    assert_eq!(
        of_iterations,
        [
            "iteration 1: go on",
            "iteration 2: go on",
            "iteration 3: stop, completed"
        ],
        "{said}"
    );
    assert!(
        said.contains("- tests_green: check_failed: 2 of 14 failed\n"),
        "{said}"
    );
}
