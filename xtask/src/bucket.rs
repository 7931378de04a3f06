//! What sessions in a bucket are tested with: moto, a server of S3, installed by pip into the build folder.

use anyhow::Result;

use crate::install::{self, Place};
use crate::setup::Skip;
use crate::workspace::Workspace;

/// The test target that needs it.
pub(crate) const TARGET: &str = "bucket";

/// Installs the server where it is not, or not as it is pinned. Gives why that was not possible.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Option<Skip>> {
    let source = workspace.path("tests/bucket");
    let place = Place::of_python(source, workspace.target().join(TARGET));
    let contents = "moto and waitress, 140 MB on the disk";
    let reason = install::python(workspace, &place, contents)?;
    Ok(reason.map(|reason| Skip {
        name: TARGET.to_owned(),
        reason,
    }))
}
