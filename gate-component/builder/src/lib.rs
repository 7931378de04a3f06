//! Builds the gate component, the loop's memory, the gate behind HTTP and the policies that are shipped with it, byte for byte
//! the same in every folder.
//!
//! Two steps: cargo compiles a package of the workspace for `wasm32-unknown-unknown`, then
//! `wit-component` wraps the core module as a component. [`anatomy()`] takes a finished component apart
//! again, so that "zero imports" is a fact that was looked at and not a promise.
//!
//! ```no_run
//! # fn main() -> anyhow::Result<()> {
//! let component = ralph_gate_builder::build("workspace".as_ref(), "target/guest".as_ref())?;
//! println!("{}", ralph_gate_builder::anatomy(&component)?.world);
//! for policy in ralph_gate_builder::SHIPPED {
//!     let component =
//!         ralph_gate_builder::build_policy("workspace".as_ref(), "target/guest".as_ref(), policy)?;
//!     println!("{}: {} bytes", policy.name, component.len());
//! }
//! # Ok(())
//! # }
//! ```

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

mod anatomy;
mod environment;
mod toolchain;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use wit_component::ComponentEncoder;

pub use anatomy::{Anatomy, anatomy};
pub use toolchain::ensure_target;

/// The target that components are compiled for. The WASI targets would bring imports with them.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// The cargo profile of the workspace that they are compiled with.
pub const PROFILE: &str = "gate";

/// The profile of what answers many agents and is fetched by none.
const SERVICE: &str = "service";

/// The package that becomes the gate.
const GATE: &str = "ralph-gate-component";

/// The package that becomes the loop's memory.
const MEMORY: &str = "ralph-gate-memory";

/// The package that becomes the gate behind HTTP.
const HTTP: &str = "ralph-gate-http";

/// A policy that is shipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// What it is called, for example `cel`.
    pub name: &'static str,
    /// The package of the workspace that becomes it.
    pub package: &'static str,
}

/// Every policy that is shipped.
pub const SHIPPED: &[Shipped] = &[
    Shipped {
        name: "cel",
        package: "ralph-gate-policy-cel",
    },
    Shipped {
        name: "rego",
        package: "ralph-gate-policy-rego",
    },
];

/// Builds the gate from the workspace in `source`, with `target_dir` for intermediate files.
///
/// `target_dir` must not be the target directory of a cargo that is waiting for this build, or the two
/// wait for each other for ever. The result is checked: it is valid, imports nothing and has no start
/// function.
pub fn build(source: &Path, target_dir: &Path) -> Result<Vec<u8>> {
    let component = build_package(source, target_dir, GATE, &[])?;
    anatomy(&component)?.check_pure()?;
    Ok(component)
}

/// Builds the loop's memory, as [`build`] does the gate. The result imports the files of a session, and nothing else.
///
/// It knows the digest of the gate that it belongs to, which is built first.
pub fn build_memory(source: &Path, target_dir: &Path) -> Result<Vec<u8>> {
    let gate = blake3::hash(&build(source, target_dir)?).to_hex();
    let known = [("RALPH_GATE_DIGEST", gate.as_str())];
    let component = build_package(source, target_dir, MEMORY, &known)?;
    anatomy(&component)?
        .check_memory()
        .context("the loop's memory is refused")?;
    Ok(component)
}

/// Builds the gate behind HTTP, as [`build`] does the gate. The result handles requests, and asks its host for nothing that a
/// proxy doesn't have.
pub fn build_http(source: &Path, target_dir: &Path) -> Result<Vec<u8>> {
    let component = build_package(source, target_dir, HTTP, &[])?;
    anatomy(&component)?
        .check_http()
        .context("the gate behind HTTP is refused")?;
    Ok(component)
}

/// Builds a shipped policy, as [`build`] does the gate. The result may import artifacts, and nothing else.
///
/// With the same `target_dir` what the policies have in common is compiled once.
pub fn build_policy(source: &Path, target_dir: &Path, policy: &Shipped) -> Result<Vec<u8>> {
    let component = build_package(source, target_dir, policy.package, &[])?;
    anatomy(&component)?
        .check_policy()
        .with_context(|| format!("the policy {} is refused", policy.name))?;
    Ok(component)
}

/// `known` are variables that the package may look at while it is compiled.
fn build_package(
    source: &Path,
    target_dir: &Path,
    package: &str,
    known: &[(&str, &str)],
) -> Result<Vec<u8>> {
    let source = source
        .canonicalize()
        .with_context(|| format!("no workspace at {}", source.display()))?;
    fs::create_dir_all(target_dir)
        .with_context(|| format!("cannot create the folder {}", target_dir.display()))?;
    let target_dir = target_dir.canonicalize()?;

    ensure_target(&source)?;
    let module = compile(&source, &target_dir, package, known)?;
    wrap(&module)
}

