//! The loop's memory as other languages have it: the component, in wasmtime, on a real folder.

#![expect(
    clippy::missing_panics_doc,
    reason = "all of it panics where the component traps, which no test may survive"
)]

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use ralph_gate::memory::disk::{self, Disk as _, SessionFolder};
use ralph_gate::memory::{MemoryError, Patience, SessionKey};
use serde_json::Value;
use wasmtime::component::{Component, HasSelf, Linker, ResourceAny};
use wasmtime::{Config, Engine, Store};

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    reason = "generated from the WIT"
)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "loop-memory",
        imports: { default: trappable },
    });
}

use bindings::LoopMemory;
pub use bindings::exports::ralph::gate::memory::MemoryError as Refused;
use bindings::ralph::gate::disk as wit;

/// Compiled once: that takes longer than all the tests.
static CODE: LazyLock<(Engine, Component)> = LazyLock::new(|| {
    let engine = Engine::new(&Config::new()).expect("wasmtime has an engine");
    let component =
        Component::new(&engine, ralph_gate_components::MEMORY).expect("the component compiles");
    (engine, component)
});

/// An instance of the component on a session's folder, which it keeps locked.
pub struct MemoryInstance {
    store: Store<Folder>,
    memory: LoopMemory,
}

/// What the component has of the world.
struct Folder(SessionFolder);

/// An answer as JSON, or why there is none.
pub type Answer = Result<Value, Refused>;

impl MemoryInstance {
    /// Opens and locks a session's folder, and makes an instance on it.
    pub fn new(root: &Path, key: &SessionKey) -> Result<Self, MemoryError> {
        // A lock that was given up can live on for a moment in a process that another test is about to start.
        let patience = Patience::Until(Duration::from_secs(10));
        let folder = Folder(SessionFolder::locked(root, key, patience)?);
        Ok(Self::on(folder).expect("the component's only import is there"))
    }

    fn on(folder: Folder) -> wasmtime::Result<Self> {
        let (engine, component) = &*CODE;
        let mut linker = Linker::new(engine);
        wit::add_to_linker::<_, HasSelf<Folder>>(&mut linker, |folder| folder)?;
        let mut store = Store::new(engine, folder);
        let memory = LoopMemory::instantiate(&mut store, component, &linker)?;
        Ok(Self { store, memory })
    }

    /// Begins a loop.
    pub fn begin(mut self, key: &SessionKey, beginning: &Value) -> Result<OpenMemory, Refused> {
        let stores = self.memory.ralph_gate_memory();
        let begun = stores
            .store()
            .call_begin(&mut self.store, &text(key), &beginning.to_string())
            .expect("no trap")?;
        Ok(OpenMemory {
            instance: self,
            open: begun,
        })
    }

    /// Opens a session.
    pub fn open(mut self, key: &SessionKey) -> Result<OpenMemory, Refused> {
        let stores = self.memory.ralph_gate_memory();
        let open = stores
            .store()
            .call_open(&mut self.store, &text(key))
            .expect("no trap")?;
        Ok(OpenMemory {
            instance: self,
            open,
        })
    }

    /// Compares every file with what was saved.
    pub fn verify(&mut self, key: &SessionKey) -> Answer {
        let memory = self.memory.ralph_gate_memory();
        let said = memory.call_verify(&mut self.store, &text(key));
        said.expect("no trap").map(|said| value(&said))
    }

    /// What a session holds.
    pub fn read(&mut self, key: &SessionKey) -> Answer {
        let memory = self.memory.ralph_gate_memory();
        let said = memory.call_read(&mut self.store, &text(key));
        said.expect("no trap").map(|said| value(&said))
    }

    /// The name of a session's folder.
    pub fn folder_name(&mut self, key: &Value) -> Result<String, Refused> {
        let memory = self.memory.ralph_gate_memory();
        let said = memory.call_folder_name(&mut self.store, &key.to_string());
        said.expect("no trap")
    }

