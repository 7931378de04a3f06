//! What the compiler of the gate gets to see: a clean environment and paths that mean the same everywhere.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// What identifies the compiler: its sources are named after this commit in every official build.
pub(crate) struct Identity {
    /// The folder of the toolchain.
    pub(crate) sysroot: PathBuf,
    /// The commit that the compiler was built from.
    pub(crate) commit: String,
}

/// Whether a variable of the surrounding build must not reach the nested one.
///
/// Everything that could change the bytes goes: flags, wrappers, profile overrides, the outer package's
/// own `CARGO_PKG_…`. What stays is where things are and how to reach them.
pub(crate) fn is_foreign(name: &str) -> bool {
    const KEPT: [&str; 1] = ["CARGO_HOME"];
    const KEPT_PREFIXES: [&str; 5] = [
        "CARGO_HTTP_",
        "CARGO_NET_",
        "CARGO_REGISTRIES_",
        "CARGO_REGISTRY_",
        "RUSTUP_",
    ];
    const FOREIGN_PREFIXES: [&str; 3] = ["CARGO_", "RUST", "DEP_"];
    const FOREIGN: [&str; 9] = [
        "CARGO",
        "OUT_DIR",
        "TARGET",
        "HOST",
        "NUM_JOBS",
        "OPT_LEVEL",
        "PROFILE",
        "DEBUG",
        "MAKEFLAGS",
    ];

    // The toolchain of the surrounding build is not the one that the workspace pins.
    if name == "RUSTUP_TOOLCHAIN" {
        return true;
    }
    let kept = KEPT.contains(&name) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let foreign = FOREIGN.contains(&name)
        || FOREIGN_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix));
    foreign && !kept
}

/// The flags for rustc, in the form of `CARGO_ENCODED_RUSTFLAGS`.
pub(crate) fn rustc_flags(source: &Path, target_dir: &Path, identity: &Identity) -> OsString {
    let mut flags: Vec<OsString> = vec!["-C".into(), "target-feature=+simd128".into()];
    for (from, to) in remappings(source, target_dir, &cargo_home(), identity) {
        let mut flag = OsString::from("--remap-path-prefix=");
        flag.push(from);
        flag.push("=");
        flag.push(to);
        flags.push(flag);
    }
    flags.join(OsStr::new("\x1f"))
}

/// Which folder is written how into the component. The last one that fits counts, so that a target
/// directory inside the workspace has its own name.
fn remappings(
    source: &Path,
    target_dir: &Path,
    cargo_home: &Path,
    identity: &Identity,
) -> Vec<(PathBuf, String)> {
    let mut remappings = vec![
        (source.to_path_buf(), "/ralph-gate".to_owned()),
        (target_dir.to_path_buf(), "/target".to_owned()),
        (cargo_home.to_path_buf(), "/cargo".to_owned()),
    ];
    // The folder below `registry/src` is named after the registry's address, which a mirror changes.
    for registry in registries(cargo_home) {
        remappings.push((registry, "/cargo/registry/src".to_owned()));
    }
    remappings.push((
        identity.sysroot.join("lib/rustlib/src/rust"),
        format!("/rustc/{}", identity.commit),
    ));
    remappings
}

/// Where the sources of each registry are unpacked.
fn registries(cargo_home: &Path) -> Vec<PathBuf> {
    subfolders(&cargo_home.join("registry/src"))
}

/// Whether cargo has unpacked no dependency yet: then it can't be known how its folders are called.
pub(crate) fn is_first_build() -> bool {
    registries(&cargo_home()).is_empty()
}

/// The folders right below `parent`, sorted. None when there is no such folder yet.
fn subfolders(parent: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir(parent)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

/// Where cargo keeps the sources of dependencies.
fn cargo_home() -> PathBuf {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")))
        .unwrap_or_else(|| PathBuf::from(".cargo"));
    home.canonicalize().unwrap_or(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_change_the_bytes_stays_outside() {
        for name in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_PROFILE_GATE_LTO",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_TARGET_DIR",
            "CARGO_PKG_VERSION",
            "CARGO_INCREMENTAL",
            "RUSTC",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTUP_TOOLCHAIN",
            "RUST_BACKTRACE",
            "MAKEFLAGS",
            "OUT_DIR",
            "TARGET",
        ] {
            assert!(is_foreign(name), "{name} must not reach the nested build");
        }
    }

    #[test]
    fn where_things_are_stays_known() {
        for name in [
            "PATH",
            "HOME",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "RUSTUP_AUTO_INSTALL",
            "CARGO_HTTP_CAINFO",
            "CARGO_NET_OFFLINE",
            "CARGO_REGISTRIES_MIRROR_INDEX",
            "HTTPS_PROXY",
            "DEBUG_MODE_OF_SOMETHING_ELSE",
        ] {
            assert!(!is_foreign(name), "{name} must reach the nested build");
        }
    }

    #[test]
    fn the_more_exact_remapping_comes_later() {
        let identity = Identity {
            sysroot: "/toolchain".into(),
            commit: "c0ffee".into(),
        };
        let remappings = remappings(
            Path::new("/w"),
            Path::new("/w/target"),
            Path::new("/no/home"),
            &identity,
        );
        let position = |path: &str| {
            remappings
                .iter()
                .position(|(from, _)| from == Path::new(path))
                .unwrap()
        };
        assert!(position("/w") < position("/w/target"));
        assert_eq!(remappings.last().unwrap().1, "/rustc/c0ffee");
    }
}
