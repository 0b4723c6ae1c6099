//! Writing a store's folder.
//!
//! Decision: the value is written before its metadata and removed after it, each as one rename, so that whoever sees the metadata
//! finds a value. Between the two renames of a record that is written again, its old metadata stands beside its new value for an
//! instant; readers of ours notice that by the size. Nothing is synced to the disk: after a loss of power the folder may be behind.
//!
//! A folder is taken if it is empty, or has nothing but an `INPUT`, or is a store of Crawlee's; then its id, its name, its time of
//! creation and all records of other keys stay as they are.

use crate::folder::{Folder, Part};
use crate::key::{INPUT, STORE_METADATA};
use crate::metadata::{RecordMetadata, StoreMetadata};
use crate::{CrawleeError, KeyValueReader, MediaType, RecordKey, StoreName};
use nephila_model::Timestamp;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A key-value store's folder, to be written. Shared by as many threads as like to; they write one record at a time.
#[derive(Debug)]
pub struct KeyValueWriter {
    reader: KeyValueReader,
    metadata: Mutex<StoreMetadata>,
}

impl KeyValueWriter {
    /// Opens a store in a storage folder, and makes what is missing of it with mode 0700.
    ///
    /// # Errors
    /// [`CrawleeError::NotAStore`] and [`CrawleeError::NotAFolder`] for a folder of something else, of which nothing is changed;
    /// [`CrawleeError::Damaged`] if the store's metadata cannot be understood; [`CrawleeError::Io`].
    pub fn open(storage: &Path, name: &StoreName) -> Result<Self, CrawleeError> {
        let reader = KeyValueReader::of(Folder::make(storage, Part::KeyValueStores, name)?);
        let metadata = match reader.store_metadata()? {
            Some(metadata) => metadata,
            None => {
                check_new(reader.folder())?;
                let metadata = StoreMetadata::new(name.name(), Timestamp::now());
                write_metadata(reader.folder(), &metadata)?;
                metadata
            }
        };
        reader.folder().sweep()?;
        Ok(Self { reader, metadata: Mutex::new(metadata) })
    }

    /// The same folder, to be read.
    #[must_use]
    pub const fn reader(&self) -> &KeyValueReader {
        &self.reader
    }

    /// Writes a value as readable JSON.
    ///
    /// # Errors
    /// As [`KeyValueWriter::put_stream`]; also if the value cannot be JSON, such as a map whose keys are no texts.
    pub fn put_json(&self, key: &RecordKey, value: &impl Serialize) -> Result<(), CrawleeError> {
        self.put_stream(key, &MediaType::json(), |out| Ok(serde_json::to_writer_pretty(out, value)?))
    }

