//! Kinds of errors with a sample each.
//!
//! Decision: errors of requests that failed for good and those of attempts that were retried are two lists (Crawlee: `errors` and
//! `retryErrors`), since the one says what is lost and the other what it cost. Both are written in the transaction of the outcome that they
//! are of, and so is the page that is kept with the first of a kind: whether it is the first is asked there, so that it is kept once, whatever
//! is killed when. The column `code` has the name of the kind; a row of an earlier version has the code alone there, which is the
//! name of all others of that code, so that such a job is read and goes on as it is.

use super::counters::{MOST_NAMES, OTHER, rows_of, unsigned};
use super::trouble::Done;
use super::{key_values, sql_limit};
use crate::{ErrorSample, ErrorsOf};
use nephila_model::{CrawlId, ErrorKind, FailureReason, KeyValueWrite, KvStoreName, KvValue, error_snapshot_key};
use rusqlite::{Connection, OptionalExtension, params};

/// Kinds of errors of a crawl that have a page kept; of 1 MiB at most each ([`nephila_model::SNAPSHOT_BYTES`]).
const MOST_SNAPSHOTS: i64 = 100;

/// Kinds that errors of one code have; the rest of that code is one more. A plugin that puts what it read into its message would
/// else leave none to others. As many as have a page, so that what is the rest never has one of its own.
const MOST_OF_A_CODE: i64 = MOST_SNAPSHOTS;

/// An error that happened.
pub(crate) struct Happened<'a> {
    kind: ErrorKind,
    url: &'a str,
    message: &'a str,
    page: Option<&'a KvValue>,
}

impl<'a> Happened<'a> {
    /// Of the request with this URL, with the page that is kept if it is the first of its kind.
    pub(crate) fn of(url: &'a str, reason: &'a FailureReason, page: Option<&'a KvValue>) -> Self {
        Self { kind: ErrorKind::of(reason, url), url, message: &reason.message, page }
    }
}

const fn table(of: ErrorsOf) -> &'static str {
    match of {
        ErrorsOf::FailedRequests => "errors",
        ErrorsOf::RetriedAttempts => "retry_errors",
    }
}

/// Counts an error. The first of its kind is its sample, and if it comes with a page, that is kept.
pub(crate) fn add(connection: &Connection, crawl: CrawlId, of: ErrorsOf, error: &Happened<'_>) -> Done<()> {
    let table = table(of);
    let name = error.kind.name();
    let known = format!("SELECT 1 FROM {table} WHERE crawl = ?1 AND code = ?2");
    let is_known = connection.prepare_cached(&known)?.exists(params![crawl.0, name])?;
    let kinds = if is_known { 0 } else { rows_of(connection, &format!("SELECT count(*) FROM {table} WHERE crawl = ?1"), crawl)? };
    let name = if is_known {
        name
    } else if kinds >= MOST_NAMES {
        OTHER.to_owned()
    } else if kinds_of_code(connection, crawl, table, &error.kind.code)? >= MOST_OF_A_CODE {
        ErrorKind::others(&error.kind.code).name()
    } else {
        name
    };
    let put = format!(
        "INSERT INTO {table} (crawl, code, count, url, message) VALUES (?1, ?2, 1, ?3, ?4)
         ON CONFLICT (crawl, code) DO UPDATE SET count = count + 1"
    );
    connection.prepare_cached(&put)?.execute(params![crawl.0, name, error.url, error.message])?;
    match error.page {
        Some(page) if !is_known && kinds < MOST_SNAPSHOTS => {
            let key = error_snapshot_key(&name);
            let write = KeyValueWrite { store: KvStoreName::Default, key, value: Some(page.clone()) };
            key_values::write(connection, crawl, &[write])
        }
        _ => Ok(()),
    }
}

fn kinds_of_code(connection: &Connection, crawl: CrawlId, table: &str, code: &str) -> Done<i64> {
    let (from, before) = ErrorKind::range_of(code);
    let query = format!("SELECT count(*) FROM {table} WHERE crawl = ?1 AND code >= ?2 AND code < ?3");
    Ok(connection.prepare_cached(&query)?.query_row(params![crawl.0, from, before], |row| row.get(0))?)
}

/// The most frequent kinds.
pub(crate) fn most_frequent(connection: &Connection, crawl: CrawlId, of: ErrorsOf, limit: usize) -> Done<Vec<ErrorSample>> {
    let table = table(of);
    // A job of an earlier version of this format has no list of those that were retried, as long as it is only looked at.
    if of == ErrorsOf::RetriedAttempts && !is_there(connection, table)? {
        return Ok(Vec::new());
    }
    let query = format!("SELECT code, count, url, message FROM {table} WHERE crawl = ?1 ORDER BY count DESC, code LIMIT ?2");
    let mut statement = connection.prepare_cached(&query)?;
    let read = |row: &rusqlite::Row<'_>| {
        let (name, count): (String, u64) = (row.get(0)?, unsigned(row.get(1)?));
        let ErrorKind { code, position, shape } = ErrorKind::parse(&name);
        let (url, message) = (row.get(2)?, row.get(3)?);
        Ok((error_snapshot_key(&name), ErrorSample { code, position, shape, count, url, message, snapshot: None }))
    };
    let samples = statement.query_map(params![crawl.0, sql_limit(limit)], read)?.collect::<Result<Vec<_>, _>>()?;
    let kept = |key: String| -> Done<Option<String>> {
        Ok(key_values::is_there(connection, crawl, &KvStoreName::Default, &key)?.then_some(key))
    };
    samples
        .into_iter()
        .map(|(key, sample)| match of {
            ErrorsOf::FailedRequests => Ok(ErrorSample { snapshot: kept(key)?, ..sample }),
            ErrorsOf::RetriedAttempts => Ok(sample),
        })
        .collect()
}

fn is_there(connection: &Connection, table: &str) -> Done<bool> {
    let query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    Ok(connection.prepare_cached(query)?.query_row([table], |_| Ok(())).optional()?.is_some())
}
