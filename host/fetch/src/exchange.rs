//! One request as it goes out, and what may come back.
//!
//! Decision: a plugin chooses header fields, but not those that frame the message or address the connection; with them it could
//! smuggle a second request past politeness and the address guard. They are an error and not dropped silently.

use crate::{FetchError, Redirect};
use bytes::Bytes;
use nephila_model::{Header, Method, Page, RequestSpec};
use reqwest::header::{COOKIE, HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;
use url::{Position, Url};

/// One request to one URL.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// Where to.
    pub url: &'a Url,
    /// The method.
    pub method: Method,
    /// Extra header fields.
    pub headers: &'a [Header],
    /// A session's cookies for this URL: the value of the `Cookie` field. Not sent where `headers` have such a field.
    pub cookie: Option<&'a str>,
    /// The body.
    pub payload: Option<&'a Bytes>,
    /// For the whole exchange; `None` means [`crate::FetchConfig::total_timeout`].
    pub timeout: Option<Duration>,
}

impl<'a> Exchange<'a> {
    /// A plain GET.
    #[must_use]
    pub const fn get(url: &'a Url) -> Self {
        Self { url, method: Method::Get, headers: &[], cookie: None, payload: None, timeout: None }
    }

    /// What a request's spec asks for.
    #[must_use]
    pub fn of(url: &'a Url, spec: &'a RequestSpec) -> Self {
        Self {
            url,
            method: spec.method,
            headers: &spec.headers,
            cookie: None,
            payload: spec.payload.as_ref(),
            timeout: spec.timeout_millis.map(|millis| Duration::from_millis(millis.into())),
        }
    }
}

/// What an exchange came to.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly every value is the large variant, and it is moved twice")]
pub enum Fetched {
    /// A page, whatever its status.
    Page(Page),
    /// Another address.
    Redirect(Redirect),
}

/// Fields that belong to the connection or frame the message: the client sets them.
const OURS: [&str; 11] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The host of a URL as messages name it.
pub(crate) fn named_host(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}

pub(crate) fn method(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Head => reqwest::Method::HEAD,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Delete => reqwest::Method::DELETE,
        Method::Options => reqwest::Method::OPTIONS,
        Method::Patch => reqwest::Method::PATCH,
    }
}

pub(crate) fn header_map(exchange: &Exchange<'_>) -> Result<HeaderMap, FetchError> {
    let invalid = |name: &str, why: &str| FetchError::InvalidRequest {
        host: named_host(exchange.url).to_owned(),
        why: format!("the header field {name:?} {why}"),
    };
    let mut map = HeaderMap::with_capacity(exchange.headers.len());
    for Header { name, value } in exchange.headers {
        let field = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid(name, "has a name that HTTP does not allow"))?;
        if OURS.contains(&field.as_str()) {
            return Err(invalid(name, "is set by the client itself; leave it out"));
        }
        let value =
            HeaderValue::from_bytes(value.as_bytes()).map_err(|_| invalid(name, "has a control character in its value"))?;
        map.append(field, value);
    }
    // What cannot stand in a field is no cookie of ours: jars take none with control characters.
    if let Some(Ok(cookie)) = exchange.cookie.map(|cookie| HeaderValue::from_bytes(cookie.as_bytes()))
        && !map.contains_key(COOKIE)
    {
        map.insert(COOKIE, cookie);
    }
    Ok(map)
}
