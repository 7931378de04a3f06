//! Reads TOML into a tree.

use std::borrow::Cow;

use crate::order::sort;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{At, Entry, Node, ReadError, Value};

/// Read a TOML document.
pub fn read(text: &str) -> Result<Node<'_>, ReadError> {
    let document = DeTable::parse(text).map_err(|error| {
        let at = At::offset(error.span().map_or(0, |span| span.start));
        ReadError::new(at, error.message().replace('\n', ", "))
    })?;
    let at = At::offset(document.span().start);
    Ok(Node {
        value: table(document.into_inner()),
        at,
    })
}

fn table(table: DeTable<'_>) -> Value<'_> {
    let mut entries: Vec<Entry<'_>> = table
        .into_iter()
        .map(|(key, value)| Entry {
            at: At::offset(key.span().start),
            key: key.into_inner(),
            node: node(value),
        })
        .collect();
    sort(&mut entries, |a, b| a.at.cmp(&b.at));
    Value::Map(entries)
}

fn node(value: Spanned<DeValue<'_>>) -> Node<'_> {
    let at = At::offset(value.span().start);
    let value = match value.into_inner() {
        DeValue::String(text) => Value::String(text),
        DeValue::Boolean(flag) => Value::Bool(flag),
        DeValue::Integer(integer) => {
            match i128::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(number) => Value::Number(Cow::Owned(number.to_string())),
                Err(_) => Value::Number(Cow::Owned(integer.as_str().to_owned())),
            }
        }
        DeValue::Float(float) => Value::Number(float_text(float.as_str())),
        DeValue::Datetime(datetime) => Value::String(Cow::Owned(datetime.to_string())),
        DeValue::Array(items) => Value::List(items.into_iter().map(node).collect()),
        DeValue::Table(inner) => table(inner),
    };
    Node { value, at }
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
