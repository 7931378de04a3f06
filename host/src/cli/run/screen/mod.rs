//! What the live view shows: events go in, lines come out. It knows neither the terminal nor the clock.

use std::path::{Path, PathBuf};

use ralph_gate::engine::{Decision, Failure, Guardrail, Outcome, StopReason, Verdict};
use ralph_gate::evidence::{CheckEvent, Evidence};
use ralph_gate::memory::paragraph;
use ralph_gate::runner::ending::ending;
use ralph_gate::runner::{AgentRecord, LoopEvent, Phase};

use super::super::terminal::clean;
use super::super::words::word;
use super::line::{Line, Style};
use super::text::{
    failure, first_line, how, iterations, mode_and_reason, not_inherited, outcome, running, seconds,
};

/// The cells of a gauge.
const CELLS: u32 = 10;
/// From this percentage on a gauge is coloured.
const CLOSE: u32 = 80;
/// Room for a check's name and for its time: longer ones move their own line only.
const NAME: usize = 24;
const TIME: usize = 10;
/// The newest warnings and tripwires that the region has room for.
const NOTES: usize = 3;

/// Milliseconds since the view began.
pub(super) type Moment = u64;

/// A loop as a person sees it.
#[derive(Debug, Default)]
pub(super) struct Screen {
    /// Paths are shown as seen from here.
    folder: PathBuf,
    key: String,
    agent: String,
    at_most: u32,
    iteration: u32,
    doing: Doing,
    since: Moment,
    activity: String,
    checks: Vec<Row>,
    /// The iteration that the states of the checks belong to.
    judged: u32,
    turn: Turn,
    verdict: Option<(u32, Box<Verdict>)>,
    tripped: Vec<String>,
    warnings: Vec<String>,
    /// Lines that are to stay, and that nobody has taken yet.
    permanent: Vec<Line>,
}

/// What is being done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Doing {
    #[default]
    Opening,
    In(Phase),
    /// The agent has ended, and the checks have not begun.
    Looking,
    /// The verdict is there, and what comes next has not begun.
    Decided,
    /// Nothing any more.
    Over,
}

/// The iteration that is under way.
#[derive(Debug, Default)]
struct Turn {
    began: Moment,
    cost: Option<String>,
    /// Set if the agent did not end well.
    trouble: Option<String>,
    /// What went wrong, line by line.
    problem: Vec<String>,
}

/// A check.
#[derive(Debug)]
struct Row {
    id: String,
    state: State,
}

#[derive(Debug)]
enum State {
    Waiting,
    Running {
        since: Moment,
    },
    Ended {
        outcome: Outcome,
        time: u64,
        reason: String,
    },
}

