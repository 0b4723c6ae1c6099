//! Counters and samples of errors.
//!
//! Decision: nothing is ever counted by looking at rows. Counters change in the transaction that changes what they count, so that they can
//! never disagree with it and cost the same at any size (S6); a group adds its changes up and writes each counter once.

use super::trouble::Done;
use crate::{Counts, ErrorSample};
use nephila_model::{Counter, CrawlId, Statistics, StatsDelta};
use rusqlite::{Connection, OptionalExtension, params};

/// Adds a delta.
pub(crate) fn add(connection: &Connection, crawl: CrawlId, delta: &StatsDelta) -> Done<()> {
    let add = "INSERT INTO counters (crawl, name, value) VALUES (?1, ?2, ?3)
        ON CONFLICT (crawl, name) DO UPDATE SET value = value + excluded.value";
    let mut statement = connection.prepare_cached(add)?;
    for (counter, by) in delta.iter() {
        statement.execute(params![crawl.0, counter.to_string(), by])?;
    }
    Ok(())
}

/// One counter; 0 if it was never counted.
pub(crate) fn get(connection: &Connection, crawl: CrawlId, counter: &Counter) -> Done<u64> {
    let query = "SELECT value FROM counters WHERE crawl = ?1 AND name = ?2";
    let found = connection.prepare_cached(query)?.query_row(params![crawl.0, counter.to_string()], |row| row.get::<_, i64>(0));
    Ok(unsigned(found.optional()?.unwrap_or(0)))
}

/// All counters.
pub(crate) fn statistics(connection: &Connection, crawl: CrawlId) -> Done<Statistics> {
    let mut statement = connection.prepare_cached("SELECT name, value FROM counters WHERE crawl = ?1")?;
    let all = statement
        .query_map([crawl.0], |row| Ok((Counter::parse(&row.get::<_, String>(0)?), row.get::<_, i64>(1)?)))?
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Statistics::from_counters(all.into_iter().filter_map(|(counter, value)| Some((counter?, value)))))
}

/// How many requests stand where.
pub(crate) fn counts(connection: &Connection, crawl: CrawlId) -> Done<Counts> {
    let statistics = statistics(connection, crawl)?;
    let [accepted, handled, failed] =
        [Counter::Requests, Counter::Finished, Counter::Failed].map(|counter| statistics.get(&counter));
    let skipped = statistics.skipped();
    Ok(Counts { pending: accepted.saturating_sub(handled + failed + skipped), handled, failed, skipped })
}

/// Counts an error; the first of its code is its sample.
pub(crate) fn add_error(connection: &Connection, crawl: CrawlId, code: &str, url: &str, message: &str) -> Done<()> {
    let add = "INSERT INTO errors (crawl, code, count, url, message) VALUES (?1, ?2, 1, ?3, ?4)
        ON CONFLICT (crawl, code) DO UPDATE SET count = count + 1";
    connection.prepare_cached(add)?.execute(params![crawl.0, code, url, message])?;
    Ok(())
}

/// The most frequent errors.
pub(crate) fn errors(connection: &Connection, crawl: CrawlId, limit: usize) -> Done<Vec<ErrorSample>> {
    let query = "SELECT code, count, url, message FROM errors WHERE crawl = ?1 ORDER BY count DESC, code LIMIT ?2";
    let mut statement = connection.prepare_cached(query)?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(ErrorSample { code: row.get(0)?, count: unsigned(row.get(1)?), url: row.get(2)?, message: row.get(3)? })
    };
    let samples = statement.query_map(params![crawl.0, super::sql_limit(limit)], read)?.collect::<Result<_, _>>()?;
    Ok(samples)
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
