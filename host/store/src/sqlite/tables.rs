//! The tables, the format version, and how a job of an older format becomes one of this.
//!
//! Decision: a format that only added tables is upgraded in place, in the transaction that opens the crawl: whole or not at all, and not
//! before nothing can be refused any more (S8). A job can be looked at without that. What it costs: what reads a job must do
//! without the newer tables; it is asked of `nephila status` alone.

use super::trouble::Done;
use crate::StoreError;
use rusqlite::Connection;

/// The format that this version writes.
pub(crate) const FORMAT: i64 = 3;

/// The oldest format that this version reads, and upgrades when a crawl is opened.
const OLDEST: i64 = 2;

/// `docs/job-directory.md` explains every column.
pub(crate) const TABLES: &str = "
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

/// Sessions with their pools, and events: what format 3 has and format 2 has not.
pub(crate) const NEW_TABLES: &str = "
CREATE TABLE session_pools (
    id INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    store TEXT NOT NULL,
    key TEXT NOT NULL,
    UNIQUE (scope, store, key)
);

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    pool INTEGER NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    max_uses INTEGER NOT NULL,
    max_error_score REAL NOT NULL,
    error_score_decrement REAL NOT NULL,
    blocked_status_codes TEXT NOT NULL,
    reserved INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    score REAL NOT NULL,
    open_uses TEXT NOT NULL,
    retired INTEGER NOT NULL,
    over INTEGER NOT NULL,
    user_data TEXT NOT NULL,
    user_data_by INTEGER NOT NULL,
    proxy TEXT,
    proxy_by INTEGER NOT NULL
);
CREATE UNIQUE INDEX sessions_by_name ON sessions (pool, name);
CREATE INDEX sessions_over ON sessions (pool, id) WHERE over = 1;
CREATE INDEX sessions_by_age ON sessions (pool, expires_at) WHERE over = 0;

CREATE TABLE session_cookies (
    session INTEGER NOT NULL,
    domain TEXT NOT NULL,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    changed_by INTEGER NOT NULL,
    value TEXT,
    reach TEXT,
    secure INTEGER,
    http_only INTEGER,
    same_site TEXT,
    expires_at INTEGER,
    created_at INTEGER,
    PRIMARY KEY (session, domain, path, name)
) WITHOUT ROWID;

CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    crawl INTEGER NOT NULL,
    name TEXT NOT NULL,
    payload TEXT NOT NULL,
    emitted_at INTEGER NOT NULL
);
CREATE INDEX events_by_crawl ON events (crawl, id);
";

/// What came to format 3 without a new one, since nothing of a job is lost without it: errors of attempts that were retried. It is made when a
/// crawl is opened, and who only looks does without.
const LATER_TABLES: &str = "
CREATE TABLE IF NOT EXISTS retry_errors (
    crawl INTEGER NOT NULL,
    code TEXT NOT NULL,
    count INTEGER NOT NULL,
    url TEXT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (crawl, code)
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

/// The same, of [`NEW_TABLES`].
const NEW_PARTS: [&str; 8] = [
    "session_pools",
    "sessions",
    "sessions_by_name",
    "sessions_over",
    "sessions_by_age",
    "session_cookies",
    "events",
    "events_by_crawl",
];

/// What a job of this format must have.
pub(crate) fn parts(format: i64) -> impl Iterator<Item = &'static str> {
    let new: &[&str] = if format < FORMAT { &[] } else { &NEW_PARTS };
    PARTS.iter().chain(new).copied()
}

/// Whether this version reads a job of this format.
pub(crate) const fn check_format(found: i64) -> Result<(), StoreError> {
    if found > FORMAT {
        Err(StoreError::NewerFormat { found, known: FORMAT })
    } else if found < OLDEST {
        Err(StoreError::OlderFormat { found, known: FORMAT })
    } else {
        Ok(())
    }
}

/// Makes a job of format 2 one of this format, and adds to one of this format what it has not, as part of a transaction.
pub(crate) fn upgrade(connection: &Connection) -> Done<()> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found == OLDEST {
        connection.execute_batch(&format!("{NEW_TABLES} PRAGMA user_version = {FORMAT};"))?;
        tracing::info!(from = found, to = FORMAT, "the job was upgraded to a newer format");
    }
    connection.execute_batch(LATER_TABLES)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::schema::open_in_memory;
    use super::*;

    #[test]
    fn the_parts_are_those_of_the_tables() {
        let connection = open_in_memory().expect("a connection");
        let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'").expect("a query");
        let names: Vec<String> =
            statement.query_map([], |row| row.get(0)).expect("rows").collect::<Result<_, _>>().expect("names");
        let parts: Vec<&str> = parts(FORMAT).collect();
        assert!(!names.iter().any(|name| name == "retry_errors"), "it comes when a crawl is opened");
        let forgotten: Vec<&String> = names.iter().filter(|name| !parts.contains(&name.as_str())).collect();
        assert!(forgotten.is_empty() && names.len() == parts.len(), "{forgotten:?}");
    }
}
