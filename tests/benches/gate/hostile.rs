//! Input that is made to be slow.

use std::time::Duration;

use ralph_gate::engine as host;

use crate::ways::{Reused, agent_output};
use ralph_gate_tests::clock::{Limits, medians, micros, nanos_per_byte};

const SIZE: usize = 1 << 20;

/// The most linear memory that one evaluation of [`SIZE`] bytes may use.
const MEMORY: usize = 64 << 20;

/// No hostile text may cost more than three times an ordinary one, byte by byte.
pub(crate) fn texts(budget: Duration, limits: &mut Limits) {
    let engine = host::GateEngine::with_limits(host::GateLimits {
        memory: MEMORY,
        ..host::GateLimits::default()
    })
    .expect("the gate loads");
    println!(
        "\nhostile texts of 1 MiB, session, at most {} MiB of memory",
        MEMORY >> 20
    );
    println!(
        "{:>44} {:>10} {:>8} {:>7}",
        "text", "µs", "ns/byte", "ratio"
    );
    let ordinary = agent_output(SIZE);
    let mut worst: [f64; 2] = [0.0; 2];
    for case in cases() {
        let mut base = Reused::new(&engine, &ordinary, Vec::new());
        let mut session = Reused::new(&engine, &case.output, case.artifacts.clone());
        // In turns with the ordinary text, so that a busy machine slows both.
        let [base, time] = medians(
            budget,
            [&mut || base.evaluate(), &mut || session.evaluate()],
        );
        let rate = nanos_per_byte(case.size(), time);
        let ratio = rate / nanos_per_byte(ordinary.len(), base);
        println!(
            "{:>44} {:>10.1} {rate:>8.2} {ratio:>6.2}x",
            case.name,
            micros(time)
        );
        let worst = &mut worst[usize::from(case.name.starts_with(MASKED))];
        *worst = worst.max(ratio);
    }
    limits.at_most("dearest hostile text over ordinary text", worst[0], 3.0);
    // Each of these bytes is part of something that is masked, or nearly is.
    limits.at_most("dearest text to mask over ordinary text", worst[1], 8.0);
}

const MASKED: &str = "to mask: ";

struct Case {
    name: &'static str,
    output: String,
    artifacts: Vec<host::Artifact>,
}

impl Case {
    fn size(&self) -> usize {
        let artifacts = self.artifacts.iter().map(|file| file.content.len());
        self.output.len() + artifacts.sum::<usize>()
    }
}

fn cases() -> Vec<Case> {
    let output = |name, output: String| Case {
        name,
        output,
        artifacts: Vec::new(),
    };
    let file = |name, kind, content: String| Case {
        name,
        output: String::new(),
        artifacts: vec![host::Artifact {
            name: "file".to_owned(),
            kind,
            content,
        }],
    };
    let full = |piece: &str| piece.repeat(SIZE / piece.len());
    let behind = |text: String| format!("{text}\n\n<promise>COMPLETE</promise>\n");
    let (yaml, json) = (host::ArtifactKind::Yaml, host::ArtifactKind::Json);
    vec![
        output("<promise>", full("<promise>")),
        output("</promise>", full("</promise>")),
        output("<promise></promise>", full("<promise></promise>")),
        output("<promise>a</promise>", full("<promise>a</promise>")),
        output("<promise> nested 50,000 deep", {
            format!(
                "{}x{}",
                "<promise>".repeat(50_000),
                "</promise>".repeat(50_000)
            )
        }),
        output("`", behind(full("`"))),
        output("` and a letter", behind(full("`a"))),
        output("runs of ever more `", behind(runs(""))),
        output(
            "runs of ever more ` between comments",
            behind(runs("<!-- -->")),
        ),
        output("<", behind(full("<"))),
        output(">", behind(full(">"))),
        output("lines of >", behind(full(">\n"))),
        output("<!--", behind(full("<!--"))),
        output("~", behind(full("~"))),
        output("lines of ~~~", behind(full("~~~\n"))),
        output("list markers", behind(full("- "))),
        output("backslashes", behind(full("\\"))),
        output("to mask: digits", full("7")),
        output("to mask: numbers with points", full("1.")),
        output("to mask: numbers", full("7 ")),
        output("to mask: times", full("7:")),
        output("to mask: dates", full("2026-")),
        output("to mask: durations", full("7s ")),
        output("to mask: paths", full("/tmp")),
        output("to mask: slashes", full("/")),
        output("to mask: escape sequences", full("\u{1b}[0m")),
        output(
            "to mask: an escape that never ends",
            format!("\u{1b}[{}", full("0;")),
        ),
        output("to mask: white space", format!("{}x", full(" "))),
        output("to mask: lines of white space", full(" \n")),
        output("<context> blocks", {
            format!(
                "<promise>COMPLETE</promise>\n{}",
                full("<context>a: 1</context>\n")
            )
        }),
        file("YAML alias bomb", yaml, alias_bomb()),
        file("YAML: [ 100,000 deep", yaml, padded("[".repeat(100_000))),
        file("YAML: { 100,000 deep", yaml, padded("{a: ".repeat(100_000))),
        file("YAML: - 100,000 deep", yaml, padded("- ".repeat(100_000))),
        file("JSON: [ 100,000 deep", json, padded("[".repeat(100_000))),
        file(
            "JSON: { 100,000 deep",
            json,
            padded("{\"a\":".repeat(100_000)),
        ),
    ]
}

/// Runs of one backtick, of two, of three and so on: none closes another.
fn runs(between: &str) -> String {
    let mut text = String::new();
    let mut length = 1;
    while text.len() < SIZE {
        text.push_str(&"`".repeat(length));
        text.push('a');
        text.push_str(between);
        length += 1;
    }
    text
}

/// Nine levels of nine aliases each would be 387 million values; then ordinary lines.
fn alias_bomb() -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..=9 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    padded(text)
}

/// As long as the other texts, with ordinary lines at the end.
fn padded(mut text: String) -> String {
    text.push('\n');
    while text.len() < SIZE {
        text.push_str("more: and more of the same\n");
    }
    text
}
