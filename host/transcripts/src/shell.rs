//! A command of a shell, taken apart as far as it matters which program runs and whose exit status is told.
//!
//! No shell: what is quoted stays one word, what is substituted stays as it is written. One pass over the text.

/// How a command is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// It is the first, or follows `;` or a line end.
    Then,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|` or `|&`
    Pipe,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Simple {
    pub(crate) join: Join,
    /// The words, without redirections.
    pub(crate) words: Vec<String>,
    /// Files that its output is written to.
    pub(crate) writes: Vec<String>,
    /// Nobody waits for it: `&` follows.
    pub(crate) background: bool,
}

/// Words that begin what is more than simple commands.
const COMPOUND: &[&str] = &[
    "case", "do", "for", "function", "if", "select", "then", "until", "while",
];
/// The most simple commands that are looked at; and the longest text.
const COMMANDS: usize = 200;
const LONGEST: usize = 1 << 16;

/// Takes a command apart. None if it is too long, or not in a form that is understood: a loop, a function, a heredoc
/// that is fed to something, a quote that is not closed.
pub(crate) fn parse(text: &str) -> Option<Vec<Simple>> {
    if text.len() > LONGEST {
        return None;
    }
    let mut parser = Parser::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        parser.take(c, &mut chars)?;
        if parser.commands.len() > COMMANDS {
            return None;
        }
    }
    parser.end_command(Join::Then)?;
    Some(parser.commands)
}

type Rest<'t> = std::iter::Peekable<std::str::Chars<'t>>;

#[derive(Default)]
struct Parser {
    commands: Vec<Simple>,
    words: Vec<String>,
    writes: Vec<String>,
    word: Option<String>,
    join: Option<Join>,
    /// The next word is where output goes.
    redirects: bool,
    /// The next word is where input comes from.
    reads: bool,
}

impl Parser {
    fn take(&mut self, c: char, rest: &mut Rest<'_>) -> Option<()> {
        match c {
            '\\' => match rest.next() {
                Some('\n') | None => {}
                Some(c) => self.push(c),
            },
            '\'' => self.quoted(rest)?,
            '"' => self.double_quoted(rest)?,
            '$' if rest.peek() == Some(&'(') => self.substitution(rest)?,
            '`' => self.until('`', rest)?,
            '#' if self.word.is_none() => while rest.next_if(|c| *c != '\n').is_some() {},
            '(' if self.word.is_some() => return None,
            // A group has the exit status of its last command, as if it were not there.
            ' ' | '\t' | '\r' | '(' | ')' => self.end_word(),
            '\n' | ';' => self.end_command(Join::Then)?,
            '&' if rest.next_if_eq(&'&').is_some() => self.end_command(Join::And)?,
            '&' if rest.next_if_eq(&'>').is_some() => {
                rest.next_if_eq(&'>');
                self.end_word();
                self.redirects = true;
            }
            '&' => {
                self.end_command(Join::Then)?;
                if let Some(last) = self.commands.last_mut() {
                    last.background = true;
                }
            }
            '|' if rest.next_if_eq(&'|').is_some() => self.end_command(Join::Or)?,
            '|' => {
                rest.next_if_eq(&'&');
                self.end_command(Join::Pipe)?;
            }
            '>' => self.redirect(rest),
            '<' => self.read_from(rest)?,
            c => self.push(c),
        }
        Some(())
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn quoted(&mut self, rest: &mut Rest<'_>) -> Option<()> {
        self.until('\'', rest)
    }

    fn until(&mut self, end: char, rest: &mut Rest<'_>) -> Option<()> {
        let word = self.word.get_or_insert_default();
        loop {
            match rest.next()? {
                c if c == end => return Some(()),
                c => word.push(c),
            }
        }
    }

    fn double_quoted(&mut self, rest: &mut Rest<'_>) -> Option<()> {
        let word = self.word.get_or_insert_default();
        loop {
            match rest.next()? {
                '"' => return Some(()),
                '\\' => word.push(rest.next()?),
                c => word.push(c),
            }
        }
    }

    /// `$(…)`, as it is written.
    fn substitution(&mut self, rest: &mut Rest<'_>) -> Option<()> {
        let word = self.word.get_or_insert_default();
        word.push('$');
        let mut depth = 0_u32;
        loop {
            let c = rest.next()?;
            word.push(c);
            match c {
                '(' => depth += 1,
                ')' if depth == 1 => return Some(()),
                ')' => depth -= 1,
                _ => {}
            }
        }
    }

    /// `>FILE`, `2>FILE`, `>>FILE`, `2>&1`.
    fn redirect(&mut self, rest: &mut Rest<'_>) {
        // The number before it is no word.
        let is_number = |word: &String| word.chars().all(|c| c.is_ascii_digit());
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        rest.next_if_eq(&'>');
        rest.next_if_eq(&'|');
        if rest.next_if_eq(&'&').is_some() {
            while rest.next_if(|c| c.is_ascii_digit() || *c == '-').is_some() {}
        } else {
            self.redirects = true;
        }
    }

    fn read_from(&mut self, rest: &mut Rest<'_>) -> Option<()> {
        if rest.next_if_eq(&'<').is_none() {
            self.end_word();
            self.reads = true;
            return Some(());
        }
        if rest.next_if_eq(&'<').is_some() {
            self.end_word();
            self.reads = true;
            return Some(());
        }
        self.here_document(rest)
    }

    /// What stands on the line after the mark is still the command; the document itself is passed over.
    fn here_document(&mut self, rest: &mut Rest<'_>) -> Option<()> {
        self.end_word();
        rest.next_if_eq(&'-');
        while rest.next_if_eq(&' ').is_some() {}
        let quote = rest.next_if(|c| matches!(c, '\'' | '"'));
        let mut mark = String::new();
        let is_mark = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        while let Some(c) = rest.next_if(is_mark) {
            mark.push(c);
        }
        if let Some(quote) = quote {
            rest.next_if_eq(&quote)?;
        }
        if mark.is_empty() {
            return None;
        }
        while let Some(c) = rest.next_if(|c| *c != '\n') {
            if matches!(c, '<') {
                return None;
            }
            self.take(c, rest)?;
        }
        let mut line = String::new();
        rest.next();
        loop {
            match rest.next() {
                Some('\n') | None if line.trim() == mark => break,
                Some('\n') => line.clear(),
                None => return None,
                Some(c) => line.push(c),
            }
        }
        self.end_command(Join::Then)
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if self.redirects {
            self.writes.push(word);
        } else if !self.reads {
            self.words.push(word);
        }
        self.redirects = false;
        self.reads = false;
    }

    fn end_command(&mut self, next: Join) -> Option<()> {
        self.end_word();
        let join = self.join.unwrap_or(Join::Then);
        let words = std::mem::take(&mut self.words);
        let writes = std::mem::take(&mut self.writes);
        if words.is_empty() && writes.is_empty() {
            // Nothing between two line ends; `&&` may stand at the end of a line.
            if next != Join::Then {
                self.join = Some(next);
            }
            return Some(());
        }
        if words
            .first()
            .is_some_and(|word| COMPOUND.contains(&word.as_str()))
        {
            return None;
        }
        self.commands.push(Simple {
            join,
            words: words
                .into_iter()
                .filter(|word| word != "{" && word != "}")
                .collect(),
            writes,
            background: false,
        });
        self.join = Some(next);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let Some(commands) = parse(text) else {
            return "none".to_owned();
        };
        let show = |command: &Simple| {
            let join = match command.join {
                Join::Then => ";",
                Join::And => "&&",
                Join::Or => "||",
                Join::Pipe => "|",
            };
            let end = if command.background { "&" } else { "" };
            format!("{join}{:?}{:?}{end}", command.words, command.writes)
        };
        commands.iter().map(show).collect()
    }

    #[test]
    fn commands_are_told_apart_with_how_they_are_joined() {
        for (text, expected) in [
            ("cargo test", r#";["cargo", "test"][]"#),
            (
                "cd 'a b' && X=1 make \"te\"st 2>&1 | tail -5; echo done",
                r#";["cd", "a b"][]&&["X=1", "make", "test"][]|["tail", "-5"][];["echo", "done"][]"#,
            ),
            ("a || b & c", r#";["a"][]||["b"][]&;["c"][]"#),
            (
                "a > out.txt 2>/dev/null",
                r#";["a"]["out.txt", "/dev/null"]"#,
            ),
            ("(cd x && y)", r#";["cd", "x"][]&&["y"][]"#),
            ("a &&\n b # no | c\nd", r#";["a"][]&&["b"][];["d"][]"#),
            (
                "echo $(date | cat) `x | y`",
                r#";["echo", "$(date | cat)", "x | y"][]"#,
            ),
            (
                "cat > f <<'EOF'\nrm -rf | x\nEOF\ncargo test",
                r#";["cat"]["f"];["cargo", "test"][]"#,
            ),
            ("for x in 1 2; do y; done", "none"),
            ("echo 'open", "none"),
            ("a |& b &> c", r#";["a"][]|["b"]["c"]"#),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn long_commands_are_not_taken_apart() {
        assert_eq!(parse(&"x ".repeat(LONGEST)), None);
        assert_eq!(parse(&"x;".repeat(COMMANDS + 2)), None);
    }
}
