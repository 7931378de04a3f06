//! The Pythons that `cargo xtask test` installs packages for, each for one test.

use std::env;
use std::path::PathBuf;

/// The Python of a test.
///
/// # Panics
///
/// If it is not installed.
pub fn python(test: &str) -> PathBuf {
    let executable = env::current_exe().expect("this program has a path");
    let target = executable.ancestors().nth(3).expect("it is built by cargo");
    let python = target.join(test).join("venv/bin/python");
    assert!(
        python.exists(),
        "{} is missing; `cargo xtask test` installs it",
        python.display()
    );
    python
}
