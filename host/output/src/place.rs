//! Where a storage folder is to be, and where it is written until it is whole.
//!
//! Decision: it is written beside its place and moved there in one step, so that a folder of that name is complete or is not
//! there, and what it replaces is there until then. What cannot be moved is found before anything is written. The folder beside
//! has a name of its own and a lock, which ends with the process however that dies: the next export to the same place takes away
//! what has none. What is replaced is thrown away only when the disk has what takes its place, which costs a synchronisation of
//! the whole file system.

use crate::{Existing, StorageError};
use nephila_crawlee::is_storage;
use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A folder that is opened for its lock: not through a link.
const FOLDER: i32 = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).bits().cast_signed();

/// The place of a storage folder.
#[derive(Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    parent: PathBuf,
    beside: Beside,
    replaces: Replaces,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Replaces {
    Nothing,
    AStorage,
}

impl Place {
    /// Makes an empty folder beside the place that `given` says. `job` is the folder of the job, which is not to be touched.
    ///
    /// # Errors
    /// A refusal, and then nothing has changed.
    pub(crate) fn take(given: &Path, existing: Existing, job: &Path) -> Result<Self, StorageError> {
        let failed = |action| move |cause| StorageError::Io { path: given.to_owned(), action, cause };
        let (folder, parent, name) = whereabouts(given)?;
        let job = fs::canonicalize(job).map_err(failed("reach the job's folder from"))?;
        // The job's folder itself is no storage.
        if folder != job && (job.starts_with(&folder) || folder.starts_with(&job)) {
            return Err(StorageError::Job { path: folder, job });
        }
        let replaces = match fs::metadata(&folder) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Replaces::Nothing,
            Err(cause) => return Err(failed("look at")(cause)),
            Ok(found) if !found.is_dir() => return Err(StorageError::NotAFolder { path: folder }),
            Ok(found) if found.dev() != fs::metadata(&parent).map_err(failed("look at"))?.dev() => {
                return Err(StorageError::MountPoint { path: folder });
            }
            Ok(_) if fs::read_dir(&folder).map_err(failed("list"))?.next().is_none() => Replaces::Nothing,
            Ok(_) if !is_storage(&folder)? => return Err(StorageError::NotAStorage { path: folder }),
            Ok(_) => match existing {
                Existing::Overwrite => Replaces::AStorage,
                Existing::Refuse => return Err(StorageError::Exists { path: folder }),
                Existing::Append => return Err(StorageError::Append { path: folder }),
            },
        };
        let prefix = format!(".{name}.nephila-export-");
        sweep(&parent, &prefix);
        Ok(Self { beside: Beside::make(&parent, &prefix)?, folder, parent, replaces })
    }

    /// Where to write.
    pub(crate) fn beside(&self) -> &Path {
        &self.beside.path
    }

    /// Puts what was written into its place.
    ///
    /// # Errors
    /// What the system says, or a refusal if something else has come to the place meanwhile; then that is as it was.
    pub(crate) fn put(self) -> Result<(), StorageError> {
        let result = match self.replaces {
            Replaces::Nothing => {
                fs::rename(&self.beside.path, &self.folder).map_err(|cause| self.failed("put in its place", cause))
            }
            Replaces::AStorage => self.exchange(),
        };
        // What it has replaced, or what could not be put there.
        if self.replaces == Replaces::AStorage || result.is_err() {
            self.clear();
        }
        result
    }

    /// Takes away what was written.
    pub(crate) fn clear(&self) {
        clear(&self.beside.path);
    }

    fn exchange(&self) -> Result<(), StorageError> {
        self.sync(&self.beside.path)?;
        // No other export is to find it without a lock under the name that it gets now.
        let old = open(&self.folder).map_err(|cause| self.failed("open", cause))?;
        drop(old.try_lock());
        self.swap()?;
        // It may have become something else since it was looked at.
        match is_storage(&self.beside.path) {
            Ok(true) => {}
            other => {
                self.swap()?;
                return Err(other.err().map_or_else(|| StorageError::NotAStorage { path: self.folder.clone() }, Into::into));
            }
        }
        File::open(&self.parent).and_then(|parent| parent.sync_all()).map_err(|cause| self.failed("sync", cause))
    }

    fn swap(&self) -> Result<(), StorageError> {
        renameat_with(CWD, &self.beside.path, CWD, &self.folder, RenameFlags::EXCHANGE)
            .map_err(|errno| self.failed("put in its place", errno.into()))
    }

    fn sync(&self, folder: &Path) -> Result<(), StorageError> {
        let synced = File::open(folder).and_then(|handle| Ok(rustix::fs::syncfs(handle)?));
        synced.map_err(|cause| self.failed("sync the disk of", cause))
    }

    fn failed(&self, action: &'static str, cause: io::Error) -> StorageError {
        StorageError::Io { path: self.folder.clone(), action, cause }
    }
}

