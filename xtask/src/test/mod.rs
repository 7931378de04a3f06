//! `cargo xtask test`: everything that must hold before a change goes in.

mod counts;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::bench::{self, Form};
use crate::bindings::{Tested, node, playground, python, web};
use crate::build::{self, Built, Profile};
use crate::cli::{Args, Command, Flag};
use crate::clients::{self, Clients};
use crate::crash::{self, Done};
use crate::peers::{self, Peer};
use crate::setup::{self, Skip, Tools};
use crate::terminal::{bold, green, red, seconds, table, yellow};
use crate::workspace::{Workspace, in_ci};
use crate::{AlreadyReported, demo, example, policies, process, replay, tidy, verify};
use counts::Counts;

pub(crate) const COMMAND: Command = Command {
    name: "test",
    summary: "run everything that must hold before a change goes in",
    details: "Runs, in this order, and stops at the first that fails: toolchain, formatting, clippy,\n\
              unit and integration tests with the vectors, doc tests, statistics against SciPy and statsmodels, sessions on a real server of S3, the server asked by Schemathesis, the client in Go, agents that cheat in fresh projects, real agent clients, OpenTelemetry, templates of policies, the packages for Node, Python and browsers, the playground,\n\
              every vector on every host, every log that these tests left once more, killed processes, each benchmark in a short form, tidy, the reproducible build, the demo, the worked example. Ends with a table and one line `N passed, N failed`, in which each test and\n\
              each other step counts as one. What could not run here is named as skipped; with\n\
              CI=true that is a failure. A test that is marked as ignored has always failed.",
    flags: &[Flag {
        name: "--all",
        meaning: "opencode and the stock `wasmtime serve` too, which are 180 MB and some minutes to install",
    }],
    words: &[],
    examples: &[
        "cargo xtask test --all",
        "cargo xtask test",
        "CI=true cargo xtask test",
    ],
    run,
};

/// What the steps share.
struct Run<'a> {
    workspace: &'a Workspace,
    tools: Tools,
    built: Option<Built>,
    /// The hosts beside [`OWN_HOSTS`] that were built.
    hosts: Vec<&'static str>,
}

/// A part of the whole. `Err` means that it could not be carried through, a failed count that
/// something in it failed.
struct Step {
    name: &'static str,
    extent: Extent,
    run: fn(&mut Run<'_>) -> Result<Counts>,
}

/// How much is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    /// What must hold before every change.
    Usual,
    /// All there is.
    All,
}

const STEPS: &[Step] = &[
    Step {
        name: "toolchain",
        extent: Extent::Usual,
        run: toolchain,
    },
    Step {
        name: "formatting",
        extent: Extent::Usual,
        run: formatting,
    },
    Step {
        name: "clippy",
        extent: Extent::Usual,
        run: clippy,
    },
    Step {
        name: "tests",
        extent: Extent::Usual,
        run: tests,
    },
    Step {
        name: "tests in one process",
        extent: Extent::Usual,
        run: tests_in_one_process,
    },
    Step {
        name: "doc tests",
        extent: Extent::Usual,
        run: doc_tests,
    },
    Step {
        name: "statistics",
        extent: Extent::Usual,
        run: compare_statistics,
    },
    Step {
        name: "bucket",
        extent: Extent::Usual,
        run: race_in_a_bucket,
    },
    Step {
        name: "openapi",
        extent: Extent::Usual,
        run: ask_by_document,
    },
    Step {
        name: "go",
        extent: Extent::Usual,
        run: ask_from_go,
    },
    Step {
        name: "protection",
        extent: Extent::Usual,
        run: protect_fresh_projects,
    },
    Step {
        name: "clients",
        extent: Extent::Usual,
        run: usual_clients,
    },
    Step {
        name: "opencode",
        extent: Extent::All,
        run: opencode,
    },
    Step {
        name: "telemetry",
        extent: Extent::Usual,
        run: test_telemetry,
    },
    Step {
        name: "readers",
        extent: Extent::Usual,
        run: read_real_reports,
    },
    Step {
        name: "policy templates",
        extent: Extent::Usual,
        run: policy_templates,
    },
    Step {
        name: "node",
        extent: Extent::Usual,
        run: node_package,
    },
    Step {
        name: "python",
        extent: Extent::Usual,
        run: python_package,
    },
    Step {
        name: "web",
        extent: Extent::Usual,
        run: web_package,
    },
    Step {
        name: "playground",
        extent: Extent::Usual,
        run: playground_site,
    },
    Step {
        name: "hosts",
        extent: Extent::Usual,
        run: hosts,
    },
    Step {
        name: "wasmtime serve",
        extent: Extent::All,
        run: stock_server,
    },
    Step {
        name: "replay",
        extent: Extent::Usual,
        run: replay_logs,
    },
    Step {
        name: "crash",
        extent: Extent::Usual,
        run: crash_a_little,
    },
    Step {
        name: "benchmarks",
        extent: Extent::Usual,
        run: benchmarks,
    },
    Step {
        name: "tidy",
        extent: Extent::Usual,
        run: check_tidy,
    },
    Step {
        name: "build --verify",
        extent: Extent::Usual,
        run: check_build,
    },
    Step {
        name: "demo",
        extent: Extent::Usual,
        run: play_demo,
    },
    Step {
        name: "example",
        extent: Extent::Usual,
        run: run_example,
    },
];

