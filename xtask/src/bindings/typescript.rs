//! TypeScript out of the WIT and the JSON Schemas: the types of the JSON face, and the way to the typed face and back.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use wit_parser::{Record, Type, TypeDefKind, TypeId};

use super::wit::{Wit, docs, is_required, pascal, snake};

/// What is written as a text by the gate and never as a number, so that it stays exact.
const SCHEMAS: &[(&str, &str)] = &[
    ("Contract", "contract"),
    ("Request", "request"),
    ("RoutingPolicy", "routing"),
];

/// Generated modules.
pub(crate) struct Modules {
    /// Types only.
    pub(crate) types: String,
    /// Iterations to the typed face, verdicts and briefs back.
    pub(crate) records: String,
}

/// Reads `wit/` and the schemas below `root`.
pub(crate) fn generate(root: &Path) -> Result<Modules> {
    let wit = Wit::read(root)?;
    let mut types = String::from(
        "// Generated from wit/gate.wit and gate-component/schemas: the JSON form of every type.\n",
    );
    wit.write_types(&mut types)?;
    for (name, file) in SCHEMAS {
        let path = format!("gate-component/schemas/{file}.schema.json");
        let text = fs::read_to_string(root.join(&path)).context(path)?;
        let schema: Value = serde_json::from_str(&text)?;
        let title = schema.get("title").and_then(Value::as_str);
        write_docs(&mut types, title, "");
        let _ = write!(types, "export interface {name} ");
        write_object(&mut types, &schema, "");
        types.push('\n');
    }
    Ok(Modules {
        types,
        records: wit.records()?,
    })
}

impl Wit {
    fn write_types(&self, text: &mut String) -> Result<()> {
        for (name, id) in &self.interface.types {
            match self.kind(*id) {
                Some(TypeDefKind::Enum(cases)) => {
                    write_docs(text, self.docs(*id), "");
                    let _ = write!(text, "export type {} =", pascal(name));
                    for case in &cases.cases {
                        text.push('\n');
                        write_docs(text, docs(&case.docs), "  ");
                        let _ = write!(text, "  | \"{}\"", snake(&case.name));
                    }
                    text.push_str(";\n\n");
                }
                Some(TypeDefKind::Record(record)) => self.write_record(text, name, *id, record)?,
                Some(TypeDefKind::Resource) => {}
                _ => bail!("`{name}` is of a kind that has no TypeScript yet"),
            }
        }
        Ok(())
    }

    /// A type that goes both ways has two forms: what is answered is complete.
    fn write_record(
        &self,
        text: &mut String,
        name: &str,
        id: TypeId,
        record: &Record,
    ) -> Result<()> {
        for given in [false, true] {
            let there = if given { &self.given } else { &self.answered };
            if !there.contains(&id) {
                continue;
            }
            let both = given && self.answered.contains(&id);
            write_docs(text, self.docs(id), "");
            let ending = if both { "Input" } else { "" };
            let _ = writeln!(text, "export interface {}{ending} {{", pascal(name));
            for field in &record.fields {
                write_docs(text, docs(&field.docs), "  ");
                let mark = if given && !is_required(name, &field.name) {
                    "?"
                } else {
                    ""
                };
                let mut ty = self.type_name(field.ty, given)?;
                if !mark.is_empty() && !ty.ends_with("| null") {
                    ty.push_str(" | null");
                }
                let _ = writeln!(text, "  {}{mark}: {ty};", snake(&field.name));
            }
            text.push_str("}\n\n");
        }
        Ok(())
    }

    fn type_name(&self, ty: Type, given: bool) -> Result<String> {
        Ok(match ty {
            Type::Bool => "boolean".to_owned(),
            Type::U8 | Type::U16 | Type::U32 | Type::S8 | Type::S16 | Type::S32 => {
                "number".to_owned()
            }
            Type::String => "string".to_owned(),
            Type::Id(id) => match self.kind(id) {
                Some(TypeDefKind::Option(inner)) => {
                    format!("{} | null", self.type_name(*inner, given)?)
                }
                Some(TypeDefKind::List(inner)) => format!("{}[]", self.type_name(*inner, given)?),
                _ => {
                    let both = given && self.is_record(id) && self.answered.contains(&id);
                    let ending = if both { "Input" } else { "" };
                    format!("{}{ending}", pascal(self.name(id)?))
                }
            },
            _ => bail!("{ty:?} is no plain number or text in JavaScript"),
        })
    }

    /// The way from the JSON form to the typed face and back, for what a session is asked most often.
    fn records(&self) -> Result<String> {
        let mut text = String::from(include_str!("records.ts"));
        let mut done = BTreeSet::new();
        self.write_way(&mut text, "iteration", true, &mut done)?;
        let mut done = BTreeSet::new();
        self.write_way(&mut text, "verdict", false, &mut done)?;
        self.write_way(&mut text, "brief", false, &mut done)?;
        Ok(text)
    }

