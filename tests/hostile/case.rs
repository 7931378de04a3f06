//! What is tried: the files of the corpus, and what code makes.

use anyhow::Result;
use ralph_gate::policy::Wasi;
use ralph_gate_tests::policies::{self, Expected, Written};
use ralph_gate_tests::trials::{Order, Report};

use crate::generated::{self, Generated};

/// A policy, and what must become of it.
pub(crate) struct Case {
    pub(crate) name: String,
    expect: Vec<Expected>,
    says: Option<String>,
    reason: Option<String>,
    deny_all: bool,
    fuel: Option<u64>,
    source: Source,
}

enum Source {
    Written(Written),
    Generated(&'static Generated),
}

/// Every one of them.
pub(crate) fn all() -> Vec<Case> {
    let written = policies::corpus().expect("the corpus can be read");
    let written = written.into_iter().map(Case::written);
    written
        .chain(generated::ALL.iter().map(Case::generated))
        .collect()
}

impl Case {
    fn written(written: Written) -> Self {
        Self {
            name: written.name.clone(),
            expect: written.expect.clone(),
            says: written.says.clone(),
            reason: written.reason.clone(),
            deny_all: written.wasi == Wasi::DenyAll,
            fuel: written.fuel,
            source: Source::Written(written),
        }
    }

    fn generated(generated: &'static Generated) -> Self {
        Self {
            name: generated.name.to_owned(),
            expect: Expected::parse(generated.expect),
            says: generated.says.map(str::to_owned),
            reason: None,
            deny_all: false,
            fuel: None,
            source: Source::Generated(generated),
        }
    }

    pub(crate) fn component(&self) -> Result<Vec<u8>> {
        match &self.source {
            Source::Written(written) => written.component(),
            Source::Generated(generated) => generated.component(),
        }
    }

    pub(crate) fn order(&self, repeats: u32) -> Order {
        Order {
            deny_all: self.deny_all,
            fuel: self.fuel,
            repeats,
        }
    }

    /// What is not as it must be.
    pub(crate) fn violations(&self, report: &Report) -> Vec<String> {
        let mut found = Vec::new();
        let became = match &report.outcome {
            Some(outcome) => Expected::Judged(outcome.clone()),
            None => Expected::Error(report.code.clone()),
        };
        if !self.expect.contains(&became) {
            found.push(format!("expected {:?} and not {became:?}", self.expect));
        }
        let says = self.says.as_deref().unwrap_or_default();
        if !report.message.contains(says) {
            found.push(format!("`{says}` is not in: {}", report.message));
        }
        if let Some(reason) = &self.reason
            && report.reasons != [reason.clone()]
        {
            found.push(format!(
                "expected the reason `{reason}`: {:?}",
                report.reasons
            ));
        }
        found
    }
}
