//! Reads TOML into a tree.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::decode::shorten;
use super::{At, Entry, Node, ReadError, Value};
use crate::decimal::is_json_number;
use crate::order::sort;

/// Read a TOML document.
pub fn read(text: &str) -> Result<Node<'_>, ReadError> {
    let document = DeTable::parse(text).map_err(|error| {
        let at = At::offset(error.span().map_or(0, |span| span.start));
        ReadError::new(at, error.message().replace('\n', ", "))
    })?;
    let at = At::offset(document.span().start);
    Ok(Node {
        value: table(document.into_inner())?,
        at,
    })
}

fn table(table: DeTable<'_>) -> Result<Value<'_>, ReadError> {
    let mut entries: Vec<Entry<'_>> = Vec::with_capacity(table.len());
    for (key, value) in table {
        entries.push(Entry {
            at: At::offset(key.span().start),
            key: key.into_inner(),
            node: node(value)?,
        });
    }
    sort(&mut entries, |a, b| a.at.cmp(&b.at));
    Ok(Value::Map(entries))
}

fn node(value: Spanned<DeValue<'_>>) -> Result<Node<'_>, ReadError> {
    let at = At::offset(value.span().start);
    let value = match value.into_inner() {
        DeValue::String(text) => Value::String(text),
        DeValue::Boolean(flag) => Value::Bool(flag),
        DeValue::Integer(integer) => {
            let text = match i128::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(number) => number.to_string(),
                Err(_) => integer.as_str().to_owned(),
            };
            number(text.into(), at)?
        }
        DeValue::Float(float) => number(float_text(float.as_str()), at)?,
        DeValue::Datetime(datetime) => Value::String(Cow::Owned(datetime.to_string())),
        DeValue::Array(items) => {
            let items: Result<Vec<_>, _> = items.into_iter().map(node).collect();
            Value::List(items?)
        }
        DeValue::Table(inner) => table(inner)?,
    };
    Ok(Node { value, at })
}

/// A number, if it is one: the parser leaves it to the reader to find letters in it.
fn number(text: Cow<'_, str>, at: At) -> Result<Value<'_>, ReadError> {
    if is_json_number(&text) || matches!(text.as_ref(), ".inf" | "-.inf" | ".nan") {
        return Ok(Value::Number(text));
    }
    let message = format!("`{}` is not a number", shorten(&text));
    Err(ReadError::new(at, message))
}

/// A float in JSON's grammar, or as YAML writes what JSON can't.
fn float_text<'a>(text: &str) -> Cow<'a, str> {
    let unsigned = text.trim_start_matches('+');
    match unsigned {
        "inf" => Cow::Borrowed(".inf"),
        "-inf" => Cow::Borrowed("-.inf"),
        "nan" | "-nan" => Cow::Borrowed(".nan"),
        number => Cow::Owned(number.to_owned()),
    }
}
