//! Rules about the loop state file: an update changes its field, and the prompt stays byte for byte.

use ralph_gate_component::error::ErrorCode;
use ralph_gate_component::loop_file::{LoopFile, LoopFileChange, read, update, write};

/// Checks a text as a loop state file.
pub fn check(input: &[u8]) {
    let text = super::text(input);
    let Ok(file) = read(&text) else {
        // Only a missing iteration can be repaired by a change.
        if let Ok(repaired) = update(&text, &iteration(7)) {
            let file = read(&repaired).expect("an update can be read");
            assert_eq!(file.iteration, 7);
            assert!(text.ends_with(&file.prompt));
        }
        return;
    };
    assert!(
        text.ends_with(&file.prompt),
        "the prompt is the rest of the text"
    );
    written(&file);
    assert_eq!(update(&text, &LoopFileChange::default()).unwrap(), *text);
    let next = file.iteration.wrapping_add(1);
    changed(&text, &file, &iteration(next));
    let id: String = file.prompt.chars().take(12).collect();
    changed(
        &text,
        &file,
        &LoopFileChange {
            active: Some(!file.active),
            iteration: Some(next),
            session_id: Some(id),
        },
    );
}

fn iteration(index: u32) -> LoopFileChange {
    LoopFileChange {
        iteration: Some(index),
        ..LoopFileChange::default()
    }
}

fn changed(text: &str, before: &LoopFile, change: &LoopFileChange) {
    let mut expected = before.clone();
    expected.active = change.active.unwrap_or(expected.active);
    expected.iteration = change.iteration.unwrap_or(expected.iteration);
    if let Some(id) = &change.session_id {
        expected.session_id = Some(id.clone()).filter(|id| !id.is_empty());
    }
    match update(text, change) {
        Ok(result) => {
            assert_eq!(read(&result).unwrap(), expected, "{result:?}");
            assert!(result.ends_with(&before.prompt));
            assert_eq!(update(&result, change).unwrap(), result, "twice is once");
        }
        // Some forms of YAML can't be changed in place. The file stays as it is, and the error says so.
        Err(error) => {
            assert_eq!(error.code, ErrorCode::InvalidFile);
            assert!(
                error.message.contains("can't be changed in place"),
                "{error}"
            );
        }
    }
}

/// A file that is written anew says the same.
fn written(file: &LoopFile) {
    let text = write(file);
    let again = read(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
    assert!(again.prompt.contains(&file.prompt));
    let prompt = again.prompt.clone();
    assert_eq!(
        again,
        LoopFile {
            prompt,
            ..file.clone()
        },
        "{text:?}"
    );
    assert_eq!(write(&again), text, "the layout is a fixed point");
}
