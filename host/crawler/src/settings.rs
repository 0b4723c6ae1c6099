//! How a crawl behaves: the settings as values, with what they default to. `setting_names` has their names.

use crate::session_settings::SessionConfig;
use nephila_fetch::DEFAULT_USER_AGENT;
use nephila_model::SiteBy;
use nephila_store::CrawlOrder;
use std::num::NonZeroU32;
use std::time::Duration;

/// How a crawl behaves.
#[derive(Debug, Clone, PartialEq)]
pub struct CrawlSettings {
    /// Requests in flight at most. Those that wait longer than `slow_after` for their site do not count.
    pub concurrency: usize,
    /// Requests in flight at least, whatever the load (Crawlee: `minConcurrency`). Not above `concurrency`.
    pub min_concurrency: usize,
    /// Requests begun in a minute at most (Crawlee: `maxTasksPerMinute`).
    pub max_tasks_per_minute: Option<NonZeroU32>,
    /// Between the starts of two requests to one site.
    pub delay: Duration,
    /// What is one site.
    pub site_by: SiteBy,
    /// Order among equal priorities.
    pub order: CrawlOrder,
    /// Retries of a request at most, where it does not say itself (Crawlee: `maxRequestRetries`).
    pub max_retries: u32,
    /// Before the first retry; doubled for each further one.
    pub retry_delay: Duration,
    /// Between two tries at most.
    pub max_retry_delay: Duration,
    /// Redirects followed for one request at most.
    pub max_redirects: u32,
    /// Links between a start URL and a request at most.
    pub max_depth: Option<u32>,
    /// Items in the default dataset, after which the crawl ends.
    pub max_items: Option<u64>,
    /// Requests finished or failed, after which the crawl ends.
    pub max_requests: Option<u64>,
    /// How long this start of the crawl runs at most.
    pub max_time: Option<Duration>,
    /// Share of failed requests above which the exit code is 1.
    pub max_failed_ratio: f64,
    /// What the crawl does when a request fails for good (Crawlee: `abort_on_error`).
    pub when_failed: WhenFailed,
    /// What is kept of pages whose requests fail (Crawlee: `save_error_snapshots`).
    pub error_snapshots: ErrorSnapshots,
    /// For one fetch, from the first byte sent to the last received.
    pub request_timeout: Duration,
    /// For a connection to be made.
    pub connect_timeout: Duration,
    /// Without a byte.
    pub read_timeout: Duration,
    /// Of a decoded body.
    pub max_body_size: u64,
    /// Of a URL, in bytes.
    pub max_url_length: usize,
    /// After which a request that waits for its site no longer counts against `concurrency`.
    pub slow_after: Duration,
    /// Requests in flight at most, slow ones included.
    pub max_sockets: usize,
    /// For pages in hand after a signal to stop.
    pub shutdown_grace: Duration,
    /// Between two status messages (Crawlee: `statusMessageLoggingInterval`).
    pub status_interval: Duration,
    /// Left to the process after SIGTERM before it is killed and goes on elsewhere, if that is so.
    pub migration_grace: Option<Duration>,
    /// What the host calls itself.
    pub user_agent: String,
    /// Of a plugin's sandbox, over all its memories.
    pub plugin_memory: u64,
    /// Of processor time for one call of a plugin.
    pub plugin_cpu: Duration,
    /// Of time for one call of a plugin.
    pub plugin_time: Duration,
    /// Of time for one query of a page.
    pub query_timeout: Duration,
    /// Calls that one sandbox serves; 1 means a fresh one for each page.
    pub plugin_reuse: u32,
    /// Bytes of memory of a sandbox after a call, above which it serves no other.
    pub plugin_reuse_memory: u64,
    /// Bytes of a state value at most.
    pub max_state_value: usize,
    /// What the crawl does when its queue is empty (Crawlee: `keepAlive`).
    pub when_idle: WhenIdle,
    /// How it uses sessions.
    pub sessions: SessionConfig,
    /// Whether commits survive loss of power too, not only the end of the process.
    pub power_loss: PowerLoss,
}

/// What a crawl does when its queue is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenIdle {
    /// Calls the plugin's `finish` and ends. The default.
    #[default]
    Finish,
    /// Waits for requests that listeners bring, until it is stopped or a limit is reached.
    Wait,
}

/// What a crawl does when a request fails for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFailed {
    /// Goes on. The default.
    #[default]
    GoOn,
    /// Ends, once the pages in hand are done. The same crawl goes on from there when it is opened again.
    Abort,
}

/// What is kept of pages whose requests fail for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ErrorSnapshots {
    /// Nothing. The default.
    #[default]
    None,
    /// The page of the first failure of each kind, in the crawl's default key-value store.
    FirstOfEachKind,
}

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PowerLoss {
    /// The end of the process. The default.
    #[default]
    Ignored,
    /// Loss of power, too; every group waits for the disk.
    Survived,
}

impl Default for CrawlSettings {
    fn default() -> Self {
        Self {
            concurrency: 16,
            min_concurrency: 1,
            max_tasks_per_minute: None,
            delay: Duration::from_secs(1),
            site_by: SiteBy::Hostname,
            order: CrawlOrder::Fifo,
            max_retries: 3,
            retry_delay: Duration::from_secs(1),
            max_retry_delay: Duration::from_secs(60),
            max_redirects: 20,
            max_depth: None,
            max_items: None,
            max_requests: None,
            max_time: None,
            max_failed_ratio: 1.0,
            when_failed: WhenFailed::GoOn,
            error_snapshots: ErrorSnapshots::None,
            request_timeout: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            max_body_size: 32 << 20,
            max_url_length: 2_083,
            slow_after: Duration::from_secs(2),
            max_sockets: 1_024,
            shutdown_grace: Duration::from_secs(8),
            status_interval: Duration::from_secs(10),
            migration_grace: None,
            user_agent: DEFAULT_USER_AGENT.to_owned(),
            plugin_memory: 128 << 20,
            plugin_cpu: Duration::from_secs(5),
            plugin_time: Duration::from_secs(60),
            query_timeout: Duration::from_secs(2),
            plugin_reuse: 1,
            plugin_reuse_memory: 64 << 20,
            max_state_value: 256 << 10,
            when_idle: WhenIdle::Finish,
            sessions: SessionConfig::default(),
            power_loss: PowerLoss::Ignored,
        }
    }
}
