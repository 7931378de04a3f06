//! What is to be done: the configuration's contract and perhaps a request, routed by the gate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ralph_gate_component::tree::{At, Entry, Node, Source, TextFormat, Value};
use serde::Deserialize;
use serde_json::json;

use super::check::Check;
use super::draft::in_order;
use super::error::{ConfigError, nothing_asked};
use super::given::Added;
use super::place::End;
use super::survey::started_files;
use super::{Config, format_of, json as texts, place, read_text};
use crate::engine::{
    CallError, GateEngine, GateError, LoopFile, Mode, Outcome, Problem, RouteReason, Routing,
};
use crate::memory::SessionKey;

/// Which promises count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Promises {
    /// As the contract says.
    #[default]
    Contract,
    /// As the official Ralph plugin has it: the first tag anywhere, and an answer that is nothing but the promised text.
    Official,
}

/// Who asks for a loop, and what for: a file with the fields of a contract and a few more.
#[derive(Debug, Clone)]
pub struct Request {
    file: PathBuf,
    text: String,
    format: TextFormat,
}

impl Request {
    /// A request that no person wrote, as JSON. Problems are reported as if it were in that file.
    pub fn from_json(file: &Path, text: &str) -> Self {
        Self {
            file: file.to_owned(),
            text: text.to_owned(),
            format: TextFormat::Json,
        }
    }

    /// What a loop file asks for. Its 0 means without end, which the gate does not know: there the profile's limit holds.
    ///
    /// A file without a promise asks for that many iterations; where there is no configuration either, the contract still
    /// needs something to be proven, even if nobody will claim it.
    pub fn of_loop_file(
        file: &Path,
        asked: &LoopFile,
        promises: Promises,
        has_config: bool,
        at_most: Option<u32>,
    ) -> Self {
        let token = match &asked.completion_promise {
            None if !has_config => Some("COMPLETE"),
            promise => promise.as_deref(),
        };
        let lenient = (promises == Promises::Official).then_some("lenient");
        let fields = [
            ("mode", Some(json!("ralph"))),
            ("completion_token", token.map(|token| json!(token))),
            ("loop_max_iters", at_most.map(|most| json!(most))),
            ("promise_rules", lenient.map(|lenient| json!(lenient))),
        ];
        let fields = fields.into_iter();
        let said = fields.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Self::from_json(file, &serde_json::Value::Object(said.collect()).to_string())
    }

    /// Takes a text out of it that is none of the gate's, such as the task. None if there is none of that name.
    pub fn take_text(&mut self, name: &str) -> Result<Option<String>, ConfigError> {
        let tree = Tree::read(&self.file, &self.text, self.format)?;
        let found = tree.part(name).map(|node| node.value.clone());
        let Some(Value::String(found)) = found else {
            return Ok(None);
        };
        let found = found.into_owned();
        let others = entries(&tree.root).iter().filter(|entry| entry.key != name);
        let text =
            texts::object(others.map(|entry| (entry.key.as_ref(), texts::write(&entry.node))));
        self.text = text;
        self.format = TextFormat::Json;
        Ok(Some(found))
    }

    /// What it says.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads a file.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        let text = read_text(file)?;
        Ok(Self {
            format: format_of(file, &text),
            file: file.to_owned(),
            text,
        })
    }
}

/// A loop to be run, or not to be.
#[derive(Debug, Clone)]
pub struct Task {
    /// Where the gate sent it.
    pub routing: Routing,
    /// What of the contract the host itself goes by. None in standard mode.
    pub terms: Option<Terms>,
    /// Whose loop it is, if somebody said so.
    pub key: Option<SessionKey>,
    /// What kind of task it is, for reports.
    pub task_class: Option<String>,
    /// What it is marked with, for reports.
    pub labels: BTreeMap<String, String>,
    /// The files that say what is to be proven.
    pub files: Vec<PathBuf>,
    /// What is legal but weak, with the file that it is in.
    pub warnings: Vec<(PathBuf, Problem)>,
}

impl Task {
    /// What of the contract the host goes by. An error in standard mode, in which there is no loop.
    pub fn terms(&self) -> Result<Terms, ConfigError> {
        self.terms.clone().ok_or(ConfigError::Standard)
    }
}

