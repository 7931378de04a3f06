//! The plan of an experiment: from a text to types, with every problem at its place.

use std::collections::BTreeMap;
use std::path::{Path as FilePath, PathBuf};

use ralph_gate_component::Word as _;
use ralph_gate_component::tree::decode::{Decoder, Fields, Path};
use ralph_gate_component::tree::{At, Entry, Node, Source, Value};

use crate::config::{AdapterName, ConfigError, PrimaryMetric, format_of, json, place, read_text};

/// The longest name of an experiment, an arm or a task.
const MAX_NAME: usize = 64;
/// The longest name of a task class, as for a label.
const MAX_CLASS: usize = 256;
/// More repetitions or tasks than this are a mistake.
const MAX_REPEATS: u32 = 1000;
const MAX_TASKS: usize = 1000;
/// The folder for the results, where nothing is said.
const OUTPUT: &str = "results";

const PLAN_FIELDS: &[&str] = &[
    "$schema",
    "name",
    "seed",
    "repeats",
    "primary_metric",
    "agent",
    "output",
    "arms",
    "tasks",
];
const AGENT_FIELDS: &[&str] = &["argv", "adapter"];
const TASK_FIELDS: &[&str] = &["id", "class", "folder", "prompt", "prompt_file", "audit"];

/// The plan of an experiment.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The file.
    pub file: PathBuf,
    /// The folder that it stands in: relative paths begin here.
    pub folder: PathBuf,
    /// What the experiment is called: the label `experiment` of its runs.
    pub name: String,
    /// What the order is shuffled by.
    pub seed: u32,
    /// How often each task is run in each arm.
    pub repeats: u32,
    /// What the arms are compared by.
    pub primary_metric: PrimaryMetric,
    /// Who does the work; that of each task's configuration when absent.
    pub agent: Option<AgentCommand>,
    /// Where the results go.
    pub output: PathBuf,
    /// The arm that is compared with, and the one that is compared.
    pub arms: [Arm; 2],
    /// The tasks.
    pub tasks: Vec<PlannedTask>,
}

/// An agent. `{task}`, `{class}`, `{repeat}` and `{plan}` (the plan's folder) in its arguments are filled in for each run.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct AgentCommand {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Which client it is; recognised when absent.
    pub adapter: Option<AdapterName>,
}

/// One of the two ways in which tasks are run.
#[derive(Debug, Clone, Default)]
pub struct Arm {
    /// The label `arm` of its runs.
    pub name: String,
    /// The fields of a contract that win over those of a task's, as a request in JSON.
    pub request: String,
    /// Where each of the fields is, for what the gate has to say about it: by name, line and column.
    pub(super) places: BTreeMap<String, (u32, u32)>,
    pub(super) place: (u32, u32),
}

/// Something that is named in the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// What: from the plan's folder, if it is relative.
    pub path: PathBuf,
    /// Where in the tree of the plan.
    pub(super) field: String,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// What an agent is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    /// What the configuration of the task's folder says.
    Config,
    /// This.
    Text(String),
    /// What is in this file.
    File(Named),
}

/// A task.
#[derive(Debug, Clone)]
pub struct PlannedTask {
    /// The label `task` of its runs.
    pub id: String,
    /// What kind of task it is.
    pub class: Option<String>,
    /// What each run begins with: copied into a fresh workspace.
    pub folder: Named,
    /// What the agent is to do.
    pub prompt: Prompt,
    /// Hidden checks that tell afterwards whether the work is really done.
    pub audit: Option<Named>,
}

impl Plan {
    /// Reads a file.
    pub fn load(file: &FilePath) -> Result<Self, ConfigError> {
        let text = read_text(file)?;
        Self::read(file, &text)
    }

