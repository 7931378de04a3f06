//! OTLP as bytes: the few messages of `opentelemetry.proto` that spans and metrics are made of, written by hand.
//!
//! A library for it would bring a runtime and a code generator along, for a format in which a field is its number, a
//! length and its bytes.

use super::model::{Amount, Attribute, Metric, Moment, Point, Span, SpanEvent, Status, Value};

/// What every message says about its sender.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sender {
    /// The process and the machine that it stands for.
    pub resource: Vec<Attribute>,
    /// The version of this program, which made the spans.
    pub version: String,
}

/// The name under which this program makes spans.
const SCOPE: &str = "ralph-gate";

/// The body of a request to `/v1/traces`: `ExportTraceServiceRequest`.
pub fn traces(sender: &Sender, spans: &[Span]) -> Vec<u8> {
    let mut scope = scope(sender);
    for it in spans {
        scope.message(2, &span(it));
    }
    request(sender, &scope)
}

/// The body of a request to `/v1/metrics`: `ExportMetricsServiceRequest`.
pub fn metrics(sender: &Sender, metrics: &[Metric]) -> Vec<u8> {
    let mut scope = scope(sender);
    for it in metrics {
        scope.message(2, &metric(it));
    }
    request(sender, &scope)
}

/// Both requests have the same shape: a list of resources, each with a list of scopes.
fn request(sender: &Sender, scope: &Message) -> Vec<u8> {
    let mut resource = Message::default();
    resource.attributes(1, &sender.resource);
    let mut of_resource = Message::default();
    of_resource.message(1, &resource);
    of_resource.message(2, scope);
    let mut request = Message::default();
    request.message(1, &of_resource);
    request.0
}

fn scope(sender: &Sender) -> Message {
    let mut name = Message::default();
    name.text(1, SCOPE);
    name.text(2, &sender.version);
    let mut scope = Message::default();
    scope.message(1, &name);
    scope
}

fn span(span: &Span) -> Message {
    let mut message = Message::default();
    message.bytes(1, &span.trace.0);
    message.bytes(2, &span.id.0);
    if let Some(parent) = &span.parent {
        message.bytes(4, &parent.0);
    }
    message.text(5, &span.name);
    // SPAN_KIND_INTERNAL: nothing here is a call to another service that could be the parent of its spans.
    message.number(6, 1);
    message.moment(7, span.start);
    message.moment(8, span.end);
    message.attributes(9, &span.attributes);
    for it in &span.events {
        message.message(11, &event(it));
    }
    if let Status::Error(reason) = &span.status {
        let mut status = Message::default();
        status.text(2, reason);
        // STATUS_CODE_ERROR
        status.number(3, 2);
        message.message(15, &status);
    }
    message
}

fn event(event: &SpanEvent) -> Message {
    let mut message = Message::default();
    message.moment(1, event.at);
    message.text(2, &event.name);
    message.attributes(3, &event.attributes);
    message
}

/// `AGGREGATION_TEMPORALITY_DELTA`: each request says what came since the one before, so nothing has to be remembered.
const DELTA: u64 = 1;

fn metric(metric: &Metric) -> Message {
    let mut message = Message::default();
    message.text(1, metric.name);
    message.text(2, metric.about);
    message.text(3, metric.unit);
    let is_sum = |point: &&Point| matches!(point.amount, Amount::Sum(_));
    let (sums, times): (Vec<&Point>, Vec<&Point>) = metric.points.iter().partition(is_sum);
    if !sums.is_empty() {
        let mut data = aggregated(&sums);
        // is_monotonic
        data.number(3, 1);
        message.message(7, &data);
    } else if !times.is_empty() {
        message.message(9, &aggregated(&times));
    }
    message
}

/// The beginning of `Sum` and of `Histogram`, which are the same.
fn aggregated(points: &[&Point]) -> Message {
    let mut data = Message::default();
    for it in points {
        data.message(1, &point(it));
    }
    data.number(2, DELTA);
    data
}

fn point(it: &Point) -> Message {
    let mut point = Message::default();
    point.moment(2, it.since);
    point.moment(3, it.until);
    match &it.amount {
        Amount::Sum(sum) => {
            point.fixed(6, sum.cast_unsigned());
            point.attributes(7, &it.attributes);
        }
        Amount::Seconds(values) => {
            point.fixed(4, values.len() as u64);
            point.fixed(5, values.iter().sum::<f64>().to_bits());
            point.packed(6, &buckets(values, SECONDS));
            let bounds: Vec<u64> = SECONDS.iter().map(|bound| bound.to_bits()).collect();
            point.packed(7, &bounds);
            point.attributes(9, &it.attributes);
        }
    }
    point
}