/// What of the effective contract the host goes by.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Terms {
    /// The checks to run.
    pub completion_checks: Vec<NamedCheck>,
    /// The most iterations.
    pub loop_max_iters: u32,
    /// How long an iteration may take.
    pub per_iter_timeout_ms: u32,
    /// Whether an operator may complete the loop by hand.
    pub allow_override: bool,
    /// The most that it may cost.
    pub cost_budget_usd: Option<String>,
    /// The most tokens that it may use; 0 is off.
    #[serde(default)]
    pub max_tokens: u64,
}

impl Terms {
    /// The most iterations.
    pub fn at_most(&self) -> u32 {
        self.loop_max_iters
    }

    /// The checks that the contract names.
    pub fn named(&self) -> &[NamedCheck] {
        &self.completion_checks
    }
}

impl Config {
    /// A warning for each check that neither the contract nor a story asks for.
    pub fn never_run(&self, terms: &Terms) -> Vec<Problem> {
        let unused = self.checks.keys().filter(|id| !self.is_run(terms, id));
        let warning = |id: &String| Problem {
            path: format!("checks.{id}"),
            line: 0,
            column: 0,
            message: "is never run".to_owned(),
            help: Some("name it in `completion_checks` of [contract], or remove it".to_owned()),
        };
        self.located(unused.map(warning).collect())
    }

    /// Whether the contract or a story asks for a check.
    fn is_run(&self, terms: &Terms, id: &str) -> bool {
        let proves = |check: &Check| match check {
            Check::PrdAllPass { proofs } => proofs.values().flatten().any(|proof| proof == id),
            _ => false,
        };
        terms.named().iter().any(|named| named.id == id) || self.checks.values().any(proves)
    }
}

/// A check that the contract names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NamedCheck {
    /// Its id.
    pub id: String,
    /// Whether it must pass.
    pub required: bool,
    /// How often it may be rerun inside one iteration.
    pub retries: u32,
    /// The outcomes after which it may be rerun.
    #[serde(default)]
    pub retry_on: Vec<Outcome>,
}

impl Terms {
    /// From a contract in the canonical form that the gate gives.
    pub fn read(contract: &str) -> Option<Self> {
        serde_json::from_str(contract).ok()
    }
}

impl Config {
    /// The digest of how checks are run, what trips and what counts as progress: like the contract, it changes only when
    /// an operator says so.
    pub fn rules_digest(&self) -> String {
        let rules = serde_json::json!({
            "checks": self.checks, "tripwires": self.tripwires, "progress": self.progress,
        });
        blake3::hash(rules.to_string().as_bytes())
            .to_hex()
            .to_string()
    }

    /// What can't work: problems of the configuration and of checks that the command line gave, by their paths, and other
    /// problems of the command line.
    pub(crate) fn cannot_work(&self, problems: Vec<Problem>, others: Vec<Problem>) -> ConfigError {
        let (mut of_file, mut arguments) = (Vec::new(), Vec::new());
        for problem in problems {
            match self.given_at(&problem.path) {
                Some(path) => arguments.push(Problem { path, ..problem }),
                None => of_file.push(problem),
            }
        }
        arguments.extend(others);
        let problems = self.located(of_file);
        let mut all = problems.iter().chain(&arguments);
        let message = match (all.next(), all.count()) {
            (Some(only), 0) => {
                format!("the loop was not started: {}: {}", only.path, only.message)
            }
            (_, others) => format!("the loop was not started, for {} reasons", others + 1),
        };
        let message = if problems.is_empty() {
            message
        } else {
            format!("{}: {message}", self.file.display())
        };
        ConfigError::CannotWork {
            file: self.file.clone(),
            message,
            problems,
            arguments,
        }
    }

    /// The problems at their places in the file and in the order of its text. What is not in the file has no place.
    pub(crate) fn located(&self, problems: Vec<Problem>) -> Vec<Problem> {
        let tree = Tree::read(&self.file, &self.text, self.format);
        let located = problems.into_iter().map(|problem| {
            let tree = tree.as_ref().ok();
            let place = tree.and_then(|tree| place::locate(&tree.root, &problem.path, End::Value));
            match (tree, place) {
                (Some(tree), Some(at)) => placed(tree, at, problem.path.clone(), &problem),
                _ => problem,
            }
        });
        in_order(located.collect())
    }

