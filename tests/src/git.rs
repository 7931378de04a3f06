//! The `git` program for tests, apart from a person's own settings, and from the repository of a hook that runs tests.

use std::env;
use std::path::Path;
use std::process::Command;

/// Lets a program, and what it starts, see no setting of git but an identity, and nothing to be tidied up.
pub fn apart(command: &mut Command) -> &mut Command {
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(&name);
        }
    }
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        // It would go on in the background, where tests look for processes that are left.
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "maintenance.auto")
        .env("GIT_CONFIG_VALUE_0", "false")
        .env("GIT_AUTHOR_NAME", "agent")
        .env("GIT_AUTHOR_EMAIL", "agent@example.org")
        .env("GIT_COMMITTER_NAME", "agent")
        .env("GIT_COMMITTER_EMAIL", "agent@example.org")
}

/// Runs `git` in a folder.
///
/// # Panics
///
/// If it fails.
pub fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    let status = apart(&mut command)
        .args(arguments)
        .current_dir(folder)
        .status()
        .expect("git runs");
    assert!(status.success(), "git {arguments:?}: {status}");
}

/// Makes a repository of a folder, with one commit of all that is in it.
///
/// # Panics
///
/// If git fails.
pub fn repository(folder: &Path) {
    git(folder, &["init", "--quiet", "--initial-branch", "main"]);
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", "begin"]);
}
