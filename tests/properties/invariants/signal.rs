//! Rules about the loop evaluator: exactly one signal, whatever the order of the states.

use ralph_gate_component::signal::{Issue, IssueFile, IssueStates, Signal, SignalReport, decide};

/// Checks parts of a text as issue files. A part `=ID STATUS [!] DEPENDENCY…` is an issue as data.
pub fn check(input: &[u8]) {
    let text = super::text(input);
    let states = states(&text);
    let report = decide(&states);
    counts(&states, &report);
    meaning(&report);
    let mut turned = states.clone();
    turned.issues.reverse();
    turned.files.reverse();
    assert_eq!(decide(&turned), report, "the order of the states matters");
    let middle = turned.files.len() / 2;
    turned.files.rotate_left(middle);
    assert_eq!(decide(&turned), report, "the order of the states matters");
    let mut twice = states.clone();
    twice.issues.extend(states.issues.iter().cloned());
    twice.files.extend(states.files.iter().cloned());
    assert_eq!(decide(&twice), report, "the same state twice is no harm");
}

fn states(text: &str) -> IssueStates {
    let mut states = IssueStates::default();
    for part in text.split(super::SEPARATOR) {
        match part.strip_prefix('=') {
            Some(words) => states.issues.push(issue(words)),
            None => {
                let (path, text) = part.split_once('\n').unwrap_or(("", part));
                states.files.push(IssueFile {
                    path: path.to_owned(),
                    text: text.to_owned(),
                });
            }
        }
    }
    states
}

fn issue(words: &str) -> Issue {
    let mut words = words.split(' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    let (id, status) = (word(), word());
    let rest: Vec<&str> = words.collect();
    Issue {
        id,
        status,
        needs_human: rest.contains(&"!"),
        depends_on: rest
            .iter()
            .filter(|word| **word != "!")
            .map(|word| (*word).to_owned())
            .collect(),
    }
}

fn counts(states: &IssueStates, report: &SignalReport) {
    let counted = report.proposed + report.in_progress + report.blocked + report.done;
    let given = states.issues.len() + states.files.len();
    assert!(usize::try_from(counted).unwrap() <= given);
    assert!(report.problems.len() <= 100);
    assert!(!report.reason.is_empty());
}

fn meaning(report: &SignalReport) {
    let is_error = report.signal == Signal::Error;
    assert_eq!(is_error, !report.problems.is_empty(), "{report:?}");
    let goes_on = report.signal == Signal::Continue;
    assert_eq!(goes_on, !report.selectable.is_empty(), "{report:?}");
    match report.signal {
        Signal::Done => assert_eq!((report.proposed, report.in_progress), (0, 0)),
        Signal::Blocked => assert!(report.blocked > 0 && report.in_progress == 0),
        Signal::Continue => assert!(report.proposed + report.in_progress > 0),
        Signal::Error => {}
    }
}
