//! What a loop is marked with: names and values that a report sorts runs by.

use std::collections::BTreeMap;

use thiserror::Error;

/// The most labels that a loop has.
const MAX_LABELS: usize = 32;
/// The longest name, in bytes.
const MAX_NAME: usize = 64;
/// The longest value, in bytes.
const MAX_VALUE: usize = 256;

/// Why something is no label.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LabelError {
    /// Its name has another form.
    #[error(
        "the label `{name}` has a name that can't be used: 1 to {MAX_NAME} of a-z, 0-9, `_`, `.` and `-`"
    )]
    Name {
        /// The name, without what a terminal would obey.
        name: String,
    },
    /// Its value says nothing.
    #[error("the label `{name}` has no value")]
    Empty {
        /// The name.
        name: String,
    },
    /// Its value is too long.
    #[error("the value of the label `{name}` has {observed} bytes; {MAX_VALUE} are allowed")]
    Long {
        /// The name.
        name: String,
        /// How long it is.
        observed: usize,
    },
    /// Its value would not stay on one line.
    #[error("the value of the label `{name}` has a control character")]
    Control {
        /// The name.
        name: String,
    },
    /// There are too many.
    #[error("there are {observed} labels; {MAX_LABELS} are allowed")]
    Many {
        /// How many.
        observed: usize,
    },
    /// One name has two values.
    #[error("the label `{name}` is there twice")]
    Twice {
        /// The name.
        name: String,
    },
}

/// Sees that all of them can be used.
pub fn check_labels(labels: &BTreeMap<String, String>) -> Result<(), LabelError> {
    if labels.len() > MAX_LABELS {
        return Err(LabelError::Many {
            observed: labels.len(),
        });
    }
    labels
        .iter()
        .try_for_each(|(name, value)| check_label(name, value))
}

/// Sees that one can be used.
///
/// ```
/// use ralph_gate_memory::course::check_label;
///
/// assert!(check_label("arm", "ralph").is_ok());
/// assert!(check_label("Arm", "ralph").is_err());
/// ```
pub fn check_label(name: &str, value: &str) -> Result<(), LabelError> {
    let is_fit = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.' | b'-')
    };
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_fit) {
        let shown = name.chars().filter(|character| !character.is_control());
        let name = shown.take(MAX_NAME).collect();
        return Err(LabelError::Name { name });
    }
    let name = name.to_owned();
    if value.is_empty() {
        return Err(LabelError::Empty { name });
    }
    if value.len() > MAX_VALUE {
        let observed = value.len();
        return Err(LabelError::Long { name, observed });
    }
    if value.contains(char::is_control) {
        return Err(LabelError::Control { name });
    }
    Ok(())
}

/// Adds one to others; a name has one value.
pub fn add_label(
    labels: &mut BTreeMap<String, String>,
    name: &str,
    value: &str,
) -> Result<(), LabelError> {
    check_label(name, value)?;
    if labels.insert(name.to_owned(), value.to_owned()).is_some() {
        let name = name.to_owned();
        return Err(LabelError::Twice { name });
    }
    check_labels(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_of_letters_that_need_no_quoting() {
        for name in ["arm", "task_2", "a.b-c", &"n".repeat(MAX_NAME)] {
            assert_eq!(check_label(name, "x"), Ok(()), "{name}");
        }
        for name in [
            "",
            "Arm",
            "a b",
            "a=b",
            "ä",
            "a\u{1b}[31m",
            &"n".repeat(MAX_NAME + 1),
        ] {
            let error = check_label(name, "x").unwrap_err();
            assert!(matches!(error, LabelError::Name { .. }), "{name}");
            assert!(!error.to_string().contains(char::is_control), "{error}");
        }
    }

    #[test]
    fn a_value_is_one_short_line() {
        assert_eq!(check_label("arm", &"v".repeat(MAX_VALUE)), Ok(()));
        let name = || "arm".to_owned();
        let cases = [
            (String::new(), LabelError::Empty { name: name() }),
            ("a\nb".to_owned(), LabelError::Control { name: name() }),
            (
                "v".repeat(MAX_VALUE + 1),
                LabelError::Long {
                    name: name(),
                    observed: MAX_VALUE + 1,
                },
            ),
        ];
        for (value, error) in cases {
            assert_eq!(check_label("arm", &value), Err(error));
        }
    }

    #[test]
    fn a_name_has_one_value_and_their_number_is_bounded() {
        let mut labels = BTreeMap::new();
        for number in 0..MAX_LABELS {
            add_label(&mut labels, &format!("l{number}"), "x").unwrap();
        }
        assert!(matches!(
            add_label(&mut labels, "l0", "y"),
            Err(LabelError::Twice { .. })
        ));
        assert!(matches!(
            add_label(&mut labels, "more", "y"),
            Err(LabelError::Many { observed: 33 })
        ));
    }
}
