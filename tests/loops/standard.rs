//! What did not ask for the gate is left alone, and what is only watched is not stopped.

use ralph_gate_tests::agent_script::Step;
use serde_json::json;

use crate::harness::Workplace;
use crate::kit::{print, promise, simple, work};

/// Agents that a loop would refuse, stop, or take for complete, each with its exit code.
fn agents() -> Vec<(Vec<Step>, String, i32)> {
    let promised = crate::kit::PROMISE.to_owned();
    vec![
        (vec![promise()], promised.clone(), 0),
        (vec![work(), promise()], promised.clone(), 0),
        (vec![promise(), Step::Exit(7)], promised, 7),
        (
            vec![print("<promise>LOOP_ERROR</promise>")],
            "<promise>LOOP_ERROR</promise>".to_owned(),
            0,
        ),
    ]
}

/// Configurations under which nothing may be intercepted.
fn configs() -> [String; 4] {
    let ralph = simple("loop_max_iters = 9");
    let auto = ralph.replace("\"ralph\"", "\"auto\"");
    let optional = "[{ id = \"work\", required = false }]";
    [
        ralph.replace("\"ralph\"", "\"standard\""),
        auto.replace("[\"work\"]", optional),
        ralph + "\n[routing]\nralph_enabled = false\n",
        "[contract]\nmode = \"standard\"\n".to_owned(),
    ]
}

#[test]
fn in_standard_mode_output_and_exit_code_come_through_untouched() {
    for config in configs() {
        for (steps, printed, code) in agents() {
            let workplace = Workplace::new(&config, &[]);
            let outcome = workplace.start_with(&[], &[], &[steps]).end();
            assert_eq!(
                (outcome.code, outcome.stdout.as_str()),
                (Some(code), printed.as_str()),
                "{config}"
            );
            let said = "standard mode (";
            assert!(outcome.stderr.starts_with(said), "{outcome:?}");
            assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:?}");
            assert!(!workplace.work().join(".ralph").exists());
        }
    }
}

#[test]
fn running_a_loop_is_the_request_where_no_mode_is_written() {
    let token = "[contract]\ncompletion_token = \"COMPLETE\"\n".to_owned();
    let check = simple("").replace("mode = \"ralph\"\n", "");
    for config in [check, token] {
        let workplace = Workplace::new(&config, &[]);
        let outcome = workplace.run(&[vec![work(), promise()]]);
        outcome.stopped("completed", None, 1);
        let opened = &outcome.events("opened")[0];
        assert_eq!(opened["mode"], "ralph", "{opened}");
        assert_eq!(opened["reason"], "requested", "{opened}");
    }
}

#[test]
fn the_mode_that_applies_is_printed_at_the_start() {
    let ralph = Workplace::new(&simple("").replace("mode = \"ralph\"\n", ""), &[]);
    let outcome = ralph
        .start_with(&["--plain"], &[], &[vec![work(), promise()]])
        .end();
    let first = outcome.stdout.lines().next().unwrap_or_default();
    assert!(first.contains("ralph mode (requested)"), "{outcome:?}");
    let ralph = Workplace::new(&simple("").replace("mode = \"ralph\"\n", ""), &[]);
    let outcome = ralph
        .start_with(&["--quiet"], &[], &[vec![work(), promise()]])
        .end();
    let first = outcome.stderr.lines().next();
    assert_eq!(first, Some("ralph mode (requested)"), "{outcome:?}");
    let [standard, ..] = configs();
    for arguments in [&[][..], &["--quiet"]] {
        let workplace = Workplace::new(&standard, &[]);
        let outcome = workplace
            .start_with(arguments, &[], &[vec![promise()]])
            .end();
        assert!(
            outcome.stderr.contains("standard mode (requested)"),
            "{outcome:?}"
        );
    }
}

#[test]
fn standard_mode_applies_only_where_it_is_written() {
    let described = simple("").replace("mode = \"ralph\"\n", "");
    let described = described.replace("completion_token = \"COMPLETE\"\n", "");
    let described = described.replace("completion_checks = [\"work\"]\n", "");
    for (config, found) in [
        (described.as_str(), "checks that nothing asks for (work)"),
        ("", "nothing must hold"),
        ("[contract]\n", "nothing must hold"),
    ] {
        let workplace = Workplace::new(config, &[]);
        let outcome = workplace.start_with(&[], &[], &[vec![promise()]]).end();
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(outcome.stdout.is_empty(), "no agent was run: {outcome:?}");
        for text in [found, "no mode is written", "mode = \"standard\""] {
            assert!(outcome.stderr.contains(text), "{text}: {outcome:?}");
        }
    }
}

#[test]
fn in_standard_mode_a_machine_is_told_what_the_agent_did() {
    let [config, ..] = configs();
    for (steps, printed, code) in agents() {
        let workplace = Workplace::new(&config, &[]);
        let outcome = workplace.start(&[steps]).end();
        let told = outcome.told();
        assert_eq!((outcome.code, told.len()), (Some(code), 1), "{outcome:?}");
        assert_eq!(told[0]["output"], printed);
        assert_eq!(told[0]["exit"], code);
        assert_eq!(told[0]["decision"], "pass_through");
        assert_eq!(told[0]["verdict"]["intercepted"], false);
        assert!(!workplace.work().join(".ralph").exists());
    }
}

#[test]
fn in_shadow_everything_is_judged_and_recorded_and_nothing_intercepted() {
    let workplace = Workplace::new(&simple("enforcement = \"shadow\""), &[]);
    let outcome = workplace.run(&[vec![promise()]]);
    let verdict = outcome.verdict();
    assert_eq!(outcome.verdicts().len(), 1, "the agent runs once");
    assert_eq!(verdict["decision"], "pass_through");
    assert_eq!(verdict["intercepted"], false);
    assert_eq!(verdict["shadow"]["decision"], "continue");
    assert_eq!(verdict["failures"][0]["code"], "check_failed");
    let evidence = outcome.events("evidence");
    assert_eq!(evidence[0]["evidence"]["outcome"], "fail");
}

#[test]
fn in_shadow_a_loop_that_would_be_complete_is_recorded_as_such() {
    let workplace = Workplace::new(&simple("enforcement = \"shadow\""), &[]);
    let outcome = workplace.run(&[vec![work(), promise()]]);
    let shadow = &outcome.verdict()["shadow"];
    assert_eq!(
        (&shadow["decision"], &shadow["stop_reason"]),
        (&json!("stop"), &json!("completed"))
    );
}

#[test]
fn in_shadow_the_agents_exit_code_comes_through() {
    let workplace = Workplace::new(&simple("enforcement = \"shadow\""), &[]);
    let outcome = workplace.start(&[vec![promise(), Step::Exit(7)]]).end();
    assert_eq!(outcome.code, Some(7), "{outcome:?}");
    assert_eq!(outcome.verdict()["decision"], "pass_through");
}
