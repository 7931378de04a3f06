//! `ralph-gate import`: transcripts of agent clients, as runs for a report.

mod find;
mod progress;
mod say;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use ralph_gate::memory::save_bytes;
use ralph_gate_transcripts::{
    Client, ImportedRun, Line, LoopFile, Options, Split, Subagent, Summary, Unanswered, day_ms,
    read, read_loop_file,
};

use super::args::TranscriptsArgs;
use super::error::CliError;
use super::input::{Input, Source};
use super::terminal::Terminal;
use super::{Exit, gate};
use find::{Found, Kind, Place};
use progress::Progress;

/// How much of a file is read at once.
const BLOCK: usize = 1 << 18;
/// Where the official plugin keeps the state of a loop.
const LOOP_FILE: &str = ".claude/ralph-loop.local.md";
/// Why what a subagent used counts nowhere.
const NO_SESSION: &str =
    "it is a subagent's transcript, and the session that started it is not among the transcripts";

pub(crate) fn run(args: &TranscriptsArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let wanted = Wanted::of(args)?;
    let mut summary = Summary::default();
    let (places, files) = if args.paths.is_empty() {
        find::in_places(wanted.options.client, &mut summary)?
    } else {
        (Vec::new(), find::in_paths(&args.paths, &mut summary)?)
    };
    let mut output = Output::open(args.output.as_deref());
    let mut import = Import {
        wanted: &wanted,
        summary,
        ids: BTreeMap::new(),
        loops: BTreeMap::new(),
        used_loops: BTreeSet::new(),
        runs: Vec::new(),
        subagents: Vec::new(),
    };
    let mut progress = Progress::new(terminal, files.len());
    // The state of a loop is needed when its transcript is read.
    let (loops, transcripts): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.kind == Kind::Loop);
    for file in &loops {
        import.read_loop(&file.path);
    }
    for file in &transcripts {
        progress.step(&file.path);
        import.transcript(file);
    }
    import.add_subagents();
    import.write_runs(&mut output)?;
    import.lonely_loops(&mut output)?;
    progress.end();
    output.close()?;
    say::summary(terminal, args, &places, &import.summary)?;
    Ok(if import.summary.runs > 0 {
        Exit::Success
    } else {
        Exit::Error
    })
}

/// Which runs are wanted.
struct Wanted {
    options: Options,
    since: Option<u64>,
    /// The folder as it was named, and as it really is.
    projects: Vec<PathBuf>,
    labels: BTreeMap<String, String>,
}

impl Wanted {
    fn of(args: &TranscriptsArgs) -> Result<Self, CliError> {
        let usage = |message: String| CliError::Usage { message };
        let client = args.client.as_deref();
        let client = client.and_then(|name| Client::ALL.into_iter().find(|it| it.as_str() == name));
        let since = match &args.since {
            None => None,
            Some(day) => Some(day_ms(day).ok_or_else(|| {
                usage(format!("--since {day} is no day; write it as 2026-01-31"))
            })?),
        };
        let mut labels = BTreeMap::new();
        for label in &args.labels {
            match label.split_once('=') {
                Some((name, value)) if !name.trim().is_empty() => {
                    labels.insert(name.trim().to_owned(), value.to_owned());
                }
                _ => {
                    let message = format!("--label {label} has no value; write it as NAME=VALUE");
                    return Err(usage(message));
                }
            }
        }
        let mut projects = Vec::new();
        if let Some(project) = &args.project {
            let found = std::fs::canonicalize(project);
            projects.extend(found);
            projects.extend(std::path::absolute(project));
        }
        let split = if args.each_prompt {
            Split::Prompt
        } else {
            Split::Session
        };
        Ok(Self {
            options: Options { client, split },
            since,
            projects,
            labels,
        })
    }

    fn has(&self, run: &ImportedRun) -> bool {
        let is_in_time = match self.since {
            None => true,
            Some(since) => run.started_at_ms.is_some_and(|began| began >= since),
        };
        let project = run.project.as_deref().map(Path::new);
        let is_in = |folder: &PathBuf| project.is_some_and(|project| project.starts_with(folder));
        is_in_time && (self.projects.is_empty() || self.projects.iter().any(is_in))
    }
}

