//! The files of one session while it is open: in memory, with the older parts of long logs fetched when they are needed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use object_store::{PutMode, PutPayload};
use ralph_gate_memory::Digest;
use ralph_gate_memory::disk::{
    Action, Disk, DiskError, DiskResult, Durability, Folder, Place, READ_LIMIT, Refusal, Stamp,
};

use crate::bundle::{SEGMENT_LIMIT, SEGMENTS_LIMIT, Segment, Stored};
use crate::remote::{Refused, Remote};

/// What a log may have in the bundle before a part of it becomes a segment, in bytes.
const TAIL_LIMIT: usize = 256 << 10;
/// What stays in the bundle then: opening a session reads the end of its logs.
const TAIL_KEEP: usize = 64 << 10;
/// The files that only ever grow.
const LOGS: [&str; 2] = ["events.jsonl", "progress.txt"];

/// The files of one session in a bucket.
///
/// Nothing that is done here reaches the bucket by itself: [`BucketStore`](crate::BucketStore) writes all of it at once
/// with every save.
#[derive(Debug)]
pub struct Bucket {
    remote: Arc<Remote>,
    folder: String,
    files: RefCell<BTreeMap<Place, File>>,
    /// Segments that were fetched or written, by digest.
    segments: RefCell<BTreeMap<String, Arc<Vec<u8>>>>,
    changes: Cell<u64>,
}

#[derive(Debug, Clone, Default)]
struct File {
    stored: Stored,
    /// How much of the tail is in the bundle that is there.
    settled: usize,
    version: u64,
}

impl File {
    fn of(stored: Stored) -> Self {
        Self {
            settled: stored.tail.len(),
            stored,
            version: 0,
        }
    }

    /// How much is in segments.
    fn before(&self) -> u64 {
        self.stored.segments.iter().map(|segment| segment.len).sum()
    }

    fn stamp(&self) -> Stamp {
        Stamp {
            len: self.before() + self.stored.tail.len() as u64,
            version: [self.version, 0, 0, 0, 0],
        }
    }
}

impl Bucket {
    pub(crate) fn new(remote: Arc<Remote>, folder: String, files: BTreeMap<Place, Stored>) -> Self {
        let files = files
            .into_iter()
            .map(|(place, stored)| (place, File::of(stored)));
        Self {
            remote,
            folder,
            files: RefCell::new(files.collect()),
            segments: RefCell::default(),
            changes: Cell::new(0),
        }
    }

    pub(crate) fn remote(&self) -> &Remote {
        &self.remote
    }

    pub(crate) fn folder(&self) -> &str {
        &self.folder
    }

    /// The files as a bundle holds them.
    pub(crate) fn stored(&self) -> BTreeMap<Place, Stored> {
        let files = self.files.borrow();
        let stored = files
            .iter()
            .map(|(place, file)| (place.clone(), file.stored.clone()));
        stored.collect()
    }

    /// The files are in the bundle that is there.
    pub(crate) fn settle(&self) {
        for file in self.files.borrow_mut().values_mut() {
            file.settled = file.stored.tail.len();
        }
    }

    /// Makes segments of what has grown too long for the bundle. Only of what is in the bucket already: so two writers
    /// make the same ones, and the one that is beaten leaves nothing behind.
    pub(crate) fn make_segments(&self) -> DiskResult<()> {
        let places: Vec<Place> = self.files.borrow().keys().cloned().collect();
        for place in places.iter().filter(|place| only_grows(place)) {
            let Some(mut file) = self.files.borrow().get(place).cloned() else {
                continue;
            };
            let end = excess(&file.stored.tail, file.settled);
            let room = SEGMENTS_LIMIT.saturating_sub(file.stored.segments.len());
            let largest = usize::try_from(SEGMENT_LIMIT).unwrap_or(usize::MAX);
            let rest = file.stored.tail.split_off(end.min(room * largest));
            for piece in file.stored.tail.chunks(largest) {
                file.stored.segments.push(self.put_segment(piece)?);
            }
            file.settled -= file.stored.tail.len();
            file.stored.tail = rest;
            self.files.borrow_mut().insert(place.clone(), file);
        }
        Ok(())
    }

