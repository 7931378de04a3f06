//! What each client gets, and what its person is told.

use super::*;

fn whole(harness: Harness) -> Value {
    let ground = Ground::new();
    ground.install(harness);
    parsed(&ground.read(harness))
}

#[test]
fn every_client_gets_the_hooks_that_it_understands() {
    let line = |harness: &str| format!(r"'/opt/my tools/it'\\''s/ralph-gate' hook {harness}");
    let group = |harness: &str, timeout: u32| {
        format!(
            r#"[{{"hooks":[{{"type":"command","command":"{}","timeout":{timeout}}}]}}]"#,
            line(harness)
        )
    };
    let claude = group("claude-code", 600);
    let expected = [
        (
            Harness::ClaudeCode,
            format!(
                r#"{{"env":{{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP":"0"}},"hooks":{{"Stop":{claude},"SubagentStop":{claude},"SessionStart":{claude},"UserPromptSubmit":{claude},"PreCompact":{claude}}}}}"#
            ),
        ),
        (
            Harness::Codex,
            format!(r#"{{"hooks":{{"Stop":{}}}}}"#, group("codex", 600)),
        ),
        (
            Harness::Gemini,
            format!(
                r#"{{"model":{{"disableLoopDetection":true}},"hooks":{{"AfterAgent":{}}}}}"#,
                group("gemini", 600_000)
            ),
        ),
        (
            Harness::Copilot,
            format!(
                r#"{{"version":1,"hooks":{{"agentStop":[{{"type":"command","bash":"{}","timeoutSec":600}}]}}}}"#,
                line("copilot")
            ),
        ),
        (
            Harness::Cursor,
            format!(
                r#"{{"version":1,"hooks":{{"stop":[{{"command":"{}","loop_limit":100}}]}}}}"#,
                line("cursor")
            ),
        ),
    ];
    for (harness, text) in expected {
        assert_eq!(whole(harness), parsed(&text), "{harness}");
    }
}

#[test]
fn the_plugin_is_written_as_it_was_given() {
    let ground = Ground::new();
    ground.install(Harness::Opencode);
    assert_eq!(ground.read(Harness::Opencode), PLUGIN);
    let command = ground.file(Harness::Opencode).display().to_string();
    assert_eq!(
        ground.status(Harness::Opencode),
        Status::Installed { command }
    );
}

#[test]
fn an_older_plugin_of_ours_is_replaced_and_somebody_elses_is_not() {
    let ground = Ground::new();
    ground.write(Harness::Opencode, "// older: ralph-gate hook opencode\n");
    ground.install(Harness::Opencode);
    assert_eq!(ground.read(Harness::Opencode), PLUGIN);
    ground.write(Harness::Opencode, "export default 1\n");
    let said = ground.refusal(Harness::Opencode).to_string();
    assert!(
        said.ends_with("is somebody else's plugin under the name of ours"),
        "{said}"
    );
    let plan = ground.uninstall(Harness::Opencode);
    assert!(plan.is_empty() && plan.notes.len() == 1, "{plan:?}");
    assert_eq!(ground.read(Harness::Opencode), "export default 1\n");
    assert_eq!(ground.status(Harness::Opencode), Status::NotInstalled);
}

#[test]
fn the_scope_decides_which_settings_of_claude_code_are_meant() {
    for (scope, file) in [
        (Scope::Project, "root/.claude/settings.json"),
        (Scope::Local, "root/.claude/settings.local.json"),
        (Scope::User, "home/.claude/settings.json"),
    ] {
        let ground = Ground::new();
        let empty = ground.everything();
        let install = Action::Install(wanted());
        let plan = ground.plan_in(Harness::ClaudeCode, scope, install).unwrap();
        assert_eq!(plan.changes[0].path, ground.path(file));
        plan.apply().unwrap();
        assert!(ground.path(file).is_file());
        let plan = ground
            .plan_in(Harness::ClaudeCode, scope, Action::Uninstall)
            .unwrap();
        plan.apply().unwrap();
        assert_eq!(ground.everything(), empty);
    }
    let other = Ground::new().plan_in(Harness::Codex, Scope::User, Action::Uninstall);
    assert_eq!(
        other.unwrap_err().to_string(),
        "codex has no hooks for the scope user"
    );
}

#[test]
fn gemini_keeps_its_loop_detection_if_the_person_wants_that() {
    let ground = Ground::new();
    let mut wanted = wanted();
    wanted.loop_detection = LoopDetection::Leave;
    let install = |wanted| {
        let plan = ground
            .plan(Harness::Gemini, Action::Install(wanted))
            .unwrap();
        plan.apply().unwrap();
        plan
    };
    install(wanted);
    assert_eq!(parsed(&ground.read(Harness::Gemini)).get("model"), None);
    assert!(install(wanted).is_empty());
    assert!(matches!(
        ground.status(Harness::Gemini),
        Status::Installed { .. }
    ));
    wanted.loop_detection = LoopDetection::SwitchOff;
    install(wanted);
    assert_eq!(
        parsed(&ground.read(Harness::Gemini))["model"]["disableLoopDetection"],
        true
    );
    wanted.loop_detection = LoopDetection::Leave;
    install(wanted);
    assert_eq!(parsed(&ground.read(Harness::Gemini)).get("model"), None);
}

/// Copilot reads the settings of Claude Code, too, and asks once where both are there.
#[test]
fn copilot_and_claude_code_can_be_installed_side_by_side() {
    let ground = Ground::new();
    ground.install(Harness::ClaudeCode);
    assert!(!ground.install(Harness::Copilot).is_empty());
    let again = ground.install(Harness::ClaudeCode);
    assert!(again.is_empty() && again.notes.is_empty(), "{again:?}");
    ground.uninstall(Harness::ClaudeCode);
    assert_ne!(ground.status(Harness::Copilot), Status::NotInstalled);
}

/// Several versions of Claude Code ignore `args` and would run the program without arguments.
#[test]
fn a_hook_with_args_of_an_earlier_version_becomes_one_command_line() {
    let ground = Ground::new();
    let entry = r#"{"type":"command","command":"/old/ralph-gate","args":["hook","claude-code"],"timeout":600}"#;
    let lists = Harness::ClaudeCode.events().iter();
    let lists: Vec<String> = lists
        .map(|event| format!(r#""{event}":[{{"hooks":[{entry}]}}]"#))
        .collect();
    let before = format!(
        r#"{{"env":{{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP":"0"}},"hooks":{{{}}}}}"#,
        lists.join(",")
    );
    ground.write(Harness::ClaudeCode, &before);
    ground.install(Harness::ClaudeCode);
    let after = ground.read(Harness::ClaudeCode);
    assert!(!after.contains("args"), "{after}");
    let fresh = Ground::new();
    fresh.install(Harness::ClaudeCode);
    assert_eq!(parsed(&after), parsed(&fresh.read(Harness::ClaudeCode)));
}

#[test]
fn other_ralph_hooks_are_named_and_not_touched() {
    let ground = Ground::new();
    let own = "{\n \"hooks\": {\"Stop\": [{\"hooks\": [\n  {\"command\": \"bash ~/ralph/hooks/stop-hook.sh\"},\n  {\"command\": \"env X=1 ralph-gate hook claude-code\"}]}]}\n}";
    ground.write(Harness::ClaudeCode, own);
    let user = ground.path("home/.claude");
    fs::create_dir(&user).unwrap();
    let plugins = "{\"enabledPlugins\": {\"ralph-wiggum@x\": true,\n\"ralph-loop\": false, \"other\": true}, \"disableAllHooks\": true}";
    fs::write(user.join("settings.json"), plugins).unwrap();
    let notes = ground.install(Harness::ClaudeCode).notes;
    let (root, home) = (ground.path("root/.claude"), ground.path("home/.claude"));
    let (root, home) = (root.display(), home.display());
    assert_eq!(
        notes,
        [
            format!(
                "{root}/settings.json:3:15: another Ralph hook decides beside ralph-gate when the agent may stop; remove it"
            ),
            format!(
                "{root}/settings.json:4:15: a hook runs ralph-gate in a way of its own; it is left alone, and the gate may be asked twice"
            ),
            format!(
                "{home}/settings.json:1:21: the plugin ralph-wiggum is enabled: it decides beside ralph-gate when the agent may stop; disable it"
            ),
            format!("{home}/settings.json: `disableAllHooks` is true: no hook runs"),
        ]
    );
    ground.uninstall(Harness::ClaudeCode);
    assert_eq!(ground.read(Harness::ClaudeCode), own);
}

#[test]
fn ours_in_another_scope_are_named() {
    let ground = Ground::new();
    let plan = ground.plan_in(Harness::ClaudeCode, Scope::User, Action::Install(wanted()));
    plan.unwrap().apply().unwrap();
    let notes = ground.install(Harness::ClaudeCode).notes;
    assert_eq!(notes.len(), 1);
    assert!(notes[0].ends_with(
        "home/.claude/settings.json: ralph-gate is in this file as well: it may be asked twice"
    ));
}

#[test]
fn a_cap_of_the_persons_own_is_named() {
    let ground = Ground::new();
    ground.write(
        Harness::ClaudeCode,
        "{\"env\": {\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"3\"}}",
    );
    let notes = ground.install(Harness::ClaudeCode).notes;
    assert!(
        notes[0].contains("`env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP` has a value of your own"),
        "{notes:?}"
    );
}

#[test]
fn the_status_tells_what_is_there() {
    let ground = Ground::new();
    assert_eq!(ground.status(Harness::ClaudeCode), Status::NotInstalled);
    ground.write(Harness::ClaudeCode, "{\"a\": 1}");
    assert_eq!(ground.status(Harness::ClaudeCode), Status::NotInstalled);
    ground.install(Harness::ClaudeCode);
    let command = COMMAND.to_owned();
    assert_eq!(
        ground.status(Harness::ClaudeCode),
        Status::Installed { command }
    );
    let mut value = parsed(&ground.read(Harness::ClaudeCode));
    value["hooks"]
        .as_object_mut()
        .unwrap()
        .shift_remove("SubagentStop");
    value["env"].as_object_mut().unwrap().clear();
    ground.write(Harness::ClaudeCode, &value.to_string());
    let missing = ["hooks.SubagentStop", "env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"];
    let missing = missing.map(str::to_owned).to_vec();
    assert_eq!(
        ground.status(Harness::ClaudeCode),
        Status::Partly { missing }
    );
    ground.write(Harness::ClaudeCode, "{");
    let Status::Unreadable(reason) = ground.status(Harness::ClaudeCode) else {
        panic!("it is not JSON");
    };
    assert!(reason.contains("settings.json:1:2: "), "{reason}");
}

#[test]
fn installing_again_completes_what_is_there_partly() {
    let ground = Ground::new();
    ground.write(Harness::ClaudeCode, "{\"a\": 1}");
    ground.install(Harness::ClaudeCode);
    let complete = ground.read(Harness::ClaudeCode);
    let mut value = parsed(&complete);
    value["hooks"].as_object_mut().unwrap().shift_remove("Stop");
    ground.write(Harness::ClaudeCode, &value.to_string());
    ground.install(Harness::ClaudeCode);
    assert_eq!(parsed(&ground.read(Harness::ClaudeCode)), parsed(&complete));
}

#[test]
fn a_file_full_of_other_hooks_is_told_in_a_few_notes() {
    let ground = Ground::new();
    let many = vec![r#"{"command":"ralph stop-hook"}"#; 20_000].join(",");
    ground.write(
        Harness::Cursor,
        &format!(r#"{{"hooks":{{"stop":[{many}]}}}}"#),
    );
    assert_eq!(ground.install(Harness::Cursor).notes.len(), 10);
}

#[test]
fn installing_from_another_place_changes_the_command_and_nothing_else() {
    for harness in JSON {
        let ground = Ground::new();
        ground.write(harness, "{\"a\": 1}");
        ground.install(harness);
        let first = ground.read(harness);
        let mut elsewhere = wanted();
        elsewhere.command = Path::new("/elsewhere/ralph-gate");
        let plan = ground.plan(harness, Action::Install(elsewhere)).unwrap();
        plan.apply().unwrap();
        let command = "/elsewhere/ralph-gate".to_owned();
        assert_eq!(ground.status(harness), Status::Installed { command });
        ground.install(harness);
        assert_eq!(ground.read(harness), first, "{harness}");
    }
}
