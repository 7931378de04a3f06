//! Patterns that say which files are protected.
//!
//! | pattern | protects |
//! | --- | --- |
//! | `*.lock`, `Cargo.lock`, `tests`, `tests/` | files or folders of that name, at any depth |
//! | `/tests`, `tests/**`, `a/tests` | only that one, because of the `/` before the end |
//! | `!tests/tmp` | takes something out again, whatever the order |
//!
//! A folder that matches protects everything inside of it. `*` and `?` stay within one name, `**` does not.

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::error::WorktreeError;
use super::excluded::within;

/// The longest pattern, in bytes: a longer one is hardly one.
const LENGTH_LIMIT: usize = 4096;

/// Patterns, ready to match paths relative to the workspace.
#[derive(Debug)]
pub(super) struct Patterns {
    /// Two globs for each pattern: itself, and what is inside.
    protecting: GlobSet,
    sparing: GlobSet,
    /// Where the matches of each protecting pattern are.
    places: Vec<Place>,
    /// The protecting patterns as they were given.
    texts: Vec<String>,
}

/// Where the matches of a pattern can be.
#[derive(Debug)]
enum Place {
    Anywhere,
    /// This path, or below.
    Below(Vec<u8>),
}

impl Patterns {
    pub(super) fn new(patterns: &[String]) -> Result<Self, WorktreeError> {
        let (mut protecting, mut sparing) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let (mut places, mut texts) = (Vec::new(), Vec::new());
        for text in patterns {
            let set = match text.strip_prefix('!') {
                Some(_) => &mut sparing,
                None => &mut protecting,
            };
            let (place, globs) = compile(text)?;
            for glob in globs {
                set.add(glob);
            }
            if !text.starts_with('!') {
                places.push(place);
                texts.push(text.clone());
            }
        }
        let build = |set: &GlobSetBuilder| {
            set.build()
                .map_err(|error| failed(&patterns.join(", "), &error.kind()))
        };
        Ok(Self {
            protecting: build(&protecting)?,
            sparing: build(&sparing)?,
            places,
            texts,
        })
    }

    /// The protecting patterns as they were given.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Which of the protecting patterns match a path. None of them if it is spared.
    pub(super) fn matching(&self, path: &[u8]) -> Vec<usize> {
        let candidate = Candidate::from_bytes(path);
        if self.sparing.is_match_candidate(&candidate) {
            return Vec::new();
        }
        let globs = self.protecting.matches_candidate(&candidate);
        globs.into_iter().map(|glob| glob / 2).collect()
    }

    /// Whether a path is taken out.
    pub(super) fn is_spared(&self, path: &[u8]) -> bool {
        self.sparing
            .is_match_candidate(&Candidate::from_bytes(path))
    }

    /// Whether something protected can be inside of a folder.
    pub(super) fn reach_into(&self, folder: &[u8]) -> bool {
        !self.is_spared(folder)
            && self.places.iter().any(|place| match place {
                Place::Anywhere => true,
                Place::Below(path) => within(folder, path) || within(path, folder),
            })
    }
}

/// Refuses a pattern that can't be used. A leading `!` is allowed.
pub fn check_pattern(text: &str) -> Result<(), WorktreeError> {
    compile(text).map(drop)
}

fn failed(pattern: &str, reason: &impl ToString) -> WorktreeError {
    WorktreeError::Pattern {
        pattern: pattern.to_owned(),
        reason: reason.to_string(),
    }
}

fn compile(text: &str) -> Result<(Place, [Glob; 2]), WorktreeError> {
    let pattern = Pattern::parse(text.strip_prefix('!').unwrap_or(text));
    let pattern = pattern.map_err(|reason| failed(text, &reason))?;
    let globs = pattern
        .globs()
        .map_err(|error| failed(text, &error.kind()))?;
    Ok((pattern.place(), globs))
}

/// One pattern, without its `!`.
struct Pattern<'a> {
    text: &'a str,
    depth: Depth,
}

/// Where a pattern begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// In any folder.
    Any,
    /// In the workspace's own.
    Workspace,
}