    fn put_segment(&self, bytes: &[u8]) -> DiskResult<Segment> {
        let segment = Segment {
            len: bytes.len() as u64,
            digest: Digest::of_content(bytes),
        };
        let object = self
            .remote
            .segment(&self.folder, &segment.digest.to_string());
        let payload = PutPayload::from(bytes.to_vec());
        match self.remote.put(&object, &payload, PutMode::Create) {
            Ok(_) => {
                let bytes = Arc::new(bytes.to_vec());
                let mut segments = self.segments.borrow_mut();
                segments.insert(segment.digest.to_string(), bytes);
            }
            // Another writer made it, or this one did in vain: see that it is right.
            Err(Refused::Condition) => drop(self.fetch(&segment)?),
            Err(refused) => {
                return Err(refused.of(Action::Write, &self.remote.name(&object)));
            }
        }
        Ok(segment)
    }

    /// A segment's bytes. One that is not what its name says is an error, and stays as it is.
    fn fetch(&self, segment: &Segment) -> DiskResult<Arc<Vec<u8>>> {
        let digest = segment.digest.to_string();
        if let Some(bytes) = self.segments.borrow().get(&digest) {
            return Ok(Arc::clone(bytes));
        }
        let object = self.remote.segment(&self.folder, &digest);
        let wrong = |reason: &str| {
            let error = io::Error::new(io::ErrorKind::InvalidData, reason);
            DiskError::io(Action::Read, self.remote.name(&object), error)
        };
        let found = self.remote.get(&object, SEGMENT_LIMIT)?;
        let (bytes, _) = found.ok_or_else(|| wrong("it is missing"))?;
        if bytes.len() as u64 != segment.len || Digest::of_content(&bytes) != segment.digest {
            return Err(wrong("its content is not what its name says"));
        }
        let bytes = Arc::new(bytes);
        let mut segments = self.segments.borrow_mut();
        segments.insert(digest, Arc::clone(&bytes));
        Ok(bytes)
    }

    /// A file's bytes from an offset on.
    fn content(&self, file: &File, from: u64) -> DiskResult<Vec<u8>> {
        let mut content = Vec::new();
        let mut start = 0;
        for segment in &file.stored.segments {
            let end = start + segment.len;
            if from < end {
                let bytes = self.fetch(segment)?;
                let skip = usize::try_from(from.saturating_sub(start)).unwrap_or(usize::MAX);
                content.extend_from_slice(bytes.get(skip..).unwrap_or_default());
            }
            start = end;
        }
        let skip = usize::try_from(from.saturating_sub(start)).unwrap_or(usize::MAX);
        content.extend_from_slice(file.stored.tail.get(skip..).unwrap_or_default());
        Ok(content)
    }

    fn find(&self, place: &Place) -> Option<File> {
        self.files.borrow().get(place).cloned()
    }

    fn put(&self, place: &Place, mut file: File) -> Stamp {
        self.changes.set(self.changes.get() + 1);
        file.version = self.changes.get();
        let stamp = file.stamp();
        self.files.borrow_mut().insert(place.clone(), file);
        stamp
    }
}

fn missing(action: Action, place: &Place) -> DiskError {
    DiskError::io(action, place, io::ErrorKind::NotFound)
}

fn only_grows(place: &Place) -> bool {
    match place.folder() {
        Folder::Session => LOGS.contains(&place.name()),
        Folder::Checkpoints => false,
        Folder::Quarantine => true,
    }
}

/// How much of a tail becomes segments: whole lines, where there are any.
fn excess(tail: &[u8], settled: usize) -> usize {
    if settled <= TAIL_LIMIT {
        return 0;
    }
    let most = settled - TAIL_KEEP;
    let lines = tail.get(..most).unwrap_or_default();
    let end = lines.iter().rposition(|byte| *byte == b'\n');
    end.map_or(most, |end| end + 1)
}

