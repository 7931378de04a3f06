//! Which characters of a foreign text a person can see.

pub use ralph_gate_report::render::text::is_hidden;

/// JSON as one line that does nothing to a terminal: what is hidden in its texts is written as an escape, which means the
/// same.
///
/// ```
/// use ralph_gate::visible::as_json;
///
/// let text = as_json(&serde_json::json!({ "a": "\u{9b}31mred \u{202e} \u{e0041}" }));
/// assert_eq!(text, r#"{"a":"\u009b31mred \u202e \udb40\udc41"}"#);
/// ```
pub fn as_json(value: &serde_json::Value) -> String {
    let mut text = String::new();
    for character in value.to_string().chars() {
        if is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(character);
        }
    }
    text
}

/// A text without what a terminal would obey or a person can't see: such characters are written as escapes. Much of
/// what is printed was written by an agent.
pub fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            clean.extend(character.escape_unicode());
        } else {
            clean.push(character);
        }
    }
    clean
}
