//! Labels: what somebody found out about loops, as a table with a row each. Pure: a text in, labels or problems out.

use std::collections::BTreeMap;

use super::csv::{self, CsvProblem, Row};
use crate::memory::course::Truth;

/// What somebody says about a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The line of its row, from 1.
    pub line: usize,
    /// The session's key.
    pub session: String,
    /// Whether its work is complete.
    pub truth: Truth,
    /// Who says so, if the table does.
    pub by: Option<String>,
    /// Why.
    pub reason: String,
}

impl Label {
    /// Whether another one differs in its line alone.
    fn says_the_same(&self, other: &Self) -> bool {
        let line = self.line;
        *self
            == Self {
                line,
                ..other.clone()
            }
    }
}

/// The columns, each with the names that it may have.
const COLUMNS: [(&str, &[&str]); 4] = [
    ("session", &["session", "run"]),
    ("truth", &["truth"]),
    ("by", &["by"]),
    ("reason", &["reason"]),
];

/// The longest value, in bytes.
const LONGEST: usize = 10_000;

/// Reads a table of labels. Every problem is named with its line; with any, there are no labels.
///
/// ```
/// use ralph_gate::audit::labels;
///
/// let read = labels::read("session,truth,by\nnight run,incomplete,ada\n").unwrap();
/// assert_eq!((read[0].line, read[0].session.as_str()), (2, "night run"));
/// assert_eq!(labels::read("session,truth\nnight run,perhaps\n").unwrap_err()[0].line, 2);
/// ```
pub fn read(text: &str) -> Result<Vec<Label>, Vec<CsvProblem>> {
    let rows = csv::read(text).map_err(|problem| vec![problem])?;
    let Some((head, rows)) = rows.split_first() else {
        return Err(vec![problem(
            1,
            "the table is empty; its first line names the columns: session,truth,by,reason",
        )]);
    };
    let columns = columns(head)?;
    let mut problems = Vec::new();
    let mut labels: Vec<Label> = Vec::new();
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        let label = match label(row, &columns, head.fields.len()) {
            Ok(label) => label,
            Err(found) => {
                problems.extend(found);
                continue;
            }
        };
        let before = first
            .get(&label.session)
            .and_then(|index| labels.get(*index));
        match before {
            None => {
                first.insert(label.session.clone(), labels.len());
                labels.push(label);
            }
            Some(before) if before.says_the_same(&label) => {}
            Some(before) => problems.push(problem(
                row.line,
                format!(
                    "the session {:?} is labelled otherwise in line {}; keep one of them",
                    label.session, before.line
                ),
            )),
        }
    }
    if problems.is_empty() {
        Ok(labels)
    } else {
        Err(problems)
    }
}

fn problem(line: usize, message: impl Into<String>) -> CsvProblem {
    CsvProblem {
        line,
        message: message.into(),
    }
}

/// Where each column is.
fn columns(head: &Row) -> Result<BTreeMap<&'static str, usize>, Vec<CsvProblem>> {
    let mut problems = Vec::new();
    let mut columns = BTreeMap::new();
    for (index, field) in head.fields.iter().enumerate() {
        let said = field.trim().to_lowercase();
        let known = COLUMNS
            .iter()
            .find(|(_, names)| names.contains(&said.as_str()));
        match known {
            None => problems.push(problem(
                head.line,
                format!(
                    "there is no column {field:?}; known are session (or run), truth, by and reason"
                ),
            )),
            Some((name, _)) => {
                if columns.insert(*name, index).is_some() {
                    problems.push(problem(
                        head.line,
                        format!("the column {name} is there twice"),
                    ));
                }
            }
        }
    }
    for needed in ["session", "truth"] {
        if !columns.contains_key(needed) {
            problems.push(problem(
                head.line,
                format!("the column {needed} is missing; the first line names the columns"),
            ));
        }
    }
    if problems.is_empty() {
        Ok(columns)
    } else {
        Err(problems)
    }
}

