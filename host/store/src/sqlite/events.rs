//! Events that plugins emit: written with the effects of the call that emitted them, and gone with the outcome that heard them.
//!
//! Decision: a queue, and no log. An event is a row from the commit of its call to the commit of what a listener made of it, so that a crash
//! in between has it heard again, and none is heard twice with effect. What nobody listens to is taken away by an outcome without effects.

use super::trouble::Done;
use crate::StoredEvent;
use nephila_model::{CrawlId, EmittedEvent, EventId, Timestamp};
use rusqlite::{Connection, params};

pub(crate) const WAITING: &str =
    "SELECT id, name, payload, emitted_at FROM events WHERE crawl = ?1 AND id > ?2 ORDER BY id LIMIT ?3";

/// Writes events, in order.
pub(crate) fn emit(connection: &Connection, crawl: CrawlId, events: &[EmittedEvent], now: Timestamp) -> Done<u64> {
    if events.is_empty() {
        return Ok(0);
    }
    let add = "INSERT INTO events (crawl, name, payload, emitted_at) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = connection.prepare_cached(add)?;
    for event in events {
        statement.execute(params![crawl.0, event.name, event.payload, now.as_millis()])?;
    }
    Ok(u64::try_from(events.len()).unwrap_or(u64::MAX))
}

/// Those that wait behind one, the oldest first.
pub(crate) fn waiting(connection: &Connection, crawl: CrawlId, after: EventId, limit: usize) -> Done<Vec<StoredEvent>> {
    let mut statement = connection.prepare_cached(WAITING)?;
    let rows = statement.query_map(params![crawl.0, after.0, super::sql_limit(limit)], |row| {
        Ok(StoredEvent {
            id: EventId(row.get(0)?),
            name: row.get(1)?,
            payload: row.get(2)?,
            emitted_at: Timestamp::from_millis(row.get(3)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether an event of the crawl waits.
pub(crate) fn waits(connection: &Connection, crawl: CrawlId, event: EventId) -> Done<bool> {
    Ok(connection.prepare_cached("SELECT 1 FROM events WHERE id = ?1 AND crawl = ?2")?.exists(params![event.0, crawl.0])?)
}

/// Takes an event away, since it was heard.
pub(crate) fn heard(connection: &Connection, event: EventId) -> Done<()> {
    connection.prepare_cached("DELETE FROM events WHERE id = ?1")?.execute([event.0])?;
    Ok(())
}

/// A number that no event has or will have, for what is done on one that is kept nowhere.
pub(crate) fn passing(connection: &Connection, crawl: CrawlId, now: Timestamp) -> Done<EventId> {
    let nobody = EmittedEvent { name: String::new(), payload: String::new() };
    emit(connection, crawl, std::slice::from_ref(&nobody), now)?;
    let event = EventId(connection.last_insert_rowid());
    heard(connection, event)?;
    Ok(event)
}
