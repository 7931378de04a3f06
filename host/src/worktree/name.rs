//! Names of files as text: a name is any bytes, and a message or a JSON file is not.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A path as text, different for different paths.
///
/// Text stays as it is, but for backslashes, which are doubled, and for control characters and bytes that are no
/// UTF-8, which become `\x` and two hexadecimal digits.
pub fn shown(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => text.push_str(r"\\"),
                control if control.is_control() => {
                    escape(&mut text, control.to_string().as_bytes());
                }
                other => text.push(other),
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text
}

fn escape(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        text.push_str(&format!(r"\x{byte:02x}"));
    }
}

/// A path for a message.
pub(super) fn shown_path(path: &Path) -> String {
    shown(path.as_os_str().as_bytes())
}

/// A path from bytes.
pub(super) fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The bytes of a path.
pub(super) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// A path inside of a folder.
pub(super) fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        return name.to_vec();
    }
    [folder, b"/", name].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_escaped() {
        assert_eq!(shown(b"src/\xff\n.rs"), r"src/\xff\x0a.rs");
        assert_eq!(shown("src/ä b.rs".as_bytes()), "src/ä b.rs");
    }

    #[test]
    fn different_names_stay_different() {
        let names: [&[u8]; 7] = [
            b"\xff",
            b"\\xff",
            b"\\\\xff",
            b"\n",
            b"\\x0a",
            b"\xc2\x85",
            "ÿ".as_bytes(),
        ];
        let mut texts: Vec<String> = names.iter().map(|name| shown(name)).collect();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), names.len());
        assert!(texts.iter().all(|text| !text.contains(char::is_control)));
    }
}