impl Screen {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            ..Self::default()
        }
    }

    /// Takes note of an event.
    pub(super) fn see(&mut self, event: &LoopEvent<'_>, now: Moment) {
        match event {
            LoopEvent::Opened { .. } => self.opened(event),
            LoopEvent::Found([]) => {}
            LoopEvent::Found(findings) => self.warnings.push(clean(&paragraph(findings))),
            LoopEvent::Warning(message) => self.warnings.push(clean(message)),
            LoopEvent::Entered { iteration, phase } => self.entered(*iteration, *phase, now),
            LoopEvent::Activity(activity) => self.activity = first_line(activity),
            LoopEvent::AgentEnded(record) => self.agent_ended(record, now),
            LoopEvent::Check(CheckEvent::Started(id)) => {
                self.set(id, State::Running { since: now });
            }
            LoopEvent::Check(CheckEvent::Ended(evidence)) => self.check_ended(evidence),
            LoopEvent::Tripped(tripped) => self.tripped.push(format!(
                "{}: {}",
                clean(&tripped.tripwire),
                first_line(&tripped.reason)
            )),
            LoopEvent::Decided { iteration, verdict } => self.decided(*iteration, verdict, now),
            LoopEvent::Ended {
                iteration,
                verdict,
                memory,
            } => self.ended(*iteration, verdict, memory),
        }
    }

    /// Lines that scroll up above the region and stay, each given once.
    pub(super) fn take_permanent(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.permanent)
    }

    /// The region goes away, and what only it has shown stays.
    pub(super) fn close(&mut self) {
        self.keep_warnings();
        self.doing = Doing::Over;
    }

    fn opened(&mut self, event: &LoopEvent<'_>) {
        let LoopEvent::Opened {
            key,
            memory,
            mode,
            iteration,
            at_most,
            argv,
            withheld,
            others,
            checks,
            ..
        } = event
        else {
            return;
        };
        self.key = clean(key.text());
        self.agent = clean(&argv.join(" "));
        self.at_most = *at_most;
        self.iteration = *iteration;
        let waiting = |id: &String| Row {
            id: clean(id),
            state: State::Waiting,
        };
        self.checks = checks.iter().map(waiting).collect();
        let verb = if *iteration == 0 { "begins" } else { "goes on" };
        let memory = self.place(memory);
        self.permanent.push(
            Line::new()
                .with(Style::Bold, format!("loop {}", self.key))
                .plain(format!(" {verb} in {}  ", mode_and_reason(*mode)))
                .with(Style::Dim, memory),
        );
        let withheld = not_inherited(withheld, *others);
        if !withheld.is_empty() {
            self.warnings.push(withheld);
            self.keep_warnings();
        }
    }

    fn entered(&mut self, iteration: u32, phase: Phase, now: Moment) {
        (self.iteration, self.doing, self.since) = (iteration, Doing::In(phase), now);
        self.activity.clear();
        match phase {
            Phase::Agent | Phase::Probe => {
                self.turn = Turn {
                    began: now,
                    ..Turn::default()
                };
            }
            Phase::Baseline | Phase::Checks => {}
        }
        if phase != Phase::Agent {
            self.judged = iteration;
            self.tripped.clear();
            for row in &mut self.checks {
                row.state = State::Waiting;
            }
        }
    }

    fn agent_ended(&mut self, record: &AgentRecord, now: Moment) {
        (self.doing, self.since) = (Doing::Looking, now);
        self.turn.cost = record.cost_usd.as_deref().map(clean);
        let failed = record.exit != Some(0) || record.error.is_some();
        self.turn.trouble = failed.then(|| match &record.error {
            Some(error) => format!("agent {} ({})", how(record), first_line(error)),
            None => format!("agent {}", how(record)),
        });
        let problem = record.problem.iter().flat_map(|problem| problem.lines());
        self.turn.problem = problem.map(clean).collect();
    }

    fn set(&mut self, id: &str, state: State) {
        let id = clean(id);
        match self.checks.iter_mut().find(|row| row.id == id) {
            Some(row) => row.state = state,
            // It proves a story, and the contract does not name it.
            None => self.checks.push(Row { id, state }),
        }
    }

    fn check_ended(&mut self, evidence: &Evidence) {
        let state = State::Ended {
            outcome: evidence.outcome,
            time: evidence.duration_ms,
            reason: first_line(&evidence.reason),
        };
        self.set(&evidence.check, state);
    }

    fn decided(&mut self, iteration: u32, verdict: &Verdict, now: Moment) {
        (self.doing, self.since) = (Doing::Decided, now);
        let took = seconds(now.saturating_sub(self.turn.began));
        let cost = self.turn.cost.as_ref();
        let cost = cost.map_or_else(String::new, |cost| format!(", {cost} USD"));
        let mut why: Vec<String> = self.turn.trouble.take().into_iter().collect();
        why.extend(verdict.failures.iter().map(failure));
        let why = match why.join("; ") {
            why if why.is_empty() => why,
            why => format!(": {why}"),
        };
        let (style, said) = told(verdict);
        self.permanent.push(
            Line::new()
                .with(Style::Bold, format!("iteration {iteration}"))
                .plain("  ")
                .with(style, said)
                .plain(format!("{why}  "))
                .with(Style::Dim, format!("{took}{cost}")),
        );
        for line in std::mem::take(&mut self.turn.problem) {
            let line = Line::new()
                .with(Style::Dim, "  agent")
                .plain(format!("  {line}"));
            self.permanent.push(line);
        }
        self.keep_warnings();
        self.verdict = Some((iteration, Box::new(verdict.clone())));
    }

    fn keep_warnings(&mut self) {
        for warning in self.warnings.drain(..) {
            self.permanent.push(
                Line::new()
                    .with(Style::Caution, "  warning")
                    .plain(format!(" {warning}")),
            );
        }
    }

    /// The region is replaced by a summary.
    fn ended(&mut self, iteration: u32, verdict: &Verdict, memory: &Path) {
        self.close();
        let (style, _) = told(verdict);
        let counters = &verdict.counters;
        let used = format!(
            "{}, {} tool calls, {} USD",
            seconds(counters.elapsed_ms.into()),
            counters.tool_calls,
            clean(&counters.cost_usd)
        );
        self.permanent.push(
            Line::new()
                .with(style, ending(verdict, iteration))
                .with(Style::Dim, format!("  {used}")),
        );
        let width = self.widest_check();
        let rows = self.checks.iter();
        let rows: Vec<Line> = rows.map(|row| row.line(width, 0)).collect();
        self.permanent.extend(rows);
        let is_complete = verdict.stop_reason == Some(StopReason::Completed);
        if verdict.stop_reason.is_some() && !is_complete {
            let handoff = self.place(&memory.join("handoff.md"));
            self.permanent
                .push(Line::new().plain(format!("  what to do now: {handoff}")));
        }
    }

    /// A path as seen from the folder that the command was started in.
    fn place(&self, path: &Path) -> String {
        let seen = path.strip_prefix(&self.folder).unwrap_or(path);
        clean(&seen.display().to_string())
    }

    /// The region, at most so many lines. What there is no room for goes in this order: gauges, checks that passed,
    /// whatever is last.
    pub(super) fn region(&self, now: Moment, most: usize) -> Vec<Line> {
        if matches!(self.doing, Doing::Opening | Doing::Over) {
            return Vec::new();
        }
        let mut parts = Parts {
            head: self.head(now),
            checks: self.check_lines(now, |_| true),
            gauges: self.gauges(),
            rest: self.rest(),
        };
        if parts.len() > most {
            parts.gauges.clear();
        }
        if parts.len() > most {
            parts.checks = self.check_lines(now, |row| !row.has_passed());
        }
        let mut lines = parts.join();
        lines.truncate(most);
        lines
    }

    fn head(&self, now: Moment) -> Vec<Line> {
        let iteration = match self.iteration {
            0 => format!("  at most {}", iterations(self.at_most)),
            iteration => format!("  iteration {iteration} of {}", self.at_most),
        };
        let head = Line::new()
            .with(Style::Bold, format!("loop {}", self.key))
            .plain(iteration)
            .with(Style::Dim, format!("  {}", running(now)));
        let time = running(now.saturating_sub(self.since));
        vec![head, self.doing_line(&time)]
    }

    fn doing_line(&self, time: &str) -> Line {
        let line = Line::new();
        let doing = match self.doing {
            Doing::In(Phase::Agent) => {
                let line = line
                    .with(Style::Good, "agent")
                    .plain(format!(" {time}  "))
                    .with(Style::Dim, self.agent.clone());
                return match self.activity.as_str() {
                    "" => line,
                    activity => line.plain(format!("  {activity}")),
                };
            }
            Doing::In(Phase::Baseline) => "running the checks once before the agent begins",
            Doing::In(Phase::Probe) => "running the checks first: somebody may have mended it",
            Doing::In(Phase::Checks) => "running the checks",
            Doing::Looking => "looking at the work",
            Doing::Decided => "writing it down",
            Doing::Opening | Doing::Over => "",
        };
        line.with(Style::Good, "gate")
            .plain(format!(" {time}  {doing}"))
    }

    fn widest_check(&self) -> usize {
        let widths = self.checks.iter().map(|row| row.id.chars().count());
        widths.max().unwrap_or(0).min(NAME)
    }

    fn check_lines(&self, now: Moment, is_shown: impl Fn(&Row) -> bool) -> Vec<Line> {
        let is_fresh = self.judged == self.iteration || self.checks.iter().all(Row::is_waiting);
        let title = match self.judged {
            _ if is_fresh => "checks".to_owned(),
            0 => "checks, before the agent".to_owned(),
            judged => format!("checks, of iteration {judged}"),
        };
        let width = self.widest_check();
        let rows = self.checks.iter().filter(|row| is_shown(row));
        let rows: Vec<Line> = rows.map(|row| row.line(width, now)).collect();
        titled(&title, rows)
    }

    fn gauges(&self) -> Vec<Line> {
        let Some((_, verdict)) = &self.verdict else {
            return Vec::new();
        };
        let guardrails = &verdict.counters.guardrails;
        let widths = guardrails.iter().map(|guardrail| guardrail.name.len());
        let width = widths.max().unwrap_or(0);
        let lines = guardrails.iter();
        titled(
            "guardrails",
            lines.map(|guardrail| gauge(guardrail, width)).collect(),
        )
    }

    /// The last verdict and why, tripwires, warnings.
    fn rest(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some((iteration, verdict)) = &self.verdict {
            let (style, said) = told(verdict);
            lines.push(
                Line::new()
                    .with(Style::Dim, "last verdict")
                    .plain(format!("  iteration {iteration} "))
                    .with(style, said),
            );
            lines.extend(verdict.failures.iter().map(failure_line));
        }
        let note = |style: Style, title: &str, text: &String| {
            Line::new().with(style, title).plain(format!("  {text}"))
        };
        let newest = |all: &[String]| all.len().saturating_sub(NOTES);
        let tripped = self.tripped.iter().skip(newest(&self.tripped));
        lines.extend(tripped.map(|text| note(Style::Bad, "tripwire", text)));
        let warnings = self.warnings.iter().skip(newest(&self.warnings));
        lines.extend(warnings.map(|text| note(Style::Caution, "warning", text)));
        lines
    }
}

