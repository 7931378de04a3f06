//! Which products of dimensions are explored.

use crate::dimensions::{
    action, before, canceled, checks, cost, docs, duration, enforcement, index, lint, mode,
    on_flaky, operator, output, promise_rules, ratio, style, tampered, tests, token, tokens,
    tool_calls, unused, waiver, work,
};
use crate::space::Space;

/// The pasts that lead up to a guardrail.
const GUARDRAILS: [&str; 8] = [
    "nothing",
    "equal",
    "oscillation",
    "plateau",
    "failure",
    "equal, plateau",
    "equal around failures",
    "blocked",
];

/// Small enough for every test run.
pub(crate) fn reduced() -> Vec<Space> {
    vec![
        Space::new(
            "order",
            vec![
                token().only(&["text"]),
                before().only(&GUARDRAILS),
                index(),
                tests().only(&["pass", "fail"]),
                action().only(&["final", "continue", "error"]),
                output().only(&["token", "none", "blocked", "error"]),
                cost().only(&["under", "over"]),
                canceled(),
                operator(),
            ],
        ),
        Space::new(
            "budgets",
            vec![
                before().only(&["nothing", "spending"]),
                tests().only(&["fail", "pass"]),
                cost(),
                tokens(),
                tool_calls(),
                duration(),
            ],
        ),
        Space::new(
            "evidence",
            vec![
                on_flaky(),
                checks().only(&["one", "no rerun", "reruns failures"]),
                before(),
                tests(),
            ],
        ),
        Space::new(
            "ratio",
            vec![
                checks().only(&["with optional", "optional"]),
                ratio(),
                tests().only(&["pass"]),
                style(),
                docs().only(&["pass", "fail", "tampered"]),
                tampered(),
            ],
        ),
        Space::new(
            "unused",
            vec![
                before(),
                tests().only(&["pass", "fail"]),
                action(),
                unused(),
            ],
        ),
        Space::new(
            "promises",
            vec![
                token(),
                promise_rules(),
                work().only(&["artifact", "none"]),
                before().only(&["nothing", "equal"]),
                tests().only(&["pass"]),
                action(),
                output(),
            ],
        ),
        Space::new(
            "modes",
            vec![
                mode(),
                enforcement(),
                token().only(&["none", "text"]),
                checks().only(&["one", "with optional", "optional"]),
                before().only(&["nothing", "equal", "stopped"]),
                tests().only(&["pass", "fail"]),
                action().only(&["final", "error"]),
                output().only(&["token", "none", "continue", "blocked"]),
                operator().only(&["none", "allowed"]),
            ],
        ),
        waivers(),
        baseline(),
    ]
}

/// What an operator waives.
fn waivers() -> Space {
    Space::new(
        "waivers",
        vec![
            before().only(&["nothing", "waived"]),
            tests(),
            action().only(&["final", "continue"]),
            operator(),
            waiver(),
        ],
    )
}

/// Evidence of the run before the first iteration, and what follows from it.
fn baseline() -> Space {
    Space::new(
        "baseline",
        vec![
            enforcement(),
            token().only(&["none", "text"]),
            before().only(&[
                "is baseline",
                "failed baseline",
                "passed baseline",
                "failed baseline, other work since",
            ]),
            index(),
            tests().only(&["pass", "fail", "error", "missing", "flaky", "error pass"]),
            action(),
            output().only(&["token", "none", "error"]),
            cost().only(&["under", "over"]),
            canceled(),
            operator().only(&["none", "allowed"]),
        ],
    )
}

/// Every value of every dimension, in products that leave out what can't touch each other.
pub(crate) fn full() -> Vec<Space> {
    let mut spaces = full_deciding();
    spaces.extend(full_evidence());
    spaces.extend([waivers(), baseline()]);
    spaces
}

