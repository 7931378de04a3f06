//! Proves the rules of installing and uninstalling on real files.

mod clients;
mod editing;
mod files;
mod generated;
mod generator;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::*;

const COMMAND: &str = "/opt/my tools/it's/ralph-gate";
const PLUGIN: &str = "// asks `ralph-gate hook opencode`\nexport const Gate = async () => ({});\n";
/// The clients whose settings are JSON.
const JSON: [Harness; 5] = [
    Harness::ClaudeCode,
    Harness::Codex,
    Harness::Gemini,
    Harness::Copilot,
    Harness::Cursor,
];

/// A project and a home, side by side.
struct Ground {
    folder: TempDir,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    fn plan_in(
        &self,
        harness: Harness,
        scope: Scope,
        action: Action<'_>,
    ) -> Result<Plan, InstallError> {
        let (root, home) = (self.path("root"), self.path("home"));
        let target = Target {
            harness,
            scope,
            root: &root,
            home: &home,
        };
        plan(&target, &action)
    }

    fn plan(&self, harness: Harness, action: Action<'_>) -> Result<Plan, InstallError> {
        self.plan_in(harness, Scope::Project, action)
    }

    fn install(&self, harness: Harness) -> Plan {
        let plan = self.plan(harness, Action::Install(wanted())).unwrap();
        plan.apply().unwrap();
        plan
    }

    fn uninstall(&self, harness: Harness) -> Plan {
        let plan = self.plan(harness, Action::Uninstall).unwrap();
        plan.apply().unwrap();
        plan
    }

    fn refusal(&self, harness: Harness) -> InstallError {
        let refused = self.plan(harness, Action::Install(wanted()));
        refused.unwrap_err()
    }

    fn status(&self, harness: Harness) -> Status {
        let (root, home) = (self.path("root"), self.path("home"));
        status(&Target {
            harness,
            scope: Scope::Project,
            root: &root,
            home: &home,
        })
    }

    fn file(&self, harness: Harness) -> PathBuf {
        self.path("root")
            .join(harness.file(Scope::Project).unwrap())
    }

    fn write(&self, harness: Harness, text: &str) {
        let file = self.file(harness);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn read(&self, harness: Harness) -> String {
        fs::read_to_string(self.file(harness)).unwrap()
    }

    /// Everything below, files with their text.
    fn everything(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut found = Vec::new();
        walk(self.folder.path(), &mut found);
        found.sort();
        found
    }
}

fn walk(folder: &Path, found: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            walk(&path, found);
            found.push((path, None));
        } else {
            let text = fs::read(&path).ok();
            found.push((path, text));
        }
    }
}

fn wanted() -> Wanted<'static> {
    Wanted {
        command: Path::new(COMMAND),
        plugin: PLUGIN,
        loop_detection: LoopDetection::SwitchOff,
    }
}

/// What installing makes of a text, without files.
fn installed(text: &str, harness: Harness) -> String {
    let recipe = Recipe::new(harness, Path::new(COMMAND), LoopDetection::SwitchOff).unwrap();
    insert::insert(text, &recipe).unwrap()
}

/// What uninstalling makes of a text, if the file stays.
fn uninstalled(text: &str, harness: Harness) -> String {
    match prune(&Document::new(text).unwrap(), harness) {
        Pruned::Text(text) => text,
        Pruned::Nothing(_) => panic!("nothing is left of {text}"),
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

/// A value with all of ours, made in another way than by splicing.
fn expected(mut value: Value, harness: Harness) -> Value {
    if let Some(setting) = harness.setting() {
        let ours = parsed(setting.value);
        let (last, above) = setting.keys.split_last().unwrap();
        let object = above
            .iter()
            .fold(&mut value, |value, key| at(value, key, "{}"));
        object.as_object_mut().unwrap().entry(*last).or_insert(ours);
    }
    let recipe = Recipe::new(harness, Path::new(COMMAND), LoopDetection::SwitchOff).unwrap();
    let whole = parsed(&recipe.whole());
    for event in harness.events() {
        let list = at(at(&mut value, "hooks", "{}"), event, "[]");
        let ours = whole["hooks"][event][0].clone();
        list.as_array_mut().unwrap().push(ours);
    }
    value
}

fn at<'v>(value: &'v mut Value, key: &str, otherwise: &str) -> &'v mut Value {
    let object = value.as_object_mut().unwrap();
    object.entry(key).or_insert_with(|| parsed(otherwise))
}
