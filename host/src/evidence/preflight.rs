//! What can be known of checks before they are run: what can't work, with the place and the remedy.

use std::path::Path;

use super::environment::Environment;
use super::gather::{Scene, Wanted, jobs};
use super::{file, policy, report_files};
use crate::config::{Check, CheckProgram, Config, FileCondition, Judge, PolicyCheck, Terms};
use crate::engine::Problem;
use crate::process::{self, Keep, Program};
use crate::worktree::{Repository, Settings};

/// What helps where a report can't be written.
const REPORT_HELP: Option<&str> = Some("name another file, or make this one writable");

/// Whether a policy of the workspace is run to see whether it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyTrial {
    /// It is run, without evidence.
    Run,
    /// It is not run: it only has to be the pinned one.
    DigestOnly,
}

/// Looks at every check that a contract needs, and runs none of their programs. Problems have paths in the configuration.
pub fn preflight(
    scene: &Scene<'_>,
    config: &Config,
    terms: &Terms,
    trial: PolicyTrial,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for job in jobs(config, terms, Wanted::All) {
        let mut found = Findings {
            check: job.id,
            trial,
            problems: &mut problems,
        };
        if let Some(program) = job.check.program() {
            found.program(scene, program);
        }
        match job.check {
            Check::TestsGreen {
                report: Some(name), ..
            } if report_files::are_several(scene.workspace, name) => {
                found.reports(scene.workspace, name);
            }
            Check::TestsGreen {
                report: Some(name), ..
            }
            | Check::NoHighRisk {
                program: Some(_),
                report: Some(name),
                ..
            } => found.report(scene.workspace, name),
            Check::NoHighRisk {
                report: Some(name), ..
            } => found.inside("report", scene.workspace, name),
            Check::File { path, conditions } if *conditions != [FileCondition::Absent] => {
                found.inside("path", scene.workspace, path);
            }
            Check::Git(_) => found.repository(scene),
            Check::Policy(check) => found.policy(scene, check),
            Check::Command { .. }
            | Check::TestsGreen { .. }
            | Check::NoHighRisk { .. }
            | Check::PrdAllPass { .. }
            | Check::File { .. } => {}
        }
    }
    problems
}

/// What was found out about one check.
struct Findings<'f> {
    check: &'f str,
    trial: PolicyTrial,
    problems: &'f mut Vec<Problem>,
}

impl Findings<'_> {
    fn add(&mut self, field: &str, message: String, help: Option<&str>) {
        let dot = if field.is_empty() { "" } else { "." };
        self.problems.push(Problem {
            path: format!("checks.{}{dot}{field}", self.check),
            line: 0,
            column: 0,
            message,
            help: help.map(str::to_owned),
        });
    }

    fn program(&mut self, scene: &Scene<'_>, program: &CheckProgram) {
        let environment = Environment::inherit(
            scene.environment.iter().cloned(),
            program.pass_env.iter().map(String::as_str),
            &program.env,
        );
        let directory = program.directory.as_ref();
        let started = process::can_start(&Program {
            argv: program.argv.clone(),
            directory: directory.map_or_else(
                || scene.workspace.to_owned(),
                |directory| scene.workspace.join(directory),
            ),
            environment: environment.variables,
            input: Vec::new(),
            timeout: program.timeout(),
            keep: Keep { head: 0, tail: 0 },
        });
        if let Err(error) = started {
            self.add("argv", error.to_string(), None);
        }
    }

    /// The report of a program must have a place where it can be written.
    fn report(&mut self, workspace: &Path, name: &str) {
        let path = match file::removable(workspace, name) {
            Ok(path) => path,
            Err(reason) => return self.unusable("report", name, &reason),
        };
        match path.symlink_metadata() {
            Err(_) => self.creatable(name, &path),
            Ok(metadata) if !metadata.is_file() => {
                self.add("report", format!("{name} is no regular file"), REPORT_HELP);
            }
            Ok(_) if !may_write(&path) => {
                self.add("report", format!("{name} can't be written"), REPORT_HELP);
            }
            Ok(_) => {}
        }
    }

    /// The same of several reports: of a pattern, or in a directory.
    fn reports(&mut self, workspace: &Path, name: &str) {
        if let Err(reason) = report_files::check(workspace, name) {
            return self.unusable("report", name, &reason);
        }
        let path = workspace.join(name);
        if !path.is_dir() {
            self.creatable(name, &path);
        } else if !may_write(&path) {
            self.add("report", format!("{name} can't be written to"), REPORT_HELP);
        }
    }

    /// Something that is not there must have a directory in which it can be created.
    fn creatable(&mut self, name: &str, path: &Path) {
        let above = path.ancestors().skip(1).find(|above| above.exists());
        let Some(above) = above else { return };
        let shown = above.display();
        if !above.is_dir() {
            let message = format!("{name} can't be created, because {shown} is no directory");
            self.add("report", message, REPORT_HELP);
        } else if !may_write(above) {
            let message = format!("{name} can't be created, because {shown} can't be written to");
            self.add("report", message, REPORT_HELP);
        }
    }

    /// A file that is read must be in the workspace.
    fn inside(&mut self, field: &str, workspace: &Path, name: &str) {
        if let Err(reason) = file::inside(workspace, name) {
            self.unusable(field, name, &reason);
        }
    }

    fn unusable(&mut self, field: &str, name: &str, reason: &str) {
        let message = format!("{name} can't be used: {reason}");
        self.add(field, message, Some("name a path inside the workspace"));
    }

    fn repository(&mut self, scene: &Scene<'_>) {
        let settings = Settings {
            excluded: scene.excluded.to_vec(),
            ..Settings::default()
        };
        let help = Some("run `git init`, or take the check out of the contract");
        match Repository::discover(scene.workspace, &settings) {
            Ok(Some(_)) => {}
            Ok(None) => {
                let shown = scene.workspace.display();
                let message = format!("{shown} is in no git repository");
                self.add("", message, help);
            }
            Err(error) => self.add("", error.to_string(), None),
        }
    }

    fn policy(&mut self, scene: &Scene<'_>, check: &PolicyCheck) {
        // Without a runner the loop is refused anyway.
        let Some(runner) = scene.policies else { return };
        let field = match &check.judge {
            Judge::Component(_) => "component",
            Judge::Cel => "expr",
            Judge::Rego(Some(_)) => "file",
            Judge::Rego(None) => "module",
        };
        let mistake = match (&check.judge, self.trial) {
            (Judge::Component(file), PolicyTrial::DigestOnly) => {
                policy::not_pinned(scene.workspace, file)
            }
            _ => policy::mistake(scene, runner, self.check, check),
        };
        if let Some(reason) = mistake {
            let help = match &check.judge {
                Judge::Cel | Judge::Rego(None) => None,
                Judge::Component(_) | Judge::Rego(Some(_)) => Some(
                    "put the file there that was meant, or pin this one with `ralph-gate policy pin`",
                ),
            };
            self.add(field, reason, help);
        }
    }
}

fn may_write(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}
