//! Files that may not change while a loop runs.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::{Duration, SystemTime};

use super::super::{Baseline, Protection, Rule, Stamps, WorktreeError};
use super::Work;

fn protected() -> Work {
    let work = Work::plain();
    work.write("tests/a.rs", "a")
        .write("tests/deep/b.rs", "b")
        .write("Cargo.lock", "lock");
    work.write("src/main.rs", "main")
        .link("tests/a.rs", "tests/link");
    work
}

#[test]
fn nothing_differs_if_nothing_changed() {
    let work = protected();
    let taken = work.baseline(&["tests/**", "*.lock", "missing/**", "!nothing"]);
    assert_eq!(taken.baseline.len(), 4);
    assert_eq!(taken.unmatched, ["missing/**"]);
    work.write("src/main.rs", "changed")
        .write(".ralph/Cargo.lock", "x");
    fs::create_dir(work.at("tests/empty")).unwrap();
    assert!(work.differences(&taken.baseline).is_empty());
}

#[test]
fn every_difference_is_found_and_named() {
    let work = protected();
    work.write("tests/mode", "x")
        .write("tests/typed", "x")
        .write("tests/folder", "x");
    let baseline = work.baseline(&["tests/**", "*.lock"]).baseline;
    work.write("tests/a.rs", "z")
        .remove("tests/deep/b.rs")
        .write("new/yarn.lock", "x");
    fs::set_permissions(work.at("tests/mode"), fs::Permissions::from_mode(0o755)).unwrap();
    work.remove("tests/typed")
        .pipe("tests/typed")
        .pipe("tests/pipe");
    work.remove("tests/link").link("elsewhere", "tests/link");
    work.remove("tests/folder").write("tests/folder/in", "x");
    assert_eq!(
        work.differences(&baseline),
        [
            "new/yarn.lock Added",
            "tests/a.rs Changed",
            "tests/deep/b.rs Removed",
            "tests/folder Retyped",
            "tests/folder/in Added",
            "tests/link Changed",
            "tests/mode Changed",
            "tests/pipe Added",
            "tests/typed Retyped",
        ]
    );
}

#[test]
fn a_folder_replaced_by_a_link_to_its_copy_is_a_change() {
    let work = Work::plain();
    work.write("a/tests/x", "x").write("copy/tests/x", "x");
    let baseline = work.baseline(&["a/tests/**"]).baseline;
    fs::rename(work.at("a/tests"), work.at("moved")).unwrap();
    work.link("../copy/tests", "a/tests");
    assert_eq!(
        work.differences(&baseline),
        ["a/tests Added", "a/tests/x Removed"]
    );
    work.remove("a/tests");
    fs::remove_dir(work.at("a")).unwrap();
    work.link("copy", "a");
    assert_eq!(work.differences(&baseline), ["a/tests/x Removed"]);
}

#[test]
fn a_loop_of_links_and_strange_names_are_no_trouble() {
    let work = protected();
    work.link(".", "tests/loop")
        .link("self", "tests/self")
        .write(b"tests/\xff\n", "x");
    let baseline = work.baseline(&["tests"]).baseline;
    assert!(work.differences(&baseline).is_empty());
    work.write(b"tests/\xff\n", "y").write(b"tests/\xfe", "y");
    assert_eq!(
        work.differences(&baseline),
        [r"tests/\xfe Added", r"tests/\xff\x0a Changed"]
    );
}

#[test]
fn a_pipe_is_noted_and_never_opened() {
    let work = protected();
    work.pipe("tests/pipe");
    let baseline = work.baseline(&["tests"]).baseline;
    assert!(work.differences(&baseline).is_empty());
}

#[test]
fn a_baseline_survives_being_saved_and_a_copy_of_the_workspace() {
    let work = protected();
    let baseline = work.baseline(&["tests/**", "!tests/deep"]).baseline;
    let text = serde_json::to_string(&baseline).unwrap();
    let loaded: Baseline = serde_json::from_str(&text).unwrap();
    assert_eq!(loaded, baseline);
    let copy = protected();
    assert!(copy.differences(&loaded).is_empty());
    copy.write("tests/deep/b.rs", "spared")
        .write("tests/a.rs", "b");
    assert_eq!(copy.differences(&loaded), ["tests/a.rs Changed"]);
}

