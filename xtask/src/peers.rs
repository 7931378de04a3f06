//! What tests compare with or are asked by, installed by pip and npm into the build folder, as it is pinned beside each
//! test.

use anyhow::Result;

use crate::install::{self, Place};
use crate::setup::Skip;
use crate::workspace::Workspace;

/// Packages of Python that one test target needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    /// The test target.
    pub(crate) target: &'static str,
    /// Where its `requirements.txt` is.
    source: &'static str,
    /// What is installed, for people.
    contents: &'static str,
}

/// What the statistics of reports are compared with.
pub(crate) const STATISTICS: Peer = Peer {
    target: "statistics",
    source: "tests/statistics/python",
    contents: "SciPy and statsmodels, 400 MB on the disk",
};

/// A server of S3, for sessions in a bucket.
pub(crate) const BUCKET: Peer = Peer {
    target: "bucket",
    source: "tests/bucket",
    contents: "moto and waitress, 140 MB on the disk",
};

/// A client that asks whatever an OpenAPI document allows, and more.
pub(crate) const OPENAPI: Peer = Peer {
    target: "openapi",
    source: "tests/openapi",
    contents: "Schemathesis, 80 MB on the disk",
};

/// What decodes OTLP: the protobuf classes of the OpenTelemetry project.
pub(crate) const TELEMETRY: Peer = Peer {
    target: "telemetry",
    source: "tests/telemetry",
    contents: "opentelemetry-proto and protobuf, 20 MB on the disk",
};

/// A test runner in Python, for fresh projects; [`runners`] installs those in JavaScript beside it.
pub(crate) const PROTECTION: Peer = Peer {
    target: "protection",
    source: "tests/protection",
    contents: "pytest, 20 MB on the disk",
};

/// Installs the test runners in JavaScript that [`PROTECTION`] needs too. Gives why that was not possible.
pub(crate) fn runners(workspace: &Workspace) -> Result<Option<Skip>> {
    let place = Place::of_npm(
        workspace.path(PROTECTION.source).join("npm"),
        workspace.target().join(PROTECTION.target).join("npm"),
    );
    let reason = install::npm(workspace, &place, "jest and vitest, 90 MB on the disk")?;
    Ok(reason.map(|reason| Skip {
        name: PROTECTION.target.to_owned(),
        reason,
    }))
}

impl Peer {
    /// Installs it where it is not, or not as it is pinned. Gives why that was not possible.
    pub(crate) fn ensure(&self, workspace: &Workspace) -> Result<Option<Skip>> {
        let target = workspace.target().join(self.target);
        let place = Place::of_python(workspace.path(self.source), target);
        let reason = install::python(workspace, &place, self.contents)?;
        Ok(reason.map(|reason| Skip {
            name: self.target.to_owned(),
            reason,
        }))
    }
}

/// The test target that reads what real test runners write.
pub(crate) const READERS: &str = "readers";

/// Installs the test runners whose reports are read. Gives why that was not possible.
pub(crate) fn ensure_readers(workspace: &Workspace) -> Result<Option<Skip>> {
    let folder = |name: &str| {
        let source = workspace.path("tests/readers").join(name);
        (source, workspace.target().join(READERS).join(name))
    };
    let (source, target) = folder("npm");
    let npm = Place::of_npm(source, target);
    let (source, target) = folder("python");
    let python = Place::of_python(source, target);
    let contents = "jest, vitest and mocha, 100 MB on the disk";
    let reason = match install::npm(workspace, &npm, contents)? {
        Some(reason) => Some(reason),
        None => install::python(workspace, &python, "pytest, 30 MB on the disk")?,
    };
    Ok(reason.map(|reason| Skip {
        name: READERS.to_owned(),
        reason,
    }))
}