impl<'a> Pattern<'a> {
    fn parse(given: &'a str) -> Result<Self, String> {
        let length = given.len();
        if length > LENGTH_LIMIT {
            return Err(format!(
                "it has {length} bytes, and the limit is {LENGTH_LIMIT}"
            ));
        }
        let relative = given.strip_prefix("./").or_else(|| given.strip_prefix('/'));
        let mut text = relative.unwrap_or(given);
        while let Some(shorter) = text.strip_suffix("/**").or_else(|| text.strip_suffix('/')) {
            text = shorter;
        }
        if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err("it is not a path inside of the workspace".to_owned());
        }
        let depth = if given.strip_suffix('/').unwrap_or(given).contains('/') {
            Depth::Workspace
        } else {
            Depth::Any
        };
        Ok(Self { text, depth })
    }

    fn globs(&self) -> Result<[Glob; 2], globset::Error> {
        let start = match self.depth {
            Depth::Any => "**/",
            Depth::Workspace => "",
        };
        let glob = |end: &str| {
            GlobBuilder::new(&format!("{start}{}{end}", self.text))
                .literal_separator(true)
                .backslash_escape(true)
                .build()
        };
        Ok([glob("")?, glob("/**")?])
    }

    fn place(&self) -> Place {
        if self.depth == Depth::Any {
            return Place::Anywhere;
        }
        let literal = |part: &&str| !part.contains(['*', '?', '[', ']', '{', '}', '\\']);
        let parts: Vec<&str> = self.text.split('/').take_while(literal).collect();
        Place::Below(parts.join("/").into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protects(patterns: &[&str], path: &str) -> bool {
        let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
        let patterns = Patterns::new(&patterns).unwrap();
        let matches = !patterns.matching(path.as_bytes()).is_empty();
        let folders = path.match_indices('/').all(|(end, _)| {
            let folder = &path.as_bytes()[..end];
            patterns.reach_into(folder)
        });
        assert!(!matches || folders, "{path} is protected and never reached");
        matches
    }

    #[test]
    fn a_name_is_protected_wherever_it_is() {
        for path in ["Cargo.lock", "a/b/Cargo.lock"] {
            assert!(protects(&["*.lock"], path), "{path}");
            assert!(protects(&["Cargo.lock"], path), "{path}");
        }
        assert!(!protects(&["*.lock"], "Cargo.lock.txt"));
    }

    #[test]
    fn a_folder_protects_what_is_inside() {
        for pattern in ["tests", "tests/", "tests/**", "/tests", "./tests/"] {
            for path in ["tests", "tests/a.rs", "tests/a/b.rs"] {
                assert!(protects(&[pattern], path), "{pattern} {path}");
            }
            assert!(!protects(&[pattern], "tests.rs"), "{pattern}");
        }
        assert!(protects(&["a/*/c"], "a/b/c/d"));
        assert!(protects(&["{a/b,c}/d"], "a/b/d/e"));
    }

    #[test]
    fn a_pattern_with_a_slash_inside_is_about_the_workspace() {
        assert!(protects(&["tests/"], "a/tests/x"));
        for pattern in ["/tests", "./tests", "tests/**"] {
            assert!(!protects(&[pattern], "a/tests/x"), "{pattern}");
        }
        assert!(protects(&["**/tests/**"], "a/tests/x"));
        assert!(!protects(&["a/*"], "b/a/x"));
    }

    #[test]
    fn an_exclamation_mark_takes_something_out_whatever_the_order() {
        for patterns in [["tests", "!tests/tmp"], ["!tests/tmp", "tests"]] {
            assert!(protects(&patterns, "tests/a"));
            assert!(!protects(&patterns, "tests/tmp/a"));
        }
    }

    #[test]
    fn what_can_not_match_is_not_walked_through() {
        let patterns = Patterns::new(&["tests/**".into(), "a/b*/c".into()]).unwrap();
        for folder in ["tests", "tests/x", "a", "a/bb"] {
            assert!(patterns.reach_into(folder.as_bytes()), "{folder}");
        }
        for folder in ["node_modules", "tests2"] {
            assert!(!patterns.reach_into(folder.as_bytes()), "{folder}");
        }
    }

    #[test]
    fn a_pattern_that_can_not_be_used_is_named() {
        let long = "a".repeat(LENGTH_LIMIT + 1);
        for pattern in [
            "a[",
            "",
            "/",
            "!",
            "../x",
            "a//b",
            "a/./b",
            "{a",
            long.as_str(),
        ] {
            let error = Patterns::new(&["ok".into(), pattern.into()]).unwrap_err();
            let WorktreeError::Pattern { pattern: named, .. } = error else {
                panic!("{pattern}: {error}");
            };
            assert_eq!(named, pattern);
        }
    }
}
