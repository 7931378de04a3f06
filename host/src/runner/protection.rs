//! What protects the tests of a loop, and what is weak about it.

use super::RunError;
use crate::config::{Config, Terms, catalogue};
use crate::engine::Problem;
use crate::worktree::{Baseline, Taken};

/// The protected files as they are now.
pub(super) struct ProtectionReport {
    pub(super) taken: Taken,
    /// The check that counts tests, where none of the protected files is a test.
    pub(super) unprotected: Option<String>,
    /// What an operator should know, with paths in the configuration.
    pub(super) warnings: Vec<Problem>,
}

impl ProtectionReport {
    /// Looks at the files that the tripwires name.
    pub(super) fn look(
        config: &Config,
        terms: &Terms,
        excluded: &[String],
    ) -> Result<Self, RunError> {
        let protection = config.tripwires.protection();
        let taken = Baseline::take(&config.workspace, &protection, excluded)?;
        // Of those that are known to mean something nobody expects that they are there.
        let unmatched = taken.unmatched.iter();
        let unmatched = unmatched.filter(|pattern| !catalogue::is_known(pattern));
        let mut warnings: Vec<Problem> = unmatched
            .map(|pattern| Problem {
                path: path_of(config, pattern),
                line: 0,
                column: 0,
                message: format!("the protected path {pattern} matches no file"),
                help: None,
            })
            .collect();
        let unprotected = unprotected_check(config, terms, &taken.baseline).map(str::to_owned);
        // Where no file is protected at all, routing says so.
        if let Some(check) = unprotected.as_ref().filter(|_| !protection.is_empty()) {
            warnings.push(Problem {
                path: format!("checks.{check}"),
                line: 0,
                column: 0,
                message: format!(
                    "an agent can make {check} pass by changing its tests: no protected file is a test by its name"
                ),
                help: Some("list the test files in [tripwires] as `frozen`".to_owned()),
            });
        }
        Ok(Self {
            taken,
            unprotected,
            warnings,
        })
    }
}

/// The check that counts tests, where none of the protected files is a test.
pub(super) fn unprotected_check<'t>(
    config: &Config,
    terms: &'t Terms,
    protected: &Baseline,
) -> Option<&'t str> {
    let check = config.counted_tests(terms)?;
    let patterns = catalogue::tests_among(&config.tripwires.frozen);
    let is_protected = protected.holds(&patterns).unwrap_or_default();
    (!is_protected).then_some(check)
}

/// Where a pattern is in the configuration.
fn path_of(config: &Config, pattern: &str) -> String {
    let tripwires = &config.tripwires;
    let lists = [
        ("protected_paths", &tripwires.protected_paths),
        ("frozen", &tripwires.frozen),
    ];
    let found = lists.iter().find_map(|(name, patterns)| {
        let index = patterns.iter().position(|known| known == pattern)?;
        Some(format!("tripwires.{name}[{index}]"))
    });
    found.unwrap_or_else(|| format!("tripwires.frozen_parts.{pattern}"))
}
