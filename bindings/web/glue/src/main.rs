//! Makes the JavaScript around a module that was compiled with wasm-bindgen: `ralph-gate-glue MODULE NAME FOLDER`.
//!
//! The same as the tool `wasm-bindgen --target web`, as a library: its version is pinned with that of the crate, and nobody has
//! to install it.

use std::process::ExitCode;

use anyhow::{Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [module, name, folder] = words.as_slice() else {
        bail!("use `ralph-gate-glue MODULE NAME FOLDER`");
    };
    Bindgen::new()
        .web(true)?
        .typescript(true)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .input_path(module)
        .out_name(name)
        .generate(folder)
}
