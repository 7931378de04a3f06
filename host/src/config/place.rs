//! Where a path leads in a text.

use ralph_gate_component::error::Problem as ReaderProblem;
use ralph_gate_component::tree::{At, Node, Value};

use crate::engine::Problem;

/// A problem as the host's types have it.
pub(crate) fn problem(problem: ReaderProblem) -> Problem {
    Problem {
        path: problem.path,
        line: problem.line,
        column: problem.column,
        message: problem.message,
        help: problem.help,
    }
}

/// The place that a path such as `completion_checks[1].id` leads to, or the last one on the way. None if not even
/// its first step is there.
pub(super) fn locate(root: &Node<'_>, path: &str, end: End) -> Option<At> {
    let mut place = None;
    let (mut node, mut rest) = (root, path);
    while !rest.is_empty() {
        let Some((key, next, after)) = step(node, rest) else {
            break;
        };
        place = Some(match end {
            End::Key => key,
            End::Value => next.at,
        });
        (node, rest) = (next, after.strip_prefix('.').unwrap_or(after));
    }
    place
}

/// What of a field is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Key,
    Value,
}

/// One step: the longest key that the path begins with, or the item that it names.
fn step<'n, 'a, 'p>(node: &'n Node<'a>, path: &'p str) -> Option<(At, &'n Node<'a>, &'p str)> {
    match &node.value {
        Value::Map(entries) => entries
            .iter()
            .filter_map(|entry| {
                let rest = path.strip_prefix(entry.key.as_ref())?;
                let ends = rest.is_empty() || rest.starts_with(['.', '[']);
                ends.then_some((entry, rest))
            })
            .max_by_key(|(entry, _)| entry.key.len())
            .map(|(entry, rest)| (entry.at, &entry.node, rest)),
        Value::List(items) => {
            let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
            let item = items.get(index.parse::<usize>().ok()?)?;
            Some((item.at, item, rest))
        }
        _ => None,
    }
}
