//! `ralph-gate experiment`: tasks in two arms, shown as they are run.

mod bar;
mod tell;

use std::path::{Path, PathBuf};

use ralph_gate::experiment::{Conducted, Experiment, Means, Observer, Plan, Prepared, RunId};
use ralph_gate::process::{self, Interruption, Role, Signals, Stop};
use ralph_gate::runner::RunError;
use ralph_gate_component::Word as _;
use serde_json::json;

use super::args::ExperimentArgs;
use super::error::CliError;
use super::policy::Policies;
use super::terminal::{Painter, Terminal, clean, print};
use super::{Exit, gate};
use bar::Bar;
use tell::{Lines, Told};

/// The exit code of a process that was interrupted twice.
const INTERRUPTED: i32 = 130;

pub(crate) fn run(args: &ExperimentArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    if args.dry_run {
        let prepared = look(args)?;
        print(&order(&prepared, terminal))?;
        return Ok(Exit::Success);
    }
    match process::role() {
        Role::Outer => Ok(Exit::Code(super::run::started_again(None)?)),
        Role::Inner => conduct(args, terminal),
    }
}

/// The plan with everything that it names.
fn look(args: &ExperimentArgs) -> Result<Prepared, CliError> {
    // Runs have folders of their own.
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plan = Plan::load(&whole(&args.plan))?;
    if let Some(output) = &args.output {
        plan.output = whole(output);
    }
    Ok(Prepared::look(plan, gate()?)?)
}

/// What would be run, one line each.
fn order(prepared: &Prepared, terminal: &Terminal) -> String {
    let name = &prepared.plan().name;
    let line = |(place, run): (usize, &RunId)| {
        if terminal.is_json() {
            let id = format!("{name}/{}", run.path());
            format!(
                "{}\n",
                json!({ "event": "planned", "place": place, "run": named(run, &id) })
            )
        } else {
            format!("{place} {}\n", run.path())
        }
    };
    (1..).zip(prepared.order()).map(line).collect()
}

/// A run as JSON has it.
fn named(run: &RunId, id: &str) -> serde_json::Value {
    json!({ "id": id, "arm": run.arm, "task": run.task, "repeat": run.repeat })
}

fn conduct(args: &ExperimentArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let (signals, _) = process::enter()?;
    let system = |what| move |error| CliError::Run(RunError::System { what, error });
    let stop = Stop::new().map_err(system("the experiment can't be controlled"))?;
    listen(signals, stop.clone());
    let program = std::env::current_exe().map_err(system("this program can't be started again"))?;
    let experiment = look(args)?.open()?;
    let told = Told::new(&experiment.plan().name, terminal);
    // A line of its own would move the bar.
    let (observer, policies): (Box<dyn Observer>, _) =
        if super::run::is_wanted(args.plain, terminal) {
            (Box::new(Bar::new(told)), Policies::silent())
        } else {
            (Box::new(Lines::new(told)), Policies::shared(terminal))
        };
    let means = Means {
        program: &program,
        jobs: args.jobs.into(),
        stop: &stop,
        gate: gate()?,
        policies: Some(&*policies),
    };
    let conducted = experiment.conduct(&means, &*observer);
    // The bar is gone before anything else is said.
    drop(observer);
    let conducted = conducted?;
    match conducted {
        Conducted::Finished => {
            print(&finished(&experiment, terminal))?;
            Ok(Exit::Success)
        }
        Conducted::Interrupted => {
            print(&interrupted(args, terminal))?;
            Ok(Exit::Stopped)
        }
    }
}

/// The first interrupt ends what is under way, which is run anew another time; the second one ends everything.
fn listen(signals: Signals, stop: Stop) {
    let wait = move || {
        let mut interrupts = 0;
        for signal in signals {
            interrupts += u32::from(signal == Interruption::Interrupt);
            if interrupts > 1 {
                process::end_now(INTERRUPTED);
            }
            stop.cancel();
        }
    };
    // Without it a signal ends the process by itself, and the guard the rest.
    let _ = std::thread::Builder::new()
        .name("interrupts".into())
        .spawn(wait);
}

/// What to do with the results.
fn finished(experiment: &Experiment, terminal: &Terminal) -> String {
    let command = report(experiment);
    if terminal.is_json() {
        return format!("{}\n", json!({ "event": "finished", "report": command }));
    }
    let shown: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    format!(
        "{} Compare the arms with\n  {}\n",
        terminal.painter.good("Every run is done."),
        shown.join(" ")
    )
}

/// The command that compares the arms.
fn report(experiment: &Experiment) -> Vec<String> {
    let plan = experiment.plan();
    let [before, after] = &plan.arms;
    let side = |arm: &str| format!("experiment={},arm={arm}", plan.name);
    let words = ["ralph-gate", "report", "--before"].map(str::to_owned);
    let mut command: Vec<String> = words.into();
    command.push(side(&before.name));
    command.push("--after".to_owned());
    command.push(side(&after.name));
    command.extend(["--primary", plan.primary_metric.as_str()].map(str::to_owned));
    command.extend(["--by", "task_class"].map(str::to_owned));
    let here = std::env::current_dir().unwrap_or_default();
    let logs = experiment
        .logs()
        .into_iter()
        .map(|logs| shortened(logs, &here));
    command.extend(logs);
    command
}

/// A path from where the person is, where that is shorter.
fn shortened(path: PathBuf, here: &Path) -> String {
    let short = path.strip_prefix(here).map(Path::to_owned);
    short.unwrap_or(path).display().to_string()
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,:".contains(letter);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", clean(word).replace('\'', "'\\''"))
}

fn interrupted(args: &ExperimentArgs, terminal: &Terminal) -> String {
    if terminal.is_json() {
        return format!("{}\n", json!({ "event": "interrupted" }));
    }
    let plan = args.plan.display().to_string();
    let painter: Painter = terminal.painter;
    format!(
        "{} `ralph-gate experiment {}` goes on where it stopped.\n",
        painter.caution("Interrupted."),
        quoted(&plan)
    )
}
