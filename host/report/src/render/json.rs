//! The report for machines: one line of JSON that does nothing to a terminal.

use std::io;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::model::Report;

use super::text::is_hidden;

/// The report as one line of JSON. What is hidden in its texts is written as escapes, which mean the same.
pub fn json(report: &Report) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, Visible);
    // Neither can fail: the report has texts for keys, and bytes go to memory.
    if report.serialize(&mut serializer).is_err() {
        return String::new();
    }
    bytes.push(b'\n');
    String::from_utf8(bytes).unwrap_or_default()
}

/// The same for a script element: a text in it can't end the element.
pub(super) fn embedded(report: &Report) -> String {
    json(report).replace('<', "\\u003c")
}

struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if fragment.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            return writer.write_all(fragment.as_bytes());
        }
        for character in fragment.chars() {
            if is_hidden(character) {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            } else {
                writer.write_all(character.encode_utf8(&mut [0; 4]).as_bytes())?;
            }
        }
        Ok(())
    }
}
