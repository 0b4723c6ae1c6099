//! Where sinks stand.

use super::trouble::Done;
use crate::SinkRecord;
use nephila_model::CrawlId;
use rusqlite::{Connection, OptionalExtension, params};

/// Where a sink stands.
pub(crate) fn get(connection: &Connection, crawl: CrawlId, target: &str) -> Done<Option<SinkRecord>> {
    let query = "SELECT cursor, state FROM sinks WHERE crawl = ?1 AND target = ?2";
    let read = |row: &rusqlite::Row<'_>| Ok(SinkRecord { target: target.to_owned(), cursor: row.get(0)?, state: row.get(1)? });
    Ok(connection.prepare_cached(query)?.query_row(params![crawl.0, target], read).optional()?)
}

/// Notes where a sink stands.
pub(crate) fn put(connection: &Connection, crawl: CrawlId, record: &SinkRecord) -> Done<()> {
    let put = "INSERT INTO sinks (crawl, target, cursor, state) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (crawl, target) DO UPDATE SET cursor = excluded.cursor, state = excluded.state";
    connection.prepare_cached(put)?.execute(params![crawl.0, record.target, record.cursor, record.state])?;
    Ok(())
}
