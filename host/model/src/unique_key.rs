//! A request's identity: 128 bits of a cryptographic hash over its normalised form.
//!
//! Decision: 128 bits, so that a false match among a billion requests has a chance of 1e-21, and a cryptographic hash, so that
//! no site can make one. The label is not part of it. The normalised form keeps case in path and query (Crawlee lower-cases
//! whole URLs and so merges distinct pages, crawlee-python #2008).

use crate::Method;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use url::{Position, Url};

/// The version of [`normalise`]. A job keeps the one it was made with; a store refuses another.
pub const NORMALISER_VERSION: u32 = 1;

/// Hexadecimal.
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// A request's identity. Two requests with the same key are the same request, for ever (S1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UniqueKey([u8; 16]);

impl UniqueKey {
    /// The key of a request: its normalised URL, and for other methods than GET also method and payload.
    #[must_use]
    pub fn of(url: &Url, method: Method, payload: Option<&[u8]>) -> Self {
        let normal = normal_form(url);
        match (method, payload) {
            (Method::Get, None) => Self::hash(&[b"url", normal.as_bytes()]),
            _ => Self::hash(&[b"req", method.as_str().as_bytes(), payload.unwrap_or_default(), normal.as_bytes()]),
        }
    }

    /// The key of a GET of a URL that is given as the WHATWG parser writes it, scheme `http` or `https`, if that text is plainly its own
    /// normal form. `None` says nothing: parse it, and ask [`UniqueKey::of`].
    #[must_use]
    pub fn of_serialised(url: &str) -> Option<Self> {
        let is_plain = match url.split_once('?') {
            None => true,
            Some((_, query)) => !query.is_empty() && !query.contains('&'),
        };
        (is_plain && !url.contains('#')).then(|| Self::hash(&[b"url", url.as_bytes()]))
    }

    /// The key of a request that gives its own (Crawlee: `uniqueKey`).
    #[must_use]
    pub fn explicit(key: &str) -> Self {
        Self::hash(&[b"key", key.as_bytes()])
    }

    /// This request apart from every other of the same URL (`always-enqueue`); `salt` says which.
    #[must_use]
    pub fn salted(self, salt: &[u8]) -> Self {
        Self::hash(&[b"salt", salt, &self.0])
    }

    /// From a store's row.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 128 bits.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    // Each part is preceded by its length, so that no two lists of parts give the same bytes.
    fn hash(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let digest = hasher.finalize();
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        Self(key)
    }
}

impl std::fmt::Display for UniqueKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut digits = [0; 32];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&digits).map_err(|_| std::fmt::Error)?)
    }
}

impl std::fmt::Debug for UniqueKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UniqueKey({self})")
    }
}

impl Serialize for UniqueKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UniqueKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut key = [0; 16];
        let digits = text.as_bytes();
        if digits.len() != 32 {
            return Err(serde::de::Error::custom("a unique key has 32 hexadecimal digits"));
        }
        for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).map_err(serde::de::Error::custom)?;
            *byte = u8::from_str_radix(pair, 16).map_err(serde::de::Error::custom)?;
        }
        Ok(Self(key))
    }
}

/// The form of a URL that its key is made of, version [`NORMALISER_VERSION`]: what the WHATWG parser gives (scheme and host in lower
/// case, default port and dot segments gone, IDN in punycode), without the fragment, an empty query dropped, the query's
/// `name=value` parts sorted. Case, trailing slash and percent-encoding are kept.
#[must_use]
pub fn normalise(url: &Url) -> String {
    normal_form(url).into_owned()
}

// A key is made for every link of every page, so that a URL which is its own normal form, as most are, is not copied; and what the
// parser let through into a query needs no encoding again where it is moved to.
fn normal_form(url: &Url) -> Cow<'_, str> {
    if url.cannot_be_a_base() {
        return Cow::Owned(normal_form_of_opaque(url));
    }
    let parts = || url.query().into_iter().flat_map(|query| query.split('&')).filter(|part| !part.is_empty());
    let bare = &url[..Position::AfterPath];
    match url.query() {
        None | Some("") => return Cow::Borrowed(bare),
        Some(query) if !query.contains('&') => return Cow::Borrowed(&url[..Position::AfterQuery]),
        Some(query) if parts().is_sorted() && !has_empty_part(query) => return Cow::Borrowed(&url[..Position::AfterQuery]),
        Some(_) => {}
    }
    let mut sorted: Vec<&str> = parts().collect();
    sorted.sort_unstable();
    let mut normal = String::with_capacity(url.as_str().len());
    normal.push_str(bare);
    for (place, part) in sorted.into_iter().enumerate() {
        normal.push(if place == 0 { '?' } else { '&' });
        normal.push_str(part);
    }
    Cow::Owned(normal)
}

