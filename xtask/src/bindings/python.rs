//! The package `ralph-gate` for Python: built in the build folder out of `bindings/python` and the gate, and tested as it is shipped.

mod schema;
pub(crate) mod types;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::{Tested, copy_sources, gate, memory};
use crate::install::{self, Place};
use crate::process;
use crate::replay;
use crate::scratch::Scratch;
use crate::setup::Skip;
use crate::terminal::step;
use crate::workspace::Workspace;

/// The sources.
const SOURCE: &str = "bindings/python";

/// The package's code, from where it is checked.
const CODE: [&str; 4] = ["src", "tests", "bench", "examples"];

/// How many evaluations show that memory stays flat.
const EVALUATIONS: &str = "5000";

/// Tests one thing of what was built.
type Test = fn(&Workspace) -> Result<()>;

/// The folder in which the package is built.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target().join("bindings/python")
}

/// The Python of an environment that has the package as a user installs it, and nothing else. `test` makes it.
pub(crate) fn interpreter(workspace: &Workspace) -> PathBuf {
    python_of(&folder(workspace).join("installed"))
}

fn python_of(environment: &Path) -> PathBuf {
    environment.join("bin/python")
}

/// What tests and builds, in an environment of its own.
fn tools(workspace: &Workspace) -> PathBuf {
    folder(workspace).join("tools")
}

/// A version of wasmtime that the package runs on, downloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    Newest,
    Oldest,
}

impl Engine {
    const ALL: [Self; 2] = [Self::Newest, Self::Oldest];

    fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
        }
    }

    /// The folder with its wheel.
    fn wheels(self, workspace: &Workspace) -> PathBuf {
        folder(workspace).join(self.name()).join("wheels")
    }
}

/// Installs and builds. Gives why that was not possible.
pub(crate) fn package(workspace: &Workspace) -> Result<Option<Skip>> {
    if let Some(skip) = step("installing what builds the package for Python", || {
        ensure(workspace)
    })? {
        return Ok(Some(skip));
    }
    step("building the package for Python", || build(workspace))?;
    Ok(None)
}

/// Installs what builds and tests the package. Gives why that was not possible.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Option<Skip>> {
    let pinned = workspace.path(SOURCE).join("tests");
    let place = Place::of_python(pinned.join("tools"), tools(workspace));
    let contents = "hatchling, mypy, ruff and wasmtime, 120 MB on the disk";
    if let Some(reason) = install::python(workspace, &place, contents)? {
        return Ok(Some(skip("the package for Python", reason)));
    }
    let python = python_of(&tools(workspace).join("venv"));
    for engine in Engine::ALL {
        let target = folder(workspace).join(engine.name());
        let place = Place::of_wheels(pinned.join(engine.name()), target);
        if let Some(reason) = install::wheels(&python, &place)? {
            return Ok(Some(skip("the package for Python", reason)));
        }
    }
    Ok(None)
}

fn skip(name: &str, reason: String) -> Skip {
    Skip {
        name: name.to_owned(),
        reason,
    }
}

/// Builds source distribution and wheel, the wheel out of the source distribution. Gives the wheel.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf> {
    let (source, dist) = (
        folder(workspace).join("source"),
        folder(workspace).join("dist"),
    );
    for old in [&source, &dist] {
        if old.exists() {
            fs::remove_dir_all(old)?;
        }
    }
    copy_sources(&workspace.path(SOURCE), &source)?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(workspace.path(name), source.join(name))?;
    }
    let code = source.join("src/ralph_gate");
    fs::copy(gate(workspace)?.path, code.join("gate.wasm"))?;
    fs::copy(memory(workspace)?.path, code.join("memory.wasm"))?;
    let mut build = tool(workspace, &["-m", "build", "--no-isolation", "--outdir"]);
    process::capture(build.arg(&dist).current_dir(&source))?;
    wheel(&dist)
}

/// The wheel in a folder.
fn wheel(dist: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(dist)?.flatten().map(|entry| entry.path());
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|it| it == "whl");
    let wheel = { entries }.find(is_wheel);
    wheel.with_context(|| format!("the build left no wheel in {}", dist.display()))
}

/// The Python that has the tools.
fn tool(workspace: &Workspace, args: &[&str]) -> Command {
    let mut command = Command::new(python_of(&tools(workspace).join("venv")));
    command.args(args);
    quiet(&mut command);
    command
}

