//! A small Rust lexer: enough to tell code from comments, string literals and test code.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier, keyword or number.
    Word,
    /// The content of a string literal, escapes as written.
    Text,
    /// One punctuation character.
    Mark,
}

/// A piece of code, with the line it starts on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) line: usize,
}

impl Token {
    /// Whether it is this identifier or keyword.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }

    fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }
}

/// The tokens of a file without comments, lifetimes and character literals.
pub(super) fn lex(source: &str) -> Vec<Token> {
    let mut lexer = Lexer {
        rest: source,
        line: 1,
        tokens: Vec::new(),
    };
    while lexer.step() {}
    lexer.tokens
}

/// The same without what only tests see: items under `#[cfg(test)]`.
pub(super) fn lex_without_tests(source: &str) -> Vec<Token> {
    let tokens = lex(source);
    let mut kept = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some((first, after)) = rest.split_first() {
        if let Some((length, inner)) = test_attribute(rest) {
            if inner {
                break;
            }
            rest = skip_item(rest.get(length..).unwrap_or_default());
        } else {
            kept.push(first.clone());
            rest = after;
        }
    }
    kept
}

/// The length of `#[cfg(test)]` at the start of the tokens, and whether it is `#![cfg(test)]`.
fn test_attribute(tokens: &[Token]) -> Option<(usize, bool)> {
    let inner = tokens.get(1)?.is_mark("!");
    let open = if inner { 2 } else { 1 };
    if !tokens.first()?.is_mark("#")
        || !tokens.get(open)?.is_mark("[")
        || !tokens.get(open + 1)?.is_word("cfg")
    {
        return None;
    }
    let length = open + balanced(tokens.get(open..)?);
    let condition = tokens.get(open..length)?;
    let test = condition.iter().any(|token| token.is_word("test"));
    let not = condition.iter().any(|token| token.is_word("not"));
    (test && !not).then_some((length, inner))
}

/// What follows the item at the start: further attributes, then up to `;` or the end of its braces.
fn skip_item(mut tokens: &[Token]) -> &[Token] {
    while tokens.first().is_some_and(|token| token.is_mark("#")) {
        let length = 1 + balanced(tokens.get(1..).unwrap_or_default());
        tokens = tokens.get(length..).unwrap_or_default();
    }
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let rest = tokens.get(at..).unwrap_or_default();
        if token.is_mark("{") {
            at += balanced(rest);
            break;
        }
        if token.is_mark(";") {
            at += 1;
            break;
        }
        at += if token.is_mark("(") || token.is_mark("[") {
            balanced(rest)
        } else {
            1
        };
    }
    tokens.get(at..).unwrap_or_default()
}

/// How many tokens the bracketed group at the start has, brackets included.
fn balanced(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Mark {
            match token.text.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// The tokens without the content of `mod NAME { … }`.
pub(super) fn without_module(tokens: &[Token], name: &str) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut rest = tokens;
    while let Some((first, after)) = rest.split_first() {
        let is_module = first.is_word("mod")
            && after.first().is_some_and(|token| token.is_word(name))
            && after.get(1).is_some_and(|token| token.is_mark("{"));
        if is_module {
            let length = 2 + balanced(rest.get(2..).unwrap_or_default());
            rest = rest.get(length..).unwrap_or_default();
        } else {
            kept.push(first.clone());
            rest = after;
        }
    }
    kept
}

/// A path such as `std::fs::write`, with the line it is written on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathUse {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
}

impl PathUse {
    /// Whether the path begins with these segments.
    pub(super) fn starts_with(&self, prefix: &[&str]) -> bool {
        self.segments.len() >= prefix.len() && self.segments.iter().zip(prefix).all(|(a, b)| a == b)
    }
}

