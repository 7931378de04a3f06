//! Every log that the tests left is replayed, by the command and by the package for Node: not one byte may differ.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::bindings::node;
use crate::workspace::Workspace;

/// The variable that tells tests where to leave their logs.
pub(crate) const VARIABLE: &str = "RALPH_GATE_TEST_LOGS";
/// Where those are that a test damaged on purpose, as it says itself.
const SPOILED: &str = "spoiled";
/// Fewer logs with verdicts than this, and the tests leave none any more.
const LEAST: usize = 100;
/// How many logs the command is asked about at once.
const AT_ONCE: usize = 100;
/// How many problems are shown.
const SHOWN: usize = 20;

/// Where tests leave their logs.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target().join("test-logs")
}

/// The same, where it is there.
pub(crate) fn made(workspace: &Workspace) -> Result<PathBuf> {
    let folder = folder(workspace);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Forgets those of earlier runs.
pub(crate) fn clear(workspace: &Workspace) -> Result<()> {
    let folder = folder(workspace);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(())
}

/// What replays logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Node,
}

/// The logs that are there.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    /// With verdicts.
    judged: BTreeMap<PathBuf, Judged>,
    /// In which nothing was judged.
    unjudged: usize,
    /// Damaged on purpose.
    spoiled: usize,
}

/// The verdicts of a log.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Judged {
    verdicts: usize,
    /// The lines of those of which only digests were recorded.
    digests: Vec<u64>,
}

impl Judged {
    fn of(text: &str) -> Self {
        let mut judged = Self::default();
        for (line, content) in (1..).zip(text.lines()) {
            let event: Value = serde_json::from_str(content).unwrap_or_default();
            if event.get("event").and_then(Value::as_str) != Some("verdict") {
                continue;
            }
            judged.verdicts += 1;
            let recorded = event.pointer("/data/recorded").and_then(Value::as_str);
            if recorded == Some("digest_only") {
                judged.digests.push(line);
            }
        }
        judged
    }
}

impl Logs {
    /// Looks at what the tests left.
    pub(crate) fn find(workspace: &Workspace) -> Result<Self> {
        let folder = folder(workspace);
        let mut logs = Self::default();
        for path in logs_in(&folder)? {
            let bytes = fs::read(&path)?;
            let judged = Judged::of(&String::from_utf8_lossy(&bytes));
            if judged.verdicts == 0 {
                logs.unjudged += 1;
            } else {
                logs.judged.insert(path, judged);
            }
        }
        let spoiled = folder.join(SPOILED);
        if spoiled.exists() {
            logs.spoiled = logs_in(&spoiled)?.len();
        }
        if logs.judged.len() < LEAST {
            bail!(
                "the tests left {} logs with verdicts in {}, and there should be {LEAST} or more",
                logs.judged.len(),
                folder.display()
            );
        }
        Ok(logs)
    }

    /// Replays all of them. Any difference is an error.
    pub(crate) fn replay(
        &self,
        workspace: &Workspace,
        binary: &Path,
        language: Language,
    ) -> Result<()> {
        let reports = match language {
            Language::Rust => self.by_command(binary)?,
            Language::Node => self.by_node(workspace)?,
        };
        let mut tally = Tally::default();
        for (path, judged) in &self.judged {
            match reports.get(path) {
                Some(report) => tally.add(path, judged, report),
                None => tally.problem(path, "was not answered"),
            }
        }
        println!("    {language:?}: {tally}");
        for problem in tally.problems.iter().take(SHOWN) {
            println!("    {problem}");
        }
        if !tally.problems.is_empty() {
            bail!(
                "{} of {} logs are not what the gate says today, by {language:?}",
                tally.problems.len(),
                self.judged.len()
            );
        }
        Ok(())
    }

    fn by_command(&self, binary: &Path) -> Result<BTreeMap<PathBuf, Value>> {
        let paths: Vec<&PathBuf> = self.judged.keys().collect();
        let mut reports = BTreeMap::new();
        for some in paths.chunks(AT_ONCE) {
            let mut command = Command::new(binary);
            command.args(["replay", "--json"]).args(some);
            // It fails where only digests were recorded. What it says is what counts.
            let output = command.stderr(Stdio::inherit()).output()?;
            let answer: Value = serde_json::from_slice(&output.stdout)
                .with_context(|| String::from_utf8_lossy(&output.stdout).into_owned())?;
            let logs = answer.get("logs").and_then(Value::as_array);
            let logs = logs.with_context(|| format!("`ralph-gate replay` says {answer}"))?;
            reports.extend(logs.iter().filter_map(named));
        }
        Ok(reports)
    }

