//! Which characters of a foreign text a person can see.

/// Whether a character moves a terminal's cursor, turns the direction of a line, or can't be seen at all: control
/// characters, line separators, marks of direction, characters without width, tags. A plain space is none of them.
///
/// ```
/// use ralph_gate::visible::is_hidden;
///
/// assert!("\u{1b}\n\u{202e}\u{200b}".chars().all(is_hidden));
/// assert!(!"a ü …".chars().any(is_hidden));
/// ```
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

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