    /// Reads a text as if it were in that file.
    ///
    /// ```
    /// use ralph_gate::experiment::Plan;
    ///
    /// let plan = Plan::read(
    ///     "plan.toml".as_ref(),
    ///     r#"
    ///         name = "tests-first"
    ///         seed = 7
    ///         primary_metric = "false_complete_rate"
    ///         agent = ["my-agent", "--task", "{task}"]
    ///         [arms.standard]
    ///         enforcement = "shadow"
    ///         [arms.ralph]
    ///         enforcement = "enforce"
    ///         [[tasks]]
    ///         id = "fix-parser"
    ///         folder = "tasks/fix-parser"
    ///     "#,
    /// )?;
    /// assert_eq!(plan.arms[0].name, "standard");
    /// # Ok::<(), ralph_gate::config::ConfigError>(())
    /// ```
    pub fn read(file: &FilePath, text: &str) -> Result<Self, ConfigError> {
        let source = Source::new(text, format_of(file, text));
        let invalid = |problems: Vec<_>| {
            let problems = problems.into_iter().map(place::problem).collect();
            ConfigError::invalid(file.to_owned(), problems)
        };
        let root = source
            .read_settings()
            .map_err(|problem| invalid(vec![problem]))?;
        let folder = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => FilePath::new("."),
        };
        let mut reader = Reader {
            places: Source::new(text, format_of(file, text)),
            decoder: Decoder::new(source),
            folder,
        };
        let plan = reader.plan(file, &root);
        match (plan, reader.decoder.into_problems()) {
            (Some(plan), problems) if problems.is_empty() => Ok(plan),
            (_, problems) => Err(invalid(problems)),
        }
    }

    /// Everything that must not change while the experiment goes on, as far as the plan itself says it.
    pub(super) fn parts(&self) -> BTreeMap<String, String> {
        let mut parts = BTreeMap::from([
            ("name".to_owned(), self.name.clone()),
            ("seed".to_owned(), self.seed.to_string()),
            ("repeats".to_owned(), self.repeats.to_string()),
            (
                "primary_metric".to_owned(),
                self.primary_metric.as_str().to_owned(),
            ),
            (
                "agent".to_owned(),
                serde_json::to_string(&self.agent).unwrap_or_default(),
            ),
        ]);
        for (place, arm) in self.arms.iter().enumerate() {
            // Which arm is compared with which is part of the question.
            let said = format!("{place} {}", arm.request);
            parts.insert(format!("arms.{}", arm.name), said);
        }
        for task in &self.tasks {
            let class = task.class.clone().unwrap_or_default();
            parts.insert(format!("tasks.{}.class", task.id), class);
        }
        parts
    }
}

/// Reads one plan.
struct Reader<'s> {
    decoder: Decoder<'s>,
    /// The same text, to look up places.
    places: Source<'s>,
    folder: &'s FilePath,
}

