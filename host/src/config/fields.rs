//! The fields of a configuration and what may stand in each. The decoder takes names and bounds from here, and the
//! JSON Schema is made from it.

use ralph_gate_component::Word;

use super::words::{
    AdapterName, KindName, Leftovers, PrimaryMetric, PromptTo, RecordName, WasiGrant,
};

/// One field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// What it means, for a person who is writing it.
    pub(super) about: &'static str,
}

/// What may stand in a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// One of some words.
    Word(fn() -> Vec<&'static str>),
    /// Any text.
    Text,
    /// True or false.
    Flag,
    /// A whole number.
    Integer {
        /// The least.
        min: u32,
        /// The most.
        max: u32,
    },
    /// A decimal number of zero or more.
    Decimal,
    /// A list of texts.
    Texts,
    /// Texts by name.
    TextTable,
    /// Lists of texts by name.
    ListTable,
    /// Any value.
    Any,
}

const fn field(name: &'static str, shape: Shape, about: &'static str) -> Field {
    Field { name, shape, about }
}

const fn number(name: &'static str, min: u32, max: u32, about: &'static str) -> Field {
    field(name, Shape::Integer { min, max }, about)
}

fn words<W: Word>() -> Vec<&'static str> {
    W::ALL.iter().map(|word| word.as_str()).collect()
}

/// The longest time that a check may take: a day.
const MAX_TIMEOUT_MS: u32 = 86_400_000;
/// The most that is kept of a program's output, from its beginning and from its end.
const MAX_KEPT: u32 = 1 << 20;

/// The sections of a configuration.
pub(super) const SECTIONS: &[&str] = &[
    "$schema",
    "contract",
    "checks",
    "agent",
    "memory",
    "routing",
    "profiles",
    "tripwires",
    "progress",
    "git",
    "report",
    "telemetry",
];

const KIND: Field = field(
    "kind",
    Shape::Word(words::<KindName>),
    "What gives the check its result.",
);

/// The fields of a check that runs a program.
pub(super) const PROGRAM_FIELDS: &[Field] = &[
    field(
        "argv",
        Shape::Texts,
        "The program and its arguments; no shell is involved.",
    ),
    field("shell", Shape::Text, "A line for `sh -c`, instead of argv."),
    field(
        "directory",
        Shape::Text,
        "Where it runs, relative to the workspace.",
    ),
    field(
        "env",
        Shape::TextTable,
        "Variables of its environment, beside the inherited ones.",
    ),
    field(
        "pass_env",
        Shape::Texts,
        "Inherited variables that it gets beside the harmless ones; `*` at the end stands for the rest of a name.",
    ),
    number(
        "timeout_ms",
        1,
        MAX_TIMEOUT_MS,
        "It is killed, with all it started, when it runs longer.",
    ),
    number(
        "max_output_bytes",
        1024,
        MAX_KEPT,
        "How much of its output is kept as evidence, from each end.",
    ),
];

/// The fields of each kind of check, beside `kind`.
pub(super) fn of_check(kind: KindName) -> Vec<Field> {
    let own: &[Field] = match kind {
        KindName::Command => &[],
        KindName::TestsGreen => TESTS_FIELDS,
        KindName::PrdAllPass => PRD_FIELDS,
        KindName::NoHighRisk => RISK_FIELDS,
        KindName::Git => GIT_CHECK_FIELDS,
        KindName::File => FILE_FIELDS,
        KindName::Policy => POLICY_FIELDS,
        KindName::Cel => CEL_FIELDS,
        KindName::Rego => REGO_FIELDS,
    };
    let shared: &[Field] = match kind {
        KindName::Command | KindName::TestsGreen | KindName::NoHighRisk => PROGRAM_FIELDS,
        KindName::PrdAllPass | KindName::Git | KindName::File => &[],
        KindName::Policy | KindName::Cel | KindName::Rego => JUDGE_FIELDS,
    };
    [&[KIND], shared, own].concat()
}

pub(super) const TESTS_FIELDS: &[Field] = &[
    field(
        "format",
        Shape::Word(super::check::test_formats),
        "How the results are written; recognised when absent.",
    ),
    field(
        "report",
        Shape::Text,
        "The file that the results are written to, a directory of such files, or a pattern (`**/reports/*.xml`); \
         standard output when absent.",
    ),
    number(
        "min_tests",
        0,
        1_000_000,
        "Fewer tests than this are no evidence.",
    ),
    field(
        "allow_skipped",
        Shape::Flag,
        "Whether tests may be skipped.",
    ),
];

const PRD_FIELDS: &[Field] = &[field(
    "proofs",
    Shape::ListTable,
    "For a story's id, the checks that prove it. Other stories are proven by all required checks together.",
)];

