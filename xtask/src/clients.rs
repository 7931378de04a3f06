//! The agent clients that tests drive: installed by npm from a lock file, into the build folder.

use anyhow::Result;

use crate::install::{self, Place};
use crate::setup::Skip;
use crate::workspace::Workspace;

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
    let reason = if is_elsewhere(clients) {
        Some("its package is for Linux on x86-64".to_owned())
    } else {
        let place = Place::of_npm(
            workspace.path("tests/clients").join(clients.folder()),
            workspace.target().join("clients").join(clients.folder()),
        );
        install::npm(workspace, &place, clients.contents())?
    };
    Ok(reason.map(|reason| Skip {
        name: clients.target().to_owned(),
        reason,
    }))
}

/// Whether clients run on other systems only.
fn is_elsewhere(clients: Clients) -> bool {
    clients == Clients::Opencode && !cfg!(all(target_os = "linux", target_arch = "x86_64"))
}
