//! Who writes to a session, as the file `lock` says it. For people: the lock itself is the system's.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who writes to a session.
///
/// ```
/// use ralph_gate_memory::Holder;
///
/// let holder = Holder { process: Some(7), program: Some("node".into()), since: Some(100), seen: None };
/// assert_eq!(holder.text(), "{\"process\":7,\"program\":\"node\",\"since\":100}\n");
/// assert_eq!(Holder::read(&holder.text(), Some(103)).to_string(), "process 7 (node), for 3 s");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub process: Option<u32>,
    /// What it was started as.
    #[serde(default)]
    pub program: Option<String>,
    /// Since when, in seconds since 1970.
    #[serde(default)]
    pub since: Option<u64>,
    /// When the file was read, in seconds since 1970.
    #[serde(skip)]
    pub seen: Option<u64>,
}

impl Holder {
    /// The content of the lock file.
    pub fn text(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        format!("{text}\n")
    }

    /// Reads a lock file. What is not a holder is somebody whom nothing is known about.
    pub fn read(text: &str, now: Option<u64>) -> Self {
        let holder: Self = serde_json::from_str(text).unwrap_or_default();
        Self {
            seen: now,
            ..holder
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            None => f.write_str("another process"),
            Some(process) => write!(f, "process {process}"),
        }?;
        if let Some(program) = &self.program {
            write!(f, " ({program})")?;
        }
        match (self.since, self.seen) {
            (Some(since), Some(seen)) if seen >= since => write!(f, ", for {} s", seen - since),
            _ => Ok(()),
        }
    }
}
