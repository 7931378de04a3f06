//! How much is read, at most.

/// The most entries of a folder tree, of an index or of a commit.
pub const ENTRY_LIMIT: usize = 1_000_000;

/// The most folders inside each other.
pub const DEPTH_LIMIT: usize = 200;

/// The largest file that git is asked about, in bytes; a file that git ignores may be larger.
pub const FILE_LIMIT: u64 = 1 << 30;

/// The largest of the files by which git is steered, such as its index, in bytes.
pub(super) const CONTROL_LIMIT: u64 = 256 << 20;

/// How much content of changed files is taken into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentLimits {
    /// So many files.
    pub files: usize,
    /// So many bytes of one file: a larger one has no content.
    pub file_bytes: u64,
    /// So many bytes of all files: one that would go beyond has no content.
    pub total_bytes: u64,
}

impl Default for ContentLimits {
    fn default() -> Self {
        Self {
            files: 1_000,
            file_bytes: 1 << 20,
            total_bytes: 16 << 20,
        }
    }
}
