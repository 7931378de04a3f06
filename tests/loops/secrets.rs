//! What agents and checks get of the environment, and that no secret is written down.

use std::fs;

use ralph_gate_tests::agent_script::Step;

use crate::harness::{KEY, Workplace};
use crate::kit::{move_on, print, promise, simple, work};

/// Variables of the person who starts the loop.
const OURS: [(&str, &str); 6] = [
    ("ANTHROPIC_API_KEY", "anthropic-0123456789"),
    ("COMPANY_HOST", "db.internal.example"),
    ("DEPLOY_TOKEN", "deploy-0123456789"),
    ("GOPATH", "/somewhere/go"),
    ("LC_TIME", "C"),
    ("LISTED_TOKEN", "listed-0123456789"),
];

/// A check and an agent that write down what they get.
fn dumping(more: &str) -> String {
    let check =
        "[checks.work]\nargv = [\"sh\", \"-c\", \"env > ../check-env; grep done done.txt\"]\n";
    let simple = simple("loop_max_iters = 1");
    let (contract, _) = simple.split_once("[checks.work]").unwrap();
    format!("{contract}{check}\n{more}")
}

fn dump(workplace: &Workplace) -> Vec<Step> {
    let argv = ["sh", "-c", "env"].map(str::to_owned).into();
    let into = workplace.beside("agent-env");
    vec![Step::Run { argv, into }, work(), promise()]
}

fn names(workplace: &Workplace, file: &str) -> Vec<String> {
    let text = fs::read_to_string(workplace.beside(file)).unwrap();
    let mut names: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.to_owned())
        .filter(|name| OURS.iter().any(|(ours, _)| ours == name))
        .collect();
    names.sort();
    names
}

#[test]
fn agents_and_checks_get_only_what_is_on_the_list_of_harmless_variables() {
    let workplace = Workplace::new(&dumping("[agent]\npass_env = [\"LISTED_TOKEN\"]\n"), &[]);
    let turns = [dump(&workplace)];
    let outcome = workplace
        .start_among(&OURS, &["--json"], &[], &turns)
        .finish();
    outcome.stopped("completed", None, 1);
    assert_eq!(
        names(&workplace, "agent-env"),
        ["GOPATH", "LC_TIME", "LISTED_TOKEN"]
    );
    assert_eq!(names(&workplace, "check-env"), ["GOPATH", "LC_TIME"]);
    let opened = &outcome.events("opened")[0];
    let withheld = opened["withheld"].as_array().unwrap();
    assert!(withheld.contains(&"DEPLOY_TOKEN".into()), "{opened}");
    assert!(opened["others_withheld"].as_u64().unwrap() > 0, "{opened}");
}

#[test]
fn a_recognized_client_gets_its_own_variables_and_checks_do_not() {
    let workplace = Workplace::new(&dumping("[agent]\nadapter = \"claude\"\n"), &[]);
    let mut turn = dump(&workplace);
    turn.pop();
    turn.push(crate::kit::claude(crate::kit::PROMISE, "0.1", 0));
    let outcome = workplace
        .start_among(&OURS, &["--json"], &[], &[turn])
        .finish();
    outcome.stopped("completed", None, 1);
    assert_eq!(
        names(&workplace, "agent-env"),
        ["ANTHROPIC_API_KEY", "GOPATH", "LC_TIME"]
    );
    assert_eq!(names(&workplace, "check-env"), ["GOPATH", "LC_TIME"]);
}

#[test]
fn secrets_that_are_printed_are_written_down_nowhere() {
    // Well-known shapes, put together here so that no scanner takes this file for a leak.
    let shapes = [
        format!("ghp_{}", "a1b2c3d4e5f6g7h8i9j0a1b2c3d4"),
        format!("AKIA{}", "IOSFODNN7EXAMPLE"),
    ];
    let check = format!(
        "[checks.work]\nargv = [\"sh\", \"-c\", \"echo $LISTED_TOKEN {}; echo deploy-0123456789 >&2; exit 1\"]\n\
         pass_env = [\"LISTED_TOKEN\"]\n",
        shapes[0]
    );
    let config = simple("loop_max_iters = 2");
    let (contract, _) = config.split_once("[checks.work]").unwrap();
    let workplace = Workplace::new(&format!("{contract}{check}"), &[]);
    let said = format!("I used deploy-0123456789 and {}.\n", shapes[1]);
    let turns = [vec![
        move_on(),
        print(&said),
        Step::Complain(said.clone()),
        Step::Exit(1),
    ]];
    let outcome = workplace
        .start_among(&OURS, &["--plain"], &[], &turns)
        .end();
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    let memory = workplace.memory().unwrap();
    let mut places = vec![(
        "screen".to_owned(),
        outcome.stdout.clone() + &outcome.stderr,
    )];
    for file in ["events.jsonl", "handoff.md", "progress.txt"] {
        places.push((
            file.to_owned(),
            fs::read_to_string(memory.join(file)).unwrap(),
        ));
    }
    for checkpoint in fs::read_dir(memory.join("checkpoints")).unwrap() {
        let path = checkpoint.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        places.push((
            "checkpoint".to_owned(),
            String::from_utf8_lossy(&bytes).into_owned(),
        ));
    }
    places.push(("status".to_owned(), workplace.gate(&["status", KEY]).stdout));
    let secrets = [
        "deploy-0123456789",
        "listed-0123456789",
        &shapes[0],
        &shapes[1],
    ];
    for (place, text) in &places {
        for secret in secrets {
            assert!(!text.contains(secret), "{secret} in {place}: {text}");
        }
    }
    assert!(
        places[1].1.contains("[redacted DEPLOY_TOKEN]"),
        "{}",
        places[1].1
    );
}
