//! Invariants 3 and 6: in the host, one folder per power: wasmtime, writing files, loading code.

use std::path::Path;

use super::gate;
use super::lexer::{Token, lex, lex_without_tests, paths};
use super::{Violation, files_with, read};
use crate::sources;

const HOST: &str = "host/src";

/// The crates of the host.
const CRATES: [&str; 4] = [HOST, "host/bucket/src", "host/memory/src", "host/types/src"];

/// Where wasmtime may be named. `host/build.rs`, which compiles the gate ahead of time, may too. The types that wasmtime
/// lifts say so behind a feature.
const ENGINES: &[&str] = &[
    "host/src/engine",
    "host/src/policy",
    "host/types/src/records.rs",
];

/// The one folder that writes files.
const MEMORY: &str = "host/src/memory";

/// The files that load compiled code, the gate's and what this host made of policies, and how often each of them needs
/// `unsafe`: the gate's code is also put beside the program's own.
const LOADERS: &[(&str, usize)] = &[
    ("host/src/engine/embedded.rs", 2),
    ("host/src/policy/code.rs", 1),
];

/// Names the processor's features, which wasmtime lets only `unsafe` code do.
const COMPILER: &str = "host/build.rs";

/// A file outside the memory that may write, and why.
struct Exception {
    path: &'static str,
    /// The path as it stands in the code, for example `fs::write`.
    call: &'static str,
    reason: &'static str,
}

/// Keep it short: each entry is a file that a crash can leave half-written.
const MAY_WRITE: &[Exception] = &[
    Exception {
        path: "host/src/evidence/file.rs",
        call: "fs::remove_file",
        reason: "a report of an earlier run is no evidence for this one",
    },
    Exception {
        path: "host/src/process/guard.rs",
        call: "fs::write",
        reason: "the name of this process, which is a file only to look at",
    },
    Exception {
        path: "host/src/plain_file.rs",
        call: "File::options",
        reason: "opens files for reading, and pipes without waiting",
    },
    Exception {
        path: "host/src/policy/cache.rs",
        call: "File::options",
        reason: "opens compiled code for reading, and not through links",
    },
    Exception {
        path: "host/src/harness/install/file.rs",
        call: "File::options",
        reason: "opens settings for reading, and pipes without waiting",
    },
    Exception {
        path: "host/src/harness/transcript/open.rs",
        call: "File::options",
        reason: "opens transcripts for reading, and pipes without waiting",
    },
];

/// Functions of `std::fs` and `rustix::fs` that change files.
const WRITERS: &[&str] = &[
    "write",
    "rename",
    "copy",
    "remove_file",
    "remove_dir",
    "remove_dir_all",
    "create_dir",
    "create_dir_all",
    "hard_link",
    "soft_link",
    "symlink",
    "set_permissions",
    "renameat",
    "renameat_with",
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
    "mkdirat",
    "link",
    "linkat",
    "symlinkat",
    "mknodat",
    "ftruncate",
    "fallocate",
    "chmod",
    "chmodat",
    "fchmod",
    "utimensat",
];

/// What a file is opened with that is going to be written.
const WRITING: &[&str] = &["CREATE", "WRONLY", "RDWR", "TRUNC", "APPEND", "TMPFILE"];

/// What makes a file, or opens one with any settings.
const MAKERS: &[&str] = &["create", "create_new", "create_buffered", "options"];

/// Only the engine and the policies name wasmtime.
pub(super) fn wasmtime(root: &Path) -> Vec<Violation> {
    let mut violations = Vec::new();
    let files = CRATES
        .iter()
        .flat_map(|folder| files_with(root, folder, &["wasmtime"]));
    for (path, text) in files {
        if ENGINES.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        for token in lex(&text).iter().filter(|token| token.is_word("wasmtime")) {
            let message = format!(
                "only {} name wasmtime; go through their types",
                ENGINES.join(", ")
            );
            violations.push(Violation::new(&path, token.line, message));
        }
    }
    violations
}

/// What the host may use of the gate's own crate: its reader of settings. Rules are asked of the component.
const READER: &[&str] = &["tree", "Word", "error"];

/// Where the memory's component, which can't ask another one, has the gate's formats from.
const FORMATS: &str = "host/memory/src/component/formats.rs";

