//! Where the values of a JSON text stand: a second, independent reader for rules about untouched bytes.

use std::ops::Range;

/// A field of an object, by its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The key with its quotes.
    pub key: Range<usize>,
    /// The value.
    pub value: Range<usize>,
}

/// The fields of the object that begins at `start`. The text must be well-formed.
pub fn fields(text: &str, start: usize) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut at = skip_space(text, start + 1);
    while byte(text, at) == Some(b'"') {
        let key = at..end_of(text, at);
        let colon = skip_space(text, key.end);
        let value = skip_space(text, colon + 1);
        let value = value..end_of(text, value);
        at = skip_space(text, value.end);
        if byte(text, at) == Some(b',') {
            at = skip_space(text, at + 1);
        }
        fields.push(Field { key, value });
    }
    fields
}

/// The items of the list that begins at `start`. The text must be well-formed.
pub fn items(text: &str, start: usize) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    let mut at = skip_space(text, start + 1);
    while !matches!(byte(text, at), Some(b']') | None) {
        let end = end_of(text, at);
        items.push(at..end);
        at = skip_space(text, end);
        if byte(text, at) == Some(b',') {
            at = skip_space(text, at + 1);
        }
    }
    items
}

/// The first byte that is not white space.
pub fn skip_space(text: &str, mut at: usize) -> usize {
    while matches!(byte(text, at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

fn byte(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}

/// The end of the value that begins at `start`.
fn end_of(text: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(found) = byte(text, at) {
        match found {
            b'"' => {
                at = end_of_string(text, at);
                if depth == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return at,
            b'}' | b']' if depth == 1 => return at + 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

fn end_of_string(text: &str, start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match byte(text, at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return text.len(),
        }
    }
}
