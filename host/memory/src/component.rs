//! The component: exports the memory through WIT. Marshalling only.

mod answer;
mod disk;
mod formats;
mod input;

use std::cell::RefCell;

use crate::course::{Evaluated, LoopRecord, Reopened, ResumeRecord, reopen};
use crate::disk::Disk as _;
use crate::error::MemoryError;
use crate::{Event, Finding, Holder, SessionKey, Store, View};
use answer::{Answer, Refused, json};
use disk::Imported;
use formats::Linked;
use input::{Beginning, Judged, Resumed, Wanted, key, parse};

#[allow(
    unsafe_code,
    unused_qualifications,
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated from the WIT"
)]
mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "loop-memory",
        pub_export_macro: false,
    });
    use super::Component;
    export!(Component);
}

use bindings::exports::ralph::gate::memory as wit;

/// The gate's formats: the same for every session.
static GATE: Linked = Linked;

struct Component;

impl wit::Guest for Component {
    type Store = OpenStore;

    fn folder_name(key_text: String) -> Answer<String> {
        Ok(key(&key_text)?.checked_folder()?)
    }

    fn holder_text(process: u32, program: String, since: u32) -> String {
        let holder = Holder {
            process: Some(process),
            program: Some(program),
            since: Some(since.into()),
            seen: None,
        };
        holder.text()
    }

    fn busy(session: String, lock_file: String, now: u32) -> wit::MemoryError {
        let holder = Holder::read(&lock_file, Some(now.into()));
        Refused::from(MemoryError::Busy { session, holder }).into()
    }

    fn verify(key_text: String) -> Answer<String> {
        json(&view(&key_text)?.verify(&GATE)?)
    }

    fn read(key_text: String) -> Answer<String> {
        let view = view(&key_text)?;
        answer::reading(view.read(&GATE)?, &view.events()?)
    }
}

fn view(key_text: &str) -> Result<View<Imported>, Refused> {
    Ok(View::new(Imported, Some(key(key_text)?)))
}

/// A session that is open for writing.
struct OpenStore(RefCell<Store<'static, Imported>>);

impl OpenStore {
    fn handle(store: Store<'static, Imported>) -> wit::Store {
        wit::Store::new(Self(RefCell::new(store)))
    }
}

impl wit::GuestStore for OpenStore {
    fn begin(key_text: String, beginning: String) -> Answer<wit::Store> {
        let key = usable(&key_text)?;
        let beginning: Beginning = parse("the beginning", &beginning)?;
        let start = beginning
            .record(&key)?
            .start(beginning.prd.clone())?
            .recorded(beginning.record);
        if let Ok(store) = Store::recover(Imported, &GATE, &key)? {
            return Err(Refused::from(MemoryError::SessionExists {
                session: store.disk().name(),
            })
            .into());
        }
        let store = Store::begin(Imported, &GATE, &key, &start)?;
        Ok(Self::handle(store))
    }

    fn open(key_text: String) -> Answer<wit::Store> {
        let key = usable(&key_text)?;
        match Store::recover(Imported, &GATE, &key)? {
            Ok(store) => Ok(Self::handle(store)),
            Err(disk) => Err(Refused::from(MemoryError::NoSession {
                session: disk.name(),
            })
            .into()),
        }
    }

    fn state(&self) -> String {
        json(&self.0.borrow().state()).unwrap_or_default()
    }

    fn findings(&self) -> String {
        json(&self.0.borrow().findings()).unwrap_or_default()
    }

    fn remember(&self, evaluated: String) -> Answer<String> {
        let judged: Judged = parse("the iteration and its verdict", &evaluated)?;
        let mut store = self.0.borrow_mut();
        let evaluated = Evaluated {
            at_ms: judged.at_ms,
            iteration: &judged.iteration,
            verdict: &judged.verdict,
            events: input::events(&judged.events)?,
            prd: judged.prd,
            runs: judged.runs,
            arguments: Vec::new(),
        };
        let change = evaluated.change(store.key())?;
        json(&store.save(&change)?)
    }

    fn resume(&self, resumed: String) -> Answer<String> {
        let resumed: Resumed = parse("the resumption", &resumed)?;
        let mut store = self.0.borrow_mut();
        let state = store.state();
        let record = resumed.record(&state)?;
        let snapshot = match reopen(&GATE, &state, &record.contract, &resumed.resumption)? {
            Reopened::New => None,
            Reopened::At(snapshot) => Some(snapshot),
            Reopened::Completed { iteration } => return Err(Refused::completed(iteration).into()),
        };
        let change = record.change(&state, snapshot, resumed.under(store.under()))?;
        json(&store.save(&change)?)
    }

    fn save(&self, change: String) -> Answer<String> {
        let wanted: Wanted = parse("the change", &change)?;
        let change = wanted.change()?;
        json(&self.0.borrow_mut().save(&change)?)
    }

    fn look(&self) -> Answer<String> {
        json::<Vec<Finding>>(&self.0.borrow_mut().look()?)
    }

    fn prd(&self) -> Answer<String> {
        json(&self.0.borrow().prd()?)
    }

    fn progress(&self) -> Answer<String> {
        json(&self.0.borrow().progress()?)
    }

    fn recent_progress(&self, most: u32) -> Answer<String> {
        Ok(self.0.borrow().recent_progress(most.into())?)
    }

    fn events(&self) -> Answer<String> {
        json(&self.0.borrow().events()?)
    }
}

/// A key that names something.
fn usable(text: &str) -> Result<SessionKey, Refused> {
    let key = key(text)?;
    key.checked_folder()?;
    Ok(key)
}
