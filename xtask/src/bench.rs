//! `cargo xtask bench`: how long one decision takes, one save, one iteration, and one process that asks.

mod bindings;
mod hook;
mod http;
mod leak;
mod report;
mod size;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::bindings::web;
use crate::build::{self, Profile};
use crate::cli::{Args, Command, Flag};
use crate::process;
use crate::scratch::Scratch;
use crate::setup::{self, Skip};
use crate::terminal::{green, red, step, table, yellow};
use crate::workspace::{Workspace, in_ci};

pub(crate) const COMMAND: Command = Command {
    name: "bench",
    summary: "measure a decision, a save, an iteration and the start of a process",
    details: "gate     one call of the gate, native and in the component\n\
              memory   a save beside two bare syncs and beside a plain write; opening a long session\n\
              loop     an iteration beside its bare agent; a loop of 10,000 of them, and its memory\n\
              startup  a whole `ralph-gate promise` process beside /bin/true (needs hyperfine)\n\
              policy   a call of a policy, what metering costs, compiling, CEL and Rego beside their native engines\n\
              hook     a client's question, by transcripts of 100 KB to 100 MB, beside a hook in bash, jq and perl\n\
              bindings an evaluation in every language that has a package, beside decisions in cedar-wasm and opa-wasm\n\
              web      the gate in Chromium as a component and by wasm-bindgen: size over the wire, start, and an evaluation\n\
              http     questions to a server at 1, 16 and 64 connections, beside its own echo; its memory over a million (needs wrk)\n\
              report   the effectiveness report over 100,000 runs, beside wc and jq\n\
              leak     a million evaluations in Node, and what they leave behind\n\
              size     what the command is made of: its sections, and its code by crate (needs nm)\n\
              all      all of them; this is also what happens without a word",
    flags: &[
        Flag {
            name: "--quick",
            meaning: "fewer runs: good for a look, not for a comparison",
        },
        Flag {
            name: "--short",
            meaning: "as few, of the development build: shows that each of them works, and enforces no limit of speed",
        },
    ],
    words: &[
        "gate", "memory", "loop", "policy", "startup", "hook", "bindings", "web", "http", "report",
        "leak", "size", "all",
    ],
    examples: &["cargo xtask bench", "cargo xtask bench startup --quick"],
    run,
};

/// How much is measured, and of which build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Full,
    /// Fewer runs.
    Quick,
    /// Fewer runs of the build that the tests use.
    Short,
}

impl Form {
    pub(crate) fn is_quick(self) -> bool {
        self != Self::Full
    }

    fn profile(self) -> Profile {
        match self {
            Self::Full | Self::Quick => Profile::Release,
            Self::Short => Profile::Dev,
        }
    }

    /// Passes on whether a limit was kept, unless limits are not enforced.
    fn enforce(self, kept: Result<()>) -> Result<()> {
        match kept {
            Err(error) if self == Self::Short => {
                println!("    not enforced: {error:#}");
                Ok(())
            }
            kept => kept,
        }
    }
}

/// How many milliseconds a process that asks the gate once may take more than /bin/true.
const STARTUP_LIMIT_MS: f64 = 4.0;

fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let form = match (args.has("--short"), args.has("--quick")) {
        (true, _) => Form::Short,
        (_, true) => Form::Quick,
        _ => Form::Full,
    };
    let which = args.word().unwrap_or("all");
    step("checking the toolchain", || setup::ensure(workspace))?;
    for skip in measure_all(workspace, which, form)? {
        println!("{} {skip}", yellow("skipped"));
        if in_ci() {
            bail!("with CI=true nothing may be skipped: {skip}");
        }
    }
    Ok(())
}

/// Measures one of them, or `all`. Gives what could not be measured here.
pub(crate) fn measure_all(workspace: &Workspace, which: &str, form: Form) -> Result<Vec<Skip>> {
    let wanted = |name| which == name || which == "all";
    for (name, title) in [
        ("gate", "measuring the gate"),
        ("memory", "measuring the memory"),
        ("loop", "measuring the loop"),
        ("policy", "measuring policies"),
    ] {
        if wanted(name) {
            step(title, || bench(workspace, name, form))?;
        }
    }
    let others: [(&str, Measure); 8] = [
        ("size", size::measure),
        ("startup", startup),
        ("hook", hook::measure),
        ("bindings", bindings::measure),
        ("web", web::bench),
        ("http", http::measure),
        ("report", report::measure),
        ("leak", leak::measure),
    ];
    let mut skips = Vec::new();
    for (name, measure) in others {
        if wanted(name) {
            skips.extend(measure(workspace, form)?);
        }
    }
    Ok(skips)
}

/// Measures something, or says why it can't be measured here.
type Measure = fn(&Workspace, Form) -> Result<Option<Skip>>;

fn bench(workspace: &Workspace, name: &str, form: Form) -> Result<()> {
    process::run(&mut bench_command(workspace, name, form))
}

