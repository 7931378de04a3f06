//! Which runs belong to an arm: `arm=ralph,task_class=bugfix`.

use std::fmt;

use crate::model::RunList;
use crate::run::Run;

/// Conditions that all have to hold. A name is a label's, or one of `client`, `contract`, `edited`, `ending`, `enforcement`, `gate`, `id`,
/// `mode`, `profile`, `source`, `task` and `task_class`.
///
/// ```
/// use ralph_gate_report::compare::Selection;
/// use ralph_gate_report::run::Run;
///
/// let selection: Selection = "enforcement=shadow,task_class!=docs".parse()?;
/// let run = Run { enforcement: Some("shadow".into()), ..Run::default() };
/// assert!(selection.matches(&run));
/// # Ok::<(), ralph_gate_report::compare::SelectionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    conditions: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    name: String,
    value: String,
    negated: bool,
}

/// Why a text is no selection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{part}` is no condition; write NAME=VALUE or NAME!=VALUE, several with commas between them"
)]
pub struct SelectionError {
    /// The part that is none.
    pub part: String,
}

impl std::str::FromStr for Selection {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Self, SelectionError> {
        let conditions = text.split(',').map(|part| {
            let wrong = || SelectionError {
                part: part.trim().to_owned(),
            };
            let (name, value) = part.split_once('=').ok_or_else(wrong)?;
            let (name, negated) = match name.strip_suffix('!') {
                Some(name) => (name.trim(), true),
                None => (name.trim(), false),
            };
            if name.is_empty() {
                return Err(wrong());
            }
            Ok(Condition {
                name: name.to_owned(),
                value: value.trim().to_owned(),
                negated,
            })
        });
        Ok(Self {
            conditions: conditions.collect::<Result<_, _>>()?,
        })
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, condition) in self.conditions.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let not = if condition.negated { "!" } else { "" };
            write!(f, "{comma}{}{not}={}", condition.name, condition.value)?;
        }
        Ok(())
    }
}

impl Selection {
    /// Whether a run belongs to it.
    pub fn matches(&self, run: &Run) -> bool {
        let holds = |condition: &Condition| {
            let found = value(run, &condition.name).unwrap_or_default();
            (found == condition.value.as_str()) != condition.negated
        };
        self.conditions.iter().all(holds)
    }

    /// The places of all runs that belong to it.
    pub fn places(&self, runs: &[Run]) -> RunList {
        let places = (0..).zip(runs);
        places
            .filter(|(_, run)| self.matches(run))
            .map(|(place, _)| place)
            .collect()
    }
}

/// A label's value; of the names that every run has, what the run says.
pub(super) fn value<'r>(run: &'r Run, name: &str) -> Option<&'r str> {
    if let Some(label) = run.labels.get(name) {
        return Some(label);
    }
    match name {
        "client" => run.client.as_deref(),
        "contract" => run.contract_digest.as_deref(),
        "edited" => Some(if run.edited { "true" } else { "false" }),
        "ending" => Some(run.ending.as_str()),
        "enforcement" => run.enforcement.as_deref(),
        "gate" => run.gate.as_deref(),
        "id" => Some(&run.id),
        "mode" => run.mode.as_deref(),
        "profile" => run.profile.as_deref(),
        "source" => Some(run.source.as_str()),
        "task" => run.task.as_deref(),
        "task_class" => run.task_class.as_deref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_condition_must_hold() {
        let run = Run {
            labels: BTreeMap::from([("arm".to_owned(), "ralph".to_owned())]).into(),
            mode: Some("ralph".into()),
            client: Some("claude-code".into()),
            ..Run::default()
        };
        let cases = [
            ("arm=ralph", true),
            ("arm = ralph , mode=ralph", true),
            ("arm=ralph,mode!=ralph", false),
            ("arm=standard", false),
            ("arm!=standard", true),
            ("task_class=", true),
            ("nothing=", true),
            ("ending=crashed,source=log,edited=false", true),
            ("client=claude-code,source=log", true),
            ("client=codex", false),
            ("source=import", false),
        ];
        for (text, expected) in cases {
            let selection: Selection = text.parse().unwrap();
            assert_eq!(selection.matches(&run), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_named() {
        for text in ["", "arm", "arm=a,b", "=x", "!=x"] {
            assert!(text.parse::<Selection>().is_err(), "{text}");
        }
        let error = "arm=a, b".parse::<Selection>().unwrap_err();
        assert_eq!(error.part, "b");
    }
}
