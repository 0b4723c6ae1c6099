//! Session pools, and their sessions.
//!
//! Decision: uses are reserved in blocks before they begin, and what was reserved is never given out again; so the limit of a session holds
//! through any crash. When a pool is opened, what an earlier process had reserved and not reported counts as used: it may
//! have reached its site. What an attempt did comes with its outcome, as a delta, and is worked out from the row as it is then: nobody
//! ever writes a session as a whole.
//!
//! `over` says that a session will not be used again. It follows from the rest of its row and from the time, and once it is said it stays so; it
//! is kept for the indexes, so that what is over costs those that are in use nothing (S6), and is taken away in pieces (S9). Whoever says
//! it first tells of it (`session_endings`).

use super::trouble::{Done, Trouble};
use super::{crawls, session_cookies, session_endings};
use crate::{KEPT_SESSIONS, OpenedPool, PoolUser, SessionCreated, StoreError};
use nephila_model::{
    AddedSession, CrawlId, KvStoreName, Lease, PoolId, PoolPlace, ProxyId, SessionDelta, SessionId, SessionRecord,
    SessionSettings, Timestamp, Unusable, UseLog, UseNumber, UseRange, Written,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Sessions that are over and are taken away with each new one, but for those that are kept ([`KEPT_SESSIONS`]).
const REMOVED_AT_A_TIME: usize = 4;

/// Sessions that an opening has in memory at a time, while it settles them.
const SETTLED_AT_A_TIME: i64 = 256;

/// What is not over: the newest (their index is by age, so that all are looked at, and as many as are asked for are in memory).
const USABLE_NEWEST: &str = "WHERE s.pool = ?1 AND s.over = 0 ORDER BY s.id DESC LIMIT ?2";

/// What is not over, by age, behind one of them.
pub(crate) const USABLE_NEXT: &str =
    "WHERE s.pool = ?1 AND s.over = 0 AND (s.expires_at, s.id) > (?2, ?3) ORDER BY s.expires_at, s.id LIMIT ?4";

/// How many are not over, counted so far and no further.
pub(crate) const USABLE: &str = "SELECT count(*) FROM (SELECT 1 FROM sessions WHERE pool = ?1 AND over = 0 LIMIT ?2)";

/// The columns of a session as [`read`] takes them.
const COLUMNS: &str = "s.name, s.created_at, s.expires_at, s.max_uses, s.max_error_score, s.error_score_decrement,
    s.blocked_status_codes, s.reserved, s.settled, s.score, s.open_uses, s.retired, s.user_data, s.user_data_by, s.proxy, s.proxy_by, s.id,
    s.over";

/// What is over, but for the newest.
pub(crate) const OVER: &str = "SELECT id FROM sessions WHERE pool = ?1 AND over = 1 ORDER BY id DESC LIMIT ?2 OFFSET ?3";

/// See [`crate::Store::open_pool`].
pub(crate) fn open(
    connection: &Connection,
    (crawl, lease): (CrawlId, Lease),
    place: &PoolPlace,
    now: Timestamp,
    limit: usize,
) -> Done<OpenedPool> {
    let crawl_row = crawls::standing(connection, crawl)?;
    if crawl_row.epoch != lease.epoch {
        return Err(StoreError::Stale.into());
    }
    let (scope, store) = match &place.store {
        KvStoreName::Default => (crawl.0, ""),
        KvStoreName::Named(name) => (0, name.as_str()),
    };
    let find = "SELECT id FROM session_pools WHERE scope = ?1 AND store = ?2 AND key = ?3";
    let found = connection.prepare_cached(find)?.query_row(params![scope, store, place.key], |row| row.get(0)).optional()?;
    let id = PoolId(match found {
        Some(id) => id,
        None => {
            let make = "INSERT INTO session_pools (scope, store, key) VALUES (?1, ?2, ?3)";
            connection.prepare_cached(make)?.insert(params![scope, store, place.key])?
        }
    });
    session_endings::end_aged(connection, &crawl_row, id, now, usize::MAX)?;
    settle_all(connection, &crawl_row, id)?;
    let mut sessions = Vec::new();
    for mut stored in select(connection, USABLE_NEWEST, params![id.0, super::sql_limit(limit)])? {
        stored.record.cookies = session_cookies::all(connection, stored.row)?;
        sessions.push(stored.record);
    }
    sessions.reverse();
    Ok(OpenedPool { id, sessions })
}

// What was reserved and not reported counts as used. A few sessions at a time are in memory, however many there are (S9).
fn settle_all(connection: &Connection, crawl: &crawls::Standing, pool: PoolId) -> Done<()> {
    let mut after = (i64::MIN, 0);
    loop {
        let some = select(connection, USABLE_NEXT, params![pool.0, after.0, after.1, SETTLED_AT_A_TIME])?;
        let Some(last) = some.last() else { return Ok(()) };
        after = (last.record.expires_at().as_millis(), last.row);
        for mut stored in some.into_iter().filter(|stored| stored.record.uses.used() < stored.record.reserved) {
            stored.record.settle();
            stored.write(connection)?;
            if stored.ends() && session_endings::is_to_hear(connection, crawl)? {
                session_endings::tell(connection, crawl, [stored.record.id.as_str()])?;
            }
        }
    }
}

/// See [`crate::Store::usable_sessions`].
pub(crate) fn usable(connection: &Connection, pool: PoolId, most: usize) -> Done<usize> {
    let count: i64 = connection.prepare_cached(USABLE)?.query_row(params![pool.0, super::sql_limit(most)], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// See [`crate::Store::create_session`].
pub(crate) fn create(connection: &Connection, user: PoolUser, record: &SessionRecord, uses: u32) -> Done<SessionCreated> {
    let pool = checked(connection, user)?;
    if find(connection, pool, &record.id)?.is_some() {
        return Ok(SessionCreated::NameTaken);
    }
    take_away(connection, pool, KEPT_SESSIONS, REMOVED_AT_A_TIME)?;
    let mut stored = insert(connection, pool, record)?;
    let range = stored.reserve(uses);
    stored.write(connection)?;
    Ok(SessionCreated::Made(range))
}

/// What a commit finds of a session that it is to add.
pub(crate) enum Addition {
    /// It can be added.
    Possible,
    /// There is one of its name.
    NameTaken,
    /// Its pool is none of this crawl's.
    NotOurs,
}

/// Whether a session can be added, without writing.
pub(crate) fn look(connection: &Connection, crawl: CrawlId, added: &AddedSession) -> Done<Addition> {
    if !may_use(connection, crawl, added.pool)? {
        return Ok(Addition::NotOurs);
    }
    let is_taken = find(connection, added.pool, &added.record.id)?.is_some();
    Ok(if is_taken { Addition::NameTaken } else { Addition::Possible })
}

/// Adds a session; it has no use reserved.
pub(crate) fn add(connection: &Connection, added: &AddedSession) -> Done<()> {
    take_away(connection, added.pool, KEPT_SESSIONS, REMOVED_AT_A_TIME)?;
    insert(connection, added.pool, &added.record)?.write(connection)
}

fn insert(connection: &Connection, pool: PoolId, record: &SessionRecord) -> Done<Stored> {
    let insert = "INSERT INTO sessions (pool, name, created_at, expires_at, max_uses, max_error_score, error_score_decrement,
        blocked_status_codes, reserved, settled, score, open_uses, retired, over, user_data, user_data_by, proxy, proxy_by)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0, 0, '', 0, 0, '{}', 0, NULL, 0)";
    let settings = &record.settings;
    let codes = serde_json::to_string(&settings.blocked_status_codes).unwrap_or_else(|_| "[]".to_owned());
    let row = connection.prepare_cached(insert)?.insert(params![
        pool.0,
        record.id.as_str(),
        record.created_at.as_millis(),
        record.expires_at().as_millis(),
        settings.max_uses,
        settings.max_error_score,
        settings.error_score_decrement,
        codes,
    ])?;
    session_cookies::apply(connection, row, &record.cookies)?;
    Ok(Stored { row, record: record.clone(), was_over: false })
}

/// See [`crate::Store::reserve_uses`].
pub(crate) fn reserve(connection: &Connection, user: PoolUser, id: &SessionId, uses: u32) -> Done<Option<UseRange>> {
    let pool = checked(connection, user)?;
    let found = find(connection, pool, id)?.filter(|stored| !stored.was_over && !is_over(&stored.record));
    let Some(mut stored) = found else { return Ok(None) };
    let range = stored.reserve(uses);
    stored.write(connection)?;
    Ok(range)
}

/// See [`crate::Store::return_uses`].
pub(crate) fn take_back(connection: &Connection, user: PoolUser, unused: &[(SessionId, UseRange)]) -> Done<()> {
    let pool = checked(connection, user)?;
    let update = "UPDATE sessions SET reserved = ?3 WHERE pool = ?1 AND name = ?2 AND reserved = ?4 AND settled <= ?3";
    let mut statement = connection.prepare_cached(update)?;
    for (id, range) in unused.iter().filter(|(_, range)| range.count() > 0) {
        statement.execute(params![pool.0, id.as_str(), range.first.0.saturating_sub(1), range.last.0])?;
    }
    Ok(())
}

/// One session, with its cookies.
pub(crate) fn get(connection: &Connection, pool: PoolId, id: &SessionId) -> Done<Option<SessionRecord>> {
    // One transaction: session and cookies are of the same moment.
    let moment = connection.unchecked_transaction()?;
    let Some(mut stored) = find(&moment, pool, id)? else { return Ok(None) };
    stored.record.cookies = session_cookies::all(&moment, stored.row)?;
    Ok(Some(stored.record))
}

/// All sessions, with their cookies, the oldest first.
pub(crate) fn all(connection: &Connection, pool: PoolId) -> Done<Vec<SessionRecord>> {
    let moment = connection.unchecked_transaction()?;
    let mut sessions = Vec::new();
    for mut stored in select(&moment, "WHERE s.pool = ?1 ORDER BY s.id", [pool.0])? {
        stored.record.cookies = session_cookies::all(&moment, stored.row)?;
        sessions.push(stored.record);
    }
    Ok(sessions)
}

/// The pools that a crawl may use, with their sessions; within the transaction of `connection`.
pub(crate) fn pools(connection: &Connection, crawl: CrawlId) -> Done<Vec<(PoolPlace, Vec<SessionRecord>)>> {
    let mut statement = connection
        .prepare("SELECT id, store, key FROM session_pools WHERE scope = ?1 OR (scope = 0 AND store <> '') ORDER BY id")?;
    let place = |row: &Row<'_>| {
        let (store, key): (String, String) = (row.get(1)?, row.get(2)?);
        let store = if store.is_empty() { KvStoreName::Default } else { KvStoreName::Named(store) };
        Ok((PoolId(row.get(0)?), PoolPlace { store, key }))
    };
    let found = statement.query_map([crawl.0], place)?.collect::<Result<Vec<_>, _>>()?;
    let mut pools = Vec::with_capacity(found.len());
    for (id, place) in found {
        let mut sessions = Vec::new();
        for mut stored in select(connection, "WHERE s.pool = ?1 ORDER BY s.id", [id.0])? {
            stored.record.cookies = session_cookies::all(connection, stored.row)?;
            sessions.push(stored.record);
        }
        pools.push((place, sessions));
    }
    Ok(pools)
}

