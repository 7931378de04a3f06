//! Every other command: what a person sees, what `--json` gives, and the exit code.

use serde_json::json;

use crate::harness::{Files, command, run, run_with};

pub(crate) const COMMANDS: [&[&str]; 50] = [
    &["run"],
    &["init"],
    &["hook"],
    &["uninstall"],
    &["doctor"],
    &["loop"],
    &["loop", "start"],
    &["loop", "status"],
    &["loop", "cancel"],
    &["status"],
    &["cancel"],
    &["override"],
    &["logs"],
    &["replay"],
    &["what-if"],
    &["report"],
    &["evaluate"],
    &["contract"],
    &["contract", "check"],
    &["route"],
    &["import"],
    &["audit"],
    &["experiment"],
    &["export-otlp"],
    &["promise"],
    &["fingerprint"],
    &["signal"],
    &["memory"],
    &["memory", "list"],
    &["memory", "show"],
    &["memory", "verify"],
    &["memory", "repair"],
    &["memory", "export"],
    &["memory", "import"],
    &["schema"],
    &["version"],
    &["component"],
    &["completions"],
    &["man"],
    &["sessions"],
    &["config"],
    &["config", "check"],
    &["serve"],
    &["policy"],
    &["policy", "new"],
    &["policy", "inspect"],
    &["policy", "pin"],
    &["policy", "run"],
    &["policy", "test"],
    &["policy", "bench"],
];

#[test]
fn every_command_explains_itself_with_an_example() {
    for command in COMMANDS {
        let run = run(&[command, &["--help"]].concat());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{command:?}");
        assert!(run.stdout.contains("Usage: ralph-gate"), "{command:?}");
        assert!(run.stdout.contains("Example"), "{command:?}");
    }
}

#[test]
fn help_lists_every_command() {
    let help = run(&["--help"]).stdout;
    for command in COMMANDS {
        assert!(help.contains(command[0]), "{command:?} is missing");
    }
}

#[test]
fn wrong_arguments_end_with_one_because_two_means_continue() {
    for arguments in [
        &[][..],
        &["evaluat"],
        &["evaluate", "--nope"],
        &["promise", "--rules", "loose"],
    ] {
        let run = run(arguments);
        assert_eq!(run.code, 1, "{arguments:?}");
        assert_eq!(run.stdout, "", "{arguments:?}");
        assert!(
            run.stderr.contains("Usage") || run.stderr.contains("--help"),
            "{run:?}"
        );
    }
}

#[test]
fn a_forgotten_dash_is_put_before_the_agent_and_not_before_a_value_of_that_name() {
    for (words, tip) in [
        (
            &["run", "--prompt", "claude", "claude", "-p"][..],
            "run --prompt claude -- claude -p",
        ),
        (
            &["-C", "run", "run", "--plain", "claude"],
            "-C run run --plain -- claude",
        ),
        (
            &["run", "--prompt=claude", "claude"],
            "run --prompt=claude -- claude",
        ),
    ] {
        let said = run(words);
        assert_eq!(said.code, 1, "{said:?}");
        let tip = format!("put `--` before the agent: ralph-gate {tip}\n");
        assert!(said.stderr.contains(&tip), "{said:?}");
    }
}

#[test]
fn wrong_arguments_are_json_when_json_was_asked_for() {
    let run = run(&["promise", "--rules", "loose", "--json"]);
    assert_eq!(run.error_code(), "usage");
    assert_eq!(run.stderr, "");
}

#[test]
fn version_names_the_gate() {
    let json = run(&["version", "--json"]).json();
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    let digest = json["gate"]["digest"].as_str().unwrap();
    assert!(
        digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{digest}"
    );
    assert!(json["gate"]["size"].as_u64().unwrap() > 0);

    let text = run(&["version"]).stdout;
    assert!(text.contains(digest), "{text}");
    let short = run(&["--version"]);
    assert_eq!(short.code, 0);
    assert_eq!(
        short.stdout,
        concat!("ralph-gate ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn component_writes_the_bytes_that_version_names() {
    let output = command(&["component"]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, ralph_gate::engine::COMPONENT);
    let version = run(&["version", "--json"]).json();
    assert_eq!(version["gate"]["size"], output.stdout.len());
    assert_eq!(
        version["gate"]["digest"],
        blake3::hash(&output.stdout).to_hex().as_str()
    );
}

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = run(&["completions", shell]);
        assert_eq!(run.code, 0);
        assert!(
            run.stdout.contains("ralph-gate") && run.stdout.contains("evaluate"),
            "{shell}"
        );
    }
}