const RISK_FIELDS: &[Field] = &[
    field(
        "report",
        Shape::Text,
        "The file with the findings (SARIF or JSON); standard output when absent.",
    ),
    field(
        "severity",
        Shape::Word(super::check::severities),
        "Findings from this severity on fail the check.",
    ),
    field(
        "level_default",
        Shape::Word(super::check::severities),
        "The severity of findings for which the report gives none, as those of gitleaks. When absent it is medium in \
         SARIF, as the standard says, and high in other reports.",
    ),
];

const GIT_CHECK_FIELDS: &[Field] = &[
    field("clean", Shape::Flag, "Nothing may be changed or untracked."),
    field(
        "committed",
        Shape::Flag,
        "There must be a commit that the loop did not begin with.",
    ),
    field(
        "branch",
        Shape::Text,
        "The branch that must be checked out.",
    ),
    field(
        "no_conflicts",
        Shape::Flag,
        "No conflict may be unmerged and no conflict marker left.",
    ),
];

const FILE_FIELDS: &[Field] = &[
    field("path", Shape::Text, "The file, relative to the workspace."),
    field(
        "exists",
        Shape::Flag,
        "Whether it must be there, or must not.",
    ),
    field("contains", Shape::Text, "A text that must be in it."),
    field(
        "blake3",
        Shape::Text,
        "The digest of its content, in hexadecimal.",
    ),
    field(
        "pointer",
        Shape::Text,
        "A JSON pointer to a value in it, such as /status/0.",
    ),
    field("equals", Shape::Any, "What that value must be."),
];

const POLICY_FIELDS: &[Field] = &[
    field(
        "component",
        Shape::Text,
        "The component that judges, relative to the workspace.",
    ),
    field(
        "blake3",
        Shape::Text,
        "The digest that it must have, in hexadecimal.",
    ),
    field(
        "settings",
        Shape::Any,
        "What it is told beside the evidence.",
    ),
    field(
        "wasi",
        Shape::Word(words::<WasiGrant>),
        "What it gets of WASI, which components with a standard library ask for.",
    ),
];

const CEL_FIELDS: &[Field] = &[
    field(
        "expr",
        Shape::Text,
        "The expression that must hold, such as tests.failed == 0 && coverage.line >= 80.0.",
    ),
    field(
        "message",
        Shape::Text,
        "What is said when it does not hold.",
    ),
];

const REGO_FIELDS: &[Field] = &[
    field(
        "module",
        Shape::Text,
        "The module: `allow` must be true, and `deny` empty where it has one.",
    ),
    field(
        "file",
        Shape::Text,
        "A file with the module, relative to the workspace.",
    ),
    field(
        "blake3",
        Shape::Text,
        "The digest that the file must have, in hexadecimal.",
    ),
    field(
        "query",
        Shape::Text,
        "What must be true instead of the module's `allow`, such as data.release.ready.",
    ),
];

/// What all policies have.
pub(super) const JUDGE_FIELDS: &[Field] = &[
    field(
        "artifacts",
        Shape::TextTable,
        "Files that it may look at, relative to the workspace, by the name that it knows each by.",
    ),
    number("fuel", 1000, u32::MAX, "How many instructions it may use."),
    number(
        "timeout_ms",
        1,
        MAX_TIMEOUT_MS,
        "How long it may take, if that comes first.",
    ),
    number(
        "max_memory_bytes",
        1 << 16,
        u32::MAX,
        "How much memory it may have.",
    ),
];

/// The fields of `[agent]`.
pub(super) const AGENT_FIELDS: &[Field] = &[
    field(
        "argv",
        Shape::Texts,
        "The agent and its arguments, where the command line names none.",
    ),
    field(
        "adapter",
        Shape::Word(words::<AdapterName>),
        "Which client it is; recognised by its name when absent.",
    ),
    field("prompt", Shape::Text, "The task."),
    field(
        "prompt_file",
        Shape::Text,
        "A file with the task, relative to the workspace.",
    ),
    field(
        "prompt_to",
        Shape::Word(words::<PromptTo>),
        "How the agent gets the prompt; as its client takes it when absent.",
    ),
    field(
        "env",
        Shape::TextTable,
        "Variables of its environment, beside the inherited ones.",
    ),
    field(
        "pass_env",
        Shape::Texts,
        "Inherited variables that it gets beside the harmless ones; `*` at the end stands for the rest of a name.",
    ),
    field(
        "leftovers",
        Shape::Word(words::<Leftovers>),
        "What becomes of processes that it leaves running.",
    ),
];

