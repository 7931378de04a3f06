//! Configurations as people write them, with every mistake at its place.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use super::*;
use crate::engine::{GateEngine, Mode, Problem};
use crate::memory::SessionKey;

static GATE: LazyLock<GateEngine> = LazyLock::new(|| GateEngine::new().unwrap());

const WHOLE: &str = r#"
[contract]
mode = "ralph"
completion_checks = ["tests", { id = "lint", required = false }]
loop_max_iters = 7

[checks.tests]
kind = "tests_green"
argv = ["cargo", "test"]
format = "cargo"
timeout_ms = 1000

[checks.lint]
shell = "cargo clippy | tee log"
env = { A = "1", PORT = 80 }

[agent]
argv = ["claude", "-p"]
adapter = "claude"
prompt = "do it"

[memory]
session_key = "night"

[profiles.careful]
no_progress_limit = 2

[tripwires]
protected_paths = ["tests/**"]
"#;

fn read(text: &str) -> Result<Config, ConfigError> {
    Config::read(Path::new("dir/ralph-gate.toml"), text)
}

fn problems(error: ConfigError) -> Vec<Problem> {
    match error {
        ConfigError::Invalid { problems, .. } => problems,
        error => panic!("{error:?}"),
    }
}

fn places(error: ConfigError) -> Vec<(u32, u32, String)> {
    let place = |problem: Problem| (problem.line, problem.column, problem.path);
    problems(error).into_iter().map(place).collect()
}

#[test]
fn a_whole_configuration_is_read() {
    let config = read(WHOLE).unwrap();
    assert_eq!(config.workspace, Path::new("dir"));
    assert_eq!(config.agent.argv, ["claude", "-p"]);
    assert_eq!(config.tripwires.protected_paths, ["tests/**"]);
    let Check::Command { program } = &config.checks["lint"] else {
        panic!("{:?}", config.checks["lint"]);
    };
    assert_eq!(program.argv, ["sh", "-c", "cargo clippy | tee log"]);
    assert_eq!(program.env["PORT"], "80");
    let task = config.route(&GATE, None).unwrap();
    assert_eq!(task.routing.mode, Mode::Ralph);
    assert_eq!(task.key, Some(SessionKey::Session("night".into())));
    let terms = task.terms().unwrap();
    assert_eq!(terms.loop_max_iters, 7);
    let named: Vec<(&str, bool)> = terms
        .completion_checks
        .iter()
        .map(|check| (check.id.as_str(), check.required))
        .collect();
    assert_eq!(named, [("tests", true), ("lint", false)]);
}

#[test]
fn the_same_in_yaml_and_json_means_the_same() {
    let yaml =
        "contract: {mode: ralph, completion_checks: [t]}\nchecks:\n  t: {argv: [make, test]}\n";
    let json = r#"{"contract": {"mode": "ralph", "completion_checks": ["t"]}, "checks": {"t": {"argv": ["make", "test"]}}}"#;
    let toml = "contract = {mode = \"ralph\", completion_checks = [\"t\"]}\n[checks.t]\nargv = [\"make\", \"test\"]\n";
    let digest = |name: &str, text: &str| {
        let config = Config::read(Path::new(name), text).unwrap();
        (
            config.route(&GATE, None).unwrap().routing.digest,
            config.rules_digest(),
        )
    };
    let expected = digest("c.toml", toml);
    assert!(expected.0.is_some());
    assert_eq!(digest("c.yaml", yaml), expected);
    assert_eq!(digest("c.json", json), expected);
}

#[test]
fn every_mistake_of_the_hosts_own_sections_is_reported_at_its_place() {
    let error = read(
        "[contrat]\n[checks.a]\nkind = \"comand\"\n[checks.b]\nargv = [1]\ntimeout_ms = 0\n[checks.c]\nkind = \"git\"\n\
         [agent]\nargs = []\n[memory]\nroot = 3\n",
    )
    .unwrap_err();
    let found = places(error);
    let paths: Vec<&str> = found.iter().map(|(_, _, path)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "contrat",
            "checks.a",
            "checks.a.kind",
            "checks.b.argv[0]",
            "checks.b.timeout_ms",
            "checks.c",
            "agent.args",
            "memory.root"
        ]
    );
    assert!(
        found
            .iter()
            .all(|(line, column, _)| *line > 0 && *column > 0)
    );
}

