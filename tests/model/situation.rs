//! What the model and the gate are both asked: a contract and iterations, in abstract terms.

/// `mode` as the contract writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Absent,
    Standard,
    Ralph,
    Auto,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Enforcement {
    Enforce,
    Shadow,
}

/// `completion_token`. Its text is always `COMPLETE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    None,
    Text,
    Nonce,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromiseRules {
    Strict,
    Lenient,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFlaky {
    Pass,
    Fail,
}

/// One of the contract's `completion_checks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) id: &'static str,
    pub(crate) required: bool,
    /// None: as the contract says for all checks.
    pub(crate) on_flaky: Option<OnFlaky>,
    /// None: `max_check_retries`.
    pub(crate) retries: Option<u32>,
    /// None: after an error or a timeout.
    pub(crate) retry_on: Option<&'static [Outcome]>,
}

impl Check {
    pub(crate) const fn required(id: &'static str) -> Self {
        Self {
            id,
            required: true,
            on_flaky: None,
            retries: None,
            retry_on: None,
        }
    }

    pub(crate) const fn optional(id: &'static str) -> Self {
        Self {
            required: false,
            ..Self::required(id)
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contract {
    pub(crate) mode: Mode,
    pub(crate) enforcement: Enforcement,
    pub(crate) token: Token,
    pub(crate) promise_rules: PromiseRules,
    pub(crate) checks: Vec<Check>,
    pub(crate) on_flaky: OnFlaky,
    pub(crate) ratio_percent: u32,
    pub(crate) allow_override: bool,
    pub(crate) loop_max_iters: u32,
    pub(crate) no_progress_limit: u32,
    pub(crate) plateau_limit: u32,
    pub(crate) blocked_limit: u32,
    pub(crate) max_tokens: u32,
    pub(crate) max_tool_calls: u32,
    pub(crate) max_duration_ms: u32,
    pub(crate) max_consecutive_failures: u32,
    pub(crate) max_check_retries: u32,
    pub(crate) budget_cents: Option<u32>,
}

/// The defaults that the specification gives. A field with its default is left out of what the
/// gate reads, so that the gate's own defaults are compared as well.
impl Default for Contract {
    fn default() -> Self {
        Self {
            mode: Mode::Absent,
            enforcement: Enforcement::Enforce,
            token: Token::None,
            promise_rules: PromiseRules::Strict,
            checks: Vec::new(),
            on_flaky: OnFlaky::Fail,
            ratio_percent: 0,
            allow_override: true,
            loop_max_iters: 50,
            no_progress_limit: 3,
            plateau_limit: 0,
            blocked_limit: 1,
            max_tokens: 0,
            max_tool_calls: 1000,
            max_duration_ms: 28_800_000,
            max_consecutive_failures: 3,
            max_check_retries: 1,
            budget_cents: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Final,
    Continue,
    Error,
    Timeout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Pass,
    Fail,
    Unknown,
    Error,
    Timeout,
    Flaky,
}

/// A cause that a result may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    Tampered,
    PolicyTrapped,
    PolicyOutOfFuel,
    PolicyOutOfMemory,
    PolicyRejected,
    ControlFailed,
    CheckUnavailable,
}

/// Which iteration, or which state of the work, a result says that it was gathered on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    Unsaid,
    This,
    Another,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckResult {
    pub(crate) id: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<&'static str>,
    pub(crate) cause: Option<Cause>,
    pub(crate) attempts: Vec<Outcome>,
    pub(crate) iteration: Claim,
    pub(crate) state: Claim,
    /// How many tests failed.
    pub(crate) failing: Option<u32>,
}

impl CheckResult {
    pub(crate) const fn new(id: &'static str, outcome: Outcome) -> Self {
        Self {
            id,
            outcome,
            reason: None,
            cause: None,
            attempts: Vec::new(),
            iteration: Claim::Unsaid,
            state: Claim::Unsaid,
            failing: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Done,
    Continue,
    Blocked,
    Error,
}

/// The text of a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    /// What the contract's token asks for in this iteration.
    Token,
    /// What it asked for in the iteration before. Another text than `Token` only with a nonce.
    StaleToken,
    /// The token's text without its nonce.
    PlainToken,
    /// The token in lower case.
    LowerToken,
    /// Something else.
    Other,
    Signal(Signal),
}

/// What stands around a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Visible,
    Fence,
    InlineCode,
    Quote,
    Comment,
    /// On the line behind a quote.
    LazyQuote,
    HtmlBlock,
    /// Indented by four spaces.
    Indented,
    /// On a line with other text.
    InLine,
    /// Alone on its line, in color.
    Colored,
}

/// What follows the last promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    Nothing,
    Context,
    Prose,
}

/// What the agent wrote: a word of prose, then promises, each in a paragraph of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    /// Which prose. None: no word at all.
    pub(crate) prose: Option<usize>,
    pub(crate) promises: Vec<(Text, Place)>,
    pub(crate) after: After,
}

/// What the host shows of the work. The numbers say which of some contents it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) artifact: Option<usize>,
    pub(crate) tool_output: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) elapsed_ms: u32,
    pub(crate) tool_calls: u32,
    pub(crate) cents: u32,
    pub(crate) tokens: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Iteration {
    pub(crate) index: u32,
    pub(crate) action: Action,
    pub(crate) canceled: bool,
    pub(crate) output: Output,
    pub(crate) results: Vec<CheckResult>,
    pub(crate) work: Work,
    pub(crate) tampered: bool,
    pub(crate) usage: Usage,
    pub(crate) overridden: bool,
    /// The checks that an operator waives.
    pub(crate) waivers: Vec<&'static str>,
}

impl Default for Iteration {
    fn default() -> Self {
        Self {
            index: 1,
            action: Action::Final,
            canceled: false,
            output: Output {
                prose: Some(0),
                promises: Vec::new(),
                after: After::Nothing,
            },
            results: Vec::new(),
            work: Work {
                artifact: Some(0),
                tool_output: None,
            },
            tampered: false,
            usage: Usage::default(),
            overridden: false,
            waivers: Vec::new(),
        }
    }
}
