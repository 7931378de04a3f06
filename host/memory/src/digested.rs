//! Events whose texts are recorded as digests only: what a loop did can still be counted and compared, not read.
//!
//! What stays is listed, event by event; every other text becomes its digest and its length. So a field that is added
//! later is private until somebody says otherwise.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize as DeserializeDerive, Serialize};
use serde_json::Number;

use super::digest::Digest;
use crate::course::names;

/// What stands in the place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, DeserializeDerive)]
pub struct TextDigest {
    /// BLAKE3.
    pub digest: Digest,
    /// How long the text is.
    pub bytes: usize,
}

impl TextDigest {
    /// Of a text.
    ///
    /// ```
    /// use ralph_gate_memory::TextDigest;
    ///
    /// assert_eq!(TextDigest::of("done").bytes, 4);
    /// assert_ne!(TextDigest::of("done"), TextDigest::of("over"));
    /// ```
    pub fn of(text: &str) -> Self {
        Self {
            digest: Digest::of_content(text.as_bytes()),
            bytes: text.len(),
        }
    }
}

/// The field that marks such an event, and what is in it.
const MARK: (&str, &str) = ("recorded", "digest_only");

/// What of an event's data is no private text: paths, with `*` for whatever is in a list or map. None if all of it
/// has to stay, because a loop could not go on without it.
fn kept(event: &str) -> Option<&'static [&'static str]> {
    match event {
        names::BASELINE | names::CLIENT_STOPPED | names::CLIENT_ENDED => None,
        names::STARTED => Some(&[
            "version",
            "mode",
            "profile",
            "enforcement",
            "task_class",
            "session",
            "labels.*",
            "contract",
            "contract_digest",
            "rules_digest",
            "argv.0",
            "client",
            "attended.harness",
            "attended.session",
            "attended.config_file",
            "attended.loop_file.path",
            "attended.loop_file.file.session_id",
            "attended.loop_file.file.started_at",
            "given.cost_budget_usd",
        ]),
        names::RESUMED => Some(&[
            "operator",
            "contract",
            "contract_digest",
            "rules_digest",
            "argv.0",
            "client",
        ]),
        names::AGENT => Some(&["argv.0", "cost_usd", "stdout.digest", "stderr.digest"]),
        names::EVIDENCE => Some(&[
            "check",
            "kind",
            "tree",
            "outcome",
            "code",
            "policy.digest",
            "policy.outcome",
            "attempts.*.outcome",
            "attempts.*.argv.0",
            "attempts.*.stdout.digest",
            "attempts.*.stderr.digest",
        ]),
        names::TRIPWIRE => Some(&["tripwire"]),
        names::VERDICT => Some(&[
            "iteration.action",
            "iteration.checks.*.id",
            "iteration.checks.*.outcome",
            "iteration.checks.*.code",
            "iteration.checks.*.attempts.*",
            "iteration.checks.*.fingerprint",
            "iteration.artifacts.*.kind",
            "iteration.tampered.*.what",
            "iteration.usage.cost_usd",
            "iteration.override.operator",
            "iteration.waivers.*.check",
            "iteration.waivers.*.operator",
            "verdict.decision",
            "verdict.stop_reason",
            "verdict.detail",
            "verdict.signal",
            "verdict.mode",
            "verdict.profile",
            "verdict.failures.*.code",
            "verdict.failures.*.check",
            "verdict.needs.*.kind",
            "verdict.needs.*.check",
            "verdict.needs.*.checks.*",
            "verdict.promise.signal",
            "verdict.promise.tags.*.status",
            "verdict.promise.context.*.kind",
            "verdict.fingerprint.digest",
            "verdict.fingerprint.state",
            "verdict.fingerprint.parts.*.digest",
            "verdict.counters.cost_usd",
            "verdict.counters.guardrails.*.*",
            "verdict.shadow.*",
            "verdict.checks.*.id",
            "verdict.checks.*.code",
            "verdict.unused_checks.*",
            "verdict.waived.*",
        ]),
        names::AUDIT => Some(&["truth", "witness", "by", "checks.*.id", "checks.*.outcome"]),
        _ => Some(&[]),
    }
}

