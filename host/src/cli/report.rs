//! `ralph-gate report`: whether the gate makes loops better, on a person's own data.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ralph_gate::config::{Config, ConfigError};
use ralph_gate::memory::save_text;
use ralph_gate::report::{LogFile, Progress, ReportError, find, load};
use ralph_gate_component::Word as _;
use ralph_gate_report::compare::{
    AMOUNTS, Options, RATES, RateMetric, Selection, Side, Thresholds, compare,
};
use ralph_gate_report::model::Report;
use ralph_gate_report::read::Found;
use ralph_gate_report::render::{self, Paint};

use super::Exit;
use super::args::{ReportArgs, ReportFormat};
use super::error::CliError;
use super::terminal::{Painter, Terminal, print};

/// Where sessions are, if nobody says.
const ROOT: &str = ".ralph";
/// Reading that takes longer is shown.
const PATIENCE: Duration = Duration::from_millis(700);
/// How wide a table is where nobody sees it.
const WIDTH: usize = 120;

/// What an arm was asked for with.
#[derive(Debug)]
enum Wanted {
    Runs(Selection),
    Logs(Vec<LogFile>),
}

pub(crate) fn run(args: &ReportArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let options = options(args)?;
    let (before, after) = (wanted(&args.before)?, wanted(&args.after)?);
    let mut files: BTreeSet<LogFile> = BTreeSet::new();
    for place in &args.logs {
        files.extend(find(place)?);
    }
    let by_label = [&before, &after]
        .iter()
        .any(|arm| matches!(arm, Wanted::Runs(_)));
    if by_label && args.logs.is_empty() {
        files.extend(find(Path::new(ROOT))?);
    }
    for arm in [&before, &after] {
        if let Wanted::Logs(logs) = arm {
            files.extend(logs.iter().cloned());
        }
    }
    let files: Vec<LogFile> = files.into_iter().collect();
    let (found, starts) = read(&files, terminal)?;
    let side = |name: &[String], wanted: &Wanted| Side {
        name: name.join(" "),
        runs: match wanted {
            Wanted::Runs(selection) => selection.places(&found.runs),
            Wanted::Logs(logs) => of_logs(&files, &starts, logs),
        },
    };
    let (before, after) = (side(&args.before, &before), side(&args.after, &after));
    let report = compare(found.runs, before, after, &found.problems, &options);
    let report = report.map_err(|error| CliError::Usage {
        message: error.to_string(),
    })?;
    write(args, &report, terminal)?;
    Ok(Exit::Success)
}

/// What an arm is: conditions for runs, or places of logs.
fn wanted(arm: &[String]) -> Result<Wanted, CliError> {
    let is_there = |text: &String| Path::new(text).exists();
    match arm {
        [only] if !is_there(only) && only.contains('=') => {
            let selection = only.parse();
            selection.map(Wanted::Runs).map_err(
                |error: ralph_gate_report::compare::SelectionError| CliError::Usage {
                    message: error.to_string(),
                },
            )
        }
        places => {
            let mut logs = Vec::new();
            for place in places {
                logs.extend(find(Path::new(place))?);
            }
            Ok(Wanted::Logs(logs))
        }
    }
}

fn options(args: &ReportArgs) -> Result<Options, CliError> {
    let file = match &args.config {
        Some(file) => Some(file.clone()),
        None => match Config::find_upwards(Path::new(".")) {
            Ok(file) => Some(file),
            Err(ConfigError::Missing { .. }) => None,
            Err(error) => return Err(error.into()),
        },
    };
    let settings = match file {
        Some(file) => Config::load(&file)?.report,
        None => ralph_gate::config::Report::default(),
    };
    let primary = args.primary.clone();
    let primary = primary.or(settings
        .primary_metric
        .map(|metric| metric.as_str().to_owned()));
    let usual = Thresholds::default();
    let asked = |argument: &Option<String>, setting: Option<String>, usual: f64| {
        let text = argument.clone().or(setting);
        text.map_or(Ok(usual), |text| number(&text))
    };
    Ok(Options {
        primary: primary.as_deref().and_then(RateMetric::find),
        by_class: args.by.is_some(),
        thresholds: Thresholds {
            min_reduction: asked(
                &args.min_reduction,
                settings.min_false_complete_reduction,
                usual.min_reduction,
            )?,
            max_cost_increase: asked(
                &args.max_cost_increase,
                settings.max_cost_increase,
                usual.max_cost_increase,
            )?,
        },
        omit: args.omit.iter().cloned().collect(),
    })
}

