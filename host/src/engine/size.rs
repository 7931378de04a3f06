//! How many bytes of text a typed input carries: what the limit on input counts.

use super::{
    Artifact, CheckResult, Issue, IssueFile, IssueStates, Iteration, OperatorNote, PrdUpdate,
    Tampering, ToolOutput, Usage,
};

fn option(text: Option<&String>) -> usize {
    text.map_or(0, String::len)
}

fn list<T>(items: &[T], size: impl Fn(&T) -> usize) -> usize {
    // An empty record still takes room in the gate's memory.
    items.iter().map(|item| size_of::<T>() + size(item)).sum()
}

/// What counts itself.
pub(super) trait TextSize {
    /// Bytes of all texts together, and of the records that hold them.
    fn text_size(&self) -> usize;
}

impl TextSize for Iteration {
    fn text_size(&self) -> usize {
        let Usage { cost_usd, .. } = &self.usage;
        self.output.len()
            + list(&self.checks, CheckResult::text_size)
            + list(&self.artifacts, |Artifact { name, content, .. }| {
                name.len() + content.len()
            })
            + list(&self.tool_outputs, |ToolOutput { name, content }| {
                name.len() + content.len()
            })
            + list(&self.tampered, |Tampering { what, reason }| {
                what.len() + reason.len()
            })
            + option(cost_usd.as_ref())
            + self
                .r#override
                .as_ref()
                .map_or(0, |OperatorNote { operator, reason }| {
                    operator.len() + reason.len()
                })
            + list(&self.waivers, |waiver| {
                waiver.check.len() + waiver.operator.len() + waiver.reason.len()
            })
    }
}

impl TextSize for CheckResult {
    fn text_size(&self) -> usize {
        self.id.len()
            + option(self.reason.as_ref())
            + self.attempts.len()
            + option(self.fingerprint.as_ref())
    }
}

impl TextSize for IssueStates {
    fn text_size(&self) -> usize {
        list(
            &self.issues,
            |Issue {
                 id,
                 status,
                 depends_on,
                 ..
             }| { id.len() + status.len() + list(depends_on, String::len) },
        ) + list(&self.files, |IssueFile { path, text }| {
            path.len() + text.len()
        })
    }
}

impl TextSize for PrdUpdate {
    fn text_size(&self) -> usize {
        size_of::<Self>() + self.id.len() + option(self.evidence.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Outcome, Waiver};

    #[test]
    fn every_text_of_an_iteration_counts() {
        let iteration = Iteration {
            output: "12345".to_owned(),
            usage: Usage {
                cost_usd: Some("0.1".to_owned()),
                ..Usage::default()
            },
            r#override: Some(OperatorNote {
                operator: "ab".to_owned(),
                reason: "c".to_owned(),
            }),
            waivers: vec![Waiver {
                check: "a".to_owned(),
                operator: "b".to_owned(),
                reason: "c".to_owned(),
            }],
            ..Iteration::default()
        };
        assert_eq!(iteration.text_size() - size_of::<Waiver>(), 14);
    }

    #[test]
    fn a_list_of_empty_records_is_not_free() {
        let empty = CheckResult::new("", Outcome::Pass);
        let iteration = Iteration {
            checks: vec![empty; 1000],
            ..Iteration::default()
        };
        assert!(iteration.text_size() >= 1000);
    }
}
