//! What state a repository is in.

use std::fs;

use super::super::look::Look;
use super::super::{Repository, Settings, Trust, WorktreeError};
use super::{Work, changes};

#[test]
fn outside_of_a_repository_there_is_none() {
    let work = Work::plain();
    let found = Repository::discover(&work.path, &Settings::default());
    assert!(found.unwrap().is_none());
}

#[test]
fn a_bare_repository_is_an_error() {
    let work = Work::plain();
    git2::Repository::init_bare(&work.path).unwrap();
    let error = Repository::discover(&work.path, &Settings::default()).unwrap_err();
    assert!(matches!(error, WorktreeError::Bare { .. }), "{error}");

    let work = Work::new();
    work.git(&["config", "core.bare", "true"]);
    let error = work.repository().state().unwrap_err();
    assert!(matches!(error, WorktreeError::Bare { .. }), "{error}");
}

#[test]
fn a_new_repository_has_a_branch_and_no_commit() {
    let work = Work::empty();
    work.write("a.txt", "one\n");
    let state = work.repository().state().unwrap();
    assert_eq!(state.branch.as_deref(), Some("main"));
    assert_eq!(state.head, None);
    assert_eq!(work.changes(), ["a.txt - Untracked"]);
    assert!(work.repository().index_is_clean().unwrap());
}

#[test]
fn a_clean_repository_has_no_changes() {
    let work = Work::new();
    let state = work.repository().state().unwrap();
    assert_eq!(state.head, Some(work.git(&["rev-parse", "HEAD"])));
    assert!(state.changes.is_empty(), "{:?}", state.changes);
    assert!(state.unmerged.is_empty());
    assert_eq!(state.operation, None);
    assert_eq!(state.left_out, [""; 0]);
}

#[test]
fn staged_unstaged_and_untracked_changes_are_told_apart() {
    let work = Work::new();
    work.write("staged.txt", "x").write("both.txt", "x");
    work.git(&["add", "staged.txt", "both.txt"]);
    work.write("both.txt", "yy").write("new/file.txt", "z");
    work.write("a.txt", "changed\n").remove("src/b.txt");
    assert_eq!(
        work.changes(),
        [
            "a.txt - Modified",
            "both.txt Added Modified",
            "new/file.txt - Untracked",
            "src/b.txt - Deleted",
            "staged.txt Added -",
        ]
    );
    assert!(!work.repository().index_is_clean().unwrap());
}

#[test]
fn a_detached_head_has_no_branch() {
    let work = Work::new();
    work.git(&["checkout", "--quiet", "--detach"]);
    let state = work.repository().state().unwrap();
    assert_eq!(state.branch, None);
    assert!(state.head.is_some());
}

fn in_conflict() -> Work {
    let work = Work::new();
    work.git(&["checkout", "--quiet", "-b", "other"]);
    work.write("a.txt", "other\n").commit();
    work.git(&["checkout", "--quiet", "main"]);
    work.write("a.txt", "main\n").commit();
    assert!(!work.try_git(&["merge", "other"]).0);
    work
}

#[test]
fn a_merge_in_conflict_is_under_way_and_unmerged() {
    let work = in_conflict();
    let state = work.repository().state().unwrap();
    assert_eq!(state.operation, Some("merge"));
    assert_eq!(state.unmerged, ["a.txt"]);
    assert_eq!(work.changes(), ["a.txt - Unmerged"]);
    work.digest();
}