/// The parts of the region, in their order.
struct Parts {
    head: Vec<Line>,
    checks: Vec<Line>,
    gauges: Vec<Line>,
    rest: Vec<Line>,
}

impl Parts {
    fn len(&self) -> usize {
        self.head.len() + self.checks.len() + self.gauges.len() + self.rest.len()
    }

    fn join(self) -> Vec<Line> {
        [self.head, self.checks, self.gauges, self.rest].concat()
    }
}

impl Row {
    fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting)
    }

    fn has_passed(&self) -> bool {
        matches!(
            self.state,
            State::Ended {
                outcome: Outcome::Pass,
                ..
            }
        )
    }

    fn line(&self, width: usize, now: Moment) -> Line {
        let (style, state, time, reason) = match &self.state {
            State::Waiting => (Style::Dim, "waiting".to_owned(), String::new(), ""),
            State::Running { since } => {
                let time = running(now.saturating_sub(*since));
                (Style::Caution, "running".to_owned(), time, "")
            }
            State::Ended {
                outcome,
                time,
                reason,
            } => {
                let style = match outcome {
                    Outcome::Pass => Style::Good,
                    _ => Style::Bad,
                };
                (style, word(outcome), seconds(*time), reason.as_str())
            }
        };
        let line = Line::new()
            .plain("  ")
            .with(style, format!("{state:<7}"))
            .plain(format!("  {:<width$}", self.id));
        match time.as_str() {
            "" => line,
            time => line
                .with(Style::Dim, format!("{time:>TIME$}"))
                .plain(format!("  {reason}")),
        }
    }
}

