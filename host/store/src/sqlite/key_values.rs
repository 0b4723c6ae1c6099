//! Key-value stores: named bytes with a media type.

use super::datasets::scope;
use super::trouble::Done;
use bytes::Bytes;
use nephila_model::{CrawlId, KeyValueWrite, KvStoreName, KvValue};
use rusqlite::{Connection, OptionalExtension, params};

pub(crate) fn place(crawl: CrawlId, store: &KvStoreName) -> (i64, &str) {
    match store {
        KvStoreName::Default => scope(crawl, None),
        KvStoreName::Named(name) => scope(crawl, Some(name)),
    }
}

/// A value.
pub(crate) fn get(connection: &Connection, crawl: CrawlId, store: &KvStoreName, key: &str) -> Done<Option<KvValue>> {
    let (scope, name) = place(crawl, store);
    let query = "SELECT content_type, value FROM key_values WHERE scope = ?1 AND store = ?2 AND key = ?3";
    let read = |row: &rusqlite::Row<'_>| Ok(KvValue { content_type: row.get(0)?, value: Bytes::from(row.get::<_, Vec<u8>>(1)?) });
    Ok(connection.prepare_cached(query)?.query_row(params![scope, name, key], read).optional()?)
}

/// Whether there is a value.
pub(crate) fn is_there(connection: &Connection, crawl: CrawlId, store: &KvStoreName, key: &str) -> Done<bool> {
    let (scope, name) = place(crawl, store);
    let query = "SELECT 1 FROM key_values WHERE scope = ?1 AND store = ?2 AND key = ?3";
    Ok(connection.prepare_cached(query)?.exists(params![scope, name, key])?)
}

/// Writes values, in order.
pub(crate) fn write(connection: &Connection, crawl: CrawlId, writes: &[KeyValueWrite]) -> Done<()> {
    let put = "INSERT INTO key_values (scope, store, key, content_type, value) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (scope, store, key) DO UPDATE SET content_type = excluded.content_type, value = excluded.value";
    let remove = "DELETE FROM key_values WHERE scope = ?1 AND store = ?2 AND key = ?3";
    for write in writes {
        let (scope, name) = place(crawl, &write.store);
        match &write.value {
            Some(KvValue { content_type, value }) => {
                connection.prepare_cached(put)?.execute(params![scope, name, write.key, content_type, value.as_ref()])?
            }
            None => connection.prepare_cached(remove)?.execute(params![scope, name, write.key])?,
        };
    }
    Ok(())
}
