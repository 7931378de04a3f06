//! The host of policies, as fuzzing asks it: anything is a policy.

use std::env;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use ralph_gate::evidence::{PolicyComponent, PolicyQuestion, PolicyRunner as _};
use ralph_gate::policy::{Compiler, PolicyError, PolicyHost, PolicyLimits, Wasi};
use ralph_gate::process::Stop;
use ralph_gate_tests::{policies, trials};

/// A host whose compiler is the `ralph-gate` beside this program.
pub(crate) struct Judge(PolicyHost);

impl Judge {
    pub(crate) fn new() -> Result<Self> {
        let compiler = env::current_exe()?.with_file_name("ralph-gate");
        ensure!(compiler.exists(), "{} is not built", compiler.display());
        Ok(Self(PolicyHost::new(Compiler::at(compiler), None)?))
    }

    /// What becomes of a component, which must be the same each time.
    pub(crate) fn ask(&self, component: &[u8]) -> Result<String> {
        let (first, again) = (self.judge(component)?, self.judge(component)?);
        // Only what the clock decides may differ.
        let is_slow = |it: &str| matches!(it, "timed_out" | "compile_timed_out");
        let is_same = first == again || is_slow(&first.0) || is_slow(&again.0);
        ensure!(is_same, "{first:?} and then {again:?}");
        Ok(first.0)
    }

    /// The outcome's name, and all that came of it.
    fn judge(&self, component: &[u8]) -> Result<(String, String)> {
        let judged = self.0.judge(&PolicyQuestion {
            check: "fuzz",
            component: PolicyComponent::Pinned(component),
            wasi: Wasi::DenyAll,
            input: &trials::input(),
            limits: &limits(),
            stop: &Stop::new().context("there is no pipe")?,
        });
        let name = |error: &PolicyError| error.code().to_owned();
        Ok(match judged {
            Ok(run) => {
                let code = run.result.as_ref().err().map(name);
                let all = format!("{:?} {} {} {:?}", run.result, run.fuel, run.memory, run.log);
                (code.unwrap_or_else(|| "judged".to_owned()), all)
            }
            Err(error) => (name(&error), String::new()),
        })
    }
}

/// So little that no input takes long.
fn limits() -> PolicyLimits {
    PolicyLimits {
        compile_time: Duration::from_secs(1),
        compile_memory: 256 << 20,
        fuel: 1_000_000,
        time: Duration::from_millis(300),
        memory: 16 << 20,
        ..trials::limits()
    }
}

/// Policies to begin with, honest and hostile, each with a name.
pub(crate) fn seeds() -> Result<Vec<(String, Vec<u8>)>> {
    let written = policies::corpus()?.into_iter();
    written
        .map(|policy| Ok((policy.name.clone(), policy.component()?)))
        .collect()
}
