//! A job's folder: whose it is, who may write to it, and what may be in it.
//!
//! Decision: everything that could refuse a folder (S8) is asked before anything in it is touched. Who works in it is its lock's to say
//! ([`JobLock`]).

mod lock;
#[cfg(test)]
mod tests;

pub use lock::{JobLock, SharedHold};

use crate::StoreError;
use nephila_model::Timestamp;
use rustix::fs::OFlags;
use std::fs::{DirBuilder, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The file that is locked while a process works in the job.
const LOCK: &str = "lock";

/// The file that holds the job.
const DATABASE: &str = "nephila.db";

/// How a file is opened that somebody else may have put there: not through a link, and without waiting for a pipe's other end.
const PLAINLY: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();

/// A job's folder that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobDir {
    path: PathBuf,
}

impl JobDir {
    /// The job in `path`, locked for this process; made with mode 0700 if there is nothing.
    ///
    /// # Errors
    /// S8: [`StoreError::InUse`], [`StoreError::Exposed`], [`StoreError::ForeignOwner`], [`StoreError::NotAJob`],
    /// [`StoreError::Folder`]; then nothing in the folder has changed.
    pub fn open_or_create(path: impl Into<PathBuf>) -> Result<(Self, JobLock), StoreError> {
        let job = Self { path: path.into() };
        let metadata = match std::fs::metadata(&job.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => job.create()?,
            found => found.map_err(|cause| job.unusable(cause))?,
        };
        job.check(&metadata)?;
        let empty = job.check_contents()?;
        let lock = job.lock()?;
        if empty && metadata.mode() & 0o777 != 0o700 {
            // From here on the folder holds pages and cookies.
            std::fs::set_permissions(&job.path, Permissions::from_mode(0o700)).map_err(|cause| job.unusable(cause))?;
        }
        Ok((job, lock))
    }

    /// The job in `path`, to be looked at.
    ///
    /// # Errors
    /// [`StoreError::NoJob`] if there is none, [`StoreError::Folder`] if that cannot be seen, [`StoreError::Damaged`] if something that is
    /// no file has the job's name.
    pub fn existing(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let job = Self { path: path.into() };
        if job.has_database()? { Ok(job) } else { Err(StoreError::NoJob { dir: job.path }) }
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file that holds the job.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// Whether a process works in the job now. Takes nothing away from it.
    #[must_use]
    pub fn in_use(&self) -> bool {
        let mut options = OpenOptions::new();
        let Ok(file) = options.read(true).custom_flags(PLAINLY).open(self.path.join(LOCK)) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    /// Since when the process works in the job that does now: no later than it opened its first crawl there, if it has opened
    /// one.
    pub(crate) fn used_since(&self) -> Option<Timestamp> {
        self.in_use().then(|| lock::said_at(&self.path.join(LOCK)))
    }

    /// Keeps everybody from working in the job while it is looked at for long; `None` if somebody works in it, or nobody ever did. Changes
    /// nothing in the folder.
    #[must_use]
    pub fn hold(&self) -> Option<SharedHold> {
        let mut options = OpenOptions::new();
        let file = options.read(true).custom_flags(PLAINLY).open(self.path.join(LOCK)).ok()?;
        file.try_lock_shared().ok()?;
        Some(SharedHold { _file: file })
    }

    /// Whether this process may write to the folder, and with it any other of the same user.
    pub(crate) fn may_be_written(&self) -> bool {
        rustix::fs::access(&self.path, rustix::fs::Access::WRITE_OK).is_ok()
    }

    fn create(&self) -> Result<Metadata, StoreError> {
        let made = || {
            if let Some(parent) = self.path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            match DirBuilder::new().mode(0o700).create(&self.path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
                _ => std::fs::metadata(&self.path),
            }
        };
        made().map_err(|cause| self.unusable(cause))
    }

    fn check(&self, metadata: &Metadata) -> Result<(), StoreError> {
        if !metadata.is_dir() {
            return Err(self.unusable(Error::from(ErrorKind::NotADirectory)));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(StoreError::ForeignOwner { dir: self.path.clone(), owner: metadata.uid() });
        }
        if metadata.mode() & 0o022 != 0 {
            return Err(StoreError::Exposed { dir: self.path.clone(), mode: metadata.mode() & 0o777 });
        }
        rustix::fs::access(&self.path, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)
            .map_err(|errno| self.unusable(errno.into()))
    }

    // A process that died before it made the database leaves a folder with nothing but the lock file.
    fn check_contents(&self) -> Result<bool, StoreError> {
        let entries = std::fs::read_dir(&self.path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let entries = entries.map_err(|cause| self.unusable(cause))?;
        let others = entries.iter().any(|entry| entry.file_name() != LOCK);
        let is_job = self.has_database()? || (!others && (entries.is_empty() || self.is_our_lock()?));
        if is_job { Ok(entries.is_empty()) } else { Err(StoreError::NotAJob { dir: self.path.clone() }) }
    }

    // Anything but a file of that name is not opened: a pipe would never answer, and a link leads to what is not the job's.
    fn has_database(&self) -> Result<bool, StoreError> {
        let path = self.database();
        match std::fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => Ok(true),
            Ok(_) => Err(StoreError::Damaged { what: path.display().to_string(), cause: "it is not a regular file".to_owned() }),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
            Err(cause) => Err(self.unusable(cause)),
        }
    }

    fn unusable(&self, cause: Error) -> StoreError {
        StoreError::Folder { dir: self.path.clone(), cause }
    }
}
