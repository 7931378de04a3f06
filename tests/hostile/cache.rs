//! The cache of compiled code, from outside: whatever somebody puts there, the policy that is asked is the one that
//! answers, and the file is made anew.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::component::policy;
use ralph_gate_tests::said::Said;

/// What a file begins with: a name, and a digest with a key.
const HEADER: usize = 16 + 32;

/// A policy that says one word.
fn saying(word: &str) -> Vec<u8> {
    assert_eq!(word.len(), 4);
    policy(&format!(
        r#"(module
          (memory (export "memory") 2)
          (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 65536))
          (data (i32.const 16) "{word}")
          (data (i32.const 32) "\01\00\00\00\30\00\00\00\01\00\00\00")
          (data (i32.const 48) "\10\00\00\00\04\00\00\00")
          (func (export "ralph:gate/policy@0.1.0#describe") (result i32) (i32.const 64))
          (func (export "ralph:gate/policy@0.1.0#evaluate")
            (param i32 i32 i32 i32 i32 i32 i32) (result i32) (i32.const 32)))"#
    ))
}

/// A person with a folder for caches.
struct Person(tempfile::TempDir);

impl Person {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Asks a policy, which says one word.
    fn ask(&self, word: &str) -> String {
        let file = self.0.path().join(format!("{word}.wasm"));
        fs::write(&file, saying(word)).unwrap();
        let said = Said::by(
            Command::new(binary())
                .args(["policy", "run", "--json"])
                .arg(&file)
                .env("XDG_CACHE_HOME", self.0.path()),
        );
        assert_eq!(said.code, 0, "{said:?}");
        said.json()["reasons"][0].as_str().unwrap().to_owned()
    }

    /// The one file of compiled code for a policy.
    fn code(&self, word: &str) -> PathBuf {
        let digest = blake3::hash(&saying(word)).to_hex().to_string();
        let files = fs::read_dir(self.0.path().join("ralph-gate/policies")).unwrap();
        let mut files = files.map(|entry| entry.unwrap().path()).filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(&digest)
        });
        let found = files.next().expect("a file of code");
        assert_eq!(files.next(), None);
        found
    }
}

#[test]
fn what_is_damaged_or_planted_in_the_cache_never_runs_and_is_made_anew() {
    let (person, stranger) = (Person::new(), Person::new());
    assert_eq!(person.ask("good"), "good");
    assert_eq!(person.ask("evil"), "evil");
    assert_eq!(stranger.ask("good"), "good");
    let (path, other) = (person.code("good"), person.code("evil"));
    let (whole, evil) = (fs::read(&path).unwrap(), fs::read(&other).unwrap());
    let foreign = fs::read(stranger.code("good")).unwrap();
    assert_ne!(whole, foreign, "another key makes another digest");
    assert_eq!(whole[HEADER..], foreign[HEADER..], "of the same code");

    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let cut = |length: usize| whole[..length].to_vec();
    let planted: Vec<(&str, Vec<u8>)> = vec![
        ("another name", flipped(0)),
        ("another digest", flipped(20)),
        ("another first byte of code", flipped(HEADER)),
        ("another byte in the middle", flipped(whole.len() / 2)),
        ("another last byte", flipped(whole.len() - 1)),
        ("nothing", Vec::new()),
        ("the header alone", cut(HEADER)),
        ("half of it", cut(whole.len() / 2)),
        ("all but one byte", cut(whole.len() - 1)),
        ("one byte more", [&whole[..], b"x"].concat()),
        ("the genuine file of another policy", evil.clone()),
        (
            "the code of another under this one's digest",
            [&whole[..HEADER], &evil[HEADER..]].concat(),
        ),
        ("signed with another key", foreign.clone()),
        (
            "another's code, signed with another key",
            [&foreign[..HEADER], &evil[HEADER..]].concat(),
        ),
        ("a program", fs::read("/bin/sh").unwrap()),
    ];
    for (what, bytes) in planted {
        fs::write(&path, bytes).unwrap();
        assert_eq!(person.ask("good"), "good", "{what}");
        assert!(fs::read(&path).unwrap() == whole, "{what} was not replaced");
    }
    assert_eq!(person.ask("evil"), "evil");
}

#[test]
fn what_is_no_plain_private_file_is_not_taken_for_one() {
    let person = Person::new();
    assert_eq!(person.ask("good"), "good");
    assert_eq!(person.ask("evil"), "evil");
    let (path, other) = (person.code("good"), person.code("evil"));
    let whole = fs::read(&path).unwrap();
    let is_anew = |what: &str| {
        assert_eq!(person.ask("good"), "good", "{what}");
        let found = fs::symlink_metadata(&path).unwrap();
        assert!(found.is_file(), "{what} was not replaced");
        assert_eq!(found.permissions().mode() & 0o077, 0, "{what}");
        assert!(fs::read(&path).unwrap() == whole, "{what}");
    };

    fs::remove_file(&path).unwrap();
    symlink(&other, &path).unwrap();
    is_anew("a link to another");
    assert_eq!(person.ask("evil"), "evil");

    let elsewhere = path.with_extension("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    fs::hard_link(&elsewhere, &path).unwrap();
    is_anew("a file with two names");
    fs::remove_file(&elsewhere).unwrap();

    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    is_anew("a file that all may write");

    fs::remove_file(&path).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    is_anew("a pipe");

    // A folder can't be replaced by a file, and need not be.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(person.ask("good"), "good");
}

#[test]
fn a_cache_that_is_open_to_others_or_has_no_key_is_not_used() {
    let person = Person::new();
    assert_eq!(person.ask("good"), "good");
    let path = person.code("good");
    let folder = path.parent().unwrap();
    let spoil = |path: &Path| fs::write(path, "spoilt").unwrap();

    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    spoil(&path);
    assert_eq!(person.ask("good"), "good");
    assert_eq!(fs::read(&path).unwrap(), b"spoilt", "nothing was put there");

    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    spoil(&folder.join("key"));
    assert_eq!(person.ask("good"), "good");
    assert_eq!(fs::read(&path).unwrap(), b"spoilt", "nothing was put there");
}
