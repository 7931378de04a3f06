//! pytest, by itself or through a tool that manages its environment.

use super::folder::Folder;
use super::{Found, Proposal};
use crate::config::catalogue::{BESIDE_TESTS, PYTHON};
use crate::evidence::reports::TestFormat;

/// Files that only pytest reads.
const OWN: &[&str] = &[
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "conftest.py",
    "tests/conftest.py",
    "test/conftest.py",
];
/// Files in which pytest has a part, beside other tools.
const SHARED: &[&str] = &["pyproject.toml", "setup.cfg", "tox.ini"];
/// Files of a project in Python.
const PROJECT: &[&str] = &[
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
];
/// Tools that run programs in the project's environment, by a file of theirs.
const MANAGERS: &[(&str, &[&str])] = &[
    ("uv.lock", &["uv", "run"]),
    ("poetry.lock", &["poetry", "run"]),
    ("pdm.lock", &["pdm", "run"]),
    ("Pipfile", &["pipenv", "run"]),
];

pub(super) fn look(folder: &Folder<'_>, found: &mut Found) {
    let told = folder
        .first(OWN)
        .map(str::to_owned)
        .or_else(|| shared(folder))
        .or_else(|| file(folder));
    if told.is_some() || folder.first(PROJECT).is_some() {
        found.ecosystems.push(&PYTHON);
        found.protected.extend(shadows(folder));
    }
    let manager = manager(folder);
    if let Some(told) = told {
        let program = program(folder, &manager, "pytest");
        // The name of each test, even where settings say `-q`: without it tests are only counted.
        let argv = program.iter().map(String::as_str).chain(["-vv"]);
        let tests = Proposal::new("pytest", folder, &told, &PYTHON)
            .argv(argv)
            .prints(TestFormat::Pytest);
        found.tests.push(match manager.as_slice() {
            [] => tests.probe(program.iter().map(String::as_str).chain(["--version"])),
            // Without the network and without changing the environment.
            ["uv", ..] => {
                tests.probe(["uv", "run", "--no-sync", "--offline", "pytest", "--version"])
            }
            _ => tests.probe([manager.as_slice(), &["pytest", "--version"]].concat()),
        });
    }
    let settings = folder.read("pyproject.toml").unwrap_or_default();
    let mut lint = |id: &str, told: &[&str], words: &[&str]| {
        let table = format!("[tool.{id}");
        let file = folder
            .first(told)
            .or(settings.contains(&table).then_some("pyproject.toml"));
        if let Some(file) = file {
            let argv = [manager.as_slice(), words].concat();
            found
                .lints
                .push(Proposal::new(id, folder, file, &PYTHON).argv(argv));
        }
    };
    lint("ruff", &["ruff.toml", ".ruff.toml"], &["ruff", "check"]);
    lint("mypy", &["mypy.ini", ".mypy.ini"], &["mypy", "."]);
}

/// A file of other tools too, in which pytest is named.
fn shared(folder: &Folder<'_>) -> Option<String> {
    let mut named = SHARED.iter().filter(|name| {
        let text = folder.read(name);
        text.is_some_and(|text| text.contains("pytest"))
    });
    named.next().map(ToString::to_string)
}

/// A file with tests, where nothing else tells of pytest.
fn file(folder: &Folder<'_>) -> Option<String> {
    let is_test = |name: &str| {
        let stem = name.strip_suffix(".py");
        stem.is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"))
    };
    if let Some(name) = folder.like(is_test) {
        return Some(name.to_owned());
    }
    let mut below = ["tests", "test"]
        .iter()
        .filter(|name| folder.has_folder(name));
    below.find_map(|name| {
        let tests = folder.below(name)?;
        let file = tests.like(is_test)?;
        Some(format!("{name}/{file}"))
    })
}

/// How many names are in one pattern.
const NAMES: usize = 50;

/// The files by which a directory of tests would put modules in place of those here.
fn shadows(folder: &Folder<'_>) -> Vec<String> {
    let mut modules = folder.modules();
    modules.extend(
        folder
            .below("src")
            .map(|it| it.modules())
            .unwrap_or_default(),
    );
    let is_own =
        |name: &str| !name.starts_with("test") && !["conftest", "setup", "noxfile"].contains(&name);
    modules.retain(|name| is_own(name));
    let from = folder.directory().map_or_else(String::new, |directory| {
        format!("/{}/", globset::escape(&directory))
    });
    let modules: Vec<String> = modules.into_iter().collect();
    let pattern = |names: &[String]| {
        let names = names.join(",");
        format!("{from}{BESIDE_TESTS}{{{names}}}{{.py,/__init__.py}}")
    };
    modules.chunks(NAMES).map(pattern).collect()
}

fn manager(folder: &Folder<'_>) -> Vec<&'static str> {
    let has = |file: &str| {
        let mut upwards = folder.upwards().into_iter();
        upwards.any(|(path, _, _)| path.join(file).is_file())
    };
    if let Some((_, words)) = MANAGERS.iter().find(|(file, _)| has(file)) {
        return words.to_vec();
    }
    let settings = folder.read("pyproject.toml").unwrap_or_default();
    let mut tools = [
        ("[tool.uv", "uv"),
        ("[tool.poetry", "poetry"),
        ("[tool.pdm", "pdm"),
    ]
    .into_iter();
    let tool = tools.find(|(table, _)| settings.contains(table));
    tool.map_or_else(Vec::new, |(_, tool)| vec![tool, "run"])
}

/// The program in the project's environment, or else by its name.
fn program(folder: &Folder<'_>, manager: &[&str], name: &str) -> Vec<String> {
    let local = [".venv", "venv"].map(|environment| format!("{environment}/bin/{name}"));
    let local = local.into_iter().find(|path| folder.is_executable(path));
    match (manager, local) {
        ([], Some(path)) => vec![path],
        (manager, _) => manager
            .iter()
            .chain([&name])
            .map(ToString::to_string)
            .collect(),
    }
}
