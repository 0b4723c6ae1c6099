//! One `Set-Cookie` header field, read: RFC 6265, section 5.2.
//!
//! Decision: read by the RFC's own steps. The crate `cookie_store` asks the machine's clock itself, does not know when a cookie was made
//! (so that it cannot order them as section 5.4 asks) and reads few dates; without these, what is left of it is a split at
//! semicolons.

use crate::cookie_date;
use nephila_model::{SameSite, Timestamp};
use std::time::Duration;

/// Bytes of a name and a value at most; a longer cookie is ignored, as by browsers (RFC 6265, section 6.1 asks for 4,096 at least).
const MOST_BYTES: usize = 4_096;

/// Bytes of a path or a domain at most; a longer attribute is ignored, as by browsers.
const MOST_ATTRIBUTE: usize = 1_024;

/// A header field as it was meant.
#[derive(Debug, PartialEq, Eq)]
pub struct SetCookie<'a> {
    /// The name.
    pub name: &'a str,
    /// The value, quotes and all.
    pub value: &'a str,
    /// The last `Domain` that was not empty, without a leading dot.
    pub domain: Option<&'a str>,
    /// The last `Path`, if it was one.
    pub path: Option<&'a str>,
    /// `Secure`.
    pub secure: bool,
    /// `HttpOnly`.
    pub http_only: bool,
    /// `SameSite`.
    pub same_site: Option<SameSite>,
    /// When it ends: by its `Max-Age`, or else by its `Expires`.
    pub expires_at: Option<Timestamp>,
}

/// Reads a header field that came at `now`; `None` if it is to be ignored.
pub fn parse(field: &str, now: Timestamp) -> Option<SetCookie<'_>> {
    let mut parts = field.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let (name, value) = (trim(name), trim(value));
    let is_harmless = |text: &str| !text.chars().any(char::is_control);
    if name.is_empty() || name.len() + value.len() > MOST_BYTES || !is_harmless(name) || !is_harmless(value) {
        return None;
    }
    let mut cookie =
        SetCookie { name, value, domain: None, path: None, secure: false, http_only: false, same_site: None, expires_at: None };
    let (mut expires, mut max_age) = (None, None);
    for part in parts {
        let (attribute, value) = part.split_once('=').unwrap_or((part, ""));
        let (attribute, value) = (trim(attribute), trim(value));
        let is = |name: &str| attribute.eq_ignore_ascii_case(name);
        if is("expires") {
            expires = cookie_date::parse(value).or(expires);
        } else if is("max-age") {
            max_age = age(value, now).or(max_age);
        } else if is("domain") {
            let domain = value.strip_prefix('.').unwrap_or(value);
            if !value.is_empty() && value.len() <= MOST_ATTRIBUTE {
                cookie.domain = Some(domain);
            }
        } else if is("path") {
            if value.len() <= MOST_ATTRIBUTE {
                cookie.path = Some(value).filter(|path| path.starts_with('/') && is_harmless(path));
            }
        } else if is("secure") {
            cookie.secure = true;
        } else if is("httponly") {
            cookie.http_only = true;
        } else if is("samesite") {
            cookie.same_site = SameSite::parse(value);
        }
    }
    cookie.expires_at = max_age.or(expires);
    Some(cookie)
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

fn age(value: &str, now: Timestamp) -> Option<Timestamp> {
    let (is_negative, digits) = value.strip_prefix('-').map_or((false, value), |digits| (true, digits));
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let seconds = digits.parse().unwrap_or(u64::MAX);
    Some(if is_negative || seconds == 0 { Timestamp::EPOCH } else { now.plus(Duration::from_secs(seconds)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn read(field: &str) -> SetCookie<'_> {
        parse(field, NOW).expect("a cookie")
    }

    #[test]
    fn names_and_values_are_what_is_around_the_first_equals_sign() {
        for (field, name, value) in [
            ("a=b", "a", "b"),
            ("  a \t=  b c  ; Secure", "a", "b c"),
            ("a=b=c", "a", "b=c"),
            ("a=", "a", ""),
            ("a=\"b\"", "a", "\"b\""),
            ("a=b, c=d", "a", "b, c=d"),
            ("käse=brot", "käse", "brot"),
        ] {
            let cookie = read(field);
            assert_eq!((cookie.name, cookie.value), (name, value), "{field}");
        }
        for field in ["", "a", "=b", " =b", ";a=b", "a\u{1}=b", "a=b\u{7f}"] {
            assert_eq!(parse(field, NOW), None, "{field}");
        }
        assert_eq!(parse(&format!("a={}", "x".repeat(4_096)), NOW), None);
    }

    #[test]
    fn attributes_are_read_whatever_their_case_and_the_last_one_holds() {
        let cookie = read("a=b; DOMAIN=.x.example; domain=; path=/p; Path=/q ; secure=no; HttpOnly; SameSite=lax; Unknown=1");
        assert_eq!((cookie.domain, cookie.path), (Some("x.example"), Some("/q")));
        assert!(cookie.secure && cookie.http_only);
        assert_eq!(cookie.same_site, Some(SameSite::Lax));
        assert_eq!(read("a=b; path=/p; path=q").path, None);
        assert_eq!(read("a=b; SameSite=sometimes").same_site, None);
    }

    #[test]
    fn max_age_holds_before_expires_and_what_is_no_age_is_ignored() {
        let ends = |attributes: &str| read(&format!("a=b; {attributes}")).expires_at.map(Timestamp::as_millis);
        assert_eq!(ends("Max-Age=10"), Some(1_010_000));
        assert_eq!(ends("Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT"), Some(1_010_000));
        assert_eq!(ends("Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=soon"), Some(0));
        assert_eq!(ends("Max-Age=0"), Some(0));
        assert_eq!(ends("Max-Age=-5"), Some(0));
        assert_eq!(ends("Max-Age=99999999999999999999999"), Some(i64::MAX));
        for ignored in ["Max-Age=", "Max-Age=+5", "Max-Age=1.5", "Max-Age=-", "Expires=never", "Secure"] {
            assert_eq!(ends(ignored), None, "{ignored}");
        }
    }
}
