//! Takes single fields out of JSON without building a tree: hostile lines cost no more memory than they are long.
//!
//! Where a name stands twice in an object, the last one counts. Codex prints such objects.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::decimal::Decimal;

/// The values of the named fields, or nothing if this is not an object. A field that is `null` counts as absent.
pub(super) fn fields<'a, const N: usize>(
    json: &'a str,
    names: [&str; N],
) -> Option<[Option<&'a RawValue>; N]> {
    let mut found = [None; N];
    let each = EachEntry(|name: &str, value: &'a RawValue| {
        let place = names
            .iter()
            .zip(found.iter_mut())
            .find(|(n, _)| **n == name);
        if let Some((_, place)) = place {
            *place = Some(value).filter(|value| value.get() != "null");
        }
    });
    read(json, each)?;
    Some(found)
}

/// Calls `act` with each value of an object.
pub(super) fn each_value<'a>(json: &'a str, mut act: impl FnMut(&'a RawValue)) -> Option<()> {
    read(json, EachEntry(|_: &str, value| act(value)))
}

/// Calls `act` with each element of an array.
pub(super) fn each_element<'a>(json: &'a str, act: impl FnMut(&'a RawValue)) -> Option<()> {
    read(json, EachElement(act))
}

/// A string. Half of a surrogate pair, which JavaScript prints for a text cut in two, becomes U+FFFD.
pub(super) fn text(value: Option<&RawValue>) -> Option<String> {
    let value = value?.get();
    if value.starts_with('"') {
        read(value, Text)
    } else {
        None
    }
}

/// A number that counts something: fractions are cut off, and what is too large becomes the largest number.
pub(super) fn count(value: Option<&RawValue>) -> Option<u64> {
    let value = value?.get();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(value.parse().unwrap_or(u64::MAX));
    }
    Some(Decimal::parse(value)?.whole())
}

/// The sum of counts; it saturates, and what is no count adds nothing.
pub(super) fn total(counts: &[Option<&RawValue>]) -> u64 {
    let counts = counts.iter().map(|value| count(*value).unwrap_or(0));
    counts.fold(0, u64::saturating_add)
}

/// Whether a value is `true`.
pub(super) fn is_true(value: Option<&RawValue>) -> bool {
    value.is_some_and(|value| value.get() == "true")
}

fn read<'a, S: DeserializeSeed<'a>>(json: &'a str, seed: S) -> Option<S::Value> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let value = seed.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(value)
}

struct EachEntry<F>(F);

impl<'a, F: FnMut(&str, &'a RawValue)> DeserializeSeed<'a> for EachEntry<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a, F: FnMut(&str, &'a RawValue)> Visitor<'a> for EachEntry<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key_seed(Text)? {
            (self.0)(&name, map.next_value()?);
        }
        Ok(())
    }
}

struct EachElement<F>(F);

impl<'a, F: FnMut(&'a RawValue)> DeserializeSeed<'a> for EachElement<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a, F: FnMut(&'a RawValue)> Visitor<'a> for EachElement<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element()? {
            (self.0)(element);
        }
        Ok(())
    }
}

struct Text;

impl<'a> DeserializeSeed<'a> for Text {
    type Value = String;

    /// As bytes, because only there half a surrogate pair is no error.
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Text {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<String, E> {
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_fields_with_one_name_the_last_counts() {
        let [id] = fields(r#"{"id":"item_3","type":"web_search","id":"ws_1"}"#, ["id"]).unwrap();
        assert_eq!(text(id).unwrap(), "ws_1");
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        let [cut] = fields(r#"{"cut":"ab\ud83d"}"#, ["cut"]).unwrap();
        assert!(text(cut).unwrap().starts_with("ab\u{fffd}"));
    }

    #[test]
    fn a_field_of_another_type_is_no_text_and_no_count() {
        let [a, b, c] = fields(r#"{"a":[1],"b":"7","c":-1}"#, ["a", "b", "c"]).unwrap();
        assert_eq!((text(a), text(c)), (None, None));
        assert_eq!((count(a), count(b), count(c)), (None, None, None));
    }

    #[test]
    fn counts_saturate_and_lose_fractions() {
        let json = r#"{"a":99999999999999999999999,"b":12.9,"c":1e3}"#;
        let [a, b, c] = fields(json, ["a", "b", "c"]).unwrap();
        assert_eq!(
            (count(a), count(b), count(c)),
            (Some(u64::MAX), Some(12), Some(1000))
        );
    }

    #[test]
    fn deep_nesting_in_a_field_that_nobody_reads_is_harmless() {
        let deep = format!(
            r#"{{"x":{}{},"y":1}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        let [y] = fields(&deep, ["y"]).unwrap();
        assert_eq!(count(y), Some(1));
        assert!(fields(&"{\"x\":".repeat(100_000), ["x"]).is_none());
    }
}
