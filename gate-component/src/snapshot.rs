//! The snapshot: a loop's whole state as one small text that checks itself.
//!
//! One line of JSON whose last field is the digest of everything before it. The digest finds damage;
//! it is no signature, since the gate has no secret.

use std::borrow::Cow;
use std::fmt::Write;

use serde::Serialize;

use crate::decimal::Decimal;
use crate::error::{ErrorCode, GateError};
use crate::stall::{Compared, MAX_PARTS, MAX_PERIOD, Memory, PartMemory};
use crate::tree::decode::{Decoder, Fields, Path};
use crate::tree::{Node, Source, TextFormat, json};
use crate::verdict::StopReason;

/// The version that this gate writes.
pub const VERSION: u32 = 2;
/// No snapshot is longer; a longer text is not read.
pub const MAX_BYTES: usize = 16 * 1024;
const SEAL: &str = ",\"seal\":\"";
/// How a waived check is marked.
const WAIVED: &str = "waived";

/// What is remembered of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckMemory {
    /// The state that it was last run on; empty when that is not known.
    pub(crate) state: String,
    /// Whether it passed there.
    pub(crate) passed: bool,
    /// Whether it failed there. Both: it is flaky.
    pub(crate) failed: bool,
    /// The digest of its failure as told to the agent; empty when it passed.
    pub(crate) failure: String,
    /// Since which iteration it fails in the same way.
    pub(crate) since: u32,
    /// The fewest tests that failed inside it so far, where it counts them.
    pub(crate) fewest: Option<u32>,
    /// Whether an operator waived it.
    pub(crate) waived: bool,
    /// What it did before the first iteration.
    pub(crate) baseline: Option<SeenOn>,
}

/// What a check was seen to do on a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenOn {
    pub(crate) state: String,
    pub(crate) passed: bool,
    pub(crate) failed: bool,
}

impl CheckMemory {
    /// Forget what it did on which state: a person may have mended what lies outside the work.
    pub(crate) fn forget_states(&mut self) {
        self.state.clear();
        self.passed = false;
        self.failed = false;
        self.baseline = None;
    }
}

/// A loop's state between two iterations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Digest of the pinned contract.
    pub contract: String,
    /// The last iteration evaluated.
    pub iteration: u32,
    /// Set when the loop has stopped.
    pub stopped: Option<StopReason>,
    /// The stop's detail.
    pub detail: Option<String>,
    /// Over the loop.
    pub elapsed_ms: u32,
    /// Over the loop.
    pub tool_calls: u32,
    /// Over the loop.
    pub cost_usd: Decimal,
    /// Over the loop.
    pub tokens: u32,
    /// Iterations in a row that errored or timed out.
    pub consecutive_failures: u32,
    /// Iterations in a row in which the agent said `LOOP_BLOCKED`.
    pub blocked_in_a_row: u32,
    /// Reruns of checks over the loop.
    pub check_retries: u32,
    /// How often an operator resumed it.
    pub resumed: u32,
    /// What tells progress from standing still.
    pub stall: Memory,
    /// One for each check of the contract, in its order.
    pub checks: Vec<CheckMemory>,
    /// The digest of the text this state was read from or written to.
    pub seal: String,
}

impl State {
    /// The state before the first iteration.
    pub fn new(contract: String) -> Self {
        Self {
            contract,
            iteration: 0,
            stopped: None,
            detail: None,
            elapsed_ms: 0,
            tool_calls: 0,
            cost_usd: Decimal::ZERO,
            tokens: 0,
            consecutive_failures: 0,
            blocked_in_a_row: 0,
            check_retries: 0,
            resumed: 0,
            stall: Memory::default(),
            checks: Vec::new(),
            seal: String::new(),
        }
    }

    /// The text of this state; seals the state with its digest.
    pub fn write(&mut self) -> String {
        let mut text = crate::json::to_text(&Record::of(self));
        text.pop();
        self.seal = seal(&text);
        let _ = write!(text, "{SEAL}{}\"}}", self.seal);
        text
    }

