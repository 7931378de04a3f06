//! New policies: a project in one of three languages that builds and passes its cases.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::memory::{create_text, foreign};
use crate::words::words;

/// The world that a policy is written for.
const WORLD: &str = include_str!("../../../wit/check-policy.wit");
/// What a template says where the policy's name belongs.
const NAME: &str = "{{name}}";
/// What a file's name ends in that would mean something here.
const SUFFIX: &str = ".template";

words! {
    /// The language of a new policy.
    Language {
        /// Rust.
        Rust = "rust",
        /// JavaScript.
        Js = "js",
        /// Python.
        Python = "python",
    }
}

/// Lists the files of a template.
macro_rules! files {
    ($language:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../templates/policy/", $language, "/", $name)))),+]
    };
}

impl Language {
    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Rust => files!("rust":
                ".gitignore.template", "Cargo.toml.template", "README.md", "cases.json", "cases/many.txt",
                "src/lib.rs"),
            Self::Js => files!("js":
                ".gitignore.template", "README.md", "cases.json", "cases/many.txt", "package.json.template",
                "policy.js"),
            Self::Python => files!("python":
                ".gitignore.template", "README.md", "build.sh", "cases.json", "cases/many.txt", "policy.py",
                "requirements.txt"),
        }
    }
}

/// Why there is no new project.
#[derive(Debug, Error)]
pub enum NewError {
    /// Not every tool would take the name.
    #[error(
        "{name:?} can't be the name of a policy: it must be lower-case letters, digits and single hyphens, and begin with a letter"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// Something is there already.
    #[error("{} is there already", folder.display())]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// A file can't be written.
    #[error("{reason}")]
    Write {
        /// Which, and what is in the way.
        reason: String,
    },
}

/// Makes a project, in a folder of its name. Gives the folder and the files in it.
pub fn new_project(
    language: Language,
    name: &str,
    place: &Path,
) -> Result<(PathBuf, Vec<String>), NewError> {
    if !is_name(name) {
        return Err(NewError::Name {
            name: name.to_owned(),
        });
    }
    let folder = place.join(name);
    if folder.symlink_metadata().is_ok() {
        return Err(NewError::Exists { folder });
    }
    let failed = |error: io::Error| NewError::Write {
        reason: format!("{} can't be made: {error}", folder.display()),
    };
    let templates = language.files().iter();
    let files = templates
        .map(|(file, text)| (file.trim_end_matches(SUFFIX), text.replace(NAME, name)))
        .chain([("wit/check-policy.wit", WORLD.to_owned())]);
    let mut made = Vec::new();
    for (file, text) in files {
        let path = folder.join(file);
        foreign::make_room(&path).map_err(failed)?;
        create_text(&path, &text).map_err(|error| NewError::Write {
            reason: error.to_string(),
        })?;
        made.push(file.to_owned());
    }
    made.sort();
    Ok((folder, made))
}

/// Whether cargo, npm and Python all take it.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let mut letters = part.bytes();
        !part.is_empty() && letters.all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    };
    name.len() <= 64
        && name.starts_with(|it: char| it.is_ascii_lowercase())
        && name.split('-').all(is_part)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use ralph_gate_component::Word as _;

    use super::*;

    #[test]
    fn every_file_of_a_template_is_in_the_project() {
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/policy");
        for language in Language::ALL {
            let mut there = BTreeSet::new();
            let root = templates.join(language.as_str());
            list(&root, &root, &mut there);
            let files = language.files().iter().map(|(name, _)| (*name).to_owned());
            assert_eq!(files.collect::<BTreeSet<String>>(), there);
        }
    }

    fn list(root: &Path, folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                list(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap();
                found.insert(name.to_str().unwrap().to_owned());
            }
        }
    }

    #[test]
    fn a_project_bears_its_name_and_nothing_is_overwritten() {
        let place = tempfile::tempdir().unwrap();
        for language in Language::ALL {
            let name = format!("no-todo-{}", language.as_str());
            let (folder, files) = new_project(*language, &name, place.path()).unwrap();
            for file in &files {
                let text = fs::read_to_string(folder.join(file)).unwrap();
                assert!(!text.contains(NAME) && !file.ends_with(SUFFIX), "{file}");
            }
            let readme = fs::read_to_string(folder.join("README.md")).unwrap();
            assert!(readme.contains(&name), "{readme}");
            let again = new_project(*language, &name, place.path()).unwrap_err();
            assert!(matches!(again, NewError::Exists { .. }), "{again}");
        }
    }

    #[test]
    fn a_name_is_one_that_every_tool_takes() {
        for name in ["a", "no-todo-left", "v2"] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(65);
        for name in ["", "-a", "a-", "a--b", "A", "2a", "a_b", "a/b", "..", &long] {
            assert!(!is_name(name), "{name}");
        }
    }
}
