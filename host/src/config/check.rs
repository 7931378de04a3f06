//! `[checks.<id>]`: how a check gets its result.

use std::collections::BTreeMap;
use std::time::Duration;

use ralph_gate_component::Word;
use ralph_gate_component::tree::decode::{Decoder, Fields, Path, closest};
use ralph_gate_component::tree::{Node, Value};
use serde::Serialize;

use super::fields::{self, Field, JUDGE_FIELDS, PROGRAM_FIELDS, TESTS_FIELDS, names};
use super::json;
use super::words::{KindName, WasiGrant};
use crate::evidence::reports::{Severity, TestFormat};

/// How long a check may take where nothing is said: ten minutes.
const DEFAULT_TIMEOUT_MS: u32 = 600_000;
/// How much is kept of a program's output where nothing is said.
const DEFAULT_KEPT: u32 = 16 * 1024;

/// A check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Check {
    /// A program and how it ends.
    Command {
        /// The program.
        program: CheckProgram,
    },
    /// A test program and the results that it reports.
    TestsGreen {
        /// The program.
        program: CheckProgram,
        /// How its results are written; recognised when absent.
        format: Option<TestFormat>,
        /// The file that holds them; standard output when absent.
        report: Option<String>,
        /// Fewer tests than this are no evidence.
        min_tests: u32,
        /// Whether tests may be skipped.
        allow_skipped: bool,
    },
    /// The checklist.
    PrdAllPass {
        /// For a story, the checks that prove it.
        proofs: BTreeMap<String, Vec<String>>,
    },
    /// The findings of a scanner.
    NoHighRisk {
        /// The scanner. None if the report is made elsewhere.
        program: Option<CheckProgram>,
        /// The file with the findings; standard output when absent.
        report: Option<String>,
        /// Findings from this severity on fail the check.
        severity: Severity,
        /// The severity of findings for which the report gives none; what is usual for it when absent.
        level_default: Option<Severity>,
    },
    /// The repository.
    Git(GitCheck),
    /// One file.
    File {
        /// Relative to the workspace.
        path: String,
        /// What must hold of it.
        conditions: Vec<FileCondition>,
    },
    /// What a component makes of the evidence.
    Policy(PolicyCheck),
}

impl Check {
    /// What gives it its result.
    pub fn kind(&self) -> KindName {
        match self {
            Self::Command { .. } => KindName::Command,
            Self::TestsGreen { .. } => KindName::TestsGreen,
            Self::PrdAllPass { .. } => KindName::PrdAllPass,
            Self::NoHighRisk { .. } => KindName::NoHighRisk,
            Self::Git(_) => KindName::Git,
            Self::File { .. } => KindName::File,
            Self::Policy(check) => check.judge.kind(),
        }
    }

    /// Whether a program is run for it, which may change the work.
    pub fn runs_a_program(&self) -> bool {
        self.program().is_some()
    }

    /// The file that its results are written to, relative to the workspace.
    pub fn report(&self) -> Option<&str> {
        match self {
            Self::TestsGreen { report, .. } | Self::NoHighRisk { report, .. } => report.as_deref(),
            _ => None,
        }
    }

    /// The program that it runs.
    pub fn program(&self) -> Option<&CheckProgram> {
        match self {
            Self::Command { program } | Self::TestsGreen { program, .. } => Some(program),
            Self::NoHighRisk { program, .. } => program.as_ref(),
            Self::PrdAllPass { .. } | Self::Git(_) | Self::File { .. } | Self::Policy(_) => None,
        }
    }
}

/// A program that a check runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckProgram {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Where it runs, relative to the workspace.
    pub directory: Option<String>,
    /// Variables beside the inherited ones.
    pub env: BTreeMap<String, String>,
    /// Inherited variables that it gets beside the harmless ones.
    pub pass_env: Vec<String>,
    /// How long it may run, in milliseconds.
    pub timeout_ms: u32,
    /// How much of its output is kept, from each end.
    pub max_output_bytes: u32,
}