fn bench_command(workspace: &Workspace, name: &str, form: Form) -> std::process::Command {
    let verb = match form {
        Form::Short => "test",
        Form::Full | Form::Quick => "bench",
    };
    // The whole workspace, as everywhere: other features would compile wasmtime again.
    let mut cargo = workspace.cargo(&[verb, "--quiet", "--workspace", "--bench", name]);
    if form.is_quick() {
        cargo.args(["--", "--quick"]);
    }
    cargo
}

fn startup(workspace: &Workspace, form: Form) -> Result<Option<Skip>> {
    if let Err(reason) = step("looking for hyperfine", || {
        Ok(setup::ensure_package(workspace, "hyperfine"))
    })? {
        return Ok(Some(Skip {
            name: "startup".to_owned(),
            reason,
        }));
    }
    let built = build::host(workspace, form.profile())?;
    let results = step("measuring whole processes", || {
        measure(workspace, &built.binary, form.is_quick())
    })?;
    form.enforce(report_startup(&results))?;
    Ok(None)
}

/// One run of hyperfine, so that both commands meet the same machine.
fn measure(workspace: &Workspace, binary: &Path, quick: bool) -> Result<Value> {
    let scratch = Scratch::new("bench")?;
    let input = scratch.path("output.txt");
    fs::write(&input, agent_output(4096))?;
    let json = scratch.path("startup.json");
    let (warmup, runs) = if quick { ("5", "30") } else { ("20", "200") };
    let mut hyperfine = workspace.program("hyperfine", &["-N", "--warmup", warmup, "--runs", runs]);
    hyperfine
        .arg("--export-json")
        .arg(&json)
        .arg("/bin/true")
        .arg(format!("{} promise {}", quoted(binary), quoted(&input)));
    process::run(&mut hyperfine)?;
    let text = fs::read_to_string(&json).context("hyperfine left no results")?;
    let folder = workspace.target().join("bench");
    build::replace(&folder.join("startup.json"), text.as_bytes())?;
    println!(
        "    results: {}",
        build::relative(workspace, &folder.join("startup.json"))
    );
    Ok(serde_json::from_str(&text)?)
}

/// hyperfine splits its commands like a shell does.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// What an agent may have written: prose, then a promise, exactly so many bytes.
fn agent_output(bytes: usize) -> String {
    let promise = "\n<promise>COMPLETE</promise>";
    let prose = "The parser now accepts nested lists, and the tests for them pass.\n";
    let mut text = prose.repeat(bytes / prose.len() + 1);
    text.truncate(bytes.saturating_sub(promise.len()));
    text.push_str(promise);
    text
}

fn report_startup(results: &Value) -> Result<()> {
    let milliseconds = |index: usize, field: &str| {
        let path = format!("/results/{index}/{field}");
        let seconds = results.pointer(&path).and_then(Value::as_f64);
        seconds
            .map(|seconds| seconds * 1000.0)
            .with_context(|| format!("hyperfine's results have no {path}"))
    };
    let mut rows = vec![
        ["command", "mean", "median", "min"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (index, name) in ["/bin/true", "ralph-gate promise, 4 KiB"]
        .iter()
        .enumerate()
    {
        let mut row = vec![(*name).to_owned()];
        for field in ["mean", "median", "min"] {
            row.push(format!("{:.2} ms", milliseconds(index, field)?));
        }
        rows.push(row);
    }
    let above = milliseconds(1, "mean")? - milliseconds(0, "mean")?;
    print!("{}", table(&rows));
    println!("  mean above /bin/true: {above:.2} ms");
    if above > STARTUP_LIMIT_MS {
        // An empty process has next to no work: where it varies like this, others were working.
        let busy = milliseconds(0, "stddev")? > milliseconds(0, "median")?;
        let hint = if busy {
            ". The machine was busy, for /bin/true varied by more than it took: measure again when it is quiet"
        } else {
            ""
        };
        println!("{}", red("slower than it may be"));
        bail!(
            "the process takes {above:.2} ms more than /bin/true; the limit is {STARTUP_LIMIT_MS} ms{hint}"
        );
    }
    println!(
        "{} within {STARTUP_LIMIT_MS} ms above /bin/true",
        green("good:")
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_measured_file_has_its_size_and_ends_with_a_promise() {
        let text = agent_output(4096);
        assert_eq!(text.len(), 4096);
        assert!(text.ends_with("</promise>"));
    }

    #[test]
    fn the_limit_is_on_the_difference_to_the_empty_process() {
        let results = |mean: f64, spread: f64| {
            let one =
                |mean: f64| json!({ "mean": mean, "median": mean, "min": mean, "stddev": spread });
            json!({ "results": [one(0.001), one(mean)] })
        };
        report_startup(&results(0.0049, 0.0)).unwrap();
        let error = report_startup(&results(0.0061, 0.0))
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "the process takes 5.10 ms more than /bin/true; the limit is 4 ms"
        );
        let noisy = report_startup(&results(0.0061, 0.002))
            .unwrap_err()
            .to_string();
        assert!(noisy.contains("The machine was busy"), "{noisy}");
        assert!(report_startup(&json!({ "results": [] })).is_err());
    }

    #[test]
    fn a_path_with_quotes_and_spaces_stays_one_word() {
        assert_eq!(quoted(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
