//! A contract as somebody wrote it: each field perhaps absent, each with its place.

use super::fields::{
    self, CHECK_FIELDS, FIELDS, MAX_CHECKS, MAX_NAME, MAX_TOKEN, NOT_IN_PROFILES, REQUEST_FIELDS,
    TOKEN_FIELDS,
};
use super::{Check, Contract, Enforcement, Mode, OnFlaky, PromiseRules, RetryOn, Token};
use crate::decimal::Decimal;
use crate::order::sort;
use crate::promise::collapse;
use crate::signal::Signal;
use crate::tree::decode::{Decoder, Path};
use crate::tree::{At, Node, Value};
use crate::vocabulary::Word as _;

/// Which fields are allowed where a draft is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A contract.
    Contract,
    /// A request: a contract and who asks.
    Request,
    /// A profile: defaults, so neither a mode nor a profile nor a check list.
    Profile,
}

impl Extent {
    fn fields(self) -> Vec<&'static str> {
        let mut names = fields::names(FIELDS);
        match self {
            Self::Contract => {}
            Self::Request => names.extend(fields::names(REQUEST_FIELDS)),
            Self::Profile => names.retain(|name| !NOT_IN_PROFILES.contains(name)),
        }
        names
    }
}

/// A value and the place it was written at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub at: At,
}

/// A check as written: what it leaves out comes from the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftCheck {
    pub(super) id: String,
    pub(super) required: bool,
    pub(super) on_flaky: Option<OnFlaky>,
    pub(super) retries: Option<Placed<u32>>,
    pub(super) retry_on: Option<Vec<RetryOn>>,
}

/// A contract as written. One of these over another gives defaults.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pub(crate) mode: Option<Mode>,
    pub(crate) profile: Option<Placed<String>>,
    pub(super) effective: bool,
    pub(super) enforcement: Option<Enforcement>,
    pub(super) completion_token: Option<Placed<Token>>,
    pub(super) raw_token: Option<String>,
    pub(super) promise_rules: Option<PromiseRules>,
    pub(super) completion_checks: Option<Vec<DraftCheck>>,
    pub(super) on_flaky: Option<OnFlaky>,
    pub(super) optional_pass_ratio: Option<Decimal>,
    pub(super) allow_override: Option<bool>,
    pub(super) loop_max_iters: Option<u32>,
    pub(super) no_progress_limit: Option<u32>,
    pub(super) plateau_limit: Option<u32>,
    pub(super) blocked_limit: Option<u32>,
    pub(super) per_iter_timeout_ms: Option<u32>,
    pub(super) max_tokens: Option<u32>,
    pub(super) max_tool_calls: Option<u32>,
    pub(super) max_duration_ms: Option<u32>,
    pub(super) max_consecutive_failures: Option<u32>,
    pub(super) max_check_retries: Option<u32>,
    pub(super) cost_budget_usd: Option<Decimal>,
    pub(super) feedback_max_bytes: Option<u32>,
    /// Whether any field had a problem; then a rule over several fields is not judged.
    pub(super) flawed: bool,
}

