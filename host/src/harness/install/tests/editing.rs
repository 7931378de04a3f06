//! What is put into a text and taken out again, by example.

use super::*;

/// Installs into a text and gives what is left after uninstalling, with an edit in between.
fn there_and_back(harness: Harness, text: &str, edit: impl Fn(String) -> String) -> String {
    uninstalled(&edit(installed(text, harness)), harness)
}

#[test]
fn new_text_is_set_like_the_rest() {
    let text = "{\n\t\"model\": \"x\"\n}\n";
    let recipe = Recipe::new(
        Harness::Codex,
        Path::new("ralph-gate"),
        LoopDetection::Leave,
    )
    .unwrap();
    assert_eq!(
        insert::insert(text, &recipe).unwrap(),
        "{\n\t\"model\": \"x\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\
         \t\t\t\t\t\t\"type\": \"command\",\n\t\t\t\t\t\t\"command\": \"ralph-gate hook codex\",\n\
         \t\t\t\t\t\t\"timeout\": 600\n\
         \t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}\n"
    );
    assert_eq!(
        insert::insert("{\"hooks\":{\"Stop\":[{\"hooks\":[]}]}}", &recipe).unwrap(),
        "{\"hooks\":{\"Stop\":[{\"hooks\":[]},{\"hooks\":[{\"type\":\"command\",\
         \"command\":\"ralph-gate hook codex\",\"timeout\":600}]}]}}"
    );
}

#[test]
fn an_empty_container_that_was_there_stays_as_it_was_and_one_of_ours_goes() {
    for text in [
        "{}",
        "{ }",
        "{\n}",
        "{\n\n}\n",
        "{\t}\r\n",
        "\u{feff}{}",
        " {}",
        "{\"hooks\":{}}",
        "{\"hooks\": { } }",
        "{\n  \"hooks\": {\n  }\n}\n",
        "{\n  \"hooks\": {}\n}\n",
        "{\"hooks\":{\"Stop\":[]}}",
        "{\n  \"hooks\": {\n    \"Stop\": [\n    ],\n    \"PreCompact\": [ ]\n  }\n}",
        "{\"env\":{}}",
        "{\"env\":{\r\n}}",
        "{\"env\":{\"A\":\"1\"},\"hooks\":{\"Other\":[]}}",
    ] {
        assert_eq!(there_and_back(Harness::ClaudeCode, text, |text| text), text);
    }
}

#[test]
fn other_hooks_around_ours_stay() {
    let text = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": []}\n    ]\n  }\n}\n";
    let edit = |text: String| {
        text.replacen("\"Stop\": [", "\"Stop\": [\n      {\"hooks\": [1]},", 1)
            .replacen("\n    ]", ",\n      {\"hooks\": [2]}\n    ]", 1)
    };
    let left = there_and_back(Harness::Codex, text, edit);
    assert_eq!(
        left,
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [1]},\n      {\"hooks\": []},\n      {\"hooks\": [2]}\n    ]\n  }\n}\n"
    );
}

#[test]
fn a_list_that_was_empty_and_is_no_longer_keeps_nothing_of_ours() {
    for text in [
        "{\"hooks\": {\"Stop\": []}}",
        "{\"hooks\": {\"Stop\": [\n]}}",
    ] {
        let with = installed(text, Harness::Codex);
        let end = with.rfind(']').unwrap();
        let end = with[..end].trim_end().len();
        let with = format!("{},7{}", &with[..end], &with[end..]);
        let left = uninstalled(&with, Harness::Codex);
        assert!(!left.contains("[ "), "{left}");
        assert_eq!(parsed(&left), parsed("{\"hooks\": {\"Stop\": [7]}}"));
    }
}

#[test]
fn a_file_that_is_not_laid_out_like_ours_is_emptied_and_not_removed() {
    let with = installed("{\"a\":1}", Harness::Codex);
    let with = with.replacen("\"a\":1,", "", 1);
    assert_eq!(uninstalled(&with, Harness::Codex), "{}");
}