/// Every path that goes through the word `root`, from there on. Groups are taken apart:
/// `fs::{File, write}` is `fs::File` and `fs::write`.
pub(super) fn paths(tokens: &[Token], root: &str) -> Vec<PathUse> {
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if token.is_word(root) {
            let mut at = index;
            follow(tokens, &mut at, &[], &mut found);
        }
    }
    found
}

fn follow(tokens: &[Token], at: &mut usize, prefix: &[String], found: &mut Vec<PathUse>) {
    let Some(token) = tokens.get(*at) else { return };
    let mut segments = prefix.to_vec();
    segments.push(token.text.clone());
    let line = token.line;
    *at += 1;
    let colons = [*at, *at + 1]
        .iter()
        .all(|i| tokens.get(*i).is_some_and(|token| token.is_mark(":")));
    let next = tokens.get(*at + 2);
    match next {
        Some(next) if colons && next.is_mark("{") => {
            *at += 3;
            follow_group(tokens, at, &segments, found);
        }
        Some(next) if colons && (next.kind == Kind::Word || next.is_mark("*")) => {
            *at += 2;
            follow(tokens, at, &segments, found);
        }
        _ => found.push(PathUse { segments, line }),
    }
}

fn follow_group(tokens: &[Token], at: &mut usize, prefix: &[String], found: &mut Vec<PathUse>) {
    while let Some(token) = tokens.get(*at) {
        if token.is_mark("}") {
            *at += 1;
            return;
        }
        if token.is_mark(",") {
            *at += 1;
        } else {
            follow(tokens, at, prefix, found);
            if tokens.get(*at).is_some_and(|token| token.is_word("as")) {
                *at += 2;
            }
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    tokens: Vec<Token>,
}

impl<'a> Lexer<'a> {
    /// Takes one piece; false at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else {
            return false;
        };
        if first.is_whitespace() {
            self.take(first.len_utf8());
        } else if self.rest.starts_with("//") {
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        } else if self.rest.starts_with("/*") {
            self.take(block_comment(self.rest));
        } else if let Some((start, end, length)) = string_literal(self.rest) {
            self.push(Kind::Text, start, end, length);
        } else if first == '\'' {
            self.take(char_or_lifetime(self.rest));
        } else if is_word(first) {
            let raw = if self.rest.starts_with("r#") { 2 } else { 0 };
            let word = self.rest.get(raw..).unwrap_or_default();
            let end = raw + word.find(|c| !is_word(c)).unwrap_or(word.len());
            self.push(Kind::Word, raw, end, end.max(1));
        } else {
            self.push(Kind::Mark, 0, first.len_utf8(), first.len_utf8());
        }
        true
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize, length: usize) {
        let text = self.rest.get(start..end).unwrap_or_default().to_owned();
        self.tokens.push(Token {
            kind,
            text,
            line: self.line,
        });
        self.take(length);
    }

    fn take(&mut self, length: usize) {
        let (taken, rest): (&'a str, &'a str) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, ""));
        self.line += taken.matches('\n').count();
        self.rest = rest;
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The length of a block comment; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// Where the content of the string literal at the start begins and ends, and how long the literal is.
fn string_literal(text: &str) -> Option<(usize, usize, usize)> {
    // Most tokens are no strings; this is the lexer's hot path.
    if !text.starts_with(['"', 'b', 'c', 'r']) {
        return None;
    }
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        let after = text.strip_prefix(*prefix).unwrap_or_default();
        let hashes = if prefix.ends_with('r') {
            after.trim_start_matches('#')
        } else {
            after
        };
        hashes.starts_with('"')
    })?;
    let after = text.strip_prefix(prefix)?;
    if !prefix.ends_with('r') {
        let start = prefix.len() + 1;
        let content = text.get(start..)?;
        let end = start + quoted(content, '"');
        return Some((start, end, end + 1));
    }
    let hashes = after.len() - after.trim_start_matches('#').len();
    let start = prefix.len() + hashes + 1;
    let closing = format!("\"{}", "#".repeat(hashes));
    let content = text.get(start..)?;
    let end = start + content.find(&closing).unwrap_or(content.len());
    Some((start, end, end + closing.len()))
}

