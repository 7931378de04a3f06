//! Each check is shown to work: a copy of the tree is broken on purpose, and that check alone reports it.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::json;
use tempfile::TempDir;

use super::{COUNT, OF_THE_BUILD, OF_THE_TREE, Violation, component, licences};
use crate::sources;

/// A copy of the source files that a test may break.
struct Tree(TempDir);

impl Tree {
    fn copy() -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for file in sources::list(root()).unwrap() {
            // There are hundreds of vectors, and the tests below bring their own.
            if !file.starts_with("tests/vectors") {
                tree.write_bytes(&file, &fs::read(root().join(&file)).unwrap());
            }
        }
        tree.write(
            "tests/vectors/fine.json",
            r#"{ "rule": "a vector names its rule" }"#,
        );
        tree
    }

    fn write(&self, path: &str, text: &str) {
        self.write_bytes(path.as_ref(), text.as_bytes());
    }

    fn write_bytes(&self, path: &Path, bytes: &[u8]) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.path().join(path)).unwrap_or_default()
    }

    fn append(&self, path: &str, text: &str) {
        self.write(path, &format!("{}\n{text}\n", self.read(path)));
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.0.path().join(path)).unwrap();
    }

    fn findings(&self) -> Vec<(&'static str, Violation)> {
        findings(self.0.path())
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn findings(root: &Path) -> Vec<(&'static str, Violation)> {
    OF_THE_TREE
        .iter()
        .flat_map(|check| {
            (check.run)(root)
                .into_iter()
                .map(|found| (check.name, found))
        })
        .collect()
}

/// What the change adds to the findings.
fn added(change: impl FnOnce(&Tree)) -> Vec<(&'static str, Violation)> {
    static BEFORE: LazyLock<Vec<(&'static str, Violation)>> =
        LazyLock::new(|| Tree::copy().findings());
    let before = &*BEFORE;
    let tree = Tree::copy();
    change(&tree);
    tree.findings()
        .into_iter()
        .filter(|found| !before.contains(found))
        .collect()
}

/// The change must be reported by this check, for this file, and by no other check.
#[track_caller]
fn breaks(check: &str, path: &str, change: impl FnOnce(&Tree)) {
    let added = added(change);
    assert!(!added.is_empty(), "nobody noticed");
    for (name, violation) in &added {
        assert!(name.starts_with(check), "reported by `{name}`: {violation}");
        assert_eq!(violation.path, Path::new(path), "{violation}");
    }
}

#[track_caller]
fn breaks_nothing(change: impl FnOnce(&Tree)) {
    let added = added(change);
    assert_eq!(added, [], "a harmless change was reported");
}

#[test]
fn the_tree_as_it_is_breaks_nothing() {
    let found: Vec<String> = findings(root())
        .iter()
        .map(|(_, violation)| violation.to_string())
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_check_has_its_own_name() {
    let of_the_tree = OF_THE_TREE.iter().map(|check| check.name);
    let of_the_build = OF_THE_BUILD.iter().map(|check| check.name);
    let mut names: Vec<&str> = of_the_tree.chain(of_the_build).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), COUNT);
}

// 1: the component

/// A binary out of its sections: id and content.
fn binary(header: &[u8], sections: &[(u8, &[u8])]) -> Vec<u8> {
    let mut bytes = header.to_vec();
    for (id, content) in sections {
        bytes.push(*id);
        bytes.push(u8::try_from(content.len()).unwrap());
        bytes.extend_from_slice(content);
    }
    bytes
}

const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
const MODULE: &[u8] = b"\0asm\x01\0\0\0";

fn messages(bytes: &[u8]) -> Vec<String> {
    component::check_bytes(bytes)
        .into_iter()
        .map(|violation| violation.message)
        .collect()
}

#[test]
fn a_component_that_imports_is_reported() {
    // (type (func)) (import "clock" (func (type 0)))
    let sections: &[(u8, &[u8])] = &[(7, b"\x01\x40\0\x01\0"), (10, b"\x01\0\x05clock\x01\0")];
    assert_eq!(
        messages(&binary(COMPONENT, sections)),
        ["the gate must import nothing, and imports clock"]
    );
}

#[test]
fn a_component_with_a_start_function_is_reported() {
    // One function without parameters, called at start.
    let sections: &[(u8, &[u8])] = &[
        (1, b"\x01\x60\0\0"),
        (3, b"\x01\0"),
        (8, b"\0"),
        (10, b"\x01\x02\0\x0b"),
    ];
    let module = binary(MODULE, sections);
    let component = binary(COMPONENT, &[(1, &module)]);
    assert_eq!(
        messages(&component),
        ["the gate must have no start function, and has 1"]
    );
}

#[test]
fn a_component_that_is_none_or_not_built_is_reported() {
    assert_eq!(messages(b"no component").len(), 1);
    assert_eq!(messages(&binary(COMPONENT, &[(1, MODULE)])), [""; 0]);
}

// 2: the gate

#[test]
fn an_impure_gate_is_reported_whatever_it_reaches_for() {
    for folder in ["gate-component/src", "gate-component/text/src"] {
        impurities_are_reported_in(folder, "2: the gate is pure");
    }
}

#[test]
fn an_impure_memory_is_reported_whatever_it_reaches_for() {
    for folder in ["host/memory/src", "host/types/src"] {
        impurities_are_reported_in(folder, "2: the memory is pure");
    }
}

#[test]
fn an_impure_policy_is_reported_whatever_it_reaches_for() {
    for folder in ["cel", "evidence", "rego"] {
        let folder = format!("host/policies/{folder}/src");
        impurities_are_reported_in(&folder, "2: the shipped policies are pure");
    }
}

#[test]
fn an_impure_gate_behind_http_is_reported_whatever_it_reaches_for() {
    impurities_are_reported_in("bindings/http/src", "2: the gate behind HTTP is pure");
}

#[test]
fn an_exception_that_no_policy_needs_is_reported() {
    breaks(
        "2: the shipped policies are pure",
        "host/policies/cel/src/values.rs",
        |tree| tree.write("host/policies/cel/src/values.rs", "//! Empty.\n"),
    );
}

fn impurities_are_reported_in(folder: &str, check: &str) {
    let added = added(|tree| {
        tree.write(
            &format!("{folder}/broken.rs"),
            "//! Broken on purpose.\n\
             use std::fs;\n\
             use std::{collections::BTreeMap, env::var};\n\
             fn a() { std::thread::yield_now() }\n\
             fn b() { std::time::Duration::ZERO }\n\
             fn c() { std::process::abort() }\n\
             type D = std::net::IpAddr;\n\
             type E = Other::HashMap<u8, u8>;\n\
             type F = std::collections::HashSet<u8>;\n\
             fn g() { rand::random() }\n\
             fn h() { unsafe { i() } }\n\
             use std::*;\n",
        );
    });
    assert!(
        added.iter().all(|(name, _)| name.starts_with(check)),
        "{added:?}"
    );
    let lines: std::collections::BTreeSet<usize> =
        added.iter().map(|(_, violation)| violation.line).collect();
    assert_eq!(
        lines.into_iter().collect::<Vec<_>>(),
        (2..=12).collect::<Vec<_>>()
    );
}

#[test]
fn words_in_comments_strings_and_tests_are_no_impurity() {
    breaks_nothing(|tree| {
        tree.write(
            "gate-component/src/harmless.rs",
            "//! Uses no std::fs, HashMap or unsafe.\n\
             /* std::env::var */ const A: &str = \"std::fs and unsafe\"; // rand\n\
             #[cfg(test)]\nmod tests { use std::collections::HashMap; }\n",
        );
    });
}

#[test]
fn unsafe_in_the_wit_file_is_allowed_in_the_generated_module_only() {
    for (file, check) in [
        ("gate-component/src/component.rs", "2: the gate is pure"),
        ("host/memory/src/component.rs", "2: the memory is pure"),
        (
            "bindings/http/src/component.rs",
            "2: the gate behind HTTP is pure",
        ),
    ] {
        breaks_nothing(|tree| tree.append(file, "mod bindings { unsafe extern \"C\" {} }"));
        breaks(check, file, |tree| {
            tree.append(file, "fn f() { unsafe { g() } }");
        });
    }
}

#[test]
fn types_of_python_that_the_wit_does_not_give_are_reported() {
    let file = "bindings/python/src/ralph_gate/types.py";
    let check = "the types of Python";
    breaks(check, file, |tree| tree.append(file, "# edited by hand"));
    breaks(check, file, |tree| tree.remove(file));
}

#[test]
fn an_openapi_document_that_the_wit_does_not_give_is_reported() {
    let check = "the OpenAPI document";
    for file in ["bindings/http/openapi.json", "host/src/serve/openapi.json"] {
        breaks(check, file, |tree| tree.append(file, "{}"));
        breaks(check, file, |tree| tree.remove(file));
    }
}

#[test]
fn a_change_of_the_wit_is_reported_for_everything_that_is_made_from_it() {
    let added = added(|tree| {
        let wit = tree.read("wit/gate.wit");
        let (outcome, more) = ("    flaky,\n  }", "    flaky,\n    late,\n  }");
        assert!(wit.contains(outcome));
        tree.write("wit/gate.wit", &wit.replace(outcome, more));
    });
    let files: Vec<_> = added.iter().map(|(_, found)| found.path.clone()).collect();
    assert_eq!(
        files,
        [
            Path::new("bindings/python/src/ralph_gate/types.py"),
            Path::new("bindings/http/openapi.json"),
            Path::new("host/src/serve/openapi.json")
        ]
    );
}

#[test]
fn a_second_file_that_knows_wit_is_reported() {
    breaks(
        "2: only component.rs knows WIT",
        "gate-component/src/lib.rs",
        |tree| {
            tree.append("gate-component/src/lib.rs", "use wit_bindgen::generate;");
        },
    );
}

// 3: the host's powers

#[test]
fn wasmtime_outside_the_engine_is_reported() {
    for broken in ["host/src/runner/broken.rs", "host/memory/src/broken.rs"] {
        breaks("3: only the engine", broken, |tree| {
            tree.write(broken, "//! Broken on purpose.\nuse wasmtime::Engine;\n");
        });
    }
    breaks_nothing(|tree| {
        tree.write(
            "host/src/policy/fine.rs",
            "//! Fine.\nuse wasmtime::Engine;\n",
        );
    });
}

#[test]
fn a_rule_that_the_host_takes_from_the_crate_is_reported() {
    for broken in ["host/src/runner/broken.rs", "host/memory/src/broken.rs"] {
        breaks("5: the host asks the component", broken, |tree| {
            tree.write(
                broken,
                "//! Broken on purpose.\nuse ralph_gate_component::session::Session;\n",
            );
        });
    }
    breaks_nothing(|tree| {
        tree.write(
            "host/src/config/fine.rs",
            "//! Fine.\nuse ralph_gate_component::tree::Node;\n",
        );
    });
}

#[test]
fn every_way_to_write_a_file_outside_the_memory_is_reported() {
    let code = "//! Broken on purpose.\n\
                fn a() { std::fs::write(p, b) }\n\
                use std::fs::{self, rename};\n\
                fn c() { fs::remove_file(p) }\n\
                fn d() { File::create(p) }\n\
                fn e() { OpenOptions::new() }\n\
                fn f() { rustix::fs::openat(at, n, OFlags::CREATE, m) }\n\
                const G: OFlags = OFlags::WRONLY.union(OFlags::CLOEXEC);\n\
                const H: OFlags = OFlags::RDWR;\n\
                const I: OFlags = OFlags::TRUNC;\n\
                const J: OFlags = OFlags::APPEND;\n\
                const K: OFlags = OFlags::TMPFILE;\n\
                fn l() { rustix::fs::renameat(at, n, at, m) }\n\
                fn m() { rustix::fs::renameat_with(at, n, at, m, flags) }\n\
                fn n() { rustix::fs::unlink(n) }\n\
                fn o() { rustix::fs::unlinkat(at, n, flags) }\n\
                fn p() { rustix::fs::rmdir(n) }\n\
                fn q() { rustix::fs::mkdir(n, m) }\n\
                fn r() { rustix::fs::mkdirat(at, n, m) }\n\
                fn s() { rustix::fs::link(n, m) }\n\
                fn t() { rustix::fs::linkat(at, n, at, m, flags) }\n\
                use rustix::fs::{OFlags, symlinkat};\n\
                fn v() { rustix::fs::mknodat(at, n, kind, m, 0) }\n\
                fn w() { rustix::fs::ftruncate(file, 0) }\n\
                fn x() { rustix::fs::fallocate(file, mode, 0, 1) }\n\
                fn y() { rustix::fs::chmod(n, m) }\n\
                fn z() { rustix::fs::chmodat(at, n, m, flags) }\n\
                fn aa() { rustix::fs::fchmod(file, m) }\n\
                fn bb() { rustix::fs::utimensat(at, n, times, flags) }\n";
    let added = added(|tree| tree.write("host/src/runner/broken.rs", code));
    assert!(
        added
            .iter()
            .all(|(name, _)| name.starts_with("3: only the memory")),
        "{added:?}"
    );
    let mut lines: Vec<usize> = added.iter().map(|(_, violation)| violation.line).collect();
    lines.sort_unstable();
    let expected: Vec<usize> = (2..=code.lines().count()).collect();
    assert_eq!(lines, expected);
    breaks_nothing(|tree| tree.write("host/src/memory/fine.rs", code));
}

#[test]
fn reading_files_and_writing_them_in_tests_is_nobodys_business() {
    breaks_nothing(|tree| {
        tree.write(
            "host/src/runner/fine.rs",
            "//! Fine.\nfn a() { std::fs::read_to_string(p); File::open(p) }\n\
             fn c() { rustix::fs::openat(at, n, OFlags::RDONLY | OFlags::NOFOLLOW, m) }\n\
             #[cfg(test)]\nmod tests { fn b() { std::fs::write(p, b) } }\n",
        );
    });
}

// 4 and 5: rules

#[test]
fn a_rule_in_a_harness_is_reported_as_word_and_as_text() {
    for code in [
        "fn f(c: &C) -> u32 { c.loop_max_iters }",
        "const A: &str = \"no_progress_limit\";",
        "fn g(o: &str) -> bool { o.contains(\"<promise>\") }",
        "fn h(f: &F) -> bool { f.code == FailureCode::CheckFailed }",
        "const B: &str = r#\"{\"code\": \"stale_evidence\"}\"#;",
    ] {
        breaks("4:", "host/src/harness/broken.rs", |tree| {
            tree.write(
                "host/src/harness/broken.rs",
                &format!("//! Broken on purpose.\n{code}\n"),
            );
        });
    }
}

#[test]
fn a_rule_in_the_command_line_is_reported_but_not_in_its_comments() {
    breaks("4:", "host/src/cli/broken.rs", |tree| {
        tree.write(
            "host/src/cli/broken.rs",
            "//! Broken on purpose.\nconst A: &str = \"budget_exceeded\";\n",
        );
    });
    breaks_nothing(|tree| {
        tree.write(
            "host/src/cli/fine.rs",
            "//! Says nothing of loop_max_iters.\n",
        );
    });
}

#[test]
fn a_rule_in_a_binding_is_reported() {
    breaks("5:", "bindings/node/broken.js", |tree| {
        tree.write(
            "bindings/node/broken.js",
            "export const limit = (c) => c.loop_max_iters ?? 50;\n",
        );
    });
    breaks("5:", "bindings/python/broken.py", |tree| {
        tree.write(
            "bindings/python/broken.py",
            "if code == 'check_failed':\n    pass\n",
        );
    });
    breaks("5:", "bindings/http/src/broken.rs", |tree| {
        tree.write(
            "bindings/http/src/broken.rs",
            "//! Broken.\nconst A: &str = \"LOOP_DONE\";\n",
        );
    });
    breaks_nothing(|tree| {
        tree.write(
            "bindings/node/test/fine.js",
            "assert(verdict.stop_reason === 'max_iters');\n",
        );
        tree.write(
            "bindings/node/fine.js",
            "// loop_max_iters is the gate's business\n",
        );
    });
}

#[test]
fn rules_can_only_be_checked_while_their_names_are_found() {
    let added = added(|tree| {
        tree.write(
            "gate-component/src/contract/fields.rs",
            "//! No list of fields.\n",
        );
    });
    assert_eq!(added.len(), 2, "{added:?}");
    assert!(
        added
            .iter()
            .all(|(_, violation)| violation.message.contains("const FIELDS"))
    );
}

// 6: loading code

#[test]
fn unsafe_and_the_loading_of_code_elsewhere_are_reported() {
    breaks("6:", "host/src/runner/broken.rs", |tree| {
        tree.write(
            "host/src/runner/broken.rs",
            "//! Broken on purpose.\nfn f() { unsafe { g() } }\n",
        );
    });
    breaks("6:", "host/src/policy/broken.rs", |tree| {
        let code = "//! Broken on purpose.\nfn f() { Component::deserialize(&engine, bytes) }\n";
        tree.write("host/src/policy/broken.rs", code);
    });
    breaks("6:", "host/build.rs", |tree| {
        tree.append(
            "host/build.rs",
            "fn f() { Component::deserialize(&engine, bytes) }\n",
        );
    });
    breaks("6:", "host/src/policy/code.rs", |tree| {
        tree.append("host/src/policy/code.rs", "fn f() { unsafe { g() } }\n");
    });
    breaks("6:", "host/src/engine/embedded.rs", |tree| {
        tree.append("host/src/engine/embedded.rs", "fn f() { unsafe { g() } }\n");
    });
    breaks("6:", "tests/src/broken.rs", |tree| {
        tree.write(
            "tests/src/broken.rs",
            "//! Broken on purpose.\n#![allow(unsafe_code)]\n",
        );
    });
    breaks_nothing(|tree| {
        tree.write(
            "host/src/policy/fine.rs",
            "//! Fine.\nfn f(d: D) { Contract::deserialize(d) }\n",
        );
    });
}

// 7: vectors

#[test]
fn a_vector_that_is_damaged_or_opts_out_is_reported() {
    for text in [
        "{",
        "{}",
        r#"{"rule": " "}"#,
        r#"{"rule": "r", "skip": ["node"]}"#,
        r#"{"rule": "r", "calls": [{"function": "f", "skip": true}]}"#,
    ] {
        breaks("7:", "tests/vectors/broken.json", |tree| {
            tree.write("tests/vectors/broken.json", text);
        });
    }
    for list in [
        "tests/vectors/exceptions.txt",
        "tests/drivers/known-failures.json",
    ] {
        breaks("7:", list, |tree| tree.write(list, "[]"));
    }
    breaks("7:", "tests/vectors", |tree| {
        tree.remove("tests/vectors/fine.json");
    });
}

// House rules

#[test]
fn a_rust_file_that_does_not_say_what_it_is_is_reported() {
    breaks("every Rust file", "tests/src/broken.rs", |tree| {
        tree.write("tests/src/broken.rs", "fn f() {}\n");
    });
    breaks("every Rust file", "tests/src/broken.rs", |tree| {
        tree.write("tests/src/broken.rs", "//!\nfn f() {}\n");
    });
}

#[test]
fn a_version_in_a_member_is_reported() {
    breaks("versions stand", "xtask/Cargo.toml", |tree| {
        let text = tree
            .read("xtask/Cargo.toml")
            .replace("anyhow.workspace = true", "anyhow = \"1\"");
        tree.write("xtask/Cargo.toml", &text);
    });
}

#[test]
fn a_home_folder_or_a_registry_is_reported() {
    breaks("no file names", "wit/broken.wit", |tree| {
        tree.write(
            "wit/broken.wit",
            &["// see /ho", "me/carol/notes\n"].concat(),
        );
    });
    breaks("no file names", "wit/broken.wit", |tree| {
        tree.write(
            "wit/broken.wit",
            &["// see https://npm", ".example.org\n"].concat(),
        );
    });
    breaks("no file names", "Cargo.lock", |tree| {
        tree.append(
            "Cargo.lock",
            &["source = \"registry+https://crates", ".example.org/index\""].concat(),
        );
    });
}

#[test]
fn a_missing_file_is_reported() {
    breaks("the files that people expect", "deny.toml", |tree| {
        tree.remove("deny.toml");
    });
    breaks("the files that people expect", "LICENSE-MIT", |tree| {
        tree.write("LICENSE-MIT", "\n");
    });
}

#[test]
fn a_changelog_without_a_place_for_the_next_change_is_reported() {
    breaks("the changelog", "CHANGELOG.md", |tree| {
        tree.write("CHANGELOG.md", "# Changelog\n\n## 0.1.0\n");
    });
}

#[test]
fn a_link_that_leads_nowhere_is_reported() {
    for link in [
        "no/such/file.md",
        "LICENSE-MIT#no-such-heading",
        "#no-such-heading",
    ] {
        breaks("links in Markdown", "CONTRIBUTING.md", |tree| {
            tree.append("CONTRIBUTING.md", &format!("[link]({link})"));
        });
    }
    breaks_nothing(|tree| {
        tree.append(
            "CONTRIBUTING.md",
            "[link](LICENSE-MIT) [site](https://example.org)",
        );
    });
}

#[test]
fn a_command_that_does_not_exist_is_reported() {
    breaks("`cargo xtask` commands", "README.md", |tree| {
        tree.append("README.md", "```sh\ncargo xtask frobnicate\n```");
    });
}

#[test]
fn a_licence_that_deny_toml_does_not_allow_or_no_longer_needs_is_reported() {
    let metadata = json!({ "packages": [
        { "name": "ours", "version": "0.1.0", "source": null, "license": "Secret" },
        { "name": "fine", "version": "1.0.0", "source": "registry", "license": "MIT OR GPL-3.0" },
        { "name": "viral", "version": "1.0.0", "source": "registry", "license": "GPL-3.0" },
    ]});
    let deny = "\n[licenses]\nallow = [\n\"MIT\",\n\"Zlib\",\n]\n";
    let found: Vec<String> = licences::compare(deny, &metadata)
        .into_iter()
        .map(|v| v.message)
        .collect();
    assert_eq!(
        found,
        [
            "does not allow the licence of viral 1.0.0, `GPL-3.0`: add it to `allow`, or do without the crate",
            "allows `Zlib`, which no dependency has"
        ]
    );
}
