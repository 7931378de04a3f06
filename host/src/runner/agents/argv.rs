//! Finds the client in a command line, also behind the programs that people start clients with.

use super::{Client, Form};

/// A program that starts another one, and how its own arguments are told from the other's.
struct Wrapper {
    name: &'static str,
    /// One of these words must follow, as in `npm exec`.
    verbs: &'static [&'static str],
    /// Options whose value is the next word.
    valued: &'static [&'static str],
    /// Words of its own before the program, as the time in `timeout 60`.
    operands: usize,
}

const fn wrapper(
    name: &'static str,
    verbs: &'static [&'static str],
    valued: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper {
        name,
        verbs,
        valued,
        operands,
    }
}

/// Options of `npm` and `npx` with a value.
const NPM: &[&str] = &[
    "-p",
    "--package",
    "-w",
    "--workspace",
    "--prefix",
    "--registry",
    "--cache",
    "--userconfig",
];

const WRAPPERS: &[Wrapper] = &[
    wrapper("env", &[], &["-u", "--unset", "-C", "--chdir"], 0),
    wrapper("nice", &[], &["-n", "--adjustment"], 0),
    wrapper("nohup", &[], &[], 0),
    wrapper("stdbuf", &[], &["-i", "-o", "-e"], 0),
    wrapper("timeout", &[], &["-k", "--kill-after", "-s", "--signal"], 1),
    wrapper("npx", &[], NPM, 0),
    wrapper("npm", &["exec", "x"], NPM, 0),
    wrapper("pnpx", &[], &["--package"], 0),
    wrapper("pnpm", &["dlx", "exec"], &["--package"], 0),
    wrapper("yarn", &["dlx", "exec"], &["-p", "--package"], 0),
    wrapper("bunx", &[], &["-p", "--package"], 0),
    wrapper("bun", &["x", "run"], &["-p", "--package"], 0),
    wrapper("bun", &[], &["-r", "--preload", "--env-file"], 0),
    wrapper("node", &[], &["-r", "--require", "--import", "--loader"], 0),
];

/// Wrappers in wrappers that are followed, as in `env A=1 timeout 60 npx …`.
const DEPTH: usize = 4;

/// The client, and the place of the word that names it.
pub(super) fn find(argv: &[String]) -> Option<(Client, usize)> {
    let mut place = 0;
    for _ in 0..=DEPTH {
        let word = argv.get(place)?;
        if let Some(client) = named(word) {
            return Some((client, place));
        }
        let rest = argv.get(place + 1..)?;
        let name = stem(file_name(word));
        let mut fitting = WRAPPERS.iter().filter(|wrapper| wrapper.name == name);
        place += 1 + fitting.find_map(|wrapper| wrapper.skip(rest))?;
    }
    None
}

impl Wrapper {
    /// How many words stand before the program that is started.
    fn skip(&self, rest: &[String]) -> Option<usize> {
        let mut words = rest.iter().enumerate();
        if !self.verbs.is_empty() && !self.verbs.contains(&words.next()?.1.as_str()) {
            return None;
        }
        let mut operands = self.operands;
        while let Some((place, word)) = words.next() {
            if self.valued.contains(&word.as_str()) {
                words.next();
            } else if word.starts_with('-') || (self.name == "env" && word.contains('=')) {
            } else if operands > 0 {
                operands -= 1;
            } else {
                return Some(place);
            }
        }
        None
    }
}

/// The client that a word names: a program, a package with or without a version, or a script of a package.
fn named(word: &str) -> Option<Client> {
    let word = word.replace('\\', "/");
    let packages = [
        ("@anthropic-ai/claude-code", Client::Claude),
        ("@openai/codex", Client::Codex),
        ("@google/gemini-cli", Client::Gemini),
    ];
    let of_package = packages
        .iter()
        .find(|(package, _)| holds_package(&word, package));
    if let Some((_, client)) = of_package {
        return Some(*client);
    }
    if word.ends_with("claude-code/cli.js") {
        return Some(Client::Claude);
    }
    match stem(file_name(&word)) {
        "claude" => Some(Client::Claude),
        "codex" => Some(Client::Codex),
        "gemini" => Some(Client::Gemini),
        _ => None,
    }
}

/// Whether a package's name stands in a word as whole parts of a path.
fn holds_package(word: &str, package: &str) -> bool {
    word.match_indices(package).any(|(start, _)| {
        let (before, rest) = word.split_at(start);
        let after = rest.strip_prefix(package).unwrap_or_default();
        (before.is_empty() || before.ends_with('/'))
            && (after.is_empty() || after.starts_with(['/', '@']))
    })
}

