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
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
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

/// A connection with what belongs to it.
pub(crate) struct Desk {
    pub(crate) connection: Connection,
    sites: SiteCache,
    log: Log,
}

impl Desk {
    /// A refusal must leave a log that is there as it is, and no log where none was (S8).
    pub(crate) fn new(connection: Connection, log: Log) -> Done<Self> {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, log != Log::New)?;
        Ok(Self { connection, sites: SiteCache::default(), log })
    }

    /// Runs `work` in a transaction: all of it, or nothing.
    pub(crate) fn write<T>(&mut self, work: impl FnOnce(&Transaction<'_>, &mut SiteCache) -> Done<T>) -> Done<T> {
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

    fn close(self) -> Done<()> {
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
