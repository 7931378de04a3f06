//! A loop is killed at random moments and resumed each time, until it completes; then the next one.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdout, ExitStatus};
use std::thread;
use std::time::Duration;

use ralph_gate_tests::extent::{is_full, seed};
use ralph_gate_tests::processes::runner_of;
use ralph_gate_tests::random::Random;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::history::History;
use crate::workspace::{KEY, Workspace};

/// The iteration in which a loop completes.
const LENGTH: u64 = 20;
/// The most events that a run may tell of before it is killed: about four iterations.
const EVENTS: u32 = 36;

/// So many runs may end before they are killed.
const TOO_LATE: u32 = 500;

/// Each iteration adds its own line, however often it is begun, and takes long enough to be killed in between. One of
/// its processes is in a session of its own.
const AGENT: &str = r#"
cat > /dev/null
grep -qx "step $RALPH_GATE_ITERATION" steps.txt || echo "step $RALPH_GATE_ITERATION" >> steps.txt
setsid sleep 0.02 &
wait $!
echo "made step $RALPH_GATE_ITERATION"
"#;

const CONFIG: &str = r#"
[contract]
mode = "ralph"
completion_checks = ["steps", "lines"]
loop_max_iters = 25
no_progress_limit = 3
max_check_retries = 0

[checks.steps]
kind = "tests_green"
format = "tap"
shell = '''
echo 1..20; n=0
while read -r step; do n=$((n + 1)); echo "ok $n"; done < steps.txt
while [ $n -lt 20 ]; do n=$((n + 1)); echo "not ok $n"; done
'''

[checks.lines]
shell = 'n=0; while read -r step; do n=$((n + 1)); done < steps.txt; test $n -eq 20'
"#;

#[test]
fn a_loop_that_is_killed_and_resumed_loses_and_repeats_nothing() {
    let mut campaign = Campaign {
        random: Random::new(seed()),
        kills: if is_full() { 200 } else { 15 },
        tally: Tally::default(),
    };
    while campaign.kills > 0 && campaign.tally.too_late < TOO_LATE {
        campaign.run_one_loop();
    }
    let tally = campaign.tally;
    println!("{tally:?}");
    assert_eq!(
        campaign.kills, 0,
        "hardly any run could be killed: {tally:?}"
    );
    assert!(
        tally.outer_killed > 0 && tally.inner_killed > 0,
        "{tally:?}"
    );
}

/// What is still to be done, and what was.
struct Campaign {
    random: Random,
    kills: u32,
    tally: Tally,
}

#[derive(Debug, Default)]
struct Tally {
    loops: u32,
    outer_killed: u32,
    inner_killed: u32,
    /// Runs that ended before they could be killed.
    too_late: u32,
    /// Kills before there was a session.
    before_the_session: u32,
    iterations: usize,
}

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// The process that a person started.
    Outer,
    /// The one that runs the loop.
    Inner,
}

/// When, and who.
#[derive(Debug, Clone, Copy)]
struct Plan {
    victim: Victim,
    /// After so many events.
    events: u32,
    /// And so long after the last of them.
    pause: Duration,
}

impl Campaign {
    fn plan(&mut self) -> Option<Plan> {
        if self.kills == 0 {
            return None;
        }
        let random = &mut self.random;
        // A save takes less than a millisecond, an agent many.
        let longest = random.pick(&[1_000, 5_000, 30_000]);
        Some(Plan {
            victim: random.pick(&[Victim::Outer, Victim::Inner]),
            events: random.below(EVENTS),
            pause: Duration::from_micros(random.below(longest).into()),
        })
    }

    fn run_one_loop(&mut self) {
        let commits = self.random.once_in(2);
        let config = format!("{CONFIG}\n[git]\ncommit = {commits}\n");
        let workspace = Workspace::new(&config, AGENT, &["steps.txt"]);
        let mut seen = Seen::default();
        loop {
            let plan = self.plan();
            let options: &[&str] = if seen.session { &["--resume"] } else { &[] };
            let life = Life::live(&workspace, options, plan);
            let place = format!(
                "seed {}, loop {}, with {} kills to come, {plan:?}",
                seed(),
                self.tally.loops + 1,
                self.kills
            );
            let problems = seen.judge(&workspace, &life);
            self.count(plan, &life, &seen);
            assert!(
                problems.is_empty(),
                "{place}: {problems:#?}\n{}\n{}",
                life.status,
                life.output
            );
            if seen.is_complete {
                break;
            }
        }
        self.tally.loops += 1;
        self.tally.iterations += seen.history.verdicts.len();
        assert_eq!(
            workspace.run(&["--resume"]).last_error_code(),
            "loop_completed"
        );
    }

