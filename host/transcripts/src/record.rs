//! What happens in a session, put together to runs. The readers of the clients tell it what they find.

use std::collections::{BTreeMap, BTreeSet};

use crate::claim;
use crate::client::Client;
use crate::command::{self, Command, Plan, Touch};
use crate::error::ImportError;
use crate::gate::Gate;
use crate::official::{self, News};
use crate::outcome::{self, Status};
use crate::printed::cut;
use crate::run::{
    Claim, Ending, Form, ImportedRun, LastTest, LoopEnd, OfficialLoop, Outcome, Subagent, Truth,
    Why,
};
use crate::seen::Seen;

/// The longest text of a turn that is kept, in bytes, and the longest command.
const LONGEST_TEXT: usize = 1 << 20;
const LONGEST_COMMAND: usize = 1000;
/// Calls whose answers are waited for.
const OPEN_CALLS: usize = 1000;

/// Who speaks to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    Person,
    /// A hook, the client, a task in the background.
    Machine,
}

/// What a message tells about its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The agent goes on.
    Goes,
    /// Nothing more is known to follow.
    Perhaps,
    /// It is over.
    Over,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Call {
    /// A command of the shell.
    Shell(String),
    /// A tool that changes files.
    Edit,
    /// A tool that only looks.
    Look,
    /// Any other.
    Other,
}

/// Whose call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    Agent,
    /// Where it works is not known, so its tests tell nothing; what it changes counts.
    Subagent,
}

/// Where the agent is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    NotBegun,
    /// Somebody asked, or a tool was called.
    Working,
    /// It said something, and called nothing yet.
    Said,
    /// It ended its turn.
    Ended,
    Interrupted,
    Failed,
}

struct Test {
    call: String,
    command: String,
    plan: Plan,
    runner: Runner,
    told: Option<(Outcome, String)>,
}

/// What runs a command's tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Known,
    /// Only the summary that it prints counts.
    Unknown,
}

/// A command of a program that is not known, until it has answered.
struct Unknown {
    command: String,
    plan: Plan,
    /// How often something may have changed files, this command included.
    touches: u64,
}

/// One run, as far as it is known.
#[derive(Default)]
struct Run {
    first_ms: Option<u64>,
    last_ms: Option<u64>,
    iterations: u32,
    tool_calls: u64,
    tokens: Option<u64>,
    model: Option<String>,
    state: State,
    /// Something of the agent is in it.
    worked: bool,
    message: Option<String>,
    text: String,
    /// The text is longer than what is kept.
    too_long: bool,
    promised: u32,
    wanted: Option<String>,
    test: Option<Test>,
    touch: Touch,
    /// How often something may have changed files.
    touches: u64,
    /// Edits that were not answered yet.
    edits: BTreeSet<String>,
    /// Commands of programs that are not known, by their calls.
    unknown: BTreeMap<String, Unknown>,
    official: Option<OfficialLoop>,
    /// The hook sent the agent back since its last turn ended.
    sent_back: bool,
    /// The hook said how the loop ended, or it was canceled.
    is_over: bool,
}

/// Puts the runs of one session together.
pub(crate) struct Recorder<'g> {
    gate: &'g dyn Gate,
    client: Client,
    each_prompt: bool,
    file: String,
    session: Option<String>,
    version: Option<String>,
    project: Option<String>,
    model: Option<String>,
    cost: Option<String>,
    /// Tokens of the whole session that runs before this one had.
    tokens_before: u64,
    tokens_in_all: u64,
    used: Seen,
    calls: Seen,
    setups: BTreeSet<String>,
    run: Run,
    runs: Vec<ImportedRun>,
    failure: Option<ImportError>,
}

impl<'g> Recorder<'g> {
    pub(crate) fn new(gate: &'g dyn Gate, client: Client, file: &str, each_prompt: bool) -> Self {
        Self {
            gate,
            client,
            each_prompt,
            file: file.to_owned(),
            session: None,
            version: None,
            project: None,
            model: None,
            cost: None,
            tokens_before: 0,
            tokens_in_all: 0,
            used: Seen::default(),
            calls: Seen::default(),
            setups: BTreeSet::new(),
            run: Run::default(),
            runs: Vec::new(),
            failure: None,
        }
    }