    /// The digest of the whole text, the agent's section included.
    pub fn text_digest(&self) -> String {
        blake3::hash(self.text.as_bytes()).to_hex().to_string()
    }
}

impl Config {
    /// Asks the gate what becomes of this configuration, or of a request under it.
    ///
    /// A request's fields win over those of `[contract]`. Its mode is its own: one that asks for nothing gets nothing.
    pub fn route(&self, gate: &GateEngine, request: Option<&Request>) -> Result<Task, ConfigError> {
        self.route_as(gate, request, Start::NotAsked)
    }

    /// The same for somebody who starts a loop: that is the request, also where no mode is written.
    pub fn route_loop(
        &self,
        gate: &GateEngine,
        request: Option<&Request>,
    ) -> Result<Task, ConfigError> {
        self.route_as(gate, request, Start::Asked)
    }

    /// An error where nothing must hold although no mode is written: standard mode applies only where it is.
    pub fn ensure_asked(&self, task: &Task) -> Result<(), ConfigError> {
        if task.routing.reason != RouteReason::NotRequested {
            return Ok(());
        }
        Err(ConfigError::NothingAsked {
            file: self.file.clone(),
            checks: self.checks.keys().cloned().collect(),
        })
    }

    /// What [`Self::ensure_asked`] finds wrong, as a problem of the file. None where something is asked.
    pub(crate) fn not_asked(&self, task: &Task) -> Option<Problem> {
        let error = self.ensure_asked(task).err()?;
        let tree = Tree::read(&self.file, &self.text, self.format).ok()?;
        let path = ["contract", "checks"]
            .into_iter()
            .find(|name| tree.part(name).is_some())
            .unwrap_or_default();
        Some(Problem {
            path: path.to_owned(),
            line: 1,
            column: 1,
            message: nothing_asked(&self.checks.keys().cloned().collect::<Vec<_>>()),
            help: error.help().map(str::to_owned),
        })
    }

    fn route_as(
        &self,
        gate: &GateEngine,
        request: Option<&Request>,
        start: Start,
    ) -> Result<Task, ConfigError> {
        let tree = Tree::read(&self.file, &self.text, self.format)?;
        let asked = match request {
            Some(request) => Some(Tree::read(&request.file, &request.text, request.format)?),
            None => None,
        };
        let places = Places {
            config: &tree,
            request: asked.as_ref(),
            given: &self.given,
        };
        let routing = match gate.route(&places.request_json(start), &tree.policy_json()) {
            Ok(routing) => routing,
            Err(CallError::Gate(error)) => {
                let problems = self.all_problems(gate, &error, &places, start)?;
                return Err(places.error(error, &problems));
            }
            Err(CallError::Engine(error)) => return Err(error.into()),
        };
        let terms = routing.contract.as_deref().and_then(Terms::read);
        if let Some(terms) = &terms {
            self.ensure_checks_exist(terms, &places)?;
        }
        let unprovable = terms.as_ref().and_then(|terms| self.unprovable(terms));
        let unprotected = terms.as_ref().and_then(|terms| self.unprotected(terms));
        let warnings = routing.warnings.iter();
        let changeable = terms
            .as_ref()
            .map_or_else(Vec::new, |terms| self.changeable(terms));
        let warnings = warnings.chain(&unprovable).chain(&unprotected);
        let warnings = warnings.chain(&changeable);
        let warnings = warnings.map(|problem| places.place(problem)).collect();
        let text = |name| places.text(name);
        let key = match (text("session_key"), text("draft_id")) {
            (Some(key), _) => Some(SessionKey::Session(key)),
            (None, Some(id)) => Some(SessionKey::Draft(id)),
            (None, None) => self.memory_key(),
        };
        Ok(Task {
            terms: terms.filter(|_| routing.mode == Mode::Ralph),
            key,
            task_class: text("task_class"),
            labels: BTreeMap::new(),
            files: std::iter::once(self.file.clone())
                .chain(request.map(|request| request.file.clone()))
                .collect(),
            warnings,
            routing,
        })
    }

    /// The key of the session that `[memory]` names.
    pub fn memory_key(&self) -> Option<SessionKey> {
        let session = self.memory.session_key.clone().map(SessionKey::Session);
        session.or_else(|| self.memory.draft_id.clone().map(SessionKey::Draft))
    }

