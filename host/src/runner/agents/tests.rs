//! What the real clients printed, whole and in every damaged shape.

use super::bounded::{LINE_LIMIT, TAIL_LIMIT};
use super::*;

const ANSWER: &str = "The tests pass now.\n\n<promise>COMPLETE</promise>";

const CLAUDE_TOOLS: &[u8] = include_bytes!("fixtures/claude-tools.jsonl");
const CLAUDE_PARTIAL: &[u8] = include_bytes!("fixtures/claude-partial.jsonl");
const CLAUDE_SUBAGENT: &[u8] = include_bytes!("fixtures/claude-subagent.jsonl");
const CLAUDE_TWO: &[u8] = include_bytes!("fixtures/claude-two-results.jsonl");
const CLAUDE_CONTINUED: &[u8] = include_bytes!("fixtures/claude-continued.jsonl");
const CLAUDE_STOP_HOOK: &[u8] = include_bytes!("fixtures/claude-stop-hook.jsonl");
const CLAUDE_ERROR: &[u8] = include_bytes!("fixtures/claude-error.jsonl");
const CLAUDE_MAX_TURNS: &[u8] = include_bytes!("fixtures/claude-max-turns.jsonl");
const CLAUDE_JSON: &[u8] = include_bytes!("fixtures/claude.json");
const CLAUDE_VERBOSE: &[u8] = include_bytes!("fixtures/claude-verbose.json");
const CLAUDE_TEXT: &[u8] = include_bytes!("fixtures/claude.txt");
const CODEX_TOOLS: &[u8] = include_bytes!("fixtures/codex-tools.jsonl");
const CODEX_RESUMED: &[u8] = include_bytes!("fixtures/codex-resumed.jsonl");
const CODEX_ERROR: &[u8] = include_bytes!("fixtures/codex-error.jsonl");
const GEMINI_TOOLS: &[u8] = include_bytes!("fixtures/gemini-tools.jsonl");
const GEMINI_HOOK: &[u8] = include_bytes!("fixtures/gemini-hook.jsonl");
const GEMINI_ERROR: &[u8] = include_bytes!("fixtures/gemini-error.jsonl");
const GEMINI_JSON: &[u8] = include_bytes!("fixtures/gemini.json");

const ALL: &[(Client, Form, &[u8])] = &[
    (Client::Claude, Form::Stream, CLAUDE_TOOLS),
    (Client::Claude, Form::Stream, CLAUDE_PARTIAL),
    (Client::Claude, Form::Stream, CLAUDE_SUBAGENT),
    (Client::Claude, Form::Stream, CLAUDE_TWO),
    (Client::Claude, Form::Stream, CLAUDE_CONTINUED),
    (Client::Claude, Form::Stream, CLAUDE_STOP_HOOK),
    (Client::Claude, Form::Stream, CLAUDE_ERROR),
    (Client::Claude, Form::Stream, CLAUDE_MAX_TURNS),
    (Client::Claude, Form::Json, CLAUDE_JSON),
    (Client::Claude, Form::Json, CLAUDE_VERBOSE),
    (Client::Claude, Form::Text, CLAUDE_TEXT),
    (Client::Codex, Form::Stream, CODEX_TOOLS),
    (Client::Codex, Form::Stream, CODEX_RESUMED),
    (Client::Codex, Form::Stream, CODEX_ERROR),
    (Client::Gemini, Form::Stream, GEMINI_TOOLS),
    (Client::Gemini, Form::Stream, GEMINI_HOOK),
    (Client::Gemini, Form::Stream, GEMINI_ERROR),
    (Client::Gemini, Form::Json, GEMINI_JSON),
];

fn read(client: Client, form: Form, output: impl AsRef<[u8]>) -> Turn {
    let mut reader = Reader::new(client, form);
    reader.feed(output.as_ref());
    reader.finish()
}

fn claude(output: impl AsRef<[u8]>) -> Turn {
    read(Client::Claude, Form::Stream, output)
}

