//! Parts of a file that may not change, as digests: the values that JSON pointers name, and of source files what decides
//! about tests.
//!
//! | file | part | is |
//! | --- | --- | --- |
//! | `.json`, `.toml`, `.yaml` | `/a/b` | the value there |
//! | `.cfg`, `.ini` | `/name` | the lines below `[name]` |
//! | `.rs` | `/cfg(test)` | each item that is only there for tests; new modules of tests are allowed, and new tests |
//! | `.go` | `/func/NAME` | the function of that name |
//! | `.py` | `/statements` | everything, if there is anything but white space |
//! | `.py` | `/name/NAME` | everything, if the name is in it |

use std::collections::BTreeMap;

use ralph_gate_component::tree::{Entry, Node, Source, TextFormat, Value};
use ralph_gate_memory::digest::Digest;

use super::items::{Addition, go_function, rust_tests};

/// A part that is named, and what stood there. A part that is not there has no entry.
pub(super) type Parts = BTreeMap<String, Digest>;

/// The parts of a file as it is now, and when each may appear.
pub(super) type Found = BTreeMap<String, Part>;

/// A part as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) digest: Digest,
    pub(super) arrival: Arrival,
}

/// The parts of a file, and why it could not be read as its name promises. Then every part stands for the whole file.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) parts: Found,
    pub(super) problem: Option<String>,
}

impl From<Found> for Reading {
    fn from(parts: Found) -> Self {
        Self {
            parts,
            problem: None,
        }
    }
}

/// How the parts of a file are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Tree(TextFormat),
    /// Sections under `[name]`, as in `setup.cfg`.
    Sections,
    Rust,
    Go,
    Python,
}

/// The part of source files in Rust.
const RUST_TESTS: &str = "/cfg(test)";
/// The parts of source files in Go, before the name of a function.
const GO_FUNCTION: &str = "/func/";
/// The part of source files in Python.
const STATEMENTS: &str = "/statements";
/// Parts of source files in Python, before a name.
const PYTHON_NAME: &str = "/name/";
/// Encodings in which the letters of a name are what they look like.
const ENCODINGS: &[&str] = &["utf-8", "utf8", "ascii", "us-ascii", "latin-1", "latin1"];

/// When a part may appear where there was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    Always,
    /// In a file of tests that is new.
    InNewTestFiles,
    /// In a file that is new, in a directory in which nothing was looked after: that of a new package.
    InNewFolders,
    Never,
}

/// When a part of the file at a path may appear, unless the part says so itself.
pub(super) fn arrival(path: &[u8]) -> Arrival {
    match syntax(path) {
        Some(Syntax::Rust) => Arrival::Always,
        Some(Syntax::Tree(_) | Syntax::Sections) => Arrival::InNewFolders,
        Some(Syntax::Go | Syntax::Python) | None => Arrival::Never,
    }
}

