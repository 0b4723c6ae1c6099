//! The queue: rows of requests, and how they are found.
//!
//! Decision: a row stays for ever, since its key is the dedup (S1), and moves between partial indexes as it moves through its life: ready
//! rows by site and order, undue rows by time, redirected rows by where they ended. So a claim sees ready rows alone, however many others
//! there are (S6). What equals its default takes no room: NULL for the original URL that is the URL, an empty chain, a
//! plain spec, and the key and URL of a page that answered where it was asked for.

use super::known::Fact;
use super::trouble::{Done, Trouble};
use crate::{CrawlOrder, SiteWindow};
use nephila_model::{
    CrawlId, FailureReason, Hop, NewRequest, Place, Position, QueuedRequest, RequestId, RequestSpec, RequestState, RequestStatus,
    Shallower, SiteId, Timestamp, UniqueKey,
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use url::Url;

pub(crate) const WINDOW: &str =
    "SELECT id, site, priority, rank, key, url, original_url, label, depth, retry_count, chain, spec, payload
    FROM requests WHERE site = ?1 AND state = 0 AND not_before IS NULL AND crawl = ?2 ORDER BY priority DESC, rank LIMIT ?3";
pub(crate) const NEXT_DUE: &str = "SELECT not_before FROM requests
    WHERE crawl = ?1 AND state = 0 AND not_before IS NOT NULL ORDER BY not_before LIMIT 1";
pub(crate) const DUE: &str = "SELECT id, site FROM requests
    WHERE crawl = ?1 AND state = 0 AND not_before IS NOT NULL AND not_before <= ?2 ORDER BY not_before LIMIT ?3";
/// A request that was redirected to the key.
pub(crate) const ENDED_THERE: &str = "SELECT 1 FROM requests
    WHERE crawl = ?1 AND ifnull(label, '') = ?2 AND final_key = ?3 AND state = 1";
/// The request whose own key it is.
pub(crate) const BEGAN_AND_ENDED_THERE: &str = "SELECT 1 FROM requests
    WHERE crawl = ?1 AND key = ?3 AND state = 1 AND final_key IS NULL AND ifnull(label, '') = ?2";

/// Ranks of forefront requests: before all others whatever the crawl's order, and last in first out among themselves.
const FOREFRONT: i64 = -(1 << 61);

/// A pending request that an outcome decides about.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) id: RequestId,
    pub(crate) site: SiteId,
    pub(crate) shard: u16,
    pub(crate) position: Position,
    pub(crate) key: UniqueKey,
    pub(crate) url: String,
    original_url: Option<String>,
    pub(crate) label: Option<String>,
    depth: u32,
    pub(crate) retry_count: u32,
}

/// The request, if it is pending.
pub(crate) fn pending(connection: &Connection, crawl: CrawlId, id: RequestId) -> Done<Option<Subject>> {
    let query = "SELECT site, (SELECT shard FROM sites WHERE sites.id = site), priority, rank, key, url,
            original_url, label, depth, retry_count
        FROM requests WHERE id = ?1 AND crawl = ?2 AND state = 0";
    let read = |row: &Row<'_>| {
        Ok(Subject {
            id,
            site: SiteId(row.get(0)?),
            shard: row.get(1)?,
            position: Position { priority: row.get(2)?, rank: row.get(3)? },
            key: UniqueKey::from_bytes(row.get(4)?),
            url: row.get(5)?,
            original_url: row.get(6)?,
            label: row.get(7)?,
            depth: row.get(8)?,
            retry_count: row.get(9)?,
        })
    };
    Ok(connection.prepare_cached(query)?.query_row(params![id.0, crawl.0], read).optional()?)
}

/// The id of the request that was accepted last, in any crawl.
pub(crate) fn last_id(connection: &Connection) -> Done<i64> {
    Ok(connection.prepare_cached("SELECT ifnull(max(id), 0) FROM requests")?.query_row([], |row| row.get(0))?)
}

/// Whether a key was accepted before.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Seen {
    Never,
    /// Before. If its request waits, it does so at this depth or a lesser one.
    Before(u32),
    /// Before, and its request waits at this lesser depth from now on.
    Shallower(Shallower),
}