    /// Read a snapshot. Damage is an error, never a guess.
    pub fn read(text: &str) -> Result<Self, GateError> {
        let text = text.trim();
        if text.len() > MAX_BYTES {
            return Err(invalid(&format!(
                "it has {} bytes; a snapshot has at most {MAX_BYTES}",
                text.len()
            )));
        }
        let source = Source::new(text, TextFormat::Json);
        let tree = json::read(text).map_err(|_| invalid("it is not a snapshot: not JSON"))?;
        check_version(source, &tree)?;
        check_seal(text)?;
        let mut decoder = Decoder::new(source);
        let state = decode(&mut decoder, &tree);
        match (state, decoder.into_problems()) {
            (Some(state), problems) if problems.is_empty() => Ok(state),
            (_, problems) => Err(GateError {
                code: ErrorCode::InvalidSnapshot,
                ..GateError::from_problems(ErrorCode::InvalidSnapshot, "the snapshot", problems)
            }),
        }
    }
}

/// What a snapshot says, for people and tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnapshotView {
    /// The format's version.
    pub version: u32,
    /// Digest of the pinned contract.
    pub contract: String,
    /// The last iteration evaluated.
    pub iteration: u32,
    /// Why the loop has stopped, if it has.
    pub stopped: Option<StopReason>,
    /// The stop's detail.
    pub detail: Option<String>,
    /// Over the loop.
    pub elapsed_ms: u32,
    /// Over the loop.
    pub tool_calls: u32,
    /// Over the loop.
    pub cost_usd: String,
    /// Over the loop.
    pub tokens: u32,
    /// Iterations in a row that errored or timed out.
    pub consecutive_failures: u32,
    /// How often an operator resumed it.
    pub resumed: u32,
}

/// Read a snapshot for people and tools.
pub fn view(text: &str) -> Result<SnapshotView, GateError> {
    let state = State::read(text)?;
    Ok(SnapshotView {
        version: VERSION,
        contract: state.contract,
        iteration: state.iteration,
        stopped: state.stopped,
        detail: state.detail,
        elapsed_ms: state.elapsed_ms,
        tool_calls: state.tool_calls,
        cost_usd: state.cost_usd.to_string(),
        tokens: state.tokens,
        consecutive_failures: state.consecutive_failures,
        resumed: state.resumed,
    })
}

fn invalid(cause: &str) -> GateError {
    GateError::new(
        ErrorCode::InvalidSnapshot,
        format!(
            "the snapshot can't be used: {cause}; load an older one, this one may be kept for diagnosis"
        ),
    )
}

fn seal(text: &str) -> String {
    crate::digest::of("snapshot", text.as_bytes())
}

fn check_version(source: Source<'_>, tree: &Node<'_>) -> Result<(), GateError> {
    let mut decoder = Decoder::new(source);
    let version = decoder
        .any_object(tree, Path::Root)
        .and_then(|fields| fields.get("ralph_gate_snapshot"))
        .and_then(|node| decoder.integer(node, Path::Root, 1, u32::MAX));
    match version {
        Some(VERSION) => Ok(()),
        Some(other) => {
            let remedy = if other < VERSION {
                "begin the loop anew, or go on with the gate that wrote it"
            } else {
                "use a newer gate"
            };
            Err(GateError::new(
                ErrorCode::UnsupportedSnapshot,
                format!("the snapshot has version {other}, this gate reads {VERSION}; {remedy}"),
            ))
        }
        None => Err(invalid("it is not a snapshot: it has no version")),
    }
}

fn check_seal(text: &str) -> Result<(), GateError> {
    let sealed = text.rfind(SEAL).and_then(|at| {
        Some((
            text.get(..at)?,
            text.get(at + SEAL.len()..)?.strip_suffix("\"}")?,
        ))
    });
    match sealed {
        Some((content, found)) if found == seal(content) => Ok(()),
        _ => Err(invalid("it is damaged: its digest does not match")),
    }
}

