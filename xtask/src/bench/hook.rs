//! A client's question, beside the same question to a hook in bash, jq and perl.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::{Form, quoted};
use crate::build;
use crate::process;
use crate::scratch::Scratch;
use crate::setup::{self, Skip};
use crate::terminal::{green, red, step, table};
use crate::workspace::Workspace;

/// The sizes of the transcripts, in bytes.
const SIZES: [(usize, &str); 4] = [
    (100_000, "100 KB"),
    (1_000_000, "1 MB"),
    (10_000_000, "10 MB"),
    (100_000_000, "100 MB"),
];
/// How many times faster ours has to be, at every size.
const FASTER: f64 = 15.0;
/// How much longer ours may take with the largest transcript than with the smallest.
const FLAT: f64 = 1.2;
/// How long a file system may remember what was deleted: one without a journal does not give the number of a file that was just
/// deleted to a new one, and after many it searches long. Neither hook is to be measured by what a build deleted.
const FORGOTTEN: Duration = Duration::from_secs(61);
/// What the hook in bash needs.
const PACKAGES: [&str; 4] = ["hyperfine", "bash", "jq", "perl"];

/// Says where the hook's log is.
const STATE: &str = "XDG_STATE_HOME";

const LOOP_FILE: &str = "---\nactive: true\niteration: 1\nsession_id: s1\nmax_iterations: 20\n\
    completion_promise: \"COMPLETE\"\nstarted_at: \"2026-01-01T00:00:00Z\"\n---\n\nMake the tests pass.\n";

/// Both hooks, with transcripts of each size, in one run of hyperfine a size.
pub(super) fn measure(workspace: &Workspace, form: Form) -> Result<Option<Skip>> {
    for package in PACKAGES {
        let found = step(&format!("looking for {package}"), || {
            Ok(setup::ensure_package(workspace, package))
        })?;
        if let Err(reason) = found {
            let name = "hook".to_owned();
            return Ok(Some(Skip { name, reason }));
        }
    }
    let built = build::host(workspace, form.profile())?;
    // One for all of them: nothing is deleted before the last one is measured.
    let scratch = Scratch::new("hook")?;
    let grounds = step("writing transcripts", || {
        let sizes = SIZES.iter();
        let grounds = sizes.map(|(bytes, name)| Ground::new(scratch.path(name), *bytes));
        let grounds = grounds.collect::<Result<Vec<Ground>>>()?;
        // They should not be on their way to the disk while something is measured.
        process::run(&mut workspace.program("sync", &[]))?;
        Ok(grounds)
    })?;
    if !form.is_quick() {
        step("waiting until nothing was deleted for a minute", || {
            thread::sleep(FORGOTTEN);
            Ok(())
        })?;
    }
    let rows = step("measuring hooks", || {
        let sizes = SIZES.iter().zip(&grounds);
        sizes
            .map(|((_, name), ground)| {
                compare(workspace, &built.binary, ground, name, form.is_quick())
            })
            .collect::<Result<Vec<Row>>>()
    })?;
    form.enforce(report(&rows))?;
    Ok(None)
}

/// The medians for one size, in milliseconds.
struct Row {
    size: &'static str,
    /// A question in the middle of a loop.
    ours: f64,
    bash: f64,
    /// The question that begins one.
    first: f64,
}

/// A project with a loop and a transcript, in which both hooks work in turn.
struct Ground {
    folder: PathBuf,
}

impl Ground {
    fn new(folder: PathBuf, bytes: usize) -> Result<Self> {
        fs::create_dir_all(folder.join(".claude"))?;
        fs::write(folder.join("loop.md"), LOOP_FILE)?;
        write_transcript(&folder.join("transcript.jsonl"), bytes)?;
        for (name, is_active) in [("first.json", false), ("event.json", true)] {
            let event = json!({
                "session_id": "s1", "transcript_path": folder.join("transcript.jsonl"), "cwd": folder,
                "hook_event_name": "Stop", "stop_hook_active": is_active,
            });
            fs::write(folder.join(name), event.to_string())?;
        }
        Ok(Self { folder })
    }

    /// The loop as it is before it has begun.
    ///
    /// What was there is moved away and not deleted, for what [`FORGOTTEN`] says.
    fn untouched(&self) -> String {
        let folder = quoted(&self.folder);
        format!(
            "cd {folder} && mkdir -p old .ralph && mv .ralph \"$(mktemp -d old/XXXXXX)\" && cp loop.md .claude/ralph-loop.local.md"
        )
    }

    /// Begins the loop with a first question, and keeps what that leaves.
    fn begin(&self, workspace: &Workspace, hook: &str) -> Result<()> {
        let script = format!(
            "{} && {hook} < first.json > answer.json && cp .claude/ralph-loop.local.md begun.md && rm -rf begun && \
             mkdir -p .ralph && cp -a .ralph begun",
            self.untouched()
        );
        let mut bash = workspace.program("bash", &["-c", &script]);
        process::run(bash.env(STATE, self.folder.join("state")))?;
        let answer = fs::read_to_string(self.folder.join("answer.json"))?;
        if !answer.contains("block") {
            bail!("the hook that is measured does not hold its agent: {hook} said {answer:?}");
        }
        Ok(())
    }

