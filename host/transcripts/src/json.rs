//! Takes single fields out of JSON without building a tree: hostile lines cost no more memory than they are long.
//!
//! Where a name stands twice in an object, the last one counts.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The values of the named fields, or nothing if this is not an object. A field that is `null` counts as absent.
pub(crate) fn fields<'a, const N: usize>(
    json: &'a str,
    names: [&str; N],
) -> Option<[Option<&'a RawValue>; N]> {
    if !json.starts_with('{') {
        return None;
    }
    let mut found = [None; N];
    let each = EachEntry(|name: &str, value: &'a RawValue| {
        let mut places = names.iter().zip(found.iter_mut());
        if let Some((_, place)) = places.find(|(known, _)| **known == name) {
            *place = Some(value).filter(|value| value.get() != "null");
        }
    });
    read(json, each)?;
    Some(found)
}

/// The same of a value.
pub(crate) fn inner<'a, const N: usize>(
    value: Option<&'a RawValue>,
    names: [&str; N],
) -> [Option<&'a RawValue>; N] {
    let found = value.and_then(|value| fields(value.get(), names));
    found.unwrap_or([None; N])
}

/// Calls `act` with each element of an array. Nothing happens if it is something else.
pub(crate) fn each_element<'a>(value: Option<&'a RawValue>, act: impl FnMut(&'a RawValue)) {
    if let Some(value) = value.filter(|value| value.get().starts_with('[')) {
        let _ = read(value.get(), EachElement(act));
    }
}

/// A string. Half of a surrogate pair, which JavaScript prints for a text cut in two, becomes U+FFFD.
pub(crate) fn text(value: Option<&RawValue>) -> Option<String> {
    let value = value?.get();
    if value.starts_with('"') {
        read(value, Text).map(Cow::into_owned)
    } else {
        None
    }
}

/// A number of zero or more without a fraction.
pub(crate) fn count(value: Option<&RawValue>) -> Option<u64> {
    value?.get().parse().ok()
}

/// A number without a fraction.
pub(crate) fn integer(value: Option<&RawValue>) -> Option<i64> {
    value?.get().parse().ok()
}

/// Whether a value is `true`.
pub(crate) fn is_true(value: Option<&RawValue>) -> bool {
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
    type Value = Cow<'a, str>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Cow<'a, str>, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl<'a> Visitor<'a> for Text {
    type Value = Cow<'a, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'a [u8]) -> Result<Cow<'a, str>, E> {
        Ok(String::from_utf8_lossy(bytes))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Cow<'a, str>, E> {
        Ok(Cow::Owned(String::from_utf8_lossy(bytes).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_whatever_their_order_and_space() {
        let [b, a] = fields(r#"{ "a" : 1 , "c":{"b":3}, "b" : "x" }"#, ["b", "a"]).unwrap();
        assert_eq!((text(b).as_deref(), count(a)), (Some("x"), Some(1)));
    }

    #[test]
    fn half_of_a_surrogate_pair_does_not_lose_the_text() {
        let [a] = fields(r#"{"a":"x\ud83dy"}"#, ["a"]).unwrap();
        assert!(text(a).unwrap().starts_with('x'));
    }

    #[test]
    fn what_is_no_object_has_no_fields() {
        for json in ["", "[1]", "1", "{", r#"{"a":1} x"#] {
            assert!(fields(json, ["a"]).is_none(), "{json}");
        }
    }
}
