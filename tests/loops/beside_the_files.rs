//! Turns that change what a check looks at, and none of the files that git tracks.

use ralph_gate_tests::agent_script::Step;

use crate::harness::Workplace;
use crate::kit::{move_on, promise, simple, work, write};

const PLAN: &str =
    r#"{"userStories": [{"id": "US-1", "passes": false}, {"id": "US-2", "passes": false}]}"#;

/// A loop with one more check that is required.
fn with(check: &str, files: &[(&str, &str)]) -> Workplace {
    let config = simple("").replace("[\"work\"]", "[\"work\", \"more\"]") + check;
    Workplace::new(&config, files)
}

#[test]
fn a_turn_that_only_marks_the_last_story_completes() {
    let prd = "\n[checks.more]\nkind = \"prd_all_pass\"\n\n[memory]\nprd = \"prd.json\"\n";
    let workplace = with(prd, &[("prd.json", PLAN)]);
    let all = PLAN.replace("false", "true");
    let first = PLAN.replacen("false", "true", 1);
    let outcome = workplace.run(&[
        vec![work(), write("{memory}/prd.json", &first), promise()],
        vec![write("{memory}/prd.json", &all), promise()],
    ]);
    outcome.stopped("completed", None, 2);
}

#[test]
fn a_turn_that_only_commits_completes() {
    let workplace = with("\n[checks.more]\nkind = \"git\"\nclean = true\n", &[]);
    let outcome = workplace.run(&[vec![work(), promise()], vec![Step::Commit, promise()]]);
    outcome.stopped("completed", None, 2);
}

#[test]
fn a_turn_that_only_builds_an_ignored_file_completes() {
    let check = "\n[checks.more]\nkind = \"file\"\npath = \"dist/app\"\n";
    let ignored = [(".gitignore", ".ralph/\ndist/\n")];
    let workplace = with(check, &ignored);
    let outcome = workplace.run(&[
        vec![work(), promise()],
        vec![write("dist/app", "built\n"), promise()],
    ]);
    outcome.stopped("completed", None, 2);
}

#[test]
fn a_test_that_passes_later_on_the_state_on_which_it_failed_first_is_flaky() {
    let config = "[contract]\ncompletion_checks = [\"tests\"]\nloop_max_iters = 3\nno_progress_limit = 0\n\n\
                  [checks.tests]\nkind = \"command\"\nargv = [\"sh\", \"-c\", \"echo >> ../runs; test $(wc -l < ../runs) -ge 3\"]\n";
    let workplace = Workplace::new(config, &[("notes.txt", "")]);
    // The baseline fails, the first turn fails, and the second turn takes back what the first did.
    let outcome = workplace.run(&[vec![move_on()], vec![write("notes.txt", "")]]);
    outcome.stopped("max_iters", None, 3);
    let second = &outcome.verdicts()[1];
    assert_eq!(second["failures"][0]["code"], "check_flaky", "{second}");
}

#[test]
fn what_is_odd_in_the_checklist_is_said_once() {
    let prd = "\n[checks.more]\nkind = \"prd_all_pass\"\n\n[memory]\nprd = \"prd.json\"\n";
    let odd = r#"{"userStories": [{"id": "US-1", "passes": "yes"}, {"id": "US-2", "passes": true, "passes": false}]}"#;
    let workplace = with(prd, &[("prd.json", odd)]);
    let outcome = workplace.run(&[vec![move_on()], vec![move_on()]]);
    let said = &outcome.stdout;
    for odd in [
        "`passes` of `US-1` is neither true nor false, so it has not passed",
        "the key `passes` appears twice, and the last one counts",
    ] {
        assert_eq!(said.matches(odd).count(), 1, "{said}");
    }
}
