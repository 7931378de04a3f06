//! The table of replies: what each client does with what a hook prints and how it exits.

use ralph_gate_tests::clients::Client;
use ralph_gate_tests::clients::stage::Stage;
use ralph_gate_tests::offline_tests;

/// What a client does after a reply of its hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Continues,
    Stops,
}
use Outcome::{Continues, Stops};

struct Row {
    title: &'static str,
    reply: &'static str,
    codex: Outcome,
    copilot: Outcome,
    /// Of Claude Code too, in both versions.
    gemini: Outcome,
}

const ROWS: &[Row] = &[
    Row {
        title: "the one reply that all clients accept",
        reply: r#"echo '{"decision":"block","reason":"go on"}'"#,
        codex: Continues,
        copilot: Continues,
        gemini: Continues,
    },
    Row {
        title: "a block with a message for the person",
        reply: r#"echo '{"decision":"block","reason":"go on","systemMessage":"seen"}'"#,
        codex: Continues,
        copilot: Continues,
        gemini: Continues,
    },
    Row {
        title: "exit 2, and the reason on standard error",
        reply: "echo 'go on' >&2; exit 2",
        codex: Continues,
        copilot: Stops,
        gemini: Continues,
    },
    Row {
        title: "exit 1 and a block",
        reply: r#"echo '{"decision":"block","reason":"go on"}'; exit 1"#,
        codex: Stops,
        copilot: Stops,
        gemini: Continues,
    },
    Row {
        title: "a block without a reason",
        reply: r#"echo '{"decision":"block"}'"#,
        codex: Stops,
        copilot: Stops,
        gemini: Continues,
    },
    Row {
        title: "a block with a field that nobody knows",
        reply: r#"echo '{"decision":"block","reason":"go on","iteration":1}'"#,
        codex: Stops,
        copilot: Continues,
        gemini: Continues,
    },
    Row {
        title: "exit 1 and standard error",
        reply: "echo 'go on' >&2; exit 1",
        codex: Stops,
        copilot: Stops,
        gemini: Stops,
    },
    Row {
        title: "a text before the object",
        reply: r#"echo log; echo '{"decision":"block","reason":"go on"}'"#,
        codex: Stops,
        copilot: Stops,
        gemini: Stops,
    },
    Row {
        title: "`continue: false` alone",
        reply: r#"echo '{"continue":false}'"#,
        codex: Stops,
        copilot: Stops,
        gemini: Stops,
    },
    Row {
        title: "a message for the person alone",
        reply: r#"echo '{"systemMessage":"seen"}'"#,
        codex: Stops,
        copilot: Stops,
        gemini: Stops,
    },
];

impl Row {
    fn outcome(&self, client: Client) -> Outcome {
        match client {
            Client::ClaudeCode | Client::Gemini | Client::OldClaudeCode => self.gemini,
            Client::Codex | Client::Opencode => self.codex,
            Client::Copilot => self.copilot,
        }
    }
}

/// All replies after which a client goes on are given in one session, which another one ends.
fn follows_the_table(client: Client) {
    let with = |outcome| {
        ROWS.iter()
            .filter(move |row| row.outcome(client) == outcome)
    };
    let mut session: Vec<&Row> = with(Continues).collect();
    for last in with(Stops) {
        session.push(last);
        replies_in_turn(client, &session);
        session.clear();
    }
}

/// Every reply but the last lets the client go on.
fn replies_in_turn(client: Client, rows: &[&Row]) {
    let stage = Stage::anywhere(client, []);
    let replies: Vec<&str> = rows.iter().map(|row| row.reply).collect();
    let hook = stage.hook("stop", &replies);
    let ended = stage.run().on_stop(hook).start().unwrap().assert_success();
    let titles: Vec<&str> = rows.iter().map(|row| row.title).collect();
    let answers = stage.model.conversation().len();
    assert_eq!(
        answers,
        rows.len(),
        "it ended after {answers} of {titles:#?}\n{ended:?}"
    );
}

offline_tests! {
    fn claude_code_does_with_replies_what_the_table_says() {
        follows_the_table(Client::ClaudeCode);
    }

    fn an_old_claude_code_does_with_replies_what_the_table_says() {
        follows_the_table(Client::OldClaudeCode);
    }

    fn copilot_does_with_replies_what_the_table_says() {
        follows_the_table(Client::Copilot);
    }

    fn codex_does_with_replies_what_the_table_says() {
        follows_the_table(Client::Codex);
    }

    fn gemini_does_with_replies_what_the_table_says() {
        follows_the_table(Client::Gemini);
    }
}
