//! The sections of a configuration: from the tree to types, with every problem at its place.

use std::collections::BTreeMap;
use std::path::Path as FilePath;

use ralph_gate_component::Word;
use ralph_gate_component::tree::decode::{Decoder, Fields, Path};
use ralph_gate_component::tree::{Node, Source, TextFormat, Value};
use serde::Serialize;

use super::check::{self, Check, lists, table, texts};
use super::error::ConfigError;
use super::fields::{self, Field, names};
use super::words::{AdapterName, Leftovers, PrimaryMetric, PromptTo, RecordName};
use super::{Config, place};
use crate::engine::Problem;
use crate::memory::{DEFAULT_ROOT, Recording};
use crate::worktree::{Protection, check_pattern};

/// The longest id of a check, as in a contract.
const MAX_ID: usize = 128;
/// What helps where a pattern of files can't be used.
const PATTERN_HELP: &str =
    "write a glob relative to the workspace, such as tests/ or *.lock; `\\[` stands for a bracket";

/// `[agent]`: who does the work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Agent {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Which client it is; recognised when absent.
    pub adapter: Option<AdapterName>,
    /// The task.
    pub prompt: Option<String>,
    /// A file with the task.
    pub prompt_file: Option<String>,
    /// How it gets the prompt; as its client takes it when absent.
    pub prompt_to: Option<PromptTo>,
    /// Variables beside the inherited ones.
    pub env: BTreeMap<String, String>,
    /// Inherited variables that it gets beside the harmless ones.
    pub pass_env: Vec<String>,
    /// What becomes of processes that it leaves running.
    pub leftovers: Option<Leftovers>,
}

/// `[memory]`: where the loop is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// The directory that holds the sessions, where the configuration names one.
    pub root: Option<String>,
    /// Whose loop it is.
    pub session_key: Option<String>,
    /// Names the session where there is no key.
    pub draft_id: Option<String>,
    /// The checklist that a new loop begins with.
    pub prd: Option<String>,
    /// What is already known when a new loop begins.
    pub progress: Option<String>,
    /// How much of what happens is recorded; all of it when absent.
    pub record: Option<RecordName>,
}

impl Memory {
    /// The directory that holds the sessions of loops that are run here.
    pub fn root(&self) -> &str {
        self.root.as_deref().unwrap_or(DEFAULT_ROOT)
    }

    /// How much of what happens is recorded.
    pub fn recording(&self) -> Recording {
        match self.record {
            None | Some(RecordName::Full) => Recording::Full,
            Some(RecordName::DigestOnly) => Recording::DigestOnly,
        }
    }
}

/// `[tripwires]`: what an agent may not do to get its checks to pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tripwires {
    /// Files that may not change, and of which there may be no new ones.
    pub protected_paths: Vec<String>,
    /// Files that may not change once they are there. New ones are allowed.
    pub frozen: Vec<String>,
    /// Files of which only some values may not change: JSON pointers by pattern.
    pub frozen_parts: BTreeMap<String, Vec<String>>,
    /// The number of tests may not fall.
    pub test_count: bool,
    /// The number of skipped tests may not grow.
    pub skipped_tests: bool,
    /// A story may not be marked as passed without proof.
    pub prd_passes: bool,
    /// A loop may begin although every required check passes already.
    pub allow_green_start: bool,
}

impl Tripwires {
    /// Which files are looked after.
    pub fn protection(&self) -> Protection {
        Protection {
            protected: self.protected_paths.clone(),
            frozen: self.frozen.clone(),
            parts: self.frozen_parts.clone(),
        }
    }

    /// Those of these files that may change: no pattern protects them, and none excepts them.
    pub(super) fn unprotected(&self, files: Vec<String>) -> Vec<String> {
        // Patterns that can't be used are refused when the loop begins.
        self.protection().unnamed(files).unwrap_or_default()
    }
}

/// `[progress]`: what tells whether the work moves on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Files; what git sees as changed when there are none.
    pub artifacts: Vec<String>,
}

/// `[git]`: what is done with the repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Git {
    /// Whether each iteration's changes are committed.
    pub commit: bool,
}

/// `[report]`: when the gate should be on by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The metric that was chosen before the experiment.
    pub primary_metric: Option<PrimaryMetric>,
    /// By how much it has to improve.
    pub min_false_complete_reduction: Option<String>,
    /// By how much the mean cost of a run may rise.
    pub max_cost_increase: Option<String>,
}

/// `[telemetry]`: who is told of the loop while it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Telemetry {
    /// Where OTLP is spoken, such as `http://127.0.0.1:4318`.
    pub endpoint: Option<String>,
    /// Whether texts are sent along that agents, people and programs wrote.
    pub content: bool,
}

/// Reads every section, and returns all of their problems beside what could be read. An error where the text can't be
/// parsed.
pub(super) fn read(
    file: &FilePath,
    text: &str,
    format: TextFormat,
) -> Result<(Config, Vec<Problem>), ConfigError> {
    let source = Source::new(text, format);
    let root = source
        .read_settings()
        .map_err(|problem| ConfigError::invalid(file.to_owned(), vec![place::problem(problem)]))?;
    let mut sections = Sections {
        decoder: Decoder::new(source),
        root: &root,
    };
    let config = sections.config(file, text, format);
    let problems = sections.decoder.into_problems();
    Ok((config, problems.into_iter().map(place::problem).collect()))
}

