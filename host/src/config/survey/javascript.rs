//! npm packages: the script for tests, through whichever tool manages the packages, and Deno.

use std::collections::BTreeSet;

use serde_json::Value;

use super::folder::Folder;
use super::{Found, Proposal, started};
use crate::config::catalogue::{DENO, JAVASCRIPT, NPM_PROGRAMS};
use crate::evidence::reports::TestFormat;

/// What npm writes where there are no tests.
const NPM_PLACEHOLDER: &str = "no test specified";
/// Signs by which a shell makes more than one command of a script: then nothing can be added at its end.
const OPERATORS: &[&str] = &["&&", "||", ";", "|", ">", "<", "&"];
/// What stands before the runner and says nothing about it.
const PREFIXES: &[&str] = &["npx", "cross-env", "c8", "nyc", "dotenv", "--", "env"];
/// Scripts that look at the code without running it.
const LINTS: &[&str] = &["lint", "typecheck", "type-check", "check-types"];

pub(super) fn look(folder: &Folder<'_>, found: &mut Found) {
    deno(folder, found);
    let Some(text) = folder.read("package.json") else {
        return;
    };
    found.ecosystems.push(&JAVASCRIPT);
    let Ok(package) = serde_json::from_str::<Value>(&text) else {
        return;
    };
    let manager = Manager::of(folder, &package);
    found.tests.extend(tests(folder, &package, manager));
    found.protected.extend(programs(folder, &package, manager));
    for name in LINTS {
        if script(&package, name).is_some() {
            let id = format!("{}_{}", manager.name(), name.replace('-', "_"));
            let lint = Proposal::new(&id, folder, "package.json", &JAVASCRIPT);
            found.lints.push(lint.argv([manager.name(), "run", name]));
        }
    }
}

/// What manages the packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl Manager {
    fn of(folder: &Folder<'_>, package: &Value) -> Self {
        let locks = [
            ("pnpm-lock.yaml", Self::Pnpm),
            ("yarn.lock", Self::Yarn),
            ("bun.lock", Self::Bun),
            ("bun.lockb", Self::Bun),
            ("package-lock.json", Self::Npm),
        ];
        for (path, _, _) in folder.upwards() {
            let lock = locks.iter().find(|(lock, _)| path.join(lock).is_file());
            if let Some((_, manager)) = lock {
                return *manager;
            }
        }
        let named = package.get("packageManager").and_then(Value::as_str);
        match named.and_then(|named| named.split('@').next()) {
            Some("pnpm") => Self::Pnpm,
            Some("yarn") => Self::Yarn,
            Some("bun") => Self::Bun,
            _ => Self::Npm,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
        }
    }

    /// The script `test`, with more arguments for its runner.
    fn test(self, arguments: &[String]) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Npm if arguments.is_empty() => &["npm", "test"],
            Self::Npm => &["npm", "test", "--"],
            Self::Pnpm => &["pnpm", "test"],
            Self::Yarn => &["yarn", "test"],
            Self::Bun => &["bun", "run", "test"],
        };
        let words = words.iter().map(ToString::to_string);
        words.chain(arguments.iter().cloned()).collect()
    }

    fn install(self) -> &'static str {
        match self {
            Self::Npm => "npm install",
            Self::Pnpm => "pnpm install",
            Self::Yarn => "yarn install",
            Self::Bun => "bun install",
        }
    }
}

fn script<'p>(package: &'p Value, name: &str) -> Option<&'p str> {
    let script = package.get("scripts")?.get(name)?.as_str()?.trim();
    (!script.is_empty() && !script.contains(NPM_PLACEHOLDER)).then_some(script)
}

