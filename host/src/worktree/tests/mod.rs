//! The work as real repositories, with the `git` program as an independent judge.

mod commit;
mod hostile;
mod protected;
mod state;
mod tree;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{Baseline, CommitOutcome, Identity, Protection, Repository, Settings, Stamps, Taken};

/// A workspace that is a repository of its own.
struct Work {
    _folder: TempDir,
    path: PathBuf,
}

impl Work {
    /// A folder without a repository.
    fn plain() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("work");
        fs::create_dir(&path).unwrap();
        Self {
            _folder: folder,
            path,
        }
    }

    /// A repository without a commit.
    fn empty() -> Self {
        let work = Self::plain();
        let mut options = git2::RepositoryInitOptions::new();
        options.initial_head("main").external_template(false);
        let git = git2::Repository::init_opts(&work.path, &options).unwrap();
        let mut config = git.config().unwrap();
        config.set_str("user.name", "Tester").unwrap();
        config.set_str("user.email", "tester@example.org").unwrap();
        work
    }

    /// A repository with one commit of two files.
    fn new() -> Self {
        let work = Self::empty();
        work.write("a.txt", "one\n").write("src/b.txt", "two\n");
        work.commit();
        work
    }

    fn at(&self, path: impl AsRef<[u8]>) -> PathBuf {
        self.path.join(OsStr::from_bytes(path.as_ref()))
    }

    fn write(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> &Self {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn remove(&self, path: &str) -> &Self {
        fs::remove_file(self.at(path)).unwrap();
        self
    }

    fn link(&self, target: impl AsRef<Path>, path: &str) -> &Self {
        std::os::unix::fs::symlink(target, self.at(path)).unwrap();
        self
    }

    fn pipe(&self, path: &str) -> &Self {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, self.at(path), kind, mode, 0).unwrap();
        self
    }

    /// Commits everything with libgit2, not by our own code.
    fn commit(&self) -> String {
        let git = git2::Repository::open(&self.path).unwrap();
        let mut index = git.index().unwrap();
        index
            .add_all(["*"], git2::IndexAddOption::DEFAULT, None)
            .unwrap();
        index.update_all(["*"], None).unwrap();
        index.write().unwrap();
        let tree = git.find_tree(index.write_tree().unwrap()).unwrap();
        let head = git.head().ok().and_then(|head| head.peel_to_commit().ok());
        let parents: Vec<&git2::Commit<'_>> = head.iter().collect();
        let who = git2::Signature::now("Tester", "tester@example.org").unwrap();
        let id = git.commit(Some("HEAD"), &who, &who, "change", &tree, &parents);
        id.unwrap().to_string()
    }

    /// Runs the `git` program.
    fn git(&self, arguments: &[&str]) -> String {
        let output = self.try_git(arguments);
        assert!(output.0, "git {arguments:?}: {}", output.1);
        output.1
    }

    fn try_git(&self, arguments: &[&str]) -> (bool, String) {
        let mut git = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                git.env_remove(&name);
            }
        }
        let output = git
            .args(arguments)
            .current_dir(&self.path)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).trim_end().to_owned();
        (output.status.success(), text)
    }

    fn repository(&self) -> Repository {
        self.repository_with(&Settings {
            excluded: vec![".ralph".to_owned()],
            ..Settings::default()
        })
    }

    fn repository_with(&self, settings: &Settings) -> Repository {
        Repository::discover(&self.path, settings).unwrap().unwrap()
    }

    fn digest(&self) -> String {
        self.repository().digest().unwrap().to_string()
    }

    /// The changes in short: path, staged, unstaged.
    fn changes(&self) -> Vec<String> {
        changes(&self.repository())
    }

    fn commit_all(&self) -> CommitOutcome {
        self.repository().commit_all("work", &fallback()).unwrap()
    }

    fn baseline(&self, patterns: &[&str]) -> Taken {
        self.take(&Protection {
            protected: patterns.iter().map(ToString::to_string).collect(),
            ..Protection::default()
        })
    }

    fn take(&self, protection: &Protection) -> Taken {
        Baseline::take(&self.path, protection, &[".ralph".to_owned()]).unwrap()
    }

    /// The differences in short: path and kind.
    fn differences(&self, baseline: &Baseline) -> Vec<String> {
        let differences = baseline.compare(&self.path, &mut Stamps::default());
        differences
            .unwrap()
            .iter()
            .map(|difference| {
                let part = difference.part.as_deref().unwrap_or_default();
                format!("{}{part} {:?}", difference.path, difference.kind)
            })
            .collect()
    }
}

fn changes(repository: &Repository) -> Vec<String> {
    let state = repository.state().unwrap();
    let short = |kind| format!("{kind:?}");
    state
        .changes
        .iter()
        .map(|change| {
            let staged = change.staged.map_or("-".to_owned(), short);
            let unstaged = change.unstaged.map_or("-".to_owned(), short);
            format!("{} {staged} {unstaged}", change.path)
        })
        .collect()
}

fn fallback() -> Identity {
    Identity {
        name: "Gate".to_owned(),
        email: "gate@example.org".to_owned(),
    }
}
