//! Opens a transcript without waiting for anything.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::TranscriptError;

/// A pipe would wait for a writer, and a terminal would become ours.
const FLAGS: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// A plain file, or one that a link leads to.
pub(super) fn open(path: &Path) -> Result<File, TranscriptError> {
    let failed = |error: std::io::Error| {
        let path = path.to_owned();
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => TranscriptError::Missing { path },
            // A socket, or a device that nothing is behind.
            _ if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                TranscriptError::NotPlain { path }
            }
            _ => TranscriptError::Failed { path, error },
        }
    };
    let file = File::options()
        .read(true)
        .custom_flags(FLAGS.bits().cast_signed())
        .open(path)
        .map_err(failed)?;
    if file.metadata().map_err(failed)?.is_file() {
        Ok(file)
    } else {
        Err(TranscriptError::NotPlain { path: path.into() })
    }
}
