//! The loop evaluator: from the states of issues to exactly one signal.
//!
//! The same states give the same report, whatever order they come in. The first line that applies:
//!
//! | when | signal |
//! | --- | --- |
//! | the states contradict, or can't be read | `LOOP_ERROR` |
//! | an issue is in progress, or proposed with all its dependencies done | `LOOP_CONTINUE` |
//! | nothing is proposed, and every blocked issue (if any) needs a human | `LOOP_DONE` |
//! | all that remains is blocked, or waits for what is blocked | `LOOP_BLOCKED` |
//!
//! These are contradictions:
//!
//! * one id with two different states (the same state twice is no harm);
//! * issues that are not done and wait for each other in a circle;
//! * an issue that is done although one that it depends on is not;
//! * a proposed or started issue that depends on an id that is not given. A blocked issue may name
//!   something outside.
//!
//! In an issue file the state is YAML between two `---` lines at the top: `id` (the file's name without
//! its extension where absent), `status`, `needs_human`, and `depends_on` or `blocked_by` (one id or a
//! list). Other fields are ignored.

use std::borrow::Cow;

use serde::Serialize;

use crate::error::Problem;
use crate::front_matter::{FrontMatter, Places, scalar_text};
use crate::order::sort;
use crate::tree::decode::{Decoder, Path, closest, shorten};
use crate::tree::{Node, Source, TextFormat, Value};
use crate::vocabulary::{Word, vocabulary};

/// Problems that are listed; a person fixes a hundred first.
const MAX_PROBLEMS: usize = 100;
/// Ids that are named in a reason.
const MAX_NAMED: usize = 5;
/// Ids that are compared with an unknown one before a suggestion is given up.
const MAX_SUGGESTIONS: usize = 1000;

vocabulary! {
    /// The loop vocabulary.
    Signal {
        /// All work is done.
        Done = "LOOP_DONE",
        /// There is more to do.
        Continue = "LOOP_CONTINUE",
        /// Nothing can be done without a person.
        Blocked = "LOOP_BLOCKED",
        /// Something is wrong.
        Error = "LOOP_ERROR",
    }
}

vocabulary! {
    /// Where an issue stands.
    IssueStatus {
        /// Not begun.
        Proposed = "proposed",
        /// Begun.
        InProgress = "in_progress",
        /// Can't go on.
        Blocked = "blocked",
        /// Finished.
        Done = "done",
    }
}

/// One issue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Issue {
    /// Unique.
    pub id: String,
    /// A word of [`IssueStatus`]; another one is an error signal, because the loop has to learn of it.
    pub status: String,
    /// A blocked issue that only a person can unblock.
    pub needs_human: bool,
    /// Ids of issues that must be done first.
    pub depends_on: Vec<String>,
}

/// One issue file, as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IssueFile {
    /// For messages, and for the id where the file has none.
    pub path: String,
    /// The whole file.
    pub text: String,
}

/// What to decide a signal from. Both lists together are the state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IssueStates {
    /// States as data.
    pub issues: Vec<Issue>,
    /// Files whose front matter holds the state.
    pub files: Vec<IssueFile>,
}

/// Exactly one signal, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignalReport {
    /// The signal.
    pub signal: Signal,
    /// One sentence for a person.
    pub reason: String,
    /// Ids of the issues that can be worked on now, started ones first. Empty unless the signal is
    /// `LOOP_CONTINUE`.
    pub selectable: Vec<String>,
    /// How many are proposed.
    pub proposed: u32,
    /// How many are in progress.
    pub in_progress: u32,
    /// How many are blocked.
    pub blocked: u32,
    /// How many are done.
    pub done: u32,
    /// Every contradiction, and everything that can't be read.
    pub problems: Vec<Problem>,
}

