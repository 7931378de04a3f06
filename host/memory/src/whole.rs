//! What became of a file that is always replaced as a whole. Pure: bytes in, judgement out.

use super::progress::is_torn;

/// What a file that should hold a text holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// That text, or nothing where nothing belongs.
    Same,
    /// Nothing.
    Missing,
    /// An earlier text: the newest one never reached the disk.
    Earlier,
    /// What a crash left of that text, or of an earlier one.
    Torn(Vec<u8>),
    /// Something that somebody else wrote.
    Other(Vec<u8>),
}

/// Compares what is found with what was saved. `earlier` are the texts of the revisions before.
pub(super) fn compare(
    found: Option<Vec<u8>>,
    saved: Option<&str>,
    earlier: &[Option<&str>],
) -> Found {
    let Some(found) = found else {
        return if saved.is_none() {
            Found::Same
        } else {
            Found::Missing
        };
    };
    let earlier: Vec<&str> = earlier.iter().copied().flatten().collect();
    if saved.is_some_and(|saved| saved.as_bytes() == found) {
        Found::Same
    } else if earlier.iter().any(|text| text.as_bytes() == found) {
        Found::Earlier
    } else if saved
        .iter()
        .chain(&earlier)
        .any(|text| is_torn(&found, text.as_bytes()))
    {
        Found::Torn(found)
    } else {
        Found::Other(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_is_told_from_the_others() {
        let compare = |found: Option<&str>| {
            let found = found.map(|text| text.as_bytes().to_vec());
            compare(found, Some("new"), &[None, Some("old")])
        };
        assert_eq!(compare(Some("new")), Found::Same);
        assert_eq!(compare(None), Found::Missing);
        assert_eq!(compare(Some("old")), Found::Earlier);
        assert_eq!(compare(Some("ne")), Found::Torn(b"ne".to_vec()));
        assert_eq!(compare(Some("\0ew")), Found::Torn(b"\0ew".to_vec()));
        assert_eq!(compare(Some("")), Found::Torn(Vec::new()));
        assert_eq!(compare(Some("o\0")), Found::Torn(b"o\0".to_vec()));
        assert_eq!(compare(Some("mine")), Found::Other(b"mine".to_vec()));
    }

    #[test]
    fn where_nothing_belongs_nothing_is_right() {
        assert_eq!(compare(None, None, &[]), Found::Same);
        let found = |text: &str| compare(Some(text.as_bytes().to_vec()), None, &[Some("old")]);
        assert_eq!(found("mine"), Found::Other(b"mine".to_vec()));
        assert_eq!(found("old"), Found::Earlier);
        assert_eq!(found("ol"), Found::Torn(b"ol".to_vec()));
    }
}
