//! How a settings file is laid out, and how new text is written to fit in.

use super::scan::{Document, Item, Span};

/// An indentation that is longer than this is not followed: copied into each line, it would blow a file up.
const DEEPEST: usize = 200;
/// The longest step of an indentation.
const WIDEST: usize = 16;
const USUAL_STEP: &str = "  ";

/// A value to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// JSON already.
    Raw(String),
    List(Vec<Value>),
    Object(Vec<(&'static str, Value)>),
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        let mut raw = String::from("\"");
        for character in text.chars() {
            match character {
                '"' => raw.push_str("\\\""),
                '\\' => raw.push_str("\\\\"),
                control if control.is_control() => {
                    raw.push_str(&format!("\\u{:04x}", u32::from(control)));
                }
                plain => raw.push(plain),
            }
        }
        raw.push('"');
        Self::Raw(raw)
    }

    /// An object with one member.
    pub(super) fn single(key: &'static str, value: Self) -> Self {
        Self::Object(vec![(key, value)])
    }
}

/// Where an item stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stand {
    /// Behind what is before it.
    Inline,
    /// On a line of its own, behind this indentation.
    Line(String),
}

/// The habits of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// None if all of it is on one line.
    newline: Option<&'static str>,
    step: String,
    /// What is between a key and its value.
    colon: String,
    /// What is behind a comma on one line.
    gap: &'static str,
}

impl Layout {
    /// How a file of our own is laid out.
    pub(super) fn usual() -> Self {
        Self {
            newline: Some("\n"),
            step: USUAL_STEP.to_owned(),
            colon: ": ".to_owned(),
            gap: " ",
        }
    }

    pub(super) fn of(document: &Document<'_>) -> Self {
        let root = document.root();
        let Some(first) = document.items(root).next() else {
            return Self {
                newline: newline(document.text()).or(Some("\n")),
                ..Self::usual()
            };
        };
        let newline = newline(document.raw(root));
        let colon = colon(document, &first);
        let gap = if colon.ends_with(':') { "" } else { " " };
        let lead = document.slice(root.start + 1, first.start());
        Self {
            newline,
            step: last_line(lead)
                .filter(|step| step.len() <= WIDEST)
                .unwrap_or(USUAL_STEP)
                .to_owned(),
            colon,
            gap,
        }
    }

    /// What begins a line with this indentation; nothing if all is on one line.
    pub(super) fn line(&self, indent: &str) -> String {
        self.newline
            .map(|newline| format!("{newline}{indent}"))
            .unwrap_or_default()
    }

    /// Where an item behind the others of a container stands, by the last one of them.
    pub(super) fn beside(&self, document: &Document<'_>, last: &Item) -> Stand {
        let before = document.slice(0, last.start());
        let lead = before.trim_end_matches([' ', '\t', '\n', '\r']).len();
        match (self.newline, last_line(document.slice(lead, last.start()))) {
            (Some(_), Some(indent)) => Stand::Line(shortened(indent)),
            _ => Stand::Inline,
        }
    }

    /// The indentation of the line that a value begins on, and that of what the value holds.
    pub(super) fn around(&self, document: &Document<'_>, value: Span) -> (String, String) {
        let before = document.slice(0, value.start);
        let line = last_line(before).unwrap_or(before);
        let line = line.trim_start_matches('\u{feff}');
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let outer = shortened(line.get(..indent).unwrap_or_default());
        let inner = format!("{outer}{}", self.step);
        (outer, inner)
    }

    /// Where the first item of a container stands, if the container's items are indented like this.
    pub(super) fn stand(&self, inner: String) -> Stand {
        match self.newline {
            Some(_) => Stand::Line(inner),
            None => Stand::Inline,
        }
    }

    /// What is between the comma and an item that stands there.
    pub(super) fn lead(&self, stand: &Stand) -> String {
        match stand {
            Stand::Inline => self.gap.to_owned(),
            Stand::Line(indent) => self.line(indent),
        }
    }

