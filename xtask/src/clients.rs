//! The agent clients that tests drive: installed by npm from a lock file, into the build folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::process;
use crate::setup::Skip;
use crate::workspace::Workspace;

/// What npm reads.
const FILES: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];
/// Holds the digest of what was installed last.
const STAMP: &str = "installed";
/// The oldest Node.js that the clients run in.
const OLDEST_NODE: u32 = 20;

/// Clients that are installed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clients {
    /// Codex and Gemini.
    Usual,
    /// opencode, which is as large as both.
    Opencode,
}

impl Clients {
    /// The test target that drives them.
    pub(crate) fn target(self) -> &'static str {
        match self {
            Self::Usual => "clients",
            Self::Opencode => "opencode",
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Self::Usual => "npm",
            Self::Opencode => "npm-opencode",
        }
    }

    fn contents(self) -> &'static str {
        match self {
            Self::Usual => "Codex and Gemini CLI, 540 MB on the disk",
            Self::Opencode => "opencode, 180 MB on the disk",
        }
    }
}

/// Installs clients where they are not, or not as the lock file has them. Gives why that was not possible.
pub(crate) fn ensure(workspace: &Workspace, clients: Clients) -> Result<Option<Skip>> {
    let skip = |reason: String| {
        Ok(Some(Skip {
            name: clients.target().to_owned(),
            reason,
        }))
    };
    if let Some(reason) = unfit(workspace, clients) {
        return skip(reason);
    }
    let place = Place {
        source: workspace.path("tests/clients").join(clients.folder()),
        target: workspace.target().join("clients").join(clients.folder()),
    };
    let digest = place.digest()?;
    if place.installed().as_deref() == Some(digest.as_str()) {
        return Ok(None);
    }
    place.prepare()?;
    println!("    npm ci: {}, into the build folder", clients.contents());
    let mut npm = workspace.program("npm", &["ci", "--ignore-scripts"]);
    match process::run(npm.current_dir(&place.target)) {
        Err(error) => skip(format!("{error:#}")),
        Ok(()) => {
            fs::write(place.target.join(STAMP), digest)?;
            Ok(None)
        }
    }
}

/// Why clients can't run here.
fn unfit(workspace: &Workspace, clients: Clients) -> Option<String> {
    if clients == Clients::Opencode && !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("its package is for Linux on x86-64".to_owned());
    }
    for program in ["node", "npm"] {
        if !process::succeeds(&mut workspace.program(program, &["--version"])) {
            return Some(format!(
                "{program} is not installed; install Node.js {OLDEST_NODE} or later with your package manager"
            ));
        }
    }
    let version = process::capture(&mut workspace.program("node", &["--version"])).ok()?;
    (major(&version)? < OLDEST_NODE).then(|| {
        let version = version.trim();
        format!("Node.js is {version}; the clients need {OLDEST_NODE} or later")
    })
}

/// `20` of `v20.1.0`.
fn major(version: &str) -> Option<u32> {
    version
        .trim()
        .strip_prefix('v')?
        .split('.')
        .next()?
        .parse()
        .ok()
}

/// Where clients are described, and where they are installed.
struct Place {
    source: PathBuf,
    target: PathBuf,
}

impl Place {
    /// Of everything that npm reads.
    fn digest(&self) -> Result<String> {
        let mut hasher = blake3::Hasher::new();
        for name in FILES {
            let text = read(&self.source.join(name))?;
            hasher.update(&text.len().to_le_bytes()).update(&text);
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// The digest of what is installed.
    fn installed(&self) -> Option<String> {
        let is_there = self.target.join("node_modules").is_dir();
        let stamp = fs::read_to_string(self.target.join(STAMP)).ok();
        stamp.filter(|_| is_there)
    }

    /// Copies what npm reads. From now on nothing counts as installed.
    fn prepare(&self) -> Result<()> {
        fs::create_dir_all(&self.target)?;
        let stamp = self.target.join(STAMP);
        if stamp.exists() {
            fs::remove_file(stamp)?;
        }
        for name in FILES {
            fs::write(self.target.join(name), read(&self.source.join(name))?)?;
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("{} can't be read", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &Path) -> Place {
        let place = Place {
            source: folder.join("source"),
            target: folder.join("target"),
        };
        fs::create_dir_all(&place.source).unwrap();
        for name in FILES {
            fs::write(place.source.join(name), "{}").unwrap();
        }
        place
    }

    fn install(place: &Place) {
        place.prepare().unwrap();
        fs::create_dir_all(place.target.join("node_modules")).unwrap();
        fs::write(place.target.join(STAMP), place.digest().unwrap()).unwrap();
    }

    #[test]
    fn what_is_installed_counts_until_the_lock_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        assert_eq!(place.installed(), None);
        install(&place);
        assert_eq!(place.installed(), place.digest().ok());
        fs::write(place.source.join("package-lock.json"), "{ }").unwrap();
        assert_ne!(place.installed(), place.digest().ok());
    }

    #[test]
    fn an_installation_that_was_interrupted_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        install(&place);
        place.prepare().unwrap();
        assert_eq!(place.installed(), None);
    }

    #[test]
    fn the_major_version_of_node_is_read() {
        assert_eq!(major("v20.20.2\n"), Some(20));
        assert_eq!(major("20"), None);
    }
}