fn file_name(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

/// Without what systems append to the names of programs and scripts.
fn stem(name: &str) -> &str {
    let endings = [".exe", ".cmd", ".bat", ".ps1", ".js", ".cjs", ".mjs"];
    let ending = endings.iter().find_map(|ending| name.strip_suffix(ending));
    ending.unwrap_or(name)
}

/// The options and other words up to `--`, behind which all is text.
pub(super) fn before_dashes(words: &[String]) -> impl Iterator<Item = &str> {
    words
        .iter()
        .map(String::as_str)
        .take_while(|word| *word != "--")
}

/// The value of the last of an option's occurrences, as `--name value` or `--name=value`.
pub(super) fn value<'a>(words: &'a [String], names: &[&str]) -> Option<&'a str> {
    let mut found = None;
    let mut words = before_dashes(words);
    while let Some(word) = words.next() {
        if names.contains(&word) {
            found = Some(words.next().unwrap_or_default());
        } else if let Some((name, value)) = word.split_once('=')
            && names.contains(&name)
        {
            found = Some(value);
        }
    }
    found
}

/// The form that a command line asks for, wherever the client's own arguments begin. A stream when it says nothing:
/// what turns out to be plain text is read as such.
pub(super) fn chosen_form(words: &[String]) -> Form {
    match value(words, &["--output-format", "-o"]) {
        Some("json") => Form::Json,
        Some("text") => Form::Text,
        _ => Form::Stream,
    }
}

/// Whether a client's own arguments may hold a task: a text of several words, or a word that no option takes as its value.
pub(super) fn may_hold_a_task(words: &[String]) -> bool {
    /// What a task may follow directly.
    const BEFORE: [&str; 8] = [
        "-p", "--print", "--prompt", "-i", "exec", "e", "resume", "--",
    ];
    let mut before = "--";
    words.iter().any(|word| {
        let follows = BEFORE.contains(&before) && !BEFORE.contains(&word.as_str());
        before = word.as_str();
        let is_option = word.starts_with('-');
        !is_option && (follows || word.trim().contains(char::is_whitespace))
    })
}

/// The command line with words put in at a place. What was there stays as it was, in its order.
pub(super) fn with(argv: &[String], place: usize, words: &[&str]) -> Vec<String> {
    let (before, after) = argv.split_at_checked(place).unwrap_or((argv, &[]));
    let words = words.iter().map(|word| (*word).to_owned());
    before
        .iter()
        .cloned()
        .chain(words)
        .chain(after.iter().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Option<(Client, usize)> {
        let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
        find(&argv)
    }

    #[test]
    fn a_client_is_known_by_its_file_name() {
        assert_eq!(found("claude -p"), Some((Client::Claude, 0)));
        assert_eq!(found("/opt/bin/codex exec"), Some((Client::Codex, 0)));
        assert_eq!(
            found(r"C:\tools\gemini.cmd -p x"),
            Some((Client::Gemini, 0))
        );
    }

    #[test]
    fn a_folder_or_an_argument_with_a_clients_name_is_no_client() {
        assert_eq!(found("/opt/claude/agent -p"), None);
        assert_eq!(found("my-claude -p"), None);
        assert_eq!(found("echo claude"), None);
        assert_eq!(found("node gemini-cli/own.js"), None);
        assert_eq!(found("npm run claude"), None);
        assert_eq!(found("env FOO=1"), None);
        assert_eq!(find(&[]), None);
    }

    #[test]
    fn a_client_is_found_behind_wrappers() {
        let lines = [
            ("env FOO=1 -u BAR claude -p", Client::Claude, 4),
            (
                "npx -y @anthropic-ai/claude-code@2.1.325 -p",
                Client::Claude,
                2,
            ),
            ("npx --package=@openai/codex codex exec", Client::Codex, 2),
            ("npx --prefix /x @openai/codex exec", Client::Codex, 3),
            ("bunx @google/gemini-cli", Client::Gemini, 1),
            ("npm exec -- @openai/codex exec", Client::Codex, 3),
            ("pnpm dlx @openai/codex exec", Client::Codex, 2),
            (
                "node --no-warnings /x/claude-code/cli.js -p",
                Client::Claude,
                2,
            ),
            (
                "node /x/@google/gemini-cli/bundle/gemini.js",
                Client::Gemini,
                1,
            ),
            (
                "bun run /x/@openai/codex/bin/codex.js exec",
                Client::Codex,
                2,
            ),
            (
                "timeout -k 5 600 env A=1 nice -n 5 claude -p",
                Client::Claude,
                9,
            ),
        ];
        for (line, client, place) in lines {
            assert_eq!(found(line), Some((client, place)), "{line}");
        }
    }

    #[test]
    fn a_task_among_the_arguments_is_told_from_options() {
        let holds = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            may_hold_a_task(&words)
        };
        for words in [
            &["-p", "fix it"][..],
            &["-p", "fix"],
            &["exec", "--json", "fix it"],
            &["fix"],
            &["--model", "opus", "fix it"],
        ] {
            assert!(holds(words), "{words:?}");
        }
        for words in [
            &[][..],
            &["-p"],
            &["-p", "--model", "opus"],
            &["exec", "-"],
            &["exec", "--json"],
            &["--output-format", "stream-json", "-p"],
        ] {
            assert!(!holds(words), "{words:?}");
        }
    }

    #[test]
    fn of_a_repeated_option_the_last_counts() {
        let words: Vec<String> = ["-o", "json", "-o=text", "--", "-o", "x"]
            .map(str::to_owned)
            .into();
        assert_eq!(value(&words, &["-o"]), Some("text"));
    }
}
