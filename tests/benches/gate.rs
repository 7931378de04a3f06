//! The gate's speed: native and through the component, in one run, as a table with ratios.

use std::time::{Duration, Instant};

use ralph_gate::engine as host;
use ralph_gate_component::iteration::{Action, CheckResult, Iteration, Outcome};
use ralph_gate_component::session::Session;

const CONTRACT: &str = "mode: ralph\ncompletion_token: COMPLETE\ncompletion_checks: [tests_green]\n\
                        loop_max_iters: 10000\nno_progress_limit: 0\n";

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let budget = Duration::from_millis(if quick { 150 } else { 1500 });
    load(budget);
    let engine = host::GateEngine::new().expect("the gate loads");
    println!("whole evaluation of one iteration, median of many, in microseconds");
    println!(
        "{:>9} {:>10} {:>10} {:>7} {:>10} {:>7} {:>10}",
        "output", "native", "session", "ratio", "fresh", "ratio", "session"
    );
    for (label, size) in [("1 KiB", 1 << 10), ("64 KiB", 1 << 16), ("1 MiB", 1 << 20)] {
        let output = agent_output(size);
        let mut native = Native::new();
        let mut session = Reused::new(&engine);
        let mut fresh = Fresh::new(&engine);
        let [native, session, fresh] = medians(
            budget,
            [
                &mut || native.evaluate(&output),
                &mut || session.evaluate(&output),
                &mut || fresh.evaluate(&output),
            ],
        );
        println!(
            "{label:>9} {:>10.1} {:>10.1} {:>6.2}x {:>10.1} {:>6.2}x {:>5.0} MB/s",
            micros(native),
            micros(session),
            ratio(session, native),
            micros(fresh),
            ratio(fresh, native),
            megabytes_per_second(size, session),
        );
    }
    println!(
        "native: the crate; session: the component, contract read once; fresh: a new instance for each call"
    );
}

/// What a process pays once, and what it would pay if it compiled the component itself.
fn load(budget: Duration) {
    let [embedded, compiled] = medians(
        budget,
        [
            &mut || drop(host::GateEngine::new().expect("the gate loads")),
            &mut || {
                let engine = wasmtime::Engine::default();
                drop(
                    wasmtime::component::Component::new(&engine, host::COMPONENT)
                        .expect("it compiles"),
                );
            },
        ],
    );
    println!("once per process, in microseconds");
    println!("{:>28} {:>10.1}", "embedded machine code", micros(embedded));
    println!(
        "{:>28} {:>10.1} {:>6.0}x\n",
        "compiled at start",
        micros(compiled),
        ratio(compiled, embedded)
    );
}

/// Prose, lists, code and tool output in the mix that agents write, with a promise at the end.
fn agent_output(size: usize) -> String {
    const BLOCK: &str = "I looked at `src/lib.rs` and found that the parser drops the last field.\n\n\
        - changed `parse_line` to keep it, see line 42\n- added a test for *empty* fields\n\n\
        ```rust\nfn parse_line(line: &str) -> Vec<&str> {\n    line.split(',').collect()\n}\n```\n\n\
        Running the tests took 1.25s at 2026-11-16T05:36:01Z: 12 passed, 2 failed.\n\n";
    const END: &str = "All done.\n<promise>COMPLETE</promise>\n";
    let mut output: String = BLOCK.chars().cycle().take(size - END.len() - 1).collect();
    output.push('\n');
    output.push_str(END);
    output
}

/// The median time of each task. The tasks take turns, so that noise hits all of them alike.
fn medians<const N: usize>(budget: Duration, mut tasks: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    let start = Instant::now();
    while start.elapsed() < budget * u32::try_from(N).expect("few tasks") || times[0].len() < 9 {
        for (task, times) in tasks.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            task();
            times.push(begin.elapsed());
        }
    }
    times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    })
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64()
}

fn megabytes_per_second(bytes: usize, time: Duration) -> f64 {
    f64::from(u32::try_from(bytes).expect("at most 4 GiB")) / 1e6 / time.as_secs_f64()
}

/// A loop is at most 10,000 iterations long; then a new one begins.
fn next(index: &mut u32) -> bool {
    *index = *index % 9_999 + 1;
    *index == 1
}

struct Native {
    session: Session,
    index: u32,
}

impl Native {
    fn new() -> Self {
        Self {
            session: Session::open(CONTRACT, None).expect("the contract is good"),
            index: 0,
        }
    }

    fn evaluate(&mut self, output: &str) {
        if next(&mut self.index) {
            self.session = Session::open(CONTRACT, None).expect("the contract is good");
        }
        let mut iteration = Iteration::new(self.index, Action::Final);
        iteration.output = output.into();
        iteration.checks = vec![CheckResult::new("tests_green", Outcome::Fail)];
        let verdict = self
            .session
            .evaluate_final(&iteration)
            .expect("it is in order");
        assert!(verdict.intercepted);
    }
}

struct Reused<'e> {
    engine: &'e host::GateEngine,
    session: host::Session,
    iteration: host::Iteration,
}

impl<'e> Reused<'e> {
    fn new(engine: &'e host::GateEngine) -> Self {
        let session = engine.open(CONTRACT, None).expect("the contract is good");
        Self {
            engine,
            session,
            iteration: first_iteration(),
        }
    }

    fn evaluate(&mut self, output: &str) {
        if next(&mut self.iteration.index) {
            self.session = self
                .engine
                .open(CONTRACT, None)
                .expect("the contract is good");
        }
        if self.iteration.output.len() != output.len() {
            output.clone_into(&mut self.iteration.output);
        }
        let verdict = self
            .session
            .evaluate_final(&self.iteration)
            .expect("it is in order");
        assert!(verdict.intercepted);
    }
}

struct Fresh<'e> {
    engine: &'e host::GateEngine,
    iteration: host::Iteration,
}

impl<'e> Fresh<'e> {
    fn new(engine: &'e host::GateEngine) -> Self {
        Self {
            engine,
            iteration: host::Iteration {
                index: 1,
                ..first_iteration()
            },
        }
    }

    fn evaluate(&mut self, output: &str) {
        if self.iteration.output.len() != output.len() {
            output.clone_into(&mut self.iteration.output);
        }
        let verdict = self
            .engine
            .evaluate_final(CONTRACT, None, &self.iteration)
            .expect("it is in order");
        assert!(verdict.intercepted);
    }
}

/// The iteration before the first: its index is counted up before each call.
fn first_iteration() -> host::Iteration {
    host::Iteration {
        action: host::Action::Final,
        checks: vec![host::CheckResult::new("tests_green", host::Outcome::Fail)],
        ..host::Iteration::default()
    }
}