fn codex(output: impl AsRef<[u8]>) -> Turn {
    read(Client::Codex, Form::Stream, output)
}

fn gemini(output: impl AsRef<[u8]>) -> Turn {
    read(Client::Gemini, Form::Stream, output)
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn prepared(line: &str) -> (String, Form) {
    let argv = words(line);
    let prepared = Client::recognise(&argv).prepare(&argv);
    (prepared.argv.join(" "), prepared.form)
}

mod clients {
    use super::*;

    #[test]
    fn every_client_has_one_name_everywhere() {
        for client in Client::ALL {
            assert_eq!(Client::by_name(client.name()), Some(client));
            let json = serde_json::to_string(&client).unwrap();
            assert_eq!(json, format!("\"{client}\""));
        }
        assert_eq!(Client::by_name("Claude"), None);
    }

    #[test]
    fn credentials_are_sorted_names_and_a_plain_command_gets_none() {
        for client in Client::ALL {
            assert!(client.credentials().is_sorted());
        }
        assert!(Client::Command.credentials().is_empty());
    }

    #[test]
    fn a_form_is_asked_for_where_the_person_chose_none() {
        let lines = [
            (
                "claude -p",
                "claude --output-format stream-json --verbose -p",
            ),
            (
                "claude -cp",
                "claude --output-format stream-json --verbose -cp",
            ),
            (
                "env A=1 claude --print -- x",
                "env A=1 claude --output-format stream-json --verbose --print -- x",
            ),
            ("codex -m exec exec -", "codex -m exec exec --json -"),
            ("codex e resume --last", "codex e --json resume --last"),
            (
                "npx -y @openai/codex exec x",
                "npx -y @openai/codex exec --json x",
            ),
            ("codex exec -- --json", "codex exec --json -- --json"),
            ("gemini --yolo -p x", "gemini -o stream-json --yolo -p x"),
        ];
        for (line, expected) in lines {
            assert_eq!(
                prepared(line),
                (expected.to_owned(), Form::Stream),
                "{line}"
            );
        }
    }

    #[test]
    fn a_form_that_the_person_chose_is_kept() {
        let lines = [
            ("claude -p --output-format json", Form::Json),
            ("claude -p --output-format=text", Form::Text),
            ("claude --output-format stream-json --verbose", Form::Stream),
            ("claude -p --output-format", Form::Text),
            ("codex exec --json x", Form::Stream),
            ("gemini -o json", Form::Json),
            ("gemini --output-format=stream-json", Form::Stream),
            ("gemini -ojson", Form::Text),
        ];
        for (line, form) in lines {
            assert_eq!(prepared(line), (line.to_owned(), form));
        }
    }

    #[test]
    fn a_command_line_that_prints_no_events_is_left_alone() {
        let lines = [
            "claude",
            "claude -- -p",
            "codex",
            "codex fix exec",
            "codex -- exec",
            "gemini mcp list",
            "gemini -i x",
            "sh -c claude",
            "",
        ];
        for line in lines {
            assert_eq!(prepared(line), (line.to_owned(), Form::Text));
        }
    }

    #[test]
    fn a_client_named_by_hand_is_not_given_words_that_its_wrapper_would_take() {
        for (line, form) in [
            ("my-agent -p", Form::Stream),
            ("my-agent -p --output-format stream-json", Form::Stream),
            ("my-agent -p --output-format json", Form::Json),
            ("my-agent -p --output-format=text", Form::Text),
        ] {
            let argv = words(line);
            let expected = Prepared::unchanged(&argv, form);
            assert_eq!(Client::Claude.prepare(&argv), expected, "{line}");
        }
        let argv = words("my-agent --output-format json");
        assert_eq!(
            Client::Command.prepare(&argv),
            Prepared::unchanged(&argv, Form::Text)
        );
    }
}

mod recorded {
    use super::*;

    #[test]
    fn claude_gives_answer_tools_tokens_and_cost() {
        let turn = claude(CLAUDE_TOOLS);
        assert_eq!(turn.output, ANSWER);
        assert_eq!((turn.tool_calls, turn.tokens), (2, 22 + 600 + 4000 + 84));
        assert_eq!(turn.cost_usd.as_deref(), Some("0.005568"));
        assert_eq!(turn.span, Span::Run);
        assert_eq!(
            turn.session_id.as_deref(),
            Some("00000000-0000-4000-8000-000000000001")
        );
        assert_eq!((turn.error, turn.omitted), (None, 0));
        assert!(turn.warnings.is_empty());
    }

    #[test]
    fn partial_messages_count_no_call_twice() {
        let mut turn = claude(CLAUDE_PARTIAL);
        turn.session_id = claude(CLAUDE_TOOLS).session_id;
        assert_eq!(turn, claude(CLAUDE_TOOLS));
    }

    #[test]
    fn a_subagents_calls_and_tokens_count_and_its_words_do_not() {
        let turn = claude(CLAUDE_SUBAGENT);
        assert_eq!((turn.output.as_str(), turn.tool_calls), (ANSWER, 2));
        assert_eq!(turn.tokens, 44 + 1200 + 8000 + 168);
        let without_result = lines_of(CLAUDE_SUBAGENT, |line| {
            line.contains("\"toolu_agent\"") && !line.contains("\"type\":\"result\"")
        });
        assert_eq!(claude(without_result).output, "");
    }

    #[test]
    fn several_results_of_one_run_are_added_up() {
        let turn = claude(CLAUDE_TWO);
        assert_eq!(
            (turn.tokens, turn.cost_usd.as_deref()),
            (2 * 2353, Some("0.005568"))
        );
        assert_eq!(turn.span, Span::Run);
    }

    #[test]
    fn of_several_statements_of_what_was_used_the_largest_counts() {
        let forged = [
            (
                Client::Claude,
                CLAUDE_TOOLS,
                r#"{"type":"result","subtype":"success","total_cost_usd":0,"usage":{},"modelUsage":{}}"#,
            ),
            (
                Client::Codex,
                CODEX_TOOLS,
                r#"{"type":"turn.completed","usage":{"input_tokens":0,"output_tokens":0}}"#,
            ),
            (
                Client::Gemini,
                GEMINI_TOOLS,
                r#"{"type":"result","status":"success","stats":{"total_tokens":0}}"#,
            ),
        ];
        for (client, output, line) in forged {
            let honest = read(client, Form::Stream, output);
            let forged = [output, b"\n", line.as_bytes(), b"\n"].concat();
            let turn = read(client, Form::Stream, forged);
            assert_eq!(
                (turn.tokens, turn.cost_usd),
                (honest.tokens, honest.cost_usd)
            );
        }
    }

    #[test]
    fn denied_tools_are_named_once_each() {
        let line = r#"{"type":"result","subtype":"success","result":"x","total_cost_usd":1,
            "permission_denials":[{"tool_name":"Write"},{"tool_name":"Bash"},{"tool_name":"Bash"},{}]}"#;
        assert_eq!(claude(line.replace('\n', "")).denied, ["Bash", "Write"]);
        assert!(claude(CLAUDE_TOOLS).denied.is_empty());
    }

    #[test]
    fn a_continued_session_of_claude_costs_only_what_this_run_cost() {
        let turn = claude(CLAUDE_CONTINUED);
        assert_eq!(
            (turn.tokens, turn.cost_usd.as_deref()),
            (2353, Some("0.002784"))
        );
        assert_eq!(turn.span, Span::Run);
    }

    #[test]
    fn a_document_of_claude_has_the_sessions_usage() {
        for output in [CLAUDE_JSON, CLAUDE_VERBOSE] {
            let turn = read(Client::Claude, Form::Json, output);
            assert_eq!((turn.output.as_str(), turn.span), (ANSWER, Span::Session));
            assert!(turn.cost_usd.is_some() && turn.tokens > 0 && turn.error.is_none());
        }
    }

    #[test]
    fn only_the_answer_after_a_blocked_stop_counts() {
        assert_eq!(claude(CLAUDE_STOP_HOOK).output, ANSWER);
        let turn = gemini(GEMINI_HOOK);
        assert_eq!(turn.output, ANSWER);
        assert_eq!(turn.warnings, ["Agent execution blocked: not yet"]);
        assert_eq!(turn.error, None);
    }

    #[test]
    fn an_error_of_the_model_is_an_error_of_the_turn() {
        let turn = claude(CLAUDE_ERROR);
        assert_eq!(
            turn.error.as_deref(),
            Some("API Error: 400 the scripted model refuses")
        );
        let turn = claude(CLAUDE_MAX_TURNS);
        assert_eq!(
            turn.error.as_deref(),
            Some("Reached maximum number of turns (1)")
        );
        assert_eq!(
            (turn.tool_calls, turn.cost_usd.as_deref()),
            (2, Some("0.002784"))
        );
        for turn in [codex(CODEX_ERROR), gemini(GEMINI_ERROR)] {
            assert!(turn.error.unwrap().contains("the scripted model refuses"));
            assert_eq!((turn.output.as_str(), turn.tokens), ("", 0));
        }
    }

    #[test]
    fn codex_gives_answer_tools_and_tokens() {
        let turn = codex(CODEX_TOOLS);
        assert_eq!(turn.output, ANSWER);
        assert_eq!((turn.tool_calls, turn.tokens), (3, 2100));
        assert_eq!(
            (turn.cost_usd, turn.error, turn.span),
            (None, None, Span::Session)
        );
        assert!(turn.session_id.is_some());
        assert_eq!(turn.warnings.len(), 1);
        assert_eq!(codex(CODEX_RESUMED).span, Span::Session);
    }

    #[test]
    fn gemini_gives_answer_tools_and_tokens() {
        let turn = gemini(GEMINI_TOOLS);
        assert_eq!(turn.output, ANSWER);
        assert_eq!((turn.tool_calls, turn.tokens), (2, 1870));
        assert_eq!((turn.cost_usd.as_ref(), turn.error.as_ref()), (None, None));
        let document = read(Client::Gemini, Form::Json, GEMINI_JSON);
        assert_eq!(
            (
                document.output,
                document.tool_calls,
                document.tokens,
                document.span
            ),
            (turn.output, turn.tool_calls, turn.tokens, turn.span)
        );
    }

    #[test]
    fn a_tool_that_prints_a_result_line_ends_nothing() {
        let until_tool = lines_of(CLAUDE_TOOLS, |line| !line.contains("total_cost_usd"));
        let turn = claude(until_tool);
        assert!(turn.error.is_some() && turn.cost_usd.is_none());
        let commands = lines_of(CODEX_TOOLS, |line| line.contains("command_execution"));
        assert_eq!(codex(commands).output, "");
        let tools = lines_of(GEMINI_TOOLS, |line| line.contains("\"tool_id\""));
        assert!(gemini(tools).error.is_some());
    }

    #[test]
    fn text_is_not_parsed() {
        let turn = read(Client::Claude, Form::Text, CLAUDE_TOOLS);
        assert_eq!(turn.output.as_bytes(), CLAUDE_TOOLS);
        assert_eq!((turn.tool_calls, turn.cost_usd), (0, None));
        assert_eq!(
            read(Client::Command, Form::Stream, CODEX_TOOLS)
                .output
                .as_bytes(),
            CODEX_TOOLS
        );
    }

    #[test]
    fn no_fixture_names_a_machine() {
        for (_, _, output) in ALL {
            let text = std::str::from_utf8(output).unwrap();
            for word in ["/tmp", "/root", "/Users", "test-key", "sk-"] {
                assert!(!text.contains(word), "{word}");
            }
        }
    }

    fn lines_of(output: &[u8], keep: impl Fn(&str) -> bool) -> String {
        let lines = std::str::from_utf8(output).unwrap().split_inclusive('\n');
        lines.filter(|line| keep(line)).collect()
    }
}