/// What decides the bytes of every component.
const COMMON_INPUTS: [&str; 4] = ["wit", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml"];

/// The files and folders of the workspace in `source` that decide the gate's bytes.
pub fn inputs(source: &Path) -> Vec<PathBuf> {
    let own = [
        "gate-component/src",
        "gate-component/Cargo.toml",
        "gate-component/text",
    ];
    paths(source, &own)
}

/// The files and folders of the workspace in `source` that decide the bytes of the loop's memory, beside [`inputs`].
pub fn memory_inputs(source: &Path) -> Vec<PathBuf> {
    paths(source, &["host/memory", "host/types"])
}

/// The files and folders of the workspace in `source` that decide the bytes of the gate behind HTTP, beside [`inputs`].
pub fn http_inputs(source: &Path) -> Vec<PathBuf> {
    let own = [
        "bindings/http/src",
        "bindings/http/wit",
        "bindings/http/Cargo.toml",
        "bindings/http/openapi.json",
    ];
    paths(source, &own)
}

/// The files and folders of the workspace in `source` that decide the bytes of the shipped policies.
pub fn policy_inputs(source: &Path) -> Vec<PathBuf> {
    let own = [
        "host/policies/cel",
        "host/policies/evidence",
        "host/policies/rego",
    ];
    paths(source, &own)
}

fn paths(source: &Path, own: &[&str]) -> Vec<PathBuf> {
    let all = own.iter().chain(&COMMON_INPUTS);
    all.map(|path| source.join(path)).collect()
}

/// Compiles a package and gives the core module.
fn compile(
    source: &Path,
    target_dir: &Path,
    package: &str,
    known: &[(&str, &str)],
) -> Result<Vec<u8>> {
    if environment::is_first_build() {
        let mut fetch = cargo_command(source, target_dir);
        succeed(
            fetch.args(["fetch", "--locked", "--target", TARGET]),
            package,
        )?;
    }
    let profile = if package == HTTP { SERVICE } else { PROFILE };
    let flags = environment::rustc_flags(source, target_dir, &toolchain::identity(source)?);
    let mut build = cargo_command(source, target_dir);
    // `rustc` and not `build`, for its `--crate-type`: cargo leaves link-time optimisation out for a library
    // that is also an rlib.
    build
        .args(["rustc", "--quiet", "--locked", "--package", package])
        .args(["--lib", "--crate-type", "cdylib"])
        .args(["--features", "component"])
        .args(["--target", TARGET, "--profile", profile])
        .env("CARGO_ENCODED_RUSTFLAGS", flags)
        .envs(known.iter().copied());
    succeed(&mut build, package)?;
    let module = format!("{}.wasm", package.replace('-', "_"));
    let path = target_dir.join(TARGET).join(profile).join(module);
    fs::read(&path).with_context(|| format!("cargo succeeded but left no {}", path.display()))
}

fn cargo_command(source: &Path, target_dir: &Path) -> Command {
    let mut cargo = toolchain::command("cargo", source);
    cargo.env("CARGO_TARGET_DIR", target_dir);
    cargo
}

/// Wraps a core module, which carries its WIT in a custom section, as a component.
fn wrap(module: &[u8]) -> Result<Vec<u8>> {
    ComponentEncoder::default()
        .module(module)
        .context("the core module carries no WIT that wit-component can read: do the versions of wit-bindgen and wit-component fit?")?
        .validate(true)
        .encode()
        .context("wit-component could not wrap the core module as a component")
}

/// Runs cargo and turns a failure into an error with everything it said.
fn succeed(cargo: &mut Command, package: &str) -> Result<()> {
    let output = run(cargo)?;
    if !output.status.success() {
        bail!(
            "cargo could not build {package} for {TARGET} ({})\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    Ok(())
}

fn run(command: &mut Command) -> Result<std::process::Output> {
    let program: OsString = command.get_program().into();
    command.stdin(Stdio::null()).output().with_context(|| {
        format!(
            "cannot start {}: is it installed and on PATH?",
            program.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_workspace_is_named() {
        let error = build(Path::new("no/such/workspace"), Path::new("unused")).unwrap_err();
        assert_eq!(error.to_string(), "no workspace at no/such/workspace");
    }

    #[test]
    fn a_module_without_wit_is_refused() {
        let error = wrap(b"not a module").unwrap_err();
        assert!(error.to_string().contains("carries no WIT"), "{error}");
    }

    #[test]
    fn every_shipped_policy_is_a_member_with_its_own_input() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for policy in SHIPPED {
            let folder = root.join("host/policies").join(policy.name);
            assert!(policy_inputs(&root).contains(&folder), "{}", policy.name);
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            assert!(manifest.contains(&format!("name = \"{}\"", policy.package)));
        }
    }

    #[test]
    fn every_input_exists_in_this_workspace() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let inputs = [
            inputs(&root),
            memory_inputs(&root),
            http_inputs(&root),
            policy_inputs(&root),
        ];
        for path in inputs.concat() {
            assert!(path.exists(), "{} is gone", path.display());
        }
    }
}
