//! Packages that tests need: installed into the build folder from what pins them, and again when that changes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::process;
use crate::workspace::Workspace;

/// What npm reads.
const OF_NPM: &[&str] = &["package.json", "package-lock.json", ".npmrc"];
/// What pip reads.
const OF_PIP: &[&str] = &["requirements.txt"];
/// Holds the digest of what was installed last.
const STAMP: &str = "installed";
/// The oldest Node.js that packages are run in.
const OLDEST_NODE: u32 = 20;
/// The oldest Python that packages are run in.
const OLDEST_PYTHON: (u32, u32) = (3, 9);

/// Where packages are pinned, and where they are installed.
pub(crate) struct Place {
    source: PathBuf,
    target: PathBuf,
    /// What the installer reads.
    files: &'static [&'static str],
    /// What it leaves behind: without it nothing is installed.
    product: &'static str,
}

impl Place {
    /// For packages of npm.
    pub(crate) fn of_npm(source: PathBuf, target: PathBuf) -> Self {
        Self {
            source,
            target,
            files: OF_NPM,
            product: "node_modules",
        }
    }

    /// For packages of Python, in a virtual environment of their own.
    pub(crate) fn of_python(source: PathBuf, target: PathBuf) -> Self {
        Self {
            source,
            target,
            files: OF_PIP,
            product: "venv/bin/python",
        }
    }

    /// For wheels of Python that are kept, to be installed without the network.
    pub(crate) fn of_wheels(source: PathBuf, target: PathBuf) -> Self {
        Self {
            source,
            target,
            files: OF_PIP,
            product: "wheels",
        }
    }

    /// Installs what is pinned, unless that is what was installed last. Gives why it was not possible.
    fn ensure(&self, install: impl FnOnce(&Path) -> Result<()>) -> Result<Option<String>> {
        let digest = self.digest()?;
        if self.installed().as_deref() == Some(digest.as_str()) {
            return Ok(None);
        }
        self.prepare()?;
        if let Err(error) = install(&self.target) {
            return Ok(Some(format!("{error:#}")));
        }
        fs::write(self.target.join(STAMP), digest)?;
        Ok(None)
    }