/// Whether the key was accepted before (S1). If that request still waits, it keeps the lesser depth.
pub(crate) fn seen(connection: &Connection, crawl: CrawlId, key: &UniqueKey, depth: u32) -> Done<Seen> {
    let query = "SELECT id, site, CASE state WHEN 0 THEN depth ELSE 0 END FROM requests WHERE crawl = ?1 AND key = ?2";
    let read = |row: &Row<'_>| {
        let shallower = Shallower { request: RequestId(row.get(0)?), site: SiteId(row.get(1)?), depth };
        let before: u32 = row.get(2)?;
        Ok(if before > depth { Seen::Shallower(shallower) } else { Seen::Before(before) })
    };
    let found = connection.prepare_cached(query)?.query_row(params![crawl.0, key.as_bytes()], read).optional()?;
    if let Some(Seen::Shallower(row)) = found {
        connection.prepare_cached("UPDATE requests SET depth = ?2 WHERE id = ?1")?.execute(params![row.request.0, depth])?;
    }
    Ok(found.unwrap_or(Seen::Never))
}

/// Accepts a request whose key was not seen.
pub(crate) fn insert(
    connection: &Connection,
    (crawl, order): (CrawlId, CrawlOrder),
    id: RequestId,
    site: SiteId,
    new: &NewRequest,
) -> Done<QueuedRequest> {
    let rank = match (new.place, order) {
        (Place::Forefront, _) => FOREFRONT - id.0,
        (Place::Queue, CrawlOrder::Fifo) => id.0,
        (Place::Queue, CrawlOrder::Lifo) => -id.0,
    };
    let insert = "INSERT INTO requests (id, crawl, key, site, priority, rank, depth, label, url, spec, payload)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    connection.prepare_cached(insert)?.execute(params![
        id.0,
        crawl.0,
        new.unique_key.as_bytes(),
        site.0,
        new.priority,
        rank,
        new.depth,
        new.label,
        new.url.as_str(),
        spec_text(&new.spec)?,
        new.spec.payload.as_deref(),
    ])?;
    Ok(QueuedRequest {
        id,
        site,
        position: Position { priority: new.priority, rank },
        unique_key: new.unique_key,
        url: new.url.clone(),
        original_url: new.url.clone(),
        label: new.label.clone(),
        depth: new.depth,
        retry_count: 0,
        chain: Vec::new(),
        spec: new.spec.clone(),
    })
}

/// Done. Its final key is taken from here on.
pub(crate) fn handle(connection: &Connection, subject: &Subject, key: &UniqueKey, url: &Url, status: u16) -> Done<()> {
    let update = "UPDATE requests SET state = 1, not_before = NULL, final_key = ?2, final_url = ?3, status = ?4,
        reason = NULL, message = NULL WHERE id = ?1";
    let final_key = (*key != subject.key).then_some(key.as_bytes());
    let final_url = (url.as_str() != subject.url).then_some(url.as_str());
    connection.prepare_cached(update)?.execute(params![subject.id.0, final_key, final_url, status])?;
    Ok(())
}

/// Given up.
pub(crate) fn fail(connection: &Connection, id: RequestId, reason: &FailureReason, url: Option<&Url>) -> Done<()> {
    let update = "UPDATE requests SET state = 2, not_before = NULL, final_url = ?2, status = ifnull(?3, status), reason = ?4,
        message = ?5 WHERE id = ?1";
    let url = url.map(Url::as_str);
    connection.prepare_cached(update)?.execute(params![id.0, url, reason.status, reason.code.as_str(), reason.message])?;
    Ok(())
}

/// Set aside.
pub(crate) fn skip(connection: &Connection, id: RequestId, reason: &str, url: Option<&Url>) -> Done<()> {
    let update = "UPDATE requests SET state = 3, not_before = NULL, final_url = ?2, reason = ?3, message = NULL WHERE id = ?1";
    connection.prepare_cached(update)?.execute(params![id.0, url.map(Url::as_str), reason])?;
    Ok(())
}

/// To be tried again, not before a time. The last reason is kept for people who look.
pub(crate) fn retry(connection: &Connection, id: RequestId, not_before: Timestamp, reason: &FailureReason) -> Done<()> {
    let update = "UPDATE requests SET not_before = ?2, retry_count = retry_count + 1, status = ifnull(?3, status), reason = ?4,
        message = ?5 WHERE id = ?1";
    let not_before = not_before.as_millis();
    connection.prepare_cached(update)?.execute(params![id.0, not_before, reason.status, reason.code.as_str(), reason.message])?;
    Ok(())
}

