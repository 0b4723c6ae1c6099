//! A record: bytes, and what they are.
//!
//! Decision: a record is bytes with a media type, and is taken for JSON, text or bytes only when somebody asks, by the same rules as
//! in Crawlee for Python, so that one broken record keeps nobody from reading the others.

use crate::name::shortened;
use crate::{CrawleeError, RecordKey};
use serde_json::Value;
use std::fmt;

/// A longer one is no media type.
const MAX_MEDIA_TYPE_BYTES: usize = 255;

/// What a record is, as `type/subtype` with parameters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MediaType(String);

impl MediaType {
    /// Takes what has a slash in it and is one line of printable ASCII, up to 255 bytes.
    ///
    /// # Errors
    /// [`CrawleeError::MediaType`].
    pub fn new(given: &str) -> Result<Self, CrawleeError> {
        let fits = given.len() <= MAX_MEDIA_TYPE_BYTES
            && given.bytes().all(|b| (b' '..=b'~').contains(&b))
            && given.split_once('/').is_some_and(|(kind, rest)| !kind.trim().is_empty() && !rest.trim().is_empty());
        if fits { Ok(Self(given.to_owned())) } else { Err(CrawleeError::MediaType { given: shortened(given) }) }
    }

    /// `application/json`, as Crawlee gives it to its states.
    #[must_use]
    pub fn json() -> Self {
        Self("application/json".to_owned())
    }

    /// `text/plain; charset=utf-8`, as Crawlee gives it to texts.
    #[must_use]
    pub fn text() -> Self {
        Self("text/plain; charset=utf-8".to_owned())
    }

    /// `application/octet-stream`, as Crawlee gives it to bytes.
    #[must_use]
    pub fn bytes() -> Self {
        Self("application/octet-stream".to_owned())
    }

    /// `application/x-none`, as Crawlee for Python gives it to `None`.
    #[must_use]
    pub fn none() -> Self {
        Self("application/x-none".to_owned())
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    // What somebody else wrote is read as it is.
    pub(crate) fn found(given: String) -> Self {
        Self(given)
    }

    fn kind(&self) -> Kind {
        match self.0.as_str() {
            "application/x-none" => Kind::None,
            json if json.contains("application/json") => Kind::Json,
            text if text.starts_with("text/") => Kind::Text,
            _ => Kind::Bytes,
        }
    }
}

impl fmt::Display for MediaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

enum Kind {
    None,
    Json,
    Text,
    Bytes,
}

/// A record as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its key.
    pub key: RecordKey,
    /// What the bytes are, as its metadata says.
    pub media_type: MediaType,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// What Crawlee's `get_value` gives for a record.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordValue {
    /// `None` was put there. What a crawler has reset looks so too.
    None,
    /// JSON.
    Json(Value),
    /// Text.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl Record {
    /// What the bytes mean, by their media type.
    ///
    /// # Errors
    /// [`CrawleeError::Shape`] if JSON is none, [`CrawleeError::NotText`] if text is no UTF-8.
    pub fn value(self) -> Result<RecordValue, CrawleeError> {
        Ok(match self.media_type.kind() {
            Kind::None => RecordValue::None,
            Kind::Json => match serde_json::from_slice(&self.bytes) {
                Ok(value) => RecordValue::Json(value),
                Err(cause) => {
                    return Err(CrawleeError::Shape { key: self.key.to_string(), wanted: "JSON", cause });
                }
            },
            Kind::Text => match String::from_utf8(self.bytes) {
                Ok(text) => RecordValue::Text(text),
                Err(_) => return Err(CrawleeError::NotText { key: self.key.to_string() }),
            },
            Kind::Bytes => RecordValue::Bytes(self.bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(media_type: &str, bytes: &[u8]) -> Result<RecordValue, CrawleeError> {
        let media_type = MediaType::new(media_type).unwrap();
        Record { key: RecordKey::new("a").unwrap(), media_type, bytes: bytes.to_owned() }.value()
    }

    #[test]
    fn a_value_is_what_crawlee_would_give() {
        assert_eq!(value("application/json; charset=utf-8", b"[1]").unwrap(), RecordValue::Json(json!([1])));
        assert_eq!(value("text/html", "ü".as_bytes()).unwrap(), RecordValue::Text("ü".to_owned()));
        assert_eq!(value("image/png", b"\xff").unwrap(), RecordValue::Bytes(vec![255]));
        assert_eq!(value("application/x-none", b"").unwrap(), RecordValue::None);
        assert!(matches!(value("application/json", b"{"), Err(CrawleeError::Shape { .. })));
        assert!(matches!(value("text/plain", b"\xff"), Err(CrawleeError::NotText { .. })));
    }

    #[test]
    fn a_media_type_is_one_line_with_a_slash() {
        for fits in ["text/html", "text/plain; charset=utf-8", "application/x-none"] {
            assert_eq!(MediaType::new(fits).unwrap().as_str(), fits);
        }
        for bad in ["", "text", "/", "text/", "/plain", "text/\nhtml", "text/ü", &format!("text/{}", "x".repeat(255))] {
            assert!(matches!(MediaType::new(bad), Err(CrawleeError::MediaType { .. })), "{bad:?}");
        }
    }
}
