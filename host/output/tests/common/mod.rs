//! A dataset in memory that can be made to die between a write and the cursor.

#![allow(dead_code, reason = "each test file uses its part")]

use nephila_output::{Existing, Exporter, OutputError, Rows, Target};
use nephila_store::{DatasetRow, DatasetSlice, SinkRecord, StoreError};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Rows and cursors; a clone is the same ones.
#[derive(Clone, Default)]
pub struct FakeRows(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    rows: Vec<DatasetRow>,
    sinks: BTreeMap<String, SinkRecord>,
    puts: u64,
    dead: bool,
}

impl FakeRows {
    /// A dataset with these items.
    pub fn with(items: &[&str]) -> Self {
        let rows = Self::default();
        items.iter().for_each(|item| rows.push(item));
        rows
    }

    /// Commits an item. Sequences have gaps, as a store's may.
    pub fn push(&self, json: &str) {
        let mut inner = self.0.lock().unwrap();
        let place = inner.rows.len() as i64 + 1;
        inner.rows.push(DatasetRow { sequence: place * 3, id: format!("{place:032x}"), json: json.to_owned() });
    }

    /// From now on every cursor is lost: the process dies after each write.
    pub fn die(&self) {
        self.0.lock().unwrap().dead = true;
    }

    /// The cursors as they are.
    pub fn cursors(&self) -> BTreeMap<String, SinkRecord> {
        self.0.lock().unwrap().sinks.clone()
    }

    /// A new process, with the cursors that an earlier one left.
    pub fn revive(&self, cursors: &BTreeMap<String, SinkRecord>) {
        let mut inner = self.0.lock().unwrap();
        inner.sinks.clone_from(cursors);
        inner.dead = false;
    }

    /// How often a cursor was put.
    pub fn puts(&self) -> u64 {
        self.0.lock().unwrap().puts
    }
}

impl Rows for FakeRows {
    async fn slice(&self, after: i64, limit: usize, max_bytes: usize) -> Result<DatasetSlice, StoreError> {
        let inner = self.0.lock().unwrap();
        let from = inner.rows.partition_point(|row| row.sequence <= after);
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for row in inner.rows[from..].iter().take(limit) {
            bytes += row.json.len();
            if bytes > max_bytes && !rows.is_empty() {
                break;
            }
            rows.push(row.clone());
        }
        let more = from + rows.len() < inner.rows.len();
        Ok(DatasetSlice { rows, more })
    }

    async fn sink(&self, target: &str) -> Result<Option<SinkRecord>, StoreError> {
        Ok(self.0.lock().unwrap().sinks.get(target).cloned())
    }

    async fn put_sink(&self, record: &SinkRecord) -> Result<(), StoreError> {
        let mut inner = self.0.lock().unwrap();
        if inner.dead {
            return Err(StoreError::Closed);
        }
        inner.puts += 1;
        inner.sinks.insert(record.target.clone(), record.clone());
        Ok(())
    }
}

/// A folder with one output in it.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `items.jsonl` in it.
    pub fn items(&self) -> PathBuf {
        self.path("items.jsonl")
    }
}

pub fn target(path: &Path) -> Target {
    Target::parse(path.to_str().unwrap()).unwrap()
}

/// Prepares one output.
pub async fn prepare(rows: &FakeRows, path: &Path, existing: Existing) -> Result<Exporter<FakeRows>, OutputError> {
    Exporter::prepare(rows.clone(), &[target(path)], existing).await
}

/// One start of the program: prepares, writes what is committed, ends.
pub async fn start(rows: &FakeRows, path: &Path, existing: Existing) -> Result<u64, OutputError> {
    prepare(rows, path, existing).await?.drain().await
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