/// Neither what a user has set for Python counts, nor does anything stay behind in the sources.
fn quiet(command: &mut Command) {
    command.env_remove("PYTHONPATH").env_remove("VIRTUAL_ENV");
    command.env("PYTHONDONTWRITEBYTECODE", "1");
}

/// Tests what `package` has built.
pub(crate) fn test(workspace: &Workspace) -> Result<Tested> {
    let mut done = Tested::default();
    let steps: [(&str, Test); 4] = [
        ("style, types and Python 3.9", check_code),
        ("the wheel in an empty environment", test_newest),
        ("types for those who use it", check_types),
        ("the oldest wasmtime", test_oldest),
    ];
    for (title, run) in steps {
        step(title, || run(workspace))?;
        done.passed += 1;
    }
    match step("installing the frameworks", || ensure_frameworks(workspace))? {
        Some(skip) => done.skips.push(skip),
        None => {
            step("the integrations, in their frameworks", || {
                test_integrations(workspace)
            })?;
            done.passed += 1;
        }
    }
    Ok(done)
}

/// The environment with the frameworks that there are integrations for.
fn frameworks(workspace: &Workspace) -> PathBuf {
    folder(workspace).join("integrations")
}

/// Installs the frameworks. Gives why that was not possible.
fn ensure_frameworks(workspace: &Workspace) -> Result<Option<Skip>> {
    let pinned = workspace.path(SOURCE).join("tests/integrations");
    let place = Place::of_python(pinned, frameworks(workspace));
    let contents = "pydantic-ai, LangGraph and openai-agents, 300 MB on the disk";
    let reason = install::python(workspace, &place, contents)?;
    Ok(reason.map(|reason| skip("the integrations for Python", reason)))
}

/// Installs the wheel beside the frameworks, and runs the tests and examples with them.
fn test_integrations(workspace: &Workspace) -> Result<()> {
    let environment = frameworks(workspace).join("venv");
    let mut pip = pip_install(&environment);
    pip.args(["--no-index", "--no-deps", "--force-reinstall"]);
    process::run(pip.arg(wheel(&folder(workspace).join("dist"))?))?;
    run_tests(
        &environment,
        &workspace.path(SOURCE).join("tests/integrations"),
    )
}

/// ruff, mypy and vermin have nothing to say.
fn check_code(workspace: &Workspace) -> Result<()> {
    let source = workspace.path(SOURCE);
    let partner = workspace.path("tests/hosts/python.py");
    let cache = folder(workspace).join("cache");
    let code: Vec<&str> = CODE
        .into_iter()
        .filter(|it| source.join(it).exists())
        .collect();
    for args in [&["check", "--quiet"][..], &["format", "--check", "--quiet"]] {
        let mut ruff = tool(workspace, &["-m", "ruff"]);
        ruff.args(args)
            .args(["--cache-dir".as_ref(), cache.join("ruff").as_os_str()]);
        process::run(ruff.args(&code).arg(&partner).current_dir(&source))?;
    }
    let mut mypy = tool(
        workspace,
        &["-m", "mypy", "--no-error-summary", "--cache-dir"],
    );
    mypy.arg(cache.join("mypy")).args(&code).arg(&partner);
    process::run(mypy.current_dir(&source))?;
    let mut vermin = Command::new(tools(workspace).join("venv/bin/vermin"));
    vermin.args(["--quiet", "--no-tips", "--target=3.9-", "--violations"]);
    vermin.args(["--eval-annotations", "src", "bench"]);
    process::run(vermin.arg(&partner).current_dir(&source))
}

/// Installs the wheel as a user does, from what was downloaded before, and runs the tests there.
fn test_newest(workspace: &Workspace) -> Result<()> {
    let environment = folder(workspace).join("installed");
    install(workspace, &environment, Engine::Newest)?;
    run_tests_and_keep_logs(workspace, &environment)?;
    let leak = workspace.path(SOURCE).join("bench/leak.py");
    let mut command = Command::new(python_of(&environment));
    process::run(command.arg(leak).arg(EVALUATIONS))
}

fn test_oldest(workspace: &Workspace) -> Result<()> {
    let scratch = Scratch::new("python")?;
    let environment = scratch.path("environment");
    install(workspace, &environment, Engine::Oldest)?;
    run_tests(&environment, &workspace.path(SOURCE).join("tests"))
}

