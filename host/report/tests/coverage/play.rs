//! Runs of the population, played: the real gate decides each iteration, the real memory writes the log.

use ralph_gate_component::json;
use ralph_gate_component::session::Session;
use ralph_gate_memory::course::{Evaluated, LoopRecord, names};
use ralph_gate_memory::disk::{Disk as _, Place};
use ralph_gate_memory::{Change, Event, Gate, InMemoryStore, SessionKey};
use ralph_gate_report::statistics::Random;
use ralph_gate_types::{
    Action, Artifact, ArtifactKind, CallError, CheckResult, Decision, EngineError, Iteration,
    Outcome, Prd, PrdUpdate, ProgressEntry, ProgressLog, Resumption, Routing, SnapshotView, Usage,
    Verdict,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::population::{
    Agent, Arm, CHECK_OF_DONE, CHECK_OF_UNDONE, CRASH, MAX_ERRORS, MAX_ITERATIONS, POPULATION,
};

/// The gate, as the memory asks it.
#[derive(Debug)]
struct Formats;

fn ask<T: DeserializeOwned>(function: &str, input: &Value) -> Result<T, CallError> {
    let answer = json::call(function, &input.to_string());
    serde_json::from_str(&answer).map_err(|error| {
        CallError::Engine(EngineError::Trap {
            reason: format!("{error}: {answer}"),
        })
    })
}

fn ask_text(function: &str, input: &Value, name: &str) -> Result<String, CallError> {
    let answer: Value = ask(function, input)?;
    Ok(answer[name].as_str().unwrap().to_owned())
}

impl Gate for Formats {
    /// The gate's crate is no component.
    fn digest(&self) -> Option<&str> {
        None
    }

    fn read_prd(&self, text: &str) -> Result<Prd, CallError> {
        ask("read_prd", &json!({ "text": text }))
    }

    fn update_prd(&self, text: &str, updates: &[PrdUpdate]) -> Result<String, CallError> {
        let input = json!({ "text": text, "updates": updates });
        ask_text("update_prd", &input, "text")
    }

    fn read_progress(&self, text: &str) -> Result<ProgressLog, CallError> {
        ask("read_progress", &json!({ "text": text }))
    }

    fn write_progress(&self, entry: &ProgressEntry) -> Result<String, CallError> {
        ask_text("write_progress", &json!({ "entry": entry }), "text")
    }

    fn read_snapshot(&self, text: &str) -> Result<SnapshotView, CallError> {
        ask("read_snapshot", &json!({ "text": text }))
    }

    fn resume(
        &self,
        contract: &str,
        snapshot: &str,
        resumption: &Resumption,
    ) -> Result<String, CallError> {
        let input = json!({ "contract": contract, "snapshot": snapshot, "resumption": resumption });
        ask_text("resume", &input, "snapshot")
    }
}

/// What all runs of an arm begin with.
pub(crate) struct Stage {
    arm: Arm,
    session: Session,
    started: LoopRecord,
    /// What an agent says in every turn.
    output: String,
}

impl Stage {
    pub(crate) fn new(arm: Arm) -> Self {
        let request = json!({
            "mode": "ralph",
            "enforcement": match arm { Arm::Standard => "shadow", Arm::Ralph => "enforce" },
            "completion_checks": ["tests"],
            "loop_max_iters": MAX_ITERATIONS,
            "max_consecutive_failures": MAX_ERRORS,
            "no_progress_limit": 0,
            "plateau_limit": 0,
        });
        let routing: Routing = ask("route", &json!({ "request": request.to_string() })).unwrap();
        let contract = routing.contract.unwrap();
        let started = serde_json::from_value(json!({
            "version": "0.1.0",
            "at_ms": 1_000,
            "mode": routing.mode,
            "profile": routing.profile,
            "enforcement": routing.enforcement,
            "task_class": "simulated",
            "contract": contract,
            "contract_digest": routing.digest,
            "rules_digest": "",
            "argv": ["agent"],
            "prompt": "make it work",
        }))
        .unwrap();
        Self {
            arm,
            session: Session::open(&contract, None).unwrap(),
            started,
            output: "I have looked into it.".to_owned(),
        }
    }

    /// The same, with agents that say this in every turn.
    pub(crate) fn with_output(self, output: String) -> Self {
        Self { output, ..self }
    }

    /// Plays a run and gives its `events.jsonl`.
    pub(crate) fn play(
        &self,
        agent: &Agent,
        name: &str,
        task: Option<&str>,
        random: &mut Random,
    ) -> Vec<u8> {
        let mut started = self.started.clone();
        let labels = [("arm", self.arm.name()), ("experiment", "simulated")];
        let labels = labels.into_iter().chain(task.map(|task| ("task", task)));
        started.labels = labels
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let start = started.start(None).unwrap();
        let key = SessionKey::Session(name.to_owned());
        let store = InMemoryStore::new(&Formats, &key, &start).unwrap();
        let mut run = Run {
            store,
            session: self.session.clone(),
            output: &self.output,
            index: 0,
            done: false,
        };
        match run.play(self.arm, agent, random) {
            End::Killed => {}
            End::Ended => run.audit(),
        }
        let place = Place::member("events.jsonl");
        run.store.disk().read(&place, 0).unwrap().unwrap().0
    }
}

/// Which agent does a run.
pub(crate) fn choose(random: &mut Random) -> &'static Agent {
    let mut left = random.unit();
    for agent in &POPULATION {
        left -= agent.share;
        if left < 0.0 {
            return agent;
        }
    }
    &POPULATION[0]
}

