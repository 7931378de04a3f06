//! The interface `gate` of the WIT, as the generators of other languages' types read it.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};
use wit_parser::{Docs, Function, Interface, Resolve, Type, TypeDefKind, TypeId};

/// Fields without which the gate refuses an input. All other fields may be left out: absent means empty. A test of the
/// package asks the gate about each of them.
const REQUIRED: &[(&str, &[&str])] = &[
    ("artifact", &["name", "kind"]),
    ("check-result", &["id", "outcome"]),
    ("iteration", &["index", "action"]),
    ("operator-note", &["operator", "reason"]),
    ("prd-update", &["id", "passes"]),
    ("resumption", &["operator", "reason"]),
    ("tampering", &["what"]),
    ("tool-output", &["name"]),
    ("waiver", &["check", "operator", "reason"]),
];

/// The interface `gate`.
pub(super) struct Wit {
    pub(super) resolve: Resolve,
    pub(super) interface: Interface,
    /// Types that the gate is given, and types that it gives.
    pub(super) given: BTreeSet<TypeId>,
    pub(super) answered: BTreeSet<TypeId>,
}

impl Wit {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_path(root.join("wit"))?;
        let package = resolve.packages.get(package).context("no package")?;
        let id = package.interfaces.get("gate");
        let id = *id.context("wit/ has no interface `gate`")?;
        let interface = resolve.interfaces.get(id).context("no interface")?.clone();
        let mut wit = Self {
            resolve,
            interface,
            given: BTreeSet::new(),
            answered: BTreeSet::new(),
        };
        wit.follow();
        Ok(wit)
    }

    /// Finds what is given and what is answered.
    fn follow(&mut self) {
        let functions: Vec<Function> = self.interface.functions.values().cloned().collect();
        let (mut given, mut answered) = (BTreeSet::new(), BTreeSet::new());
        for function in &functions {
            for param in &function.params {
                self.reach(param.ty, &mut given);
            }
            if let Some(result) = function.result {
                self.reach(result, &mut answered);
            }
        }
        (self.given, self.answered) = (given, answered);
    }

    fn reach(&self, ty: Type, seen: &mut BTreeSet<TypeId>) {
        let Type::Id(id) = ty else { return };
        if !seen.insert(id) {
            return;
        }
        match self.kind(id) {
            Some(TypeDefKind::Record(record)) => {
                for field in &record.fields {
                    self.reach(field.ty, seen);
                }
            }
            Some(TypeDefKind::Option(inner) | TypeDefKind::List(inner)) => self.reach(*inner, seen),
            Some(TypeDefKind::Result(result)) => {
                for ty in [result.ok, result.err].into_iter().flatten() {
                    self.reach(ty, seen);
                }
            }
            _ => {}
        }
    }

    pub(super) fn kind(&self, id: TypeId) -> Option<&TypeDefKind> {
        self.resolve.types.get(id).map(|ty| &ty.kind)
    }

    pub(super) fn docs(&self, id: TypeId) -> Option<&str> {
        docs(&self.resolve.types.get(id)?.docs)
    }

    pub(super) fn is_record(&self, id: TypeId) -> bool {
        matches!(self.kind(id), Some(TypeDefKind::Record(_)))
    }

    pub(super) fn name(&self, id: TypeId) -> Result<&str> {
        let name = self.resolve.types.get(id).and_then(|ty| ty.name.as_deref());
        name.context("a type without a name")
    }
}

pub(super) fn is_required(record: &str, field: &str) -> bool {
    let fields = REQUIRED.iter().find(|(name, _)| *name == record);
    fields.is_some_and(|(_, fields)| fields.contains(&field))
}

pub(super) fn docs(docs: &Docs) -> Option<&str> {
    docs.contents.as_deref()
}

/// `check-failed` as `check_failed`.
pub(super) fn snake(name: &str) -> String {
    name.replace('-', "_")
}

/// `check-result` as `CheckResult`.
pub(super) fn pascal(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_required_field_is_one_of_the_wit() {
        let wit = Wit::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
        for (name, fields) in REQUIRED {
            let id = *wit.interface.types.get(*name).unwrap();
            let Some(TypeDefKind::Record(record)) = wit.kind(id) else {
                panic!("{name} is no record")
            };
            for field in *fields {
                assert!(record.fields.iter().any(|it| it.name == *field), "{field}");
            }
        }
    }
}
