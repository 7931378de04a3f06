//! The stable side of fuzzing: writes the inputs to begin with, answers as the component, and is the host of policies.
//!
//! `fuzz-partner seeds FOLDER` writes what the vectors and the hostile policies hold, a folder for each target.
//! `fuzz-partner answer` reads calls from its input and answers them with the component, which is loaded once: a text
//! is its length in four bytes (little endian) and its bytes; a call is a function's name and its input;
//! an answer is a zero byte and the text, or a one byte and why there is none. `fuzz-partner policies` reads components
//! and answers with what became of each.

mod judge;
mod seeds;

use std::fs;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use ralph_gate_tests::{Component, Host as _};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["seeds", folder] => write_seeds(Path::new(folder)),
        ["answer"] => answer(),
        ["policies"] => judge_policies(),
        _ => {
            eprintln!("error: use `fuzz-partner seeds FOLDER`, `answer` or `policies`");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn write_seeds(folder: &Path) -> Result<()> {
    for (target, inputs) in seeds::from_vectors()? {
        let inputs = inputs
            .into_iter()
            .map(|(name, text)| (name, text.into_bytes()));
        write_inputs(&folder.join(target), inputs.collect())?;
    }
    write_inputs(&folder.join("policy"), judge::seeds()?)
}

fn write_inputs(folder: &Path, inputs: Vec<(String, Vec<u8>)>) -> Result<()> {
    // Inputs that are gone would stay for ever.
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("{} can't be replaced", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("{} can't be made", folder.display()))?;
    for (name, bytes) in inputs {
        let path = folder.join(name);
        fs::write(&path, bytes).with_context(|| format!("{} can't be written", path.display()))?;
    }
    Ok(())
}

fn answer() -> Result<()> {
    let mut component = Component::load()?;
    let mut from = BufReader::new(io::stdin().lock());
    let mut to = BufWriter::new(io::stdout().lock());
    while let Some(function) = receive_text(&mut from)? {
        let Some(input) = receive_text(&mut from)? else {
            bail!("the call of `{function}` has no input");
        };
        say(&mut to, component.call(&function, &input))?;
    }
    Ok(())
}

fn judge_policies() -> Result<()> {
    let judge = judge::Judge::new()?;
    let mut from = BufReader::new(io::stdin().lock());
    let mut to = BufWriter::new(io::stdout().lock());
    while let Some(component) = receive(&mut from)? {
        say(&mut to, judge.ask(&component))?;
    }
    Ok(())
}

fn say(to: &mut impl Write, answer: Result<String>) -> Result<()> {
    let (kind, text) = match answer {
        Ok(answer) => (0, answer),
        Err(error) => (1, format!("{error:#}")),
    };
    to.write_all(&[kind])?;
    to.write_all(&u32::try_from(text.len())?.to_le_bytes())?;
    to.write_all(text.as_bytes())?;
    Ok(to.flush()?)
}

fn receive_text(from: &mut impl Read) -> Result<Option<String>> {
    let bytes = receive(from)?;
    let text = bytes.map(String::from_utf8).transpose();
    text.context("a call is no text")
}

/// The bytes of one text; none at the end of the input.
fn receive(from: &mut impl Read) -> Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error).context("a call can't be read"),
    }
    let mut bytes = vec![0; usize::try_from(u32::from_le_bytes(length))?];
    from.read_exact(&mut bytes)
        .context("a call ends too early")?;
    Ok(Some(bytes))
}
