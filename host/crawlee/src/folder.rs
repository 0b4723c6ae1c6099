//! A folder that is only ever reached through its open handle.
//!
//! Decision: every file is opened, replaced and removed relative to the handle, without following a link, so that neither a link in
//! the folder nor a folder that is swapped while we write leads anywhere else. A file is replaced by renaming a finished one over it:
//! a reader sees the old bytes or the new ones. There is no lock, since Crawlee has none either: of two writers of one key the last
//! one wins. The price: a process that dies while it writes leaves its temporary file until the next one that opens the folder an
//! hour later.

use crate::{CrawleeError, StoreName};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::fs::{DirBuilder, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// What a storage folder is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    KeyValueStores,
    Datasets,
    RequestQueues,
}

impl Part {
    pub(crate) const ALL: [Self; 3] = [Self::KeyValueStores, Self::Datasets, Self::RequestQueues];

    /// The name of its folder.
    pub(crate) const fn folder(self) -> &'static str {
        match self {
            Self::KeyValueStores => "key_value_stores",
            Self::Datasets => "datasets",
            Self::RequestQueues => "request_queues",
        }
    }
}

/// How the name of a temporary file begins. No key's file can begin so, since a plus sign is always encoded.
const TEMPORARY: &str = ".nephila+";

/// A temporary file that was not written to for so long is left over from a process that died.
const LEFT_OVER: Duration = Duration::from_secs(60 * 60);

/// Folders of ours hold pages and cookies.
const FOLDER_MODE: u32 = 0o700;

/// As Crawlee for Python makes them.
const FILE_MODE: Mode = Mode::from_raw_mode(0o600);

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// How a file is opened that somebody else may have put there: not through a link, and without waiting for a pipe's other end.
const PLAINLY: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

const NEW: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A store's folder, open.
#[derive(Debug)]
pub(crate) struct Folder {
    handle: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// The store's folder; made, with those above it, if it is not there.
    pub(crate) fn make(storage: &Path, part: Part, name: &StoreName) -> Result<Self, CrawleeError> {
        let made = DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(storage);
        made.map_err(|cause| CrawleeError::io(storage, "make the folder", cause))?;
        let mut folder = Self::storage(storage)?;
        for step in [part.folder(), name.folder()] {
            match mkdirat(&folder.handle, step, Mode::from_raw_mode(FOLDER_MODE)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(cause) => return Err(CrawleeError::io(&folder.path.join(step), "make the folder", cause)),
            }
            folder = folder.enter(step)?;
        }
        Ok(folder)
    }

    /// The store's folder, if it is there.
    pub(crate) fn existing(storage: &Path, part: Part, name: &StoreName) -> Result<Self, CrawleeError> {
        let there =
            Self::storage(storage).and_then(|folder| folder.enter(part.folder())).and_then(|folder| folder.enter(name.folder()));
        there.map_err(|error| match error {
            CrawleeError::Io { cause, .. } if cause.kind() == io::ErrorKind::NotFound => {
                CrawleeError::NoStore { path: storage.join(part.folder()).join(name.folder()) }
            }
            error => error,
        })
    }

    // The folder that the user chose may be a link; what is in it may not.
    fn storage(path: &Path) -> Result<Self, CrawleeError> {
        let handle = openat(CWD, path, FOLDER, Mode::empty()).map_err(|errno| cannot_enter(path, errno))?;
        Ok(Self { handle, path: path.to_owned() })
    }

