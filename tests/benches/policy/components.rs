//! The policies that are measured.

use std::fmt::Write as _;

use ralph_gate::policy::{PolicyInput, Shipped};
use ralph_gate_policy_cel::Cel;
use ralph_gate_policy_evidence::{
    ArtifactsInMemory, Evidence, Finding, FindingOutcome, Judgement, Outcome, Policy, TestCounts,
};
use ralph_gate_policy_rego::Rego;
use ralph_gate_tests::component::policy;

/// A policy that passes without looking at anything: memory that is zero is a judgement that passes, without reasons, and
/// an empty description. `more` are more functions.
fn passing(more: &str) -> Vec<u8> {
    policy(&format!(
        r#"(module
          (memory (export "memory") 1)
          (global $next (mut i32) (i32.const 1024))
          (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (local $at i32)
            (local.set $at
              (i32.and
                (i32.add (global.get $next) (i32.sub (local.get 2) (i32.const 1)))
                (i32.sub (i32.const 0) (local.get 2))))
            (global.set $next (i32.add (local.get $at) (local.get 3)))
            (local.get $at))
          (func (export "ralph:gate/policy@0.1.0#describe") (result i32) (i32.const 16))
          (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
            (i32.const 64))
          {more})"#
    ))
}

pub(crate) fn trivial() -> Vec<u8> {
    passing("")
}

/// The same with functions that nobody calls, of about so many bytes.
pub(crate) fn large(size: usize) -> Vec<u8> {
    // What one of them takes, measured.
    const BYTES: usize = 75;
    let mut more = String::new();
    for number in 0..size / BYTES {
        let _ = write!(
            more,
            "(func (export \"f{number}\") (param i32 i32) (result i32) (local i32)
               (loop
                 (local.set 2 (i32.add (local.get 2) (i32.mul (local.get 0) (i32.const {number}))))
                 (local.set 0 (i32.xor (local.get 0) (i32.load8_u (local.get 2))))
                 (i32.store8 (local.get 1) (local.get 0))
                 (br_if 0 (i32.lt_u (local.get 2) (local.get 1))))
               (local.get 2))"
        );
    }
    passing(&more)
}

/// A shipped policy as a crate, without a sandbox.
pub(crate) struct Native {
    evaluate: fn(&Evidence, &dyn ralph_gate_policy_evidence::Artifacts, &str) -> Judgement,
    evidence: Evidence,
    settings: String,
}

impl Native {
    pub(crate) fn new(shipped: Shipped, input: &PolicyInput) -> Self {
        let finding = |found: &ralph_gate::policy::PolicyFinding| Finding {
            id: found.id.clone(),
            kind: found.kind.clone(),
            outcome: FindingOutcome::Pass,
            reason: found.reason.clone(),
            tests: found.tests.map(|tests| TestCounts {
                passed: tests.passed,
                failed: tests.failed,
                skipped: tests.skipped,
            }),
            exit: found.exit,
        };
        Self {
            evaluate: match shipped {
                Shipped::Cel => Cel::evaluate,
                Shipped::Rego => Rego::evaluate,
            },
            evidence: Evidence {
                iteration: input.iteration,
                findings: input.findings.iter().map(finding).collect(),
                artifacts: Vec::new(),
            },
            settings: input.settings.clone(),
        }
    }

    pub(crate) fn decide(&mut self) {
        let none = ArtifactsInMemory::default();
        let judgement = (self.evaluate)(&self.evidence, &none, &self.settings);
        assert_eq!(judgement.outcome, Outcome::Pass, "{judgement:?}");
    }
}
