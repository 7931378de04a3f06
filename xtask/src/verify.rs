//! `cargo xtask build --verify`: the gate, and the gate behind HTTP, are the same, byte for byte, wherever they are built.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use crate::bindings::http;
use crate::build::Built;
use crate::scratch::Scratch;
use crate::sources;
use crate::terminal::step;
use crate::workspace::Workspace;

/// Folders of different depth and length, so that a path inside the component would show.
const FOLDERS: [&str; 2] = ["a", "another-folder/with-a-much/longer-path"];

/// A component that was built here.
struct Component {
    name: &'static str,
    /// Where these bytes are from.
    origin: &'static str,
    bytes: Vec<u8>,
    build: fn(&Path, &Path) -> Result<Vec<u8>>,
}

/// Builds the components from copies of the source in two other folders and compares the bytes.
pub(crate) fn verify(workspace: &Workspace, built: &Built) -> Result<()> {
    let components = [
        Component {
            name: "the gate",
            origin: "embedded in the host",
            bytes: built.bytes.clone(),
            build: ralph_gate_builder::build,
        },
        Component {
            name: "the gate behind HTTP",
            origin: "built in the workspace",
            bytes: fs::read(http::package(workspace)?)?,
            build: ralph_gate_builder::build_http,
        },
    ];
    let scratch = Scratch::new("verify")?;
    // Both before the first build, which takes its time: a file may be saved meanwhile.
    for folder in FOLDERS {
        sources::copy(workspace.root(), &scratch.path(folder).join("source"))?;
    }
    let mut failures = Vec::new();
    for component in &components {
        failures.extend(component.compare(&scratch)?);
    }
    if failures.is_empty() {
        return Ok(());
    }
    let copy = scratch.path(FOLDERS[0]).join("source");
    if inputs_digest(workspace.root())? != inputs_digest(&copy)? {
        bail!("the source changed while it was verified: run the command again");
    }
    bail!(
        "the build is not reproducible: {}. Look for a path, a time or an environment variable \
         that reached the compiler",
        failures.join("; ")
    )
}

impl Component {
    /// Builds it in every other folder. Gives what differs.
    fn compare(&self, scratch: &Scratch) -> Result<Vec<String>> {
        let Self { name, origin, .. } = self;
        let mut failures = Vec::new();
        println!("  {}  {origin}", blake3::hash(&self.bytes).to_hex());
        for folder in FOLDERS {
            let title = format!("building {name} from a copy of the source in …/{folder}");
            let copy = step(&title, || {
                let folder = scratch.path(folder);
                (self.build)(&folder.join("source"), &folder.join("target"))
            })?;
            println!("  {}  built in …/{folder}", blake3::hash(&copy).to_hex());
            if let Some(offset) = first_difference(&self.bytes, &copy) {
                failures.push(format!(
                    "{name} that was built in …/{folder} differs from the one {origin} first at byte {offset}"
                ));
            }
        }
        if failures.is_empty() {
            println!("  all three are the same {} bytes", self.bytes.len());
        }
        Ok(failures)
    }
}

/// One digest over the names and contents of everything that decides the components' bytes.
fn inputs_digest(root: &Path) -> Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    let http = ralph_gate_builder::http_inputs(root);
    for input in ralph_gate_builder::inputs(root).into_iter().chain(http) {
        let relative = input.strip_prefix(root)?.to_string_lossy().into_owned();
        let files = if input.is_dir() {
            sources::below(root, &relative, &[""])
        } else {
            vec![relative.into()]
        };
        for file in files {
            let content = fs::read(root.join(&file))?;
            hasher.update(file.to_string_lossy().as_bytes());
            hasher.update(blake3::hash(&content).as_bytes());
        }
    }
    Ok(hasher.finalize())
}

/// Where two byte strings part; the end of the shorter one counts as a difference.
fn first_difference(left: &[u8], right: &[u8]) -> Option<usize> {
    if left == right {
        return None;
    }
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    Some(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_where_the_bytes_part() {
        assert_eq!(first_difference(b"abc", b"abc"), None);
        assert_eq!(first_difference(b"abc", b"abd"), Some(2));
        assert_eq!(first_difference(b"abc", b"ab"), Some(2));
        assert_eq!(first_difference(b"", b"x"), Some(0));
    }

    #[test]
    fn a_changed_source_file_changes_the_digest_of_the_inputs() {
        let folder = tempfile::tempdir().unwrap();
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        sources::copy(root, folder.path()).unwrap();
        let before = inputs_digest(folder.path()).unwrap();
        assert_eq!(inputs_digest(folder.path()).unwrap(), before);
        fs::write(folder.path().join("wit/new.wit"), "").unwrap();
        let after = inputs_digest(folder.path()).unwrap();
        assert_ne!(after, before);
    }
}
