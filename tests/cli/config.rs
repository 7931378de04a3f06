//! What is wrong with arguments, configurations and contracts, and where.

use crate::harness::{Files, run, run_with};

#[test]
fn a_forgotten_double_dash_gets_the_command_as_it_was_meant() {
    let said = run(&[
        "run",
        "--check",
        "pytest -q",
        "--max-iters",
        "5",
        "claude",
        "-p",
    ]);
    assert_eq!(said.code, 1);
    let tip = "tip: put `--` before the agent: ralph-gate run --check 'pytest -q' --max-iters 5 -- claude -p";
    assert!(said.stderr.contains(tip), "{said:?}");
    let said = run(&["run", "--json", "claude"]);
    assert_eq!(said.error_code(), "usage");
    assert!(
        said.stdout.contains("ralph-gate run --json -- claude"),
        "{said:?}"
    );
}

#[test]
fn a_misspelt_option_is_not_taken_for_the_agent() {
    let said = run(&["run", "--promt", "x", "--", "claude"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("'--prompt'"), "{said:?}");
    assert!(!said.stderr.contains("before the agent"), "{said:?}");
}

#[test]
fn a_check_that_needs_a_shell_is_refused_with_the_remedy() {
    let said = run(&["run", "--check", "make && make test", "--", "claude"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("`&` needs a shell"), "{said:?}");
    assert!(said.stderr.contains("sh -c"), "{said:?}");
}

const GOOD: &str = "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"tests\"]\n\n[checks.tests]\nargv = [\"make\"]\n";

#[test]
fn config_check_says_that_a_configuration_is_valid_and_what_is_in_it() {
    let files = Files::new();
    let file = files.write("ralph-gate.toml", GOOD);
    let said = run(&["config", "check", &file]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stdout
            .contains("is valid, mode ralph, 1 check required"),
        "{said:?}"
    );
    let answer = run(&["config", "check", "--json", &file]).json();
    assert_eq!(answer["valid"], true);
    assert_eq!(answer["checks"][0]["id"], "tests");
    assert_eq!(answer["checks"][0]["required"], true);
    let here = run(&["-C", &files.folder(), "config", "check"]);
    assert_eq!(here.code, 0, "{here:?}");
}

#[test]
fn config_check_says_the_mode_in_which_run_would_start_and_counts_all_warnings() {
    let files = Files::new();
    let text = "[contract]\ncompletion_checks = [\"tests\"]\n\n[checks.tests]\nkind = \"tests_green\"\nargv = [\"make\"]\n";
    let file = files.write("ralph-gate.toml", text);
    let said = run(&["config", "check", &file]);
    assert_eq!(said.code, 0, "{said:?}");
    let summary = "is valid, mode ralph, 1 check required, 1 warning\n";
    assert!(said.stdout.contains(summary), "{said:?}");
    assert!(said.stdout.contains("no file is protected"), "{said:?}");
    let answer = run(&["config", "check", "--json", &file]).json();
    assert_eq!(answer["mode"], "ralph");
    assert_eq!(answer["checks"][0]["required"], true);
    // What is written applies.
    let standard = text.replace("[contract]\n", "[contract]\nmode = \"standard\"\n");
    let file = files.write("ralph-gate.toml", &standard);
    let answer = run(&["config", "check", "--json", &file]).json();
    assert_eq!(answer["mode"], "standard");
}

#[test]
fn config_check_shows_every_problem_with_its_line_and_a_caret() {
    let files = Files::new();
    let text = "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"tests\"]\n\n[checks.tests]\nargw = [\"make\"]\n";
    let file = files.write("ralph-gate.toml", text);
    let said = run(&["config", "check", &file]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.stdout
            .contains(":6:1: error: checks.tests.argw: unknown field"),
        "{said:?}"
    );
    assert!(
        said.stdout
            .contains("   6 | argw = [\"make\"]\n     | ^^^^\n"),
        "{said:?}"
    );
    let said = run(&["config", "check", "--json", &file]);
    let problems = said.json()["problems"].clone();
    let lines: Vec<_> = problems
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["line"].clone())
        .collect();
    // That there is no `argv` follows from the misspelled one.
    assert_eq!(lines, [6], "{problems:#}");
}

/// What `config check` reports about a text with `--json`, as `LINE PATH` of each problem or warning.
fn found(files: &Files, text: &str, code: i32, list: &str) -> Vec<String> {
    let file = files.write("ralph-gate.toml", text);
    let said = run(&["config", "check", "--json", &file]);
    assert_eq!(said.code, code, "{text}{said:?}");
    let answer = said.json();
    assert_eq!(answer["valid"], code == 0, "{answer:#}");
    let found = answer[list].as_array().unwrap().iter();
    found
        .map(|it| format!("{} {}", it["line"], it["path"].as_str().unwrap()))
        .collect()
}

#[test]
fn config_check_refuses_a_configuration_for_which_run_has_nothing_to_ask() {
    let files = Files::new();
    assert_eq!(found(&files, "", 1, "problems"), ["1 "]);
    assert_eq!(found(&files, "[agent]\n", 1, "problems"), ["1 "]);
    let named_nowhere = "\n[checks.tests]\nargv = [\"true\"]\n";
    assert_eq!(found(&files, named_nowhere, 1, "problems"), ["2 checks"]);
    let contract = format!("{named_nowhere}[contract]\nloop_max_iters = 3\n");
    assert_eq!(found(&files, &contract, 1, "problems"), ["4 contract"]);
    let file = files.write("ralph-gate.toml", "");
    let said = run(&["config", "check", &file]);
    assert!(said.stdout.contains("nothing must hold"), "{said:?}");
    assert!(said.stdout.contains("can't work here"), "{said:?}");
}

#[test]
fn config_check_reports_what_run_would_be_refused_for_at_its_place() {
    let files = Files::new();
    let text = "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"tests\", \"report\"]\n\
        [checks.tests]\nargv = [\"no-such-runner\"]\n\
        [checks.report]\nkind = \"file\"\npath = \"../x\"\n\
        [agent]\nargv = [\"no-such-agent\"]\nprompt_file = \"no-such-task.md\"\n\
        [memory]\nprd = \"no-such-prd.json\"\nprogress = \"no-such-progress.txt\"\n";
    let expected = [
        "5 checks.tests.argv",
        "8 checks.report.path",
        "10 agent.argv",
        "11 agent.prompt_file",
        "13 memory.prd",
        "14 memory.progress",
    ];
    assert_eq!(found(&files, text, 1, "problems"), expected);
    let said = run(&["config", "check", &files.write("ralph-gate.toml", text)]);
    assert!(
        said.stdout.contains(":5:8: error: checks.tests.argv: "),
        "{said:?}"
    );
    assert!(
        said.stdout.contains("   5 | argv = [\"no-such-runner\"]"),
        "{said:?}"
    );
}

#[test]
fn config_check_runs_nothing_and_creates_nothing() {
    let files = Files::new();
    let check = files.write("check.sh", "touch ran\n");
    let text = format!(
        "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"tests\"]\n[checks.tests]\nargv = [\"sh\", \"{check}\"]\n\
         [agent]\nargv = [\"sh\", \"{check}\"]\n"
    );
    assert_eq!(found(&files, &text, 0, "problems"), [""; 0]);
    let left = std::fs::read_dir(files.folder()).unwrap();
    let mut names: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["check.sh", "ralph-gate.toml"]);
}

