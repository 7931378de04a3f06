//! What people need to know of an operand: the values that it looked at, or what is wrong with it.

use cel::common::ast::{Expr, LiteralValue, operators};
use cel::{Context, ExecutionError, Value};
use ralph_gate_policy_evidence::{NAMES, shortened};

use crate::expression::Expression;

/// The most values that a reason shows.
const MOST_FACTS: usize = 6;

/// The values that an operand looked at, as `coverage.line is 71.5`. Only single values; of lists and maps
/// there would be too much to say.
pub(crate) fn facts(tree: &cel::parser::Expression, context: &Context<'_, '_>) -> Vec<String> {
    let mut facts = Vec::new();
    collect(tree, context, &mut facts);
    facts
}

fn collect(tree: &cel::parser::Expression, context: &Context<'_, '_>, facts: &mut Vec<String>) {
    if facts.len() == MOST_FACTS {
        return;
    }
    if let Some(name) = name(&tree.expr) {
        if let Some(value) = Value::resolve(tree, context).ok().as_ref().and_then(plain) {
            let fact = format!("{name} is {value}");
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        return;
    }
    match &tree.expr {
        Expr::Call(call) => {
            for part in call.target.as_deref().into_iter().chain(&call.args) {
                collect(part, context, facts);
            }
        }
        Expr::Select(select) => collect(&select.operand, context, facts),
        // Inside of macros names mean something else each time around.
        _ => {}
    }
}

/// The name that an expression spells: `a`, `a.b`, `a["b"]`.
fn name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Ident(name) => Some(name.clone()),
        Expr::Select(select) if !select.test => {
            Some(format!("{}.{}", name(&select.operand.expr)?, select.field))
        }
        Expr::Call(call) if call.func_name == operators::INDEX => {
            let [operand, index] = call.args.as_slice() else {
                return None;
            };
            let index = match &index.expr {
                Expr::Literal(LiteralValue::String(text)) => format!("{:?}", text.inner()),
                Expr::Literal(LiteralValue::Int(number)) => number.inner().to_string(),
                _ => return None,
            };
            Some(format!("{}[{index}]", name(&operand.expr)?))
        }
        _ => None,
    }
}

/// A single value as it would be written.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Int(number) => Some(number.to_string()),
        Value::UInt(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null => Some("null".to_owned()),
        Value::String(text) => Some(format!("{:?}", shortened(text))),
        _ => None,
    }
}

/// What is wrong, in words.
pub(crate) fn of_error(error: &ExecutionError, expression: &Expression<'_>) -> String {
    match error {
        ExecutionError::UndeclaredReference(name) => unknown_name(name, expression),
        ExecutionError::NoSuchKey(key) => format!("there is no `{}`", shortened(key)),
        ExecutionError::FunctionError { function, message } => {
            format!("`{function}`: {}", shortened(message))
        }
        other => {
            let message = shortened(&other.to_string());
            let mut characters = message.chars();
            let first = characters.next().map(|first| first.to_ascii_lowercase());
            first.into_iter().chain(characters).collect()
        }
    }
}

fn unknown_name(name: &str, expression: &Expression<'_>) -> String {
    if name == "tests" {
        return "there is no `tests`, because no check counted tests".to_owned();
    }
    if !expression.mentions(name) {
        return format!("there is no function `{name}`");
    }
    format!(
        "there is no `{name}`: it is none of {}, and no artifact has that name",
        NAMES.join(", ")
    )
}