fn has_empty_part(query: &str) -> bool {
    query.starts_with('&') || query.ends_with('&') || query.contains("&&")
}

/// The slow way, for URLs without a hierarchy, as `data:`: where their paths end depends on what follows.
fn normal_form_of_opaque(url: &Url) -> String {
    let mut normal = url.clone();
    normal.set_fragment(None);
    if let Some(query) = url.query() {
        let mut parts: Vec<&str> = query.split('&').filter(|part| !part.is_empty()).collect();
        parts.sort_unstable();
        normal.set_query(Some(parts.join("&").as_str()).filter(|sorted| !sorted.is_empty()));
    }
    normal.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(url: &str) -> UniqueKey {
        UniqueKey::of(&Url::parse(url).expect("a URL"), Method::Get, None)
    }

    #[test]
    fn the_same_page_has_one_key() {
        for (a, b) in [
            ("http://Example.com:80/a/../b#top", "http://example.com/b"),
            ("http://example.com/?b=2&a=1", "http://example.com/?a=1&b=2"),
            ("http://example.com/a?", "http://example.com/a"),
            ("http://example.com/a?x&", "http://example.com/a?x"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ] {
            let (left, right) = (normalise(&Url::parse(a).expect("a URL")), normalise(&Url::parse(b).expect("a URL")));
            if !(a.ends_with('&')) {
                assert_eq!(left, right);
                assert_eq!(key(a), key(b), "{a} {b}");
            } else {
                assert_eq!(key(a), key(b), "{a} {b}");
            }
        }
    }

    #[test]
    fn different_pages_have_different_keys() {
        for (a, b) in [
            ("http://example.com/A", "http://example.com/a"),
            ("http://example.com/a/", "http://example.com/a"),
            ("http://example.com/?q=A", "http://example.com/?q=a"),
            ("http://example.com/", "https://example.com/"),
        ] {
            assert_ne!(key(a), key(b), "{a} {b}");
        }
        let url = Url::parse("http://example.com/").expect("a URL");
        assert_ne!(UniqueKey::of(&url, Method::Post, Some(b"a")), UniqueKey::of(&url, Method::Post, Some(b"b")));
        assert_ne!(UniqueKey::of(&url, Method::Head, None), UniqueKey::of(&url, Method::Get, None));
        assert_ne!(key("http://example.com/").salted(b"1"), key("http://example.com/").salted(b"2"));
    }

    #[test]
    fn a_key_never_changes_for_a_url() {
        // Stored rows rely on it.
        assert_eq!(key("http://example.com/").to_string(), "2a33bf1144bdbcd1818c9a490e9726b8");
        let text = serde_json::to_string(&key("http://example.com/")).expect("JSON");
        assert_eq!(serde_json::from_str::<UniqueKey>(&text).expect("a key"), key("http://example.com/"));
    }

    /// How it is defined, step by step, by the URL parser's own means.
    fn by_definition(url: &Url) -> String {
        let mut normal = url.clone();
        normal.set_fragment(None);
        match url.query() {
            None => {}
            Some("") => normal.set_query(None),
            Some(query) if query.contains('&') => {
                let mut parts: Vec<&str> = query.split('&').filter(|part| !part.is_empty()).collect();
                parts.sort_unstable();
                let sorted = parts.join("&");
                normal.set_query(Some(sorted.as_str()).filter(|sorted| !sorted.is_empty()));
            }
            Some(_) => {}
        }
        normal.into()
    }

    #[test]
    fn the_short_ways_give_what_the_definition_gives() {
        let beginnings =
            ["http://example.com", "https://u:p@[::1]:8/a b", "data:x ", "file:///c:/", "foo://h/'", "mailto:a@b.example"];
        let pieces = ["", "a", "=", "&", "&&", "%26", "ä", "'", "\"", " ", "b=1", "?", "/", "+", "\t", "{", "#", "%"];
        for beginning in beginnings {
            for first in pieces {
                for second in pieces {
                    for third in pieces {
                        for link in [
                            format!("{beginning}?{first}{second}{third}"),
                            format!("{beginning}{first}?{second}#{third}"),
                            format!("{beginning}?{first}&{second}&{third}#x"),
                            format!("{beginning}{first}#{second}?{third}"),
                        ] {
                            let Ok(url) = Url::parse(&link) else { continue };
                            assert_eq!(normalise(&url), by_definition(&url), "{link}");
                        }
                    }
                }
            }
        }
    }
}
