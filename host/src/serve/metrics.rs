//! What a server did, as Prometheus text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::Method;

/// The upper bounds of durations, in seconds.
const BOUNDS: [f64; 10] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0,
];

/// Counts what happens.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    requests: Mutex<BTreeMap<Key, Series>>,
    pub(super) connections: Gauge,
    pub(super) answering: Gauge,
    pub(super) loops: Gauge,
    /// Connections that were closed to make room for others.
    pub(super) evicted: AtomicU64,
    /// Loops that ended, by why.
    stopped: Mutex<BTreeMap<String, u64>>,
}

/// By what requests are told apart: a route's pattern and not its path, so that nobody fills memory with names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Debug, Default, Clone)]
struct Series {
    /// How many were at most as long as each bound.
    within: [u64; BOUNDS.len()],
    count: u64,
    nanoseconds: u128,
}

/// A number that goes up and down.
#[derive(Debug, Default)]
pub(super) struct Gauge(Arc<AtomicU64>);

impl Gauge {
    /// One more, until what is given back is dropped.
    pub(super) fn enter(&self) -> Entered {
        self.0.fetch_add(1, Ordering::Relaxed);
        Entered(Arc::clone(&self.0))
    }

    pub(super) fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One that is counted.
#[derive(Debug)]
pub(super) struct Entered(Arc<AtomicU64>);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    /// A request that was answered.
    pub(super) fn answered(
        &self,
        method: &Method,
        route: &'static str,
        status: u16,
        taken: Duration,
    ) {
        let method = known(method);
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let series = requests
            .entry(Key {
                method,
                route,
                status,
            })
            .or_default();
        let seconds = taken.as_secs_f64();
        for (within, bound) in series.within.iter_mut().zip(BOUNDS) {
            *within += u64::from(seconds <= bound);
        }
        series.count += 1;
        series.nanoseconds += taken.as_nanos();
    }

    /// A loop that ended.
    pub(super) fn stopped(&self, reason: &str) {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        *stopped.entry(reason.to_owned()).or_default() += 1;
    }

    /// All of it, in the text format 0.0.4.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let gauges = [
            (
                "ralph_gate_connections",
                "Open connections.",
                self.connections.now(),
            ),
            (
                "ralph_gate_requests_answering",
                "Requests that are being answered.",
                self.answering.now(),
            ),
            (
                "ralph_gate_loops_running",
                "Loops that are running.",
                self.loops.now(),
            ),
        ];
        for (name, help, value) in gauges {
            head(&mut text, name, help, "gauge");
            let _ = writeln!(text, "{name} {value}");
        }
        let name = "ralph_gate_connections_evicted_total";
        head(
            &mut text,
            name,
            "Idle connections that made room for others.",
            "counter",
        );
        let _ = writeln!(text, "{name} {}", self.evicted.load(Ordering::Relaxed));
        let name = "ralph_gate_loops_stopped_total";
        head(
            &mut text,
            name,
            "Loops that ended, by stop reason.",
            "counter",
        );
        for (reason, count) in &*self.stopped.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = writeln!(text, "{name}{{reason=\"{}\"}} {count}", escaped(reason));
        }
        self.durations(&mut text);
        text
    }

    fn durations(&self, text: &mut String) {
        let name = "ralph_gate_request_duration_seconds";
        head(text, name, "Requests, by how long they took.", "histogram");
        for (key, series) in &*self.requests.lock().unwrap_or_else(PoisonError::into_inner) {
            let labels = format!(
                "method=\"{}\",route=\"{}\",status=\"{}\"",
                key.method, key.route, key.status
            );
            for (within, bound) in series.within.iter().zip(BOUNDS) {
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {within}");
            }
            let seconds =
                Duration::from_nanos(u64::try_from(series.nanoseconds).unwrap_or(u64::MAX));
            let _ = writeln!(
                text,
                "{name}_bucket{{{labels},le=\"+Inf\"}} {}",
                series.count
            );
            let _ = writeln!(text, "{name}_sum{{{labels}}} {}", seconds.as_secs_f64());
            let _ = writeln!(text, "{name}_count{{{labels}}} {}", series.count);
        }
    }
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn escaped(label: &str) -> String {
    label
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// Methods that somebody makes up are one.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        _ => "OTHER",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_is_counted_by_route_and_status() {
        let metrics = Metrics::default();
        let taken = Duration::from_micros(700);
        metrics.answered(&Method::POST, "/v1/promise", 200, taken);
        metrics.answered(&Method::POST, "/v1/promise", 200, taken);
        metrics.answered(&Method::from_bytes(b"BREW").unwrap(), "other", 405, taken);
        let counted = metrics.connections.enter();
        let text = metrics.text();
        for line in [
            "ralph_gate_connections 1",
            "ralph_gate_request_duration_seconds_bucket{method=\"POST\",route=\"/v1/promise\",status=\"200\",le=\"0.0005\"} 0",
            "ralph_gate_request_duration_seconds_bucket{method=\"POST\",route=\"/v1/promise\",status=\"200\",le=\"0.001\"} 2",
            "ralph_gate_request_duration_seconds_sum{method=\"POST\",route=\"/v1/promise\",status=\"200\"} 0.0014",
            "ralph_gate_request_duration_seconds_count{method=\"OTHER\",route=\"other\",status=\"405\"} 1",
        ] {
            assert!(
                text.lines().any(|it| it == line),
                "{line} is not in\n{text}"
            );
        }
        drop(counted);
        assert!(metrics.text().contains("ralph_gate_connections 0\n"));
    }
}
