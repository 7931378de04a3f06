//! Judging: the value of the whole expression decides, those of its operands explain.

use cel::common::types::CelBool;
use cel::{Context, ExecutionError, Value};
use ralph_gate_policy_evidence::{Document, Judgement, quoted};

use crate::explanation;
use crate::expression::{Expression, Operand};
use crate::values::context;

/// What an expression is.
enum Truth {
    True,
    False,
    /// Of another type.
    Other(String),
    Error(ExecutionError),
}

/// Judges the document by the expression.
pub(crate) fn judge(
    expression: &Expression<'_>,
    document: &Document,
    message: Option<&str>,
) -> Judgement {
    let context = match context(document) {
        Ok(context) => context,
        Err(error) => return Judgement::unknown(error),
    };
    match truth(&expression.whole, &context) {
        Truth::True => Judgement::pass(),
        Truth::False => Judgement::fail(match message {
            Some(message) => vec![message.to_owned()],
            None => reasons(expression, &context),
        }),
        Truth::Other(kind) => Judgement::unknown(format!(
            "{} is neither true nor false, but of type {kind}",
            quoted(expression.whole.text)
        )),
        Truth::Error(error) => Judgement::unknown(culprit(expression, &context, &error)),
    }
}

fn truth(operand: &Operand<'_>, context: &Context<'_, '_>) -> Truth {
    match Value::resolve_val(&operand.tree, context) {
        Ok(value) => match value.downcast_ref::<CelBool>().map(CelBool::inner) {
            Some(true) => Truth::True,
            Some(false) => Truth::False,
            None => Truth::Other(value.get_type().name().to_owned()),
        },
        Err(error) => Truth::Error(error),
    }
}

/// One reason for each operand that is false.
fn reasons(expression: &Expression<'_>, context: &Context<'_, '_>) -> Vec<String> {
    let operands = expression.operands.iter();
    operands
        .filter(|operand| matches!(truth(operand, context), Truth::False))
        .map(|operand| {
            let facts = explanation::facts(&operand.tree, context);
            let text = quoted(operand.text);
            if facts.is_empty() {
                format!("{text} is false")
            } else {
                format!("{text} is false: {}", facts.join(", "))
            }
        })
        .collect()
}

/// What is wrong with the first operand that has no value.
fn culprit(
    expression: &Expression<'_>,
    context: &Context<'_, '_>,
    whole: &ExecutionError,
) -> String {
    for operand in &expression.operands {
        let problem = match truth(operand, context) {
            Truth::True | Truth::False => continue,
            Truth::Other(kind) => {
                format!("it is neither true nor false, but of type {kind}")
            }
            Truth::Error(error) => explanation::of_error(&error, expression),
        };
        return format!("{} can't be evaluated: {problem}", quoted(operand.text));
    }
    let problem = explanation::of_error(whole, expression);
    format!(
        "{} can't be evaluated: {problem}",
        quoted(expression.whole.text)
    )
}
