//! The three ways to ask the gate: natively, through a session of the component, by a question that stands alone.

use ralph_gate::engine as host;
use ralph_gate_component::iteration::{Action, CheckResult, Iteration, Outcome};
use ralph_gate_component::session::Session;

pub(crate) const CONTRACT: &str = "mode: ralph\ncompletion_token: COMPLETE\ncompletion_checks: [tests_green]\n\
                                   loop_max_iters: 10000\nno_progress_limit: 0\n";

/// Prose, lists, code and tool output in the mix that agents write, with a promise at the end.
pub(crate) fn agent_output(size: usize) -> String {
    const BLOCK: &str = "I looked at `src/lib.rs` and found that the parser drops the last field.\n\n\
        - changed `parse_line` to keep it, see line 42\n- added a test for *empty* fields\n\n\
        ```rust\nfn parse_line(line: &str) -> Vec<&str> {\n    line.split(',').collect()\n}\n```\n\n\
        Running the tests took 1.25s at 2026-11-16T05:36:01Z: 12 passed, 2 failed.\n\n";
    const END: &str = "All done.\n<promise>COMPLETE</promise>\n";
    let mut output: String = BLOCK.chars().cycle().take(size - END.len() - 1).collect();
    output.push('\n');
    output.push_str(END);
    output
}

/// A loop is at most 10,000 iterations long; then a new one begins.
fn next(index: &mut u32) -> bool {
    *index = *index % 9_999 + 1;
    *index == 1
}

pub(crate) struct Native {
    session: Session,
    index: u32,
}

impl Native {
    pub(crate) fn new() -> Self {
        Self {
            session: Session::open(CONTRACT, None).expect("the contract is good"),
            index: 0,
        }
    }

    pub(crate) fn evaluate(&mut self, output: &str) {
        if next(&mut self.index) {
            self.session = Session::open(CONTRACT, None).expect("the contract is good");
        }
        let mut iteration = Iteration::new(self.index, Action::Final);
        iteration.output = output.into();
        iteration.checks = vec![CheckResult::new("tests_green", Outcome::Fail)];
        let verdict = self
            .session
            .evaluate_final(&iteration)
            .expect("it is in order");
        assert!(verdict.intercepted);
    }
}

pub(crate) struct Reused<'e> {
    engine: &'e host::GateEngine,
    session: host::Session,
    iteration: host::Iteration,
}

impl<'e> Reused<'e> {
    /// An iteration with this output and these artifacts, again and again.
    pub(crate) fn new(
        engine: &'e host::GateEngine,
        output: &str,
        artifacts: Vec<host::Artifact>,
    ) -> Self {
        let session = engine.open(CONTRACT, None).expect("the contract is good");
        let iteration = host::Iteration {
            artifacts,
            ..iteration(output)
        };
        Self {
            engine,
            session,
            iteration,
        }
    }

    pub(crate) fn evaluate(&mut self) {
        if next(&mut self.iteration.index) {
            self.session = self
                .engine
                .open(CONTRACT, None)
                .expect("the contract is good");
        }
        let verdict = self
            .session
            .evaluate_final(&self.iteration)
            .expect("it is in order");
        assert!(verdict.intercepted);
    }
}

pub(crate) struct Alone<'e> {
    engine: &'e host::GateEngine,
    iteration: host::Iteration,
}

impl<'e> Alone<'e> {
    pub(crate) fn new(engine: &'e host::GateEngine, output: &str) -> Self {
        let iteration = host::Iteration {
            index: 1,
            ..iteration(output)
        };
        Self { engine, iteration }
    }

    pub(crate) fn evaluate(&mut self) {
        let verdict = self
            .engine
            .evaluate_final(CONTRACT, None, &self.iteration)
            .expect("it is in order");
        assert!(verdict.intercepted);
    }
}

/// The iteration before the first: its index is counted up before each call.
fn iteration(output: &str) -> host::Iteration {
    host::Iteration {
        action: host::Action::Final,
        output: output.to_owned(),
        checks: vec![host::CheckResult::new("tests_green", host::Outcome::Fail)],
        ..host::Iteration::default()
    }
}
