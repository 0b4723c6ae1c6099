//! What every visit of a crawl shares: the stations of the line, and the locks between its visits (see also `handling.rs`).

use crate::block_pages::BlockPages;
use crate::bulletin::Bulletin;
use crate::committer::Commits;
use crate::companion::Companion;
use crate::failed_kinds::FailedKinds;
use crate::failure_log::FailureLog;
use crate::hardship::Hardship;
use crate::session_desk::SessionDesk;
use crate::settings::CrawlSettings;
use crate::throttling::Throttling;
use nephila_fetch::Fetcher;
use nephila_model::{CrawlId, Profile, QueuedRequest};
use nephila_plugin::{Call, CallSettings, ParsedPage, Plugin, Reads};
use nephila_store::Store;
use std::sync::Arc;
use tokio::sync::{RwLock, Semaphore, watch};

/// The stations of the line.
pub struct Line {
    /// The durable truth.
    pub store: Arc<dyn Store>,
    /// Which crawl of it.
    pub crawl: CrawlId,
    /// Gets pages.
    pub fetcher: Arc<Fetcher>,
    /// Look at items on their way, one after another.
    pub pipelines: Vec<Companion>,
    /// Hear events, one after another.
    pub listeners: Vec<Companion>,
    /// Understands them; the one of this moment.
    pub plugin: watch::Receiver<Arc<Plugin>>,
    /// Gives sessions, if the crawl uses them.
    pub sessions: Option<SessionDesk>,
    /// Knows which sites are asked too much.
    pub throttling: Throttling,
    /// Tells pages that are blocks, if they are looked for.
    pub block_pages: Option<BlockPages>,
    /// Knows of which failures no page is copied any more.
    pub failed_kinds: FailedKinds,
    /// Says which requests have failed.
    pub failure_log: FailureLog,
    /// Commits what comes of it.
    pub commits: Commits,
    /// How the crawl behaves.
    pub settings: Arc<CrawlSettings>,
    /// What a call of the plugin can see of the store.
    pub reads: Arc<dyn Reads>,
    /// What all calls of the plugin have in common.
    pub call_settings: Arc<CallSettings>,
    /// Tells who listens.
    pub bulletin: Bulletin,
    /// Where the time goes.
    pub profile: Arc<Profile>,
    /// Held by commits that change the state, exclusively by a call that must run alone.
    pub state: RwLock<()>,
    /// Calls of the plugin at once at most.
    pub handlers: Semaphore,
    /// Knows whether the machine has memory for them.
    pub hardship: Hardship,
}

impl Line {
    /// The plugin of this moment.
    pub fn plugin(&self) -> Arc<Plugin> {
        Arc::clone(&self.plugin.borrow())
    }

    /// A call of the plugin.
    pub fn call(&self, request: Option<Arc<QueuedRequest>>, page: Option<Arc<ParsedPage>>) -> Call {
        let pool = self.sessions.as_ref().map(SessionDesk::additions);
        let (reads, settings) = (Arc::clone(&self.reads), Arc::clone(&self.call_settings));
        Call { request, page, session: None, pool, reads, earlier: Vec::new(), settings }
    }
}
