//! House rules about files: what they begin with, where versions stand, what they may not name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Violation, read};
use crate::sources;

/// Files that people expect at the top of a repository.
const EXPECTED: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "deny.toml",
];

/// Users that only exist in examples.
const EXAMPLE_USERS: &[&str] = &["user", "alice", "bob", "agent"];

/// Every Rust file begins with a comment that says what it is.
pub(super) fn first_lines(root: &Path) -> Vec<Violation> {
    let mut violations = Vec::new();
    for path in sources::below(root, "", &[".rs"]) {
        match read(root, &path) {
            Err(violation) => violations.push(violation),
            Ok(text) => {
                let first = text.lines().next().unwrap_or_default();
                let said = first
                    .strip_prefix("//!")
                    .or_else(|| first.strip_prefix("//"))
                    .unwrap_or_default();
                if !said.contains(char::is_alphabetic) {
                    violations.push(Violation::new(
                        &path,
                        1,
                        "must begin with a `//!` line that says what the file is",
                    ));
                }
            }
        }
    }
    violations
}

/// The files that people expect.
pub(super) fn expected_files(root: &Path) -> Vec<Violation> {
    EXPECTED
        .iter()
        .filter(|name| read(root, name).map_or(true, |text| text.trim().is_empty()))
        .map(|name| Violation::new(name, 0, "is missing or empty"))
        .collect()
}

/// Members take versions, and what they share, from the workspace.
pub(super) fn versions(root: &Path) -> Vec<Violation> {
    let mut violations = Vec::new();
    for path in sources::below(root, "", &["Cargo.toml"]) {
        let text = match read(root, &path) {
            Ok(text) => text,
            Err(violation) => {
                violations.push(violation);
                continue;
            }
        };
        // A manifest with a workspace of its own has no table above it to take versions from.
        if !text.lines().any(|line| line.trim() == "[workspace]") {
            check_manifest(&path, &text, &mut violations);
        }
    }
    violations
}

fn check_manifest(path: &Path, text: &str, violations: &mut Vec<Violation>) {
    let mut table = String::new();
    // Tables such as `[dependencies.serde]`: where they begin, and whether they point to the workspace.
    let mut long_form: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(header) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            header.trim_matches(['[', ']']).clone_into(&mut table);
            if is_one_dependency(&table) {
                long_form.insert(table.clone(), (index + 1, false));
            }
            continue;
        }
        let Some((key, value)) = line
            .split_once('=')
            .map(|(key, value)| (key.trim(), value.trim()))
        else {
            continue;
        };
        if let Some(entry) = long_form.get_mut(&table) {
            entry.1 |= key == "workspace" && value == "true";
        } else if is_dependencies(&table)
            && !key.ends_with(".workspace")
            && !value.contains("workspace = true")
        {
            let message = format!(
                "`{key}` must come from [workspace.dependencies]: `{key}.workspace = true`"
            );
            violations.push(Violation::new(path, index + 1, message));
        } else if table == "package"
            && ["version", "edition", "rust-version", "license"].contains(&key)
        {
            let message =
                format!("`{key}` must come from [workspace.package]: `{key}.workspace = true`");
            violations.push(Violation::new(path, index + 1, message));
        }
    }
    for (table, (line, _)) in long_form
        .iter()
        .filter(|(_, (_, from_workspace))| !from_workspace)
    {
        let message =
            format!("[{table}] must come from [workspace.dependencies]: `workspace = true`");
        violations.push(Violation::new(path, *line, message));
    }
}

fn is_dependencies(table: &str) -> bool {
    ["dependencies", "dev-dependencies", "build-dependencies"]
        .iter()
        .any(|kind| {
            table == *kind || table.starts_with("target.") && table.ends_with(&format!(".{kind}"))
        })
}

fn is_one_dependency(table: &str) -> bool {
    table
        .rsplit_once('.')
        .is_some_and(|(above, _)| is_dependencies(above))
}

/// No file names somebody's home folder or the host of a package registry.
pub(super) fn places(root: &Path) -> Vec<Violation> {
    let patterns = Patterns::new();
    let mut violations = Vec::new();
    for path in text_files(root) {
        // What is not text has no lines to look at.
        let Ok(text) = std::fs::read_to_string(root.join(&path)) else {
            continue;
        };
        if !patterns.may_occur(&text) {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            if let Some(found) = patterns.home_folder(line) {
                let message =
                    format!("`{found}` is a folder on somebody's machine; use a relative path");
                violations.push(Violation::new(&path, index + 1, message));
            }
            if let Some(host) = patterns.registry_host(line)
                && !(is_lock(&path) && line.contains(&patterns.default_registry))
            {
                let message = format!(
                    "`{host}` is the host of a package registry; leave the choice to whoever builds"
                );
                violations.push(Violation::new(&path, index + 1, message));
            }
        }
    }
    violations
}