/// How one step went.
struct Line {
    name: &'static str,
    time: Duration,
    counts: Counts,
    error: Option<String>,
}

impl Line {
    fn failed(&self) -> bool {
        self.error.is_some() || self.counts.failed > 0
    }
}

fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let extent = if args.has("--all") {
        Extent::All
    } else {
        Extent::Usual
    };
    let steps: Vec<&Step> = STEPS.iter().filter(|it| it.extent <= extent).collect();
    let mut run = Run {
        workspace,
        tools: Tools::default(),
        built: None,
        hosts: Vec::new(),
    };
    let mut lines = Vec::new();
    for step in &steps {
        println!("\n{} {}", bold("==>"), bold(step.name));
        let start = Instant::now();
        let (counts, error) = match (step.run)(&mut run) {
            Ok(counts) => (counts, None),
            Err(error) => (Counts::failed(), Some(format!("{error:#}"))),
        };
        lines.push(Line {
            name: step.name,
            time: start.elapsed(),
            counts,
            error,
        });
        if lines.last().is_some_and(Line::failed) {
            break;
        }
    }
    report(&steps, &lines)
}

fn toolchain(run: &mut Run<'_>) -> Result<Counts> {
    run.tools = setup::ensure(run.workspace)?;
    Ok(Counts {
        passed: 1,
        skips: run.tools.skips.clone(),
        ..Counts::default()
    })
}

fn formatting(run: &mut Run<'_>) -> Result<Counts> {
    // The toolchain step has named the skip.
    if !run.tools.rustfmt {
        return Ok(Counts::default());
    }
    process::run(&mut run.workspace.cargo(&["fmt", "--all", "--check"]))?;
    Ok(Counts::passed())
}

fn clippy(run: &mut Run<'_>) -> Result<Counts> {
    if !run.tools.clippy {
        return Ok(Counts::default());
    }
    // `--all-targets` leaves out what cargo does not test by itself.
    let rest = [
        Clients::Usual.target(),
        Clients::Opencode.target(),
        "hosts",
        peers::STATISTICS.target,
        peers::BUCKET.target,
        peers::OPENAPI.target,
        peers::TELEMETRY.target,
        peers::READERS,
        peers::PROTECTION.target,
        GO,
    ]
    .map(|it| format!("--test={it}"));
    for targets in [&["--all-targets".to_owned()][..], &rest] {
        let mut cargo = run.workspace.cargo(&["clippy", "--workspace"]);
        cargo.args(targets).args(locked());
        process::run(cargo.args(["--", "-D", "warnings"]))?;
    }
    // The workspace has all features: as it is released, and as the demo builds it.
    for features in [&[][..], &["--no-default-features"]] {
        let mut cargo = run.workspace.cargo(&["clippy", "--package", "ralph-gate"]);
        cargo.args(features).args(locked());
        process::run(cargo.args(["--", "-D", "warnings"]))?;
    }
    Ok(Counts::passed())
}

fn tests(run: &mut Run<'_>) -> Result<Counts> {
    replay::clear(run.workspace)?;
    // Without them, the tests of what they do with the command's output only say so.
    let skips: Vec<Skip> = ["bash", "jq"]
        .into_iter()
        .filter_map(|name| {
            let reason = setup::ensure_package(run.workspace, name).err()?;
            Some(Skip {
                name: format!("tests with {name}"),
                reason,
            })
        })
        .collect();
    // Without doc tests, which are a step of their own.
    let counts = run_tests(run, &["--lib", "--bins", "--tests"])?;
    Ok(Counts { skips, ..counts })
}

