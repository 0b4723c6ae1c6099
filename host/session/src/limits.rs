//! How much a jar keeps, whatever sites send.
//!
//! Decision: RFC 6265, section 6.1 asks for 50 cookies per domain and 3,000 in all at least, and that is what there is; bytes are
//! bounded beside, since a pool has a thousand jars. What has to go is what ended, and then what was changed longest ago. (The RFC
//! would have what was *sent* longest ago go; to note that would be a change of the jar at each request.)

use crate::jar::Kept;
use nephila_model::{Cookie, CookieChange, CookieDeed, CookieKey, Timestamp};
use std::collections::BTreeMap;

/// When a jar is full.
#[derive(Debug)]
pub(crate) struct Full {
    /// Cookies of one domain.
    of_domain: usize,
    /// Cookies of all domains.
    cookies: usize,
    /// Bytes of keys and values.
    bytes: usize,
    /// Cookies that were removed, and are remembered as such.
    removed: usize,
}

impl Full {
    /// The limits of every jar.
    pub(crate) const JAR: Self = Self { of_domain: 50, cookies: 3_000, bytes: 512 * 1024, removed: 100 };
}

#[derive(Debug, Default)]
struct Tally {
    of_domain: usize,
    cookies: usize,
    bytes: usize,
    removed: usize,
    ended: usize,
}

impl Tally {
    fn of(kept: &BTreeMap<CookieKey, Kept>, domain: &str, now: Timestamp) -> Self {
        let mut tally = Self::default();
        for kept in kept.values() {
            match &kept.cookie {
                None => tally.removed += 1,
                Some(cookie) => {
                    tally.cookies += 1;
                    tally.bytes += weight(cookie);
                    tally.of_domain += usize::from(cookie.key.domain == domain);
                    tally.ended += usize::from(cookie.is_expired(now));
                }
            }
        }
        tally
    }

    fn add(&mut self, deed: &CookieDeed) {
        match deed {
            CookieDeed::Remove(_) => self.removed += 1,
            CookieDeed::Set(cookie) => {
                self.cookies += 1;
                self.bytes += weight(cookie);
            }
        }
    }

    fn is_within(&self, full: &Full) -> bool {
        self.removed <= full.removed
            && self.cookies <= full.cookies
            && self.bytes <= full.bytes
            && self.of_domain <= full.of_domain
    }
}

/// Makes room after a cookie of `domain` came. Gives the keys of the cookies that have to go; what has ended, or was removed
/// long ago, is forgotten at once.
pub(crate) fn make_room(kept: &mut BTreeMap<CookieKey, Kept>, domain: &str, now: Timestamp, full: &Full) -> Vec<CookieKey> {
    let mut tally = Tally::of(kept, domain, now);
    if tally.is_within(full) {
        return Vec::new();
    }
    if tally.ended > 0 {
        kept.retain(|_, kept| !kept.cookie.as_ref().is_some_and(|cookie| cookie.is_expired(now)));
        tally = Tally::of(kept, domain, now);
    }
    let mut oldest: Vec<_> = kept.iter().map(|(key, kept)| (kept.version, key.clone())).collect();
    oldest.sort_unstable_by_key(|(version, _)| *version);
    let mut go = Vec::new();
    for (_, key) in oldest {
        match kept.get(&key).and_then(|kept| kept.cookie.as_ref()) {
            None if tally.removed > full.removed => {
                tally.removed -= 1;
                kept.remove(&key);
            }
            None => {}
            Some(cookie) => {
                let is_of_domain = key.domain == domain;
                let is_too_many = tally.cookies > full.cookies || tally.bytes > full.bytes;
                if is_too_many || (is_of_domain && tally.of_domain > full.of_domain) {
                    tally.cookies -= 1;
                    tally.bytes -= weight(cookie);
                    tally.of_domain -= usize::from(is_of_domain);
                    go.push(key);
                }
            }
        }
    }
    go
}

/// Forgets changes beyond what a jar keeps, the oldest first: a jar that took all of them in would have let go of these. A removal that is
/// forgotten may leave a cookie in the store that the jar has let go of; the store bounds what it keeps by itself.
pub(crate) fn forget_changes(changes: &mut BTreeMap<CookieKey, CookieChange>, full: &Full) {
    let mut tally = Tally::default();
    changes.values().for_each(|change| tally.add(&change.deed));
    if tally.is_within(full) {
        return;
    }
    let mut newest: Vec<CookieChange> = std::mem::take(changes).into_values().collect();
    newest.sort_unstable_by_key(|change| std::cmp::Reverse(change.version));
    tally = Tally::default();
    for change in newest {
        tally.add(&change.deed);
        let is_kept = match change.deed {
            CookieDeed::Remove(_) => tally.removed <= full.removed,
            CookieDeed::Set(_) => tally.cookies <= full.cookies && tally.bytes <= full.bytes,
        };
        if is_kept {
            changes.insert(change.key().clone(), change);
        }
    }
}