mod damaged {
    use super::*;

    /// A small generator of numbers, the same in each run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).unwrap() % limit
        }
    }

    fn chunked(client: Client, form: Form, chunks: impl Iterator<Item = Vec<u8>>) -> Turn {
        let mut reader = Reader::new(client, form);
        for chunk in chunks {
            reader.feed(&chunk);
            reader.activity();
        }
        reader.finish()
    }

    #[test]
    fn every_chunking_gives_the_same_turn() {
        for (client, form, output) in ALL {
            let whole = read(*client, *form, output);
            for size in (1..100).chain((100..output.len()).step_by(output.len() / 50 + 1)) {
                let chunks = output.chunks(size).map(<[u8]>::to_vec);
                assert_eq!(chunked(*client, *form, chunks), whole);
            }
            // Every place of a short output, and about a thousand of a long one.
            for cut in (0..=output.len()).step_by(output.len() / 2000 + 1) {
                let (first, second) = output.split_at(cut);
                let chunks = [first.to_vec(), Vec::new(), second.to_vec()].into_iter();
                assert_eq!(chunked(*client, *form, chunks), whole);
            }
        }
    }

    #[test]
    fn a_stream_that_was_cut_off_is_an_error() {
        for (client, form, output) in ALL {
            let whole = read(*client, *form, output);
            for length in 0..output.len() {
                let turn = read(*client, *form, &output[..length]);
                let known = !turn
                    .warnings
                    .iter()
                    .any(|w| w.contains("plain text") || w.contains("nothing"));
                if *form == Form::Stream && known && turn.error.is_none() {
                    // Only where a turn was over: at the end, and after the first of two results.
                    assert!(
                        length + 1 == output.len() || *output == CLAUDE_TWO,
                        "{client} {length}"
                    );
                    assert_eq!(turn.output, whole.output);
                }
            }
        }
    }

    #[test]
    fn flipped_bytes_are_survived() {
        let mut numbers = Numbers(7);
        for (client, form, output) in ALL {
            for _ in 0..400 {
                let mut damaged = output.to_vec();
                for _ in 0..=numbers.below(6) {
                    let place = numbers.below(damaged.len());
                    damaged[place] = u8::try_from(numbers.below(256)).unwrap();
                }
                let cut = numbers.below(damaged.len());
                let chunks = [damaged[..cut].to_vec(), damaged[cut..].to_vec()].into_iter();
                assert_eq!(
                    chunked(*client, *form, chunks),
                    read(*client, *form, &damaged)
                );
            }
        }
    }

    #[test]
    fn every_client_survives_the_output_of_every_other() {
        for (_, _, output) in ALL {
            for client in Client::ALL {
                for form in [Form::Stream, Form::Json, Form::Text] {
                    let turn = read(client, form, output);
                    assert!(turn.output.len() <= TAIL_LIMIT);
                }
            }
        }
    }

    #[test]
    fn other_lines_between_events_are_passed_over_and_counted() {
        let mut output = b"npm warn something\r\n\r\n{\"type\":\"result\"\n\xff\xfe\n".to_vec();
        output.extend_from_slice(CODEX_TOOLS);
        let turn = codex(&output);
        assert_eq!(turn.output, ANSWER);
        assert_eq!(
            turn.warnings[0],
            "lines passed over that are no events of codex: 3"
        );
    }

    #[test]
    fn what_has_nothing_of_the_form_is_plain_text() {
        let events = "{\"a\":1}\nhello\n<promise>X</promise>";
        let cases = [
            (Client::Claude, Form::Stream, events),
            (Client::Gemini, Form::Json, "hello\n<promise>X</promise>"),
        ];
        for (client, form, output) in cases {
            let turn = read(client, form, output);
            assert_eq!(turn.output, output);
            assert_eq!(turn.warnings.len(), 1);
            assert!(
                turn.warnings[0].contains("plain text"),
                "{:?}",
                turn.warnings
            );
            assert_eq!(turn.error, None);
        }
        assert_eq!(claude("").warnings, ["claude printed nothing"]);
    }

    #[test]
    fn half_a_document_is_an_error_even_if_it_ends_with_a_promise() {
        for (client, document) in [
            (Client::Claude, CLAUDE_JSON),
            (Client::Claude, CLAUDE_VERBOSE),
            (Client::Gemini, GEMINI_JSON),
        ] {
            let text = std::str::from_utf8(document).unwrap();
            let end = text.rfind("</promise>").unwrap() + "</promise>".len();
            let turn = read(client, Form::Json, &text[..end]);
            assert_eq!(
                turn.error.unwrap(),
                format!("{client}'s document can't be read as a whole")
            );
        }
    }

    #[test]
    fn a_document_is_found_behind_the_words_of_a_wrapper() {
        for (client, document) in [
            (Client::Claude, CLAUDE_JSON),
            (Client::Claude, CLAUDE_VERBOSE),
            (Client::Gemini, GEMINI_JSON),
        ] {
            let mut output = b"npm warn something\n".to_vec();
            output.extend_from_slice(document);
            let turn = read(client, Form::Json, &output);
            assert_eq!((turn.output.as_str(), turn.warnings.len()), (ANSWER, 1));
        }
    }

    #[test]
    fn a_line_of_fifty_megabytes_is_passed_over_in_bounded_memory() {
        let mut reader = Reader::new(Client::Claude, Form::Stream);
        reader.feed(b"{\"type\":\"user\",\"message\":\"");
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..50 {
            reader.feed(&chunk);
        }
        reader.feed(b"\"}\n");
        reader.feed(CLAUDE_TOOLS);
        let turn = reader.finish();
        assert_eq!((turn.output.as_str(), turn.tool_calls), (ANSWER, 2));
        assert_eq!(
            turn.warnings,
            [format!(
                "passed over because they are longer than {LINE_LIMIT} bytes: 1"
            )]
        );
    }

    #[test]
    fn fifty_megabytes_of_text_leave_the_last_one() {
        for (client, form) in [
            (Client::Command, Form::Text),
            (Client::Claude, Form::Json),
            (Client::Codex, Form::Stream),
        ] {
            let mut reader = Reader::new(client, form);
            let chunk = vec![b'x'; 1 << 20];
            for _ in 0..50 {
                reader.feed(&chunk);
            }
            reader.feed(b"\n<promise>X</promise>");
            let turn = reader.finish();
            assert!(turn.output.ends_with("x\n<promise>X</promise>"));
            assert_eq!(turn.output.len(), TAIL_LIMIT);
            assert_eq!(turn.omitted, (49 << 20) + 21);
        }
    }

    #[test]
    fn a_long_answer_keeps_its_end() {
        let answer = format!("{}END", "é".repeat(TAIL_LIMIT));
        let line = serde_json::json!({ "type": "result", "is_error": false, "result": answer });
        let turn = claude(line.to_string());
        assert!(turn.output.ends_with("éEND") && turn.output.len() <= TAIL_LIMIT);
        assert_eq!(turn.output.len() as u64 + turn.omitted, answer.len() as u64);
    }

    #[test]
    fn broken_characters_in_an_answer_are_replaced() {
        let line = b"{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"a\xffb\\ud83d\"}}\n";
        let turn = codex(line);
        assert!(turn.output.starts_with("a\u{fffd}b\u{fffd}"));
    }

    #[test]
    fn numbers_out_of_range_saturate() {
        let usage = r#"{"type":"turn.completed","usage":{"input_tokens":99999999999999999999999,"output_tokens":9e99}}"#;
        assert_eq!(codex(usage).tokens, u32::MAX);
        let negative = r#"{"type":"result","total_cost_usd":-1,"usage":{"input_tokens":-5,"output_tokens":7}}"#;
        let turn = claude(negative);
        assert_eq!((turn.tokens, turn.cost_usd), (7, None));
        assert_eq!(turn.warnings.len(), 1);
        let calls = r#"{"type":"result","status":"success","stats":{"tool_calls":99999999999}}"#;
        assert_eq!(gemini(calls).tool_calls, u32::MAX);
    }

    #[test]
    fn nesting_bombs_are_harmless() {
        let bomb = "[".repeat(1 << 20);
        let line = format!("{{\"type\":\"user\",\"message\":{bomb}");
        let output = format!("{bomb}\n{line}\n{}\n", "{\"a\":".repeat(1 << 18));
        for client in Client::ALL {
            for form in [Form::Stream, Form::Json] {
                read(client, form, &output);
            }
        }
    }
}