/// The same thousand tables in other implementations.
fn compare_statistics(run: &mut Run<'_>) -> Result<Counts> {
    beside(run, peers::STATISTICS)
}

/// Tests beside something that is installed for them.
fn beside(run: &mut Run<'_>, peer: Peer) -> Result<Counts> {
    match peer.ensure(run.workspace)? {
        Some(skip) => Ok(skipped(skip)),
        None => run_tests(run, &["--test", peer.target]),
    }
}

/// A test that prints what it counted.
fn told(run: &mut Run<'_>, peer: Peer) -> Result<Counts> {
    if let Some(skip) = peer.ensure(run.workspace)? {
        return Ok(skipped(skip));
    }
    let mut cargo = run.workspace.cargo(&["test", "--workspace", "--quiet"]);
    // What is on this machine is not reached through another one.
    cargo.env("NO_PROXY", "127.0.0.1");
    process::run(cargo.args(locked()).args(["--test", peer.target]))?;
    Ok(Counts::passed())
}

fn skipped(skip: Skip) -> Counts {
    Counts {
        skips: vec![skip],
        ..Counts::default()
    }
}

/// Processes that share nothing but a server of S3.
fn race_in_a_bucket(run: &mut Run<'_>) -> Result<Counts> {
    told(run, peers::BUCKET)
}

/// A client that knows the server's document alone.
fn ask_by_document(run: &mut Run<'_>) -> Result<Counts> {
    told(run, peers::OPENAPI)
}

/// The test of the example in Go.
const GO: &str = "go";

fn ask_from_go(run: &mut Run<'_>) -> Result<Counts> {
    match setup::ensure_program(run.workspace, "go", "golang-go") {
        Ok(()) => run_tests(run, &["--test", GO]),
        Err(reason) => Ok(skipped(Skip {
            name: GO.to_owned(),
            reason,
        })),
    }
}

/// Agents that cheat in fresh projects, with the real test runners.
fn protect_fresh_projects(run: &mut Run<'_>) -> Result<Counts> {
    if let Some(skip) = peers::runners(run.workspace)? {
        return Ok(skipped(skip));
    }
    if let Err(reason) = setup::ensure_program(run.workspace, "go", "golang-go") {
        return Ok(skipped(Skip {
            name: peers::PROTECTION.target.to_owned(),
            reason,
        }));
    }
    beside(run, peers::PROTECTION)
}

fn usual_clients(run: &mut Run<'_>) -> Result<Counts> {
    test_clients(run, Clients::Usual)
}

fn opencode(run: &mut Run<'_>) -> Result<Counts> {
    test_clients(run, Clients::Opencode)
}

fn test_clients(run: &Run<'_>, clients: Clients) -> Result<Counts> {
    if let Some(skip) = clients::ensure(run.workspace, clients)? {
        return Ok(Counts {
            skips: vec![skip],
            ..Counts::default()
        });
    }
    run_tests(run, &["--test", clients.target()])
}

fn test_telemetry(run: &mut Run<'_>) -> Result<Counts> {
    beside(run, peers::TELEMETRY)
}

/// Where nextest gives each test a process of its own, the unit tests once more in one, as an embedder's `cargo test` has them.
fn tests_in_one_process(run: &mut Run<'_>) -> Result<Counts> {
    if !run.tools.nextest {
        println!("    the step `tests` has run them like this");
        return Ok(Counts::passed());
    }
    cargo_test(run, &["--lib", "--bins"])
}

/// Each benchmark in a short form: none may rot.
fn benchmarks(run: &mut Run<'_>) -> Result<Counts> {
    let skips = bench::measure_all(run.workspace, "all", Form::Short)?;
    Ok(Counts {
        passed: 1,
        skips,
        ..Counts::default()
    })
}

/// What test runners write, read.
fn read_real_reports(run: &mut Run<'_>) -> Result<Counts> {
    match peers::ensure_readers(run.workspace)? {
        Some(skip) => Ok(skipped(skip)),
        None => run_tests(run, &["--test", peers::READERS]),
    }
}

