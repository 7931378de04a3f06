//! A workplace for one loop: a real repository, a scripted agent, the real command, and a look at everything that is
//! left when the command has ended.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _};
use std::ops::Deref;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::{fs, thread};

use ralph_gate_tests::agent_script::{Script, Step};
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::event_schema;
use ralph_gate_tests::git;
use ralph_gate_tests::place::Place;
use ralph_gate_tests::processes::runner_of;
use ralph_gate_tests::said::Said;
use ralph_gate_tests::waiting::wait_until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The session's key, in every test.
pub(crate) const KEY: &str = "test";

/// A repository and what is needed to run a loop in it.
pub(crate) struct Workplace(Place);

impl Deref for Workplace {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Workplace {
    /// A repository with these files, committed, and a configuration.
    pub(crate) fn new(config: &str, files: &[(&str, &str)]) -> Self {
        let mut all = vec![("ralph-gate.toml", config)];
        all.extend(files);
        Self::without_config(&all)
    }

    /// The same without a configuration.
    pub(crate) fn without_config(files: &[(&str, &str)]) -> Self {
        let mut all = vec![(".gitignore", ".ralph/\n")];
        all.extend(files);
        let workplace = Self(Place::new(&all));
        // The agent commits too, and gets an environment of its own.
        for (name, value) in [("user.name", "agent"), ("user.email", "agent@example.org")] {
            git::git(&workplace.work(), &["config", name, value]);
        }
        workplace
    }

    /// Lets an agent that waits for this file go on.
    pub(crate) fn release(&self, name: &str) {
        fs::write(self.beside(name), "").unwrap();
    }

    /// Runs another command of `ralph-gate` here.
    pub(crate) fn gate(&self, arguments: &[&str]) -> Said {
        Said::by(self.command(binary()).args(arguments))
    }

    /// Starts `ralph-gate run --json` with an agent that does this in its first, second, … turn.
    pub(crate) fn start(&self, turns: &[Vec<Step>]) -> Running<'_> {
        self.start_with(&["--json"], &[], turns)
    }

    /// Starts `ralph-gate run` with arguments for the command and behind the agent's script.
    pub(crate) fn start_with(
        &self,
        arguments: &[&str],
        agent_arguments: &[&str],
        turns: &[Vec<Step>],
    ) -> Running<'_> {
        self.start_among(&[], arguments, agent_arguments, turns)
    }

    /// Starts `ralph-gate run` with variables of its environment, too.
    pub(crate) fn start_among(
        &self,
        variables: &[(&str, &str)],
        arguments: &[&str],
        agent_arguments: &[&str],
        turns: &[Vec<Step>],
    ) -> Running<'_> {
        let script = Script {
            turns: turns.to_vec(),
        };
        let path = self.beside("script.json");
        fs::write(&path, serde_json::to_string(&script).unwrap()).unwrap();
        let mut command = self.command(binary());
        command
            .envs(variables.iter().copied())
            .args(["run", "--session", KEY])
            .args(arguments)
            .args(["--", env!("CARGO_BIN_EXE_scripted-agent")])
            .arg(path)
            .args(agent_arguments);
        Running::new(self, command.spawn().unwrap())
    }

    /// Runs a loop to its end and looks at all that it left.
    pub(crate) fn run(&self, turns: &[Vec<Step>]) -> Outcome {
        self.start(turns).finish()
    }

    /// Goes on with the loop.
    pub(crate) fn resume(&self, turns: &[Vec<Step>]) -> Outcome {
        self.start_with(&["--json", "--resume"], &[], turns)
            .finish()
    }

    /// Runs a loop in which the agent attacks the memory: what is left of that is for the test to look at.
    pub(crate) fn run_attacked(&self, turns: &[Vec<Step>]) -> Outcome {
        self.start(turns).end()
    }

    /// The session's folder, if there is one.
    pub(crate) fn memory(&self) -> Option<PathBuf> {
        let sessions = fs::read_dir(self.work().join(".ralph")).ok()?;
        let entries = sessions.map(|entry| entry.unwrap().path());
        let folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
        match folders.as_slice() {
            [] => None,
            [only] => Some(only.clone()),
            more => panic!("more than one session: {more:?}"),
        }
    }

    /// What happened, as `ralph-gate logs` tells it.
    pub(crate) fn logs(&self) -> Vec<Value> {
        let said = self.gate(&["logs", KEY, "--json"]);
        assert_eq!(said.code, 0, "{said:?}");
        let lines = said.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// What a command says about the log of the session.
    pub(crate) fn ask_log(&self, command: &str, arguments: &[&str]) -> Value {
        let memory = self.memory().unwrap();
        let log = memory.join("events.jsonl");
        let mut words = vec![command, "--json", log.to_str().unwrap()];
        words.extend(arguments);
        let said = self.gate(&words);
        let answer: Value =
            serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"));
        answer["logs"][0].clone()
    }

    /// Whether `ralph-gate memory verify` finds nothing wrong.
    pub(crate) fn verify(&self) -> Said {
        self.gate(&["memory", "verify", KEY])
    }

    /// Starts a process that a loop could have left.
    pub(crate) fn leave(&self, program: &str, argument: &str) -> Child {
        self.command(program).arg(argument).spawn().unwrap()
    }

    /// Nothing of a loop may be alive now.
    pub(crate) fn see_that_all_are_dead(&self) {
        let alive = self.mark.alive();
        assert!(alive.is_empty(), "left alive: {alive:?}");
    }
}