    /// The name of the session; the first one counts.
    pub(crate) fn session(&mut self, session: Option<String>) {
        keep_first(&mut self.session, session);
    }

    /// The client's version.
    pub(crate) fn version(&mut self, version: Option<String>) {
        keep_first(&mut self.version, version);
    }

    /// The folder that is worked in.
    pub(crate) fn project(&mut self, project: Option<String>) {
        keep_first(&mut self.project, project);
    }

    /// Something happened at this moment.
    pub(crate) fn at(&mut self, ms: Option<u64>) {
        let Some(ms) = ms else { return };
        // Lines may be out of order.
        let first = self.run.first_ms.map_or(ms, |first| first.min(ms));
        let last = self.run.last_ms.map_or(ms, |last| last.max(ms));
        (self.run.first_ms, self.run.last_ms) = (Some(first), Some(last));
    }

    /// Which model answers.
    pub(crate) fn model(&mut self, model: Option<String>) {
        if let Some(model) = model.filter(|model| !model.is_empty() && !model.starts_with('<')) {
            self.model = Some(model.clone());
            self.run.model = Some(model);
        }
    }

    /// What a message used; parts of one message say so again.
    pub(crate) fn used(&mut self, message: &str, tokens: u64) {
        let more = self.used.more(message, tokens);
        let sum = self.run.tokens.unwrap_or(0).saturating_add(more);
        self.run.tokens = Some(sum);
    }

    /// What the session used until now.
    pub(crate) fn used_in_all(&mut self, tokens: u64) {
        self.tokens_in_all = self.tokens_in_all.max(tokens);
        let run = self.tokens_in_all.saturating_sub(self.tokens_before);
        self.run.tokens = Some(run);
    }

    /// What the session cost until now.
    pub(crate) fn cost_in_all(&mut self, cost: Option<String>) {
        self.cost = cost;
    }

    /// Somebody speaks to the agent.
    pub(crate) fn prompt(&mut self, voice: Voice, text: &str) {
        self.settle();
        if voice == Voice::Person && matches!(text.trim(), "/exit" | "/quit") {
            // It ends the client, and the agent never hears of it.
            return;
        }
        match voice {
            Voice::Person => self.asked(text),
            Voice::Machine => {
                if self.run.state != State::NotBegun {
                    self.run.state = State::Working;
                }
            }
        }
    }

    fn asked(&mut self, text: &str) {
        let cancels = official::is_cancel(text);
        if let Some(official) = &mut self.run.official
            && cancels
            && !self.run.is_over
        {
            official.ended = LoopEnd::Canceled;
            self.run.is_over = true;
        }
        let left_alone = self.run.state == State::Ended && !self.run.sent_back;
        let loop_is_over = self.run.official.is_some() && (self.run.is_over || left_alone);
        if self.run.worked
            && !cancels
            && (loop_is_over || self.each_prompt && self.run.official.is_none())
        {
            self.cut();
        }
        match claim::first_tag(cut(text, LONGEST_TEXT), self.gate) {
            Ok(Some(wanted)) => self.run.wanted = Some(wanted),
            Ok(None) => {}
            Err(error) => self.fail(error),
        }
        self.run.state = State::Working;
    }

    /// News of an official loop.
    pub(crate) fn news(&mut self, news: News) {
        match news {
            News::Began(official) => {
                self.settle();
                if self.run.worked {
                    self.cut();
                }
                self.run.wanted.clone_from(&official.completion_promise);
                self.run.official = Some(official);
                self.run.is_over = false;
            }
            News::Goes { iteration, promise } => {
                self.settle();
                let official = self.run.official.get_or_insert_default();
                official.iteration = official.iteration.max(iteration);
                if promise.is_some() {
                    official.completion_promise.clone_from(&promise);
                    self.run.wanted = promise;
                }
                self.run.sent_back = true;
            }
            News::Over(end) => {
                self.settle();
                if let Some(official) = &mut self.run.official
                    && !self.run.is_over
                {
                    official.ended = end;
                    self.run.is_over = true;
                }
            }
        }
    }

