//! The vectors and what runs them: one file per case, the same for every host, compared byte for byte.

pub mod agent_script;
pub mod binary;
#[cfg(all(feature = "host", target_os = "linux"))]
pub mod clients;
pub mod clock;
#[cfg(feature = "host")]
pub mod component;
#[cfg(feature = "host")]
pub mod event_schema;
pub mod extent;
pub mod git;
#[cfg(feature = "host")]
pub mod logs;
#[cfg(all(feature = "host", unix))]
pub mod memory_component;
#[cfg(all(feature = "host", target_os = "linux"))]
pub mod place;
#[cfg(feature = "host")]
pub mod policies;
#[cfg(all(feature = "host", target_os = "linux"))]
pub mod processes;
pub mod python;
pub mod random;
pub mod said;
pub mod shells;
#[cfg(feature = "host")]
pub mod trials;
#[cfg(feature = "host")]
pub mod typed;
pub mod waiting;
#[cfg(all(feature = "host", target_os = "linux"))]
pub mod web;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
#[cfg(feature = "host")]
use std::sync::LazyLock;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One case: a rule of the specification and the calls that prove it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// The rule, in words.
    pub rule: String,
    /// Calls of the JSON face, in order.
    pub calls: Vec<Call>,
}

/// One call and its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The function's name.
    pub function: String,
    /// Its input. The string `$previous` as the snapshot stands for the last answer's snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Its input as a text, for what is not JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_text: Option<String>,
    /// What the rule says of the answer, written by hand: a part of it.
    pub expect: Value,
    /// The whole answer. `BLESS=1` writes it.
    #[serde(default)]
    pub output: Value,
}

/// Something that runs the gate: natively, in wasmtime, in Node, …
pub trait Host {
    /// For messages.
    fn name(&self) -> &'static str;
    /// Call a function of the JSON face.
    fn call(&mut self, function: &str, input: &str) -> Result<String>;
}

/// The gate as a crate, without WebAssembly.
#[derive(Debug, Default)]
pub struct Native;

impl Host for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn call(&mut self, function: &str, input: &str) -> Result<String> {
        Ok(ralph_gate_component::json::call(function, input))
    }
}

/// The gate, loaded once.
///
/// # Panics
///
/// If it can't be loaded.
#[cfg(feature = "host")]
pub fn gate() -> &'static ralph_gate::GateEngine {
    static GATE: LazyLock<ralph_gate::GateEngine> =
        LazyLock::new(|| ralph_gate::GateEngine::new().expect("the gate loads"));
    &GATE
}

/// The component in wasmtime, as the host embeds it.
#[cfg(feature = "host")]
pub struct Component(ralph_gate::GateEngine);

#[cfg(feature = "host")]
impl Component {
    /// Load the embedded component.
    pub fn load() -> Result<Self> {
        Ok(Self(ralph_gate::GateEngine::new()?))
    }
}

#[cfg(feature = "host")]
impl Host for Component {
    fn name(&self) -> &'static str {
        "component"
    }

    fn call(&mut self, function: &str, input: &str) -> Result<String> {
        Ok(self.0.call(function, input)?)
    }
}

/// The folder of the vectors.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

/// Every vector file, sorted by path.
pub fn files() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder()];
    while let Some(folder) = folders.pop() {
        for entry in
            fs::read_dir(&folder).with_context(|| format!("can't list {}", folder.display()))?
        {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Read a vector.
pub fn read(path: &Path) -> Result<Vector> {
    let text =
        fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))?;
    let vector: Vector = serde_json::from_str(&text)
        .with_context(|| format!("{} is not a vector", path.display()))?;
    ensure!(
        !vector.rule.trim().is_empty(),
        "{} names no rule",
        path.display()
    );
    ensure!(!vector.calls.is_empty(), "{} makes no call", path.display());
    Ok(vector)
}

/// Run a vector on a host; the answers in their exact text.
pub fn run(vector: &Vector, host: &mut dyn Host) -> Result<Vec<String>> {
    let mut answers: Vec<String> = Vec::new();
    for call in &vector.calls {
        let input = input_text(call, answers.last().map(String::as_str))?;
        answers.push(host.call(&call.function, &input)?);
    }
    Ok(answers)
}

