//! Every kind of check against real programs, files and repositories.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::config::{Config, NamedCheck, Terms};
use crate::engine::Outcome;
use crate::policy::{FindingOutcome, Judgement, Log, PolicyError, PolicyOutcome, Run};
use crate::process::Stop;

/// A workspace and its checks.
struct Bench {
    folder: TempDir,
    config: Config,
    stop: Stop,
    policies: Option<Box<dyn PolicyRunner>>,
}

impl Bench {
    fn new(checks: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("ralph-gate.toml");
        Self {
            config: Config::read(&file, checks).unwrap(),
            folder,
            stop: Stop::new().unwrap(),
            policies: None,
        }
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    fn look_with(&self, retries: u32, first_commit: Option<&str>) -> Vec<Evidence> {
        self.with_scene(retries, first_commit, |scene, terms| {
            gather(scene, &self.config, terms, Wanted::All, &|_| ())
        })
    }

    fn preflight(&self) -> Vec<crate::engine::Problem> {
        self.with_scene(0, None, |scene, terms| {
            preflight(scene, &self.config, terms, PolicyTrial::Run)
        })
    }

    fn with_scene<T>(
        &self,
        retries: u32,
        first_commit: Option<&str>,
        ask: impl FnOnce(&Scene<'_>, &Terms) -> T,
    ) -> T {
        let named = |id: &String| NamedCheck {
            id: id.clone(),
            required: true,
            retries,
            retry_on: vec![Outcome::Fail, Outcome::Error, Outcome::Timeout],
        };
        let terms = Terms {
            completion_checks: self.config.checks.keys().map(named).collect(),
            loop_max_iters: 5,
            per_iter_timeout_ms: 1000,
            allow_override: true,
            cost_budget_usd: None,
            max_tokens: 0,
        };
        let secret = ("SOME_TOKEN".into(), "x".into());
        let environment: Vec<_> = std::env::vars_os().chain([secret]).collect();
        let scene = Scene {
            workspace: self.folder.path(),
            excluded: &[],
            environment: &environment,
            redactor: &secrets(&environment, &self.config),
            iteration: 3,
            tree: Some("tree"),
            first_commit,
            begun: std::time::SystemTime::now(),
            policies: self.policies.as_deref(),
            stop: &self.stop,
        };
        ask(&scene, &terms)
    }

    fn look(&self) -> Vec<(Outcome, String)> {
        let told = |evidence: Evidence| (evidence.outcome, evidence.reason);
        self.look_with(0, None).into_iter().map(told).collect()
    }

    fn only(&self) -> (Outcome, String) {
        self.look().remove(0)
    }
}

fn command(argv: &str, more: &str) -> Bench {
    Bench::new(&format!("[checks.c]\nargv = {argv}\n{more}\n"))
}

#[test]
fn a_command_passes_by_its_exit_code_alone() {
    assert_eq!(
        command(r#"["true"]"#, "").only(),
        (Outcome::Pass, "exit code 0".into())
    );
    let (outcome, reason) = command(r#"["sh", "-c", "echo out; echo err >&2; exit 3"]"#, "").only();
    assert_eq!(
        (outcome, reason.as_str()),
        (Outcome::Fail, "exit code 3\nout\nerr")
    );
    let (outcome, reason) = command(r#"["sh", "-c", "kill -9 $$"]"#, "").only();
    assert_eq!(
        (outcome, reason.as_str()),
        (Outcome::Error, "killed by signal 9")
    );
}

#[test]
fn a_command_that_runs_too_long_is_killed_with_all_it_started() {
    let bench = command(
        r#"["sh", "-c", "sleep 1000 & sleep 1000"]"#,
        "timeout_ms = 100",
    );
    assert_eq!(
        bench.only(),
        (Outcome::Timeout, "killed after 100 ms, the limit".into())
    );
}

#[test]
fn a_command_that_cant_be_started_is_an_error_and_no_pass() {
    let (outcome, reason) = command(r#"["no-such-program"]"#, "").only();
    assert_eq!(outcome, Outcome::Error);
    assert!(reason.contains("no-such-program"), "{reason}");
}

#[test]
fn a_command_gets_its_own_variables_and_folder_and_no_secrets() {
    let bench = command(
        r#"["sh", "-c", "test \"$A\" = 1 && test -z \"$SOME_TOKEN\" && test -f here"]"#,
        "env = { A = \"1\" }\ndirectory = \"sub\"",
    );
    fs::create_dir(bench.folder.path().join("sub")).unwrap();
    bench.write("sub/here", "");
    assert_eq!(bench.only().0, Outcome::Pass);
}

#[test]
fn python_gets_an_empty_cache_for_each_run_unless_the_user_names_one() {
    // That removes it only if it is empty.
    let bench = command(r#"["sh", "-c", "rmdir \"$PYTHONPYCACHEPREFIX\""]"#, "");
    assert_eq!(bench.only().0, Outcome::Pass);
    assert_eq!(bench.only().0, Outcome::Pass);
    let bench = command(
        r#"["sh", "-c", "test \"$PYTHONPYCACHEPREFIX\" = mine"]"#,
        "env = { PYTHONPYCACHEPREFIX = \"mine\" }",
    );
    assert_eq!(bench.only().0, Outcome::Pass);
}

#[test]
fn a_check_is_tried_again_and_every_attempt_is_kept() {
    let bench = command(
        r#"["sh", "-c", "test -f second || { touch second; exit 1; }"]"#,
        "",
    );
    let evidence = bench.look_with(2, None).remove(0);
    let outcomes: Vec<Outcome> = evidence
        .attempts
        .iter()
        .map(|attempt| attempt.outcome)
        .collect();
    assert_eq!(outcomes, [Outcome::Fail, Outcome::Pass]);
    assert_eq!((evidence.outcome, evidence.iteration), (Outcome::Pass, 3));
    assert_eq!(evidence.result().attempts, outcomes);
    assert_eq!(evidence.tree.as_deref(), Some("tree"));
}

#[test]
fn output_is_kept_from_both_ends_with_the_digest_of_all_of_it() {
    let bench = command(
        r#"["sh", "-c", "echo first; yes x | head -c 100000; echo last"]"#,
        "max_output_bytes = 1024",
    );
    let evidence = bench.look_with(0, None).remove(0);
    let stdout = evidence.attempts[0].stdout.as_ref().unwrap();
    assert_eq!(stdout.bytes, 100_011);
    assert!(stdout.text.starts_with("first\n") && stdout.text.ends_with("last\n"));
    assert!(stdout.text.len() < 3000 && stdout.text.contains("bytes left out"));
    let whole = format!("first\n{}last\n", "x\n".repeat(50_000));
    assert_eq!(
        stdout.digest,
        blake3::hash(whole.as_bytes()).to_hex().to_string()
    );
}

fn tests(script: &str, more: &str) -> Bench {
    let bench = Bench::new(&format!(
        "[checks.t]\nkind = \"tests_green\"\nargv = [\"sh\", \"tests.sh\"]\n{more}\n"
    ));
    bench.write("tests.sh", script);
    bench
}

const GREEN: &str = "echo 1..2; echo ok 1; echo ok 2 '# SKIP later'\n";

#[test]
fn tests_are_green_when_program_and_report_agree() {
    let bench = tests(GREEN, "");
    assert_eq!(bench.only(), (Outcome::Pass, "1 passed, 1 skipped".into()));
    let counts = bench.look_with(0, None).remove(0).tests.unwrap();
    assert_eq!((counts.passed, counts.failed, counts.skipped), (1, 0, 1));
    let (outcome, reason) = tests(&format!("{GREEN}exit 1"), "").only();
    assert_eq!(outcome, Outcome::Fail);
    assert!(
        reason.starts_with("1 passed, 1 skipped, but exit code 1"),
        "{reason}"
    );
}

#[test]
fn a_failed_attempt_that_was_superseded_is_told() {
    let case = "<testcase name='a'><failure/></testcase><testcase name='a'/>";
    let suite = format!("echo \"<testsuite failures='1'>{case}</testsuite>\"");
    let (outcome, reason) = tests(&suite, "format = \"junit\"").only();
    let told = "1 passed; 1 failed attempt was followed by one of the same name that passed";
    assert_eq!((outcome, reason.as_str()), (Outcome::Pass, told));
}

#[test]
fn tests_that_fail_are_named() {
    let (outcome, reason) = tests("echo 1..2; echo ok 1; echo not ok 2 - adds\n", "").only();
    assert_eq!(outcome, Outcome::Fail);
    assert!(reason.starts_with("1 of 2 failed: adds"), "{reason}");
}

#[test]
fn no_results_too_few_tests_and_skipped_ones_are_not_green() {
    assert_eq!(tests("echo fine", "").only().0, Outcome::Error);
    assert_eq!(
        tests("echo 1..0", "format = \"tap\"").only().0,
        Outcome::Fail
    );
    assert_eq!(tests(GREEN, "min_tests = 2").only().0, Outcome::Fail);
    assert_eq!(
        tests(GREEN, "allow_skipped = false").only().0,
        Outcome::Fail
    );
}

#[test]
fn a_report_of_an_earlier_run_is_no_evidence() {
    let bench = tests("true", "report = \"report.xml\"");
    bench.write("report.xml", "<testsuite><testcase name='a'/></testsuite>");
    let (outcome, reason) = bench.only();
    assert_eq!(outcome, Outcome::Error);
    assert!(
        reason.contains("report.xml") && reason.contains("not there"),
        "{reason}"
    );
    let bench = tests(
        "echo \"<testsuite><testcase name='a'/></testsuite>\" > report.xml",
        "report = \"report.xml\"",
    );
    assert_eq!(bench.only(), (Outcome::Pass, "1 passed".into()));
}

#[test]
fn reports_of_several_files_are_summed_and_old_ones_are_no_evidence() {
    let suite = |name: &str| format!("<testsuite name='{name}'><testcase name='a'/></testsuite>");
    let script = format!(
        "mkdir -p a/out b/out; echo \"{}\" > a/out/one.xml; echo \"{}\" > b/out/two.xml",
        suite("one"),
        suite("two")
    );
    for report in ["*/out/*.xml", "**/two.xml"] {
        let bench = tests(&script, &format!("report = \"{report}\""));
        let tests = if report.starts_with("**") { 1 } else { 2 };
        assert_eq!(bench.only(), (Outcome::Pass, format!("{tests} passed")));
    }
    let directory = tests(&script, "report = \"a/out\"");
    assert_eq!(directory.only(), (Outcome::Pass, "1 passed".into()));
    let (outcome, reason) = tests("true", "report = \"*/out/*.xml\"").only();
    assert_eq!(outcome, Outcome::Error);
    assert!(reason.contains("no file matches"), "{reason}");
}

#[test]
fn one_report_of_several_that_can_not_be_read_is_an_error() {
    let script = "mkdir out; echo '<testsuite/>' > out/a.xml; echo '<testsuite>' > out/b.xml";
    let (outcome, reason) = tests(script, "report = \"out/*.xml\"").only();
    assert_eq!(outcome, Outcome::Error);
    assert!(reason.contains("in out/b.xml can't be used"), "{reason}");
}

#[test]
fn findings_without_a_level_count_as_the_config_says() {
    let bench = Bench::new(
        "[checks.a]\nkind = \"no_high_risk\"\nreport = \"r.sarif\"\n\
         [checks.b]\nkind = \"no_high_risk\"\nreport = \"r.sarif\"\nlevel_default = \"high\"\n",
    );
    bench.write(
        "r.sarif",
        r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"gitleaks"}},"results":[{"ruleId":"aws","message":{"text":"leak"}}]}]}"#,
    );
    let outcomes: Vec<Outcome> = bench.look().into_iter().map(|found| found.0).collect();
    assert_eq!(outcomes, [Outcome::Pass, Outcome::Fail]);
}

#[test]
fn findings_count_from_a_severity_on() {
    let bench = Bench::new(
        "[checks.a]\nkind = \"no_high_risk\"\nreport = \"r.json\"\n[checks.b]\nkind = \"no_high_risk\"\nreport = \"r.json\"\n\
         severity = \"medium\"\n[checks.c]\nkind = \"no_high_risk\"\nargv = [\"sh\", \"-c\", \"cat r.json; exit 1\"]\n",
    );
    bench.write(
        "r.json",
        r#"[{"severity": "medium", "rule": "R1", "message": "weak"}]"#,
    );
    let found = bench.look();
    let outcomes: Vec<Outcome> = found.iter().map(|(outcome, _)| *outcome).collect();
    assert_eq!(outcomes, [Outcome::Pass, Outcome::Fail, Outcome::Pass]);
    assert!(found[1].1.contains("medium R1: weak"), "{found:?}");
    bench.write("r.json", "no report");
    assert_eq!(bench.look()[0].0, Outcome::Error);
}

#[test]
fn a_file_is_looked_at_without_being_trusted() {
    let digest = blake3::hash(b"{\"a\": [1, 2]}").to_hex();
    let bench = Bench::new(&format!(
        "[checks.a]\nkind = \"file\"\npath = \"f.json\"\n[checks.b]\nkind = \"file\"\npath = \"gone\"\nexists = false\n\
         [checks.c]\nkind = \"file\"\npath = \"f.json\"\ncontains = \"[1, 2]\"\nblake3 = \"{digest}\"\n\
         [checks.d]\nkind = \"file\"\npath = \"f.json\"\npointer = \"/a/1\"\nequals = 2\n\
         [checks.e]\nkind = \"file\"\npath = \"f.json\"\npointer = \"/a/1\"\nequals = 3\n\
         [checks.f]\nkind = \"file\"\npath = \"../outside\"\n[checks.g]\nkind = \"file\"\npath = \"pipe\"\n"
    ));
    bench.write("f.json", "{\"a\": [1, 2]}");
    let pipe = bench.folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    let found = bench.look();
    let passed: Vec<bool> = found
        .iter()
        .map(|(outcome, _)| *outcome == Outcome::Pass)
        .collect();
    assert_eq!(
        passed,
        [true, true, true, true, false, false, false],
        "{found:?}"
    );
    assert!(found[4].1.contains("has 2 at /a/1, not 3"), "{found:?}");
    assert!(found[6].1.contains("not a plain file"), "{found:?}");
}

/// Runs `git`, apart from a person's own settings, and from the repository of a hook that runs tests.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut git = std::process::Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            git.env_remove(&name);
        }
    }
    let output = git
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository with one commit, and the commit.
fn repository(folder: &Path) -> String {
    git(folder, &["init", "-q", "-b", "main", "."]);
    git(folder, &["add", "."]);
    git(folder, &["commit", "-q", "-m", "first", "--allow-empty"]);
    git(folder, &["rev-parse", "HEAD"])
}