#[test]
fn conflict_markers_are_found_in_changed_text_files_only() {
    let work = in_conflict();
    let markers = work.repository().conflict_markers(None).unwrap();
    assert_eq!(markers.found.len(), 1);
    assert_eq!(
        (markers.found[0].path.as_str(), markers.found[0].line),
        ("a.txt", 1)
    );

    let text = "<<<<<<< a\n=======\n>>>>>>> b\n";
    let work = Work::new();
    let before = work.write("old.txt", text).commit();
    work.write("new.txt", text)
        .write("binary", [b"\0", text.as_bytes()].concat());
    work.write(".ralph/notes", text);
    let found = |since| {
        let markers = work.repository().conflict_markers(since).unwrap();
        let paths = markers.found.into_iter().map(|marker| marker.path);
        paths.collect::<Vec<_>>()
    };
    assert_eq!(found(Some(before.as_str())), ["new.txt"]);
    assert_eq!(found(None), ["new.txt", "old.txt"]);
}

#[test]
fn text_that_is_too_long_to_search_is_reported() {
    let work = Work::new();
    work.write("long.txt", "line\n".repeat(4 << 20))
        .write("long.bin", vec![0; 20 << 20]);
    let markers = work.repository().conflict_markers(None).unwrap();
    assert_eq!(markers.unsearched, ["long.txt"]);
}

#[test]
fn ignored_files_and_excluded_folders_do_not_count() {
    let work = Work::new();
    work.write(".gitignore", "*.log\nbuild/\n").commit();
    let before = work.digest();
    work.write("x.log", "x")
        .write("build/y", "y")
        .write(".ralph/z", "z");
    assert!(work.changes().is_empty());
    assert_eq!(work.digest(), before);
    work.git(&["add", "--force", ".ralph/z"]);
    assert!(work.changes().is_empty());
    assert_eq!(work.digest(), before);
}

#[test]
fn the_content_of_an_excluded_folder_is_not_read() {
    let work = Work::new();
    work.write(".ralph/z", "z").write("new.txt", "x");
    let looked = work
        .repository()
        .ask(|open| Ok(Look::take(open)?.work.into_keys().collect::<Vec<_>>()));
    assert_eq!(looked.unwrap(), [b"new.txt"]);
}

#[test]
fn only_the_workspace_counts_in_a_larger_repository() {
    let work = Work::new();
    work.write("outside.txt", "x")
        .write("src/new.txt", "x")
        .write("src/.ralph/y", "y");
    work.write("src2/z", "z");
    let settings = Settings {
        excluded: vec![".ralph".to_owned()],
        ..Settings::default()
    };
    let repository = Repository::discover(&work.at("src"), &settings)
        .unwrap()
        .unwrap();
    assert_eq!(changes(&repository), ["new.txt - Untracked"]);
    let before = repository.digest().unwrap();
    work.write("a.txt", "changed");
    assert_eq!(repository.digest().unwrap(), before);
    work.write("src/b.txt", "changed");
    assert_ne!(repository.digest().unwrap(), before);
}

#[test]
fn a_nested_repository_is_one_thing_whose_content_does_not_count() {
    let work = Work::new();
    let before = work.digest();
    git2::Repository::init(work.at("nested")).unwrap();
    work.write("nested/x", "x");
    assert_eq!(work.changes(), ["nested - Nested"]);
    let with = work.digest();
    assert_ne!(with, before);
    work.write("nested/x", "y").write("nested/z", "z");
    assert_eq!(work.digest(), with);
}

#[test]
fn tracked_files_are_not_hidden_by_a_git_folder_beside_them() {
    let work = Work::new();
    git2::Repository::init(work.at("src")).unwrap();
    work.write("src/b.txt", "changed")
        .write("src/new.txt", "new");
    let changes = work.changes();
    assert!(
        changes.contains(&"src/b.txt - Modified".to_owned()),
        "{changes:?}"
    );
    assert!(
        changes.contains(&"src/new.txt - Untracked".to_owned()),
        "{changes:?}"
    );
}

