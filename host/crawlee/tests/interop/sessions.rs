//! A session pool in Crawlee's shape, and what Crawlee must make of it.

use anyhow::{Context, Result};
use nephila_model::{
    Cookie, CookieChange, CookieDeed, CookieKey, CookieReach, CookieVersion, PoolId, SameSite, SessionDelta, SessionId,
    SessionRecord, SessionSettings, Timestamp, UseMark, UseNumber, Written,
};
use nephila_session::crawlee::write_pool;
use serde_json::{Value, json};
use std::time::Duration;

/// Seconds that a session of the pool lives.
const MAX_AGE: u64 = 3_000;

/// The pool that is written: two sessions that may be used, one that is blocked.
pub fn pool() -> Result<Value> {
    use UseMark::{Bad, Good, Neither};
    let mut first = session("session-1", &[Bad, Bad, Good, Neither, Neither, Neither, Neither])?;
    first.cookies = vec![
        cookie("site.test", "/shop", "sid", "abc", Some(Timestamp::from_millis(4_102_444_800_000))),
        cookie("other.test", "/", "other", "1", None),
    ];
    let sessions = [first, session("session-2", &[])?, session("blocked", &[Bad, Bad, Bad])?];
    let mut text = Vec::new();
    write_pool(&mut text, 1_000, sessions, Timestamp::now())?;
    Ok(serde_json::from_slice(&text)?)
}

// Young: of a pool of long ago no session would be left.
fn session(name: &str, uses: &[UseMark]) -> Result<SessionRecord> {
    let id = SessionId::new(name).context("a name")?;
    let mut session = SessionRecord::new(id.clone(), SessionSettings::default(), Timestamp::now());
    session.user_data = Written::first(json!({ "login": name }).to_string());
    for (number, mark) in (1..).zip(uses) {
        session.reserved = number;
        session.apply(&SessionDelta { mark: *mark, ..SessionDelta::of_use(PoolId(1), id.clone(), UseNumber(number)) });
    }
    Ok(session)
}

fn cookie(domain: &str, path: &str, name: &str, value: &str, expires_at: Option<Timestamp>) -> CookieChange {
    let safe = expires_at.is_some();
    let set = Cookie {
        key: CookieKey { domain: domain.to_owned(), path: path.to_owned(), name: name.to_owned() },
        value: value.to_owned(),
        reach: CookieReach::Host,
        secure: safe,
        http_only: safe,
        same_site: safe.then_some(SameSite::Lax),
        expires_at,
        created_at: Timestamp::from_millis(1),
    };
    CookieChange { version: CookieVersion { at: Timestamp::from_millis(1), by: UseNumber(1) }, deed: CookieDeed::Set(set) }
}

/// What Crawlee saw of [`pool`].
pub fn check(seen: &Value) -> Result<()> {
    assert_eq!(seen["pool"], json!([2, 2]), "the blocked one is left out");
    let session = &seen["session"];
    assert_eq!((&session["usage_count"], &session["error_score"]), (&json!(7), &json!(1.5)));
    assert_eq!(session["user_data"], json!({ "login": "session-1" }));
    assert_eq!((&session["blocked"], &session["other_usable"]), (&json!(true), &json!(true)));
    assert_eq!(session["cookie_header"], "sid=abc");
    let cookies = session["cookies"].as_array().context("cookies")?;
    let sid = cookies.iter().find(|cookie| cookie["name"] == "sid").context("a cookie")?;
    let ours = pool()?;
    assert_eq!(*sid, ours["sessions"][0]["cookies"][0]);
    let expires: jiff::Timestamp = session["expires_at"].as_str().context("a time")?.parse()?;
    let left = Timestamp::from_millis(expires.as_millisecond()).since(Timestamp::now());
    assert!(left <= Duration::from_secs(MAX_AGE) && !left.is_zero(), "{left:?}");
    Ok(())
}

/// The pool that Crawlee wrote after it marked the first session bad.
pub fn check_after_a_bad_use(pool: &Value) -> Result<()> {
    let sessions = pool["sessions"].as_array().context("sessions")?;
    assert_eq!(sessions.len(), 2);
    let session = sessions.iter().find(|session| session["id"] == "session-1").context("a session")?;
    assert_eq!((&session["usageCount"], &session["errorScore"]), (&json!(8), &json!(2.5)));
    assert_eq!((&pool["maxPoolSize"], &pool["usableSessionCount"]), (&json!(2), &json!(2)));
    Ok(())
}
