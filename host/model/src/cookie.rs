//! Cookies as data: what a session keeps, and what an attempt changed in it.
//!
//! Decision: a jar is never written as a whole. What travels is one change per cookie, each with a version, and of two changes of
//! one cookie the greater version holds. So changes of attempts that ran at the same time may be applied in any order, and give
//! the same jar. What it costs: a removed cookie leaves its key and version behind for a while, since an older change of it may
//! come later.

use crate::{Timestamp, UseNumber};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What tells the cookies of a jar apart (RFC 6265, section 5.3, step 11). Ordered by domain, so that a domain's cookies stand together.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CookieKey {
    /// The domain in lower case and punycode, without a leading dot.
    pub domain: String,
    /// The path, beginning with `/`.
    pub path: String,
    /// The name, case and all.
    pub name: String,
}

/// Which hosts get a cookie (RFC 6265: the host-only flag).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CookieReach {
    /// Only the host that is its domain: the response named no `Domain`.
    Host,
    /// Its domain, and every host under it.
    Domain,
}

/// The `SameSite` attribute. Kept for who asks (Crawlee, browsers); a crawler's fetches are all navigations, so that it keeps none back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SameSite {
    /// `Strict`.
    Strict,
    /// `Lax`.
    Lax,
    /// `None`.
    None,
}

impl SameSite {
    /// The attribute's value, as Crawlee and browsers write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "Strict",
            Self::Lax => "Lax",
            Self::None => "None",
        }
    }

    /// From the attribute's value, whatever its case; `None` for an unknown one, which counts as no attribute.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        [Self::Strict, Self::Lax, Self::None].into_iter().find(|known| known.as_str().eq_ignore_ascii_case(value))
    }
}

/// A cookie.
#[derive(Clone, PartialEq, Eq)]
pub struct Cookie {
    /// Which one it is.
    pub key: CookieKey,
    /// Its value. Often a secret: it is in no log line.
    pub value: String,
    /// Which hosts get it.
    pub reach: CookieReach,
    /// Whether it is sent by `https` alone.
    pub secure: bool,
    /// Whether scripts of the page may not see it.
    pub http_only: bool,
    /// Its `SameSite` attribute, if it had one.
    pub same_site: Option<SameSite>,
    /// When it ends, a point in time, so that its age runs while a crawl rests. `None`: with its session.
    pub expires_at: Option<Timestamp>,
    /// When a cookie of this key was first set; a new value keeps it (RFC 6265, section 5.3, step 11).
    pub created_at: Timestamp,
}

impl Cookie {
    /// Whether it has ended.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cookie")
            .field("key", &self.key)
            .field("value", &format_args!("({} bytes)", self.value.len()))
            .field("reach", &self.reach)
            .field("secure", &self.secure)
            .field("http_only", &self.http_only)
            .field("same_site", &self.same_site)
            .field("expires_at", &self.expires_at)
            .field("created_at", &self.created_at)
            .finish()
    }
}

/// When a cookie was changed, and by which use of its session. The greater one holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CookieVersion {
    /// When the response came, or a moment later if the session saw another change then: a jar gives each time once, and none that
    /// lies before one it gave.
    pub at: Timestamp,
    /// The use. Tells changes of one moment apart that two owners of a session made.
    pub by: UseNumber,
}

/// A change of one cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CookieChange {
    /// When, and by whom.
    pub version: CookieVersion,
    /// What is done.
    pub deed: CookieDeed,
}

/// What is done to a cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CookieDeed {
    /// It is so from now on.
    Set(Cookie),
    /// There is none of this key.
    Remove(CookieKey),
}

impl CookieChange {
    /// Whose change it is.
    #[must_use]
    pub const fn key(&self) -> &CookieKey {
        match &self.deed {
            CookieDeed::Set(cookie) => &cookie.key,
            CookieDeed::Remove(key) => key,
        }
    }

    /// About how many bytes it holds.
    #[must_use]
    pub fn weight(&self) -> usize {
        let key = self.key();
        let value = match &self.deed {
            CookieDeed::Set(cookie) => cookie.value.len(),
            CookieDeed::Remove(_) => 0,
        };
        128 + key.domain.len() + key.path.len() + key.name.len() + value
    }
}
