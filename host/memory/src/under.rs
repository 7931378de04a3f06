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
