//! The digest of all files, and the files that differ from a commit.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use super::super::{ChangedKind, ContentLimits, Settings, Trust, WorktreeError};
use super::Work;

#[test]
fn committing_or_staging_does_not_change_the_digest() {
    let work = Work::new();
    let clean = work.digest();
    work.write("a.txt", "changed\n")
        .write("new/c.txt", "new\n")
        .remove("src/b.txt");
    work.write("run.sh", "#!/bin/sh\n")
        .link("new/c.txt", "link")
        .write("empty", "");
    fs::set_permissions(work.at("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let changed = work.digest();
    assert_ne!(changed, clean);
    work.git(&["add", "--all"]);
    assert_eq!(work.digest(), changed);
    work.git(&["commit", "--quiet", "--message", "x"]);
    assert_eq!(work.digest(), changed);
    work.git(&["checkout", "--quiet", "HEAD~", "--", "."]);
    work.git(&[
        "rm",
        "--quiet",
        "-f",
        "new/c.txt",
        "run.sh",
        "link",
        "empty",
    ]);
    assert_eq!(work.digest(), clean);
}

#[test]
fn the_digest_is_the_same_before_the_first_commit() {
    let work = Work::empty();
    work.write("a.txt", "one\n").write("src/b.txt", "two\n");
    let before = work.digest();
    work.commit();
    assert_eq!(work.digest(), before);
    assert_eq!(Work::new().digest(), before);
}

#[test]
fn every_change_changes_the_digest() {
    let work = Work::new();
    let mut seen = BTreeSet::from([work.digest()]);
    let mut check = |what: &str| assert!(seen.insert(work.digest()), "{what}");
    work.write("a.txt", "two\n");
    check("content of the same length");
    fs::set_permissions(work.at("a.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    check("mode");
    work.remove("a.txt");
    check("deleted");
    work.link("src/b.txt", "a.txt");
    check("a link");
    work.remove("a.txt").link("src/c.txt", "a.txt");
    check("another target");
    work.remove("a.txt").write("a.txt/in", "x");
    check("a folder");
    work.write(b"\xff\n", "x");
    check("a strange name");
    work.write("git~1", "x").write("a\\b", "x");
    check("names that other systems can't have");
}

#[test]
fn the_digest_writes_nothing_into_the_repository() {
    let work = Work::new();
    work.write("a.txt", "changed").write("new", "new");
    let files = || work.git(&["count-objects", "-v"]);
    let (objects, index) = (files(), fs::read(work.at(".git/index")).unwrap());
    work.digest();
    work.repository().state().unwrap();
    assert_eq!(files(), objects);
    assert_eq!(fs::read(work.at(".git/index")).unwrap(), index);
}

#[test]
fn line_endings_that_git_converts_make_no_difference() {
    let work = Work::new();
    work.write(".gitattributes", "*.txt text=auto\n").commit();
    work.write("crlf.txt", "one\r\ntwo\r\n");
    let before = work.digest();
    work.git(&["add", "crlf.txt"]);
    work.git(&["commit", "--quiet", "--message", "x"]);
    assert_eq!(work.digest(), before);
    assert!(work.changes().is_empty());
    work.write("other.txt", "one\r\n");
    let before = work.digest();
    work.commit_all();
    assert_eq!(work.digest(), before);
    assert_eq!(work.git(&["status", "--porcelain"]), "");
}

#[test]
fn no_filter_of_the_agent_is_run() {
    let work = Work::new();
    let script = format!("touch {}", work.at("ran").display());
    work.git(&["config", "filter.evil.clean", &script]);
    work.git(&["config", "filter.evil.required", "true"]);
    work.git(&["config", "core.fsmonitor", &script]);
    work.write(".gitattributes", "* filter=evil\n")
        .write("a.txt", "changed");
    work.digest();
    work.commit_all();
    assert!(!work.at("ran").exists());
}

#[test]
fn changed_files_are_those_that_differ_from_a_commit() {
    let work = Work::new();
    let since = work.git(&["rev-parse", "HEAD"]);
    work.write("committed.txt", "c").commit();
    work.write("a.txt", "changed")
        .write("new.txt", "n")
        .remove("src/b.txt");
    work.write(".ralph/x", "x").link("a.txt", "link");
    let limits = ContentLimits::default();
    let files = work
        .repository()
        .changed_files(Some(&since), &limits)
        .unwrap();
    let short: Vec<_> = files
        .iter()
        .map(|file| (file.path.as_str(), file.kind, file.content.as_deref()))
        .collect();
    assert_eq!(
        short,
        [
            ("a.txt", ChangedKind::Modified, Some(b"changed".as_slice())),
            ("committed.txt", ChangedKind::Added, Some(b"c".as_slice())),
            ("link", ChangedKind::Added, None),
            ("new.txt", ChangedKind::Added, Some(b"n".as_slice())),
            ("src/b.txt", ChangedKind::Deleted, None),
        ]
    );
    let digests: BTreeSet<_> = files.iter().map(|file| file.digest.to_string()).collect();
    assert_eq!(digests.len(), 5);
    let all = work.repository().changed_files(None, &limits).unwrap();
    assert_eq!(all.len(), 4);
}

#[test]
fn beyond_the_limits_a_changed_file_has_only_a_digest() {
    let work = Work::empty();
    work.write("a", "1234")
        .write("b", "12345")
        .write("c", "1234")
        .write("d", "12")
        .write("e", "1");
    let with_content = |limits| {
        let files = work.repository().changed_files(None, &limits).unwrap();
        assert_eq!(files.len(), 5);
        let files = files.into_iter().filter(|file| file.content.is_some());
        files.map(|file| file.path).collect::<String>()
    };
    let limits = ContentLimits {
        files: 10,
        file_bytes: 4,
        total_bytes: 7,
    };
    assert_eq!(with_content(limits), "ade");
    assert_eq!(with_content(ContentLimits { files: 2, ..limits }), "ad");
}

#[test]
fn a_commit_that_is_not_there_is_named() {
    let work = Work::new();
    let missing = "0123456789012345678901234567890123456789";
    for since in [missing, "HEAD", "", "abc"] {
        let error = work
            .repository()
            .changed_files(Some(since), &ContentLimits::default());
        let error = error.unwrap_err();
        assert!(
            matches!(&error, WorktreeError::NoCommit { commit, .. } if commit == since),
            "{error}"
        );
    }
}

#[test]
fn ten_thousand_files() {
    let work = Work::empty();
    for number in 0..10_000 {
        let path = format!("folder{}/sub{}/file{number}.txt", number % 100, number % 7);
        work.write(path, format!("content {number}\n").repeat(20));
    }
    let timed = |what: &str, trust| {
        let repository = work.repository_with(&Settings {
            trust,
            ..Settings::default()
        });
        let start = Instant::now();
        let digest = repository.digest().unwrap();
        println!("10,000 files, {what}: {} ms", start.elapsed().as_millis());
        digest
    };
    let untracked = timed("all untracked", Trust::Stamps);
    work.commit();
    let fresh = timed("index as old as the files", Trust::Stamps);
    let file = fs::File::options()
        .write(true)
        .open(work.at(".git/index"))
        .unwrap();
    file.set_modified(std::time::SystemTime::now()).unwrap();
    let settled = timed("unchanged, stamps trusted", Trust::Stamps);
    let read = timed("unchanged, all read", Trust::Nothing);
    assert!(
        [fresh, settled, read]
            .iter()
            .all(|digest| *digest == untracked)
    );
    let start = Instant::now();
    let mut taken = work.baseline(&["folder*/**"]);
    println!(
        "10,000 protected files, baseline: {} ms",
        start.elapsed().as_millis()
    );
    for what in ["read", "by stamps where they are old enough"] {
        let start = Instant::now();
        let differences = taken.baseline.compare(&work.path, &mut taken.stamps);
        assert!(differences.unwrap().is_empty());
        println!(
            "10,000 protected files, {what}: {} ms",
            start.elapsed().as_millis()
        );
    }
}
