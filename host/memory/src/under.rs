//! What a loop runs under: where its request was routed, and which gate judges it. Each line of the event log says it.

use ralph_gate_types::{Enforcement, Mode};
use serde::{Deserialize, Serialize};

/// Where a loop's request was routed. Set when it begins, and again when it goes on: another contract may come with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Under {
    /// Where the gate sent the request.
    pub mode: Mode,
    /// The profile that was applied.
    pub profile: Option<String>,
    /// Whether verdicts bind.
    pub enforcement: Enforcement,
    /// How much of what happens is recorded.
    #[serde(default, skip_serializing_if = "Recording::is_full")]
    pub record: Recording,
}

/// How much of what happens goes into the event log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recording {
    /// All of it: every verdict can be replayed.
    #[default]
    Full,
    /// Digests and lengths in place of texts: what an agent said, was told and left behind stays private, and no verdict
    /// can be replayed. What a loop needs to go on is in the checkpoints.
    DigestOnly,
}

impl Recording {
    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde asks with a reference"
    )]
    fn is_full(&self) -> bool {
        *self == Self::Full
    }
}

/// `run` of a line: what the loop ran under when the line was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Where the gate sent the request.
    pub mode: Mode,
    /// The profile that was applied.
    pub profile: Option<String>,
    /// Whether verdicts bind.
    pub enforcement: Enforcement,
    /// The BLAKE3 digest of the gate's component, if whoever wrote the line knew it.
    pub gate: Option<String>,
}

impl RunRecord {
    /// What a line says that is written now.
    pub(super) fn new(under: &Under, gate: Option<&str>) -> Self {
        Self {
            mode: under.mode,
            profile: under.profile.clone(),
            enforcement: under.enforcement,
            gate: gate.map(str::to_owned),
        }
    }
}