impl Disk for Bucket {
    fn name(&self) -> String {
        self.remote.name(&self.remote.session(&self.folder))
    }

    fn guard(&self) -> DiskResult<()> {
        Ok(())
    }

    fn list(&self, folder: Folder) -> DiskResult<Option<Vec<String>>> {
        let files = self.files.borrow();
        let places = files.keys().filter(|place| place.folder() == folder);
        Ok(Some(places.map(|place| place.name().to_owned()).collect()))
    }

    fn stamp(&self, place: &Place) -> DiskResult<Option<Stamp>> {
        Ok(self.files.borrow().get(place).map(File::stamp))
    }

    fn read(&self, place: &Place, from: u64) -> DiskResult<Option<(Vec<u8>, Stamp)>> {
        let Some(file) = self.find(place) else {
            return Ok(None);
        };
        let stamp = file.stamp();
        if stamp.len.saturating_sub(from) > READ_LIMIT {
            return Err(DiskError::refused(place, Refusal::TooLarge));
        }
        Ok(Some((self.content(&file, from)?, stamp)))
    }

    fn create(&self, place: &Place, bytes: &[u8], _durability: Durability) -> DiskResult<Stamp> {
        if self.files.borrow().contains_key(place) {
            let exists = io::ErrorKind::AlreadyExists;
            return Err(DiskError::io(Action::Write, place, exists));
        }
        let mut file = File::default();
        file.stored.tail = bytes.to_vec();
        Ok(self.put(place, file))
    }

    fn append(&self, place: &Place, bytes: &[u8]) -> DiskResult<Stamp> {
        let mut file = self.files.borrow_mut().remove(place).unwrap_or_default();
        file.stored.tail.extend_from_slice(bytes);
        Ok(self.put(place, file))
    }

    fn cut(&self, place: &Place, len: u64) -> DiskResult<()> {
        let Some(mut file) = self.find(place) else {
            return Err(missing(Action::Write, place));
        };
        let mut before = file.before();
        // The segment that the end falls into becomes part of the tail again.
        while len < before
            && let Some(segment) = file.stored.segments.pop()
        {
            before -= segment.len;
            file.stored.tail = self.fetch(&segment)?.to_vec();
            file.settled = 0;
        }
        let keep = usize::try_from(len - before).unwrap_or(usize::MAX);
        file.stored.tail.truncate(keep);
        file.settled = file.settled.min(file.stored.tail.len());
        self.put(place, file);
        Ok(())
    }

    fn sync(&self, place: &Place) -> DiskResult<()> {
        let stamp = self.stamp(place)?;
        stamp.map(drop).ok_or_else(|| missing(Action::Sync, place))
    }

    fn rename(&self, from: &Place, to: &Place) -> DiskResult<()> {
        let file = self.files.borrow_mut().remove(from);
        let file = file.ok_or_else(|| missing(Action::Rename, from))?;
        self.files.borrow_mut().insert(to.clone(), file);
        Ok(())
    }

    fn exchange(&self, one: &Place, other: &Place) -> DiskResult<bool> {
        let (Some(first), Some(second)) = (self.find(one), self.find(other)) else {
            return Ok(false);
        };
        let mut files = self.files.borrow_mut();
        files.insert(one.clone(), second);
        files.insert(other.clone(), first);
        Ok(true)
    }

    fn remove(&self, place: &Place) -> DiskResult<()> {
        self.files.borrow_mut().remove(place);
        Ok(())
    }

    fn make_folder(&self, _folder: Folder) -> DiskResult<()> {
        Ok(())
    }

    fn sync_folder(&self, _folder: Folder) -> DiskResult<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use object_store::memory::InMemory;
    use object_store::path::Path;
    use ralph_gate_memory::disk::Ram;

    use super::*;
    use crate::remote::Threads;

