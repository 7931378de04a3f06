//! Items of source files that decide about tests: found by a scan that knows comments, literals and brackets, and no
//! grammar. Takes time in proportion to the text.

use std::collections::BTreeMap;

/// The language of a source file, as far as its comments and literals tell it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Go,
}

/// A part of a source file, with a name for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceItem {
    pub(super) name: String,
    /// Its words and signs, without the test functions in it, which are items of their own.
    pub(super) text: String,
    pub(super) addition: Addition,
}

/// Where an item may be added: one that reaches beyond itself could change what the tests that are there mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Addition {
    Anywhere,
    /// In a file of tests that is new itself.
    InNewTestFiles,
    Nowhere,
}

/// Attributes that make a function a test, by the last name of their path.
const TEST_ATTRIBUTES: &[&str] = &["test", "rstest", "bench", "quickcheck", "wasm_bindgen_test"];
/// Words of attributes, and of what they are about, by which an item reaches beyond itself: macros for others, another
/// file, symbols, and another start of the program.
const REACHING: &[&str] = &[
    "macro_use",
    "macro_export",
    "path",
    "no_mangle",
    "export_name",
    "link_section",
    "global_allocator",
    "panic_handler",
    "no_main",
    "test_runner",
    "custom_test_frameworks",
    "reexport_test_harness_main",
    "ctor",
];
/// Macros by which tests say what must hold. One of the project's own takes the place of each in all tests that see it.
const ASSERTIONS: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
];
/// The most marks of a raw string.
const RAW_MARKS: usize = 255;
/// What begins an item that ends with a block, or else with a semicolon.
const WITH_BLOCK: &[&str] = &[
    "mod",
    "fn",
    "struct",
    "enum",
    "union",
    "impl",
    "trait",
    "extern",
    "unsafe",
    "async",
    "macro_rules",
];
/// What begins an item that ends with a semicolon, whatever blocks are in it.
const WITH_SEMICOLON: &[&str] = &["use", "const", "static", "type", "let"];

/// Each item of a source file in Rust that is only there for tests, with its attributes. A test function in a module is one, too,
/// so that a test can be added to a module that is there. So is whatever takes the name of an assertion.
pub(super) fn rust_tests(text: &str) -> Vec<SourceItem> {
    if !text.contains('#') && !text.contains("assert") && !text.contains("panic") {
        return Vec::new();
    }
    let source = Tokens::of(text, Language::Rust);
    let mut found = Vec::new();
    let outer = source.tests(0, source.tokens.len(), |attributes| {
        attributes.is_item || attributes.is_alone
    });
    found.extend(source.assertions(&outer));
    let scopes = source.scopes();
    for outer in outer {
        let mut inner = if outer.name.starts_with("mod ") || outer.is_inner {
            source.tests(outer.begin, outer.to, |attributes| {
                attributes.marks_function
            })
        } else {
            Vec::new()
        };
        inner.retain(|function| source.is_plain_test(function));
        let scope = scopes.get(outer.from).copied();
        let addition = source.addition(&outer, scope.unwrap_or(Scope::Module), &scopes);
        found.push((outer.name.clone(), source.words(&outer, &inner), addition));
        let inner = inner.iter().map(|function| {
            let name = format!("{}::{}", outer.name, function.name);
            let addition = source.addition(function, Scope::Module, &scopes);
            (name, source.words(function, &[]), addition)
        });
        found.extend(inner);
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let numbered = found.into_iter().map(|(name, text, addition)| {
        let same = seen.entry(name.clone()).or_default();
        *same += 1;
        let name = match same {
            1 => name,
            same => format!("{name} ({same})"),
        };
        SourceItem {
            name,
            text,
            addition,
        }
    });
    numbered.collect()
}

/// A function of a source file in Go.
pub(super) fn go_function<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    if !text.contains(name) {
        return None;
    }
    let source = Tokens::of(text, Language::Go);
    let mut depth = 0_usize;
    for at in 0..source.tokens.len() {
        match source.word(at) {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            "func" if depth == 0 && source.word(at + 1) == name => {
                return Some(source.text(at, source.end_of(at, Ending::Block)));
            }
            _ => {}
        }
    }
    None
}