/// Every log that the steps before have left, in each language that could be built.
fn replay_logs(run: &mut Run<'_>) -> Result<Counts> {
    let built = build::host(run.workspace, Profile::Dev)?;
    let logs = replay::Logs::find(run.workspace)?;
    println!("    {logs}");
    logs.replay(run.workspace, &built.binary, replay::Language::Rust)?;
    if !run.hosts.contains(&"node") {
        return Ok(Counts {
            passed: 1,
            skips: vec![Skip {
                name: "replay in Node".to_owned(),
                reason: "the package for Node was not built".to_owned(),
            }],
            ..Counts::default()
        });
    }
    logs.replay(run.workspace, &built.binary, replay::Language::Node)?;
    Ok(Counts {
        passed: 2,
        ..Counts::default()
    })
}

/// Runs the tests of some targets, which leave their logs.
fn run_tests(run: &Run<'_>, targets: &[&str]) -> Result<Counts> {
    let logs = replay::folder(run.workspace);
    if run.tools.nextest {
        let mut cargo = run
            .workspace
            .cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]);
        cargo.args(["--status-level", "slow", "--color", "never"]);
        cargo.env(replay::VARIABLE, &logs);
        let (status, lines) = process::watch(cargo.args(targets).args(locked()))?;
        return counts::of_nextest(&lines).checked(status);
    }
    cargo_test(run, targets)
}

fn cargo_test(run: &Run<'_>, targets: &[&str]) -> Result<Counts> {
    let mut cargo = run
        .workspace
        .cargo(&["test", "--workspace", "--no-fail-fast"]);
    cargo.env(replay::VARIABLE, replay::folder(run.workspace));
    let (status, lines) = process::watch(cargo.args(targets).args(locked()))?;
    counts::of_cargo_test(&lines).checked(status)
}

fn doc_tests(run: &mut Run<'_>) -> Result<Counts> {
    let mut cargo = run
        .workspace
        .cargo(&["test", "--workspace", "--doc", "--no-fail-fast"]);
    let (status, lines) = process::watch(cargo.args(locked()))?;
    counts::of_cargo_test(&lines).checked(status)
}

fn policy_templates(run: &mut Run<'_>) -> Result<Counts> {
    let built = build::host(run.workspace, Profile::Dev)?;
    let done = policies::test(run.workspace, &built.binary)?;
    Ok(Counts {
        passed: done.passed,
        skips: done.skips,
        ..Counts::default()
    })
}

fn node_package(run: &mut Run<'_>) -> Result<Counts> {
    let skip = node::package(run.workspace)?;
    tested(run, skip, Some("node"), |workspace, binary| {
        node::test(workspace, Some(binary))
    })
}

fn python_package(run: &mut Run<'_>) -> Result<Counts> {
    let skip = python::package(run.workspace)?;
    tested(run, skip, Some("python"), |workspace, _| {
        python::test(workspace)
    })
}

fn web_package(run: &mut Run<'_>) -> Result<Counts> {
    let skip = web::package(run.workspace)?;
    tested(run, skip, Some("chromium"), web::test)
}

fn playground_site(run: &mut Run<'_>) -> Result<Counts> {
    let skip = playground::package(run.workspace)?;
    tested(run, skip, None, playground::test)
}

/// Tests a package unless it could not be built. One that was built is a host of the vectors.
fn tested(
    run: &mut Run<'_>,
    skip: Option<Skip>,
    host: Option<&'static str>,
    test: fn(&Workspace, &Path) -> Result<Tested>,
) -> Result<Counts> {
    let tested = match skip {
        Some(skip) => Tested::skipped(skip),
        None => {
            run.hosts.extend(host);
            let built = build::host(run.workspace, Profile::Dev)?;
            test(run.workspace, &built.binary)?
        }
    };
    Ok(Counts {
        passed: tested.passed,
        skips: tested.skips,
        ..Counts::default()
    })
}

/// The hosts of this workspace, which are always there.
const OWN_HOSTS: [&str; 3] = ["native", "wasmtime", "http"];

/// Every vector on every host that could be built.
fn hosts(run: &mut Run<'_>) -> Result<Counts> {
    let mut cargo = run.workspace.cargo(&["test", "--workspace", "--quiet"]);
    cargo.env(replay::VARIABLE, replay::folder(run.workspace));
    cargo.args(locked()).args(["--test", "hosts", "--"]);
    process::run(cargo.args(OWN_HOSTS).args(&run.hosts))?;
    Ok(Counts {
        passed: OWN_HOSTS.len() + run.hosts.len(),
        ..Counts::default()
    })
}