/// The host asks the component for every rule, and not the crate that it links for its reader.
pub(super) fn asks_the_component(root: &Path) -> Vec<Violation> {
    let mut violations = Vec::new();
    let files = CRATES
        .iter()
        .flat_map(|folder| files_with(root, folder, &["ralph_gate_component"]));
    for (path, text) in files.filter(|(path, _)| path != Path::new(FORMATS)) {
        for used in paths(&lex(&text), "ralph_gate_component") {
            let part = used.segments.get(1).map_or("", String::as_str);
            if !READER.contains(&part) {
                let message = format!(
                    "of the gate's crate only {} are for the host; ask the component",
                    READER.join(", ")
                );
                violations.push(Violation::new(&path, used.line, message));
            }
        }
    }
    violations
}

/// Only the memory writes files.
pub(super) fn writes(root: &Path) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut used = vec![false; MAY_WRITE.len()];
    for path in sources::below(root, HOST, &[".rs"]) {
        if path.starts_with(MEMORY) || is_test(&path) {
            continue;
        }
        let text = match read(root, &path) {
            Ok(text) => text,
            Err(violation) => {
                violations.push(violation);
                continue;
            }
        };
        for (call, line) in writing_calls(&lex_without_tests(&text)) {
            let allowed = MAY_WRITE
                .iter()
                .position(|e| Path::new(e.path) == path && e.call == call);
            if let Some(entry) = allowed.and_then(|index| used.get_mut(index)) {
                *entry = true;
            } else {
                let message = format!("only {MEMORY} writes files; `{call}` belongs there");
                violations.push(Violation::new(&path, line, message));
            }
        }
    }
    for (exception, _) in MAY_WRITE.iter().zip(used).filter(|(_, used)| !used) {
        let Exception { path, call, reason } = exception;
        let message = format!(
            "no longer uses `{call}` ({reason}): take it off the list in xtask/src/tidy/host.rs"
        );
        violations.push(Violation::new(path, 0, message));
    }
    violations
}

/// `tests.rs`, and whatever is in a folder `tests`.
fn is_test(path: &Path) -> bool {
    path.iter()
        .any(|part| part == "tests" || part == "tests.rs")
}

/// What in the code changes files, and where.
fn writing_calls(tokens: &[Token]) -> Vec<(String, usize)> {
    let mut calls = Vec::new();
    for (root, names) in [("fs", WRITERS), ("OFlags", WRITING), ("File", MAKERS)] {
        for used in paths(tokens, root) {
            let name = used.segments.get(1).map_or("", String::as_str);
            if names.contains(&name) {
                calls.push((format!("{root}::{name}"), used.line));
            }
        }
    }
    for token in tokens {
        if let Some(word) = ["OpenOptions", "tempfile"]
            .into_iter()
            .find(|word| token.is_word(word))
        {
            calls.push((word.to_owned(), token.line));
        }
    }
    calls
}

/// `unsafe` and the loading of compiled code stay in the files that are allowed to, as often as each of them needs it.
pub(super) fn loading(root: &Path) -> Vec<Violation> {
    let mut violations = Vec::new();
    let loaders: Vec<&str> = LOADERS.iter().map(|(path, _)| *path).collect();
    let loaders = loaders.join(" and ");
    for (path, text) in files_with(root, "", &["unsafe", "deserialize"]) {
        // Invariant 2 looks at `unsafe` in what is pure.
        if gate::folders().any(|folder| path.starts_with(folder)) {
            continue;
        }
        let tokens = lex(&text);
        let loader = LOADERS.iter().find(|(loader, _)| path == Path::new(loader));
        if let Some((_, needed)) = loader {
            let found = tokens.iter().filter(|token| token.is_word("unsafe"));
            for token in found.skip(*needed) {
                let message =
                    "a loader has `unsafe` where it needs it, and says there why it is right";
                violations.push(Violation::new(&path, token.line, message));
            }
            continue;
        }
        for token in tokens.iter().filter(|_| path != Path::new(COMPILER)) {
            if ["unsafe", "unsafe_code"]
                .iter()
                .any(|word| token.is_word(word))
            {
                let message =
                    format!("only {loaders}, {COMPILER} and generated bindings have `unsafe`");
                violations.push(Violation::new(&path, token.line, message));
            }
        }
        for (call, line) in loading_calls(&tokens) {
            let message =
                format!("only {loaders} load compiled code; `{call}` must not see other bytes");
            violations.push(Violation::new(&path, line, message));
        }
    }
    violations
}

/// wasmtime's functions that trust the bytes they are given.
fn loading_calls(tokens: &[Token]) -> Vec<(String, usize)> {
    let mut calls = Vec::new();
    for kind in ["Component", "Module"] {
        for used in paths(tokens, kind) {
            if used
                .segments
                .get(1)
                .is_some_and(|name| name.starts_with("deserialize"))
            {
                calls.push((used.segments.join("::"), used.line));
            }
        }
    }
    calls
}