/// See [`crate::Store::end_aged_sessions`].
pub(crate) fn end_aged(connection: &Connection, user: PoolUser, now: Timestamp, limit: usize) -> Done<usize> {
    let pool = checked(connection, user)?;
    session_endings::end_aged(connection, &crawls::standing(connection, user.crawl)?, pool, now, limit)
}

/// See [`crate::Store::purge_sessions`].
pub(crate) fn purge(connection: &Connection, user: PoolUser, now: Timestamp, keep: usize, limit: usize) -> Done<usize> {
    end_aged(connection, user, now, limit)?;
    take_away(connection, user.pool, keep, limit)
}

fn take_away(connection: &Connection, pool: PoolId, keep: usize, limit: usize) -> Done<usize> {
    let mut statement = connection.prepare_cached(OVER)?;
    let (limit, keep) = (super::sql_limit(limit), super::sql_limit(keep));
    let rows = statement.query_map(params![pool.0, limit, keep], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    for row in &rows {
        connection.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([row])?;
        session_cookies::remove(connection, *row)?;
    }
    Ok(rows.len())
}

/// What a commit finds of a session.
pub(crate) enum Found {
    /// What the delta makes of it.
    Here(Box<Plan>),
    /// It is there no more; there is nothing to change.
    Gone,
    /// Its pool is none of this crawl's.
    NotOurs,
}

/// What a delta makes of a session.
pub(crate) struct Plan {
    stored: Stored,
    ended: Option<Unusable>,
}

/// Works out what a delta makes of its session, without writing.
pub(crate) fn plan(connection: &Connection, crawl: CrawlId, delta: &SessionDelta, now: Timestamp) -> Done<Found> {
    if !may_use(connection, crawl, delta.pool)? {
        return Ok(Found::NotOurs);
    }
    let Some(mut stored) = find(connection, delta.pool, &delta.session)? else { return Ok(Found::Gone) };
    let ended = stored.record.end_use(delta, now);
    Ok(Found::Here(Box::new(Plan { stored, ended })))
}

impl Plan {
    /// Why the session is used no more, if the delta ends that.
    pub(crate) const fn ended(&self) -> Option<Unusable> {
        self.ended
    }

    /// Writes it.
    pub(crate) fn write(&self, connection: &Connection, delta: &SessionDelta) -> Done<()> {
        self.stored.write(connection)?;
        session_cookies::apply(connection, self.stored.row, &delta.cookies)
    }

    /// Whether the session is over by it, and was not before.
    pub(crate) fn ends(&self) -> bool {
        self.stored.ends()
    }
}

/// A session with its row; without its cookies unless they were asked for.
struct Stored {
    row: i64,
    record: SessionRecord,
    was_over: bool,
}

impl Stored {
    fn reserve(&mut self, uses: u32) -> Option<UseRange> {
        let before = self.record.reserved;
        let after = before.saturating_add(uses).min(self.record.settings.max_uses).max(before);
        self.record.reserved = after;
        (after > before).then_some(UseRange { first: UseNumber(before + 1), last: UseNumber(after) })
    }

    fn ends(&self) -> bool {
        !self.was_over && is_over(&self.record)
    }

    // What may change of it.
    fn write(&self, connection: &Connection) -> Done<()> {
        let update = "UPDATE sessions SET reserved = ?2, settled = ?3, score = ?4, open_uses = ?5, retired = ?6,
            over = ?7, user_data = ?8, user_data_by = ?9, proxy = ?10, proxy_by = ?11 WHERE id = ?1";
        let record = &self.record;
        let (settled, score, open) = record.uses.to_stored();
        connection.prepare_cached(update)?.execute(params![
            self.row,
            record.reserved,
            settled,
            score,
            open,
            record.retired,
            self.was_over || is_over(record),
            record.user_data.value,
            record.user_data.by.0,
            record.proxy.value.as_ref().map(ProxyId::as_str),
            record.proxy.by.0,
        ])?;
        Ok(())
    }
}

// Whether nothing but the time, which is asked for elsewhere, makes it usable no more.
fn is_over(record: &SessionRecord) -> bool {
    record.unusable(record.created_at).is_some()
}

// The pool, if the user may change it. Whoever lost the lease learns nothing else.
fn checked(connection: &Connection, user: PoolUser) -> Done<PoolId> {
    if crawls::standing(connection, user.crawl)?.epoch != user.lease.epoch {
        return Err(StoreError::Stale.into());
    }
    if may_use(connection, user.crawl, user.pool)? { Ok(user.pool) } else { Err(StoreError::NoPool(user.pool.0).into()) }
}

// Whether there is such a pool, and it is the crawl's own or shared.
fn may_use(connection: &Connection, crawl: CrawlId, pool: PoolId) -> Done<bool> {
    let scope = "SELECT scope FROM session_pools WHERE id = ?1";
    let scope: Option<i64> = connection.prepare_cached(scope)?.query_row([pool.0], |row| row.get(0)).optional()?;
    Ok(scope.is_some_and(|scope| scope == 0 || scope == crawl.0))
}

fn find(connection: &Connection, pool: PoolId, id: &SessionId) -> Done<Option<Stored>> {
    let query = format!("SELECT {COLUMNS} FROM sessions s WHERE s.pool = ?1 AND s.name = ?2");
    let mut statement = connection.prepare_cached(&query)?;
    let mut rows = statement.query(params![pool.0, id.as_str()])?;
    rows.next()?.map(read).transpose()
}

fn select(connection: &Connection, which: &str, params: impl rusqlite::Params) -> Done<Vec<Stored>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM sessions s {which}"))?;
    let mut rows = statement.query(params)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(row)?);
    }
    Ok(all)
}

