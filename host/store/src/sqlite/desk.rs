//! A connection with what belongs to it: how it writes, what it remembers, its place on the disk, and its log.
//!
//! Decision: every write is a transaction of its own that is whole or nothing, and what is remembered of the rows ([`Notes`]) is
//! taken in only when that transaction is committed.

use super::notes::Notes;
use super::schema::PATIENCE;
use super::trouble::{Done, Trouble};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Statements that a connection keeps prepared; more than we have.
const STATEMENTS: usize = 128;

/// What a connection may do with the write-ahead log when it is dropped. Only [`Desk::close`] folds it into the file; a drop
/// leaves the files as a kill would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Log {
    /// There was none when this connection came: what it made it may clear away, as long as it has written nothing.
    New,
    /// It has what was committed and not folded yet.
    Kept,
    /// It is another connection's.
    Foreign,
}

/// What folding does about those who read in the log, and so keep it from being emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// They are left alone: all that can be folded is, and the log stays as long as it is.
    LeftAlone,
    /// They are waited for, for as long as [`PATIENCE`]: only an emptied log gives its room back.
    WaitedFor,
}

/// So often is a file looked for under its name, at most.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// With less room than this on its disk (64 MiB), the log is folded after each commit: to fold it takes room for what it adds to
/// the file, and on a disk that is full there would be none.
const RESERVE: u64 = 64 * 1024 * 1024;

/// With so much more than [`RESERVE`] (1 GiB), the next three commits do not look how much there is, which saves a call of the
/// system that says the same nearly always. It is a guess, and no bound: a group holds 16 MiB of effects and one outcome more
/// (64 MiB unless it is set otherwise), and others write to the same disk. If it is wrong, the log is folded three commits
/// late, or not in time; a commit that finds the disk full is still tried again with the log folded, and then refused whole.
const PLENTY: u64 = 1024 * 1024 * 1024;
const SPARED: u32 = 3;

/// The file of a connection, as it was when it was opened. What is written to a file that was removed is gone with the last
/// handle on it, and nothing but its name tells.
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

/// Work that can wait, in pieces: says whether there is more. What goes wrong in it is its own to tell: nobody waits for it.
pub(crate) type Chore = Box<dyn FnMut(&Connection) -> bool + Send>;

/// A connection with what belongs to it.
pub(crate) struct Desk {
    pub(crate) connection: Connection,
    notes: Notes,
    chore: Option<Chore>,
    log: Log,
    place: Option<Place>,
    /// See [`RESERVE`].
    reserve: u64,
    /// So many commits do not look how much room there is.
    spared: u32,
}

impl Desk {
    /// A refusal must leave a log that is there as it is, and no log where none was (S8).
    pub(crate) fn new(connection: Connection, log: Log, notes: Notes) -> Done<Self> {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, log != Log::New)?;
        Ok(Self { connection, notes, chore: None, log, place: None, reserve: RESERVE, spared: 0 })
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
    pub(crate) fn fold(&self, readers: Readers) {
        if let Err(error) = self.try_fold(readers) {
            tracing::debug!(%error, "the log was not folded");
        }
    }

    // To empty the log is to wait for its readers unless that is forbidden, and while it waits nobody can commit.
    fn try_fold(&self, readers: Readers) -> Result<(), rusqlite::Error> {
        if readers == Readers::WaitedFor {
            return self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
        self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        self.connection.busy_timeout(Duration::ZERO)?;
        let emptied = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        self.connection.busy_timeout(PATIENCE)?;
        match emptied {
            // Somebody reads in it.
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => Ok(()),
            emptied => emptied,
        }
    }

    /// Runs `work` in a transaction: all of it, or nothing. If the disk is full, room is made once, and it is tried again: every
    /// commit writes whole pages to the log, so that a log holds many times over what it adds to the file.
    pub(crate) fn write<T>(&mut self, mut work: impl FnMut(&Connection, &mut Notes) -> Done<T>) -> Done<T> {
        match self.write_once(&mut work) {
            Err(trouble) if trouble.is_full_disk() => {
                self.fold(Readers::WaitedFor);
                self.write_once(&mut work)
            }
            done => done,
        }
        .inspect(|_| self.keep_room())
    }

    // Waits for no reader: what is folded is written over by the next commits, and that is enough.
    fn keep_room(&mut self) {
        let Some(place) = &self.place else { return };
        if self.spared > 0 {
            self.spared -= 1;
            return;
        }
        let free = rustix::fs::statvfs(&place.path).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        if free >= self.reserve.saturating_add(PLENTY) {
            self.spared = SPARED;
        } else if free < self.reserve
            && let Err(error) = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
        {
            tracing::debug!(%error, "the log was not folded");
        }
    }

    fn write_once<T>(&mut self, work: &mut impl FnMut(&Connection, &mut Notes) -> Done<T>) -> Done<T> {
        run(&self.connection, "BEGIN IMMEDIATE")?;
        let worked = match work(&self.connection, &mut self.notes) {
            Ok(value) => {
                run(&self.connection, "COMMIT").map(|()| value).inspect_err(|_| self.notes.not_known_to_be_rolled_back())
            }
            Err(trouble) => Err(trouble),
        };
        if worked.is_err() {
            self.notes.rolled_back();
            // Where the engine has not done it already. If it cannot be done, the next transaction cannot begin, and says so.
            if !self.connection.is_autocommit()
                && let Err(error) = run(&self.connection, "ROLLBACK")
            {
                tracing::debug!(?error, "the transaction was not rolled back");
            }
            return worked;
        }
        self.notes.committed();
        if self.log == Log::New {
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            self.log = Log::Kept;
        }
        worked
    }

    /// Another [`RESERVE`].
    #[cfg(test)]
    pub(crate) const fn set_reserve(&mut self, bytes: u64) {
        (self.reserve, self.spared) = (bytes, 0);
    }

    /// From now on this is done while nothing else is asked for.
    pub(crate) fn set_chore(&mut self, chore: Chore) {
        self.chore = Some(chore);
    }

    pub(crate) const fn has_chore(&self) -> bool {
        self.chore.is_some()
    }

    /// Does a piece of it.
    pub(crate) fn do_chore(&mut self) {
        let Some(mut chore) = self.chore.take() else { return };
        self.chore = chore(&self.connection).then_some(chore);
    }

    pub(crate) fn close(mut self) -> Done<()> {
        if let Err(trouble) = self.check_place_now() {
            // What is there now is not ours to fold or clear away.
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            return Err(trouble);
        }
        if self.log != Log::Foreign {
            // Who looks at the job may do so for as long as they like.
            self.try_fold(Readers::LeftAlone)?;
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        }
        self.connection.close().map_err(|(_, error)| Trouble::Sql(error))
    }
}

// Kept prepared, as every statement of ours.
fn run(connection: &Connection, sql: &str) -> Done<()> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}