#[test]
fn a_pattern_that_can_not_be_used_is_a_problem_at_its_place() {
    let files = Files::new();
    for pattern in ["[bad", "", "../x"] {
        let text = format!("{GOOD}[tripwires]\nfrozen = [\"tests/\", \"{pattern}\"]\n");
        let problems = found(&files, &text, 1, "problems");
        assert_eq!(problems, ["8 tripwires.frozen[1]"], "{pattern}");
        let text = text.replace("frozen", "protected_paths");
        let problems = found(&files, &text, 1, "problems");
        assert_eq!(problems, ["8 tripwires.protected_paths[1]"], "{pattern}");
    }
}

#[test]
fn config_check_warns_of_tests_that_no_pattern_protects() {
    let files = Files::new();
    let text = GOOD.replace("argv", "kind = \"tests_green\"\nargv");
    let weak = format!("{text}[tripwires]\nfrozen = [\"tets/\"]\n");
    assert_eq!(
        found(&files, &weak, 0, "warnings"),
        ["5 checks.tests", "9 tripwires.frozen[0]"]
    );
    let said = run(&["config", "check", &files.write("ralph-gate.toml", &weak)]);
    assert!(said.stdout.contains("tets/ matches no file"), "{said:?}");
    assert!(
        said.stdout.contains("1 check required, 2 warnings"),
        "{said:?}"
    );
    files.write("work_test.py", "");
    let strong = weak.replace("tets/", "*_test.py");
    assert_eq!(found(&files, &strong, 0, "warnings"), [""; 0]);
}