struct Sections<'n, 's, 'a> {
    decoder: Decoder<'s>,
    root: &'n Node<'a>,
}

impl<'n, 'a> Sections<'n, '_, 'a> {
    fn config(&mut self, file: &FilePath, text: &str, format: TextFormat) -> Config {
        let root = match &self.root.value {
            Value::Null => None,
            _ => self.decoder.object(self.root, Path::Root, fields::SECTIONS),
        };
        let section = |name: &str| root.and_then(|root| root.get(name));
        if let Some(node) = section("$schema") {
            self.decoder.string(node, Path::Root.field("$schema"));
        }
        if let Some(node) = section("contract") {
            // Its fields are the gate's to check.
            self.decoder.any_object(node, Path::Root.field("contract"));
        }
        if let Some(node) = section("routing") {
            self.decoder
                .object(node, Path::Root.field("routing"), fields::ROUTING_FIELDS);
        }
        let workspace = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => FilePath::new("."),
        };
        Config {
            file: file.to_owned(),
            workspace: workspace.to_owned(),
            checks: self.checks(section("checks")),
            agent: self.agent(section("agent")),
            memory: self.memory(section("memory")),
            tripwires: self.tripwires(section("tripwires")),
            progress: self.progress(section("progress")),
            git: self.git(section("git")),
            report: self.report(section("report")),
            telemetry: self.telemetry(section("telemetry")),
            given: super::given::Added::default(),
            text: text.to_owned(),
            format,
        }
    }

    fn checks(&mut self, node: Option<&'n Node<'a>>) -> BTreeMap<String, Check> {
        let Some(node) = node else {
            return BTreeMap::new();
        };
        let path = Path::Root.field("checks");
        let mut checks = BTreeMap::new();
        for entry in self.decoder.entries(node, path) {
            let path = path.field(&entry.key);
            if entry.key.is_empty()
                || entry.key.len() > MAX_ID
                || entry.key.contains(char::is_whitespace)
            {
                let message = format!("an id has 1 to {MAX_ID} bytes and no white space");
                self.decoder.problem(entry.at, path, message, None);
            }
            if let Some(check) = check::decode(&mut self.decoder, &entry.node, path) {
                checks.insert(entry.key.clone().into_owned(), check);
            }
        }
        checks
    }

    /// A section's fields; an absent section has none.
    fn section(
        &mut self,
        name: &'static str,
        node: Option<&'n Node<'a>>,
        known: &[Field],
    ) -> Section<'n, 'a> {
        let path = Path::Root.field(name);
        let fields = node.and_then(|node| self.decoder.object(node, path, &names(known)));
        Section { name, fields }
    }

    fn agent(&mut self, node: Option<&'n Node<'a>>) -> Agent {
        let section = self.section("agent", node, fields::AGENT_FIELDS);
        let decoder = &mut self.decoder;
        let agent = Agent {
            argv: section.texts(decoder, "argv"),
            adapter: section.word(decoder, "adapter"),
            prompt: section.text(decoder, "prompt"),
            prompt_file: section.text(decoder, "prompt_file"),
            prompt_to: section.word(decoder, "prompt_to"),
            env: section.table(decoder, "env"),
            pass_env: section.texts(decoder, "pass_env"),
            leftovers: section.word(decoder, "leftovers"),
        };
        let names_no_program =
            |node: &Node<'_>| matches!(&node.value, Value::List(words) if words.is_empty());
        if section.get("argv").is_some_and(names_no_program) {
            section.problem(
                decoder,
                "argv",
                "names no program",
                "give it the agent, for example [\"claude\", \"-p\"], or leave it out and name the agent behind `--`",
            );
        }
        if agent.prompt.is_some() && agent.prompt_file.is_some() {
            section.problem(
                decoder,
                "prompt",
                "there is also a prompt_file",
                "keep one of them",
            );
        }
        agent
    }

    fn memory(&mut self, node: Option<&'n Node<'a>>) -> Memory {
        let section = self.section("memory", node, fields::MEMORY_FIELDS);
        let decoder = &mut self.decoder;
        let memory = Memory {
            root: section.text(decoder, "root"),
            session_key: section.text(decoder, "session_key"),
            draft_id: section.text(decoder, "draft_id"),
            prd: section.text(decoder, "prd"),
            progress: section.text(decoder, "progress"),
            record: section.word(decoder, "record"),
        };
        if memory.root().is_empty() {
            section.problem(
                decoder,
                "root",
                "names no folder",
                "leave it out for `.ralph`",
            );
        }
        memory
    }

    fn tripwires(&mut self, node: Option<&'n Node<'a>>) -> Tripwires {
        let section = self.section("tripwires", node, fields::TRIPWIRE_FIELDS);
        let decoder = &mut self.decoder;
        Tripwires {
            protected_paths: section.patterns(decoder, "protected_paths"),
            frozen: section.patterns(decoder, "frozen"),
            frozen_parts: section.lists_by_pattern(decoder, "frozen_parts"),
            test_count: section.flag(decoder, "test_count", true),
            skipped_tests: section.flag(decoder, "skipped_tests", true),
            prd_passes: section.flag(decoder, "prd_passes", true),
            allow_green_start: section.flag(decoder, "allow_green_start", false),
        }
    }

    fn progress(&mut self, node: Option<&'n Node<'a>>) -> Progress {
        let section = self.section("progress", node, fields::PROGRESS_FIELDS);
        Progress {
            artifacts: section.patterns(&mut self.decoder, "artifacts"),
        }
    }

    fn git(&mut self, node: Option<&'n Node<'a>>) -> Git {
        let section = self.section("git", node, fields::GIT_FIELDS);
        Git {
            commit: section.flag(&mut self.decoder, "commit", false),
        }
    }

    fn report(&mut self, node: Option<&'n Node<'a>>) -> Report {
        let section = self.section("report", node, fields::REPORT_FIELDS);
        let decoder = &mut self.decoder;
        Report {
            primary_metric: section.word(decoder, "primary_metric"),
            min_false_complete_reduction: section.decimal(decoder, "min_false_complete_reduction"),
            max_cost_increase: section.decimal(decoder, "max_cost_increase"),
        }
    }

    fn telemetry(&mut self, node: Option<&'n Node<'a>>) -> Telemetry {
        let section = self.section("telemetry", node, fields::TELEMETRY_FIELDS);
        let decoder = &mut self.decoder;
        Telemetry {
            endpoint: section.text(decoder, "endpoint"),
            content: section.flag(decoder, "content", false),
        }
    }
}

