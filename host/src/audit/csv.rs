//! Comma-separated values as RFC 4180 has them: quoted fields, doubled quotes, line breaks inside of quotes. Also a byte
//! order mark and lines that end in LF alone. Pure: a text in, rows out.

/// The most fields of one row.
const FIELDS: usize = 64;
/// The most rows.
const ROWS: usize = 1_000_000;

/// One row, and the line that it begins in, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Counted from 1.
    pub line: usize,
    /// As they are meant: without quotes.
    pub fields: Vec<String>,
}

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvProblem {
    /// Counted from 1.
    pub line: usize,
    /// One sentence.
    pub message: String,
}

/// Reads all rows. Lines with nothing in them are passed over.
///
/// ```
/// let rows = ralph_gate::audit::csv::read("session,truth\n\"a, b\",complete\n").unwrap();
/// assert_eq!(rows[1].fields, ["a, b", "complete"]);
/// assert!(ralph_gate::audit::csv::read("\"open\n").is_err());
/// ```
pub fn read(text: &str) -> Result<Vec<Row>, CsvProblem> {
    let mut reader = Reader {
        rest: text.strip_prefix('\u{feff}').unwrap_or(text),
        line: 1,
    };
    let mut rows = Vec::new();
    while !reader.rest.is_empty() {
        let row = reader.row()?;
        if row.fields.len() == 1 && row.fields.iter().all(String::is_empty) {
            continue;
        }
        if rows.len() == ROWS {
            return Err(CsvProblem {
                line: row.line,
                message: format!("there are more than {ROWS} rows"),
            });
        }
        rows.push(row);
    }
    Ok(rows)
}

/// What is left of a text.
struct Reader<'t> {
    rest: &'t str,
    line: usize,
}

/// What ends a field.
#[derive(PartialEq, Eq)]
enum End {
    Field,
    Row,
}

impl Reader<'_> {
    fn problem(&self, message: impl Into<String>) -> CsvProblem {
        CsvProblem {
            line: self.line,
            message: message.into(),
        }
    }

    fn row(&mut self) -> Result<Row, CsvProblem> {
        let line = self.line;
        let mut fields = Vec::new();
        loop {
            let (field, end) = self.field()?;
            fields.push(field);
            if end == End::Row {
                return Ok(Row { line, fields });
            }
            if fields.len() == FIELDS {
                return Err(self.problem(format!("a row has more than {FIELDS} fields")));
            }
        }
    }

    fn field(&mut self) -> Result<(String, End), CsvProblem> {
        if let Some(quoted) = self.rest.strip_prefix('"') {
            self.rest = quoted;
            return self.quoted();
        }
        let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
        let (field, rest) = self.rest.split_at(end);
        self.rest = rest;
        let is_last = !rest.starts_with(',');
        let field = if is_last {
            field.strip_suffix('\r').unwrap_or(field)
        } else {
            field
        };
        if field.contains('"') {
            return Err(self.problem(
                "a quote stands inside a field; put the whole field in quotes and double it",
            ));
        }
        Ok((field.to_owned(), self.separator()?))
    }

    /// The rest of a field behind its first quote.
    fn quoted(&mut self) -> Result<(String, End), CsvProblem> {
        let begun = self.line;
        let mut field = String::new();
        loop {
            let Some((part, rest)) = self.rest.split_once('"') else {
                return Err(CsvProblem {
                    line: begun,
                    message: "a quoted field begins here and is never closed".to_owned(),
                });
            };
            field.push_str(part);
            self.line += part.bytes().filter(|byte| *byte == b'\n').count();
            self.rest = rest;
            match rest.strip_prefix('"') {
                Some(rest) => {
                    field.push('"');
                    self.rest = rest;
                }
                None => return Ok((field, self.separator()?)),
            }
        }
    }

    /// Steps over what ends a field.
    fn separator(&mut self) -> Result<End, CsvProblem> {
        if let Some(rest) = self.rest.strip_prefix(',') {
            self.rest = rest;
            return Ok(End::Field);
        }
        let rest = self.rest.strip_prefix('\r').unwrap_or(self.rest);
        match rest.strip_prefix('\n') {
            Some(rest) => {
                self.rest = rest;
                self.line += 1;
                Ok(End::Row)
            }
            None if rest.is_empty() => {
                self.rest = rest;
                Ok(End::Row)
            }
            None => {
                Err(self.problem("something stands between a closing quote and the next comma"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<Vec<String>> {
        let rows = read(text).unwrap();
        rows.into_iter().map(|row| row.fields).collect()
    }

    #[test]
    fn quotes_commas_and_line_breaks_are_read() {
        assert_eq!(
            fields("a,\"b \"\"c\"\", d\",\"e\r\nf\"\r\n1,,\n"),
            [vec!["a", "b \"c\", d", "e\r\nf"], vec!["1", "", ""]]
        );
    }

    #[test]
    fn a_mark_a_missing_end_and_empty_lines_do_no_harm() {
        assert_eq!(fields("\u{feff}a,b\r\n\r\n\nc,d"), [["a", "b"], ["c", "d"]]);
        assert_eq!(fields(""), Vec::<Vec<String>>::new());
        assert_eq!(fields("\"\"\n\r"), Vec::<Vec<String>>::new());
    }

    #[test]
    fn rows_know_the_line_that_they_begin_in() {
        let rows = read("a\n\"b\nb\"\n\nc\n").unwrap();
        let lines: Vec<usize> = rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, [1, 2, 5]);
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_line() {
        for (text, line, said) in [
            ("a\nb,\"c\nd\n", 2, "never closed"),
            ("a\nb\"c\n", 2, "inside a field"),
            ("\"a\"b\n", 1, "between a closing quote"),
            ("\"a\"\rb\n", 1, "between a closing quote"),
        ] {
            let problem = read(text).unwrap_err();
            assert_eq!(problem.line, line, "{text:?}");
            assert!(problem.message.contains(said), "{problem:?}");
        }
        let many = "a,".repeat(FIELDS + 1);
        assert!(read(&many).unwrap_err().message.contains("more than 64"));
    }
}