    /// What a lock file says of its holder.
    pub fn holder_text(&mut self, process: u32, program: &str, since: u32) -> String {
        let memory = self.memory.ralph_gate_memory();
        let said = memory.call_holder_text(&mut self.store, process, program, since);
        said.expect("no trap")
    }

    /// The error for a session that somebody else writes.
    pub fn busy(&mut self, session: &str, lock_file: &str, now: u32) -> Refused {
        let memory = self.memory.ralph_gate_memory();
        let said = memory.call_busy(&mut self.store, session, lock_file, now);
        said.expect("no trap")
    }
}

/// A session that is open for writing.
pub struct OpenMemory {
    instance: MemoryInstance,
    open: ResourceAny,
}

/// Declares methods that are given nothing or a JSON text, and answer with one.
macro_rules! methods {
    ($($(#[$meta:meta])* $name:ident => $call:ident $(($input:ident))?;)+) => {
        $($(#[$meta])*
        pub fn $name(&mut self $(, $input: &Value)?) -> Answer {
            let MemoryInstance { store, memory } = &mut self.instance;
            let store_methods = memory.ralph_gate_memory().store();
            let said = store_methods.$call(&mut *store, self.open $(, &$input.to_string())?);
            said.expect("no trap").map(|said| value(&said))
        })+
    };
}

impl OpenMemory {
    methods! {
        /// Remembers an iteration that the gate has judged.
        remember => call_remember(evaluated);
        /// Goes on with a loop that has stopped.
        resume => call_resume(resumed);
        /// Remembers anything else.
        save => call_save(change);
        /// What others did to the files.
        look => call_look;
        /// The checklist.
        prd => call_prd;
        /// The progress log.
        progress => call_progress;
        /// What happened.
        events => call_events;
    }

    /// What the session holds.
    pub fn state(&mut self) -> Value {
        let MemoryInstance { store, memory } = &mut self.instance;
        let said = memory.ralph_gate_memory().store();
        value(&said.call_state(&mut *store, self.open).expect("no trap"))
    }

    /// What was found when it was opened.
    pub fn findings(&mut self) -> Value {
        let MemoryInstance { store, memory } = &mut self.instance;
        let said = memory.ralph_gate_memory().store();
        value(&said.call_findings(&mut *store, self.open).expect("no trap"))
    }
}

fn text(key: &SessionKey) -> String {
    serde_json::to_string(key).expect("a key has a JSON form")
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("the memory answers with JSON")
}

/// A result of the interface: it never traps.
type Done<T> = wasmtime::Result<Result<T, wit::DiskError>>;

impl wit::Host for Folder {
    fn name(&mut self) -> wasmtime::Result<String> {
        Ok(self.0.name())
    }

    fn guard(&mut self) -> Done<()> {
        done(self.0.guard())
    }

    fn names(&mut self, folder: wit::Folder) -> Done<Option<Vec<String>>> {
        done(self.0.list(lift(folder)))
    }

    fn stat(&mut self, place: wit::Place) -> Done<Option<wit::Stamp>> {
        done(self.0.stamp(&at(&place)).map(|found| found.map(stamp)))
    }

    fn read(&mut self, place: wit::Place, offset: u64) -> Done<Option<wit::Content>> {
        let found = self.0.read(&at(&place), offset);
        done(found.map(|found| {
            found.map(|(bytes, seen)| wit::Content {
                bytes: String::from_utf8(bytes).map_or_else(
                    |error| wit::Bytes::Raw(error.into_bytes()),
                    wit::Bytes::Text,
                ),
                stamp: stamp(seen),
            })
        }))
    }

    fn create(&mut self, place: wit::Place, content: wit::Bytes, synced: bool) -> Done<wit::Stamp> {
        let durability = if synced {
            disk::Durability::Synced
        } else {
            disk::Durability::Eventual
        };
        let made = self.0.create(&at(&place), &bytes(content), durability);
        done(made.map(stamp))
    }

    fn append(&mut self, place: wit::Place, content: wit::Bytes) -> Done<wit::Stamp> {
        done(self.0.append(&at(&place), &bytes(content)).map(stamp))
    }

    fn cut(&mut self, place: wit::Place, length: u64) -> Done<()> {
        done(self.0.cut(&at(&place), length))
    }

    fn sync(&mut self, place: wit::Place) -> Done<()> {
        done(self.0.sync(&at(&place)))
    }

    fn rename(&mut self, old: wit::Place, new: wit::Place) -> Done<()> {
        done(self.0.rename(&at(&old), &at(&new)))
    }

    fn exchange(&mut self, one: wit::Place, other: wit::Place) -> Done<bool> {
        done(self.0.exchange(&at(&one), &at(&other)))
    }

    fn remove(&mut self, place: wit::Place) -> Done<()> {
        done(self.0.remove(&at(&place)))
    }

    fn make_folder(&mut self, folder: wit::Folder) -> Done<()> {
        done(self.0.make_folder(lift(folder)))
    }

    fn sync_folder(&mut self, folder: wit::Folder) -> Done<()> {
        done(self.0.sync_folder(lift(folder)))
    }
}

#[allow(
    clippy::unnecessary_wraps,
    reason = "the shape of a function that may trap"
)]
fn done<T>(result: disk::DiskResult<T>) -> Done<T> {
    Ok(result.map_err(refused))
}

fn lift(folder: wit::Folder) -> disk::Folder {
    match folder {
        wit::Folder::Session => disk::Folder::Session,
        wit::Folder::Checkpoints => disk::Folder::Checkpoints,
        wit::Folder::Quarantine => disk::Folder::Quarantine,
    }
}

fn at(place: &wit::Place) -> disk::Place {
    disk::Place::new(lift(place.folder), &place.name)
}

fn bytes(bytes: wit::Bytes) -> Vec<u8> {
    match bytes {
        wit::Bytes::Text(text) => text.into_bytes(),
        wit::Bytes::Raw(bytes) => bytes,
    }
}

fn stamp(stamp: disk::Stamp) -> wit::Stamp {
    wit::Stamp {
        length: stamp.len,
        version: format!("{:?}", stamp.version),
    }
}

fn refused(error: disk::DiskError) -> wit::DiskError {
    use std::io::ErrorKind;
    use wit::DiskErrorKind as Kind;
    match error {
        disk::DiskError::Refused { place, what } => wit::DiskError {
            action: wit::Action::Read,
            place,
            kind: match what {
                disk::Refusal::SymbolicLink => Kind::SymbolicLink,
                disk::Refusal::HardLink => Kind::HardLink,
                disk::Refusal::Folder => Kind::IsFolder,
                disk::Refusal::NotAFolder => Kind::NotAFolder,
                disk::Refusal::Special => Kind::Special,
                disk::Refusal::Swapped => Kind::Swapped,
                disk::Refusal::TooLarge => Kind::TooLarge,
            },
            message: what.to_string(),
        },
        disk::DiskError::Io {
            action,
            place,
            error,
        } => wit::DiskError {
            action: match action {
                disk::Action::Read => wit::Action::Read,
                disk::Action::Write => wit::Action::Write,
                disk::Action::Sync => wit::Action::Sync,
                disk::Action::Rename => wit::Action::Rename,
                disk::Action::Remove => wit::Action::Remove,
                disk::Action::Lock => wit::Action::Lock,
            },
            place,
            kind: match error.kind() {
                ErrorKind::NotFound => Kind::NotFound,
                ErrorKind::AlreadyExists => Kind::AlreadyExists,
                ErrorKind::PermissionDenied => Kind::PermissionDenied,
                ErrorKind::ReadOnlyFilesystem => Kind::ReadOnly,
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Kind::Full,
                _ => Kind::Other,
            },
            message: error.to_string(),
        },
    }
}