/// The fields of one section.
#[derive(Clone, Copy)]
struct Section<'n, 'a> {
    name: &'static str,
    fields: Option<Fields<'n, 'a>>,
}

impl<'n, 'a> Section<'n, 'a> {
    fn get(&self, name: &str) -> Option<&'n Node<'a>> {
        self.fields.and_then(|fields| fields.get(name))
    }

    fn text(&self, decoder: &mut Decoder<'_>, name: &str) -> Option<String> {
        let path = Path::Root.field(self.name);
        let text = decoder.string(self.get(name)?, path.field(name))?;
        Some(text.to_owned())
    }

    fn word<W: Word>(&self, decoder: &mut Decoder<'_>, name: &str) -> Option<W> {
        let path = Path::Root.field(self.name);
        decoder.word(self.get(name)?, path.field(name))
    }

    /// An exact decimal, as text.
    fn decimal(&self, decoder: &mut Decoder<'_>, name: &str) -> Option<String> {
        let path = Path::Root.field(self.name);
        let number = decoder.decimal(self.get(name)?, path.field(name))?;
        Some(number.to_string())
    }

    fn flag(&self, decoder: &mut Decoder<'_>, name: &str, default: bool) -> bool {
        let path = Path::Root.field(self.name);
        let flag = self
            .get(name)
            .and_then(|node| decoder.bool(node, path.field(name)));
        flag.unwrap_or(default)
    }

    fn texts(&self, decoder: &mut Decoder<'_>, name: &str) -> Vec<String> {
        let path = Path::Root.field(self.name);
        texts(decoder, self.get(name), path.field(name))
    }

    /// Patterns of files, each of which can be used.
    fn patterns(&self, decoder: &mut Decoder<'_>, name: &str) -> Vec<String> {
        let path = Path::Root.field(self.name);
        decoder.items(self.get(name), path.field(name), |decoder, item, path| {
            let pattern = decoder.string(item, path)?;
            match check_pattern(pattern) {
                Ok(()) => Some(pattern.to_owned()),
                Err(error) => {
                    decoder.problem(
                        item.at,
                        path,
                        error.to_string(),
                        Some(PATTERN_HELP.to_owned()),
                    );
                    None
                }
            }
        })
    }

    /// Lists of texts, each by a pattern of files.
    fn lists_by_pattern(
        &self,
        decoder: &mut Decoder<'_>,
        name: &str,
    ) -> BTreeMap<String, Vec<String>> {
        let path = Path::Root.field(self.name);
        let lists = lists(decoder, self.get(name), path.field(name));
        if let Some(Value::Map(entries)) = self.get(name).map(|node| &node.value) {
            for entry in entries {
                if let Err(error) = check_pattern(&entry.key) {
                    let help = Some(PATTERN_HELP.to_owned());
                    let path = path.field(name);
                    decoder.problem(entry.at, path.field(&entry.key), error.to_string(), help);
                }
            }
        }
        lists
    }

    fn table(&self, decoder: &mut Decoder<'_>, name: &str) -> BTreeMap<String, String> {
        let path = Path::Root.field(self.name);
        table(decoder, self.get(name), path.field(name))
    }

    fn problem(&self, decoder: &mut Decoder<'_>, name: &str, message: &str, help: &str) {
        if let Some(node) = self.get(name) {
            let path = Path::Root.field(self.name);
            decoder.problem(node.at, path.field(name), message, Some(help.to_owned()));
        }
    }
}
