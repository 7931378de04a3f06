//! What decodes OTLP in the tests: the protobuf classes of the OpenTelemetry project, installed into the build folder.

use anyhow::Result;

use crate::install::{self, Place};
use crate::setup::Skip;
use crate::workspace::Workspace;

/// The test target that needs it.
pub(crate) const TARGET: &str = "telemetry";

/// Installs it where it is not, or not as it is pinned. Gives why that was not possible.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Option<Skip>> {
    let source = workspace.path("tests/telemetry");
    let place = Place::of_python(source, workspace.target().join(TARGET));
    let contents = "opentelemetry-proto and protobuf, 20 MB on the disk";
    let reason = install::python(workspace, &place, contents)?;
    Ok(reason.map(|reason| Skip {
        name: TARGET.to_owned(),
        reason,
    }))
}
