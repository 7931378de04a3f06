//! The linter: contracts that are legal but weak.

use super::draft::Draft;
use super::{Contract, OnFlaky, RetryOn};
use crate::decimal::Decimal;
use crate::error::Problem;
use crate::promise::collapse;
use crate::tree::decode::{Decoder, Path};
use crate::tree::{At, Node, Source, Value};

/// Everything weak about a contract, in the order of the text.
pub(super) fn warnings(
    source: Source<'_>,
    node: &Node<'_>,
    draft: &Draft,
    contract: &Contract,
    path: Path<'_>,
) -> Vec<Problem> {
    let mut linter = Linter {
        decoder: Decoder::new(source),
        node,
        path,
    };
    linter.proof(contract);
    linter.reruns(contract);
    linter.token(draft);
    linter.limits(draft, contract);
    linter.decoder.into_problems()
}

struct Linter<'s, 'n, 'p> {
    decoder: Decoder<'s>,
    node: &'n Node<'n>,
    path: Path<'p>,
}

impl Linter<'_, '_, '_> {
    fn warn(&mut self, field: &str, message: &str, help: &str) {
        let at = self.place(field);
        let help = Some(help.to_owned());
        self.decoder
            .problem(at, self.path.field(field), message, help);
    }

    /// Where a field is written, or else where the contract begins.
    fn place(&self, field: &str) -> At {
        match &self.node.value {
            Value::Map(entries) => entries
                .iter()
                .find(|entry| entry.key == field)
                .map_or(self.node.at, |entry| entry.node.at),
            _ => self.node.at,
        }
    }

    fn proof(&mut self, contract: &Contract) {
        let optional = contract.completion_checks.len() - contract.required().count();
        if contract.completion_checks.is_empty() {
            if contract.completion_token.is_some() {
                self.warn(
                    "completion_token",
                    "the token alone can finish the loop: no objective check stands behind it",
                    "add a check to `completion_checks`",
                );
            }
            if contract.optional_pass_ratio > Decimal::ZERO {
                self.warn(
                    "optional_pass_ratio",
                    "there is no check that it could apply to",
                    "remove it",
                );
            }
            return;
        }
        if contract.required().next().is_none() && contract.optional_pass_ratio == Decimal::ZERO {
            self.warn(
                "completion_checks",
                "every check is optional and `optional_pass_ratio` is 0: no check has to pass",
                "make one of them required or raise the ratio",
            );
        }
        if optional == 0
            && contract.optional_pass_ratio > Decimal::ZERO
            && contract.profile.is_none()
        {
            self.warn(
                "optional_pass_ratio",
                "there is no optional check that it could apply to",
                "remove it",
            );
        }
    }

    /// A rerun that can't help.
    fn reruns(&mut self, contract: &Contract) {
        let checks = contract.completion_checks.iter();
        let useless = checks.filter(|check| {
            check.retries > 0
                && check.on_flaky == OnFlaky::Fail
                && check.retry_on.contains(&RetryOn::Fail)
        });
        for check in useless {
            let message = format!(
                "a rerun of `{}` after `fail` can't pass: pass after fail is flaky, and `on_flaky` is `fail`",
                check.id
            );
            self.warn(
                "completion_checks",
                &message,
                "set `on_flaky: pass` for it or leave `fail` out of `retry_on`",
            );
        }
    }

    fn token(&mut self, draft: &Draft) {
        let raw = draft.raw_token.as_deref();
        if raw.is_some_and(|raw| raw != collapse(raw)) {
            self.warn(
                "completion_token",
                "white space at the ends and double white space are ignored",
                "write the token without it",
            );
        }
    }

    fn limits(&mut self, draft: &Draft, contract: &Contract) {
        let iterations = contract.loop_max_iters;
        let never = "it can never bind: `loop_max_iters` stops the loop first";
        if draft
            .no_progress_limit
            .is_some_and(|limit| limit > iterations)
        {
            self.warn("no_progress_limit", never, "lower it or set it to 0");
        }
        if draft.no_progress_limit == Some(1) {
            self.warn(
                "no_progress_limit",
                "every iteration that does not complete stops the loop",
                "set it to 2 or more, or to 0 to turn it off",
            );
        }
        if draft.plateau_limit.is_some_and(|limit| limit >= iterations) {
            self.warn("plateau_limit", never, "lower it or set it to 0");
        }
        if contract.plateau_limit > 0 && contract.required().next().is_none() {
            self.warn(
                "plateau_limit",
                "it can never bind: there is no required check",
                "remove it",
            );
        }
        if draft.blocked_limit.is_some_and(|limit| limit > iterations) {
            self.warn("blocked_limit", never, "lower it");
        }
        if draft
            .max_consecutive_failures
            .is_some_and(|limit| limit > iterations)
        {
            self.warn("max_consecutive_failures", never, "lower it");
        }
        if draft
            .per_iter_timeout_ms
            .is_some_and(|limit| limit > contract.max_duration_ms)
        {
            self.warn(
                "per_iter_timeout_ms",
                "it is longer than `max_duration_ms`, the bound on the whole loop",
                "lower it",
            );
        }
        let longest = u64::from(contract.per_iter_timeout_ms) * u64::from(iterations);
        if draft
            .max_duration_ms
            .is_some_and(|limit| u64::from(limit) > longest)
        {
            self.warn(
                "max_duration_ms",
                "it can never bind: `loop_max_iters` iterations of `per_iter_timeout_ms` are shorter",
                "lower it",
            );
        }
    }
}