mod rules {
    use super::*;

    fn result(fields: &str) -> String {
        format!("{{\"type\":\"result\",\"is_error\":false,{fields}}}\n")
    }

    #[test]
    fn of_several_results_the_last_answer_counts() {
        let output = result("\"result\":\"first\",\"total_cost_usd\":1")
            + &result("\"result\":\"last\",\"total_cost_usd\":2.5");
        let turn = claude(output);
        assert_eq!(
            (turn.output.as_str(), turn.cost_usd.as_deref()),
            ("last", Some("2.5"))
        );
    }

    #[test]
    fn a_cost_is_never_a_float() {
        let turn = claude(result("\"total_cost_usd\":0.30000000000000004"));
        assert_eq!(turn.cost_usd.as_deref(), Some("0.30000000000000004"));
        assert_eq!(turn.cost_rounded_up(12).as_deref(), Some("0.300000000001"));
        assert_eq!(
            claude(result("\"total_cost_usd\":5.5e-7"))
                .cost_usd
                .as_deref(),
            Some("0.00000055")
        );
    }

    #[test]
    fn without_a_result_the_last_message_of_claude_is_the_answer() {
        let block = |id: &str, text: &str| {
            let content = serde_json::json!([{ "type": "text", "text": text }]);
            format!(
                "{}\n",
                serde_json::json!({ "type": "assistant", "message": { "id": id, "content": content } })
            )
        };
        let turn = claude(block("a", "old") + &block("b", "one") + &block("b", "two"));
        assert_eq!(turn.output, "one\ntwo");
        assert_eq!(
            turn.error.as_deref(),
            Some("claude ended before it said that its turn was over")
        );
    }