    /// The agent says something. Parts of one message have the same id.
    pub(crate) fn said(&mut self, message: Option<String>, text: &str, turn: Turn) {
        self.run.worked = true;
        if message.is_none() || message != self.run.message {
            self.settle_before_message();
            self.run.text.clear();
            self.run.too_long = false;
            self.run.message = message;
        }
        if !text.is_empty() {
            if !self.run.text.is_empty() {
                self.run.text.push('\n');
            }
            let room = LONGEST_TEXT.saturating_sub(self.run.text.len());
            self.run.too_long |= text.len() > room;
            self.run.text.push_str(cut(text, room));
        }
        self.run.sent_back = false;
        let is_end = match turn {
            Turn::Over => true,
            Turn::Goes => false,
            // Without a text, it is a thought beside one that was said.
            Turn::Perhaps => !text.is_empty() || self.run.state == State::Said,
        };
        self.run.state = if is_end { State::Said } else { State::Working };
    }

    /// The same text again, as a whole: what was noted of the message before is replaced.
    pub(crate) fn said_again(&mut self, message: Option<String>, text: &str, turn: Turn) {
        if message.is_some() && message == self.run.message {
            self.run.text.clear();
        }
        self.said(message, text, turn);
    }

    /// A second message without a prompt between: the first was not the end of the turn.
    fn settle_before_message(&mut self) {
        if self.run.state == State::Said {
            self.run.state = State::Working;
        }
    }

    /// A tool is called.
    pub(crate) fn called(&mut self, id: &str, caller: Caller, call: Call) {
        self.run.worked = true;
        if !self.calls.is_new(id) {
            return;
        }
        self.run.tool_calls += 1;
        if caller == Caller::Agent {
            self.run.state = State::Working;
        }
        match call {
            Call::Look => {}
            Call::Edit => {
                self.run.touches += 1;
                if self.run.edits.len() < OPEN_CALLS {
                    self.run.edits.insert(id.to_owned());
                } else {
                    self.run.touch = Touch::Yes;
                }
            }
            Call::Other => self.touched(Touch::Perhaps),
            Call::Shell(command) => self.ran(id, caller, &command),
        }
    }

    fn ran(&mut self, id: &str, caller: Caller, command: &str) {
        if official::is_setup(command) && self.setups.len() < OPEN_CALLS {
            self.setups.insert(id.to_owned());
        }
        match (command::of(command), caller) {
            (Command::Test(plan), Caller::Agent) => self.tests(id, command, plan, Runner::Known),
            (Command::Test(plan), Caller::Subagent) => self.touched(plan.touch),
            (Command::Unknown { plan, seems_test }, Caller::Agent) if seems_test => {
                self.tests(id, command, plan, Runner::Unknown);
            }
            (Command::Unknown { plan, .. }, Caller::Agent) => {
                self.touched(Touch::Perhaps);
                if self.run.unknown.len() < OPEN_CALLS {
                    let unknown = Unknown {
                        command: cut(command, LONGEST_COMMAND).to_owned(),
                        plan,
                        touches: self.run.touches,
                    };
                    self.run.unknown.insert(id.to_owned(), unknown);
                }
            }
            (Command::Unknown { .. }, Caller::Subagent) => self.touched(Touch::Perhaps),
            (Command::Other(touch), _) => self.touched(touch),
        }
    }

    /// A command that runs tests begins.
    fn tests(&mut self, id: &str, command: &str, plan: Plan, runner: Runner) {
        self.run.edits.clear();
        self.run.touches += 1;
        self.run.touch = plan.touch;
        self.run.test = Some(Test {
            call: id.to_owned(),
            command: cut(command, LONGEST_COMMAND).to_owned(),
            plan,
            runner,
            told: None,
        });
    }

    /// A command of a program that is not known has ended: it ran tests if it printed a summary of them.
    fn unknown_ended(&mut self, id: &str, status: &Status, text: &str) {
        if matches!(status, Status::Unfinished(_)) {
            return;
        }
        let Some(unknown) = self.run.unknown.remove(id) else {
            return;
        };
        let Some(told) = outcome::judge_unknown(unknown.plan, status, text) else {
            return;
        };
        // Where something else was begun meanwhile, it may have changed files after the tests.
        if self.run.touches == unknown.touches {
            self.run.touch = unknown.plan.touch;
        }
        self.run.test = Some(Test {
            call: id.to_owned(),
            command: unknown.command,
            plan: unknown.plan,
            runner: Runner::Unknown,
            told: Some(told),
        });
    }