    /// Every problem of the contract and of the routing policy, where the gate refused one of them: it does not judge the
    /// one where the other has problems.
    fn all_problems(
        &self,
        gate: &GateEngine,
        error: &GateError,
        places: &Places<'_, '_>,
        start: Start,
    ) -> Result<Vec<Problem>, ConfigError> {
        let mut problems = problems_of(error);
        match gate.route(
            &places.request_json(start),
            &places.config.profile_names_json(),
        ) {
            Err(CallError::Gate(of_contract)) => {
                let has_profile = places.text("profile").is_some();
                // What is missing from the contract may be in its profile, which is not known here.
                let counts = |problem: &Problem| !(has_profile && problem.path.is_empty());
                problems.extend(problems_of(&of_contract).into_iter().filter(counts));
            }
            Err(CallError::Engine(error)) => return Err(error.into()),
            Ok(_) => {}
        }
        let named = places.named_checks();
        problems.extend(self.missing_checks(named.iter().map(String::as_str), places));
        Ok(problems)
    }

    /// A check that nobody runs could never pass.
    fn ensure_checks_exist(
        &self,
        terms: &Terms,
        places: &Places<'_, '_>,
    ) -> Result<(), ConfigError> {
        let named = terms.completion_checks.iter();
        let problems = self.missing_checks(named.map(|check| check.id.as_str()), places);
        if problems.is_empty() {
            return Ok(());
        }
        Err(places.invalid(&problems, ConfigError::invalid))
    }

    /// A problem for each check that the contract or a story names and that is not described.
    fn missing_checks<'c>(
        &self,
        named: impl Iterator<Item = &'c str>,
        places: &Places<'_, '_>,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        // One that has problems of its own is described.
        let described = places.config.section("checks").iter();
        let mut known: BTreeSet<&str> = described.map(|entry| entry.key.as_ref()).collect();
        known.extend(self.checks.keys().map(String::as_str));
        for (index, id) in named.enumerate() {
            if !id.is_empty() && !known.contains(id) {
                let path = format!("completion_checks[{index}]");
                problems.push(missing(&path, id, &known));
            }
        }
        for (id, check) in &self.checks {
            let Check::PrdAllPass { proofs } = check else {
                continue;
            };
            for (story, proof) in proofs
                .iter()
                .flat_map(|(story, proofs)| proofs.iter().map(move |proof| (story, proof)))
            {
                if !known.contains(proof.as_str()) {
                    let path = format!("checks.{id}.proofs.{story}");
                    problems.push(missing(&path, proof, &known));
                }
            }
        }
        problems
    }

    /// The first check whose tests an agent may change: it counts tests, and no file is protected.
    fn unprotected_tests<'t>(&self, terms: &'t Terms) -> Option<&'t str> {
        let counted = self.counted_tests(terms);
        counted.filter(|_| self.tripwires.protection().is_empty())
    }

    /// The first check that must pass and that counts tests.
    pub fn counted_tests<'t>(&self, terms: &'t Terms) -> Option<&'t str> {
        let counts = |id: &str| matches!(self.checks.get(id), Some(Check::TestsGreen { .. }));
        let mut named = terms.completion_checks.iter();
        named
            .find(|check| check.required && counts(&check.id))
            .map(|check| check.id.as_str())
    }

    fn unprotected(&self, terms: &Terms) -> Option<Problem> {
        let id = self.unprotected_tests(terms)?;
        Some(Problem {
            path: format!("checks.{id}"),
            line: 0,
            column: 0,
            message: "an agent can make it pass by changing its tests: no file is protected".to_owned(),
            help: Some(
                "list the test files in [tripwires] as `frozen`; `ralph-gate init --dry-run` shows those of this project"
                    .to_owned(),
            ),
        })
    }

    /// A warning for each check that starts a file which an agent may change.
    fn changeable(&self, terms: &Terms) -> Vec<Problem> {
        let run = self.checks.iter().filter(|(id, _)| self.is_run(terms, id));
        let changeable = run.filter_map(|(id, check)| {
            let program = check.program()?;
            let directory = program.directory.as_deref().unwrap_or_default();
            let started = started_files(&self.workspace, directory, &program.argv);
            let files = self.tripwires.unprotected(started);
            (!files.is_empty()).then(|| Problem {
                path: format!("checks.{id}"),
                line: 0,
                column: 0,
                message: format!(
                    "the check {id} runs {}, which the agent may change",
                    files.join(", ")
                ),
                help: Some(
                    "list it in [tripwires] as `protected_paths`; `!` excepts it".to_owned(),
                ),
            })
        });
        changeable.collect()
    }

    /// A checklist whose stories no check proves: the marks of the agent count by themselves.
    fn unprovable(&self, terms: &Terms) -> Option<Problem> {
        let is_list = |id: &str| matches!(self.checks.get(id), Some(Check::PrdAllPass { .. }));
        let named = terms.completion_checks.iter();
        let about_work = named
            .clone()
            .any(|check| check.required && !is_list(&check.id));
        let list = named
            .clone()
            .find(|check| match self.checks.get(&check.id) {
                Some(Check::PrdAllPass { proofs }) => proofs.is_empty(),
                _ => false,
            })?;
        (self.tripwires.prd_passes && !about_work).then(|| Problem {
            path: format!("checks.{}", list.id),
            line: 0,
            column: 0,
            message: "no check proves a story, so a story passes when the agent says so".to_owned(),
            help: Some(
                "require a check about the work as well, or tie stories to checks with `proofs`"
                    .to_owned(),
            ),
        })
    }
}