#[test]
fn config_check_warns_of_a_budget_that_can_not_end_the_loop() {
    let files = Files::new();
    let text = GOOD.replace("[\"tests\"]\n", "[\"tests\"]\ncost_budget_usd = \"2\"\n");
    let blind = format!("{text}[agent]\nargv = [\"true\"]\n");
    let warnings = found(&files, &blind, 0, "warnings");
    assert_eq!(warnings, ["4 contract.cost_budget_usd"]);
}

#[test]
fn problems_of_the_contract_and_of_all_sections_are_reported_in_one_run() {
    let files = Files::new();
    let text = "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"tests\", \"lnt\"]\non_flaky = \"maybe\"\n\
        [checks.tests]\nargv = [\"make\"]\ntimeout = 5\n[agent]\nargv = []\n";
    let expected = [
        "3 contract.completion_checks[1]",
        "4 contract.on_flaky",
        "7 checks.tests.timeout",
        "9 agent.argv",
    ];
    assert_eq!(found(&files, text, 1, "problems"), expected);
    // As `run` does.
    let said = run(&["-C", &files.folder(), "run", "--json", "--", "true"]);
    assert_eq!(said.error_code(), "invalid_config");
    let problems = said.json()["error"]["problems"].clone();
    let paths = problems.as_array().unwrap().iter();
    let paths: Vec<_> = paths.map(|it| it["path"].as_str().unwrap()).collect();
    assert!(
        expected.iter().map(|it| &it[2..]).eq(paths.iter().copied()),
        "{paths:?}"
    );
}

#[test]
fn options_of_run_behind_a_forgotten_double_dash_are_put_before_it() {
    let said = run(&["run", "claude", "--max-iters", "3", "--prompt", "a b"]);
    assert_eq!(said.code, 1);
    let tip = "ralph-gate run --max-iters 3 --prompt 'a b' -- claude\n";
    assert!(said.stderr.contains(tip), "{said:?}");
    let said = run(&["run", "claude", "-p", "--json", "--model", "opus"]);
    let tip = "ralph-gate run --json -- claude -p --model opus";
    assert!(said.stdout.contains(tip), "{said:?}");
}

#[test]
fn a_negative_budget_is_refused_as_a_budget() {
    for budget in ["-1", "-0.5"] {
        let said = run(&["run", "--budget", budget, "--", "claude"]);
        assert_eq!(said.code, 1);
        assert_eq!(said.stderr.matches("negative").count(), 1, "{said:?}");
        assert!(!said.stderr.contains("as a value"), "{said:?}");
    }
    let said = run(&["run", "--max-iters", "-1", "--", "claude"]);
    assert!(said.stderr.contains("1..=10000"), "{said:?}");
    assert!(!said.stderr.contains("as a value"), "{said:?}");
}

