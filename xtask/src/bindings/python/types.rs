//! Python's types of what the gate takes and gives: dataclasses from the WIT, and the contract from its JSON Schema.
//!
//! The file that comes out is checked in, because editors and type checkers read it. A test compares; `BLESS=1` rewrites it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use wit_parser::{Docs, Enum, Record, Resolve, Type, TypeDef, TypeDefKind, TypeId};

use super::schema;

/// The file.
pub(crate) const FILE: &str = "bindings/python/src/ralph_gate/types.py";

/// The interface whose types these are.
const INTERFACE: &str = "gate";

/// Becomes an exception, which is written by hand.
const ERROR: &str = "gate-error";

/// What a caller may leave out although its type has no case for that: the gate takes it as zero, false or empty. The
/// package's tests compare the answers.
const MAY_BE_ABSENT: &[(&str, &str)] = &[
    ("iteration", "canceled"),
    ("iteration", "output"),
    ("issue", "needs-human"),
    ("progress-entry", "body"),
    ("resumption", "accept-contract"),
    ("usage", "elapsed-ms"),
    ("usage", "tool-calls"),
    ("usage", "tokens"),
];

const HEAD: &str = r#""""What the gate takes and gives, as Python types.

Made from wit/gate.wit and gate-component/schemas by `BLESS=1 cargo test --package xtask python`. Don't edit it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Optional, TypedDict, Union
"#;

/// The whole file, from a checkout.
pub(crate) fn generate(root: &Path) -> Result<String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(root.join("wit"))?;
    let package = resolve.packages.get(package).context("a package")?;
    let interface = package
        .interfaces
        .get(INTERFACE)
        .with_context(|| format!("the WIT has no interface `{INTERFACE}`"))?;
    let interface = resolve.interfaces.get(*interface).context("an interface")?;
    let mut writer = Writer {
        resolve: &resolve,
        inputs: BTreeSet::new(),
        outputs: BTreeSet::new(),
        names: Vec::new(),
        text: String::new(),
    };
    for function in interface.functions.values() {
        for param in &function.params {
            reach(&resolve, &param.ty, &mut writer.inputs);
        }
        if let Some(result) = &function.result {
            reach(&resolve, result, &mut writer.outputs);
        }
    }
    for (name, id) in &interface.types {
        if name != ERROR {
            writer.write_type(name, *id)?;
        }
    }
    let schema = fs::read_to_string(root.join("gate-component/schemas/contract.schema.json"))?;
    let schema: Value = serde_json::from_str(&schema)?;
    writer.text += &schema::typed_dicts("Contract", &schema, &mut writer.names)?;
    Ok(writer.finish())
}

/// Adds every type that a value of this type is made of.
fn reach(resolve: &Resolve, ty: &Type, found: &mut BTreeSet<TypeId>) {
    let Type::Id(id) = ty else { return };
    let Some(def) = resolve.types.get(*id) else {
        return;
    };
    if !found.insert(*id) {
        return;
    }
    match &def.kind {
        TypeDefKind::Record(record) => {
            for field in &record.fields {
                reach(resolve, &field.ty, found);
            }
        }
        TypeDefKind::Option(inner) | TypeDefKind::List(inner) | TypeDefKind::Type(inner) => {
            reach(resolve, inner, found);
        }
        TypeDefKind::Result(result) => {
            for inner in result.ok.iter().chain(&result.err) {
                reach(resolve, inner, found);
            }
        }
        _ => {}
    }
}

/// What a field's value is, as far as Python has to know.
enum Shape {
    /// The same in JSON and in Python: its type, and what stands for nothing.
    Plain(String, &'static str),
    /// A dataclass: its name, and whether it can be made of nothing.
    Record(String, bool),
    Optional(Box<Shape>),
    List(Box<Shape>),
}

impl Shape {
    /// The annotation.
    fn annotation(&self) -> String {
        match self {
            Self::Plain(name, _) | Self::Record(name, _) => name.clone(),
            Self::Optional(inner) => format!("Optional[{}]", inner.annotation()),
            Self::List(inner) => format!("list[{}]", inner.annotation()),
        }
    }

    /// What stands behind the annotation of a field that may be left out.
    fn default(&self, may_be_absent: bool) -> Option<String> {
        match self {
            Self::Plain(_, empty) => may_be_absent.then(|| format!(" = {empty}")),
            Self::Record(name, empty) => empty.then(|| format!(" = field(default_factory={name})")),
            Self::Optional(_) => Some(" = None".to_owned()),
            Self::List(_) => Some(" = field(default_factory=list)".to_owned()),
        }
    }

    /// An expression for the JSON form of `value`.
    fn to_json(&self, value: &str) -> String {
        match self {
            Self::Plain(..) => value.to_owned(),
            Self::Record(..) => format!("{value}.to_json()"),
            Self::Optional(inner) if inner.is_plain() => value.to_owned(),
            Self::Optional(inner) => {
                format!("None if {value} is None else {}", inner.to_json(value))
            }
            Self::List(inner) if inner.is_plain() => value.to_owned(),
            Self::List(inner) => format!("[{} for item in {value}]", inner.to_json("item")),
        }
    }