    fn touched(&mut self, touch: Touch) {
        self.run.touches += u64::from(touch != Touch::No);
        self.run.touch = self.run.touch.max(touch);
    }

    /// Files were changed, by whatever tool.
    pub(crate) fn changed_files(&mut self) {
        self.run.touches += 1;
        self.run.touch = Touch::Yes;
    }

    /// A tool answers.
    pub(crate) fn answered(&mut self, id: &str, status: &Status, text: &str) {
        if self.run.edits.remove(id) && !matches!(status, Status::Exit(code) if *code != 0) {
            self.run.touch = Touch::Yes;
        }
        if let Some(test) = &mut self.run.test
            && test.call == id
        {
            test.told = Some(match test.runner {
                Runner::Known => outcome::judge(test.plan, status, text),
                Runner::Unknown => outcome::judge_unknown(test.plan, status, text)
                    .unwrap_or_else(|| outcome::unknown_runner(status)),
            });
        }
        self.unknown_ended(id, status, text);
        if self.setups.remove(id)
            && let Some(news) = official::began(text)
        {
            self.news(news);
        }
    }

    /// The client says that the turn is over.
    pub(crate) fn turn_over(&mut self) {
        if self.run.state == State::Working && self.run.worked {
            // It ended without a word; what was said before a tool is not its end.
            self.run.text.clear();
            self.run.state = State::Said;
        }
        self.settle();
    }

    /// A person interrupted the agent.
    pub(crate) fn interrupted(&mut self) {
        if self.run.worked || self.run.state == State::Working {
            self.run.state = State::Interrupted;
        }
    }

    /// The client or the model gave up.
    pub(crate) fn failed(&mut self) {
        self.run.worked = true;
        self.run.state = State::Failed;
    }

    /// What was said was the end of a turn.
    fn settle(&mut self) {
        if self.run.state != State::Said {
            return;
        }
        self.run.state = State::Ended;
        self.run.iterations = self.run.iterations.saturating_add(1);
        match self.claim_now() {
            Ok(claim) if claim.form == Form::Accepted => self.run.promised += 1,
            Ok(_) => {}
            Err(error) => self.fail(error),
        }
    }

    fn claim_now(&self) -> Result<Claim, ImportError> {
        if self.run.too_long {
            return Ok(Claim::default());
        }
        claim::of(&self.run.text, self.run.wanted.as_deref(), self.gate)
    }

    fn fail(&mut self, error: ImportError) {
        self.failure.get_or_insert(error);
    }

    /// The run is over, and another one begins.
    fn cut(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        self.tokens_before = self.tokens_in_all;
        self.run.model.clone_from(&self.model);
        self.finish_run(&mut run, false);
    }

    fn finish_run(&mut self, run: &mut Run, is_torn: bool) {
        std::mem::swap(run, &mut self.run);
        let claim = self.claim_now();
        let ended = self.loop_end();
        std::mem::swap(run, &mut self.run);
        let (mut claim, ended) = match (claim, ended) {
            (Ok(claim), Ok(ended)) => (claim, ended),
            (Err(error), _) | (_, Err(error)) => return self.fail(error),
        };
        let is_silent = run.text.is_empty() && run.state != State::Ended;
        // The end of the transcript may have been a promise.
        if claim.form == Form::None && (is_torn || is_silent) {
            claim = Claim::default();
        }
        claim.turns = run.promised;
        if let Some(official) = &mut run.official {
            official.ended = ended;
        }
        let ending = ending(run, is_torn);
        let stale = match run.touch {
            _ if !run.edits.is_empty() => Some(true),
            Touch::Yes => Some(true),
            Touch::Perhaps => None,
            Touch::No => Some(false),
        };
        let last_test = run.test.take().map(|test| {
            let (outcome, detail) = test.told.unwrap_or_else(|| {
                let detail = "its result is not in the transcript".to_owned();
                (Outcome::Unknown, detail)
            });
            LastTest {
                command: test.command,
                outcome,
                detail,
                stale,
            }
        });
        let elapsed = run
            .first_ms
            .zip(run.last_ms)
            .map(|(first, last)| last - first);
        let mut imported = ImportedRun {
            id: String::new(),
            client: self.client,
            client_version: self.version.clone(),
            session: self.session.clone(),
            file: self.file.clone(),
            project: self.project.clone(),
            started_at_ms: run.first_ms,
            ended_at_ms: run.last_ms,
            iterations: run.iterations,
            elapsed_ms: elapsed,
            tool_calls: run.tool_calls,
            tokens: run.tokens,
            cost_usd: None,
            model: run.model.take(),
            claim,
            last_test,
            official_loop: run.official.take(),
            ending,
            truth: Truth::Unknown,
            why: Why::NoTest,
            task: None,
            task_class: None,
            labels: BTreeMap::new(),
        };
        imported.judge();
        self.runs.push(imported);
    }

