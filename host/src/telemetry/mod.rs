//! OpenTelemetry: a loop as a trace in the `GenAI` conventions, sent over OTLP where somebody named an endpoint.
//!
//! Spans are made of the lines of `events.jsonl`, by a pure function ([`Spans`]). While a loop runs, one thread beside it
//! reads what was saved and sends it ([`Exporter`]); a log that was left behind is sent as a whole ([`export`]). Neither
//! changes, slows down or fails a loop: what can't be sent is counted and forgotten.

mod exporter;
mod http;
mod line;
mod metrics;
mod model;
mod otlp;
mod settings;
mod spans;

pub use exporter::{Exported, Exporter, Unsent, export};
pub use model::{
    Amount, Attribute, Metric, Moment, Point, Span, SpanEvent, SpanId, Status, TraceId, Value,
};
pub use otlp::{Sender, metrics as encode_metrics, traces as encode_traces};
pub use settings::{HEADER_VARIABLES, Settings, TelemetryError, Variable, is_wanted};
pub use spans::{Content, Spans};

/// What spans that have ended add to metrics.
pub fn measure(spans: &[Span]) -> Vec<Metric> {
    metrics::of(spans)
}

#[cfg(test)]
mod tests;
