//! What a sink needs from a store: rows after a cursor, and a place for the cursor.
//!
//! Decision: three calls, not the store. A sink cannot commit, claim or look at requests, its tests need no store, and a job
//! that does not exist yet can be checked ([`NoRows`]). The price is a type parameter on [`crate::Exporter`].

use nephila_model::{CrawlId, DatasetName};
use nephila_store::{DatasetSlice, JobItems, SinkRecord, Store, StoreError};
use std::future::Future;
use std::sync::Arc;

/// The committed rows of one dataset, and the cursors of those who read them.
pub trait Rows: Send + Sync {
    /// Rows after a cursor (0: from the beginning), oldest first: at most `limit`, and at most `max_bytes` of JSON, but one at
    /// least if there is one.
    fn slice(&self, after: i64, limit: usize, max_bytes: usize) -> impl Future<Output = Result<DatasetSlice, StoreError>> + Send;

    /// Where a sink stands; `None` if it never wrote.
    fn sink(&self, target: &str) -> impl Future<Output = Result<Option<SinkRecord>, StoreError>> + Send;

    /// Notes where a sink stands, for good.
    fn put_sink(&self, record: &SinkRecord) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A crawl's own dataset.
#[derive(Clone)]
pub struct CrawlRows {
    store: Arc<dyn Store>,
    crawl: CrawlId,
}

impl CrawlRows {
    /// The rows of this crawl.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, crawl: CrawlId) -> Self {
        Self { store, crawl }
    }
}

impl Rows for CrawlRows {
    async fn slice(&self, after: i64, limit: usize, max_bytes: usize) -> Result<DatasetSlice, StoreError> {
        self.store.dataset_slice(self.crawl, &DatasetName::Default, after, limit, max_bytes).await
    }

    async fn sink(&self, target: &str) -> Result<Option<SinkRecord>, StoreError> {
        self.store.sink(self.crawl, target).await
    }

    async fn put_sink(&self, record: &SinkRecord) -> Result<(), StoreError> {
        self.store.put_sink(self.crawl, record).await
    }
}

/// A crawl's own dataset as one moment has it, to be written once more from its beginning. Cursors are kept nowhere, and however
/// slow the reader is, nothing of the job is held while it reads.
pub struct SnapshotRows(Arc<JobItems>);

impl SnapshotRows {
    /// The rows of this moment.
    #[must_use]
    pub fn new(items: JobItems) -> Self {
        Self(Arc::new(items))
    }
}

impl Rows for SnapshotRows {
    async fn slice(&self, after: i64, limit: usize, max_bytes: usize) -> Result<DatasetSlice, StoreError> {
        let items = Arc::clone(&self.0);
        let read = tokio::task::spawn_blocking(move || items.slice(&DatasetName::Default, after, limit, max_bytes));
        read.await.unwrap_or_else(|lost| Err(StoreError::Engine { action: "read the job", cause: lost.to_string() }))
    }

    async fn sink(&self, _target: &str) -> Result<Option<SinkRecord>, StoreError> {
        Ok(None)
    }

    async fn put_sink(&self, _record: &SinkRecord) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A crawl that has not begun: no rows, no cursors.
pub(crate) struct NoRows;

impl Rows for NoRows {
    async fn slice(&self, _after: i64, _limit: usize, _max_bytes: usize) -> Result<DatasetSlice, StoreError> {
        Ok(DatasetSlice::default())
    }

    async fn sink(&self, _target: &str) -> Result<Option<SinkRecord>, StoreError> {
        Ok(None)
    }

    async fn put_sink(&self, _record: &SinkRecord) -> Result<(), StoreError> {
        Ok(())
    }
}