#[test]
fn a_file_that_was_blown_up_is_not_read() {
    let work = protected();
    let baseline = work.baseline(&["tests"]).baseline;
    let file = fs::File::options()
        .write(true)
        .open(work.at("tests/a.rs"))
        .unwrap();
    file.set_len(1 << 42).unwrap();
    let added = fs::File::create(work.at("tests/new")).unwrap();
    added.set_len(1 << 42).unwrap();
    assert_eq!(
        work.differences(&baseline),
        ["tests/a.rs Changed", "tests/new Added"]
    );
}

#[test]
fn a_change_under_the_same_size_and_time_is_found_by_stamps_too() {
    let work = protected();
    let mut taken = work.baseline(&["tests"]);
    let path = work.at("tests/a.rs");
    let before = path.metadata().unwrap();
    // The same inode, size and time of modification.
    fs::write(&path, "z").unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    let after = path.metadata().unwrap();
    assert_eq!(
        (after.ino(), after.len(), after.mtime_nsec()),
        (before.ino(), before.len(), before.mtime_nsec())
    );
    let differences = taken
        .baseline
        .compare(&work.path, &mut taken.stamps)
        .unwrap();
    assert_eq!(differences.len(), 1);
}

#[test]
fn stamps_are_not_kept_for_a_file_that_has_just_changed() {
    let work = protected();
    let taken = work.baseline(&["tests/a.rs"]);
    assert!(taken.stamps.is_empty());
    // The time of modification is the agent's to set, and proves nothing.
    let file = fs::File::options()
        .write(true)
        .open(work.at("tests/a.rs"))
        .unwrap();
    file.set_modified(SystemTime::now() - Duration::from_hours(1))
        .unwrap();
    assert!(work.baseline(&["tests/a.rs"]).stamps.is_empty());
}

#[test]
fn a_pattern_that_can_not_be_used_is_an_error() {
    let work = protected();
    let wrong = || vec!["a[".to_owned()];
    let cases = [
        Protection {
            protected: wrong(),
            ..Protection::default()
        },
        Protection {
            frozen: wrong(),
            ..Protection::default()
        },
        Protection {
            parts: [("a[".to_owned(), wrong())].into(),
            ..Protection::default()
        },
    ];
    for protection in cases {
        let error = Baseline::take(&work.path, &protection, &[]).unwrap_err();
        assert!(
            matches!(&error, WorktreeError::Pattern { pattern, .. } if pattern == "a["),
            "{error}"
        );
    }
}

#[test]
fn folders_too_deep_are_an_error() {
    let work = protected();
    let baseline = work.baseline(&["tests"]).baseline;
    fs::create_dir_all(work.at(format!("tests/{}", "d/".repeat(300)))).unwrap();
    let error = baseline
        .compare(&work.path, &mut Stamps::default())
        .unwrap_err();
    assert!(matches!(error, WorktreeError::TooDeep { .. }), "{error}");
}

#[test]
fn the_folder_of_git_is_passed_over_and_a_file_of_that_name_is_not() {
    let work = protected();
    let baseline = work.baseline(&["tests"]).baseline;
    work.write("tests/.git/x", "x")
        .write("tests/deep/.git", "x");
    assert_eq!(work.differences(&baseline), ["tests/deep/.git Added"]);
}