/// The tracked files where there is git, else every file.
fn text_files(root: &Path) -> Vec<PathBuf> {
    let tracked = if root.join(".git").exists() {
        sources::list(root).ok()
    } else {
        None
    };
    tracked.unwrap_or_else(|| sources::below(root, "", &[""]))
}

fn is_lock(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "Cargo.lock")
}

/// What may not be named. Put together from pieces, or this file would break its own rule.
struct Patterns {
    home_folders: [String; 4],
    registries: [String; 5],
    /// What every Cargo.lock names as the source of a package.
    default_registry: String,
}

impl Patterns {
    fn new() -> Self {
        Self {
            home_folders: [
                ["/ho", "me/"],
                ["/ro", "ot/"],
                ["/Us", "ers/"],
                ["\\Us", "ers\\"],
            ]
            .map(|pieces| pieces.concat()),
            registries: [
                ["crates", ".io"],
                ["npmjs", ".org"],
                ["npmjs", ".com"],
                ["pypi", ".org"],
                ["pythonhosted", ".org"],
            ]
            .map(|pieces| pieces.concat()),
            default_registry: [
                "\"registry+https://github.com/rust-lang/crates",
                ".io-index\"",
            ]
            .concat(),
        }
    }

    /// Whether a text is worth looking at line by line.
    fn may_occur(&self, text: &str) -> bool {
        let names = self.home_folders.iter().chain(&self.registries);
        text.contains("://") || names.into_iter().any(|name| text.contains(name))
    }

    /// A folder that only exists on one machine. A longer path that merely contains the name, such
    /// as a folder of a repository, is none; neither is that of a user who is plainly made up.
    fn home_folder(&self, line: &str) -> Option<&str> {
        let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}');
        let is_real = |(start, root): (usize, &str)| {
            let before = line.get(..start).unwrap_or_default();
            let after = line.get(start + root.len()..).unwrap_or_default();
            let user = after.split(['/', '\\']).next().unwrap_or_default();
            !before.ends_with(continues) && !EXAMPLE_USERS.contains(&user)
        };
        self.home_folders
            .iter()
            .map(String::as_str)
            .find(|root| line.match_indices(root).any(is_real))
    }

    /// A registry by its name, or the host of a URL that looks like one.
    fn registry_host<'a>(&'a self, line: &'a str) -> Option<&'a str> {
        let known = self.registries.iter().map(String::as_str);
        known
            .into_iter()
            .find(|host| line.contains(host))
            .or_else(|| hosts(line).find(|host| looks_like_a_registry(host)))
    }
}

fn looks_like_a_registry(host: &str) -> bool {
    // Without a dot it is a name in an example, not a host that somebody can reach.
    if !host.contains('.') {
        return false;
    }
    let labels = [
        "registry",
        "npm",
        "pypi",
        "crates",
        "artifactory",
        "nexus",
        "verdaccio",
        "devpi",
    ];
    host.split(['.', '-']).any(|label| labels.contains(&label))
}

/// The host of every URL in the line.
fn hosts(line: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '@' | '_'));
    line.split("://").skip(1).map(move |rest| {
        let authority = rest.split(ends).next().unwrap_or_default();
        authority.rsplit('@').next().unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_are_known_by_name_and_by_the_look_of_their_host() {
        let patterns = Patterns::new();
        let registry_host = |line: &str| patterns.registry_host(line).map(str::to_owned);
        let mirror = ["https://npm", ".example.org/left-pad"].concat();
        assert_eq!(
            registry_host(&mirror),
            Some(["npm", ".example.org"].concat())
        );
        let known = ["see crates", ".io for it"].concat();
        assert!(registry_host(&known).is_some());
        assert_eq!(
            registry_host("https://example.org/npm and a registry"),
            None
        );
    }

    #[test]
    fn a_home_folder_counts_only_as_the_start_of_a_path() {
        let patterns = Patterns::new();
        let home_folder = |line: &str| patterns.home_folder(line).map(str::to_owned);
        assert!(home_folder(&["cd /ho", "me/carol"].concat()).is_some());
        assert!(home_folder(&["\"/ro", "ot/x\""].concat()).is_some());
        assert_eq!(home_folder(&["cd /ho", "me/alice/x"].concat()), None);
        assert_eq!(home_folder(&["site/ho", "me/page"].concat()), None);
    }

    #[test]
    fn a_version_in_a_member_is_found_in_every_form() {
        let text = "[package]\nversion = \"1\"\n[dependencies]\na.workspace = true\nb = \"1\"\n\
                    c = { workspace = true, features = [] }\n[target.'cfg(unix)'.dependencies]\nd = { version = \"1\" }\n\
                    [dev-dependencies.e]\nversion = \"1\"\n[dev-dependencies.f]\nworkspace = true\n[lints]\nworkspace = true\n";
        let mut violations = Vec::new();
        check_manifest(Path::new("Cargo.toml"), text, &mut violations);
        let lines: Vec<usize> = violations.iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [2, 5, 8, 9]);
    }
}
