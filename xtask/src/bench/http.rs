//! Questions to a server, beside what the same server takes without the gate.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::Form;
use crate::build;
use crate::process;
use crate::scratch::Scratch;
use crate::setup::{self, Skip};
use crate::terminal::{green, red, step, table};
use crate::workspace::Workspace;

/// How many connections ask at the same time.
const CONNECTIONS: [u32; 3] = [1, 16, 64];
/// How many bytes a question has.
const BYTES: usize = 1024;
/// The least share of the echo's requests that the gate must reach.
const SHARE: f64 = 0.6;
/// How much the server's memory may grow from the first tenth of the questions to the last.
const GROWTH: f64 = 1.1;

/// What the component answers without a question to the gate.
const HEALTH: &str = "/healthz";

/// Sends the same body again and again.
const SCRIPT: &str = r#"
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local file = io.open("question.json")
wrk.body = file:read("*a")
file:close()
"#;

/// Both paths at each number of connections, and a million questions.
pub(super) fn measure(workspace: &Workspace, form: Form) -> Result<Option<Skip>> {
    let found = step("looking for wrk", || {
        Ok(setup::ensure_package(workspace, "wrk"))
    })?;
    if let Err(reason) = found {
        let name = "http".to_owned();
        return Ok(Some(Skip { name, reason }));
    }
    let built = build::host(workspace, form.profile())?;
    let scratch = Scratch::new("http")?;
    let ground = Ground::new(&scratch, &built.binary)?;
    let seconds = if form.is_quick() { 1 } else { 8 };
    let rows = step("asking", || {
        let rows = CONNECTIONS
            .iter()
            .map(|count| ground.compare(*count, seconds));
        rows.collect::<Result<Vec<Row>>>()
    })?;
    let many = if form.is_quick() { 20_000 } else { 1_000_000 };
    let memory = step(&format!("asking {many} times"), || ground.grow(many))?;
    form.enforce(judge_memory(many, &memory))?;
    form.enforce(report(&rows))?;
    Ok(None)
}

/// What one run of the client found.
struct Found {
    requests: u64,
    a_second: f64,
    /// In milliseconds.
    p99: f64,
}

struct Row {
    connections: u32,
    gate: Found,
    health: Found,
    echo: Found,
}

/// A server, and the questions to it.
struct Ground {
    folder: std::path::PathBuf,
    address: String,
    server: Child,
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Ground {
    fn new(scratch: &Scratch, binary: &Path) -> Result<Self> {
        let folder = scratch.path("work");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("ask.lua"), SCRIPT)?;
        fs::write(folder.join("question.json"), question())?;
        let mut server = Command::new(binary)
            .args(["serve", "--json", "--listen", "127.0.0.1:0"])
            .args(["--no-access-log", "--echo"])
            .current_dir(&folder)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let output = server.stdout.take().context("it has an output")?;
        BufReader::new(output).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
        let address = said.get("address").and_then(Value::as_str);
        Ok(Self {
            address: address
                .context("the server did not say where it is")?
                .to_owned(),
            folder,
            server,
        })
    }

    fn compare(&self, connections: u32, seconds: u32) -> Result<Row> {
        // In turn, so that both see the same machine.
        self.ask("/echo", connections, 1)?;
        self.ask("/v1/evaluate-final", connections, 1)?;
        Ok(Row {
            connections,
            echo: self.ask("/echo", connections, seconds)?,
            health: self.ask(HEALTH, connections, seconds)?,
            gate: self.ask("/v1/evaluate-final", connections, seconds)?,
        })
    }

    fn ask(&self, path: &str, connections: u32, seconds: u32) -> Result<Found> {
        let mut wrk = Command::new("wrk");
        if path != HEALTH {
            wrk.args(["--script", "ask.lua"]);
        }
        wrk.args(["--threads", "1", "--latency"])
            .args(["--connections", &connections.to_string()])
            .args(["--duration", &format!("{seconds}s")])
            .arg(format!("http://{}{path}", self.address))
            .current_dir(&self.folder);
        let said = process::capture(&mut wrk)?;
        if said.contains("Non-2xx") || said.contains("Socket errors") {
            bail!("not every question was answered: {said}");
        }
        read(&said).with_context(|| said.clone())
    }

    /// The server's memory in MB after each tenth of so many questions.
    fn grow(&self, many: u64) -> Result<Vec<f64>> {
        let mut memory = Vec::new();
        let mut asked = 0;
        while asked < many {
            let found = self.ask("/v1/evaluate-final", 64, if many < 100_000 { 1 } else { 5 })?;
            asked += found.requests;
            memory.push(self.memory()?);
        }
        Ok(memory)
    }

    fn memory(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next());
        let kilobytes: f64 = kilobytes.context("no VmRSS")?.parse()?;
        Ok(kilobytes / 1000.0)
    }
}

