//! A loop as lines for a person.

use ralph_gate::engine::{Decision, Mode, Outcome, RouteReason, StopReason, Verdict};
use ralph_gate::evidence::{CheckEvent, Evidence};
use ralph_gate::memory::paragraph;
use ralph_gate::runner::ending::ending;
use ralph_gate::runner::{AgentRecord, LoopEvent, Phase};

use super::super::terminal::{Painter, Severity, clean};
use super::super::words::word;
use super::text::{how, mode_and_reason, not_inherited, seconds};

/// Describes events, one or a few lines each.
pub(super) struct Lines {
    painter: Painter,
}

impl Lines {
    pub(super) fn new(painter: Painter) -> Self {
        Self { painter }
    }

    pub(super) fn describe(&self, event: &LoopEvent<'_>) -> String {
        match event {
            LoopEvent::Opened {
                key,
                memory,
                mode,
                iteration,
                withheld,
                others,
                ..
            } => self.opened(
                key.text(),
                &memory.display().to_string(),
                *mode,
                *iteration,
                &not_inherited(withheld, *others),
            ),
            LoopEvent::Found([])
            | LoopEvent::Activity(_)
            | LoopEvent::Check(CheckEvent::Started(_)) => String::new(),
            LoopEvent::Found(findings) => format!("  {}\n", clean(&paragraph(findings))),
            LoopEvent::Warning(message) => {
                format!(
                    "{} {}\n",
                    self.painter.severity(Severity::Warning),
                    clean(message)
                )
            }
            LoopEvent::Entered { iteration, phase } => self.entered(*iteration, *phase),
            LoopEvent::AgentEnded(record) => Self::agent(record),
            LoopEvent::Check(CheckEvent::Ended(evidence)) => self.check(evidence),
            LoopEvent::Tripped(tripped) => format!(
                "  {} {}: {}\n",
                self.painter.bad("tripwire"),
                clean(&tripped.tripwire),
                clean(&tripped.reason)
            ),
            LoopEvent::Decided { verdict, .. } => self.decided(verdict),
            LoopEvent::Ended {
                iteration,
                verdict,
                memory,
            } => self.ended(*iteration, verdict, &memory.display().to_string()),
        }
    }

    fn opened(
        &self,
        key: &str,
        memory: &str,
        mode: (Mode, RouteReason),
        iteration: u32,
        withheld: &str,
    ) -> String {
        let verb = if iteration == 0 { "begins" } else { "goes on" };
        let mut text = format!(
            "{} {verb} in {}  {}\n",
            self.painter.bold(&format!("loop {}", clean(key))),
            mode_and_reason(mode),
            self.painter.dim(&clean(memory))
        );
        if !withheld.is_empty() {
            text.push_str(&format!("  {withheld}\n"));
        }
        text
    }

    fn entered(&self, iteration: u32, phase: Phase) -> String {
        match phase {
            Phase::Baseline => "  running the checks once before the agent begins\n".to_owned(),
            Phase::Probe => "  running the checks first: somebody may have mended it\n".to_owned(),
            Phase::Agent => format!("{}\n", self.painter.bold(&format!("iteration {iteration}"))),
            Phase::Checks => String::new(),
        }
    }

    fn agent(record: &AgentRecord) -> String {
        let mut text = format!("  agent {}, {}", how(record), seconds(record.duration_ms));
        if record.tool_calls > 0 {
            text.push_str(&format!(", {} tool calls", record.tool_calls));
        }
        if let Some(cost) = &record.cost_usd {
            text.push_str(&format!(", {} USD", clean(cost)));
        }
        text.push('\n');
        for line in record.problem.iter().flat_map(|problem| problem.lines()) {
            text.push_str(&format!("    {}\n", clean(line)));
        }
        text
    }

    fn check(&self, evidence: &Evidence) -> String {
        let (mark, reason) = match evidence.outcome {
            Outcome::Pass => (self.painter.good("pass"), evidence.reason.as_str()),
            _ => (
                self.painter.bad(&word(&evidence.outcome)),
                evidence.reason.lines().next().unwrap_or_default(),
            ),
        };
        format!(
            "  {mark} {}: {} ({})\n",
            clean(&evidence.check),
            clean(reason),
            seconds(evidence.duration_ms)
        )
    }

    fn decided(&self, verdict: &Verdict) -> String {
        if verdict.decision != Decision::Continue {
            return String::new();
        }
        let mut text = format!("  {}\n", self.painter.bold("refused: the agent goes on"));
        for failure in &verdict.failures {
            let check = failure.subject();
            let reason = failure.reason.lines().next().unwrap_or_default();
            text.push_str(&format!(
                "    {}: {} ({})\n",
                clean(check),
                word(&failure.code),
                clean(reason)
            ));
        }
        text
    }

    fn ended(&self, iteration: u32, verdict: &Verdict, memory: &str) -> String {
        let text = ending(verdict, iteration);
        match verdict.stop_reason {
            Some(StopReason::Completed) => format!("{}\n", self.painter.good(&text)),
            Some(_) => format!(
                "{}\n  what to do now: {}\n",
                self.painter.bad(&text),
                clean(&format!("{memory}/handoff.md"))
            ),
            None => format!("{text}\n"),
        }
    }
}
