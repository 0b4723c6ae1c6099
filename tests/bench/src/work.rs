//! The folder that the jobs of `known` are in: gigabytes, which must not stay behind.
//!
//! Decision: whatever is there goes when the work ends, well or with an error, and at a signal that asks it to end. What SIGKILL or a crash
//! leaves goes at the next start in the same folder, of whatever sizes it is. A lock on a file tells what was left from what is in use.

use anyhow::{Context, Result, bail};
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often it is tried to remove a job that a program still writes to.
const TRIES: usize = 20;

/// A folder for jobs, for one process at a time.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
    /// A signal came: another thread empties the folder, and ends the process.
    ending: Arc<AtomicBool>,
}

impl WorkFolder {
    /// Makes the folder, or empties it of the jobs that were left there.
    ///
    /// # Errors
    /// If another process works there, or if it cannot be written to.
    pub fn open(path: &Path) -> Result<Self> {
        std::fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))?;
        let file = path.join("known.lock");
        let lock = File::create(&file).with_context(|| format!("cannot create {}", file.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("another one works in {}; wait for it, or give another --folder", path.display())
            }
            Err(TryLockError::Error(error)) => return Err(error).with_context(|| format!("cannot lock {}", file.display())),
        }
        let folder = Self { path: path.to_owned(), _lock: lock, ending: Arc::default() };
        clear(&folder.path)?;
        Ok(folder)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// From now on SIGTERM, SIGINT and SIGHUP empty the folder and end the process, with 128 and the signal's number as shells say it.
    ///
    /// # Errors
    /// If signals cannot be heard.
    #[cfg(unix)]
    pub fn empty_on_signals(&self) -> Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("no runtime")?;
        let listen = |kind| {
            let _inside = runtime.enter();
            signal(kind).context("cannot hear signals")
        };
        let mut terminate = listen(SignalKind::terminate())?;
        let mut interrupt = listen(SignalKind::interrupt())?;
        let mut hang_up = listen(SignalKind::hangup())?;
        let (path, ending) = (self.path.clone(), self.ending.clone());
        let wait = move || {
            let number = runtime.block_on(async {
                tokio::select! {
                    _ = terminate.recv() => SignalKind::terminate(),
                    _ = interrupt.recv() => SignalKind::interrupt(),
                    _ = hang_up.recv() => SignalKind::hangup(),
                }
            });
            ending.store(true, Ordering::SeqCst);
            match clear(&path) {
                Ok(()) => eprintln!("known: stopped; its jobs are removed"),
                Err(error) => eprintln!("known: stopped; {error:#}; the next start tries again"),
            }
            // The programs that it started end with it.
            std::process::exit(128 + number.as_raw_value());
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(wait).context("no thread for signals")?;
        Ok(())
    }

    /// Nothing, on this system.
    ///
    /// # Errors
    /// None.
    #[cfg(not(unix))]
    pub fn empty_on_signals(&self) -> Result<()> {
        Ok(())
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What the work says of being disturbed is no news: the other thread ends the process in a moment.
        while self.ending.load(Ordering::SeqCst) {
            std::thread::park();
        }
        if let Err(error) = clear(&self.path) {
            eprintln!("known: {error:#}");
        }
    }
}

/// Removes all jobs in a folder, and nothing else.
fn clear(folder: &Path) -> Result<()> {
    let cannot = || format!("cannot empty {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        if entry.file_name().to_str().is_some_and(is_job) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// `known-KNOWN-SHORT-LONG`, as [`crate::KnownSize`] names them.
fn is_job(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.strip_prefix("known-").is_some_and(|sizes| sizes.split('-').count() == 3 && sizes.split('-').all(number))
}

/// Removes a folder, if it is there.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    let mut tries = 1;
    loop {
        match std::fs::remove_dir_all(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if tries == TRIES => return Err(error).with_context(|| format!("cannot remove {}", folder.display())),
            Err(_) => tries += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{WorkFolder, is_job};

    #[test]
    fn jobs_go_at_the_start_and_at_the_end_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let (job, other) = (folder.path().join("known-1000-10-20"), folder.path().join("run"));
        for dir in [&job, &other] {
            std::fs::create_dir_all(dir.join("filled/job")).unwrap();
        }
        let work = WorkFolder::open(folder.path()).unwrap();
        assert!(!job.exists() && other.exists());
        std::fs::create_dir_all(&job).unwrap();
        drop(work);
        assert!(!job.exists() && other.exists());
    }

    #[test]
    fn a_folder_is_for_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let work = WorkFolder::open(folder.path()).unwrap();
        assert!(WorkFolder::open(folder.path()).unwrap_err().to_string().contains("another one works in"));
        drop(work);
        WorkFolder::open(folder.path()).unwrap();
    }

    #[test]
    fn jobs_are_told_by_their_names() {
        assert!(is_job("known-1000-10-20"));
        for other in ["known", "known.lock", "known-1-2", "known-1-2-3-4", "known-1-2-x", "known--1-2", "run"] {
            assert!(!is_job(other), "{other}");
        }
    }
}
