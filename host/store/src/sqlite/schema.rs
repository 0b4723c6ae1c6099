//! The file: what is asked of it before it is trusted, and how it is opened.
//!
//! Decision: whether a file is ours, and of which format, is read from its first hundred bytes before SQLite opens it, since opening a file
//! in WAL mode may write beside it (S8). For that to be true a new file gets its format in rollback mode, that is, into the file
//! itself. An upgrade ([`super::tables::upgrade`]) is in the log until that is folded, at once unless somebody reads in it; until then the file
//! says that it has the older format, which it would be upgraded from, and the engine knows better.
//!
//! After an unclean stop there is no `quick_check`: it reads the whole file (minutes for the ten million requests that S9
//! promises), while what a kill can leave behind is repaired by the write-ahead log, whose frames carry checksums. What is checked costs
//! the same for every size: the header, the file's length against it, and that every table and index is there. A page that went
//! bad on the disk is found when it is read, and said to be damaged.

use super::Durability;
use super::tables::{self, FORMAT, NEW_TABLES, TABLES};
use super::trouble::{Done, Trouble};
use crate::{JobDir, StoreError};
use nephila_model::NORMALISER_VERSION;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// "Neph": this SQLite file is ours.
pub(crate) const APPLICATION: i64 = 0x4e65_7068;

/// What a SQLite file begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Page cache of the connection that writes, and of the one that reads; the memory that S9 allows.
const WRITER_CACHE_KIB: i64 = 32 * 1024;
const READER_CACHE_KIB: i64 = 8 * 1024;

/// The log is folded into the file when it has this many pages (32 MiB), and does not stay larger. Keys are spread over the whole index, so
/// that a group touches many pages, and one that waits in the log is touched again before it is written: a log of 8 MiB takes a quarter more
/// work for a request that is accepted. But each commit writes every page that it touched anew, so that a small crawl's log is
/// many times what it adds to the file, and that is what a job takes from a disk that runs full.
pub(crate) const LOG_PAGES: i64 = 8_192;

/// Bytes of a page: what SQLite takes unless it is told otherwise.
pub(crate) const PAGE_BYTES: i64 = 4_096;

/// How long a connection waits for another one that is in its way.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// What the first look at a file tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing: the file is to be made.
    Nothing,
    /// A file whose maker works, or died, inside the first transaction: the engine will find that it is nothing yet, or a job without
    /// a crawl.
    Begun,
    /// A job that was closed.
    AtRest,
    /// A job with a write-ahead log: a process works in it, or died.
    WithLog,
}

/// Looks at a job's file without the engine; touches nothing.
pub(crate) fn inspect(dir: &JobDir) -> Result<Found, StoreError> {
    let path = dir.database();
    let unreadable = |cause| StoreError::Folder { dir: dir.path().to_owned(), cause };
    let damaged = |cause: &str| StoreError::Damaged { what: path.display().to_string(), cause: cause.to_owned() };
    // A pipe would never answer, and a link leads to what is not the job's.
    let size = |path: &Path| match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(unreadable(cause)),
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
        Ok(_) => Err(StoreError::Damaged { what: path.display().to_string(), cause: "it is not a regular file".to_owned() }),
    };
    let length = size(&path)?.unwrap_or(0);
    let has = |suffix| Ok::<_, StoreError>(size(&beside(&path, suffix))?.is_some_and(|length| length > 0));
    let (has_journal, has_log) = (has("-journal")?, has("-wal")?);
    has("-shm")?;
    if length == 0 && has_log {
        // The engine would begin anew, and throw the log away.
        return Err(damaged("it is empty, and what was committed is in the log beside it"));
    }
    if length == 0 {
        // Its maker died before the first transaction, or did not come to make it.
        return Ok(Found::Nothing);
    }
    let mut file = File::open(&path).map_err(unreadable)?;
    if has_journal {
        return Ok(Found::Begun);
    }
    let mut header = [0; 100];
    if length < 100 || file.read_exact(&mut header).is_err() || !header.starts_with(MAGIC) {
        return Err(damaged("it is not a SQLite database"));
    }
    let word = |at: usize| i64::from(u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]));
    if word(68) != APPLICATION {
        return Err(StoreError::NotAJob { dir: dir.path().to_owned() });
    }
    tables::check_format(word(60))?;
    let found = if has_log { Found::WithLog } else { Found::AtRest };
    let page = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => u64::from(size),
    };
    // With a log, the file may lag behind its header.
    if found == Found::AtRest && length < page * u64::try_from(word(28)).unwrap_or(0) {
        return Err(damaged("it is shorter than its header says"));
    }
    Ok(found)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The connection that writes, on a file that was inspected; makes what is missing.
pub(crate) fn open_writer(dir: &JobDir, found: Found, durability: Durability) -> Done<Connection> {
    let connection = Connection::open(dir.database())?;
    connection.busy_timeout(PATIENCE)?;
    let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    if found == Found::Nothing || pages == 0 {
        create(&connection)?
    } else {
        check(&connection, dir)?
    }
    connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0))?;
    let synchronous = match durability {
        Durability::Kill => "NORMAL",
        Durability::PowerLoss => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", LOG_PAGES * PAGE_BYTES)?;
    tune(&connection, WRITER_CACHE_KIB)?;
    Ok(connection)
}

/// A connection that reads, beside the one that writes.
pub(crate) fn open_reader(path: &Path) -> Done<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "query_only", true)?;
    tune(&connection, READER_CACHE_KIB)?;
    Ok(connection)
}

/// A connection to look at a job that a process works in, or died in.
pub(crate) fn look_at_log(dir: &JobDir) -> Done<Connection> {
    let connection = open_reader(&dir.database())?;
    check(&connection, dir)?;
    Ok(connection)
}

/// A connection to look at a job at rest: read as a file that does not change, since the engine would otherwise leave a log and its index
/// beside it.
pub(crate) fn look_at_rest(dir: &JobDir) -> Done<Connection> {
    let mut uri = String::from("file:");
    for byte in dir.database().into_os_string().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(char::from(*byte)),
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri, flags)?;
    check(&connection, dir)?;
    Ok(connection)
}

/// The connection of a store that is nowhere but in memory.
pub(crate) fn open_in_memory() -> Done<Connection> {
    let connection = Connection::open_in_memory()?;
    create(&connection)?;
    tune(&connection, WRITER_CACHE_KIB)?;
    Ok(connection)
}

fn tune(connection: &Connection, cache_kib: i64) -> Done<()> {
    connection.pragma_update(None, "cache_size", -cache_kib)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // A plan depends on the query alone. Without this a statement that looks for a site is planned anew each time that the site is another.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

// Tables and format in one transaction and in rollback mode: a file is either nothing yet, or whole and known by its header.
fn create(connection: &Connection) -> Done<()> {
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; {TABLES} {NEW_TABLES}
         INSERT INTO meta (name, value) VALUES ('normaliser', {NORMALISER_VERSION});
         PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; COMMIT;"
    ))?;
    Ok(())
}

fn check(connection: &Connection, dir: &JobDir) -> Done<()> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if pragma("application_id")? != APPLICATION {
        return Err(StoreError::NotAJob { dir: dir.path().to_owned() }.into());
    }
    let format = pragma("user_version")?;
    tables::check_format(format)?;
    let mut statement = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?1")?;
    for part in tables::parts(format) {
        if !statement.exists([part])? {
            return Err(Trouble::Damaged(format!("its part `{part}` is missing")));
        }
    }
    Ok(())
}
