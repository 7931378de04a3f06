//! `cargo xtask dist`: the folder that is handed out.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::bindings::http;
use crate::build::{self, Built, Profile};
use crate::cli::{Args, Command};
use crate::setup;
use crate::sources;
use crate::terminal::{size, step, table};
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command {
    name: "dist",
    summary: "pack a release into target/dist",
    details: "Builds with optimisations and packs the command, the gate, the loop's memory, the gate behind HTTP, the WIT and the licences\n\
              into target/dist, with the BLAKE3 digest of each file in BLAKE3SUMS (`b3sum --check`).",
    flags: &[],
    words: &[],
    examples: &["cargo xtask dist"],
    run,
};

const SUMS: &str = "BLAKE3SUMS";

/// One file of the release: where it comes from, what it is called there.
struct Item {
    source: PathBuf,
    name: String,
}

fn run(workspace: &Workspace, _: &Args) -> Result<()> {
    step("checking the toolchain", || setup::ensure(workspace))?;
    let built = build::host(workspace, Profile::Release)?;
    let memory = step("building the loop's memory", || build::memory(workspace))?;
    let http = http::package(workspace)?;
    let dist = workspace.target().join("dist");
    let rows = step("packing", || {
        pack(&items(workspace, &built, &memory, &http)?, &dist)
    })?;
    print!("{}", table(&rows));
    println!("  in {}", build::relative(workspace, &dist));
    Ok(())
}

fn items(workspace: &Workspace, built: &Built, memory: &Path, http: &Path) -> Result<Vec<Item>> {
    let mut items = vec![
        Item {
            source: built.binary.clone(),
            name: file_name(&built.binary)?,
        },
        Item {
            source: built.component.clone(),
            name: file_name(&built.component)?,
        },
        Item {
            source: memory.to_path_buf(),
            name: file_name(memory)?,
        },
        Item {
            source: http.to_path_buf(),
            name: file_name(http)?,
        },
    ];
    let wit = sources::below(workspace.root(), "wit", &[".wit"]);
    if wit.is_empty() {
        bail!("there is no WIT in {}", workspace.path("wit").display());
    }
    let others = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"].map(PathBuf::from);
    for path in wit.into_iter().chain(others) {
        items.push(Item {
            source: workspace.root().join(&path),
            name: path.display().to_string(),
        });
    }
    Ok(items)
}

fn file_name(path: &Path) -> Result<String> {
    let name = path
        .file_name()
        .with_context(|| format!("{} is no file", path.display()))?;
    Ok(name.to_string_lossy().into_owned())
}

/// Fills a new folder and then puts it in the place of the old one, so that an interruption never
/// leaves a half-filled one. Gives the lines to print.
fn pack(items: &[Item], dist: &Path) -> Result<Vec<Vec<String>>> {
    let parent = dist.parent().context("target/dist has a parent")?;
    fs::create_dir_all(parent)?;
    let partial = tempfile::Builder::new()
        .prefix("dist-")
        .tempdir_in(parent)?;
    let mut rows = Vec::new();
    let mut sums = String::new();
    for item in items {
        let target = partial.path().join(&item.name);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        let bytes = fs::copy(&item.source, &target)
            .with_context(|| format!("{} can't be packed", item.source.display()))?;
        let digest = blake3::hash(&fs::read(&target)?);
        writeln!(sums, "{}  {}", digest.to_hex(), item.name)?;
        rows.push(vec![item.name.clone(), size(bytes)]);
    }
    fs::write(partial.path().join(SUMS), &sums)?;
    rows.push(vec![SUMS.to_owned(), size(sums.len() as u64)]);
    #[cfg(unix)]
    fs::set_permissions(
        partial.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )?;
    if dist.exists() {
        fs::remove_dir_all(dist)?;
    }
    fs::rename(partial.keep(), dist)?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_replaces_the_one_before_and_carries_true_digests() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("tool");
        let dist = folder.path().join("dist");
        fs::write(&source, "first").unwrap();
        fs::create_dir(&dist).unwrap();
        fs::write(dist.join("left-over"), "").unwrap();
        let items = [Item {
            source: source.clone(),
            name: "bin/tool".to_owned(),
        }];
        pack(&items, &dist).unwrap();
        assert_eq!(fs::read_to_string(dist.join("bin/tool")).unwrap(), "first");
        assert!(!dist.join("left-over").exists());
        let sums = fs::read_to_string(dist.join(SUMS)).unwrap();
        assert_eq!(
            sums,
            format!("{}  bin/tool\n", blake3::hash(b"first").to_hex())
        );
    }

    #[test]
    fn a_missing_file_leaves_the_old_release_alone() {
        let folder = tempfile::tempdir().unwrap();
        let dist = folder.path().join("dist");
        fs::create_dir(&dist).unwrap();
        fs::write(dist.join("old"), "kept").unwrap();
        let items = [Item {
            source: folder.path().join("gone"),
            name: "gone".to_owned(),
        }];
        let error = pack(&items, &dist).err().unwrap().to_string();
        assert!(error.contains("gone can't be packed"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(dist.join("old").exists());
    }
}