/// Tests that may be added, a runner's settings that may not, and scripts inside of a file that changes.
fn frozen() -> (Work, Protection) {
    let work = Work::plain();
    work.write("tests/test_a.py", "a")
        .write("tests/deep/test_b.py", "b")
        .write("conftest.py", "settings")
        .write("package.json", r#"{"scripts": {"test": "jest"}}"#);
    let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
    let protection = Protection {
        protected: texts(&["conftest.py", "pytest.ini"]),
        frozen: texts(&["test_*.py", "!node_modules"]),
        parts: [(
            "package.json".to_owned(),
            texts(&["/scripts/test", "/jest"]),
        )]
        .into(),
    };
    (work, protection)
}

#[test]
fn a_frozen_file_may_neither_change_nor_go_and_new_ones_are_allowed() {
    let (work, protection) = frozen();
    let baseline = work.take(&protection).baseline;
    work.write("tests/test_new.py", "new")
        .write(
            "package.json",
            r#"{"version": "2", "scripts": {"test": "jest", "x": "y"}}"#,
        )
        .write("other/package.json", r#"{"scripts": {"lint": "x"}}"#)
        .write("node_modules/a/package.json", r#"{"jest": {}}"#);
    assert!(work.differences(&baseline).is_empty());
    work.write("tests/test_a.py", "z")
        .remove("tests/deep/test_b.py")
        .link("elsewhere", "tests/test_link.py");
    assert_eq!(
        work.differences(&baseline),
        ["tests/deep/test_b.py Removed", "tests/test_a.py Changed"]
    );
}

#[test]
fn a_protected_file_that_was_absent_stays_absent() {
    let (work, protection) = frozen();
    let baseline = work.take(&protection).baseline;
    work.write("tests/conftest.py", "rigged")
        .write("pytest.ini", "rigged");
    let differences = baseline.compare(&work.path, &mut Stamps::default());
    let found: Vec<(String, Rule)> = differences
        .unwrap()
        .into_iter()
        .map(|difference| (difference.path, difference.rule))
        .collect();
    assert_eq!(
        found,
        [
            ("pytest.ini".to_owned(), Rule::Protected),
            ("tests/conftest.py".to_owned(), Rule::Protected)
        ]
    );
}

#[test]
fn of_a_file_with_frozen_parts_only_these_count() {
    let (work, protection) = frozen();
    work.write("deep/test_c.py", "c");
    let baseline = work.take(&protection).baseline;
    assert_eq!(baseline.len(), 5);
    work.write(
        "package.json",
        r#"{"scripts": {"test": "true"}, "jest": {}}"#,
    )
    .write("deep/package.json", r#"{"jest": {}}"#);
    assert_eq!(
        work.differences(&baseline),
        [
            "deep/package.json/jest Added",
            "package.json/jest Added",
            "package.json/scripts/test Changed"
        ]
    );
    work.remove("deep/package.json").remove("package.json");
    let removed = ["package.json/scripts/test Removed"];
    assert_eq!(work.differences(&baseline), removed);
    work.link("elsewhere", "package.json");
    assert_eq!(
        work.differences(&baseline),
        [
            "package.json/jest Added",
            "package.json/scripts/test Changed"
        ]
    );
    work.remove("package.json").pipe("package.json");
    assert_eq!(work.differences(&baseline).len(), 2);
}

#[test]
fn a_new_package_may_bring_parts_and_an_old_directory_may_not() {
    let (work, protection) = frozen();
    work.write("old/package.json", "{}");
    let baseline = work.take(&protection).baseline;
    let jest = r#"{"jest": {}}"#;
    work.write("packages/new/package.json", jest);
    assert!(work.differences(&baseline).is_empty());
    work.write("old/package.json", jest)
        .write("tests/package.json", jest);
    assert_eq!(
        work.differences(&baseline),
        [
            "old/package.json/jest Added",
            "tests/package.json/jest Added"
        ]
    );
    work.remove("old/package.json").remove("tests/package.json");
    fs::remove_file(work.at("package.json")).unwrap();
    work.write("package.json", jest);
    assert_eq!(work.differences(&baseline).len(), 2);
}

#[test]
fn what_a_frozen_link_leads_to_may_not_change() {
    let (work, protection) = frozen();
    work.write("checks/calc.py", "a")
        .write("more/test_deep/x.txt", "x")
        .write("more/test_deep/y.txt", "y")
        .link("../checks/calc.py", "tests/test_calc.py")
        .link("../more/test_deep", "tests/test_more.py")
        .link("..", "tests/test_all.py")
        .link("/etc", "tests/test_outside.py");
    let taken = work.take(&protection).baseline;
    let text = serde_json::to_string(&taken).unwrap();
    let baseline: Baseline = serde_json::from_str(&text).unwrap();
    work.write("more/test_deep/new.txt", "new")
        .write("new", "x");
    assert!(work.differences(&baseline).is_empty());
    let mut kept = work.take(&protection).baseline;
    kept.keep(&baseline).unwrap();
    work.write("checks/calc.py", "b")
        .write("more/test_deep/x.txt", "z")
        .remove("more/test_deep/y.txt");
    let expected = [
        "tests/test_calc.py/calc.py Changed",
        "tests/test_more.py/x.txt Changed",
        "tests/test_more.py/y.txt Removed",
    ];
    assert_eq!(work.differences(&baseline), expected);
    assert_eq!(work.differences(&kept), expected);
    work.remove("checks/calc.py");
    assert!(
        work.differences(&baseline)
            .contains(&"tests/test_calc.py/calc.py Removed".to_owned())
    );
}

#[test]
fn a_test_in_a_source_file_may_neither_change_nor_go_and_new_ones_are_allowed() {
    let work = Work::plain();
    let tests =
        "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() { assert_eq!(1 + 1, 2); }\n}\n";
    work.write("src/lib.rs", format!("fn a() {{}}\n{tests}"));
    let protection = Protection {
        parts: [("*.rs".to_owned(), vec!["/cfg(test)".to_owned()])].into(),
        ..Protection::default()
    };
    let baseline = work.take(&protection).baseline;
    work.write(
        "src/lib.rs",
        format!("fn b() {{}}\n{tests}#[test]\nfn more() {{}}\n"),
    )
    .write("src/new.rs", tests);
    assert!(work.differences(&baseline).is_empty());
    // In the module that is there, too, but nothing that could stand in for what is tested.
    let added = |item: &str| tests.replace("mod tests {", &format!("mod tests {{\n    {item}\n"));
    work.write("src/lib.rs", added("#[test]\n    fn more() {}"));
    assert!(work.differences(&baseline).is_empty());
    work.write("src/lib.rs", added("macro_rules! assert_eq { () => {} }"));
    assert_eq!(
        work.differences(&baseline),
        ["src/lib.rs/cfg(test)#mod tests Changed"]
    );
    work.write("src/lib.rs", tests.replace("assert_eq!(1 + 1, 2);", ""));
    let changed = ["src/lib.rs/cfg(test)#mod tests::fn adds Changed"];
    assert_eq!(work.differences(&baseline), changed);
    work.write(
        "src/lib.rs",
        tests.replace("#[cfg(test)]", "#[cfg(any())]\n#[cfg(test)]"),
    );
    let changed = ["src/lib.rs/cfg(test)#mod tests Changed"];
    assert_eq!(work.differences(&baseline), changed);
    let removed = [
        "src/lib.rs/cfg(test)#mod tests Removed",
        "src/lib.rs/cfg(test)#mod tests::fn adds Removed",
    ];
    work.write("src/lib.rs", "fn a() {}");
    assert_eq!(work.differences(&baseline), removed);
    work.remove("src/lib.rs");
    assert_eq!(work.differences(&baseline), removed);
}

#[test]
fn a_new_item_for_tests_may_not_act_on_the_tests_that_are_there() {
    let work = Work::plain();
    let tests =
        "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() { assert_eq!(1 + 1, 2); }\n}\n";
    work.write("src/lib.rs", tests);
    let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
    let protection = Protection {
        frozen: owned(&["tests/", "*_test.rs"]),
        parts: [("*.rs".to_owned(), owned(&["/cfg(test)"]))].into(),
        ..Protection::default()
    };
    let baseline = work.take(&protection).baseline;
    for (item, part) in [
        (
            "#[cfg(test)] macro_rules! assert_eq { ($($t:tt)*) => {} }",
            "macro_rules !",
        ),
        ("#[cfg(test)] #[macro_use] mod fake;", "mod fake"),
        ("#[cfg(test)] #[path = \"a.rs\"] mod fake;", "mod fake"),
        ("#[cfg(test)] use fake::*;", "use fake"),
        ("#[cfg(all(test, unix))] fn help() {}", "fn help"),
        (
            "#[cfg_attr(test, macro_use)] mod fake;",
            "cfg_attr(test) mod fake",
        ),
        ("macro_rules! assert_eq { () => {} }", "macro assert_eq"),
    ] {
        work.write("src/lib.rs", format!("{item}\n{tests}"));
        let added = format!("src/lib.rs/cfg(test)#{part} Added");
        assert_eq!(work.differences(&baseline), [added], "{item}");
    }
    let more = "#[cfg(test)]\nmod more {\n    use super::*;\n    fn help() {}\n    #[test]\n    fn more() { help(); }\n}\n";
    work.write("src/lib.rs", format!("{tests}{more}"))
        .write("src/new.rs", more)
        .write("src/other.rs", "#[cfg(test)]\nmod tests;\n")
        .write(
            "tests/new.rs",
            "#[cfg(test)] use std::fs;\n#[rstest]\nfn more(#[case] a: u8) {}\n",
        );
    assert!(work.differences(&baseline).is_empty());
    work.write("src/fake_test.rs", "#[cfg(test)] macro_rules! a {}\n");
    assert_eq!(
        work.differences(&baseline),
        ["src/fake_test.rs/cfg(test)#macro_rules ! Added"]
    );
}

#[test]
fn what_is_frozen_survives_being_saved_and_is_kept_as_it_was() {
    let (work, protection) = frozen();
    let text = serde_json::to_string(&work.take(&protection).baseline).unwrap();
    let before: Baseline = serde_json::from_str(&text).unwrap();
    work.write("tests/test_a.py", "z")
        .write("tests/test_new.py", "new")
        .write(
            "package.json",
            r#"{"scripts": {"test": "true"}, "jest": {}}"#,
        );
    let mut wider = protection.clone();
    wider.frozen.push("README".to_owned());
    work.write("README", "x");
    let mut now = work.take(&wider).baseline;
    assert!(work.differences(&now).is_empty());
    now.keep(&before).unwrap();
    assert_eq!(
        work.differences(&now),
        [
            "package.json/jest Added",
            "package.json/scripts/test Changed",
            "tests/test_a.py Changed"
        ]
    );
    work.write("README", "y");
    assert_eq!(work.differences(&now).len(), 4);
}

#[test]
fn a_folder_that_could_not_be_opened_before_is_no_change() {
    let (work, protection) = frozen();
    let closed = work.at("closed");
    fs::create_dir(&closed).unwrap();
    let close = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
    close(0);
    let baseline = work.take(&protection).baseline;
    assert!(work.differences(&baseline).is_empty());
    close(0o755);
    assert!(work.differences(&baseline).is_empty());
}

#[test]
fn a_new_link_to_a_directory_that_is_not_looked_into_is_a_difference() {
    let (work, mut protection) = frozen();
    protection.protected.push("!__pycache__".to_owned());
    let outside = Work::plain();
    outside.write("conftest.py", "rigged");
    work.write(".git/z/conftest.py", "rigged")
        .write("__pycache__/z/conftest.py", "rigged")
        .write("plain/data.txt", "x")
        .link(&outside.path, "existing")
        .link("plain", "moved");
    let baseline = work.take(&protection).baseline;
    let text = serde_json::to_string(&baseline).unwrap();
    let baseline: Baseline = serde_json::from_str(&text).unwrap();
    work.link("../plain", "tests/plain")
        .link("plain/data.txt", "data.txt")
        .link("missing", "dangling");
    assert!(work.differences(&baseline).is_empty());
    work.link("../.git/z", "tests/git")
        .link("__pycache__/z", "cache")
        .link(&outside.path, "outside")
        .link("..", "tests/above")
        .remove("moved")
        .link(".git/z", "moved");
    let expected = [
        "cache Unfollowed",
        "moved Unfollowed",
        "outside Unfollowed",
        "tests/above Unfollowed",
        "tests/git Unfollowed",
    ];
    assert_eq!(work.differences(&baseline), expected);
    let mut kept = work.take(&protection).baseline;
    assert!(work.differences(&kept).is_empty());
    kept.keep(&baseline).unwrap();
    assert_eq!(work.differences(&kept), expected);
}

#[test]
fn a_protected_file_may_not_appear_behind_a_new_link() {
    let (work, mut protection) = frozen();
    protection.protected.push("**/tests/**/calc.py".to_owned());
    work.write("lib/calc.py", "a").link(".", "lib/loop");
    let baseline = work.take(&protection).baseline;
    work.link("../lib", "tests/lib");
    assert_eq!(
        work.differences(&baseline),
        ["tests/lib/calc.py Added", "tests/lib/loop Unfollowed"]
    );
    // Where nothing may appear at any depth, links do not matter.
    let baseline = work.baseline(&["conftest.py/**"]).baseline;
    work.link("/", "root");
    assert!(work.differences(&baseline).is_empty());
}

#[test]
fn a_new_module_in_place_of_a_frozen_one_is_a_difference() {
    let (work, protection) = frozen();
    work.write("other.py", "x")
        .write("tests/deep/test_b/__init__.py", "there before");
    let baseline = work.take(&protection).baseline;
    work.write("other/__init__.py", "x")
        .write("tests/test_a/data.txt", "x")
        .write("tests/deep/test_b/__init__.py", "x");
    assert!(work.differences(&baseline).is_empty());
    work.write("tests/test_a/__init__.py", "x")
        .write("conftest.abi3.so", "x")
        .write("lib/__init__.py", "x")
        .link("../../lib", "tests/deep/test_c");
    work.write("conftest/__init__.pyc", "x");
    let expected = [
        "conftest.abi3.so Shadowing",
        "conftest/__init__.pyc Shadowing",
        "tests/test_a/__init__.py Shadowing",
    ];
    assert_eq!(work.differences(&baseline), expected);
    let mut kept = work.take(&protection).baseline;
    kept.keep(&baseline).unwrap();
    assert_eq!(work.differences(&kept), expected);
}

#[test]
fn a_baseline_of_an_older_version_knows_no_links_and_none_are_new() {
    let (work, protection) = frozen();
    work.link("/", "root");
    let mut text = serde_json::to_value(work.take(&protection).baseline).unwrap();
    assert!(text.as_object_mut().unwrap().remove("existing").is_some());
    let baseline: Baseline = serde_json::from_value(text).unwrap();
    work.link("/", "other");
    assert!(work.differences(&baseline).is_empty());
    let mut now = work.take(&protection).baseline;
    now.keep(&baseline).unwrap();
    assert!(work.differences(&now).is_empty());
}

#[test]
fn a_file_whose_parts_can_not_be_read_is_one_difference_that_says_why() {
    let (work, protection) = frozen();
    let baseline = work.take(&protection).baseline;
    work.write("package.json", "{\"scripts\":\n");
    let differences = baseline.compare(&work.path, &mut Stamps::default());
    let [difference] = differences.unwrap().try_into().unwrap();
    assert_eq!(difference.path, "package.json");
    assert_eq!(difference.part, None);
    let reason = difference.reason.unwrap();
    assert!(reason.starts_with("line "), "{reason}");
}

#[test]
fn frozen_tests_inside_of_source_files_count_as_protected_tests() {
    let work = Work::plain();
    work.write("src/lib.rs", "#[cfg(test)]\nmod tests {}\n")
        .write("package.json", r#"{"jest": {}}"#);
    let taken = |file: &str, pointer: &str| {
        let protection = Protection {
            parts: [(file.to_owned(), vec![pointer.to_owned()])].into(),
            ..Protection::default()
        };
        work.take(&protection).baseline
    };
    assert!(taken("*.rs", "/cfg(test)").holds_test_items());
    assert!(!taken("package.json", "/jest").holds_test_items());
}
