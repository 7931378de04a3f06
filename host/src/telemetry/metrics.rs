//! Spans to metrics: how long iterations take, what they use, what is decided.

use super::model::{Amount, Attribute, Metric, Point, Span, Value};
use super::spans::INVOKE_AGENT;

/// Everything that is counted: its name, what it is, and its unit.
const METRICS: [(&str, &str, &str); 5] = [
    (
        "gen_ai.client.operation.duration",
        "How long an iteration took, with its checks",
        "s",
    ),
    (
        "ralph.iterations",
        "Iterations that were judged",
        "{iteration}",
    ),
    ("ralph.usage.tokens", "Tokens, read and written", "{token}"),
    ("ralph.usage.tool_calls", "Calls of tools", "{call}"),
    (
        "ralph.check.duration",
        "How long a check took, with its retries",
        "s",
    ),
];

/// What an iteration is told apart by, and what a verdict and a check are.
const AGENT: &[&str] = &[
    "gen_ai.operation.name",
    "gen_ai.agent.name",
    "gen_ai.provider.name",
    "error.type",
];
const VERDICT: &[&str] = &["ralph.mode", "ralph.decision", "ralph.stop_reason"];
const CHECK: &[&str] = &["ralph.check.id", "ralph.check.kind", "ralph.check.outcome"];

/// What spans that have ended add to metrics.
pub(super) fn of(spans: &[Span]) -> Vec<Metric> {
    let metric = |(name, about, unit): (&'static str, &'static str, &'static str)| {
        let points = merged(spans.iter().filter_map(|span| point(name, span)));
        (!points.is_empty()).then_some(Metric {
            name,
            about,
            unit,
            points,
        })
    };
    METRICS.into_iter().filter_map(metric).collect()
}

/// What one span adds to a metric.
fn point(name: &str, span: &Span) -> Option<Point> {
    let operation = get(span, "gen_ai.operation.name");
    let is_iteration = operation == Some(&Value::Text(INVOKE_AGENT.to_owned()));
    let is_check = span.name.starts_with("ralph.check ");
    let (keys, amount) = match name {
        "gen_ai.client.operation.duration" if is_iteration => (AGENT, took(span)),
        "ralph.iterations" if is_iteration => (VERDICT, Amount::Sum(1)),
        "ralph.check.duration" if is_check => (CHECK, took(span)),
        used => match get(span, used) {
            Some(Value::Whole(count)) if is_iteration => (AGENT, Amount::Sum(*count)),
            _ => return None,
        },
    };
    let is_picked = |it: &&Attribute| keys.contains(&it.key.as_str());
    Some(Point {
        since: span.start,
        until: span.end,
        attributes: span.attributes.iter().filter(is_picked).cloned().collect(),
        amount,
    })
}

fn get<'s>(span: &'s Span, key: &str) -> Option<&'s Value> {
    let found = span.attributes.iter().find(|it| it.key == key);
    found.map(|it| &it.value)
}

/// One point for all that have the same attributes.
fn merged(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut merged: Vec<Point> = Vec::new();
    for point in points {
        let Some(same) = merged
            .iter_mut()
            .find(|it| it.attributes == point.attributes)
        else {
            merged.push(point);
            continue;
        };
        same.since = same.since.min(point.since);
        same.until = same.until.max(point.until);
        match (&mut same.amount, point.amount) {
            (Amount::Sum(sum), Amount::Sum(more)) => *sum = sum.saturating_add(more),
            (Amount::Seconds(all), Amount::Seconds(more)) => all.extend(more),
            // Invariant: a metric has one kind of amount.
            _ => {}
        }
    }
    merged
}

#[allow(
    clippy::cast_precision_loss,
    reason = "no span takes 2^53 milliseconds, and a metric may round"
)]
fn took(span: &Span) -> Amount {
    let milliseconds = span.end.0.saturating_sub(span.start.0);
    Amount::Seconds(vec![milliseconds as f64 / 1000.0])
}

#[cfg(test)]
mod tests {
    use super::super::model::{Attributes, Moment, SpanId, Status, TraceId};
    use super::*;

    fn span(name: &str, attributes: Attributes) -> Span {
        Span {
            trace: TraceId([1; 16]),
            id: SpanId([2; 8]),
            parent: None,
            name: name.to_owned(),
            start: Moment(1000),
            end: Moment(3500),
            attributes: attributes.into_list(),
            events: Vec::new(),
            status: Status::Unset,
        }
    }

    fn iteration(decision: &str, tokens: u64) -> Span {
        let mut attributes = Attributes::default();
        attributes
            .add("gen_ai.operation.name", INVOKE_AGENT)
            .add("ralph.decision", decision)
            .add("ralph.usage.tokens", tokens);
        span("invoke_agent x", attributes)
    }

    #[test]
    fn iterations_are_added_up_where_nothing_tells_them_apart() {
        let metrics = of(&[iteration("continue", 12), iteration("stop", 3)]);
        let amounts = |name: &str| {
            let metric = metrics.iter().find(|it| it.name == name).unwrap();
            let amounts = metric.points.iter().map(|it| it.amount.clone());
            amounts.collect::<Vec<_>>()
        };
        let names: Vec<&str> = metrics.iter().map(|it| it.name).collect();
        let expected = [
            "gen_ai.client.operation.duration",
            "ralph.iterations",
            "ralph.usage.tokens",
        ];
        assert_eq!(names, expected);
        assert_eq!(amounts(expected[0]), [Amount::Seconds(vec![2.5, 2.5])]);
        assert_eq!(amounts(expected[1]), [Amount::Sum(1), Amount::Sum(1)]);
        assert_eq!(amounts(expected[2]), [Amount::Sum(15)]);
    }

    #[test]
    fn a_loop_as_a_whole_adds_nothing() {
        assert_eq!(of(&[span("ralph.loop", Attributes::default())]), []);
    }
}