impl Draft {
    /// Read a draft; problems go to the decoder.
    pub fn decode(
        decoder: &mut Decoder<'_>,
        node: &Node<'_>,
        path: Path<'_>,
        extent: Extent,
    ) -> Self {
        let mut draft = Self::default();
        let problems_before = decoder.problem_count();
        let Some(fields) = decoder.object(node, path, &extent.fields()) else {
            draft.flawed = true;
            return draft;
        };
        let mut reader = FieldReader {
            decoder,
            path,
            flawed: false,
        };
        let get = |name| fields.get(name);
        draft.mode = reader.read(get("mode"), "mode", |d, n, p| d.word(n, p));
        draft.profile = reader.read(get("profile"), "profile", |d, n, p| {
            let name = d.name(n, p, MAX_NAME)?.to_owned();
            Some(Placed {
                value: name,
                at: n.at,
            })
        });
        draft.effective = reader
            .read(get("effective"), "effective", |d, n, p| d.bool(n, p))
            .unwrap_or(false);
        draft.enforcement = reader.read(get("enforcement"), "enforcement", |d, n, p| d.word(n, p));
        draft.completion_token = reader.read(get("completion_token"), "completion_token", token);
        draft.raw_token = get("completion_token").and_then(raw_token);
        draft.promise_rules = reader.read(get("promise_rules"), "promise_rules", |d, n, p| {
            d.word(n, p)
        });
        draft.completion_checks =
            reader.read(get("completion_checks"), "completion_checks", checks);
        draft.on_flaky = reader.read(get("on_flaky"), "on_flaky", |d, n, p| d.word(n, p));
        draft.optional_pass_ratio =
            reader.read(get("optional_pass_ratio"), "optional_pass_ratio", ratio);
        draft.allow_override = reader.read(get("allow_override"), "allow_override", |d, n, p| {
            d.bool(n, p)
        });
        let mut number = |name| {
            let (min, max) = fields::bounds(FIELDS, name);
            reader.read(get(name), name, |d, n, p| d.integer(n, p, min, max))
        };
        draft.loop_max_iters = number("loop_max_iters");
        draft.no_progress_limit = number("no_progress_limit");
        draft.plateau_limit = number("plateau_limit");
        draft.blocked_limit = number("blocked_limit");
        draft.per_iter_timeout_ms = number("per_iter_timeout_ms");
        draft.max_tokens = number("max_tokens");
        draft.max_tool_calls = number("max_tool_calls");
        draft.max_duration_ms = number("max_duration_ms");
        draft.max_consecutive_failures = number("max_consecutive_failures");
        draft.max_check_retries = number("max_check_retries");
        draft.feedback_max_bytes = number("feedback_max_bytes");
        draft.cost_budget_usd =
            reader.read(get("cost_budget_usd"), "cost_budget_usd", |d, n, p| {
                d.decimal(n, p)
            });
        reader.read(get("requested"), "requested", |d, n, p| d.bool(n, p));
        for name in fields::passed_over() {
            reader.read(get(name), name, |d, n, p| d.string(n, p));
        }
        draft.flawed = decoder.problem_count() > problems_before;
        draft
    }

    /// This draft, with what it leaves out taken from `base`.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        Self {
            mode: self.mode.or(base.mode),
            profile: self.profile.or(base.profile),
            effective: self.effective,
            enforcement: self.enforcement.or(base.enforcement),
            completion_token: self.completion_token.or(base.completion_token),
            raw_token: self.raw_token.or(base.raw_token),
            promise_rules: self.promise_rules.or(base.promise_rules),
            completion_checks: self.completion_checks.or(base.completion_checks),
            on_flaky: self.on_flaky.or(base.on_flaky),
            optional_pass_ratio: self.optional_pass_ratio.or(base.optional_pass_ratio),
            allow_override: self.allow_override.or(base.allow_override),
            loop_max_iters: self.loop_max_iters.or(base.loop_max_iters),
            no_progress_limit: self.no_progress_limit.or(base.no_progress_limit),
            plateau_limit: self.plateau_limit.or(base.plateau_limit),
            blocked_limit: self.blocked_limit.or(base.blocked_limit),
            per_iter_timeout_ms: self.per_iter_timeout_ms.or(base.per_iter_timeout_ms),
            max_tokens: self.max_tokens.or(base.max_tokens),
            max_tool_calls: self.max_tool_calls.or(base.max_tool_calls),
            max_duration_ms: self.max_duration_ms.or(base.max_duration_ms),
            max_consecutive_failures: self
                .max_consecutive_failures
                .or(base.max_consecutive_failures),
            max_check_retries: self.max_check_retries.or(base.max_check_retries),
            cost_budget_usd: self.cost_budget_usd.or(base.cost_budget_usd),
            feedback_max_bytes: self.feedback_max_bytes.or(base.feedback_max_bytes),
            flawed: self.flawed || base.flawed,
        }
    }

    /// Fill in the defaults and judge the rules that span several fields.
    pub fn complete(self, decoder: &mut Decoder<'_>, at: At, path: Path<'_>) -> Option<Contract> {
        let on_flaky = self.on_flaky.unwrap_or(OnFlaky::Fail);
        let max_check_retries = self.max_check_retries.unwrap_or(1);
        let drafts = self.completion_checks.unwrap_or_default();
        let mut completion_checks = Vec::with_capacity(drafts.len());
        for (index, check) in drafts.into_iter().enumerate() {
            if let Some(retries) = check
                .retries
                .as_ref()
                .filter(|retries| retries.value > max_check_retries)
            {
                let list = path.field("completion_checks");
                let item = list.item(index);
                let message = format!(
                    "must be at most `max_check_retries` ({max_check_retries}), not {}",
                    retries.value
                );
                decoder.problem(retries.at, item.field("retries"), message, None);
            }
            completion_checks.push(Check {
                id: check.id,
                required: check.required,
                on_flaky: check.on_flaky.unwrap_or(on_flaky),
                retries: check
                    .retries
                    .map_or(max_check_retries, |retries| retries.value),
                retry_on: check
                    .retry_on
                    .unwrap_or_else(|| vec![RetryOn::Error, RetryOn::Timeout]),
            });
        }
        let mode = self.mode.unwrap_or(Mode::Standard);
        let provable = self.completion_token.is_some() || !completion_checks.is_empty();
        if mode == Mode::Ralph && !provable && !self.flawed {
            let help = "add a check to `completion_checks` or set `completion_token`".to_owned();
            let message = "nothing could ever prove this contract complete: it has neither a check nor a token";
            decoder.problem(at, path, message, Some(help));
        }
        Some(Contract {
            mode,
            profile: self.profile.map(|profile| profile.value),
            effective: true,
            enforcement: self.enforcement.unwrap_or(Enforcement::Enforce),
            completion_token: self.completion_token.map(|token| token.value),
            promise_rules: self.promise_rules.unwrap_or(PromiseRules::Strict),
            completion_checks,
            on_flaky,
            optional_pass_ratio: self.optional_pass_ratio.unwrap_or(Decimal::ZERO),
            allow_override: self.allow_override.unwrap_or(true),
            loop_max_iters: self.loop_max_iters.unwrap_or(50),
            no_progress_limit: self.no_progress_limit.unwrap_or(3),
            plateau_limit: self.plateau_limit.unwrap_or(0),
            blocked_limit: self.blocked_limit.unwrap_or(1),
            per_iter_timeout_ms: self.per_iter_timeout_ms.unwrap_or(900_000),
            max_tokens: self.max_tokens.unwrap_or(0),
            max_tool_calls: self.max_tool_calls.unwrap_or(1000),
            max_duration_ms: self.max_duration_ms.unwrap_or(28_800_000),
            max_consecutive_failures: self.max_consecutive_failures.unwrap_or(3),
            max_check_retries,
            cost_budget_usd: self.cost_budget_usd,
            feedback_max_bytes: self.feedback_max_bytes.unwrap_or(4096),
        })
    }
}

