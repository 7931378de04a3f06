//! Writes a made-up report as a page, to be looked at: `cargo run -p ralph-gate-report --example sample -- out.html [TASKS]`.
//! The same as JSON is written beside it.

#[path = "../tests/sample/mod.rs"]
#[allow(
    dead_code,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "it is made for tests"
)]
mod sample;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use ralph_gate_report::render;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args_os().skip(1);
    let out = PathBuf::from(args.next().ok_or("name the file to write")?);
    let tasks = match args.next() {
        Some(text) => text.to_str().ok_or("a number, please")?.parse()?,
        None => 60,
    };
    let report = sample::report(tasks);
    fs::write(&out, render::html(&report))?;
    fs::write(out.with_extension("json"), render::json(&report))?;
    fs::write(out.with_extension("md"), render::markdown(&report))?;
    let table = render::table(&report, &render::Plain, 120);
    fs::write(out.with_extension("txt"), table)?;
    Ok(())
}
