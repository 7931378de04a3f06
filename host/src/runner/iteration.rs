//! One iteration: the agent's turn, the evidence, the verdict, and all of it remembered.

use std::time::{Duration, Instant, SystemTime};

use super::events::{Tripped, names};
use super::prompt::{self, Material};
use super::tripwire::Seen;
use super::turn::Said;
use super::watch::{LoopEvent, Phase};
use super::work::Work;
use super::{Ended, Loop, RunError};
use crate::config::{Check, Config, Terms};
use crate::engine::{Action, Decision, Iteration, Prd, StopReason, Tampering, Usage, Verdict};
use crate::evidence::{
    Evidence, Known, Rules, Scene, Stories, Wanted, gather, look_at_stories, now_ms, settle,
};
use crate::memory::course::{Evaluated, Run};
use crate::memory::{Event, FindingCode};
use crate::process;

/// How much of the progress log the agent gets to see: its end.
const LEARNED: u64 = 8 * 1024;

/// What was gathered after a turn.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) evidence: Vec<Evidence>,
    pub(super) stories: Option<Stories>,
    pub(super) tripped: Vec<Tripped>,
    pub(super) work: Work,
}

impl Loop<'_> {
    /// Goes through iterations until the gate says stop.
    pub fn run(mut self) -> Result<Ended, RunError> {
        loop {
            let (index, verdict) = self.iterate()?;
            if verdict.decision != Decision::Continue {
                return Ok(self.end(index, verdict));
            }
        }
    }

    pub(super) fn end(self, iteration: u32, verdict: Verdict) -> Ended {
        let memory = self.store.path().to_owned();
        let is_completed = verdict.stop_reason == Some(StopReason::Completed);
        if is_completed && let Some(warning) = self.unprotected_tests() {
            self.watch.see(&LoopEvent::Warning(&warning));
        }
        self.watch.see(&LoopEvent::Ended {
            iteration,
            verdict: &verdict,
            memory: &memory,
        });
        Ended {
            verdict,
            iteration,
            memory,
            exit: self.exit,
        }
    }

    fn iterate(&mut self) -> Result<(u32, Verdict), RunError> {
        let begun = Instant::now();
        let brief = self.session.brief()?;
        let index = brief.iteration;
        let prd = self.store.prd().ok().flatten();
        self.warn_of(prd.as_ref());
        let learned = self.store.recent_progress(LEARNED)?;
        let prompt = prompt::write(&Material {
            task: &self.agent.prompt,
            brief: &brief,
            memory: self.store.path(),
            prd: prd.as_ref(),
            proofs: &proving_checks(self.config, &self.terms),
            learned: &learned,
            feedback: self.feedback.as_deref(),
        });
        let taken = if self.control.is_stopped() {
            None
        } else {
            Some(self.take_turn(index, &prompt))
        };
        self.exit = taken.as_ref().map(|taken| taken.record.exit_code());
        let strays = process::sweep(&[]);
        let mut leftovers = taken
            .as_ref()
            .map_or_else(Vec::new, |taken| taken.record.leftovers.clone());
        leftovers.extend(strays.iter().map(crate::evidence::name_leftover));
        let gathered = self.gather(index, &leftovers)?;
        let elapsed = begun.elapsed();
        let input = match &taken {
            Some(taken) => self.input(index, elapsed, Some(&taken.said), &gathered),
            None => self.input(index, elapsed, None, &gathered),
        };
        let verdict = self.session.evaluate_final(&input)?;
        let record = taken.and_then(|taken| Event::new(names::AGENT, &taken.record).ok());
        self.remember(&input, &verdict, record, gathered)?;
        self.watch.see(&LoopEvent::Decided {
            iteration: index,
            verdict: &verdict,
        });
        Ok((index, verdict))
    }

    /// Tells what is odd in the checklist, once.
    fn warn_of(&mut self, prd: Option<&Prd>) {
        let warnings = prd.map_or_else(Vec::new, |prd| prd.warnings.clone());
        if warnings == self.odd_in_prd {
            return;
        }
        for odd in &warnings {
            let warning = format!("prd.json, line {}: {}", odd.line, odd.message);
            self.watch.see(&LoopEvent::Warning(&warning));
        }
        self.odd_in_prd = warnings;
    }

    /// Looks at the work, runs the checks, and looks at what else was done.
    pub(super) fn gather(
        &mut self,
        index: u32,
        leftovers: &[String],
    ) -> Result<Gathered, RunError> {
        // Whoever cancels does not want to wait, and the verdict does not depend on it.
        if self.control.is_stopped() {
            return Ok(Gathered::default());
        }
        let (work, unseen) = match self.look_at_work() {
            Ok(work) => (work, None),
            Err(error) => (Work::default(), Some(error.to_string())),
        };
        let found = self.store.look()?;
        let touched = self.touched();
        self.watch.see(&LoopEvent::Entered {
            iteration: index,
            phase: Phase::Checks,
        });
        let mut evidence = self.run_checks(index, work.tree.as_deref(), Wanted::All);
        let stories = self.settle_stories(index, work.tree.as_deref(), &mut evidence);
        let seen = Seen {
            evidence: &evidence,
            stories: stories.as_ref(),
            touched,
            found: &found,
            leftovers,
            unseen: unseen.as_deref(),
        };
        let mut tripped = self.tripwires(index, &seen);
        for tripped in &mut tripped {
            self.redactor.apply(&mut tripped.reason);
            self.watch.see(&LoopEvent::Tripped(tripped));
        }
        Ok(Gathered {
            evidence,
            stories,
            tripped,
            work,
        })
    }

    pub(super) fn run_checks(
        &self,
        iteration: u32,
        tree: Option<&str>,
        wanted: Wanted,
    ) -> Vec<Evidence> {
        let watch = self.watch;
        let scene = self.scene(iteration, tree);
        let evidence = gather(&scene, self.config, &self.terms, wanted, &|event| {
            watch.see(&LoopEvent::Check(event));
        });
        // What a check left behind belongs to no iteration.
        process::sweep(&[]);
        evidence
    }

    fn scene<'s>(&'s self, iteration: u32, tree: Option<&'s str>) -> Scene<'s> {
        Scene {
            workspace: &self.config.workspace,
            excluded: &self.excluded,
            environment: &self.environment,
            redactor: &self.redactor,
            iteration,
            tree,
            first_commit: self.baseline.first_commit.as_deref(),
            begun: SystemTime::now(),
            policies: self.policies.as_deref(),
            stop: self.control.stop(),
        }
    }

    /// Which stories are proven, and what the checks of the checklist say then.
    pub(super) fn settle_stories(
        &self,
        iteration: u32,
        tree: Option<&str>,
        evidence: &mut Vec<Evidence>,
    ) -> Option<Stories> {
        let found = self.store.prd();
        let problem = found.as_ref().err().map(ToString::to_string);
        let stories = found.ok().flatten().map(|found| {
            judge_stories(
                self.config,
                &self.terms,
                &self.baseline.stories,
                &found,
                evidence,
            )
        });
        let settled = match &problem {
            Some(problem) => Err(problem.as_str()),
            None => Ok(stories.as_ref()),
        };
        let scene = self.scene(iteration, tree);
        for judged in look_at_stories(&scene, self.config, &self.terms, settled) {
            self.watch
                .see(&LoopEvent::Check(crate::evidence::CheckEvent::Ended(
                    &judged,
                )));
            evidence.push(judged);
        }
        stories
    }

    /// What the gate is told.
    pub(super) fn input(
        &self,
        index: u32,
        elapsed: Duration,
        said: Option<&Said>,
        gathered: &Gathered,
    ) -> Iteration {
        let order = self.control.order();
        let named = |id: &str| {
            self.terms
                .completion_checks
                .iter()
                .any(|check| check.id == id)
        };
        let evidence = gathered
            .evidence
            .iter()
            .filter(|evidence| named(&evidence.check));
        Iteration {
            index,
            action: said.map_or(Action::Continue, |said| said.action),
            canceled: order.canceled,
            output: said.map_or_else(String::new, |said| said.output.clone()),
            checks: evidence.map(Evidence::result).collect(),
            artifacts: gathered.work.with(&gathered.evidence),
            tool_outputs: Vec::new(),
            tampered: gathered.tripped.iter().map(tampering).collect(),
            usage: Usage {
                elapsed_ms: u32::try_from(elapsed.as_millis()).unwrap_or(u32::MAX),
                ..said.map_or_else(Usage::default, |said| said.usage.clone())
            },
            r#override: order.note,
            waivers: Vec::new(),
        }
    }

    /// Makes an iteration durable: nobody hears of a verdict that could be lost.
    pub(super) fn remember(
        &mut self,
        input: &Iteration,
        verdict: &Verdict,
        turn: Option<Event>,
        gathered: Gathered,
    ) -> Result<(), RunError> {
        // What the host itself wrote always has a JSON form.
        let mut events: Vec<Event> = Vec::new();
        if self.learn(&gathered) {
            events.extend(Event::new(names::BASELINE, &self.baseline));
        }
        events.extend(turn);
        let evidence = gathered.evidence.iter();
        events.extend(evidence.flat_map(|evidence| Event::new(names::EVIDENCE, evidence)));
        let tripped = gathered.tripped.iter();
        events.extend(tripped.flat_map(|tripped| Event::new(names::TRIPWIRE, tripped)));
        let evaluated = Evaluated {
            at_ms: now_ms(),
            iteration: input,
            verdict,
            events,
            prd: gathered
                .stories
                .map_or_else(Vec::new, |stories| stories.updates),
            runs: gathered.evidence.iter().filter_map(run).collect(),
            arguments: self.resume_arguments.clone(),
        };
        let change = evaluated.change(&self.key)?;
        let saved = self.store.save(&change)?;
        let behind = saved
            .findings
            .iter()
            .filter(|finding| finding.code == FindingCode::FileBehind);
        self.behind = behind.map(|finding| finding.file.clone()).collect();
        if !saved.findings.is_empty() {
            self.watch.see(&LoopEvent::Found(&saved.findings));
        }
        self.feedback = Some(verdict.feedback.clone()).filter(|feedback| !feedback.is_empty());
        self.commit(input.index, verdict);
        Ok(())
    }
}

