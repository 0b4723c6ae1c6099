//! A session's cookies: RFC 6265, sections 5.3 (what is kept) and 5.4 (what is sent).
//!
//! Decision: one jar per session, over all sites, as in a browser. What a response does to it comes back as changes, one per cookie and each
//! with a version, and a jar takes changes in, in any order ([`CookieVersion`]); no jar is ever replaced by another one. Public
//! suffixes are those of the list that is compiled in (`psl`), so that no site sets a cookie for all of `co.uk`.
//!
//! A crawler is no browser: all cookies of a request are of the site that is fetched, so that `SameSite` is kept and keeps nothing
//! back. Prefixes such as `__Host-` are plain names (they are not in RFC 6265).

use crate::limits::{Full, make_room};
use crate::set_cookie;
use nephila_model::{Cookie, CookieChange, CookieDeed, CookieKey, CookieReach, CookieVersion, Timestamp, UseNumber};
use std::collections::BTreeMap;
use url::{Host, Url};

/// What a jar has of a cookie.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) version: CookieVersion,
    /// `None`: it was removed; an older change of it may still come.
    pub(crate) cookie: Option<Cookie>,
}

/// A session's cookies.
#[derive(Debug, Clone, Default)]
pub struct CookieJar {
    kept: BTreeMap<CookieKey, Kept>,
    // The last time that was given to a change. Times are given once, so that cookies of one response keep their order.
    clock: Timestamp,
}

impl CookieJar {
    /// A jar of what was kept, in any order. What had ended by `now` is left out.
    #[must_use]
    pub fn new(changes: impl IntoIterator<Item = CookieChange>, now: Timestamp) -> Self {
        let mut jar = Self::default();
        for change in changes {
            jar.apply(&change);
        }
        jar.kept.retain(|_, kept| !kept.cookie.as_ref().is_some_and(|cookie| cookie.is_expired(now)));
        jar
    }