/// A check that is named at a path and not described.
fn missing(path: &str, id: &str, known: &BTreeSet<&str>) -> Problem {
    let known: Vec<&str> = known.iter().copied().collect();
    let help = match known.as_slice() {
        [] => format!("add [checks.{id}] with `argv`"),
        known => format!("add [checks.{id}]; there are {}", known.join(", ")),
    };
    Problem {
        path: path.to_owned(),
        line: 0,
        column: 0,
        message: format!("there is no check `{id}`"),
        help: Some(help),
    }
}

/// The problems that the gate found, or the error itself as one.
fn problems_of(error: &GateError) -> Vec<Problem> {
    if !error.problems.is_empty() {
        return error.problems.clone();
    }
    vec![Problem {
        path: error.path.clone().unwrap_or_default(),
        line: 0,
        column: 0,
        message: error.message.clone(),
        help: None,
    }]
}

/// Whether a loop is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Asked,
    NotAsked,
}

/// A text and its tree.
struct Tree<'t> {
    file: &'t Path,
    source: Source<'t>,
    root: Node<'t>,
}

impl<'t> Tree<'t> {
    fn read(file: &'t Path, text: &'t str, format: TextFormat) -> Result<Self, ConfigError> {
        let source = Source::new(text, format);
        let root = source.read_settings().map_err(|problem| {
            ConfigError::invalid(file.to_owned(), vec![place::problem(problem)])
        })?;
        Ok(Self { file, source, root })
    }

    fn part(&self, name: &str) -> Option<&Node<'t>> {
        let entry = entries(&self.root).iter().find(|entry| entry.key == name);
        entry.map(|entry| &entry.node)
    }

    fn section(&self, name: &str) -> &[Entry<'t>] {
        self.part(name).map_or(&[], entries)
    }

    /// The routing policy, with the profiles.
    fn policy_json(&self) -> String {
        let profiles = entries(&self.root)
            .iter()
            .find(|entry| entry.key == "profiles");
        let fields = self.section("routing").iter().chain(profiles);
        texts::object(fields.map(|entry| (entry.key.as_ref(), texts::write(&entry.node))))
    }

    /// A routing policy with profiles of the same names, and nothing in them.
    fn profile_names_json(&self) -> String {
        let names = self.section("profiles").iter();
        let profiles = texts::object(names.map(|entry| (entry.key.as_ref(), "{}".to_owned())));
        texts::object([("profiles", profiles)])
    }
}

fn entries<'n, 't>(node: &'n Node<'t>) -> &'n [Entry<'t>] {
    match &node.value {
        Value::Map(entries) => entries,
        _ => &[],
    }
}

/// The texts that a contract comes from.
struct Places<'p, 't> {
    config: &'p Tree<'t>,
    request: Option<&'p Tree<'t>>,
    given: &'p Added,
}

