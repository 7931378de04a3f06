//! One writer per session. The lock is the system's own, so a process that died holds none.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::disk::{Action, DiskError, Missing, Refusal, SessionFolder};
use super::{Holder, MemoryError, SessionKey};

/// More than a holder ever writes.
const HOLDER_LIMIT: u64 = 4096;
/// How often the lock file may be replaced by others while we lock it.
const ATTEMPTS: usize = 100;
/// How long to wait between two tries, where there is a limit to waiting.
const PAUSE: Duration = Duration::from_millis(5);

/// What to do while somebody else writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Give up at once, with an error that names the holder.
    None,
    /// Wait until the other one has finished, but no longer than this.
    Until(Duration),
    /// Wait until the other one has finished, however long.
    Wait,
}

fn this_process() -> Holder {
    let program = std::env::args_os().next();
    let program = program.as_deref().map(Path::new).and_then(Path::file_name);
    Holder {
        process: Some(std::process::id()),
        program: program.map(|name| name.to_string_lossy().into_owned()),
        since: now(),
        seen: None,
    }
}

fn now() -> Option<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(now.as_secs())
}

/// Locks a session's folder, until the folder is closed or the process ends.
pub(super) fn take(folder: &mut SessionFolder, patience: Patience) -> Result<(), MemoryError> {
    for _ in 0..ATTEMPTS {
        let (mut file, identity) = folder.open_lock()?;
        lock(&mut file, folder, patience)?;
        // Somebody may have removed the file before it was locked: then this lock excludes nobody.
        if folder.lock_identity()? == Some(identity) {
            write_holder(&mut file);
            folder.hold(file, identity);
            return Ok(());
        }
    }
    Err(DiskError::refused(folder.path().join("lock").display(), Refusal::Swapped).into())
}

fn lock(file: &mut File, folder: &SessionFolder, patience: Patience) -> Result<(), MemoryError> {
    let failed = |error| {
        let path = folder.path().join("lock");
        MemoryError::from(DiskError::io(Action::Lock, path.display(), error))
    };
    let until = match patience {
        Patience::Wait => return file.lock().map_err(failed),
        Patience::None => Instant::now(),
        Patience::Until(limit) => Instant::now() + limit,
    };
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            // The system has no lock that gives up by itself.
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(MemoryError::Busy {
                    session: folder.path().display().to_string(),
                    holder: read_holder(file),
                });
            }
        }
    }
}

/// Who writes to a session now. None if nobody does, or if there is no such session.
pub fn holder(root: &Path, key: &SessionKey) -> Result<Option<Holder>, MemoryError> {
    let Some(folder) = SessionFolder::open(root, &key.folder(), Missing::Report)? else {
        return Ok(None);
    };
    let Some(mut file) = folder.read_lock()? else {
        return Ok(None);
    };
    // A shared lock that is given back at once: it never keeps a writer out for longer than that.
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(_) => Ok(Some(read_holder(&mut file))),
    }
}

fn read_holder(file: &mut File) -> Holder {
    let mut text = String::new();
    let read = file.take(HOLDER_LIMIT).read_to_string(&mut text);
    Holder::read(if read.is_ok() { &text } else { "" }, now())
}

/// For the message that another writer gets. A full disk is no reason not to lock.
fn write_holder(file: &mut File) {
    let _ = file
        .set_len(0)
        .and_then(|()| file.seek(SeekFrom::Start(0)))
        .and_then(|_| file.write_all(this_process().text().as_bytes()));
}
