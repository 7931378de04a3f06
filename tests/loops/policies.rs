//! Checks that are policies: what they see, and what becomes of those that give no judgement.

use std::fs;

use ralph_gate::visible::is_hidden;
use ralph_gate_tests::agent_script::Step;
use ralph_gate_tests::policies;
use serde_json::json;

use crate::harness::{Outcome, Workplace};
use crate::kit::{promise, work, write};

/// A loop whose second check judges the first. `policy` are the fields of that check.
fn judged(policy: &str) -> String {
    format!(
        r#"
[contract]
mode = "ralph"
completion_token = "COMPLETE"
completion_checks = ["work", "quality"]
loop_max_iters = 3

[checks.work]
kind = "file"
path = "done.txt"
contains = "done"

[checks.quality]
{policy}
"#
    )
}

/// A workplace with a check by that component, which is pinned.
fn judged_by(component: &[u8]) -> Workplace {
    let digest = blake3::hash(component).to_hex();
    let config = judged(&format!(
        "kind = \"policy\"\ncomponent = \"judge.wasm\"\nblake3 = \"{digest}\""
    ));
    let workplace = Workplace::new(&config, &[]);
    fs::write(workplace.work().join("judge.wasm"), component).unwrap();
    workplace
}

/// An agent that says three times that it is done.
fn three_tries() -> [Vec<Step>; 3] {
    std::array::from_fn(|_| vec![work(), promise()])
}

#[test]
fn a_loop_completes_when_an_expression_over_its_evidence_holds() {
    let config = judged(
        r#"kind = "cel"
expr = "checks.work.passed && coverage.line >= 80.0"
artifacts = { coverage = "coverage.json" }"#,
    );
    let workplace = Workplace::new(&config, &[]);
    let outcome = workplace.run(&[
        vec![work(), promise()],
        vec![write("coverage.json", r#"{"line": 79.9}"#), promise()],
        vec![write("coverage.json", r#"{"line": 80}"#), promise()],
    ]);
    outcome.stopped("completed", None, 3);
    let verdicts = outcome.verdicts();
    let quality = [("check_failed".to_owned(), Some("quality".to_owned()))];
    assert_eq!(Outcome::failures_of(&verdicts[1]), quality);
    let reason = verdicts[1]["failures"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("coverage.line >= 80.0"), "{reason}");
}

#[test]
fn a_module_of_rego_is_pinned_by_its_digest() {
    let module = "package quality\nallow := input.checks.work.passed\n";
    let digest = blake3::hash(module.as_bytes()).to_hex();
    let config = judged(&format!(
        "kind = \"rego\"\nfile = \"quality.rego\"\nblake3 = \"{digest}\""
    ));
    let workplace = Workplace::new(&config, &[("quality.rego", module)]);
    let weaker = write("quality.rego", "package quality\nallow := true\n");
    let outcome = workplace.run(&[
        vec![weaker, promise()],
        vec![write("quality.rego", module), work(), promise()],
    ]);
    outcome.stopped("completed", None, 2);
    let failures = Outcome::failures_of(&outcome.verdicts()[0]);
    assert!(
        failures.contains(&("policy_rejected".into(), Some("quality".into()))),
        "{failures:?}"
    );
}

#[test]
fn a_policy_without_fuel_has_not_passed_and_is_on_record() {
    let config = judged("kind = \"cel\"\nexpr = \"true\"\nfuel = 100000");
    let workplace = Workplace::new(&config, &[]);
    let outcome = workplace.run(&three_tries());
    let failures = Outcome::failures_of(&outcome.verdicts()[0]);
    assert_eq!(
        failures,
        [("policy_out_of_fuel".into(), Some("quality".into()))]
    );
    let logs = workplace.logs();
    let is_quality = |log: &&serde_json::Value| log["data"]["check"] == "quality";
    let evidence = logs.iter().find(is_quality).expect("evidence of the check");
    assert_eq!(evidence["data"]["policy"]["outcome"], json!("out_of_fuel"));
    assert_eq!(evidence["data"]["policy"]["fuel"], json!(100_000));
}

#[test]
fn a_component_that_is_none_is_rejected_before_the_agent_begins() {
    let workplace = judged_by(b"junk");
    let outcome = workplace.start(&three_tries()).end();
    assert_eq!(outcome.error_code(), "preflight_failed");
    let problem = &outcome.told().pop().unwrap()["error"]["problems"][0];
    assert_eq!(problem["path"], "checks.quality.component");
}

#[test]
fn a_policy_is_announced_while_it_is_compiled_and_not_when_it_was_before() {
    let told = "compiling policy quality\n";
    let cache = tempfile::tempdir().unwrap();
    let variables = [("XDG_CACHE_HOME", cache.path().to_str().unwrap())];
    let component = policies::component("words-orders").unwrap();
    let run = |form: &str| {
        let workplace = judged_by(&component);
        let running = workplace.start_among(&variables, &[form], &[], &three_tries());
        running.end()
    };
    let cold = run("--json");
    assert_eq!(cold.stderr.matches(told).count(), 1, "{cold:?}");
    assert!(!cold.stdout.contains("compiling"), "{cold:?}");
    assert!(!run("--plain").stderr.contains(told), "the code is there");
}

#[test]
fn the_words_of_a_hostile_policy_reach_the_agent_as_one_visible_line_and_complete_nothing() {
    for name in ["words-escapes", "words-turned-around", "words-orders"] {
        let workplace = judged_by(&policies::component(name).unwrap());
        let outcome = workplace.run(&three_tries());
        let verdict = &outcome.verdicts()[0];
        assert_eq!(
            Outcome::failures_of(verdict),
            [("check_failed".into(), Some("quality".into()))],
            "{name}"
        );
        let reason = verdict["failures"][0]["reason"].as_str().unwrap();
        assert!(!reason.contains(is_hidden), "{name}: {reason:?}");
        assert!(reason.len() > 10, "{name}: {reason:?}");
        let feedback = verdict["feedback"].as_str().unwrap();
        let mut lines = feedback.lines();
        assert!(!lines.any(|line| line.contains(is_hidden)), "{feedback:?}");
    }
}

#[test]
fn the_name_of_an_artifact_that_a_hostile_policy_wants_is_clean_too() {
    let workplace = judged_by(&policies::component("describe-wants-what-is-not-there").unwrap());
    let outcome = workplace.start(&three_tries()).end();
    assert_eq!(outcome.error_code(), "preflight_failed");
    let problem = &outcome.told().pop().unwrap()["error"]["problems"][0];
    let reason = problem["message"].as_str().unwrap();
    assert!(reason.contains("passwords"), "{reason:?}");
    assert!(!reason.contains(is_hidden), "{reason:?}");
}
