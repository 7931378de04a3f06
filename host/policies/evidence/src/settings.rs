//! The settings of a policy: a JSON object of texts, described once for reader and schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use thiserror::Error;

/// One setting. All of them are texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// As it is written.
    pub name: &'static str,
    /// Whether there is no doing without it.
    pub required: bool,
    /// One sentence: what it means.
    pub about: &'static str,
}

/// Why settings do not fit.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// Not JSON.
    #[error("the settings are no JSON: {0}")]
    NoJson(String),
    /// JSON, but not an object.
    #[error("the settings must be an object, and are {0}")]
    NoObject(&'static str),
    /// A required setting is not there.
    #[error("the setting `{name}` is missing: {about}")]
    Missing {
        /// Which.
        name: &'static str,
        /// What it would mean.
        about: &'static str,
    },
    /// A setting is something else than a text.
    #[error("the setting `{name}` must be a text, and is {found}")]
    NoText {
        /// Which.
        name: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// There is no such setting.
    #[error("there is no setting `{name}`; there are {known}")]
    Unknown {
        /// As it was written.
        name: String,
        /// Those that exist.
        known: String,
    },
}

/// Settings that fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings(BTreeMap<&'static str, String>);

impl Settings {
    /// Reads a JSON object. Everything in it must be known, and everything required in it.
    pub fn read(known: &[Setting], text: &str) -> Result<Self, SettingsError> {
        let value =
            serde_json::from_str(text).map_err(|error| SettingsError::NoJson(error.to_string()))?;
        let Value::Object(mut members) = value else {
            return Err(SettingsError::NoObject(kind(&value)));
        };
        let mut settings = BTreeMap::new();
        for setting in known {
            match members.remove(setting.name) {
                Some(Value::String(text)) => {
                    settings.insert(setting.name, text);
                }
                Some(other) => {
                    return Err(SettingsError::NoText {
                        name: setting.name,
                        found: kind(&other),
                    });
                }
                None if setting.required => {
                    return Err(SettingsError::Missing {
                        name: setting.name,
                        about: setting.about,
                    });
                }
                None => {}
            }
        }
        match members.keys().next() {
            Some(name) => Err(SettingsError::Unknown {
                name: name.clone(),
                known: names(known),
            }),
            None => Ok(Self(settings)),
        }
    }

    /// The text of a setting, if it was given.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The text of a setting that is required.
    pub fn required(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }
}

/// The JSON Schema of the settings.
pub(crate) fn schema(settings: &[Setting]) -> String {
    let properties: Map<String, Value> = settings
        .iter()
        .map(|setting| {
            let property = json!({"type": "string", "description": setting.about});
            (setting.name.to_owned(), property)
        })
        .collect();
    let required: Vec<&str> = settings
        .iter()
        .filter(|setting| setting.required)
        .map(|setting| setting.name)
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
    .to_string()
}

fn names(settings: &[Setting]) -> String {
    let names: Vec<String> = settings
        .iter()
        .map(|setting| format!("`{}`", setting.name))
        .collect();
    names.join(" and ")
}

/// What a JSON value is, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
