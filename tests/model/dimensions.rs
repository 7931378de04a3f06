//! The dimensions of the space: everything that situations differ in, with all values by name.

use crate::situation::{
    Action, After, Cause, Check, CheckResult, Claim, Enforcement, Mode, OnFlaky, Outcome, Output,
    Place, PromiseRules, Signal, Text, Token, Usage, Work,
};
use crate::space::{Before, Dimension, LIMIT, SPENT, Situation};
use Outcome::{Error, Fail, Flaky, Pass, Timeout, Unknown};

/// How the evidence of one check looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    One(Outcome),
    Missing,
    StaleIteration,
    StaleState,
    FreshIteration,
    FreshState,
    Caused(Cause),
    StaleAndTampered,
    Tries(&'static [Outcome]),
    Two(&'static [Form; 2]),
}

/// Every form, by name. The first is the plainest.
const FORMS: &[(&str, Form)] = &[
    ("pass", Form::One(Pass)),
    ("fail", Form::One(Fail)),
    ("missing", Form::Missing),
    ("unknown", Form::One(Unknown)),
    ("error", Form::One(Error)),
    ("timeout", Form::One(Timeout)),
    ("flaky", Form::One(Flaky)),
    ("stale iteration", Form::StaleIteration),
    ("stale state", Form::StaleState),
    ("this iteration", Form::FreshIteration),
    ("this state", Form::FreshState),
    ("tampered", Form::Caused(Cause::Tampered)),
    ("trapped", Form::Caused(Cause::PolicyTrapped)),
    ("out of fuel", Form::Caused(Cause::PolicyOutOfFuel)),
    ("out of memory", Form::Caused(Cause::PolicyOutOfMemory)),
    ("rejected", Form::Caused(Cause::PolicyRejected)),
    ("control failed", Form::Caused(Cause::ControlFailed)),
    ("unavailable", Form::Caused(Cause::CheckUnavailable)),
    ("stale and tampered", Form::StaleAndTampered),
    ("fail pass", Form::Tries(&[Fail, Pass])),
    ("error pass", Form::Tries(&[Error, Pass])),
    ("error timeout pass", Form::Tries(&[Error, Timeout, Pass])),
    ("error fail pass", Form::Tries(&[Error, Fail, Pass])),
    ("pass fail", Form::Tries(&[Pass, Fail])),
    ("fail fail", Form::Tries(&[Fail, Fail])),
    ("fail error", Form::Tries(&[Fail, Error])),
    (
        "fail fail fail pass",
        Form::Tries(&[Fail, Fail, Fail, Pass]),
    ),
    (
        "fail fail pass fail",
        Form::Tries(&[Fail, Fail, Pass, Fail]),
    ),
    (
        "pass and fail",
        Form::Two(&[Form::One(Pass), Form::One(Fail)]),
    ),
    (
        "pass and pass",
        Form::Two(&[Form::One(Pass), Form::One(Pass)]),
    ),
    (
        "pass and flaky",
        Form::Two(&[Form::One(Pass), Form::One(Flaky)]),
    ),
    (
        "flaky and fail",
        Form::Two(&[Form::One(Flaky), Form::One(Fail)]),
    ),
    (
        "fail and error",
        Form::Two(&[Form::One(Fail), Form::One(Error)]),
    ),
    (
        "error and timeout",
        Form::Two(&[Form::One(Error), Form::One(Timeout)]),
    ),
    (
        "unknown and fail",
        Form::Two(&[Form::One(Unknown), Form::One(Fail)]),
    ),
    (
        "pass and stale",
        Form::Two(&[Form::One(Pass), Form::StaleIteration]),
    ),
    (
        "stale and fail",
        Form::Two(&[Form::StaleState, Form::One(Fail)]),
    ),
    (
        "pass and tampered",
        Form::Two(&[Form::One(Pass), Form::Caused(Cause::Tampered)]),
    ),
    (
        "fail and tampered",
        Form::Two(&[Form::One(Fail), Form::Caused(Cause::Tampered)]),
    ),
    (
        "stale and tampered apart",
        Form::Two(&[Form::StaleState, Form::Caused(Cause::Tampered)]),
    ),
    (
        "fail and rejected",
        Form::Two(&[Form::One(Fail), Form::Caused(Cause::PolicyRejected)]),
    ),
];

/// A name, which prose, the promises, and what follows them.
type NamedOutput = (&'static str, Option<usize>, &'static [(Text, Place)], After);

/// Every way to end an output, by name.
const OUTPUTS: &[NamedOutput] = {
    use After::{Context, Nothing, Prose};
    use Place::{
        Colored, Comment, Fence, HtmlBlock, InLine, Indented, InlineCode, LazyQuote, Quote, Visible,
    };
    const DONE: Text = Text::Signal(Signal::Done);
    const CONTINUE: Text = Text::Signal(Signal::Continue);
    const BLOCKED: Text = Text::Signal(Signal::Blocked);
    const ERROR: Text = Text::Signal(Signal::Error);
    &[
        ("token", Some(0), &[(Text::Token, Visible)], Nothing),
        ("none", Some(0), &[], Nothing),
        ("empty", None, &[], Nothing),
        ("in fence", Some(0), &[(Text::Token, Fence)], Nothing),
        ("mismatch", Some(0), &[(Text::Other, Visible)], Nothing),
        (
            "conflict",
            Some(0),
            &[(Text::Other, Visible), (Text::Token, Visible)],
            Nothing,
        ),
        ("done", Some(0), &[(DONE, Visible)], Nothing),
        ("continue", Some(0), &[(CONTINUE, Visible)], Nothing),
        ("blocked", Some(0), &[(BLOCKED, Visible)], Nothing),
        ("error", Some(0), &[(ERROR, Visible)], Nothing),
        ("in code", Some(0), &[(Text::Token, InlineCode)], Nothing),
        ("in quote", Some(0), &[(Text::Token, Quote)], Nothing),
        ("in comment", Some(0), &[(Text::Token, Comment)], Nothing),
        (
            "in lazy quote",
            Some(0),
            &[(Text::Token, LazyQuote)],
            Nothing,
        ),
        ("in html", Some(0), &[(Text::Token, HtmlBlock)], Nothing),
        ("indented", Some(0), &[(Text::Token, Indented)], Nothing),
        ("in a line", Some(0), &[(Text::Token, InLine)], Nothing),
        ("colored", Some(0), &[(Text::Token, Colored)], Nothing),
        ("not last", Some(0), &[(Text::Token, Visible)], Prose),
        ("with context", Some(0), &[(Text::Token, Visible)], Context),
        (
            "twice",
            Some(0),
            &[(Text::Token, Visible), (Text::Token, Visible)],
            Nothing,
        ),
        (
            "lower case",
            Some(0),
            &[(Text::LowerToken, Visible)],
            Nothing,
        ),
        (
            "stale nonce",
            Some(0),
            &[(Text::StaleToken, Visible)],
            Nothing,
        ),
        ("no nonce", Some(0), &[(Text::PlainToken, Visible)], Nothing),
        (
            "token after fence",
            Some(0),
            &[(Text::Other, Fence), (Text::Token, Visible)],
            Nothing,
        ),
        (
            "token before fence",
            Some(0),
            &[(Text::Token, Visible), (Text::Other, Fence)],
            Nothing,
        ),
        ("blocked in fence", Some(0), &[(BLOCKED, Fence)], Nothing),
        ("error in quote", Some(0), &[(ERROR, Quote)], Nothing),
        ("continue not last", Some(0), &[(CONTINUE, Visible)], Prose),
        ("blocked not last", Some(0), &[(BLOCKED, Visible)], Prose),
        (
            "continue and done",
            Some(0),
            &[(CONTINUE, Visible), (DONE, Visible)],
            Nothing,
        ),
        (
            "blocked and token",
            Some(0),
            &[(BLOCKED, Visible), (Text::Token, Visible)],
            Nothing,
        ),
        (
            "token and error",
            Some(0),
            &[(Text::Token, Visible), (ERROR, Visible)],
            Nothing,
        ),
        (
            "error and blocked",
            Some(0),
            &[(ERROR, Visible), (BLOCKED, Visible)],
            Nothing,
        ),
        (
            "done and token",
            Some(0),
            &[(DONE, Visible), (Text::Token, Visible)],
            Nothing,
        ),
        (
            "conflict not last",
            Some(0),
            &[(Text::Other, Visible), (Text::Token, Visible)],
            Prose,
        ),
        (
            "blocked with context",
            Some(0),
            &[(BLOCKED, Visible)],
            Context,
        ),
    ]
};

impl Form {
    fn results(self, id: &'static str) -> Vec<CheckResult> {
        let pass = CheckResult::new(id, Pass);
        match self {
            Self::One(outcome) => vec![CheckResult::new(id, outcome)],
            Self::Missing => Vec::new(),
            Self::StaleIteration => vec![CheckResult {
                iteration: Claim::Another,
                ..pass
            }],
            Self::StaleState => vec![CheckResult {
                state: Claim::Another,
                ..pass
            }],
            Self::FreshIteration => vec![CheckResult {
                iteration: Claim::This,
                ..pass
            }],
            Self::FreshState => vec![CheckResult {
                state: Claim::This,
                ..pass
            }],
            Self::Caused(cause) => vec![CheckResult {
                cause: Some(cause),
                ..pass
            }],
            Self::StaleAndTampered => vec![CheckResult {
                cause: Some(Cause::Tampered),
                iteration: Claim::Another,
                ..pass
            }],
            Self::Tries(tries) => vec![CheckResult {
                outcome: tries.last().copied().unwrap_or(Unknown),
                attempts: tries.to_vec(),
                ..pass
            }],
            Self::Two([left, right]) => {
                let mut results = left.results(id);
                results.extend(right.results(id));
                // Different reasons show which of the two results is told.
                for (result, reason) in results.iter_mut().zip(["red", "blue"]) {
                    result.reason = Some(reason);
                }
                results
            }
        }
    }
}

pub(crate) fn mode() -> Dimension {
    Dimension::new("mode")
        .with("ralph", |s| s.contract.mode = Mode::Ralph)
        .with("standard", |s| s.contract.mode = Mode::Standard)
        .with("absent", |s| s.contract.mode = Mode::Absent)
        .with("auto", |s| s.contract.mode = Mode::Auto)
}

pub(crate) fn enforcement() -> Dimension {
    Dimension::new("enforcement")
        .with("enforce", |s| s.contract.enforcement = Enforcement::Enforce)
        .with("shadow", |s| s.contract.enforcement = Enforcement::Shadow)
}

pub(crate) fn token() -> Dimension {
    Dimension::new("token")
        .with("none", |s| s.contract.token = Token::None)
        .with("text", |s| s.contract.token = Token::Text)
        .with("nonce", |s| s.contract.token = Token::Nonce)
}

pub(crate) fn promise_rules() -> Dimension {
    Dimension::new("promise_rules")
        .with("strict", |s| {
            s.contract.promise_rules = PromiseRules::Strict;
        })
        .with("lenient", |s| {
            s.contract.promise_rules = PromiseRules::Lenient;
        })
}

pub(crate) fn checks() -> Dimension {
    const TESTS: Check = Check::required("tests");
    const LINT: Check = Check::required("lint");
    const STYLE: Check = Check::optional("style");
    const DOCS: Check = Check::optional("docs");
    Dimension::new("checks")
        .with("one", |s| s.contract.checks = vec![TESTS])
        .with("two", |s| s.contract.checks = vec![TESTS, LINT])
        .with("with optional", |s| {
            s.contract.checks = vec![TESTS, STYLE, DOCS];
        })
        .with("optional", |s| s.contract.checks = vec![STYLE, DOCS])
        .with("no rerun", |s| {
            s.contract.checks = vec![Check {
                retries: Some(0),
                ..TESTS
            }];
        })
        .with("reruns failures", |s| {
            s.contract.max_check_retries = 2;
            s.contract.checks = vec![Check {
                retry_on: Some(&[Fail, Error]),
                ..TESTS
            }];
        })
        .with("own rule for flaky", |s| {
            s.contract.checks = vec![
                Check {
                    on_flaky: Some(OnFlaky::Fail),
                    ..TESTS
                },
                Check {
                    on_flaky: Some(OnFlaky::Pass),
                    ..LINT
                },
            ];
        })
}

pub(crate) fn ratio() -> Dimension {
    Dimension::new("ratio")
        .with("0", |s| s.contract.ratio_percent = 0)
        .with("0.5", |s| s.contract.ratio_percent = 50)
        .with("0.51", |s| s.contract.ratio_percent = 51)
        .with("1", |s| s.contract.ratio_percent = 100)
}

pub(crate) fn on_flaky() -> Dimension {
    Dimension::new("on_flaky")
        .with("fail", |s| s.contract.on_flaky = OnFlaky::Fail)
        .with("pass", |s| s.contract.on_flaky = OnFlaky::Pass)
}

pub(crate) fn before() -> Dimension {
    [
        ("nothing", Before::Nothing),
        ("spending", Before::Spending),
        ("equal", Before::Equal),
        ("almost equal", Before::AlmostEqual),
        ("oscillation", Before::Oscillation),
        ("oscillation of three", Before::OscillationOfThree),
        ("broken oscillation", Before::BrokenOscillation),
        ("plateau", Before::Plateau),
        ("almost plateau", Before::AlmostPlateau),
        ("all failed", Before::AllFailed),
        ("failure", Before::Failure),
        ("broken failures", Before::BrokenFailures),
        ("equal, plateau", Before::EqualPlateau),
        ("equal around failures", Before::EqualAroundFailures),
        ("oscillation of eight", Before::OscillationOfEight),
        ("blocked", Before::Blocked),
        ("almost blocked", Before::AlmostBlocked),
        ("broken blocked", Before::BrokenBlocked),
        ("is baseline", Before::IsBaseline),
        ("failed baseline", Before::FailedBaseline),
        ("passed baseline", Before::PassedBaseline),
        ("failed baseline, other work since", Before::LeftBaseline),
        ("waived", Before::Waived),
        ("passed here", Before::PassedHere),
        ("failed here", Before::FailedHere),
        ("erred here", Before::ErredHere),
        ("flaky here", Before::FlakyHere),
        ("failed here before", Before::FailedHereOnce),
        ("stopped", Before::Stopped),
    ]
    .into_iter()
    .fold(Dimension::new("before"), |dimension, (name, before)| {
        dimension.with(name, move |s| s.before = before)
    })
}

pub(crate) fn index() -> Dimension {
    Dimension::new("index")
        .with("below the limit", |s| s.last_permitted = false)
        .with("at the limit", |s| s.last_permitted = true)
}

fn evidence(name: &'static str, ids: &'static [&'static str]) -> Dimension {
    FORMS
        .iter()
        .fold(Dimension::new(name), |dimension, (label, form)| {
            dimension.with(label, move |s| {
                for id in ids {
                    s.turn.results.extend(form.results(id));
                }
            })
        })
}

pub(crate) fn tests() -> Dimension {
    evidence("tests", &["tests"])
}

/// Evidence of the second required check; unused where the contract doesn't name it.
pub(crate) fn lint() -> Dimension {
    evidence("lint", &["lint"])
}

pub(crate) fn style() -> Dimension {
    evidence("style", &["style"])
}

pub(crate) fn docs() -> Dimension {
    evidence("docs", &["docs"])
}

pub(crate) fn unused() -> Dimension {
    Dimension::new("unused")
        .with("no", |s| s.unused = false)
        .with("yes", |s| s.unused = true)
}

pub(crate) fn tampered() -> Dimension {
    Dimension::new("tampered")
        .with("no", |s| s.turn.tampered = false)
        .with("yes", |s| s.turn.tampered = true)
}

pub(crate) fn work() -> Dimension {
    let set = |artifact, tool_output| {
        move |s: &mut Situation| {
            s.turn.work = Work {
                artifact,
                tool_output,
            };
        }
    };
    Dimension::new("work")
        .with("artifact", set(Some(0), None))
        .with("tool output", set(None, Some(0)))
        .with("both", set(Some(0), Some(0)))
        .with("none", set(None, None))
}

pub(crate) fn action() -> Dimension {
    Dimension::new("action")
        .with("final", |s| s.turn.action = Action::Final)
        .with("continue", |s| s.turn.action = Action::Continue)
        .with("error", |s| s.turn.action = Action::Error)
        .with("timeout", |s| s.turn.action = Action::Timeout)
}

pub(crate) fn output() -> Dimension {
    OUTPUTS.iter().fold(
        Dimension::new("output"),
        |dimension, (name, prose, promises, after)| {
            dimension.with(name, |s| {
                s.turn.output = Output {
                    prose: *prose,
                    promises: promises.to_vec(),
                    after: *after,
                };
            })
        },
    )
}

fn used(name: &'static str, field: fn(&mut Usage) -> &mut u32) -> Dimension {
    Dimension::new(name)
        .with("under", move |s| *field(&mut s.turn.usage) = SPENT + 1)
        .with("equal", move |s| *field(&mut s.turn.usage) = LIMIT)
        .with("over", move |s| *field(&mut s.turn.usage) = LIMIT + 1)
}

pub(crate) fn cost() -> Dimension {
    used("cost", |usage| &mut usage.cents)
}

pub(crate) fn tool_calls() -> Dimension {
    used("tool calls", |usage| &mut usage.tool_calls)
}

pub(crate) fn duration() -> Dimension {
    used("duration", |usage| &mut usage.elapsed_ms)
}

pub(crate) fn tokens() -> Dimension {
    used("tokens", |usage| &mut usage.tokens)
}

/// The check that the judged iteration brings a waiver for.
pub(crate) fn waiver() -> Dimension {
    Dimension::new("waiver")
        .with("none", |s| s.turn.waivers = Vec::new())
        .with("tests", |s| s.turn.waivers = vec!["tests"])
}

pub(crate) fn canceled() -> Dimension {
    Dimension::new("canceled")
        .with("no", |s| s.turn.canceled = false)
        .with("yes", |s| s.turn.canceled = true)
}

pub(crate) fn operator() -> Dimension {
    Dimension::new("override")
        .with("none", |s| s.turn.overridden = false)
        .with("allowed", |s| s.turn.overridden = true)
        .with("not allowed", |s| {
            s.turn.overridden = true;
            s.contract.allow_override = false;
        })
}
