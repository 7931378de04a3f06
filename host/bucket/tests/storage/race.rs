//! Writers at the same time: of each round one wins, the others learn of it, and nothing that was saved is lost.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use ralph_gate_memory::MemoryError;

use super::{GATE, begin, change, is_conflict, key, open, root, start, told};

fn memory() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

#[test]
fn of_two_that_save_one_wins_and_the_other_learns_of_it() {
    let storage = memory();
    // Two processes share nothing but the storage.
    let (here, there) = (root(&storage), root(&storage));
    let mut one = begin(&here);
    let mut names = Vec::new();
    let mut other = open(&there);
    for round in 0..20 {
        let name = format!("r{round}");
        let (winner, loser) = match round % 3 {
            0 => (&mut other, &mut one),
            _ => (&mut one, &mut other),
        };
        winner.save(&change(&name)).unwrap();
        let before = loser.state();
        assert!(is_conflict(&loser.save(&change("late"))));
        assert_eq!(loser.state(), before, "nothing of it was saved");
        assert!(matches!(
            loser.save(&change("later")),
            Err(MemoryError::Unsound)
        ));
        assert!(matches!(loser.events(), Err(MemoryError::Unsound)));
        names.push(name);
        one = open(&here);
        other = open(&there);
    }
    assert_eq!(told(&here), names);
}

#[test]
fn of_two_that_begin_a_session_both_have_the_one_that_was_first() {
    for _ in 0..20 {
        let storage = memory();
        let gate = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let root = root(&storage);
                    gate.wait();
                    let store = root.open_or_create(&GATE, &key(), &start()).unwrap();
                    assert_eq!(store.state().revision, 1);
                });
            }
        });
        assert_eq!(told(&root(&storage)), Vec::<String>::new());
    }
}

#[test]
fn a_crowd_loses_no_save_and_invents_none() {
    let storage = memory();
    begin(&root(&storage));
    let conflicts = AtomicUsize::new(0);
    let saved: Vec<BTreeSet<String>> = thread::scope(|scope| {
        let storage = &storage;
        let conflicts = &conflicts;
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                scope.spawn(move || {
                    let root = root(storage);
                    let mut saved = BTreeSet::new();
                    for attempt in 0..40 {
                        let name = format!("w{writer}-{attempt}");
                        match open(&root).save(&change(&name)) {
                            Ok(_) => drop(saved.insert(name)),
                            Err(MemoryError::Conflict { .. }) => {
                                conflicts.fetch_add(1, Ordering::SeqCst);
                            }
                            Err(error) => panic!("{error}"),
                        }
                    }
                    saved
                })
            })
            .collect();
        let done = writers.into_iter().map(|writer| writer.join().unwrap());
        done.collect()
    });
    let saved: BTreeSet<String> = saved.into_iter().flatten().collect();
    let root = root(&storage);
    let told = told(&root);
    assert_eq!(told.len() as u64, open(&root).state().revision - 1);
    assert_eq!(told.len(), saved.len());
    assert_eq!(told.into_iter().collect::<BTreeSet<String>>(), saved);
    assert_eq!(saved.len() + conflicts.load(Ordering::SeqCst), 8 * 40);
}
