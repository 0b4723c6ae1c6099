//! Redirects: where a response points, and what the next request is.
//!
//! Decision: statuses and methods as the Fetch standard has them, which is what servers are tested against. Credentials stay with the
//! origin they were meant for.

use crate::FetchError;
use crate::exchange::named_host;
use nephila_model::{HopKind, InvalidRequest, Method, RequestSpec, Timings, parse_target};
use reqwest::header::{HeaderMap, LOCATION};
use std::borrow::Cow;
use std::fmt::Write as _;
use url::Url;

/// A response that names another address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Its status.
    pub status: u16,
    /// Where to: `http` or `https`, without a fragment.
    pub to: Url,
    /// What kind.
    pub kind: HopKind,
    /// The values of its `Set-Cookie` fields, in order.
    pub set_cookies: Vec<String>,
    /// Where the time went.
    pub timings: Timings,
    /// Bytes of its body that were read.
    pub body_bytes: u64,
}

/// Where a response leads; `None` if it is a page. A `Location` that is empty counts as none.
pub(crate) fn target(status: u16, headers: &HeaderMap, from: &Url) -> Result<Option<Url>, FetchError> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = headers.get(LOCATION) else { return Ok(None) };
    let location = text(location.as_bytes());
    let location = location.trim();
    if location.is_empty() {
        return Ok(None);
    }
    match parse_target(location, Some(from)) {
        Ok(to) => Ok(Some(to)),
        Err(error) => Err(FetchError::BadRedirect {
            host: named_host(from).to_owned(),
            to: location.to_owned(),
            why: match error {
                InvalidRequest::Unparsable { cause, .. } => cause,
                InvalidRequest::Scheme { scheme, .. } => format!("only http and https can be crawled, not {scheme}"),
            },
        }),
    }
}

/// A `Location` in an unknown encoding: its bytes are percent-encoded, so that the server gets them back as it sent them.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            if byte.is_ascii() {
                text.push(char::from(*byte));
            } else {
                // Writing to a string cannot fail.
                let _ = write!(text, "%{byte:02X}");
            }
            text
        })
        .into()
}

/// What to ask of a redirect's target, when `spec` was asked of `from`.
#[must_use]
pub fn follow(spec: &RequestSpec, from: &Url, redirect: &Redirect) -> RequestSpec {
    let mut next = spec.clone();
    let becomes_get = match (redirect.kind, redirect.status) {
        (HopKind::MetaRefresh, _) => true,
        (HopKind::HttpRedirect, 301 | 302) => spec.method == Method::Post,
        (HopKind::HttpRedirect, 303) => !matches!(spec.method, Method::Get | Method::Head),
        (HopKind::HttpRedirect, _) => false,
    };
    if becomes_get {
        next.method = Method::Get;
        next.payload = None;
        next.headers.retain(|header| !starts_with(&header.name, "content-"));
    }
    if from.origin() != redirect.to.origin() {
        const CREDENTIALS: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];
        next.headers.retain(|header| !CREDENTIALS.iter().any(|name| header.name.eq_ignore_ascii_case(name)));
    }
    next
}

