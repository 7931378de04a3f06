//! Commits, with `git` as the judge.

use std::fs;

use super::super::{CommitOutcome, Refusal, Repository, Settings};
use super::{Work, fallback};

fn committed(outcome: CommitOutcome) -> String {
    match outcome {
        CommitOutcome::Committed(id) => id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_that_changed_is_committed_to_the_branch() {
    let work = Work::new();
    work.write(".gitignore", "*.log\n")
        .write("x.log", "x")
        .write("a.txt", "changed");
    work.write("new/ä", "n")
        .write(b"\xff\n", "n")
        .remove("src/b.txt")
        .link("a.txt", "link");
    work.write(".ralph/x", "x");
    let before = work.digest();
    let id = committed(work.commit_all());
    assert_eq!(work.git(&["rev-parse", "refs/heads/main"]), id);
    assert_eq!(work.git(&["status", "--porcelain"]), "?? .ralph/");
    assert_eq!(work.git(&["fsck", "--strict", "--no-dangling"]), "");
    assert_eq!(
        work.git(&["ls-tree", "-r", "--name-only", "HEAD"]),
        ".gitignore\na.txt\nlink\n\"new/\\303\\244\"\n\"\\377\\n\""
    );
    assert!(work.changes().is_empty());
    assert!(work.repository().index_is_clean().unwrap());
    assert_eq!(work.digest(), before);
    assert_eq!(work.commit_all(), CommitOutcome::Nothing);
}

#[test]
fn the_first_commit_has_no_parent() {
    let work = Work::empty();
    assert_eq!(work.commit_all(), CommitOutcome::Nothing);
    work.write("a.txt", "one\n");
    let id = committed(work.commit_all());
    assert_eq!(work.git(&["rev-list", "HEAD"]), id);
    assert_eq!(work.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_folder_may_take_the_place_of_a_file_and_the_reverse() {
    let work = Work::new();
    work.remove("a.txt")
        .write("a.txt/in", "x")
        .remove("src/b.txt");
    fs::remove_dir(work.at("src")).unwrap();
    work.write("src", "now a file");
    committed(work.commit_all());
    assert_eq!(work.git(&["status", "--porcelain"]), "");
    assert_eq!(work.git(&["ls-files"]), "a.txt/in\nsrc");
}

fn refused(work: &Work, expected: &Refusal) {
    let state = || {
        let index = fs::read(work.at(".git/index")).unwrap();
        let references = work.git(&["for-each-ref"]);
        let head = fs::read(work.at(".git/HEAD")).unwrap();
        (index, references, head, work.git(&["count-objects", "-v"]))
    };
    let before = state();
    assert_eq!(work.commit_all(), CommitOutcome::Refused(expected.clone()));
    assert_eq!(state(), before);
}

#[test]
fn nothing_is_touched_if_something_is_staged() {
    let work = Work::new();
    work.write("a.txt", "staged").git(&["add", "a.txt"]);
    work.write("new.txt", "x");
    refused(&work, &Refusal::Staged);

    let work = Work::new();
    work.git(&["rm", "--quiet", "--cached", "a.txt"]);
    refused(&work, &Refusal::Staged);
}

#[test]
fn nothing_is_touched_while_a_merge_or_a_rebase_is_under_way() {
    let work = Work::new();
    work.git(&["checkout", "--quiet", "-b", "other"]);
    work.write("a.txt", "other\n").commit();
    work.git(&["checkout", "--quiet", "main"]);
    work.write("a.txt", "main\n").commit();
    assert!(!work.try_git(&["merge", "other"]).0);
    refused(&work, &Refusal::UnderWay("merge"));
    work.git(&["merge", "--abort"]);
    assert!(!work.try_git(&["rebase", "other"]).0);
    refused(&work, &Refusal::UnderWay("rebase"));
    work.git(&["rebase", "--abort"]);
    assert!(!work.try_git(&["cherry-pick", "other"]).0);
    refused(&work, &Refusal::UnderWay("cherry-pick"));
}

#[test]
fn nothing_is_touched_on_a_detached_head() {
    let work = Work::new();
    work.git(&["checkout", "--quiet", "--detach"]);
    work.write("a.txt", "changed");
    refused(&work, &Refusal::Detached);
    work.git(&["symbolic-ref", "HEAD", "refs/remotes/origin/main"]);
    refused(&work, &Refusal::Detached);
}

#[test]
fn a_branch_that_leads_to_another_is_not_moved() {
    let work = Work::new();
    work.git(&["branch", "target"]);
    work.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/target"]);
    work.git(&["symbolic-ref", "HEAD", "refs/heads/alias"]);
    work.write("a.txt", "changed");
    refused(&work, &Refusal::Detached);
}

#[test]
fn a_branch_that_can_not_be_moved_leaves_the_index_as_it_was() {
    let work = Work::new();
    work.git(&["update-index", "--assume-unchanged", "src/b.txt"]);
    work.write("a.txt", "changed").write("new.txt", "new");
    let before = work.git(&["ls-files", "--stage", "-v"]);
    work.write(".git/refs/heads/main.lock", "");
    work.repository()
        .commit_all("work", &fallback())
        .unwrap_err();
    assert_eq!(work.git(&["ls-files", "--stage", "-v"]), before);
    assert!(work.repository().index_is_clean().unwrap());
    work.remove(".git/refs/heads/main.lock");
    committed(work.commit_all());
    assert_eq!(work.git(&["status", "--porcelain"]), "");
}

#[test]
fn no_hook_is_run() {
    let work = Work::new();
    let ran = work.at("ran");
    for hook in [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
    ] {
        let path = format!(".git/hooks/{hook}");
        work.write(
            &path,
            format!("#!/bin/sh\ntouch {}\nexit 1\n", ran.display()),
        );
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(work.at(&path), mode).unwrap();
    }
    work.write("a.txt", "changed");
    committed(work.commit_all());
    assert!(!ran.exists());
}

#[test]
fn who_commits_is_set_by_the_repository_or_else_by_the_caller() {
    let work = Work::new();
    work.write("a.txt", "changed");
    committed(work.commit_all());
    let who = "--format=%an <%ae> %cn <%ce> %s";
    let tester = "Tester <tester@example.org>";
    assert_eq!(
        work.git(&["log", "-1", who]),
        format!("{tester} {tester} work")
    );

    work.git(&["config", "user.name", ""]);
    work.git(&["config", "user.email", ""]);
    work.write("a.txt", "again");
    committed(work.commit_all());
    let gate = "Gate <gate@example.org>";
    assert_eq!(work.git(&["log", "-1", who]), format!("{gate} {gate} work"));
}

#[test]
fn a_name_can_not_forge_fields_of_the_commit() {
    let work = Work::new();
    work.git(&[
        "config",
        "user.name",
        "a <b>\nparent 0123456789012345678901234567890123456789\nc",
    ]);
    work.write("a.txt", "changed");
    committed(work.commit_all());
    assert_eq!(work.git(&["rev-list", "--count", "HEAD"]), "2");
    assert_eq!(work.git(&["fsck", "--strict", "--no-dangling"]), "");
}

#[test]
fn a_nested_repository_and_what_a_person_set_aside_are_left_out() {
    let work = Work::new();
    git2::Repository::init(work.at("nested")).unwrap();
    work.write("nested/x", "x");
    work.git(&["update-index", "--skip-worktree", "a.txt"]);
    work.write("a.txt", "local").write("src/b.txt", "changed");
    committed(work.commit_all());
    assert_eq!(
        work.git(&["diff", "--name-only", "HEAD~", "HEAD"]),
        "src/b.txt"
    );
    assert_eq!(work.git(&["ls-files", "-v", "a.txt"]), "S a.txt");
    assert_eq!(work.commit_all(), CommitOutcome::Nothing);
}

#[test]
fn what_is_outside_of_the_workspace_is_not_committed() {
    let work = Work::new();
    work.write("a.txt", "outside").write("src/b.txt", "inside");
    let inside = Repository::discover(&work.at("src"), &Settings::default())
        .unwrap()
        .unwrap();
    committed(inside.commit_all("work", &fallback()).unwrap());
    assert_eq!(work.git(&["status", "--porcelain"]), " M a.txt".trim_end());
}

#[test]
fn nothing_is_touched_if_git_refuses_a_name() {
    let work = Work::new();
    work.write("a.txt", "changed").write("sub/git~1", "x");
    refused(&work, &Refusal::Unreadable("sub/git~1".to_owned()));
}

#[test]
fn a_person_can_finish_or_take_back_what_a_crash_left_staged() {
    let work = Work::new();
    work.write("a.txt", "changed").write("new.txt", "new");
    let before = work.digest();
    // What is there between the index and the branch.
    work.git(&["add", "--all"]);
    assert_eq!(work.git(&["fsck", "--strict", "--no-dangling"]), "");
    refused(&work, &Refusal::Staged);
    work.git(&["reset", "--quiet"]);
    committed(work.commit_all());
    assert_eq!(work.digest(), before);
}