    /// All of them in one process.
    fn by_node(&self, workspace: &Workspace) -> Result<BTreeMap<PathBuf, Value>> {
        let mut command = workspace.program("node", &["replay.mjs"]);
        command.current_dir(node::installed(workspace));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("node can't be started")?;
        let list: String = self.judged.keys().fold(String::new(), |list, path| {
            format!("{list}{}\n", path.display())
        });
        let mut input = child.stdin.take().context("it has no input")?;
        // It reads all of it before it prints anything.
        input.write_all(list.as_bytes())?;
        drop(input);
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!("`node replay.mjs` failed with {}", output.status);
        }
        let lines = String::from_utf8(output.stdout)?;
        let reports = lines.lines().map(serde_json::from_str::<Value>);
        let reports: Vec<Value> = reports.collect::<Result<_, _>>()?;
        Ok(reports.iter().filter_map(named).collect())
    }
}

impl fmt::Display for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} logs; beside them {} in which nothing was judged and {} that a test damaged on purpose",
            self.judged.len(),
            self.unjudged,
            self.spoiled
        )
    }
}

/// A report, and the log that it is about.
fn named(report: &Value) -> Option<(PathBuf, Value)> {
    let log = report.get("log").and_then(Value::as_str)?;
    Some((PathBuf::from(log), report.clone()))
}

fn logs_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("no folder {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// What came of replaying.
#[derive(Debug, Default)]
struct Tally {
    logs: usize,
    equal: usize,
    digests: usize,
    problems: Vec<String>,
}

impl Tally {
    fn add(&mut self, path: &Path, judged: &Judged, report: &Value) {
        self.logs += 1;
        if let Some(error) = report.get("error") {
            self.problem(path, &format!("can't be replayed: {error}"));
            return;
        }
        let breaks = report.get("breaks").and_then(Value::as_array);
        if breaks.is_none_or(|breaks| !breaks.is_empty()) {
            let breaks = report.get("breaks").cloned().unwrap_or_default();
            self.problem(path, &format!("was changed, and no test says so: {breaks}"));
        }
        let iterations = report.get("iterations").and_then(Value::as_array);
        let iterations = iterations.map_or(&[][..], Vec::as_slice);
        if iterations.len() != judged.verdicts {
            let (found, verdicts) = (iterations.len(), judged.verdicts);
            self.problem(
                path,
                &format!("has {verdicts} verdicts, and {found} were replayed"),
            );
        }
        for iteration in iterations {
            let line = iteration.get("line").and_then(Value::as_u64);
            let is_digest = line.is_some_and(|line| judged.digests.contains(&line));
            match iteration.get("outcome").and_then(Value::as_str) {
                Some("equal") => self.equal += 1,
                Some("different") | None => self.problem(path, &format!("differs: {iteration}")),
                // Whatever the others are called: it was not evaluated again.
                Some(_) if is_digest => self.digests += 1,
                Some(_) => self.problem(path, &format!("was not replayed: {iteration}")),
            }
        }
    }

    fn problem(&mut self, path: &Path, problem: &str) {
        let problem: String = problem.chars().take(400).collect();
        self.problems.push(format!("{} {problem}", path.display()));
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} logs, {} iterations with the same bytes, {} of which only digests are known, {} problems",
            self.logs,
            self.equal,
            self.digests,
            self.problems.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn judged(verdicts: usize, digests: &[u64]) -> Judged {
        Judged {
            verdicts,
            digests: digests.to_vec(),
        }
    }

    fn problems(judged: &Judged, report: &Value) -> Vec<String> {
        let mut tally = Tally::default();
        tally.add(Path::new("a"), judged, report);
        tally.problems
    }

    #[test]
    fn verdicts_are_counted_and_those_that_are_digests_are_known_by_their_line() {
        let text = "{\"event\":\"loop_started\",\"data\":{}}\n{\"event\":\"verdict\",\"data\":{}}\nnonsense\n\
                    {\"event\":\"verdict\",\"data\":{\"recorded\":\"digest_only\"}}\n";
        assert_eq!(Judged::of(text), judged(2, &[4]));
    }

    #[test]
    fn a_log_is_good_when_every_verdict_was_replayed_or_is_a_digest() {
        let report = json!({ "breaks": [], "iterations": [
            { "line": 2, "outcome": "equal" }, { "line": 4, "outcome": "not_replayed" },
        ] });
        assert_eq!(problems(&judged(2, &[4]), &report), Vec::<String>::new());
        assert_eq!(problems(&judged(2, &[]), &report).len(), 1);
        assert_eq!(problems(&judged(3, &[4]), &report).len(), 1);
    }

    #[test]
    fn a_difference_a_change_and_an_error_are_problems() {
        let different =
            json!({ "breaks": [], "iterations": [{ "line": 2, "outcome": "different" }] });
        let changed =
            json!({ "breaks": [{ "line": 1 }], "iterations": [{ "line": 2, "outcome": "equal" }] });
        let failed = json!({ "error": "x" });
        for report in [different, changed, failed] {
            assert_eq!(problems(&judged(1, &[2]), &report).len(), 1, "{report}");
        }
    }
}
