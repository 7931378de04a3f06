//! `ralph-gate policy new` and `wrap`: from nothing to a component.

use std::path::Path;

use ralph_gate::memory::save_bytes;
use ralph_gate::policy::{Language, PolicyLimits, new_project, wrap};
use ralph_gate_component::Word as _;
use serde_json::json;

use super::args::{NewArgs, WrapArgs};
use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::input::read_bytes;
use crate::cli::terminal::{Terminal, clean};

pub(super) fn make(args: &NewArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let language = Language::parse(&args.lang).unwrap_or(Language::Rust);
    let (folder, files) = new_project(language, &args.name, Path::new("."))?;
    let answer = json!({ "folder": folder, "files": files }).to_string();
    terminal.print_answer(&answer, |painter| {
        let mut text = format!("{} {}\n", painter.good("made"), folder.display());
        for file in &files {
            text.push_str(&format!("  {file}\n"));
        }
        text.push_str("its README.md says how to build, test and pin it\n");
        text
    })?;
    Ok(Exit::Success)
}

pub(super) fn wrap_module(args: &WrapArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let module = read_bytes(&args.module, PolicyLimits::default().component)?;
    let component = wrap(&module).map_err(|error| CliError::Policy {
        policy: args.module.display().to_string(),
        error,
    })?;
    save_bytes(&args.output, &component)?;
    let digest = blake3::hash(&component).to_hex().to_string();
    let answer = json!({ "file": args.output, "size": component.len(), "blake3": digest });
    terminal.print_answer(&answer.to_string(), |painter| {
        format!(
            "{} {}, {} bytes\n",
            painter.good("wrote"),
            clean(&args.output.display().to_string()),
            component.len()
        )
    })?;
    Ok(Exit::Success)
}
