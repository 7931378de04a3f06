//! What no command should choke on: each kind of bad input, for each command that reads one.

use ralph_gate_tests::said::Said;

use crate::harness::{Files, run, run_with};

/// Commands that read a file, and what they read.
const JSON_COMMANDS: [&[&str]; 3] = [&["evaluate"], &["fingerprint"], &["signal"]];
const ALL_COMMANDS: [&[&str]; 6] = [
    &["evaluate"],
    &["contract", "check"],
    &["route"],
    &["promise"],
    &["fingerprint"],
    &["signal"],
];

fn on_file(command: &[&str], file: &str) -> Said {
    run(&[command, &[file]].concat())
}

fn on_file_as_json(command: &[&str], file: &str) -> Said {
    run(&[command, &["--json", file]].concat())
}

/// The error on standard error is short, names the file and gives a remedy or a place.
fn assert_helps(run: &Said, file: &str) {
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains(file), "the file is not named: {run:?}");
    assert!(run.stderr.contains("error: "), "{run:?}");
    assert!(run.stderr.len() < 1000, "too long to read: {run:?}");
}

#[test]
fn a_missing_file_is_named() {
    for command in ALL_COMMANDS {
        assert_helps(
            &on_file(command, "no/such/file"),
            "no/such/file can't be read: there is no such file",
        );
        let json = on_file_as_json(command, "no/such/file");
        assert_eq!(json.error_code(), "unreadable_input", "{command:?}");
        assert_eq!(json.stderr, "");
    }
}

#[test]
fn a_folder_is_not_a_file() {
    let files = Files::new();
    for command in ALL_COMMANDS {
        assert_helps(&on_file(command, &files.folder()), "it is a folder");
        assert_eq!(
            on_file_as_json(command, &files.folder()).error_code(),
            "unreadable_input"
        );
    }
}

#[test]
fn bytes_that_are_not_text_are_located() {
    let files = Files::new();
    let file = files.write("latin1.txt", b"one\nna\xefve\n");
    for command in ALL_COMMANDS {
        let run = on_file(command, &file);
        assert_helps(&run, &file);
        assert!(run.stderr.contains("byte 6, in line 2"), "{run:?}");
        assert_eq!(on_file_as_json(command, &file).error_code(), "not_utf8");
    }
}

#[test]
fn one_hundred_megabytes_are_refused_with_size_and_limit() {
    let files = Files::new();
    let file = files.write("large.txt", "");
    // A file with a hole: as large as it says, without the disk space.
    std::fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_len(100_000_000)
        .unwrap();
    for command in ALL_COMMANDS {
        let run = on_file(command, &file);
        assert_helps(&run, &file);
        assert!(
            run.stderr
                .contains("100000000 bytes and the limit is 33554432"),
            "{run:?}"
        );
        assert_eq!(
            on_file_as_json(command, &file).error_code(),
            "input_too_large"
        );
    }
}

#[test]
fn a_problem_in_piped_text_is_shown_with_its_line_as_in_a_file() {
    let files = Files::new();
    for (command, text, line) in [
        (
            &["evaluate"][..],
            "{\n  \"contract\": { \"mode\": \"ralf\" },\n  \"iteration\": {}\n}\n",
            "   2 |   \"contract\": { \"mode\": \"ralf\" },\n     |                         ^^^^^^\n",
        ),
        (
            &["fingerprint"],
            "{\n  \"index\": one\n}\n",
            "   2 |   \"index\": one\n     |            ^",
        ),
    ] {
        let piped = run_with(command, text.as_bytes());
        assert!(piped.stderr.contains(line), "{}", piped.stderr);
        let file = files.write("input.json", text);
        let named = on_file(command, &file);
        assert_eq!(named.stderr.replace(&file, "standard input"), piped.stderr);
    }
}

#[test]
fn standard_input_is_not_read_beyond_the_limit() {
    let run = run_with(&["promise"], &vec![b'x'; (32 << 20) + 1]);
    assert_helps(&run, "standard input has more than 33554432 bytes");
}

#[test]
fn a_text_that_is_too_large_only_as_json_is_explained() {
    // Each of these bytes takes six in JSON.
    let run = run_with(&["promise"], &vec![1; 6 << 20]);
    assert_helps(
        &run,
        "standard input has 37748749 bytes as JSON and the limit is 33554432",
    );
}

#[cfg(unix)]
#[test]
fn an_endless_file_is_not_read_beyond_the_limit() {
    assert_helps(
        &on_file(&["promise"], "/dev/zero"),
        "/dev/zero has more than 33554432 bytes",
    );
}

#[test]
fn garbage_is_not_json() {
    let files = Files::new();
    for text in [
        "",
        " \n",
        "garbage",
        "{",
        "{\"iteration\": ",
        "[1, 2",
        "{\"a\": 1} {\"b\": 2}",
        "\"\\ud800\"",
    ] {
        let file = files.write("input.json", text);
        for command in JSON_COMMANDS {
            let run = on_file(command, &file);
            assert_helps(&run, &file);
            let json = on_file_as_json(command, &file);
            assert_eq!(json.error_code(), "invalid_json", "{command:?} {text:?}");
        }
    }
}

#[test]
fn the_place_where_json_breaks_is_named() {
    let files = Files::new();
    let file = files.write("input.json", "{\n  \"index\": 1,\n  oops\n}\n");
    for command in JSON_COMMANDS {
        let run = on_file(command, &file);
        assert_helps(&run, &format!("{file}:3:3: "));
    }
}

#[test]
fn json_of_the_wrong_shape_is_explained() {
    let files = Files::new();
    for text in ["[]", "null", "1", "\"text\"", "{\"no_such_field\": 1}"] {
        let file = files.write("input.json", text);
        for command in JSON_COMMANDS {
            let run = on_file(command, &file);
            assert_helps(&run, &file);
            assert_eq!(
                on_file_as_json(command, &file).error_code(),
                "invalid_input",
                "{command:?} {text}"
            );
        }
    }
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    let files = Files::new();
    for text in [
        "[".repeat(1_000_000),
        format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)),
    ] {
        let file = files.write("deep.json", &text);
        for command in [&["evaluate"][..], &["fingerprint"], &["signal"], &["route"]] {
            let run = on_file(command, &file);
            assert_helps(&run, &file);
        }
        assert_eq!(on_file(&["contract", "check"], &file).code, 1);
    }
}

#[test]
fn a_contract_that_is_garbage_is_a_problem_with_a_place() {
    let files = Files::new();
    for (name, text) in [
        ("c.json", "{"),
        ("c.yaml", "a: [1"),
        ("c.toml", "a = "),
        ("c.txt", ""),
    ] {
        let file = files.write(name, text);
        let run = on_file(&["contract", "check"], &file);
        assert_eq!(run.code, 1, "{name}: {run:?}");
        assert!(run.stdout.contains(": error: "), "{name}: {run:?}");
        assert!(
            run.stdout.contains("contract is not valid"),
            "{name}: {run:?}"
        );
    }
}

#[test]
fn an_empty_output_has_no_promise() {
    assert_eq!(run(&["promise"]).code, 0);
}

#[cfg(unix)]
#[test]
fn a_file_name_that_is_not_text_is_still_a_file_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let run = run(&[OsStr::new("promise"), OsStr::from_bytes(b"na\xefve.txt")]);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.contains("can't be read: there is no such file"),
        "{run:?}"
    );
}