impl Issue {
    /// From the JSON face.
    pub fn decode(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Self> {
        let fields = decoder.object(node, path, &["id", "status", "needs_human", "depends_on"])?;
        let (id, status) = (fields.get("id"), fields.get("status"));
        let id = decode_text(decoder, id, path.field("id"));
        let status = decode_text(decoder, status, path.field("status"));
        let needs_human = match fields.get("needs_human") {
            None => Some(false),
            Some(node) => decoder.bool(node, path.field("needs_human")),
        };
        let dependencies = fields.get("depends_on");
        let depends_on = decoder.items(
            dependencies,
            path.field("depends_on"),
            |decoder, node, path| decoder.string(node, path).map(str::to_owned),
        );
        Some(Self {
            id: id?,
            status: status?,
            needs_human: needs_human?,
            depends_on,
        })
    }
}

impl IssueFile {
    /// From the JSON face.
    pub fn decode(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Self> {
        let fields = decoder.object(node, path, &["path", "text"])?;
        let (name, text) = (fields.get("path"), fields.get("text"));
        let name = decode_text(decoder, name, path.field("path"));
        let text = decode_text(decoder, text, path.field("text"));
        Some(Self {
            path: name?,
            text: text?,
        })
    }
}

impl IssueStates {
    /// From the JSON face.
    pub fn decode(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Self> {
        let fields = decoder.object(node, path, &["issues", "files"])?;
        let issues = decoder.items(fields.get("issues"), path.field("issues"), Issue::decode);
        let files = decoder.items(fields.get("files"), path.field("files"), IssueFile::decode);
        Some(Self { issues, files })
    }
}

fn decode_text(
    decoder: &mut Decoder<'_>,
    node: Option<&Node<'_>>,
    path: Path<'_>,
) -> Option<String> {
    match node {
        None => Some(String::new()),
        Some(node) => decoder.string(node, path).map(str::to_owned),
    }
}

/// Decide the signal.
///
/// ```
/// use ralph_gate_component::signal::{Issue, IssueStates, Signal, decide};
/// let issue = |id: &str, status: &str| Issue { id: id.into(), status: status.into(), ..Issue::default() };
/// let states = IssueStates { issues: vec![issue("a", "done"), issue("b", "proposed")], files: vec![] };
/// let report = decide(&states);
/// assert_eq!(report.signal, Signal::Continue);
/// assert_eq!(report.selectable, ["b"]);
/// ```
pub fn decide(states: &IssueStates) -> SignalReport {
    let mut problems = Problems::default();
    let mut statements = Statements::new();
    for issue in &states.issues {
        state_of_issue(issue, &mut statements, &mut problems);
    }
    for file in &states.files {
        state_of_file(file, &mut statements, &mut problems);
    }
    let board = Board::new(statements, &mut problems);
    board.check_dependencies(&mut problems);
    board.check_circles(&mut problems);
    board.report(problems)
}

/// What to do about a problem.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Remedy {
    /// Nothing that could be said.
    Unknown,
    /// This.
    Say(String),
    /// The id that is most like this one; looked for only when the problem is listed.
    SuggestId(String),
}

/// One problem; ordered by its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: u32,
    column: u32,
    message: String,
    remedy: Remedy,
}

/// Collects problems, in an order that does not depend on the order of the input.
#[derive(Debug, Default)]
struct Problems(Vec<Finding>);

impl Problems {
    /// A problem of an issue, which has no place in a text.
    fn issue(&mut self, id: &str, message: impl Into<String>, remedy: Remedy) {
        self.at(format!("issues[{}]", shorten(id)), message, remedy);
    }

    /// A problem without a place in a text.
    fn at(&mut self, path: String, message: impl Into<String>, remedy: Remedy) {
        self.0.push(Finding {
            path,
            line: 0,
            column: 0,
            message: message.into(),
            remedy,
        });
    }

    /// Every problem once, in order.
    fn sorted(mut self) -> Vec<Finding> {
        sort(&mut self.0, Ord::cmp);
        self.0.dedup();
        self.0
    }

    /// A problem that has all it needs.
    fn add(&mut self, problem: Problem) {
        self.0.push(Finding {
            path: problem.path,
            line: problem.line,
            column: problem.column,
            message: problem.message,
            remedy: problem.help.map_or(Remedy::Unknown, Remedy::Say),
        });
    }
}

// ------------------------------------------------------------------------------------ statements

/// What somebody says of one issue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    /// None: it could not be read, and a problem says why.
    status: Option<IssueStatus>,
    needs_human: bool,
    /// Sorted, each once.
    depends_on: Vec<String>,
}

impl State {
    /// An issue of which nothing is known but that it exists.
    const UNREADABLE: Self = Self {
        status: None,
        needs_human: false,
        depends_on: Vec::new(),
    };
}

/// All that is said of issues: an id and a state each.
type Statements = Vec<(String, State)>;

/// Each id once, sorted.
fn once(mut ids: Vec<String>) -> Vec<String> {
    sort(&mut ids, Ord::cmp);
    ids.dedup();
    ids
}

fn say(text: &str) -> Remedy {
    Remedy::Say(text.to_owned())
}

fn state_of_issue(issue: &Issue, statements: &mut Statements, problems: &mut Problems) {
    if issue.id.is_empty() {
        let message = format!(
            "an issue with the status `{}` has no id",
            shorten(&issue.status)
        );
        problems.issue("", message, say("give each issue an id"));
        return;
    }
    let status = IssueStatus::parse(&issue.status);
    if status.is_none() {
        let (message, help) = unknown_status(&issue.status);
        let path = format!("issues[{}].status", shorten(&issue.id));
        problems.at(path, message, help.map_or(Remedy::Unknown, Remedy::Say));
    }
    let state = State {
        status,
        needs_human: issue.needs_human,
        depends_on: once(issue.depends_on.clone()),
    };
    statements.push((issue.id.clone(), state));
}

fn unknown_status(word: &str) -> (String, Option<String>) {
    let words = || IssueStatus::ALL.iter().map(|status| status.as_str());
    let list = words().collect::<Vec<_>>().join(", ");
    let message = format!("`{}` is not one of {list}", shorten(word));
    let help = closest(word, words()).map(|word| format!("did you mean `{word}`?"));
    (message, help)
}

fn state_of_file(file: &IssueFile, statements: &mut Statements, problems: &mut Problems) {
    let name = format!("files[{}]", shorten_path(&file.path));
    let stem = stem(&file.path);
    let (id, state) = match read_file(file, &name) {
        Ok((id, state, found)) => {
            for problem in found {
                problems.add(problem);
            }
            (id.unwrap_or_else(|| stem.to_owned()), state)
        }
        Err(problem) => {
            problems.add(Problem {
                path: name.clone(),
                ..problem
            });
            (stem.to_owned(), State::UNREADABLE)
        }
    };
    if id.is_empty() {
        problems.add(Problem {
            path: format!("{name}.id"),
            line: 1,
            column: 1,
            message: "is missing, and the file has no name to take it from".to_owned(),
            help: Some("add a line such as `id: fix-login`".to_owned()),
        });
        return;
    }
    statements.push((id, state));
}

