//! A dataset's folder: a file for each item, numbered from 1 (Crawlee for Python: `FileSystemDatasetClient`).
//!
//! Decision: it is only ever made anew, and its metadata, which say how many items there are, are written last. Nothing is synced.

use crate::folder::{Folder, Part};
use crate::json::write_pretty;
use crate::key::STORE_METADATA;
use crate::metadata::StoreMetadata;
use crate::{CrawleeError, StoreName};
use nephila_model::Timestamp;
use std::path::Path;

/// A dataset that is being written.
#[derive(Debug)]
pub struct DatasetWriter {
    folder: Folder,
    metadata: StoreMetadata,
    items: u64,
}

impl DatasetWriter {
    /// Makes a dataset in a storage folder, with what is missing above it.
    ///
    /// # Errors
    /// [`CrawleeError::NotEmpty`] if there is one, [`CrawleeError::NotAFolder`], [`CrawleeError::Io`].
    pub fn create(storage: &Path, name: &StoreName) -> Result<Self, CrawleeError> {
        let folder = Folder::make(storage, Part::Datasets, name)?;
        folder.check_empty()?;
        Ok(Self { folder, metadata: StoreMetadata::new(name.name(), Timestamp::now()), items: 0 })
    }

    /// Adds an item: JSON, which is laid out anew and otherwise stays as it is.
    ///
    /// # Errors
    /// [`CrawleeError::DiskFull`], [`CrawleeError::Io`], also if it is not JSON.
    pub fn push(&mut self, json: &str) -> Result<(), CrawleeError> {
        let name = format!("{:09}.json", self.items + 1);
        self.folder.replace(&name, |out| write_pretty(out, json, 0))?;
        self.items += 1;
        Ok(())
    }

    /// Writes the metadata, and says how many items there are.
    ///
    /// # Errors
    /// As [`DatasetWriter::push`].
    pub fn finish(mut self) -> Result<u64, CrawleeError> {
        self.metadata.others.insert("item_count".to_owned(), self.items.into());
        self.folder.replace(STORE_METADATA, |out| Ok(serde_json::to_writer_pretty(out, &self.metadata)?))?;
        Ok(self.items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::fs;

    #[test]
    fn an_item_is_a_numbered_file_and_the_metadata_count_them() {
        let storage = tempfile::tempdir().unwrap();
        let mut dataset = DatasetWriter::create(storage.path(), &StoreName::named("prices").unwrap()).unwrap();
        dataset.push(r#"{"b":1.0,"a":12345678901234567890123}"#).unwrap();
        dataset.push("{}").unwrap();
        assert_eq!(dataset.finish().unwrap(), 2);
        let folder = storage.path().join("datasets/prices");
        let first = fs::read_to_string(folder.join("000000001.json")).unwrap();
        assert_eq!(first, "{\n  \"b\": 1.0,\n  \"a\": 12345678901234567890123\n}");
        let metadata: Value = serde_json::from_slice(&fs::read(folder.join("__metadata__.json")).unwrap()).unwrap();
        assert_eq!((&metadata["name"], &metadata["item_count"]), (&"prices".into(), &2.into()));
        let again = DatasetWriter::create(storage.path(), &StoreName::named("prices").unwrap());
        assert!(matches!(again, Err(CrawleeError::NotEmpty { .. })));
    }
}
