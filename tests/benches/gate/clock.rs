//! Measuring and comparing times.

use std::time::{Duration, Instant};

/// The median time of each task. The tasks take turns, so that noise hits all of them alike.
pub(crate) fn medians<const N: usize>(
    budget: Duration,
    mut tasks: [&mut dyn FnMut(); N],
) -> [Duration; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    let start = Instant::now();
    while start.elapsed() < budget * u32::try_from(N).expect("few tasks") || times[0].len() < 9 {
        for (task, times) in tasks.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            task();
            times.push(begin.elapsed());
        }
    }
    times.map(median)
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

pub(crate) fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64()
}

pub(crate) fn megabytes_per_second(bytes: usize, time: Duration) -> f64 {
    bytes_as_float(bytes) / 1e6 / time.as_secs_f64()
}

pub(crate) fn nanos_per_byte(bytes: usize, time: Duration) -> f64 {
    time.as_secs_f64() * 1e9 / bytes_as_float(bytes)
}

fn bytes_as_float(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).expect("at most 4 GiB"))
}

/// `value` should be at most `limit`, and it is known why it is not.
pub(crate) fn wish(what: &str, value: f64, limit: f64, why: &str) {
    if value <= limit {
        println!("  met  {what}: {value:.2}, at most {limit}");
    } else {
        println!("MISSED {what}: {value:.2}, wished at most {limit}: {why}");
    }
}

/// What was promised, and whether it was kept.
pub(crate) struct Limits {
    missed: Vec<String>,
}

impl Limits {
    pub(crate) fn new() -> Self {
        Self { missed: Vec::new() }
    }

    /// `value` may be at most `limit`.
    pub(crate) fn at_most(&mut self, what: &str, value: f64, limit: f64) {
        self.judge(
            value <= limit,
            what,
            &format!("{value:.2}, at most {limit}"),
        );
    }

    /// `value` must be at least `limit`.
    pub(crate) fn at_least(&mut self, what: &str, value: f64, limit: f64) {
        self.judge(
            value >= limit,
            what,
            &format!("{value:.0}, at least {limit}"),
        );
    }

    fn judge(&mut self, kept: bool, what: &str, figures: &str) {
        println!(
            "{} {what}: {figures}",
            if kept { "  met " } else { "MISSED" }
        );
        if !kept {
            self.missed.push(format!("{what}: {figures}"));
        }
    }

    /// Everything that was missed.
    pub(crate) fn missed(self) -> Vec<String> {
        self.missed
    }
}