enum End {
    /// Nothing is written down any more.
    Killed,
    Ended,
}

struct Run<'s> {
    store: InMemoryStore<'static>,
    session: Session,
    output: &'s str,
    index: u32,
    /// What nobody but the audit sees.
    done: bool,
}

impl Run<'_> {
    fn play(&mut self, arm: Arm, agent: &Agent, random: &mut Random) -> End {
        loop {
            if random.unit() < CRASH {
                return End::Killed;
            }
            let action = self.turn(agent, random);
            let decision = self.judge(action, agent, random);
            let over = match arm {
                Arm::Ralph => decision == Decision::Stop,
                Arm::Standard => action != Action::Continue,
            };
            assert_eq!(decision == Decision::PassThrough, arm == Arm::Standard);
            if over {
                return End::Ended;
            }
        }
    }

    /// What the agent does.
    fn turn(&mut self, agent: &Agent, random: &mut Random) -> Action {
        if random.unit() < agent.error {
            return Action::Error;
        }
        self.done = self.done || random.unit() < agent.skill;
        if self.done || random.unit() >= agent.honesty {
            Action::Final
        } else {
            Action::Continue
        }
    }

    /// What the host does: looks at the work, asks the gate, saves.
    fn judge(&mut self, action: Action, agent: &Agent, random: &mut Random) -> Decision {
        self.index += 1;
        let passes = if self.done {
            CHECK_OF_DONE
        } else {
            CHECK_OF_UNDONE
        };
        let outcome = if random.unit() < passes {
            Outcome::Pass
        } else {
            Outcome::Fail
        };
        let mut exponential = |mean: f64| -mean * libm::log(random.unit());
        let cost = exponential(agent.cost);
        let time = exponential(agent.time / 2.0) + exponential(agent.time / 2.0);
        let iteration = Iteration {
            index: self.index,
            action,
            output: self.output.to_owned(),
            checks: vec![CheckResult::new("tests", outcome)],
            // Something changes in every turn.
            artifacts: vec![Artifact {
                name: "work".to_owned(),
                kind: ArtifactKind::Text,
                content: format!("turn {}", self.index),
            }],
            usage: Usage {
                elapsed_ms: format!("{time:.0}").parse().unwrap(),
                tool_calls: 3,
                cost_usd: Some(format!("{cost:.6}")),
                tokens: 5_000,
            },
            ..Iteration::default()
        };
        let text = serde_json::to_string(&iteration).unwrap();
        let answer = json::evaluate_on(&mut self.session, &text);
        let verdict: Verdict =
            serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
        let evaluated = Evaluated {
            at_ms: 1_000 * u64::from(self.index),
            iteration: &iteration,
            verdict: &verdict,
            events: Vec::new(),
            prd: Vec::new(),
            runs: Vec::new(),
            arguments: Vec::new(),
        };
        let change = evaluated.change(self.store.key()).unwrap();
        self.store.save(&change).unwrap();
        verdict.decision
    }

    /// What the work really is, written down after the loop.
    fn audit(&mut self) {
        let found = json!({
            "at_ms": 1_000_000,
            "truth": if self.done { "complete" } else { "incomplete" },
            "witness": "audit",
            "by": "the simulation",
            "reason": "",
            "checks": [],
        });
        let change = Change {
            events: vec![Event::new(names::AUDIT, &found).unwrap()],
            ..Change::default()
        };
        self.store.save(&change).unwrap();
    }
}
