//! A job's folder: whose it is, who may write to it, and who works in it now.
//!
//! Decision: everything that could refuse a folder (S8) is asked before anything in it is touched, and the lock is the kernel's on an
//! open file, so that it ends with its process however that dies; the pid in the lock file is only what people are told. What it
//! costs: two processes on different machines that share the folder by a network file system which does not carry locks are not
//! kept apart.

use crate::StoreError;
use rustix::fs::OFlags;
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{Error, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file that is locked while a process works in the job.
const LOCK: &str = "lock";

/// The file that holds the job.
const DATABASE: &str = "nephila.db";

/// How a file is opened that somebody else may have put there: not through a link, and without waiting for a pipe's other end.
const PLAINLY: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();

/// Bytes of a lock file with a pid in it, at most.
const PID_LENGTH: u64 = 24;

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

    /// Keeps everybody from working in the job while it is looked at for long; `None` if somebody works in it, or nobody ever did. Changes
    /// nothing in the folder.
    #[must_use]
    pub fn hold(&self) -> Option<SharedHold> {
        let mut options = OpenOptions::new();
        let file = options.read(true).custom_flags(PLAINLY).open(self.path.join(LOCK)).ok()?;
        file.try_lock_shared().ok()?;
        Some(SharedHold { _file: file })
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

    // Where there is no job, a file of this name may be anybody's; ours is empty, or has a pid in it.
    fn is_our_lock(&self) -> Result<bool, StoreError> {
        let path = self.path.join(LOCK);
        let look = || {
            let mut text = Vec::new();
            if is_plain(&std::fs::symlink_metadata(&path)?) {
                let file = OpenOptions::new().read(true).custom_flags(PLAINLY).open(&path)?;
                file.take(PID_LENGTH + 1).read_to_end(&mut text)?;
            } else {
                return Ok(false);
            }
            let pid = text.trim_ascii();
            Ok(text.len() as u64 <= PID_LENGTH && pid.iter().all(u8::is_ascii_digit))
        };
        look().map_err(|cause| self.unusable(cause))
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

/// Opens the lock file, and says whether it was made just now. It will be written to, so that it must be nothing but the job's.
fn open_lock(path: &Path) -> Result<(File, bool), Error> {
    let foreign = || Error::other(format!("`{LOCK}` is not a regular file of its own; take it away"));
    let mut options = OpenOptions::new();
    options.read(true).write(true).truncate(false).custom_flags(PLAINLY);
    match options.create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        opened => return opened.map(|file| (file, true)),
    }
    // A refused start may take it away just now.
    if std::fs::symlink_metadata(path).is_ok_and(|metadata| !is_plain(&metadata)) {
        return Err(foreign());
    }
    let file = options.create_new(false).create(true).open(path)?;
    if is_plain(&file.metadata()?) { Ok((file, false)) } else { Err(foreign()) }
}

/// Whether it is a regular file without a second name.
fn is_plain(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.nlink() <= 1
}

/// Whether the file still has its name: a refused start takes away the lock file that it made, and whoever had opened it just then would
/// hold a lock that nobody else asks for.
fn is_in_place(file: &File) -> Result<bool, Error> {
    Ok(file.metadata()?.nlink() > 0)
}

/// Whether the file is the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    let place = |metadata: Metadata| (metadata.dev(), metadata.ino());
    let (held, there) = (file.metadata().map(place), std::fs::symlink_metadata(path).map(place));
    held.is_ok_and(|held| there.is_ok_and(|there| held == there))
}

/// Who holds the job, as far as it said: whoever opened a crawl in it. The word of one that died is not its successor's.
fn living_holder(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.take(PID_LENGTH).read_to_string(&mut text).ok()?;
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

/// Nobody works in a job's folder for as long as this is held. Ends when it is dropped, and with the process.
#[derive(Debug)]
pub struct SharedHold {
    _file: File,
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
            // Not that of a folder which has taken this one's place.
            Mark::Made if is_at(&self.file, &self.path) => std::fs::remove_file(&self.path),
            Mark::Made => Ok(()),
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
        std::fs::write(path.join(DATABASE), "").expect("a file");
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

    #[test]
    fn a_lock_that_is_something_else_is_left_alone() {
        let parent = folder();
        let (other, job) = (parent.path().join("prec.txt"), parent.path().join("job"));
        type Make = fn(&Path, &Path);
        let cases: [(&str, Make); 4] = [
            ("a link", |other, lock| std::os::unix::fs::symlink(other, lock).expect("a link")),
            ("a second name", |other, lock| std::fs::hard_link(other, lock).expect("a link")),
            ("a folder", |_, lock| std::fs::create_dir(lock).expect("a folder")),
            ("a pipe", |_, lock| {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                rustix::fs::mknodat(rustix::fs::CWD, lock, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
            }),
        ];
        std::fs::write(&other, "4711\n").expect("a file");
        for (what, make) in cases {
            for has_database in [false, true] {
                std::fs::create_dir(&job).expect("a folder");
                std::fs::set_permissions(&job, Permissions::from_mode(0o700)).expect("a mode");
                make(&other, &job.join(LOCK));
                if has_database {
                    std::fs::write(job.join(DATABASE), "").expect("a file");
                }
                let error = JobDir::open_or_create(&job).expect_err(what);
                match error {
                    StoreError::NotAJob { .. } => assert!(!has_database, "{what}"),
                    StoreError::Folder { .. } => assert!(has_database, "{what}"),
                    other => panic!("{what}: {other}"),
                }
                assert_eq!(std::fs::read(&other).expect("bytes"), b"4711\n", "{what}");
                assert!(!JobDir { path: job.clone() }.in_use());
                std::fs::remove_dir_all(&job).expect("removed");
            }
        }
        // The database itself under the lock's name.
        std::fs::create_dir(&job).expect("a folder");
        std::fs::write(job.join(DATABASE), "rows").expect("a file");
        std::os::unix::fs::symlink(DATABASE, job.join(LOCK)).expect("a link");
        assert!(matches!(JobDir::open_or_create(&job), Err(StoreError::Folder { .. })));
        assert_eq!(std::fs::read(job.join(DATABASE)).expect("bytes"), b"rows");
    }

    #[test]
    fn a_lone_lock_with_something_in_it_is_not_ours() {
        let parent = folder();
        let lock = parent.path().join(LOCK);
        for text in ["mine", "4711 4712", "1234567890123456789012345"] {
            std::fs::write(&lock, text).expect("a file");
            assert!(matches!(JobDir::open_or_create(parent.path()), Err(StoreError::NotAJob { .. })), "{text}");
            assert_eq!(std::fs::read_to_string(&lock).expect("text"), text);
        }
    }

    #[test]
    fn a_database_that_is_no_file_is_refused_at_once() {
        let parent = folder();
        let (job, database) = (parent.path(), parent.path().join(DATABASE));
        let refused = || {
            assert!(matches!(JobDir::open_or_create(job), Err(StoreError::Damaged { .. })));
            assert!(matches!(JobDir::existing(job), Err(StoreError::Damaged { .. })));
            assert_eq!(std::fs::read_dir(job).expect("entries").count(), 1);
        };
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &database, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        refused();
        std::fs::remove_file(&database).expect("removed");
        std::os::unix::fs::symlink("elsewhere.db", &database).expect("a link");
        refused();
        std::fs::remove_file(&database).expect("removed");
        std::fs::create_dir(&database).expect("a folder");
        refused();
    }

    #[test]
    fn a_folder_that_cannot_be_looked_into_is_not_said_to_hold_no_job() {
        let parent = folder();
        let around = parent.path().join("around");
        std::os::unix::fs::symlink(&around, &around).expect("a link");
        assert!(matches!(JobDir::existing(&around), Err(StoreError::Folder { .. })));
        assert!(matches!(JobDir::existing(parent.path().join("none")), Err(StoreError::NoJob { .. })));
        // Root may look anywhere.
        if !rustix::process::geteuid().is_root() {
            let closed = parent.path().join("closed");
            std::fs::create_dir(&closed).expect("a folder");
            std::fs::set_permissions(&closed, Permissions::from_mode(0o000)).expect("a mode");
            let error = JobDir::existing(&closed).expect_err("closed");
            assert!(matches!(error, StoreError::Folder { cause, .. } if cause.kind() == ErrorKind::PermissionDenied));
        }
    }
}
