//! The agent clients that tests drive: installed by npm from a lock file, into the build folder.

use anyhow::Result;

use crate::install::{self, Place};
use crate::setup::Skip;
use crate::workspace::Workspace;

/// Clients that are installed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clients {
    /// Claude Code in two versions, Codex, Copilot and Gemini.
    Usual,
    /// opencode, apart because of its size.
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

    /// The folders that pin them, and what is installed from each.
    fn packages(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Usual => &[
                (
                    "npm",
                    "Claude Code, Codex, Copilot and Gemini CLI, 1.3 GB on the disk",
                ),
                ("npm-claude-code", "an old Claude Code, 82 MB on the disk"),
            ],
            Self::Opencode => &[("npm-opencode", "opencode, 180 MB on the disk")],
        }
    }
}

/// Installs clients where they are not, or not as the lock file has them. Gives why that was not possible.
pub(crate) fn ensure(workspace: &Workspace, clients: Clients) -> Result<Option<Skip>> {
    let mut reason = is_elsewhere(clients).then(|| "its package is for Linux on x86-64".to_owned());
    for (folder, contents) in clients.packages() {
        if reason.is_some() {
            break;
        }
        let place = Place::of_npm(
            workspace.path("tests/clients").join(folder),
            workspace.target().join("clients").join(folder),
        );
        reason = install::npm(workspace, &place, contents)?;
    }
    Ok(reason.map(|reason| Skip {
        name: clients.target().to_owned(),
        reason,
    }))
}

/// Whether clients run on other systems only.
fn is_elsewhere(clients: Clients) -> bool {
    clients == Clients::Opencode && !cfg!(all(target_os = "linux", target_arch = "x86_64"))
}