fn starts_with(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use nephila_model::Header;
    use reqwest::header::HeaderValue;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    fn to(status: u16, location: &[u8]) -> Result<Option<String>, FetchError> {
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, HeaderValue::from_bytes(location).expect("a value"));
        target(status, &headers, &url("http://example.com/a/b?c#d")).map(|to| to.map(String::from))
    }

    #[test]
    fn a_location_is_resolved_and_its_fragment_dropped() {
        for (location, expected) in [
            (&b"http://other.example/x"[..], "http://other.example/x"),
            (b"/x#top", "http://example.com/x"),
            (b"x", "http://example.com/a/x"),
            (b"../x?y", "http://example.com/x?y"),
            (b"//other.example", "http://other.example/"),
            (b"?q", "http://example.com/a/b?q"),
            (b" /x\t", "http://example.com/x"),
            ("/grün".as_bytes(), "http://example.com/gr%C3%BCn"),
            (b"/gr\xfcn", "http://example.com/gr%FCn"),
            (b"HTTPS://EXAMPLE.COM:443/", "https://example.com/"),
        ] {
            for status in [301, 302, 303, 307, 308] {
                assert_eq!(to(status, location), Ok(Some(expected.to_owned())));
            }
        }
    }

    #[test]
    fn what_cannot_be_followed_is_an_error_and_what_leads_nowhere_a_page() {
        for bad in
            ["ftp://example.com/", "file:///etc/passwd", "data:text/html,x", "javascript:alert(1)", "http://", "http://[::1"]
        {
            let error = to(302, bad.as_bytes()).expect_err(bad);
            assert_eq!((error.code(), error.is_transient()), ("bad-redirect", false));
            assert!(error.to_string().contains(bad), "{error}");
        }
        assert_eq!(to(302, b""), Ok(None));
        assert_eq!(target(302, &HeaderMap::new(), &url("http://example.com/")), Ok(None));
        for status in [200, 201, 300, 304, 305, 306, 399, 404] {
            assert_eq!(to(status, b"/x"), Ok(None), "{status}");
        }
    }

    fn followed(method: Method, kind: HopKind, status: u16, to: &str) -> RequestSpec {
        let header = |name: &str| Header { name: name.to_owned(), value: "x".to_owned() };
        let spec = RequestSpec {
            method,
            headers: ["accept", "authorization", "content-type", "cookie", "content-language", "proxy-authorization"]
                .map(header)
                .into(),
            payload: Some(Bytes::from_static(b"body")),
            user_data: Some("1".to_owned()),
            ..RequestSpec::default()
        };
        let redirect =
            Redirect { status, to: url(to), kind, set_cookies: Vec::new(), timings: Timings::default(), body_bytes: 0 };
        follow(&spec, &url("http://example.com/"), &redirect)
    }

    fn names(spec: &RequestSpec) -> Vec<&str> {
        spec.headers.iter().map(|header| header.name.as_str()).collect()
    }

    #[test]
    fn methods_change_as_in_browsers() {
        use Method::{Get, Head, Post, Put};
        for (method, status, expected) in [
            (Post, 301, Get),
            (Post, 302, Get),
            (Put, 301, Put),
            (Put, 302, Put),
            (Head, 302, Head),
            (Post, 303, Get),
            (Put, 303, Get),
            (Head, 303, Head),
            (Get, 303, Get),
            (Post, 307, Post),
            (Post, 308, Post),
            (Put, 308, Put),
        ] {
            let next = followed(method, HopKind::HttpRedirect, status, "http://example.com/x");
            assert_eq!(next.method, expected, "{method:?} {status}");
            assert_eq!(next.payload.is_some(), method == expected, "{method:?} {status}");
            assert_eq!(names(&next).contains(&"content-type"), method == expected, "{method:?} {status}");
            assert_eq!(next.user_data.as_deref(), Some("1"));
        }
        assert_eq!(followed(Post, HopKind::MetaRefresh, 200, "http://example.com/x").method, Get);
    }

    #[test]
    fn credentials_stay_with_their_origin() {
        let all = ["accept", "authorization", "content-type", "cookie", "content-language", "proxy-authorization"];
        assert_eq!(names(&followed(Method::Get, HopKind::HttpRedirect, 302, "http://example.com/x")), all);
        for other in ["https://example.com/", "http://example.com:8080/", "http://www.example.com/"] {
            assert_eq!(
                names(&followed(Method::Get, HopKind::HttpRedirect, 302, other)),
                ["accept", "content-type", "content-language"]
            );
        }
        assert_eq!(names(&followed(Method::Post, HopKind::HttpRedirect, 303, "http://other.example/")), ["accept"]);
    }
}
