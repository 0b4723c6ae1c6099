//! Kinds of errors with a sample each.
//!
//! Decision: errors of requests that failed for good and those of attempts that were retried are two lists (Crawlee: `errors` and
//! `retryErrors`), since the one says what is lost and the other what it cost. Both are written in the transaction of the outcome that they
//! are of, and so is the page that is kept with the first of a kind: whether it is the first is asked there, so that it is kept once, whatever
//! is killed when.

use super::counters::{MOST_NAMES, OTHER, rows_of, unsigned};
use super::trouble::Done;
use super::{key_values, sql_limit};
use crate::{ErrorSample, ErrorsOf};
use nephila_model::{CrawlId, FailureReason, KeyValueWrite, KvStoreName, KvValue, error_snapshot_key};
use rusqlite::{Connection, OptionalExtension, params};

/// Kinds of errors of a crawl that have a page kept; of 1 MiB at most each ([`nephila_model::SNAPSHOT_BYTES`]).
const MOST_SNAPSHOTS: i64 = 100;

/// An error that happened.
pub(crate) struct Happened<'a> {
    code: &'a str,
    url: &'a str,
    message: &'a str,
    page: Option<&'a KvValue>,
}

impl<'a> Happened<'a> {
    /// Of the request with this URL, with the page that is kept if it is the first of its kind.
    pub(crate) fn of(url: &'a str, reason: &'a FailureReason, page: Option<&'a KvValue>) -> Self {
        Self { code: reason.code.as_str(), url, message: &reason.message, page }
    }
}

const fn table(of: ErrorsOf) -> &'static str {
    match of {
        ErrorsOf::FailedRequests => "errors",
        ErrorsOf::RetriedAttempts => "retry_errors",
    }
}

/// Counts an error. The first of its code is its sample, and if it comes with a page, that is kept.
pub(crate) fn add(connection: &Connection, crawl: CrawlId, of: ErrorsOf, error: &Happened<'_>) -> Done<()> {
    let table = table(of);
    let known = format!("SELECT 1 FROM {table} WHERE crawl = ?1 AND code = ?2");
    let is_known = connection.prepare_cached(&known)?.exists(params![crawl.0, error.code])?;
    let kinds = if is_known { 0 } else { rows_of(connection, &format!("SELECT count(*) FROM {table} WHERE crawl = ?1"), crawl)? };
    let code = if kinds < MOST_NAMES { error.code } else { OTHER };
    let put = format!(
        "INSERT INTO {table} (crawl, code, count, url, message) VALUES (?1, ?2, 1, ?3, ?4)
         ON CONFLICT (crawl, code) DO UPDATE SET count = count + 1"
    );
    connection.prepare_cached(&put)?.execute(params![crawl.0, code, error.url, error.message])?;
    match error.page {
        Some(page) if !is_known && kinds < MOST_SNAPSHOTS => {
            let key = error_snapshot_key(code);
            let write = KeyValueWrite { store: KvStoreName::Default, key, value: Some(page.clone()) };
            key_values::write(connection, crawl, &[write])
        }
        _ => Ok(()),
    }
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
        let (code, count) = (row.get(0)?, unsigned(row.get(1)?));
        Ok(ErrorSample { code, count, url: row.get(2)?, message: row.get(3)?, snapshot: None })
    };
    let mut samples = statement.query_map(params![crawl.0, sql_limit(limit)], read)?.collect::<Result<Vec<_>, _>>()?;
    if of == ErrorsOf::FailedRequests {
        for sample in &mut samples {
            let key = error_snapshot_key(&sample.code);
            sample.snapshot = key_values::is_there(connection, crawl, &KvStoreName::Default, &key)?.then_some(key);
        }
    }
    Ok(samples)
}

fn is_there(connection: &Connection, table: &str) -> Done<bool> {
    let query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    Ok(connection.prepare_cached(query)?.query_row([table], |_| Ok(())).optional()?.is_some())
}
