//! The key of a record, and the names of its two files.
//!
//! Decision: a key is checked once, when it is made, for everything that a file system, Crawlee or this crate could trip over, so that
//! no code behind it ever sees a name that leaves the folder or hits a metadata file. The encoding is Python's
//! `urllib.parse.quote(key, safe='')`, byte for byte. The price: keys that Crawlee itself could read but not write are refused too.

use crate::CrawleeError;
use crate::name::shortened;
use nephila_model::CrawlerId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::fmt;

/// Bytes of an encoded key at most. A file's name has 255, `.__metadata__.json` takes 18 of them, and the temporary name beside it
/// that Crawlee for Python writes first takes another 18: a longer key could be read there, but not written again.
pub const MAX_KEY_BYTES: usize = 255 - 2 * METADATA_ENDING.len();

/// The metadata file of the store.
pub(crate) const STORE_METADATA: &str = "__metadata__.json";

/// What the name of a record's metadata file ends with.
const METADATA_ENDING: &str = ".__metadata__.json";

/// What Python's `quote` leaves as it is.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'.').remove(b'-').remove(b'~');

/// What people put into a folder before the first run, with any ending (Crawlee: `INPUT_KEY`).
pub(crate) const INPUT: &str = "INPUT";

/// What the keys of records begin with that a crawl writes. The statistics twice: Crawlee for JavaScript has them under the second one.
const OF_CRAWLS: [&str; 5] =
    ["CRAWLEE_STATE_", "__CRAWLER_STATISTICS_", "SDK_CRAWLER_STATISTICS_", "__RQ_STATE_", "ERROR_SNAPSHOT_"];

/// The key of a record: anything that fits into a file's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey(String);

impl RecordKey {
    /// Takes any text but an empty one, `.`, `..`, the names of metadata files, and what is longer than [`MAX_KEY_BYTES`] when it is
    /// encoded.
    ///
    /// # Errors
    /// [`CrawleeError::Key`], [`CrawleeError::KeyTooLong`].
    pub fn new(key: impl Into<String>) -> Result<Self, CrawleeError> {
        let key = key.into();
        let reason = match key.as_str() {
            "" => Some("it is empty"),
            "." | ".." => Some("it is the name of a folder"),
            _ if key == STORE_METADATA || key.ends_with(METADATA_ENDING) => Some("it is the name of a metadata file"),
            _ => None,
        };
        if let Some(reason) = reason {
            return Err(CrawleeError::Key { key: shortened(&key), reason });
        }
        let key = Self(key);
        let bytes = utf8_percent_encode(&key.0, ENCODED).map(str::len).sum();
        if bytes > MAX_KEY_BYTES {
            return Err(CrawleeError::KeyTooLong { key: shortened(&key.0), bytes, limit: MAX_KEY_BYTES });
        }
        Ok(key)
    }

    /// Where Crawlee for Python keeps `use_state` of a crawler with this id.
    #[must_use]
    pub fn state(id: &CrawlerId) -> Self {
        Self(format!("CRAWLEE_STATE_{id}"))
    }

    /// Where Crawlee for Python keeps the statistics; it counts its crawlers where we have their ids.
    #[must_use]
    pub fn statistics(id: &CrawlerId) -> Self {
        Self(format!("__CRAWLER_STATISTICS_{id}"))
    }

    /// Where Crawlee keeps its session pools, all of them in one place.
    #[must_use]
    pub fn session_pool() -> Self {
        Self("CRAWLEE_SESSION_POOL_STATE".to_owned())
    }

    /// Where Crawlee for Python keeps the order of a queue in files; there it is the queue's id.
    #[must_use]
    pub fn queue_state(id: &CrawlerId) -> Self {
        Self(format!("__RQ_STATE_{id}"))
    }