    fn remote() -> Arc<Remote> {
        let (store, deadline) = (Arc::new(InMemory::new()), Duration::from_secs(30));
        let threads = Threads::new(None).unwrap();
        let remote = Remote::new(store, Path::default(), "memory".into(), deadline, threads);
        Arc::new(remote)
    }

    /// What a new process finds of what this one wrote.
    fn reopened(bucket: &Bucket) -> Bucket {
        bucket.make_segments().unwrap();
        Bucket::new(Arc::clone(&bucket.remote), "s".into(), bucket.stored())
    }

    fn places() -> Vec<Place> {
        let mut places = vec![Place::member("prd.json"), Place::member("prd.json.new")];
        places.extend(LOGS.map(Place::member));
        places.push(Place::new(Folder::Quarantine, "events.jsonl"));
        places
    }

    /// Numbers that are the same in each run.
    struct Chance(u64);

    impl Chance {
        fn below(&mut self, limit: usize) -> usize {
            let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = next.wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).unwrap() % limit
        }
    }

    /// Does the same to a disk as to any other, and says what came of it.
    fn step(disk: &dyn Disk, chance: &mut Chance) -> String {
        let places = places();
        let one = &places[chance.below(places.len())];
        let other = &places[chance.below(places.len())];
        let line = format!("{}\n", "x".repeat(chance.below(200_000)));
        let len = disk.stamp(one).unwrap().map_or(0, |stamp| stamp.len);
        let at = chance.below(1 + usize::try_from(len).unwrap()) as u64;
        let kind = |error: DiskError| error.kind();
        let done = match chance.below(10) {
            0 => format!("{:?}", disk.remove(one).map_err(kind)),
            1 => format!("{:?}", disk.cut(one, at).map_err(kind)),
            2 => format!("{:?}", disk.rename(one, other).map_err(kind)),
            3 => format!("{:?}", disk.exchange(one, other).map_err(kind)),
            4 => {
                let made = disk.create(one, line.as_bytes(), Durability::Synced);
                format!("{:?}", made.map(|stamp| stamp.len).map_err(kind))
            }
            5 => format!("{:?}", disk.sync(one).map_err(kind)),
            _ => {
                let added = disk.append(one, line.as_bytes());
                format!("{:?}", added.map(|stamp| stamp.len).map_err(kind))
            }
        };
        let read = disk.read(one, at).unwrap();
        let read = read.map(|(bytes, stamp)| (Digest::of_content(&bytes), stamp.len));
        let names = disk.list(Folder::Session).unwrap();
        format!("{done} {read:?} {names:?}")
    }

    #[test]
    fn it_is_a_disk_like_the_one_in_memory_wherever_its_bytes_are() {
        let mut segments = 0;
        for seed in 0..40 {
            let ram = Ram::default();
            let mut bucket = Bucket::new(remote(), "s".into(), BTreeMap::new());
            let (mut here, mut there) = (Chance(seed), Chance(seed));
            for number in 0..80 {
                let found = step(&bucket, &mut here);
                assert_eq!(found, step(&ram, &mut there), "{seed} {number}");
                if number % 3 == 0 {
                    bucket = reopened(&bucket);
                }
            }
            let files = bucket.stored();
            segments += files.values().map(|it| it.segments.len()).sum::<usize>();
            for place in places() {
                let bytes = |disk: &dyn Disk| disk.read(&place, 0).unwrap().map(|it| it.0);
                assert!(bytes(&bucket) == bytes(&ram), "{seed} {place}");
            }
        }
        assert!(segments > 40, "{segments}");
    }

    #[test]
    fn a_changed_file_has_another_stamp() {
        let bucket = Bucket::new(remote(), "s".into(), BTreeMap::new());
        let place = Place::member("prd.json");
        let first = bucket.create(&place, b"a", Durability::Synced).unwrap();
        let second = bucket.append(&place, b"").unwrap();
        assert_eq!(first.len, second.len);
        assert_ne!(first, second);
        assert_eq!(bucket.stamp(&place).unwrap(), Some(second));
    }
}