/// An evaluation of as many bytes as are wanted.
fn question() -> String {
    let with = |output: String| {
        let checks =
            json!([{ "id": "tests_green", "outcome": "fail", "reason": "2 of 14 failed" }]);
        json!({
            "contract": { "mode": "ralph", "completion_token": "COMPLETE", "completion_checks": ["tests_green"] },
            "iteration": { "index": 1, "action": "final", "output": output, "checks": checks },
        })
        .to_string()
    };
    let end = "<promise>COMPLETE</promise>";
    let rest = BYTES.saturating_sub(with(end.to_owned()).len());
    with(format!("{}{end}", "x".repeat(rest)))
}

/// What the client printed.
fn read(said: &str) -> Option<Found> {
    let after = |name: &str| {
        let mut lines = said.lines().map(str::trim);
        lines.find_map(|line| line.strip_prefix(name).map(str::trim))
    };
    let requests = said.lines().find(|line| line.contains(" requests in "))?;
    Some(Found {
        requests: requests.split_whitespace().next()?.parse().ok()?,
        a_second: after("Requests/sec:")?.parse().ok()?,
        p99: milliseconds(after("99%")?)?,
    })
}

fn milliseconds(text: &str) -> Option<f64> {
    let units = [("us", 0.001), ("ms", 1.0), ("s", 1000.0)];
    units.iter().find_map(|(unit, factor)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(number * factor)
    })
}

fn report(rows: &[Row]) -> Result<()> {
    let mut shown = vec![
        [
            "connections",
            "evaluate-final",
            "p99",
            "healthz",
            "echo",
            "p99",
            "share",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for row in rows {
        shown.push(vec![
            row.connections.to_string(),
            format!("{:.0}/s", row.gate.a_second),
            format!("{:.2} ms", row.gate.p99),
            format!("{:.0}/s", row.health.a_second),
            format!("{:.0}/s", row.echo.a_second),
            format!("{:.2} ms", row.echo.p99),
            format!("{:.0} %", row.share() * 100.0),
        ]);
    }
    print!("{}", table(&shown));
    let short: Vec<String> = rows
        .iter()
        .filter(|row| row.share() < SHARE)
        .map(|row| row.connections.to_string())
        .collect();
    if short.is_empty() {
        println!("{} at least {SHARE} of the echo", green("good:"));
        return Ok(());
    }
    println!("{}", red("slower than it may be"));
    bail!(
        "less than {SHARE} of the echo at {} connections",
        short.join(", ")
    )
}

impl Row {
    fn share(&self) -> f64 {
        self.gate.a_second / self.echo.a_second
    }
}

fn judge_memory(many: u64, memory: &[f64]) -> Result<()> {
    let tenth = memory.len() / 10;
    let (first, last) = (memory.get(tenth), memory.last());
    let (Some(first), Some(last)) = (first, last) else {
        bail!("nothing was measured");
    };
    println!("  {many} questions: {first:.1} MB after the first tenth, {last:.1} MB at the end");
    if last / first > GROWTH {
        bail!(
            "the server's memory grows: {:.2} times, at most {GROWTH}",
            last / first
        );
    }
    println!("{} its memory is flat", green("good:"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "Running 8s test @ http://127.0.0.1:1/echo\n  1 threads and 16 connections\n  Thread Stats   Avg\n  \
        Latency Distribution\n     50%  512.00us\n     99%    1.25ms\n  80000 requests in 8.00s, 90.00MB read\n\
        Requests/sec:  10000.50\nTransfer/sec:     11.25MB\n";

    #[test]
    fn what_the_client_prints_is_read() {
        let found = read(SAID).unwrap();
        assert_eq!(
            (found.requests, found.a_second, found.p99),
            (80_000, 10_000.5, 1.25)
        );
        assert_eq!(milliseconds("512.00us"), Some(0.512));
        assert_eq!(milliseconds("2.00s"), Some(2000.0));
        assert!(read("").is_none());
    }

    #[test]
    fn a_question_has_its_length() {
        assert_eq!(question().len(), BYTES);
    }

    #[test]
    fn too_slow_and_too_large_are_failures() {
        let found = |a_second| Found {
            requests: 1,
            a_second,
            p99: 1.0,
        };
        let row = |gate, echo| Row {
            connections: 16,
            gate: found(gate),
            health: found(echo),
            echo: found(echo),
        };
        report(&[row(60.0, 100.0)]).unwrap();
        let slow = report(&[row(59.0, 100.0)]).unwrap_err().to_string();
        assert_eq!(slow, "less than 0.6 of the echo at 16 connections");
        judge_memory(10, &[100.0, 109.0]).unwrap();
        assert!(judge_memory(10, &[100.0, 112.0]).is_err());
    }
}