#[test]
fn a_hook_that_was_added_to_our_group_stays_and_a_matcher_goes_with_it() {
    let with = installed("{}", Harness::Codex);
    let joined = with.replacen(
        "{\n            \"type\"",
        "{\"command\": \"mine\"},\n          {\n            \"type\"",
        1,
    );
    assert_ne!(joined, with);
    let left = uninstalled(&joined, Harness::Codex);
    assert_eq!(
        parsed(&left),
        parsed(r#"{"hooks":{"Stop":[{"hooks":[{"command":"mine"}]}]}}"#)
    );
    let matched = with.replacen(
        "\"hooks\": [",
        "\"matcher\": \"*\",\n        \"hooks\": [",
        1,
    );
    assert_ne!(matched, with);
    assert_eq!(uninstalled(&matched, Harness::Codex), "{}");
}

#[test]
fn ours_are_found_after_the_client_wrote_its_settings_anew() {
    for harness in JSON {
        let text = "{\"mine\": [1, 2], \"env\": {\"A\": \"b\"}, \"model\": {\"name\": \"x\"}}";
        let again = |text: String| serde_json::to_string_pretty(&parsed(&text)).unwrap();
        assert_eq!(
            parsed(&there_and_back(harness, text, again)),
            parsed(text),
            "{harness}"
        );
    }
}

#[test]
fn a_setting_that_the_person_gave_is_neither_changed_nor_taken_out() {
    for (harness, text) in [
        (
            Harness::ClaudeCode,
            "{\"env\": {\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"0\"}}",
        ),
        (
            Harness::ClaudeCode,
            "{\"env\": {\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"20\"}}",
        ),
        (
            Harness::Gemini,
            "{\"model\": {\"disableLoopDetection\": true}}",
        ),
        (
            Harness::Gemini,
            "{\"model\": {\"disableLoopDetection\": false}}",
        ),
        (Harness::Cursor, "{\"version\": 1}"),
    ] {
        let again = |text: String| serde_json::to_string_pretty(&parsed(&text)).unwrap();
        assert_eq!(there_and_back(harness, text, |text| text), text);
        assert_eq!(parsed(&there_and_back(harness, text, again)), parsed(text));
    }
}

#[test]
fn a_setting_of_ours_that_was_changed_since_is_kept() {
    let edit = |text: String| text.replace("\"0\"", "\"20\"");
    let left = there_and_back(Harness::ClaudeCode, "{\"a\":1}", edit);
    assert_eq!(
        left,
        "{\"a\":1,\"env\":{\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\":\"20\"}}"
    );
}

#[test]
fn ours_are_found_whatever_their_path_and_limit_and_nothing_else_is() {
    let ours = [
        r#"{"command":"/a b/ralph-gate","args":["hook","claude-code"]}"#,
        r#"{"type":"command","command":"'/a b/ralph-gate' hook claude-code","timeout":5,"x":1}"#,
        r#"{"type":"command","command":"\"$CLAUDE_PROJECT_DIR\"/ralph-gate hook claude-code"}"#,
        r#"{"type":"comm\u0061nd","command":"ralph-gate","args":["ho\u006fk","claude-code"]}"#,
    ];
    let others = [
        r#"{"command":"ralph-gate","args":["hook","codex"]}"#,
        r#"{"command":"ralph-gate","args":["hook","claude-code","--x"]}"#,
        r#"{"command":"ralph-gate hook claude-code; rm x"}"#,
        r#"{"command":"ralph-gate-2 hook claude-code"}"#,
        r#"{"type":"prompt","command":"ralph-gate hook claude-code"}"#,
        r#"{"command":["ralph-gate hook claude-code"]}"#,
        r#""ralph-gate hook claude-code""#,
    ];
    let text = |entry: &str| format!(r#"{{"a":1,"hooks":{{"Stop":[{{"hooks":[{entry}]}}]}}}}"#);
    for entry in ours {
        assert_eq!(
            uninstalled(&text(entry), Harness::ClaudeCode),
            "{\"a\":1}",
            "{entry}"
        );
    }
    for entry in others {
        assert_eq!(uninstalled(&text(entry), Harness::ClaudeCode), text(entry));
    }
}

#[test]
fn a_file_full_of_ours_is_emptied_in_linear_time() {
    let entry = r#"{"command":"ralph-gate hook cursor"}"#;
    let many = vec![entry; 50_000].join(",");
    let text = format!(r#"{{"a":1,"hooks":{{"stop":[{many},1,{many}]}}}}"#);
    assert_eq!(
        uninstalled(&text, Harness::Cursor),
        r#"{"a":1,"hooks":{"stop":[1]}}"#
    );
}

#[test]
fn a_fault_is_told_with_its_place_and_what_to_paste() {
    let twice = "{\"hooks\": {},\n \"\\u0068ooks\": {}}";
    for (text, line, column, part) in [
        ("{\n  // mine\n}", 2, 3, "there is a comment"),
        ("{\n  \"a\": 1,\n}", 2, 9, "a comma with nothing behind it"),
        ("{\"a\": }", 1, 7, "a value is expected"),
        ("", 1, 1, "it is empty"),
        ("[]", 1, 1, "the file holds a list instead of an object"),
        (
            "{\"hooks\": []}",
            1,
            11,
            "`hooks` is a list instead of an object",
        ),
        (
            "{\"hooks\": {\"Stop\": {}}}",
            1,
            20,
            "`hooks.Stop` is an object instead of a list",
        ),
        (
            "{\"hooks\": {\"Stop\": null}}",
            1,
            20,
            "`hooks.Stop` is a single value instead of a list",
        ),
        (
            "{\"env\": \"x\"}",
            1,
            9,
            "`env` is a text instead of an object",
        ),
        (twice, 2, 2, "`hooks` is there twice"),
    ] {
        let ground = Ground::new();
        ground.write(Harness::ClaudeCode, text);
        let before = ground.everything();
        let error = ground.refusal(Harness::ClaudeCode);
        let said = error.to_string();
        let place = format!(".claude/settings.json:{line}:{column}: ");
        assert!(said.contains(&place) && said.contains(part), "{said}");
        let help = error.help();
        let snippet = help.split_once(":\n").unwrap().1;
        assert_eq!(parsed(snippet), expected(parsed("{}"), Harness::ClaudeCode));
        assert_eq!(ground.everything(), before);
    }
}

#[test]
fn bytes_that_are_no_text_are_a_fault_at_their_place() {
    let ground = Ground::new();
    ground.write(Harness::Codex, "");
    fs::write(ground.file(Harness::Codex), b"{\n\"\xff\"}").unwrap();
    let said = ground.refusal(Harness::Codex).to_string();
    assert!(
        said.ends_with("hooks.json:2:2: it is not UTF-8 text"),
        "{said}"
    );
}

#[test]
fn uninstalling_from_what_is_not_json_is_refused_and_tells_how_to_do_it_by_hand() {
    let ground = Ground::new();
    ground.write(Harness::Gemini, "{\"a\": 1,}");
    let error = ground.plan(Harness::Gemini, Action::Uninstall).unwrap_err();
    assert!(error.help().contains("`ralph-gate hook gemini`"));
    assert_eq!(error.code(), "invalid_settings");
}