/// The JSON form. Short names for what there is many of.
#[derive(Serialize)]
struct Record<'a> {
    ralph_gate_snapshot: u32,
    contract: &'a str,
    iteration: u32,
    stopped: Option<StopReason>,
    detail: &'a Option<String>,
    elapsed_ms: u32,
    tool_calls: u32,
    cost_usd: Decimal,
    tokens: u32,
    consecutive_failures: u32,
    blocked_in_a_row: u32,
    check_retries: u32,
    resumed: u32,
    recent: Vec<String>,
    runs: [u32; MAX_PERIOD],
    firsts: [u32; MAX_PERIOD],
    best_failing: Option<u32>,
    best_at: u32,
    since_best: u32,
    parts: Vec<String>,
    checks: Vec<String>,
}

impl<'a> Record<'a> {
    fn of(state: &'a State) -> Self {
        Self {
            ralph_gate_snapshot: VERSION,
            contract: &state.contract,
            iteration: state.iteration,
            stopped: state.stopped,
            detail: &state.detail,
            elapsed_ms: state.elapsed_ms,
            tool_calls: state.tool_calls,
            cost_usd: state.cost_usd,
            tokens: state.tokens,
            consecutive_failures: state.consecutive_failures,
            blocked_in_a_row: state.blocked_in_a_row,
            check_retries: state.check_retries,
            resumed: state.resumed,
            recent: state.stall.recent.iter().map(write_compared).collect(),
            runs: state.stall.runs,
            firsts: state.stall.firsts,
            best_failing: state.stall.best_failing,
            best_at: state.stall.best_at,
            since_best: state.stall.since_best,
            parts: state.stall.parts.iter().map(write_part).collect(),
            checks: state.checks.iter().map(write_check).collect(),
        }
    }
}

fn write_compared(compared: &Compared) -> String {
    format!("{} {}", compared.digest, compared.index)
}

fn write_part(part: &PartMemory) -> String {
    format!("{} {} {}", part.name, part.digest, part.since)
}

fn write_check(check: &CheckMemory) -> String {
    let or_dash = |text: &str| {
        if text.is_empty() {
            "-".to_owned()
        } else {
            text.to_owned()
        }
    };
    let seen = write_seen(check.passed, check.failed);
    let baseline = check.baseline.as_ref().map_or_else(String::new, |seen| {
        format!(" {} {}", write_seen(seen.passed, seen.failed), seen.state)
    });
    let fewest = check
        .fewest
        .map_or_else(String::new, |fewest| fewest.to_string());
    format!(
        "{seen} {} {} {} {} {}{baseline}",
        or_dash(&check.state),
        or_dash(&check.failure),
        check.since,
        or_dash(&fewest),
        if check.waived { WAIVED } else { "-" },
    )
}

fn write_seen(passed: bool, failed: bool) -> &'static str {
    match (passed, failed) {
        (false, false) => "-",
        (true, false) => "pass",
        (false, true) => "fail",
        (true, true) => "flaky",
    }
}

fn read_seen(word: &str) -> Option<(bool, bool)> {
    match word {
        "-" => Some((false, false)),
        "pass" => Some((true, false)),
        "fail" => Some((false, true)),
        "flaky" => Some((true, true)),
        _ => None,
    }
}

fn read_compared(text: &str) -> Option<Compared> {
    let (digest, index) = text.split_once(' ')?;
    Some(Compared {
        digest: digest.to_owned(),
        index: index.parse().ok()?,
    })
}

fn read_part(text: &str) -> Option<PartMemory> {
    let mut words = text.split(' ');
    let part = PartMemory {
        name: words.next()?.to_owned(),
        digest: words.next()?.to_owned(),
        since: words.next()?.parse().ok()?,
    };
    words.next().is_none().then_some(part)
}