impl CheckProgram {
    /// A program with the limits of one about which nothing else is said.
    pub(super) fn new(argv: Vec<String>) -> Self {
        Self {
            argv,
            directory: None,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            timeout_ms: DEFAULT_TIMEOUT_MS,
            max_output_bytes: DEFAULT_KEPT,
        }
    }

    /// How long it may run.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.into())
    }
}

/// What must hold of the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GitCheck {
    /// Nothing is changed or untracked.
    pub clean: bool,
    /// There is a commit that the loop did not begin with.
    pub committed: bool,
    /// This branch is checked out.
    pub branch: Option<String>,
    /// Nothing is unmerged, and there is no conflict marker.
    pub no_conflicts: bool,
}

/// Which component judges, and how it is set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyCheck {
    /// What judges.
    pub judge: Judge,
    /// Its settings, as JSON.
    pub settings: String,
    /// Files that it may look at, relative to the workspace, by name.
    pub artifacts: BTreeMap<String, String>,
    /// What it gets of WASI.
    pub wasi: WasiGrant,
    /// How many instructions it may use; the default when absent.
    pub fuel: Option<u32>,
    /// How long it may take, in milliseconds; the default when absent.
    pub timeout_ms: Option<u32>,
    /// How much memory it may have, in bytes; the default when absent.
    pub max_memory_bytes: Option<u32>,
}

/// What judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// A component of the workspace.
    Component(PinnedFile),
    /// The shipped one for CEL.
    Cel,
    /// The shipped one for Rego, with the file of its module if that is not among the settings.
    Rego(Option<PinnedFile>),
}

impl Judge {
    fn kind(&self) -> KindName {
        match self {
            Self::Component(_) => KindName::Policy,
            Self::Cel => KindName::Cel,
            Self::Rego(_) => KindName::Rego,
        }
    }
}

/// A file that must be the one that was meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PinnedFile {
    /// Relative to the workspace.
    pub path: String,
    /// The digest that it must have.
    pub blake3: String,
}

/// What must hold of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileCondition {
    /// It is there.
    Exists,
    /// It is not there.
    Absent,
    /// This text is in it.
    Contains(String),
    /// Its content has this digest.
    Blake3(String),
    /// A value in it, as JSON; none if it only has to be there.
    Pointer {
        /// Where the value is.
        pointer: String,
        /// What it must be, as JSON.
        equals: Option<String>,
    },
}

/// The words for `format`.
pub(super) fn test_formats() -> Vec<&'static str> {
    TestFormat::ALL
        .iter()
        .map(|format| format.as_str())
        .collect()
}

/// The words for `severity`.
pub(super) fn severities() -> Vec<&'static str> {
    Severity::ALL
        .iter()
        .map(|severity| severity.as_str())
        .collect()
}

/// Reads one check.
pub(super) fn decode(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Check> {
    let (kind, is_known) = match decoder.any_object(node, path)?.get("kind") {
        None => (KindName::Command, true),
        Some(node) => match decoder.word(node, path.field("kind")) {
            Some(kind) => (kind, true),
            // The other fields are read as those of the kind that was meant.
            None => (meant_kind(node)?, false),
        },
    };
    let known = names(&fields::of_check(kind));
    let fields = decoder.object(node, path, &known)?;
    let mut reader = Reader {
        decoder,
        fields,
        known,
        node,
        path,
    };
    reader.check(kind).filter(|_| is_known)
}

/// The kind that a misspelled word is most like.
fn meant_kind(node: &Node<'_>) -> Option<KindName> {
    let Value::String(text) = &node.value else {
        return None;
    };
    let kinds = KindName::ALL.iter().map(|kind| kind.as_str());
    KindName::parse(closest(text, kinds)?)
}

/// Why a check has no program.
enum NoProgram {
    /// It names none.
    NotNamed,
    /// What names it has a problem, which is reported.
    Reported,
}

/// The fields of one check, while they are read.
struct Reader<'r, 's, 'n, 'a, 'p> {
    decoder: &'r mut Decoder<'s>,
    fields: Fields<'n, 'a>,
    /// The fields that it may have.
    known: Vec<&'static str>,
    node: &'n Node<'a>,
    path: Path<'p>,
}

