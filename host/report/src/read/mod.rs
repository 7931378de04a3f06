//! Lines of logs to runs, in one pass.
//!
//! A log is gone through line by line. Most lines are only looked at from outside: their seal, their place in the chain, their
//! name. Of the verdicts of a loop only the last is read as a whole, because it carries the sums.

mod head;
mod records;

use std::collections::BTreeSet;

use ralph_gate_memory::course::names;
use ralph_gate_memory::{Digest, sealed};
use serde::Deserialize;

use crate::run::{Ending, Run, Source, Truth, Used, Witness};
use crate::shared::Text;
use head::Head;
use records::{Audited, Envelope, Imported, LastVerdict, Started};

/// The longest line that is read. A longer one is damage.
pub const LONGEST: usize = 64 << 20;

/// A line that is a run of its own, read from a transcript.
const IMPORTED: &str = "imported_run";
/// What was found out after a loop had ended.
const AUDIT: &str = "audit";

/// What was read of some logs.
#[derive(Debug, Default)]
pub struct Found {
    /// The runs, in the order of the logs.
    pub runs: Vec<Run>,
    /// What could not be read, a sentence each.
    pub problems: Vec<String>,
}

/// Reads one log, piece by piece.
///
/// ```
/// use ralph_gate_report::read::Reader;
///
/// let mut reader = Reader::new("night");
/// for piece in include_bytes!("../../../history/testdata/events.jsonl").chunks(1000) {
///     reader.feed(piece);
/// }
/// let found = reader.finish();
/// assert_eq!(found.runs.len(), 1);
/// assert_eq!(found.runs[0].ending.as_str(), "completed");
/// ```
#[derive(Debug)]
pub struct Reader {
    name: String,
    found: Found,
    current: Option<Current>,
    /// The chain up to here: the number of the last line, and its digest.
    chain: Option<(u64, Digest)>,
    lines: u64,
    foreign: u64,
    loops: u32,
    /// The beginning of a line whose end was not seen yet.
    carry: Vec<u8>,
    /// The rest of the line is passed over: it is too long.
    skipping: bool,
}

/// The loop that is being read.
#[derive(Debug, Default)]
struct Current {
    run: Run,
    /// The line of its last verdict.
    verdict: Vec<u8>,
    audit: Option<Audited>,
    /// The client let its agent go after the last verdict.
    client_ended: bool,
}

