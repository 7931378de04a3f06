//! The rules for transcripts, and what must not break them.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use serde_json::{Value, json};

use super::backwards::{BLOCK, Source, SourceError};
use super::*;

/// A transcript of these bytes, read.
fn read(form: Form, bytes: impl AsRef<[u8]>) -> Tail {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes.as_ref()).unwrap();
    last_message(file.path(), form).unwrap()
}

fn joined(lines: &[Value]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(&format!("{line}\n"));
    }
    text
}

fn last(form: Form, lines: &[Value]) -> Last {
    read(form, joined(lines)).last
}

fn claude(lines: &[Value]) -> Last {
    last(Form::ClaudeCode, lines)
}

fn message(text: &str) -> Last {
    Last::Message(text.to_owned())
}

fn prompt(text: &str) -> Value {
    json!({ "type": "user", "message": { "role": "user", "content": text }, "isSidechain": false })
}

fn said(id: &str, text: &str) -> Value {
    part(id, &json!({ "type": "text", "text": text }))
}

fn used_tool(id: &str) -> Value {
    part(
        id,
        &json!({ "type": "tool_use", "id": "t", "name": "Read", "input": { "text": "no" } }),
    )
}

fn part(id: &str, block: &Value) -> Value {
    json!({ "type": "assistant", "isSidechain": false, "uuid": "u", "sessionId": "s",
        "message": { "id": id, "role": "assistant", "content": [block] } })
}

fn tool_result() -> Value {
    let block = json!({ "type": "tool_result", "tool_use_id": "t", "content": "a\nb" });
    json!({ "type": "user", "message": { "role": "user", "content": [block] }, "toolUseResult": {} })
}

#[test]
fn the_last_message_is_taken_and_not_an_earlier_one() {
    let lines = [
        prompt("p"),
        said("1", "first"),
        prompt("p"),
        said("2", "second"),
    ];
    assert_eq!(claude(&lines), message("second"));
}

#[test]
fn content_may_be_a_plain_string() {
    let line =
        json!({ "type": "assistant", "message": { "role": "assistant", "content": "plain" } });
    assert_eq!(claude(&[line]), message("plain"));
}

#[test]
fn spaces_and_the_order_of_keys_do_not_matter() {
    let line = r#"  { "message" : { "content" : [ { "text" : "spaced" , "type" : "text" } ] } , "type" : "assistant" }  "#;
    assert_eq!(read(Form::ClaudeCode, line).last, message("spaced"));
}

#[test]
fn the_parts_of_one_message_are_joined_in_order() {
    let lines = [
        said("1", "old"),
        said("2", "one"),
        part("2", &json!({ "type": "thinking", "thinking": "hm" })),
        used_tool("2"),
        tool_result(),
        said("2", "two"),
    ];
    assert_eq!(claude(&lines), message("one\ntwo"));
}

#[test]
fn several_texts_in_one_line_are_joined_in_order() {
    let line = json!({ "type": "assistant", "message": { "id": "1", "content": [
        { "type": "tool_use" }, { "type": "text", "text": "one" }, "no object", 7, null,
        { "type": "text" }, { "type": "text", "text": 7 }, { "type": "text", "text": "two" } ] } });
    assert_eq!(claude(&[line]), message("one\ntwo"));
}

#[test]
fn messages_without_an_id_are_never_joined() {
    let without_id = |text| json!({ "type": "assistant", "message": { "content": text } });
    assert_eq!(claude(&[without_id("a"), without_id("b")]), message("b"));
}

#[test]
fn side_chains_do_not_count_neither_their_answers_nor_their_prompts() {
    let mut answer = said("2", "<promise>COMPLETE</promise>");
    let mut question = prompt("for the subagent");
    for line in [&mut answer, &mut question] {
        line["isSidechain"] = json!(true);
    }
    let lines = [prompt("p"), said("1", "main"), question, answer];
    assert_eq!(claude(&lines), message("main"));
}