fn tests(folder: &Folder<'_>, package: &Value, manager: Manager) -> Option<Proposal> {
    let script = script(package, "test")?;
    let id = format!("{}_test", manager.name());
    let proposal = Proposal::new(&id, folder, "package.json", &JAVASCRIPT)
        .probe([manager.name(), "--version"]);
    let runner = Runner::of(script);
    let needed: Vec<String> = match runner {
        Some(runner) => runner.program().map(str::to_owned).into_iter().collect(),
        None => started::programs(script),
    };
    let mut needed = needed.iter();
    let proposal = proposal.missing(needed.find_map(|it| missing(it, folder, manager)));
    let modules = Modules::of(folder);
    let report = |extension: &str| {
        let file = format!(".ralph-gate-{}.{extension}", folder.id(&id));
        (
            format!("{}{file}", modules.from_here),
            format!("{}{file}", modules.path),
        )
    };
    let plain = |proposal: Proposal| proposal.argv(manager.test(&[]));
    Some(match runner {
        Some(Runner::Node) => plain(proposal).prints(TestFormat::Node),
        Some(Runner::Vitest) => {
            let (argument, report) = report("xml");
            let output = format!("--outputFile={argument}");
            let arguments = ["--run".to_owned(), "--reporter=junit".to_owned(), output];
            proposal
                .argv(manager.test(&arguments))
                .writes(TestFormat::Junit, report)
        }
        Some(Runner::Mocha) => {
            let arguments = ["--reporter".to_owned(), "tap".to_owned()];
            proposal.argv(manager.test(&arguments)).prints(TestFormat::Tap)
        }
        Some(Runner::Bun) => {
            let (argument, report) = report("xml");
            let output = format!("--reporter-outfile={argument}");
            let arguments = ["--reporter=junit".to_owned(), output];
            proposal
                .argv(manager.test(&arguments))
                .writes(TestFormat::Junit, report)
        }
        Some(Runner::Jest) => plain(proposal).hint(
            "To count its tests, install jest-junit, add \"--\", \"--reporters=jest-junit\" to argv, and set \
             kind = \"tests_green\", format = \"junit\" and report = \"junit.xml\".",
        ),
        None => plain(proposal).hint(
            "To count its tests, let it write JUnit XML or TAP and set kind = \"tests_green\" with `format` and `report`.",
        ),
    })
}

/// What a script for tests starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Node,
    Jest,
    Vitest,
    Mocha,
    Bun,
}

impl Runner {
    /// None if it is something else, or more than one command.
    fn of(script: &str) -> Option<Self> {
        if OPERATORS.iter().any(|sign| script.contains(sign)) {
            return None;
        }
        let mut words = script.split_whitespace().skip_while(|word| {
            PREFIXES.contains(word)
                || word
                    .split_once('=')
                    .is_some_and(|(name, _)| is_variable(name))
        });
        let first = words.next()?;
        let mut rest = words;
        match first.rsplit('/').next()? {
            "node" => rest.any(|word| word == "--test").then_some(Self::Node),
            "jest" => Some(Self::Jest),
            "vitest" => {
                let other = ["bench", "list", "typecheck"];
                (!rest.any(|word| other.contains(&word))).then_some(Self::Vitest)
            }
            "mocha" | "_mocha" => Some(Self::Mocha),
            "bun" => (rest.next() == Some("test")).then_some(Self::Bun),
            _ => None,
        }
    }

    /// What has to be installed for it.
    fn program(self) -> Option<&'static str> {
        match self {
            Self::Node | Self::Bun => None,
            Self::Jest => Some("jest"),
            Self::Vitest => Some("vitest"),
            Self::Mocha => Some("mocha"),
        }
    }
}

/// What a shell does by itself, and the words of its grammar.
const OF_SHELL: &[&str] = &[
    ".", ":", "[", "case", "cd", "command", "done", "echo", "elif", "else", "esac", "eval", "exit",
    "export", "false", "fi", "for", "printf", "pwd", "read", "return", "set", "shift", "source",
    "test", "trap", "true", "type", "umask", "unset", "until", "wait", "while", "{", "}",
];