/// Every vector that fails on a host, each with its report.
pub fn failures(host: &mut dyn Host) -> Result<Vec<String>> {
    let mut failures = Vec::new();
    for path in files()? {
        let vector = read(&path)?;
        let answers = run(&vector, host)?;
        if let Err(report) = check(&vector, &answers) {
            let (name, on, rule) = (name(&path), host.name(), &vector.rule);
            failures.push(format!("{name} on {on}: {rule}\n{report}"));
        }
    }
    Ok(failures)
}

/// A vector's path below [`folder`].
pub fn name(path: &Path) -> String {
    path.strip_prefix(folder())
        .unwrap_or(path)
        .display()
        .to_string()
}

/// A call's input as text, with `$previous` filled in.
pub fn input_text(call: &Call, previous: Option<&str>) -> Result<String> {
    match (&call.input, &call.input_text) {
        (None, Some(text)) => Ok(text.clone()),
        (Some(input), None) => {
            let mut input = input.clone();
            if let Some(snapshot) = input
                .get_mut("snapshot")
                .filter(|snapshot| *snapshot == "$previous")
            {
                let previous = previous.context("there is no previous answer")?;
                let answer: Value = serde_json::from_str(previous)?;
                *snapshot = answer
                    .get("snapshot")
                    .cloned()
                    .context("the previous answer has no snapshot")?;
            }
            Ok(serde_json::to_string(&input)?)
        }
        _ => bail!("a call has either `input` or `input_text`"),
    }
}

/// Check the answers against what the rule says and against the recorded bytes.
pub fn check(vector: &Vector, answers: &[String]) -> Result<(), String> {
    let mut report = String::new();
    for (index, (call, answer)) in vector.calls.iter().zip(answers).enumerate() {
        let value: Value = match serde_json::from_str(answer) {
            Ok(value) => value,
            Err(error) => {
                let _ = writeln!(report, "call {index}: the answer is not JSON: {error}");
                continue;
            }
        };
        if let Err(difference) = contains(&value, &call.expect, "") {
            let _ = writeln!(report, "call {index}: the rule is broken: {difference}");
        }
        let recorded = call.output.to_string();
        if recorded != *answer {
            let _ = writeln!(
                report,
                "call {index}: other bytes than recorded\n  recorded {recorded}\n  answered {answer}"
            );
        }
    }
    if report.is_empty() {
        Ok(())
    } else {
        Err(report)
    }
}

/// Whether a value has everything that is expected of it: fields of objects, all items of lists.
pub fn contains(value: &Value, expected: &Value, path: &str) -> Result<(), String> {
    match (value, expected) {
        (Value::Object(fields), Value::Object(wanted)) => {
            wanted.iter().try_for_each(|(name, wanted)| {
                let path = format!("{path}.{name}");
                let field = fields
                    .get(name)
                    .ok_or_else(|| format!("{path} is missing"))?;
                contains(field, wanted, &path)
            })
        }
        (Value::Array(items), Value::Array(wanted)) => {
            if items.len() != wanted.len() {
                return Err(format!(
                    "{path} has {} items, {} are expected",
                    items.len(),
                    wanted.len()
                ));
            }
            items
                .iter()
                .zip(wanted)
                .enumerate()
                .try_for_each(|(index, (item, wanted))| {
                    contains(item, wanted, &format!("{path}[{index}]"))
                })
        }
        _ if value == expected => Ok(()),
        _ => Err(format!("{path} is {value}, {expected} is expected")),
    }
}

/// Record the answers in the vector's file. The rule's own expectations must hold.
pub fn bless(path: &Path, vector: &Vector, answers: &[String]) -> Result<()> {
    let mut vector = vector.clone();
    for (call, answer) in vector.calls.iter_mut().zip(answers) {
        call.output = serde_json::from_str(answer)?;
        if let Err(difference) = contains(&call.output, &call.expect, "") {
            bail!("{}: the rule is broken: {difference}", path.display());
        }
    }
    // Other tests may be reading it.
    let new = path.with_extension("new");
    fs::write(&new, serde_json::to_string_pretty(&vector)? + "\n")?;
    fs::rename(new, path)?;
    Ok(())
}
