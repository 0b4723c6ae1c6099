//! The file: its tables, its format version, and what is asked of a file before it is trusted.
//!
//! Decision: whether a file is ours, and of which format, is read from its first hundred bytes before SQLite opens it, since opening a file
//! in WAL mode may write beside it (S8). For that to be true the format is only ever written in rollback mode, that is, into the file
//! itself.
//!
//! After an unclean stop there is no `quick_check`: it reads the whole file (minutes for the ten million requests that S9
//! promises), while what a kill can leave behind is repaired by the write-ahead log, whose frames carry checksums. What is checked costs
//! the same for every size: the header, the file's length against it, and that every table and index is there. A page that went
//! bad on the disk is found when it is read, and said to be damaged.

use super::Durability;
use super::trouble::{Done, Trouble};
use crate::{JobDir, StoreError};
use nephila_model::NORMALISER_VERSION;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::cmp::Ordering;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The format that this version reads and writes.
pub(crate) const FORMAT: i64 = 2;

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

/// `docs/job-directory.md` explains every column.
const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE crawls (
    id INTEGER PRIMARY KEY,
    crawler_id TEXT NOT NULL UNIQUE,
    plugin_name TEXT NOT NULL,
    plugin_digest TEXT NOT NULL,
    site_by TEXT NOT NULL,
    request_order TEXT NOT NULL,
    max_state_value INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    opened_at INTEGER NOT NULL,
    openings INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    ending_status TEXT,
    ending_reason TEXT,
    ending_at INTEGER,
    ending_in_hand TEXT,
    finish_done INTEGER NOT NULL DEFAULT 0,
    status_message TEXT,
    stop_reason TEXT,
    turn INTEGER NOT NULL DEFAULT 0,
    suspect INTEGER
);

CREATE TABLE sites (
    id INTEGER PRIMARY KEY,
    crawl INTEGER NOT NULL,
    key TEXT NOT NULL,
    shard INTEGER NOT NULL,
    ready INTEGER NOT NULL DEFAULT 0,
    head_priority INTEGER NOT NULL DEFAULT 0,
    turn INTEGER NOT NULL DEFAULT 0,
    next_allowed INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX sites_by_key ON sites (crawl, key);
CREATE INDEX sites_by_head ON sites (crawl, head_priority DESC, turn) WHERE ready > 0;
CREATE INDEX sites_by_turn ON sites (crawl, turn) WHERE ready > 0;

CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    crawl INTEGER NOT NULL,
    key BLOB NOT NULL,
    site INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT 0,
    priority INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    not_before INTEGER,
    retry_count INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    depth INTEGER NOT NULL,
    label TEXT,
    url TEXT NOT NULL,
    original_url TEXT,
    chain TEXT,
    spec TEXT,
    payload BLOB,
    final_key BLOB,
    final_url TEXT,
    status INTEGER,
    reason TEXT,
    message TEXT
);
CREATE UNIQUE INDEX requests_by_key ON requests (key, crawl);
CREATE INDEX requests_ready ON requests (site, priority DESC, rank) WHERE state = 0 AND not_before IS NULL;
CREATE INDEX requests_undue ON requests (crawl, not_before) WHERE state = 0 AND not_before IS NOT NULL;
CREATE UNIQUE INDEX requests_by_final ON requests (final_key, crawl, ifnull(label, '')) WHERE state = 1 AND final_key IS NOT NULL;

CREATE TABLE datasets (id INTEGER PRIMARY KEY, scope INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE (scope, name));

CREATE TABLE items (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    dataset INTEGER NOT NULL,
    crawl INTEGER NOT NULL,
    item_id BLOB NOT NULL,
    json TEXT NOT NULL
);
CREATE INDEX items_by_dataset ON items (dataset);

CREATE TABLE key_values (
    scope INTEGER NOT NULL,
    store TEXT NOT NULL,
    key TEXT NOT NULL,
    content_type TEXT NOT NULL,
    value BLOB NOT NULL,
    UNIQUE (scope, store, key)
);

CREATE TABLE state (
    crawler_id TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (crawler_id, key)
);

CREATE TABLE state_versions (crawler_id TEXT PRIMARY KEY, last INTEGER NOT NULL, listing INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE counters (crawl INTEGER NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (crawl, name)) WITHOUT ROWID;

CREATE TABLE errors (
    crawl INTEGER NOT NULL,
    code TEXT NOT NULL,
    count INTEGER NOT NULL,
    url TEXT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (crawl, code)
) WITHOUT ROWID;

CREATE TABLE sinks (
    crawl INTEGER NOT NULL,
    target TEXT NOT NULL,
    cursor INTEGER NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (crawl, target)
) WITHOUT ROWID;
";

/// Every table and every index that carries an invariant, as `sqlite_schema` names them.
const PARTS: [&str; 20] = [
    "meta",
    "crawls",
    "sites",
    "sites_by_key",
    "sites_by_head",
    "sites_by_turn",
    "requests",
    "requests_by_key",
    "requests_ready",
    "requests_undue",
    "requests_by_final",
    "datasets",
    "items",
    "items_by_dataset",
    "key_values",
    "state",
    "state_versions",
    "counters",
    "errors",
    "sinks",
];

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
    check_format(word(60))?;
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

fn check_format(found: i64) -> Result<(), StoreError> {
    match found.cmp(&FORMAT) {
        Ordering::Greater => Err(StoreError::NewerFormat { found, known: FORMAT }),
        Ordering::Less => Err(StoreError::OlderFormat { found, known: FORMAT }),
        Ordering::Equal => Ok(()),
    }
}

/// The connection that writes, on a file that was inspected; makes what is missing.
pub(crate) fn open_writer(dir: &JobDir, found: Found, durability: Durability) -> Done<Connection> {
    let connection = Connection::open(dir.database())?;
    connection.busy_timeout(Duration::from_secs(10))?;
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
    connection.busy_timeout(Duration::from_secs(10))?;
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
        "BEGIN IMMEDIATE; {TABLES}
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
    check_format(pragma("user_version")?)?;
    let mut statement = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?1")?;
    for part in PARTS {
        if !statement.exists([part])? {
            return Err(Trouble::Damaged(format!("its part `{part}` is missing")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_those_of_the_tables() {
        let connection = open_in_memory().expect("a connection");
        let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'").expect("a query");
        let names: Vec<String> =
            statement.query_map([], |row| row.get(0)).expect("rows").collect::<Result<_, _>>().expect("names");
        let forgotten: Vec<&String> = names.iter().filter(|name| !PARTS.contains(&name.as_str())).collect();
        assert!(forgotten.is_empty() && names.len() == PARTS.len(), "{forgotten:?}");
    }
}