    /// Writes the way of a type after those of the types in it.
    fn write_way(
        &self,
        text: &mut String,
        name: &str,
        given: bool,
        done: &mut BTreeSet<String>,
    ) -> Result<()> {
        if !done.insert(name.to_owned()) {
            return Ok(());
        }
        let id = self.interface.types.get(name);
        let id = *id.with_context(|| format!("the interface `gate` has no type `{name}`"))?;
        match self.kind(id) {
            Some(TypeDefKind::Enum(cases)) => {
                let words = cases.cases.iter().map(|case| {
                    let (typed, json) = (case.name.clone(), snake(&case.name));
                    let (from, to) = if given { (json, typed) } else { (typed, json) };
                    format!("\"{from}\": \"{to}\"")
                });
                let words: Vec<String> = words.collect();
                let table = way(name, given);
                let _ = writeln!(text, "const {table}: Words = {{ {} }};", words.join(", "));
            }
            Some(TypeDefKind::Record(record)) => {
                for field in &record.fields {
                    let mut inner = field.ty;
                    while let Type::Id(id) = inner {
                        match self.kind(id) {
                            Some(TypeDefKind::Option(ty) | TypeDefKind::List(ty)) => inner = *ty,
                            _ => {
                                self.write_way(text, self.name(id)?, given, done)?;
                                break;
                            }
                        }
                    }
                }
                self.write_way_of_record(text, name, record, given)?;
            }
            _ => bail!("there is no way for `{name}` yet"),
        }
        Ok(())
    }

    fn write_way_of_record(
        &self,
        text: &mut String,
        name: &str,
        record: &Record,
        given: bool,
    ) -> Result<()> {
        let export = if ["iteration", "verdict", "brief"].contains(&name) {
            "export "
        } else {
            ""
        };
        let function = way(name, given);
        if given {
            let names = record.fields.iter();
            let names: Vec<String> = names
                .map(|it| format!("{}: true", snake(&it.name)))
                .collect();
            let (known, all) = (format!("known{}", pascal(name)), names.join(", "));
            let _ = writeln!(text, "const {known}: Known = {{ {all} }};");
            let _ = writeln!(text, "{export}function {function}(value: any): any {{");
            let _ = writeln!(text, "  plain(value, {known});");
        } else {
            let _ = writeln!(text, "{export}function {function}(value: any): any {{");
        }
        text.push_str("  return {\n");
        for field in &record.fields {
            let (json, typed) = (snake(&field.name), camel(&field.name));
            let (from, to) = if given { (json, typed) } else { (typed, json) };
            let value = format!("value.{from}");
            let expression = if given {
                self.given(&value, field.ty, is_required(name, &field.name))?
            } else {
                self.answered(&value, field.ty)?
            };
            let _ = writeln!(text, "    {to}: {expression},");
        }
        text.push_str("  };\n}\n");
        Ok(())
    }

    /// An expression of the typed form, which refuses what only the JSON face can explain.
    fn given(&self, value: &str, ty: Type, required: bool) -> Result<String> {
        let absent = |empty: &str, there: String| {
            if required {
                there
            } else {
                format!("{value} == null ? {empty} : {there}")
            }
        };
        Ok(match ty {
            Type::Bool => absent("false", format!("flag({value})")),
            Type::U32 => absent("0", format!("count({value})")),
            Type::String => absent("\"\"", format!("text({value})")),
            Type::Id(id) => match self.kind(id) {
                Some(TypeDefKind::Option(inner)) => {
                    let there = self.given(value, *inner, true)?;
                    format!("{value} == null ? undefined : {there}")
                }
                Some(TypeDefKind::List(inner)) => {
                    let item = self.given("item", *inner, true)?;
                    absent("[]", format!("list({value}, (item) => {item})"))
                }
                Some(TypeDefKind::Enum(_)) => {
                    format!("word({value}, {})", way(self.name(id)?, true))
                }
                _ => {
                    let function = way(self.name(id)?, true);
                    absent(&format!("{function}({{}})"), format!("{function}({value})"))
                }
            },
            _ => bail!("{ty:?} has no way yet"),
        })
    }

    /// An expression of the JSON form.
    fn answered(&self, value: &str, ty: Type) -> Result<String> {
        let Type::Id(id) = ty else {
            return Ok(value.to_owned());
        };
        Ok(match self.kind(id) {
            Some(TypeDefKind::Option(inner)) => {
                let there = self.answered(value, *inner)?;
                if there == value {
                    format!("{value} ?? null")
                } else {
                    format!("{value} === undefined ? null : {there}")
                }
            }
            Some(TypeDefKind::List(inner)) => {
                let item = self.answered("item", *inner)?;
                if item == "item" {
                    value.to_owned()
                } else {
                    format!("{value}.map((item: any) => {item})")
                }
            }
            Some(TypeDefKind::Enum(_)) => format!("{}[{value}]", way(self.name(id)?, false)),
            _ => format!("{}({value})", way(self.name(id)?, false)),
        })
    }
}