    /// Whether a crawl has records of its own under this key, whatever its id: its input, with any ending, its state, its statistics, the order of its
    /// queue, the pages of its errors. Their shapes are Crawlee's, so nothing else may be kept there.
    #[must_use]
    pub fn is_a_crawls_own(&self) -> bool {
        self.0.split('.').next() == Some(INPUT) || OF_CRAWLS.iter().any(|prefix| self.0.starts_with(prefix))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the value's file.
    pub(crate) fn file(&self) -> String {
        utf8_percent_encode(&self.0, ENCODED).to_string()
    }

    /// The name of its metadata file.
    pub(crate) fn metadata_file(&self) -> String {
        utf8_percent_encode(&self.0, ENCODED).chain([METADATA_ENDING]).collect()
    }

    /// From the name of a metadata file; `None` for any other file, and for a name that no key of ours has.
    pub(crate) fn of_metadata_file(name: &str) -> Option<Self> {
        let encoded = name.strip_suffix(METADATA_ENDING)?;
        let key = percent_decode_str(encoded).decode_utf8().ok()?;
        Self::new(key).ok().filter(|key| key.file() == encoded)
    }
}

impl fmt::Display for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_encoded_as_python_quotes_it() {
        // From `urllib.parse.quote(key, safe='')`.
        for (key, file) in [
            ("INPUT", "INPUT"),
            ("a b/c", "a%20b%2Fc"),
            ("../../etc/passwd", "..%2F..%2Fetc%2Fpasswd"),
            ("Straße ✓", "Stra%C3%9Fe%20%E2%9C%93"),
            ("~.-_", "~.-_"),
            ("100%+&'()*!", "100%25%2B%26%27%28%29%2A%21"),
            ("a\0\n", "a%00%0A"),
            ("...", "..."),
        ] {
            let made = RecordKey::new(key).unwrap();
            assert_eq!(made.file(), file);
            assert_eq!(RecordKey::of_metadata_file(&made.metadata_file()), Some(made));
        }
    }

    #[test]
    fn a_key_that_is_not_safe_is_refused_with_the_reason() {
        for key in ["", ".", "..", "__metadata__.json", "a.__metadata__.json", ".__metadata__.json"] {
            let error = RecordKey::new(key).unwrap_err();
            assert!(matches!(error, CrawleeError::Key { .. }), "{key}: {error}");
        }
    }

    #[test]
    fn a_key_may_be_as_long_as_crawlee_can_write_it() {
        assert_eq!(MAX_KEY_BYTES, 219);
        assert!(RecordKey::new("x".repeat(219)).is_ok());
        assert!(RecordKey::new("/".repeat(73)).is_ok());
        for (key, bytes) in [("x".repeat(220), 220), ("/".repeat(74), 222), ("ü".repeat(37), 222)] {
            let error = RecordKey::new(key).unwrap_err();
            assert!(matches!(error, CrawleeError::KeyTooLong { bytes: found, .. } if found == bytes), "{error}");
            assert!(error.to_string().contains("use a shorter one"), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_not_ours_or_crawlees_is_no_key() {
        for name in ["a", "__metadata__.json", "a b.__metadata__.json", "%41.__metadata__.json", "%FF.__metadata__.json"] {
            assert_eq!(RecordKey::of_metadata_file(name), None, "{name}");
        }
    }

    #[test]
    fn the_keys_of_a_crawler_are_crawlees() {
        let id = CrawlerId::new(&"i".repeat(128)).unwrap();
        for key in [RecordKey::state(&id), RecordKey::statistics(&id), RecordKey::queue_state(&id), RecordKey::session_pool()] {
            assert_eq!(RecordKey::new(key.as_str()).unwrap(), key);
        }
        let id = CrawlerId::new("books").unwrap();
        assert_eq!(RecordKey::statistics(&id).as_str(), "__CRAWLER_STATISTICS_books");
    }

    #[test]
    fn the_keys_under_which_a_crawl_writes_are_known() {
        let id = CrawlerId::new("books").unwrap();
        let snapshot = RecordKey::new(nephila_model::error_snapshot_key("status")).unwrap();
        for key in [RecordKey::state(&id), RecordKey::statistics(&id), RecordKey::queue_state(&id), snapshot] {
            assert!(key.is_a_crawls_own(), "{key}");
        }
        assert!(RecordKey::new("INPUT").unwrap().is_a_crawls_own() && RecordKey::new("INPUT.json").unwrap().is_a_crawls_own());
        for key in [RecordKey::session_pool(), RecordKey::new("INPUTS").unwrap(), RecordKey::new("visitors").unwrap()] {
            assert!(!key.is_a_crawls_own(), "{key}");
        }
    }
}