#[test]
fn the_repository_is_looked_at_as_it_is() {
    let bench = Bench::new(
        "[checks.a]\nkind = \"git\"\nclean = true\nno_conflicts = true\nbranch = \"main\"\n\
         [checks.b]\nkind = \"git\"\ncommitted = true\n[checks.c]\nkind = \"git\"\nbranch = \"other\"\n",
    );
    let outcomes = |first: Option<&str>| -> Vec<Outcome> {
        let evidence = bench.look_with(0, first);
        evidence.iter().map(|evidence| evidence.outcome).collect()
    };
    assert_eq!(outcomes(None), [Outcome::Fail; 3]);
    let first = repository(bench.folder.path());
    assert_eq!(
        outcomes(Some(&first)),
        [Outcome::Pass, Outcome::Fail, Outcome::Fail]
    );
    assert_eq!(outcomes(None)[1], Outcome::Pass);
    bench.write("new.txt", "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n");
    let found = bench.look_with(0, Some(&first));
    assert!(
        found[0].reason.contains("not committed: new.txt"),
        "{found:?}"
    );
    assert!(found[0].reason.contains("new.txt:1"), "{found:?}");
}

#[test]
fn a_commit_that_is_taken_back_is_no_commit() {
    let bench = Bench::new("[checks.a]\nkind = \"git\"\ncommitted = true\n");
    repository(bench.folder.path());
    let git = |arguments: &[&str]| git(bench.folder.path(), arguments);
    git(&["commit", "-q", "-m", "second", "--allow-empty"]);
    let second = git(&["rev-parse", "HEAD"]);
    git(&["reset", "-q", "--hard", "HEAD~1"]);
    let outcome = || bench.look_with(0, Some(&second))[0].outcome;
    assert_eq!(outcome(), Outcome::Fail);
    git(&["commit", "-q", "-m", "other", "--allow-empty"]);
    assert_eq!(outcome(), Outcome::Fail);
    git(&["reset", "-q", "--hard", &second]);
    git(&["commit", "-q", "-m", "third", "--allow-empty"]);
    assert_eq!(outcome(), Outcome::Pass);
}