    fn count(&mut self, plan: Option<Plan>, life: &Life, seen: &Seen) {
        let Some(plan) = plan else {
            return;
        };
        match (life.end, plan.victim) {
            (End::Itself, _) => self.tally.too_late += 1,
            (End::Killed, Victim::Outer) => self.tally.outer_killed += 1,
            (End::Killed, Victim::Inner) => self.tally.inner_killed += 1,
        }
        if life.end == End::Killed {
            self.kills -= 1;
            self.tally.before_the_session += u32::from(!seen.session);
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Itself,
    Killed,
}

/// One run of the loop, from its start until nothing of it is left.
#[derive(Debug)]
struct Life {
    end: End,
    status: ExitStatus,
    victim: Option<Victim>,
    /// The last iteration whose verdict was told.
    told: u64,
    output: String,
    problems: Vec<String>,
}

impl Life {
    fn live(workspace: &Workspace, options: &[&str], plan: Option<Plan>) -> Self {
        let mut outer = workspace.run_command(options).spawn().unwrap();
        let mut events = BufReader::new(outer.stdout.take().unwrap());
        let mut output = String::new();
        let end = match plan {
            Some(plan) => attack(&mut outer, &mut events, &mut output, plan),
            None => End::Itself,
        };
        let mut problems = Vec::new();
        if end == End::Killed
            && let Err(problem) = workspace.mark.wait_until_gone()
        {
            problems.push(problem);
            outer.kill().unwrap();
        }
        events.read_to_string(&mut output).unwrap();
        let rest = outer.wait_with_output().unwrap();
        output.push_str(&String::from_utf8_lossy(&rest.stderr));
        if let Err(problem) = workspace.mark.wait_until_gone() {
            problems.push(problem);
        }
        Self {
            end,
            status: rest.status,
            victim: plan.map(|plan| plan.victim),
            told: told(&output),
            output,
            problems,
        }
    }

    /// What its exit status must be.
    fn status_problem(&self) -> Option<String> {
        let (code, signal) = (self.status.code(), self.status.signal());
        let is_right = match (self.end, self.victim) {
            (End::Itself, _) => code == Some(0),
            (End::Killed, Some(Victim::Outer)) => signal == Some(9),
            // It may have said its last word before.
            (End::Killed, _) => code == Some(128 + 9) || code == Some(0),
        };
        (!is_right).then(|| format!("it ended with {}", self.status))
    }
}

/// Waits for the moment, and kills.
fn attack(
    outer: &mut Child,
    events: &mut BufReader<ChildStdout>,
    output: &mut String,
    plan: Plan,
) -> End {
    for _ in 0..plan.events {
        if events.read_line(output).unwrap() == 0 {
            return End::Itself;
        }
    }
    thread::sleep(plan.pause);
    let victim = match plan.victim {
        Victim::Outer => Some(Pid::from_child(outer)),
        Victim::Inner => runner_of(outer),
    };
    match victim {
        Some(victim) if outer.try_wait().unwrap().is_none() => {
            let killed = kill_process(victim, Signal::KILL);
            killed.map_or(End::Itself, |()| End::Killed)
        }
        _ => End::Itself,
    }
}

fn told(output: &str) -> u64 {
    let lines = output
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let verdicts = lines.filter(|line: &Value| line["event"] == "verdict");
    verdicts
        .filter_map(|line| line["iteration"].as_u64())
        .max()
        .unwrap_or_default()
}

/// What is known of a loop.
#[derive(Debug, Default)]
struct Seen {
    session: bool,
    history: History,
    is_complete: bool,
}

impl Seen {
    /// Looks at what a run left behind, and gives every rule that is broken.
    fn judge(&mut self, workspace: &Workspace, life: &Life) -> Vec<String> {
        let mut problems = life.problems.clone();
        problems.extend(life.status_problem());
        if !self.session && life.told == 0 {
            let status = workspace.ask(&["status", KEY, "--json"]);
            if status.code != 0 && status.error_code() == "memory_no_session" {
                return problems;
            }
        }
        self.session = true;
        let status = workspace.status();
        let verified = workspace.ask(&["memory", "verify", KEY, "--json"]);
        if verified.code != 0 {
            problems.push(format!("verify: {}", verified.stdout));
        }
        let history = History::read(workspace);
        problems.extend(history.problems());
        if !history.continues(&self.history) {
            problems.push("what was remembered before is not what is remembered now".to_owned());
        }
        let count = history.verdicts.len() as u64;
        if count < life.told {
            problems.push(format!(
                "{} verdicts were told, {count} are there",
                life.told
            ));
        }
        if status["iteration"] != count || workspace.snapshot_iteration() != count {
            problems.push(format!("{count} verdicts, but the status is {status}"));
        }
        if !status["holder"].is_null() {
            problems.push(format!("a dead process holds the lock: {status}"));
        }
        self.is_complete = status["stop_reason"] == "completed";
        if self.is_complete != (count == LENGTH) || (life.end == End::Itself && !self.is_complete) {
            problems.push(format!("after {count} iterations the status is {status}"));
        }
        self.history = history;
        problems
    }
}