/// What a file says: its id if it has one, its state, and what is wrong with its fields. The error is
/// a front matter that can't be read at all.
fn read_file(
    file: &IssueFile,
    name: &str,
) -> Result<(Option<String>, State, Vec<Problem>), Problem> {
    let front = FrontMatter::split(&file.text)?;
    let source = Source::new(front.head, TextFormat::Yaml);
    let root = source.read()?;
    let mut decoder = Decoder::new(source);
    let mut places = Places::new(front.head);
    let path = Path::Root.field(name);
    let Some(fields) = decoder.any_object(&root, path) else {
        return Ok((None, State::UNREADABLE, decoder.into_problems()));
    };
    let id = fields
        .get("id")
        .and_then(|node| scalar_text(&mut decoder, node, path.field("id"), &mut places))
        .map(Cow::into_owned);
    let status = decoder
        .require(fields, path, "status")
        .and_then(|node| decode_status(&mut decoder, node, path.field("status")));
    let needs_human = fields
        .get("needs_human")
        .and_then(|node| decoder.bool(node, path.field("needs_human")));
    let mut depends_on = Vec::new();
    for field in ["depends_on", "blocked_by"] {
        if let Some(node) = fields.get(field) {
            decode_ids(
                &mut decoder,
                node,
                path.field(field),
                &mut places,
                &mut depends_on,
            );
        }
    }
    let state = State {
        status,
        needs_human: needs_human.unwrap_or(false),
        depends_on: once(depends_on),
    };
    Ok((id, state, decoder.into_problems()))
}

fn decode_status(
    decoder: &mut Decoder<'_>,
    node: &Node<'_>,
    path: Path<'_>,
) -> Option<IssueStatus> {
    let word = decoder.string(node, path)?;
    let status = IssueStatus::parse(word);
    if status.is_none() {
        let (message, help) = unknown_status(word);
        decoder.problem(node.at, path, message, help);
    }
    status
}

/// One id, or a list of ids.
fn decode_ids(
    decoder: &mut Decoder<'_>,
    node: &Node<'_>,
    path: Path<'_>,
    places: &mut Places<'_>,
    ids: &mut Vec<String>,
) {
    let list = match &node.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    for (index, item) in list.iter().enumerate() {
        let place = if matches!(node.value, Value::List(_)) {
            path.item(index)
        } else {
            path
        };
        ids.extend(scalar_text(decoder, item, place, places).map(Cow::into_owned));
    }
}

/// The end of a path, which is what tells two files apart.
fn shorten_path(path: &str) -> &str {
    match path.char_indices().rev().nth(79) {
        None => path,
        Some((start, _)) => path.get(start..).unwrap_or(path),
    }
}

/// A file's name without its extension.
fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

// ----------------------------------------------------------------------------------------- board

/// Every issue once, sorted by id.
struct Board(Vec<(String, State)>);

impl Board {
    /// One state for each issue; where there are several, that is a problem.
    fn new(mut statements: Statements, problems: &mut Problems) -> Self {
        sort(&mut statements, Ord::cmp);
        statements.dedup();
        for group in statements.chunk_by(|a, b| a.0 == b.0) {
            if let [(id, _), _, ..] = group {
                problems.issue(id, contradiction(group), say("keep one of them"));
            }
        }
        statements.dedup_by(|later, first| later.0 == first.0);
        Self(statements)
    }

    fn find(&self, id: &str) -> Option<usize> {
        self.0
            .binary_search_by(|(known, _)| known.as_str().cmp(id))
            .ok()
    }

    fn get(&self, id: &str) -> Option<&State> {
        self.find(id)
            .and_then(|index| self.0.get(index))
            .map(|(_, state)| state)
    }

    fn status(&self, id: &str) -> Option<IssueStatus> {
        self.get(id)?.status
    }

    fn count(&self, status: IssueStatus) -> usize {
        self.with_status(status).count()
    }

    fn with_status(&self, status: IssueStatus) -> impl Iterator<Item = (&str, &State)> {
        self.0
            .iter()
            .filter(move |(_, state)| state.status == Some(status))
            .map(|(id, state)| (id.as_str(), state))
    }

    /// Dependencies on what does not exist, and what is done too early.
    fn check_dependencies(&self, problems: &mut Problems) {
        for (id, state) in &self.0 {
            for dependency in &state.depends_on {
                match (state.status, self.get(dependency)) {
                    (Some(IssueStatus::Proposed | IssueStatus::InProgress), None) => {
                        let message =
                            format!("depends on `{}`, which is not given", shorten(dependency));
                        problems.issue(id, message, Remedy::SuggestId(dependency.clone()));
                    }
                    (
                        Some(IssueStatus::Done),
                        Some(State {
                            status: Some(status),
                            ..
                        }),
                    ) if *status != IssueStatus::Done => {
                        let message = format!(
                            "is done, but depends on `{}`, which is {status}",
                            shorten(dependency)
                        );
                        let remedy =
                            say("correct the status of one of them, or remove the dependency");
                        problems.issue(id, message, remedy);
                    }
                    _ => {}
                }
            }
        }
    }