fn label(
    row: &Row,
    columns: &BTreeMap<&str, usize>,
    width: usize,
) -> Result<Label, Vec<CsvProblem>> {
    let mut problems = Vec::new();
    if row.fields.len() != width {
        problems.push(problem(
            row.line,
            format!(
                "the row has {} fields and the first line names {width}",
                row.fields.len()
            ),
        ));
        return Err(problems);
    }
    let field = |name: &str| {
        let index = columns.get(name)?;
        row.fields.get(*index).map(|field| field.trim())
    };
    for (name, _) in COLUMNS {
        let bytes = field(name).map_or(0, str::len);
        if bytes > LONGEST {
            problems.push(problem(
                row.line,
                format!("{name} has {bytes} bytes and the limit is {LONGEST}"),
            ));
        }
    }
    let session = field("session").unwrap_or_default();
    if session.is_empty() {
        problems.push(problem(row.line, "the row names no session"));
    }
    let said = field("truth").unwrap_or_default();
    let truth = truth(said);
    if truth.is_none() {
        let said: String = said.chars().take(40).collect();
        problems.push(problem(
            row.line,
            format!("{said:?} is no truth; write complete, incomplete or unknown (also pass, fail, true, false, 1, 0)"),
        ));
    }
    match truth {
        Some(truth) if problems.is_empty() => Ok(Label {
            line: row.line,
            session: session.to_owned(),
            truth,
            by: field("by").filter(|by| !by.is_empty()).map(str::to_owned),
            reason: field("reason").unwrap_or_default().to_owned(),
        }),
        _ => Err(problems),
    }
}

fn truth(word: &str) -> Option<Truth> {
    match word.to_lowercase().as_str() {
        "complete" | "pass" | "true" | "1" => Some(Truth::Complete),
        "incomplete" | "fail" | "false" | "0" => Some(Truth::Incomplete),
        "unknown" => Some(Truth::Unknown),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_the_truth_are_read_whatever_their_case() {
        let text = "Run,TRUTH\na,complete\nb,FAIL\nc,True\nd,0\ne,unknown\nf,1\n";
        let truths: Vec<Truth> = read(text).unwrap().iter().map(|it| it.truth).collect();
        assert_eq!(
            truths,
            [
                Truth::Complete,
                Truth::Incomplete,
                Truth::Complete,
                Truth::Incomplete,
                Truth::Unknown,
                Truth::Complete
            ]
        );
    }

    #[test]
    fn columns_come_in_any_order_and_two_may_be_absent() {
        let text = "reason,truth,by,session\r\n\"it, crashes\",fail,ada,night run\r\n,pass,,b\r\n";
        let labels = read(text).unwrap();
        assert_eq!(labels[0].session, "night run");
        assert_eq!(labels[0].by.as_deref(), Some("ada"));
        assert_eq!(labels[0].reason, "it, crashes");
        assert_eq!((labels[1].by.as_deref(), labels[1].line), (None, 3));
    }

    #[test]
    fn every_problem_is_named_with_its_line() {
        let text =
            "session,truth\na,perhaps\n,complete\nb,complete,more\nc,complete\nc,incomplete\n";
        let problems = read(text).unwrap_err();
        let lines: Vec<usize> = problems.iter().map(|it| it.line).collect();
        assert_eq!(lines, [2, 3, 4, 6]);
        assert!(problems[3].message.contains("line 5"), "{problems:?}");
    }

    #[test]
    fn a_table_without_its_columns_is_refused() {
        for text in ["", "a,b\n", "session,truth,truth\n", "session\nx\n"] {
            let problems = read(text).unwrap_err();
            assert!(problems.iter().all(|it| it.line == 1), "{text:?}");
        }
    }

    #[test]
    fn the_same_label_twice_is_one() {
        assert_eq!(
            read("session,truth\na,pass\na,complete\n").unwrap().len(),
            1
        );
    }
}