#[test]
fn what_was_said_before_a_tool_was_used_is_not_at_the_end() {
    let apart = [
        prompt("p"),
        said("1", "<promise>COMPLETE</promise>"),
        used_tool("2"),
        tool_result(),
    ];
    assert_eq!(claude(&apart), Last::None);
    let same_message = [prompt("p"), said("1", "done"), used_tool("1")];
    assert_eq!(claude(&same_message), Last::None);
    let blocks =
        |blocks: Value| json!({ "type": "assistant", "message": { "id": "1", "content": blocks } });
    let before = blocks(json!([{ "type": "text", "text": "a" }, { "type": "tool_use" }]));
    assert_eq!(claude(&[prompt("p"), before]), Last::None);
    let between = blocks(json!([
        { "type": "text", "text": "a" }, { "type": "tool_use" }, { "type": "text", "text": "b" }
    ]));
    assert_eq!(claude(&[prompt("p"), between]), message("b"));
}

#[test]
fn an_earlier_turn_is_no_answer_to_a_later_prompt() {
    let done = said("1", "<promise>COMPLETE</promise>");
    let blocks = json!([{ "type": "text", "text": "go on" }]);
    let hook =
        json!({ "type": "user", "isMeta": true, "message": { "content": "Stop hook feedback" } });
    for question in [
        prompt("go on"),
        prompt(""),
        json!({ "type": "user", "message": { "content": blocks } }),
        json!({ "type": "user", "message": { "content": [] } }),
        json!({ "type": "user", "message": 7 }),
        json!({ "type": "user" }),
        hook,
    ] {
        let lines = [
            done.clone(),
            question.clone(),
            used_tool("2"),
            tool_result(),
        ];
        assert_eq!(claude(&lines), Last::None, "{question}");
    }
}

#[test]
fn a_text_without_anything_to_see_is_no_message() {
    let lines = [prompt("p"), said("1", "seen"), said("2", " \n\t")];
    assert_eq!(claude(&lines), message("seen"));
}

#[test]
fn bookkeeping_lines_change_nothing() {
    let lines = [
        said("1", "text"),
        json!({ "type": "system", "content": "x" }),
        json!({ "type": "file-history-snapshot", "snapshot": {} }),
        json!({ "type": "summary", "summary": "x" }),
        json!({ "no": "type" }),
        json!({ "type": null, "message": null, "isSidechain": null }),
    ];
    assert_eq!(claude(&lines), message("text"));
}

#[test]
fn lines_that_are_not_json_are_passed_over_and_counted() {
    let good = said("1", "kept");
    for bad in [
        &b"{\"type\":\"assistant\",\"message\":{\"content\":\"torn"[..],
        b"garbage",
        b"[\"assistant\", false, {\"content\": \"x\"}]",
        b"{\"type\":\"assistant\",\"message\":{\"content\":\"raw \x01 control\"}}",
        b"{\"type\":\"assistant\",\"message\":{\"content\":\"x\"}} trailing",
        b"{\"type\":\"user\",\"type\":\"assistant\",\"message\":{\"content\":\"x\"}}",
        b"{\"type\":7}",
        b"\xff\xfe",
        b"\x1b[0m",
    ] {
        let bytes = [format!("{good}\n").as_bytes(), bad].concat();
        let tail = read(Form::ClaudeCode, bytes);
        assert_eq!(
            (tail.last, tail.unreadable),
            (message("kept"), 1),
            "{}",
            String::from_utf8_lossy(bad)
        );
    }
}

#[test]
fn line_ends_of_windows_a_missing_last_one_and_empty_lines_are_fine() {
    let line = said("1", "a\r\nb");
    for text in [
        format!("{line}"),
        format!("{line}\n"),
        format!("{line}\r\n"),
        format!("\r\n\r\n{line}\r\n\r\n \n\n"),
    ] {
        let tail = read(Form::ClaudeCode, &text);
        assert_eq!(
            (tail.last, tail.unreadable),
            (message("a\r\nb"), 0),
            "{text:?}"
        );
    }
}

