//! Profiles: named sets of defaults. Fields of the request win over them.

use super::draft::{Draft, Extent};
use super::fields::MAX_NAME;
use super::{Enforcement, OnFlaky};
use crate::decimal::Decimal;
use crate::tree::Node;
use crate::tree::decode::{Decoder, Path, closest, shorten};

/// How the message of an unknown profile begins.
pub(super) const UNKNOWN: &str = "there is no profile";

/// The built-in profiles and those of a routing policy.
#[derive(Debug, Clone)]
pub struct Profiles(Vec<(String, Draft)>);

impl Profiles {
    /// `ralph` (the defaults of the fields), `strict` and `shadow`.
    pub fn built_in() -> Self {
        let strict = Draft {
            on_flaky: Some(OnFlaky::Fail),
            optional_pass_ratio: Some(Decimal::ONE),
            ..Draft::default()
        };
        let shadow = Draft {
            enforcement: Some(Enforcement::Shadow),
            ..Draft::default()
        };
        Self(vec![
            ("ralph".to_owned(), Draft::default()),
            ("strict".to_owned(), strict),
            ("shadow".to_owned(), shadow),
        ])
    }

    /// Add the profiles of a routing policy. A built-in name can't be redefined.
    pub fn extend(&mut self, decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) {
        for entry in decoder.entries(node, path) {
            let path = path.field(&entry.key);
            if entry.key.is_empty() || entry.key.len() > MAX_NAME {
                let message = format!("a profile's name must have 1 to {MAX_NAME} bytes");
                decoder.problem(entry.at, path, message, None);
            } else if self.find(&entry.key).is_some() {
                let help = Some("choose another name".to_owned());
                decoder.problem(entry.at, path, "is the name of a built-in profile", help);
            } else {
                let draft = Draft::decode(decoder, &entry.node, path, Extent::Profile);
                self.0.push((entry.key.clone().into_owned(), draft));
            }
        }
    }

    fn find(&self, name: &str) -> Option<&Draft> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, draft)| draft)
    }

    /// The defaults for a draft: those of the profile it names.
    pub(super) fn base_for(
        &self,
        decoder: &mut Decoder<'_>,
        draft: &Draft,
        path: Path<'_>,
    ) -> Draft {
        let Some(profile) = draft.profile.as_ref().filter(|_| !draft.effective) else {
            return Draft::default();
        };
        if let Some(base) = self.find(&profile.value) {
            return base.clone();
        }
        let names = || self.0.iter().map(|(name, _)| name.as_str());
        let help = match closest(&profile.value, names()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!(
                "the profiles are {}",
                names().collect::<Vec<_>>().join(", ")
            ),
        };
        let message = format!("{UNKNOWN} `{}`", shorten(&profile.value));
        decoder.problem(profile.at, path.field("profile"), message, Some(help));
        Draft::default()
    }
}