struct Import<'w> {
    wanted: &'w Wanted,
    summary: Summary,
    /// How often each id was given out.
    ids: BTreeMap<String, u32>,
    /// The loop file of each place; none where there is none.
    loops: BTreeMap<PathBuf, Option<LoopFile>>,
    used_loops: BTreeSet<PathBuf>,
    /// What was read. Subagents may come later, so it is written at the end.
    runs: Vec<Read>,
    /// Subagents, with the names of their files.
    subagents: Vec<(String, Subagent)>,
}

/// A run, and whether what its subagents did is in its own transcript.
struct Read {
    run: ImportedRun,
    has_sidechains: bool,
}

impl Import<'_> {
    fn transcript(&mut self, file: &Found) {
        let name = file.path.display().to_string();
        let opened = match find::open(&file.path) {
            Ok(opened) => opened,
            Err(reason) => {
                self.summary.skip(&name, &reason);
                return;
            }
        };
        let reader = BufReader::with_capacity(BLOCK, opened);
        let imported = match read(reader, &name, &self.wanted.options, &ask) {
            Ok(imported) => imported,
            Err(error) => {
                self.summary.skip(&name, &error.to_string());
                return;
            }
        };
        self.summary.add_transcript(&imported);
        if let Some(subagent) = imported.subagent {
            return self.subagents.push((name, subagent));
        }
        let root = match imported.client {
            Client::Gemini => find::gemini_project(&file.path),
            Client::ClaudeCode | Client::Codex => None,
        };
        for mut run in imported.runs {
            if run.project.is_none() {
                run.project.clone_from(&root);
            }
            self.add_loop(&mut run);
            self.runs.push(Read {
                run,
                has_sidechains: imported.has_sidechains,
            });
        }
    }

    /// Counts what subagents used for the sessions that started them.
    fn add_subagents(&mut self) {
        for (name, subagent) in std::mem::take(&mut self.subagents) {
            let of_session = |read: &Read| read.run.is_of_session(&subagent);
            // A session may have several runs: the one that had begun, or else its first.
            let had_begun = |read: &Read| read.run.started_at_ms <= subagent.started_at_ms;
            let place = self
                .runs
                .iter()
                .rposition(|it| of_session(it) && had_begun(it));
            let place = place.or_else(|| self.runs.iter().position(of_session));
            match place.and_then(|place| self.runs.get_mut(place)) {
                Some(read) if read.has_sidechains => {}
                Some(read) => read.run.add_subagent(&subagent),
                None => {
                    self.summary.subagents -= 1;
                    self.summary.skip(&name, NO_SESSION);
                }
            }
        }
    }

    fn write_runs(&mut self, output: &mut Output) -> Result<(), CliError> {
        for read in std::mem::take(&mut self.runs) {
            self.write(read.run, output)?;
        }
        Ok(())
    }

    /// What the state file of the run's loop knows.
    fn add_loop(&mut self, run: &mut ImportedRun) {
        if run.client != Client::ClaudeCode {
            return;
        }
        if let Some(project) = &run.project {
            let place = Path::new(project).join(LOOP_FILE);
            if place.is_file() {
                self.read_loop(&place);
            }
        }
        for (place, file) in &self.loops {
            if let Some(file) = file
                && run.add_loop_file(file)
            {
                self.used_loops.insert(place.clone());
                return;
            }
        }
    }

    fn read_loop(&mut self, place: &Path) {
        if self.loops.contains_key(place) {
            return;
        }
        let found = Input::read_up_to(Some(place), 1 << 20)
            .map_err(|error| error.to_string())
            .and_then(|input| read_loop_file(&input.text, &ask).map_err(|error| error.to_string()));
        let found = match found {
            Ok(file) => Some(file),
            Err(reason) => {
                self.summary.skip(&place.display().to_string(), &reason);
                None
            }
        };
        self.loops.insert(place.to_owned(), found);
    }

    /// Loops whose transcripts are not there.
    fn lonely_loops(&mut self, output: &mut Output) -> Result<(), CliError> {
        let client = self.wanted.options.client;
        if client.is_some_and(|client| client != Client::ClaudeCode) {
            return Ok(());
        }
        for (place, file) in std::mem::take(&mut self.loops) {
            if let Some(file) = file
                && !self.used_loops.contains(&place)
            {
                let folder = place.parent().and_then(Path::parent);
                let folder = folder.and_then(|folder| std::path::absolute(folder).ok());
                let folder = folder.map(|folder| folder.display().to_string());
                let name = place.display().to_string();
                let run = ImportedRun::of_loop_file(&file, &name, folder);
                self.write(run, output)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, mut run: ImportedRun, output: &mut Output) -> Result<(), CliError> {
        if !self.wanted.has(&run) {
            self.summary.left_out += 1;
            return Ok(());
        }
        run.labels.clone_from(&self.wanted.labels);
        run.task = run.labels.get("task").cloned();
        run.task_class = run.labels.get("task_class").cloned();
        // The same session may be in two files.
        let times = self.ids.entry(run.id.clone()).or_default();
        *times += 1;
        if *times > 1 {
            run.id = format!("{}~{times}", run.id);
        }
        self.summary.add_run(&run);
        let line = serde_json::to_string(&Line::ImportedRun(Box::new(run)));
        let line = line.map_err(|error| CliError::Answer {
            reason: error.to_string(),
        })?;
        output.line(&line)
    }
}

/// Where the runs go.
enum Output {
    /// A person sees the summary; the runs are not shown.
    Terminal,
    Stdout(BufWriter<io::Stdout>),
    /// Written when everything is known: all of it, or nothing.
    File(PathBuf, Vec<u8>),
    /// The reader has seen enough.
    Closed,
}

impl Output {
    fn open(file: Option<&Path>) -> Self {
        match file.filter(|file| *file != Path::new("-")) {
            Some(file) => Self::File(file.to_owned(), Vec::new()),
            None if io::stdout().is_terminal() => Self::Terminal,
            None => Self::Stdout(BufWriter::new(io::stdout())),
        }
    }

    fn line(&mut self, line: &str) -> Result<(), CliError> {
        self.with(|writer| writeln!(writer, "{line}"))
    }

    fn close(&mut self) -> Result<(), CliError> {
        if let Self::File(path, bytes) = self {
            return save_bytes(path, bytes).map_err(|error| not_written(path, &error));
        }
        self.with(|writer| writer.flush())
    }

    fn with(&mut self, act: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
        match self {
            Self::Terminal | Self::Closed => Ok(()),
            Self::File(path, writer) => act(writer).map_err(|error| not_written(path, &error)),
            Self::Stdout(writer) => match act(writer) {
                Ok(()) => Ok(()),
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    // What is left in it can't be written, and must not be tried again.
                    let old = std::mem::replace(self, Self::Closed);
                    if let Self::Stdout(writer) = old {
                        let _ = writer.into_parts();
                    }
                    Ok(())
                }
                Err(error) => Err(CliError::Output {
                    reason: error.to_string(),
                }),
            },
        }
    }
}

fn not_written(file: &Path, error: &dyn std::fmt::Display) -> CliError {
    CliError::Usage {
        message: format!(
            "{} can't be written: {error}; name another file with --output",
            Source::File(file.to_owned())
        ),
    }
}

/// The gate that this program carries.
fn ask(function: &str, input: &str) -> Result<String, Unanswered> {
    let gate = gate().map_err(|error| Unanswered(error.to_string()))?;
    let answer = gate.call(function, input);
    answer.map_err(|error| Unanswered(error.to_string()))
}

/// A place where a client keeps transcripts, for the summary.
fn described(place: &Place) -> serde_json::Value {
    serde_json::json!({ "client": place.client.as_str(), "path": place.path, "found": place.found })
}