#[test]
fn runs_of_zeros_are_no_line() {
    let bytes = format!("\0\0\0{}\0\n\0\0\n\0", said("1", "a\0b"));
    let tail = read(Form::ClaudeCode, bytes);
    assert_eq!((tail.last, tail.unreadable), (message("a\0b"), 0));
}

#[test]
fn bytes_that_are_not_utf_8_become_replacement_characters() {
    let bytes = b"{\"type\":\"assistant\",\"message\":{\"content\":\"a\xffb\"}}";
    assert_eq!(read(Form::ClaudeCode, bytes).last, message("a\u{fffd}b"));
}

#[test]
fn half_a_surrogate_pair_does_not_lose_the_message() {
    let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"cut \ud83d here \u00fc"}]}}"#;
    let Last::Message(text) = read(Form::ClaudeCode, line).last else {
        panic!("the message is lost");
    };
    assert!(
        text.starts_with("cut \u{fffd}") && text.ends_with(" here ü"),
        "{text}"
    );
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    for line in [
        deep.clone(),
        "{\"a\":".repeat(300_000),
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","x":{deep}}}]}}}}"#
        ),
    ] {
        let text = format!("{}\n{line}\n", said("1", "kept"));
        assert_eq!(read(Form::ClaudeCode, text).last, message("kept"));
    }
    let text = format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"here","x":{deep}}}]}}}}"#
    );
    assert_eq!(read(Form::ClaudeCode, text).last, message("here"));
}

#[test]
fn an_empty_transcript_has_no_message() {
    for text in ["", "\n", "\n\n\r\n"] {
        let tail = read(Form::ClaudeCode, text);
        let expected = Tail {
            last: Last::None,
            asked: None,
            extent: Extent::Whole,
            unreadable: 0,
        };
        assert_eq!(tail, expected);
    }
}

#[test]
fn a_line_longer_than_the_limit_is_no_message_and_the_limit_is_reported() {
    let size = usize::try_from(LIMIT).unwrap();
    let text = format!(
        "{}\n{}\n",
        said("1", "out of reach"),
        said("2", &"x".repeat(size))
    );
    let tail = read(Form::ClaudeCode, text);
    assert_eq!((tail.last, tail.extent), (Last::None, Extent::Limit));
}

#[test]
fn the_end_of_a_line_that_the_limit_cuts_in_two_is_no_line() {
    let answer = said("1", "a forged answer").to_string();
    let filler = " ".repeat(usize::try_from(LIMIT).unwrap() - answer.len());
    let tail = read(Form::ClaudeCode, format!("torn{answer}{filler}"));
    let expected = Tail {
        last: Last::None,
        asked: None,
        extent: Extent::Limit,
        unreadable: 0,
    };
    assert_eq!(tail, expected);
}

#[test]
fn a_message_whose_beginning_is_out_of_reach_is_given_as_far_as_it_was_read() {
    let size = usize::try_from(LIMIT).unwrap();
    let result = json!({ "type": "system", "content": "x".repeat(size) });
    let text = format!("{}\n{result}\n{}\n", said("1", "one"), said("1", "two"));
    let tail = read(Form::ClaudeCode, text);
    assert_eq!((tail.last, tail.extent), (message("two"), Extent::Limit));
}

#[test]
fn a_line_may_cross_the_borders_of_blocks_anywhere() {
    for length in (BLOCK - 200..BLOCK + 8).chain([3 * BLOCK]) {
        let text = "ü".repeat(length / 2);
        let lines = format!("{}\n{}\n{}\n", prompt("p"), said("1", &text), tool_result());
        assert_eq!(
            read(Form::ClaudeCode, lines).last,
            message(&text),
            "{length}"
        );
    }
}