    /// The loop after its first question.
    fn begun(&self) -> String {
        format!(
            "{} && cp -a begun .ralph && cp begun.md .claude/ralph-loop.local.md",
            self.untouched()
        )
    }

    /// The medians of hooks that are asked the same, in milliseconds. Each is started by a shell that becomes the hook, whose
    /// own start hyperfine measures and subtracts.
    fn measure(
        &self,
        workspace: &Workspace,
        hooks: &[&str],
        prepare: &str,
        event: &str,
        quick: bool,
    ) -> Result<Vec<f64>> {
        let results = self.folder.join("results.json");
        let runs = if quick { "5" } else { "40" };
        let mut hyperfine = workspace.program("hyperfine", &["--warmup", "3", "--runs", runs]);
        hyperfine
            .current_dir(&self.folder)
            .env(STATE, self.folder.join("state"))
            .args(["--prepare", prepare])
            .arg("--export-json")
            .arg(&results)
            .args(hooks.iter().map(|hook| format!("exec {hook} < {event}")));
        process::run(&mut hyperfine)?;
        let text = fs::read_to_string(&results).context("hyperfine left no results")?;
        let results: Value = serde_json::from_str(&text)?;
        let median = |index: usize| {
            let path = format!("/results/{index}/median");
            let seconds = results.pointer(&path).and_then(Value::as_f64);
            seconds
                .map(|seconds| seconds * 1000.0)
                .with_context(|| format!("hyperfine's results have no {path}"))
        };
        (0..hooks.len()).map(median).collect()
    }
}

fn compare(
    workspace: &Workspace,
    binary: &Path,
    ground: &Ground,
    size: &'static str,
    quick: bool,
) -> Result<Row> {
    let script = workspace.root().join("tests/benches/hook/hook.sh");
    let ours = format!("{} hook claude-code", quoted(binary));
    let bash = format!("bash {}", quoted(&script));
    ground.begin(workspace, &ours)?;
    let usual = ground.measure(
        workspace,
        &[&ours, &bash],
        &ground.begun(),
        "event.json",
        quick,
    )?;
    let first = ground.measure(
        workspace,
        &[&ours],
        &ground.untouched(),
        "first.json",
        quick,
    )?;
    let [ours, bash] = usual[..] else {
        bail!("hyperfine measured something else");
    };
    Ok(Row {
        size,
        ours,
        bash,
        first: first.first().copied().unwrap_or_default(),
    })
}

/// Prompts, answers and results of tools, as a session leaves them, ending with an answer that promises nothing.
fn write_transcript(path: &Path, bytes: usize) -> Result<()> {
    let line = |role: &str, text: &str| {
        let message = json!({ "role": role, "content": [{ "type": "text", "text": text }] });
        let line = json!({ "type": role, "isSidechain": false, "message": message });
        format!("{line}\n")
    };
    let prose = "The parser now accepts nested lists, and the tests for them pass. ".repeat(20);
    let pair = line("user", "go on") + &line("assistant", &prose);
    let mut file = std::io::BufWriter::new(fs::File::create(path)?);
    for _ in 0..bytes / pair.len() {
        file.write_all(pair.as_bytes())?;
    }
    file.write_all(line("assistant", "Two tests still fail.").as_bytes())?;
    file.flush()?;
    Ok(())
}

fn report(rows: &[Row]) -> Result<()> {
    let mut shown = vec![
        [
            "transcript",
            "ralph-gate hook",
            "bash, jq, perl",
            "faster",
            "ours, first",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for row in rows {
        shown.push(vec![
            row.size.to_owned(),
            format!("{:.2} ms", row.ours),
            format!("{:.1} ms", row.bash),
            format!("{:.1}x", row.bash / row.ours),
            format!("{:.2} ms", row.first),
        ]);
    }
    print!("{}", table(&shown));
    let slow: Vec<&str> = rows
        .iter()
        .filter(|row| row.bash / row.ours < FASTER)
        .map(|row| row.size)
        .collect();
    let ours = || rows.iter().map(|row| row.ours);
    let spread = ours().fold(0.0, f64::max) / ours().fold(f64::INFINITY, f64::min);
    println!("  the slowest of ours beside the fastest: {spread:.2}");
    if !slow.is_empty() {
        println!("{}", red("slower than it may be"));
        bail!("less than {FASTER} times faster at {}", slow.join(", "));
    }
    if spread > FLAT {
        println!("{}", red("not flat"));
        bail!("what it takes grows with the transcript: {spread:.2} times, at most {FLAT}");
    }
    println!(
        "{} {FASTER} times faster at every size, and flat within {FLAT}",
        green("good:")
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: f64, bash: f64) -> Row {
        Row {
            size: "1 MB",
            ours,
            bash,
            first: ours,
        }
    }

    #[test]
    fn both_limits_hold() {
        report(&[row(4.0, 60.0), row(4.8, 100.0)]).unwrap();
        let slow = report(&[row(4.0, 59.0)]).unwrap_err().to_string();
        assert_eq!(slow, "less than 15 times faster at 1 MB");
        let grows = report(&[row(4.0, 100.0), row(5.0, 100.0)]).unwrap_err();
        assert!(grows.to_string().contains("grows"), "{grows}");
    }
}