/// Whether a part is named by one of these pointers: by its own, or as one of several that a pointer stands for.
pub(super) fn is_named(part: &str, pointers: &[String]) -> bool {
    let is_named = |pointer: &String| {
        let rest = part.strip_prefix(pointer.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
    };
    pointers.iter().any(is_named)
}

/// Whether a part is a test in a source file.
pub(super) fn is_test(part: &str) -> bool {
    part.starts_with(RUST_TESTS)
}

/// The parts of a file's content. Where the content can't be read as its name promises, it counts as a whole.
pub(super) fn read(path: &[u8], content: &[u8], pointers: &[String]) -> Reading {
    let arrival = arrival(path);
    let counted = |problem: Option<String>| Reading {
        parts: whole(path, Digest::of(&[b"content", content]), pointers),
        problem,
    };
    let Ok(text) = str::from_utf8(content) else {
        return counted(Some("it is not UTF-8".to_owned()));
    };
    let found = match syntax(path) {
        Some(Syntax::Tree(format)) => match in_tree(text, format, pointers) {
            Ok(parts) => Some(arriving(parts, arrival)),
            Err(problem) => return counted(Some(problem)),
        },
        Some(Syntax::Sections) => Some(arriving(in_sections(text, pointers), arrival)),
        Some(syntax) => in_source(text, syntax, arrival, pointers),
        None => None,
    };
    found.map_or_else(|| counted(None), Reading::from)
}

/// Every part is the same: that of something without parts.
pub(super) fn whole(path: &[u8], digest: Digest, pointers: &[String]) -> Found {
    let pointers = pointers.iter().cloned();
    let parts = pointers.map(|pointer| (pointer, digest)).collect();
    arriving(parts, arrival(path))
}

fn arriving(parts: Parts, arrival: Arrival) -> Found {
    let part = |digest| Part { digest, arrival };
    let parts = parts.into_iter();
    parts.map(|(name, digest)| (name, part(digest))).collect()
}

fn syntax(path: &[u8]) -> Option<Syntax> {
    let name = path.rsplit(|byte| *byte == b'/').next()?;
    let extension = name.rsplit(|byte| *byte == b'.').next()?;
    match extension {
        b"json" => Some(Syntax::Tree(TextFormat::Json)),
        b"toml" => Some(Syntax::Tree(TextFormat::Toml)),
        b"yaml" | b"yml" => Some(Syntax::Tree(TextFormat::Yaml)),
        b"cfg" | b"ini" => Some(Syntax::Sections),
        b"rs" => Some(Syntax::Rust),
        b"go" => Some(Syntax::Go),
        b"py" => Some(Syntax::Python),
        _ => None,
    }
}

/// The values that pointers name, or why the text can't be read.
fn in_tree(text: &str, format: TextFormat, pointers: &[String]) -> Result<Parts, String> {
    let read = Source::new(text, format).read_settings();
    let root = read.map_err(|problem| format!("line {}: {}", problem.line, problem.message))?;
    let part = |pointer: &String| {
        let node = find(&root, pointer)?;
        let mut canonical = String::new();
        write(&mut canonical, node);
        let digest = Digest::of(&[b"value", canonical.as_bytes()]);
        Some((pointer.clone(), digest))
    };
    Ok(pointers.iter().filter_map(part).collect())
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

/// The parts of a source file. None if a pointer names none that its language has.
fn in_source(text: &str, syntax: Syntax, arrival: Arrival, pointers: &[String]) -> Option<Found> {
    let mut parts = Found::new();
    let part = |text: &str, arrival| Part {
        digest: Digest::of(&[b"source", text.as_bytes()]),
        arrival,
    };
    for pointer in pointers {
        let function = pointer.strip_prefix(GO_FUNCTION);
        let name = pointer.strip_prefix(PYTHON_NAME);
        match (syntax, function, name) {
            (Syntax::Rust, ..) if pointer == RUST_TESTS => {
                let items = rust_tests(text).into_iter();
                parts.extend(items.map(|item| {
                    let arrival = match item.addition {
                        Addition::Anywhere => Arrival::Always,
                        Addition::InNewTestFiles => Arrival::InNewTestFiles,
                        Addition::Nowhere => Arrival::Never,
                    };
                    let name = format!("{pointer}#{}", item.name);
                    (name, part(&item.text, arrival))
                }));
            }
            (Syntax::Go, Some(name), _) => {
                let function = go_function(text, name);
                parts.extend(function.map(|text| (pointer.clone(), part(text, arrival))));
            }
            (Syntax::Python, ..) if pointer == STATEMENTS => {
                let is_empty = text.trim().is_empty();
                parts.extend((!is_empty).then(|| (pointer.clone(), part(text, arrival))));
            }
            (Syntax::Python, _, Some(name)) => {
                let is_named = may_name(text, name);
                parts.extend(is_named.then(|| (pointer.clone(), part(text, arrival))));
            }
            _ => return None,
        }
    }
    Some(parts)
}

/// Whether a source file in Python may have a name. Comments and texts count, because what begins one depends on the
/// version of Python. So does another encoding, in which the name may not look like itself.
fn may_name(text: &str, name: &str) -> bool {
    let declared = text.lines().take(2).filter_map(encoding);
    let mut unknown = declared.filter(|it| {
        let it = it.to_ascii_lowercase().replace('_', "-");
        !ENCODINGS.contains(&it.as_str()) && !it.starts_with("iso-8859-")
    });
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric() || !c.is_ascii();
    let mut words = text.split(|c: char| !is_part(c));
    text.contains(name) || words.any(|word| is_disguised(word, name)) || unknown.next().is_some()
}

/// Whether a word is a name in letters for which Python takes those of the name: of full width, raised, of mathematics.
fn is_disguised(word: &str, name: &str) -> bool {
    let stands_for_another = |c: char| {
        matches!(c, '\u{aa}' | '\u{ba}' | '\u{17f}' | '\u{2b0}'..='\u{2b8}' | '\u{2e0}'..='\u{2e4}'
            | '\u{1d2c}'..='\u{1dbf}' | '\u{2070}'..='\u{209c}' | '\u{2100}'..='\u{2188}'
            | '\u{fb00}'..='\u{fb06}' | '\u{fe33}'..='\u{fe34}' | '\u{fe4d}'..='\u{fe4f}'
            | '\u{ff10}'..='\u{ff5a}' | '\u{10780}'..='\u{107ba}' | '\u{1d400}'..='\u{1d7ff}')
    };
    // One letter may stand for two.
    let length = word.chars().count();
    let mut letters = name.chars();
    (name.len().saturating_sub(2)..=name.len()).contains(&length)
        && word.chars().any(stands_for_another)
        && word
            .chars()
            .all(|c| stands_for_another(c) || letters.any(|letter| letter == c))
}

/// The encoding that a comment declares.
fn encoding(line: &str) -> Option<&str> {
    let comment = line.trim_start_matches('\u{feff}').trim_start();
    let (_, rest) = comment.strip_prefix('#')?.split_once("coding")?;
    let name = rest.strip_prefix([':', '='])?.trim_start();
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = name.find(|c| !is_part(c)).unwrap_or(name.len());
    name.get(..end)
}

/// The lines below `[name]`, for `/name`.
///
/// Of the programs that read such files, some end a line at every sign that Python takes for an end of one, the others
/// only where all do. A section is what either of them sees.
fn in_sections(text: &str, pointers: &[String]) -> Parts {
    let every = |c: char| {
        matches!(
            c,
            '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let common = |c: char| matches!(c, '\n' | '\r');
    let part = |pointer: &String| {
        let name = pointer.strip_prefix('/').unwrap_or(pointer);
        let seen = [
            lines_below(text.split(every), name),
            lines_below(text.split(common), name),
        ];
        let digest = match seen {
            [None, None] => return None,
            [every, common] if every == common => {
                Digest::of(&[b"section", every.unwrap_or_default().as_bytes()])
            }
            seen => {
                let [every, common] = seen.map(Option::unwrap_or_default);
                Digest::of(&[b"section", every.as_bytes(), common.as_bytes()])
            }
        };
        Some((pointer.clone(), digest))
    };
    pointers.iter().filter_map(part).collect()
}

fn lines_below<'t>(lines: impl Iterator<Item = &'t str>, name: &str) -> Option<String> {
    let mut content: Option<String> = None;
    let mut is_inside = false;
    for line in lines {
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
    content
}

/// The section that a line begins. A comment may follow.
fn section(line: &str) -> Option<&str> {
    let line = line.split(['#', ';']).next()?.trim_end();
    line.strip_prefix('[')?.strip_suffix(']').map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(path: &str, text: &str, pointers: &[&str]) -> Found {
        let pointers: Vec<String> = pointers.iter().map(ToString::to_string).collect();
        read(path.as_bytes(), text.as_bytes(), &pointers).parts
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
    fn a_file_that_can_not_be_read_says_why() {
        let problem = |path: &str, content: &[u8]| {
            let pointers = ["/jest".to_owned()];
            read(path.as_bytes(), content, &pointers).problem
        };
        let repeated = problem("package.json", b"{\"a\": 1,\n\"a\": 2}").unwrap();
        assert!(repeated.starts_with("line 2: "), "{repeated}");
        assert!(problem("pyproject.toml", b"a = [").is_some());
        assert!(
            problem("pyproject.toml", b"\xff")
                .unwrap()
                .contains("UTF-8")
        );
        assert_eq!(problem("package.json", b"{}"), None);
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
    fn a_section_begins_wherever_python_ends_a_line() {
        let pointers = &["/tool:pytest"];
        for end in [
            "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\u{85}", "\u{2028}", "\u{2029}",
        ] {
            let hidden = format!("# a{end}[tool:pytest]{end}addopts = -q\n");
            assert_eq!(parts("setup.cfg", &hidden, pointers).len(), 1, "{end:?}");
            if end == "\r" {
                // All of them end a line there.
                continue;
            }
            let before = format!("[tool:pytest]\n# a{end}[other]\naddopts = -q\n");
            let after = before.replace("-q", "-x");
            assert_ne!(
                parts("setup.cfg", &before, pointers),
                parts("setup.cfg", &after, pointers),
                "{end:?}"
            );
        }
    }

    #[test]
    fn of_source_files_only_what_decides_about_tests_counts() {
        let rust = parts(
            "a.rs",
            "fn a() {}\n#[cfg(test)] mod tests {}\n",
            &[RUST_TESTS],
        );
        assert_eq!(rust.keys().collect::<Vec<_>>(), ["/cfg(test)#mod tests"]);
        assert_eq!(
            parts("a.rs", "#[cfg(test)] mod tests {}", &[RUST_TESTS]),
            rust
        );
        assert!(parts("a.rs", "fn a() {}", &[RUST_TESTS]).is_empty());
        let go = "func TestMain(m *testing.M) {}\n";
        assert_eq!(parts("a_test.go", go, &["/func/TestMain"]).len(), 1);
        assert!(parts("a_test.go", "func TestA() {}\n", &["/func/TestMain"]).is_empty());
        assert_eq!(parts("__init__.py", "import a\n", &[STATEMENTS]).len(), 1);
        assert!(parts("__init__.py", " \n", &[STATEMENTS]).is_empty());
        let plugins = &["/name/pytest_plugins"];
        for text in [
            "pytest_plugins = ['rigged']\n",
            "pytest_plugins: list[str] = ['rigged']\n",
            "a, pytest_plugins = 1, ['rigged']\n",
            "from rigged import pytest_plugins\n",
            "x = f\"{\"#\"}\"; pytest_plugins = ['rigged']\n",
            "pytest_plugin\u{17f} = ['rigged']\n",
            "pyte\u{fb06}_plugins = ['rigged']\n",
            "# -*- coding: utf-7 -*-\n+AHA-ytest+AF8-plugins = ['rigged']\n",
            "#!/usr/bin/python\n# vim: set fileencoding=unicode_escape :\n",
        ] {
            assert_eq!(parts("test_a.py", text, plugins).len(), 1, "{text}");
        }
        for text in [
            "# -*- coding: utf-8 -*-\nimport pytest\n\n\ndef test_a():\n    assert 'ﬁ ½' and 'ä'\n",
            "größe = 1\n# \u{211d}, x\u{207f}, тестированиемм\n",
        ] {
            assert!(parts("test_a.py", text, plugins).is_empty(), "{text}");
        }
        // A pointer that means nothing there stands for the file.
        assert_eq!(parts("a.rs", "fn a() {}", &["/other"]).len(), 1);
    }

    #[test]
    fn a_part_is_named_by_its_pointer_or_by_the_one_it_is_of() {
        let pointers = ["/cfg(test)".to_owned(), "/a".to_owned()];
        assert!(is_named("/cfg(test)#mod tests", &pointers) && is_named("/a", &pointers));
        assert!(!is_named("/a/b", &pointers) && !is_named("/", &pointers));
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
