//! Finds the file of a program like `execvp` does, but in the environment and directory that the program gets.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::error::StartError;
use super::program::Program;

/// Where programs are looked for without a `PATH`.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// A program that can be started, as far as one can tell before.
pub(super) struct Found<'a> {
    /// As the caller wrote it.
    pub(super) name: &'a str,
    pub(super) arguments: &'a [String],
    pub(super) path: PathBuf,
    pub(super) directory: PathBuf,
}

/// Says now what would be wrong with a program when it is started.
pub fn can_start(program: &Program) -> Result<(), StartError> {
    find(program).map(drop)
}

pub(super) fn find(program: &Program) -> Result<Found<'_>, StartError> {
    let (name, arguments) = program.argv.split_first().ok_or(StartError::NoName)?;
    check_texts(name, program)?;
    let directory = working_directory(name, &program.directory)?;
    let path = if name.contains('/') {
        at_path(name, directory.join(name))?
    } else {
        in_search_path(name, program, &directory)?
    };
    Ok(Found {
        name,
        arguments,
        path,
        directory,
    })
}

fn check_texts(name: &str, program: &Program) -> Result<(), StartError> {
    let shown = || name.replace('\0', "\u{fffd}");
    let zero = |text: &OsStr| text.as_encoded_bytes().contains(&0);
    let refuse = |what: String| {
        Err(StartError::ZeroByte {
            program: shown(),
            what,
        })
    };
    if let Some(index) = program.argv.iter().position(|text| text.contains('\0')) {
        return refuse(format!("argument {index}"));
    }
    if zero(program.directory.as_os_str()) {
        return refuse("the working directory".into());
    }
    for (variable, value) in &program.environment {
        let lossy = variable.to_string_lossy().replace('\0', "\u{fffd}");
        if zero(variable) || zero(value) {
            return refuse(format!("the environment variable `{lossy}`"));
        }
        if variable.is_empty() || variable.as_encoded_bytes().contains(&b'=') {
            return Err(StartError::VariableName {
                program: shown(),
                name: lossy,
            });
        }
    }
    Ok(())
}

/// Absolute, because the program's own path is seen from there and not from here.
fn working_directory(name: &str, directory: &Path) -> Result<PathBuf, StartError> {
    let usable = || {
        let absolute = std::path::absolute(directory)?;
        if !fs::metadata(&absolute)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        rustix::fs::access(&absolute, Access::EXEC_OK)?;
        Ok(absolute)
    };
    usable().map_err(|source| StartError::Directory {
        program: name.to_owned(),
        directory: directory.to_owned(),
        source,
    })
}

fn at_path(name: &str, path: PathBuf) -> Result<PathBuf, StartError> {
    match look(&path) {
        Candidate::Program => Ok(path),
        Candidate::NotExecutable => Err(StartError::NotExecutable {
            program: name.to_owned(),
            path,
        }),
        Candidate::Missing => Err(StartError::NotFound {
            program: name.to_owned(),
            place: path.display().to_string(),
        }),
    }
}

fn in_search_path(name: &str, program: &Program, directory: &Path) -> Result<PathBuf, StartError> {
    let given = program.environment.get(OsStr::new("PATH"));
    let search = given.map_or(OsStr::new(DEFAULT_PATH), |path| path);
    let not_found = || StartError::NotFound {
        program: name.to_owned(),
        place: match given {
            Some(path) => format!("its PATH ({})", path.to_string_lossy()),
            None => format!("{DEFAULT_PATH}, because its environment has no PATH"),
        },
    };
    if name.is_empty() {
        return Err(not_found());
    }
    let mut refused = None;
    for entry in std::env::split_paths(search) {
        let path = directory.join(entry).join(name);
        match look(&path) {
            Candidate::Program => return Ok(path),
            Candidate::NotExecutable => refused = refused.or(Some(path)),
            Candidate::Missing => {}
        }
    }
    Err(match refused {
        Some(path) => StartError::NotExecutable {
            program: name.to_owned(),
            path,
        },
        None => not_found(),
    })
}

enum Candidate {
    Program,
    NotExecutable,
    Missing,
}

fn look(path: &Path) -> Candidate {
    match fs::metadata(path) {
        Ok(data) if data.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok() => {
            Candidate::Program
        }
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => Candidate::Missing,
        Ok(_) | Err(_) => Candidate::NotExecutable,
    }
}

/// Says what the system's refusal to start a program means.
pub(super) fn refusal(found: &Found<'_>, source: io::Error) -> StartError {
    let (program, path) = (found.name.to_owned(), found.path.clone());
    match rustix::io::Errno::from_io_error(&source) {
        Some(rustix::io::Errno::NOEXEC) => StartError::Format { program, path },
        Some(rustix::io::Errno::NOENT) => StartError::Interpreter { program, path },
        Some(rustix::io::Errno::ACCESS) => StartError::NotExecutable { program, path },
        Some(rustix::io::Errno::TOOBIG) => StartError::TooLarge { program },
        _ => StartError::System {
            program,
            path,
            source,
        },
    }
}
