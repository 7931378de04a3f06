//! `cargo xtask build`: the component and the host that embeds it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::bindings;
use crate::cli::{Args, Command, Flag};
use crate::process;
use crate::progress;
use crate::setup;
use crate::terminal::{size, step};
use crate::verify;
use crate::workspace::{Workspace, in_ci};

pub(crate) const COMMAND: Command = Command {
    name: "build",
    summary: "build the gate component and the host",
    details: "Builds the component and the host that embeds it, copies the component to\n\
              target/gate/ralph-gate.wasm and the loop's memory to ralph-gate-memory.wasm\n\
              beside it, and prints the size, digest and imports of the gate.",
    flags: &[
        Flag {
            name: "--release",
            meaning: "optimise the host (the component always is)",
        },
        Flag {
            name: "--verify",
            meaning: "build the gate, and the gate behind HTTP, twice elsewhere and compare the bytes",
        },
    ],
    words: &[],
    examples: &[
        "cargo xtask build",
        "cargo xtask build --release",
        "cargo xtask build --verify",
    ],
    run,
};

/// The package of the library and the command.
const HOST: &str = "ralph-gate";

/// How the host is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Dev,
    Release,
}

/// What a build leaves behind.
pub(crate) struct Built {
    /// The `ralph-gate` command.
    pub(crate) binary: PathBuf,
    /// The component that the host embeds.
    pub(crate) component: PathBuf,
    /// The gate's bytes.
    pub(crate) bytes: Vec<u8>,
    /// BLAKE3 of the bytes, in hex; the host says the same of itself.
    pub(crate) digest: String,
}

fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let profile = if args.has("--release") {
        Profile::Release
    } else {
        Profile::Dev
    };
    step("checking the toolchain", || setup::ensure(workspace))?;
    let built = host(workspace, profile)?;
    let memory = step("building the loop's memory", || memory(workspace))?;
    print(workspace, &built, &memory)?;
    if args.has("--verify") {
        verify::verify(workspace, &built)?;
    }
    Ok(())
}

/// Builds component and host, and copies the component to where people look for it.
pub(crate) fn host(workspace: &Workspace, profile: Profile) -> Result<Built> {
    let parts: &[&str] = match profile {
        // With what the tests need: they ask for the same, and cargo chooses features by what is asked for.
        Profile::Dev => &["--workspace"],
        Profile::Release => &["--package", HOST, "--release"],
    };
    step("building the component and the host", || {
        cargo_build(workspace, parts)
    })
}

/// Builds what the demo shows: the command without its server and without the policies that are shipped.
pub(crate) fn for_demo(workspace: &Workspace) -> Result<Built> {
    step("building the component and the command", || {
        cargo_build(workspace, &["--package", HOST, "--no-default-features"])
    })
}

fn cargo_build(workspace: &Workspace, parts: &[&str]) -> Result<Built> {
    let mut cargo = workspace.cargo(&["build", "--message-format=json-render-diagnostics"]);
    cargo.args(parts);
    if in_ci() {
        cargo.arg("--locked");
    }
    let messages = progress::capture(&mut cargo)?;
    collect(workspace, &messages)
}

/// Builds an example of the workspace. Gives its program.
pub(crate) fn example(workspace: &Workspace, name: &str, profile: Profile) -> Result<PathBuf> {
    let mut cargo = workspace.cargo(&["build", "--workspace", "--example", name]);
    cargo.arg("--message-format=json-render-diagnostics");
    if profile == Profile::Release {
        cargo.arg("--release");
    }
    let messages = progress::capture(&mut cargo)?;
    let mut programs = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_it = message.pointer("/target/name")?.as_str() == Some(name);
        let program = message.get("executable")?.as_str()?;
        is_it.then(|| PathBuf::from(program))
    });
    programs
        .next_back()
        .with_context(|| format!("cargo built no example {name}"))
}

/// The loop's memory for hosts in other languages, where people look for it.
pub(crate) fn memory(workspace: &Workspace) -> Result<PathBuf> {
    let built = bindings::memory(workspace)?;
    let path = workspace.target().join("gate/ralph-gate-memory.wasm");
    replace(&path, &fs::read(&built.path)?)?;
    Ok(path)
}

fn collect(workspace: &Workspace, messages: &str) -> Result<Built> {
    let (binary, out_dir) = find_outputs(messages)?;
    let path = find_component(&out_dir, "gate.wasm")?;
    let bytes = fs::read(&path).with_context(|| format!("{} can't be read", path.display()))?;
    let component = workspace.target().join("gate/ralph-gate.wasm");
    replace(&component, &bytes)?;
    let digest = blake3::hash(&bytes).to_hex().to_string();
    check_version(&binary, &digest)?;
    Ok(Built {
        binary,
        component,
        bytes,
        digest,
    })
}