fn full_deciding() -> Vec<Space> {
    vec![
        Space::new(
            "order",
            vec![
                token().only(&["none", "text"]),
                before().only(&GUARDRAILS),
                index(),
                tests().only(&["pass", "fail", "missing"]),
                action(),
                output().only(&["token", "none", "continue", "blocked", "error"]),
                cost(),
                tool_calls(),
                duration(),
                canceled(),
                operator(),
            ],
        ),
        Space::new(
            "budgets",
            vec![
                before().only(&["nothing", "spending", "stopped"]),
                index(),
                tests().only(&["pass", "fail"]),
                action(),
                output().only(&["token", "blocked"]),
                cost(),
                tokens(),
                tool_calls(),
                duration(),
                operator(),
            ],
        ),
        Space::new(
            "promises",
            vec![
                mode().only(&["ralph", "auto"]),
                enforcement(),
                token(),
                promise_rules(),
                work().only(&["artifact", "none"]),
                before().only(&["nothing", "equal", "failure", "plateau", "stopped"]),
                index(),
                tests().only(&["pass", "fail"]),
                tampered(),
                action(),
                output(),
                canceled(),
                operator().only(&["none", "allowed"]),
            ],
        ),
        Space::new(
            "modes",
            vec![
                mode(),
                enforcement(),
                token(),
                checks().only(&["one", "with optional", "optional"]),
                ratio().only(&["0", "1"]),
                before().only(&[
                    "nothing",
                    "equal",
                    "oscillation",
                    "plateau",
                    "failure",
                    "stopped",
                ]),
                index(),
                tests().only(&["pass", "fail", "missing", "flaky"]),
                style().only(&["pass", "fail"]),
                action(),
                output().only(&["token", "none", "continue", "blocked"]),
                cost().only(&["equal", "over"]),
                canceled(),
                operator().only(&["none", "allowed"]),
            ],
        ),
    ]
}

fn full_evidence() -> Vec<Space> {
    vec![
        Space::new(
            "evidence",
            vec![
                on_flaky(),
                checks(),
                ratio().only(&["0", "0.5", "1"]),
                before(),
                tests(),
                style().only(&["pass", "fail", "flaky", "missing", "tampered"]),
                work(),
                tampered(),
                unused(),
                action().only(&["final", "continue"]),
            ],
        ),
        Space::new(
            "two checks",
            vec![
                on_flaky(),
                checks().only(&["two", "own rule for flaky", "with optional"]),
                before().only(&[
                    "nothing",
                    "equal",
                    "plateau",
                    "all failed",
                    "failed here",
                    "flaky here",
                ]),
                tests(),
                lint(),
                action().only(&["final", "error"]),
            ],
        ),
        Space::new(
            "ratio",
            vec![
                checks().only(&["with optional", "optional"]),
                ratio(),
                on_flaky(),
                before().only(&["nothing", "failed here"]),
                tests().only(&["pass", "fail"]),
                style(),
                docs(),
                tampered(),
            ],
        ),
    ]
}

/// What evidence says of states that were seen before.
fn telling_evidence() -> Space {
    Space::new(
        "evidence",
        vec![
            on_flaky(),
            checks().only(&["one", "reruns failures"]),
            before().only(&[
                "nothing",
                "failed here",
                "flaky here",
                "erred here",
                "failed baseline",
                "failed baseline, other work since",
            ]),
            tests(),
        ],
    )
}

/// Just enough to tell a wrong model from a right one.
pub(crate) fn telling() -> Vec<Space> {
    vec![
        Space::new(
            "order",
            vec![
                token().only(&["text"]),
                before().only(&[
                    "nothing",
                    "equal",
                    "plateau",
                    "equal, plateau",
                    "equal around failures",
                    "almost blocked",
                ]),
                index(),
                tests().only(&["pass", "fail"]),
                action().only(&["final", "error"]),
                output().only(&["token", "none", "blocked", "error"]),
                cost().only(&["under", "over"]),
                canceled(),
                operator(),
            ],
        ),
        Space::new(
            "guardrails",
            vec![
                before(),
                tests().only(&["pass", "fail"]),
                action(),
                unused(),
            ],
        ),
        Space::new(
            "budgets",
            vec![
                tests().only(&["fail"]),
                cost(),
                tokens(),
                tool_calls(),
                duration(),
            ],
        ),
        telling_evidence(),
        waivers(),
        Space::new(
            "blocked",
            vec![
                before().only(&["nothing", "blocked", "almost blocked", "broken blocked"]),
                tests().only(&["pass", "fail"]),
                action().only(&["final", "continue"]),
                output().only(&["none", "blocked"]),
            ],
        ),
        baseline(),
        Space::new(
            "ratio",
            vec![
                checks().only(&["with optional"]),
                ratio().only(&["0", "1"]),
                tests().only(&["pass"]),
                style(),
                docs().only(&["pass"]),
                tampered(),
            ],
        ),
        Space::new(
            "promises",
            vec![
                token(),
                tests().only(&["pass"]),
                action().only(&["final", "continue"]),
                output(),
            ],
        ),
        Space::new(
            "modes",
            vec![
                mode(),
                enforcement(),
                token().only(&["text"]),
                checks().only(&["one", "optional"]),
                before().only(&["nothing", "stopped"]),
                tests().only(&["pass", "fail"]),
                action().only(&["final", "continue"]),
            ],
        ),
    ]
}