/// How an item ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Block,
    Semicolon,
    /// A field, a variant, an arm or a statement: the first of a block, a semicolon or a comma.
    Any,
    /// With what it is in.
    Enclosing,
}

/// An item, by its tokens.
struct Range {
    name: String,
    from: usize,
    /// Where its attributes end.
    begin: usize,
    to: usize,
    /// Its attribute stands in it.
    is_inner: bool,
    /// Its attributes make a function a test.
    is_function: bool,
}

/// What a token stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// A file or a module: an item is seen by those beside it.
    Module,
    /// A macro in one, which may give items of it.
    Macro,
    /// The body of a function, a type or an implementation.
    Body,
}

/// Attributes one after the other.
struct Attributes {
    /// The token after them.
    end: usize,
    /// What follows is only there for tests.
    is_item: bool,
    /// They reach beyond what follows in tests only, and count by themselves.
    is_alone: bool,
    /// They make a function a test.
    marks_function: bool,
    /// They are about what they are in.
    is_inner: bool,
}

/// The words, literals and signs of a text, without comments and white space.
struct Tokens<'t> {
    all: &'t str,
    tokens: Vec<(usize, usize)>,
}

impl<'t> Tokens<'t> {
    fn of(text: &'t str, language: Language) -> Self {
        let mut scan = Scan {
            text: text.as_bytes(),
            at: 0,
            language,
        };
        let mut tokens = Vec::new();
        while let Some(token) = scan.token() {
            tokens.push(token);
        }
        Self { all: text, tokens }
    }

