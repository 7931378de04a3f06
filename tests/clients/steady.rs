//! Makes what a client wrote the same in every run: ids, times and paths get fixed values.

use ralph_gate_tests::place::Place;
use serde_json::Value;

/// What changes from run to run: `h` stands for a hexadecimal digit, `d` for a decimal one. The first that fits counts.
const CHANGING: [(&str, Steady); 5] = [
    ("hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh", Steady::Id),
    (
        "dddd-dd-ddTdd:dd:dd.dddZ",
        Steady::Same("2026-01-02T03:04:05.678Z"),
    ),
    // Gemini's transcript: a time, and the start of an id. It could begin with the digits of a second.
    (
        "dddd-dd-ddTdd-dd-hhhhhhhh.",
        Steady::Same("2026-01-02T03-04-00000000."),
    ),
    ("dddd-dd-ddTdd-dd-dd", Steady::Same("2026-01-02T03-04-05")),
    ("dddd/dd/dd", Steady::Same("2026/01/02")),
];
/// What stands for the folder of the test.
const PLACE: &str = "/place";
/// A transcript begins with the client's own instructions, which are of no use here.
const LONGEST: usize = 400;

#[derive(Clone, Copy)]
enum Steady {
    /// Each id keeps its own number, so that one can see where it returns.
    Id,
    Same(&'static str),
}

/// The ids seen until now.
#[derive(Default)]
pub(crate) struct Ids(Vec<String>);

impl Ids {
    /// The text with fixed values.
    pub(crate) fn steady(&mut self, place: &Place, text: &str) -> String {
        let work = place.work().display().to_string();
        let text = text.replace(work.trim_end_matches("/work"), PLACE);
        let mut result = String::new();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let found = CHANGING.iter().find(|(pattern, _)| fits(rest, pattern));
            let length = match found {
                None => {
                    result.push(first);
                    first.len_utf8()
                }
                Some((pattern, Steady::Same(text))) => {
                    result.push_str(text);
                    pattern.len()
                }
                Some((pattern, Steady::Id)) => {
                    result.push_str(&self.numbered(&rest[..pattern.len()]));
                    pattern.len()
                }
            };
            rest = &rest[length..];
        }
        result
    }

    fn numbered(&mut self, id: &str) -> String {
        let known = self.0.iter().position(|known| known == id);
        let number = known.unwrap_or_else(|| {
            self.0.push(id.to_owned());
            self.0.len() - 1
        });
        format!("00000000-0000-4000-8000-{:012}", number + 1)
    }
}

fn fits(text: &str, pattern: &str) -> bool {
    let text = text.as_bytes();
    let byte_fits = |(number, wanted): (usize, u8)| {
        let found = text.get(number).copied().unwrap_or_default();
        match wanted {
            b'h' => found.is_ascii_hexdigit(),
            b'd' => found.is_ascii_digit(),
            _ => found == wanted,
        }
    };
    pattern.bytes().enumerate().all(byte_fits)
}

/// The value with its long texts cut.
pub(crate) fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > LONGEST => {
            let start: String = text.chars().take(40).collect();
            format!("{start} […]").into()
        }
        Value::Array(list) => list.into_iter().map(shortened).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .map(|(name, value)| (name, shortened(value)))
                .collect()
        }
        other => other,
    }
}

#[test]
fn names_of_transcripts_are_the_same_in_every_run() {
    let place = Place::new(&[("README.md", "A project.\n")]);
    let steady = |name: &str| Ids::default().steady(&place, name);
    let gemini = "session-2026-01-02T03-04-00000000.jsonl";
    assert_eq!(steady("session-2026-11-16T22-02-d0f5c3e3.jsonl"), gemini);
    assert_eq!(steady("session-2026-11-16T22-28-056ea1f6.jsonl"), gemini);
    let codex = "2026/01/02/rollout-2026-01-02T03-04-05-00000000-0000-4000-8000-000000000001.jsonl";
    let name = "2026/11/16/rollout-2026-11-16T22-01-40-01a1e661-53a1-7c20-8238-b414e3ad2672.jsonl";
    assert_eq!(steady(name), codex);
}
