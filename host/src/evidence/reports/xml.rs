//! XML as reports use it: elements and attributes, without document types, unknown entities or depth.

use std::borrow::Cow;

use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::error::ReportError;
use super::text::{number, without_mark};

/// Deeper than any runner nests its suites.
const DEPTH_LIMIT: usize = 64;
/// More attributes than any runner writes.
const ATTRIBUTES_LIMIT: usize = 64;

/// What is made of the elements of a text.
pub(super) trait Elements {
    /// How many elements are open.
    fn depth(&self) -> usize;
    /// An element begins.
    fn start(
        &mut self,
        name: &str,
        start: &BytesStart<'_>,
        place: &Place<'_>,
    ) -> Result<(), ReportError>;
    /// The innermost element ends.
    fn end(&mut self, place: &Place<'_>) -> Result<(), ReportError>;
}

/// Hands over the elements of all documents in the text. Each of them must have its end.
pub(super) fn read(text: &[u8], elements: &mut impl Elements) -> Result<(), ReportError> {
    let text = String::from_utf8_lossy(without_mark(text));
    let mut reader = Reader::from_str(&text);
    let place = |at: u64| Place { text: &text, at };
    loop {
        let at = place(reader.buffer_position());
        let event = reader.read_event();
        match event.map_err(|error| at.malformed(&error.to_string()))? {
            Event::Start(element) => start(elements, &element, &at)?,
            Event::Empty(element) => {
                start(elements, &element, &at)?;
                elements.end(&at)?;
            }
            Event::End(_) => elements.end(&at)?,
            Event::Text(text) => check_text(elements, text.trim_ascii(), &at)?,
            Event::CData(text) => check_text(elements, &text, &at)?,
            Event::GeneralRef(name) => {
                check_text(elements, &name, &at)?;
                check_entity(&name, &at)?;
            }
            Event::DocType(_) => return Err(at.malformed("a document type is not allowed")),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            Event::Eof if elements.depth() > 0 => {
                return Err(ReportError::unfinished(at.line(), "the document"));
            }
            Event::Eof => return Ok(()),
        }
    }
}

fn start(
    elements: &mut impl Elements,
    start: &BytesStart<'_>,
    place: &Place<'_>,
) -> Result<(), ReportError> {
    if elements.depth() >= DEPTH_LIMIT {
        let what = format!("elements are nested deeper than {DEPTH_LIMIT}");
        return Err(place.malformed(&what));
    }
    let name = start.local_name();
    elements.start(name.as_ref(), start, place)
}

fn check_text(elements: &impl Elements, text: &str, place: &Place<'_>) -> Result<(), ReportError> {
    if elements.depth() == 0 && !text.is_empty() {
        return Err(place.malformed("there is text outside of the document"));
    }
    Ok(())
}

/// Nothing is expanded but what XML itself defines.
fn check_entity(name: &BytesRef<'_>, place: &Place<'_>) -> Result<(), ReportError> {
    if name.is_char_ref() || resolve_predefined_entity(name).is_some() {
        return Ok(());
    }
    Err(place.malformed(&format!("the entity {} is not known", &**name)))
}

/// A byte of the text. Its line is counted only if a message needs it.
pub(super) struct Place<'a> {
    text: &'a str,
    at: u64,
}

impl Place<'_> {
    /// The byte, to come back to it with [`Place::at`].
    pub(super) fn offset(&self) -> u64 {
        self.at
    }

    /// Another byte of the same text.
    pub(super) fn at(&self, at: u64) -> Self {
        Self { at, ..*self }
    }

    pub(super) fn line(&self) -> u64 {
        let at = usize::try_from(self.at).unwrap_or(usize::MAX);
        let before = self.text.bytes().take(at);
        1 + before.filter(|byte| *byte == b'\n').map(|_| 1).sum::<u64>()
    }

    pub(super) fn malformed(&self, what: &str) -> ReportError {
        ReportError::malformed(self.line(), what)
    }

    /// The number in an attribute; none if the attribute is empty.
    pub(super) fn number(&self, name: &str, value: &str) -> Result<Option<u64>, ReportError> {
        match value.trim() {
            "" => Ok(None),
            value => number(value).map(Some).ok_or_else(|| {
                self.malformed(&format!(
                    "the attribute {name} is \"{value}\", not a number"
                ))
            }),
        }
    }
}

/// Calls `take` with each attribute's name and value.
pub(super) fn attributes(
    start: &BytesStart<'_>,
    place: &Place<'_>,
    mut take: impl FnMut(&str, Cow<'_, str>) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    for (attribute, index) in start.attributes().zip(1_usize..) {
        if index > ATTRIBUTES_LIMIT {
            let what = format!("an element has more than {ATTRIBUTES_LIMIT} attributes");
            return Err(place.malformed(&what));
        }
        let attribute = attribute.map_err(|error| place.malformed(&error.to_string()))?;
        let value = unescape(&attribute.value);
        let value = value.map_err(|error| place.malformed(&error.to_string()))?;
        take(attribute.key.local_name().as_ref(), value)?;
    }
    Ok(())
}