    #[test]
    fn calls_without_an_identity_count_each_time_and_the_same_identity_once() {
        let call = |id: &str| {
            format!(
                r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":{id},"name":"Bash"}}]}}}}"#
            ) + "\n"
        };
        let output = [
            call("\"a\""),
            call("\"a\""),
            call("\"b\""),
            call("null"),
            call("7"),
        ]
        .concat();
        assert_eq!(claude(output).tool_calls, 4);
        let many: String = (0..20_000).map(|id| call(&format!("\"{id}\""))).collect();
        assert_eq!(claude(many).tool_calls, 20_000);
    }

    #[test]
    fn a_lost_connection_that_codex_got_over_is_a_warning() {
        let lost = "{\"type\":\"error\",\"message\":\"Reconnecting... 1/5\"}\n";
        let end =
            "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}\n";
        let turn = codex(format!("{lost}{end}"));
        assert_eq!(
            (turn.error, turn.warnings, turn.tokens),
            (None, vec!["Reconnecting... 1/5".to_owned()], 3)
        );
        assert_eq!(codex(lost).error.as_deref(), Some("Reconnecting... 1/5"));
    }

    #[test]
    fn codex_counts_only_tools_that_completed() {
        let item = |event: &str, kind: &str| {
            format!("{{\"type\":\"item.{event}\",\"item\":{{\"type\":\"{kind}\"}}}}\n")
        };
        let kinds = [
            "command_execution",
            "file_change",
            "mcp_tool_call",
            "web_search",
            "collab_tool_call",
        ];
        let tools: String = kinds
            .iter()
            .map(|kind| item("started", kind) + &item("completed", kind))
            .collect();
        let others: String = ["reasoning", "agent_message", "todo_list", "error", "new"]
            .iter()
            .map(|kind| item("completed", kind))
            .collect();
        assert_eq!(codex(tools + &others).tool_calls, 5);
    }

