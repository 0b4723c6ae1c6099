//! Who works in a job's folder now.
//!
//! Decision: the lock is the kernel's on an open file, so that it ends with its process however that dies; the pid in the lock
//! file is only what people are told, and the file's time says since when that process works there. What it costs: two processes
//! on different machines that share the folder by a network file system which does not carry locks are not kept apart.

use super::{JobDir, LOCK, PLAINLY};
use crate::StoreError;
use nephila_model::Timestamp;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Bytes of a lock file with a pid in it, at most.
const PID_LENGTH: u64 = 24;

/// So often whoever comes asks again while somebody works in the job, who may be about to leave.
const LOCK_TRIES: u32 = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Who only looks holds the lock, shared, for an instant, but a slow reader again and again; so long a start tries to get in
/// between, and so often that it does.
const LOOKERS_PATIENCE: Duration = Duration::from_secs(2);
const LOOKERS_PAUSE: Duration = Duration::from_millis(1);

impl JobDir {
    // Where there is no job, a file of this name may be anybody's; ours is empty, or has a pid in it.
    pub(super) fn is_our_lock(&self) -> Result<bool, StoreError> {
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

    pub(super) fn lock(&self) -> Result<JobLock, StoreError> {
        let (path, began, mut tries) = (self.path.join(LOCK), Instant::now(), 0);
        let holder = loop {
            let (mut file, made) = open_lock(&path).map_err(|cause| self.unusable(cause))?;
            let in_the_way = match file.try_lock() {
                Ok(()) if is_in_place(&file).map_err(|cause| self.unusable(cause))? => {
                    return Ok(JobLock { file, path, mark: if made { Mark::Made } else { Mark::Found } });
                }
                Ok(()) => InTheWay::Worker,
                Err(TryLockError::Error(cause)) => return Err(self.unusable(cause)),
                // Who works has it alone.
                Err(TryLockError::WouldBlock) if file.try_lock_shared().is_ok() => InTheWay::Lookers,
                Err(TryLockError::WouldBlock) => InTheWay::Worker,
            };
            let pause = match in_the_way {
                InTheWay::Lookers if began.elapsed() < LOOKERS_PATIENCE => LOOKERS_PAUSE,
                InTheWay::Lookers => break "another process, which reads it".to_owned(),
                InTheWay::Worker if tries < LOCK_TRIES => {
                    tries += 1;
                    LOCK_PAUSE
                }
                InTheWay::Worker => break living_holder(&mut file).unwrap_or_else(|| "another process".to_owned()),
            };
            // Whoever waits holds nothing.
            drop(file);
            std::thread::sleep(pause);
        };
        Err(StoreError::InUse { dir: self.path.clone(), holder })
    }
}

/// Opens the lock file, and says whether it was made just now. It will be written to, so that it must be nothing but the job's.
pub(super) fn open_lock(path: &Path) -> Result<(File, bool), Error> {
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
pub(super) fn is_in_place(file: &File) -> Result<bool, Error> {
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

/// When the holder of the lock said who it is; the beginning of time if that cannot be seen.
pub(super) fn said_at(path: &Path) -> Timestamp {
    let at = std::fs::symlink_metadata(path).and_then(|found| found.modified());
    let since = at.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(0))
}

/// Who keeps a start from its job.
#[derive(Debug, Clone, Copy)]
enum InTheWay {
    /// A process that has the lock alone, or had it just now.
    Worker,
    /// Those that look.
    Lookers,
}

/// What was done to the lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Nothing.
    Found,
    /// It was not there.
    Made,
    /// Our pid is in it, and its time is this.
    Named { since: Timestamp },
}

/// Nobody works in a job's folder for as long as this is held. Ends when it is dropped, and with the process.
#[derive(Debug)]
pub struct SharedHold {
    pub(super) _file: File,
}

/// The right to work in a job's folder. Ends when it is dropped, and with the process.
#[derive(Debug)]
pub struct JobLock {
    pub(super) file: File,
    path: PathBuf,
    mark: Mark,
}

impl JobLock {
    /// Tells whoever comes who works here, and since when: the first time that it is told of. Not before the job is really taken:
    /// a refused start leaves the file as it was (S8).
    pub(crate) fn say_who(&mut self, since: Timestamp) {
        let written = match self.mark {
            Mark::Named { since: said } if said <= since => return,
            Mark::Named { .. } => Ok(()),
            Mark::Found | Mark::Made => {
                let emptied = self.file.set_len(0).and_then(|()| self.file.rewind());
                emptied.and_then(|()| writeln!(self.file, "{}", std::process::id()))
            }
        };
        let at = UNIX_EPOCH + Duration::from_millis(u64::try_from(since.as_millis()).unwrap_or(0));
        // Best effort: both are only for people.
        drop(written.and_then(|()| self.file.set_modified(at)));
        self.mark = Mark::Named { since };
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
            Mark::Named { .. } => self.file.set_len(0),
        });
    }
}