impl Reader<'_> {
    fn plan(&mut self, file: &FilePath, root: &Node<'_>) -> Option<Plan> {
        let fields = self.decoder.object(root, Path::Root, PLAN_FIELDS)?;
        let name = self.required_name(fields, Path::Root, "name");
        let seed = self.integer(fields, "seed", 0, u32::MAX);
        let repeats = match fields.get("repeats") {
            Some(node) => self.decoder.integer(node, FIELD_REPEATS, 1, MAX_REPEATS),
            None => Some(1),
        };
        let metric = self
            .decoder
            .require(fields, Path::Root, "primary_metric")
            .and_then(|node| self.decoder.word(node, Path::Root.field("primary_metric")));
        let agent = self.agent(fields.get("agent"));
        let output = self.text(fields, Path::Root, "output");
        let arms = self.arms(fields, root.at);
        let tasks = self.tasks(fields);
        Some(Plan {
            file: file.to_owned(),
            folder: self.folder.to_owned(),
            name: name?,
            seed: seed?,
            repeats: repeats?,
            primary_metric: metric?,
            agent,
            output: self.folder.join(
                output
                    .filter(|path| !path.is_empty())
                    .as_deref()
                    .unwrap_or(OUTPUT),
            ),
            arms: arms?,
            tasks,
        })
    }

    fn integer(&mut self, fields: Fields<'_, '_>, name: &str, min: u32, max: u32) -> Option<u32> {
        let node = self.decoder.require(fields, Path::Root, name)?;
        self.decoder.integer(node, Path::Root.field(name), min, max)
    }

    fn text(&mut self, fields: Fields<'_, '_>, path: Path<'_>, name: &str) -> Option<String> {
        let text = self.decoder.string(fields.get(name)?, path.field(name))?;
        Some(text.to_owned())
    }

    fn required_name(
        &mut self,
        fields: Fields<'_, '_>,
        path: Path<'_>,
        name: &str,
    ) -> Option<String> {
        let node = self.decoder.require(fields, path, name)?;
        let text = self.decoder.string(node, path.field(name))?.to_owned();
        self.see_that_it_is_a_name(&text, node.at, path.field(name));
        Some(text)
    }

    /// Names are labels, folders and parts of keys.
    fn see_that_it_is_a_name(&mut self, text: &str, at: At, path: Path<'_>) {
        let fits = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.' | b'-')
        };
        let begins = text
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        if text.len() > MAX_NAME || !begins || !text.bytes().all(fits) {
            let message = format!(
                "must be 1 to {MAX_NAME} of a-z, 0-9, `_`, `.` and `-`, and begin with a letter or digit"
            );
            self.decoder.problem(at, path, message, None);
        }
    }

    fn agent(&mut self, node: Option<&Node<'_>>) -> Option<AgentCommand> {
        let node = node?;
        let path = Path::Root.field("agent");
        let (argv, adapter, argv_path) = match &node.value {
            Value::List(_) => (Some(node), None, path),
            _ => {
                let fields = self.decoder.object(node, path, AGENT_FIELDS)?;
                let adapter = fields
                    .get("adapter")
                    .and_then(|node| self.decoder.word(node, path.field("adapter")));
                let argv = self.decoder.require(fields, path, "argv");
                (argv, adapter, path.field("argv"))
            }
        };
        let node = argv?;
        let argv = self
            .decoder
            .items(Some(node), argv_path, |decoder, item, path| {
                decoder.string(item, path).map(str::to_owned)
            });
        if argv.first().is_none_or(String::is_empty) {
            let help = "name a program, and its arguments behind it";
            self.decoder.problem(
                node.at,
                argv_path,
                "names no program",
                Some(help.to_owned()),
            );
        }
        Some(AgentCommand { argv, adapter })
    }

    fn arms(&mut self, fields: Fields<'_, '_>, at: At) -> Option<[Arm; 2]> {
        const HELP: &str = "the arm that is compared with, for example [arms.standard] with `enforcement = \"shadow\"`, \
            and the one that is compared, for example [arms.ralph]";
        let path = Path::Root.field("arms");
        let Some(node) = fields.get("arms") else {
            self.decoder
                .problem(at, path, "is missing", Some(HELP.to_owned()));
            return None;
        };
        let mut entries: Vec<&Entry<'_>> = self.decoder.entries(node, path).iter().collect();
        // The first one in the text is the one that is compared with.
        entries.sort_by_key(|entry| entry.at);
        let arms: Vec<Option<Arm>> = entries
            .iter()
            .map(|entry| self.arm(entry, path.field(&entry.key)))
            .collect();
        let [one, other] = arms.as_slice() else {
            let message = format!("there must be two arms, not {}", arms.len());
            self.decoder
                .problem(node.at, path, message, Some(HELP.to_owned()));
            return None;
        };
        Some([one.clone()?, other.clone()?])
    }

    fn arm(&mut self, entry: &Entry<'_>, path: Path<'_>) -> Option<Arm> {
        self.see_that_it_is_a_name(&entry.key, entry.at, path);
        let fields = self.decoder.any_object(&entry.node, path)?;
        if let Some(mode) = fields.get("mode")
            && !matches!(&mode.value, Value::String(mode) if mode == "ralph")
        {
            let help =
                "use `enforcement = \"shadow\"`: nothing is intercepted either, and there is a log";
            let message = "an arm that is not in ralph mode leaves no log";
            self.decoder
                .problem(mode.at, path.field("mode"), message, Some(help.to_owned()));
        }
        let own = self.decoder.entries(&entry.node, path);
        let mode = ("mode", "\"ralph\"".to_owned());
        let others = own.iter().filter(|field| field.key != "mode");
        let others = others.map(|field| (field.key.as_ref(), json::write(&field.node)));
        let mut said: Vec<(&str, String)> = std::iter::once(mode).chain(others).collect();
        // The order of fields says nothing.
        said.sort();
        let places = own.iter().map(|field| {
            (
                field.key.to_string(),
                self.places.line_column(field.node.at),
            )
        });
        Some(Arm {
            name: entry.key.to_string(),
            request: json::object(said),
            places: places.collect(),
            place: self.places.line_column(entry.at),
        })
    }

    fn tasks(&mut self, fields: Fields<'_, '_>) -> Vec<PlannedTask> {
        let path = Path::Root.field("tasks");
        let node = self.decoder.require(fields, Path::Root, "tasks");
        let Some(node) = node else {
            return Vec::new();
        };
        let items = self.decoder.list(node, path);
        if items.is_empty() || items.len() > MAX_TASKS {
            let message = format!("must be 1 to {MAX_TASKS} tasks, not {}", items.len());
            self.decoder.problem(node.at, path, message, None);
        }
        let mut tasks: Vec<PlannedTask> = Vec::new();
        for (index, item) in items.iter().enumerate().take(MAX_TASKS) {
            let path = path.item(index);
            let Some(task) = self.task(item, path) else {
                continue;
            };
            if tasks.iter().any(|other| other.id == task.id) {
                let message = format!("there are two tasks `{}`", task.id);
                let help = "give each an id of its own; `repeats` runs a task several times";
                self.decoder
                    .problem(item.at, path.field("id"), message, Some(help.to_owned()));
            }
            tasks.push(task);
        }
        tasks
    }

    fn task(&mut self, node: &Node<'_>, path: Path<'_>) -> Option<PlannedTask> {
        let fields = self.decoder.object(node, path, TASK_FIELDS)?;
        let id = self.required_name(fields, path, "id");
        let class = self.class(fields, path);
        self.decoder.require(fields, path, "folder");
        let folder = self.named(fields, path, "folder");
        let audit = self.named(fields, path, "audit");
        let text = self.text(fields, path, "prompt");
        let file = self.named(fields, path, "prompt_file");
        if let (Some(_), Some(_), Some(prompt)) = (&text, &file, fields.get("prompt")) {
            let help = Some("keep one of them".to_owned());
            let message = "there is also a prompt_file";
            self.decoder
                .problem(prompt.at, path.field("prompt"), message, help);
        }
        let prompt = match (text, file) {
            (Some(text), _) => Prompt::Text(text),
            (None, Some(file)) => Prompt::File(file),
            (None, None) => Prompt::Config,
        };
        Some(PlannedTask {
            id: id?,
            class,
            folder: folder?,
            prompt,
            audit,
        })
    }

    fn class(&mut self, fields: Fields<'_, '_>, path: Path<'_>) -> Option<String> {
        let node = fields.get("class")?;
        let class = self.decoder.name(node, path.field("class"), MAX_CLASS)?;
        if class.contains(char::is_control) {
            let message = "has a control character";
            self.decoder
                .problem(node.at, path.field("class"), message, None);
        }
        Some(class.to_owned())
    }

    fn named(&mut self, fields: Fields<'_, '_>, path: Path<'_>, name: &str) -> Option<Named> {
        let node = fields.get(name)?;
        let text = self.decoder.string(node, path.field(name))?;
        if text.is_empty() {
            self.decoder
                .problem(node.at, path.field(name), "names nothing", None);
        }
        let (line, column) = self.places.line_column(node.at);
        Some(Named {
            path: self.folder.join(text),
            field: path.field(name).to_string(),
            line,
            column,
        })
    }
}