impl Reader<'_, '_, '_, '_, '_> {
    /// Every field is read before a missing one ends the reading, so that all problems are found.
    fn check(&mut self, kind: KindName) -> Option<Check> {
        Some(match kind {
            KindName::Command => Check::Command {
                program: self.program()?,
            },
            KindName::TestsGreen => self.tests()?,
            KindName::PrdAllPass => Check::PrdAllPass {
                proofs: self.proofs(),
            },
            KindName::NoHighRisk => self.risk()?,
            KindName::Git => Check::Git(self.git()?),
            KindName::File => self.file()?,
            KindName::Policy => Check::Policy(self.policy()?),
            KindName::Cel => Check::Policy(self.cel()?),
            KindName::Rego => Check::Policy(self.rego()?),
        })
    }

    fn tests(&mut self) -> Option<Check> {
        let program = self.program();
        let (format, report) = (self.word("format"), self.text("report"));
        let min_tests = self.bounded(TESTS_FIELDS, "min_tests", 1);
        let allow_skipped = self.flag("allow_skipped", true);
        Some(Check::TestsGreen {
            program: program?,
            format,
            report,
            min_tests,
            allow_skipped,
        })
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let node = self.fields.get(name)?;
        let text = self.decoder.string(node, self.path.field(name))?;
        Some(text.to_owned())
    }

    fn word<W: Word>(&mut self, name: &str) -> Option<W> {
        let node = self.fields.get(name)?;
        self.decoder.word(node, self.path.field(name))
    }

    fn flag(&mut self, name: &str, default: bool) -> bool {
        let Some(node) = self.fields.get(name) else {
            return default;
        };
        self.decoder
            .bool(node, self.path.field(name))
            .unwrap_or(default)
    }

    fn bounded(&mut self, among: &[Field], name: &str, default: u32) -> u32 {
        self.if_bounded(among, name).unwrap_or(default)
    }

    fn if_bounded(&mut self, among: &[Field], name: &str) -> Option<u32> {
        let node = self.fields.get(name)?;
        let (min, max) = fields::bounds(among, name);
        self.decoder.integer(node, self.path.field(name), min, max)
    }

    fn problem(&mut self, message: &str, help: &str) {
        let help = Some(help.to_owned());
        self.decoder.problem(self.node.at, self.path, message, help);
    }

    /// Whether a problem was reported that explains why none of these fields has a value: one of their values has it, or
    /// one of their names is misspelled.
    fn is_explained(&self, problems_before: usize, names: &[&str]) -> bool {
        let is_meant = |key: &str| {
            let known = || self.known.iter().copied();
            !known().any(|name| name == key)
                && closest(key, known()).is_some_and(|name| names.contains(&name))
        };
        let is_misspelled = match &self.node.value {
            Value::Map(entries) => entries.iter().any(|entry| is_meant(&entry.key)),
            _ => false,
        };
        is_misspelled || self.decoder.problem_count() > problems_before
    }

    fn program(&mut self) -> Option<CheckProgram> {
        match self.find_program() {
            Ok(program) => Some(program),
            Err(NoProgram::Reported) => None,
            Err(NoProgram::NotNamed) => {
                self.problem(
                    "names no program",
                    "give it `argv`, for example [\"cargo\", \"test\"]",
                );
                None
            }
        }
    }

    fn find_program(&mut self) -> Result<CheckProgram, NoProgram> {
        let before = self.decoder.problem_count();
        let argv = texts(
            self.decoder,
            self.fields.get("argv"),
            self.path.field("argv"),
        );
        let shell = self.text("shell");
        let is_explained = self.is_explained(before, &["argv", "shell"]);
        if shell.is_some() && !argv.is_empty() {
            self.problem("has both `argv` and `shell`", "keep one of them");
        }
        let argv = match shell {
            Some(line) => vec!["sh".to_owned(), "-c".to_owned(), line],
            None => argv,
        };
        let program = CheckProgram {
            argv,
            directory: self.text("directory"),
            env: table(self.decoder, self.fields.get("env"), self.path.field("env")),
            pass_env: texts(
                self.decoder,
                self.fields.get("pass_env"),
                self.path.field("pass_env"),
            ),
            timeout_ms: self.bounded(PROGRAM_FIELDS, "timeout_ms", DEFAULT_TIMEOUT_MS),
            max_output_bytes: self.bounded(PROGRAM_FIELDS, "max_output_bytes", DEFAULT_KEPT),
        };
        if !program.argv.is_empty() {
            return Ok(program);
        }
        Err(if is_explained {
            NoProgram::Reported
        } else {
            NoProgram::NotNamed
        })
    }

    fn proofs(&mut self) -> BTreeMap<String, Vec<String>> {
        let path = self.path.field("proofs");
        lists(self.decoder, self.fields.get("proofs"), path)
    }

    fn risk(&mut self) -> Option<Check> {
        let program = self.find_program();
        let before = self.decoder.problem_count();
        let report = self.text("report");
        let is_explained = self.is_explained(before, &["report"]);
        let severity = self.word("severity").unwrap_or(Severity::High);
        let level_default = self.word("level_default");
        if report.is_none() {
            match program {
                Err(NoProgram::NotNamed) if !is_explained => {
                    self.problem(
                        "has no findings to look at",
                        "give it `argv`, or `report` with the file that a scanner wrote",
                    );
                    return None;
                }
                Err(_) => return None,
                Ok(_) => {}
            }
        }
        Some(Check::NoHighRisk {
            program: program.ok(),
            report,
            severity,
            level_default,
        })
    }

    fn git(&mut self) -> Option<GitCheck> {
        let before = self.decoder.problem_count();
        let check = GitCheck {
            clean: self.flag("clean", false),
            committed: self.flag("committed", false),
            branch: self.text("branch"),
            no_conflicts: self.flag("no_conflicts", false),
        };
        if !check.clean && !check.committed && check.branch.is_none() && !check.no_conflicts {
            let names = ["clean", "committed", "branch", "no_conflicts"];
            if !self.is_explained(before, &names) {
                let help = "set at least one of `clean`, `committed`, `branch`, `no_conflicts`";
                self.problem("asks for nothing", help);
            }
            return None;
        }
        Some(check)
    }

    fn policy(&mut self) -> Option<PolicyCheck> {
        let before = self.decoder.problem_count();
        let judge = match (self.text("component"), self.text("blake3")) {
            (Some(path), Some(blake3)) => Some(Judge::Component(PinnedFile { path, blake3 })),
            _ => {
                if !self.is_explained(before, &["component", "blake3"]) {
                    self.problem(
                        "names no pinned component",
                        "give it `component` with the file, and `blake3` with its digest",
                    );
                }
                None
            }
        };
        let settings = self.fields.get("settings");
        let settings = settings.map_or_else(|| "{}".to_owned(), json::write);
        let wasi = self.word("wasi").unwrap_or(WasiGrant::None);
        self.judged_by(judge, settings, wasi)
    }

    fn cel(&mut self) -> Option<PolicyCheck> {
        let before = self.decoder.problem_count();
        let expression = self.text("expr");
        if expression.is_none() && !self.is_explained(before, &["expr"]) {
            let help = "give it `expr`, for example \"tests.failed == 0\"";
            self.problem("has no expression", help);
        }
        let judge = expression.as_ref().map(|_| Judge::Cel);
        let message = self.text("message");
        let settings = settings([("expr", expression), ("message", message)]);
        self.judged_by(judge, settings, WasiGrant::None)
    }

    fn rego(&mut self) -> Option<PolicyCheck> {
        let before = self.decoder.problem_count();
        let (module, path) = (self.text("module"), self.text("file"));
        let judge = match (&module, path, self.text("blake3")) {
            (Some(_), None, None) => Some(Judge::Rego(None)),
            (None, Some(path), Some(blake3)) => {
                Some(Judge::Rego(Some(PinnedFile { path, blake3 })))
            }
            _ => {
                if !self.is_explained(before, &["module", "file", "blake3"]) {
                    self.problem(
                        "names no module, or more than one",
                        "give it `module` with the text, or `file` and `blake3` with its digest",
                    );
                }
                None
            }
        };
        let query = self.text("query");
        let settings = settings([("module", module), ("query", query)]);
        self.judged_by(judge, settings, WasiGrant::None)
    }

    fn judged_by(
        &mut self,
        judge: Option<Judge>,
        settings: String,
        wasi: WasiGrant,
    ) -> Option<PolicyCheck> {
        let artifacts = table(
            self.decoder,
            self.fields.get("artifacts"),
            self.path.field("artifacts"),
        );
        let fuel = self.if_bounded(JUDGE_FIELDS, "fuel");
        let timeout_ms = self.if_bounded(JUDGE_FIELDS, "timeout_ms");
        let max_memory_bytes = self.if_bounded(JUDGE_FIELDS, "max_memory_bytes");
        Some(PolicyCheck {
            judge: judge?,
            settings,
            artifacts,
            wasi,
            fuel,
            timeout_ms,
            max_memory_bytes,
        })
    }

    fn file(&mut self) -> Option<Check> {
        let before = self.decoder.problem_count();
        let path = self.text("path");
        if path.is_none() && !self.is_explained(before, &["path"]) {
            self.problem("names no file", "give it `path`");
        }
        let mut conditions = Vec::new();
        if !self.flag("exists", true) {
            conditions.push(FileCondition::Absent);
        }
        conditions.extend(self.text("contains").map(FileCondition::Contains));
        conditions.extend(self.text("blake3").map(FileCondition::Blake3));
        let equals = self.fields.get("equals").map(json::write);
        match self.text("pointer") {
            Some(pointer) => conditions.push(FileCondition::Pointer { pointer, equals }),
            None if equals.is_some() => self.problem(
                "says what a value must be, but not where the value is",
                "give it `pointer`, for example /status",
            ),
            None => {}
        }
        if conditions.contains(&FileCondition::Absent) && conditions.len() > 1 {
            let help = "keep `exists = false`, or what its content must be";
            self.problem("can't be absent and have a content", help);
            return None;
        }
        if conditions.is_empty() {
            conditions.push(FileCondition::Exists);
        }
        Some(Check::File {
            path: path?,
            conditions,
        })
    }
}