fn read(row: &Row<'_>) -> Done<Stored> {
    let name: String = row.get(0)?;
    let damaged = |what: &str| Trouble::Damaged(format!("session `{name}` has {what} that no version wrote"));
    let (created_at, expires_at) = (Timestamp::from_millis(row.get(1)?), Timestamp::from_millis(row.get(2)?));
    let codes = row.get_ref(6)?.as_str().map_err(rusqlite::Error::from)?;
    let settings = SessionSettings {
        max_age: expires_at.since(created_at),
        max_uses: row.get(3)?,
        max_error_score: row.get(4)?,
        error_score_decrement: row.get(5)?,
        blocked_status_codes: serde_json::from_str(codes).map_err(|_| damaged("status codes"))?,
    };
    let open = row.get_ref(10)?.as_str().map_err(rusqlite::Error::from)?;
    let uses = UseLog::from_stored(row.get(8)?, row.get(9)?, open).ok_or_else(|| damaged("uses"))?;
    let proxy: Option<String> = row.get(14)?;
    let proxy = proxy.map(|proxy| ProxyId::new(&proxy).ok_or_else(|| damaged("a proxy"))).transpose()?;
    let record = SessionRecord {
        id: SessionId::new(&name).ok_or_else(|| damaged("a name"))?,
        settings,
        created_at,
        reserved: row.get(7)?,
        uses,
        retired: row.get(11)?,
        user_data: Written { value: row.get(12)?, by: UseNumber(row.get(13)?) },
        proxy: Written { value: proxy, by: UseNumber(row.get(15)?) },
        cookies: Vec::new(),
    };
    Ok(Stored { row: row.get(16)?, record, was_over: row.get(17)? })
}