    fn resolve(&self, finding: Finding) -> Problem {
        let help = match finding.remedy {
            Remedy::Unknown => None,
            Remedy::Say(text) => Some(text),
            Remedy::SuggestId(id) => Some(self.suggestion(&id)),
        };
        Problem {
            path: finding.path,
            line: finding.line,
            column: finding.column,
            message: finding.message,
            help,
        }
    }

    fn suggestion(&self, id: &str) -> String {
        closest(
            id,
            self.0
                .iter()
                .map(|(id, _)| id.as_str())
                .take(MAX_SUGGESTIONS),
        )
        .map_or_else(
            || "add that issue, or remove the dependency".to_owned(),
            |known| format!("did you mean `{}`?", shorten(known)),
        )
    }

    /// Issues that are not done and wait for each other.
    fn check_circles(&self, problems: &mut Problems) {
        // Each one that is left waits for another one that is left, so a walk always ends in a circle.
        let next = left_waiting(&self.waiting());
        let mut seen = vec![false; next.len()];
        for start in 0..next.len() {
            let mut walk: Vec<usize> = Vec::new();
            let mut at = start;
            while let Some(other) = next.get(at).copied().flatten() {
                match seen.get_mut(at) {
                    Some(seen) if !*seen => *seen = true,
                    _ => break,
                }
                walk.push(at);
                at = other;
            }
            if let Some(first) = walk.iter().position(|index| *index == at) {
                self.report_circle(walk.get(first..).unwrap_or_default(), problems);
            }
        }
    }

    /// Issues are sorted by id, so the lowest index is the lowest id.
    fn report_circle(&self, circle: &[usize], problems: &mut Problems) {
        let id = |index: &usize| self.0.get(*index).map_or("", |(id, _)| id.as_str());
        let lowest = circle.iter().min().map_or("", id);
        let message = match circle.len() {
            1 => "depends on itself".to_owned(),
            _ => {
                let others = circle.iter().map(id).filter(|id| *id != lowest);
                format!("waits in a circle with {}", name_some(others))
            }
        };
        problems.issue(lowest, message, say("remove one of the dependencies"));
    }

    /// For each issue, the ones that it waits for: neither is done.
    fn waiting(&self) -> Vec<Vec<usize>> {
        let is_open = |state: &State| {
            state
                .status
                .is_some_and(|status| status != IssueStatus::Done)
        };
        self.0
            .iter()
            .map(|(_, state)| {
                let dependencies = if is_open(state) {
                    state.depends_on.as_slice()
                } else {
                    &[]
                };
                dependencies
                    .iter()
                    .filter_map(|id| self.find(id))
                    .filter(|index| self.0.get(*index).is_some_and(|(_, state)| is_open(state)))
                    .collect()
            })
            .collect()
    }

    /// What can be worked on now, started issues first.
    fn selectable(&self) -> Vec<String> {
        let started = self.with_status(IssueStatus::InProgress);
        let ready = self
            .with_status(IssueStatus::Proposed)
            .filter(|(_, state)| {
                let mut dependencies = state.depends_on.iter();
                dependencies.all(|id| self.status(id) == Some(IssueStatus::Done))
            });
        started.chain(ready).map(|(id, _)| id.to_owned()).collect()
    }

    fn report(&self, problems: Problems) -> SignalReport {
        let problems = problems.sorted();
        let selectable = if problems.is_empty() {
            self.selectable()
        } else {
            Vec::new()
        };
        let (signal, reason) = self.judge(&problems, &selectable);
        let count = |status| u32::try_from(self.count(status)).unwrap_or(u32::MAX);
        SignalReport {
            signal,
            reason,
            selectable,
            proposed: count(IssueStatus::Proposed),
            in_progress: count(IssueStatus::InProgress),
            blocked: count(IssueStatus::Blocked),
            done: count(IssueStatus::Done),
            problems: problems
                .into_iter()
                .take(MAX_PROBLEMS)
                .map(|finding| self.resolve(finding))
                .collect(),
        }
    }

    fn judge(&self, problems: &[Finding], selectable: &[String]) -> (Signal, String) {
        if let Some(first) = problems.first() {
            return (Signal::Error, first.as_reason(problems.len()));
        }
        if !selectable.is_empty() {
            let names = name_some(selectable.iter().map(String::as_str));
            return (
                Signal::Continue,
                format!("{} can be worked on now: {names}", issues(selectable.len())),
            );
        }
        if self.0.is_empty() {
            return (Signal::Done, "no issues".to_owned());
        }
        let blocked = self.count(IssueStatus::Blocked);
        let proposed = self.count(IssueStatus::Proposed);
        let for_agent = self
            .with_status(IssueStatus::Blocked)
            .filter(|(_, state)| !state.needs_human);
        let done = self.count(IssueStatus::Done);
        match (proposed, for_agent.count()) {
            (0, 0) if blocked == 0 => (
                Signal::Done,
                format!("{} done, nothing remains", issues(done)),
            ),
            (0, 0) => (
                Signal::Done,
                format!(
                    "{} done; what is blocked needs a human: {}",
                    issues(done),
                    self.blocked_names()
                ),
            ),
            (0, _) => (
                Signal::Blocked,
                format!("all that remains is blocked: {}", self.blocked_names()),
            ),
            // Invariant: without a problem, what is proposed and not selectable waits for what is blocked.
            _ => (
                Signal::Blocked,
                format!(
                    "{} proposed, each waiting for what is blocked: {}",
                    issues(proposed),
                    self.blocked_names()
                ),
            ),
        }
    }

