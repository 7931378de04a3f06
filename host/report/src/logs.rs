//! Texts of logs to a report: all that is between what somebody dropped on a page and what the page shows.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::compare::{
    CompareError, Options, RATES, RateMetric, Selection, SelectionError, Side, Thresholds, compare,
};
use crate::model::Report;
use crate::read::{Found, gather, read};
use crate::run::Run;

/// What is compared. What is absent is chosen by what the logs say, or is as usual.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Conditions for the runs of the arm that is compared with: `arm=standard`.
    pub before: Option<String>,
    /// Conditions for the runs of the arm that is compared.
    pub after: Option<String>,
    /// Whether there is a part for each task class.
    pub by_class: bool,
    /// The metric that was chosen before the experiment, by its id.
    pub primary: Option<String>,
    /// By how much the primary metric has to improve.
    pub min_reduction: Option<f64>,
    /// By how much the mean cost may rise.
    pub max_cost_increase: Option<f64>,
}

/// Why there is no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogsError {
    /// There is nothing to compare.
    #[error("there is no run in these logs; {}", problems.first().map_or("an event log begins with the event loop_started", String::as_str))]
    NoRun {
        /// What could not be read.
        problems: Vec<String>,
    },
    /// No arms were named, and the logs suggest none.
    #[error(
        "name two arms, each by conditions for its runs such as arm=standard; what these runs say: {known}"
    )]
    NoArms {
        /// Names and their values.
        known: String,
    },
    /// Conditions are wrong.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// There is no such metric.
    #[error("{metric} is no metric that can be primary; there are {}", rates())]
    Metric {
        /// What was asked for.
        metric: String,
    },
    /// The arms can't be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
}

impl LogsError {
    /// For a program.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoRun { .. } => "invalid_log",
            Self::NoArms { .. } => "no_arms",
            Self::Selection(_) => "invalid_selection",
            Self::Metric { .. } => "unknown_metric",
            Self::Compare(_) => "invalid_arms",
        }
    }
}

fn rates() -> String {
    RATES.map(RateMetric::id).join(", ")
}

/// Reads logs, each with a name, and compares two arms of their runs.
///
/// ```
/// use ralph_gate_report::logs::{Request, report};
///
/// let run = |id: &str, arm: &str| {
///     format!(r#"{{"event":"imported_run","data":{{"id":"{id}","ending":"released","truth":"unknown","labels":{{"arm":"{arm}"}}}}}}"#)
/// };
/// let (one, other) = (run("a", "standard"), run("b", "ralph"));
/// let report = report([("one", &*one), ("other", &*other)], &Request::default())?;
/// assert_eq!((report.before.name.as_str(), report.after.name.as_str()), ("arm=standard", "arm=ralph"));
/// # Ok::<(), ralph_gate_report::logs::LogsError>(())
/// ```
pub fn report<'l>(
    logs: impl IntoIterator<Item = (&'l str, &'l str)>,
    request: &Request,
) -> Result<Report, LogsError> {
    let logs = logs.into_iter();
    let found = gather(logs.map(|(name, text)| read(name, text.as_bytes())));
    let Found { runs, problems } = found;
    if runs.is_empty() {
        return Err(LogsError::NoRun { problems });
    }
    let (before, after) = match (&request.before, &request.after) {
        (Some(before), Some(after)) => (before.clone(), after.clone()),
        (before, after) => {
            let no_arms = || LogsError::NoArms {
                known: known(&runs),
            };
            let suggested = suggest(&runs).ok_or_else(no_arms)?;
            (
                before.clone().unwrap_or(suggested.0),
                after.clone().unwrap_or(suggested.1),
            )
        }
    };
    let side = |name: String| -> Result<Side, LogsError> {
        let selection: Selection = name.parse()?;
        let runs = selection.places(&runs);
        Ok(Side { name, runs })
    };
    let (before, after) = (side(before)?, side(after)?);
    let options = options(request)?;
    Ok(compare(runs, before, after, &problems, &options)?)
}

fn options(request: &Request) -> Result<Options, LogsError> {
    let primary = match &request.primary {
        Some(metric) => Some(RateMetric::find(metric).ok_or_else(|| LogsError::Metric {
            metric: metric.clone(),
        })?),
        None => None,
    };
    let usual = Thresholds::default();
    Ok(Options {
        primary,
        by_class: request.by_class,
        thresholds: Thresholds {
            min_reduction: request.min_reduction.unwrap_or(usual.min_reduction),
            max_cost_increase: request.max_cost_increase.unwrap_or(usual.max_cost_increase),
        },
        omit: BTreeSet::new(),
    })
}

