//! Spans, their events and metrics, as the encoder takes them.

/// The one trace of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceId(pub [u8; 16]);

/// A span in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanId(pub [u8; 8]);

/// Milliseconds since 1970, as the host's clock had them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment(pub u64);

impl Moment {
    /// As OTLP counts.
    pub fn nanoseconds(self) -> u64 {
        self.0.saturating_mul(1_000_000)
    }

    /// So much later.
    #[must_use]
    pub fn after(self, milliseconds: u64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }

    /// So much earlier.
    #[must_use]
    pub fn before(self, milliseconds: u64) -> Self {
        Self(self.0.saturating_sub(milliseconds))
    }
}

/// What an attribute says.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// Any number.
    Fraction(f64),
    /// A list of texts.
    Texts(Vec<String>),
}

/// A name and what it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// The name.
    pub key: String,
    /// What it stands for.
    pub value: Value,
}

/// Whether something failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Status {
    /// Nothing is said, as the conventions want it where nothing failed.
    #[default]
    Unset,
    /// It failed.
    Error(String),
}

/// Something that took time.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The trace that it belongs to.
    pub trace: TraceId,
    /// Its own name in it.
    pub id: SpanId,
    /// What it is a part of.
    pub parent: Option<SpanId>,
    /// What was done.
    pub name: String,
    /// When it began.
    pub start: Moment,
    /// When it ended.
    pub end: Moment,
    /// What is known of it.
    pub attributes: Vec<Attribute>,
    /// What happened meanwhile.
    pub events: Vec<SpanEvent>,
    /// Whether it failed.
    pub status: Status,
}

/// Something that happened at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanEvent {
    /// When.
    pub at: Moment,
    /// What.
    pub name: String,
    /// What is known of it.
    pub attributes: Vec<Attribute>,
}

/// A number that is added up over many loops.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// What it counts.
    pub about: &'static str,
    /// In what.
    pub unit: &'static str,
    /// How much, of what.
    pub points: Vec<Point>,
}

/// How much there was of something in some time.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// From when on it was counted.
    pub since: Moment,
    /// Until when.
    pub until: Moment,
    /// Of what.
    pub attributes: Vec<Attribute>,
    /// How much.
    pub amount: Amount,
}

/// How much.
#[derive(Debug, Clone, PartialEq)]
pub enum Amount {
    /// How much came to it.
    Sum(i64),
    /// Which numbers of seconds came to it.
    Seconds(Vec<f64>),
}

/// The attributes of something, in the order in which they are added. What is not known is left out.
#[derive(Debug, Clone, Default)]
pub(super) struct Attributes(Vec<Attribute>);

impl Attributes {
    pub(super) fn add(&mut self, key: impl Into<String>, value: impl Into<Known>) -> &mut Self {
        if let Known(Some(value)) = value.into() {
            let key = key.into();
            self.0.push(Attribute { key, value });
        }
        self
    }

    pub(super) fn into_list(self) -> Vec<Attribute> {
        self.0
    }
}

/// A value, if it is known.
#[derive(Debug)]
pub(super) struct Known(Option<Value>);

/// The longest text of an attribute, in bytes. Logs are a stranger's.
pub(super) const LONGEST: usize = 16 * 1024;

impl From<&str> for Known {
    fn from(text: &str) -> Self {
        Self(Some(Value::Text(cut(text).to_owned())))
    }
}

impl From<String> for Known {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<bool> for Known {
    fn from(flag: bool) -> Self {
        Self(Some(Value::Flag(flag)))
    }
}

impl From<i64> for Known {
    fn from(whole: i64) -> Self {
        Self(Some(Value::Whole(whole)))
    }
}

impl From<u64> for Known {
    fn from(whole: u64) -> Self {
        Self::from(i64::try_from(whole).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Known {
    fn from(fraction: f64) -> Self {
        Self(Some(Value::Fraction(fraction)))
    }
}

impl From<Vec<String>> for Known {
    fn from(texts: Vec<String>) -> Self {
        let texts: Vec<String> = texts.iter().map(|text| cut(text).to_owned()).collect();
        Self((!texts.is_empty()).then_some(Value::Texts(texts)))
    }
}

impl<T: Into<Self>> From<Option<T>> for Known {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self(None), Into::into)
    }
}

impl From<&Option<String>> for Known {
    fn from(value: &Option<String>) -> Self {
        Self::from(value.as_deref())
    }
}

/// The beginning of a text, where it is too long.
fn cut(text: &str) -> &str {
    let end = (0..=LONGEST.min(text.len())).rev();
    let end = { end }.find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out_and_long_texts_are_cut_between_letters() {
        let mut attributes = Attributes::default();
        let long = "ä".repeat(LONGEST);
        attributes.add("none", None::<&str>).add("long", long);
        attributes.add("empty", Vec::new());
        let long = Attribute {
            key: "long".to_owned(),
            value: Value::Text("ä".repeat(LONGEST / 2)),
        };
        assert_eq!(attributes.into_list(), [long]);
    }
}
