//! What a person does with loops and hooks from a shell.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use crate::project::{LOOP_FILE, Project};

#[test]
fn any_prompt_text_survives_the_way_through_a_slash_command() {
    let prompt =
        "say \"hi\" to $HOME, `id`, \\n and 'x' # not a comment\n---\niteration: 9\n\tünïcode  end";
    let project = Project::new();
    let typed = format!("{prompt} --max-iterations 9 --completion-promise \"ALL DONE\"\n");
    project.write("typed.txt", &typed);
    let said = project.gate(
        &["loop", "start", "--arguments-file", "typed.txt", "--json"],
        "",
    );
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["max_iterations"], 9);
    let file = project.read(LOOP_FILE).unwrap();
    assert!(file.ends_with(&format!("---\n\n{prompt}\n")), "{file}");
    assert!(
        file.contains("completion_promise: \"ALL DONE\"\n"),
        "{file}"
    );
    let answer = project.stop("no", false);
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains(prompt), "{reason}");
}

#[test]
fn a_second_loop_is_refused_while_one_is_under_way() {
    let project = Project::new();
    assert_eq!(project.gate(&["loop", "start", "one"], "").code, 0);
    let before = project.read(LOOP_FILE);
    let said = project.gate(&["loop", "start", "two"], "");
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("ralph-gate loop cancel"), "{said:?}");
    assert_eq!(project.read(LOOP_FILE), before);
}

#[test]
fn a_loop_that_is_bound_is_shown_and_belongs_to_its_session() {
    let project = Project::new();
    let said = project.gate(&["loop", "start", "--session", "s2", "do it"], "");
    assert_eq!(said.code, 0);
    assert_eq!(project.stop("bye", false), Value::Null);
    let shown = project.gate(&["loop", "status", "--json"], "").json();
    assert_eq!(shown["session_id"], "s2");
    assert_eq!(shown["iteration"], 1);
}

#[test]
fn a_loop_file_that_cannot_be_read_can_be_ended_and_is_kept() {
    let project = Project::new();
    project.write(LOOP_FILE, "not a loop file\n");
    let said = project.gate(&["loop", "cancel", "--json"], "");
    assert_eq!(said.json()["canceled"], true);
    assert_eq!(project.read(LOOP_FILE), None);
    let kept = project.read(".claude/ralph-loop.ended.local.md");
    assert_eq!(kept.as_deref(), Some("not a loop file\n"));
}

#[test]
fn hooks_go_into_settings_and_out_again_without_a_trace() {
    let settings = [
        "{}",
        "{\"model\":\"opus\",\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"lint\"}]}]}}",
        "{\r\n\t\"hooks\": {},\r\n\t\"env\": { \"A\": \"1\" }\r\n}",
        "{\n   \"hooks\": {\n      \"Stop\": []\n   }\n}\n",
    ];
    for text in settings {
        let project = Project::new();
        project.write(".claude/settings.json", text);
        let read = || project.read(".claude/settings.json").unwrap();
        let run = |arguments: &[&str]| {
            let said = project.gate(arguments, "");
            assert_eq!(said.code, 0, "{said:?}");
            said
        };
        let shown = run(&["init", "claude-code", "--dry-run", "--json"]).json();
        assert_eq!(read(), text);
        assert!(shown["diff"].as_str().unwrap().contains('+'), "{shown}");
        run(&["init", "claude-code"]);
        let installed = read();
        let value: Value = serde_json::from_str(&installed).unwrap();
        let stops = value["hooks"]["Stop"].as_array().unwrap();
        let is_ours = |group: &Value| {
            let line = group["hooks"][0]["command"].as_str();
            line.is_some_and(|line| line.ends_with("ralph-gate hook claude-code"))
        };
        assert_eq!(stops.iter().filter(|group| is_ours(group)).count(), 1);
        assert_eq!(value["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"], "0");
        run(&["init", "claude-code"]);
        assert_eq!(read(), installed);
        run(&["uninstall", "claude-code"]);
        assert_eq!(read(), text);
        run(&["init", "claude-code"]);
        assert_eq!(read(), installed);
    }
}