impl Places<'_, '_> {
    /// The contract, with the request's fields in place of its own.
    fn request_json(&self, start: Start) -> String {
        let contract = self.config.section("contract");
        let own = match self.request {
            None => &[],
            // What is not an object is the gate's to refuse.
            Some(request) if !matches!(request.root.value, Value::Map(_)) => {
                return texts::write(&request.root);
            }
            Some(request) => entries(&request.root),
        };
        // Without its own mode, a request that starts nothing gets nothing.
        let has_own_mode = self.request.is_some() && start == Start::NotAsked;
        let is_own = |key: &str| own.iter().any(|own| own.key == key);
        let others = contract
            .iter()
            .filter(|entry| !(is_own(&entry.key) || has_own_mode && entry.key == "mode"));
        self.given.object(own.iter().chain(others), start)
    }

    /// A text of the request, or else of the contract.
    fn text(&self, name: &str) -> Option<String> {
        let own = self
            .request
            .map_or(&[] as &[_], |request| entries(&request.root));
        let field = own
            .iter()
            .chain(self.config.section("contract"))
            .find(|entry| entry.key == name)?;
        match &field.node.value {
            Value::String(text) => Some(text.clone().into_owned()),
            _ => None,
        }
    }

    /// What the gate reported and what was found beside that, in the file that it is about.
    fn error(&self, error: GateError, problems: &[Problem]) -> ConfigError {
        self.invalid(problems, |file, problems| {
            ConfigError::gate(file, error, problems)
        })
    }

    /// An error of the problems that are in the same file as the first one.
    fn invalid(
        &self,
        problems: &[Problem],
        error: impl FnOnce(PathBuf, Vec<Problem>) -> ConfigError,
    ) -> ConfigError {
        let located: Vec<(PathBuf, Problem)> =
            problems.iter().map(|problem| self.place(problem)).collect();
        let file = located
            .first()
            .map_or_else(|| self.config.file.to_owned(), |(file, _)| file.clone());
        let here = located.into_iter().filter(|(other, _)| *other == file);
        let problems = here.map(|(_, problem)| problem).collect();
        error(file, in_order(problems))
    }

    /// The ids of the checks that the request, or else the contract, names. What is no id is the gate's to refuse, and is
    /// empty here.
    fn named_checks(&self) -> Vec<String> {
        let own = self
            .request
            .map_or(&[] as &[_], |request| entries(&request.root));
        let mut fields = own.iter().chain(self.config.section("contract"));
        let named = fields.find(|entry| entry.key == "completion_checks");
        let Some(Value::List(items)) = named.map(|entry| &entry.node.value) else {
            return Vec::new();
        };
        let id = |item: &Node<'_>| match &item.value {
            Value::String(id) => Some(id.clone().into_owned()),
            Value::Map(fields) => {
                let field = fields.iter().find(|entry| entry.key == "id")?;
                match &field.node.value {
                    Value::String(id) => Some(id.clone().into_owned()),
                    _ => None,
                }
            }
            _ => None,
        };
        items
            .iter()
            .map(|item| id(item).unwrap_or_default())
            .collect()
    }

    /// A problem at its place: in the request, or in the configuration.
    fn place(&self, problem: &Problem) -> (PathBuf, Problem) {
        // What nobody knows is wrong by its name, everything else by its value.
        let end = if problem.message.starts_with("unknown field") {
            End::Key
        } else {
            End::Value
        };
        let config = self.config;
        let request = self.request.map(|tree| (tree, &tree.root, ""));
        let contract = config
            .part("contract")
            .map(|node| (config, node, "contract."));
        let routing = config
            .part("routing")
            .map(|node| (config, node, "routing."));
        let candidates = [request, contract, Some((config, &config.root, "")), routing];
        let found = candidates
            .iter()
            .flatten()
            .find_map(|(tree, node, prefix)| {
                let at = place::locate(node, &problem.path, end)?;
                Some((*tree, at, *prefix))
            });
        // What is missing is missing from the request, or from the contract.
        let (tree, at, prefix) = found.unwrap_or_else(|| {
            let (tree, node, prefix) = request.or(contract).unwrap_or((config, &config.root, ""));
            (tree, node.at, prefix)
        });
        let path = format!("{prefix}{}", problem.path);
        // Of the contract as a whole.
        let path = path.trim_end_matches('.').to_owned();
        (tree.file.to_owned(), placed(tree, at, path, problem))
    }
}

fn placed(tree: &Tree<'_>, at: At, path: String, problem: &Problem) -> Problem {
    let (line, column) = tree.source.line_column(at);
    Problem {
        path,
        line,
        column,
        ..problem.clone()
    }
}
