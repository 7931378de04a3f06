//! The server's own document, asked by a client that knows nothing else: Schemathesis sends what the document allows, and what
//! it does not, and looks at every answer. No server error, and no answer that is not documented.
//!
//! `cargo xtask test` installs the client first. Left out are the paths that answer with a stream of events, which tests/serve
//! has, and one of the client's checks: that everything the schemas allow is taken. What a contract must hold together is more
//! than a schema can say.

use std::process::{Command, ExitCode};

use anyhow::{Result, bail};
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::place::Place;
use ralph_gate_tests::python::python;
use ralph_gate_tests::web::Served;

const CONFIG: &str = r#"
[agent]
argv = ["true"]

[checks.tests]
kind = "file"
path = "ralph-gate.toml"
"#;

const STREAMS: &str = r"^/v1/loops$|/(loops|drafts)/\{\w+\}/(resume|events)$";

fn main() -> ExitCode {
    match test() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("openapi: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn test() -> Result<()> {
    let place = Place::new(&[("ralph-gate.toml", CONFIG)]);
    let store = place.beside("sessions");
    let arguments = [
        "--no-access-log",
        "--config",
        "ralph-gate.toml",
        "--store",
        store.to_str().unwrap_or_default(),
    ];
    let server = Served::start(place.command(binary()), &arguments)?;
    let mut client = Command::new(python("openapi").with_file_name("schemathesis"));
    client
        .arg("--config-file")
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/openapi/schemathesis.toml"
        ))
        .arg("run")
        .arg(format!("http://{}/v1/openapi.json", server.address))
        .args(["--checks", "all"])
        .args(["--exclude-checks", "positive_data_acceptance"])
        .args(["--exclude-path-regex", STREAMS])
        .args(["--phases", "examples,coverage,fuzzing"])
        .args(["--max-examples", "20", "--seed", "1", "--workers", "1"])
        .args(["--no-color", "--output-sanitize", "false"])
        .env("NO_PROXY", "127.0.0.1")
        .current_dir(place.beside(""));
    let output = client.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("{said}{}", String::from_utf8_lossy(&output.stderr));
    }
    let summary = said.lines().skip_while(|line| !line.contains("SUMMARY"));
    for line in summary.filter(|line| line.contains("Tested") || line.contains("generated")) {
        println!("{}", line.trim());
    }
    Ok(())
}
