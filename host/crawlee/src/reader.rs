//! Reading a store's folder.
//!
//! Decision: reading changes nothing, not even the time of the last access, which Crawlee writes with every look. A record is there
//! if both its files are, as in Crawlee for Python. The two cannot be read at one moment: if the size in the metadata is not that of
//! the value, somebody is writing, and both are read again; if it stays so, the value was edited by hand and is taken as it is.

use crate::folder::{Folder, Part};
use crate::key::STORE_METADATA;
use crate::metadata::{MAX_METADATA_BYTES, RecordMetadata, StoreMetadata};
use crate::{CrawleeError, MediaType, Record, RecordKey, StoreName};
use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How often a record is read whose files do not fit together.
const TRIES: u32 = 5;

/// A writer needs far less for a metadata file.
const PAUSE: Duration = Duration::from_millis(2);

/// A key-value store's folder, to be read.
#[derive(Debug)]
pub struct KeyValueReader {
    folder: Folder,
}

/// What a listing says about a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordInfo {
    /// Its key.
    pub key: RecordKey,
    /// What it is.
    pub media_type: MediaType,
    /// Bytes of its value, as its metadata says; Crawlee for JavaScript does not say.
    pub size: Option<u64>,
}

impl KeyValueReader {
    /// Opens a store in a storage folder (Crawlee: `CRAWLEE_STORAGE_DIR`, `./storage` if that is not set).
    ///
    /// # Errors
    /// [`CrawleeError::NoStore`], [`CrawleeError::NotAFolder`], [`CrawleeError::Io`].
    pub fn open(storage: &Path, name: &StoreName) -> Result<Self, CrawleeError> {
        Ok(Self::of(Folder::existing(storage, Part::KeyValueStores, name)?))
    }

    pub(crate) const fn of(folder: Folder) -> Self {
        Self { folder }
    }

    pub(crate) const fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Reads a record of at most `limit` bytes; `None` if there is none under the key.
    ///
    /// # Errors
    /// [`CrawleeError::TooLarge`], [`CrawleeError::NotAFile`], [`CrawleeError::Damaged`] if the metadata cannot be understood,
    /// [`CrawleeError::Io`].
    pub fn read(&self, key: &RecordKey, limit: u64) -> Result<Option<Record>, CrawleeError> {
        let mut tries = TRIES;
        loop {
            tries -= 1;
            let Some(metadata) = self.metadata(key)? else { return Ok(None) };
            let Some(bytes) = self.folder.read(&key.file(), limit)? else { return Ok(None) };
            let fits = metadata.size.is_none_or(|size| size == bytes.len() as u64);
            if fits || tries == 0 {
                let media_type = MediaType::found(metadata.content_type);
                return Ok(Some(Record { key: key.clone(), media_type, bytes }));
            }
            thread::sleep(PAUSE);
        }
    }

    /// The records after a key, at most `limit` of them, in the order of their keys. A record whose metadata cannot be understood is
    /// left out with a warning, as in Crawlee.
    ///
    /// # Errors
    /// [`CrawleeError::Io`].
    pub fn list(&self, after: Option<&RecordKey>, limit: usize) -> Result<Vec<RecordInfo>, CrawleeError> {
        let mut keys = BTreeSet::new();
        for name in self.folder.names()? {
            let Some(key) = RecordKey::of_metadata_file(&name?) else { continue };
            if after.is_some_and(|after| key <= *after) {
                continue;
            }
            keys.insert(key);
            // However many there are, no more are remembered than will be given.
            if keys.len() > limit {
                keys.pop_last();
            }
        }
        let mut infos = Vec::with_capacity(keys.len());
        for key in keys {
            match self.metadata(&key) {
                Ok(Some(metadata)) => {
                    let media_type = MediaType::found(metadata.content_type);
                    infos.push(RecordInfo { key, media_type, size: metadata.size });
                }
                // Removed meanwhile.
                Ok(None) => {}
                Err(cause @ (CrawleeError::Damaged { .. } | CrawleeError::NotAFile { .. } | CrawleeError::TooLarge { .. })) => {
                    tracing::warn!(key = key.as_str(), %cause, "a record of a Crawlee folder is left out");
                }
                Err(cause) => return Err(cause),
            }
        }
        Ok(infos)
    }

    fn metadata(&self, key: &RecordKey) -> Result<Option<RecordMetadata>, CrawleeError> {
        let name = key.metadata_file();
        let Some(bytes) = self.folder.read(&name, MAX_METADATA_BYTES)? else { return Ok(None) };
        let damaged = |cause| CrawleeError::Damaged { path: self.folder.path().join(&name), cause };
        RecordMetadata::from_json(&bytes).map(Some).map_err(damaged)
    }