/// How far it is to the closing quote, over escapes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return index,
            _ => {}
        }
    }
    text.len()
}

/// The length of `'x'`, `'\n'`, or of a lifetime such as `'static`.
fn char_or_lifetime(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    let (Some((_, first)), second) = (characters.next(), characters.next()) else {
        return 1;
    };
    match second {
        _ if first == '\\' => 2 + quoted(text.get(1..).unwrap_or_default(), '\''),
        Some((index, '\'')) => index + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        lex(source)
            .into_iter()
            .filter(|t| t.kind == Kind::Word)
            .map(|t| t.text)
            .collect()
    }

    fn all_paths(source: &str, root: &str) -> Vec<String> {
        paths(&lex(source), root)
            .into_iter()
            .map(|path| path.segments.join("::"))
            .collect()
    }

    #[test]
    fn comments_and_literals_are_no_words() {
        let source = "a // b\n/* c /* d */ e */ f \"g\" 'h' r#\"i \" j\"# b\"k\" l '\\'' m '\"' n";
        assert_eq!(words(source), ["a", "f", "l", "m", "n"]);
    }

    #[test]
    fn string_contents_are_texts_with_their_lines() {
        let tokens = lex("x\n\"a \\\" b\"\nr##\"c \"# d\"##");
        let texts: Vec<_> = tokens
            .iter()
            .filter(|t| t.kind == Kind::Text)
            .map(|t| (t.text.as_str(), t.line))
            .collect();
        assert_eq!(texts, [("a \\\" b", 2), ("c \"# d", 3)]);
    }

    #[test]
    fn lifetimes_do_not_swallow_code() {
        assert_eq!(
            words("fn f<'a>(x: &'a str) -> &'static str"),
            ["fn", "f", "a", "x", "a", "str", "static", "str"]
        );
    }

    #[test]
    fn raw_identifiers_are_words_without_their_mark() {
        assert_eq!(words("r#unsafe rest"), ["unsafe", "rest"]);
    }

    #[test]
    fn an_unfinished_file_ends() {
        for source in ["\"abc", "r#\"abc", "/* abc", "'", "'\\", "b\"", "é'é"] {
            lex(source);
        }
    }

    #[test]
    fn groups_are_taken_apart() {
        assert_eq!(
            all_paths(
                "use std::{fs::{self, File as F}, io::Write as _, *}; std::env::var(x)",
                "std"
            ),
            [
                "std::fs::self",
                "std::fs::File",
                "std::io::Write",
                "std::*",
                "std::env::var"
            ]
        );
        assert_eq!(
            all_paths("fs::write::<A>(x); let fs = 1;", "fs"),
            ["fs::write", "fs"]
        );
    }

    #[test]
    fn test_code_is_left_out_and_the_rest_is_kept() {
        let source = "a #[cfg(test)] #[allow(x)] mod tests { b { c } } d \
                      #[cfg(test)] mod e; f #[cfg(not(test))] g #[cfg(test)] fn h([i; 2]) { j } k";
        let kept: Vec<_> = lex_without_tests(source)
            .into_iter()
            .filter(|t| t.kind == Kind::Word)
            .map(|t| t.text)
            .collect();
        assert_eq!(kept, ["a", "d", "f", "cfg", "not", "test", "g", "k"]);
        assert_eq!(lex_without_tests("#![cfg(test)] a b").len(), 0);
    }

    #[test]
    fn a_module_can_be_cut_out() {
        let tokens = without_module(&lex("a mod bindings { b } c mod other { d }"), "bindings");
        let words: Vec<_> = tokens
            .iter()
            .filter(|t| t.kind == Kind::Word)
            .map(|t| t.text.as_str())
            .collect();
        assert_eq!(words, ["a", "c", "mod", "other", "d"]);
    }
}
