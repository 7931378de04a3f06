//! A session in a bucket, open for writing: the memory's own store on files in memory, and one conditional write a save.

use ralph_gate_memory::disk::Disk;
use ralph_gate_memory::{
    Change, Finding, LoopMemoryStore, MemoryError, Record, Retention, Saved, SessionKey, State,
    Store, Under,
};
use ralph_gate_types::{Prd, ProgressLog};

use crate::disk::Bucket;
use crate::publish::{Basis, publish};

/// A bundle is whole or not there, so that old checkpoints only make it larger.
const RETENTION: Retention = Retention { keep: 1, gather: 0 };

/// A session in a bucket, as it was when it was opened, and what this store has saved since.
///
/// There is no lock. Whoever saves first wins; who comes too late gets [`MemoryError::Conflict`], of whose save nothing is
/// there. After that, and after any other error of a save, this store only says what was saved: open the session again.
#[derive(Debug)]
pub struct BucketStore<'g> {
    store: Store<'g, Bucket>,
    basis: Basis,
    /// What is in the bucket for certain.
    saved: State,
    soundness: Soundness,
}

/// Whether the files in memory are those in the bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Soundness {
    Sound,
    /// A save failed after they were changed.
    Unsound,
}

impl<'g> BucketStore<'g> {
    /// A session whose files in memory are those of the bundle that was read.
    pub(crate) fn opened(mut store: Store<'g, Bucket>, basis: Basis) -> Self {
        store.retain(RETENTION);
        Self {
            saved: store.state(),
            store,
            basis,
            soundness: Soundness::Sound,
        }
    }

    /// Writes what is in memory.
    pub(crate) fn publish(&mut self) -> Result<(), MemoryError> {
        let state = self.store.state();
        let basis = publish(
            self.store.disk(),
            self.store.key(),
            state.revision,
            &self.basis,
        );
        match basis {
            Ok(basis) => {
                self.basis = basis;
                self.saved = state;
                Ok(())
            }
            Err(error) => {
                self.soundness = Soundness::Unsound;
                Err(error)
            }
        }
    }

    /// Where the session is, for messages.
    pub fn name(&self) -> String {
        self.store.disk().name()
    }

    /// Whose session it is.
    pub fn key(&self) -> &SessionKey {
        self.store.key()
    }

    /// What the session holds, as far as it is in the bucket. Its revision names the state: two stores that saw the same
    /// one saw the same session.
    pub fn state(&self) -> State {
        self.saved.clone()
    }

    /// What was found when the session was opened.
    pub fn findings(&self) -> &[Finding] {
        self.store.findings()
    }

    /// Saves a change, unless somebody else has saved since the session was opened. When this returns, it is in the
    /// bucket.
    pub fn save(&mut self, change: &Change) -> Result<Saved, MemoryError> {
        self.sound()?;
        // In memory, where nothing is acknowledged yet. What the memory refuses (an iteration that goes back, a checklist
        // that is none) changes nothing.
        let saved = self.store.save(change)?;
        self.publish()?;
        Ok(saved)
    }

    /// The checklist. None if there is none.
    pub fn prd(&self) -> Result<Option<Prd>, MemoryError> {
        self.sound()?;
        self.store.prd()
    }

    /// The progress log.
    pub fn progress(&self) -> Result<ProgressLog, MemoryError> {
        self.sound()?;
        self.store.progress()
    }

    /// The end of the progress log, from the beginning of a line.
    pub fn recent_progress(&self, most: u64) -> Result<String, MemoryError> {
        self.sound()?;
        self.store.recent_progress(most)
    }

    /// What happened, oldest first. Fails if somebody else changed any of it.
    pub fn events(&self) -> Result<Vec<Record>, MemoryError> {
        self.sound()?;
        self.store.events()
    }

    /// What happened, as far as going on needs it: how the loop began and was gone on with is there in full, also where
    /// the log holds digests only.
    pub fn recall(&self) -> Result<Vec<Record>, MemoryError> {
        self.sound()?;
        self.store.recall()
    }

    /// What the loop runs under.
    pub fn under(&self) -> Result<Option<&Under>, MemoryError> {
        self.sound()?;
        Ok(self.store.under())
    }

    fn sound(&self) -> Result<(), MemoryError> {
        match self.soundness {
            Soundness::Sound => Ok(()),
            Soundness::Unsound => Err(MemoryError::Unsound),
        }
    }
}

impl LoopMemoryStore for BucketStore<'_> {
    fn state(&self) -> State {
        self.state()
    }

    fn findings(&self) -> &[Finding] {
        self.findings()
    }

    fn save(&mut self, change: &Change) -> Result<Saved, MemoryError> {
        self.save(change)
    }

    fn prd(&self) -> Result<Option<Prd>, MemoryError> {
        self.prd()
    }

    fn progress(&self) -> Result<ProgressLog, MemoryError> {
        self.progress()
    }
}
