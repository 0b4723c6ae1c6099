//! The page that is kept as an example of a kind of error (Crawlee: `ERROR_SNAPSHOT_…` records of the default key-value store).
//!
//! Decision: the key follows from the name of the error's kind alone. So whoever looks at an error finds its page without being
//! told, and nothing has to be noted that could disagree with what is there.

use crate::{ErrorKind, KvValue, Page};
use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Bytes of a page that are kept at most; what is longer is cut there.
pub const SNAPSHOT_BYTES: usize = 1 << 20;

/// What all keys begin with.
const PREFIX: &str = "ERROR_SNAPSHOT";

/// Hexadecimal digits of the hash in a key, and characters of the code: as in Crawlee's.
const DIGITS: usize = 30;
const READABLE: usize = 30;

/// Under which key the example of the kind of error with this name ([`ErrorKind::name`]) is kept. It has only characters that
/// every key may have, and ends in the code.
#[must_use]
pub fn error_snapshot_key(kind: &str) -> String {
    let mut key = format!("{PREFIX}_");
    for byte in Sha256::digest(kind.as_bytes()).iter().take(DIGITS / 2) {
        // Writing to a string does not fail.
        let _ = write!(key, "{byte:02x}");
    }
    let ErrorKind { code, .. } = ErrorKind::parse(kind);
    let readable: String = code.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(READABLE).collect();
    let readable = readable.trim_matches('-');
    if !readable.is_empty() {
        key.push('_');
        key.push_str(readable);
    }
    key
}

/// A page that may become such an example: its first bytes as they came, decompressed, with its media type as its site gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredPage {
    content_type: String,
    body: Bytes,
}

impl AnsweredPage {
    /// Of a page. Nothing is copied.
    #[must_use]
    pub fn of(page: &Page) -> Self {
        let content_type = page.header("content-type").unwrap_or("application/octet-stream").to_owned();
        Self { content_type, body: page.body.clone() }
    }

    /// As it is kept. What is cut is copied, so that a large page is not held for its beginning.
    #[must_use]
    pub fn snapshot(&self) -> KvValue {
        let value = match self.body.get(..SNAPSHOT_BYTES) {
            Some(beginning) if self.body.len() > SNAPSHOT_BYTES => Bytes::copy_from_slice(beginning),
            _ => self.body.clone(),
        };
        KvValue { content_type: self.content_type.clone(), value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_readable_valid_and_no_other_codes() {
        assert_eq!(error_snapshot_key("status"), "ERROR_SNAPSHOT_073c1634c496cdb649d1afe0a312bb_status");
        let codes = ["a b", "a-b", "", "-", "ÄÖÜ", "../../etc/passwd", &"x".repeat(1_000), &"x".repeat(999)];
        let keys: std::collections::BTreeSet<String> = codes.iter().map(|code| error_snapshot_key(code)).collect();
        assert_eq!(keys.len(), codes.len());
        let kind = ErrorKind { shape: Some("no page".to_owned()), ..ErrorKind::others("status") }.name();
        let key = error_snapshot_key(&kind);
        assert!(key != error_snapshot_key("status") && key.ends_with("_status"), "{key}");
        for key in keys {
            assert!(key.len() <= 80 && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)), "{key}");
        }
    }

    #[test]
    fn a_large_page_is_cut() {
        let page = |bytes: usize| AnsweredPage { content_type: "text/html".to_owned(), body: vec![b'x'; bytes].into() };
        assert_eq!(page(SNAPSHOT_BYTES).snapshot().value.len(), SNAPSHOT_BYTES);
        assert_eq!(page(SNAPSHOT_BYTES + 1).snapshot().value.len(), SNAPSHOT_BYTES);
        assert_eq!(page(3).snapshot().value.as_ref(), b"xxx");
    }
}
