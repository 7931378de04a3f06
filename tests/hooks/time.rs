//! Hooks that answer in time, whatever happens.

use std::fs;
use std::time::{Duration, Instant};

use ralph_gate_tests::random::Random;
use ralph_gate_tests::waiting::wait_until;
use rustix::process::{Signal, kill_process};
use serde_json::Value;

use crate::project::{LOOP_FILE, Project, stop_event};

/// A loop whose check waits until a file is there.
fn slow() -> Project {
    let project = Project::new();
    project.write(
        "ralph-gate.toml",
        r#"
            [contract]
            mode = "ralph"
            completion_checks = ["slow"]
            max_check_retries = 0

            [checks.slow]
            argv = ["sh", "-c", "touch ../begun; while ! test -e ../go; do sleep 0.02; done"]

            [progress]
            artifacts = ["*.txt"]
        "#,
    );
    project.write("work.txt", "something\n");
    project
}

fn ask(project: &Project, message: &str, deadline: &str) -> Value {
    let event = stop_event(&project.work(), message, true).to_string();
    let said = project.gate(&["hook", "claude-code", "--deadline", deadline], &event);
    assert_eq!(said.code, 0, "{said:?}");
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

#[test]
fn a_check_that_takes_longer_than_the_client_waits_goes_on_and_is_believed_later() {
    let project = slow();
    let answer = ask(&project, "done", "1");
    assert_eq!(answer["decision"], "block", "{answer}");
    assert!(answer["reason"].as_str().unwrap().contains("still running"));
    wait_until("the check", || project.home().join("begun").exists());
    fs::remove_file(project.home().join("begun")).unwrap();
    fs::write(project.home().join("go"), "").unwrap();
    let answer = ask(&project, "done, as I said", "60");
    assert_eq!(answer["decision"], Value::Null, "{answer}");
    let note = answer["systemMessage"].as_str().unwrap();
    assert!(note.contains("completed after 1 iteration"), "{note}");
    // It was not run again.
    assert!(!project.home().join("begun").exists());
}

#[test]
fn evidence_about_other_work_is_gathered_again() {
    let project = slow();
    assert_eq!(ask(&project, "done", "1")["decision"], "block");
    wait_until("the check", || project.home().join("begun").exists());
    fs::remove_file(project.home().join("begun")).unwrap();
    project.write("work.txt", "something else\n");
    fs::write(project.home().join("go"), "").unwrap();
    let answer = ask(&project, "done again", "60");
    assert_eq!(answer["decision"], Value::Null, "{answer}");
    assert!(
        project.home().join("begun").exists(),
        "it was not run again"
    );
}

#[test]
fn an_agent_that_kills_its_checks_is_not_let_go() {
    let project = slow();
    let asking = std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&project, "done", "60"));
        wait_until("the check", || project.home().join("begun").exists());
        for (process, command) in project.mark.alive() {
            if command.contains("--attend") || command.contains("sh -c") {
                let _ = kill_process(process, Signal::KILL);
            }
        }
        asking.join().unwrap()
    });
    assert_eq!(asking["decision"], "block", "{asking}");
    let reason = asking["reason"].as_str().unwrap();
    assert!(reason.contains("missing_evidence"), "{reason}");
}

#[test]
fn a_loop_whose_checks_are_running_can_be_canceled() {
    let project = slow();
    assert_eq!(ask(&project, "done", "1")["decision"], "block");
    wait_until("the check", || project.home().join("begun").exists());
    let said = project.gate(&["loop", "cancel", "--json"], "");
    assert_eq!(said.json()["canceled"], true, "{said:?}");
    assert_eq!(project.stop("bye", true), Value::Null);
}

#[test]
fn a_client_that_never_closes_its_end_is_answered_at_the_deadline() {
    let project = Project::new();
    let mut child = project
        .command()
        .args(["hook", "claude-code", "--deadline", "1"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let input = child.stdin.take();
    let begun = Instant::now();
    wait_until("an answer", || child.try_wait().unwrap().is_some());
    assert!(begun.elapsed() >= Duration::from_millis(900));
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer["systemMessage"].as_str().unwrap().contains("error"));
}

#[test]
fn a_thousand_broken_events_are_answered_each() {
    let project = Project::new();
    project.write(
        LOOP_FILE,
        "---\niteration: 1\nmax_iterations: 10000\ncompletion_promise: \"COMPLETE\"\n---\nx\n",
    );
    let mut random = Random::new(1);
    let mut answers = [0_usize; 3];
    for number in 0..1000 {
        let event = broken(&project, &mut random, number);
        let mut child = project
            .command()
            .args(["hook", "claude-code", "--deadline", "60"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), &event);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "event {number}: {output:?}");
        if output.stdout.is_empty() {
            answers[0] += 1;
            continue;
        }
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("event {number}: {error}: {output:?}"));
        let is_block = answer["decision"] == "block";
        assert!(!is_block || answer["reason"].as_str().is_some_and(|it| !it.is_empty()));
        answers[if is_block { 1 } else { 2 }] += 1;
    }
    println!("silent, block, told: {answers:?}");
    assert!(answers[1] > 0 && answers[2] > 0, "{answers:?}");
}

/// An event that is cut off, of wrong types, huge, or no text at all.
fn broken(project: &Project, random: &mut Random, number: usize) -> Vec<u8> {
    let message = format!("message {number} <promise>COMPLETE</promise> and more");
    let mut event = stop_event(&project.work(), &message, random.once_in(2));
    match random.index(6) {
        0 => {
            let text = event.to_string().into_bytes();
            let end = random.index(text.len());
            text[..end].to_vec()
        }
        1 => {
            let names: Vec<String> = event.as_object().unwrap().keys().cloned().collect();
            let values = [
                Value::Null,
                Value::from(7),
                Value::from(vec![1]),
                Value::from(false),
                Value::from(""),
            ];
            for _ in 0..=random.index(4) {
                let name = &names[random.index(names.len())];
                event[name] = values[random.index(values.len())].clone();
            }
            event.to_string().into_bytes()
        }
        2 => {
            event["last_assistant_message"] = "x <promise> ".repeat(random.index(20_000)).into();
            event.to_string().into_bytes()
        }
        3 => {
            let mut text = event.to_string().into_bytes();
            for _ in 0..=random.index(8) {
                let at = random.index(text.len());
                text[at] = u8::try_from(random.index(256)).unwrap();
            }
            text
        }
        4 => (0..random.index(4096))
            .map(|_| u8::try_from(random.index(256)).unwrap())
            .collect(),
        _ => format!("{}{}", "[".repeat(random.index(200_000)), event).into_bytes(),
    }
}
