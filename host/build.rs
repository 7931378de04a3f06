//! Compiles the gate component and, by feature, the shipped policies to machine code for the target, and hands the code,
//! the components and facts about them to the library.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, anyhow};
use wasmtime::{Config, Engine};

#[path = "src/engine/config.rs"]
mod config;
#[cfg(feature = "policies")]
#[path = "src/policy/config.rs"]
mod policy_config;

/// From 0 to 10: the level after which little is gained.
#[cfg(any(feature = "policies", feature = "serve"))]
const COMPRESSION: u8 = 7;

fn main() -> Result<()> {
    let manifest_dir = folder("CARGO_MANIFEST_DIR")?;
    let workspace = manifest_dir
        .parent()
        .context("the package ralph-gate is not inside its workspace")?;
    let out_dir = folder("OUT_DIR")?;
    let target = env::var("TARGET").context("cargo did not set TARGET")?;

    for input in ["build.rs", "src/engine/config.rs", "src/policy/config.rs"] {
        println!(
            "cargo::rerun-if-changed={}",
            manifest_dir.join(input).display()
        );
    }
    let lock = workspace.join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let settings = Settings::new(config::config(&target), &target)?;
    let digest = settings.precompile("gate", ralph_gate_components::GATE, &out_dir)?;
    #[cfg(feature = "policies")]
    {
        let settings = Settings::new(policy_config::config(Some(&target)), &target)?;
        for (name, component) in ralph_gate_components::POLICIES {
            settings.precompile(name, component, &out_dir)?;
            let file = |extension: &str| out_dir.join(format!("{name}.{extension}"));
            pack(&file("wasm"))?;
            pack(&file("cwasm"))?;
            write(&file("digest"), blake3::hash(component).as_bytes())?;
        }
    }
    // Not compiled here: the server does that when it starts.
    #[cfg(feature = "serve")]
    {
        let file = out_dir.join("http.wasm");
        write(&file, ralph_gate_components::HTTP)?;
        pack(&file)?;
    }

    if target.ends_with("-linux-gnu") && env::var("HOST").is_ok_and(|host| host == target) {
        pack_relocations();
    }
    println!("cargo::rustc-env=RALPH_GATE_DIGEST={digest}");
    println!("cargo::rustc-env=RALPH_GATE_TARGET={target}");
    println!(
        "cargo::rustc-env=RALPH_GATE_WASMTIME={}",
        wasmtime_version(workspace)?
    );
    Ok(())
}

/// Writes what most processes don't need in a form that takes a third of the space.
#[cfg(any(feature = "policies", feature = "serve"))]
fn pack(path: &Path) -> Result<()> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let packed = miniz_oxide::deflate::compress_to_vec(&bytes, COMPRESSION);
    let mut name = path.as_os_str().to_owned();
    name.push(".packed");
    write(Path::new(&name), &packed)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// Lets the linker write down in ten kilobytes instead of a megabyte where the program has addresses, which are all corrected
/// when it starts: a tenth of the time of a hook. Loaders know that form since glibc 2.36; a system that is older builds the
/// program for itself without it.
fn pack_relocations() {
    let found = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let found = found.map(|found| String::from_utf8_lossy(&found.stdout).into_owned());
    let version = found.unwrap_or_default();
    let minor = version.trim().strip_prefix("glibc 2.");
    if minor.is_some_and(|minor| minor.parse::<u32>().is_ok_and(|minor| minor >= 36)) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// How components are compiled.
struct Settings {
    engine: Engine,
    target: String,
}

impl Settings {
    fn new(config: wasmtime::Result<Config>, target: &str) -> Result<Self> {
        let engine = config
            .map(|config| for_processor(config, target))
            .and_then(|config| Engine::new(&config))
            .map_err(|error| anyhow!("wasmtime can't compile for {target}: {error:#}"))?;
        Ok(Self {
            engine,
            target: target.to_owned(),
        })
    }

    /// Writes a component to `NAME.wasm` and what it compiles to to `NAME.cwasm`, unless that is what the file already
    /// holds: an unoptimised compiler takes many seconds. Gives the component's digest.
    fn precompile(&self, name: &str, component: &[u8], out_dir: &Path) -> Result<String> {
        let digest = blake3::hash(component).to_hex().to_string();
        let file = |extension: &str| out_dir.join(format!("{name}.{extension}"));
        let (code, stamp) = (file("cwasm"), file("stamp"));
        let wanted = format!("{digest} {} {:016x}", self.target, self.hash());
        if code.exists() && fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
            return Ok(digest);
        }
        let compiled = self
            .engine
            .precompile_component(component)
            .map_err(|error| anyhow!("wasmtime can't compile {name} {digest}: {error:#}"))?;
        // The stamp goes first and comes last, so that an interruption leaves none for half a file.
        if stamp.exists() {
            fs::remove_file(&stamp)
                .with_context(|| format!("cannot remove {}", stamp.display()))?;
        }
        write(&file("wasm"), component)?;
        write(&code, &compiled)?;
        write(&stamp, wanted.as_bytes())?;
        Ok(digest)
    }

    /// The engine's version and settings as one number.
    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.engine
            .precompile_compatibility_hash()
            .hash(&mut hasher);
        hasher.finish()
    }
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
