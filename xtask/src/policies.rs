//! The templates of policies: each is made into a project, built with its own toolchain, and tested with its own cases.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::process;
use crate::scratch::Scratch;
use crate::setup::Skip;
use crate::terminal::{size, step};
use crate::toolchains::{self, Toolchain};
use crate::workspace::{self, Workspace};

/// The target of a policy in Rust: its standard library asks nothing of the host.
const TARGET: &str = "wasm32-unknown-unknown";
/// What a project's build leaves behind.
const POLICY: &str = "policy.wasm";
const CASES: &str = "cases.json";
/// All that a policy may ask of its host.
const ARTIFACTS: &str = "ralph:gate/artifacts@0.1.0";

/// A language that there is a template for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Rust,
    JavaScript,
    Python,
}

impl Language {
    const ALL: [Self; 3] = [Self::Rust, Self::JavaScript, Self::Python];

    /// What `--lang` takes.
    fn flag(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::JavaScript => "js",
            Self::Python => "python",
        }
    }

    /// What has to be installed for it.
    fn toolchain(self) -> Option<Toolchain> {
        match self {
            Self::Rust => None,
            Self::JavaScript => Some(Toolchain::Npm),
            Self::Python => Some(Toolchain::Python),
        }
    }
}

/// How the templates fared.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) passed: usize,
    pub(crate) skips: Vec<Skip>,
}

/// Makes, builds and tests a project of every template with the command that was built.
pub(crate) fn test(workspace: &Workspace, binary: &Path) -> Result<Done> {
    let scratch = Scratch::new("policies")?;
    let mut done = Done::default();
    for language in Language::ALL {
        if let Some(toolchain) = language.toolchain()
            && let Some(skip) = toolchains::ensure(workspace, toolchain)?
        {
            done.skips.push(skip);
            continue;
        }
        let title = format!("a policy in {language:?}");
        step(&title, || {
            Project::new(workspace, binary, language, &scratch)?.test()
        })?;
        done.passed += 1;
    }
    Ok(done)
}

/// A project that was made of a template.
struct Project<'w> {
    workspace: &'w Workspace,
    binary: &'w Path,
    language: Language,
    folder: PathBuf,
}

impl<'w> Project<'w> {
    fn new(
        workspace: &'w Workspace,
        binary: &'w Path,
        language: Language,
        scratch: &Scratch,
    ) -> Result<Self> {
        let flag = language.flag();
        let name = format!("notes-{flag}");
        let mut command = Command::new(binary);
        command.args(["policy", "new", "--lang", flag, &name]);
        process::run(command.current_dir(scratch.path(".")))?;
        Ok(Self {
            workspace,
            binary,
            language,
            folder: scratch.path(&name),
        })
    }

    fn test(&self) -> Result<()> {
        self.check_commands()?;
        self.build()?;
        self.check_imports()?;
        let (exit, output) = self.run_cases()?;
        if exit != Some(0) {
            bail!("the cases of the template fail:\n{output}");
        }
        // A test that can't fail proves nothing.
        let path = self.folder.join(CASES);
        let (name, cases) = broken(&fs::read_to_string(&path)?)?;
        fs::write(&path, cases)?;
        let (exit, output) = self.run_cases()?;
        if exit != Some(1) || !output.contains(&name) {
            bail!(
                "the case `{name}` expects what is not so, and `policy test` must end with 1 and name it:\n{output}"
            );
        }
        Ok(())
    }

    /// What the README tells a person to type exists.
    fn check_commands(&self) -> Result<()> {
        let readme = fs::read_to_string(self.folder.join("README.md"))?;
        for name in commands_in(&readme) {
            if !process::succeeds(Command::new(self.binary).args(["policy", name, "--help"])) {
                bail!("its README names `ralph-gate policy {name}`, which does not exist");
            }
        }
        Ok(())
    }

    /// Builds it as its README says, with what is installed already.
    fn build(&self) -> Result<()> {
        if let Some(toolchain) = self.language.toolchain() {
            let (installed, name) = toolchain.installed(self.workspace);
            symlink(installed, self.folder.join(name))?;
        }
        match self.language {
            Language::Rust => self.build_and_wrap(),
            Language::JavaScript => self.run("npm", &["run", "build"]),
            Language::Python => self.run("sh", &["build.sh"]),
        }
    }

    /// The crates are compiled once, for all runs, and are those of this workspace: nothing else has to be fetched.
    fn build_and_wrap(&self) -> Result<()> {
        let lock = "Cargo.lock";
        fs::copy(self.workspace.path(lock), self.folder.join(lock))?;
        let target = self.workspace.target().join("policies/rust");
        let mut cargo = workspace::cargo();
        cargo.args(["build", "--release", "--target", TARGET]);
        cargo.env("CARGO_TARGET_DIR", &target);
        process::run(cargo.current_dir(&self.folder))?;
        let module = target.join(TARGET).join("release").join(POLICY);
        let mut wrap = Command::new(self.binary);
        wrap.args(["policy", "wrap"])
            .arg(module)
            .args(["-o", POLICY]);
        process::run(wrap.current_dir(&self.folder))
    }

    fn run(&self, program: &str, args: &[&str]) -> Result<()> {
        let mut command = Command::new(program);
        process::run(command.args(args).current_dir(&self.folder))
    }