#[test]
fn a_scanner_that_failed_found_nothing_that_counts() {
    let scanner = |exit: u32| {
        let program = format!("echo '{{\"results\":[]}}'; exit {exit}");
        let bench = Bench::new(&format!(
            "[checks.a]\nkind = \"no_high_risk\"\nargv = [\"sh\", \"-c\", {program:?}]\n"
        ));
        bench.only().0
    };
    let outcomes = [0, 1, 2, 7].map(scanner);
    assert_eq!(
        outcomes,
        [Outcome::Pass, Outcome::Pass, Outcome::Error, Outcome::Error]
    );
}

#[test]
fn a_report_is_not_removed_through_a_link() {
    let bench = Bench::new(
        "[checks.a]\nkind = \"tests_green\"\nargv = [\"true\"]\nreport = \"target/junit.xml\"\n",
    );
    let elsewhere = TempDir::new().unwrap();
    let precious = elsewhere.path().join("junit.xml");
    fs::write(&precious, "precious").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), bench.folder.path().join("target")).unwrap();
    let (outcome, reason) = bench.only();
    assert_eq!(outcome, Outcome::Error);
    assert!(reason.contains("is a link"), "{reason}");
    assert_eq!(fs::read_to_string(precious).unwrap(), "precious");
}

#[test]
fn what_is_said_about_a_file_is_bounded_whatever_is_in_it() {
    let bench = Bench::new(
        "[checks.a]\nkind = \"file\"\npath = \"a.json\"\npointer = \"/a\"\nequals = 1\n",
    );
    bench.write("a.json", &format!("{{\"a\":\"{}\"}}", "x".repeat(1 << 20)));
    let (outcome, reason) = bench.only();
    assert_eq!(outcome, Outcome::Fail);
    assert!(reason.len() < 5000, "{} bytes", reason.len());
    bench.write("a.json", &format!("{{\"a\":\"{}\"}}", "x".repeat(5 << 20)));
    assert!(bench.only().1.contains("at most"), "{}", bench.only().1);
}