#[test]
fn mistakes_that_the_gate_finds_are_reported_at_their_place_in_the_file() {
    let text = "[contract]\nmode = \"ralph\"\nloop_max_iter = 3\ncompletion_checks = [\"t\", \"t\"]\n[checks.t]\nargv = [\"x\"]\n\
                [profiles.p]\nplateau_limit = -1\n";
    let error = read(text).unwrap().route(&GATE, None).unwrap_err();
    let found = places(error);
    assert!(
        found.contains(&(8, 17, "profiles.p.plateau_limit".into())),
        "{found:?}"
    );
    let text = text.replace("plateau_limit = -1\n", "");
    let error = read(&text).unwrap().route(&GATE, None).unwrap_err();
    let found = places(error);
    assert!(
        found.contains(&(3, 1, "contract.loop_max_iter".into())),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .any(|(line, _, path)| *line == 4 && path.starts_with("contract.completion_checks[1]")),
        "{found:?}"
    );
}

/// The paths of every problem, in their order.
fn all_paths(text: &str) -> Vec<String> {
    let draft = ConfigDraft::read(Path::new("dir/ralph-gate.toml"), text).unwrap();
    let found = places(draft.route_loop(&GATE, None).unwrap_err());
    assert!(found.iter().all(|(line, ..)| *line > 0), "{found:?}");
    assert!(
        found.is_sorted_by_key(|(line, column, _)| (*line, *column)),
        "{found:?}"
    );
    found.into_iter().map(|(_, _, path)| path).collect()
}

#[test]
fn problems_of_the_contract_and_of_all_sections_are_reported_at_once_in_their_order() {
    let text = "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"tests\", \"lnt\"]\non_flaky = \"maybe\"\n\
        [checks.tests]\nargv = [\"make\"]\ntimeout = 5\n[checks.lint]\nkind = \"tests_gren\"\nmin_tests = -1\n\
        [agent]\nargv = []\nprompt = 3\n[profiles.p]\nplateau_limit = -1\n[routing]\nralph_enable = true\n\
        [tripwires]\nfrozen = [\"[bad\", \"\", \"tests/\"]\nprotected_paths = [\"../x\"]\n\
        [tripwires.frozen_parts]\n\"{a\" = [\"/b\"]\n";
    assert_eq!(
        all_paths(text),
        [
            "contract.completion_checks[1]",
            "contract.on_flaky",
            "checks.tests.timeout",
            "checks.lint",
            "checks.lint.kind",
            "checks.lint.min_tests",
            "agent.argv",
            "agent.prompt",
            "profiles.p.plateau_limit",
            "routing.ralph_enable",
            "tripwires.frozen[0]",
            "tripwires.frozen[1]",
            "tripwires.protected_paths[0]",
            "tripwires.frozen_parts.{a",
        ]
    );
}

#[test]
fn a_problem_has_no_consequences_among_the_problems() {
    let contract = "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"a\"]\nprofile = \"p\"\n[profiles.p]\nplateau_limit = 4\n";
    for (check, expected) in [
        ("kind = \"comand\"\nargv = [\"x\"]", "checks.a.kind"),
        ("argw = [\"x\"]", "checks.a.argw"),
        ("argv = \"x\"", "checks.a.argv"),
        ("kind = \"cel\"\nexp = \"true\"", "checks.a.exp"),
        ("kind = \"git\"\nclaen = true", "checks.a.claen"),
        ("kind = \"file\"\npath = 3", "checks.a.path"),
    ] {
        let text = format!("{contract}[checks.a]\n{check}\n");
        assert_eq!(all_paths(&text), [expected], "{check}");
    }
    // The contract may need what its profile says.
    let profile = "[contract]\nmode = \"ralph\"\nprofile = \"p\"\n[profiles.p]\ncompletion_token = \"X\"\nplateau_limit = -1\n";
    assert_eq!(all_paths(profile), ["profiles.p.plateau_limit"]);
}

#[test]
fn that_nothing_is_asked_for_is_reported_beside_other_problems() {
    let text = "[agent]\nargv = []\n[checks.a]\nargv = [\"x\"]\n";
    assert_eq!(all_paths(text), ["agent.argv", "checks"]);
}

#[test]
fn a_contract_that_is_no_table_is_a_problem() {
    assert_eq!(places(read("contract = 3\n").unwrap_err())[0].2, "contract");
}

