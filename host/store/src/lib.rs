//! The durable truth of a crawl: queue, dedup, datasets, key-value stores, state, statistics, sessions, sinks' cursors.
//!
//! Decision: one trait, [`Store`], and one contract suite ([`contract`]) that every implementation passes, invariants S1 to S11 of
//! docs/architecture.md. Nothing above this crate knows how rows are kept, and nothing in here knows what a page or a plugin is.

pub mod contract;
mod error;
mod job;
mod looks;
mod memory;
mod sqlite;
mod types;

pub use error::StoreError;
pub use job::{JobDir, JobLock, SharedHold};
pub use looks::{Activity, CrawlSummary, ErrorSample, ErrorsOf, ExcerptSize, FailedRequest, JobStatus, StateExcerpt};
pub use memory::MemoryStore;
pub use sqlite::{
    Durability, FailedRequests, JobItems, JobSnapshot, Pull, RequestPart, SqliteStore, list_crawls, read_status, read_status_of,
};
pub use types::{
    Company, Counts, CrawlEnding, CrawlOrder, CrawlRecord, CrawlSpec, DatasetRow, DatasetSlice, InHand, KEPT_SESSIONS, Leases,
    LeftBehind, OpenedCrawl, OpenedPool, PoolUser, SessionCreated, SinkRecord, SiteHead, SiteOrder, SiteWindow, StateRow,
    StoredEvent, StoredRequest, Woken,
};

use async_trait::async_trait;
use nephila_model::{
    AutoSaved, CommitResult, CrawlId, CrawlerId, DatasetName, EventId, Group, KeyStanding, KvStoreName, KvValue, Lease, PoolId,
    PoolPlace, RequestId, RequestStatus, SessionId, SessionRecord, SiteId, StateVersion, Statistics, Timestamp, UniqueKey,
    UseRange,
};