/// The required checks about the work itself: together they prove a story that has no checks of its own.
fn proving_checks<'t>(config: &Config, terms: &'t Terms) -> Vec<&'t str> {
    let required = terms
        .completion_checks
        .iter()
        .filter(|named| named.required);
    let about_work = required.filter(|named| {
        let check = config.checks.get(&named.id);
        check.is_some_and(|check| !matches!(check, Check::PrdAllPass { .. }))
    });
    about_work.map(|named| named.id.as_str()).collect()
}

/// What the checks say about the stories of the checklist.
pub(super) fn judge_stories(
    config: &Config,
    terms: &Terms,
    known: &Known,
    found: &Prd,
    evidence: &[Evidence],
) -> Stories {
    let mut proofs = crate::evidence::Proofs::new();
    for named in &terms.completion_checks {
        if let Some(Check::PrdAllPass { proofs: own }) = config.checks.get(&named.id) {
            proofs.extend(own.clone());
        }
    }
    let required = proving_checks(config, terms);
    let rules = Rules {
        proofs: &proofs,
        required: &required,
        strict: config.tripwires.prd_passes,
    };
    settle(known, found, rules, evidence)
}

/// How a person runs a check.
fn run(evidence: &Evidence) -> Option<Run> {
    let attempt = evidence.attempts.last()?;
    Some(Run {
        check: evidence.check.clone(),
        argv: attempt.argv.clone(),
    })
}

fn tampering(tripped: &Tripped) -> Tampering {
    Tampering {
        what: tripped.tripwire.clone(),
        reason: tripped.reason.clone(),
    }
}
