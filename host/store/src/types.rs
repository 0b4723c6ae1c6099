//! What goes in and out of a store besides the data of `nephila-model`.

use nephila_model::{
    CrawlId, CrawlerId, Epoch, EventId, Lease, PoolId, QueuedRequest, RequestId, RequestState, SessionRecord, Shard, SiteBy,
    SiteId, SiteKey, StateVersion, Timestamp, UseRange,
};
use serde::{Deserialize, Serialize};

/// Whether a store may hold crawls of other plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// A job folder: one plugin's. Another plugin's crawl in it is refused (S8).
    Alone,
    /// Many crawls, told apart by their crawler ids (S11).
    Shared,
}

/// In which order requests of equal priority are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CrawlOrder {
    /// First in, first out: breadth first. The default.
    #[default]
    Fifo,
    /// Last in, first out: depth first.
    Lifo,
}

/// Which crawl is to be opened, and how it is set. What is fixed when it is made is compared when it is opened again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawlSpec {
    /// Whether others may be in the store.
    pub company: Company,
    /// The crawler id (`--id`): with the store, the crawl's identity.
    pub crawler_id: CrawlerId,
    /// The plugin's name. Another one is refused.
    pub plugin_name: String,
    /// SHA-256 of the component, in hexadecimal. Another one is an upgrade: noted, allowed.
    pub plugin_digest: String,
    /// What is one site. Fixed.
    pub site_by: SiteBy,
    /// Order among equal priorities. May change: it acts on requests accepted from then on.
    pub order: CrawlOrder,
    /// Bytes of a state value at most.
    pub max_state_value: usize,
}

/// A crawl as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CrawlRecord {
    /// Its row.
    pub id: CrawlId,
    /// The crawler id.
    pub crawler_id: CrawlerId,
    /// The plugin's name.
    pub plugin_name: String,
    /// The plugin's digest at the last opening.
    pub plugin_digest: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last opened.
    pub opened_at: Timestamp,
    /// How often it was opened.
    pub openings: u64,
    /// How the last opening ended; `None` while it runs, or if it died.
    pub ending: Option<CrawlEnding>,
    /// Whether the finish entry point has been called and committed.
    pub finish_done: bool,
    /// The last status message that the plugin set.
    pub status_message: Option<String>,
    /// The reason that the plugin gave to stop the crawl, until the next opening.
    pub stop_reason: Option<String>,
}

/// How an opening of a crawl ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CrawlEnding {
    /// The status (SUCCEEDED, ABORTED, …; the words of cli.md).
    pub status: String,
    /// Why it ended (`finished`, `max-items`, `signal`, …).
    pub reason: String,
    /// When.
    pub at: Timestamp,
    /// What became of the requests in hand.
    pub in_hand: InHand,
}

/// What became of the requests that were in hand when an opening of a crawl ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InHand {
    /// They were finished and committed, or there were none.
    Finished,
    /// Fetches that were on their way were dropped; they may have reached their sites.
    Dropped,
}

/// All shards of a crawl, taken at once. A store that leases shards one by one gives each its own epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leases {
    epoch: Epoch,
}

impl Leases {
    /// Every shard at one epoch.
    #[must_use]
    pub const fn all_at(epoch: Epoch) -> Self {
        Self { epoch }
    }

    /// The lease on a shard.
    #[must_use]
    pub const fn of(&self, shard: Shard) -> Lease {
        Lease { shard, epoch: self.epoch }
    }
}

/// A crawl that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedCrawl {
    /// The crawl as it is now.
    pub record: CrawlRecord,
    /// The right to decide about its sites.
    pub leases: Leases,
    /// Whether it is new: nothing was ever accepted.
    pub fresh: bool,
    /// What the openings before this one left behind.
    pub left: LeftBehind,
    /// Requests that this opening failed, since the process died too often while it handled them (S10): no outcome tells of them.
    pub given_up: u64,
    /// How the opening before this one ended, if it was closed.
    pub previous_ending: Option<CrawlEnding>,
    /// The digest of the plugin of the opening before, if it was another.
    pub upgraded_from: Option<String>,
}

/// Sessions of a pool that are over and are kept to be looked at, at least.
pub const KEPT_SESSIONS: usize = 1_000;