/// To another site's queue, in the same place of the order; there it may have to wait for a time.
pub(crate) fn relocate(
    connection: &Connection,
    subject: &Subject,
    site: SiteId,
    url: &Url,
    chain: &[Hop],
    spec: &RequestSpec,
    not_before: Option<Timestamp>,
) -> Done<QueuedRequest> {
    let original = subject.original_url.as_deref().unwrap_or(&subject.url);
    let update = "UPDATE requests SET site = ?2, not_before = ?8, url = ?3, original_url = nullif(?4, ?3), chain = ?5, spec = ?6,
        payload = ?7 WHERE id = ?1";
    let chain_text = if chain.is_empty() { None } else { Some(json(&chain)?) };
    let payload = spec.payload.as_deref();
    connection.prepare_cached(update)?.execute(params![
        subject.id.0,
        site.0,
        url.as_str(),
        original,
        chain_text,
        spec_text(spec)?,
        payload,
        not_before.map(Timestamp::as_millis),
    ])?;
    Ok(QueuedRequest {
        id: subject.id,
        site,
        position: subject.position,
        unique_key: subject.key,
        url: url.clone(),
        original_url: parse(original)?,
        label: subject.label.clone(),
        depth: subject.depth,
        retry_count: subject.retry_count,
        chain: chain.to_vec(),
        spec: spec.clone(),
    })
}

/// The first ready requests of a site.
pub(crate) fn window(connection: &Connection, crawl: CrawlId, site: SiteId, limit: usize) -> Done<SiteWindow> {
    // Both reads see one state of the store, so that `newest` says exactly what the window could have had.
    let snapshot = connection.unchecked_transaction()?;
    let newest = last_id(connection)?;
    let mut statement = connection.prepare_cached(WINDOW)?;
    // One more than asked for tells whether these are all.
    let mut rows = statement.query(params![site.0, crawl.0, super::sql_limit(limit).saturating_add(1)])?;
    let mut window = SiteWindow { requests: Vec::new(), complete: true, newest: RequestId(newest) };
    while let Some(row) = rows.next()? {
        if window.requests.len() == limit {
            window.complete = false;
            break;
        }
        window.requests.push(queued(row)?);
    }
    drop(rows);
    drop(statement);
    snapshot.finish()?;
    Ok(window)
}

/// Requests of a crawl as [`queued`] takes them, with their state and the URL that answered.
pub(crate) fn select(which: &str) -> String {
    format!(
        "SELECT id, site, priority, rank, key, url, original_url, label, depth, retry_count, chain, spec, payload, state, final_url
        FROM requests WHERE crawl = ?1 AND {which}"
    )
}

/// When the next request is due that waits for a time.
pub(crate) fn next_due(connection: &Connection, crawl: CrawlId) -> Done<Option<Timestamp>> {
    let found = connection.prepare_cached(NEXT_DUE)?.query_row([crawl.0], |row| row.get(0)).optional()?;
    Ok(found.map(Timestamp::from_millis))
}

/// Makes due requests ready; gives their sites, one entry per request.
pub(crate) fn wake(connection: &Connection, crawl: CrawlId, now: Timestamp, limit: usize) -> Done<Vec<SiteId>> {
    let mut statement = connection.prepare_cached(DUE)?;
    let due = statement
        .query_map(params![crawl.0, now.as_millis(), super::sql_limit(limit)], |row| {
            Ok((row.get::<_, i64>(0)?, SiteId(row.get(1)?)))
        })?
        .collect::<Result<Vec<_>, _>>()?;
    let mut update = connection.prepare_cached("UPDATE requests SET not_before = NULL WHERE id = ?1")?;
    for (id, _) in &due {
        update.execute([id])?;
    }
    Ok(due.into_iter().map(|(_, site)| site).collect())
}

/// The keys of the requests after an id, in the order of ids, at most `limit`; `passed` is told each id.
pub(crate) fn keys_after(connection: &Connection, id: i64, limit: usize, mut passed: impl FnMut(i64)) -> Done<Vec<Fact>> {
    let query = "SELECT id, crawl, key, CASE state WHEN 0 THEN depth ELSE 0 END FROM requests WHERE id > ?1 ORDER BY id LIMIT ?2";
    let read = |row: &Row<'_>| {
        passed(row.get(0)?);
        Ok(Fact { crawl: CrawlId(row.get(1)?), key: UniqueKey::from_bytes(row.get(2)?), depth: Some(row.get(3)?) })
    };
    let facts =
        connection.prepare_cached(query)?.query_map(params![id, super::sql_limit(limit)], read)?.collect::<Result<_, _>>()?;
    Ok(facts)
}