/// The fields of `[memory]`.
pub(super) const MEMORY_FIELDS: &[Field] = &[
    field(
        "root",
        Shape::Text,
        "The folder that holds the sessions, relative to the workspace.",
    ),
    field(
        "session_key",
        Shape::Text,
        "Whose loop it is; a new one for each run when absent.",
    ),
    field(
        "draft_id",
        Shape::Text,
        "Names the session where there is no session key.",
    ),
    field(
        "prd",
        Shape::Text,
        "The checklist that a new loop begins with, relative to the workspace.",
    ),
    field(
        "progress",
        Shape::Text,
        "What is already known when a new loop begins: a progress.txt, relative to the workspace.",
    ),
    field(
        "record",
        Shape::Word(words::<RecordName>),
        "How much the event log holds: full (default), or digest_only for private data. Then digests and lengths stand in \
         place of the task, of what the agent and programs print, of reasons and of their arguments; what is left are \
         names of checks, outcomes, decisions, counts, times, costs and the contract. Verdicts can't be replayed. What a \
         loop needs to go on is in its checkpoints, and progress.txt and handoff.md are written as ever. A short text can \
         be guessed from its digest.",
    ),
];

/// The fields of `[routing]`: those of a routing policy, without the profiles.
pub(super) const ROUTING_FIELDS: &[&str] = &["ralph_enabled", "require_cost_budget"];

/// The fields of `[tripwires]`.
pub(super) const TRIPWIRE_FIELDS: &[Field] = &[
    field(
        "protected_paths",
        Shape::Texts,
        "Files that may not change while the loop runs, and of which there may be no new ones; globs, relative to the \
         workspace. `!` excepts.",
    ),
    field(
        "frozen",
        Shape::Texts,
        "Files that were there when the loop began and may not change; new ones are allowed. Globs like protected_paths.",
    ),
    field(
        "frozen_parts",
        Shape::ListTable,
        "For a file, the JSON pointers to values in it that may not change, appear or go, such as /scripts. JSON, TOML and \
         YAML; of .cfg and .ini files, sections; /cfg(test) of .rs, /func/NAME of .go, /statements and /name/NAME of .py. What \
         frozen excepts is excepted here, too.",
    ),
    field(
        "test_count",
        Shape::Flag,
        "Whether tests may not vanish: their number may not fall, and where the results name each test, each of them must remain.",
    ),
    field(
        "skipped_tests",
        Shape::Flag,
        "Whether tests may not be skipped that were not: their number may not grow, and no test that ran may be skipped.",
    ),
    field(
        "prd_passes",
        Shape::Flag,
        "Whether a story may not be marked as passed without proof.",
    ),
    field(
        "allow_green_start",
        Shape::Flag,
        "Whether a loop may begin although every required check passes already and no promise is asked for.",
    ),
];

/// The fields of `[progress]`.
pub(super) const PROGRESS_FIELDS: &[Field] = &[field(
    "artifacts",
    Shape::Texts,
    "Files whose content tells whether the work moves on; globs. What git sees as changed when absent.",
)];

/// The fields of `[git]`.
pub(super) const GIT_FIELDS: &[Field] = &[field(
    "commit",
    Shape::Flag,
    "Whether each iteration's changes are committed.",
)];

/// The fields of `[report]`.
pub(super) const REPORT_FIELDS: &[Field] = &[
    field(
        "primary_metric",
        Shape::Word(words::<PrimaryMetric>),
        "The metric that was chosen before the experiment: it decides, and its p value is not adjusted.",
    ),
    field(
        "min_false_complete_reduction",
        Shape::Decimal,
        "By how much the primary metric has to improve before the gate should be on by default: 0.05 is five points.",
    ),
    field(
        "max_cost_increase",
        Shape::Decimal,
        "By how much the mean cost of a run may rise for that: 0.5 is by half.",
    ),
];

/// The fields of `[telemetry]`.
pub(super) const TELEMETRY_FIELDS: &[Field] = &[
    field(
        "endpoint",
        Shape::Text,
        "Where OpenTelemetry is sent by OTLP over HTTP, such as http://127.0.0.1:4318. The variable \
         OTEL_EXPORTER_OTLP_ENDPOINT goes before it.",
    ),
    field(
        "content",
        Shape::Flag,
        "Whether the task, the agent's output and the reasons of checks are sent along.",
    ),
];

/// The names of some fields.
pub(super) fn names(fields: &[Field]) -> Vec<&'static str> {
    fields.iter().map(|field| field.name).collect()
}

/// The bounds of a whole number.
pub(super) fn bounds(fields: &[Field], name: &str) -> (u32, u32) {
    match fields.iter().find(|field| field.name == name) {
        Some(Field {
            shape: Shape::Integer { min, max },
            ..
        }) => (*min, *max),
        // Invariant: only names of whole numbers are asked for.
        _ => (0, u32::MAX),
    }
}
