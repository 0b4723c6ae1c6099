//! What a crawl is made of, and how it is put together.

use crate::autoscaled_pool::Load;
use crate::block_pages::BlockPages;
use crate::bulletin::Bulletin;
use crate::committer::Commits;
use crate::companion::Companion;
use crate::control::{Progress, StopOrder};
use crate::failed_kinds::FailedKinds;
use crate::failure_log::FailureLog;
use crate::hardship::Hardship;
use crate::line::Line;
use crate::named_storages::NamedStorages;
use crate::reads::StoreReads;
use crate::session_desk::SessionDesk;
use crate::settings::{CrawlSettings, WhenIdle};
use crate::throttling::Throttling;
use nephila_events::Events;
use nephila_fetch::Fetcher;
use nephila_model::{CommitLimits, NewRequest, Profile, Shard, UniqueKey};
use nephila_plugin::{CallSettings, Plugin};
use nephila_session::BlockRule;
use nephila_store::{OpenedCrawl, Store, StoreError};
use std::sync::Arc;
use tokio::sync::{RwLock, Semaphore, watch};

/// Everything that a crawl needs.
pub struct CrawlSetup {
    /// The store, with the crawl opened in it.
    pub store: Arc<dyn Store>,
    /// The crawl.
    pub opened: OpenedCrawl,
    /// Look at its items on their way, one after another; after its own pipeline, if it has one.
    pub pipelines: Vec<Companion>,
    /// Hear its events, one after another; after its own listener, if it has one.
    pub listeners: Vec<Companion>,
    /// Understands pages. Another one may be put in its place while the crawl runs: requests that are claimed from then on are
    /// handled by it, those in flight by the one that they were claimed with, and its pipeline and its listener stay those that
    /// it began with.
    pub plugin: watch::Receiver<Arc<Plugin>>,
    /// Gets pages.
    pub fetcher: Arc<Fetcher>,
    /// How the crawl behaves.
    pub settings: Arc<CrawlSettings>,
    /// What all calls of the plugin have in common.
    pub call_settings: Arc<CallSettings>,
    /// Rules by which answers block or retire a session, beside the blocked statuses.
    pub block_rules: Vec<Arc<dyn BlockRule>>,
    /// Where it starts. Those that the queue knows already change nothing.
    pub starts: Vec<NewRequest>,
    /// Told when the crawl is to stop.
    pub stop: watch::Receiver<StopOrder>,
    /// Told where the crawl stands, about once a second.
    pub progress: watch::Sender<Progress>,
    /// Told how many items were committed by this start, after each commit that has some. Gone when the crawl has ended.
    pub items: watch::Sender<u64>,
    /// Who listens.
    pub events: Events,
    /// What the number of requests in flight goes by.
    pub load: Load,
    /// What becomes of what it writes under a name.
    pub named_storages: NamedStorages,
    /// Where this start's time goes.
    pub profile: Arc<Profile>,
}

impl CrawlSetup {
    pub(crate) fn commit_limits(&self) -> CommitLimits {
        CommitLimits { max_items: self.settings.max_items, max_requests: self.settings.max_requests }
    }

    /// Gives sessions, if the crawl uses them. A crawl that is over and gets nothing to do opens no pool: to start it again is to
    /// change nothing, and an opening settles uses and ends sessions.
    pub(crate) async fn sessions(&self) -> Result<Option<SessionDesk>, StoreError> {
        if self.is_over().await? {
            return Ok(None);
        }
        let crawl = (self.opened.record.id, self.opened.leases.of(Shard::CRAWL));
        let rules = self.block_rules.clone();
        SessionDesk::open(&self.store, crawl, &self.settings.sessions, rules).await
    }

    // Whether nothing can come any more: the finish is done, nothing is pending, nothing that it starts with is new, nobody hears
    // of anything, and nobody waits for requests.
    async fn is_over(&self) -> Result<bool, StoreError> {
        let hears = !self.listeners.is_empty() || self.plugin.borrow().entry_points().listener;
        if !self.opened.record.finish_done || hears || self.settings.when_idle == WhenIdle::Wait {
            return Ok(false);
        }
        let crawl = self.opened.record.id;
        if self.store.counts(crawl).await?.pending > 0 {
            return Ok(false);
        }
        let keys: Vec<UniqueKey> = self.starts.iter().map(|request| request.unique_key).collect();
        Ok(self.store.known(crawl, &keys).await?.into_iter().all(|is_known| is_known))
    }

    pub(crate) fn line(&self, commits: Commits, sessions: Option<SessionDesk>) -> Line {
        let reads = StoreReads {
            store: Arc::clone(&self.store),
            crawl: self.opened.record.id,
            crawler: self.opened.record.crawler_id.clone(),
        };
        let own = Companion { plugin: Arc::clone(&self.plugin.borrow()), call_settings: Arc::clone(&self.call_settings) };
        let with_own = |others: &[Companion]| std::iter::once(own.clone()).chain(others.to_vec());
        Line {
            pipelines: with_own(&self.pipelines).filter(|one| one.plugin.entry_points().pipeline).collect(),
            listeners: with_own(&self.listeners).filter(|one| one.plugin.entry_points().listener).collect(),
            store: Arc::clone(&self.store),
            crawl: self.opened.record.id,
            fetcher: Arc::clone(&self.fetcher),
            block_pages: sessions.as_ref().and_then(|_| BlockPages::new(&self.settings)),
            plugin: self.plugin.clone(),
            sessions,
            throttling: Throttling::default(),
            failed_kinds: FailedKinds::default(),
            failure_log: FailureLog::default(),
            commits,
            reads: Arc::new(reads),
            call_settings: Arc::clone(&self.call_settings),
            bulletin: Bulletin::new(self.events.clone(), self.opened.record.crawler_id.clone()),
            profile: Arc::clone(&self.profile),
            state: RwLock::new(()),
            handlers: Semaphore::new(self.settings.concurrency),
            hardship: Hardship::default(),
            settings: Arc::clone(&self.settings),
        }
    }
}