impl Reader {
    /// A log by the name that a person knows it by.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            found: Found::default(),
            current: None,
            chain: None,
            lines: 0,
            foreign: 0,
            loops: 0,
            carry: Vec::new(),
            skipping: false,
        }
    }

    /// Takes the next piece of the text, wherever that ends.
    pub fn feed(&mut self, mut piece: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', piece) {
            let (line, rest) = piece.split_at(end);
            self.end_line(line);
            piece = rest.get(1..).unwrap_or_default();
        }
        if self.carry.len() + piece.len() > LONGEST {
            self.skipping = true;
            self.carry.clear();
        }
        if !self.skipping {
            self.carry.extend_from_slice(piece);
        }
    }

    fn end_line(&mut self, end: &[u8]) {
        if std::mem::take(&mut self.skipping) || self.carry.len() + end.len() > LONGEST {
            self.carry.clear();
            self.lines += 1;
            let problem = format!(
                "{}: line {} has more than {LONGEST} bytes and was not read",
                self.name, self.lines
            );
            self.found.problems.push(problem);
            self.chain = None;
            self.current().run.edited = true;
        } else if self.carry.is_empty() {
            self.line(end);
        } else {
            let mut line = std::mem::take(&mut self.carry);
            line.extend_from_slice(end);
            self.line(&line);
            line.clear();
            self.carry = line;
        }
    }

    /// Takes the next line, without its line break.
    fn line(&mut self, line: &[u8]) {
        self.lines += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return;
        }
        let Some(head) = Head::of(line) else {
            return self.other(line);
        };
        let is_whole = self.follow(&head, line);
        match head.event {
            names::STARTED => self.start(line),
            names::VERDICT => self.judge(line),
            names::CLIENT_ENDED => self.current().client_ended = true,
            AUDIT => self.audit(line),
            _ => {}
        }
        if !is_whole {
            self.current().run.edited = true;
        }
    }

    /// What the log said.
    pub fn finish(mut self) -> Found {
        if self.skipping || !self.carry.is_empty() {
            self.end_line(b"");
        }
        self.close();
        if self.foreign > 0 {
            let lines = match self.foreign {
                1 => "1 line is".to_owned(),
                count => format!("{count} lines are"),
            };
            let problem = format!("{}: {lines} no event and not counted", self.name);
            self.found.problems.push(problem);
        }
        self.found
    }

    /// A line that does not begin as events do: a run that was imported, or nothing.
    fn other(&mut self, line: &[u8]) {
        match serde_json::from_slice::<Envelope<'_>>(line) {
            Ok(envelope) if envelope.event == IMPORTED => {
                match serde_json::from_str::<Imported>(envelope.data.get()) {
                    Ok(imported) => self.found.runs.push(imported.into_run()),
                    Err(error) => self.found.problems.push(format!(
                        "{}: line {} is an imported run that can't be read: {error}",
                        self.name, self.lines
                    )),
                }
            }
            _ => {
                self.foreign += 1;
                if let Some(current) = &mut self.current {
                    current.run.edited = true;
                }
                self.chain = None;
            }
        }
    }

    fn current(&mut self) -> &mut Current {
        self.current.get_or_insert_with(Current::default)
    }

    /// Whether a line is what was written, where it was written.
    fn follow(&mut self, head: &Head<'_>, line: &[u8]) -> bool {
        let digest = sealed(line);
        let follows = match &self.chain {
            _ if head.seq == 1 => true,
            Some((seq, before)) => {
                head.seq == seq + 1 && before.to_string().as_bytes() == head.prev
            }
            None => false,
        };
        self.chain = digest.map(|digest| (head.seq, digest));
        digest.is_some() && follows
    }

    fn start(&mut self, line: &[u8]) {
        self.close();
        self.loops += 1;
        let current = self.current();
        let Some(started) = data::<Started>(line) else {
            current.run.edited = true;
            return;
        };
        let run = &mut current.run;
        run.client = started.client().map(Text::from);
        run.task = started.labels.get("task").cloned();
        run.id = started.session.unwrap_or_default();
        run.task_class = started.task_class.map(Text::from);
        run.labels = started.labels.into();
        run.mode = started.mode.map(Text::from);
        run.profile = started.profile.map(Text::from);
        run.enforcement = started.enforcement.map(Text::from);
        run.contract_digest = started.contract_digest.map(Text::from);
        run.started_at_ms = started.at_ms;
    }

    fn judge(&mut self, line: &[u8]) {
        // Before the first iteration there is nothing to intercept.
        if memchr::memmem::find(line, b"\"iteration\":{\"index\":0,").is_some() {
            return;
        }
        let current = self.current();
        current.client_ended = false;
        current.verdict.clear();
        current.verdict.extend_from_slice(line);
        // Quotes inside a text are escaped, so these bytes are fields and nothing else.
        if memchr::memmem::find(line, b",\"intercepted\":true,").is_some() {
            current.run.interceptions += 1;
        }
    }

    fn audit(&mut self, line: &[u8]) {
        let audited = data::<Audited>(line);
        let current = self.current();
        match audited {
            Some(audited) => current.audit = Some(audited),
            None => current.run.edited = true,
        }
    }

    /// The loop that was being read is over, as far as this log tells.
    fn close(&mut self) {
        let Some(mut current) = self.current.take() else {
            return;
        };
        if !current.verdict.is_empty() {
            match LastVerdict::read(&current.verdict) {
                Some(last) => last.tell(&mut current.run),
                None => current.run.edited = true,
            }
        }
        if current.client_ended {
            current.run.ending = Ending::ClientEnded;
        }
        if let Some(audited) = current.audit {
            current.run.truth = audited.truth;
            current.run.witness = Some(audited.witness);
        }
        let run = &mut current.run;
        run.id = self.identify(run);
        self.found.runs.push(current.run);
    }

    /// A name that tells a person which run it is.
    fn identify(&self, run: &Run) -> String {
        let label = |name: &str| run.labels.get(name).map(String::as_str);
        let of_experiment = [label("experiment"), label("arm"), label("task")];
        if let [Some(experiment), Some(arm), Some(task)] = of_experiment {
            let repeat = label("repeat").unwrap_or("1");
            return format!("{experiment}/{arm}/{task}/{repeat}");
        }
        let name = match run.id.as_str() {
            "" => self.name.as_str(),
            session => session,
        };
        match self.loops {
            0 | 1 => name.to_owned(),
            count => format!("{name}#{count}"),
        }
    }
}