/// The component behind HTTP in the server that wasmtime itself has, of the version that the host embeds.
fn stock_server(run: &mut Run<'_>) -> Result<Counts> {
    let root = run.workspace.target().join("wasmtime");
    let version = run.workspace.locked_version("wasmtime")?;
    let mut cargo = run
        .workspace
        .cargo(&["install", "wasmtime-cli", "--locked"]);
    cargo.args(["--version", &version, "--no-default-features"]);
    cargo.args([
        "--features",
        "component-model,component-model-async,cranelift,pooling-allocator,run,serve",
    ]);
    process::run(cargo.arg("--root").arg(root))?;
    let mut cargo = run.workspace.cargo(&["test", "--workspace", "--quiet"]);
    cargo.args(locked()).args(["--test", "hosts", "--"]);
    process::run(cargo.args(["native", "wasmtime-serve"]))?;
    Ok(Counts::passed())
}

fn crash_a_little(run: &mut Run<'_>) -> Result<Counts> {
    let (passed, skip) = match crash::a_little(run.workspace)? {
        Done::All => (1, None),
        Done::AllBut(skip) => (1, Some(skip)),
        Done::Nothing(skip) => (0, Some(skip)),
    };
    Ok(Counts {
        passed,
        skips: skip.into_iter().collect(),
        ..Counts::default()
    })
}

fn check_tidy(run: &mut Run<'_>) -> Result<Counts> {
    let built = build::host(run.workspace, Profile::Dev)?;
    tidy::check(run.workspace)?;
    run.built = Some(built);
    Ok(Counts {
        passed: tidy::COUNT,
        ..Counts::default()
    })
}

fn check_build(run: &mut Run<'_>) -> Result<Counts> {
    let Some(built) = &run.built else {
        bail!("tidy did not leave a build behind")
    };
    verify::verify(run.workspace, built)?;
    Ok(Counts::passed())
}

fn play_demo(run: &mut Run<'_>) -> Result<Counts> {
    let Some(built) = &run.built else {
        bail!("tidy did not leave a build behind")
    };
    demo::play(&built.binary)?;
    Ok(Counts::passed())
}

fn run_example(run: &mut Run<'_>) -> Result<Counts> {
    let Some(built) = &run.built else {
        bail!("tidy did not leave a build behind")
    };
    example::compare(run.workspace, &built.binary)?;
    Ok(Counts::passed())
}

/// In continuous integration the lock file must already be right.
fn locked() -> &'static [&'static str] {
    if in_ci() { &["--locked"] } else { &[] }
}

/// The table, the skips, and last of all the counts.
fn report(steps: &[&Step], lines: &[Line]) -> Result<()> {
    let skips: Vec<&Skip> = lines.iter().flat_map(|line| &line.counts.skips).collect();
    let passed: usize = lines.iter().map(|line| line.counts.passed).sum();
    let mut failed: usize = lines.iter().map(|line| line.counts.failed).sum();
    if in_ci() {
        failed += skips.len();
    }
    println!("\n{}", table(&rows(steps, lines)));
    for line in lines.iter().filter(|line| line.failed()) {
        let reason = line.error.as_deref().unwrap_or("see its output above");
        println!("{} {}: {reason}", red("failed"), line.name);
    }
    for skip in &skips {
        println!("{} {skip}", yellow("skipped"));
    }
    if in_ci() && !skips.is_empty() {
        println!("with CI=true each skip counts as failed");
    }
    let total: Duration = lines.iter().map(|line| line.time).sum();
    println!(
        "{} in {}",
        if failed == 0 {
            green("passed")
        } else {
            red("failed")
        },
        seconds(total)
    );
    println!("{passed} passed, {failed} failed");
    if failed > 0 {
        // The counts stay the last line.
        return Err(AlreadyReported.into());
    }
    Ok(())
}

fn rows(steps: &[&Step], lines: &[Line]) -> Vec<Vec<String>> {
    let header = ["step", "result", "passed", "failed", "time"]
        .map(str::to_owned)
        .to_vec();
    let mut rows = vec![header];
    for step in steps {
        let line = lines.iter().find(|line| line.name == step.name);
        let cells = match line {
            None => [
                "not run".to_owned(),
                "-".to_owned(),
                "-".to_owned(),
                "-".to_owned(),
            ],
            Some(line) => [
                if line.failed() {
                    "failed"
                } else if line.counts.passed == 0 {
                    "skipped"
                } else {
                    "ok"
                }
                .to_owned(),
                line.counts.passed.to_string(),
                line.counts.failed.to_string(),
                seconds(line.time),
            ],
        };
        let mut row = vec![step.name.to_owned()];
        row.extend(cells);
        rows.push(row);
    }
    rows
}