    #[test]
    fn what_gemini_said_before_a_tool_is_no_answer() {
        let said = "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"<promise>X</promise>\",\"delta\":true}\n";
        let tool = "{\"type\":\"tool_use\",\"tool_name\":\"ls\",\"tool_id\":\"1\"}\n";
        assert_eq!(gemini(format!("{said}{tool}")).output, "");
        assert_eq!(
            gemini(format!("{said}{tool}{said}")).output,
            "<promise>X</promise>"
        );
    }

    #[test]
    fn an_error_that_gemini_got_over_is_a_warning() {
        let error = "{\"type\":\"error\",\"severity\":\"error\",\"message\":\"busy\"}\n";
        let said = "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"done\"}\n";
        let end = "{\"type\":\"result\",\"status\":\"success\",\"stats\":{}}\n";
        let turn = gemini(format!("{error}{said}{end}"));
        assert_eq!((turn.error, turn.warnings), (None, vec!["busy".to_owned()]));
        assert_eq!(
            gemini(format!("{said}{error}{end}")).error.as_deref(),
            Some("busy")
        );
        assert_eq!(gemini(format!("{said}{error}{end}")).output, "done");
    }

    #[test]
    fn warnings_of_a_client_are_bounded() {
        let mut output = String::new();
        for number in 0..1000 {
            let message = format!("{number} {}", "x".repeat(5000));
            let event =
                serde_json::json!({ "type": "error", "severity": "warning", "message": message });
            output += &format!("{event}\n");
        }
        let turn = gemini(output + "no event");
        assert_eq!(turn.warnings.len(), 17);
        assert!(turn.warnings.iter().all(|warning| warning.len() < 1100));
        assert!(turn.warnings[0].starts_with("lines passed over"));
    }

