//! `ralph-gate man`: what the help says, as manual pages.

use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use ralph_gate::memory::{make_folder, save_bytes};
use serde_json::json;

use super::Exit;
use super::args::{Args, ManArgs};
use super::error::CliError;
use super::terminal::{Terminal, clean, print_bytes};

pub(crate) fn run(args: &ManArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let mut command = Args::command().disable_help_subcommand(true);
    command.build();
    let Some(directory) = &args.pages else {
        print_bytes(&page(&command)?.1)?;
        return Ok(Exit::Success);
    };
    make_folder(directory)?;
    let mut files = Vec::new();
    write(&command, directory, &mut files)?;
    let answer = json!({ "directory": directory, "files": files });
    terminal.print_answer(&answer.to_string(), |_| {
        let count = files.len();
        let shown = clean(&directory.display().to_string());
        format!("{count} pages in {shown}\n")
    })?;
    Ok(Exit::Success)
}

/// A page for the command and for each one below it.
fn write(command: &Command, directory: &Path, files: &mut Vec<String>) -> Result<(), CliError> {
    let (name, text) = page(command)?;
    save_bytes(&directory.join(&name), &text)?;
    files.push(name);
    let visible = command.get_subcommands();
    for below in visible.filter(|it| !it.is_hide_set() && it.get_name() != "help") {
        write(below, directory, files)?;
    }
    Ok(())
}

/// The name of a page's file, and its text.
fn page(command: &Command) -> Result<(String, Vec<u8>), CliError> {
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    let rendered = page.render(&mut text);
    rendered.map_err(|error| CliError::Output {
        reason: error.to_string(),
    })?;
    Ok((page.get_filename(), text))
}
