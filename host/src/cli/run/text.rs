//! Phrases that every way of telling of a loop shares: times, how an agent ended, what a failure is.

use ralph_gate::engine::{Failure, Mode, RouteReason, StopReason, Verdict};
use ralph_gate::runner::AgentRecord;
pub(crate) use ralph_gate::runner::ending::{first_line, iterations, running, seconds};
use ralph_gate::runner::ending::{shorten, why};

use super::super::terminal::clean;
use super::super::words::word;

/// How the agent's process ended.
pub(super) fn how(record: &AgentRecord) -> String {
    match (record.exit, record.signal) {
        _ if record.timed_out => "took too long and was killed".to_owned(),
        _ if record.canceled => "was canceled".to_owned(),
        (Some(code), _) if code != 0 => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        _ => "ended".to_owned(),
    }
}

/// The mode that applies and why: `ralph mode (requested)`.
pub(super) fn mode_and_reason((mode, reason): (Mode, RouteReason)) -> String {
    format!("{} mode ({})", word(&mode), word(&reason))
}

/// Which variables the agent does not get. Empty if it gets all.
pub(super) fn not_inherited(withheld: &[String], others: usize) -> String {
    let what = match (withheld, others) {
        ([], 0) => return String::new(),
        ([], 1) => "1 variable that is".to_owned(),
        ([], others) => format!("{others} variables that are"),
        (secrets, 0) => {
            let secrets = clean(&secrets.join(", "));
            return format!(
                "the agent does not get {secrets}; list in [agent] pass_env what it needs"
            );
        }
        (secrets, others) => format!("{} and {others} more that are", clean(&secrets.join(", "))),
    };
    format!(
        "the agent does not get {what} not on the list of harmless ones; list in [agent] pass_env what it needs"
    )
}

/// What failed, how, and why: `tests check_failed (2 of 14 failed)`.
pub(super) fn failure(failure: &Failure) -> String {
    let reason = shorten(&first_line(&failure.reason));
    let subject = clean(failure.subject());
    format!("{subject} {} ({reason})", word(&failure.code))
}

/// What became of the loop, in a few words: `completed`, `stopped: limit of 3 iterations reached`.
pub(super) fn outcome(verdict: &Verdict) -> String {
    match verdict.stop_reason {
        Some(StopReason::Completed) => "completed".to_owned(),
        Some(reason) => {
            format!(
                "stopped: {}",
                why(verdict, reason, verdict.counters.iteration)
            )
        }
        None => "passed through".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use ralph_gate::runner::ending::MAX_REASON;

    use super::*;

    #[test]
    fn a_time_is_told_in_its_two_largest_units() {
        for (milliseconds, over, live) in [
            (0, "0.0 s", "0 s"),
            (59_999, "59.9 s", "59 s"),
            (72_000, "1 min 12 s", "1 min 12 s"),
            (7_500_000, "2 h 5 min", "2 h 5 min"),
        ] {
            assert_eq!(seconds(milliseconds), over);
            assert_eq!(running(milliseconds), live);
        }
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let text = shorten(&"ü".repeat(MAX_REASON + 1));
        assert_eq!(text, format!("{}…", "ü".repeat(MAX_REASON)));
    }
}
