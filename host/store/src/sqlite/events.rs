//! Events that plugins emit: written with the effects of the call that emitted them, and gone with the outcome that heard them.
//!
//! Decision: a queue, and no log. An event is a row from the commit of its call to the commit of what a listener made of it, so that a crash
//! in between has it heard again, and none is heard twice with effect. What nobody listens to is taken away by an outcome without effects.
//!
//! An event that may have killed the process is heard behind a durable mark, as a page is (S10). The mark and the count are rows of `meta`, since
//! there is one such event at a time and mostly none: events are heard in order, so that it is the oldest that waits.

use super::counters;
use super::crawls::CRASHES;
use super::errors::{self, Happened};
use super::trouble::Done;
use crate::{ErrorsOf, StoredEvent};
use nephila_model::{Counter, CrawlId, EmittedEvent, EventId, FailureCode, FailureReason, StatsDelta, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

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

// Rows of `meta`: which event of a crawl is under the mark, and how often an event has crashed the host. No event's number is given again.
fn mark_of(crawl: CrawlId) -> String {
    format!("suspect-event-of:{}", crawl.0)
}

fn crashes_of(event: i64) -> String {
    format!("{CRASHES_OF}{event}")
}

const CRASHES_OF: &str = "crashes-of-event:";

/// Puts the mark of a suspect on an event, in the place of another one's.
pub(crate) fn mark(connection: &Connection, crawl: CrawlId, event: EventId) -> Done<()> {
    let put = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    connection.prepare_cached(put)?.execute(params![mark_of(crawl), event.0])?;
    Ok(())
}

/// Takes the mark away from this event.
pub(crate) fn clear_mark(connection: &Connection, crawl: CrawlId, event: EventId) -> Done<()> {
    let clear = "DELETE FROM meta WHERE name = ?1 AND value = ?2";
    connection.prepare_cached(clear)?.execute(params![mark_of(crawl), event.0])?;
    Ok(())
}

/// Takes the mark away, and counts of events that are gone.
pub(crate) fn unmark(connection: &Connection, crawl: CrawlId) -> Done<()> {
    connection.execute("DELETE FROM meta WHERE name = ?1", [mark_of(crawl)])?;
    let gone = "DELETE FROM meta WHERE meta.name LIKE ?1 || '%'
        AND NOT EXISTS (SELECT 1 FROM events WHERE events.id = CAST(substr(meta.name, length(?1) + 1) AS INTEGER))";
    connection.execute(gone, [CRASHES_OF])?;
    Ok(())
}

/// The process died. If it did so inside the mark of an event that waits still, that counts against the event, and at the third time it is
/// given up: nobody hears it any more.
pub(crate) fn count_crash(connection: &Connection, crawl: CrawlId) -> Done<()> {
    let marked = "SELECT events.id, events.name FROM meta JOIN events ON events.id = meta.value AND events.crawl = ?2 WHERE meta.name = ?1";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
    if let Some((event, name)) = connection.query_row(marked, params![mark_of(crawl), crawl.0], read).optional()? {
        let count =
            "INSERT INTO meta (name, value) VALUES (?1, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value";
        let crashes: i64 = connection.query_row(count, [crashes_of(event)], |row| row.get(0))?;
        if crashes >= CRASHES {
            give_up(connection, crawl, (event, &name), crashes)?;
        }
    }
    unmark(connection, crawl)
}

fn give_up(connection: &Connection, crawl: CrawlId, (event, name): (i64, &str), crashes: i64) -> Done<()> {
    heard(connection, EventId(event))?;
    let code = FailureCode::LISTENER_CRASHED_THE_HOST;
    let message = format!("the host died {crashes} times while the listener heard this event; it is given up");
    let reason = FailureReason { code: code.clone(), message, status: None };
    let (url, message) = (format!("event:{name}"), &reason.message);
    errors::add(connection, crawl, ErrorsOf::FailedRequests, &Happened::of(&url, &reason, None))?;
    let mut delta = StatsDelta::default();
    delta.add(Counter::Error(code.as_str().to_owned()), 1);
    counters::add(connection, crawl, &delta)?;
    tracing::error!(event = name, id = event, crashes, "{message}");
    Ok(())
}
