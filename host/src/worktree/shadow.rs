//! Files that Python imports in place of another one of the same name.
//!
//! Where a module is looked for, a package comes first, then an extension module, then the source file:
//! `test_a/__init__.py` and `test_a.abi3.so` stand before `test_a.py`.

use super::walk::{Item, Kind};

/// The file of a package, without its extension.
const PACKAGE: &str = "__init__.";
/// Extensions of modules without a source file.
const COMPILED: [&str; 2] = [".so", ".pyc"];

/// Whether something can stand before a source file, by its name.
pub(super) fn is_possible(item: &Item<'_>) -> bool {
    let name = item.name.to_bytes();
    !matches!(item.kind, Kind::Folder | Kind::Closed)
        && (name.starts_with(PACKAGE.as_bytes())
            || COMPILED.iter().any(|end| name.ends_with(end.as_bytes())))
}

/// The source files that a file stands before, if they are there.
pub(super) fn hidden(path: &str) -> Vec<String> {
    let (folder, name) = match path.rsplit_once('/') {
        Some((folder, name)) => (Some(folder), name),
        None => (None, path),
    };
    let mut hidden = Vec::new();
    if name.starts_with(PACKAGE) {
        hidden.extend(folder.map(|folder| format!("{folder}.py")));
    }
    let stem = name.split('.').next().filter(|stem| !stem.is_empty());
    if let Some(stem) = stem.filter(|_| COMPILED.iter().any(|end| name.ends_with(end))) {
        hidden.push(match folder {
            Some(folder) => format!("{folder}/{stem}.py"),
            None => format!("{stem}.py"),
        });
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_or_a_compiled_module_stands_before_the_source_file() {
        for (path, expected) in [
            ("tests/test_a/__init__.py", vec!["tests/test_a.py"]),
            (
                "test_a/__init__.pyc",
                vec!["test_a.py", "test_a/__init__.py"],
            ),
            (
                "a/test_a.cpython-312-x86_64-linux-gnu.so",
                vec!["a/test_a.py"],
            ),
            ("test_a.so", vec!["test_a.py"]),
            ("__init__.py", vec![]),
            ("tests/test_a/data.txt", vec![]),
            ("tests/test_a.py", vec![]),
            (".so", vec![]),
        ] {
            assert_eq!(hidden(path), expected, "{path}");
        }
    }
}