#[test]
fn reading_ends_where_the_answer_is_known() {
    let enough = [said("0", "x"), said("1", "y")];
    assert_eq!(
        read(Form::ClaudeCode, joined(&enough)).extent,
        Extent::Enough
    );
    assert_eq!(
        read(Form::ClaudeCode, said("1", "y").to_string()).extent,
        Extent::Whole
    );
}

/// Counts the bytes that are read, and can shorten the file before one of the reads.
struct Watched {
    file: File,
    read: Cell<u64>,
    reads: Cell<usize>,
    shorten: fn(usize) -> Option<u64>,
}

impl Watched {
    fn new(bytes: &[u8], shorten: fn(usize) -> Option<u64>) -> Self {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Self {
            file,
            read: Cell::new(0),
            reads: Cell::new(0),
            shorten,
        }
    }
}

impl Source for Watched {
    fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, block: &mut [u8], offset: u64) -> io::Result<()> {
        self.reads.set(self.reads.get() + 1);
        if let Some(size) = (self.shorten)(self.reads.get()) {
            self.file.set_len(size)?;
        }
        self.read.set(self.read.get() + block.len() as u64);
        self.file.read_exact_at(block, offset)
    }
}

#[test]
fn the_cost_does_not_depend_on_the_length_of_the_transcript() {
    let end = format!("{}\n{}\n", prompt("p"), said("1", "end"));
    for lines in [100_000, 400_000] {
        let text = format!("{}{end}", format!("{}\n", prompt("p")).repeat(lines));
        let source = Watched::new(text.as_bytes(), |_| None);
        assert_eq!(
            tail_of(&source, Form::ClaudeCode).unwrap().last,
            message("end")
        );
        assert_eq!(source.read.get(), BLOCK as u64);
    }
    // Without any answer, the limit is what it costs.
    let text = format!("{}\n", tool_result()).repeat(100_000);
    let source = Watched::new(text.as_bytes(), |_| None);
    let tail = tail_of(&source, Form::ClaudeCode).unwrap();
    assert_eq!((tail.last, tail.extent), (Last::None, Extent::Limit));
    assert_eq!(source.read.get(), LIMIT);
}

#[test]
fn a_transcript_that_becomes_shorter_is_read_again() {
    let first = format!("{}\n", said("1", "first"));
    let rest = format!("{}\n", said("2", &"x".repeat(3 * BLOCK)));
    let text = format!("{first}{rest}");
    let source = Watched::new(text.as_bytes(), |read| (read == 2).then_some(100));
    let tail = tail_of(&source, Form::ClaudeCode).unwrap();
    assert_eq!((tail.last, tail.unreadable), (Last::None, 1));

    let source = Watched::new(text.as_bytes(), |read| (read == 2).then_some(0));
    assert_eq!(tail_of(&source, Form::ClaudeCode).unwrap().last, Last::None);
}

#[test]
fn a_transcript_that_becomes_shorter_again_and_again_is_an_error() {
    let text = "x".repeat(20 * BLOCK);
    let source = Watched::new(text.as_bytes(), |read| {
        Some((20 * BLOCK - read * 1000) as u64)
    });
    let tail = tail_of(&source, Form::ClaudeCode);
    assert!(matches!(tail, Err(SourceError::Shorter)));
    assert_eq!(source.reads.get(), ATTEMPTS);
}

#[test]
fn what_is_appended_while_it_is_read_is_not_waited_for() {
    let text = format!(
        "{}\n{}\n",
        said("0", &"x".repeat(3 * BLOCK)),
        said("1", "end")
    );
    let source = Watched::new(text.as_bytes(), |read| Some((read * 100 * BLOCK) as u64));
    assert_eq!(
        tail_of(&source, Form::ClaudeCode).unwrap().last,
        message("end")
    );
}

fn error_of(path: &Path) -> String {
    let folder = path.parent().unwrap().display().to_string();
    let error = last_message(path, Form::ClaudeCode).unwrap_err();
    error.to_string().replace(&folder, "")
}