    /// How the loop of this run ended: what the hook said, or what follows from the plugin's own rules where the agent
    /// ended its turn and was not sent back.
    fn loop_end(&self) -> Result<LoopEnd, ImportError> {
        let Some(official) = &self.run.official else {
            return Ok(LoopEnd::Unknown);
        };
        if self.run.is_over || self.run.state != State::Ended || self.run.sent_back {
            return Ok(official.ended);
        }
        // It looks at the number before it looks at the promise.
        if official
            .max_iterations
            .is_some_and(|max| max > 0 && official.iteration >= max)
        {
            return Ok(LoopEnd::MaxIterations);
        }
        let first = claim::first_tag(&self.run.text, self.gate)?;
        Ok(match (first, &official.completion_promise) {
            (Some(first), Some(promise)) if first == *promise => LoopEnd::Completed,
            _ => LoopEnd::Unknown,
        })
    }

    /// What a subagent used, whose transcript this is.
    pub(crate) fn spent(&self, parent: Option<String>) -> Subagent {
        let tokens = self.runs.iter().filter_map(|run| run.tokens);
        let tokens = tokens.chain(self.run.tokens).reduce(u64::saturating_add);
        let calls = self.runs.iter().map(|run| run.tool_calls);
        let begun = self.runs.first().and_then(|run| run.started_at_ms);
        Subagent {
            client: self.client,
            session: parent,
            started_at_ms: begun.or(self.run.first_ms),
            tokens,
            tool_calls: calls
                .chain([self.run.tool_calls])
                .fold(0, u64::saturating_add),
        }
    }

    /// The name of the session, as far as it is known.
    pub(crate) fn session_name(&self) -> Option<String> {
        self.session.clone()
    }

    /// The transcript is over. `is_torn`: its last line could not be read.
    pub(crate) fn finish(
        mut self,
        is_torn: bool,
        stem: &str,
    ) -> Result<Vec<ImportedRun>, ImportError> {
        self.settle();
        if self.run.worked {
            let mut run = std::mem::take(&mut self.run);
            self.finish_run(&mut run, is_torn);
        }
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let name = self.session.as_deref().unwrap_or(stem);
        let id = format!("{}:{}", self.client.as_str(), cut(name, 200));
        for (number, run) in self.runs.iter_mut().enumerate() {
            run.id = match number {
                0 => id.clone(),
                number => format!("{id}#{}", number + 1),
            };
        }
        // What the session cost is what its run cost, if it was one.
        if let [only] = self.runs.as_mut_slice() {
            only.cost_usd = self.cost;
        }
        Ok(self.runs)
    }
}

fn ending(run: &Run, is_torn: bool) -> Ending {
    if let Some(official) = &run.official {
        match official.ended {
            LoopEnd::MaxIterations => return Ending::MaxIters,
            LoopEnd::Canceled => return Ending::ContextCanceled,
            LoopEnd::Failed => return Ending::Error,
            LoopEnd::Completed => return Ending::Released,
            LoopEnd::Active | LoopEnd::Unknown => {}
        }
    }
    match run.state {
        // A loop that let its agent go for a reason that nobody noted.
        State::Ended if run.official.is_some() => Ending::Unknown,
        State::Ended if is_torn => Ending::Unknown,
        State::Ended => Ending::Released,
        State::Interrupted => Ending::ContextCanceled,
        State::Failed => Ending::Error,
        State::Working | State::Said => Ending::Crashed,
        State::NotBegun => Ending::Unknown,
    }
}

fn keep_first(place: &mut Option<String>, value: Option<String>) {
    if place.is_none() {
        *place = value.filter(|value| !value.is_empty());
    }
}
