//! That a session is over, told once.
//!
//! Decision: the event is written by what says `over` first, in the same transaction: so a listener hears of each session exactly once,
//! however often the process dies. It goes to the crawl whose outcome, opening or clock it was. An outcome is told of in any case: a crawl that
//! commits goes on, after its finish too, which may have enqueued. A crawl that is finished and has nothing pending is told nothing by
//! its opening and by the clock: to start it again is to change nothing.

use super::crawls::Standing;
use super::trouble::Done;
use super::{counters, events};
use nephila_model::{EmittedEvent, PoolId, SESSION_RETIRED, Timestamp};
use rusqlite::{Connection, params};

/// What has reached its age, and is not over yet.
pub(crate) const AGED: &str =
    "SELECT id FROM sessions WHERE pool = ?1 AND over = 0 AND expires_at <= ?2 ORDER BY expires_at LIMIT ?3";

/// Whether a crawl that commits nothing just now is to hear of sessions: not where its finish is done and nothing is pending.
pub(crate) fn is_to_hear(connection: &Connection, crawl: &Standing) -> Done<bool> {
    Ok(!crawl.finish_done || counters::counts(connection, crawl.id)?.pending > 0)
}

/// Tells the crawl of sessions that are over. Says of how many.
pub(crate) fn tell<'s>(connection: &Connection, crawl: &Standing, sessions: impl IntoIterator<Item = &'s str>) -> Done<u64> {
    let event = |session| EmittedEvent {
        name: SESSION_RETIRED.to_owned(),
        payload: serde_json::json!({ "crawlerId": crawl.crawler_id, "sessionId": session }).to_string(),
    };
    let told: Vec<EmittedEvent> = sessions.into_iter().map(event).collect();
    events::emit(connection, crawl.id, &told, Timestamp::now())
}

// What has reached its age is over. Gives the names.
fn expire(connection: &Connection, pool: PoolId, now: Timestamp, limit: usize) -> Done<Vec<String>> {
    let update = format!("UPDATE sessions SET over = 1 WHERE id IN ({AGED}) RETURNING name");
    let mut statement = connection.prepare_cached(&update)?;
    let rows = statement.query_map(params![pool.0, now.as_millis(), super::sql_limit(limit)], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What has reached its age is over, and the crawl is told ([`is_to_hear`]).
pub(crate) fn end_aged(connection: &Connection, crawl: &Standing, pool: PoolId, now: Timestamp, limit: usize) -> Done<usize> {
    let ended = expire(connection, pool, now, limit)?;
    if !ended.is_empty() && is_to_hear(connection, crawl)? {
        tell(connection, crawl, ended.iter().map(String::as_str))?;
    }
    Ok(ended.len())
}
