//! Folders that can't be written, and disks that are full.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use anyhow::{Context as _, Result, bail, ensure};
use ralph_gate::memory::{Patience, Standing, View};
use tempfile::TempDir;

use crate::tally::Tally;
use crate::worker::{change, key, open};
use crate::{Options, gate};

/// A user with no rights.
const NOBODY: &str = "65534";

pub(crate) fn run(options: &Options) -> Tally {
    let mut tally = Tally::new("no room and no rights");
    let mut note = |name: &str, result: Result<()>| {
        tally.calls(name, 1);
        tally.run(name, true, true);
        if let Err(error) = result {
            tally.violations.push(format!("{name}: {error:#}"));
        }
    };
    note("read-only folder", read_only());
    for _ in 0..options.disks {
        note("full disk of 1 MiB", full_disk());
    }
    tally
}

/// A copy of this program where everybody can start it.
fn program(folder: &Path) -> Result<String> {
    let program = folder.join("memory-crash");
    fs::copy(std::env::current_exe()?, &program)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    Ok(program.display().to_string())
}

/// As a user without rights; the superuser may write everywhere.
fn unprivileged(program: &str, arguments: &[&str]) -> Result<Output> {
    let mut command = if rustix::process::geteuid().is_root() {
        let mut setpriv = Command::new("setpriv");
        setpriv.args([
            "--reuid",
            NOBODY,
            "--regid",
            NOBODY,
            "--clear-groups",
            program,
        ]);
        setpriv
    } else {
        Command::new(program)
    };
    command
        .args(arguments)
        .output()
        .context("a user without rights")
}

fn read_only() -> Result<()> {
    let folder = TempDir::new()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    let program = program(folder.path())?;
    let workspace = folder.path().join("workspace");
    fs::create_dir(&workspace)?;
    fs::set_permissions(&workspace, fs::Permissions::from_mode(0o555))?;
    let root = workspace.join(".ralph");
    let output = unprivileged(&program, &["work", &root.display().to_string(), "1"])?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(1), "{output:?}");
    ensure!(
        said.contains(".ralph can't be written: Permission denied"),
        "unclear: {said}"
    );
    ensure!(!root.exists(), "something was made");
    println!("  read-only folder: {}", said.trim_end());
    Ok(())
}

/// In a name space of its own, in which the disk can be mounted without rights.
fn full_disk() -> Result<()> {
    let folder = TempDir::new()?;
    let program = program(folder.path())?;
    let disk = folder.path().join("disk");
    fs::create_dir(&disk)?;
    let script = "mount -t tmpfs -o size=1m tmpfs \"$1\" && exec \"$2\" fill \"$1/.ralph\"";
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", script, "sh"])
        .arg(&disk)
        .arg(&program)
        .output()
        .context("unshare")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "{output:?}");
    println!("  full disk: {}", said.trim_end());
    Ok(())
}

/// Saves until the disk is full, looks, makes room and goes on.
pub(crate) fn fill(root: &Path) -> Result<ExitCode> {
    let mut store = open(root, Patience::None)?;
    let filler = root.with_extension("filler");
    fs::write(&filler, vec![0; 600 * 1024])?;
    let mut saved = 0;
    let error = loop {
        match store.save(&change(store.state().revision + 1)) {
            Ok(_) => saved += 1,
            Err(error) => break error,
        }
        if saved > 10_000 {
            bail!("the disk never was full");
        }
    };
    let before = store.state().revision;
    // Once more: it fails again, and changes nothing.
    ensure!(
        store.save(&change(before + 1)).is_err(),
        "there was room after all"
    );
    drop(store);
    let read = View::open(root, &key())?.read(gate())?;
    ensure!(
        read.state.revision == before,
        "{} instead of {before}",
        read.state.revision
    );
    fs::remove_file(&filler)?;
    let mut store = open(root, Patience::None)?;
    ensure!(store.state().revision == before, "lost {before}");
    store.save(&change(before + 1))?;
    drop(store);
    let standing = View::open(root, &key())?.verify(gate())?;
    ensure!(
        standing.standing() == Standing::Right,
        "{:?}",
        standing.files
    );
    let text = format!(
        "{saved} saves, then \"{error}; {}\"; with room again everything is right\n",
        error.help()
    );
    std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