    /// Takes in the `Set-Cookie` header fields of a response from `url`, in order, and says what changed. What a site may not
    /// set, or writes wrongly, is ignored, as the RFC asks.
    pub fn receive<'f>(
        &mut self,
        url: &Url,
        fields: impl IntoIterator<Item = &'f str>,
        now: Timestamp,
        by: UseNumber,
    ) -> Vec<CookieChange> {
        let mut changes = Vec::new();
        for field in fields {
            let Some(cookie) = self.read(url, field, now) else { continue };
            let key = cookie.key.clone();
            let there = self.kept.get(&key).and_then(|kept| kept.cookie.as_ref()).filter(|there| !there.is_expired(now));
            if cookie.is_expired(now) {
                if there.is_some() {
                    changes.push(self.change(CookieDeed::Remove(key), now, by));
                }
                continue;
            }
            let made = there.map(|there| there.created_at);
            let version = self.version(now, by);
            let cookie = Cookie { created_at: made.unwrap_or(version.at), ..cookie };
            changes.push(self.put(CookieChange { version, deed: CookieDeed::Set(cookie) }));
            for key in make_room(&mut self.kept, &key.domain, now, &Full::JAR) {
                changes.push(self.change(CookieDeed::Remove(key), now, by));
            }
        }
        changes
    }

    /// Takes a cookie out; says what changed, if there was one.
    pub fn remove(&mut self, key: &CookieKey, now: Timestamp, by: UseNumber) -> Option<CookieChange> {
        self.kept.get(key).filter(|kept| kept.cookie.is_some())?;
        Some(self.change(CookieDeed::Remove(key.clone()), now, by))
    }

    /// Takes in a change that was made elsewhere, unless a later one of the same cookie is there.
    pub fn apply(&mut self, change: &CookieChange) {
        self.clock = self.clock.max(change.version.at);
        if self.kept.get(change.key()).is_none_or(|kept| kept.version < change.version) {
            self.put(change.clone());
        }
    }

    /// The value of the `Cookie` header field for a request to `url`; `None` if no cookie is for it.
    #[must_use]
    pub fn header(&self, url: &Url, now: Timestamp) -> Option<String> {
        let sent = self.cookies_for(url, now);
        let pairs: Vec<String> = sent.into_iter().map(|cookie| format!("{}={}", cookie.key.name, cookie.value)).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// The cookies that go with a request to `url`. Longer paths come first, and among equals what was made first (RFC 6265,
    /// section 5.4).
    #[must_use]
    pub fn cookies_for(&self, url: &Url, now: Timestamp) -> Vec<&Cookie> {
        let Some(host) = url.host_str() else { return Vec::new() };
        let is_secure = url.scheme() == "https";
        let is_domain = matches!(url.host(), Some(Host::Domain(_)));
        let is_sent = |cookie: &Cookie| {
            (cookie.key.domain == host || (is_domain && cookie.reach == CookieReach::Domain))
                && (is_secure || !cookie.secure)
                && !cookie.is_expired(now)
                && path_matches(url.path(), &cookie.key.path)
        };
        let mut sent: Vec<&Cookie> =
            domains_of(host).flat_map(|domain| self.of(domain)).filter(|cookie| is_sent(cookie)).collect();
        sent.sort_by_key(|cookie| (std::cmp::Reverse(cookie.key.path.len()), cookie.created_at));
        sent
    }

    /// The cookies that have not ended, by domain, path and name.
    pub fn cookies(&self, now: Timestamp) -> impl Iterator<Item = &Cookie> {
        self.kept.values().filter_map(|kept| kept.cookie.as_ref()).filter(move |cookie| !cookie.is_expired(now))
    }

    /// The last change of every cookie, of the removed ones too: what makes this jar again.
    #[must_use]
    pub fn to_changes(&self) -> Vec<CookieChange> {
        let change = |(key, kept): (&CookieKey, &Kept)| CookieChange {
            version: kept.version,
            deed: kept.cookie.clone().map_or_else(|| CookieDeed::Remove(key.clone()), CookieDeed::Set),
        };
        self.kept.iter().map(change).collect()
    }

    fn of(&self, domain: &str) -> impl Iterator<Item = &Cookie> {
        let first = CookieKey { domain: domain.to_owned(), path: String::new(), name: String::new() };
        let of_domain = self.kept.range(first..).take_while(move |(key, _)| key.domain == domain);
        of_domain.filter_map(|(_, kept)| kept.cookie.as_ref())
    }

    // What a header field sets, if this site may set it (section 5.3).
    fn read(&self, url: &Url, field: &str, now: Timestamp) -> Option<Cookie> {
        let set = set_cookie::parse(field, now)?;
        let host = url.host_str()?;
        let (domain, reach) = match set.domain {
            None => (host.to_owned(), CookieReach::Host),
            Some(domain) => {
                let domain = canonical(domain)?;
                if is_public_suffix(&domain) {
                    (domain == host).then_some((domain, CookieReach::Host))?
                } else {
                    domain_matches(url, &domain).then_some((domain, CookieReach::Domain))?
                }
            }
        };
        let path = set.path.unwrap_or_else(|| default_path(url)).to_owned();
        Some(Cookie {
            key: CookieKey { domain, path, name: set.name.to_owned() },
            value: set.value.to_owned(),
            reach,
            secure: set.secure,
            http_only: set.http_only,
            same_site: set.same_site,
            expires_at: set.expires_at,
            created_at: now,
        })
    }

    fn version(&mut self, now: Timestamp, by: UseNumber) -> CookieVersion {
        self.clock = now.max(Timestamp::from_millis(self.clock.as_millis().saturating_add(1)));
        CookieVersion { at: self.clock, by }
    }

    fn change(&mut self, deed: CookieDeed, now: Timestamp, by: UseNumber) -> CookieChange {
        let version = self.version(now, by);
        self.put(CookieChange { version, deed })
    }

    fn put(&mut self, change: CookieChange) -> CookieChange {
        let cookie = match &change.deed {
            CookieDeed::Set(cookie) => Some(cookie.clone()),
            CookieDeed::Remove(_) => None,
        };
        self.kept.insert(change.key().clone(), Kept { version: change.version, cookie });
        change
    }
}

// A host, and every domain that it is under.
fn domains_of(host: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(host), |domain| domain.split_once('.').map(|(_, parent)| parent))
}

/// A domain as URLs have it: in lower case and punycode; `None` if it can be no host's.
fn canonical(domain: &str) -> Option<String> {
    Host::parse(domain).ok().map(|host| host.to_string())
}

fn is_public_suffix(domain: &str) -> bool {
    domain.parse::<std::net::IpAddr>().is_err() && psl::suffix_str(domain) == Some(domain)
}

// Section 5.1.3.
fn domain_matches(url: &Url, domain: &str) -> bool {
    match url.host() {
        Some(Host::Domain(host)) => domains_of(host).any(|parent| parent == domain),
        Some(address) => address.to_string() == domain,
        None => false,
    }
}

// Section 5.1.4.
fn default_path(url: &Url) -> &str {
    match url.path().rfind('/') {
        None | Some(0) => "/",
        Some(end) => &url.path()[..end],
    }
}

fn path_matches(path: &str, of_cookie: &str) -> bool {
    path.strip_prefix(of_cookie).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || of_cookie.ends_with('/'))
}

#[cfg(test)]
mod tests;
