//! A crowd of honest policies in one host, alone and beside hostile ones: no judgement changes, and the honest ones are
//! slowed down by no more than what the hostile ones take of the processors.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use ralph_gate::policy::{
    Compiler, Judgement, Policy, PolicyHost, PolicyInput, PolicyLimits, PolicyOutcome, Run, Wasi,
};
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::component::policy;
use ralph_gate_tests::extent::is_full;
use ralph_gate_tests::policies;
use ralph_gate_tests::trials::limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Threads that ask the honest ones.
const THREADS: usize = 8;
/// How often each honest one is asked in a round.
const CALLS: usize = 10;
/// Ticks of the kernel's clock in a second.
const TICKS: f64 = 100.0;
/// How long a hostile one may take that nothing but the clock ends.
const SHORT: Duration = Duration::from_millis(200);
/// How long one may take that another limit ends, on however busy a machine.
const LONG: Duration = Duration::from_mins(1);
/// The hostile ones, each with a thread of its own, and what becomes of them.
const HOSTILE: [(&str, &str); 4] = [
    ("loop-with-fuel-for-a-day", "timed_out"),
    ("memory-grow", "out_of_memory"),
    ("recursion", "stack_overflow"),
    ("fill-forever", "timed_out"),
];

/// How much is done.
struct Extent {
    policies: usize,
    /// How long the crowd is asked each time.
    phase: Duration,
    /// How often it is asked alone and then beside the hostile ones. Whatever else the machine does meanwhile should
    /// fall on both.
    rounds: usize,
    /// How much slower than explained an honest crowd may be. Beside other tests the clock says little, so this only
    /// finds what is grossly wrong.
    noise: f64,
}

impl Extent {
    fn new() -> Self {
        if is_full() {
            Self {
                policies: 1000,
                phase: Duration::from_secs(5),
                rounds: 4,
                noise: 0.1,
            }
        } else {
            Self {
                policies: 40,
                phase: Duration::from_millis(500),
                rounds: 3,
                noise: 0.5,
            }
        }
    }
}

#[test]
fn hostile_neighbours_change_no_judgement_and_cost_no_more_than_their_share() {
    let extent = Extent::new();
    open_more_files();
    let host = PolicyHost::new(Compiler::at(binary()), None).unwrap();
    let honest = crowd(&host, extent.policies);
    let hostile = HOSTILE.map(|(name, code)| {
        let component = policies::component(name).unwrap();
        let loaded = host.load(&component, Wasi::Absent, &limits()).unwrap();
        (loaded, code)
    });
    let (mut alone, mut beside) = (Measured::default(), Measured::default());
    for _ in 0..extent.rounds {
        alone.add(&ask_all(&honest, &[], extent.phase));
        beside.add(&ask_all(&honest, &hostile, extent.phase));
    }
    let share = beside.hostile / beside.process;
    let (before, after) = (alone.rate(), beside.rate());
    let (fall, allowed) = (
        1.0 - after / before,
        1.0 - (1.0 - share) * (1.0 - extent.noise),
    );
    println!(
        "{} policies: {before:.0} calls/s alone ({:.1} µs of work each), {after:.0} beside {} hostile calls ({:.1} µs \
         each); these took {:.1} % of the work, the fall is {:.1} % and may be {:.1} %",
        extent.policies,
        alone.honest / alone.calls * 1e6,
        beside.hostile_calls,
        beside.honest / beside.calls * 1e6,
        share * 100.0,
        fall * 100.0,
        allowed * 100.0,
    );
    assert!(
        beside.hostile_calls >= 4.0,
        "the hostile ones were not heard"
    );
    assert!(
        fall <= allowed,
        "the honest ones lost {fall:.3}, and {allowed:.3} is explained"
    );
}

/// An honest policy. It says back what it is told, and who it is.
fn honest(number: usize) -> Vec<u8> {
    policy(&format!(
        r#"(module
          (memory (export "memory") 2)
          (global $next (mut i32) (i32.const 65536))
          (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (local $at i32)
            (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
            (global.set $next (i32.add (local.get $at) (local.get 3)))
            (local.get $at))
          (data (i32.const 16) "policy {number:04}")
          (func (export "ralph:gate/policy@0.1.0#describe") (result i32) (i32.const 64))
          (func (export "ralph:gate/policy@0.1.0#evaluate")
            (param $iteration i32) (param i32 i32 i32 i32) (param $settings i32) (param $length i32) (result i32)
            (i32.store8 (i32.const 256)
              (i32.rem_u (i32.add (local.get $iteration) (i32.const {number})) (i32.const 3)))
            (i32.store (i32.const 260) (i32.const 272))
            (i32.store (i32.const 264) (i32.const 2))
            (i32.store (i32.const 272) (i32.const 16))
            (i32.store (i32.const 276) (i32.const 11))
            (i32.store (i32.const 280) (local.get $settings))
            (i32.store (i32.const 284) (local.get $length))
            (i32.const 256)))"#
    ))
}

