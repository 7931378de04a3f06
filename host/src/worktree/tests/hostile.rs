//! Repositories that an agent prepared to mislead or to stop whoever looks at them.

use std::fs;
use std::time::Duration;

use super::super::{ContentLimits, Kind, Repository, Settings, WorktreeError};
use super::Work;

fn quick() -> Settings {
    Settings {
        patience: Duration::from_secs(20),
        ..Settings::default()
    }
}

/// What discovering or asking says.
fn error(work: &Work) -> WorktreeError {
    error_at(&work.path, &quick())
}

fn error_at(path: &std::path::Path, settings: &Settings) -> WorktreeError {
    match Repository::discover(path, settings) {
        Err(error) => error,
        Ok(None) => panic!("there is a repository"),
        Ok(Some(repository)) => repository.digest().unwrap_err(),
    }
}

#[test]
fn a_pipe_among_the_files_does_not_count_and_is_not_waited_for() {
    let work = Work::new();
    let before = work.digest();
    work.pipe("pipe").pipe("src/pipe");
    assert_eq!(work.digest(), before);
    assert!(work.changes().is_empty());
    work.remove("a.txt").pipe("a.txt");
    assert_eq!(work.changes(), ["a.txt - Deleted"]);
    work.repository().conflict_markers(None).unwrap();
}

#[test]
fn a_pipe_or_a_link_where_git_reads_by_itself_is_refused_by_name() {
    for path in [
        ".gitignore",
        ".gitattributes",
        "src/.gitignore",
        "new/.gitignore",
        ".git/config",
        ".git/HEAD",
        ".git/index",
        ".git/info/exclude",
        ".git/refs/heads/main",
        ".git/packed-refs",
        ".git/MERGE_HEAD",
        ".git/objects/info/alternates",
    ] {
        for kind in [Kind::Special, Kind::Link] {
            let work = Work::new();
            fs::create_dir_all(work.at(path).parent().unwrap()).unwrap();
            let _ = fs::remove_file(work.at(path));
            match kind {
                Kind::Special => work.pipe(path),
                _ => work.link("/etc/hostname", path),
            };
            let error = error(&work);
            let WorktreeError::Treacherous { place, what } = &error else {
                panic!("{path}: {error}");
            };
            assert!(place.ends_with(path) && *what == kind, "{path}: {error}");
        }
    }
}

#[test]
fn a_pipe_in_an_ignored_folder_is_nobodys_business() {
    let work = Work::new();
    work.write(".gitignore", "build/\n")
        .write("build/x", "x")
        .pipe("build/.gitignore");
    assert_eq!(work.changes(), [".gitignore - Untracked"]);
}

#[test]
fn a_pipe_that_settings_name_is_refused() {
    let work = Work::new();
    work.pipe("pipe");
    work.git(&[
        "config",
        "core.excludesFile",
        work.at("pipe").to_str().unwrap(),
    ]);
    let error = error(&work);
    assert!(
        matches!(error, WorktreeError::Treacherous { .. }),
        "{error}"
    );
}

#[test]
fn what_hangs_nevertheless_is_given_up() {
    let work = Work::new();
    work.pipe("pipe");
    work.git(&["config", "include.path", work.at("pipe").to_str().unwrap()]);
    let settings = Settings {
        patience: Duration::from_millis(200),
        ..Settings::default()
    };
    let error = error_at(&work.path, &settings);
    assert!(matches!(error, WorktreeError::TimedOut { .. }), "{error}");
}

#[test]
fn a_loop_of_links_is_no_trouble() {
    let work = Work::new();
    work.link(".", "here")
        .link("loop", "loop")
        .link("..", "src/up");
    assert_eq!(
        work.changes(),
        ["here - Untracked", "loop - Untracked", "src/up - Untracked"]
    );
}

#[test]
fn a_link_is_never_followed_out_of_the_workspace() {
    let work = Work::new();
    let outside = Work::plain();
    outside.write("b.txt", "secret");
    fs::remove_dir_all(work.at("src")).unwrap();
    work.link(&outside.path, "src");
    assert_eq!(work.changes(), ["src - Untracked", "src/b.txt - Deleted"]);
    let files = work
        .repository()
        .changed_files(None, &ContentLimits::default())
        .unwrap();
    assert!(
        files
            .iter()
            .all(|file| file.content.as_deref() != Some(b"secret"))
    );
}

#[test]
fn names_with_line_breaks_or_no_text_are_shown_and_kept_apart() {
    let work = Work::new();
    work.write(b"\xff", "x")
        .write("new\nline", "x")
        .write(r"\xff", "x");
    assert_eq!(
        work.changes(),
        [
            r"\\xff - Untracked",
            r"new\x0aline - Untracked",
            r"\xff - Untracked"
        ]
    );
}

