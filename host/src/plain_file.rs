//! Reads plain files by path, where an agent may have put something else.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Why a file can't be read.
#[derive(Debug)]
pub(crate) enum Unreadable {
    Missing,
    /// A folder, a pipe, a device.
    NotPlain,
    TooLarge {
        size: u64,
        limit: u64,
    },
    Failed(io::Error),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it is not there"),
            Self::NotPlain => f.write_str("it is not a plain file"),
            Self::TooLarge { size, limit } => {
                write!(f, "it has {size} bytes; at most {limit} are read")
            }
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::Missing,
            _ => Self::Failed(error),
        }
    }
}

/// What a file has from a place on, and at most so much of it. Nothing if it ends before.
pub(crate) fn read_on(path: &Path, from: u64, most: u64) -> Result<Vec<u8>, Unreadable> {
    let (mut file, _) = open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A plain file, or one that a link leads to, and how many bytes it has. Nothing else is waited for.
pub(crate) fn open(path: &Path) -> Result<(File, u64), Unreadable> {
    // A pipe would wait for a writer.
    let file = File::options()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(Unreadable::NotPlain);
    }
    Ok((file, metadata.len()))
}

/// All of a plain file, or of one that a link leads to, if it is not too large.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Unreadable> {
    let (file, size) = open(path)?;
    if size > limit {
        return Err(Unreadable::TooLarge { size, limit });
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_file_of_some_size_is_read_and_a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "four").unwrap();
        std::os::unix::fs::symlink("file", path("link")).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            mode,
            0,
        )
        .unwrap();
        let read = |name: &str, limit| {
            let read = read(&path(name), limit);
            read.map_err(|error| error.to_string())
        };
        assert_eq!(read("file", 4), Ok(b"four".to_vec()));
        let on = |from, most| read_on(&path("file"), from, most).unwrap();
        assert_eq!(
            (on(1, 2), on(2, 9), on(5, 9)),
            (b"ou".to_vec(), b"ur".to_vec(), vec![])
        );
        assert_eq!(read("link", 4), Ok(b"four".to_vec()));
        let too_large = "it has 4 bytes; at most 3 are read".to_owned();
        assert_eq!(read("file", 3), Err(too_large));
        for (name, reason) in [
            ("pipe", "it is not a plain file"),
            (".", "it is not a plain file"),
            ("none", "it is not there"),
        ] {
            assert_eq!(read(name, 4), Err(reason.to_owned()), "{name}");
        }
    }
}