#[test]
fn a_submodule_counts_as_the_commit_that_the_index_names() {
    let (work, library) = (Work::new(), Work::new());
    let allow = "protocol.file.allow=always";
    let path = library.path.to_str().unwrap();
    work.git(&["-c", allow, "submodule", "--quiet", "add", path, "lib"]);
    work.commit();
    assert!(work.changes().is_empty(), "{:?}", work.changes());
    let before = work.digest();
    work.write("lib/a.txt", "changed");
    assert_eq!(work.digest(), before);
    let inside = Repository::discover(&work.at("lib"), &Settings::default())
        .unwrap()
        .unwrap();
    assert_eq!(changes(&inside), ["a.txt - Modified"]);
}

#[test]
fn a_linked_work_tree_is_a_repository() {
    let work = Work::new();
    let other = work.path.with_file_name("other");
    work.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "side",
        other.to_str().unwrap(),
    ]);
    fs::write(other.join("a.txt"), "changed").unwrap();
    let repository = Repository::discover(&other, &Settings::default())
        .unwrap()
        .unwrap();
    assert_eq!(repository.state().unwrap().branch.as_deref(), Some("side"));
    assert_eq!(changes(&repository), ["a.txt - Modified"]);
}

#[test]
fn marks_in_the_index_hide_no_change() {
    let work = Work::new();
    work.git(&["update-index", "--assume-unchanged", "a.txt"]);
    work.git(&["update-index", "--skip-worktree", "src/b.txt"]);
    work.write("a.txt", "changed").write("src/b.txt", "changed");
    assert_eq!(work.git(&["status", "--porcelain"]), "");
    assert_eq!(work.changes(), ["a.txt - Modified", "src/b.txt - Modified"]);
}

#[test]
fn a_file_that_a_sparse_checkout_left_out_is_not_deleted_but_named() {
    let work = Work::new();
    let before = work.digest();
    work.git(&["update-index", "--skip-worktree", "src/b.txt"]);
    work.remove("src/b.txt");
    assert!(work.changes().is_empty());
    assert_eq!(work.digest(), before);
    let state = work.repository().state().unwrap();
    assert_eq!(state.left_out, ["src/b.txt"]);
}

#[test]
fn an_index_made_to_hide_a_change_hides_nothing_where_it_is_not_trusted() {
    let work = Work::new();
    let old = git2::Oid::hash_object(git2::ObjectType::Blob, b"one\n").unwrap();
    work.write("a.txt", "bad\n");
    // The index gets the time stamps of the changed file, with the id of the old content.
    let git = git2::Repository::open(&work.path).unwrap();
    let mut index = git.index().unwrap();
    index.add_path("a.txt".as_ref()).unwrap();
    let mut entry = index.get_path("a.txt".as_ref(), 0).unwrap();
    entry.id = old;
    index.add(&entry).unwrap();
    index.write().unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
    let file = fs::File::options()
        .write(true)
        .open(work.at(".git/index"))
        .unwrap();
    file.set_modified(later).unwrap();
    assert_eq!(work.git(&["status", "--porcelain"]), "");

    let trusting = |trust| {
        changes(&work.repository_with(&Settings {
            trust,
            ..Settings::default()
        }))
    };
    assert!(trusting(Trust::Stamps).is_empty());
    assert_eq!(trusting(Trust::Nothing), ["a.txt - Modified"]);
}

#[test]
fn git_agrees_on_what_is_changed() {
    let work = Work::new();
    work.write("dir/one", "1")
        .write("dir/two", "2")
        .write("soon-link", "x")
        .commit();
    work.write("dir/one", "changed")
        .remove("dir/two")
        .remove("soon-link");
    work.link("a.txt", "soon-link")
        .write("new/one", "x")
        .write("new/two", "x");
    work.remove("a.txt").write("a.txt/inside", "x");
    let status = work.git(&["status", "--porcelain=v1", "--untracked-files=all"]);
    let mut judged: Vec<&str> = status.lines().filter_map(|line| line.get(3..)).collect();
    judged.sort_unstable();
    let state = work.repository().state().unwrap();
    let ours: Vec<&str> = state
        .changes
        .iter()
        .map(|change| change.path.as_str())
        .collect();
    assert_eq!(ours, judged);
}
