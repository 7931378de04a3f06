//! The pinned toolchain: starts its programs in a clean environment and installs its wasm target.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::environment::{Identity, is_foreign};
use crate::{TARGET, run};

/// A program of the toolchain that is pinned in `source`, with a clean environment.
pub(crate) fn command(program: &str, source: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(source);
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(is_foreign) {
            command.env_remove(name);
        }
    }
    // Empty, and not just absent: a wrapper could also come from a configuration file.
    command
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "");
    command
}

/// Which compiler will be used.
pub(crate) fn identity(source: &Path) -> Result<Identity> {
    let version = rustc(source, &["-vV"])?;
    let commit = version
        .lines()
        .find_map(|line| line.strip_prefix("commit-hash: "))
        .unwrap_or("unknown");
    Ok(Identity {
        sysroot: rustc(source, &["--print", "sysroot"])?.trim_end().into(),
        commit: commit.to_owned(),
    })
}

/// Makes sure that the compiler pinned in `source` can compile for [`TARGET`], and says on stderr when
/// that takes an installation.
pub fn ensure_target(source: &Path) -> Result<()> {
    if has_target(source)? {
        return Ok(());
    }
    eprintln!("installing the compiler's {TARGET} target: rustup target add {TARGET}");
    let mut rustup = command("rustup", source);
    rustup.args(["target", "add", TARGET]);
    let output = run(&mut rustup).with_context(|| missing_target("rustup is not installed"))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr)
            .trim_end()
            .to_owned();
        bail!(missing_target(&reason));
    }
    if has_target(source)? {
        return Ok(());
    }
    bail!(missing_target(
        "rustup installed it for another toolchain than the one that is used"
    ))
}

fn missing_target(reason: &str) -> String {
    format!(
        "the compiler's {TARGET} target is missing and could not be installed: {reason}\n\
         Install it with `rustup target add {TARGET}` in the workspace, then build again"
    )
}

/// Whether the standard library for the target is there.
fn has_target(source: &Path) -> Result<bool> {
    let folder = rustc(source, &["--print", "target-libdir", "--target", TARGET])?;
    Ok(Path::new(folder.trim_end()).is_dir())
}

fn rustc(source: &Path, arguments: &[&str]) -> Result<String> {
    let output = run(command("rustc", source).args(arguments))?;
    if !output.status.success() {
        bail!(
            "`rustc {}` failed in {}: {}",
            arguments.join(" "),
            source.display(),
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    String::from_utf8(output.stdout).context("rustc printed something that is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_target_names_the_remedy() {
        let message = missing_target("no network");
        assert!(message.contains("no network"));
        assert!(message.contains("rustup target add wasm32-unknown-unknown"));
    }

    #[test]
    fn the_compiler_is_the_pinned_one() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let identity = identity(&root).unwrap();
        assert!(identity.sysroot.is_dir());
        assert!(identity.commit == "unknown" || identity.commit.len() == 40);
    }
}
