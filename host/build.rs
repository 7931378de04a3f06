//! Builds the gate component, compiles it to machine code for the target, and hands both facts about it and
//! the code to the library.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, anyhow};
use wasmtime::{Config, Engine};

#[path = "src/engine/config.rs"]
mod config;

fn main() -> Result<()> {
    let manifest_dir = folder("CARGO_MANIFEST_DIR")?;
    let workspace = manifest_dir
        .parent()
        .context("the package ralph-gate is not inside its workspace")?;
    let out_dir = folder("OUT_DIR")?;
    let target = env::var("TARGET").context("cargo did not set TARGET")?;

    watch(&manifest_dir, workspace);
    // Below OUT_DIR, because the cargo that waits for this script holds the lock of its own target
    // directory.
    let component = ralph_gate_builder::build(workspace, &out_dir.join("guest"))?;
    let digest = blake3::hash(&component).to_hex();
    fs::write(out_dir.join("gate.wasm"), &component)?;
    precompile(&component, digest.as_str(), &target, &out_dir)?;

    println!("cargo::rustc-env=RALPH_GATE_DIGEST={digest}");
    println!("cargo::rustc-env=RALPH_GATE_TARGET={target}");
    println!(
        "cargo::rustc-env=RALPH_GATE_WASMTIME={}",
        wasmtime_version(workspace)?
    );
    Ok(())
}

/// Says exactly what this script depends on, so that nothing else runs it again.
fn watch(manifest_dir: &Path, workspace: &Path) {
    println!(
        "cargo::rerun-if-changed={}",
        manifest_dir.join("build.rs").display()
    );
    for input in ralph_gate_builder::inputs(workspace) {
        println!("cargo::rerun-if-changed={}", input.display());
    }
}

/// Compiles the component to `gate.cwasm`, unless that is what the file already holds: an unoptimised
/// compiler takes many seconds.
fn precompile(component: &[u8], digest: &str, target: &str, out_dir: &Path) -> Result<()> {
    let engine = config::config(target)
        .map(|config| for_processor(config, target))
        .and_then(|config| Engine::new(&config))
        .map_err(|error| anyhow!("wasmtime can't compile for {target}: {error:#}"))?;
    let (code, stamp) = (out_dir.join("gate.cwasm"), out_dir.join("gate.stamp"));
    let wanted = format!("{digest} {target} {:016x}", settings(&engine));
    if code.exists() && fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let compiled = engine
        .precompile_component(component)
        .map_err(|error| anyhow!("wasmtime can't compile the gate {digest}: {error:#}"))?;
    // The stamp goes first and comes last, so that an interruption leaves none for half a file.
    if stamp.exists() {
        fs::remove_file(&stamp).with_context(|| format!("cannot remove {}", stamp.display()))?;
    }
    fs::write(&code, compiled).with_context(|| format!("cannot write {}", code.display()))?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

/// The processor that the code is compiled for: on x86-64 the second level, that is what 2009 brought.
///
/// Without its shuffles WebAssembly's SIMD becomes calls of library functions, and the gate is twenty
/// times slower. When the code is loaded, wasmtime compares these with the processor it runs on and
/// refuses with an error if one is missing.
fn for_processor(mut config: Config, target: &str) -> Config {
    if target.starts_with("x86_64") {
        for feature in [
            "has_sse3",
            "has_ssse3",
            "has_sse41",
            "has_sse42",
            "has_popcnt",
        ] {
            // SAFETY: these flags only widen the choice of instructions; a processor without them never
            // gets to run the code, because loading checks for each.
            #[allow(
                unsafe_code,
                reason = "wasmtime has no safe way to name a processor feature"
            )]
            unsafe {
                config.cranelift_flag_enable(feature);
            }
        }
    }
    config
}

/// The engine's version and settings as one number.
fn settings(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

/// The version of wasmtime that the lock file pins.
fn wasmtime_version(workspace: &Path) -> Result<String> {
    let lock = fs::read_to_string(workspace.join("Cargo.lock"))?;
    let mut lines = lock
        .lines()
        .skip_while(|line| *line != r#"name = "wasmtime""#);
    lines
        .nth(1)
        .and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))
        .map(str::to_owned)
        .context("Cargo.lock names no wasmtime")
}

fn folder(variable: &str) -> Result<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .with_context(|| format!("cargo did not set {variable}"))
}