    /// Of everything that the installer reads, and of where it installs: scripts of Python name their folder, which may be moved.
    fn digest(&self) -> Result<String> {
        let mut hasher = blake3::Hasher::new();
        let target = std::path::absolute(&self.target)?;
        hasher.update(target.as_os_str().as_encoded_bytes());
        for name in self.files {
            let text = read(&self.source.join(name))?;
            hasher.update(&text.len().to_le_bytes()).update(&text);
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// The digest of what is installed.
    fn installed(&self) -> Option<String> {
        let is_there = self.target.join(self.product).exists();
        let stamp = fs::read_to_string(self.target.join(STAMP)).ok();
        stamp.filter(|_| is_there)
    }

    /// Copies what the installer reads. From now on nothing counts as installed.
    fn prepare(&self) -> Result<()> {
        fs::create_dir_all(&self.target)?;
        let stamp = self.target.join(STAMP);
        if stamp.exists() {
            fs::remove_file(stamp)?;
        }
        for name in self.files {
            fs::write(self.target.join(name), read(&self.source.join(name))?)?;
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("{} can't be read", path.display()))
}

/// Installs packages of npm, and says so. Gives why it was not possible.
pub(crate) fn npm(workspace: &Workspace, place: &Place, contents: &str) -> Result<Option<String>> {
    if let Some(reason) = without_node(workspace) {
        return Ok(Some(reason));
    }
    place.ensure(|folder| {
        println!("    npm ci: {contents}, into the build folder");
        let mut npm = workspace.program("npm", &["ci", "--ignore-scripts"]);
        process::run(npm.current_dir(folder))
    })
}

/// Installs packages of Python, and says so. Gives why it was not possible.
pub(crate) fn python(
    workspace: &Workspace,
    place: &Place,
    contents: &str,
) -> Result<Option<String>> {
    if let Some(reason) = without_python(workspace) {
        return Ok(Some(reason));
    }
    place.ensure(|folder| {
        println!("    pip install: {contents}, into the build folder");
        let mut venv = workspace.program("python3", &["-m", "venv", "--clear", "venv"]);
        process::run(venv.current_dir(folder))
            .context("python3 can't make a virtual environment; install its `venv` with your package manager")?;
        let mut pip = std::process::Command::new(folder.join(place.product));
        pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet"]);
        process::run(pip.args(["--requirement", "requirements.txt"]).current_dir(folder))
    })
}

/// Downloads wheels with the pip of a Python. Gives why it was not possible.
pub(crate) fn wheels(python: &Path, place: &Place) -> Result<Option<String>> {
    place.ensure(|folder| {
        let wheels = folder.join(place.product);
        if wheels.exists() {
            fs::remove_dir_all(&wheels)?;
        }
        let mut pip = std::process::Command::new(python);
        pip.args([
            "-m",
            "pip",
            "download",
            "--disable-pip-version-check",
            "--quiet",
        ]);
        pip.args(["--no-deps", "--requirement", "requirements.txt", "--dest"]);
        process::run(pip.arg(wheels).current_dir(folder))
    })
}

/// Why packages of npm can't be run here.
fn without_node(workspace: &Workspace) -> Option<String> {
    for program in ["node", "npm"] {
        if !process::succeeds(&mut workspace.program(program, &["--version"])) {
            return Some(format!(
                "{program} is not installed; install Node.js {OLDEST_NODE} or later with your package manager"
            ));
        }
    }
    let version = process::capture(&mut workspace.program("node", &["--version"])).ok()?;
    let (major, _) = version_in(version.trim().strip_prefix('v')?)?;
    (major < OLDEST_NODE).then(|| {
        let version = version.trim();
        format!("Node.js is {version}, and must be {OLDEST_NODE} or later")
    })
}

/// Why packages of Python can't be run here.
fn without_python(workspace: &Workspace) -> Option<String> {
    let (major, minor) = OLDEST_PYTHON;
    let Ok(version) = process::capture(&mut workspace.program("python3", &["--version"])) else {
        return Some(format!(
            "python3 is not installed; install Python {major}.{minor} or later with your package manager"
        ));
    };
    let found = version_in(version.trim().strip_prefix("Python ")?)?;
    (found < OLDEST_PYTHON).then(|| {
        format!(
            "{} is too old: {major}.{minor} or later is needed",
            version.trim()
        )
    })
}

/// `20` and `1` of `20.1.0`.
fn version_in(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    fn place(folder: &Path) -> Place {
        let place = Place::of_npm(folder.join("source"), folder.join("target"));
        fs::create_dir_all(&place.source).unwrap();
        for name in OF_NPM {
            fs::write(place.source.join(name), "{}").unwrap();
        }
        place
    }

    /// Whether the installer was started.
    fn installs(place: &Place) -> bool {
        let mut started = false;
        let reason = place.ensure(|folder| {
            started = true;
            Ok(fs::create_dir_all(folder.join("node_modules"))?)
        });
        assert_eq!(reason.unwrap(), None);
        started
    }

    #[test]
    fn what_is_installed_counts_until_the_lock_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        assert!(installs(&place));
        assert!(!installs(&place));
        fs::write(place.source.join("package-lock.json"), "{ }").unwrap();
        assert!(installs(&place));
        let copy = fs::read_to_string(place.target.join("package-lock.json"));
        assert_eq!(copy.unwrap(), "{ }");
    }

    #[test]
    fn an_installation_that_was_interrupted_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        assert!(installs(&place));
        fs::write(place.source.join("package.json"), "{ }").unwrap();
        let reason = place.ensure(|_| bail!("no network")).unwrap();
        assert_eq!(reason.as_deref(), Some("no network"));
        fs::write(place.source.join("package.json"), "{}").unwrap();
        assert!(installs(&place));
    }

    #[test]
    fn packages_that_were_removed_are_installed_again() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        assert!(installs(&place));
        fs::remove_dir(place.target.join("node_modules")).unwrap();
        assert!(installs(&place));
    }

    #[test]
    fn packages_that_were_moved_are_installed_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut place = place(folder.path());
        assert!(installs(&place));
        let moved = folder.path().join("moved");
        fs::rename(&place.target, &moved).unwrap();
        place.target = moved;
        assert!(installs(&place));
        assert!(!installs(&place));
    }

    #[test]
    fn versions_are_read_up_to_their_second_number() {
        assert_eq!(version_in("20.20.2"), Some((20, 20)));
        assert_eq!(version_in("3.9"), Some((3, 9)));
        assert_eq!(version_in("20"), None);
        assert!(version_in("3.11.7") > Some(OLDEST_PYTHON));
    }
}
