//! What a call may read of the crawl.
//!
//! Decision: a call reads through this trait, and the crawler implements it over the store, so that this crate knows no SQL.
//! Answers are what is committed; a call's own writes are laid over them here (`state_view.rs`, `imports/key_value.rs`). The cost
//! is a boxed future per read.

use async_trait::async_trait;
use nephila_model::{DatasetName, KeyStanding, KvStoreName, KvValue, RequestStatus, StateVersion, UniqueKey};

/// A part of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DatasetSlice {
    /// The items, oldest first, as JSON.
    pub items: Vec<String>,
    /// Where to go on; `None` at the end.
    pub next: Option<String>,
}

/// Why nothing could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The cursor is not one that this dataset gave. The plugin hears of it.
    #[error("`{0}` is not a cursor of this dataset; use the `next` of an earlier read, or none")]
    BadCursor(String),
    /// The store failed. The call ends.
    #[error("the store could not be read: {0}")]
    Store(String),
}

/// What is committed, for reading. Every method may wait; the call's wall-clock limit bounds it.
#[async_trait]
pub trait Reads: Send + Sync {
    /// What the queue knows of the keys, for requests that are found at this depth; one answer each, in order.
    async fn standing(&self, keys: &[UniqueKey], depth: u32) -> Result<Vec<KeyStanding>, ReadError>;

    /// Where the requests stand; one answer each, in order.
    async fn lookup(&self, keys: &[UniqueKey]) -> Result<Vec<Option<RequestStatus>>, ReadError>;

    /// A state value and the version of its key.
    async fn state_get(&self, key: &str) -> Result<(Option<String>, StateVersion), ReadError>;

    /// The keys that have a value, and when a key was last added or removed.
    async fn state_keys(&self) -> Result<(Vec<String>, StateVersion), ReadError>;

    /// A value of a key-value store.
    async fn kv_get(&self, store: &KvStoreName, key: &str) -> Result<Option<KvValue>, ReadError>;

    /// Items of a dataset after `cursor`: at most `limit` (1 to 1,000), and no more than `max_bytes`, but at least one if there
    /// is one.
    async fn dataset_slice(
        &self,
        dataset: &DatasetName,
        cursor: Option<&str>,
        limit: u32,
        max_bytes: usize,
    ) -> Result<DatasetSlice, ReadError>;
}
