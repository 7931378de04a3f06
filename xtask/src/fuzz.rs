//! `cargo xtask fuzz`: feeds the gate's parsers what nobody thought of, with libFuzzer on the nightly toolchain.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, Result, bail};

use crate::cli::{Args, Command, Flag};
use crate::process;
use crate::setup;
use crate::terminal::{green, red, step, table};
use crate::workspace::{Workspace, in_ci};

pub(crate) const COMMAND: Command = Command {
    name: "fuzz",
    summary: "feed the parsers generated inputs (nightly)",
    details: "Runs the fuzz targets of tests/fuzz, as many at a time as there are cores. They begin with\n\
              the vectors' inputs, the hostile policies and tests/fuzz/regressions, and keep what they find in\n\
              tests/fuzz/corpus. Installs the nightly toolchain where it is missing.\n\
              An input that breaks a rule ends its target and is an error.",
    flags: &[Flag {
        name: "--seconds N",
        meaning: "how long each target runs; 60 unless said",
    }],
    words: &[
        "all",
        "contract",
        "differential",
        "evaluate",
        "fingerprint",
        "json",
        "loop_file",
        "policy",
        "prd",
        "progress",
        "promise",
        "route",
        "session",
        "signal",
        "snapshot",
        "toml",
        "yaml",
    ],
    examples: &[
        "cargo xtask fuzz promise",
        "cargo xtask fuzz all --seconds 600",
    ],
    run,
};

/// Where the targets and their inputs are.
const FOLDER: &str = "tests/fuzz";

/// Tells the targets `differential` and `policy` which program answers as the component and is the host of policies.
const PARTNER: &str = "RALPH_GATE_FUZZ_PARTNER";

/// What libFuzzer needs to see of the code, and a sanitizer for the `unsafe` of dependencies.
const RUSTFLAGS: &[&str] = &[
    "-Zsanitizer=address",
    "--cfg=fuzzing",
    "-Ccodegen-units=1",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Seconds after which an input counts as a hang, and MiB after which it counts as a leak.
const LIMITS: &[&str] = &["-timeout=10", "-rss_limit_mb=2048"];

fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let seconds = args.number("--seconds").unwrap_or(60);
    let targets: Vec<&str> = match args.word() {
        Some(target) if target != "all" => vec![target],
        _ => targets().collect(),
    };
    let host = step("checking the toolchain", || {
        setup::ensure(workspace)?;
        ensure_nightly(workspace)
    })?;
    let partner = step("building the component's side", || partner(workspace))?;
    step("writing the inputs to begin with", || {
        let folder = workspace.path(FOLDER).join("seeds");
        process::run(Process::new(&partner).arg("seeds").arg(folder))
    })?;
    let fuzzer = Fuzzer {
        folder: workspace.path(FOLDER),
        binaries: step("building the targets", || build(workspace, &host, &targets))?,
        logs: workspace.target().join("fuzz/logs"),
        partner,
        seconds,
    };
    let runs = step(&format!("fuzzing, {seconds} s each"), || {
        fuzzer.run_all(&targets)
    })?;
    report(&fuzzer, &runs)
}

/// Every target.
fn targets() -> impl Iterator<Item = &'static str> {
    COMMAND.words.iter().copied().filter(|word| *word != "all")
}

// -------------------------------------------------------------------------------------- building

/// Installs the nightly toolchain where it is missing. Gives the platform that it builds for.
fn ensure_nightly(workspace: &Workspace) -> Result<String> {
    let rustc = || nightly(workspace, &["rustc", "--version", "--verbose"]);
    if !process::succeeds(&mut rustc()) {
        let args = ["toolchain", "install", "nightly", "--profile", "minimal"];
        println!("    rustup {}", args.join(" "));
        process::run(&mut workspace.program("rustup", &args)).context(
            "fuzzing needs the nightly toolchain; install it with `rustup toolchain install nightly`",
        )?;
    }
    let version = process::capture(&mut rustc())?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host
        .context("`rustc --version --verbose` names no host")?
        .to_owned())
}

/// A program of the nightly toolchain, without what the pinned one told this program.
fn nightly(workspace: &Workspace, args: &[&str]) -> Process {
    let mut rustup = workspace.program("rustup", &["run", "nightly"]);
    rustup.args(args);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && text != "CARGO_HOME" || text == "RUSTUP_TOOLCHAIN" {
            rustup.env_remove(&name);
        }
    }
    rustup
}