/// What it must say.
fn right(number: usize, call: usize) -> Judgement {
    Judgement {
        outcome: match (call + number) % 3 {
            0 => PolicyOutcome::Pass,
            1 => PolicyOutcome::Fail,
            _ => PolicyOutcome::Unknown,
        },
        reasons: vec![format!("policy {number:04}"), settings(number, call)],
    }
}

fn settings(number: usize, call: usize) -> String {
    format!(r#"{{"asked": {number}, "call": {call}}}"#)
}

/// Honest policies, compiled by as many threads as ask them later.
fn crowd(host: &PolicyHost, count: usize) -> Vec<Arc<Policy>> {
    let next = AtomicUsize::new(0);
    let load = || {
        let mut loaded = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return loaded;
            }
            let policy = host.load(&honest(number), Wasi::Absent, &limits());
            loaded.push((number, policy.unwrap()));
        }
    };
    let mut all: Vec<(usize, Arc<Policy>)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(load)).collect();
        let loaded = threads.into_iter().map(|thread| thread.join().unwrap());
        loaded.flatten().collect()
    });
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, policy)| policy).collect()
}

/// Seconds and calls.
#[derive(Debug, Default)]
struct Measured {
    wall: f64,
    calls: f64,
    hostile_calls: f64,
    /// Work for the honest, for the hostile, and of the whole process.
    honest: f64,
    hostile: f64,
    process: f64,
}

impl Measured {
    fn add(&mut self, other: &Self) {
        self.wall += other.wall;
        self.calls += other.calls;
        self.hostile_calls += other.hostile_calls;
        self.honest += other.honest;
        self.hostile += other.hostile;
        self.process += other.process;
    }

    /// Honest calls in a second.
    fn rate(&self) -> f64 {
        self.calls / self.wall
    }
}

/// Work for one kind of calls, and how many there were.
#[derive(Default)]
struct Tally {
    calls: AtomicU64,
    nanos: AtomicU64,
}

impl Tally {
    fn add<T>(&self, run: &Run<T>) {
        let nanos = u64::try_from(run.worked.as_nanos()).unwrap();
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    fn calls(&self) -> f64 {
        number(self.calls.load(Ordering::Relaxed))
    }

    fn seconds(&self) -> f64 {
        number(self.nanos.load(Ordering::Relaxed)) / 1e9
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "calls and nanoseconds of seconds"
)]
fn number(number: u64) -> f64 {
    number as f64
}

/// Asks the honest ones for so long, each ten times and then the next, while the hostile ones are asked again and again.
fn ask_all(
    honest: &[Arc<Policy>],
    hostile: &[(Arc<Policy>, &'static str)],
    phase: Duration,
) -> Measured {
    let (good, bad) = (Tally::default(), Tally::default());
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (begun, work) = (Instant::now(), process_seconds());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed) % honest.len();
                    ask_ten_times(&honest[number], number, &good);
                }
            });
        }
        let hostile: Vec<_> = hostile
            .iter()
            .map(|(policy, code)| {
                scope.spawn(|| {
                    while begun.elapsed() < phase {
                        ask_hostile(policy, code, &bad);
                    }
                })
            })
            .collect();
        thread::sleep(phase);
        // The honest ones go on until the last hostile one has ended, so that both are measured for the same time.
        let ended: Vec<_> = hostile
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        over.store(true, Ordering::Relaxed);
        assert!(
            ended.iter().all(Result::is_ok),
            "a hostile one came to another end"
        );
    });
    Measured {
        wall: begun.elapsed().as_secs_f64(),
        calls: good.calls(),
        hostile_calls: bad.calls(),
        honest: good.seconds(),
        hostile: bad.seconds(),
        process: process_seconds() - work,
    }
}

fn ask_ten_times(policy: &Arc<Policy>, number: usize, tally: &Tally) {
    for call in 0..CALLS {
        let input = PolicyInput {
            iteration: u32::try_from(call).unwrap(),
            settings: settings(number, call),
            ..PolicyInput::default()
        };
        let run = policy.evaluate(&input, &limits()).unwrap();
        tally.add(&run);
        assert_eq!(run.result.unwrap(), right(number, call));
    }
}

fn ask_hostile(policy: &Arc<Policy>, code: &str, tally: &Tally) {
    let hostile = PolicyLimits {
        fuel: 1_000_000_000_000,
        time: if code == "timed_out" { SHORT } else { LONG },
        ..limits()
    };
    let run = policy.evaluate(&PolicyInput::default(), &hostile).unwrap();
    tally.add(&run);
    assert_eq!(run.result.unwrap_err().code(), code);
}

/// How long processors have worked for this process, in its threads of now and before.
fn process_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    // Behind the name, which may have spaces in it.
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields = fields.split_whitespace().skip(11).take(2);
    fields.map(|it| it.parse::<f64>().unwrap()).sum::<f64>() / TICKS
}

/// Each policy that is held has a file, and there are more of them here than any program has.
fn open_more_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let current = maximum;
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
}
