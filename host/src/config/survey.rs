//! Looks at a folder for ways of testing.

use std::fs;
use std::path::Path;

use super::starter::Tests;

/// The names of makefiles, in the order in which make looks for them.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
/// Files that only pytest reads.
const PYTEST_OWN: [&str; 4] = [
    "pytest.ini",
    ".pytest.ini",
    "conftest.py",
    "tests/conftest.py",
];
/// Files in which pytest has a part.
const PYTEST_SHARED: [&str; 3] = ["pyproject.toml", "setup.cfg", "tox.ini"];

/// The ways of testing in a folder, each once, in a fixed order. What can't be read is not there.
pub fn survey(folder: &Path) -> Vec<Tests> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let cargo = read("Cargo.toml").map(|text| Tests::in_cargo_manifest(&text));
    let npm = read("package.json").and_then(|text| Tests::in_package_json(&text));
    let is_pytest = PYTEST_OWN.iter().any(|name| folder.join(name).is_file());
    let shared = || {
        let texts = PYTEST_SHARED.iter().filter_map(|name| read(name));
        texts
            .into_iter()
            .find_map(|text| Tests::in_python_settings(&text))
    };
    let pytest = is_pytest.then_some(Tests::Pytest).or_else(shared);
    let go = folder.join("go.mod").is_file().then_some(Tests::Go);
    let makefile = MAKEFILES.iter().find_map(|name| read(name));
    let make = makefile.and_then(|text| Tests::in_makefile(&text));
    [cargo, npm, pytest, go, make]
        .into_iter()
        .flatten()
        .collect()
}
