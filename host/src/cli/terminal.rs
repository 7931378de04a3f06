//! What a person sees: standard output and standard error, with colour where it belongs.

use std::env;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal, Write};

use ralph_gate::engine::Problem;
pub(crate) use ralph_gate::visible::clean;

use super::Exit;
use super::args::Color;
use super::error::{CliError, place_in_file};
use super::excerpt::{excerpt, text_of};
use super::input::Source;

/// Where an error goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorForm {
    /// Text on standard error.
    Text,
    /// JSON on standard output.
    Json,
    /// Both: the caller reads JSON, and a person who watches sees which file it was.
    Both,
}

/// How severe a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    Error,
    Warning,
}

/// Colours, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Painter {
    enabled: bool,
}

impl Painter {
    fn new(color: Color, json: bool, stream: &impl IsTerminal) -> Self {
        let enabled = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                !json
                    && stream.is_terminal()
                    && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        Self { enabled }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.enabled {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.paint("1;32", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    #[cfg(unix)]
    pub(crate) fn caution(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    pub(crate) fn severity(self, severity: Severity) -> String {
        match severity {
            Severity::Error => self.paint("1;31", "error:"),
            Severity::Warning => self.paint("1;33", "warning:"),
        }
    }

    pub(crate) fn help(self) -> String {
        self.paint("1;36", "help:")
    }

    /// A problem at its place: `FILE:LINE:COLUMN: error: path: message`, the line of the source if it is at hand, and a
    /// line of help.
    pub(crate) fn problem(
        self,
        severity: Severity,
        file: &str,
        problem: &Problem,
        shift: u32,
        source: Option<&str>,
    ) -> String {
        let mut text = clean(file);
        let (line, column) = place_in_file(problem, shift);
        if line > 0 {
            let _ = write!(text, ":{line}:{column}");
        }
        let _ = write!(text, ": {} ", self.severity(severity));
        if !problem.path.is_empty() {
            let _ = write!(text, "{}: ", self.bold(&clean(&problem.path)));
        }
        text.push_str(&clean(&problem.message));
        text.push('\n');
        if let Some(excerpt) = source.and_then(|source| excerpt(source, line, column)) {
            text.push_str(&excerpt);
        }
        if let Some(help) = &problem.help {
            let _ = writeln!(text, "  {} {}", self.help(), clean(help));
        }
        text
    }
}

/// The two streams and how to write to them.
#[derive(Debug)]
pub(crate) struct Terminal {
    json: bool,
    quiet: bool,
    /// For standard output.
    pub(crate) painter: Painter,
    error_painter: Painter,
}

impl Terminal {
    pub(crate) fn new(json: bool, color: Color) -> Self {
        Self {
            json,
            quiet: false,
            painter: Painter::new(color, json, &io::stdout()),
            error_painter: Painter::new(color, json, &io::stderr()),
        }
    }

    /// One that only says the result and errors, if so wanted.
    pub(crate) fn with_quiet(self, quiet: bool) -> Self {
        Self { quiet, ..self }
    }

    /// Whether only the result and errors are wanted.
    #[cfg(unix)]
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether a machine reads along.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Says something beside the answer, on standard error. There is nobody left to tell when this fails.
    pub(crate) fn warn(&self, text: impl FnOnce(Painter) -> String) {
        if !self.quiet {
            self.warn_always(text);
        }
    }

    /// Says something that must be known even where only the result is wanted.
    pub(crate) fn warn_always(&self, text: impl FnOnce(Painter) -> String) {
        let _ = io::stderr().write_all(text(self.error_painter).as_bytes());
    }

    /// Prints the gate's answer itself with `--json`, and otherwise what `text` makes of it.
    pub(crate) fn print_answer(
        &self,
        answer: &str,
        text: impl FnOnce(Painter) -> String,
    ) -> Result<(), CliError> {
        if self.json {
            print(&format!("{answer}\n"))
        } else {
            print(&text(self.painter))
        }
    }

    /// Reports an error. There is nobody left to tell when this fails.
    pub(crate) fn report(&self, error: &CliError, form: ErrorForm) -> Exit {
        if form != ErrorForm::Text && !matches!(error, CliError::Output { .. }) {
            let _ = print(&format!("{}\n", error.json()));
        }
        if form != ErrorForm::Json || matches!(error, CliError::Output { .. }) {
            let _ = io::stderr().write_all(self.describe(error).as_bytes());
        }
        Exit::Error
    }

    fn describe(&self, error: &CliError) -> String {
        let painter = self.error_painter;
        if let CliError::Gate {
            file, error, shift, ..
        } = error
            && !error.problems.is_empty()
        {
            let source = file.text();
            let (file, source) = (file.to_string(), source.as_deref());
            let problems = error.problems.iter();
            return problems
                .map(|problem| painter.problem(Severity::Error, &file, problem, *shift, source))
                .collect();
        }
        let mut text = String::new();
        if let Some((file, problems)) = error.problems_of_config() {
            let source = error
                .file()
                .map_or_else(|| text_of(file.as_ref()), Source::text);
            text.extend(problems.iter().map(|problem| {
                painter.problem(Severity::Error, &file, problem, 0, source.as_deref())
            }));
        }
        for problem in error.problems_of_arguments() {
            let without_path = Problem {
                path: String::new(),
                ..problem.clone()
            };
            text.push_str(&painter.problem(Severity::Error, &problem.path, &without_path, 0, None));
        }
        if !text.is_empty() {
            return text;
        }
        let mut text = format!(
            "{} {}\n",
            painter.severity(Severity::Error),
            clean(&error.to_string())
        );
        text.push_str(&error.excerpt().unwrap_or_default());
        if let Some(help) = error.help() {
            // A snippet to paste has lines of its own.
            let lines: Vec<String> = help.lines().map(clean).collect();
            let _ = writeln!(text, "{} {}", painter.help(), lines.join("\n"));
        }
        text
    }
}

/// Writes to standard output. A reader that has seen enough and closed the pipe is no error.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    print_bytes(text.as_bytes())
}

/// The same for what is not text.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::Output {
            reason: error.to_string(),
        }),
        _ => Ok(()),
    }
}

