//! `use_state`: a map of JSON values per crawler id, each key a row.
//!
//! Decision: serialisability by verification. Every change of a value gets a number that was never given before in this map, so that a read
//! still holds exactly if its number does; the listing has a number of its own for keys that come and go. The numbers come from one row
//! per map, which outlives removed keys. An operation that leaves a value as it was changes no number. Auto-saved values of key-value stores
//! are among the rows, under keys of their own ([`AutoSaved`]), and in no listing.

use super::key_values;
use super::trouble::Done;
use crate::{ExcerptSize, StateExcerpt, StateRow};
use nephila_model::{AutoSaved, CrawlId, CrawlerId, StateError, StateOp, StateRead, StateValue, StateVersion};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A value, and when it last changed.
pub(crate) fn get(connection: &Connection, crawler: &str, key: &str) -> Done<StateRow> {
    let query = "SELECT value, version FROM state WHERE crawler_id = ?1 AND key = ?2";
    let found = connection
        .prepare_cached(query)?
        .query_row(params![crawler, key], |row| Ok(StateRow { value: Some(row.get(0)?), version: StateVersion(row.get(1)?) }))
        .optional()?;
    Ok(found.unwrap_or(StateRow { value: None, version: StateVersion(0) }))
}

/// Keys and values, in the order of the keys; `None` if they have more bytes than that.
pub(crate) fn all(connection: &Connection, crawler: &CrawlerId, max_bytes: usize) -> Done<Option<Vec<(String, String)>>> {
    let query = "SELECT key, value FROM state WHERE crawler_id = ?1 AND key >= ?2 ORDER BY key";
    pairs(connection, query, params![crawler.as_str(), AutoSaved::STATE_KEYS.end], max_bytes)
}

/// The auto-saved values; `None` if they have more bytes than that.
pub(crate) fn auto_saved(
    connection: &Connection,
    crawler: &CrawlerId,
    max_bytes: usize,
) -> Done<Option<Vec<(AutoSaved, String)>>> {
    let query = "SELECT key, value FROM state WHERE crawler_id = ?1 AND key >= ?2 AND key < ?3 ORDER BY key";
    let keys = AutoSaved::STATE_KEYS;
    let found = pairs(connection, query, params![crawler.as_str(), keys.start, keys.end], max_bytes)?;
    Ok(found.map(|pairs| pairs.into_iter().filter_map(|(key, value)| Some((AutoSaved::of_state_key(&key)?, value))).collect()))
}

fn pairs(
    connection: &Connection,
    query: &str,
    which: &[&dyn rusqlite::ToSql],
    max_bytes: usize,
) -> Done<Option<Vec<(String, String)>>> {
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(which)?;
    let (mut all, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let (key, value): (String, String) = (row.get(0)?, row.get(1)?);
        bytes += key.len() + value.len();
        if bytes > max_bytes {
            return Ok(None);
        }
        all.push((key, value));
    }
    Ok(Some(all))
}

/// The beginning of the state: what fits, in the order of the keys. In a transaction of the caller's, since what is shown and what is left out
/// are to be of the same moment.
pub(crate) fn excerpt(moment: &Connection, crawler: &CrawlerId, size: ExcerptSize) -> Done<StateExcerpt> {
    let own = AutoSaved::STATE_KEYS.end;
    let count = "SELECT count(*) FROM state WHERE crawler_id = ?1 AND key >= ?2";
    let keys: i64 = moment.prepare_cached(count)?.query_row(params![crawler.as_str(), own], |row| row.get(0))?;
    let query = "SELECT key, value FROM state WHERE crawler_id = ?1 AND key >= ?2 AND octet_length(value) <= ?3 ORDER BY key";
    let mut statement = moment.prepare_cached(query)?;
    let mut rows = statement.query(params![crawler.as_str(), own, super::sql_limit(size.value)])?;
    let (mut values, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let (key, value): (String, String) = (row.get(0)?, row.get(1)?);
        bytes += key.len() + value.len();
        if bytes > size.all {
            break;
        }
        values.push((key, value));
    }
    let left_out = u64::try_from(keys).unwrap_or(0).saturating_sub(values.len() as u64);
    Ok(StateExcerpt { values, left_out })
}

