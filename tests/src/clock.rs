//! Measuring and comparing times.

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The median time of each task. The tasks take turns, so that noise hits all of them alike.
///
/// # Panics
///
/// If there are more tasks than anybody writes down.
pub fn medians<const N: usize>(
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

/// The one in the middle.
///
/// # Panics
///
/// If there is none.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// In microseconds.
pub fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// How many times as long.
pub fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64()
}

/// How fast so many bytes went by.
///
/// # Panics
///
/// Beyond 4 GiB.
pub fn megabytes_per_second(bytes: usize, time: Duration) -> f64 {
    bytes_as_float(bytes) / 1e6 / time.as_secs_f64()
}

/// What a byte took, in nanoseconds.
///
/// # Panics
///
/// Beyond 4 GiB.
pub fn nanos_per_byte(bytes: usize, time: Duration) -> f64 {
    time.as_secs_f64() * 1e9 / bytes_as_float(bytes)
}

fn bytes_as_float(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).expect("at most 4 GiB"))
}

/// `value` should be at most `limit`, and it is known why it is not.
pub fn wish(what: &str, value: f64, limit: f64, why: &str) {
    if value <= limit {
        println!("  met  {what}: {value:.2}, at most {limit}");
    } else {
        println!("MISSED {what}: {value:.2}, wished at most {limit}: {why}");
    }
}

/// What was promised, and whether it was kept.
#[derive(Debug, Default)]
pub struct Limits {
    missed: Vec<String>,
}

impl Limits {
    /// Nothing promised yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// `value` may be at most `limit`.
    pub fn at_most(&mut self, what: &str, value: f64, limit: f64) {
        self.judge(
            value <= limit,
            what,
            &format!("{value:.2}, at most {limit}"),
        );
    }

    /// `value` must be at least `limit`.
    pub fn at_least(&mut self, what: &str, value: f64, limit: f64) {
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

    /// Says what was missed, if anything. A quick look says too little to fail.
    pub fn conclude(self, quick: bool) -> ExitCode {
        if self.missed.is_empty() {
            return ExitCode::SUCCESS;
        }
        println!("\n{} missed, if the machine was quiet:", self.missed.len());
        for what in &self.missed {
            println!("  {what}");
        }
        if quick {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}