    pub(super) fn member(&self, key: &str, value: &Value, stand: &Stand) -> String {
        let Value::Raw(key) = Value::text(key) else {
            return String::new();
        };
        format!("{key}{}{}", self.colon, self.value(value, stand))
    }

    pub(super) fn value(&self, value: &Value, stand: &Stand) -> String {
        match value {
            Value::Raw(raw) => raw.clone(),
            Value::List(values) => {
                let inner = self.deeper(stand);
                let items = values.iter().map(|value| self.value(value, &inner));
                self.enclosed(["[", "]"], &items.collect::<Vec<_>>(), stand, &inner)
            }
            Value::Object(members) => {
                let inner = self.deeper(stand);
                let items = members
                    .iter()
                    .map(|(key, value)| self.member(key, value, &inner));
                self.enclosed(["{", "}"], &items.collect::<Vec<_>>(), stand, &inner)
            }
        }
    }

    fn deeper(&self, stand: &Stand) -> Stand {
        match stand {
            Stand::Inline => Stand::Inline,
            Stand::Line(indent) => Stand::Line(format!("{indent}{}", self.step)),
        }
    }

    fn enclosed(
        &self,
        [open, close]: [&str; 2],
        items: &[String],
        outer: &Stand,
        inner: &Stand,
    ) -> String {
        let begin = match inner {
            Stand::Inline => String::new(),
            Stand::Line(indent) => self.line(indent),
        };
        let end = match outer {
            Stand::Inline => String::new(),
            Stand::Line(indent) => self.line(indent),
        };
        let items = items.join(&format!(",{}", self.lead(inner)));
        format!("{open}{begin}{items}{end}{close}")
    }
}

/// What a file's lines end with, by the first of them.
fn newline(text: &str) -> Option<&'static str> {
    let at = text.find('\n')?;
    let before = text.get(..at)?;
    Some(if before.ends_with('\r') { "\r\n" } else { "\n" })
}

/// What is behind the last line end, if there is one.
fn last_line(text: &str) -> Option<&str> {
    text.rsplit_once('\n').map(|(_, line)| line)
}

fn shortened(indent: &str) -> String {
    if indent.len() > DEEPEST {
        return String::new();
    }
    indent.to_owned()
}

fn colon(document: &Document<'_>, first: &Item) -> String {
    let Some(key) = first.key else {
        return ": ".to_owned();
    };
    let colon = document.slice(key.end, first.value.start);
    if colon.len() > WIDEST || colon.contains(['\n', '\r']) {
        return ": ".to_owned();
    }
    colon.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> Layout {
        Layout::of(&Document::new(text).unwrap())
    }

    fn written(text: &str) -> String {
        let value = Value::single("k", Value::List(vec![Value::Raw("1".to_owned()); 2]));
        let layout = layout(text);
        let stand = layout.stand(layout.step.clone());
        layout.value(&value, &stand)
    }

    #[test]
    fn new_text_follows_the_habits_of_the_file() {
        assert_eq!(written("{\"a\":1}"), "{\"k\":[1,1]}");
        assert_eq!(written("{\"a\": 1}"), "{\"k\": [1, 1]}");
        assert_eq!(
            written("{\n\t\"a\": 1\n}"),
            "{\n\t\t\"k\": [\n\t\t\t1,\n\t\t\t1\n\t\t]\n\t}"
        );
        assert_eq!(
            written("{\r\n   \"a\" : 1\r\n}"),
            "{\r\n      \"k\" : [\r\n         1,\r\n         1\r\n      ]\r\n   }"
        );
        assert_eq!(layout("{}"), Layout::usual());
        assert_eq!(layout("{}\r\n").newline, Some("\r\n"));
    }

    #[test]
    fn an_absurd_indentation_is_not_copied() {
        let text = format!("{{\n{}\"a\": 1\n}}", " ".repeat(1 << 20));
        assert_eq!(layout(&text).step, USUAL_STEP);
    }

    #[test]
    fn a_text_is_escaped() {
        assert_eq!(
            Value::text("a\"\\\u{1}ü"),
            Value::Raw("\"a\\\"\\\\\\u0001ü\"".to_owned())
        );
    }
}