    #[test]
    fn the_newest_activity_is_told_once() {
        let mut reader = Reader::new(Client::Claude, Form::Stream);
        let mut seen = Vec::new();
        for line in CLAUDE_TOOLS.split_inclusive(|byte| *byte == b'\n') {
            reader.feed(line);
            seen.extend(reader.activity());
            assert_eq!(reader.activity(), None);
        }
        assert_eq!(seen[0], "says: I will look first.");
        assert_eq!(seen[2], "tool: Bash printf 'two\\n'");
        assert_eq!(seen[3], "says: The tests pass now.");
        assert_eq!(seen.len(), 4);
    }

    #[test]
    fn activity_of_the_other_clients_names_the_tool_too() {
        for (client, output, tool) in [
            (
                Client::Codex,
                CODEX_TOOLS,
                "tool: file_change /project/hello.txt",
            ),
            (
                Client::Gemini,
                GEMINI_TOOLS,
                "tool: run_shell_command exit 3",
            ),
        ] {
            let mut reader = Reader::new(client, Form::Stream);
            let mut seen = Vec::new();
            for byte in output {
                reader.feed(&[*byte]);
                seen.extend(reader.activity());
            }
            let shown = seen.iter().filter(|line| *line == tool);
            assert_eq!(shown.count(), 1, "{seen:?}");
        }
    }

    #[test]
    fn activity_of_a_command_is_its_newest_line_without_terminal_codes() {
        let mut reader = Reader::new(Client::Command, Form::Text);
        assert_eq!(reader.activity(), None);
        reader.feed(b"one\n\x1b[32mtwo\x1b[0m\x07\n\n");
        assert_eq!(reader.activity().as_deref(), Some("two"));
        assert_eq!(reader.activity(), None);
        reader.feed(b"");
        assert_eq!(reader.activity(), None);
    }

    #[test]
    fn a_session_that_is_no_name_is_not_believed() {
        let started = |id: &str| {
            codex(serde_json::json!({ "type": "thread.started", "thread_id": id }).to_string())
        };
        assert_eq!(started("abc").session_id.as_deref(), Some("abc"));
        for id in ["", "a\nb", &"x".repeat(300)] {
            assert_eq!(started(id).session_id, None);
        }
    }
}
