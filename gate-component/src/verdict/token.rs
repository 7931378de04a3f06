//! The token rule: which promise text is expected, and what is wrong with the one that was made.

use super::Failure;
use crate::contract::Contract;
use crate::digest::Digest;
use crate::feedback::clean;
use crate::iteration::{Action, FailureCode, Iteration};
use crate::promise::PromiseReport;
use crate::signal::Signal;
use crate::snapshot::State;
use crate::tree::decode::shorten;

/// Bytes of a promise that are quoted in a reason.
const MAX_QUOTE: usize = 200;

/// The promise text that an iteration must end with. A nonce depends on the whole history, so that an
/// echo of an earlier turn can never complete.
pub(super) fn expected(
    contract: &Contract,
    digest: &str,
    seal: &str,
    index: u32,
) -> Option<String> {
    let token = contract.completion_token.as_ref()?;
    if !token.nonce {
        return Some(token.text.clone());
    }
    let mut nonce = Digest::new("nonce");
    nonce.bytes(digest.as_bytes()).bytes(seal.as_bytes());
    nonce.number(usize::try_from(index).unwrap_or(usize::MAX));
    let nonce = nonce.hex();
    Some(format!(
        "{} {}",
        token.text,
        nonce.get(..8).unwrap_or_default()
    ))
}

/// How often the agent has said `LOOP_BLOCKED` in a row, and how often it must.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocked {
    in_a_row: u32,
    limit: u32,
}

impl Blocked {
    pub(super) fn of(contract: &Contract, state: &State) -> Self {
        Self {
            in_a_row: state.blocked_in_a_row,
            limit: contract.blocked_limit,
        }
    }
}

/// What is wrong with the promise of a final. Other actions claim nothing.
pub(super) fn failures(
    iteration: &Iteration<'_>,
    promise: &PromiseReport,
    token: Option<&str>,
    blocked: Blocked,
) -> Option<Failure> {
    if iteration.action != Action::Final {
        return None;
    }
    let too_early = promise.signal == Some(Signal::Blocked) && blocked.in_a_row < blocked.limit;
    let (code, reason) = match token {
        _ if too_early => says_blocked(blocked),
        Some(token) => against_token(promise, token)?,
        None => against_signal(promise)?,
    };
    Some(Failure {
        code,
        check: None,
        reason,
    })
}

fn against_signal(promise: &PromiseReport) -> Option<(FailureCode, String)> {
    match promise.contrary? {
        _ if promise.conflict => Some(conflict()),
        Signal::Continue => Some(says_continue()),
        // Lines 4 and 5 of the table end the loop.
        _ => None,
    }
}

fn against_token(promise: &PromiseReport, token: &str) -> Option<(FailureCode, String)> {
    if promise.conflict {
        return Some(conflict());
    }
    match promise.accepted.as_deref() {
        Some(text) if text == token => None,
        Some(text) => match promise.signal {
            Some(Signal::Continue) => Some(says_continue()),
            Some(Signal::Blocked | Signal::Error) => None,
            _ => Some((
                FailureCode::TokenMismatch,
                format!(
                    "the promise is `{}`, `{token}` is expected",
                    clean(&shorten(text), MAX_QUOTE)
                ),
            )),
        },
        None => Some(without_promise(promise, token)),
    }
}

/// No promise counts: is the token at a place where it does not?
fn without_promise(promise: &PromiseReport, token: &str) -> (FailureCode, String) {
    if let Some(tag) = promise.tags.iter().find(|tag| tag.text == token) {
        let reason = format!(
            "the promise `{token}` does not count where it stands: {} (byte {})",
            tag.reason, tag.offset
        );
        return (FailureCode::PromiseMisplaced, reason);
    }
    let reason = match promise.found {
        0 => format!("no promise `{token}` at the end of the output"),
        found => format!("no promise `{token}`; none of the {found} promise tags counts"),
    };
    (FailureCode::TokenMissing, reason)
}

fn conflict() -> (FailureCode, String) {
    (
        FailureCode::PromiseConflict,
        "the output makes two promises that say different things".to_owned(),
    )
}

fn says_blocked(blocked: Blocked) -> (FailureCode, String) {
    let Blocked { in_a_row, limit } = blocked;
    (
        FailureCode::PromiseContinue,
        format!(
            "the promise `LOOP_BLOCKED` stops the loop after {limit} iterations in a row; this is number {in_a_row}"
        ),
    )
}

fn says_continue() -> (FailureCode, String) {
    (
        FailureCode::PromiseContinue,
        "the promise `LOOP_CONTINUE` says that work remains".to_owned(),
    )
}
