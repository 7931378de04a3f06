//! Replays what fuzzing found: every file below `tests/fuzz/regressions`, a folder for each target.

use std::fs;
use std::path::{Path, PathBuf};

use ralph_gate::GateEngine;

use crate::invariants::differential;
use crate::{component, hold, rules_of};

fn regressions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/regressions")
}

/// What is in a folder, sorted.
fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{} can't be listed: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap()
}

#[test]
fn what_fuzzing_found_once_holds_for_ever() {
    let engine = GateEngine::new().unwrap();
    let mut component = component(&engine);
    let mut replayed = 0;
    for folder in list(&regressions())
        .into_iter()
        .filter(|path| path.is_dir())
    {
        let target = name(&folder);
        for path in list(&folder) {
            let input = fs::read(&path).unwrap();
            match target {
                "differential" => {
                    let mut check = |input: &[u8]| differential::check(input, &mut component);
                    hold(target, &mut check, &input);
                }
                // By tests/hostile, which have a host.
                "policy" => {}
                _ => hold(target, &mut rules_of(target), &input),
            }
            replayed += 1;
        }
    }
    assert!(replayed > 0, "there is nothing to replay");
}
