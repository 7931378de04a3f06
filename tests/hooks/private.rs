//! What the log of a client's loop does not say: secrets, and all but digests where that is asked for.

use std::fs;
use std::path::{Path, PathBuf};

use ralph_gate_tests::event_schema;

use crate::project::{Project, run, stop_event};

#[test]
fn a_clients_loop_is_held_and_released_although_its_log_holds_digests() {
    let project = Project::new();
    let config = "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"work\"]\n\n[checks.work]\nkind = \"file\"\n\
                  path = \"done.txt\"\nexists = true\n\n[memory]\nrecord = \"digest_only\"\n";
    project.write("ralph-gate.toml", config);
    let words = [
        "loop",
        "start",
        "--completion-promise",
        "COMPLETE",
        "Paint the shed.",
    ];
    assert_eq!(project.gate(&words, "").code, 0);
    for turn in 0..2 {
        let answer = project.stop("It is violet now.", turn > 0);
        assert_eq!(answer["decision"], "block", "{answer}");
        let reason = answer["reason"].as_str().unwrap();
        assert!(reason.contains("Paint the shed."), "{reason}");
    }
    project.write("done.txt", "");
    let answer = project.stop("It is violet.\n<promise>COMPLETE</promise>", true);
    assert_ne!(answer["decision"], "block", "{answer}");
    let sessions = fs::read_dir(project.sessions()).unwrap();
    let [session] = sessions
        .map(Result::unwrap)
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    let log = fs::read_to_string(session.path().join("events.jsonl")).unwrap();
    for secret in ["shed", "violet", "done.txt"] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
    let names = event_schema::check(&log);
    assert_eq!(names.iter().filter(|name| *name == "verdict").count(), 3);
    // The checks that the loop began with are in its memory, not in the log.
    let key = "claude-code/s1";
    let said = project.gate(&["audit", key, "--json"], "");
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["truth"], "complete");
}

#[test]
fn a_secret_that_the_agent_says_is_not_written_down() {
    let project = Project::new();
    let config = "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"work\"]\n\n[checks.work]\nkind = \"file\"\n\
                  path = \"done.txt\"\nexists = true\n";
    project.write("ralph-gate.toml", config);
    let words = ["loop", "start", "Paint the shed."];
    assert_eq!(project.gate(&words, "").code, 0);
    let secrets = ["deploy-0123456789", "s7s7s7s"];
    let token = format!("ghp_{}", "a1b2c3d4e5f6g7h8i9j0a1b2c3d4");
    let message = format!("I used {} and {} and {token}.", secrets[0], secrets[1]);
    let event = stop_event(&project.work(), &message, false).to_string();
    let mut command = project.command();
    command
        .envs([("DEPLOY_TOKEN", secrets[0]), ("SHORT_PASSWORD", secrets[1])])
        .args(["hook", "claude-code"]);
    let said = run(command, &event);
    assert!(said.stdout.contains("\"decision\":\"block\""), "{said:?}");
    let written = read_below(&project.home());
    assert!(
        written
            .iter()
            .any(|(_, text)| text.contains("[redacted DEPLOY_TOKEN]"))
    );
    for (path, text) in written {
        for secret in secrets.into_iter().chain([token.as_str()]) {
            assert!(
                !text.contains(secret),
                "{secret} in {}: {text}",
                path.display()
            );
        }
    }
}

/// Every file below a folder.
fn read_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(read_below(&path));
        } else if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            files.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    files
}