fn titled(title: &str, lines: Vec<Line>) -> Vec<Line> {
    if lines.is_empty() {
        return lines;
    }
    let mut all = vec![Line::new().with(Style::Dim, title)];
    all.extend(lines);
    all
}

/// A verdict in a few words, and its colour.
fn told(verdict: &Verdict) -> (Style, String) {
    match (verdict.decision, verdict.stop_reason) {
        (Decision::Continue, _) if verdict.intercepted => (Style::Caution, "refused".to_owned()),
        (Decision::Continue, _) => (Style::Caution, "goes on".to_owned()),
        (Decision::PassThrough, _) | (_, Some(StopReason::Completed)) => {
            (Style::Good, outcome(verdict))
        }
        _ => (Style::Bad, outcome(verdict)),
    }
}

fn failure_line(failure: &Failure) -> Line {
    Line::new()
        .plain(format!("  {}  ", clean(failure.subject())))
        .with(Style::Bad, word(&failure.code))
        .plain(format!("  {}", first_line(&failure.reason)))
}

/// How close a guardrail is: its name, a bar, and what was used of it.
fn gauge(guardrail: &Guardrail, width: usize) -> Line {
    let style = match guardrail.percent {
        100.. => Style::Bad,
        CLOSE.. => Style::Caution,
        _ => Style::Plain,
    };
    let filled = (guardrail.percent * CELLS / 100).min(CELLS);
    let bar = "█".repeat(filled as usize) + &"░".repeat((CELLS - filled) as usize);
    let (used, limit) = (
        amount(guardrail, &guardrail.used),
        amount(guardrail, &guardrail.limit),
    );
    Line::new()
        .plain(format!("  {:<width$}  ", clean(&guardrail.name)))
        .with(style, bar)
        .plain(format!(" {:>3} %  {used} of {limit}", guardrail.percent))
}

/// An amount as people read it: milliseconds as a time.
fn amount(guardrail: &Guardrail, amount: &str) -> String {
    match amount.parse() {
        Ok(milliseconds) if guardrail.name.ends_with("_ms") => running(milliseconds),
        _ => clean(amount),
    }
}

#[cfg(test)]
mod tests;
