//! Whole runs of `ralph-gate import`: transcripts in, runs out, and what is said about the rest.

use std::fs;
use std::path::{Path, PathBuf};

use ralph_gate_tests::said::Said;
use serde_json::Value;

use crate::harness::{Files, command, run};

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/transcripts/fixtures");
    folder.join(name).to_str().unwrap().to_owned()
}

fn lines(text: &str) -> Vec<Value> {
    let read = |line| serde_json::from_str(line).unwrap();
    text.lines().map(read).collect()
}

/// The command in the home of somebody else.
fn run_at(home: &str, arguments: &[&str]) -> Said {
    let mut command = command(arguments);
    command
        .env("HOME", home)
        .env_remove("CLAUDE_CONFIG_DIR")
        .env_remove("CODEX_HOME");
    Said::of(command.output().unwrap())
}

/// Puts a transcript into a home, as its client would.
fn keep(home: &str, place: &str, name: &str) {
    let path = PathBuf::from(home).join(place);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(fixture(name), path).unwrap();
}

#[test]
fn runs_go_to_standard_output_and_the_summary_to_standard_error() {
    let said = run(&["import", &fixture("gemini.jsonl")]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let found = lines(&said.stdout);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["event"], "imported_run");
    assert_eq!(found[0]["data"]["truth"], "complete");
    assert_eq!(
        said.stderr,
        "runs        1 in 1 transcript (1 gemini)\n\
         promises    1 accepted; 1 claim to be done\n\
         last tests  1 pass\n\
         endings     1 released\n\
         truth       1 complete\n"
    );
}