fn read_check(text: &str) -> Option<CheckMemory> {
    let mut words = text.split(' ');
    let (passed, failed) = read_seen(words.next()?)?;
    let mut word = || words.next().map(|word| if word == "-" { "" } else { word });
    let check = CheckMemory {
        state: word()?.to_owned(),
        passed,
        failed,
        failure: word()?.to_owned(),
        since: word()?.parse().ok()?,
        fewest: match word()? {
            "" => None,
            fewest => Some(fewest.parse().ok()?),
        },
        waived: match word()? {
            "" => false,
            WAIVED => true,
            _ => return None,
        },
        baseline: match words.next() {
            None => None,
            Some(seen) => {
                let (passed, failed) = read_seen(seen)?;
                let state = words.next()?.to_owned();
                Some(SeenOn {
                    state,
                    passed,
                    failed,
                })
            }
        },
    };
    words.next().is_none().then_some(check)
}

fn decode(decoder: &mut Decoder<'_>, tree: &Node<'_>) -> Option<State> {
    let fields = decoder.any_object(tree, Path::Root)?;
    let contract = required_text(decoder, fields, "contract")?.into_owned();
    let mut state = State::new(contract);
    let mut number = |name| {
        let node = decoder.require(fields, Path::Root, name)?;
        decoder.integer(node, Path::Root.field(name), 0, u32::MAX)
    };
    state.iteration = number("iteration")?;
    state.elapsed_ms = number("elapsed_ms")?;
    state.tool_calls = number("tool_calls")?;
    state.tokens = number("tokens")?;
    state.consecutive_failures = number("consecutive_failures")?;
    state.blocked_in_a_row = number("blocked_in_a_row")?;
    state.check_retries = number("check_retries")?;
    state.resumed = number("resumed")?;
    state.stall.best_at = number("best_at")?;
    state.stall.since_best = number("since_best")?;
    state.stall.best_failing = match fields.get("best_failing") {
        Some(_) => Some(number("best_failing")?),
        None => None,
    };
    state.stopped = match fields.get("stopped") {
        Some(node) => Some(decoder.word(node, Path::Root.field("stopped"))?),
        None => None,
    };
    state.detail = match fields.get("detail") {
        Some(node) => Some(decoder.string(node, Path::Root.field("detail"))?.to_owned()),
        None => None,
    };
    let cost = decoder.require(fields, Path::Root, "cost_usd")?;
    state.cost_usd = decoder.decimal(cost, Path::Root.field("cost_usd"))?;
    state.seal = required_text(decoder, fields, "seal")?.into_owned();
    state.stall.recent = texts(decoder, fields, "recent", MAX_PERIOD, read_compared)?;
    state.stall.parts = texts(decoder, fields, "parts", MAX_PARTS, read_part)?;
    state.checks = texts(decoder, fields, "checks", usize::MAX, read_check)?;
    state.stall.runs = by_period(decoder, fields, "runs")?;
    state.stall.firsts = by_period(decoder, fields, "firsts")?;
    Some(state)
}

/// A number for each period.
fn by_period(
    decoder: &mut Decoder<'_>,
    fields: Fields<'_, '_>,
    name: &str,
) -> Option<[u32; MAX_PERIOD]> {
    let node = decoder.require(fields, Path::Root, name)?;
    let path = Path::Root.field(name);
    let numbers: Vec<u32> = decoder.items(Some(node), path, |decoder, node, path| {
        decoder.integer(node, path, 0, u32::MAX)
    });
    numbers.try_into().ok()
}

fn required_text<'n>(
    decoder: &mut Decoder<'_>,
    fields: Fields<'n, '_>,
    name: &str,
) -> Option<Cow<'n, str>> {
    let node = decoder.require(fields, Path::Root, name)?;
    decoder
        .string(node, Path::Root.field(name))
        .map(Cow::Borrowed)
}

fn texts<T>(
    decoder: &mut Decoder<'_>,
    fields: Fields<'_, '_>,
    name: &str,
    most: usize,
    read: impl Fn(&str) -> Option<T>,
) -> Option<Vec<T>> {
    let node = decoder.require(fields, Path::Root, name)?;
    let list = decoder.list(node, Path::Root.field(name));
    if list.len() > most {
        return None;
    }
    list.iter()
        .map(|node| decoder.string(node, Path::Root.field(name)).and_then(&read))
        .collect()
}