/// What the way of a type is called.
fn way(name: &str, given: bool) -> String {
    let prefix = if given { "to" } else { "from" };
    format!("{prefix}{}", pascal(name))
}

fn write_docs(text: &mut String, docs: Option<&str>, indent: &str) {
    let Some(docs) = docs.map(str::trim).filter(|docs| !docs.is_empty()) else {
        return;
    };
    let lines: Vec<&str> = docs.lines().map(str::trim).collect();
    if let [line] = lines.as_slice() {
        let _ = writeln!(text, "{indent}/** {line} */");
        return;
    }
    let _ = writeln!(text, "{indent}/**");
    for line in lines {
        let _ = writeln!(text, "{indent} * {line}");
    }
    let _ = writeln!(text, "{indent} */");
}

/// The fields of a schema's object, in braces.
fn write_object(text: &mut String, schema: &Value, indent: &str) {
    let deeper = format!("{indent}  ");
    text.push_str("{\n");
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|it| it == name))
    };
    let fields = schema.get("properties").and_then(Value::as_object);
    for (name, field) in fields.into_iter().flatten() {
        write_docs(text, Some(&description(field)), &deeper);
        let mark = if required(name) { "" } else { "?" };
        let _ = write!(text, "{deeper}{name}{mark}: ");
        write_type(text, field, &deeper);
        text.push_str(";\n");
    }
    let _ = writeln!(text, "{indent}}}");
}

/// What the schema says of a field, with its default.
fn description(field: &Value) -> String {
    let text = field.get("description").and_then(Value::as_str);
    let mut text = text.unwrap_or_default().to_owned();
    if let Some(default) = field.get("default") {
        let _ = write!(text, " Default: `{default}`.");
    }
    text
}

fn write_type(text: &mut String, schema: &Value, indent: &str) {
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        return write_choices(text, choices, indent);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        text.push_str(&values.join(" | "));
        return;
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(ty)) => vec![ty],
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    if types.is_empty() {
        text.push_str("unknown");
    }
    for (index, ty) in types.iter().enumerate() {
        if index > 0 {
            text.push_str(" | ");
        }
        match *ty {
            "integer" => text.push_str("number"),
            "array" => write_array(text, schema, indent),
            "object" => write_map_or_object(text, schema, indent),
            other => text.push_str(other),
        }
    }
}

fn write_choices(text: &mut String, choices: &[Value], indent: &str) {
    for (index, choice) in choices.iter().enumerate() {
        if index > 0 {
            text.push_str(" | ");
        }
        write_type(text, choice, indent);
    }
}

fn write_array(text: &mut String, schema: &Value, indent: &str) {
    text.push_str("Array<");
    match schema.get("items") {
        Some(items) => write_type(text, items, indent),
        None => text.push_str("unknown"),
    }
    text.push('>');
}

fn write_map_or_object(text: &mut String, schema: &Value, indent: &str) {
    let Some(values) = schema
        .get("additionalProperties")
        .filter(|it| it.is_object())
    else {
        write_object(text, schema, indent);
        // The closing brace ends a line where it stands alone.
        text.truncate(text.trim_end().len());
        return;
    };
    text.push_str("Record<string, ");
    write_type(text, values, indent);
    text.push('>');
}

/// `check-result` as `checkResult`.
fn camel(name: &str) -> String {
    let name = pascal(name);
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules() -> Modules {
        generate(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap()
    }

    #[test]
    fn types_have_the_names_of_the_json_form_and_the_comments_of_the_wit() {
        let types = modules().types;
        assert!(types.contains("export interface Iteration {"), "{types}");
        assert!(types.contains("  index: number;"), "{types}");
        assert!(
            types.contains("  tool_outputs?: ToolOutput[] | null;"),
            "{types}"
        );
        assert!(types.contains("  stop_reason: StopReason | null;"));
        assert!(types.contains("  | \"LOOP_DONE\""));
        assert!(types.contains("/** What the agent wrote. */"));
        assert!(types.contains("  completion_token?: string | {"), "{types}");
    }

    #[test]
    fn a_type_that_goes_both_ways_has_a_form_for_each() {
        let types = modules().types;
        assert!(types.contains("export interface LoopFile {"));
        assert!(types.contains("export interface LoopFileInput {"));
        assert!(!types.contains("IterationInput"));
    }

    #[test]
    fn names_are_written_as_each_side_has_them() {
        assert_eq!(snake("LOOP-DONE"), "LOOP_DONE");
        assert_eq!(pascal("check-result"), "CheckResult");
        assert_eq!(camel("elapsed-ms"), "elapsedMs");
    }
}
