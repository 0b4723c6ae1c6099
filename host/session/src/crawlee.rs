//! A pool in Crawlee's shape: what Crawlee for Python keeps under `CRAWLEE_SESSION_POOL_STATE` in its key-value store.
//!
//! Decision: both ways, and exactly Crawlee's fields (`crawlee/sessions/_models.py` of 1.11): durations as ISO 8601, times as RFC 3339,
//! cookies with `snake_case` names, ends of cookies in whole seconds. Crawlee has no flag for a retired session, it adds the maximum to the
//! score; so does this. It has no host-only flag either: as Python's cookie jar has it, a domain with a leading dot is for all hosts
//! under it. A cookie without any domain, which Crawlee sends to every site, is nobody's here and is left out, and said to be.
//!
//! It is for export and import. A crawl's own sessions are durable in its store.

use jiff::{SignedDuration, Span, SpanRelativeTo};
use nephila_model::{
    Cookie, CookieChange, CookieDeed, CookieKey, CookieReach, CookieVersion, SameSite, SessionId, SessionRecord, SessionSettings,
    Timestamp, UseLog, UseNumber, Written,
};
use serde::ser::{Error as _, SerializeSeq, SerializeStruct};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use std::cell::Cell;
use std::time::Duration;

// What is counted in it is not read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PoolShape {
    max_pool_size: usize,
    sessions: Vec<SessionShape>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionShape {
    id: String,
    max_age: String,
    user_data: Box<RawValue>,
    max_error_score: f64,
    error_score_decrement: f64,
    created_at: String,
    usage_count: u32,
    max_usage_count: u32,
    error_score: f64,
    cookies: Vec<CookieShape>,
    blocked_status_codes: Vec<u16>,
}

#[derive(Serialize, Deserialize)]
struct CookieShape {
    name: String,
    value: String,
    #[serde(default)]
    domain: String,
    #[serde(default = "root")]
    path: String,
    #[serde(default)]
    secure: bool,
    #[serde(default)]
    http_only: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    same_site: Option<String>,
}

fn root() -> String {
    "/".to_owned()
}

/// Why a text is no pool in Crawlee's shape.
#[derive(Debug, thiserror::Error)]
pub enum ShapeError {
    /// It is other JSON, or none.
    #[error(
        "this is not the state of a Crawlee session pool: {0}; give what Crawlee for Python keeps under CRAWLEE_SESSION_POOL_STATE"
    )]
    Json(#[from] serde_json::Error),
    /// A field holds what cannot be.
    #[error("session `{session}` has {value:?} as `{field}`, which is not {wanted}; correct it, or take the session out")]
    Field {
        /// The session.
        session: String,
        /// The field.
        field: &'static str,
        /// What is there.
        value: String,
        /// What would do.
        wanted: &'static str,
    },
    /// Our own data do not fit into the shape.
    #[error("session `{session}` cannot be written in Crawlee's shape: its {what}")]
    NotExpressible {
        /// The session.
        session: String,
        /// What does not fit.
        what: &'static str,
    },
}

/// A pool that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadPool {
    /// How many sessions it may have.
    pub max_pool_size: usize,
    /// Its sessions, the unusable ones too.
    pub sessions: Vec<SessionRecord>,
    /// Cookies that were left out, since they have no domain: their sessions and names.
    pub left_out: Vec<(SessionId, String)>,
}

/// A pool as pretty JSON, in the shape that Crawlee for Python reads. Sessions are taken and written one after another, so that what it costs
/// is the text, and only as much of it as `to` takes.
///
/// # Errors
/// [`ShapeError::NotExpressible`] if a session's times or user data cannot be written; [`ShapeError::Json`] with the error of `to`, if it
/// takes no more ([`serde_json::Error::is_io`]).
pub fn write_pool(
    to: impl std::io::Write,
    max_pool_size: usize,
    sessions: impl IntoIterator<Item = SessionRecord>,
    now: Timestamp,
) -> Result<(), ShapeError> {
    let shown = Shown { max_pool_size, sessions: Cell::new(Some(sessions.into_iter())), now, failed: Cell::new(None) };
    serde_json::to_writer_pretty(to, &shown).map_err(|error| shown.failed.take().unwrap_or(ShapeError::Json(error)))
}