/// `repeats`
const FIELD_REPEATS: Path<'static> = Path::Field(&Path::Root, "repeats");

#[cfg(test)]
mod tests {
    use ralph_gate_report::compare::RateMetric;

    use super::*;

    const GOOD: &str = r#"
name = "tests-first"
seed = 7
repeats = 2
primary_metric = "false_complete_rate"
agent = ["my-agent", "--task", "{task}"]

[arms.standard]
enforcement = "shadow"

[arms.ralph]
loop_max_iters = 4
enforcement = "enforce"

[[tasks]]
id = "fix-parser"
class = "bugfix"
folder = "tasks/fix-parser"
prompt = "Mend it."
audit = "hidden.toml"
"#;

    fn problems(text: &str) -> Vec<String> {
        match Plan::read("dir/plan.toml".as_ref(), text) {
            Err(ConfigError::Invalid { problems, .. }) => problems
                .into_iter()
                .map(|it| {
                    let help = it.help.map(|help| format!("; {help}")).unwrap_or_default();
                    format!(
                        "{}:{} {}: {}{help}",
                        it.line, it.column, it.path, it.message
                    )
                })
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_plan_says_what_is_run_how_often_and_what_is_compared() {
        let plan = Plan::read("dir/plan.toml".as_ref(), GOOD).unwrap();
        assert_eq!(
            (plan.name.as_str(), plan.seed, plan.repeats),
            ("tests-first", 7, 2)
        );
        assert_eq!(plan.primary_metric, PrimaryMetric::FalseComplete);
        assert_eq!(plan.output, FilePath::new("dir/results"));
        let [before, after] = &plan.arms;
        assert_eq!(
            (before.name.as_str(), after.name.as_str()),
            ("standard", "ralph")
        );
        assert_eq!(
            after.request,
            r#"{"enforcement":"enforce","loop_max_iters":4,"mode":"ralph"}"#
        );
        let task = &plan.tasks[0];
        assert_eq!(task.folder.path, FilePath::new("dir/tasks/fix-parser"));
        assert_eq!(task.prompt, Prompt::Text("Mend it.".into()));
        let audit = task.audit.as_ref().unwrap();
        assert_eq!(audit.path, FilePath::new("dir/hidden.toml"));
        assert_eq!((audit.field.as_str(), audit.line), ("tasks[0].audit", 20));
    }

    #[test]
    fn the_arm_that_stands_first_is_the_one_that_is_compared_with() {
        let swapped = GOOD.replace("[arms.standard]", "[arms.x]");
        let swapped = swapped.replace("[arms.ralph]", "[arms.a]");
        let plan = Plan::read("p.toml".as_ref(), &swapped).unwrap();
        assert_eq!([&plan.arms[0].name, &plan.arms[1].name], ["x", "a"]);
    }

    #[test]
    fn the_same_plan_can_be_written_as_json_and_yaml() {
        let json = r#"{"name":"n","seed":1,"primary_metric":"handoff_rate","agent":{"argv":["a"],"adapter":"claude"},
            "arms":{"b":{"enforcement":"shadow"},"a":{}},"tasks":[{"id":"t","folder":"t"}]}"#;
        let plan = Plan::read("p.json".as_ref(), json).unwrap();
        assert_eq!([&plan.arms[0].name, &plan.arms[1].name], ["b", "a"]);
        assert_eq!(plan.agent.unwrap().adapter, Some(AdapterName::Claude));
        let yaml = "name: n\nseed: 1\nprimary_metric: handoff_rate\narms:\n  b: {enforcement: shadow}\n  a: {}\ntasks:\n- {id: t, folder: t}\n";
        let plan = Plan::read("p.yaml".as_ref(), yaml).unwrap();
        assert_eq!((plan.repeats, plan.agent.is_none()), (1, true));
        assert_eq!(plan.tasks[0].prompt, Prompt::Config);
    }

    #[test]
    fn every_problem_is_named_at_once_with_its_place_and_a_remedy() {
        let text = r#"
name = "Tests First"
sed = 7
repeats = 0
primary_metric = "false_complet_rate"
agent = []
[arms.standard]
mode = "standard"
[[tasks]]
id = "a"
folder = "x"
prompt = "p"
prompt_file = "q"
[[tasks]]
id = "a"
"#;
        assert_eq!(
            problems(text),
            [
                "1:1 seed: is missing",
                "2:8 name: must be 1 to 64 of a-z, 0-9, `_`, `.` and `-`, and begin with a letter or digit",
                "3:1 sed: unknown field `sed`; did you mean `seed`?",
                "4:11 repeats: must be a whole number from 1 to 1000, not 0",
                "5:18 primary_metric: `false_complet_rate` is not one of completion_rate, verified_completion_rate, \
                 false_complete_rate, handoff_rate; did you mean `false_complete_rate`?",
                "6:9 agent: names no program; name a program, and its arguments behind it",
                "7:2 arms: there must be two arms, not 1; the arm that is compared with, for example [arms.standard] with \
                 `enforcement = \"shadow\"`, and the one that is compared, for example [arms.ralph]",
                "8:8 arms.standard.mode: an arm that is not in ralph mode leaves no log; use `enforcement = \"shadow\"`: \
                 nothing is intercepted either, and there is a log",
                "12:10 tasks[0].prompt: there is also a prompt_file; keep one of them",
                "14:1 tasks[1].folder: is missing",
            ]
        );
    }

    #[test]
    fn every_metric_is_one_that_a_report_has() {
        let is_known = |metric: &PrimaryMetric| RateMetric::find(metric.as_str()).is_some();
        assert!(PrimaryMetric::ALL.iter().all(is_known));
    }

    #[test]
    fn a_plan_whose_meaning_is_the_same_has_the_same_parts() {
        let plan = Plan::read("p.toml".as_ref(), GOOD).unwrap();
        let other = GOOD.replace(
            "loop_max_iters = 4\nenforcement = \"enforce\"",
            "# a note\nenforcement = 'enforce'\nloop_max_iters = 4",
        );
        let other = Plan::read("q.toml".as_ref(), &other).unwrap();
        assert_eq!(plan.parts(), other.parts());
        let changed = GOOD.replace("loop_max_iters = 4", "loop_max_iters = 5");
        let changed = Plan::read("p.toml".as_ref(), &changed).unwrap();
        assert_ne!(plan.parts(), changed.parts());
    }
}