/// Reads fields one after the other and remembers whether one was present but wrong.
struct FieldReader<'r, 's, 'p> {
    decoder: &'r mut Decoder<'s>,
    path: Path<'p>,
    pub(super) flawed: bool,
}

impl FieldReader<'_, '_, '_> {
    fn read<'n, 'a, T>(
        &mut self,
        node: Option<&'n Node<'a>>,
        name: &str,
        decode: impl FnOnce(&mut Decoder<'_>, &'n Node<'a>, Path<'_>) -> Option<T>,
    ) -> Option<T> {
        let node = node?;
        let value = decode(self.decoder, node, self.path.field(name));
        self.flawed |= value.is_none();
        value
    }
}

fn ratio(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Decimal> {
    let ratio = decoder.decimal(node, path)?;
    if ratio > Decimal::ONE {
        decoder.problem(
            node.at,
            path,
            format!("must be from 0 to 1, not {ratio}"),
            None,
        );
        return None;
    }
    Some(ratio)
}

/// The token's text exactly as written, for the linter.
fn raw_token(node: &Node<'_>) -> Option<String> {
    match &node.value {
        Value::String(text) => Some(text.clone().into_owned()),
        Value::Map(entries) => entries
            .iter()
            .find(|entry| entry.key == "text")
            .and_then(|entry| raw_token(&entry.node)),
        _ => None,
    }
}

fn token(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Placed<Token>> {
    let (text, nonce, seed) = match &node.value {
        Value::Map(_) => {
            let fields = decoder.object(node, path, &fields::names(TOKEN_FIELDS))?;
            let text_node = decoder.require(fields, path, "text")?;
            let text = token_text(decoder, text_node, path.field("text"))?;
            let nonce = match fields.get("nonce") {
                Some(flag) => decoder.bool(flag, path.field("nonce"))?,
                None => false,
            };
            let seed = match fields.get("seed") {
                Some(seed) => Some(decoder.name(seed, path.field("seed"), MAX_NAME)?.to_owned()),
                None => None,
            };
            (text, nonce, seed)
        }
        Value::String(_) => (token_text(decoder, node, path)?, false, None),
        _ => {
            decoder.problem(
                node.at,
                path,
                "must be a string, or an object with `text` and `nonce`",
                None,
            );
            return None;
        }
    };
    Some(Placed {
        value: Token { text, nonce, seed },
        at: node.at,
    })
}

fn token_text(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<String> {
    let text = collapse(decoder.name(node, path, MAX_TOKEN)?);
    let refusal = if text.is_empty() {
        "has no text"
    } else if text.contains(['<', '>']) {
        "can't contain `<` or `>`: it stands between promise tags"
    } else if text.chars().any(char::is_control) {
        "can't contain control characters"
    } else if matches!(
        Signal::parse(&text),
        Some(Signal::Continue | Signal::Blocked | Signal::Error)
    ) {
        "is a loop signal that says the opposite of done"
    } else {
        return Some(text);
    };
    decoder.problem(node.at, path, refusal, None);
    None
}

fn checks(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Vec<DraftCheck>> {
    let Value::List(nodes) = &node.value else {
        decoder.list(node, path);
        return None;
    };
    if nodes.len() > MAX_CHECKS {
        let message = format!(
            "has {} checks; at most {MAX_CHECKS} are allowed",
            nodes.len()
        );
        decoder.problem(
            node.at,
            path,
            message,
            Some("combine some of them into one".to_owned()),
        );
        return None;
    }
    let mut checks: Vec<DraftCheck> = Vec::with_capacity(nodes.len());
    let mut complete = true;
    for (index, node) in nodes.iter().enumerate() {
        let path = path.item(index);
        match check(decoder, node, path) {
            Some(check) if checks.iter().any(|other| other.id == check.id) => {
                let help = Some("remove one of the two".to_owned());
                decoder.problem(
                    node.at,
                    path,
                    format!("the check `{}` is listed twice", check.id),
                    help,
                );
                complete = false;
            }
            Some(check) => checks.push(check),
            None => complete = false,
        }
    }
    complete.then_some(checks)
}

fn check(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<DraftCheck> {
    if let Value::String(_) = node.value {
        return Some(DraftCheck {
            id: check_id(decoder, node, path)?,
            required: true,
            on_flaky: None,
            retries: None,
            retry_on: None,
        });
    }
    if !matches!(node.value, Value::Map(_)) {
        decoder.problem(
            node.at,
            path,
            "must be the id of a check, or an object with `id`",
            None,
        );
        return None;
    }
    let fields = decoder.object(node, path, &fields::names(CHECK_FIELDS))?;
    let id = decoder
        .require(fields, path, "id")
        .and_then(|node| check_id(decoder, node, path.field("id")));
    let mut reader = FieldReader {
        decoder,
        path,
        flawed: false,
    };
    let required = reader.read(fields.get("required"), "required", |d, n, p| d.bool(n, p));
    let on_flaky = reader.read(fields.get("on_flaky"), "on_flaky", |d, n, p| d.word(n, p));
    let retries = reader.read(fields.get("retries"), "retries", |d, n, p| {
        let (min, max) = fields::bounds(CHECK_FIELDS, "retries");
        let value = d.integer(n, p, min, max)?;
        Some(Placed { value, at: n.at })
    });
    let retry_on = reader.read(fields.get("retry_on"), "retry_on", retry_on);
    if reader.flawed {
        return None;
    }
    Some(DraftCheck {
        id: id?,
        required: required.unwrap_or(true),
        on_flaky,
        retries,
        retry_on,
    })
}

/// Each outcome once, in the order of the words: the order of the text must not matter.
fn retry_on(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Vec<RetryOn>> {
    let before = decoder.problem_count();
    let mut outcomes: Vec<RetryOn> = decoder.items(Some(node), path, |decoder, node, path| {
        decoder.word(node, path)
    });
    sort(&mut outcomes, Ord::cmp);
    outcomes.dedup();
    (decoder.problem_count() == before).then_some(outcomes)
}

fn check_id(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<String> {
    let id = decoder.name(node, path, MAX_NAME)?;
    if id
        .chars()
        .any(|letter| letter.is_whitespace() || letter.is_control())
    {
        decoder.problem(
            node.at,
            path,
            "can't contain white space or control characters",
            None,
        );
        return None;
    }
    Some(id.to_owned())
}