// A link stands for the folder that it leads to.
fn whereabouts(given: &Path) -> Result<(PathBuf, PathBuf, String), StorageError> {
    let failed = |cause| StorageError::Io { path: given.to_owned(), action: "reach", cause };
    let folder = match fs::canonicalize(given) {
        Ok(folder) => folder,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => given.to_owned(),
        Err(cause) => return Err(failed(cause)),
    };
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(StorageError::NoName { path: given.to_owned() });
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let parent = fs::canonicalize(parent).map_err(failed)?;
    Ok((parent.join(name), parent, name.to_string_lossy().into_owned()))
}

fn open(folder: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(FOLDER).open(folder)
}

fn clear(folder: &Path) {
    if let Err(cause) = fs::remove_dir_all(folder) {
        tracing::warn!(folder = %folder.display(), %cause, "a folder stays behind; remove it");
    }
}

/// Takes away what exports to the same place have left that died. Those that work have their locks.
fn sweep(parent: &Path, prefix: &str) {
    // Best effort: what stays is in nobody's way.
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(prefix) {
            continue;
        }
        let Ok(left) = open(&entry.path()) else { continue };
        if left.try_lock().is_ok() {
            tracing::debug!(folder = %entry.path().display(), "removing what an earlier export left");
            clear(&entry.path());
        }
    }
}

/// A folder of our own.
#[derive(Debug)]
struct Beside {
    path: PathBuf,
    _lock: File,
}

impl Beside {
    fn make(parent: &Path, prefix: &str) -> Result<Self, StorageError> {
        loop {
            let path = parent.join(format!("{prefix}{:016x}", random()));
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
            let lock = match open(&path) {
                Ok(lock) => lock,
                // Another export has taken it for one that was left.
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
                Err(cause) => return Err(failed("open")(cause)),
            };
            match lock.try_lock() {
                Err(TryLockError::WouldBlock) => continue,
                // Where a file system has no locks, nobody else gets one either.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            if fs::symlink_metadata(&path).is_ok() {
                return Ok(Self { path, _lock: lock });
            }
        }
    }
}

// Unlike all others, not secret: the standard library's hashers begin with random keys of the system's.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a job's folder and a storage in it.
    fn given() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (job, storage) = (folder.path().join("job"), folder.path().join("storage"));
        fs::create_dir(&job).unwrap();
        fs::create_dir_all(storage.join("datasets/default")).unwrap();
        fs::write(storage.join("datasets/default/__metadata__.json"), "old").unwrap();
        (folder, job, storage)
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_replaced_goes_when_the_new_one_is_whole() {
        let (folder, job, storage) = given();
        let place = Place::take(&storage, Existing::Overwrite, &job).unwrap();
        fs::create_dir(place.beside().join("datasets")).unwrap();
        assert_eq!(names(&storage.join("datasets")), ["default"]);
        place.put().unwrap();
        assert!(names(&storage.join("datasets")).is_empty());
        assert_eq!(names(folder.path()), ["job", "storage"]);
    }

    #[test]
    fn what_has_become_something_else_meanwhile_stays() {
        let (folder, job, storage) = given();
        let place = Place::take(&storage, Existing::Overwrite, &job).unwrap();
        fs::write(storage.join("thesis.txt"), "mine").unwrap();
        assert!(matches!(place.put(), Err(StorageError::NotAStorage { .. })));
        assert_eq!(names(&storage), ["datasets", "thesis.txt"]);
        assert_eq!(names(folder.path()), ["job", "storage"]);
    }

    #[test]
    fn the_jobs_folder_and_the_storage_are_apart() {
        let (folder, job, storage) = given();
        let inside = storage.join("datasets/default/job");
        fs::create_dir(&inside).unwrap();
        for (given, job) in [(&storage, &inside), (&job.join("storage"), &job)] {
            assert!(matches!(Place::take(given, Existing::Overwrite, job), Err(StorageError::Job { .. })), "{}", given.display());
        }
        assert_eq!(names(folder.path()), ["job", "storage"]);
    }

    #[test]
    fn a_mount_point_is_refused_at_once() {
        let job = tempfile::tempdir().unwrap();
        let refused = Place::take(Path::new("/proc"), Existing::Overwrite, job.path());
        assert!(matches!(refused, Err(StorageError::MountPoint { .. })), "{refused:?}");
    }

    #[test]
    fn what_dead_exports_left_is_taken_away_and_what_others_write_is_not() {
        let (folder, job, storage) = given();
        let left = folder.path().join(".storage.nephila-export-1");
        fs::create_dir_all(left.join("datasets")).unwrap();
        let other = folder.path().join(".others.nephila-export-1");
        fs::create_dir(&other).unwrap();
        let first = Place::take(&storage, Existing::Overwrite, &job).unwrap();
        assert!(!left.exists() && other.exists());
        let second = Place::take(&storage, Existing::Overwrite, &job).unwrap();
        assert!(first.beside().exists() && second.beside().exists() && first.beside() != second.beside());
        let path = first.beside().to_owned();
        drop(first);
        let third = Place::take(&storage, Existing::Overwrite, &job).unwrap();
        assert!(!path.exists() && third.beside().exists());
    }
}