/// Settings of a shipped policy.
fn settings<const N: usize>(fields: [(&str, Option<String>); N]) -> String {
    let fields = fields.into_iter();
    let given = fields.filter_map(|(name, text)| Some((name.to_owned(), text?.into())));
    serde_json::Value::Object(given.collect()).to_string()
}

/// A list of texts; an absent one is empty.
pub(super) fn texts(
    decoder: &mut Decoder<'_>,
    node: Option<&Node<'_>>,
    path: Path<'_>,
) -> Vec<String> {
    decoder.items(node, path, |decoder, item, path| {
        decoder.string(item, path).map(str::to_owned)
    })
}

/// Lists of texts by name; an absent table is empty.
pub(super) fn lists(
    decoder: &mut Decoder<'_>,
    node: Option<&Node<'_>>,
    path: Path<'_>,
) -> BTreeMap<String, Vec<String>> {
    let Some(node) = node else {
        return BTreeMap::new();
    };
    let mut lists = BTreeMap::new();
    for entry in decoder.entries(node, path) {
        let items = texts(decoder, Some(&entry.node), path.field(&entry.key));
        lists.insert(entry.key.clone().into_owned(), items);
    }
    lists
}

/// Texts by name; an absent table is empty.
pub(super) fn table(
    decoder: &mut Decoder<'_>,
    node: Option<&Node<'_>>,
    path: Path<'_>,
) -> BTreeMap<String, String> {
    let Some(node) = node else {
        return BTreeMap::new();
    };
    let mut table = BTreeMap::new();
    for entry in decoder.entries(node, path) {
        let value = match &entry.node.value {
            // `PORT = 8080` means what it says.
            Value::Number(text) => Some(text.as_ref()),
            _ => decoder.string(&entry.node, path.field(&entry.key)),
        };
        if let Some(value) = value {
            table.insert(entry.key.clone().into_owned(), value.to_owned());
        }
    }
    table
}
