//! Compiled policies on disk: private, and verified before they are used.
//!
//! A file of machine code that somebody else wrote would be that somebody's code in this process. So each file begins
//! with a keyed digest of what it is the code of and of the code; the key is in a file that only this user can read. A
//! file that does not fit is compiled again and overwritten. The folder must be this user's own, and closed to others.
//!
//! Who runs as the same user can read the key. Such a one could as well exchange the program; see SECURITY.md.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::OFlags;

use super::code::OwnCode;
use crate::memory::foreign;

/// What a file begins with. The number changes with the form of the file.
const MAGIC: &[u8; 16] = b"ralph-gate code1";
/// Bytes of a digest and of the key.
const DIGEST: usize = 32;
/// The name of the key.
const KEY: &str = "key";
/// How a file of code ends.
const SUFFIX: &str = ".code";
/// Beyond these the oldest files go.
const MOST_FILES: usize = 128;
const MOST_BYTES: u64 = 1 << 30;

/// A folder with compiled policies.
#[derive(Debug)]
pub struct CodeCache {
    folder: PathBuf,
    key: [u8; DIGEST],
}

/// What a file holds the code of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Label<'l> {
    /// The component's digest.
    pub(super) component: &'l blake3::Hash,
    /// How the engine is set up.
    pub(super) settings: &'l blake3::Hash,
}

impl Label<'_> {
    fn name(&self) -> String {
        let settings = self.settings.to_hex();
        let settings = settings.get(..16).unwrap_or(&settings);
        format!("{}-{settings}{SUFFIX}", self.component.to_hex())
    }
}

impl CodeCache {
    /// Where it is unless somebody says otherwise: in the user's folder for caches, which is no part of any project.
    pub fn usual_place(environment: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let folder = |name: &str| {
            let path = environment(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let caches = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
        Some(caches?.join("ralph-gate").join("policies"))
    }

    /// Opens a cache, and makes it where there is none. It fails if others could write there.
    pub fn open(folder: &Path) -> io::Result<Self> {
        foreign::make_private(folder)?;
        let found = fs::symlink_metadata(folder)?;
        if !found.is_dir() || !is_private(&found) {
            let message = format!("{} is open to other users", folder.display());
            return Err(io::Error::new(ErrorKind::PermissionDenied, message));
        }
        let path = folder.join(KEY);
        let key = match read(&path, DIGEST)? {
            Some(key) => key,
            None => {
                // Where two begin at the same time, one of them wins.
                match foreign::create_private(&path, &random()?) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                    _ => read(&path, DIGEST)?.ok_or(ErrorKind::NotFound)?,
                }
            }
        };
        Ok(Self {
            folder: folder.to_owned(),
            key: key.try_into().map_err(|_| {
                let message = format!("{} is no key; remove it", path.display());
                io::Error::new(ErrorKind::InvalidData, message)
            })?,
        })
    }

    /// The code that this host had put there.
    pub(super) fn find(&self, label: Label<'_>, most: usize) -> Option<OwnCode> {
        let path = self.folder.join(label.name());
        let most = most.saturating_add(MAGIC.len() + DIGEST);
        let mut bytes = read(&path, most).ok()??;
        let rest = bytes.strip_prefix(MAGIC)?;
        let (digest, code) = rest.split_at_checked(DIGEST)?;
        let digest: [u8; DIGEST] = digest.try_into().ok()?;
        // `Hash` compares in constant time.
        if self.digest(label, code) != blake3::Hash::from_bytes(digest) {
            return None;
        }
        // These very bytes, which may be many.
        bytes.drain(..MAGIC.len() + DIGEST);
        Some(OwnCode::verified(bytes))
    }

    /// Whether there is a file of code. Only [`find`](Self::find) tells what it is worth.
    pub(super) fn has(&self, label: Label<'_>) -> bool {
        self.folder.join(label.name()).is_file()
    }

    /// Keeps code that was just compiled.
    pub(super) fn keep(&self, label: Label<'_>, code: &OwnCode) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(MAGIC.len() + DIGEST + code.bytes().len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(self.digest(label, code.bytes()).as_bytes());
        bytes.extend_from_slice(code.bytes());
        foreign::replace_private(&self.folder.join(label.name()), &bytes)?;
        self.prune()
    }

    fn digest(&self, label: Label<'_>, code: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(MAGIC);
        hasher.update(label.component.as_bytes());
        hasher.update(label.settings.as_bytes());
        hasher.update(code);
        hasher.finalize()
    }

    /// Removes the oldest files beyond what is kept.
    fn prune(&self) -> io::Result<()> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let is_code = entry.file_name().to_string_lossy().ends_with(SUFFIX);
            if let (true, Ok(found)) = (is_code, entry.metadata()) {
                files.push((found.modified()?, found.len(), entry.path()));
            }
        }
        files.sort();
        let mut bytes = 0_u64;
        for (kept, (_, size, path)) in files.iter().rev().enumerate() {
            bytes = bytes.saturating_add(*size);
            if kept >= MOST_FILES || bytes > MOST_BYTES {
                foreign::remove(path)?;
            }
        }
        Ok(())
    }
}

