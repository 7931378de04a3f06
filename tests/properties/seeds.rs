//! Inputs for each target, taken from the vectors: what people thought of is where machines begin.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use ralph_gate_tests::{Native, files, folder, input_text, read, run};
use serde_json::Value as Json;

/// The inputs of each target, by a name that tells the vector.
pub(crate) type Seeds = BTreeMap<&'static str, BTreeMap<String, String>>;

const SEPARATOR: &str = "\u{1e}";

/// The inputs that the vectors hold.
pub(crate) fn from_vectors() -> Result<Seeds> {
    let mut collector = Collector::default();
    for path in files()? {
        let vector = read(&path)?;
        let answers = run(&vector, &mut Native)?;
        let name = path.strip_prefix(folder())?.with_extension("");
        let name = name.to_string_lossy().replace(['/', '\\'], "-");
        let mut previous = None;
        for (index, (call, answer)) in vector.calls.iter().zip(&answers).enumerate() {
            let input = input_text(call, previous)?;
            previous = Some(answer.as_str());
            collector.name = format!("{name}-{index}");
            collector
                .call(&call.function, &input, answer)
                .with_context(|| path.display().to_string())?;
        }
    }
    Ok(collector.seeds)
}

#[derive(Default)]
struct Collector {
    seeds: Seeds,
    /// The vector's name and the number of its call.
    name: String,
}

impl Collector {
    fn add(&mut self, target: &'static str, text: impl Into<String>) {
        let inputs = self.seeds.entry(target).or_default();
        let name = format!("{}-{}", self.name, inputs.len());
        inputs.insert(name, text.into());
    }

    fn call(&mut self, function: &str, input: &str, answer: &str) -> Result<()> {
        self.add("differential", format!("{function}\n{input}"));
        self.add("json", input);
        let answer: Json = serde_json::from_str(answer)?;
        // Some vectors are about inputs that are no JSON.
        let Ok(input) = serde_json::from_str::<Json>(input) else {
            return Ok(());
        };
        let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
        match function {
            "parse_promises" => self.add("promise", text("output")),
            "check_contract" => self.contract(&input["text"]),
            "evaluate_final" => self.evaluation(&input, &answer),
            "take_fingerprint" => self.add("fingerprint", fingerprint(&input["iteration"])),
            "route" => {
                self.contract(&input["request"]);
                let policy = match &input["policy"] {
                    Json::Null => String::new(),
                    policy => format!("{SEPARATOR}{}", as_text(policy)),
                };
                self.add("route", as_text(&input["request"]) + &policy);
            }
            "read_prd" | "update_prd" => self.add("prd", text("text")),
            "read_progress" => self.add("progress", text("text")),
            "write_progress" => self.add("progress", as_text(&answer["text"])),
            "read_loop_file" | "update_loop_file" => {
                self.add("loop_file", text("text"));
                self.add("yaml", text("text"));
            }
            "write_loop_file" => self.add("loop_file", as_text(&answer["text"])),
            "read_snapshot" => self.add("snapshot", text("text")),
            "decide_signal" => self.add("signal", states(&input["states"])),
            _ => {}
        }
        if input["text"].is_string() {
            self.add("differential", format!("{function}.text\n{}", text("text")));
        }
        Ok(())
    }

    /// A contract is also a text in a format.
    fn contract(&mut self, contract: &Json) {
        let text = as_text(contract);
        for target in ["contract", "yaml", "toml"] {
            self.add(target, text.clone());
        }
    }

    fn evaluation(&mut self, input: &Json, answer: &Json) {
        let iteration = &input["iteration"];
        self.add("evaluate", input.to_string());
        // Any bytes pick a loop; a few are enough to begin with.
        if self.seeds.get("session").map_or(0, BTreeMap::len) < 40 {
            self.add("session", input.to_string());
        }
        self.contract(&input["contract"]);
        self.add("promise", as_text(&iteration["output"]));
        self.add("fingerprint", fingerprint(iteration));
        for artifact in items(&iteration["artifacts"]) {
            self.add("yaml", as_text(&artifact["content"]));
        }
        if let Some(snapshot) = answer["snapshot"].as_str() {
            self.add("snapshot", snapshot);
        }
    }
}

/// A text as it is, anything else as JSON.
fn as_text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn items(list: &Json) -> &[Json] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// An iteration in the form of the target `fingerprint`.
fn fingerprint(iteration: &Json) -> String {
    let part = |letter: &str, name: &Json, content: &Json| {
        format!("{letter}{}\n{}", as_text(name), as_text(content))
    };
    let mut parts = vec![part("o", &Json::Null, &iteration["output"])];
    for artifact in items(&iteration["artifacts"]) {
        let kind = as_text(&artifact["kind"]);
        let letter = kind.get(..1).unwrap_or("t");
        parts.push(part(letter, &artifact["name"], &artifact["content"]));
    }
    for tool in items(&iteration["tool_outputs"]) {
        parts.push(part("p", &tool["name"], &tool["content"]));
    }
    for check in items(&iteration["checks"]) {
        parts.push(part("c", &check["id"], &check["outcome"]));
    }
    parts.join(SEPARATOR)
}

/// Issue states in the form of the target `signal`.
fn states(states: &Json) -> String {
    let issues = items(&states["issues"]).iter().map(|issue| {
        let mut words = vec![as_text(&issue["id"]), as_text(&issue["status"])];
        if issue["needs_human"] == Json::Bool(true) {
            words.push("!".to_owned());
        }
        words.extend(items(&issue["depends_on"]).iter().map(as_text));
        format!("={}", words.join(" "))
    });
    let files = items(&states["files"])
        .iter()
        .map(|file| format!("{}\n{}", as_text(&file["path"]), as_text(&file["text"])));
    issues.chain(files).collect::<Vec<_>>().join(SEPARATOR)
}
