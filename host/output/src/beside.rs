//! A folder of our own beside a place, and what dead exports have left there.
//!
//! Decision: it has a name of its own and a lock, which ends with the process however that dies: the next export to the same
//! place takes away what has none. A name proves nothing, and after an exchange what somebody else had may be under ours. So what
//! is taken away is what is written as ours, which a mark in it says for as long as it is written, or a storage of Crawlee's; and
//! of a living export the very folder that it made.

use crate::StorageError;
use nephila_crawlee::is_storage;
use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A folder that is opened for its lock: not through a link.
const FOLDER: i32 = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).bits().cast_signed();

/// The file in a folder that is not whole yet.
const MARK: &str = ".nephila-export";

/// Digits of the number in the name of such a folder, at most.
const DIGITS: usize = 16;

/// A folder of our own.
#[derive(Debug)]
pub(crate) struct Beside {
    path: PathBuf,
    // Open for its lock, and for telling it from others.
    handle: File,
}

impl Beside {
    /// Makes one, empty but for its mark.
    pub(crate) fn make(parent: &Path, prefix: &str) -> Result<Self, StorageError> {
        loop {
            let path = parent.join(format!("{prefix}{:0DIGITS$x}", random()));
            let failed = |action| {
                let path = path.clone();
                move |cause| StorageError::Io { path, action, cause }
            };
            // It holds pages and cookies.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(cause) => return Err(failed("make the folder")(cause)),
            }
            let handle = match open(&path) {
                Ok(handle) => handle,
                // Another export has taken it for one that was left.
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
                Err(cause) => return Err(failed("open")(cause)),
            };
            match handle.try_lock() {
                Err(TryLockError::WouldBlock) => continue,
                // Where a file system has no locks, nobody else gets one either.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            let made = Self { path: path.clone(), handle };
            if !made.is_there() {
                continue;
            }
            match File::create_new(path.join(MARK)) {
                Ok(_) => return Ok(made),
                Err(cause) => {
                    made.clear();
                    return Err(failed("write to")(cause));
                }
            }
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this file system exchanges two folders: tried with one more, whose name this one has from then on.
    pub(crate) fn try_exchange(&mut self, mut other: Self) -> io::Result<()> {
        let exchanged = exchange(&self.path, &other.path);
        if exchanged.is_ok() {
            std::mem::swap(&mut self.path, &mut other.path);
        }
        other.clear();
        exchanged
    }

    /// Says that it is whole: it has no mark from here on.
    pub(crate) fn is_whole(&self) -> io::Result<()> {
        fs::remove_file(self.path.join(MARK))
    }

    /// Writes all that is in it to the disk, with everything else of the file system.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.handle)?)
    }

    /// Takes it away. What has come under its name instead stays.
    pub(crate) fn clear(&self) {
        if self.is_there() {
            remove(&self.path);
        }
    }

    fn is_there(&self) -> bool {
        let place = |found: Metadata| (found.dev(), found.ino());
        let (ours, there) = (self.handle.metadata().map(place), fs::symlink_metadata(&self.path).map(place));
        ours.is_ok_and(|ours| there.is_ok_and(|there| ours == there))
    }
}

/// Puts two folders in each other's places in one step.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// Opens a folder for its lock.
pub(crate) fn open(folder: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(FOLDER).open(folder)
}

/// Removes a folder with all that is in it; says so if that fails.
pub(crate) fn remove(folder: &Path) {
    if let Err(cause) = fs::remove_dir_all(folder) {
        tracing::warn!(folder = %folder.display(), %cause, "a folder stays behind; remove it");
    }
}

/// Takes away what exports to the same place have left that died. Those that work have their locks.
pub(crate) fn sweep(parent: &Path, prefix: &str) {
    // Best effort: what stays is in nobody's way.
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().and_then(|name| name.strip_prefix(prefix)).is_some_and(is_number) {
            continue;
        }
        let path = entry.path();
        let Ok(left) = open(&path) else { continue };
        if left.try_lock().is_ok() && was_an_exports(&path) {
            tracing::debug!(folder = %path.display(), "removing what an earlier export left");
            remove(&path);
        }
    }
}

fn is_number(text: &str) -> bool {
    (1..=DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

// An export that died before it looked at what it had put aside has left something that may be anybody's.
fn was_an_exports(folder: &Path) -> bool {
    let is_marked = fs::symlink_metadata(folder.join(MARK)).is_ok_and(|found| found.is_file() && found.len() == 0);
    is_marked || is_storage(folder).unwrap_or(false)
}

// Unlike all others, not secret: the standard library's hashers begin with random keys of the system's.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = ".storage.nephila-export-";

    #[test]
    fn of_what_is_called_so_only_what_an_export_left_is_taken_away() {
        let parent = tempfile::tempdir().unwrap();
        let make = |name: &str, file: Option<&str>| {
            let folder = parent.path().join(name);
            fs::create_dir_all(folder.join("datasets/default")).unwrap();
            if let Some(file) = file {
                fs::write(folder.join(file), "").unwrap();
            }
            folder
        };
        let left = [
            make(".storage.nephila-export-1", None),
            make(".storage.nephila-export-0123456789abcdef", Some("datasets/default/__metadata__.json")),
        ];
        let half = make(".storage.nephila-export-2", Some("datasets/default/000000001.json"));
        fs::write(half.join(MARK), "").unwrap();
        let others = [
            make(".storage.nephila-export-", None),
            make(".storage.nephila-export-notes", None),
            make(".storage.nephila-export-0123456789abcdef0", None),
            make(".others.nephila-export-1", None),
            // Put aside by an exchange, and something else by then.
            make(".storage.nephila-export-3", Some("thesis.txt")),
            make(".storage.nephila-export-4", Some("datasets/default/1.png")),
        ];
        sweep(parent.path(), PREFIX);
        assert!(left.iter().chain([&half]).all(|folder| !folder.exists()));
        assert!(others.iter().all(|folder| folder.exists()));
    }

    #[test]
    fn only_the_folder_that_was_made_is_cleared() {
        let parent = tempfile::tempdir().unwrap();
        let made = Beside::make(parent.path(), PREFIX).unwrap();
        let (path, aside) = (made.path().to_owned(), parent.path().join("aside"));
        fs::rename(&path, &aside).unwrap();
        fs::create_dir(&path).unwrap();
        made.clear();
        assert!(path.exists());
        fs::remove_dir(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
        made.clear();
        assert!(!path.exists());
    }

    #[test]
    fn an_exchange_that_is_tried_leaves_one_folder_which_is_still_ours() {
        let parent = tempfile::tempdir().unwrap();
        let mut made = Beside::make(parent.path(), PREFIX).unwrap();
        made.try_exchange(Beside::make(parent.path(), PREFIX).unwrap()).unwrap();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
        assert!(made.is_there() && made.path().join(MARK).exists());
        sweep(parent.path(), PREFIX);
        assert!(made.is_there(), "it has its lock");
    }
}
