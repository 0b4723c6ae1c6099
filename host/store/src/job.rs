//! A job's folder: whose it is, who may write to it, and who works in it now.
//!
//! Decision: everything that could refuse a folder (S8) is asked before anything in it is touched, and the lock is the kernel's on an
//! open file, so that it ends with its process however that dies; the pid in the lock file is only what people are told. What it
//! costs: two processes on different machines that share the folder by a network file system which does not carry locks are not
//! kept apart.

use crate::StoreError;
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{Error, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file that is locked while a process works in the job.
const LOCK: &str = "lock";

/// The file that holds the job.
const DATABASE: &str = "nephila.db";

/// `nephila status` holds the lock, shared, for an instant; whoever comes just then asks again.
const LOCK_TRIES: u32 = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

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
    /// [`StoreError::NoJob`] if there is none.
    pub fn existing(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let job = Self { path: path.into() };
        if job.database().is_file() { Ok(job) } else { Err(StoreError::NoJob { dir: job.path }) }
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
        let Ok(file) = File::open(self.path.join(LOCK)) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
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
        let job =
            entries.iter().any(|entry| entry.file_name() == DATABASE) || entries.iter().all(|entry| entry.file_name() == LOCK);
        if job { Ok(entries.is_empty()) } else { Err(StoreError::NotAJob { dir: self.path.clone() }) }
    }

    fn lock(&self) -> Result<JobLock, StoreError> {
        let (path, mut holder) = (self.path.join(LOCK), None);
        for _ in 0..LOCK_TRIES {
            let (mut file, made) = open_lock(&path).map_err(|cause| self.unusable(cause))?;
            match file.try_lock() {
                Ok(()) if is_in_place(&file).map_err(|cause| self.unusable(cause))? => {
                    return Ok(JobLock { file, path, mark: if made { Mark::Made } else { Mark::Found } });
                }
                Ok(()) => {}
                Err(TryLockError::Error(cause)) => return Err(self.unusable(cause)),
                Err(TryLockError::WouldBlock) => {
                    holder = living_holder(&mut file);
                    std::thread::sleep(LOCK_PAUSE);
                }
            }
        }
        Err(StoreError::InUse { dir: self.path.clone(), holder: holder.unwrap_or_else(|| "another process".to_owned()) })
    }

    fn unusable(&self, cause: Error) -> StoreError {
        StoreError::Folder { dir: self.path.clone(), cause }
    }
}

/// Opens the lock file, and says whether it was made just now.
fn open_lock(path: &Path) -> Result<(File, bool), Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).truncate(false);
    match options.create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        opened => return opened.map(|file| (file, true)),
    }
    options.create_new(false).create(true).open(path).map(|file| (file, false))
}

/// Whether the file still has its name: a refused start takes away the lock file that it made, and whoever had opened it just then would
/// hold a lock that nobody else asks for.
fn is_in_place(file: &File) -> Result<bool, Error> {
    Ok(file.metadata()?.nlink() > 0)
}

/// Who holds the job, as far as it said: whoever opened a crawl in it. The word of one that died is not its successor's.
fn living_holder(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    let pid = rustix::process::Pid::from_raw(text.trim().parse().ok().filter(|pid| *pid > 0)?)?;
    let is_dead = rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH);
    (!is_dead).then(|| format!("process {}", text.trim()))
}

/// What was done to the lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Nothing.
    Found,
    /// It was not there.
    Made,
    /// Our pid is in it.
    Named,
}

/// The right to work in a job's folder. Ends when it is dropped, and with the process.
#[derive(Debug)]
pub struct JobLock {
    file: File,
    path: PathBuf,
    mark: Mark,
}

impl JobLock {
    /// Tells whoever comes who works here. Not before the job is really taken: a refused start leaves the file as it was (S8).
    pub(crate) fn say_who(&mut self) {
        let written = self.file.set_len(0).and_then(|()| self.file.rewind());
        // Best effort: a pid is only a word in a message.
        drop(written.and_then(|()| writeln!(self.file, "{}", std::process::id())));
        self.mark = Mark::Named;
    }
}