// A pool whose sessions are taken while it is written.
struct Shown<I> {
    max_pool_size: usize,
    sessions: Cell<Option<I>>,
    now: Timestamp,
    failed: Cell<Option<ShapeError>>,
}

impl<I: Iterator<Item = SessionRecord>> Serialize for Shown<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counted = Cell::new((0_usize, 0_usize));
        let mut shape = serializer.serialize_struct("Pool", 5)?;
        shape.serialize_field("maxPoolSize", &self.max_pool_size)?;
        shape.serialize_field("sessions", &ShownSessions { of: self, counted: &counted })?;
        let (all, usable) = counted.get();
        shape.serialize_field("sessionCount", &all)?;
        shape.serialize_field("usableSessionCount", &usable)?;
        shape.serialize_field("retiredSessionCount", &(all - usable))?;
        shape.end()
    }
}

struct ShownSessions<'a, I> {
    of: &'a Shown<I>,
    // All, and the usable ones.
    counted: &'a Cell<(usize, usize)>,
}

impl<I: Iterator<Item = SessionRecord>> Serialize for ShownSessions<'_, I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for session in self.of.sessions.take().into_iter().flatten() {
            let (all, usable) = self.counted.get();
            self.counted.set((all + 1, usable + usize::from(session.unusable(self.of.now).is_none())));
            match to_shape(&session, self.of.now) {
                Ok(shape) => list.serialize_element(&shape)?,
                Err(error) => {
                    let words = error.to_string();
                    self.of.failed.set(Some(error));
                    return Err(S::Error::custom(words));
                }
            }
        }
        list.end()
    }
}

/// Reads what Crawlee for Python wrote, or [`write_pool`]. `now` is when its cookies count as made, since the shape does not say.
///
/// # Errors
/// [`ShapeError`], with the session and the field.
pub fn read_pool(json: &str, now: Timestamp) -> Result<ReadPool, ShapeError> {
    let shape: PoolShape = serde_json::from_str(json)?;
    let mut pool = ReadPool { max_pool_size: shape.max_pool_size, sessions: Vec::new(), left_out: Vec::new() };
    for session in shape.sessions {
        let record = from_shape(session, now, &mut pool.left_out)?;
        pool.sessions.push(record);
    }
    Ok(pool)
}

fn to_shape(session: &SessionRecord, now: Timestamp) -> Result<SessionShape, ShapeError> {
    let fails = |what| ShapeError::NotExpressible { session: session.id.to_string(), what };
    let settings = &session.settings;
    let max_age = SignedDuration::try_from(settings.max_age).map_err(|_| fails("age is too long"))?;
    let created_at = jiff::Timestamp::from_millisecond(session.created_at.as_millis()).map_err(|_| fails("date is no date"))?;
    let user_data = RawValue::from_string(session.user_data.value.clone()).map_err(|_| fails("user data are not JSON"))?;
    let penalty = if session.retired { settings.max_error_score } else { 0.0 };
    let changes = session.cookies.iter().filter_map(|change| match &change.deed {
        CookieDeed::Set(cookie) if !cookie.is_expired(now) => Some(cookie),
        _ => None,
    });
    Ok(SessionShape {
        id: session.id.to_string(),
        max_age: max_age.to_string(),
        user_data,
        max_error_score: settings.max_error_score,
        error_score_decrement: settings.error_score_decrement,
        created_at: created_at.to_string(),
        usage_count: session.uses.used(),
        max_usage_count: settings.max_uses,
        error_score: session.score() + penalty,
        cookies: changes.map(cookie_shape).collect(),
        blocked_status_codes: settings.blocked_status_codes.iter().copied().collect(),
    })
}

