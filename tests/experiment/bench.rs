//! A place for one experiment: a plan, tasks, scripted agents, and a look at what was left.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Child;

use ralph_gate_tests::agent_script::{Script, Step};
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::place::Place;
use ralph_gate_tests::said::Said;
use ralph_gate_tests::waiting::wait_until;
use serde_json::Value;

/// A loop that is complete when done.txt says so and the token is promised.
const CONFIG: &str = r#"
[contract]
completion_token = "COMPLETE"
completion_checks = ["work"]
loop_max_iters = 3

[checks.work]
kind = "file"
path = "done.txt"
contains = "done"
"#;

/// A folder with a plan.
pub(crate) struct Bench(Place);

impl Deref for Bench {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Bench {
    /// Tasks with what their agent does in each turn, and more fields of the plan.
    pub(crate) fn new(fields: &str, tasks: &[(&str, &[Vec<Step>])]) -> Self {
        let bench = Self(Place::new(&[("notes.txt", "")]));
        let argv = [
            env!("CARGO_BIN_EXE_scripted-agent"),
            "{plan}/agent/{task}.json",
        ];
        bench.plan(
            fields,
            &argv,
            &tasks.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        );
        for (id, turns) in tasks {
            bench.write(&format!("tasks/{id}/ralph-gate.toml"), CONFIG);
            bench.write(&format!("tasks/{id}/src/{id}.txt"), id);
            bench.script(id, turns);
        }
        bench
    }

    /// Writes the plan.
    pub(crate) fn plan(&self, fields: &str, agent: &[&str], tasks: &[&str]) {
        let mut plan = format!(
            "name = \"trial\"\nseed = 7\nprimary_metric = \"false_complete_rate\"\noutput = \"../results\"\nagent = {agent:?}\n\
             {fields}\n[arms.standard]\nenforcement = \"shadow\"\n[arms.ralph]\nenforcement = \"enforce\"\n"
        );
        for id in tasks {
            plan.push_str(&format!(
                "[[tasks]]\nid = \"{id}\"\nclass = \"chores\"\nfolder = \"tasks/{id}\"\nprompt = \"Do {id}.\"\n"
            ));
        }
        self.write("plan.toml", &plan);
    }

    /// Writes what the agent of a task does in each turn.
    pub(crate) fn script(&self, id: &str, turns: &[Vec<Step>]) {
        let script = Script {
            turns: turns.to_vec(),
        };
        let text = serde_json::to_string(&script).unwrap();
        self.write(&format!("agent/{id}.json"), &text);
    }

    /// `ralph-gate experiment plan.toml --json`, to its end.
    pub(crate) fn experiment(&self, arguments: &[&str]) -> Conducted {
        let words = ["experiment", "plan.toml", "--json"];
        let said = Said::by(self.command(binary()).args(words).args(arguments));
        let alive = self.mark.alive();
        assert!(alive.is_empty(), "left alive: {alive:?}");
        Conducted(said)
    }

    /// The same, and it goes on.
    pub(crate) fn start(&self) -> Child {
        let mut command = self.command(binary());
        command.args(["experiment", "plan.toml", "--json"]);
        command.stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null());
        command.spawn().unwrap()
    }

    /// Waits until a file is there that an agent writes.
    pub(crate) fn wait_for(&self, name: &str) {
        let path = self.beside(name);
        wait_until(name, || path.exists());
    }

    /// Lets an agent that waits for this file go on.
    pub(crate) fn release(&self, name: &str) {
        fs::write(self.beside(name), "").unwrap();
    }

    pub(crate) fn results(&self) -> PathBuf {
        self.beside("results")
    }

    /// The record of a run.
    pub(crate) fn record(&self, run: &str) -> Value {
        let file = self.results().join("runs").join(run).join("run.json");
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{run}: {error}"));
        serde_json::from_str(&text).unwrap()
    }

    /// The events of a run.
    pub(crate) fn log(&self, run: &str) -> Vec<Value> {
        let record = self.record(run);
        let folder = self.results().join("runs").join(run);
        events(&folder.join(record["log"].as_str().unwrap()))
    }

    /// Every log below the runs that count.
    pub(crate) fn logs(&self) -> Vec<PathBuf> {
        logs_below(&self.results().join("runs"))
    }
}

/// The events of a log.
pub(crate) fn events(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Every log below a folder, in order.
pub(crate) fn logs_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut ahead = vec![folder.to_owned()];
    while let Some(folder) = ahead.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                ahead.push(entry.path());
            } else if entry.file_name() == "events.jsonl" {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// What an experiment said.
#[derive(Debug)]
pub(crate) struct Conducted(pub(crate) Said);

impl Conducted {
    /// Asserts that every run is done.
    pub(crate) fn finished(self) -> Self {
        assert_eq!(self.0.code, 0, "{self:#?}");
        assert_eq!(self.0.last()["event"], "finished", "{self:#?}");
        self
    }

    /// The paths of the runs that an event of this name is about, in order.
    pub(crate) fn runs(&self, event: &str) -> Vec<String> {
        let lines = self.0.stdout.lines();
        lines
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|line| line["event"] == event)
            .map(|line| {
                let id = line["run"]["id"].as_str().unwrap();
                id.strip_prefix("trial/").unwrap().to_owned()
            })
            .collect()
    }
}

/// The agent does the work.
pub(crate) fn work() -> Step {
    Step::Write {
        path: "done.txt".into(),
        text: "done\n".into(),
    }
}

/// The agent says that it is done.
pub(crate) fn promise() -> Step {
    Step::Print("All done.\n<promise>COMPLETE</promise>\n".into())
}