/// `1 check`, `2 checks`
pub(crate) fn counted(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        count => format!("{count} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Painter = Painter { enabled: false };

    #[test]
    fn control_characters_never_reach_the_terminal() {
        assert_eq!(
            clean("a\x1b[31mb\r\u{202e}ü"),
            "a\\u{1b}[31mb\\u{d}\\u{202e}ü"
        );
    }

    #[test]
    fn a_problem_is_one_line_with_its_place_and_one_with_its_remedy() {
        let problem = Problem {
            path: "a.b".into(),
            line: 2,
            column: 7,
            message: "unknown field".into(),
            help: Some("did you mean `c`?".into()),
        };
        assert_eq!(
            PLAIN.problem(Severity::Error, "contract.yaml", &problem, 0, None),
            "contract.yaml:2:7: error: a.b: unknown field\n  help: did you mean `c`?\n"
        );
    }

    #[test]
    fn a_problem_of_the_whole_text_has_no_place() {
        let problem = Problem {
            path: String::new(),
            line: 0,
            column: 0,
            message: "m".into(),
            help: None,
        };
        assert_eq!(
            PLAIN.problem(Severity::Warning, "f", &problem, 0, None),
            "f: warning: m\n"
        );
    }

    #[test]
    fn one_thing_has_no_plural() {
        assert_eq!(counted(1, "warning"), "1 warning");
        assert_eq!(counted(0, "warning"), "0 warnings");
    }

    #[test]
    fn colour_can_be_forced_and_forbidden() {
        assert_eq!(
            Painter::new(Color::Always, true, &io::stdout()).bold("x"),
            "\x1b[1mx\x1b[0m"
        );
        assert_eq!(
            Painter::new(Color::Never, false, &io::stdout()).bold("x"),
            "x"
        );
    }
}
