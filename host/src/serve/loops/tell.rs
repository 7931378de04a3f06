//! The lines of a loop's process, as events of a stream.

use serde_json::{Value, json};

/// An event, by its name.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    pub(super) name: &'static str,
    pub(super) data: Value,
}

/// The events that a line tells. A line that is none of ours tells nothing.
pub(super) fn told(line: &str) -> Vec<Told> {
    let Ok(data) = serde_json::from_str::<Value>(line) else {
        return Vec::new();
    };
    let name = match data.get("event").and_then(Value::as_str) {
        Some("opened") => "opened",
        Some("found") => "found",
        Some("warning") => "warning",
        Some("phase") if is(&data, "/phase", "agent") => "iteration_started",
        Some("phase") => "phase",
        Some("agent_ended") => "agent_ended",
        Some("check_started") => "check_started",
        Some("evidence") => "check_finished",
        Some("tripwire") => "tripwire",
        Some("verdict") => return verdict(data),
        Some("ended") => "stopped",
        _ => return Vec::new(),
    };
    vec![named(name, data)]
}

/// An event under one name: that of the stream stands in its data, too.
pub(super) fn named(name: &'static str, mut data: Value) -> Told {
    if let Some(fields) = data.as_object_mut() {
        fields.insert("event".to_owned(), json!(name));
    }
    Told { name, data }
}

fn is(data: &Value, path: &str, value: impl Into<Value>) -> bool {
    data.pointer(path) == Some(&value.into())
}

/// A verdict, and before it that the agent wanted to stop and may not.
fn verdict(data: Value) -> Vec<Told> {
    let is_refused =
        is(&data, "/verdict/decision", "continue") && is(&data, "/verdict/intercepted", true);
    let part = |path: &str| data.pointer(path).cloned();
    let blocked = is_refused.then(|| {
        let data = json!({
            "event": "final_blocked", "iteration": part("/iteration"), "failures": part("/verdict/failures"),
            "feedback": part("/verdict/feedback"),
        });
        named("final_blocked", data)
    });
    blocked
        .into_iter()
        .chain([named("verdict", data)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &Value) -> Vec<&'static str> {
        told(&line.to_string())
            .iter()
            .map(|told| told.name)
            .collect()
    }

    #[test]
    fn a_final_that_is_refused_is_told_before_its_verdict() {
        let verdict = |decision: &str, intercepted: bool| {
            json!({ "event": "verdict", "iteration": 1,
                    "verdict": { "decision": decision, "intercepted": intercepted, "failures": [] } })
        };
        assert_eq!(
            names(&verdict("continue", true)),
            ["final_blocked", "verdict"]
        );
        assert_eq!(names(&verdict("continue", false)), ["verdict"]);
        assert_eq!(names(&verdict("stop", false)), ["verdict"]);
    }

    #[test]
    fn an_event_has_one_name_in_the_stream_and_in_its_data() {
        for line in [
            json!({ "event": "evidence", "evidence": {} }),
            json!({ "event": "phase", "phase": "agent" }),
            json!({ "event": "ended" }),
            json!({ "event": "verdict", "verdict": { "decision": "continue", "intercepted": true } }),
        ] {
            for told in told(&line.to_string()) {
                assert_eq!(told.data["event"], told.name, "{line}");
            }
        }
    }

    #[test]
    fn lines_become_events_under_the_names_of_a_stream() {
        assert_eq!(
            names(&json!({ "event": "phase", "phase": "agent" })),
            ["iteration_started"]
        );
        assert_eq!(
            names(&json!({ "event": "phase", "phase": "checks" })),
            ["phase"]
        );
        assert_eq!(names(&json!({ "event": "evidence" })), ["check_finished"]);
        assert_eq!(names(&json!({ "event": "ended" })), ["stopped"]);
        assert!(told("no JSON").is_empty());
        assert!(names(&json!({ "event": "made up" })).is_empty());
        assert!(names(&json!([1])).is_empty());
    }
}
