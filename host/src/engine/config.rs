//! How wasmtime is set up for the gate. The build script, which compiles the gate, and the library, which
//! runs it, both take this file: code that was compiled with other settings is refused.

use wasmtime::Config;

/// The settings for code that runs on `target`.
///
/// Naming the target keeps the code free of what only the build machine's processor can do.
///
/// There is neither fuel nor an epoch: both make byte loops 1.4 times slower, and the gate is this
/// project's own code, linear in its input, whose size the host bounds.
pub(crate) fn config(target: &str) -> wasmtime::Result<Config> {
    let mut config = Config::new();
    config.target(target)?;
    config.wasm_component_model(true);
    // A trap of the gate is a defect to report in one sentence. Nobody reads frames of stripped code,
    // and without them the code loads faster.
    config.wasm_backtrace_max_frames(None);
    config.generate_address_map(false);
    config.native_unwind_info(false);
    Ok(config)
}
