//! A check policy: no line of the notes has a word such as TODO, and the check that the settings name passed.
//!
//! The host calls `describe` and `evaluate`, each in a new instance, and gives nothing but their arguments and the bytes
//! of artifacts: there are no files, no clock, no environment. `wit/check-policy.wit` says what everything means.

wit_bindgen::generate!({ path: "wit", world: "check-policy" });

use exports::ralph::gate::policy::{
    Description, Evidence, FindingOutcome, Guest, Judgement, PolicyOutcome,
};
use ralph::gate::artifacts;
use serde_json::Value;

/// The artifact that is searched, where there is one.
const ARTIFACT: &str = "notes";
/// What is searched for, unless the settings say something else.
const WORDS: [&str; 2] = ["TODO", "FIXME"];
/// After so many lines with such a word the others are not looked at.
const MOST_LINES: usize = 20;
/// How many bytes are asked for at a time.
const CHUNK: u32 = 32_768;

const SETTINGS_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "words": {
      "description": "No line of the notes may contain one of these.",
      "type": "array",
      "items": { "type": "string", "minLength": 1 },
      "default": ["TODO", "FIXME"]
    },
    "check": {
      "description": "The id of a check that must have passed.",
      "type": "string"
    }
  },
  "additionalProperties": false
}"#;

struct Policy;

export!(Policy);

impl Guest for Policy {
    fn describe() -> Description {
        Description {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            summary: "No line of the notes has a word such as TODO, and a named check passed."
                .to_owned(),
            settings_schema: SETTINGS_SCHEMA.to_owned(),
            // The notes may be missing. What is listed here may not.
            wants: Vec::new(),
        }
    }

    fn evaluate(evidence: Evidence, settings: String) -> Judgement {
        let Some(settings) = Settings::parse(&settings) else {
            return unknown(
                "settings: `words` must be a list of texts that are not empty, `check` a text, and nothing else",
            );
        };
        let Ok(notes) = read(&evidence) else {
            return unknown("notes: the host gives no more bytes of them");
        };
        let mut reasons = words_left(&notes, &settings.words);
        if let Some(check) = &settings.check {
            reasons.extend(not_passed(&evidence, check));
        }
        Judgement {
            outcome: if reasons.is_empty() {
                PolicyOutcome::Pass
            } else {
                PolicyOutcome::Fail
            },
            reasons,
        }
    }
}

struct Settings {
    words: Vec<String>,
    check: Option<String>,
}

impl Settings {
    /// `None` for everything that does not fit the schema.
    fn parse(text: &str) -> Option<Self> {
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
            return None;
        };
        let mut settings = Self {
            words: WORDS.map(str::to_owned).to_vec(),
            check: None,
        };
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("words", Value::Array(words)) => {
                    settings.words = words.iter().map(word).collect::<Option<_>>()?;
                }
                ("check", Value::String(id)) => settings.check = Some(id),
                _ => return None,
            }
        }
        Some(settings)
    }
}

/// A word to search for. The empty one would be in every line.
fn word(value: &Value) -> Option<String> {
    let word = value.as_str().filter(|word| !word.is_empty());
    word.map(str::to_owned)
}

/// All bytes of the notes; none where there are no notes.
fn read(evidence: &Evidence) -> Result<Vec<u8>, artifacts::ReadError> {
    let mut bytes = Vec::new();
    if !evidence.artifacts.iter().any(|it| it.name == ARTIFACT) {
        return Ok(bytes);
    }
    loop {
        let more = artifacts::read(ARTIFACT, bytes.len() as u64, CHUNK)?;
        if more.is_empty() {
            return Ok(bytes);
        }
        bytes.extend(more);
    }
}

/// A reason for each line that has one of the words. Bytes are compared, so that notes need not be UTF-8.
fn words_left(notes: &[u8], words: &[String]) -> Vec<String> {
    let lines = notes.split(|byte| *byte == b'\n').enumerate();
    let found = lines.filter_map(|(index, line)| {
        let word = words.iter().find(|word| contains(line, word.as_bytes()))?;
        Some(format!("{ARTIFACT}:{}: {word}", index + 1))
    });
    found.take(MOST_LINES).collect()
}

fn contains(line: &[u8], word: &[u8]) -> bool {
    line.windows(word.len()).any(|window| window == word)
}

/// Why the check does not count as passed.
fn not_passed(evidence: &Evidence, id: &str) -> Option<String> {
    let Some(finding) = evidence.findings.iter().find(|it| it.id == id) else {
        return Some(format!("{id}: there is no such check"));
    };
    let outcome = match finding.outcome {
        FindingOutcome::Pass => return None,
        FindingOutcome::Fail => "fail",
        FindingOutcome::Unknown => "unknown",
        FindingOutcome::Error => "error",
        FindingOutcome::Timeout => "timeout",
        FindingOutcome::Flaky => "flaky",
    };
    Some(if finding.reason.is_empty() {
        format!("{id}: {outcome}")
    } else {
        format!("{id}: {outcome}: {}", finding.reason)
    })
}

fn unknown(reason: &str) -> Judgement {
    Judgement {
        outcome: PolicyOutcome::Unknown,
        reasons: vec![reason.to_owned()],
    }
}