/// A run that is under way.
pub(crate) struct Running<'w> {
    workplace: &'w Workplace,
    child: Child,
    stdout: Arc<Mutex<String>>,
    readers: Vec<JoinHandle<String>>,
}

impl<'w> Running<'w> {
    fn new(workplace: &'w Workplace, mut child: Child) -> Self {
        let stdout = Arc::new(Mutex::new(String::new()));
        let seen = Arc::clone(&stdout);
        let pipe = child.stdout.take().unwrap();
        let follow = move || {
            let mut pipe = BufReader::new(pipe);
            let mut bytes = Vec::new();
            while pipe.read_until(b'\n', &mut bytes).unwrap() > 0 {
                let _ = seen
                    .lock()
                    .unwrap()
                    .write_str(&String::from_utf8_lossy(&bytes));
                bytes.clear();
            }
            String::new()
        };
        let mut pipe = child.stderr.take().unwrap();
        let read = move || {
            let mut text = String::new();
            pipe.read_to_string(&mut text).unwrap();
            text
        };
        Self {
            workplace,
            child,
            stdout,
            readers: vec![thread::spawn(follow), thread::spawn(read)],
        }
    }

    /// Waits until a file is there that the agent writes.
    pub(crate) fn wait_for(&self, name: &str) {
        let path = self.workplace.beside(name);
        wait_until(name, || {
            assert!(path.exists() || !self.has_said("\"ended\""), "it has ended");
            path.exists()
        });
    }

    fn has_said(&self, text: &str) -> bool {
        self.stdout.lock().unwrap().contains(text)
    }

    /// Kills the process that runs the loop, inside the one that was started.
    pub(crate) fn kill_runner(&mut self) {
        let runner = runner_of(&mut self.child).expect("it has ended");
        kill_process(runner, Signal::KILL).unwrap();
    }

    /// Sends a signal to the process that was started, and to no other.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end, and looks at what a loop must leave behind.
    pub(crate) fn finish(self) -> Outcome {
        let workplace = self.workplace;
        let outcome = self.end();
        outcome.inspect(workplace);
        outcome
    }

    /// Waits for the end. No process may be left.
    pub(crate) fn end(self) -> Outcome {
        let workplace = self.workplace;
        let outcome = self.wait();
        workplace.see_that_all_are_dead();
        outcome
    }

    /// Waits for the end of the process that was started, however it comes.
    pub(crate) fn wait(mut self) -> Outcome {
        let mut status: Option<ExitStatus> = None;
        wait_until("the end of the run", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        // A process that outlives the run may hold a pipe; it is found by its mark, not by waiting for it here.
        let mut texts = Vec::new();
        for reader in std::mem::take(&mut self.readers) {
            wait_until("the end of its output", || reader.is_finished());
            texts.push(reader.join().unwrap());
        }
        let outcome = Outcome {
            code: status.and_then(|status| status.code()),
            stdout: self.stdout.lock().unwrap().clone(),
            stderr: texts.pop().unwrap(),
        };
        for text in [&outcome.stdout, &outcome.stderr] {
            assert!(!text.contains("panicked"), "{outcome:?}");
        }
        outcome
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Of a test that failed: of any other it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a run ended, and all that it said.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// What it told, line by line.
    pub(crate) fn told(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"))
            })
            .collect()
    }

    /// The events of one name.
    pub(crate) fn events(&self, name: &str) -> Vec<Value> {
        let mut told = self.told();
        told.retain(|event| event["event"] == name);
        told
    }

    /// The verdict of each iteration.
    pub(crate) fn verdicts(&self) -> Vec<Value> {
        let events = self.events("verdict").into_iter();
        events.map(|event| event["verdict"].clone()).collect()
    }

    /// The last verdict.
    pub(crate) fn verdict(&self) -> Value {
        let last = self.verdicts().pop();
        last.unwrap_or_else(|| panic!("no verdict: {self:#?}"))
    }