/// The host's binary, and the folder in which its build script left the component.
fn find_outputs(messages: &str) -> Result<(PathBuf, PathBuf)> {
    let (mut binary, mut out_dir) = (None, None);
    for line in messages.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
        match text("/reason") {
            Some("compiler-artifact") if text("/target/name") == Some("ralph-gate") => {
                binary = text("/executable").map(PathBuf::from).or(binary);
            }
            Some("build-script-executed") if is_host(text("/package_id")) => {
                out_dir = text("/out_dir").map(PathBuf::from);
            }
            _ => {}
        }
    }
    Ok((
        binary.context(
            "cargo built no ralph-gate binary: is it still a target of host/Cargo.toml?",
        )?,
        out_dir.context("cargo ran no build script for the host: is host/build.rs still there?")?,
    ))
}

/// `path+file:///…/host#ralph-gate@0.1.0`
fn is_host(package: Option<&str>) -> bool {
    package.is_some_and(|id| id.contains("#ralph-gate@"))
}

/// A component among what the build script left.
fn find_component(folder: &Path, name: &str) -> Result<PathBuf> {
    let component = folder.join(name);
    if !component.is_file() {
        bail!("host/build.rs left no {name} in {}", folder.display());
    }
    Ok(component)
}

/// The host must embed what was just copied.
fn check_version(binary: &Path, digest: &str) -> Result<()> {
    let mut command = std::process::Command::new(binary);
    let text = process::capture(command.args(["version", "--json"]))?;
    let version: Value = serde_json::from_str(&text)
        .context("`ralph-gate version --json` must print one JSON object")?;
    if !mentions(&version, digest) {
        bail!(
            "the host names another gate digest than that of the component it was built with, {digest}: {}",
            text.trim_end()
        );
    }
    Ok(())
}

fn mentions(value: &Value, digest: &str) -> bool {
    match value {
        Value::String(text) => text.strip_prefix("blake3:").unwrap_or(text) == digest,
        Value::Array(items) => items.iter().any(|item| mentions(item, digest)),
        Value::Object(fields) => fields.values().any(|field| mentions(field, digest)),
        _ => false,
    }
}

/// Writes a file so that an interruption leaves either the old one or the new one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut file, bytes)?;
    file.persist(path)
        .with_context(|| format!("{} can't be written", path.display()))?;
    // A temporary file is private to its owner; what a build leaves behind is not.
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    Ok(())
}

fn print(workspace: &Workspace, built: &Built, memory: &Path) -> Result<()> {
    let anatomy = ralph_gate_builder::anatomy(&built.bytes)?;
    println!("  host       {}", relative(workspace, &built.binary));
    println!("  component  {}", relative(workspace, &built.component));
    println!("  memory     {}", relative(workspace, memory));
    println!("  size       {}", size(built.bytes.len() as u64));
    println!("  blake3     {}", built.digest);
    println!("  imports    {}", anatomy.imports.len());
    println!("  exports    {}", anatomy.exports.join(", "));
    Ok(())
}

/// The path as seen from the checkout, where it is inside.
pub(crate) fn relative(workspace: &Workspace, path: &Path) -> String {
    path.strip_prefix(workspace.root())
        .unwrap_or(path)
        .display()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read_from_what_cargo_says() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"ralph_gate"},"executable":null}"#,
            "\n",
            r#"{"reason":"build-script-executed","package_id":"path+file:///x/host#ralph-gate@0.1.0","out_dir":"/t/out"}"#,
            "\n",
            r#"{"reason":"build-script-executed","package_id":"registry#serde@1.0.0","out_dir":"/t/serde"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"ralph-gate"},"executable":"/t/ralph-gate"}"#,
            "\n",
        );
        let (binary, out_dir) = find_outputs(messages).unwrap();
        assert_eq!(binary, Path::new("/t/ralph-gate"));
        assert_eq!(out_dir, Path::new("/t/out"));
        let error = find_outputs("").unwrap_err().to_string();
        assert!(error.contains("host/Cargo.toml"), "{error}");
    }

    #[test]
    fn a_digest_is_found_with_and_without_its_prefix_and_only_when_whole() {
        let version: Value = serde_json::json!({"gate": {"digest": "blake3:abc"}, "list": ["def"]});
        assert!(mentions(&version, "abc") && mentions(&version, "def"));
        assert!(!mentions(&version, "ab"));
    }

    #[test]
    fn a_component_is_found_among_the_others_and_missed_where_it_is_not() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cel.wasm"), "").unwrap();
        let error = find_component(folder.path(), "gate.wasm")
            .unwrap_err()
            .to_string();
        assert!(error.contains("no gate.wasm"), "{error}");
        fs::write(folder.path().join("gate.wasm"), "").unwrap();
        let found = find_component(folder.path(), "gate.wasm").unwrap();
        assert!(found.ends_with("gate.wasm"));
    }
}