#[test]
fn a_valid_contract_is_valid_in_every_format() {
    let files = Files::new();
    for (name, text) in [
        (
            "c.json",
            r#"{"mode": "ralph", "completion_checks": ["tests_green"]}"#,
        ),
        ("c.yaml", "mode: ralph\ncompletion_checks: [tests_green]\n"),
        ("c.yml", "mode: ralph\ncompletion_checks: [tests_green]\n"),
        (
            "c.toml",
            "mode = 'ralph'\ncompletion_checks = ['tests_green']\n",
        ),
    ] {
        let run = run(&["contract", "check", &files.write(name, text)]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{name}: {run:?}");
        assert!(run.stdout.contains("contract is valid"), "{name}: {run:?}");
        assert!(run.stdout.contains("digest "), "{name}: {run:?}");
    }
}

#[test]
fn the_same_contract_has_the_same_digest_in_every_format() {
    let json = run_with(
        &["contract", "check", "--json"],
        br#"{"mode": "ralph", "completion_checks": ["tests_green"]}"#,
    );
    let toml = run_with(
        &["contract", "check", "--json", "--format", "toml"],
        b"mode = 'ralph'\ncompletion_checks = ['tests_green']\n",
    );
    assert!(json.json()["digest"].is_string());
    assert_eq!(json.json()["digest"], toml.json()["digest"]);
}

#[test]
fn every_problem_of_a_contract_is_a_line_with_its_place() {
    let files = Files::new();
    let file = files.write(
        "contract.yaml",
        "mode: ralph\ncompletion_checks: [tests_green]\nloop_max_iter: 5\nno_progress_limit: many\n",
    );
    let run = run(&["contract", "check", &file]);
    assert_eq!(run.code, 1);
    assert!(
        run.stdout.contains(&format!("{file}:3:1: error: ")),
        "{run:?}"
    );
    assert!(
        run.stdout
            .contains(&format!("{file}:4:20: error: no_progress_limit: ")),
        "{run:?}"
    );
    assert!(
        run.stdout.contains("  help: did you mean `loop_max_iters`"),
        "{run:?}"
    );
    assert!(
        run.stdout.contains("contract is not valid: 2 problems"),
        "{run:?}"
    );
}

#[test]
fn a_contract_with_a_problem_is_reported_as_json_too() {
    let run = run_with(
        &["contract", "check", "--json"],
        b"mode: ralph\nloop_max_iter: 5\n",
    );
    assert_eq!(run.code, 1);
    let report = run.json();
    assert_eq!(report["valid"], false);
    assert!(!report["problems"].as_array().unwrap().is_empty());
}

#[test]
fn a_weak_contract_is_valid_with_warnings() {
    let run = run_with(
        &["contract", "check"],
        b"mode: ralph\ncompletion_token: DONE\n",
    );
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("standard input"), "{run:?}");
    assert!(run.stdout.contains("warning: "), "{run:?}");
}

#[test]
fn the_format_on_the_command_line_outweighs_the_extension() {
    let files = Files::new();
    let file = files.write(
        "contract.json",
        "mode = 'ralph'\ncompletion_checks = ['tests_green']\n",
    );
    assert_eq!(run(&["contract", "check", &file]).code, 1);
    assert_eq!(
        run(&["contract", "check", "--format", "toml", &file]).code,
        0
    );
}

#[test]
fn routing_says_where_and_why() {
    let files = Files::new();
    let request = files.write(
        "request.yaml",
        "mode: ralph\ncompletion_checks: [tests_green]\n",
    );
    let text = run(&["route", &request]);
    assert_eq!(text.code, 0, "{text:?}");
    assert!(text.stdout.contains("mode         ralph"), "{text:?}");
    assert_eq!(
        run(&["route", "--json", &request]).json()["reason"],
        "requested"
    );
}

#[test]
fn a_routing_policy_is_read_from_a_file() {
    let files = Files::new();
    let request = files.write(
        "request.yaml",
        "mode: ralph\ncompletion_checks: [tests_green]\n",
    );
    let policy = files.write("routing.toml", "ralph_enabled = false\n");
    let json = run(&["route", &request, "--policy", &policy, "--json"]).json();
    assert_eq!(
        (&json["mode"], &json["reason"]),
        (&json!("standard"), &json!("disabled"))
    );
}

#[test]
fn an_error_names_the_file_that_it_is_in() {
    let files = Files::new();
    let request = files.write(
        "request.yaml",
        "mode: ralph\ncompletion_checks: [tests_green]\n",
    );
    let bad_request = files.write("bad_request.yaml", "mode: ralph\nno_such_field: 1\n");
    let policy = files.write("policy.json", "{}");
    let bad_policy = files.write("bad_policy.yaml", "ralph_enabled: true\nno_such_field: 1\n");
    for (request, policy, culprit) in [
        (&request, &bad_policy, &bad_policy),
        (&bad_request, &policy, &bad_request),
        (&bad_request, &bad_policy, &bad_policy),
    ] {
        let run = run(&["route", request, "--policy", policy]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""));
        assert!(
            run.stderr.starts_with(&format!("{culprit}:2:1: error: ")),
            "{run:?}"
        );
    }
}