    fn enter(&self, step: &str) -> Result<Self, CrawleeError> {
        let path = self.path.join(step);
        let opened = openat(&self.handle, step, FOLDER | OFlags::NOFOLLOW, Mode::empty());
        Ok(Self { handle: opened.map_err(|errno| cannot_enter(&path, errno))?, path })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A file's bytes; `None` if there is no such file.
    pub(crate) fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, CrawleeError> {
        let path = self.path.join(name);
        let failed = |cause: io::Error| CrawleeError::io(&path, "read", cause);
        let file = match openat(&self.handle, name, PLAINLY, Mode::empty()) {
            Ok(handle) => File::from(handle),
            Err(Errno::NOENT) => return Ok(None),
            // A link, and a socket.
            Err(Errno::LOOP | Errno::NXIO) => return Err(CrawleeError::NotAFile { path }),
            Err(errno) => return Err(failed(errno.into())),
        };
        let found = file.metadata().map_err(failed)?;
        if !found.is_file() {
            return Err(CrawleeError::NotAFile { path });
        }
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        let read = bytes.len() as u64;
        if read > limit {
            return Err(CrawleeError::TooLarge { path, bytes: found.len().max(read), limit });
        }
        Ok(Some(bytes))
    }

    /// Writes a file anew, whole or not at all, and says how many bytes it has.
    pub(crate) fn replace(&self, name: &str, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<u64, CrawleeError> {
        let path = self.path.join(name);
        let failed = |cause: io::Error| CrawleeError::io(&path, "write", cause);
        // A rename would put the file in the place of a link or a pipe that somebody wanted to have there.
        match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile => {}
            Ok(_) => return Err(CrawleeError::NotAFile { path }),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(failed(errno.into())),
        }
        let (temporary, file) = self.temporary().map_err(failed)?;
        let mut out = Counted { out: BufWriter::new(file), bytes: 0 };
        let written = fill(&mut out).and_then(|()| out.flush());
        let renamed = written.and_then(|()| renameat(&self.handle, &temporary, &self.handle, name).map_err(io::Error::from));
        if let Err(cause) = renamed {
            // What cannot be taken away now is taken away by a later start.
            let _ = unlinkat(&self.handle, &temporary, AtFlags::empty());
            return Err(failed(cause));
        }
        Ok(out.bytes)
    }

    fn temporary(&self) -> io::Result<(String, File)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        loop {
            let name = format!("{TEMPORARY}{process}-{}.tmp", NEXT.fetch_add(1, Ordering::Relaxed));
            match openat(&self.handle, &name, NEW, FILE_MODE) {
                Ok(handle) => return Ok((name, File::from(handle))),
                // Left over from an earlier process of the same number.
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Whether something has this name.
    pub(crate) fn has(&self, name: &str) -> Result<bool, CrawleeError> {
        match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(CrawleeError::io(&self.path.join(name), "look at", errno)),
        }
    }

    /// Refuses a folder that has anything in it.
    pub(crate) fn check_empty(&self) -> Result<(), CrawleeError> {
        match self.all_names()?.next() {
            None => Ok(()),
            Some(_) => Err(CrawleeError::NotEmpty { path: self.path.clone() }),
        }
    }

    /// Takes a file away, or a link itself; says whether it was there.
    pub(crate) fn remove(&self, name: &str) -> Result<bool, CrawleeError> {
        match unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(CrawleeError::io(&self.path.join(name), "remove", errno)),
        }
    }

    /// The names in the folder that are text, in no order; without our own temporary files.
    pub(crate) fn names(&self) -> Result<impl Iterator<Item = Result<String, CrawleeError>>, CrawleeError> {
        Ok(self.all_names()?.filter(|name| !name.as_ref().is_ok_and(|name| name.starts_with(TEMPORARY))))
    }

    fn all_names(&self) -> Result<impl Iterator<Item = Result<String, CrawleeError>>, CrawleeError> {
        let failed = |errno: Errno| CrawleeError::io(&self.path, "list", errno);
        let entries = Dir::read_from(&self.handle).map_err(failed)?;
        Ok(entries.filter_map(move |entry| match entry {
            Ok(entry) => match entry.file_name().to_str() {
                Ok("." | "..") => None,
                // No key has such a name.
                Err(_) => Some(Ok(entry.file_name().to_string_lossy().into_owned())),
                Ok(name) => Some(Ok(name.to_owned())),
            },
            Err(errno) => Some(Err(failed(errno))),
        }))
    }

    /// Takes away what processes of ours left that died while they wrote.
    pub(crate) fn sweep(&self) -> Result<(), CrawleeError> {
        let now = SystemTime::now();
        for name in self.all_names()? {
            let name = name?;
            if name.starts_with(TEMPORARY) && self.age(&name, now).is_some_and(|age| age > LEFT_OVER) {
                tracing::debug!(folder = %self.path.display(), file = name, "removing what an earlier process left");
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    fn age(&self, name: &str, now: SystemTime) -> Option<Duration> {
        let handle = openat(&self.handle, name, PLAINLY, Mode::empty()).ok()?;
        now.duration_since(File::from(handle).metadata().ok()?.modified().ok()?).ok()
    }
}

fn cannot_enter(path: &Path, errno: Errno) -> CrawleeError {
    match errno {
        Errno::LOOP | Errno::NOTDIR => CrawleeError::NotAFolder { path: path.to_owned() },
        errno => CrawleeError::io(path, "open the folder", errno),
    }
}

/// Counts what is written.
struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::mknodat;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn folder() -> (tempfile::TempDir, Folder) {
        let storage = tempfile::tempdir().unwrap();
        let folder = Folder::make(storage.path(), Part::KeyValueStores, &StoreName::DEFAULT).unwrap();
        (storage, folder)
    }

    fn put(folder: &Folder, name: &str, text: &str) -> Result<u64, CrawleeError> {
        folder.replace(name, |out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let (_storage, folder) = folder();
        assert_eq!(put(&folder, "a", "old").unwrap(), 3);
        let failed = folder.replace("a", |out| {
            out.write_all(b"half of the new one")?;
            Err(io::Error::other("the source broke"))
        });
        assert!(failed.unwrap_err().to_string().contains("the source broke"));
        assert_eq!(folder.read("a", 10).unwrap().unwrap(), b"old");
        assert_eq!(put(&folder, "a", "newer").unwrap(), 5);
        assert_eq!(folder.read("a", 10).unwrap().unwrap(), b"newer");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::metadata(folder.path().join("a")).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_is_larger_than_the_limit_is_not_read() {
        let (_storage, folder) = folder();
        put(&folder, "a", "12345").unwrap();
        assert_eq!(folder.read("a", 5).unwrap().unwrap().len(), 5);
        assert!(matches!(folder.read("a", 4), Err(CrawleeError::TooLarge { bytes: 5, limit: 4, .. })));
    }

    #[test]
    fn links_pipes_and_folders_are_neither_read_nor_replaced() {
        let (storage, folder) = folder();
        let secret = storage.path().join("secret");
        fs::write(&secret, "secret").unwrap();
        symlink(&secret, folder.path().join("link")).unwrap();
        symlink("nowhere", folder.path().join("broken")).unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        mknodat(CWD, folder.path().join("pipe"), FileType::Fifo, FILE_MODE, 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        for name in ["link", "broken", "folder", "pipe", "socket"] {
            assert!(matches!(folder.read(name, 100), Err(CrawleeError::NotAFile { .. })), "{name}");
            assert!(matches!(put(&folder, name, "x"), Err(CrawleeError::NotAFile { .. })), "{name}");
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
        assert!(folder.remove("link").unwrap());
        assert!(secret.exists());
        assert!(!folder.remove("link").unwrap());
    }

    #[test]
    fn a_folder_that_is_a_link_or_a_file_is_refused() {
        let (storage, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(other.path(), storage.path().join(Part::KeyValueStores.folder())).unwrap();
        assert!(matches!(
            Folder::make(storage.path(), Part::KeyValueStores, &StoreName::DEFAULT),
            Err(CrawleeError::NotAFolder { .. })
        ));
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
        fs::remove_file(storage.path().join(Part::KeyValueStores.folder())).unwrap();
        fs::create_dir(storage.path().join(Part::KeyValueStores.folder())).unwrap();
        fs::write(storage.path().join(Part::KeyValueStores.folder()).join("default"), "").unwrap();
        assert!(matches!(
            Folder::make(storage.path(), Part::KeyValueStores, &StoreName::DEFAULT),
            Err(CrawleeError::NotAFolder { .. })
        ));
        // The storage folder itself is what the user says.
        let link = other.path().join("storage");
        symlink(storage.path(), &link).unwrap();
        assert!(Folder::make(&link, Part::KeyValueStores, &StoreName::named("a").unwrap()).is_ok());
    }

    #[test]
    fn a_folder_that_was_swapped_for_a_link_meanwhile_is_not_followed() {
        let (storage, folder) = folder();
        let other = tempfile::tempdir().unwrap();
        let moved = storage.path().join("moved");
        fs::rename(folder.path(), &moved).unwrap();
        symlink(other.path(), folder.path()).unwrap();
        put(&folder, "a", "x").unwrap();
        assert!(moved.join("a").exists());
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_dead_process_left_is_swept_an_hour_later() {
        let (_storage, folder) = folder();
        let now = SystemTime::now();
        for (name, age) in [(".nephila+1-0.tmp", 2), (".nephila+1-1.tmp", 0), ("other.tmp", 2)] {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(now - LEFT_OVER * age).unwrap();
        }
        folder.sweep().unwrap();
        let mut left: Vec<_> = folder.all_names().unwrap().map(Result::unwrap).collect();
        left.sort();
        assert_eq!(left, [".nephila+1-1.tmp", "other.tmp"]);
        assert_eq!(folder.names().unwrap().map(Result::unwrap).collect::<Vec<_>>(), ["other.tmp"]);
    }

    #[test]
    fn a_folder_that_is_not_there_is_said_to_be_missing() {
        let storage = tempfile::tempdir().unwrap();
        for path in [storage.path().to_owned(), storage.path().join("none")] {
            let error = Folder::existing(&path, Part::KeyValueStores, &StoreName::DEFAULT).unwrap_err();
            assert!(matches!(error, CrawleeError::NoStore { .. }), "{error}");
        }
    }
}
