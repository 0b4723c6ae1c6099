//! Counters.
//!
//! Decision: nothing is ever counted by looking at rows. Counters change in the transaction that changes what they count, so that they can
//! never disagree with it and cost the same at any size (S6); a group puts its changes together and writes each counter once. One that keeps the
//! least or the most is written only where it changes.

use super::trouble::Done;
use crate::Counts;
use nephila_model::{Counter, CrawlId, Fold, Statistics, StatsDelta};
use rusqlite::{Connection, OptionalExtension, params};

/// Names of counters, and codes of errors, that one crawl has at most.
pub(super) const MOST_NAMES: i64 = 1_000;

/// The name of what has no room for a name of its own.
pub(super) const OTHER: &str = "other";

/// Adds a delta.
pub(crate) fn add(connection: &Connection, crawl: CrawlId, delta: &StatsDelta) -> Done<()> {
    for (counter, by) in delta.iter() {
        let name = bounded(connection, crawl, counter)?;
        connection.prepare_cached(put(counter.fold()))?.execute(params![crawl.0, name, by])?;
    }
    Ok(())
}

const fn put(fold: Fold) -> &'static str {
    match fold {
        Fold::Sum => {
            "INSERT INTO counters (crawl, name, value) VALUES (?1, ?2, ?3)
             ON CONFLICT (crawl, name) DO UPDATE SET value = value + excluded.value"
        }
        Fold::Least => {
            "INSERT INTO counters (crawl, name, value) VALUES (?1, ?2, ?3)
             ON CONFLICT (crawl, name) DO UPDATE SET value = excluded.value WHERE excluded.value < value"
        }
        Fold::Most => {
            "INSERT INTO counters (crawl, name, value) VALUES (?1, ?2, ?3)
             ON CONFLICT (crawl, name) DO UPDATE SET value = excluded.value WHERE excluded.value > value"
        }
    }
}

/// A counter's name. Those that a plugin can make up share one name once there are too many, since each is a row here and an entry in
/// everybody's memory (S9).
fn bounded(connection: &Connection, crawl: CrawlId, counter: &Counter) -> Done<String> {
    let name = counter.to_string();
    let rest = match counter {
        Counter::Skipped(_) => Counter::Skipped(OTHER.to_owned()),
        Counter::Error(_) => Counter::Error(OTHER.to_owned()),
        Counter::ItemsOf(_) => Counter::ItemsOf(OTHER.to_owned()),
        Counter::ItemsDropped(_) => Counter::ItemsDropped(OTHER.to_owned()),
        _ => return Ok(name),
    };
    let is_known =
        connection.prepare_cached("SELECT 1 FROM counters WHERE crawl = ?1 AND name = ?2")?.exists(params![crawl.0, name])?;
    if is_known || rows_of(connection, "SELECT count(*) FROM counters WHERE crawl = ?1", crawl)? < MOST_NAMES {
        return Ok(name);
    }
    Ok(rest.to_string())
}

pub(super) fn rows_of(connection: &Connection, query: &str, crawl: CrawlId) -> Done<i64> {
    Ok(connection.prepare_cached(query)?.query_row([crawl.0], |row| row.get(0))?)
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

pub(super) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
