//! The typed face of the component as a host of the vectors: JSON in, records through, JSON out.

use anyhow::{Context, Result, bail, ensure};
use ralph_gate::engine::{CallError, EngineError, GateEngine};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::Host;

/// Calls the component through its records.
pub struct Typed(GateEngine);

impl Typed {
    /// Load the embedded component.
    pub fn load() -> Result<Self> {
        Ok(Self(GateEngine::new()?))
    }
}

/// An answer of the typed face, or an error of the gate as the JSON face writes it.
fn answer<T: Serialize>(result: Result<T, CallError>) -> Result<String> {
    match result {
        Ok(value) => Ok(serde_json::to_string(&value)?),
        Err(CallError::Gate(error)) => Ok(json!({ "error": error }).to_string()),
        Err(CallError::Engine(error)) => Err(error.into()),
    }
}

/// A function that has no error of the gate.
fn sure<T: Serialize>(result: Result<T, EngineError>) -> Result<String> {
    Ok(serde_json::to_string(&result?)?)
}

/// Functions that give a bare string give an object on the JSON face.
fn named(name: &str, result: Result<String, CallError>) -> Result<String> {
    answer(result.map(|text| json!({ name: text })))
}

/// What JSON may write in more than one way, as the records have it: money is a text, and an iteration
/// that is only fingerprinted has an index and an action like any other.
fn as_record(mut input: Value, function: &str) -> Value {
    if let Some(Value::Object(iteration)) = input
        .get_mut("iteration")
        .filter(|_| function == "take_fingerprint")
    {
        iteration.entry("index").or_insert(json!(1));
        iteration.entry("action").or_insert(json!("continue"));
    }
    if let Some(cost) = input
        .pointer_mut("/iteration/usage/cost_usd")
        .filter(|cost| cost.is_number())
    {
        *cost = Value::String(cost.to_string());
    }
    input
}

/// A function's parameters by name.
struct Parameters(Value);

/// The names of all parameters of the typed face.
const PARAMETERS: [&str; 15] = [
    "change",
    "contract",
    "entry",
    "file",
    "format",
    "iteration",
    "output",
    "policy",
    "request",
    "resumption",
    "rules",
    "snapshot",
    "states",
    "text",
    "updates",
];

impl Parameters {
    /// A function of the typed face can't be called with a parameter that there is not.
    fn new(input: Value) -> Result<Self> {
        for name in input
            .as_object()
            .context("the parameters are no object")?
            .keys()
        {
            ensure!(
                PARAMETERS.contains(&name.as_str()),
                "there is no parameter `{name}`"
            );
        }
        Ok(Self(input))
    }

    fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let value = self.0.get(name).cloned().unwrap_or(Value::Null);
        serde_json::from_value(value).with_context(|| format!("`{name}` has no typed form"))
    }

    /// A contract, request or policy as text.
    fn text(&self, name: &str) -> String {
        match self.0.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        }
    }
}

impl Host for Typed {
    fn name(&self) -> &'static str {
        "typed face"
    }

    fn call(&mut self, function: &str, input: &str) -> Result<String> {
        let gate = &self.0;
        let of = Parameters::new(as_record(serde_json::from_str(input)?, function))?;
        let contract = of.text("contract");
        let text = of.text("text");
        match function {
            "check_contract" => sure(gate.check_contract(&text, of.get("format")?)),
            "route" => answer(gate.route(&of.text("request"), &of.text("policy"))),
            "evaluate_final" => {
                let snapshot: Option<String> = of.get("snapshot")?;
                answer(gate.evaluate_final(&contract, snapshot.as_deref(), &of.get("iteration")?))
            }
            "write_brief" => {
                let snapshot: Option<String> = of.get("snapshot")?;
                answer(gate.write_brief(&contract, snapshot.as_deref()))
            }
            "resume" => named(
                "snapshot",
                gate.resume(&contract, &of.text("snapshot"), &of.get("resumption")?),
            ),
            "parse_promises" => sure(gate.parse_promises(&of.text("output"), of.get("rules")?)),
            "take_fingerprint" => answer(gate.take_fingerprint(&of.get("iteration")?)),
            "decide_signal" => sure(gate.decide_signal(&of.get("states")?)),
            "read_snapshot" => answer(gate.read_snapshot(&text)),
            "read_prd" => answer(gate.read_prd(&text)),
            "update_prd" => {
                let updates: Vec<_> = of.get("updates")?;
                named("text", gate.update_prd(&text, &updates))
            }
            "read_progress" => sure(gate.read_progress(&text)),
            "write_progress" => named(
                "text",
                gate.write_progress(&of.get("entry")?)
                    .map_err(CallError::Engine),
            ),
            "read_loop_file" => answer(gate.read_loop_file(&text)),
            "update_loop_file" => named("text", gate.update_loop_file(&text, &of.get("change")?)),
            "write_loop_file" => named(
                "text",
                gate.write_loop_file(&of.get("file")?)
                    .map_err(CallError::Engine),
            ),
            _ => bail!("the typed face has no function `{function}`"),
        }
    }
}