#[test]
fn the_help_says_where_the_search_for_a_configuration_ends() {
    for command in [&["run", "--help"][..], &["config", "check", "--help"]] {
        let said = run(command);
        let words: Vec<&str> = said.stdout.split_whitespace().collect();
        let text = words.join(" ");
        assert!(text.contains("up to the root of the repository"), "{text}");
        assert!(text.contains("up to the home directory"), "{text}");
    }
}

#[test]
fn a_check_that_is_never_run_is_a_warning() {
    let files = Files::new();
    let file = files.write(
        "ralph-gate.toml",
        format!("{GOOD}\n[checks.lint]\nargv = [\"lint\"]\n"),
    );
    let said = run(&["config", "check", &file]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stdout.contains("warning: checks.lint: is never run"),
        "{said:?}"
    );
}

#[test]
fn a_script_of_a_check_that_the_agent_may_change_is_a_warning() {
    let files = Files::new();
    let script = files.write("check.sh", "#!/bin/sh\nexit 1\n");
    files.write("other.sh", "");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(script, executable).unwrap();
    let warned = |argv: &str, tripwires: &str| {
        let check = format!("{GOOD}\n[tripwires]\n{tripwires}\n").replace("[\"make\"]", argv);
        let file = files.write("ralph-gate.toml", check);
        let said = run(&["config", "check", &file]);
        assert_eq!(said.code, 0, "{said:?}");
        let warning = "the check tests runs check.sh, which the agent may change";
        let is_warned = said.stdout.contains(warning);
        assert_eq!(is_warned, said.stdout.contains("1 warning"), "{said:?}");
        is_warned
    };
    for argv in [
        "[\"./check.sh\"]",
        "[\"sh\", \"check.sh\"]",
        "[\"sh\", \"-c\", \"sh check.sh | cat\"]",
    ] {
        assert!(warned(argv, ""), "{argv}");
        assert!(!warned(argv, "protected_paths = [\"check.sh\"]"), "{argv}");
        assert!(!warned(argv, "frozen = [\"*.sh\"]"), "{argv}");
        // Whoever excepts it knows of it.
        let excepted = "frozen = [\"*.sh\", \"!check.sh\"]";
        assert!(!warned(argv, excepted), "{argv}");
    }
    assert!(!warned("[\"cat\", \"check.sh\"]", ""));
}

#[test]
fn contract_check_recognizes_a_configuration_and_checks_it() {
    let files = Files::new();
    let file = files.write("my.toml", GOOD);
    let said = run(&["contract", "check", &file]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stderr.contains("is a configuration, not a contract"),
        "{said:?}"
    );
    assert!(said.stdout.contains("configuration is valid"), "{said:?}");
    let piped = run_with(&["contract", "check", "--json"], GOOD.as_bytes());
    assert_eq!(piped.json()["valid"], true);
}

#[test]
fn an_error_of_a_contract_shows_its_line_and_a_caret() {
    let files = Files::new();
    let file = files.write(
        "contract.yaml",
        "mode: ralph\ncompletion_token: X\nloop_max_iter: 3\n",
    );
    let said = run(&["contract", "check", &file]);
    assert_eq!(said.code, 1);
    assert!(
        said.stdout
            .contains("   3 | loop_max_iter: 3\n     | ^^^^^^^^^^^^^\n"),
        "{said:?}"
    );
}

#[test]
fn an_error_of_the_configuration_of_a_loop_shows_its_line_and_a_caret() {
    let files = Files::new();
    files.write(
        "ralph-gate.toml",
        "[contract]\nmode = \"ralph\"\ncompletion_token = \"X\"\nloop_max_iters = 0\n",
    );
    let said = run(&["-C", &files.folder(), "run", "--prompt", "x", "--", "true"]);
    assert_eq!(said.code, 1);
    assert!(
        said.stderr.contains("   4 | loop_max_iters = 0\n"),
        "{said:?}"
    );
    assert!(said.stderr.contains('^'), "{said:?}");
}