/// Makes an empty environment and installs the wheel into it, without the network.
fn install(workspace: &Workspace, environment: &Path, engine: Engine) -> Result<()> {
    let mut venv = workspace.program("python3", &["-m", "venv", "--clear"]);
    process::run(venv.arg(environment))?;
    let mut pip = pip_install(environment);
    pip.arg("--no-index");
    // Whatever else a user told pip to look at.
    pip.env_remove("PIP_FIND_LINKS");
    pip.arg("--find-links").arg(engine.wheels(workspace));
    process::run(pip.arg(wheel(&folder(workspace).join("dist"))?))
}

fn pip_install(environment: &Path) -> Command {
    let mut pip = Command::new(python_of(environment));
    quiet(&mut pip);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    pip
}

/// Runs the package's own tests, which leave the logs of their loops.
fn run_tests_and_keep_logs(workspace: &Workspace, environment: &Path) -> Result<()> {
    let tests = workspace.path(SOURCE).join("tests");
    let mut command = tests_of(environment, &tests);
    process::run(command.env(replay::VARIABLE, replay::made(workspace)?))
}

fn run_tests(environment: &Path, tests: &Path) -> Result<()> {
    process::run(&mut tests_of(environment, tests))
}

/// The tests of a folder with what is installed: the sources are not where Python looks.
fn tests_of(environment: &Path, tests: &Path) -> Command {
    let mut command = Command::new(python_of(environment));
    quiet(&mut command);
    command.args([
        "-W",
        "error::ResourceWarning",
        "-m",
        "unittest",
        "discover",
        "--quiet",
    ]);
    command.arg("--start-directory").arg(tests);
    command.arg("--top-level-directory").arg(tests);
    command
}

/// What the README shows and what `tests/consumer.py` does is right by `mypy --strict`, with what is installed.
fn check_types(workspace: &Workspace) -> Result<()> {
    let scratch = Scratch::new("python-types")?;
    let source = workspace.path(SOURCE);
    let readme = fs::read_to_string(source.join("README.md"))?;
    let mut files = vec![scratch.path("consumer.py")];
    fs::copy(
        source.join("tests/consumer.py"),
        scratch.path("consumer.py"),
    )?;
    for (index, block) in blocks(&readme).enumerate() {
        let path = scratch.path(&format!("readme_{index}.py"));
        fs::write(&path, block)?;
        files.push(path);
    }
    if files.len() < 2 {
        bail!("the README has no example in Python");
    }
    let mut mypy = tool(
        workspace,
        &[
            "-m",
            "mypy",
            "--strict",
            "--no-error-summary",
            "--config-file=",
        ],
    );
    mypy.arg("--python-executable").arg(interpreter(workspace));
    mypy.arg("--cache-dir")
        .arg(folder(workspace).join("cache/consumer"));
    process::run(mypy.args(files).current_dir(scratch.path("")))
}

/// The examples in Python of a page.
fn blocks(page: &str) -> impl Iterator<Item = &str> {
    let rests = page.split("\n```python\n").skip(1);
    rests.filter_map(|rest| rest.split("\n```").next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str) -> String {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        fs::read_to_string(root.join(path)).unwrap()
    }

    #[test]
    fn the_package_has_the_version_of_the_workspace() {
        let version = format!("\nversion = \"{}\"\n", env!("CARGO_PKG_VERSION"));
        assert!(text("bindings/python/pyproject.toml").contains(&version));
    }

    #[test]
    fn the_package_is_tested_with_the_oldest_engine_that_it_accepts_and_built_with_its_backend() {
        let project = text("bindings/python/pyproject.toml");
        let pinned = |name: &str, folder: &str| {
            let list = text(&format!("bindings/python/tests/{folder}/requirements.txt"));
            let line = { list.lines() }.find_map(|line| line.strip_prefix(&format!("{name}==")));
            line.unwrap().split(' ').next().unwrap().to_owned()
        };
        let oldest = pinned("wasmtime", "oldest");
        assert!(
            project.contains(&format!("\"wasmtime>={oldest}\"")),
            "{oldest}"
        );
        assert_eq!(pinned("wasmtime", "newest"), pinned("wasmtime", "tools"));
        let backend = pinned("hatchling", "tools");
        assert!(
            project.contains(&format!("\"hatchling=={backend}\"")),
            "{backend}"
        );
    }

    #[test]
    fn examples_are_found_in_a_page() {
        let page = "a\n```python\none\ntwo\n```\nb\n```text\nno\n```\n```python\nthree\n```\n";
        assert_eq!(blocks(page).collect::<Vec<_>>(), ["one\ntwo", "three"]);
    }
}
