//! Datasets: rows that are only ever added.
//!
//! Decision: one sequence for all datasets of a store, given in the transaction that writes the row. Since writes are serialised, a row
//! that is committed later has a greater sequence, and a reader's cursor never jumps over one. An item's id does not depend on the crawl:
//! the same page crawled again gives the same ids, so that a database sink changes the count of nothing.

use super::trouble::Done;
use crate::{DatasetRow, DatasetSlice};
use nephila_model::{CrawlId, DatasetName, EventId, ItemPush, UniqueKey};
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

pub(crate) const SLICE: &str =
    "SELECT sequence, item_id, json FROM items WHERE dataset = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3";

/// Whose page made an item.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin<'a> {
    /// A request's, of this label: the key of the URL that answered, or the request's own if it failed.
    Request(Option<&'a str>, UniqueKey),
    /// The finish of the crawl.
    Finish,
    /// An event that a listener heard.
    Event(EventId),
}

/// Adds items; says how many went to the crawl's own dataset and how many to each named one.
pub(crate) fn push<'a>(
    connection: &Connection,
    crawl: CrawlId,
    origin: Origin<'_>,
    items: &'a [ItemPush],
) -> Done<HashMap<&'a DatasetName, i64>> {
    let mut pushed: HashMap<&DatasetName, i64> = HashMap::new();
    let add = "INSERT INTO items (dataset, crawl, item_id, json) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = connection.prepare_cached(add)?;
    for item in items {
        let ordinal = pushed.entry(&item.dataset).or_default();
        let dataset = match find(connection, crawl, &item.dataset)? {
            Some(dataset) => dataset,
            None => make(connection, crawl, &item.dataset)?,
        };
        statement.execute(params![dataset, crawl.0, item_id(&item.dataset, origin, *ordinal), item.json])?;
        *ordinal += 1;
    }
    Ok(pushed)
}

/// Where a slice is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    /// Rows at most.
    pub(crate) rows: usize,
    /// Bytes of JSON at most, but for a single row that has more.
    pub(crate) bytes: usize,
}

/// Items after a cursor.
pub(crate) fn slice(connection: &Connection, crawl: CrawlId, name: &DatasetName, after: i64, cut: Cut) -> Done<DatasetSlice> {
    let Some(dataset) = find(connection, crawl, name)? else { return Ok(DatasetSlice::default()) };
    let mut statement = connection.prepare_cached(SLICE)?;
    // One more than asked for tells whether there are more.
    let mut found = statement.query(params![dataset, after, super::sql_limit(cut.rows).saturating_add(1)])?;
    let (mut slice, mut bytes) = (DatasetSlice::default(), 0);
    while let Some(row) = found.next()? {
        let json = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        bytes += json.len();
        if slice.rows.len() == cut.rows || (bytes > cut.bytes && !slice.rows.is_empty()) {
            slice.more = true;
            break;
        }
        let id = UniqueKey::from_bytes(row.get(1)?).to_string();
        slice.rows.push(DatasetRow { sequence: row.get(0)?, id, json: json.to_owned() });
    }
    Ok(slice)
}

/// A crawl's own things are kept under its id, and what all crawls of the store share under 0 (S11).
pub(crate) fn scope(crawl: CrawlId, named: Option<&str>) -> (i64, &str) {
    named.map_or((crawl.0, ""), |name| (0, name))
}

fn named(dataset: &DatasetName) -> Option<&str> {
    match dataset {
        DatasetName::Default => None,
        DatasetName::Named(name) => Some(name),
    }
}

fn find(connection: &Connection, crawl: CrawlId, dataset: &DatasetName) -> Done<Option<i64>> {
    let (scope, name) = scope(crawl, named(dataset));
    let query = "SELECT id FROM datasets WHERE scope = ?1 AND name = ?2";
    Ok(connection.prepare_cached(query)?.query_row(params![scope, name], |row| row.get(0)).optional()?)
}

fn make(connection: &Connection, crawl: CrawlId, dataset: &DatasetName) -> Done<i64> {
    let (scope, name) = scope(crawl, named(dataset));
    Ok(connection.prepare_cached("INSERT INTO datasets (scope, name) VALUES (?1, ?2)")?.insert(params![scope, name])?)
}

// Part of the format: ids in the databases of users are made by it. Each part is preceded by its kind and its length.
fn item_id(dataset: &DatasetName, origin: Origin<'_>, ordinal: i64) -> [u8; 16] {
    let mut hasher = Sha256::new();
    let mut part = |kind: u8, bytes: &[u8]| {
        hasher.update([kind]);
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    match named(dataset) {
        None => part(0, b""),
        Some(name) => part(1, name.as_bytes()),
    }
    match origin {
        Origin::Finish => part(2, b"finish"),
        Origin::Event(event) => part(6, &event.0.to_le_bytes()),
        Origin::Request(label, key) => {
            part(3, label.unwrap_or_default().as_bytes());
            part(4, key.as_bytes());
        }
    }
    part(5, &ordinal.to_le_bytes());
    let digest = hasher.finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_id_never_changes_and_tells_every_part_apart() {
        let (a, b) = (UniqueKey::from_bytes([1; 16]), UniqueKey::from_bytes([2; 16]));
        let named = DatasetName::Named("prices".into());
        let ids = [
            item_id(&DatasetName::Default, Origin::Request(None, a), 0),
            item_id(&DatasetName::Default, Origin::Request(None, a), 1),
            item_id(&DatasetName::Default, Origin::Request(None, b), 0),
            item_id(&DatasetName::Default, Origin::Request(Some("page"), a), 0),
            item_id(&named, Origin::Request(None, a), 0),
            item_id(&named, Origin::Finish, 0),
            item_id(&named, Origin::Event(EventId(1)), 0),
            item_id(&named, Origin::Event(EventId(2)), 0),
        ];
        assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), ids.len());
        assert_eq!(UniqueKey::from_bytes(ids[0]).to_string(), "00a47fe4c9216370f00b317cdea6a20d");
    }
}