#[test]
fn settings_that_are_a_link_stay_one_and_read_only_ones_are_refused() {
    let project = Project::new();
    project.write("elsewhere.json", "{}\n");
    fs::create_dir(project.work().join(".claude")).unwrap();
    let link = project.work().join(".claude/settings.json");
    symlink("../elsewhere.json", &link).unwrap();
    assert_eq!(project.gate(&["init", "claude-code"], "").code, 0);
    assert!(link.is_symlink());
    assert!(project.read("elsewhere.json").unwrap().contains("hooks"));
    assert_eq!(project.gate(&["uninstall", "claude-code"], "").code, 0);
    assert_eq!(project.read("elsewhere.json").unwrap(), "{}\n");

    let file = project.work().join("elsewhere.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let said = project.gate(&["init", "claude-code"], "");
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("elsewhere.json"), "{said:?}");
    assert_eq!(project.read("elsewhere.json").unwrap(), "{}\n");
}

#[test]
fn settings_that_are_no_json_are_refused_with_what_to_paste() {
    let project = Project::new();
    project.write(".claude/settings.json", "{\n  // mine\n  \"a\": 1\n}\n");
    let said = project.gate(&["init", "claude-code"], "");
    assert_eq!(said.code, 1);
    assert!(
        said.stderr.contains(".claude/settings.json:2:3"),
        "{said:?}"
    );
    assert!(said.stderr.contains("\"Stop\""), "{said:?}");
}

#[test]
fn every_client_can_be_installed_and_uninstalled() {
    let clients = [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("copilot", ".github/hooks/ralph-gate.json"),
        ("cursor", ".cursor/hooks.json"),
        ("opencode", ".opencode/plugins/ralph-gate.js"),
    ];
    for (client, file) in clients {
        let project = Project::new();
        let said = project.gate(&["init", client], "");
        assert_eq!(said.code, 0, "{said:?}");
        assert!(
            project.read(file).unwrap().contains("ralph-gate"),
            "{client}"
        );
        assert_eq!(project.gate(&["uninstall", client], "").code, 0);
        let left: Vec<_> = fs::read_dir(project.work()).unwrap().collect();
        assert!(left.is_empty(), "{client}: {left:?}");
    }
}

