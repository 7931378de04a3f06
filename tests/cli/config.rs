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
    assert_eq!(lines, [5, 6], "{problems:#}");
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
    files.write("check.sh", "exit 1\n");
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