/// Which keys were accepted.
pub(crate) fn known(connection: &Connection, crawl: CrawlId, keys: &[UniqueKey]) -> Done<Vec<bool>> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM requests WHERE crawl = ?1 AND key = ?2")?;
    keys.iter().map(|key| Ok(statement.exists(params![crawl.0, key.as_bytes()])?)).collect()
}

/// Where requests stand.
pub(crate) fn lookup(connection: &Connection, crawl: CrawlId, keys: &[UniqueKey]) -> Done<Vec<Option<RequestStatus>>> {
    let query = "SELECT state, CASE state WHEN 1 THEN ifnull(final_url, url) ELSE final_url END,
            CASE WHEN state > 1 THEN reason END, status
        FROM requests WHERE crawl = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(query)?;
    let mut answers = Vec::with_capacity(keys.len());
    for key in keys {
        let mut rows = statement.query(params![crawl.0, key.as_bytes()])?;
        answers.push(match rows.next()? {
            None => None,
            Some(row) => Some(RequestStatus {
                state: match row.get::<_, i64>(0)? {
                    0 => RequestState::Pending,
                    1 => RequestState::Handled,
                    2 => RequestState::Failed,
                    3 => RequestState::Skipped,
                    other => return Err(Trouble::Damaged(format!("a request has the state {other}"))),
                },
                final_url: row.get(1)?,
                reason: row.get(2)?,
                status: row.get(3)?,
            }),
        });
    }
    Ok(answers)
}

/// Whether a handled request of the label ended at the key.
pub(crate) fn final_taken(connection: &Connection, crawl: CrawlId, label: Option<&str>, key: &UniqueKey) -> Done<bool> {
    for query in [ENDED_THERE, BEGAN_AND_ENDED_THERE] {
        if connection.prepare_cached(query)?.exists(params![crawl.0, label.unwrap_or_default(), key.as_bytes()])? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The same, of others than a request that waits.
pub(crate) fn final_taken_before(connection: &Connection, crawl: CrawlId, subject: &Subject, key: &UniqueKey) -> Done<bool> {
    let label = subject.label.as_deref();
    if *key != subject.key {
        return final_taken(connection, crawl, label, key);
    }
    // Nobody else has its key, so that whoever is there already was redirected.
    Ok(connection.prepare_cached(ENDED_THERE)?.exists(params![crawl.0, label.unwrap_or_default(), key.as_bytes()])?)
}

pub(crate) fn queued(row: &Row<'_>) -> Done<QueuedRequest> {
    let url = parse(row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?)?;
    let original = row.get::<_, Option<String>>(6)?;
    let mut spec: RequestSpec =
        row.get::<_, Option<String>>(11)?.map_or_else(|| Ok(RequestSpec::default()), |text| unjson(&text))?;
    spec.payload = row.get::<_, Option<Vec<u8>>>(12)?.map(Into::into);
    Ok(QueuedRequest {
        id: RequestId(row.get(0)?),
        site: SiteId(row.get(1)?),
        position: Position { priority: row.get(2)?, rank: row.get(3)? },
        unique_key: UniqueKey::from_bytes(row.get(4)?),
        original_url: original.map_or_else(|| Ok(url.clone()), |text| parse(&text))?,
        url,
        label: row.get(7)?,
        depth: row.get(8)?,
        retry_count: row.get(9)?,
        chain: row.get::<_, Option<String>>(10)?.map_or_else(|| Ok(Vec::new()), |text| unjson(&text))?,
        spec,
    })
}

fn spec_text(spec: &RequestSpec) -> Done<Option<String>> {
    if *spec == RequestSpec::default() {
        return Ok(None);
    }
    Ok(Some(json(spec)?).filter(|text| text != "{}"))
}

fn parse(text: &str) -> Done<Url> {
    Url::parse(text).map_err(|error| Trouble::Damaged(format!("`{text}` is not a URL: {error}")))
}

fn json(value: &impl serde::Serialize) -> Done<String> {
    serde_json::to_string(value).map_err(|error| Trouble::Damaged(error.to_string()))
}

fn unjson<T: serde::de::DeserializeOwned>(text: &str) -> Done<T> {
    serde_json::from_str(text).map_err(|error| Trouble::Damaged(format!("`{text}` in a request: {error}")))
}
