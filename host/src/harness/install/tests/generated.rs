//! Rules that hold for every settings text, tried on many.

use super::generator::{Dice, settings};
use super::*;

const SEEDS: u64 = 1000;

fn every(rule: impl Fn(Harness, &str)) {
    for harness in JSON {
        for seed in 0..SEEDS {
            rule(harness, &settings(seed, harness));
        }
    }
}

#[test]
fn installing_and_uninstalling_leaves_every_byte_as_it_was() {
    every(|harness, text| {
        let with = installed(text, harness);
        assert_eq!(uninstalled(&with, harness), text, "{harness}: {with}");
    });
}

#[test]
fn after_installing_the_settings_are_the_old_ones_and_ours() {
    every(|harness, text| {
        let with = installed(text, harness);
        assert_eq!(
            parsed(&with),
            expected(parsed(text), harness),
            "{harness}: {text}"
        );
    });
}

#[test]
fn installing_twice_is_installing_once() {
    every(|harness, text| {
        let with = installed(text, harness);
        let recipe = Recipe::new(harness, Path::new(COMMAND), LoopDetection::SwitchOff).unwrap();
        let document = Document::new(&with).unwrap();
        let found = Found::new(&document, harness);
        assert!(found.satisfies(&document, &recipe), "{harness}: {with}");
        assert_eq!(found.missing(&document, harness), Vec::<String>::new());
    });
}

#[test]
fn another_command_replaces_ours_and_goes_as_well() {
    every(|harness, text| {
        let other =
            Recipe::new(harness, Path::new("ralph-gate"), LoopDetection::SwitchOff).unwrap();
        let first = insert::insert(text, &other).unwrap();
        let pruned = uninstalled(&first, harness);
        assert_eq!(pruned, text, "{harness}");
        assert_eq!(installed(&pruned, harness), installed(text, harness));
    });
}

/// Adds a member before or behind the others of an object at a place, in the text.
fn edited(text: &str, keys: &[&str], front: bool) -> Option<String> {
    let document = Document::new(text).unwrap();
    let mut keys = keys.iter();
    let object = keys.try_fold(document.root(), |object, key| document.member(object, key))?;
    let first = document.items(object).next()?;
    let last = document.items(object).last()?;
    let new = if document.kind(object) == scan::Kind::List {
        "{\"command\": \"mine\"}"
    } else {
        "\"mine\" : [1.0]"
    };
    let (at, new) = if front {
        (first.start(), format!("{new} , "))
    } else {
        (last.value.end, format!(" ,\n{new}"))
    };
    Some(format!("{}{new}{}", &text[..at], &text[at..]))
}

#[test]
fn what_is_added_before_and_behind_ours_stays() {
    every(|harness, text| {
        let mut dice = Dice::new(text.len() as u64);
        let event = harness.events()[dice.roll(harness.events().len())];
        let places: [&[&str]; 4] = [&[], &["hooks"], &["hooks", event], &["env"]];
        for place in places {
            for front in [true, false] {
                let with = installed(text, harness);
                let Some(with) = edited(&with, place, front) else {
                    continue;
                };
                let left = uninstalled(&with, harness);
                let mut value = parsed(&with);
                take_out(&mut value, harness);
                assert_eq!(
                    tidied(parsed(&left)),
                    tidied(value),
                    "{harness} {place:?}: {with}"
                );
                assert_eq!(uninstalled(&left, harness), left);
            }
        }
    });
}

#[test]
fn an_edit_before_ours_leaves_the_bytes_of_the_edit() {
    every(|harness, text| {
        if let Some(edited_before) = edited(text, &[], true) {
            let with = installed(text, harness);
            let with = edited(&with, &[], true).unwrap();
            assert_eq!(uninstalled(&with, harness), edited_before, "{harness}");
        }
    });
}

/// Takes ours out of a value, and nothing of what is left empty.
fn take_out(value: &mut Value, harness: Harness) {
    let whole = Recipe::new(harness, Path::new(COMMAND), LoopDetection::SwitchOff).unwrap();
    let ours = parsed(&whole.whole());
    let mut given = false;
    for event in harness.events() {
        let entry = &ours["hooks"][event][0];
        let list = value["hooks"][event].as_array_mut().unwrap();
        for found in list.iter().filter(|found| *found == entry) {
            let found = found.get("hooks").map_or(found, |hooks| &hooks[0]);
            let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
            let place = |name: &str| keys.iter().position(|key| *key == name);
            given |= place(harness.command_key()) < place(harness.limit().0);
        }
        list.retain(|found| found != entry);
    }
    let Some(setting) = harness.setting().filter(|_| given) else {
        return;
    };
    let (last, above) = setting.keys.split_last().unwrap();
    let object = above.iter().fold(value, |value, key| &mut value[*key]);
    object.as_object_mut().unwrap().shift_remove(*last);
}

/// A value without empty containers at the places that installing may make.
fn tidied(mut value: Value) -> Value {
    let empty = |value: &Value| {
        value.as_object().is_some_and(serde_json::Map::is_empty)
            || value.as_array().is_some_and(Vec::is_empty)
    };
    if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, list| !empty(list));
    }
    if let Some(root) = value.as_object_mut() {
        root.retain(|_, inner| !empty(inner));
    }
    value
}

#[test]
fn any_text_cut_or_changed_anywhere_is_no_panic() {
    for seed in 0..400 {
        let mut dice = Dice::new(seed);
        let harness = JSON[dice.roll(JSON.len())];
        let text = installed(&settings(seed, harness), harness);
        let mut bytes = text.into_bytes();
        for _ in 0..40 {
            let at = dice.roll(bytes.len());
            bytes[at] = b"{}[]\",:\\ \n/x0"[dice.roll(13)];
            let Ok(text) = std::str::from_utf8(&bytes) else {
                break;
            };
            if let Ok(document) = Document::new(text) {
                // Half of a pair is JSON for clients, but not for everyone.
                if !text.contains("\\ud") {
                    parsed(text);
                }
                let recipe =
                    Recipe::new(harness, Path::new(COMMAND), LoopDetection::Leave).unwrap();
                let _ = insert::insert(text, &recipe);
                if let Pruned::Text(rest) = prune(&document, harness) {
                    assert!(Document::new(&rest).is_ok(), "{rest}");
                }
            }
        }
    }
}