    /// An expression for the Python form of the JSON `value`.
    fn read_json(&self, value: &str) -> String {
        match self {
            Self::Plain(..) => value.to_owned(),
            Self::Record(name, _) => format!("{name}.from_json({value})"),
            Self::Optional(inner) if inner.is_plain() => value.to_owned(),
            Self::Optional(inner) => {
                format!("None if {value} is None else {}", inner.read_json(value))
            }
            Self::List(inner) if inner.is_plain() => value.to_owned(),
            Self::List(inner) => format!("[{} for item in {value}]", inner.read_json("item")),
        }
    }

    fn is_plain(&self) -> bool {
        match self {
            Self::Plain(..) => true,
            Self::Record(..) => false,
            Self::Optional(inner) | Self::List(inner) => inner.is_plain(),
        }
    }
}

/// One field of a dataclass.
struct Field<'r> {
    name: String,
    shape: Shape,
    default: Option<String>,
    docs: &'r Docs,
}

/// Writes the file, type by type.
struct Writer<'r> {
    resolve: &'r Resolve,
    inputs: BTreeSet<TypeId>,
    outputs: BTreeSet<TypeId>,
    /// What the file offers.
    names: Vec<String>,
    text: String,
}

impl<'r> Writer<'r> {
    fn write_type(&mut self, name: &str, id: TypeId) -> Result<()> {
        let def = self.def(id)?;
        match &def.kind {
            TypeDefKind::Record(record) => {
                let fields = self.fields(name, record, self.inputs.contains(&id))?;
                self.write_record(name, id, &def.docs, &fields);
            }
            TypeDefKind::Enum(cases) => self.write_enum(name, &def.docs, cases),
            // The session has a class that is written by hand.
            TypeDefKind::Resource => {}
            kind => bail!(
                "`{name}` is a {}, for which there is no Python form yet",
                kind.as_str()
            ),
        }
        Ok(())
    }

    fn write_enum(&mut self, name: &str, docs: &Docs, cases: &Enum) {
        let name = camel_case(name);
        self.text += &format!("\n\n{name} = Literal[\n");
        for case in &cases.cases {
            self.text += &format!("    \"{}\",", snake_case(&case.name));
            if let Some(docs) = &case.docs.contents {
                self.text += &format!("  # {}", docs.trim().replace('\n', " "));
            }
            self.text += "\n";
        }
        self.text += "]\n";
        self.text += &docstring("", docs);
        self.names.push(name);
    }