#[test]
fn what_programs_leave_is_what_is_looked_at() {
    let bench = Bench::new(
        "[checks.a]\nkind = \"file\"\npath = \"made.txt\"\nexists = true\n\
         [checks.b]\nargv = [\"sh\", \"-c\", \"sleep 0.1; touch made.txt\"]\n",
    );
    let outcomes: Vec<Outcome> = bench.look().into_iter().map(|found| found.0).collect();
    assert_eq!(outcomes, [Outcome::Pass; 2]);
}

#[test]
fn an_index_that_was_made_to_hide_a_change_does_not_make_a_repository_clean() {
    let bench = Bench::new("[checks.a]\nkind = \"git\"\nclean = true\n");
    let file = "a.txt";
    bench.write(file, "first");
    repository(bench.folder.path());
    assert_eq!(bench.look_with(0, None)[0].outcome, Outcome::Pass);
    bench.write(file, "changed");
    let git = git2::Repository::open(bench.folder.path()).unwrap();
    let mut index = git.index().unwrap();
    let committed = index.get_path(file.as_ref(), 0).unwrap().id;
    index.add_path(file.as_ref()).unwrap();
    let mut entry = index.get_path(file.as_ref(), 0).unwrap();
    entry.id = committed;
    index.add(&entry).unwrap();
    index.write().unwrap();
    let later = std::time::SystemTime::now() + Duration::from_secs(10);
    let written = fs::File::options()
        .write(true)
        .open(git.path().join("index"))
        .unwrap();
    written.set_modified(later).unwrap();
    let found = bench.look_with(0, None).remove(0);
    assert_eq!(found.outcome, Outcome::Fail, "{found:?}");
    assert!(found.reason.contains(file), "{found:?}");
}