    /// Why it stopped, and the detail.
    pub(crate) fn stop(&self) -> (String, Option<String>) {
        let verdict = self.verdict();
        assert_eq!(verdict["decision"], "stop", "{self:#?}");
        let text = |name: &str| verdict[name].as_str().map(str::to_owned);
        (text("stop_reason").unwrap(), text("detail"))
    }

    /// Asserts why it stopped, after how many iterations.
    pub(crate) fn stopped(&self, reason: &str, detail: Option<&str>, iterations: usize) {
        let expected = (reason.to_owned(), detail.map(str::to_owned));
        assert_eq!(self.stop(), expected, "{self:#?}");
        assert_eq!(self.verdicts().len(), iterations, "{self:#?}");
    }

    /// The failures of a verdict: code and check.
    pub(crate) fn failures_of(verdict: &Value) -> Vec<(String, Option<String>)> {
        let failures = verdict["failures"].as_array().unwrap().iter();
        failures
            .map(|failure| {
                let text = |name: &str| failure[name].as_str().map(str::to_owned);
                (text("code").unwrap(), text("check"))
            })
            .collect()
    }

    /// Asserts that every iteration was refused for this, and that none was taken for complete.
    pub(crate) fn always_refused(&self, code: &str, check: Option<&str>) {
        let wanted = (code.to_owned(), check.map(str::to_owned));
        for verdict in self.verdicts() {
            assert!(
                Self::failures_of(&verdict).contains(&wanted),
                "{wanted:?} in {verdict:#}"
            );
        }
        self.never_completed();
    }

    /// Asserts that every iteration was refused because of this tripwire.
    pub(crate) fn always_tampered(&self, tripwire: &str) {
        let begins = format!("{tripwire}: ");
        for verdict in self.verdicts() {
            let failures = verdict["failures"].as_array().unwrap();
            let is_it = |failure: &Value| {
                let reason = failure["reason"].as_str().unwrap();
                failure["code"] == "evidence_tampered" && reason.starts_with(&begins)
            };
            assert!(failures.iter().any(is_it), "{tripwire} in {verdict:#}");
        }
        self.never_completed();
    }

    /// Asserts that nothing was ever taken for complete.
    pub(crate) fn never_completed(&self) {
        assert_ne!(self.code, Some(0), "{self:#?}");
        for verdict in self.verdicts() {
            assert_ne!(verdict["stop_reason"], "completed", "{verdict:#}");
        }
        for ended in self.events("ended") {
            assert_ne!(ended["stop_reason"], "completed", "{ended:#}");
        }
    }

    /// The code of the error that ended the run.
    pub(crate) fn error_code(&self) -> String {
        assert_eq!(self.code, Some(1), "{self:#?}");
        let last = self.told().pop().unwrap_or_default();
        let code = last["error"]["code"].as_str();
        code.unwrap_or_else(|| panic!("no error: {self:#?}"))
            .to_owned()
    }

    /// What must hold after every loop, however it ended.
    fn inspect(&self, workplace: &Workplace) {
        let verdict = self.verdict();
        let is_completed = verdict["stop_reason"] == "completed";
        let is_open = is_completed || verdict["decision"] == "pass_through";
        let code = match () {
            () if verdict["overridden"] == true => 5,
            () if is_open => 0,
            () => 3,
        };
        assert_eq!(self.code, Some(code), "{self:#?}");
        let ended = self.told().pop().unwrap();
        assert_eq!(ended["event"], "ended", "{ended:#}");
        for field in ["decision", "stop_reason", "detail", "overridden"] {
            assert_eq!(ended[field], verdict[field], "{field}");
        }
        let memory = workplace.memory().expect("no session's folder");
        assert!(memory.join("contract.json").is_file());
        assert_eq!(memory.join("handoff.md").is_file(), !is_open, "handoff.md");
        let logs = workplace.logs();
        assert_eq!(logs.first().unwrap()["event"], "loop_started");
        let saved = logs.last().unwrap();
        assert_eq!(saved["event"], "verdict");
        assert_eq!(saved["data"]["verdict"], verdict);
        let verified = workplace.verify();
        assert_eq!(verified.code, 0, "{verified:?}");
        let log = fs::read_to_string(memory.join("events.jsonl")).unwrap();
        event_schema::check(&log);
        // Whatever happened in it: the gate says the same again.
        let replayed = workplace.ask_log("replay", &[]);
        assert_eq!(replayed["same"], true, "{replayed:#}");
        assert_eq!(replayed["breaks"], serde_json::json!([]), "{replayed:#}");
    }
}