/// A program of a client that says its version.
fn client(project: &Project, name: &str) -> String {
    let folder = project.home().join("bin");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    fs::write(&file, "#!/bin/sh\necho \"9.9.9 (test)\"\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    folder.display().to_string()
}

fn doctor(project: &Project, path: &str) -> (i32, Value) {
    let output = project
        .command()
        .args(["doctor", "--json"])
        .env("PATH", path)
        .output()
        .unwrap();
    let said = ralph_gate_tests::said::Said::of(output);
    (said.code, said.json())
}

#[test]
fn the_doctor_says_what_is_missing_and_what_is_there() {
    let project = Project::new();
    let path = client(&project, "claude");
    let (code, found) = doctor(&project, &path);
    assert_eq!(code, 1, "{found}");
    let claude = &found["clients"][0];
    assert_eq!(claude["client"], "claude-code");
    assert_eq!(claude["version"], "9.9.9 (test)");
    assert_eq!(claude["cap"], 8);
    let problem = claude["problems"][0].as_str().unwrap();
    assert!(problem.contains("ralph-gate init claude-code"), "{problem}");

    assert_eq!(project.gate(&["init", "claude-code"], "").code, 0);
    assert_eq!(project.gate(&["loop", "start", "do it"], "").code, 0);
    let (code, found) = doctor(&project, &path);
    assert_eq!(code, 0, "{found}");
    assert_eq!(found["clients"][0]["hooks"][0]["scope"], "project");
    assert_eq!(found["active_loop"]["iteration"], 1);
}

#[test]
fn the_doctor_finds_a_hook_whose_program_is_gone_and_another_ralph_beside_it() {
    let project = Project::new();
    let settings = json!({ "enabledPlugins": { "ralph-wiggum@official": true } });
    project.write(".claude/settings.json", &settings.to_string());
    let gone = project.home().join("gone/ralph-gate");
    let arguments = ["init", "claude-code", "--command", gone.to_str().unwrap()];
    assert_eq!(project.gate(&arguments, "").code, 0);
    let (code, found) = doctor(&project, "/usr/bin:/bin");
    assert_eq!(code, 1, "{found}");
    let claude = &found["clients"][0];
    let problem = claude["problems"][0].as_str().unwrap();
    assert!(problem.contains("can't be started"), "{problem}");
    assert!(
        claude["notes"].to_string().contains("ralph-wiggum"),
        "{claude}"
    );
}

const CONFIG: &str = "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"done\"]\n\n[checks.done]\nkind = \"file\"\npath = \"done.txt\"\n";

#[test]
fn a_loop_without_a_loop_file_can_be_ended_and_lets_its_session_go() {
    let project = Project::new();
    project.write("ralph-gate.toml", CONFIG);
    assert_eq!(project.stop("no", false)["decision"], "block");
    let said = project.gate(&["loop", "cancel"], "");
    assert_eq!(said.stdout, "Canceled Ralph loop (was at iteration 1)\n");
    assert_eq!(project.stop("bye", true), Value::Null);
    assert_eq!(project.stop("and bye", false), Value::Null);
}

#[test]
fn an_agent_cannot_cancel_its_own_loop_unless_its_person_has_spoken() {
    let project = Project::new();
    assert_eq!(
        project
            .gate(&["loop", "start", "--completion-promise", "X", "do it"], "")
            .code,
        0
    );
    assert_eq!(project.stop("no", false)["decision"], "block");
    let cancel = || {
        let mut command = project.command();
        let output = command
            .args(["loop", "cancel"])
            .env("CLAUDECODE", "1")
            .output();
        assert!(output.unwrap().status.success());
        assert_eq!(project.read(LOOP_FILE), None);
    };
    cancel();
    let answer = project.stop("free", true);
    assert_eq!(answer["decision"], "block", "{answer}");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("was taken away")
    );
    assert!(project.read(LOOP_FILE).is_some());
    // Its person typed /cancel-ralph.
    cancel();
    assert_eq!(project.stop("as you wish", false), Value::Null);
    assert_eq!(project.read(LOOP_FILE), None);
}

#[test]
fn an_agent_cannot_end_what_only_the_configuration_asks_for() {
    let project = Project::new();
    project.write("ralph-gate.toml", CONFIG);
    assert_eq!(project.stop("no", false)["decision"], "block");
    let mut command = project.command();
    command.args(["loop", "cancel"]).env("CLAUDECODE", "1");
    let said = ralph_gate_tests::said::Said::by(&mut command);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("a terminal of your own"), "{said:?}");
    assert_eq!(project.stop("please", true)["decision"], "block");
}

#[test]
fn a_client_that_let_its_agent_stop_all_the_same_is_in_the_log() {
    let project = Project::new();
    project.write(
        "ralph-gate.toml",
        &CONFIG.replace("mode", "no_progress_limit = 0\nmode"),
    );
    for turn in 0..8 {
        let answer = project.stop(&format!("turn {turn}"), turn > 0);
        assert_eq!(answer["decision"], "block", "{answer}");
    }
    let logs = || project.gate(&["logs", "--json"], "").stdout;
    assert!(!logs().contains("client_ended"));
    assert_eq!(project.stop("and now?", false)["decision"], "block");
    let logs = logs();
    let ended = logs.lines().find(|line| line.contains("client_ended"));
    let ended: Value = serde_json::from_str(ended.unwrap()).unwrap();
    assert_eq!(
        ended["data"],
        json!({ "iteration": 8, "blocks": 8, "cap": 8 })
    );
}
