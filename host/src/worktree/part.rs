//! Parts of a file that may not change: the values that JSON pointers name, as digests.

use std::collections::BTreeMap;

use ralph_gate_component::tree::{Entry, Node, Source, TextFormat, Value};
use ralph_gate_memory::digest::Digest;

/// A part that is named, and what stood there. A part that is not there has no entry.
pub(super) type Parts = BTreeMap<String, Digest>;

/// How the parts of a file are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Tree(TextFormat),
    /// Sections under `[name]`, as in `setup.cfg`.
    Sections,
}

/// The parts of a file's content. Where the content can't be read as its name promises, it counts as a whole.
pub(super) fn read(path: &[u8], content: &[u8], pointers: &[String]) -> Parts {
    let text = str::from_utf8(content).ok();
    let found = match (text, syntax(path)) {
        (Some(text), Some(Syntax::Tree(format))) => in_tree(text, format, pointers),
        (Some(text), Some(Syntax::Sections)) => Some(in_sections(text, pointers)),
        _ => None,
    };
    found.unwrap_or_else(|| whole(Digest::of(&[b"content", content]), pointers))
}

/// Every part is the same: that of something without parts.
pub(super) fn whole(digest: Digest, pointers: &[String]) -> Parts {
    let pointers = pointers.iter().cloned();
    pointers.map(|pointer| (pointer, digest)).collect()
}

fn syntax(path: &[u8]) -> Option<Syntax> {
    let name = path.rsplit(|byte| *byte == b'/').next()?;
    let extension = name.rsplit(|byte| *byte == b'.').next()?;
    match extension {
        b"json" => Some(Syntax::Tree(TextFormat::Json)),
        b"toml" => Some(Syntax::Tree(TextFormat::Toml)),
        b"yaml" | b"yml" => Some(Syntax::Tree(TextFormat::Yaml)),
        b"cfg" | b"ini" => Some(Syntax::Sections),
        _ => None,
    }
}

fn in_tree(text: &str, format: TextFormat, pointers: &[String]) -> Option<Parts> {
    let root = Source::new(text, format).read_settings().ok()?;
    let part = |pointer: &String| {
        let node = find(&root, pointer)?;
        let mut canonical = String::new();
        write(&mut canonical, node);
        let digest = Digest::of(&[b"value", canonical.as_bytes()]);
        Some((pointer.clone(), digest))
    };
    Some(pointers.iter().filter_map(part).collect())
}

/// What a JSON pointer leads to.
fn find<'n, 'a>(root: &'n Node<'a>, pointer: &str) -> Option<&'n Node<'a>> {
    let mut node = root;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        node = match &node.value {
            Value::Map(entries) => entries
                .iter()
                .find(|entry| entry.key == step)
                .map(|entry| &entry.node)?,
            Value::List(items) => items.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(node)
}

/// A value without its layout and the order of its keys.
fn write(text: &mut String, node: &Node<'_>) {
    match &node.value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => text.push_str(number),
        Value::String(string) => push_text(text, string),
        Value::List(items) => {
            text.push('[');
            for item in items {
                write(text, item);
                text.push(',');
            }
            text.push(']');
        }
        Value::Map(entries) => {
            let mut sorted: Vec<&Entry<'_>> = entries.iter().collect();
            sorted.sort_by(|one, other| one.key.cmp(&other.key));
            text.push('{');
            for entry in sorted {
                push_text(text, &entry.key);
                text.push(':');
                write(text, &entry.node);
                text.push(',');
            }
            text.push('}');
        }
    }
}

fn push_text(text: &mut String, string: &str) {
    // A text always has a JSON form.
    text.push_str(&serde_json::to_string(string).unwrap_or_default());
}

/// The lines below `[name]`, for `/name`.
fn in_sections(text: &str, pointers: &[String]) -> Parts {
    let part = |pointer: &String| {
        let name = pointer.strip_prefix('/').unwrap_or(pointer);
        let mut content: Option<String> = None;
        let mut is_inside = false;
        for line in text.lines() {
            if let Some(section) = section(line) {
                is_inside = section == name;
                if is_inside {
                    content.get_or_insert_default().push_str("[]\n");
                }
            } else if is_inside && !line.trim().is_empty() {
                let content = content.get_or_insert_default();
                content.push_str(line.trim_end());
                content.push('\n');
            }
        }
        let digest = Digest::of(&[b"section", content?.as_bytes()]);
        Some((pointer.clone(), digest))
    };
    pointers.iter().filter_map(part).collect()
}

/// The section that a line begins. A comment may follow.
fn section(line: &str) -> Option<&str> {
    let line = line.split(['#', ';']).next()?.trim_end();
    line.strip_prefix('[')?.strip_suffix(']').map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(path: &str, text: &str, pointers: &[&str]) -> Parts {
        let pointers: Vec<String> = pointers.iter().map(ToString::to_string).collect();
        read(path.as_bytes(), text.as_bytes(), &pointers)
    }

    #[test]
    fn only_the_named_values_count_and_not_their_layout() {
        let before = r#"{"scripts": {"test": "jest", "lint": "x"}, "version": "1"}"#;
        let same = "{\"version\": \"2\",\n \"scripts\": {\"lint\": \"x\", \"test\": \"jest\"}}";
        let pointers = &["/scripts", "/jest"];
        let known = parts("a/package.json", before, pointers);
        assert_eq!(known.len(), 1, "what is not there has no entry");
        assert_eq!(parts("a/package.json", same, pointers), known);
        for changed in [
            before.replace("jest", "true"),
            before.replace("\"version\"", "\"jest\""),
            "{}".to_owned(),
        ] {
            assert_ne!(
                parts("package.json", &changed, pointers),
                known,
                "{changed}"
            );
        }
    }

    #[test]
    fn a_file_that_can_not_be_read_as_its_name_promises_counts_as_a_whole() {
        let pointers = &["/tool/pytest"];
        let known = parts("pyproject.toml", "a = [", pointers);
        assert_eq!(known.len(), 1);
        assert_eq!(parts("pyproject.toml", "a = [", pointers), known);
        assert_ne!(parts("pyproject.toml", "a = [ ", pointers), known);
        assert_eq!(parts("pyproject.toml", "a = 1", pointers).len(), 0);
    }

    #[test]
    fn a_section_is_told_from_the_others_and_from_itself_twice() {
        let before =
            "[metadata]\nname = a\n[tool:pytest] # settings\naddopts = -q\n\n[flake8]\nx = 1\n";
        let pointers = &["/tool:pytest"];
        let known = parts("setup.cfg", before, pointers);
        let same = before
            .replace("name = a", "name = b")
            .replace("# settings", "");
        assert_eq!(parts("setup.cfg", &same, pointers), known);
        for changed in [
            before.replace("-q", "-q --ignore=tests"),
            format!("{before}[tool:pytest]\n"),
            before.replace("[flake8]", ""),
        ] {
            assert_ne!(parts("setup.cfg", &changed, pointers), known, "{changed}");
        }
        assert!(parts("setup.cfg", "[metadata]\n", pointers).is_empty());
    }

    #[test]
    fn a_pointer_leads_through_lists_and_escaped_names() {
        let text = r#"{"a/b": [{"c~d": 1}]}"#;
        assert_eq!(parts("x.json", text, &["/a~1b/0/c~0d"]).len(), 1);
        assert_eq!(
            parts("x.json", text, &["/a~1b/1", "/a~1b/0/x", "/a"]).len(),
            0
        );
    }
}
