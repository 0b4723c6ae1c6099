//! A fetched page.

use crate::Header;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use std::time::Duration;
use url::Url;

/// Why one address led to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HopKind {
    /// A 3xx status with a `Location`.
    HttpRedirect,
    /// `<meta http-equiv="refresh">`.
    MetaRefresh,
}

/// One step of a redirect chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// The URL that answered with the redirect.
    pub url: Url,
    /// With which status.
    pub status: u16,
    /// Why it led on.
    pub kind: HopKind,
}

/// Where the time of a fetch went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// From the start of the fetch to the response header.
    pub first_byte: Duration,
    /// From the start of the fetch to the last byte of the body.
    pub total: Duration,
    /// Of that, and after it, the time for decompressing the body and finding out its character encoding.
    pub decode: Duration,
}

/// A media type, split.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContentType {
    /// `type/subtype` in lower case.
    pub essence: String,
    /// The `charset` parameter as it was given.
    pub charset: Option<String>,
}

impl ContentType {
    /// From a `Content-Type` value (RFC 9110, section 8.3); `None` if it names no media type.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let mut parts = value.split(';');
        let essence = parts.next()?.trim().to_ascii_lowercase();
        if !essence.contains('/') {
            return None;
        }
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']);
            (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
        });
        Some(Self { essence, charset })
    }

    /// Whether pages of this type are HTML.
    #[must_use]
    pub fn is_html(&self) -> bool {
        matches!(self.essence.as_str(), "text/html" | "application/xhtml+xml")
    }
}

/// A page: what a fetch came to, decompressed but not decoded. Text and trees are made from it only when something asks.
#[derive(Debug)]
pub struct Page {
    /// The URL that answered, without a fragment.
    pub url: Url,
    /// Its status.
    pub status: u16,
    /// The response's header fields in the order in which they came, names in lower case.
    pub headers: Vec<Header>,
    /// The media type; `None` if there was none. HTML that came without one is recognised by its first bytes.
    pub content_type: Option<ContentType>,
    /// The decompressed body.
    pub body: Bytes,
    /// The encoding of the body (a WHATWG name); `None` for what is not text.
    pub charset: Option<&'static str>,
    /// The redirects that led here, oldest first.
    pub chain: Vec<Hop>,
    /// Where the time of the last fetch went.
    pub timings: Timings,
    /// The decoded text, once something asked for it. Whoever decodes fills it.
    pub text: OnceLock<String>,
}

impl Page {
    /// The first value of a header field; `name` in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.name == name).map(|header| header.value.as_str())
    }

    /// Whether it is to be read as HTML.
    #[must_use]
    pub fn is_html(&self) -> bool {
        self.content_type.as_ref().is_some_and(ContentType::is_html)
    }

    /// The body as text, decoded by its charset (UTF-8 where there is none); malformed bytes become U+FFFD, a byte order mark is
    /// dropped. A well-formed UTF-8 body is not copied; any other is decoded once and kept.
    #[must_use]
    pub fn decoded(&self) -> &str {
        let encoding =
            self.charset.and_then(|name| encoding_rs::Encoding::for_label(name.as_bytes())).unwrap_or(encoding_rs::UTF_8);
        if encoding == encoding_rs::UTF_8 && !self.body.starts_with(&[0xfe, 0xff]) && !self.body.starts_with(&[0xff, 0xfe]) {
            let body = self.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.body);
            if let Ok(text) = std::str::from_utf8(body) {
                return text;
            }
        }
        self.text.get_or_init(|| encoding.decode(&self.body).0.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_decoded_by_the_charset_and_copied_only_where_it_must_be() {
        let page = |body: &'static [u8], charset| Page {
            url: Url::parse("http://example.com/").expect("a URL"),
            status: 200,
            headers: Vec::new(),
            content_type: None,
            body: Bytes::from_static(body),
            charset,
            chain: Vec::new(),
            timings: Timings::default(),
            text: OnceLock::new(),
        };
        let plain = page("\u{feff}gr\u{fc}n".as_bytes(), Some("UTF-8"));
        assert_eq!((plain.decoded(), plain.text.get()), ("gr\u{fc}n", None));
        assert_eq!(page(b"gr\xfcn", Some("windows-1252")).decoded(), "gr\u{fc}n");
        assert_eq!(page(b"gr\xfcn", Some("UTF-8")).decoded(), "gr\u{fffd}n");
        assert_eq!(page(b"\xff\xfea\0", None).decoded(), "a");
    }

    #[test]
    fn content_types_are_read_as_servers_write_them() {
        let parsed = ContentType::parse("Text/HTML; Charset=\"Shift_JIS\"; x=y").expect("a media type");
        assert_eq!((parsed.essence.as_str(), parsed.charset.as_deref()), ("text/html", Some("Shift_JIS")));
        assert!(parsed.is_html());
        assert_eq!(ContentType::parse("nonsense"), None);
        assert_eq!(ContentType::parse("text/plain;charset=").expect("a media type").charset, None);
    }
}