#[test]
fn the_error_of_a_missing_configuration_says_where_it_was_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let deep = root.join("a/b");
    fs::create_dir_all(&deep).unwrap();
    let shown = |root: &Path| root.display().to_string();
    let error = Config::find_upwards(&deep).unwrap_err().to_string();
    assert!(error.contains(&format!("in {}", shown(&deep))), "{error}");
    fs::create_dir(root.join(".git")).unwrap();
    let error = Config::find_upwards(&deep).unwrap_err().to_string();
    let above = format!("in {} or above it, up to {}", shown(&deep), shown(&root));
    assert!(error.ends_with(&above), "{error}");
    let error = Config::find_upwards(&root).unwrap_err().to_string();
    assert!(error.ends_with(&format!("in {}", shown(&root))), "{error}");
}

#[test]
fn a_check_that_nobody_runs_is_a_mistake() {
    let error = read("[contract]\nmode = \"ralph\"\ncompletion_checks = [\"tests\"]\n[checks.test]\nargv = [\"x\"]\n")
        .unwrap()
        .route(&GATE, None)
        .unwrap_err();
    let found = problems(error);
    assert_eq!(
        (found[0].line, found[0].path.as_str()),
        (3, "contract.completion_checks[0]")
    );
    assert!(
        found[0].help.as_ref().unwrap().contains("there are test"),
        "{found:?}"
    );
}

#[test]
fn a_checklist_alone_is_accepted_with_a_warning() {
    let text = "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"list\"]\n[checks.list]\nkind = \"prd_all_pass\"\n";
    let task = read(text).unwrap().route(&GATE, None).unwrap();
    let warnings: Vec<&str> = task
        .warnings
        .iter()
        .map(|(_, problem)| problem.path.as_str())
        .collect();
    assert!(warnings.contains(&"checks.list"), "{warnings:?}");
}

#[test]
fn without_a_mode_nothing_is_asked_for() {
    let config = read("[contract]\ncompletion_checks = [\"a\"]\n").unwrap();
    let task = config.route(&GATE, None).unwrap();
    assert_eq!(
        (task.routing.mode, task.terms.is_none()),
        (Mode::Standard, true)
    );
}

#[test]
fn a_request_wins_over_the_contract_and_brings_its_own_mode() {
    let folder = tempfile::tempdir().unwrap();
    let request = |text: &str| {
        let file = folder.path().join("request.json");
        fs::write(&file, text).unwrap();
        Request::load(&file).unwrap()
    };
    let config = read(WHOLE).unwrap();
    let task = config
        .route(&GATE, Some(&request(r#"{"loop_max_iters": 2}"#)))
        .unwrap();
    assert_eq!(task.routing.mode, Mode::Standard);
    let asked =
        request(r#"{"mode": "ralph", "loop_max_iters": 2, "draft_id": "d", "task_class": "fix"}"#);
    let task = config.route(&GATE, Some(&asked)).unwrap();
    assert_eq!(task.terms.as_ref().unwrap().loop_max_iters, 2);
    assert_eq!(task.key, Some(SessionKey::Draft("d".into())));
    assert_eq!(task.task_class.as_deref(), Some("fix"));
    assert_eq!(task.files.len(), 2);
    let wrong = request("{\"mode\": \"ralph\",\n \"loop_max_iters\": 0}");
    match config.route(&GATE, Some(&wrong)).unwrap_err() {
        ConfigError::Invalid { file, problems, .. } => {
            assert!(file.ends_with("request.json"));
            assert_eq!(
                (problems[0].line, problems[0].path.as_str()),
                (2, "loop_max_iters")
            );
        }
        error => panic!("{error:?}"),
    }
}

#[test]
fn the_rules_digest_follows_the_checks_and_neither_the_agent_nor_how_they_are_written() {
    let digest = |text: &str| read(text).unwrap().rules_digest();
    assert_eq!(digest(WHOLE), digest(&format!("# A comment.\n{WHOLE}")));
    let (from, to) = ("\"cargo\", \"test\"", "\"true\"");
    assert_ne!(digest(WHOLE), digest(&WHOLE.replace(from, to)));
    assert_eq!(digest(WHOLE), digest(&WHOLE.replace("do it", "do that")));
}

#[test]
fn the_one_in_the_folder_is_found() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        Config::find(folder.path()),
        Err(ConfigError::Missing { .. })
    ));
    fs::write(folder.path().join("ralph-gate.yaml"), "").unwrap();
    assert_eq!(
        Config::find(folder.path()).unwrap(),
        folder.path().join("ralph-gate.yaml")
    );
    fs::write(folder.path().join("ralph-gate.toml"), "").unwrap();
    assert!(matches!(
        Config::find(folder.path()),
        Err(ConfigError::Ambiguous { .. })
    ));
}