    fn write_record(&mut self, name: &str, id: TypeId, docs: &Docs, fields: &[Field<'r>]) {
        let name = camel_case(name);
        self.text += &format!("\n\n@dataclass\nclass {name}:\n{}", docstring("    ", docs));
        let (required, rest): (Vec<_>, Vec<_>) =
            fields.iter().partition(|field| field.default.is_none());
        for field in required.into_iter().chain(rest) {
            let annotation = field.shape.annotation();
            let default = field.default.as_deref().unwrap_or_default();
            self.text += &format!("\n    {}: {annotation}{default}\n", field.name);
            self.text += &docstring("    ", field.docs);
        }
        if self.inputs.contains(&id) {
            self.text += &to_json(fields);
        }
        if self.outputs.contains(&id) {
            self.text += &from_json(&name, fields);
        }
        self.names.push(name);
    }

    fn fields(&self, name: &str, record: &'r Record, is_input: bool) -> Result<Vec<Field<'r>>> {
        let mut fields = Vec::new();
        for field in &record.fields {
            let shape = self.shape(&field.ty)?;
            let may_be_absent = MAY_BE_ABSENT.contains(&(name, field.name.as_str()));
            let default = is_input.then(|| shape.default(may_be_absent)).flatten();
            fields.push(Field {
                name: snake_case(&field.name),
                shape,
                default,
                docs: &field.docs,
            });
        }
        Ok(fields)
    }

    fn shape(&self, ty: &Type) -> Result<Shape> {
        let plain = |name: &str, empty| Ok(Shape::Plain(name.to_owned(), empty));
        let id = match ty {
            Type::Bool => return plain("bool", "False"),
            Type::U32 => return plain("int", "0"),
            Type::String => return plain("str", "\"\""),
            Type::Id(id) => *id,
            other => bail!("there is no Python form for {other:?} yet"),
        };
        let def = self.def(id)?;
        let name = def.name.as_deref().unwrap_or_default();
        match &def.kind {
            TypeDefKind::Option(inner) => Ok(Shape::Optional(Box::new(self.shape(inner)?))),
            TypeDefKind::List(inner) => Ok(Shape::List(Box::new(self.shape(inner)?))),
            TypeDefKind::Enum(_) => plain(&camel_case(name), ""),
            TypeDefKind::Record(record) => {
                let fields = self.fields(name, record, self.inputs.contains(&id))?;
                let empty = fields.iter().all(|field| field.default.is_some());
                Ok(Shape::Record(camel_case(name), empty))
            }
            kind => bail!("there is no Python form for a {} yet", kind.as_str()),
        }
    }

    fn def(&self, id: TypeId) -> Result<&'r TypeDef> {
        self.resolve.types.get(id).context("a type of the WIT")
    }

    fn finish(mut self) -> String {
        self.names.sort();
        let names = self.names.iter().map(|name| format!("    \"{name}\",\n"));
        let names: String = names.collect();
        format!("{HEAD}\n__all__ = [\n{names}]\n{}", self.text)
    }
}

/// The method that gives the JSON form.
fn to_json(fields: &[Field<'_>]) -> String {
    let mut text = "\n    def to_json(self) -> dict[str, Any]:\n        \
                    \"\"\"The one JSON form.\"\"\"\n        return {\n"
        .to_owned();
    for field in fields {
        let value = field.shape.to_json(&format!("self.{}", field.name));
        text += &format!("            \"{}\": {value},\n", field.name);
    }
    text + "        }\n"
}

/// The method that reads the JSON form.
fn from_json(name: &str, fields: &[Field<'_>]) -> String {
    let mut text = format!(
        "\n    @classmethod\n    def from_json(cls, value: Mapping[str, Any]) -> {name}:\n        \
         \"\"\"From the gate's answer.\"\"\"\n        return cls(\n"
    );
    for field in fields {
        let value = field.shape.read_json(&format!("value[\"{}\"]", field.name));
        text += &format!("            {}={value},\n", field.name);
    }
    text + "        )\n"
}

/// The documentation as Python has it, or nothing.
fn docstring(indent: &str, docs: &Docs) -> String {
    let lines = docs.contents.iter().flat_map(|text| text.lines());
    // What divides the WIT into sections is taken for documentation of what follows.
    let lines: Vec<&str> = lines.filter(|line| !line.contains("-----")).collect();
    if lines.is_empty() {
        return String::new();
    }
    quoted(indent, &lines.join("\n"))
}

/// A docstring.
pub(super) fn quoted(indent: &str, text: &str) -> String {
    let text = text.trim().replace('\\', "\\\\").replace("\"\"\"", "'''");
    let end = if text.contains('\n') || text.ends_with('"') {
        format!("\n{indent}")
    } else {
        String::new()
    };
    // Python's linters refuse white space on an empty line.
    let text = text
        .replace('\n', &format!("\n{indent}"))
        .replace(&format!("\n{indent}\n"), "\n\n");
    format!("{indent}\"\"\"{text}{end}\"\"\"\n")
}

fn snake_case(name: &str) -> String {
    name.replace('-', "_")
}

/// `CheckResult` of `check-result`.
pub(super) fn camel_case(name: &str) -> String {
    let words = name.split(['-', '_']).map(|word| {
        let mut letters = word.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect::<String>()
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build;

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
    }

    #[test]
    fn the_types_of_python_are_those_of_the_wit() {
        let generated = generate(root()).unwrap();
        let path = root().join(FILE);
        if std::env::var_os("BLESS").is_some() {
            build::replace(&path, generated.as_bytes()).unwrap();
        }
        let checked_in = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            checked_in == generated,
            "{FILE} is not what the WIT gives: BLESS=1 writes it anew"
        );
    }

    #[test]
    fn what_may_be_absent_exists() {
        let text = generate(root()).unwrap();
        for (record, field) in MAY_BE_ABSENT {
            let class = format!("class {}:", camel_case(record));
            let (_, rest) = text.split_once(&class).unwrap();
            let (class, _) = rest.split_once("\n\n\n").unwrap_or((rest, ""));
            let field = snake_case(field);
            let is_field = |line: &&str| line.trim().starts_with(&format!("{field}: "));
            let line = class.lines().find(is_field).unwrap();
            assert!(line.contains(" = "), "{record}.{field}: {line}");
        }
    }

    #[test]
    fn names_and_docs_become_pythons() {
        assert_eq!(camel_case("check-result"), "CheckResult");
        assert_eq!(snake_case("LOOP-DONE"), "LOOP_DONE");
        assert_eq!(quoted("  ", " a "), "  \"\"\"a\"\"\"\n");
        assert_eq!(quoted("  ", "a\nb"), "  \"\"\"a\n  b\n  \"\"\"\n");
        assert_eq!(quoted("  ", "a\n\nb"), "  \"\"\"a\n\n  b\n  \"\"\"\n");
        assert_eq!(quoted("", r#"say \ "x""#), "\"\"\"say \\\\ \"x\"\n\"\"\"\n");
    }
}