    /// Writes Crawlee's `None`, which is there and has no value.
    ///
    /// # Errors
    /// As [`KeyValueWriter::put_stream`].
    pub fn put_none(&self, key: &RecordKey) -> Result<(), CrawleeError> {
        self.put_stream(key, &MediaType::none(), |_| Ok(()))
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// As [`KeyValueWriter::put_stream`].
    pub fn put(&self, key: &RecordKey, media_type: &MediaType, bytes: &[u8]) -> Result<(), CrawleeError> {
        self.put_stream(key, media_type, |out| out.write_all(bytes))
    }

    /// Writes what `fill` writes, buffered, however much it is. If it fails, the record stays as it was.
    ///
    /// # Errors
    /// [`CrawleeError::NotAFile`] if something that is no file has the record's name, [`CrawleeError::DiskFull`],
    /// [`CrawleeError::Io`], also with what `fill` failed with.
    pub fn put_stream(
        &self,
        key: &RecordKey,
        media_type: &MediaType,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CrawleeError> {
        let folder = self.reader.folder();
        let mut store = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        let size = folder.replace(&key.file(), fill)?;
        let (key, media_type) = (key.clone(), media_type.to_string());
        let name = key.metadata_file();
        let metadata = RecordMetadata { key: key.as_str().to_owned(), content_type: media_type, size: Some(size) };
        folder.replace(&name, |out| out.write_all(&metadata.to_json()?))?;
        store.touch(Timestamp::now());
        write_metadata(folder, &store)
    }

    /// Removes a record; says whether it was there.
    ///
    /// # Errors
    /// [`CrawleeError::Io`].
    pub fn remove(&self, key: &RecordKey) -> Result<bool, CrawleeError> {
        let folder = self.reader.folder();
        let mut store = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        let had_metadata = folder.remove(&key.metadata_file())?;
        let had_value = folder.remove(&key.file())?;
        if had_metadata || had_value {
            store.touch(Timestamp::now());
            write_metadata(folder, &store)?;
        }
        Ok(had_metadata && had_value)
    }
}

/// Whether a folder without a store's metadata may become a store.
fn check_new(folder: &Folder) -> Result<(), CrawleeError> {
    for name in folder.names()? {
        let name = name?;
        if name.split('.').next() != Some(INPUT) {
            return Err(CrawleeError::NotAStore { path: folder.path().to_owned() });
        }
    }
    Ok(())
}

fn write_metadata(folder: &Folder, metadata: &StoreMetadata) -> Result<(), CrawleeError> {
    folder.replace(STORE_METADATA, |out| Ok(serde_json::to_writer_pretty(out, metadata)?)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordValue;
    use serde_json::{Value, json};
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};

    const LIMIT: u64 = 1 << 20;

    fn store() -> (tempfile::TempDir, KeyValueWriter) {
        let storage = tempfile::tempdir().unwrap();
        let store = KeyValueWriter::open(storage.path(), &StoreName::DEFAULT).unwrap();
        (storage, store)
    }

    fn key(key: &str) -> RecordKey {
        RecordKey::new(key).unwrap()
    }

    fn files(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    fn json_of(path: &Path) -> Value {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn a_record_is_two_files_as_crawlee_writes_them() {
        let (_storage, store) = store();
        store.put_json(&key("a b"), &json!({ "n": [1] })).unwrap();
        let folder = store.reader().path();
        assert_eq!(files(folder), ["__metadata__.json", "a%20b", "a%20b.__metadata__.json"]);
        assert_eq!(fs::read_to_string(folder.join("a%20b")).unwrap(), "{\n  \"n\": [\n    1\n  ]\n}");
        let metadata = json_of(&folder.join("a%20b.__metadata__.json"));
        let expected = json!({
            "key": "a b", "content_type": "application/json", "size": 22, "contentType": "application/json"
        });
        assert_eq!(metadata, expected);
    }

    #[test]
    fn every_kind_of_value_is_read_back() {
        let (_storage, store) = store();
        store.put_json(&key("json"), &json!({ "a": 1.5 })).unwrap();
        store.put_none(&key("none")).unwrap();
        store.put(&key("text"), &MediaType::text(), "ü".as_bytes()).unwrap();
        store.put(&key("bytes"), &MediaType::bytes(), &[0, 255]).unwrap();
        let value = |name| store.reader().read(&key(name), LIMIT).unwrap().unwrap().value().unwrap();
        assert_eq!(value("json"), RecordValue::Json(json!({ "a": 1.5 })));
        assert_eq!(value("none"), RecordValue::None);
        assert_eq!(value("text"), RecordValue::Text("ü".to_owned()));
        assert_eq!(value("bytes"), RecordValue::Bytes(vec![0, 255]));
        let infos = store.reader().list(None, 10).unwrap();
        assert_eq!(infos.iter().map(|info| info.size).collect::<Vec<_>>(), [Some(2), Some(14), Some(0), Some(2)]);
    }

    #[test]
    fn a_removed_record_leaves_nothing() {
        let (_storage, store) = store();
        store.put_none(&key("a")).unwrap();
        assert!(store.remove(&key("a")).unwrap());
        assert!(!store.remove(&key("a")).unwrap());
        assert_eq!(files(store.reader().path()), ["__metadata__.json"]);
    }

    #[test]
    fn a_failed_write_leaves_the_record_as_it_was() {
        let (_storage, store) = store();
        store.put(&key("a"), &MediaType::text(), b"old").unwrap();
        let failed = store.put_stream(&key("a"), &MediaType::json(), |out| {
            out.write_all(b"new")?;
            Err(io::Error::other("no more"))
        });
        assert!(failed.unwrap_err().to_string().contains("no more"));
        let record = store.reader().read(&key("a"), LIMIT).unwrap().unwrap();
        assert_eq!((record.media_type, record.bytes), (MediaType::text(), b"old".to_vec()));
        assert_eq!(files(store.reader().path()).len(), 3);
    }

    #[test]
    fn a_store_of_crawlees_keeps_what_it_is() {
        let (storage, first) = store();
        first.put_none(&key("theirs")).unwrap();
        let path = first.reader().path().join(STORE_METADATA);
        let mut before = json_of(&path);
        before["extra"] = json!([1]);
        fs::write(&path, before.to_string()).unwrap();
        let second = KeyValueWriter::open(storage.path(), &StoreName::DEFAULT).unwrap();
        assert_eq!(json_of(&path), before);
        second.put_none(&key("ours")).unwrap();
        let after = json_of(&path);
        for field in ["id", "name", "created_at", "extra"] {
            assert_eq!(after[field], before[field], "{field}");
        }
        assert_eq!(second.reader().list(None, 10).unwrap().len(), 2);
    }

    #[test]
    fn a_named_store_says_its_name() {
        let storage = tempfile::tempdir().unwrap();
        let store = KeyValueWriter::open(storage.path(), &StoreName::named("my-store").unwrap()).unwrap();
        assert!(store.reader().path().ends_with("key_value_stores/my-store"));
        assert_eq!(json_of(&store.reader().path().join(STORE_METADATA))["name"], "my-store");
    }

    #[test]
    fn a_folder_of_something_else_is_refused_untouched() {
        let storage = tempfile::tempdir().unwrap();
        let folder = storage.path().join("key_value_stores/default");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("thesis.txt"), "x").unwrap();
        let error = KeyValueWriter::open(storage.path(), &StoreName::DEFAULT).unwrap_err();
        assert!(matches!(error, CrawleeError::NotAStore { .. }), "{error}");
        assert_eq!(files(&folder), ["thesis.txt"]);
        fs::write(folder.join(STORE_METADATA), r#"{"version": 7}"#).unwrap();
        let error = KeyValueWriter::open(storage.path(), &StoreName::DEFAULT).unwrap_err();
        assert!(matches!(error, CrawleeError::Damaged { .. }), "{error}");
        assert_eq!(fs::read_to_string(folder.join(STORE_METADATA)).unwrap(), r#"{"version": 7}"#);
    }

    #[test]
    fn a_folder_with_nothing_but_an_input_is_taken() {
        let storage = tempfile::tempdir().unwrap();
        let folder = storage.path().join("key_value_stores/default");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("INPUT.json"), "{}").unwrap();
        KeyValueWriter::open(storage.path(), &StoreName::DEFAULT).unwrap();
        assert_eq!(files(&folder), ["INPUT.json", "__metadata__.json"]);
    }

    #[test]
    fn a_reader_beside_a_writer_never_sees_half_a_record() {
        let (storage, store) = store();
        let (key, stop) = (key("a"), AtomicBool::new(false));
        let value = |n: usize| format!("[{}]", vec!["7"; n * 997 % 5_000 + 1].join(","));
        let write = |n| store.put(&key, &MediaType::json(), value(n).as_bytes()).unwrap();
        write(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let reader = KeyValueReader::open(storage.path(), &StoreName::DEFAULT).unwrap();
                let mut last = false;
                // Once more after the writer's end: nothing of it is missed.
                while !last {
                    last = stop.load(Ordering::Acquire);
                    let record = reader.read(&key, LIMIT).unwrap().unwrap();
                    assert!(matches!(record.value().unwrap(), RecordValue::Json(Value::Array(_))));
                }
            });
            (1..300).for_each(write);
            stop.store(true, Ordering::Release);
        });
        assert_eq!(store.reader().read(&key, LIMIT).unwrap().unwrap().bytes, value(299).into_bytes());
    }
}
