//! OpenTelemetry on the command line: beside a loop, after a hook's answer, and `ralph-gate export-otlp` for logs.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ralph_gate::config::Config;
use ralph_gate::harness::Trail;
use ralph_gate::runner::{LoopEvent, Watch};
use ralph_gate::telemetry::{self, Content, Exported, Exporter, Moment, Settings};
use serde_json::json;

use super::Exit;
use super::args::OtlpArgs;
use super::error::CliError;
use super::input::Source;
use super::terminal::{Severity, Terminal, clean};

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// A thread beside a loop, if somebody asked for one. What is wrong with the settings is said once, and changes nothing.
pub(super) fn begin(config: &Config, terminal: &Terminal) -> Option<Exporter> {
    match Settings::find(&variable, &config.telemetry) {
        Ok(settings) => settings.and_then(Exporter::start),
        Err(error) => {
            let message = format!("nothing is sent to OpenTelemetry: {error}");
            warn(terminal, &message);
            None
        }
    }
}

/// Says what could not be sent, and how to send it again.
pub(super) fn end(exporter: Option<Exporter>, terminal: &Terminal) {
    let Some(exporter) = exporter else {
        return;
    };
    let again =
        "the loop is not affected; `ralph-gate export-otlp` with its folder sends its spans again";
    match exporter.finish() {
        Some(Exported { lost: 0, .. }) => {}
        Some(Exported { lost, reason, .. }) => {
            let reason = reason.unwrap_or_else(|| "there were too many".to_owned());
            let message = format!("{lost} spans were not sent: {reason}; {again}");
            warn(terminal, &message);
        }
        None => {
            let message =
                format!("some spans may not have been sent: the collector is too slow; {again}");
            warn(terminal, &message);
        }
    }
}

fn warn(terminal: &Terminal, message: &str) {
    let message = clean(message);
    terminal.warn(|painter| format!("{} {message}\n", painter.severity(Severity::Warning)));
}

/// Whoever watches a loop, and the thread beside it.
pub(super) struct Both<'b> {
    pub(super) watch: &'b dyn Watch,
    pub(super) exporter: Option<&'b Exporter>,
}

impl Watch for Both<'_> {
    fn see(&self, event: &LoopEvent<'_>) {
        if let Some(exporter) = self.exporter {
            exporter.see(event);
        }
        self.watch.see(event);
    }
}

/// Whether anybody wants to hear of what a hook decides.
pub(super) fn is_wanted(trail: &Trail) -> bool {
    telemetry::is_wanted(&variable, &trail.telemetry)
}

/// Lets another process send what a hook has decided since a moment. The client waits for the end of this one, and
/// must not wait for a collector.
pub(super) fn send_behind(trail: &Trail, since_ms: u64) {
    // What is wrong with the settings, `run` and `export-otlp` say: a hook has nobody to tell.
    let is_usable = matches!(Settings::find(&variable, &trail.telemetry), Ok(Some(_)));
    let (Some(log), Ok(program), true) = (trail.log(), std::env::current_exe(), is_usable) else {
        return;
    };
    let mut command = Command::new(program);
    command.args(["export-otlp", "--since", &since_ms.to_string()]);
    if trail.telemetry.content {
        command.arg("--content");
    }
    if !telemetry::is_wanted(&variable, &ralph_gate::config::Telemetry::default())
        && let Some(endpoint) = &trail.telemetry.endpoint
    {
        command.args(["--endpoint", endpoint]);
        // These are for the endpoint of the environment, and not for one that a repository names.
        for name in telemetry::HEADER_VARIABLES {
            command.env_remove(name);
        }
    }
    command
        .arg("--")
        .arg(log)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A client may kill its hook and all of the hook's group.
        .process_group(0);
    let _ = command.spawn();
}

/// `ralph-gate export-otlp`
pub(crate) fn export(args: &OtlpArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let content = if args.content {
        Content::Sent
    } else {
        Content::Withheld
    };
    let settings = Settings::named(&variable, args.endpoint.as_deref(), content)?;
    let since = Moment(args.since.unwrap_or_default());
    let mut logs = Vec::new();
    for place in &args.logs {
        let file = log_in(place);
        see_that_it_is_there(&file)?;
        let spans = telemetry::export(&settings, &file, since);
        let spans = spans.map_err(|error| CliError::Unsent {
            file: Source::File(file.clone()),
            error,
        })?;
        logs.push((file, spans));
    }
    let endpoint = settings.endpoint();
    let told: Vec<_> = logs
        .iter()
        .map(|(log, spans)| json!({ "log": log, "spans": spans }))
        .collect();
    let answer = json!({ "endpoint": endpoint, "logs": told }).to_string();
    terminal.print_answer(&answer, |_| {
        let line = |(log, spans): &(PathBuf, usize)| {
            let (log, endpoint) = (clean(&log.display().to_string()), clean(&endpoint));
            format!("{log}: {spans} spans sent to {endpoint}\n")
        };
        logs.iter().map(line).collect()
    })?;
    Ok(Exit::Success)
}

/// A session's folder stands for the log in it.
fn log_in(place: &Path) -> PathBuf {
    if place.is_dir() {
        place.join("events.jsonl")
    } else {
        place.to_owned()
    }
}

/// A log that is not there is a mistake, and not a loop without spans.
fn see_that_it_is_there(file: &Path) -> Result<(), CliError> {
    let unreadable = |error| CliError::unreadable(Source::File(file.to_owned()), &error);
    let metadata = std::fs::metadata(file).map_err(unreadable)?;
    if metadata.is_file() {
        return Ok(());
    }
    Err(CliError::Unreadable {
        file: Source::File(file.to_owned()),
        reason: "it is not a plain file".to_owned(),
        help: "name an events.jsonl, or the folder of a session",
    })
}
