//! A thread that owns a connection and runs what it is sent, one after another.
//!
//! Decision: SQLite blocks, and a connection is used by one thread at a time; so each has a thread of its own, fed by a channel, and the
//! tasks of the asynchronous side wait for an answer without holding a worker of the runtime. What it costs: one hop between threads
//! per call (some microseconds). The channel needs no bound: it holds one task per waiting caller. A caller that goes
//! away does not undo its task.

use super::sites::SiteCache;
use super::trouble::{Done, Trouble};
use crate::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Statements that a connection keeps prepared; more than we have.
const STATEMENTS: usize = 128;

/// What a connection may do with the write-ahead log when it is dropped. Only [`Worker::close`] folds it into the file; a drop leaves
/// the files as a kill would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Log {
    /// There was none when this connection came: what it made it may clear away, as long as it has written nothing.
    New,
    /// It has what was committed and not folded yet.
    Kept,
    /// It is another connection's.
    Foreign,
}

/// So often is a file looked for under its name, at most.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// With less room than this on its disk (64 MiB), the log is folded after each commit: to fold it takes room for what it adds to the file, and
/// on a disk that is full there would be none.
const RESERVE: u64 = 64 * 1024 * 1024;

/// The file of a connection, as it was when it was opened. What is written to a file that was removed is gone with the last handle on it,
/// and nothing but its name tells.
struct Place {
    path: PathBuf,
    file: (u64, u64),
    seen: Instant,
}

impl Place {
    fn of(path: &Path) -> Result<Self, std::io::Error> {
        let metadata = std::fs::symlink_metadata(path)?;
        Ok(Self { path: path.to_owned(), file: (metadata.dev(), metadata.ino()), seen: Instant::now() })
    }

    // That it cannot be looked for is no sign that it is gone.
    fn look(&mut self) -> Done<()> {
        let is_there = match Self::of(&self.path) {
            Ok(found) => found.file == self.file,
            Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        };
        if !is_there {
            return Err(Trouble::Damaged("it was removed or replaced while the crawl ran".to_owned()));
        }
        self.seen = Instant::now();
        Ok(())
    }
}

/// A connection with what belongs to it.
pub(crate) struct Desk {
    pub(crate) connection: Connection,
    sites: SiteCache,
    log: Log,
    place: Option<Place>,
    /// See [`RESERVE`].
    pub(crate) reserve: u64,
}

impl Desk {
    /// A refusal must leave a log that is there as it is, and no log where none was (S8).
    pub(crate) fn new(connection: Connection, log: Log) -> Done<Self> {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, log != Log::New)?;
        Ok(Self { connection, sites: SiteCache::default(), log, place: None, reserve: RESERVE })
    }

    /// The connection's file is at `path`, and is to be there for as long as it is written to.
    pub(crate) fn at(mut self, path: &Path) -> Result<Self, std::io::Error> {
        self.place = Some(Place::of(path)?);
        Ok(self)
    }

    /// Whether the file is still where it was, as of the last second.
    pub(crate) fn check_place(&mut self) -> Done<()> {
        match &mut self.place {
            Some(place) if place.seen.elapsed() >= LOOK_EVERY => place.look(),
            _ => Ok(()),
        }
    }

    /// Whether the file is still where it was, now.
    pub(crate) fn check_place_now(&mut self) -> Done<()> {
        self.place.as_mut().map_or(Ok(()), Place::look)
    }

    /// Folds the log into the file and empties it, as far as that is possible: readers may be in it, and the disk may be full.
    pub(crate) fn fold(&self) {
        if let Err(error) = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
            tracing::debug!(%error, "the log was not folded");
        }
    }

    /// Runs `work` in a transaction: all of it, or nothing. If the disk is full, room is made once, and it is tried again: every commit
    /// writes whole pages to the log, so that a log holds many times over what it adds to the file.
    pub(crate) fn write<T>(&mut self, mut work: impl FnMut(&Transaction<'_>, &mut SiteCache) -> Done<T>) -> Done<T> {
        match self.write_once(&mut work) {
            Err(trouble) if trouble.is_full_disk() => {
                self.fold();
                self.write_once(&mut work)
            }
            done => done,
        }
        .inspect(|_| self.keep_room())
    }

    // Waits for no reader: what is folded is written over by the next commits, and that is enough.
    fn keep_room(&self) {
        let Some(place) = &self.place else { return };
        let is_short =
            rustix::fs::statvfs(&place.path).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < self.reserve);
        if is_short && let Err(error) = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())) {
            tracing::debug!(%error, "the log was not folded");
        }
    }

    fn write_once<T>(&mut self, work: &mut impl FnMut(&Transaction<'_>, &mut SiteCache) -> Done<T>) -> Done<T> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let worked = work(&transaction, &mut self.sites).and_then(|value| {
            transaction.commit()?;
            Ok(value)
        });
        if worked.is_err() {
            // It may know sites that were rolled back.
            self.sites.clear();
        } else if self.log == Log::New {
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            self.log = Log::Kept;
        }
        worked
    }

    fn close(mut self) -> Done<()> {
        if let Err(trouble) = self.check_place_now() {
            // What is there now is not ours to fold or clear away.
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            return Err(trouble);
        }
        if self.log != Log::Foreign {
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        }
        self.connection.close().map_err(|(_, error)| Trouble::Sql(error))
    }
}

enum Message {
    Work(Box<dyn FnOnce(&mut Desk) + Send>),
    Close(oneshot::Sender<Done<()>>),
}

/// The asynchronous side of a [`Desk`].
pub(crate) struct Worker {
    sender: Mutex<Option<mpsc::Sender<Message>>>,
    thread: Option<JoinHandle<()>>,
    what: Arc<str>,
}

impl Worker {
    /// `what` is the file, for messages.
    pub(crate) fn start(name: &str, what: Arc<str>, mut desk: Desk) -> Result<Self, StoreError> {
        let (sender, receiver) = mpsc::channel();
        let run = move || {
            while let Ok(message) = receiver.recv() {
                match message {
                    Message::Work(work) => work(&mut desk),
                    Message::Close(reply) => {
                        drop(reply.send(desk.close()));
                        return;
                    }
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name(format!("nephila-{name}"))
            .spawn(run)
            .map_err(|cause| StoreError::Engine { action: "start a thread", cause: cause.to_string() })?;
        Ok(Self { sender: Mutex::new(Some(sender)), thread: Some(thread), what })
    }

    /// Runs `work` on the thread and gives its answer. `action` is for messages: the store failed to …
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        action: &'static str,
        work: impl FnOnce(&mut Desk) -> Done<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let task = move |desk: &mut Desk| drop(reply.send(work(desk)));
        match self.sender.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(sender) => sender.send(Message::Work(Box::new(task))).map_err(|_| StoreError::Closed)?,
            None => return Err(StoreError::Closed),
        }
        let done = answer.await.map_err(|_| StoreError::Closed)?;
        done.map_err(|trouble| trouble.into_error(action, &self.what))
    }

    /// Closes the connection after what was sent before. Calls from here on fail; a second close does nothing.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        let Some(sender) = self.sender.lock().unwrap_or_else(PoisonError::into_inner).take() else { return Ok(()) };
        let (reply, answer) = oneshot::channel();
        sender.send(Message::Close(reply)).map_err(|_| StoreError::Closed)?;
        let done = answer.await.map_err(|_| StoreError::Closed)?;
        done.map_err(|trouble| trouble.into_error("close the job", &self.what))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The connection is gone before the job's lock is: both are dropped in this order.
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