/// The data of an event without its texts, as JSON. None if it stays as it is.
pub(super) fn digested(event: &str, data: &str) -> Result<Option<String>, serde_json::Error> {
    let Some(kept) = kept(event) else {
        return Ok(None);
    };
    let rules: Vec<Vec<&str>> = kept.iter().map(|rule| rule.split('.').collect()).collect();
    let rules: Vec<&[&str]> = rules.iter().map(Vec::as_slice).collect();
    let tree: Tree = serde_json::from_str(data)?;
    let mut tree = tree.veil(&rules);
    if let Tree::Map(fields) = &mut tree {
        let (name, value) = MARK;
        fields.push((name.to_owned(), Tree::Text(value.to_owned())));
    }
    serde_json::to_string(&tree).map(Some)
}

/// JSON whose fields keep their order, however serde's own values are built.
enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Digested(TextDigest),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl Tree {
    /// The same, with every text digested that no rule keeps.
    fn veil(self, rules: &[&[&str]]) -> Self {
        match self {
            // There is nothing to see in an empty one.
            Self::Text(text) if text.is_empty() || rules.iter().any(|rule| rule.is_empty()) => {
                Self::Text(text)
            }
            Self::Text(text) => Self::Digested(TextDigest::of(&text)),
            Self::List(items) => Self::List(
                items
                    .into_iter()
                    .enumerate()
                    .map(|(index, item)| item.veil(&below(rules, &index.to_string())))
                    .collect(),
            ),
            Self::Map(fields) => {
                let veil = |(name, field): (String, Self)| {
                    let field = field.veil(&below(rules, &name));
                    (name, field)
                };
                Self::Map(fields.into_iter().map(veil).collect())
            }
            plain => plain,
        }
    }
}

/// What the rules say below a field.
fn below<'r, 'w>(rules: &[&'r [&'w str]], name: &str) -> Vec<&'r [&'w str]> {
    let step = |rule: &&'r [&'w str]| {
        let (first, rest) = rule.split_first()?;
        (*first == "*" || *first == name).then_some(rest)
    };
    rules.iter().filter_map(step).collect()
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Digested(digest) => digest.serialize(serializer),
            Self::List(items) => serializer.collect_seq(items),
            Self::Map(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, field) in fields {
                    map.serialize_entry(name, field)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(Tree::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Tree, E> {
        Ok(Number::from_f64(number).map_or(Tree::Null, Tree::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Tree, E> {
        Ok(Tree::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Tree::Map(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn veiled(event: &str, data: &Value) -> Value {
        let text = digested(event, &data.to_string()).unwrap().unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn what_is_not_listed_becomes_a_digest_and_what_is_listed_stays() {
        let data = json!({ "iteration": 2, "tripwire": "test_count", "reason": "secret", "more": ["secret", "", 7, null, true, 0.5] });
        let secret = json!(TextDigest::of("secret"));
        assert_eq!(
            veiled("tripwire", &data),
            json!({
                "iteration": 2, "tripwire": "test_count", "reason": secret, "more": [secret, "", 7, null, true, 0.5],
                "recorded": "digest_only",
            })
        );
    }

    #[test]
    fn lists_and_maps_are_looked_into() {
        let data =
            json!({ "argv": ["claude", "-p", "secret"], "labels": { "arm": "a" }, "note": "x" });
        let seen = veiled("loop_started", &data);
        assert_eq!(seen["argv"][0], "claude");
        assert_eq!(seen["argv"][2], json!(TextDigest::of("secret")));
        assert_eq!(seen["labels"], json!({ "arm": "a" }));
        assert_eq!(seen["note"]["bytes"], 1);
    }

    #[test]
    fn an_event_that_nobody_knows_keeps_no_text() {
        let seen = veiled("poem", &json!({ "line": "roses" }));
        assert_eq!(seen["line"], json!(TextDigest::of("roses")));
    }

    #[test]
    fn the_order_of_fields_stays() {
        let text = digested("tripwire", r#"{"z":1,"tripwire":"t","a":2}"#).unwrap();
        let expected = r#"{"z":1,"tripwire":"t","a":2,"recorded":"digest_only"}"#;
        assert_eq!(text.as_deref(), Some(expected));
    }

    #[test]
    fn what_a_loop_goes_on_with_stays_as_it_is() {
        assert_eq!(
            digested("baseline", r#"{"first_commit":"a"}"#).unwrap(),
            None
        );
    }
}