/// Everything in a text at once.
pub fn read(name: &str, text: &[u8]) -> Found {
    let mut reader = Reader::new(name);
    reader.feed(text);
    reader.finish()
}

/// Puts what was read of several logs together. Runs that have the same name are told apart.
pub fn gather(parts: impl IntoIterator<Item = Found>) -> Found {
    let mut all = Found::default();
    for part in parts {
        all.problems.extend(part.problems);
        all.runs.extend(part.runs);
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for place in doubled(&all.runs) {
        let Some(run) = all.runs.get_mut(place) else {
            continue;
        };
        let name = run.id.clone();
        let mut count = 1;
        while !taken.insert(run.id.clone()) {
            count += 1;
            run.id = format!("{name} ({count})");
        }
    }
    all
}

/// The places of runs that have a name in common with another one, in their order.
fn doubled(runs: &[Run]) -> Vec<usize> {
    let mut by_name: Vec<(&str, usize)> = (0..)
        .zip(runs)
        .map(|(place, run)| (run.id.as_str(), place))
        .collect();
    by_name.sort_unstable();
    let mut doubled: Vec<usize> = by_name
        .chunk_by(|(first, _), (second, _)| first == second)
        .filter(|same| same.len() > 1)
        .flatten()
        .map(|(_, place)| *place)
        .collect();
    doubled.sort_unstable();
    doubled
}

/// The details of an event.
fn data<T: for<'d> Deserialize<'d>>(line: &[u8]) -> Option<T> {
    let envelope: Envelope<'_> = serde_json::from_slice(line).ok()?;
    serde_json::from_str(envelope.data.get()).ok()
}

impl LastVerdict {
    /// What the last verdict says of the whole loop.
    fn tell(self, run: &mut Run) {
        run.mode = run.mode.take().or(self.mode.map(Text::from));
        run.profile = run.profile.take().or(self.profile.map(Text::from));
        run.gate = self.gate.map(Text::from);
        run.overridden = self.overridden;
        run.ending = self.ending;
        run.detail = self.detail.map(Text::from);
        run.truth = self.truth;
        run.witness = (self.truth != Truth::Unknown).then_some(Witness::Shadow);
        run.used = self.used;
    }
}

impl Imported {
    fn into_run(self) -> Run {
        Run {
            id: self.id,
            task: self.task,
            task_class: self.task_class.map(Text::from),
            labels: self.labels.into(),
            source: Source::Import,
            client: self.client.map(Text::from),
            mode: Some("standard".into()),
            started_at_ms: self.started_at_ms,
            ending: self.ending,
            truth: self.truth,
            witness: (self.truth != Truth::Unknown).then_some(Witness::Transcript),
            used: Used {
                iterations: self.iterations,
                elapsed_ms: self.elapsed_ms,
                tool_calls: self.tool_calls,
                tokens: self.tokens,
                cost_usd: self.cost_usd,
            },
            ..Run::default()
        }
    }
}