    pub(crate) fn store_metadata(&self) -> Result<Option<StoreMetadata>, CrawleeError> {
        let Some(bytes) = self.folder.read(STORE_METADATA, MAX_METADATA_BYTES)? else { return Ok(None) };
        let damaged = |cause| CrawleeError::Damaged { path: self.folder.path().join(STORE_METADATA), cause };
        serde_json::from_slice(&bytes).map(Some).map_err(damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordValue;
    use serde_json::json;
    use std::fs;

    const LIMIT: u64 = 1 << 20;

    /// A folder as Crawlee for Python 1.11 leaves it.
    fn crawlees() -> (tempfile::TempDir, KeyValueReader) {
        let storage = tempfile::tempdir().unwrap();
        let folder = storage.path().join("key_value_stores/default");
        fs::create_dir_all(&folder).unwrap();
        let metadata = "{\n  \"id\": \"QkbcgdrLuKuKvtHaE\",\n  \"name\": null,\n  \"accessed_at\": \"2026-08-01 12:00:00.123456+00:00\",\n  \
                        \"created_at\": \"2026-08-01 12:00:00+00:00\",\n  \"modified_at\": \"2026-08-01 12:00:00.123456+00:00\"\n}";
        fs::write(folder.join("__metadata__.json"), metadata).unwrap();
        let records: [(&str, &str, &str, &[u8]); 4] = [
            ("a b", "a%20b", "application/json; charset=utf-8", b"{\n  \"n\": 1\n}"),
            ("none", "none", "application/x-none", b""),
            ("page.html", "page.html", "text/html", b"<p>"),
            ("ü/", "%C3%BC%2F", "application/octet-stream", b"\x00\xff"),
        ];
        for (key, file, content_type, bytes) in records {
            fs::write(folder.join(file), bytes).unwrap();
            let metadata = json!({ "key": key, "content_type": content_type, "size": bytes.len() });
            fs::write(folder.join(format!("{file}.__metadata__.json")), metadata.to_string()).unwrap();
        }
        let reader = KeyValueReader::open(storage.path(), &StoreName::DEFAULT).unwrap();
        (storage, reader)
    }

    fn key(key: &str) -> RecordKey {
        RecordKey::new(key).unwrap()
    }

    fn keys(infos: &[RecordInfo]) -> Vec<&str> {
        infos.iter().map(|info| info.key.as_str()).collect()
    }

    #[test]
    fn what_crawlee_wrote_is_read() {
        let (_storage, reader) = crawlees();
        let value = |name| reader.read(&key(name), LIMIT).unwrap().unwrap().value().unwrap();
        assert_eq!(value("a b"), RecordValue::Json(json!({ "n": 1 })));
        assert_eq!(value("none"), RecordValue::None);
        assert_eq!(value("page.html"), RecordValue::Text("<p>".to_owned()));
        assert_eq!(value("ü/"), RecordValue::Bytes(vec![0, 255]));
        assert_eq!(reader.read(&key("other"), LIMIT).unwrap(), None);
        assert_eq!(reader.store_metadata().unwrap().unwrap().id, "QkbcgdrLuKuKvtHaE");
    }

    #[test]
    fn records_are_listed_in_pages_in_the_order_of_their_keys() {
        let (_storage, reader) = crawlees();
        let all = reader.list(None, usize::MAX).unwrap();
        assert_eq!(keys(&all), ["a b", "none", "page.html", "ü/"]);
        assert_eq!((all[3].media_type.as_str(), all[3].size), ("application/octet-stream", Some(2)));
        assert_eq!(keys(&reader.list(None, 3).unwrap()), ["a b", "none", "page.html"]);
        assert_eq!(keys(&reader.list(Some(&key("page.html")), 3).unwrap()), ["ü/"]);
        assert_eq!(keys(&reader.list(None, 0).unwrap()), [""; 0]);
    }

    #[test]
    fn a_value_without_metadata_is_no_record_and_broken_metadata_spoils_no_other() {
        let (_storage, reader) = crawlees();
        fs::write(reader.path().join("alone"), "x").unwrap();
        fs::write(reader.path().join("none.__metadata__.json"), "{").unwrap();
        fs::create_dir(reader.path().join("folder.__metadata__.json")).unwrap();
        assert_eq!(reader.read(&key("alone"), LIMIT).unwrap(), None);
        assert!(matches!(reader.read(&key("none"), LIMIT), Err(CrawleeError::Damaged { .. })));
        assert_eq!(keys(&reader.list(None, usize::MAX).unwrap()), ["a b", "page.html", "ü/"]);
    }

    #[test]
    fn a_value_that_was_edited_by_hand_is_read() {
        let (_storage, reader) = crawlees();
        fs::write(reader.path().join("a%20b"), r#"{"n": 1000000}"#).unwrap();
        let record = reader.read(&key("a b"), LIMIT).unwrap().unwrap();
        assert_eq!(record.value().unwrap(), RecordValue::Json(json!({ "n": 1_000_000 })));
    }

    #[test]
    fn reading_changes_nothing() {
        let (_storage, reader) = crawlees();
        let all = || {
            let files = fs::read_dir(reader.path()).unwrap().map(|file| file.unwrap().path());
            files.map(|path| (path.clone(), fs::read(path).unwrap())).collect::<std::collections::BTreeMap<_, _>>()
        };
        let before = all();
        reader.list(None, 10).unwrap();
        reader.read(&key("a b"), LIMIT).unwrap();
        assert_eq!(all(), before);
    }
}
