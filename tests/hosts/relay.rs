//! One loop in three languages: begun by the command, gone on with in Node and in Python, and finished by the command. Its log
//! is one unbroken chain, and every verdict in it is the one that the gate gives today.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::logs::Scratch;
use serde_json::{Value, json};

const KEY: &str = "relay";

const CONFIG: &str = r#"
[contract]
mode = "ralph"
completion_token = "COMPLETE"
completion_checks = ["there"]
[agent]
argv = ["sh", "agent.sh"]
[checks.there]
kind = "file"
path = "done.txt"
exists = true
"#;

/// A folder with a loop.
struct Relay(Scratch);

/// Lets every language have its turn. `target` is cargo's target folder.
pub(crate) fn run(target: &Path) -> Result<()> {
    let relay = Relay::new()?;
    relay.agent_says("LOOP_BLOCKED")?;
    relay.command(3, &["run", "--session", KEY, "--prompt", "Write done.txt."])?;
    let node = target.join("bindings/node-installed/memory.mjs");
    let in_node = relay.go_on("node".as_ref(), &node)?;
    let python = target.join("bindings/python/installed/bin/python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts/memory.py");
    let in_python = relay.go_on(&python, &script)?;
    ensure!(
        in_node < in_python,
        "{in_node} events, and then {in_python}"
    );
    relay.agent_says("COMPLETE")?;
    fs::write(relay.0.path().join("done.txt"), "")?;
    relay.command(
        0,
        &["run", "--session", KEY, "--resume", "--accept-contract"],
    )?;
    relay.command(0, &["memory", "verify", KEY])?;
    relay.is_whole(in_python)
}

impl Relay {
    fn new() -> Result<Self> {
        let folder = Scratch::new();
        fs::write(folder.path().join("ralph-gate.toml"), CONFIG)?;
        Ok(Self(folder))
    }

    fn agent_says(&self, promise: &str) -> Result<()> {
        let script = format!("echo '<promise>{promise}</promise>'\n");
        Ok(fs::write(self.0.path().join("agent.sh"), script)?)
    }

    /// Runs the command, which must end like this. Gives what it printed.
    fn command(&self, code: i32, words: &[&str]) -> Result<Vec<u8>> {
        let mut command = Command::new(binary());
        let output = command.args(words).current_dir(self.0.path()).output()?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.code() == Some(code),
            "{words:?} ended with {}: {complaint}",
            output.status
        );
        Ok(output.stdout)
    }

    /// One iteration in another language, in which the check fails. Gives how many events there are then.
    fn go_on(&self, program: &Path, script: &Path) -> Result<u64> {
        let iteration = json!({
            "action": "final",
            "output": format!("Done, says {}.\n<promise>COMPLETE</promise>", script.display()),
            "checks": [{ "id": "there", "outcome": "fail" }],
        });
        let mut child = Command::new(program)
            .arg(script)
            .arg(self.0.path().join(".ralph"))
            .arg(KEY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| program.display().to_string())?;
        let mut stdin = child.stdin.take().context("it has no input")?;
        stdin.write_all(iteration.to_string().as_bytes())?;
        drop(stdin);
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "{} failed", script.display());
        let said: Value = serde_json::from_slice(&output.stdout)?;
        ensure!(
            said["decision"] == "continue",
            "{}: {said}",
            script.display()
        );
        said["events"].as_u64().context("no number of events")
    }

    /// The log replays from its first iteration to its last, and has grown since.
    fn is_whole(&self, events: u64) -> Result<()> {
        let entries = fs::read_dir(self.0.path().join(".ralph"))?.flatten();
        let mut sessions = entries.map(|it| it.path()).filter(|it| it.is_dir());
        let session = sessions.next().context("there is no session")?;
        let log = session.join("events.jsonl");
        let path = log.to_str().context("a path that is no text")?;
        let report = self.command(0, &["replay", "--json", path])?;
        let report: Value = serde_json::from_slice(&report)?;
        let found = &report["logs"][0];
        // The run of the checks before the first iteration, and four iterations.
        let is_whole = found["same"] == true && found["equal"] == 5 && found["breaks"] == json!([]);
        ensure!(is_whole, "{report:#}");
        let lines = u64::try_from(fs::read_to_string(&log)?.lines().count())?;
        ensure!(lines > events, "{lines} lines after {events} events");
        println!(
            "one loop, begun by the command, gone on with in Node and Python, finished by the command: {lines} events in one chain"
        );
        Ok(())
    }
}
