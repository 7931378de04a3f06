//! Spans to metrics: how long iterations take, what they use, what is decided.

use super::model::{Attribute, Metric, MetricData, Span, Value};
use super::spans::INVOKE_AGENT;

/// The bounds of durations in seconds, as the conventions advise.
const SECONDS: &[f64] = &[
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/// What spans that have ended add to metrics.
pub fn of(spans: &[Span]) -> Vec<Metric> {
    spans.iter().flat_map(of_span).collect()
}

fn of_span(span: &Span) -> Vec<Metric> {
    match get(span, "gen_ai.operation.name") {
        Some(Value::Text(name)) if name == INVOKE_AGENT => of_iteration(span),
        _ if span.name.starts_with("ralph.check ") => of_check(span),
        _ => Vec::new(),
    }
}

fn get<'s>(span: &'s Span, key: &str) -> Option<&'s Value> {
    let found = span.attributes.iter().find(|it| it.key == key);
    found.map(|it| &it.value)
}

/// Attributes of a span that a metric is told apart by.
fn picked(span: &Span, keys: &[&str]) -> Vec<Attribute> {
    let is_picked = |it: &&Attribute| keys.contains(&it.key.as_str());
    span.attributes.iter().filter(is_picked).cloned().collect()
}

fn of_iteration(span: &Span) -> Vec<Metric> {
    let agent = [
        "gen_ai.operation.name",
        "gen_ai.agent.name",
        "gen_ai.provider.name",
        "error.type",
    ];
    let agent = picked(span, &agent);
    let decided = ["ralph.mode", "ralph.decision", "ralph.stop_reason"];
    let mut metrics = vec![
        metric(
            span,
            "gen_ai.client.operation.duration",
            "How long an iteration took, with its checks",
            "s",
            agent.clone(),
            MetricData::Histogram(vec![seconds(span)], SECONDS),
        ),
        metric(
            span,
            "ralph.iterations",
            "Iterations that were judged",
            "{iteration}",
            picked(span, &decided),
            MetricData::Sum(1),
        ),
    ];
    let used = [
        (
            "ralph.usage.tokens",
            "Tokens, read and written",
            "{token}",
        ),
        ("ralph.usage.tool_calls", "Calls of tools", "{call}"),
    ];
    for (name, about, unit) in used {
        if let Some(Value::Whole(count)) = get(span, name) {
            let sum = MetricData::Sum(*count);
            metrics.push(metric(span, name, about, unit, agent.clone(), sum));
        }
    }
    metrics
}

fn of_check(span: &Span) -> Vec<Metric> {
    let told = ["ralph.check.id", "ralph.check.kind", "ralph.check.outcome"];
    vec![metric(
        span,
        "ralph.check.duration",
        "How long a check took, with its retries",
        "s",
        picked(span, &told),
        MetricData::Histogram(vec![seconds(span)], SECONDS),
    )]
}

fn metric(
    span: &Span,
    name: &'static str,
    about: &'static str,
    unit: &'static str,
    attributes: Vec<Attribute>,
    data: MetricData,
) -> Metric {
    Metric {
        name,
        about,
        unit,
        since: span.start,
        until: span.end,
        attributes,
        data,
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "no span takes 2^53 milliseconds, and a metric may round"
)]
fn seconds(span: &Span) -> f64 {
    span.end.0.saturating_sub(span.start.0) as f64 / 1000.0
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

    #[test]
    fn an_iteration_counts_once_with_what_it_used() {
        let mut attributes = Attributes::default();
        attributes
            .add("gen_ai.operation.name", INVOKE_AGENT)
            .add("ralph.decision", "continue")
            .add("ralph.usage.tokens", 12_u64);
        let metrics = of(&[span("invoke_agent x", attributes)]);
        let names: Vec<&str> = metrics.iter().map(|it| it.name).collect();
        let expected = [
            "gen_ai.client.operation.duration",
            "ralph.iterations",
            "ralph.usage.tokens",
        ];
        assert_eq!(names, expected);
        let data: Vec<&MetricData> = metrics.iter().map(|it| &it.data).collect();
        assert_eq!(*data[0], MetricData::Histogram(vec![2.5], SECONDS));
        assert_eq!(*data[2], MetricData::Sum(12));
    }

    #[test]
    fn a_loop_as_a_whole_adds_nothing() {
        assert_eq!(of(&[span("ralph.loop", Attributes::default())]), []);
    }
}