/// Builds the program that writes the inputs to begin with, answers as the component and is the host of policies; beside
/// it the one that compiles policies.
fn partner(workspace: &Workspace) -> Result<PathBuf> {
    // The whole workspace, as everywhere: other features would compile wasmtime again.
    let mut cargo = workspace.cargo(&["build", "--workspace", "--release"]);
    process::run(cargo.args(["--bin", "fuzz-partner", "--bin", "ralph-gate"]))?;
    Ok(workspace.target().join("release/fuzz-partner"))
}

/// Builds the targets. Gives the folder that they are in.
fn build(workspace: &Workspace, host: &str, targets: &[&str]) -> Result<PathBuf> {
    let folder = workspace.target().join("fuzz");
    // With a platform, cargo does not instrument build scripts and macros.
    let mut cargo = nightly(
        workspace,
        &["cargo", "build", "--release", "--target", host],
    );
    if in_ci() {
        cargo.arg("--locked");
    }
    cargo
        .current_dir(workspace.path(FOLDER))
        .env("CARGO_ENCODED_RUSTFLAGS", RUSTFLAGS.join("\u{1f}"))
        .arg("--target-dir")
        .arg(&folder);
    for target in targets {
        cargo.args(["--bin", target]);
    }
    process::run(&mut cargo)?;
    Ok(folder.join(host).join("release"))
}

// --------------------------------------------------------------------------------------- running

/// Everything that is ready to run.
struct Fuzzer {
    folder: PathBuf,
    binaries: PathBuf,
    logs: PathBuf,
    partner: PathBuf,
    seconds: u64,
}

/// What one target did.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    executions: u64,
    per_second: u64,
    /// Inputs that broke a rule, hung or used too much memory.
    crashes: Vec<PathBuf>,
    corpus: usize,
    /// It ended with an error that no input explains.
    broken: bool,
}

impl Fuzzer {
    /// Runs the targets, as many at a time as there are cores.
    fn run_all(&self, targets: &[&'static str]) -> Result<BTreeMap<&'static str, Outcome>> {
        fs::create_dir_all(&self.logs)?;
        let waiting = Mutex::new(targets.iter().rev().copied().collect::<Vec<_>>());
        let done = Mutex::new(BTreeMap::new());
        let workers = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..workers.min(targets.len()) {
                scope.spawn(|| {
                    loop {
                        // In a statement of its own, or the lock would be held while the target runs.
                        let next = lock(&waiting).pop();
                        let Some(target) = next else { break };
                        println!("    {target}");
                        let outcome = self.run_one(target);
                        lock(&done).insert(target, outcome);
                    }
                });
            }
        });
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.into_iter()
            .map(|(target, outcome)| Ok((target, outcome.with_context(|| target.to_owned())?)))
            .collect()
    }

    fn run_one(&self, target: &str) -> Result<Outcome> {
        for kind in ["artifacts", "corpus", "regressions"] {
            fs::create_dir_all(self.inputs(kind, target))?;
        }
        let log = self.log(target);
        fs::write(&log, "")?;
        let mut command = self.command(target)?;
        command
            .args(["corpus", "seeds", "regressions"].map(|kind| self.inputs(kind, target)))
            .arg(format!("-max_total_time={}", self.seconds))
            .arg("-print_final_stats=1")
            .arg(format!("-dict={}", self.folder.join("gate.dict").display()));
        let status = command.status().with_context(|| process::line(&command))?;
        let mut outcome = read_log(&String::from_utf8_lossy(&fs::read(log)?));
        outcome.broken = !status.success() && outcome.crashes.is_empty();
        if status.success() {
            self.minimise(target)?;
        }
        outcome.corpus = fs::read_dir(self.inputs("corpus", target))?.count();
        Ok(outcome)
    }

    /// Keeps what is needed to reach the same code, so that a corpus does not grow for ever.
    fn minimise(&self, target: &str) -> Result<()> {
        let (corpus, small) = (
            self.inputs("corpus", target),
            self.inputs("corpus.small", target),
        );
        fs::create_dir_all(&small)?;
        let mut command = self.command(target)?;
        command.arg("-merge=1").args([&small, &corpus]);
        process::run(&mut command)?;
        fs::remove_dir_all(&corpus)?;
        fs::rename(&small, &corpus)?;
        Ok(())
    }

    /// A target's program with the limits. What it prints is added to its log.
    fn command(&self, target: &str) -> Result<Process> {
        let log = self.log(target);
        let file = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .with_context(|| log.display().to_string())?;
        let prefix = self.inputs("artifacts", target).join("");
        let mut command = Process::new(self.binaries.join(target));
        command
            .current_dir(&self.folder)
            .env(PARTNER, &self.partner)
            .args(LIMITS)
            .arg(format!("-artifact_prefix={}", prefix.display()))
            .stdout(file.try_clone()?)
            .stderr(file);
        Ok(command)
    }

