//! JSON as values of CEL, and the function that the engine leaves to us.

use std::collections::HashMap;
use std::sync::Arc;

use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt,
};
use cel::common::value::Val;
use cel::{Context, DeclarationError, Env, ExecutionError};
use ralph_gate_policy_evidence::{Document, quoted};
use regex_lite::RegexBuilder;
use serde_json::{Number, Value};

/// The most bytes that a compiled pattern may take.
const LARGEST_PATTERN: usize = 1 << 20;

/// Every name that an expression can use, with its value.
pub(crate) fn context(document: &Document) -> Result<Context<'_, '_>, DeclarationError> {
    let mut env = Env::stdlib();
    cel::add_overload!(env, fn matches: (CelString, CelString) -> Result<CelBool>, id = "matches")?;
    cel::add_member_overload!(env, fn matches: (CelString, CelString) -> Result<CelBool>)?;
    let mut context = Context::with_env(Arc::new(env));
    for (name, json) in document {
        context.add_variable_as_val(name, value(json));
    }
    Ok(context)
}

/// The value that a JSON value stands for. No text is copied.
fn value(json: &Value) -> Box<dyn Val + '_> {
    match json {
        Value::Null => Box::new(CelNull),
        Value::Bool(truth) => Box::new(CelBool::from(*truth)),
        Value::Number(json) => number(json),
        Value::String(text) => Box::new(CelString::from(text.as_str())),
        Value::Array(items) => Box::new(CelList::from(items.iter().map(value).collect::<Vec<_>>())),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, json)| (CelMapKey::from(name.as_str()), value(json)));
            Box::new(CelMap::from(members.collect::<HashMap<_, _>>()))
        }
    }
}

/// Whole numbers are `int` as long as they fit.
fn number<'v>(json: &Number) -> Box<dyn Val + 'v> {
    if let Some(whole) = json.as_i64() {
        Box::new(CelInt::from(whole))
    } else if let Some(large) = json.as_u64() {
        Box::new(CelUInt::from(large))
    } else {
        Box::new(CelDouble::from(json.as_f64().unwrap_or(f64::NAN)))
    }
}

/// Whether a text matches a pattern anywhere. The engine's own would more than double the component.
fn matches(text: &CelString<'_>, pattern: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    let regex = RegexBuilder::new(pattern.inner())
        .size_limit(LARGEST_PATTERN)
        .build();
    match regex {
        Ok(regex) => Ok(CelBool::from(regex.is_match(text.inner()))),
        Err(error) => Err(ExecutionError::FunctionError {
            function: "matches".to_owned(),
            message: format!("{} is no pattern: {error}", quoted(pattern.inner())),
        }),
    }
}