/// A threshold. It is compared with estimates, which are floats.
fn number(text: &str) -> Result<f64, CliError> {
    let number = text.parse().ok();
    let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| CliError::Usage {
        message: format!("`{text}` is no share such as 0.05, which is five hundredths"),
    })
}

/// Reads all logs. Gives the runs, and for each file the place of its first run.
fn read(files: &[LogFile], terminal: &Terminal) -> Result<(Found, Vec<u32>), CliError> {
    let progress = Progress::default();
    let done = AtomicBool::new(false);
    let shows = !terminal.is_json() && stderr().is_terminal();
    let read = thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let read = load(files, &progress);
            done.store(true, Ordering::Release);
            read
        });
        if shows {
            show(&progress, files.len(), &done, &reading);
        }
        reading.join()
    });
    let read = read.map_err(|_| CliError::Answer {
        reason: "a thread ended early".to_owned(),
    })?;
    Ok(read?)
}

/// Says how far reading is, once that takes its time.
fn show<T>(
    progress: &Progress,
    logs: usize,
    done: &AtomicBool,
    reading: &thread::ScopedJoinHandle<'_, T>,
) {
    let begun = Instant::now();
    let mut is_shown = false;
    while !done.load(Ordering::Acquire) && !reading.is_finished() {
        thread::park_timeout(Duration::from_millis(100));
        if begun.elapsed() > PATIENCE {
            let read = progress.logs.load(Ordering::Relaxed);
            let bytes = progress.bytes.load(Ordering::Relaxed) >> 20;
            let _ = write!(
                stderr(),
                "\r\x1b[Kreading logs: {read} of {logs}, {bytes} MiB"
            );
            is_shown = true;
        }
    }
    if is_shown {
        let _ = write!(stderr(), "\r\x1b[K");
    }
}

/// The runs of some of the files.
fn of_logs(files: &[LogFile], starts: &[u32], logs: &[LogFile]) -> Vec<u32> {
    let mut places = Vec::new();
    for log in logs {
        if let Ok(index) = files.binary_search(log)
            && let (Some(first), Some(end)) = (starts.get(index), starts.get(index + 1))
        {
            places.extend(*first..*end);
        }
    }
    places.sort_unstable();
    places.dedup();
    places
}

fn write(args: &ReportArgs, report: &Report, terminal: &Terminal) -> Result<(), CliError> {
    let format = match args.format {
        _ if terminal.is_json() => ReportFormat::Json,
        Some(format) => format,
        None => by_name(args.output.as_deref()),
    };
    let text = match format {
        ReportFormat::Table => {
            let painter = Painted(terminal.painter);
            match &args.output {
                Some(_) => render::table(report, &render::Plain, WIDTH),
                None => render::table(report, &painter, width()),
            }
        }
        ReportFormat::Json => render::json(report),
        ReportFormat::Md => render::markdown(report),
        ReportFormat::Html => render::html(report),
    };
    let Some(output) = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"))
    else {
        return print(&text);
    };
    save_text(output, &text)?;
    terminal.warn(|_| format!("{} is written\n", output.display()));
    Ok(())
}

/// The format that a file's name says.
fn by_name(output: Option<&Path>) -> ReportFormat {
    match output.and_then(Path::extension).and_then(|it| it.to_str()) {
        Some("html" | "htm") => ReportFormat::Html,
        Some("md") => ReportFormat::Md,
        Some("json") => ReportFormat::Json,
        _ => ReportFormat::Table,
    }
}

fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    size.map_or(WIDTH, |size| usize::from(size.ws_col).clamp(60, 200))
}

struct Painted(Painter);

impl Paint for Painted {
    fn bold(&self, text: &str) -> String {
        self.0.bold(text)
    }

    fn dim(&self, text: &str) -> String {
        self.0.dim(text)
    }

    fn good(&self, text: &str) -> String {
        self.0.good(text)
    }

    fn bad(&self, text: &str) -> String {
        self.0.bad(text)
    }
}

/// The metrics that can be chosen before an experiment.
pub(crate) fn primary_metrics() -> Vec<&'static str> {
    let all = ralph_gate::config::PrimaryMetric::ALL.iter();
    all.map(|metric| metric.as_str()).collect()
}

/// The metrics that can be left out.
pub(crate) fn metrics() -> Vec<&'static str> {
    let rates = RATES.iter().map(|metric| metric.id());
    rates
        .chain(AMOUNTS.iter().map(|metric| metric.id()))
        .collect()
}

impl From<ReportError> for CliError {
    fn from(error: ReportError) -> Self {
        Self::Report(error)
    }
}