/// A name that runs are told apart by, and what a run says for it.
type Name = (&'static str, fn(&Run) -> Option<&str>);

/// Names that may tell arms apart, the clearest first.
const NAMES: &[Name] = &[
    ("arm", |run| run.labels.get("arm").map(String::as_str)),
    ("mode", |run| run.mode.as_deref()),
    ("enforcement", |run| run.enforcement.as_deref()),
    ("source", |run| Some(run.source.as_str())),
    ("client", |run| run.client.as_deref()),
    ("profile", |run| run.profile.as_deref()),
    ("contract", |run| run.contract_digest.as_deref()),
    ("gate", |run| run.gate.as_deref()),
];

/// Values that say of an arm that it is the one to compare with.
const BASELINES: &[&str] = &[
    "before", "baseline", "control", "import", "off", "old", "shadow", "standard",
];

/// The two arms that runs fall into, as conditions, if there are exactly two for some name: the one to compare with, and
/// the other. Where no value says which is which, the one that began earlier was before.
pub fn suggest(runs: &[Run]) -> Option<(String, String)> {
    NAMES.iter().find_map(|(name, of)| {
        let mut began: BTreeMap<&str, Option<u64>> = BTreeMap::new();
        for run in runs {
            if let Some(value) = of(run) {
                let earliest = began.entry(value).or_insert(run.started_at_ms);
                *earliest = match (*earliest, run.started_at_ms) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            }
        }
        let mut values = began.iter();
        let (Some(one), Some(other), None) = (values.next(), values.next(), values.next()) else {
            return None;
        };
        // A condition can't say everything that a label may hold.
        let is_plain = |value: &str| !value.contains(',') && value == value.trim();
        if !is_plain(one.0) || !is_plain(other.0) {
            return None;
        }
        let is_baseline = |value: &str| BASELINES.contains(&value);
        let is_swapped = match (is_baseline(one.0), is_baseline(other.0)) {
            (false, true) => true,
            (true, false) => false,
            _ => matches!((one.1, other.1), (Some(one), Some(other)) if other < one),
        };
        let (before, after) = if is_swapped {
            (other, one)
        } else {
            (one, other)
        };
        Some((
            format!("{name}={}", before.0),
            format!("{name}={}", after.0),
        ))
    })
}

/// The most values of a name that are told.
const MOST_VALUES: usize = 6;

/// Names and their values, for whoever has to choose.
fn known(runs: &[Run]) -> String {
    let mut known: Vec<String> = Vec::new();
    for (name, of) in NAMES {
        let values: BTreeSet<&str> = runs.iter().filter_map(of).collect();
        if !values.is_empty() {
            let shown: Vec<&str> = values.iter().copied().take(MOST_VALUES).collect();
            let more = if values.len() > MOST_VALUES {
                ", …"
            } else {
                ""
            };
            known.push(format!("{name} is {}{more}", shown.join(", ")));
        }
    }
    if known.is_empty() {
        "nothing that tells them apart".to_owned()
    } else {
        known.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(arm: Option<&str>, mode: &str, started_at_ms: u64) -> Run {
        Run {
            labels: arm
                .map(|arm| ("arm".to_owned(), arm.to_owned()))
                .into_iter()
                .collect(),
            mode: Some(mode.into()),
            started_at_ms: Some(started_at_ms),
            ..Run::default()
        }
    }

    fn suggested(runs: &[Run]) -> Option<[String; 2]> {
        suggest(runs).map(|(before, after)| [before, after])
    }

    fn arms(before: &str, after: &str) -> [String; 2] {
        [before.to_owned(), after.to_owned()]
    }

    #[test]
    fn two_values_of_the_clearest_name_are_the_arms() {
        let runs = [run(None, "ralph", 1), run(None, "standard", 2)];
        assert_eq!(suggested(&runs), Some(arms("mode=standard", "mode=ralph")));
        let runs = [run(Some("x"), "ralph", 2), run(Some("y"), "standard", 1)];
        assert_eq!(
            suggested(&runs),
            Some(arms("arm=y", "arm=x")),
            "y began earlier"
        );
        let runs = [run(Some("x"), "ralph", 2), run(Some("before"), "ralph", 3)];
        assert_eq!(suggested(&runs), Some(arms("arm=before", "arm=x")));
    }

    #[test]
    fn one_value_three_values_and_values_that_no_condition_can_say_are_no_arms() {
        assert_eq!(suggested(&[run(None, "ralph", 1)]), None);
        let three = ["a", "b", "c"].map(|arm| run(Some(arm), "ralph", 1));
        assert_eq!(suggested(&three), None);
        let odd = ["a", "b,c=d"].map(|arm| run(Some(arm), "ralph", 1));
        assert_eq!(suggested(&odd), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_known() {
        let line = |arm: &str| {
            format!(
                r#"{{"event":"imported_run","data":{{"id":"{arm}","ending":"released","truth":"unknown","labels":{{"arm":"{arm}"}}}}}}"#
            )
        };
        let text = ["a", "b", "c"].map(|arm| line(arm) + "\n").concat();
        let ask = |request: &Request| report([("x", &*text)], request).unwrap_err();
        let none = ask(&Request::default());
        assert_eq!(none.code(), "no_arms");
        assert!(none.to_string().contains("arm is a, b, c"), "{none}");
        let with = |before: &str, after: &str| Request {
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
            ..Request::default()
        };
        assert_eq!(ask(&with("arm", "arm=b")).code(), "invalid_selection");
        assert_eq!(ask(&with("arm=z", "arm=b")).code(), "invalid_arms");
        let metric = Request {
            primary: Some("speed".to_owned()),
            ..with("arm=a", "arm=b")
        };
        assert!(ask(&metric).to_string().contains("false_complete_rate"));
        let nothing = report([("x", "hello")], &Request::default()).unwrap_err();
        assert_eq!(nothing.code(), "invalid_log");
    }
}
