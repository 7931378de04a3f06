//! What builds the templates of policies that are not in Rust, for the tests: installed into the build folder.

use std::path::PathBuf;

use anyhow::Result;

use crate::install::{self, Place};
use crate::setup::Skip;
use crate::workspace::Workspace;

/// A toolchain that is pinned below `tests/policies`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// componentize-qjs, with npm.
    Npm,
    /// componentize-py, with pip.
    Python,
}

impl Toolchain {
    pub(crate) const ALL: [Self; 2] = [Self::Npm, Self::Python];

    fn folder(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Python => "python",
        }
    }

    /// What it leaves in a project that it is installed into: where that is here, and its name there.
    pub(crate) fn installed(self, workspace: &Workspace) -> (PathBuf, &'static str) {
        let (folder, name) = match self {
            Self::Npm => ("node_modules", "node_modules"),
            Self::Python => ("venv", ".venv"),
        };
        (self.target(workspace).join(folder), name)
    }

    fn target(self, workspace: &Workspace) -> PathBuf {
        workspace.target().join("policies").join(self.folder())
    }
}

/// Installs a toolchain where it is not, or not as it is pinned. Gives why that was not possible.
pub(crate) fn ensure(workspace: &Workspace, toolchain: Toolchain) -> Result<Option<Skip>> {
    let source = workspace.path("tests/policies").join(toolchain.folder());
    let target = toolchain.target(workspace);
    let (name, reason) = match toolchain {
        Toolchain::Npm => {
            let contents = "componentize-qjs, 40 MB on the disk";
            let place = Place::of_npm(source, target);
            let reason = install::npm(workspace, &place, contents)?;
            ("policies in JavaScript", reason)
        }
        Toolchain::Python => {
            let contents = "componentize-py, 70 MB on the disk";
            let place = Place::of_python(source, target);
            let reason = install::python(workspace, &place, contents)?;
            ("policies in Python", reason)
        }
    };
    Ok(reason.map(|reason| Skip {
        name: name.to_owned(),
        reason,
    }))
}
