//! What a call of the plugin can see of the store.

use async_trait::async_trait;
use nephila_model::{CrawlId, CrawlerId, DatasetName, KeyStanding, KvStoreName, KvValue, RequestStatus, StateVersion, UniqueKey};
use nephila_plugin::{DatasetSlice, ReadError, Reads};
use nephila_store::{Store, StoreError};
use std::sync::Arc;

/// A plugin's view of one crawl in a store.
pub struct StoreReads {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The crawl.
    pub crawl: CrawlId,
    /// Whose state.
    pub crawler: CrawlerId,
}

fn failed(error: StoreError) -> ReadError {
    ReadError::Store(error.to_string())
}

#[async_trait]
impl Reads for StoreReads {
    async fn standing(&self, keys: &[UniqueKey], depth: u32) -> Result<Vec<KeyStanding>, ReadError> {
        self.store.standing(self.crawl, keys, depth).await.map_err(failed)
    }

    async fn lookup(&self, keys: &[UniqueKey]) -> Result<Vec<Option<RequestStatus>>, ReadError> {
        self.store.lookup(self.crawl, keys).await.map_err(failed)
    }

    async fn state_get(&self, key: &str) -> Result<(Option<String>, StateVersion), ReadError> {
        let row = self.store.state_get(&self.crawler, key).await.map_err(failed)?;
        Ok((row.value, row.version))
    }

    async fn state_keys(&self) -> Result<(Vec<String>, StateVersion), ReadError> {
        self.store.state_keys(&self.crawler).await.map_err(failed)
    }

    async fn kv_get(&self, store: &KvStoreName, key: &str) -> Result<Option<KvValue>, ReadError> {
        self.store.kv_get(self.crawl, store, key).await.map_err(failed)
    }

    async fn dataset_slice(
        &self,
        dataset: &DatasetName,
        cursor: Option<&str>,
        limit: u32,
        max_bytes: usize,
    ) -> Result<DatasetSlice, ReadError> {
        let after = match cursor {
            None => 0,
            Some(text) => text.parse().map_err(|_| ReadError::BadCursor(text.to_owned()))?,
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let slice = self.store.dataset_slice(self.crawl, dataset, after, limit, max_bytes).await.map_err(failed)?;
        let next = slice.rows.last().map(|row| row.sequence.to_string()).filter(|_| slice.more);
        Ok(DatasetSlice { items: slice.rows.into_iter().map(|row| row.json).collect(), next })
    }
}