fn weight(cookie: &Cookie) -> usize {
    cookie.key.domain.len() + cookie.key.path.len() + cookie.key.name.len() + cookie.value.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nephila_model::{CookieReach, CookieVersion, UseNumber};

    const NOW: Timestamp = Timestamp::from_millis(100);
    const SMALL: Full = Full { of_domain: 2, cookies: 4, bytes: 200, removed: 1 };

    fn key(domain: &str, name: &str) -> CookieKey {
        CookieKey { domain: domain.to_owned(), path: "/".to_owned(), name: name.to_owned() }
    }

    fn put(kept: &mut BTreeMap<CookieKey, Kept>, at: i64, key: CookieKey, cookie: Option<(usize, i64)>) {
        let cookie = cookie.map(|(bytes, end)| Cookie {
            key: key.clone(),
            value: "x".repeat(bytes),
            reach: CookieReach::Host,
            secure: false,
            http_only: false,
            same_site: None,
            expires_at: Some(Timestamp::from_millis(end)),
            created_at: Timestamp::EPOCH,
        });
        let version = CookieVersion { at: Timestamp::from_millis(at), by: UseNumber(1) };
        kept.insert(key, Kept { version, cookie });
    }

    fn jar(cookies: &[(&str, &str, usize, i64)]) -> BTreeMap<CookieKey, Kept> {
        let mut kept = BTreeMap::new();
        for (at, (domain, name, bytes, end)) in (1..).zip(cookies) {
            put(&mut kept, at, key(domain, name), Some((*bytes, *end)));
        }
        kept
    }

    #[test]
    fn the_oldest_of_the_domain_go_when_it_has_too_many() {
        let mut kept = jar(&[("b", "0", 1, 999), ("a", "2", 1, 999), ("a", "1", 1, 999), ("a", "3", 1, 999)]);
        assert_eq!(make_room(&mut kept, "a", NOW, &SMALL), [key("a", "2")]);
        assert_eq!(make_room(&mut kept, "b", NOW, &SMALL), []);
    }

    #[test]
    fn the_oldest_of_all_go_when_there_are_too_many_or_too_many_bytes() {
        let mut kept = jar(&[("a", "1", 1, 999), ("b", "2", 1, 999), ("c", "3", 1, 999), ("d", "4", 1, 999), ("e", "5", 1, 999)]);
        assert_eq!(make_room(&mut kept, "e", NOW, &SMALL), [key("a", "1")]);
        let mut kept = jar(&[("a", "1", 100, 999), ("b", "2", 100, 999)]);
        assert_eq!(make_room(&mut kept, "b", NOW, &SMALL), [key("a", "1")]);
    }

    #[test]
    fn what_has_ended_goes_first_and_needs_no_change() {
        let mut kept = jar(&[("a", "1", 1, 999), ("a", "2", 1, 100), ("a", "3", 1, 999)]);
        assert_eq!(make_room(&mut kept, "a", NOW, &SMALL), []);
        assert_eq!(kept.keys().cloned().collect::<Vec<_>>(), [key("a", "1"), key("a", "3")]);
    }

    #[test]
    fn of_changes_the_newest_are_kept_as_far_as_a_jar_keeps_them() {
        let mut changes = BTreeMap::new();
        for at in 1..=12 {
            let key = key("a", &at.to_string());
            let version = CookieVersion { at: Timestamp::from_millis(at), by: UseNumber(1) };
            let mut kept = BTreeMap::new();
            put(&mut kept, at, key.clone(), Some((50, 999)));
            let set = kept.remove(&key).and_then(|kept| kept.cookie).expect("a cookie");
            let deed = if at % 2 == 0 { CookieDeed::Remove(key.clone()) } else { CookieDeed::Set(set) };
            changes.insert(key, CookieChange { version, deed });
        }
        forget_changes(&mut changes, &SMALL);
        let mut left: Vec<i64> = changes.values().map(|change| change.version.at.as_millis()).collect();
        left.sort_unstable();
        assert_eq!(left, [7, 9, 11, 12]);
        forget_changes(&mut changes, &SMALL);
        assert_eq!(changes.len(), 4);
    }

    #[test]
    fn what_was_removed_is_remembered_for_a_while() {
        let mut kept = BTreeMap::new();
        for at in 1..=3 {
            put(&mut kept, at, key("a", &at.to_string()), None);
        }
        assert_eq!(make_room(&mut kept, "a", NOW, &SMALL), []);
        assert_eq!(kept.keys().cloned().collect::<Vec<_>>(), [key("a", "3")]);
    }
}
