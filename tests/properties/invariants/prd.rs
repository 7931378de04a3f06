//! Rules about `prd.json`: an update changes its line and leaves every other byte.

use ralph_gate_component::prd::{Prd, PrdItem, PrdShape, PrdUpdate, read, update};
use serde_json::Value as Json;

use super::spans::{Field, fields, items, skip_space};

/// Lines of one checklist that are changed, so that a long one does not take quadratic time.
const CHANGED: usize = 6;

/// Checks a text as a checklist.
pub fn check(input: &[u8]) {
    let text = super::text(input);
    let Ok(prd) = read(&text) else {
        let error = update(&text, &[]).expect_err("what can't be read can't be changed");
        assert!(!error.message.is_empty());
        return;
    };
    counts(&prd);
    assert_eq!(update(&text, &[]).unwrap(), *text, "no update, no change");
    for (index, item) in prd.items.iter().enumerate().take(CHANGED) {
        for evidence in [None, Some("\"14\" passed\n→ ok".to_owned())] {
            let change = PrdUpdate {
                id: item.id.clone(),
                passes: !item.passes,
                evidence,
            };
            one_update(&text, &prd, index, &change);
        }
    }
    all_at_once(&text, &prd);
    let stranger = PrdUpdate {
        id: prd
            .items
            .iter()
            .map(|item| item.id.as_str())
            .collect::<String>()
            + "?",
        passes: true,
        evidence: None,
    };
    assert!(update(&text, &[stranger]).is_err());
}

fn counts(prd: &Prd) {
    let passed = prd.items.iter().filter(|item| item.passes).count();
    assert_eq!(usize::try_from(prd.passed).unwrap(), passed);
    assert_eq!(usize::try_from(prd.total).unwrap(), prd.items.len());
    let mut ids: Vec<&str> = prd.items.iter().map(|item| item.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), prd.items.len(), "an id appears twice");
}

fn one_update(text: &str, before: &Prd, index: usize, change: &PrdUpdate) {
    let changed = update(text, std::slice::from_ref(change)).expect("a known id can be changed");
    let mut expected = before.clone();
    let item = expected.items.get_mut(index).unwrap();
    item.passes = change.passes;
    let passed = expected.items.iter().filter(|item| item.passes).count();
    expected.passed = u32::try_from(passed).unwrap();
    let found = read(&changed).unwrap();
    warnings(before, &found, &changed);
    expected.warnings.clone_from(&found.warnings);
    assert_eq!(found, expected, "{changed}");
    assert_eq!(
        update(&changed, std::slice::from_ref(change)).unwrap(),
        changed,
        "twice is once"
    );
    untouched(text, &changed, before.shape, index, change);
}

/// A change brings no new oddity, and takes away at most that of its own line.
fn warnings(before: &Prd, after: &Prd, changed: &str) {
    let messages = |prd: &Prd| -> Vec<String> {
        let messages = prd.warnings.iter();
        messages.map(|warning| warning.message.clone()).collect()
    };
    let mut gone = messages(before);
    if gone.len() >= 100 {
        // Not all of them are told.
        return;
    }
    for message in messages(after) {
        let place = gone.iter().position(|known| *known == message);
        gone.remove(place.unwrap_or_else(|| panic!("{message}: {changed}")));
    }
    assert!(gone.len() <= 1, "{gone:?}: {changed}");
    assert!(
        gone.iter()
            .all(|message| message.contains("neither true nor false")),
        "{gone:?}: {changed}"
    );
}

/// Everything before and behind the line is there byte for byte, and so are the line's other fields.
fn untouched(text: &str, changed: &str, shape: PrdShape, index: usize, change: &PrdUpdate) {
    let (old, new) = (line(text, shape, index), line(changed, shape, index));
    assert_eq!(text.get(..old.start), changed.get(..new.start));
    assert_eq!(text.get(old.end..), changed.get(new.end..));
    let status = status(changed, new.start);
    let foreign = |text: &str, start: usize| -> Vec<(String, String)> {
        fields(text, start)
            .into_iter()
            .map(|field| {
                (
                    text.get(field.key).unwrap().to_owned(),
                    text.get(field.value).unwrap().to_owned(),
                )
            })
            .filter(|(key, _)| name(key) != status && name(key) != "evidence")
            .collect()
    };
    // Field by field: a number elsewhere in the line may be larger than serde_json reads.
    let value = |wanted: &str| -> Option<Json> {
        let field = last(changed, fields(changed, new.start), wanted)?;
        Some(serde_json::from_str(changed.get(field.value).unwrap()).unwrap())
    };
    assert_eq!(value(status), Some(Json::Bool(change.passes)));
    if let Some(evidence) = &change.evidence {
        assert_eq!(value("evidence"), Some(Json::from(evidence.as_str())));
    }
    if text.as_bytes().get(old.start) == Some(&b'{') {
        assert_eq!(foreign(text, old.start), foreign(changed, new.start));
    } else {
        let title = text.get(old).unwrap();
        let id_and_title = [("\"id\"", title), ("\"title\"", title)]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(foreign(changed, new.start), id_and_title);
    }
}

/// The bytes of one line of the checklist.
fn line(text: &str, shape: PrdShape, index: usize) -> std::ops::Range<usize> {
    let names = match shape {
        PrdShape::UserStories => ["userStories", "stories"],
        PrdShape::Items => ["items", "tasks"],
    };
    let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let root = skip_space(text, mark);
    let list = if text.as_bytes().get(root) == Some(&b'[') {
        root
    } else {
        let found = names.into_iter();
        let mut found = found.filter_map(|wanted| last(text, fields(text, root), wanted));
        found.next().expect("the list was read").value.start
    };
    items(text, list).swap_remove(index)
}

/// The field of a name. Of several the last one counts.
fn last(text: &str, fields: Vec<Field>, wanted: &str) -> Option<Field> {
    let mut fields = fields.into_iter().rev();
    fields.find(|field| name(text.get(field.key.clone()).unwrap()) == wanted)
}

/// The field that says whether the line that begins at `start` has passed.
fn status(text: &str, start: usize) -> &'static str {
    let mut names = ["passes", "complete", "done"].into_iter();
    let status = names.find(|wanted| last(text, fields(text, start), wanted).is_some());
    status.expect("an update adds what is not there")
}

/// A key without its quotes and escapes.
fn name(key: &str) -> String {
    serde_json::from_str(key).expect("a key is a string")
}

/// Changing every line in one update is the same as one after the other.
fn all_at_once(text: &str, prd: &Prd) {
    let flip = |item: &PrdItem| PrdUpdate {
        id: item.id.clone(),
        passes: !item.passes,
        evidence: Some(item.title.clone()),
    };
    let updates: Vec<PrdUpdate> = prd.items.iter().take(CHANGED).map(flip).collect();
    let together = update(text, &updates).unwrap();
    let one_by_one = updates.iter().fold(text.to_owned(), |text, change| {
        update(&text, std::slice::from_ref(change)).unwrap()
    });
    assert_eq!(together, one_by_one);
    if let Some(first) = updates.first() {
        let twice = [first.clone(), first.clone()];
        assert!(update(text, &twice).is_err(), "an id twice is ambiguous");
    }
}
