//! Where the workspace is, and how its cargo is called.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::process;

/// The checkout that the commands work on.
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// The workspace that this program was started from.
    pub(crate) fn find() -> Result<Self> {
        // cargo sets the variable; the current folder is for a binary that is started by hand.
        let start = match env::var_os("CARGO_MANIFEST_DIR") {
            Some(folder) => PathBuf::from(folder),
            None => env::current_dir()?,
        };
        let is_root = |folder: &&Path| folder.join("wit/gate.wit").is_file();
        let Some(root) = start.ancestors().find(is_root) else {
            bail!(
                "{} is not inside the ralph-gate checkout: start `cargo xtask` from there",
                start.display()
            );
        };
        Ok(Self {
            root: root.to_path_buf(),
            target: target(root)?,
        })
    }

    /// The top folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path inside the checkout.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Where cargo builds to.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// The version of a package that the lock file pins.
    pub(crate) fn locked_version(&self, name: &str) -> Result<String> {
        let lock = fs::read_to_string(self.path("Cargo.lock"))?;
        let named = format!("name = \"{name}\"");
        let mut lines = lock.lines().skip_while(|line| *line != named);
        let version = lines.nth(1).and_then(|line| line.split('"').nth(1));
        version
            .map(str::to_owned)
            .with_context(|| format!("Cargo.lock names no {name}"))
    }

    /// `cargo` with the arguments, in the top folder.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let mut command = cargo();
        command.current_dir(&self.root).args(args);
        if in_ci() {
            // Nothing is compiled again there.
            command.env("CARGO_INCREMENTAL", "0");
        }
        command
    }

    /// Any other program, in the top folder.
    pub(crate) fn program(&self, name: &str, args: &[&str]) -> Command {
        let mut command = Command::new(name);
        command.current_dir(&self.root).args(args);
        command
    }
}

/// Where cargo builds to: its environment and its own settings have a say.
fn target(root: &Path) -> Result<PathBuf> {
    let mut cargo = cargo();
    let args = ["metadata", "--format-version", "1", "--no-deps"];
    let text = process::capture(cargo.current_dir(root).args(args))?;
    let metadata: Value = serde_json::from_str(&text)?;
    let folder = metadata.get("target_directory").and_then(Value::as_str);
    Ok(folder.context("cargo names no target folder")?.into())
}

/// The cargo that started this program, without what it told this program about itself.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Whether this is continuous integration, where nothing may be left out.
pub(crate) fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| value == "true" || value == "1")
}
