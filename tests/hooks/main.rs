//! Hooks: what clients tell, what they are answered, and what is left behind. The real command, one process a question.

#![cfg(target_os = "linux")]

mod acceptance;
mod arguments;
mod case;
mod person;
mod pinned;
mod private;
mod project;
mod time;

use std::fs;
use std::path::{Path, PathBuf};

use case::Case;

/// The files with cases, in order.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks/cases");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .flat_map(|group| fs::read_dir(group.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn every_case_is_answered_as_its_rule_says() {
    let files = files();
    let mut wrong = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let case: Case = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        if let Err(problem) = case.run() {
            wrong.push(format!("{}: {}\n{problem}", file.display(), case.rule));
        }
    }
    println!("{} cases", files.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
