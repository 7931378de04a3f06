//! How wasmtime is set up for policies. The build script, which compiles the shipped ones, and the library, which
//! compiles and runs all others, both take this file: code that was compiled with other settings is refused.

use wasmtime::{Config, WasmFeatures};

/// Bytes of stack that a policy's code may use. Part of the compiled code's surroundings, and so no setting.
pub(crate) const STACK: usize = 512 << 10;

/// What a policy can't use: whatever makes two runs differ, or needs more of the host than a sandbox should. Several
/// memories stay: wasmtime itself needs them between the parts of a component, and one limit is over all of them.
const ABSENT: &[WasmFeatures] = &[
    WasmFeatures::THREADS,
    WasmFeatures::SHARED_EVERYTHING_THREADS,
    WasmFeatures::MEMORY64,
    WasmFeatures::RELAXED_SIMD,
    WasmFeatures::GC,
    WasmFeatures::FUNCTION_REFERENCES,
    WasmFeatures::EXCEPTIONS,
    WasmFeatures::STACK_SWITCHING,
    WasmFeatures::CUSTOM_PAGE_SIZES,
    WasmFeatures::CM_ASYNC,
    WasmFeatures::CM_ERROR_CONTEXT,
];

/// The settings, with fuel and epochs: a stranger's code must come to an end.
///
/// The build script names the target that its code is for; code that is made here may use all that this processor can.
/// What is computed is the same either way.
pub(crate) fn config(target: Option<&str>) -> wasmtime::Result<Config> {
    let mut config = Config::new();
    if let Some(target) = target {
        config.target(target)?;
    }
    config.wasm_component_model(true);
    for feature in ABSENT {
        config.wasm_features(*feature, false);
    }
    // No store has data structures for what can't happen in it.
    config.concurrency_support(false);
    config.consume_fuel(true);
    config.epoch_interruption(true);
    config.cranelift_nan_canonicalization(true);
    config.max_wasm_stack(STACK);
    // What trapped is said in one sentence; frames of a stranger's code help nobody here.
    config.wasm_backtrace_max_frames(None);
    config.generate_address_map(false);
    config.native_unwind_info(false);
    Ok(config)
}