/// Whether nobody else can read or write it.
fn is_private(found: &fs::Metadata) -> bool {
    let others = found.permissions().mode() & 0o077;
    found.uid() == rustix::process::geteuid().as_raw() && others == 0
}

/// All of a private, plain file with one name. None if there is none, or if it is anything else.
fn read(path: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let found = file.metadata()?;
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    if !found.is_file() || !is_private(&found) || found.nlink() != 1 || found.len() > most {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn random() -> io::Result<[u8; DIGEST]> {
    let mut key = [0; DIGEST];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, CodeCache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(&folder.path().join("a/b")).unwrap();
        (folder, cache)
    }

    fn find(cache: &CodeCache, component: &[u8], settings: &[u8]) -> Option<Vec<u8>> {
        let (component, settings) = (blake3::hash(component), blake3::hash(settings));
        let label = Label {
            component: &component,
            settings: &settings,
        };
        cache.find(label, 1 << 20).map(|code| code.bytes().to_vec())
    }

    fn keep(cache: &CodeCache, component: &[u8], code: &[u8]) -> PathBuf {
        let (component, settings) = (blake3::hash(component), blake3::hash(b"settings"));
        let label = Label {
            component: &component,
            settings: &settings,
        };
        cache
            .keep(label, &OwnCode::compiled(code.to_vec()))
            .unwrap();
        cache.folder.join(label.name())
    }

    #[test]
    fn code_is_found_again_by_its_component_and_the_settings_alone() {
        let (_folder, cache) = cache();
        keep(&cache, b"one", b"code of one");
        assert_eq!(find(&cache, b"one", b"settings").unwrap(), b"code of one");
        assert_eq!(find(&cache, b"two", b"settings"), None);
        assert_eq!(find(&cache, b"one", b"others"), None);
        let again = CodeCache::open(&cache.folder).unwrap();
        assert_eq!(find(&again, b"one", b"settings").unwrap(), b"code of one");
    }

    #[test]
    fn no_changed_or_planted_file_is_ever_taken() {
        let (_folder, cache) = cache();
        let (_other_folder, stranger) = self::cache();
        let path = keep(&cache, b"one", b"code of one");
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, &changed).unwrap();
            assert_eq!(find(&cache, b"one", b"settings"), None, "byte {at}");
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(find(&cache, b"one", b"settings"), None, "cut at {length}");
        }
        // What is genuine, but of another component, under this one's name.
        let other = keep(&cache, b"two", b"code of two");
        fs::copy(&other, &path).unwrap();
        assert_eq!(find(&cache, b"one", b"settings"), None);
        // What somebody else made with a key of their own.
        let planted = keep(&stranger, b"one", b"evil");
        fs::copy(planted, &path).unwrap();
        assert_eq!(find(&cache, b"one", b"settings"), None);
        fs::write(&path, &whole).unwrap();
        assert_eq!(find(&cache, b"one", b"settings").unwrap(), b"code of one");
    }

    #[test]
    fn links_and_what_others_could_write_are_not_taken() {
        let (folder, cache) = cache();
        let path = keep(&cache, b"one", b"code of one");
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert_eq!(find(&cache, b"one", b"settings"), None);
        fs::remove_file(&path).unwrap();
        fs::hard_link(&elsewhere, &path).unwrap();
        assert_eq!(find(&cache, b"one", b"settings"), None);
        fs::remove_file(&elsewhere).unwrap();
        assert!(find(&cache, b"one", b"settings").is_some());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o620)).unwrap();
        assert_eq!(find(&cache, b"one", b"settings"), None);
        fs::set_permissions(&cache.folder, fs::Permissions::from_mode(0o770)).unwrap();
        let error = CodeCache::open(&cache.folder).unwrap_err();
        assert!(error.to_string().contains("open to other users"), "{error}");
    }

    #[test]
    fn a_damaged_key_is_named_and_not_replaced() {
        let (_folder, cache) = cache();
        let key = cache.folder.join(KEY);
        fs::write(&key, "short").unwrap();
        let error = CodeCache::open(&cache.folder).unwrap_err();
        assert!(error.to_string().contains("no key"), "{error}");
        assert_eq!(fs::read(&key).unwrap(), b"short");
    }

    #[test]
    fn the_oldest_go_first() {
        let (_folder, cache) = cache();
        let first = keep(&cache, b"0", b"code");
        let past = SystemTime::UNIX_EPOCH;
        File::options()
            .write(true)
            .open(&first)
            .unwrap()
            .set_modified(past)
            .unwrap();
        for number in 1..=MOST_FILES {
            keep(&cache, number.to_string().as_bytes(), b"code");
        }
        assert!(!first.exists());
        assert!(find(&cache, b"1", b"settings").is_some());
    }
}