fn cookie_shape(cookie: &Cookie) -> CookieShape {
    let CookieKey { domain, path, name } = cookie.key.clone();
    CookieShape {
        name,
        value: cookie.value.clone(),
        domain: match cookie.reach {
            CookieReach::Host => domain,
            CookieReach::Domain => format!(".{domain}"),
        },
        path,
        secure: cookie.secure,
        http_only: cookie.http_only,
        // A cookie never lives longer for it.
        expires: cookie.expires_at.map(|end| end.as_millis().div_euclid(1_000)),
        same_site: cookie.same_site.map(|same_site| same_site.as_str().to_owned()),
    }
}

fn from_shape(shape: SessionShape, now: Timestamp, left_out: &mut Vec<(SessionId, String)>) -> Result<SessionRecord, ShapeError> {
    let name = shape.id.clone();
    let fails = |field, value: &str, wanted| ShapeError::Field { session: name.clone(), field, value: value.to_owned(), wanted };
    let id = SessionId::new(&name).ok_or_else(|| fails("id", &name, "1 to 128 bytes without control characters"))?;
    let max_age = duration(&shape.max_age).ok_or_else(|| fails("maxAge", &shape.max_age, "a duration such as PT50M"))?;
    let created_at: jiff::Timestamp =
        shape.created_at.parse().map_err(|_| fails("createdAt", &shape.created_at, "a time such as 2026-01-31T12:00:00Z"))?;
    let settings = SessionSettings {
        max_age,
        max_uses: shape.max_usage_count,
        max_error_score: shape.max_error_score,
        error_score_decrement: shape.error_score_decrement,
        blocked_status_codes: shape.blocked_status_codes.into_iter().collect(),
    };
    crate::check_session(&settings).map_err(|error| fails("limits", &error.to_string(), "what a session may have"))?;
    let user_data = shape.user_data.get();
    crate::check_user_data(user_data).map_err(|_| fails("userData", user_data, "a JSON object of 64 KiB at most"))?;
    if !(shape.error_score.is_finite() && shape.error_score >= 0.0) {
        return Err(fails("errorScore", &shape.error_score.to_string(), "0, or a number above it"));
    }
    let mut cookies = Vec::new();
    for cookie in shape.cookies {
        if cookie.domain.trim_matches('.').is_empty() {
            left_out.push((id.clone(), cookie.name));
            continue;
        }
        let at = Timestamp::from_millis(now.as_millis().saturating_add(i64::try_from(cookies.len()).unwrap_or(0)));
        let version = CookieVersion { at, by: UseNumber(0) };
        cookies.push(CookieChange { version, deed: CookieDeed::Set(from_cookie(cookie, at)) });
    }
    let mut record = SessionRecord::new(id, settings, Timestamp::from_millis(created_at.as_millisecond()));
    record.user_data = Written::first(user_data.to_owned());
    record.reserved = shape.usage_count;
    record.uses = UseLog::settled(shape.usage_count, shape.error_score);
    record.cookies = cookies;
    Ok(record)
}

fn from_cookie(shape: CookieShape, created_at: Timestamp) -> Cookie {
    let (domain, reach) = match shape.domain.strip_prefix('.') {
        Some(domain) => (domain.to_ascii_lowercase(), CookieReach::Domain),
        None => (shape.domain.to_ascii_lowercase(), CookieReach::Host),
    };
    Cookie {
        key: CookieKey { domain, path: shape.path, name: shape.name },
        value: shape.value,
        reach,
        secure: shape.secure,
        http_only: shape.http_only,
        same_site: shape.same_site.as_deref().and_then(SameSite::parse),
        expires_at: shape.expires.map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1_000))),
        created_at,
    }
}

// Days are of 24 hours; months and years, which have no length, are refused.
fn duration(text: &str) -> Option<Duration> {
    let span: Span = text.parse().ok()?;
    let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    Duration::try_from(length).ok()
}

#[cfg(test)]
mod tests;