#[test]
fn request_and_policy_do_not_share_standard_input() {
    let run = run_with(&["route", "-", "--policy", "-"], b"{}");
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.contains("can't both come from standard input"),
        "{run:?}"
    );
}

#[test]
fn promises_are_listed_with_their_offset_and_why() {
    let output = b"```\n<promise>NO</promise>\n```\nDone.\n<promise>DONE</promise>\n";
    let text = run_with(&["promise"], output);
    assert_eq!((text.code, text.stderr.as_str()), (0, ""));
    assert!(text.stdout.starts_with("accepted: DONE\n"), "{text:?}");
    assert!(text.stdout.contains("byte 4: in_fenced_code: "), "{text:?}");
    assert!(text.stdout.contains("byte 36: accepted: "), "{text:?}");
    let json = run_with(&["promise", "--json"], output).json();
    assert_eq!(
        (&json["accepted"], &json["found"]),
        (&json!("DONE"), &json!(2))
    );
}

#[test]
fn lenient_rules_take_the_first_promise() {
    let output = b"```\n<promise>NO</promise>\n```\nDone.\n<promise>DONE</promise>\n";
    let json = run_with(&["promise", "--rules", "lenient", "--json"], output).json();
    assert_eq!(json["accepted"], "NO");
}

#[test]
fn no_promise_is_no_error() {
    let run = run_with(&["promise"], b"done");
    assert_eq!(run.code, 0);
    assert!(run.stdout.starts_with("accepted: none\n"), "{run:?}");
}

#[test]
fn a_fingerprint_ignores_layout_and_keeps_content() {
    let fingerprint = |content: &str| {
        let iteration = json!({
            "index": 1, "action": "final",
            "artifacts": [{ "name": "a.yaml", "kind": "yaml", "content": content }],
        });
        let run = run_with(&["fingerprint", "--json"], iteration.to_string().as_bytes());
        assert_eq!(run.code, 0, "{run:?}");
        run.json()["digest"].clone()
    };
    assert_eq!(
        fingerprint("a: 1\nb: 2\n"),
        fingerprint("b:   2 # two\na: 1\n")
    );
    assert_ne!(fingerprint("a: 1\n"), fingerprint("a: 2\n"));
}

#[test]
fn a_fingerprint_lists_its_parts() {
    let run = run_with(
        &["fingerprint"],
        br#"{"index": 1, "action": "final", "artifacts": [{"name": "tree", "kind": "digest", "content": "abc"}]}"#,
    );
    assert_eq!(run.code, 0);
    assert!(run.stdout.starts_with("fingerprint  "), "{run:?}");
    assert!(run.stdout.contains("artifact:tree"), "{run:?}");
}

#[test]
fn the_place_of_a_problem_is_that_in_the_file() {
    let files = Files::new();
    for (text, place) in [
        (r#"{"index": 1, "action": "finish"}"#, "1:24"),
        ("\n{\"index\": 1,\n \"action\": \"finish\"}", "3:12"),
    ] {
        let file = files.write("iteration.json", text);
        let run = run(&["fingerprint", &file]);
        assert_eq!(run.code, 1);
        assert!(
            run.stderr.starts_with(&format!("{file}:{place}: error: ")),
            "{run:?}"
        );
    }
}

#[test]
fn a_signal_comes_from_states_as_json() {
    let states =
        br#"{"issues": [{"id": "1", "status": "proposed"}, {"id": "2", "status": "done"}]}"#;
    let text = run_with(&["signal"], states);
    assert_eq!(text.code, 0, "{text:?}");
    assert!(text.stdout.starts_with("LOOP_CONTINUE\n"), "{text:?}");
    assert!(text.stdout.contains("selectable: 1"), "{text:?}");
    let files = Files::new();
    let file = files.write("states.json", states);
    assert_eq!(
        run(&["signal", "--json", &file]).json()["signal"],
        "LOOP_CONTINUE"
    );
}

#[test]
fn a_signal_comes_from_issue_files() {
    let files = Files::new();
    let one = files.write("1.md", "---\nid: one\nstatus: done\n---\n# One\n");
    let two = files.write("2.md", "---\nid: two\nstatus: proposed\n---\n# Two\n");
    let all = run(&["signal", "--json", &one, &two]);
    assert_eq!(all.code, 0, "{all:?}");
    assert_eq!(all.json()["selectable"], json!(["two"]));
    assert_eq!(
        run(&["signal", "--json", &one]).json()["signal"],
        "LOOP_DONE"
    );
}

#[test]
fn issue_files_and_json_do_not_mix() {
    let files = Files::new();
    let run = run(&[
        "signal",
        &files.write("1.md", ""),
        &files.write("states.json", "{}"),
    ]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(
        run.stderr.contains("states.json is not an issue file"),
        "{run:?}"
    );
}
