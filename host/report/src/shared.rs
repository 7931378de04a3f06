//! What many runs have in common, kept once: a hundred thousand runs say the same few words.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::run::Run;

/// A text that others may share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text(Arc<str>);

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Arc<str>>> From<T> for Text {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

/// What a run was marked with, which others may share.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Labels(Arc<BTreeMap<String, String>>);

impl Deref for Labels {
    type Target = BTreeMap<String, String>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Labels {
    fn deref_mut(&mut self) -> &mut Self::Target {
        Arc::make_mut(&mut self.0)
    }
}

impl From<BTreeMap<String, String>> for Labels {
    fn from(labels: BTreeMap<String, String>) -> Self {
        Self(Arc::new(labels))
    }
}

impl FromIterator<(String, String)> for Labels {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(labels: I) -> Self {
        Self(Arc::new(labels.into_iter().collect()))
    }
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// What was seen already.
#[derive(Debug, Default)]
pub struct Pool {
    texts: BTreeSet<Text>,
    labels: BTreeSet<Labels>,
}

impl Pool {
    /// Lets a run share what others have, too.
    pub fn share(&mut self, run: &mut Run) {
        let texts = [
            &mut run.task_class,
            &mut run.client,
            &mut run.mode,
            &mut run.profile,
            &mut run.enforcement,
            &mut run.contract_digest,
            &mut run.gate,
            &mut run.detail,
        ];
        for text in texts.into_iter().flatten() {
            match self.texts.get(text) {
                Some(known) => *text = known.clone(),
                None => drop(self.texts.insert(text.clone())),
            }
        }
        match self.labels.get(&run.labels) {
            Some(known) => run.labels = known.clone(),
            None => drop(self.labels.insert(run.labels.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_share_what_they_have_in_common_and_nothing_else_changes() {
        let run = |arm: &str| Run {
            mode: Some("ralph".into()),
            labels: BTreeMap::from([("arm".to_owned(), arm.to_owned())]).into(),
            ..Run::default()
        };
        let mut pool = Pool::default();
        let mut runs = [run("a"), run("a"), run("b")];
        let before = runs.clone();
        for run in &mut runs {
            pool.share(run);
        }
        assert_eq!(runs, before);
        let [first, second, third] = &runs;
        assert!(Arc::ptr_eq(&first.labels.0, &second.labels.0));
        assert!(!Arc::ptr_eq(&first.labels.0, &third.labels.0));
        let mode = |run: &Run| run.mode.clone().unwrap().0;
        assert!(Arc::ptr_eq(&mode(first), &mode(third)));
        let json = serde_json::to_string(&third).unwrap();
        assert!(json.contains(r#""labels":{"arm":"b"}"#), "{json}");
    }
}
