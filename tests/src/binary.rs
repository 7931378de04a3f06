//! Where the real `ralph-gate` command is.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// Names the command to a test that starts itself again.
pub const BUILT: &str = "RALPH_GATE_TESTS_BUILT";

/// The command, built once. The binary belongs to another package, so cargo does not build it for a test by itself; it
/// says where it is.
///
/// # Panics
///
/// If it can't be built.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(built) = env::var_os(BUILT) {
            return built.into();
        }
        build()
    })
}

fn build() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The whole workspace, so that cargo chooses the same features as for the tests.
    cargo.args(["build", "--workspace", "--bin", "ralph-gate"]);
    cargo.args(["--message-format", "json-render-diagnostics"]);
    // What the test is told about itself: build scripts that look at it would run again, each time.
    let told = env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    });
    told.for_each(|name| {
        cargo.env_remove(name);
    });
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = cargo
        .current_dir(workspace)
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo could not build ralph-gate");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == "ralph-gate")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .expect("cargo built no ralph-gate")
}
