//! The cookies of sessions: a row for each, with the version of its last change.
//!
//! Decision: a change is written unless a later one is there, by the statement that writes it; so changes that come in any order give the
//! same rows. A cookie that was removed leaves its row without a value, until no attempt can be on its way any more that saw
//! it. Rows are bounded as jars are, whatever sites send: what has ended goes, and the oldest beyond the bounds.

use super::trouble::{Done, Trouble};
use nephila_model::{Cookie, CookieChange, CookieDeed, CookieKey, CookieReach, CookieVersion, SameSite, Timestamp, UseNumber};
use rusqlite::{Connection, Row, params};

/// So long is a cookie remembered that was removed, in milliseconds: a day, many times the longest attempt.
const REMEMBERED: i64 = 24 * 60 * 60 * 1_000;

/// Removed cookies of a session that are remembered, at most: as in a jar.
const REMOVED: i64 = 100;

/// Cookies of a session, and bytes of them, at most: as in a jar.
const COOKIES: i64 = 3_000;
const BYTES: i64 = 512 * 1024;

/// What has ended or was removed long ago, and the removed ones but for the newest.
const FORGET: &str = "DELETE FROM session_cookies WHERE session = ?1 AND (expires_at <= ?2 OR (value IS NULL AND (changed_at < ?3
    OR (domain, path, name) IN (SELECT domain, path, name FROM session_cookies WHERE session = ?1 AND value IS NULL
        ORDER BY changed_at DESC, changed_by DESC LIMIT -1 OFFSET ?4))))";

/// Whether there are cookies beyond the bounds, which is seldom so.
const TOO_MANY: &str = "SELECT count(*) > ?2
        OR ifnull(sum(octet_length(domain) + octet_length(path) + octet_length(name) + octet_length(value)), 0) > ?3
    FROM session_cookies WHERE session = ?1 AND value IS NOT NULL";

/// The oldest cookies beyond the bounds.
const LET_GO: &str = "DELETE FROM session_cookies WHERE session = ?1 AND (domain, path, name) IN (
    SELECT domain, path, name FROM (
        SELECT domain, path, name, row_number() OVER newest AS place,
            sum(octet_length(domain) + octet_length(path) + octet_length(name) + octet_length(value)) OVER newest AS bytes
        FROM session_cookies WHERE session = ?1 AND value IS NOT NULL
        WINDOW newest AS (ORDER BY changed_at DESC, changed_by DESC, domain, path, name ROWS UNBOUNDED PRECEDING))
    WHERE place > ?2 OR bytes > ?3)";

const PUT: &str =
    "INSERT INTO session_cookies (session, domain, path, name, changed_at, changed_by, value, reach, secure, http_only,
    same_site, expires_at, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
    ON CONFLICT (session, domain, path, name) DO UPDATE SET changed_at = excluded.changed_at, changed_by = excluded.changed_by,
    value = excluded.value, reach = excluded.reach, secure = excluded.secure, http_only = excluded.http_only,
    same_site = excluded.same_site, expires_at = excluded.expires_at, created_at = excluded.created_at
    WHERE (excluded.changed_at, excluded.changed_by) > (changed_at, changed_by)";

/// Takes changes in.
pub(crate) fn apply(connection: &Connection, session: i64, changes: &[CookieChange]) -> Done<()> {
    let Some(newest) = changes.iter().map(|change| change.version.at.as_millis()).max() else { return Ok(()) };
    let mut put = connection.prepare_cached(PUT)?;
    for change in changes {
        let CookieKey { domain, path, name } = change.key();
        let (at, by) = (change.version.at.as_millis(), change.version.by.0);
        let cookie = match &change.deed {
            CookieDeed::Set(cookie) => Some(cookie),
            CookieDeed::Remove(_) => None,
        };
        put.execute(params![
            session,
            domain,
            path,
            name,
            at,
            by,
            cookie.map(|cookie| &cookie.value),
            cookie.map(|cookie| reach_word(cookie.reach)),
            cookie.map(|cookie| cookie.secure),
            cookie.map(|cookie| cookie.http_only),
            cookie.and_then(|cookie| cookie.same_site).map(SameSite::as_str),
            cookie.and_then(|cookie| cookie.expires_at).map(Timestamp::as_millis),
            cookie.map(|cookie| cookie.created_at.as_millis()),
        ])?;
    }
    let long_ago = newest.saturating_sub(REMEMBERED);
    connection.prepare_cached(FORGET)?.execute(params![session, newest, long_ago, REMOVED])?;
    if connection.prepare_cached(TOO_MANY)?.query_row(params![session, COOKIES, BYTES], |row| row.get::<_, bool>(0))? {
        connection.prepare_cached(LET_GO)?.execute(params![session, COOKIES, BYTES])?;
    }
    Ok(())
}

/// The last change of every cookie of a session.
pub(crate) fn all(connection: &Connection, session: i64) -> Done<Vec<CookieChange>> {
    let query =
        "SELECT domain, path, name, changed_at, changed_by, value, reach, secure, http_only, same_site, expires_at, created_at
        FROM session_cookies WHERE session = ?1 ORDER BY domain, path, name";
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query([session])?;
    let mut changes = Vec::new();
    while let Some(row) = rows.next()? {
        changes.push(read(row)?);
    }
    Ok(changes)
}

/// All of a session's cookies go.
pub(crate) fn remove(connection: &Connection, session: i64) -> Done<()> {
    connection.prepare_cached("DELETE FROM session_cookies WHERE session = ?1")?.execute([session])?;
    Ok(())
}

fn read(row: &Row<'_>) -> Done<CookieChange> {
    let key = CookieKey { domain: row.get(0)?, path: row.get(1)?, name: row.get(2)? };
    let version = CookieVersion { at: Timestamp::from_millis(row.get(3)?), by: UseNumber(row.get(4)?) };
    let Some(value) = row.get(5)? else { return Ok(CookieChange { version, deed: CookieDeed::Remove(key) }) };
    let cookie = Cookie {
        key,
        value,
        reach: match row.get_ref(6)?.as_str().map_err(rusqlite::Error::from)? {
            "domain" => CookieReach::Domain,
            "host" => CookieReach::Host,
            other => return Err(Trouble::Damaged(format!("a cookie reaches `{other}`"))),
        },
        secure: row.get(7)?,
        http_only: row.get(8)?,
        same_site: row.get::<_, Option<String>>(9)?.as_deref().and_then(SameSite::parse),
        expires_at: row.get::<_, Option<i64>>(10)?.map(Timestamp::from_millis),
        created_at: Timestamp::from_millis(row.get(11)?),
    };
    Ok(CookieChange { version, deed: CookieDeed::Set(cookie) })
}

// These words are stored.
const fn reach_word(reach: CookieReach) -> &'static str {
    match reach {
        CookieReach::Host => "host",
        CookieReach::Domain => "domain",
    }
}