    fn inputs(&self, kind: &str, target: &str) -> PathBuf {
        self.folder.join(kind).join(target)
    }

    fn log(&self, target: &str) -> PathBuf {
        self.logs.join(format!("{target}.log"))
    }

    /// The command that shows again what an input does.
    fn reproduce(&self, target: &str, input: &Path) -> String {
        let partner = match target {
            "differential" | "policy" => format!("{PARTNER}={} ", self.partner.display()),
            _ => String::new(),
        };
        let program = self.binaries.join(target);
        format!("{partner}{} {}", program.display(), input.display())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What libFuzzer says at the end.
fn read_log(log: &str) -> Outcome {
    let number = |name: &str| {
        log.lines()
            .find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
            .unwrap_or(0)
    };
    let crashes = log
        .lines()
        .filter_map(|line| {
            line.split_once("Test unit written to ")?
                .1
                .split_whitespace()
                .next()
        })
        // A slow input is worth a look and no error.
        .filter(|path| !path.contains("slow-unit-"))
        .map(PathBuf::from)
        .collect();
    Outcome {
        executions: number("stat::number_of_executed_units:"),
        per_second: number("stat::average_exec_per_sec:"),
        crashes,
        ..Outcome::default()
    }
}

fn report(fuzzer: &Fuzzer, runs: &BTreeMap<&str, Outcome>) -> Result<()> {
    let header = ["target", "executions", "per second", "crashes", "corpus"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (target, outcome) in runs {
        let crashes = match (outcome.broken, outcome.crashes.len()) {
            (true, _) => red("broken"),
            (false, 0) => green("0"),
            (false, count) => red(&count.to_string()),
        };
        rows.push(vec![
            (*target).to_owned(),
            outcome.executions.to_string(),
            outcome.per_second.to_string(),
            crashes,
            outcome.corpus.to_string(),
        ]);
    }
    print!("{}", table(&rows));
    let mut failed = 0;
    for (target, outcome) in runs {
        for input in &outcome.crashes {
            println!("{} {}", red("crash"), input.display());
            println!("    {}", fuzzer.reproduce(target, input));
        }
        if outcome.broken {
            let log = fuzzer.log(target);
            println!("{} {target}: see {}", red("broken"), log.display());
        }
        failed += usize::from(outcome.broken || !outcome.crashes.is_empty());
    }
    if failed > 0 {
        bail!("{failed} of {} targets failed", runs.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_targets_are_those_of_the_manifest() {
        let manifest = include_str!("../../tests/fuzz/Cargo.toml");
        let mut bins: Vec<&str> = manifest
            .split("[[bin]]\nname = \"")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('"')?.0))
            .collect();
        bins.sort_unstable();
        assert_eq!(targets().collect::<Vec<_>>(), bins);
    }

    #[test]
    fn a_log_is_read() {
        let log = "INFO: Seed: 1\n\
                   artifact_prefix='a/'; Test unit written to a/slow-unit-1\n\
                   SUMMARY: libFuzzer: deadly signal\n\
                   artifact_prefix='a/'; Test unit written to a/crash-1\n\
                   stat::number_of_executed_units: 1200\n\
                   stat::average_exec_per_sec:     40\n";
        assert_eq!(
            read_log(log),
            Outcome {
                executions: 1200,
                per_second: 40,
                crashes: vec![PathBuf::from("a/crash-1")],
                ..Outcome::default()
            }
        );
        assert_eq!(read_log(""), Outcome::default());
    }

    #[test]
    fn a_crash_is_an_error_with_the_command_to_see_it_again() {
        let fuzzer = Fuzzer {
            folder: PathBuf::from("fuzz"),
            binaries: PathBuf::from("bin"),
            logs: PathBuf::from("logs"),
            partner: PathBuf::from("partner"),
            seconds: 1,
        };
        assert_eq!(
            fuzzer.reproduce("differential", Path::new("a/crash-1")),
            "RALPH_GATE_FUZZ_PARTNER=partner bin/differential a/crash-1"
        );
        let run = |outcome| report(&fuzzer, &BTreeMap::from([("prd", outcome)]));
        assert!(run(Outcome::default()).is_ok());
        let input = Outcome {
            crashes: vec![PathBuf::from("a/crash-1")],
            ..Outcome::default()
        };
        assert!(run(input).is_err());
        let broken = Outcome {
            broken: true,
            ..Outcome::default()
        };
        assert!(run(broken).is_err());
    }
}
