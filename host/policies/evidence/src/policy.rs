//! A shipped policy: what it says of itself and how it judges.

use crate::settings::schema;
use crate::{Artifacts, Evidence, Judgement, Setting, Settings};

/// The most bytes of a text that a policy parses.
pub const LONGEST_TEXT: usize = 64 << 10;

/// A policy that judges by a text in its settings.
pub trait Policy {
    /// For people.
    const NAME: &'static str;
    /// One sentence: what it checks.
    const SUMMARY: &'static str;
    /// What it can be told.
    const SETTINGS: &'static [Setting];

    /// Judges the evidence, with settings that fit.
    fn judge(evidence: &Evidence, artifacts: &dyn Artifacts, settings: &Settings) -> Judgement;

    /// Judges the evidence. Settings that don't fit are `unknown`.
    fn evaluate(evidence: &Evidence, artifacts: &dyn Artifacts, settings: &str) -> Judgement {
        match Settings::read(Self::SETTINGS, settings) {
            Ok(settings) => Self::judge(evidence, artifacts, &settings),
            Err(error) => Judgement::unknown(error),
        }
    }

    /// The JSON Schema of the settings.
    fn schema() -> String {
        schema(Self::SETTINGS)
    }
}
