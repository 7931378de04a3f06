//! `cargo xtask mutants`: breaks the gate in a thousand small ways, each of which a test must notice.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::cli::{Args, Command, Flag};
use crate::process;
use crate::setup;
use crate::terminal::{green, red, step, table};
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command {
    name: "mutants",
    summary: "break the gate on purpose and see that a test notices",
    details: "Runs cargo-mutants as .cargo/mutants.toml says, on a copy of the checkout. Installs it into\n\
              the build folder where it is missing. A change that no test notices is an error; those\n\
              that change nothing are listed in .cargo/mutants.toml, each with its reason.\n\
              Takes about an hour on two cores.",
    flags: &[Flag {
        name: "--jobs N",
        meaning: "how many changes are tested at a time; as many as there are cores unless said",
    }],
    words: &[],
    examples: &["cargo xtask mutants", "cargo xtask mutants --jobs 1"],
    run,
};

/// The version that the list of exceptions was made with.
const VERSION: &str = "27.1.0";

fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    step("checking the toolchain", || setup::ensure(workspace))?;
    let program = step("looking for cargo-mutants", || ensure(workspace))?;
    let jobs = match args.number("--jobs") {
        Some(jobs) => jobs.to_string(),
        None => std::thread::available_parallelism()
            .map_or(1, usize::from)
            .to_string(),
    };
    let folder = workspace.target().join("mutants");
    let outcomes = folder.join("mutants.out/outcomes.json");
    step("breaking the gate", || {
        let mut mutants = Process::new(&program);
        mutants
            .current_dir(workspace.root())
            .args(["mutants", "--no-shuffle", "--jobs", &jobs, "--output"])
            .arg(&folder);
        let status = mutants.status().with_context(|| process::line(&mutants))?;
        // 2: some were missed; 3: some took too long. The report says which.
        match status.code() {
            Some(0 | 2 | 3) => Ok(()),
            _ => bail!("cargo-mutants ended with {status}"),
        }
    })?;
    report(&outcomes)
}

/// Where cargo-mutants is; installs it where it is missing.
fn ensure(workspace: &Workspace) -> Result<PathBuf> {
    let tools = workspace.target().join("tools");
    let program = tools.join("bin/cargo-mutants");
    let known = process::capture(Process::new(&program).args(["mutants", "--version"]));
    if known.is_ok_and(|version| version.trim().ends_with(VERSION)) {
        return Ok(program);
    }
    println!("    cargo install cargo-mutants {VERSION}");
    let mut install = workspace.cargo(&["install", "cargo-mutants", "--locked", "--quiet"]);
    install.args(["--version", VERSION, "--root"]).arg(&tools);
    process::run(&mut install)?;
    Ok(program)
}

fn report(outcomes: &Path) -> Result<()> {
    let text = fs::read_to_string(outcomes)
        .with_context(|| format!("cargo-mutants left no {}", outcomes.display()))?;
    let outcomes: Value = serde_json::from_str(&text)?;
    let count = |name: &str| outcomes.get(name).and_then(Value::as_u64).unwrap_or(0);
    let mut rows = vec![vec!["changes".to_owned(), "outcome".to_owned()]];
    for (name, meaning) in [
        ("caught", "a test noticed"),
        ("timeout", "a test did not end, which is noticed too"),
        ("unviable", "did not compile"),
        ("missed", "no test noticed"),
    ] {
        rows.push(vec![count(name).to_string(), meaning.to_owned()]);
    }
    print!("{}", table(&rows));
    if count("caught") == 0 {
        bail!("no change was tested");
    }
    let missed = missed(&outcomes);
    if missed.is_empty() {
        println!("{} every change was noticed", green("good:"));
        return Ok(());
    }
    println!("{}", red("missed"));
    for name in &missed {
        println!("    {name}");
    }
    bail!("{} changes were noticed by no test", missed.len())
}

/// The names of the changes that no test noticed.
fn missed(outcomes: &Value) -> Vec<&str> {
    let list = outcomes.get("outcomes").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter(|outcome| outcome.get("summary").and_then(Value::as_str) == Some("MissedMutant"))
        .filter_map(|outcome| outcome.pointer("/scenario/Mutant/name")?.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_change_that_no_test_noticed_is_an_error_with_its_name() {
        let folder = crate::scratch::Scratch::new("mutants").unwrap();
        let file = folder.path("outcomes.json");
        let outcome = |name: &str, summary: &str| json!({ "scenario": { "Mutant": { "name": name } }, "summary": summary });
        let write = |missed: u64, outcomes: Value| {
            let text = json!({ "caught": 1, "missed": missed, "outcomes": outcomes }).to_string();
            fs::write(&file, text).unwrap();
        };
        write(0, json!([outcome("a.rs:1:1", "CaughtMutant")]));
        report(&file).unwrap();
        let list = json!([outcome("a", "CaughtMutant"), outcome("b", "MissedMutant")]);
        assert_eq!(missed(&json!({ "outcomes": list })), ["b"]);
        write(1, list);
        let error = report(&file).unwrap_err().to_string();
        assert_eq!(error, "1 changes were noticed by no test");
        fs::write(&file, "{}").unwrap();
        assert_eq!(
            report(&file).unwrap_err().to_string(),
            "no change was tested"
        );
    }
}