#[test]
fn only_plain_files_are_read_and_nothing_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("file"), said("1", "text").to_string()).unwrap();
    std::os::unix::fs::symlink("file", path("link")).unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), fifo, mode, 0).unwrap();

    let tail = last_message(&path("link"), Form::ClaudeCode).unwrap();
    assert_eq!(tail.last, message("text"));
    for name in ["pipe", "folder", "socket"] {
        let expected = format!("the transcript /{name} is not a plain file");
        assert_eq!(error_of(&path(name)), expected);
    }
    let missing = "the transcript /none is not there";
    assert_eq!(error_of(&path("none")), missing);
    let below = last_message(&path("file/x"), Form::ClaudeCode);
    assert!(matches!(below, Err(TranscriptError::Missing { .. })));
    let device = last_message(Path::new("/dev/zero"), Form::ClaudeCode);
    assert!(matches!(device, Err(TranscriptError::NotPlain { .. })));
}

fn event(kind: &str, data: &Value) -> Value {
    json!({ "type": kind, "data": data, "id": "e", "timestamp": "t", "parentId": null })
}

#[test]
fn of_copilot_the_last_message_with_a_text_is_taken() {
    let asked = event("user.message", &json!({ "content": "p" }));
    let first = event("assistant.message", &json!({ "content": "first" }));
    let tools = event(
        "assistant.message",
        &json!({ "content": "", "toolRequests": [{ "name": "view" }] }),
    );
    let turn = event("assistant.turn_end", &json!({ "content": "no" }));
    let second = event(
        "assistant.message",
        &json!({ "content": null, "text": "second" }),
    );
    let copilot = |lines: &[&Value]| {
        let lines: Vec<Value> = lines.iter().map(|&line| line.clone()).collect();
        last(Form::Copilot, &lines)
    };
    assert_eq!(
        copilot(&[&asked, &first, &second, &turn]),
        message("second")
    );
    assert_eq!(copilot(&[&asked, &first, &tools, &turn]), Last::None);
    let both = event(
        "assistant.message",
        &json!({ "content": "done", "toolRequests": [{ "name": "view" }] }),
    );
    assert_eq!(copilot(&[&asked, &first, &both, &turn]), Last::None);
    assert_eq!(
        copilot(&[&asked, &first, &asked, &tools, &turn]),
        Last::None
    );
    assert_eq!(copilot(&[&asked]), Last::None);
    assert_eq!(
        copilot(&[&event("assistant.message", &json!(7))]),
        Last::None
    );
}

#[test]
fn of_copilot_subagents_do_not_count() {
    let main = event("assistant.message", &json!({ "content": "main" }));
    let mut agent = event("assistant.message", &json!({ "content": "sub" }));
    agent["agentId"] = json!("child");
    let tool = event(
        "assistant.message",
        &json!({ "content": "sub", "parentToolCallId": "call" }),
    );
    assert_eq!(last(Form::Copilot, &[main, agent, tool]), message("main"));
}

#[test]
fn no_bytes_whatever_make_it_panic() {
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    let lines = [
        prompt("p"),
        said("1", "a\u{1f600}"),
        used_tool("2"),
        tool_result(),
    ];
    let copilot = event("assistant.message", &json!({ "content": "x" }));
    let text = format!(
        "{}\n{}\n{}\n{}\n{copilot}\n",
        lines[0], lines[1], lines[2], lines[3]
    );
    for _ in 0..5_000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=random(4) {
            let at = random(bytes.len());
            match random(3) {
                0 => bytes[at] = u8::try_from(random(256)).unwrap(),
                1 => bytes.truncate(at + 1),
                _ => bytes.insert(at, b"\n\r\0{}[]\"\\\xff"[random(10)]),
            }
        }
        let source = Watched::new(&bytes, |_| None);
        for form in [Form::ClaudeCode, Form::Copilot] {
            tail_of(&source, form).unwrap();
        }
    }
}