    fn word(&self, at: usize) -> &'t str {
        let token = self.tokens.get(at);
        token.map_or("", |(start, end)| {
            self.all.get(*start..*end).unwrap_or_default()
        })
    }

    /// The items between two tokens whose attributes are meant, none of them in another.
    fn tests(&self, from: usize, to: usize, is_meant: impl Fn(&Attributes) -> bool) -> Vec<Range> {
        let mut found = Vec::new();
        let mut at = from;
        while at < to {
            let Some(attributes) = self.attributes(at) else {
                at += 1;
                continue;
            };
            if !is_meant(&attributes) {
                at = attributes.end;
                continue;
            }
            let (mut name, mut end) = self.item(&attributes);
            if attributes.is_alone && !attributes.is_item {
                name.insert_str(0, "cfg_attr(test) ");
                end = attributes.end;
            }
            let next = end.max(attributes.end);
            found.push(Range {
                name,
                from: at,
                begin: attributes.end,
                to: next,
                is_inner: attributes.is_inner,
                is_function: attributes.marks_function,
            });
            at = next;
        }
        found
    }

    /// Whether an item is a function without parameters. Another one, which some test attributes allow, could stand in for
    /// what the tests beside it call.
    fn is_plain_test(&self, item: &Range) -> bool {
        let mut at = item.begin;
        if self.word(at) == "async" {
            at += 1;
        }
        self.word(at) == "fn" && self.word(at + 2) == "(" && self.word(at + 3) == ")"
    }

    /// Where an item may be added.
    fn addition(&self, item: &Range, scope: Scope, scopes: &[Scope]) -> Addition {
        let is_test = item.is_function && self.is_plain_test(item);
        let is_module = item.is_inner || self.is_module_of_tests(item);
        let is_macro = |at| matches!(self.word(at), "macro_rules" | "macro");
        if self.reaches(item.from, item.to) {
            Addition::Nowhere
        } else if is_test || scope == Scope::Body {
            Addition::Anywhere
        } else if (item.from..item.to).any(is_macro) {
            Addition::Nowhere
        } else if is_module && !self.is_seen(item, scopes) {
            Addition::Anywhere
        } else {
            Addition::InNewTestFiles
        }
    }

    /// Whether an item is a module in this file, or in one that has the name of tests: another one could take the place of
    /// what is tested.
    fn is_module_of_tests(&self, item: &Range) -> bool {
        let name = item.name.strip_prefix("mod ");
        let is_here = item
            .to
            .checked_sub(1)
            .is_some_and(|at| self.word(at) == "}");
        name.is_some_and(|name| is_here || name.contains("test"))
    }

    /// Whether what is in a module can be seen from outside of it.
    fn is_seen(&self, item: &Range, scopes: &[Scope]) -> bool {
        // The items of a module in this file stand in its block.
        let own = usize::from(!item.is_inner);
        let mut depth = 0_usize;
        (item.begin..item.to).any(|at| {
            match self.word(at) {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let is_of_macro = scopes.get(at) == Some(&Scope::Macro);
            self.word(at) == "pub" && depth >= own && (depth == own || is_of_macro)
        })
    }

    /// Whether an attribute between two tokens reaches beyond its item.
    fn reaches(&self, from: usize, to: usize) -> bool {
        (from..to).any(|at| {
            let open = at + 1 + usize::from(self.word(at + 1) == "!");
            self.word(at) == "#" && self.word(open) == "[" && self.names_reaching(open)
        })
    }

    /// Whether a bracket has a word by which an attribute reaches beyond its item.
    fn names_reaching(&self, open: usize) -> bool {
        let is_conditional = self.word(open + 1) == "cfg_attr";
        (open + 1..self.close_of(open)).any(|at| {
            // Of other attributes, `path` may be an argument.
            let is_attribute = at == open + 1 || is_conditional;
            let is_path = self.word(at) == "path";
            REACHING.contains(&self.word(at))
                && (!is_path || is_attribute && self.word(at + 1) == "=")
        })
    }

    /// What takes the name of an assertion outside of these items: a macro, or something that is imported as one.
    fn assertions(&self, items: &[Range]) -> Vec<(String, String, Addition)> {
        let is_inside = |at: usize| items.iter().any(|item| (item.from..item.to).contains(&at));
        let named = (0..self.tokens.len()).filter(|at| {
            let is_defined = self.word(at + 1) == "!" && self.word(*at) == "macro_rules";
            let name = at + if is_defined { 2 } else { 1 };
            (is_defined || self.word(*at) == "as")
                && ASSERTIONS.contains(&self.word(name))
                && !is_inside(*at)
        });
        let item = |at: usize| {
            let is_defined = self.word(at) == "macro_rules";
            let (name, ending) = if is_defined {
                (self.word(at + 2), Ending::Block)
            } else {
                (self.word(at + 1), Ending::Any)
            };
            let range = Range {
                name: format!("macro {name}"),
                from: at,
                begin: at,
                to: self.end_of(at, ending),
                is_inner: false,
                is_function: false,
            };
            let text = self.words(&range, &[]);
            (range.name, text, Addition::Nowhere)
        };
        named.map(item).collect()
    }

    /// What each token stands in.
    fn scopes(&self) -> Vec<Scope> {
        let mut open: Vec<Scope> = Vec::new();
        let mut scopes = Vec::with_capacity(self.tokens.len());
        for at in 0..self.tokens.len() {
            let word = self.word(at);
            if matches!(word, "}" | ")" | "]") {
                open.pop();
            }
            let scope = open.last().copied().unwrap_or(Scope::Module);
            scopes.push(scope);
            if matches!(word, "{" | "(" | "[") {
                open.push(self.scope_of(at, scope));
            }
        }
        scopes
    }

    /// What a bracket is that opens here.
    fn scope_of(&self, open: usize, around: Scope) -> Scope {
        let before = |count: usize| open.checked_sub(count).map_or("", |at| self.word(at));
        match around {
            Scope::Module if before(2) == "mod" => Scope::Module,
            Scope::Module if before(1) == "!" || before(2) == "!" => Scope::Macro,
            Scope::Module | Scope::Body => Scope::Body,
            Scope::Macro => Scope::Macro,
        }
    }

    /// The words of an item without those of the ones in it.
    fn words(&self, item: &Range, without: &[Range]) -> String {
        let mut words = Vec::new();
        let mut at = item.from;
        for inner in without {
            words.extend((at..inner.from).map(|at| self.word(at)));
            at = inner.to;
        }
        words.extend((at..item.to).map(|at| self.word(at)));
        words.join(" ")
    }

    /// The text of these tokens, with what is between them.
    fn text(&self, from: usize, to: usize) -> &'t str {
        let start = self
            .tokens
            .get(from)
            .map_or(self.all.len(), |token| token.0);
        let last = to.checked_sub(1).and_then(|last| self.tokens.get(last));
        let end = last.map_or(start, |token| token.1);
        self.all.get(start..end).unwrap_or_default()
    }

    /// The attributes that begin at a token.
    fn attributes(&self, mut at: usize) -> Option<Attributes> {
        let mut found: Option<Attributes> = None;
        while self.word(at) == "#" {
            let is_inner = self.word(at + 1) == "!";
            let open = at + 1 + usize::from(is_inner);
            if self.word(open) != "[" || found.as_ref().is_some_and(|it| it.is_inner != is_inner) {
                break;
            }
            let end = self.close_of(open);
            let inside = (open + 1, end.saturating_sub(1));
            let marks_function = self.marks_function(inside.0, inside.1);
            let is_item = marks_function || self.is_for_tests("cfg", inside.0, inside.1);
            let is_alone =
                self.is_for_tests("cfg_attr", inside.0, inside.1) && self.names_reaching(open);
            let before = found.as_ref();
            at = end;
            found = Some(Attributes {
                end,
                is_item: is_item || before.is_some_and(|it| it.is_item),
                is_alone: is_alone || before.is_some_and(|it| it.is_alone),
                marks_function: marks_function || found.is_some_and(|it| it.marks_function),
                is_inner,
            });
        }
        found
    }

    /// Whether an attribute of that name is about tests: what follows, or something said of it, is there only for them.
    fn is_for_tests(&self, name: &str, from: usize, to: usize) -> bool {
        let is_meant = |at: usize| {
            let is_not = self.word(at - 1) == "(" && self.word(at - 2) == "not";
            self.word(at) == "test" && !is_not
        };
        self.word(from) == name && (from + 2..to).any(is_meant)
    }

    /// Whether an attribute makes a function a test.
    fn marks_function(&self, from: usize, to: usize) -> bool {
        let path = (from..to).take_while(|at| !matches!(self.word(*at), "(" | "="));
        path.last()
            .is_some_and(|last| TEST_ATTRIBUTES.contains(&self.word(last)))
    }

    /// What follows attributes: its name, and the token after it.
    fn item(&self, attributes: &Attributes) -> (String, usize) {
        if attributes.is_inner {
            let end = self.end_of(attributes.end, Ending::Enclosing);
            return ("#![cfg(test)]".to_owned(), end);
        }
        let mut at = attributes.end;
        if self.word(at) == "pub" {
            at += 1;
            if self.word(at) == "(" {
                at = self.close_of(at);
            }
        }
        let (first, second) = (self.word(at), self.word(at + 1));
        let ending = match first {
            "const" if matches!(second, "fn" | "unsafe" | "async" | "extern") => Ending::Block,
            first if WITH_BLOCK.contains(&first) => Ending::Block,
            first if WITH_SEMICOLON.contains(&first) => Ending::Semicolon,
            _ => Ending::Any,
        };
        (format!("{first} {second}"), self.end_of(at, ending))
    }

    /// The token after a bracket's partner.
    fn close_of(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for at in open..self.tokens.len() {
            match self.word(at) {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        self.tokens.len()
    }

    /// The token after an item that begins here.
    fn end_of(&self, from: usize, ending: Ending) -> usize {
        let mut depth = 0_usize;
        for at in from..self.tokens.len() {
            let word = self.word(at);
            match word {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" if depth == 0 => return at,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            let is_end = match word {
                "}" => matches!(ending, Ending::Block | Ending::Any),
                ";" => ending != Ending::Enclosing,
                "," => ending == Ending::Any,
                _ => false,
            };
            if is_end && depth == 0 {
                return at + 1;
            }
        }
        self.tokens.len()
    }
}

/// Goes through a text.
struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    language: Language,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The next token: where it begins and ends.
    fn token(&mut self) -> Option<(usize, usize)> {
        self.skip_space();
        let start = self.at;
        let first = *self.text.get(start)?;
        match first {
            b'"' => self.quoted(b'"'),
            b'`' if self.language == Language::Go => {
                self.at += 1;
                self.until(b"`");
            }
            b'\'' => self.apostrophe(),
            first if is_word(first) => self.word(),
            _ => self.at += 1,
        }
        Some((start, self.at))
    }

    fn skip_space(&mut self) {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'/') => self.until(b"\n"),
                (b'/', b'*') => self.comment(),
                (byte, _) if byte.is_ascii_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    /// A comment; in Rust they nest.
    fn comment(&mut self) {
        self.at += 2;
        let mut depth = 1;
        while depth > 0 && self.at < self.text.len() {
            match (self.peek(0), self.peek(1)) {
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                }
                (b'/', b'*') if self.language == Language::Rust => {
                    depth += 1;
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Goes behind the next place with these bytes.
    fn until(&mut self, end: &[u8]) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let found = rest.windows(end.len()).position(|window| window == end);
        self.at = found.map_or(self.text.len(), |found| self.at + found + end.len());
    }

    fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while self.at < self.text.len() {
            match self.peek(0) {
                b'\\' => self.at += 2,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        return;
                    }
                }
            }
        }
        self.at = self.text.len();
    }

    /// A character, or the begin of a lifetime.
    fn apostrophe(&mut self) {
        // The length of what would be the character.
        let length = match self.peek(1) {
            0xf0.. => 4,
            0xe0.. => 3,
            0xc0.. => 2,
            _ => 1,
        };
        let is_character = self.language == Language::Go
            || self.peek(1) == b'\\'
            || self.peek(1 + length) == b'\'';
        if is_character {
            self.quoted(b'\'');
        } else {
            self.at += 1;
        }
    }

    /// A word, or a raw string behind its `r`.
    fn word(&mut self) {
        let start = self.at;
        while is_word(self.peek(0)) {
            self.at += 1;
        }
        let word = self.text.get(start..self.at).unwrap_or_default();
        if self.language != Language::Rust || !matches!(word, b"r" | b"br" | b"cr") {
            return;
        }
        let mut marks = 0;
        while marks < RAW_MARKS && self.peek(marks) == b'#' {
            marks += 1;
        }
        if self.peek(marks) == b'"' {
            self.at += marks + 1;
            let end = [&[b'"'][..], &vec![b'#'; marks]].concat();
            self.until(&end);
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(items: &[SourceItem]) -> Vec<&str> {
        items.iter().map(|item| item.name.as_str()).collect()
    }

    fn names(text: &str) -> Vec<String> {
        let items = rust_tests(text).into_iter();
        items.map(|item| item.name).collect()
    }

    #[test]
    fn items_for_tests_are_found_with_all_their_attributes() {
        let text = "pub fn a() {}\n#[ignore]\n#[cfg(test)]\npub(crate) mod tests { fn b() { '}'; } }\nfn c() {}\n";
        let [item] = rust_tests(text).try_into().unwrap();
        assert_eq!(item.name, "mod tests");
        assert!(item.text.starts_with("# [ ignore ]") && item.text.ends_with("'}' ; } }"));
        for (text, name) in [
            ("#[test] fn a() {}", "fn a"),
            ("#[tokio::test(flavor = \"x\")] async fn a() {}", "async fn"),
            ("#[cfg(all(test, unix))] mod t;", "mod t"),
            ("#[cfg(test)] use a::{b, c};", "use a"),
            ("#[cfg(test)] const A: [u8; 1] = [{ 1 }];", "const A"),
            ("struct A { #[cfg(test)] pub b: u8, c: u8 }", "b :"),
            ("#![cfg(test)] fn a() {}", "#![cfg(test)]"),
        ] {
            assert_eq!(names(text), [name], "{text}");
        }
        assert_eq!(
            names("#[test] fn a() {} #[test] fn a() {}"),
            ["fn a", "fn a (2)"]
        );
    }

    #[test]
    fn an_item_ends_where_it_ends() {
        for (text, end) in [
            ("#[cfg(test)] use a::{b, c}; fn d() {}", "c } ;"),
            ("#[cfg(test)] mod t { /* } /* } */ */ } fn d() {}", "t { }"),
            (
                "#[cfg(test)] mod t { r#\"}\"}\"#; \"\\\"}\" } fn d() {}",
                "\" }",
            ),
            (
                "#[cfg(test)] fn a<'a, B>(b: &'a B) { '\\''; } fn d() {}",
                "' ; }",
            ),
            ("struct A { #[cfg(test)] b: u8, c: u8 }", "u8 ,"),
            ("mod m { #![cfg(test)] fn a() {} } fn d() {}", "{ }"),
        ] {
            let items = rust_tests(text);
            assert!(items[0].text.ends_with(end), "{items:?}");
            assert!(!items[0].text.contains("fn d"), "{items:?}");
        }
    }

    #[test]
    fn a_test_is_an_item_of_its_own_in_its_module() {
        let before = "#[cfg(test)] mod t { use super::*; #[test] fn a() { x(); } fn help() {} }";
        let after = "#[cfg(test)]\nmod t {\n  use super::*;\n  #[test]\n  fn b() { y(); }\n\n  #[test]\n  fn a() { x(); }\n  fn help() {}\n}";
        let (before, after) = (rust_tests(before), rust_tests(after));
        assert_eq!(names_of(&before), ["mod t", "mod t::fn a"]);
        assert_eq!(names_of(&after), ["mod t", "mod t::fn b", "mod t::fn a"]);
        assert!(before.iter().all(|item| after.contains(item)));
        // A helper may stand in for what is tested.
        let helper =
            "#[cfg(test)] mod t { use super::*; fn x() {} #[test] fn a() { x(); } fn help() {} }";
        assert!(!rust_tests(helper).contains(&before[0]));
        let replaced = "#[cfg(test)] mod t { use super::*; #[rstest] fn x(y: i32) -> i32 { y } #[test] fn a() { x(); } fn help() {} }";
        assert!(!rust_tests(replaced).contains(&before[0]));
        let skipped =
            "#[cfg(test)] mod t { use super::*; #[test] #[ignore] fn a() { x(); } fn help() {} }";
        assert!(!rust_tests(skipped).contains(&before[1]));
    }

    #[test]
    fn what_is_no_test_is_passed_over() {
        for text in [
            "#[cfg(not(test))] fn a() {}",
            "#[cfg_attr(test, derive(A))] struct B;",
            "#[cfg_attr(not(test), no_main)] struct B;",
            "fn a() { assert_eq!(1, 1 as u8); }",
            "// #[cfg(test)] mod a {}\n",
            "const A: &str = \"#[test] fn a() {}\";",
            "#[cfg(feature = \"test\")] fn a() {}",
            "macro_rules! a { ($(#[$m:meta])*) => {} }",
            "#[",
            "#",
            "'",
        ] {
            assert_eq!(names(text), [] as [&str; 0], "{text}");
        }
    }

    /// Where each item of a text may be added, for one that has one item or more.
    fn additions(text: &str) -> Vec<Addition> {
        let items = rust_tests(text).into_iter();
        items.map(|item| item.addition).collect()
    }

    #[test]
    fn a_new_module_of_tests_may_be_added_anywhere() {
        for text in [
            "#[cfg(test)] mod t { use super::*; #[test] fn a() {} }",
            "#[cfg(test)] mod t { fn help(a: u8) -> u8 { a } struct A; impl B for A {} #[rstest] fn a(b: u8) {} }",
            "#[cfg(all(test, unix))] #[allow(unused)] pub(crate) mod t { #[case(path)] fn a() {} }",
            "#[cfg(test)] mod tests;",
            "#[cfg(test)] pub(crate) mod t { struct A(pub u8); impl A { pub fn a() {} } mod b { pub fn c() {} } }",
            "mod calc { #[cfg(test)] mod t { #[test] fn a() {} } }",
            "#![cfg(test)] use super::*; #[test] fn a() {}",
            "#[test] fn a() { macro_rules! b { () => {} } }",
            "#[tokio::test] async fn a() {}",
            // What only its own type or function sees.
            "struct A { #[cfg(test)] b: u8 }",
            "impl A { #[cfg(test)] fn new() -> Self { Self } }",
            "fn a() { #[cfg(test)] b(); }",
        ] {
            let additions = additions(text);
            assert!(!additions.is_empty(), "{text}");
            assert!(
                additions.iter().all(|it| *it == Addition::Anywhere),
                "{text}"
            );
        }
    }

    #[test]
    fn an_item_for_tests_that_others_see_may_be_added_only_to_new_files_of_tests() {
        for text in [
            "#[cfg(test)] use fake::*;",
            "#[cfg(test)] use a::{b, c};",
            "#[cfg(all(test, unix))] fn add() -> u8 { 3 }",
            "#[cfg(test)] const A: u8 = 1;",
            "#[cfg(test)] impl Add for A {}",
            "#[rstest] fn add(a: u8) -> u8 { a }",
            "mod calc { #[cfg(test)] use fake::*; }",
            // These could take the place of what is tested, where that is left out of tests.
            "#[cfg(test)] mod calc { pub fn add() -> u8 { 3 } }",
            "#[cfg(test)] mod calc { id! { pub fn add() -> u8 { 3 } } }",
            "#[cfg(test)] mod calc;",
            "id!( #[cfg(test)] use fake::*; );",
        ] {
            assert_eq!(additions(text), [Addition::InNewTestFiles], "{text}");
        }
    }

    #[test]
    fn what_reaches_other_tests_may_be_added_nowhere() {
        for text in [
            "#[cfg(test)] macro_rules! assert_eq { ($($t:tt)*) => {} }",
            "#[cfg(any(test, x))] macro_rules! check { () => {} }",
            "#[cfg(test)] #[macro_use] mod x;",
            "#[cfg(test)] #[path = \"fake.rs\"] mod real;",
            "#[cfg_attr(test, macro_use)] mod x;",
            "#[cfg_attr(all(test, unix), path = \"fake.rs\")] mod real;",
            "#![cfg_attr(test, no_main)]",
            "#[cfg(test)] mod t { #[macro_export] macro_rules! a { () => {} } }",
            "#[cfg(test)] mod t { macro_rules! a { () => {} } }",
            "#[cfg(test)] mod t { #[unsafe(no_mangle)] fn a() {} }",
            "#[test] fn a() { #[macro_export] macro_rules! b { () => {} } }",
            "id! { if x { #[cfg(test)] macro_rules! a { () => {} } } }",
            "macro_rules! id { () => { #[cfg(test)] macro_rules! a { () => {} } } }",
            // Without saying that they are for tests.
            "macro_rules! assert_eq { ($($t:tt)*) => {} }",
            "pub(crate) use nothing as assert;",
        ] {
            assert_eq!(additions(text), [Addition::Nowhere], "{text}");
        }
        // The module that follows is none for tests, and may change.
        let [item] = rust_tests("#[cfg_attr(test, macro_use)] mod x { fn a() {} }")
            .try_into()
            .unwrap();
        assert_eq!(item.name, "cfg_attr(test) mod x");
        assert!(item.text.ends_with(']'), "{item:?}");
    }

    #[test]
    fn a_function_in_go_is_found_only_as_code() {
        let text = "package a\n/* func TestMain( */ var s = `func TestMain(`\nfunc /**/ TestMain (m *M) { '}' }\nvar b int";
        let found = go_function(text, "TestMain").unwrap();
        assert!(found.ends_with("'}' }"), "{found}");
        for text in [
            "// func TestMain(\n",
            "func TestMainly() {}",
            "func a() { TestMain() }",
        ] {
            assert_eq!(go_function(text, "TestMain"), None, "{text}");
        }
    }
}