    fn blocked_names(&self) -> String {
        name_some(self.with_status(IssueStatus::Blocked).map(|(id, _)| id))
    }
}

impl Finding {
    /// The reason for an error that this is the first problem of.
    fn as_reason(&self, problems: usize) -> String {
        let Self { path, message, .. } = self;
        let line = match self.line {
            0 => String::new(),
            line => format!(", line {line}"),
        };
        match problems {
            1 => format!("{path}{line}: {message}"),
            count => format!("{count} problems; the first: {path}{line}: {message}"),
        }
    }
}

fn contradiction(group: &[(String, State)]) -> String {
    let statuses = group
        .iter()
        .map(|(_, state)| state.status.map_or("unreadable", Word::as_str).to_owned());
    let statuses = once(statuses.collect());
    let count = group.len();
    if statuses.len() > 1 {
        return format!(
            "is given with {count} different states: {}",
            statuses.join(", ")
        );
    }
    format!("is given {count} times with different `needs_human` or `depends_on`")
}

/// Take away, again and again, who waits for nobody. What is left are circles and who waits for them:
/// for each of those, the first that it waits for. Not recursive, linear in the dependencies.
fn left_waiting(waiting: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut waited_for_by: Vec<Vec<usize>> = vec![Vec::new(); waiting.len()];
    let mut count: Vec<usize> = waiting.iter().map(Vec::len).collect();
    for (index, others) in waiting.iter().enumerate() {
        for other in others {
            if let Some(list) = waited_for_by.get_mut(*other) {
                list.push(index);
            }
        }
    }
    let mut free: Vec<usize> = (0..count.len())
        .filter(|index| count.get(*index) == Some(&0))
        .collect();
    while let Some(index) = free.pop() {
        for other in waited_for_by.get(index).into_iter().flatten() {
            if let Some(left) = count.get_mut(*other) {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    free.push(*other);
                }
            }
        }
    }
    let is_left = |index: &usize| count.get(*index).is_some_and(|left| *left > 0);
    waiting
        .iter()
        .enumerate()
        .map(|(index, others)| {
            others
                .iter()
                .copied()
                .find(is_left)
                .filter(|_| is_left(&index))
        })
        .collect()
}

fn issues(count: usize) -> String {
    match count {
        1 => "1 issue".to_owned(),
        count => format!("{count} issues"),
    }
}