    /// Nothing may be asked of the host but the bytes of artifacts.
    fn check_imports(&self) -> Result<()> {
        let bytes = fs::read(self.folder.join(POLICY))
            .with_context(|| format!("the build left no {POLICY}"))?;
        println!("    {}", size(bytes.len() as u64));
        let imports = ralph_gate_builder::anatomy(&bytes)?.imports;
        match imports.iter().find(|import| *import != ARTIFACTS) {
            None => Ok(()),
            Some(import) => {
                bail!("{POLICY} imports {import}; a policy may import {ARTIFACTS} alone")
            }
        }
    }

    /// How `policy test` ended, and what it printed.
    fn run_cases(&self) -> Result<(Option<i32>, String)> {
        let mut command = Command::new(self.binary);
        command.args(["policy", "test", POLICY, "--cases", CASES]);
        let output = command.current_dir(&self.folder).output()?;
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok((output.status.code(), text))
    }
}

/// The cases, of which the first now expects what is not so, and the name of that one.
fn broken(cases: &str) -> Result<(String, String)> {
    let mut cases: Value = serde_json::from_str(cases)?;
    let first = cases.pointer_mut("/cases/0").context("there is no case")?;
    let name = first.get("name").and_then(Value::as_str);
    let name = name.context("the first case has no name")?.to_owned();
    let outcome = first.pointer_mut("/expect/outcome");
    let outcome = outcome.context("the first case expects no outcome")?;
    *outcome = Value::from(if *outcome == "pass" {
        "unknown"
    } else {
        "pass"
    });
    Ok((name, serde_json::to_string_pretty(&cases)?))
}

/// The commands of `ralph-gate policy` that a text names.
fn commands_in(text: &str) -> impl Iterator<Item = &str> {
    let rests = text.split("ralph-gate policy ").skip(1);
    rests.filter_map(|rest| rest.split_whitespace().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources;

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
    }

    fn template(language: Language) -> PathBuf {
        Path::new("host/templates/policy").join(language.flag())
    }

    fn text(path: impl AsRef<Path>) -> String {
        fs::read_to_string(root().join(path)).unwrap()
    }

    /// The templates of a folder, and their text.
    fn files(folder: &Path) -> Vec<(PathBuf, String)> {
        let paths = sources::below(root(), folder.to_str().unwrap(), &[""]).into_iter();
        paths.map(|path| (path.clone(), text(path))).collect()
    }

    #[test]
    fn every_template_has_the_same_cases() {
        let cases = Language::ALL.map(|language| {
            let folder = template(language);
            let files = files(&folder.join("cases")).into_iter();
            let files =
                files.map(|(path, text)| (path.strip_prefix(&folder).unwrap().to_owned(), text));
            (text(folder.join(CASES)), files.collect::<Vec<_>>())
        });
        let [rust, javascript, python] = &cases;
        assert!(rust == javascript && rust == python);
        assert!(!rust.1.is_empty());
    }

    #[test]
    fn a_template_has_no_placeholder_but_the_name() {
        for (path, text) in Language::ALL.map(template).iter().flat_map(|it| files(it)) {
            let others = text.replace("{{name}}", "");
            assert!(!others.contains("{{"), "{}", path.display());
        }
    }

    #[test]
    fn the_tests_build_with_the_versions_that_the_templates_pin() {
        let package = |path: &Path| -> Value { serde_json::from_str(&text(path)).unwrap() };
        let ours = package(Path::new("tests/policies/npm/package.json"));
        let theirs = package(&template(Language::JavaScript).join("package.json.template"));
        assert!(ours["devDependencies"].is_object());
        assert_eq!(ours["devDependencies"], theirs["devDependencies"]);

        let pins = |text: String| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            lines.map(str::to_owned).collect()
        };
        let ours = pins(text("tests/policies/python/requirements.txt"));
        let theirs = pins(text(template(Language::Python).join("requirements.txt")));
        assert!(!ours.is_empty());
        assert_eq!(ours, theirs);
    }

    #[test]
    fn a_template_in_rust_pins_what_the_workspace_has() {
        let lock = text("Cargo.lock");
        let manifest = text(template(Language::Rust).join("Cargo.toml.template"));
        let (_, dependencies) = manifest.split_once("[dependencies]\n").unwrap();
        let lines = dependencies.lines().take_while(|line| !line.is_empty());
        let mut count = 0;
        for line in lines {
            let (name, rest) = line.split_once(" = ").unwrap();
            let version = rest.split('"').nth(1).unwrap().strip_prefix('=').unwrap();
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"\n");
            assert!(lock.contains(&entry), "{entry}");
            count += 1;
        }
        assert_eq!(count, 2);
    }

    #[test]
    fn breaking_the_cases_changes_one_expectation() {
        let cases = r#"{"cases": [{"name": "a", "expect": {"outcome": "pass"}}, {"name": "b", "expect": {"outcome": "fail"}}]}"#;
        let (name, broken) = broken(cases).unwrap();
        assert_eq!(name, "a");
        let broken: Value = serde_json::from_str(&broken).unwrap();
        assert_eq!(broken["cases"][0]["expect"]["outcome"], "unknown");
        assert_eq!(broken["cases"][1]["expect"]["outcome"], "fail");
        assert!(super::broken(r#"{"cases": []}"#).is_err());
    }

    #[test]
    fn commands_are_found_in_a_readme() {
        let text =
            "`ralph-gate policy test x`\n```sh\nralph-gate policy wrap a -o b\n```\nralph-gate run";
        assert_eq!(commands_in(text).collect::<Vec<_>>(), ["test", "wrap"]);
    }
}