#[test]
fn every_run_that_is_written_fits_the_schema() {
    let schema = run(&["schema", "imported-run"]).stdout;
    let schema = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let said = run(&["import", "--label", "task=t", &fixture("")]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let found = lines(&said.stdout);
    assert_eq!(found.len(), 11, "{}", said.stderr);
    for line in &found {
        let errors: Vec<String> = validator
            .iter_errors(line)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{line}: {errors:?}");
    }
    let mut wrong = found[0].clone();
    wrong["data"]["ending"] = "well".into();
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn the_clients_own_places_are_looked_into_and_named() {
    let files = Files::new();
    let home = files.folder();
    keep(&home, ".claude/projects/-p/s.jsonl", "claude-older.jsonl");
    keep(
        &home,
        ".claude/projects/-p/s/subagents/agent-1.jsonl",
        "claude-of-a-subagent.jsonl",
    );
    keep(&home, ".gemini/tmp/p/chats/session-1.json", "gemini.json");
    fs::write(
        PathBuf::from(&home).join(".gemini/tmp/p/.project_root"),
        "/projects/p",
    )
    .unwrap();
    let said = run_at(
        &home,
        &[
            "import",
            "--json",
            "--output",
            &format!("{home}/runs.jsonl"),
        ],
    );
    assert_eq!(said.code, 0, "{}", said.stderr);
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    let found: Vec<_> = answer["places"].as_array().unwrap().iter().collect();
    assert_eq!(
        found
            .iter()
            .map(|place| (
                place["client"].as_str().unwrap(),
                place["found"].as_bool().unwrap()
            ))
            .collect::<Vec<_>>(),
        [("claude-code", true), ("codex", false), ("gemini", true)]
    );
    assert_eq!(answer["summary"]["runs"], 2);
    assert_eq!(
        answer["summary"]["skipped"][0]["reason"],
        "it is a subagent's transcript, and the session that started it is not among the transcripts"
    );
    let written = lines(&fs::read_to_string(format!("{home}/runs.jsonl")).unwrap());
    assert_eq!(written[0]["data"]["id"], "claude-code:older");
    assert_eq!(written[1]["data"]["project"], "/projects/p");
}

#[test]
fn tokens_of_subagents_are_those_of_the_session() {
    let files = Files::new();
    let folder = files.folder();
    keep(&folder, "p/s.jsonl", "claude-subagent.jsonl");
    let main = format!("{folder}/p/s.jsonl");
    let tokens = |paths: &[&str]| {
        let said = run(&[&["import"], paths].concat());
        assert_eq!(said.code, 0, "{}", said.stderr);
        let found = lines(&said.stdout);
        assert_eq!(found.len(), 1);
        (found[0]["data"]["tokens"].as_u64().unwrap(), said.stderr)
    };
    let (alone, _) = tokens(&[&main]);
    // The session's own name, as the client has it.
    let text = fs::read_to_string(fixture("claude-of-a-subagent.jsonl")).unwrap();
    let text = text.replace("4000-8000-000000000002", "4000-8000-000000000001");
    let place = format!("{folder}/p/s/subagents/agent-1.jsonl");
    fs::create_dir_all(Path::new(&place).parent().unwrap()).unwrap();
    fs::write(&place, text).unwrap();
    for paths in [&[main.as_str()][..], &[&folder]] {
        let (together, said) = tokens(paths);
        assert_eq!(together, alone + 2353, "{paths:?}");
        assert!(said.contains("subagents   1 transcript\n"), "{said}");
        assert!(!said.contains("skipped"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn each_file_of_a_folder_that_gives_no_run_is_named_with_the_reason() {
    let files = Files::new();
    let folder = files.folder();
    keep(&folder, "good.jsonl", "codex.jsonl");
    files.write("empty.jsonl", "");
    files.write("foreign.jsonl", "{\"a\":1}\n");
    files.write("notes.txt", "hello");
    files.write("evil\u{1b}[31m.txt", "x");
    files.write("ralph-loop.local.md", "no front matter");
    std::os::unix::fs::symlink("/nowhere", format!("{folder}/dangling.jsonl")).unwrap();
    fs::create_dir(format!("{folder}/folder.jsonl")).unwrap();
    let said = run(&["import", &folder]);
    assert_eq!(said.code, 0);
    assert_eq!(lines(&said.stdout).len(), 1);
    for (name, reason) in [
        ("empty.jsonl", "it is empty"),
        (
            "foreign.jsonl",
            "it is not a transcript of Claude Code, Codex or Gemini",
        ),
        ("notes.txt", "its name is not that of a transcript"),
        (
            "evil\\u{1b}[31m.txt",
            "its name is not that of a transcript",
        ),
        ("ralph-loop.local.md", "it is not the state of a loop: "),
        ("dangling.jsonl", "it is not there"),
    ] {
        let line = format!("  {folder}/{name}: {reason}");
        assert!(said.stderr.contains(&line), "{line}\n{}", said.stderr);
    }
    assert!(
        said.stderr.contains("skipped     6 files\n"),
        "{}",
        said.stderr
    );
}

#[test]
fn runs_are_chosen_by_client_time_and_folder_and_marked() {
    let folder = fixture("");
    let ids = |arguments: &[&str]| -> Vec<String> {
        let said = run(&[&["import", &folder], arguments].concat());
        let id = |line: &Value| line["data"]["id"].as_str().unwrap().to_owned();
        lines(&said.stdout).iter().map(id).collect()
    };
    let codex = ids(&["--client", "codex"]);
    assert!(codex.iter().all(|id| id.starts_with("codex:")), "{codex:?}");
    assert_eq!(codex.len(), 3);
    assert!(!ids(&["--since", "2026-01-01"]).contains(&"claude-code:older".to_owned()));
    assert_eq!(
        ids(&[
            "--project",
            "/project",
            "--since",
            "2025-09-01",
            "--client",
            "codex"
        ])
        .len(),
        2
    );
    assert_eq!(ids(&["--project", "/elsewhere"]), Vec::<String>::new());
    let split = ids(&["--each-prompt", "--client", "codex"]);
    assert!(split.contains(&"codex:long#2".to_owned()), "{split:?}");
    let said = run(&[
        "import",
        "--label",
        "arm=before",
        "--label",
        "task=parser",
        "--label",
        "task_class=fix",
        &fixture("codex.jsonl"),
    ]);
    let data = &lines(&said.stdout)[0]["data"];
    assert_eq!(
        (&data["task"], &data["task_class"]),
        (&"parser".into(), &"fix".into())
    );
    assert_eq!(data["labels"]["arm"], "before");
}

#[test]
fn a_session_that_is_in_two_files_has_two_ids() {
    let files = Files::new();
    let folder = files.folder();
    keep(&folder, "a.jsonl", "codex-older.jsonl");
    keep(&folder, "b.jsonl", "codex-older.jsonl");
    let said = run(&["import", &folder]);
    let ids: Vec<_> = lines(&said.stdout)
        .iter()
        .map(|line| line["data"]["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids, ["codex:older", "codex:older~2"]);
}

#[test]
fn a_loop_whose_transcript_is_not_there_is_known_by_its_state() {
    let files = Files::new();
    let path = files.write(
        "ralph-loop.local.md",
        "---\nactive: true\niteration: 3\nmax_iterations: 9\ncompletion_promise: \"DONE\"\n---\n\nBuild it.\n",
    );
    let said = run(&["import", &path]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let data = &lines(&said.stdout)[0]["data"];
    assert_eq!(data["loop"]["ended"], "active");
    assert_eq!(
        (&data["iterations"], &data["why"]),
        (&3.into(), &"no_transcript".into())
    );
}

#[test]
fn mistakes_are_explained() {
    let files = Files::new();
    let empty = files.folder();
    for (arguments, expected) in [
        (
            vec!["import", "--since", "yesterday"],
            "error: --since yesterday is no day; write it as 2026-01-31\nhelp: see `ralph-gate --help`\n",
        ),
        (
            vec!["import", "--label", "x"],
            "error: --label x has no value; write it as NAME=VALUE\nhelp: see `ralph-gate --help`\n",
        ),
        (
            vec!["import", "/nowhere/at/all"],
            "error: /nowhere/at/all can't be read: there is no such file\nhelp: check the path\n",
        ),
        (vec!["import", &empty], "runs        0 in 0 transcripts\n"),
    ] {
        let said = run(&arguments);
        assert_eq!(
            (said.code, said.stderr.as_str()),
            (1, expected),
            "{arguments:?}"
        );
        assert_eq!(said.stdout, "");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = command(&["import", &fixture("")]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
}