impl Drop for JobLock {
    fn drop(&mut self) {
        // Best effort: the lock ends with the file's handle, and what stays carries nothing.
        drop(match self.mark {
            Mark::Found => Ok(()),
            Mark::Made => std::fs::remove_file(&self.path),
            Mark::Named => self.file.set_len(0),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn folder() -> TempDir {
        tempfile::tempdir().expect("a folder")
    }

    fn mode_of(path: &Path) -> u32 {
        std::fs::metadata(path).expect("metadata").mode() & 0o777
    }

    #[test]
    fn a_new_job_folder_is_private_and_so_is_an_empty_one_that_becomes_a_job() {
        let parent = folder();
        let new = parent.path().join("a/b");
        let _held = JobDir::open_or_create(&new).expect("a job");
        assert_eq!(mode_of(&new), 0o700);
        for mode in [0o755, 0o700] {
            let empty = parent.path().join(format!("{mode:o}"));
            std::fs::create_dir(&empty).expect("a folder");
            std::fs::set_permissions(&empty, Permissions::from_mode(mode)).expect("a mode");
            let _held = JobDir::open_or_create(&empty).expect("a job");
            assert_eq!(mode_of(&empty), 0o700);
        }
    }

    #[test]
    fn a_job_in_use_is_refused_with_its_holder_and_free_again_afterwards() {
        let parent = folder();
        let path = parent.path().join("job");
        let (job, mut lock) = JobDir::open_or_create(&path).expect("a job");
        assert!(job.in_use());
        let holder = || match JobDir::open_or_create(&path).expect_err("in use") {
            StoreError::InUse { holder, .. } => holder,
            other => other.to_string(),
        };
        // It has the lock, and has not said who it is; what a dead one said is not its word.
        for said in ["", "0", "-1", "999999999\n"] {
            std::fs::write(path.join(LOCK), said).expect("written");
            assert_eq!(holder(), "another process", "{said}");
        }
        lock.say_who();
        assert_eq!(holder(), format!("process {}", std::process::id()));
        drop(lock);
        assert!(!job.in_use());
        assert_eq!(std::fs::read(path.join(LOCK)).expect("bytes"), b"");
        assert!(JobDir::open_or_create(&path).is_ok());
    }

    #[test]
    fn who_takes_a_job_and_does_nothing_leaves_the_lock_file_as_it_was() {
        let parent = folder();
        let lock_file = parent.path().join(LOCK);
        let (_, lock) = JobDir::open_or_create(parent.path()).expect("a job");
        assert!(lock_file.exists());
        drop(lock);
        assert!(!lock_file.exists());
        std::fs::write(&lock_file, "4711\n").expect("a file");
        let before = lock_file.metadata().expect("metadata").modified().expect("a time");
        let (_, lock) = JobDir::open_or_create(parent.path()).expect("a job");
        drop(lock);
        assert_eq!(std::fs::read(&lock_file).expect("bytes"), b"4711\n");
        assert_eq!(lock_file.metadata().expect("metadata").modified().expect("a time"), before);
    }

    #[test]
    fn a_lock_file_that_was_taken_away_while_it_was_opened_is_not_the_jobs_lock() {
        let parent = folder();
        let (job, refused) = JobDir::open_or_create(parent.path()).expect("a job");
        let (late, made) = open_lock(&parent.path().join(LOCK)).expect("a file");
        assert!(!made);
        drop(refused);
        late.try_lock().expect("nobody holds it");
        assert!(!is_in_place(&late).expect("an answer"));
        // Whoever comes after has a lock of its own, which is in its place.
        let lock = job.lock().expect("a lock");
        assert!(is_in_place(&lock.file).expect("an answer"));
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_refused_untouched() {
        for mode in [0o770, 0o702, 0o777] {
            let parent = folder();
            let path = parent.path().join("job");
            std::fs::create_dir(&path).expect("a folder");
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
            let error = JobDir::open_or_create(&path).expect_err("exposed");
            assert!(matches!(error, StoreError::Exposed { mode: found, .. } if found == mode));
            assert_eq!((mode_of(&path), std::fs::read_dir(&path).expect("entries").count()), (mode, 0));
        }
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let parent = folder();
        let path = parent.path().join("job");
        std::fs::create_dir(&path).expect("a folder");
        // Only root can arrange this.
        if std::os::unix::fs::chown(&path, Some(12_345), None).is_ok() {
            let error = JobDir::open_or_create(&path).expect_err("foreign");
            assert!(matches!(error, StoreError::ForeignOwner { owner: 12_345, .. }));
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_refused() {
        let parent = folder();
        let path = parent.path().join("job");
        std::fs::create_dir(&path).expect("a folder");
        std::fs::set_permissions(&path, Permissions::from_mode(0o500)).expect("a mode");
        // Root may write anywhere.
        if !rustix::process::geteuid().is_root() {
            assert!(matches!(JobDir::open_or_create(&path), Err(StoreError::Folder { .. })));
        }
        assert!(matches!(JobDir::open_or_create("/proc/no/such"), Err(StoreError::Folder { .. })));
    }

    #[test]
    fn a_folder_with_other_things_and_a_file_are_no_jobs() {
        let parent = folder();
        let path = parent.path().join("notes");
        std::fs::create_dir(&path).expect("a folder");
        std::fs::write(path.join("lock"), "mine").expect("a file");
        std::fs::write(path.join("a.txt"), "x").expect("a file");
        assert!(matches!(JobDir::open_or_create(&path), Err(StoreError::NotAJob { .. })));
        assert_eq!(std::fs::read_to_string(path.join("lock")).expect("text"), "mine");
        assert!(matches!(JobDir::open_or_create(path.join("a.txt")), Err(StoreError::Folder { .. })));
        assert!(matches!(JobDir::existing(&path), Err(StoreError::NoJob { .. })));
    }

    #[test]
    fn a_folder_whose_maker_died_before_the_database_was_there_is_used() {
        let parent = folder();
        std::fs::write(parent.path().join("lock"), "4711\n").expect("a file");
        assert!(JobDir::open_or_create(parent.path()).is_ok());
    }
}