#[test]
fn a_deleted_file_that_the_index_hides_does_not_make_a_repository_clean() {
    let bench = Bench::new("[checks.a]\nkind = \"git\"\nclean = true\n");
    bench.write("a.txt", "first");
    repository(bench.folder.path());
    git(
        bench.folder.path(),
        &["update-index", "--skip-worktree", "a.txt"],
    );
    fs::remove_file(bench.folder.path().join("a.txt")).unwrap();
    let found = bench.look_with(0, None).remove(0);
    assert_eq!(found.outcome, Outcome::Fail, "{found:?}");
    assert!(found.reason.contains("a.txt"), "{found:?}");
}

#[test]
fn a_canceled_check_says_nothing_and_is_not_tried_again() {
    let bench = command(r#"["sleep", "1000"]"#, "");
    bench.stop.cancel();
    let evidence = bench.look_with(5, None).remove(0);
    assert_eq!(
        (evidence.outcome, evidence.attempts.len()),
        (Outcome::Unknown, 1)
    );
}

/// Passes when what it is asked for is in the evidence.
#[derive(Debug)]
struct Looks;

impl PolicyRunner for Looks {
    fn judge(&self, question: &PolicyQuestion<'_>) -> Result<Run<Judgement>, PolicyError> {
        let settings = &question.input.settings;
        let wanted: BTreeMap<String, String> = serde_json::from_str(settings).unwrap();
        let judge = |check: &String| {
            let findings = &question.input.findings;
            let found = findings.iter().find(|it| it.id == *check);
            Judgement {
                outcome: match found.map(|found| found.outcome) {
                    Some(FindingOutcome::Pass) => PolicyOutcome::Pass,
                    Some(_) => PolicyOutcome::Fail,
                    None => PolicyOutcome::Unknown,
                },
                reasons: vec![
                    format!("{} bytes", question.component.bytes().len()),
                    "\u{202e}done".to_owned(),
                ],
            }
        };
        let result = wanted.get("check").map(judge);
        Ok(Run {
            result: result.ok_or_else(|| PolicyError::Trap {
                reason: format!("{}: which \u{1b}[1m check?", question.check),
            }),
            fuel: 7,
            memory: 9,
            elapsed: Duration::ZERO,
            worked: Duration::ZERO,
            log: Log::default(),
        })
    }
}

fn policy(digest: &str, settings: &str) -> Bench {
    let mut bench = Bench::new(&format!(
        r#"
            [checks.a]
            kind = "policy"
            component = "judge.wasm"
            blake3 = "{digest}"
            settings = {settings}

            [checks.z]
            argv = ["true"]
        "#
    ));
    bench.write("judge.wasm", "four");
    bench.policies = Some(Box::new(Looks));
    bench
}

#[test]
fn a_policy_judges_what_the_other_checks_found() {
    let digest = blake3::hash(b"four").to_hex().to_uppercase();
    assert_eq!(
        policy(&digest, r#"{ check = "z" }"#).only(),
        (Outcome::Pass, "4 bytes;  done".to_owned())
    );
    assert_eq!(
        policy(&digest, r#"{ check = "y" }"#).only().0,
        Outcome::Unknown
    );
    assert_eq!(
        policy(&digest, "{}").only(),
        (
            Outcome::Error,
            "the policy stopped without a judgement: a: which  [1m check?".to_owned()
        )
    );
}

#[test]
fn a_policy_that_is_not_the_pinned_one_is_not_asked() {
    let (outcome, reason) = policy(&"0".repeat(64), r#"{ check = "z" }"#).only();
    assert_eq!(outcome, Outcome::Error);
    assert!(reason.starts_with("judge.wasm has the digest"), "{reason}");
    let mut bench = policy(blake3::hash(b"four").to_hex().as_str(), "{}");
    bench.policies = None;
    assert_eq!(
        bench.only(),
        (
            Outcome::Error,
            "there is nothing here that runs policies".to_owned()
        )
    );
}

/// Gives no judgement, always for the same reason.
#[derive(Debug)]
struct Refuses(PolicyError);

impl PolicyRunner for Refuses {
    fn judge(&self, _: &PolicyQuestion<'_>) -> Result<Run<Judgement>, PolicyError> {
        Err(self.0.clone())
    }
}

/// What is found of a check before the agent begins, as its path and what is wrong with it.
fn found_before(fields: &str, error: PolicyError) -> Vec<(String, String)> {
    let mut bench = Bench::new(&format!("[checks.c]\n{fields}\n"));
    bench.policies = Some(Box::new(Refuses(error)));
    let problems = bench.preflight().into_iter();
    problems.map(|it| (it.path, it.message)).collect()
}

#[test]
fn a_policy_that_this_program_was_built_without_is_found_before_the_agent() {
    let error = PolicyError::NotIncluded { policy: "cel" };
    let found = found_before("kind = \"cel\"\nexpr = \"true\"", error.clone());
    assert_eq!(found, [("checks.c.expr".to_owned(), error.to_string())]);
}

#[test]
fn an_artifact_that_is_yet_to_come_is_no_mistake() {
    let error = PolicyError::Artifact { name: "a".into() };
    let cel = "kind = \"cel\"\nexpr = \"true\"";
    let named = format!("{cel}\nartifacts = {{ a = \"later.txt\" }}");
    assert_eq!(found_before(&named, error.clone()), []);
    assert_eq!(found_before(cel, error).len(), 1);
}
