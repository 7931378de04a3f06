//! What agents and checks get of the environment, and that no secret is written down.

use std::fs;

use ralph_gate_tests::agent_script::Step;

use crate::harness::{KEY, Outcome, Workplace};
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
fn git_runs_with_the_settings_that_hold_no_credentials() {
    let check = "[checks.work]\nargv = [\"sh\", \"-c\", \"env > ../check-env; test $(git config maintenance.auto) = false\"]\n";
    let config = simple("loop_max_iters = 1");
    let (contract, _) = config.split_once("[checks.work]").unwrap();
    let workplace = Workplace::new(&format!("{contract}{check}"), &[]);
    let variables = [
        ("GIT_CONFIG_COUNT", "2"),
        ("GIT_CONFIG_KEY_0", "http.extraheader"),
        ("GIT_CONFIG_VALUE_0", "AUTHORIZATION: basic eDpzZWNyZXQ="),
        ("GIT_CONFIG_KEY_1", "maintenance.auto"),
        ("GIT_CONFIG_VALUE_1", "false"),
        ("PIP_INDEX_URL", "https://a-token@packages.example/simple"),
    ];
    let turns = [vec![work(), promise()]];
    let outcome = workplace
        .start_among(&variables, &["--json"], &[], &turns)
        .finish();
    outcome.stopped("completed", None, 1);
    let environment = fs::read_to_string(workplace.beside("check-env")).unwrap();
    for secret in ["eDpzZWNyZXQ=", "a-token"] {
        assert!(!environment.contains(secret), "{secret}: {environment}");
    }
}

/// All that a loop writes: the screen, the files of its session, and what other commands say about it.
fn written(workplace: &Workplace, outcome: &Outcome) -> Vec<(String, String)> {
    let memory = workplace.memory().unwrap();
    let screen = outcome.stdout.clone() + &outcome.stderr;
    let mut places = vec![("screen".to_owned(), screen)];
    for file in ["events.jsonl", "handoff.md", "progress.txt"] {
        let text = fs::read_to_string(memory.join(file)).unwrap();
        places.push((file.to_owned(), text));
    }
    for checkpoint in fs::read_dir(memory.join("checkpoints")).unwrap() {
        let bytes = fs::read(checkpoint.unwrap().path()).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        places.push(("checkpoint".to_owned(), text));
    }
    places.push(("status".to_owned(), workplace.gate(&["status", KEY]).stdout));
    places
}

/// A loop whose check prints secrets and whose agent says them. Gives what was written down, in which they may not be.
fn leaking(
    variables: &[(&str, &str)],
    config: &str,
    said: &str,
    secrets: &[&str],
) -> Vec<(String, String)> {
    let check = format!(
        "[checks.work]\nargv = [\"sh\", \"-c\", \"cat printed; cat printed >&2; exit 1\"]\n{config}"
    );
    let simple = simple("loop_max_iters = 2");
    let (contract, _) = simple.split_once("[checks.work]").unwrap();
    let text = format!("I used {said}.\n");
    // What is read is in the work, but not in its description.
    let files = [("printed", text.as_str())];
    let workplace = Workplace::new(&format!("{contract}{check}"), &files);
    let turns = [vec![
        move_on(),
        print(&text),
        Step::Complain(text.clone()),
        Step::Exit(1),
    ]];
    let outcome = workplace
        .start_among(variables, &["--plain"], &[], &turns)
        .end();
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    let places = written(&workplace, &outcome);
    for (place, text) in &places {
        for secret in secrets {
            assert!(!text.contains(secret), "{secret} in {place}: {text}");
        }
    }
    places
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
    let places = written(&workplace, &outcome);
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

#[test]
fn a_secret_that_the_agent_is_given_is_hidden_where_a_check_prints_it() {
    let config = "[checks.other]\nargv = [\"true\"]\nenv = { OTHER_KEY = \"others-0123456789\" }\n\n\
                  [agent.env]\nAGENT_SECRET = \"agents-0123456789\"\n";
    let secrets = ["agents-0123456789", "others-0123456789"];
    let places = leaking(&[], config, &secrets.join(" and "), &secrets);
    let log = &places[1].1;
    for name in ["AGENT_SECRET", "OTHER_KEY"] {
        assert!(log.contains(&format!("[redacted {name}]")), "{log}");
    }
}

#[test]
fn a_short_secret_is_hidden_and_ordinary_words_are_not() {
    let variables = [("SHORTPW_PASSWORD", "s7s7s7s")];
    let places = leaking(&variables, "", "s7s7s7s", &["s7s7s7s"]);
    assert!(places[1].1.contains("[redacted SHORTPW_PASSWORD]"));
    let variables = [("USE_AUTH", "true"), ("A_TOKEN", "abc")];
    let places = leaking(&variables, "", "true and abc", &[]);
    assert!(!places[1].1.contains("[redacted"), "{}", places[1].1);
}

#[test]
fn credentials_in_urls_and_headers_are_hidden() {
    let token = "a1b2c3d4e5f6g7h8i9j0a1b2c3d4";
    let shapes = [
        "me:p4ss@db.example".to_owned(),
        "dXNlcjpwYXNzd29yZA==".to_owned(),
        format!("gsk_{token}"),
        format!("sk_test_{token}"),
        format!("T0A1B2C3D/B0A1B2C3D/{token}"),
    ];
    let secrets: Vec<&str> = shapes.iter().map(String::as_str).collect();
    let text = format!(
        "postgres://{} Authorization: Basic {} {} {} https://hooks.slack.com/services/{}",
        shapes[0], shapes[1], shapes[2], shapes[3], shapes[4]
    );
    leaking(&[], "", &text, &secrets);
}