/// The bounds of durations in seconds, as the conventions advise.
const SECONDS: &[f64] = &[
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/// How many values are at most each bound and above the one before, and how many are above all of them.
fn buckets(values: &[f64], bounds: &[f64]) -> Vec<u64> {
    let mut counts = vec![0; bounds.len() + 1];
    for value in values {
        let bucket = bounds.partition_point(|bound| bound < value);
        if let Some(count) = counts.get_mut(bucket) {
            *count += 1;
        }
    }
    counts
}

/// A message: fields one after the other, each with its number and the way it is written.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

/// How a field is written.
#[derive(Debug, Clone, Copy)]
enum Wire {
    Varint = 0,
    Fixed64 = 1,
    Bytes = 2,
}

impl Message {
    fn tag(&mut self, field: u64, wire: Wire) {
        self.varint(field << 3 | wire as u64);
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fn varint(&mut self, mut value: u64) {
        loop {
            let low = (value & 0x7f) as u8;
            value >>= 7;
            if value == 0 {
                self.0.push(low);
                return;
            }
            self.0.push(low | 0x80);
        }
    }

    fn number(&mut self, field: u64, value: u64) {
        self.tag(field, Wire::Varint);
        self.varint(value);
    }

    fn fixed(&mut self, field: u64, value: u64) {
        self.tag(field, Wire::Fixed64);
        self.0.extend(value.to_le_bytes());
    }

    fn moment(&mut self, field: u64, moment: Moment) {
        self.fixed(field, moment.nanoseconds());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.tag(field, Wire::Bytes);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn message(&mut self, field: u64, message: &Self) {
        self.bytes(field, &message.0);
    }

    fn packed(&mut self, field: u64, values: &[u64]) {
        let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        self.bytes(field, &bytes);
    }

    fn attributes(&mut self, field: u64, attributes: &[Attribute]) {
        for Attribute { key, value } in attributes {
            let mut pair = Self::default();
            pair.text(1, key);
            pair.message(2, &Self::value(value));
            self.message(field, &pair);
        }
    }

    /// `AnyValue`
    fn value(value: &Value) -> Self {
        let mut message = Self::default();
        match value {
            Value::Text(text) => message.text(1, text),
            Value::Flag(flag) => message.number(2, u64::from(*flag)),
            Value::Whole(whole) => message.number(3, whole.cast_unsigned()),
            Value::Fraction(fraction) => message.fixed(4, fraction.to_bits()),
            Value::Texts(texts) => {
                let mut list = Self::default();
                for text in texts {
                    let mut item = Self::default();
                    item.text(1, text);
                    list.message(1, &item);
                }
                message.message(5, &list);
            }
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::{SpanId, TraceId};
    use super::*;

    #[test]
    fn numbers_are_written_seven_bits_a_byte() {
        let bytes = |value| {
            let mut message = Message::default();
            message.varint(value);
            message.0
        };
        assert_eq!(bytes(0), [0]);
        assert_eq!(bytes(127), [127]);
        assert_eq!(bytes(300), [0xac, 0x02]);
        assert_eq!(bytes(u64::MAX).len(), 10);
    }

    #[test]
    fn a_span_without_parent_has_no_field_for_it() {
        let mut it = Span {
            trace: TraceId([1; 16]),
            id: SpanId([2; 8]),
            parent: None,
            name: "x".to_owned(),
            start: Moment(1),
            end: Moment(2),
            attributes: Vec::new(),
            events: Vec::new(),
            status: Status::Unset,
        };
        // Field 4, as bytes.
        let parent = 4 << 3 | 2;
        assert!(!span(&it).0.contains(&parent));
        it.parent = Some(SpanId([3; 8]));
        assert!(span(&it).0.contains(&parent));
    }

    #[test]
    fn a_value_at_a_bound_is_in_the_bucket_below_it() {
        assert_eq!(buckets(&[0.5, 1.0, 1.5, 9.0], &[1.0, 2.0]), [2, 1, 1]);
        assert_eq!(buckets(&[], &[1.0]), [0, 0]);
    }
}