/// What the openings of a crawl before the present one left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftBehind {
    /// Nothing: the crawl is new, or was closed with everything in hand finished.
    Nothing,
    /// It was closed, but fetches that were on their way were dropped and may have reached their sites: each site waits its full delay
    /// first (S7).
    DroppedFetches,
    /// An earlier opening died: each site waits its full delay first (S7), and the first claims are suspects (S10).
    Crash,
}

/// By what sites are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteOrder {
    /// The highest priority among a site's ready requests first; among equals as [`SiteOrder::ByTurn`].
    ByHead,
    /// The site that was served longest ago first: no ready site waits for ever.
    ByTurn,
}

/// A site that has ready requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteHead {
    /// Its row.
    pub id: SiteId,
    /// Its name.
    pub key: SiteKey,
    /// The highest priority among its ready requests.
    pub head_priority: i32,
    /// When it may be asked next, as of the last commit.
    pub next_allowed: Timestamp,
}

/// The head of a site's queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteWindow {
    /// Ready requests in the site's order.
    pub requests: Vec<QueuedRequest>,
    /// Whether these are all.
    pub complete: bool,
    /// The newest request of the store when the window was read: one that was accepted later was not seen.
    pub newest: RequestId,
}

/// What [`crate::Store::wake_due`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Woken {
    /// Sites that gained ready requests, whether they had some before or not, with their heads.
    pub sites: Vec<SiteHead>,
    /// When the next request is due; `None` if none waits for a time. In the past if `limit` cut the list.
    pub next_due: Option<Timestamp>,
}

/// How many requests stand where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Waiting, in flight ones included.
    pub pending: u64,
    /// Done.
    pub handled: u64,
    /// Given up.
    pub failed: u64,
    /// Set aside.
    pub skipped: u64,
}

/// A state value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateRow {
    /// JSON; `None` if the key has no value.
    pub value: Option<String>,
    /// When it last changed.
    pub version: StateVersion,
}

/// A part of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DatasetSlice {
    /// The rows, oldest first.
    pub rows: Vec<DatasetRow>,
    /// Whether there are more after the last one: the slice was cut at its rows or its bytes.
    pub more: bool,
}

/// A committed item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetRow {
    /// Its place in the dataset; the cursor after it.
    pub sequence: i64,
    /// Its identity: hash of dataset, label, final key and ordinal, 32 hexadecimal digits. The same page crawled again gives the same.
    pub id: String,
    /// The item, a JSON object in one line.
    pub json: String,
}

/// An event that waits for a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its number; it tells it from all others that the store ever had.
    pub id: EventId,
    /// Its name.
    pub name: String,
    /// What is said about it: JSON.
    pub payload: String,
    /// When the call that emitted it was committed.
    pub emitted_at: Timestamp,
}

/// A request of a crawl, wherever it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRequest {
    /// The request.
    pub request: QueuedRequest,
    /// Where it stands.
    pub state: RequestState,
    /// The URL that answered, if it ended at another one than it was asked for.
    pub final_url: Option<String>,
}

/// Where a sink stands. Opaque to the store but for `target`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkRecord {
    /// What it writes to, as its kind names it: its identity within the crawl.
    pub target: String,
    /// The sequence of the last row that it has written for good.
    pub cursor: i64,
    /// What its kind must remember, as JSON.
    pub state: String,
}

/// A session pool that was opened.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedPool {
    /// Its row.
    pub id: PoolId,
    /// Its sessions that are usable, with their cookies, the oldest first.
    pub sessions: Vec<SessionRecord>,
}

/// Who changes a session pool: a crawl, by its lease on itself. Once another has taken the crawl over, it changes nothing (S4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUser {
    /// The pool, which is the crawl's own or shared.
    pub pool: PoolId,
    /// The crawl.
    pub crawl: CrawlId,
    /// Its lease on [`nephila_model::Shard::CRAWL`].
    pub lease: Lease,
}

/// What became of a new session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionCreated {
    /// It is there, with these uses reserved; `None` if it has none.
    Made(Option<UseRange>),
    /// There is one of its name already; nothing has changed.
    NameTaken,
}