/// The first few ids, and how many more there are.
fn name_some<'i>(ids: impl Iterator<Item = &'i str>) -> String {
    let mut names = Vec::new();
    let mut more = 0_usize;
    for id in ids {
        if names.len() < MAX_NAMED {
            names.push(shorten(id));
        } else {
            more += 1;
        }
    }
    let names = names.join(", ");
    match more {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// `id status`, `id status! ` for one that needs a human, then the ids it depends on.
    fn issue(text: &str) -> Issue {
        let mut words = text.split(' ');
        let id = words.next().unwrap().to_owned();
        let status = words.next().unwrap_or_default();
        Issue {
            id,
            status: status.trim_end_matches('!').to_owned(),
            needs_human: status.ends_with('!'),
            depends_on: words.map(str::to_owned).collect(),
        }
    }

    fn states(lines: &[&str]) -> IssueStates {
        IssueStates {
            issues: lines.iter().map(|line| issue(line)).collect(),
            files: Vec::new(),
        }
    }

    fn file(path: &str, text: &str) -> IssueStates {
        IssueStates {
            issues: Vec::new(),
            files: vec![IssueFile {
                path: path.to_owned(),
                text: text.to_owned(),
            }],
        }
    }

    fn sentences(report: &SignalReport) -> Vec<String> {
        report.problems.iter().map(Problem::sentence).collect()
    }

    #[test]
    fn each_state_gives_its_signal_and_reason() {
        let table: [(&[&str], Signal, &str); 13] = [
            (&[], Signal::Done, "no issues"),
            (&["a done"], Signal::Done, "1 issue done, nothing remains"),
            (
                &["a done", "b blocked!"],
                Signal::Done,
                "1 issue done; what is blocked needs a human: b",
            ),
            (
                &["b blocked!"],
                Signal::Done,
                "0 issues done; what is blocked needs a human: b",
            ),
            (
                &["a proposed"],
                Signal::Continue,
                "1 issue can be worked on now: a",
            ),
            (
                &["a in_progress a2", "a2 blocked"],
                Signal::Continue,
                "1 issue can be worked on now: a",
            ),
            (
                &["b proposed a", "a done", "c blocked"],
                Signal::Continue,
                "1 issue can be worked on now: b",
            ),
            (
                &["b proposed", "a proposed", "z in_progress"],
                Signal::Continue,
                "3 issues can be worked on now: z, a, b",
            ),
            (
                &["a blocked", "b done"],
                Signal::Blocked,
                "all that remains is blocked: a",
            ),
            (
                &["a blocked", "b blocked!"],
                Signal::Blocked,
                "all that remains is blocked: a, b",
            ),
            (
                &["a proposed b", "b blocked"],
                Signal::Blocked,
                "1 issue proposed, each waiting for what is blocked: b",
            ),
            (
                &["a proposed b", "b blocked!"],
                Signal::Blocked,
                "1 issue proposed, each waiting for what is blocked: b",
            ),
            (
                &["a blocked outside"],
                Signal::Blocked,
                "all that remains is blocked: a",
            ),
        ];
        for (lines, signal, reason) in table {
            let report = decide(&states(lines));
            assert_eq!(
                (report.signal, report.reason.as_str()),
                (signal, reason),
                "{lines:?}"
            );
            assert_eq!(report.problems, [], "{lines:?}");
        }
    }

    #[test]
    fn contradictions_are_errors_that_name_the_issue() {
        let table: [(&[&str], &[&str]); 12] = [
            (
                &["a done", "a proposed"],
                &["`issues[a]` is given with 2 different states: done, proposed; keep one of them"],
            ),
            (
                &["a blocked", "a blocked!"],
                &[
                    "`issues[a]` is given 2 times with different `needs_human` or `depends_on`; keep one of them",
                ],
            ),
            (
                &["a proposed a"],
                &["`issues[a]` depends on itself; remove one of the dependencies"],
            ),
            (
                &[
                    "a proposed b",
                    "b blocked c",
                    "c in_progress a",
                    "d proposed a",
                    "e done",
                ],
                &["`issues[a]` waits in a circle with b, c; remove one of the dependencies"],
            ),
            (
                &[
                    "a proposed b",
                    "b proposed a",
                    "y proposed x",
                    "x proposed y b",
                ],
                &["`issues[a]` waits in a circle with b; remove one of the dependencies"],
            ),
            (
                &[
                    "a proposed b",
                    "b proposed a",
                    "y proposed x",
                    "x proposed y",
                ],
                &[
                    "`issues[a]` waits in a circle with b; remove one of the dependencies",
                    "`issues[x]` waits in a circle with y; remove one of the dependencies",
                ],
            ),
            (
                &["login proposed logn"],
                &["`issues[login]` depends on `logn`, which is not given; did you mean `login`?"],
            ),
            (
                &["a in_progress other-thing"],
                &[
                    "`issues[a]` depends on `other-thing`, which is not given; add that issue, or remove the dependency",
                ],
            ),
            (
                &["a done b", "b proposed"],
                &[
                    "`issues[a]` is done, but depends on `b`, which is proposed; \
                     correct the status of one of them, or remove the dependency",
                ],
            ),
            (
                &["a in-progress"],
                &[
                    "`issues[a].status` `in-progress` is not one of proposed, in_progress, blocked, done; did you mean `in_progress`?",
                ],
            ),
            (
                &["a finished", "b proposed a"],
                &[
                    "`issues[a].status` `finished` is not one of proposed, in_progress, blocked, done",
                ],
            ),
            (
                &[" done"],
                &["`issues[]` an issue with the status `done` has no id; give each issue an id"],
            ),
        ];
        for (lines, problems) in table {
            let report = decide(&states(lines));
            assert_eq!(report.signal, Signal::Error, "{lines:?}");
            assert_eq!(sentences(&report), problems, "{lines:?}");
            assert_eq!(report.selectable, Vec::<String>::new(), "{lines:?}");
        }
    }

    #[test]
    fn what_is_no_contradiction_is_accepted() {
        for lines in [
            &["a done", "a done"][..],
            &["a done b"],
            &["a done a"],
            &["a blocked b", "b done"],
            &["a proposed b b", "a proposed b", "b done"],
        ] {
            assert_eq!(decide(&states(lines)).problems, [], "{lines:?}");
        }
    }

    #[test]
    fn the_reason_of_an_error_names_the_first_problem() {
        let report = decide(&states(&["a x", "b y"]));
        assert_eq!(
            report.reason,
            "2 problems; the first: issues[a].status: `x` is not one of proposed, in_progress, blocked, done"
        );
    }

    #[test]
    fn the_json_form_has_the_fields_of_the_wit() {
        assert_eq!(
            serde_json::to_string(&decide(&states(&["a in_progress", "b done"]))).unwrap(),
            r#"{"signal":"LOOP_CONTINUE","reason":"1 issue can be worked on now: a","selectable":["a"],"proposed":0,"in_progress":1,"blocked":0,"done":1,"problems":[]}"#
        );
    }

    #[test]
    fn files_give_their_state_in_the_front_matter() {
        for (path, text, id) in [
            ("issues/a.md", "---\nstatus: proposed\n---\n# A\n", "a"),
            ("issues/a.b.md", "---\nstatus: proposed\n---", "a.b"),
            (
                "C:\\issues\\007.md",
                "\u{feff}---\r\nstatus: proposed\r\nneeds_human: false\r\n---\r\nstatus: done\r\n",
                "007",
            ),
            (".hidden", "---\nstatus: proposed\n---\n", ".hidden"),
            (
                "x.md",
                "---\nid: 007\nstatus: \"proposed\" # c\nlabels: [a, {b: c}]\nblocked_by:\n---\n---\n",
                "007",
            ),
            (
                "x.md",
                "---\nid: 'y z'\nstatus: proposed\ndepends_on: []\n---\n",
                "y z",
            ),
        ] {
            let report = decide(&file(path, text));
            assert_eq!(sentences(&report), Vec::<String>::new(), "{text:?}");
            assert_eq!(report.selectable, [id], "{text:?}");
        }
    }

    #[test]
    fn dependencies_in_files_are_one_id_or_a_list() {
        for dependencies in [
            "depends_on: 007",
            "blocked_by: [007, '8']",
            "depends_on:\n- 007\nblocked_by: 8",
            "depends_on: [007, 007]",
        ] {
            let mut states = file(
                "x.md",
                &format!("---\nstatus: proposed\n{dependencies}\n---\n"),
            );
            states.issues = vec![issue("007 done"), issue("8 done")];
            assert_eq!(decide(&states).selectable, ["x"], "{dependencies}");
            states.issues = vec![issue("007 blocked"), issue("8 done")];
            assert_eq!(decide(&states).signal, Signal::Blocked, "{dependencies}");
        }
    }

    #[test]
    fn files_that_can_not_be_read_are_errors_with_their_place() {
        for (text, problem) in [
            (
                "",
                "line 1, column 1: `files[i/x.md]` there is no front matter; the file must begin with a line `---`, then the fields, then another line `---`",
            ),
            (
                "---\nstatus: done\n",
                "line 1, column 1: `files[i/x.md]` the front matter that begins here does not end; add a line `---` between it and the text",
            ),
            (
                "---\nid: a\n---\n",
                "line 2, column 1: `files[i/x.md].status` is missing",
            ),
            (
                "---\n---\n",
                "line 2, column 1: `files[i/x.md]` must be an object, not null",
            ),
            (
                "---\na: b\nstatus: Done\n---\n",
                "line 3, column 9: `files[i/x.md].status` `Done` is not one of proposed, in_progress, blocked, done; did you mean `done`?",
            ),
            (
                "---\nstatus: 3\n---\n",
                "line 2, column 9: `files[i/x.md].status` must be a string, not the number 3",
            ),
            (
                "---\nstatus: blocked\nneeds_human: yes\n---\n",
                "line 3, column 14: `files[i/x.md].needs_human` must be true or false, not the string \"yes\"",
            ),
            (
                "---\nstatus: done\ndepends_on: [a, {b: c}]\n---\n",
                "line 3, column 17: `files[i/x.md].depends_on[1]` must be a string, not an object",
            ),
            (
                "---\nstatus: done\nstatus: done\n---\n",
                "line 3, column 1: `files[i/x.md]` the key `status` appears twice",
            ),
        ] {
            let report = decide(&file("i/x.md", text));
            assert_eq!(report.signal, Signal::Error, "{text:?}");
            assert_eq!(sentences(&report), [problem], "{text:?}");
        }
        let report = decide(&file("", "---\nstatus: done\n---\n"));
        assert_eq!(
            sentences(&report),
            [
                "line 1, column 1: `files[].id` is missing, and the file has no name to take it from; add a line such as `id: fix-login`"
            ]
        );
    }

    #[test]
    fn data_and_files_are_one_state() {
        let mut both = file("a.md", "---\nstatus: proposed\ndepends_on: b\n---\n");
        both.issues = vec![issue("b done")];
        assert_eq!(decide(&both).selectable, ["a"]);
        both.issues.push(issue("a done"));
        assert_eq!(decide(&both).signal, Signal::Error);
    }

    /// A small deterministic generator.
    struct Random(u64);

    impl Random {
        fn next(&mut self, below: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from((self.0 >> 33) % below as u64).unwrap()
        }

        fn states(&mut self) -> IssueStates {
            const STATUSES: [&str; 9] = [
                "proposed",
                "proposed",
                "proposed",
                "in_progress",
                "blocked",
                "blocked!",
                "done",
                "done",
                "odd",
            ];
            let count = self.next(7);
            let mut all = IssueStates::default();
            for index in 0..count {
                // Mostly different ids, and mostly dependencies on earlier ones.
                let index = if self.next(20) == 0 { 0 } else { index };
                let kinds = if self.next(10) == 0 { 9 } else { 8 };
                let status = STATUSES[self.next(kinds)];
                let mut line = format!("i{index} {status}");
                while self.next(3) == 0 {
                    let other = if self.next(6) == 0 {
                        self.next(8)
                    } else {
                        self.next(index + 1)
                    };
                    line = format!("{line} i{other}");
                }
                let issue = issue(&line);
                if self.next(3) == 0 {
                    let text = format!(
                        "---\nstatus: {}\nneeds_human: {}\ndepends_on: [{}]\n---\n",
                        issue.status,
                        issue.needs_human,
                        issue.depends_on.join(", ")
                    );
                    all.files.push(IssueFile {
                        path: format!("{}.md", issue.id),
                        text,
                    });
                } else {
                    all.issues.push(issue);
                }
            }
            all
        }

        fn shuffle<T>(&mut self, list: &mut [T]) {
            for end in (1..list.len()).rev() {
                list.swap(end, self.next(end + 1));
            }
        }
    }

    #[test]
    fn the_order_of_the_input_changes_nothing() {
        let mut random = Random(5);
        let mut seen: BTreeMap<Signal, usize> = BTreeMap::new();
        for round in 0..4000 {
            let mut states = random.states();
            let report = decide(&states);
            *seen.entry(report.signal).or_default() += 1;
            for _ in 0..3 {
                random.shuffle(&mut states.issues);
                random.shuffle(&mut states.files);
                for issue in &mut states.issues {
                    issue.depends_on.reverse();
                }
                assert_eq!(decide(&states), report, "round {round}: {states:?}");
            }
            assert_eq!(
                report.signal == Signal::Continue,
                !report.selectable.is_empty(),
                "round {round}"
            );
            assert_eq!(
                report.signal == Signal::Error,
                !report.problems.is_empty(),
                "round {round}"
            );
            if report.signal == Signal::Done {
                assert_eq!(report.proposed + report.in_progress, 0, "round {round}");
            }
            if report.signal == Signal::Blocked {
                assert!(report.blocked > 0, "round {round}: {states:?}");
            }
        }
        assert_eq!(seen.len(), 4, "every signal was seen: {seen:?}");
    }

    #[test]
    fn a_circle_is_found_exactly_when_there_is_one() {
        let mut random = Random(6);
        for round in 0..3000 {
            let count = random.next(7) + 1;
            let edges: Vec<(usize, usize)> = (0..random.next(9))
                .map(|_| (random.next(count), random.next(count)))
                .collect();
            let issues = (0..count).map(|index| Issue {
                id: format!("i{index}"),
                status: "proposed".to_owned(),
                needs_human: false,
                depends_on: edges
                    .iter()
                    .filter(|(from, _)| *from == index)
                    .map(|(_, to)| format!("i{to}"))
                    .collect(),
            });
            let states = IssueStates {
                issues: issues.collect(),
                files: Vec::new(),
            };
            // Reachability by brute force.
            let mut reach = edges.clone();
            loop {
                let mut more: Vec<(usize, usize)> = Vec::new();
                for (a, b) in &reach {
                    for (c, d) in &edges {
                        if b == c && !reach.contains(&(*a, *d)) && !more.contains(&(*a, *d)) {
                            more.push((*a, *d));
                        }
                    }
                }
                if more.is_empty() {
                    break;
                }
                reach.extend(more);
            }
            let has_circle = reach.iter().any(|(a, b)| a == b);
            let report = decide(&states);
            assert_eq!(
                report.signal == Signal::Error,
                has_circle,
                "round {round}: {edges:?}"
            );
        }
    }

    #[test]
    fn large_states_take_near_linear_time_and_a_bounded_report() {
        let chain: Vec<Issue> = (0..50_000)
            .map(|index| issue(&format!("i{index} proposed i{}", (index + 1) % 50_000)))
            .collect();
        let report = decide(&IssueStates {
            issues: chain,
            files: Vec::new(),
        });
        assert_eq!(report.problems.len(), 1);
        assert!(report.reason.len() < 300, "{}", report.reason);

        let unknown: Vec<Issue> = (0..20_000)
            .map(|index| issue(&format!("i{index} odd")))
            .collect();
        let report = decide(&IssueStates {
            issues: unknown,
            files: Vec::new(),
        });
        assert_eq!(report.problems.len(), MAX_PROBLEMS);
        assert!(
            report
                .reason
                .starts_with("20000 problems; the first: issues[i0].status"),
            "{}",
            report.reason
        );

        let missing: Vec<Issue> = (0..20_000)
            .map(|index| issue(&format!("i{index} proposed x{index}")))
            .collect();
        assert_eq!(
            decide(&IssueStates {
                issues: missing,
                files: Vec::new()
            })
            .problems
            .len(),
            MAX_PROBLEMS
        );

        let numbers = vec!["007"; 50_000].join(",");
        let report = decide(&file(
            "x.md",
            &format!("---\nstatus: proposed\ndepends_on: [{numbers}]\n---\n"),
        ));
        assert_eq!(report.problems.len(), 1);
    }

    #[test]
    fn the_json_face_takes_absent_fields_as_empty() {
        let decode = |text: &str| {
            let source = Source::new(text, TextFormat::Json);
            let node = source.read().unwrap();
            let mut decoder = Decoder::new(source);
            let states = IssueStates::decode(&mut decoder, &node, Path::Root);
            (states, decoder.into_problems())
        };
        assert_eq!(decode("{}"), (Some(IssueStates::default()), Vec::new()));
        let (states, problems) =
            decode(r#"{"issues": [{"id": "a", "status": "done"}], "files": [{"path": "p"}]}"#);
        assert_eq!(problems, []);
        let states = states.unwrap();
        assert_eq!(states.issues, [issue("a done")]);
        assert_eq!(
            states.files,
            [IssueFile {
                path: "p".to_owned(),
                text: String::new()
            }]
        );
        let (_, problems) = decode(r#"{"issues": [{"id": 1, "state": "done"}]}"#);
        let paths: Vec<&str> = problems
            .iter()
            .map(|problem| problem.path.as_str())
            .collect();
        assert_eq!(paths, ["issues[0].id", "issues[0].state"]);
    }
}
