//! What the statistics of reports are compared with: SciPy and statsmodels, installed by pip into the build folder.

use anyhow::Result;

use crate::install::{self, Place};
use crate::setup::Skip;
use crate::workspace::Workspace;

/// The test target that compares.
pub(crate) const TARGET: &str = "statistics";

/// Installs the packages where they are not, or not as they are pinned. Gives why that was not possible.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Option<Skip>> {
    let place = Place::of_python(
        workspace.path("tests/statistics/python"),
        workspace.target().join("statistics"),
    );
    let contents = "SciPy and statsmodels, 400 MB on the disk";
    let reason = install::python(workspace, &place, contents)?;
    Ok(reason.map(|reason| Skip {
        name: TARGET.to_owned(),
        reason,
    }))
}