#[test]
fn settings_can_not_lead_to_other_files() {
    let (work, clean) = (Work::new(), Work::new());
    work.git(&["config", "core.worktree", clean.path.to_str().unwrap()]);
    let error = error(&work);
    assert!(matches!(error, WorktreeError::OtherFiles { .. }), "{error}");
}

#[test]
fn the_repository_of_somebody_else_is_not_used() {
    let (work, victim) = (Work::plain(), Work::new());
    let git = victim.at(".git");
    work.write(".git", format!("gitdir: {}\n", git.display()));
    let first = error(&work);
    assert!(matches!(first, WorktreeError::OtherFiles { .. }), "{first}");
    work.remove(".git").link(git, ".git");
    let second = error(&work);
    assert!(
        matches!(second, WorktreeError::Treacherous { .. }),
        "{second}"
    );
}

#[test]
fn a_repository_that_borrows_all_of_another_one_is_not_used() {
    let (work, victim) = (Work::new(), Work::new());
    let git = victim.at(".git");
    work.write(".git/commondir", format!("{}\n", git.display()));
    let folder = error(&work);
    assert!(
        matches!(folder, WorktreeError::OtherFiles { .. }),
        "{folder}"
    );

    let forged = Work::plain();
    let own = forged.at("own");
    fs::create_dir(&own).unwrap();
    forged.write(".git", format!("gitdir: {}\n", own.display()));
    forged.write("own/HEAD", "ref: refs/heads/main\n");
    forged.write("own/commondir", format!("{}\n", git.display()));
    forged.write("own/gitdir", format!("{}\n", forged.at(".git").display()));
    let pointer = error(&forged);
    assert!(
        matches!(pointer, WorktreeError::OtherFiles { .. }),
        "{pointer}"
    );
}

#[test]
fn a_broken_repository_is_an_error_and_not_passed_over() {
    let work = Work::new();
    fs::create_dir_all(work.at("src/.git")).unwrap();
    let error = error_at(&work.at("src"), &quick());
    assert!(matches!(error, WorktreeError::Git { .. }), "{error}");
    for text in ["", "gitdir:", "gitdir: \n", "nonsense"] {
        let work = Work::plain();
        work.write(".git", text);
        let error = error_at(&work.path, &quick());
        assert!(
            matches!(error, WorktreeError::Git { .. }),
            "{text}: {error}"
        );
    }
}

#[test]
fn a_huge_file_is_refused_unless_git_ignores_it() {
    let work = Work::new();
    let huge = |path: &str| {
        let file = fs::File::create(work.at(path)).unwrap();
        file.set_len(1 << 42).unwrap();
    };
    work.write(".gitignore", "*.bin\n");
    huge("ignored.bin");
    work.digest();
    huge("huge");
    let error = error(&work);
    assert!(matches!(error, WorktreeError::TooLarge { .. }), "{error}");
}

#[test]
fn a_huge_index_is_refused() {
    let work = Work::new();
    let file = fs::File::options()
        .write(true)
        .open(work.at(".git/index"))
        .unwrap();
    file.set_len(1 << 42).unwrap();
    let error = error(&work);
    assert!(matches!(error, WorktreeError::TooLarge { .. }), "{error}");
}

#[test]
fn a_tree_that_holds_itself_a_million_times_is_refused() {
    let work = Work::new();
    let git = git2::Repository::open(&work.path).unwrap();
    let mut id = git.blob(b"x").unwrap();
    let mut mode = 0o100_644;
    for _ in 0..10 {
        let mut builder = git.treebuilder(None).unwrap();
        for number in 0..10 {
            builder.insert(format!("{number}"), id, mode).unwrap();
        }
        (id, mode) = (builder.write().unwrap(), 0o040_000);
    }
    let who = git2::Signature::now("Tester", "tester@example.org").unwrap();
    let (tree, head) = (
        git.find_tree(id).unwrap(),
        git.head().unwrap().peel_to_commit().unwrap(),
    );
    git.commit(Some("HEAD"), &who, &who, "bomb", &tree, &[&head])
        .unwrap();
    let error = work.repository().state().unwrap_err();
    assert!(matches!(error, WorktreeError::TooMany { .. }), "{error}");
}

#[test]
fn a_damaged_index_or_head_is_an_error() {
    for (path, content) in [
        (".git/index", b"DIRC\0\0\0\x02\xff\xff\xff\xff".as_slice()),
        (".git/index", b"nonsense"),
        (".git/HEAD", b"nonsense"),
        (
            ".git/refs/heads/main",
            b"0123456789012345678901234567890123456789\n",
        ),
        (".git/config", b"[core"),
    ] {
        let work = Work::new();
        work.write(path, content);
        let answer =
            Repository::discover(&work.path, &quick()).and_then(|found| found.unwrap().state());
        let error = answer.unwrap_err();
        assert!(
            matches!(error, WorktreeError::Git { .. }),
            "{path}: {error}"
        );
    }
}