/// The keys that have a value, and when one last came or went.
pub(crate) fn keys(connection: &Connection, crawler: &CrawlerId) -> Done<(Vec<String>, StateVersion)> {
    // One transaction: keys and version are of the same moment.
    let transaction = connection.unchecked_transaction()?;
    let query = "SELECT key FROM state WHERE crawler_id = ?1 AND key >= ?2 ORDER BY key";
    let mut statement = transaction.prepare_cached(query)?;
    let own = params![crawler.as_str(), AutoSaved::STATE_KEYS.end];
    let keys = statement.query_map(own, |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok((keys, versions(&transaction, crawler.as_str())?.listing))
}

struct Versions {
    last: i64,
    listing: StateVersion,
}

fn versions(connection: &Connection, crawler: &str) -> Done<Versions> {
    let query = "SELECT last, listing FROM state_versions WHERE crawler_id = ?1";
    let read = |row: &rusqlite::Row<'_>| Ok(Versions { last: row.get(0)?, listing: StateVersion(row.get(1)?) });
    let found = connection.prepare_cached(query)?.query_row([crawler], read).optional()?;
    Ok(found.unwrap_or(Versions { last: 0, listing: StateVersion(0) }))
}

/// The first read that no longer holds: a key, that of a record too, or `listing`.
pub(crate) fn changed_since(
    connection: &Connection,
    (crawl, crawler): (CrawlId, &str),
    reads: &[StateRead],
) -> Done<Option<String>> {
    let query = "SELECT version FROM state WHERE crawler_id = ?1 AND key = ?2";
    for read in reads {
        let (holds, what) = match read {
            StateRead::Key { key, version } => {
                let found = connection.prepare_cached(query)?.query_row(params![crawler, key], |row| row.get(0)).optional()?;
                (found.unwrap_or(0) == version.0, key.as_str())
            }
            StateRead::Listing { version } => (versions(connection, crawler)?.listing == *version, "listing"),
            StateRead::Record { store, key, value } => (key_values::get(connection, crawl, store, key)? == *value, key.as_str()),
        };
        if !holds {
            return Ok(Some(what.to_owned()));
        }
    }
    Ok(None)
}

/// What a list of operations comes to.
#[derive(Debug, Default)]
pub(crate) struct Plan(BTreeMap<String, Change>);

#[derive(Debug)]
struct Change {
    before: Option<String>,
    after: Option<String>,
}

/// A value on its way.
struct Going {
    before: Option<String>,
    now: StateValue,
}

/// Applies operations, in order, to what is there, without writing.
pub(crate) fn plan(connection: &Connection, crawler: &str, ops: &[StateOp], limit: usize) -> Done<Result<Plan, StateError>> {
    let mut values: BTreeMap<&str, Going> = BTreeMap::new();
    for op in ops {
        let value = match values.entry(op.key()) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(place) => {
                let before = get(connection, crawler, op.key())?.value;
                place.insert(Going { now: StateValue::new(before.clone()), before })
            }
        };
        if let Err(error) = value.now.apply(op, limit) {
            return Ok(Err(error));
        }
    }
    let changes = values.into_iter().map(|(key, value)| {
        let change = Change { before: value.before, after: value.now.into_text() };
        (key.to_owned(), change)
    });
    Ok(Ok(Plan(changes.filter(|(_, change)| change.before != change.after).collect())))
}

impl Plan {
    /// Writes it, all at one new version.
    pub(crate) fn write(&self, connection: &Connection, crawler: &str) -> Done<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let old = versions(connection, crawler)?;
        let version = old.last + 1;
        let put = "INSERT INTO state (crawler_id, key, value, version) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (crawler_id, key) DO UPDATE SET value = excluded.value, version = excluded.version";
        let remove = "DELETE FROM state WHERE crawler_id = ?1 AND key = ?2";
        for (key, change) in &self.0 {
            match &change.after {
                Some(value) => connection.prepare_cached(put)?.execute(params![crawler, key, value, version])?,
                None => connection.prepare_cached(remove)?.execute(params![crawler, key])?,
            };
        }
        let comes_or_goes = |change: &Change| change.before.is_some() != change.after.is_some();
        let listed = self.0.iter().any(|(key, change)| comes_or_goes(change) && !AutoSaved::is_state_key(key));
        let listing = if listed { version } else { old.listing.0 };
        let number = "INSERT INTO state_versions (crawler_id, last, listing) VALUES (?1, ?2, ?3)
            ON CONFLICT (crawler_id) DO UPDATE SET last = excluded.last, listing = excluded.listing";
        connection.prepare_cached(number)?.execute(params![crawler, version, listing])?;
        Ok(())
    }
}