/// What every store can do. All of it may be called from any task at any time; writes are serialised by the store.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Opens the crawl that `spec` describes: a new one, or the one of the same crawler id that the store has.
    ///
    /// If it was opened before and not closed since ([`LeftBehind::Crash`]), and a durable mark says that the process died while
    /// it handled a request ([`Store::mark_suspect`]), that counts against the request, and at the third time it is failed with
    /// [`nephila_model::FailureCode::CRASHED_THE_HOST`] (S10). Takes every shard at a new epoch (S7: a single-process store leases
    /// everything at once), so that outcomes of an earlier opening are stale from here on (S4).
    ///
    /// # Errors
    /// S8: [`StoreError::OtherPlugin`], [`StoreError::OtherSiteMode`], [`StoreError::OtherNormaliser`], and then nothing has changed.
    async fn open_crawl(&self, spec: &CrawlSpec) -> Result<OpenedCrawl, StoreError>;

    /// The crawl that [`Store::open_crawl`] would open; `None` if it would make a new one. A read: nothing changes.
    ///
    /// # Errors
    /// S8: whatever would refuse the opening.
    async fn find_crawl(&self, spec: &CrawlSpec) -> Result<Option<CrawlId>, StoreError>;

    /// Notes how this opening of the crawl ended, and takes the mark of a suspect away, however it ended. Without it the next opening
    /// finds a [`LeftBehind::Crash`].
    async fn close_crawl(&self, crawl: CrawlId, ending: &CrawlEnding) -> Result<(), StoreError>;

    /// Sites that have ready requests (pending and due), at most `limit`, in the order asked for (S2). A read.
    async fn ready_sites(&self, crawl: CrawlId, order: SiteOrder, limit: usize) -> Result<Vec<SiteHead>, StoreError>;

    /// The first `limit` ready requests of a site in the site's order (S2). A read: claiming costs no write (S6).
    async fn site_window(&self, crawl: CrawlId, site: SiteId, limit: usize) -> Result<SiteWindow, StoreError>;

    /// Makes requests ready whose time has come, at most `limit`, earliest first, and says which sites gained and when the
    /// next one is due. Costs nothing when nothing is due (S6: undue rows have an index of their own).
    async fn wake_due(&self, crawl: CrawlId, now: Timestamp, limit: usize) -> Result<Woken, StoreError>;

    /// Commits a group in one transaction. Answers one by one, in order: an outcome that is stale, decided already, in conflict, over a
    /// limit, or refused by the engine changes nothing, and the rest commits (S3). What is answered survives kill -9 (S5).
    ///
    /// # Errors
    /// Only what concerns the whole group, such as a full disk: then nothing of it was applied.
    async fn commit(&self, crawl: CrawlId, group: Group) -> Result<Vec<CommitResult>, StoreError>;

    /// Marks durably that this request is about to be decoded and handled alone (S10). The commit of its outcome, whatever it
    /// says, or [`Store::close_crawl`] takes the mark away. A stale lease changes nothing and is an error.
    async fn mark_suspect(&self, crawl: CrawlId, request: RequestId, lease: Lease) -> Result<(), StoreError>;

    /// Marks durably that the listener is about to hear this event alone (S10). The mark counts for as long as the event waits, and goes with
    /// [`Store::close_crawl`]. If the process dies inside it three times, the next [`Store::open_crawl`] gives the event up: it waits no
    /// longer, and is counted as [`nephila_model::FailureCode::LISTENER_CRASHED_THE_HOST`]. A stale lease changes nothing and is an error.
    async fn mark_suspect_event(&self, crawl: CrawlId, event: EventId, lease: Lease) -> Result<(), StoreError>;

    /// Takes that mark away from an event that is not being heard any more and waits still: whatever the process dies of from here on, it is
    /// not that. Another event's mark stays. A stale lease changes nothing and is an error.
    async fn clear_suspect_event(&self, crawl: CrawlId, event: EventId, lease: Lease) -> Result<(), StoreError>;

    /// How many requests stand where. Costs the same however many there are (S6).
    async fn counts(&self, crawl: CrawlId) -> Result<Counts, StoreError>;

    /// The crawl's counters over all its starts.
    async fn statistics(&self, crawl: CrawlId) -> Result<Statistics, StoreError>;

    /// The crawl as it is now.
    async fn crawl(&self, crawl: CrawlId) -> Result<CrawlRecord, StoreError>;

    /// Kinds of errors with a sample each, the most frequent first, at most `limit`.
    async fn errors(&self, crawl: CrawlId, of: ErrorsOf, limit: usize) -> Result<Vec<ErrorSample>, StoreError>;

    /// What is known of these keys, for requests that are found at this depth. One answer each, in order.
    async fn standing(&self, crawl: CrawlId, keys: &[UniqueKey], depth: u32) -> Result<Vec<KeyStanding>, StoreError>;

    /// Which of these keys were accepted, ever (S1). One answer each, in order.
    async fn known(&self, crawl: CrawlId, keys: &[UniqueKey]) -> Result<Vec<bool>, StoreError> {
        Ok(self.standing(crawl, keys, u32::MAX).await?.into_iter().map(KeyStanding::is_known).collect())
    }

    /// Where the requests with these keys stand. One answer each, in order; `None` for one never accepted.
    async fn lookup(&self, crawl: CrawlId, keys: &[UniqueKey]) -> Result<Vec<Option<RequestStatus>>, StoreError>;

    /// Whether a handled request of this label ended at this final key already.
    async fn final_taken(&self, crawl: CrawlId, label: Option<&str>, key: UniqueKey) -> Result<bool, StoreError>;

    /// A state value and when it last changed; version 0 for a key without a value.
    async fn state_get(&self, crawler: &CrawlerId, key: &str) -> Result<StateRow, StoreError>;

    /// The keys that have a value, in order, and when one was last added or removed; those of auto-saved values apart.
    async fn state_keys(&self, crawler: &CrawlerId) -> Result<(Vec<String>, StateVersion), StoreError>;

    /// A value of a key-value store.
    async fn kv_get(&self, crawl: CrawlId, store: &KvStoreName, key: &str) -> Result<Option<KvValue>, StoreError>;

    /// Committed items after a cursor (0: from the beginning), at most `limit` and at most `max_bytes` of JSON, but one row at least if
    /// there is one, in the order of their sequence. A row that is committed later always has a greater sequence, so that a reader
    /// that goes on from the last one misses nothing. What is behind the cut is not read (S9).
    async fn dataset_slice(
        &self,
        crawl: CrawlId,
        dataset: &DatasetName,
        after: i64,
        limit: usize,
        max_bytes: usize,
    ) -> Result<DatasetSlice, StoreError>;

    /// Where a sink stands; `None` if it never wrote.
    async fn sink(&self, crawl: CrawlId, target: &str) -> Result<Option<SinkRecord>, StoreError>;

    /// Notes where a sink stands. Survives what a commit survives.
    async fn put_sink(&self, crawl: CrawlId, record: &SinkRecord) -> Result<(), StoreError>;

    /// Opens the session pool in this place: a new one, or the one that the store has there, the crawl's own or one that all crawls of
    /// the store share (S11). Uses that were reserved and of which no outcome came count as used: whoever had them may have asked a
    /// site. What an opening of the same pool has in hand meanwhile is only counted earlier: no use is ever counted twice, or given out twice.
    /// The crawl is told of sessions that are over by it, or by their age, as by [`Store::end_aged_sessions`]. Of the usable sessions it
    /// gives the newest, at most `limit`; the others stay in the store, and are not held in memory (S9).
    ///
    /// # Errors
    /// [`StoreError::Stale`]: the lease is another opening's (S4), and then nothing has changed. [`StoreError::NoCrawl`].
    async fn open_pool(
        &self,
        crawl: CrawlId,
        lease: Lease,
        place: &PoolPlace,
        now: Timestamp,
        limit: usize,
    ) -> Result<OpenedPool, StoreError>;

    /// How many sessions of a pool are not over, in memory or not; no more than `most` are counted. One that has reached its age counts until
    /// it is ended for it. Uncommitted ones do not.
    async fn usable_sessions(&self, pool: PoolId, most: usize) -> Result<usize, StoreError>;

    /// Writes a new session, as it is, with as many more uses reserved as it may have, at most `uses`. Takes a few away that have been
    /// over for long.
    ///
    /// # Errors
    /// [`StoreError::Stale`], [`StoreError::NoPool`] if the crawl has no such pool.
    async fn create_session(&self, user: PoolUser, session: &SessionRecord, uses: u32) -> Result<SessionCreated, StoreError>;

    /// Reserves uses of a session, at most `uses`, durably: none of them is ever given out again. `None` if the session has none
    /// left, is over, or is there no more.
    ///
    /// # Errors
    /// [`StoreError::Stale`], [`StoreError::NoPool`] if the crawl has no such pool.
    async fn reserve_uses(&self, user: PoolUser, session: &SessionId, uses: u32) -> Result<Option<UseRange>, StoreError>;

    /// Takes uses back that were reserved and not begun, so that they do not count as used when the pool is opened again. Only those at the end
    /// of what was reserved can be taken back; the order is to be such that the last ones of a session come first.
    ///
    /// # Errors
    /// [`StoreError::Stale`], [`StoreError::NoPool`] if the crawl has no such pool.
    async fn return_uses(&self, user: PoolUser, unused: &[(SessionId, UseRange)]) -> Result<(), StoreError>;

    /// A session with its cookies; `None` if there is none of that name (any more).
    async fn session(&self, pool: PoolId, session: &SessionId) -> Result<Option<SessionRecord>, StoreError>;

    /// All sessions of a pool with their cookies, the oldest first: the usable ones, and those that are over and were not taken
    /// away yet.
    async fn sessions(&self, pool: PoolId) -> Result<Vec<SessionRecord>, StoreError>;

    /// Ends sessions that have reached their age, at most `limit`; says how many. Each session that is over is told of once, as an event
    /// ([`nephila_model::SESSION_RETIRED`]) in the transaction that ends it: here, in [`Store::commit`] by the outcome of a use, a deferred
    /// one too, in [`Store::open_pool`] or in [`Store::purge_sessions`]. It waits for the crawl of that call like what plugins emit. A crawl
    /// whose finish is done is told by its outcomes, and otherwise only while it has requests pending.
    ///
    /// # Errors
    /// [`StoreError::Stale`], [`StoreError::NoPool`] if the crawl has no such pool.
    async fn end_aged_sessions(&self, user: PoolUser, now: Timestamp, limit: usize) -> Result<usize, StoreError>;

    /// Takes sessions away that are over (retired, blocked, too old, used up), at most `limit`, all but the newest `keep`. Says how
    /// many. As many that have reached their age are ended before. The work is bounded by `limit` and `keep`, however many there are (S6).
    ///
    /// # Errors
    /// [`StoreError::Stale`], [`StoreError::NoPool`] if the crawl has no such pool.
    async fn purge_sessions(&self, user: PoolUser, now: Timestamp, keep: usize, limit: usize) -> Result<usize, StoreError>;

    /// The whole state as one moment has it: keys and values, in the order of the keys, without auto-saved values. `None` if it has more than
    /// `max_bytes`; no more than these are read.
    async fn state_all(&self, crawler: &CrawlerId, max_bytes: usize) -> Result<Option<Vec<(String, String)>>, StoreError>;

    /// The beginning of the state, as one moment has it. What is left out is counted and not read.
    async fn state_excerpt(&self, crawler: &CrawlerId, size: ExcerptSize) -> Result<StateExcerpt, StoreError>;

    /// The auto-saved values of key-value stores that this crawler has, as one moment has them: JSON. `None` if they have more than `max_bytes`.
    async fn auto_saved(&self, crawler: &CrawlerId, max_bytes: usize) -> Result<Option<Vec<(AutoSaved, String)>>, StoreError>;

    /// Events that plugins of this crawl emitted and no listener has heard, behind `after` (0: all), the oldest first, at most `limit`. Each
    /// waits until an outcome of [`nephila_model::Subject::Event`] takes it away.
    async fn events(&self, crawl: CrawlId, after: EventId, limit: usize) -> Result<Vec<StoredEvent>, StoreError>;

    /// Makes everything durable and lets go of files. Later calls fail with [`StoreError::Closed`].
    async fn close(&self) -> Result<(), StoreError>;
}