/// That a program is neither among the packages nor anywhere else.
fn missing(program: &str, folder: &Folder<'_>, manager: Manager) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if OF_SHELL.contains(&program) || !program.chars().all(is_part) {
        return None;
    }
    let is_there = folder.upwards().into_iter().any(|(path, _, _)| {
        let installed = path.join("node_modules/.bin").join(program);
        // With the other sign of it, packages are somewhere else.
        installed.exists() || path.join(".pnp.cjs").is_file()
    });
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = is_there || std::env::split_paths(&path).any(|it| it.join(program).is_file());
    (!is_there).then(|| format!("{program} is not installed: run `{}`", manager.install()))
}

/// The programs that the script for tests starts, where packages are: those that are there, and those of the system that
/// one there would be run in place of.
fn programs(folder: &Folder<'_>, package: &Value, manager: Manager) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let script = script(package, "test").unwrap_or_default();
    let programs: BTreeSet<String> = started::programs(script)
        .into_iter()
        .filter(|name| !OF_SHELL.contains(&name.as_str()) && name.chars().all(is_part))
        .filter(|name| missing(name, folder, manager).is_none())
        .collect();
    if programs.is_empty() {
        return Vec::new();
    }
    let programs = Vec::from_iter(programs).join(",");
    let upwards = folder.upwards().into_iter();
    let pattern = |(_, path, _): (_, String, _)| match path.as_str() {
        "" => format!("/{NPM_PROGRAMS}{{{programs}}}"),
        path => format!("/{}/{NPM_PROGRAMS}{{{programs}}}", globset::escape(path)),
    };
    upwards.map(pattern).collect()
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Where packages are installed, which git ignores and no tool keeps.
struct Modules {
    /// As seen from the directory, with a `/` at its end.
    from_here: String,
    /// As seen from the workspace.
    path: String,
}

impl Modules {
    fn of(folder: &Folder<'_>) -> Self {
        let upwards = folder.upwards();
        let there = upwards
            .iter()
            .find(|(path, _, _)| path.join("node_modules").is_dir());
        let (path, back) = match there.or(upwards.first()) {
            Some((_, path, back)) => (path.clone(), back.clone()),
            None => (String::new(), String::new()),
        };
        let path = match path.as_str() {
            "" => "node_modules/".to_owned(),
            path => format!("{path}/node_modules/"),
        };
        Self {
            from_here: format!("{back}node_modules/"),
            path,
        }
    }
}

fn deno(folder: &Folder<'_>, found: &mut Found) {
    let Some(file) = folder.first(&["deno.json", "deno.jsonc"]) else {
        return;
    };
    found.ecosystems.extend([&DENO, &JAVASCRIPT]);
    let tests = Proposal::new("deno_test", folder, file, &DENO).probe(["deno", "--version"]);
    let text = folder.read(file).unwrap_or_default();
    let settings: Value = serde_json::from_str(&text).unwrap_or_default();
    let has_task = settings.pointer("/tasks/test").is_some();
    found.tests.push(if has_task {
        tests.argv(["deno", "task", "test"])
    } else {
        tests
            .argv(["deno", "test", "--reporter=tap"])
            .prints(TestFormat::Tap)
    });
    found
        .lints
        .push(Proposal::new("deno_lint", folder, file, &DENO).argv(["deno", "lint"]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runner_of_a_script_is_told_by_its_first_command() {
        let cases = [
            ("jest", Some(Runner::Jest)),
            ("NODE_ENV=test npx jest --coverage", Some(Runner::Jest)),
            (
                "cross-env CI=1 node_modules/.bin/vitest run",
                Some(Runner::Vitest),
            ),
            ("c8 mocha", Some(Runner::Mocha)),
            ("node --import tsx --test", Some(Runner::Node)),
            ("bun test", Some(Runner::Bun)),
            ("node test.js", None),
            ("vitest bench", None),
            ("eslint . && jest", None),
            ("turbo run test", None),
        ];
        for (script, runner) in cases {
            assert_eq!(Runner::of(script), runner, "{script}");
        }
    }
}
