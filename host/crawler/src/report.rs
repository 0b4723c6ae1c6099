//! What a crawl came to.

use crate::profile_log::ProfileLog;
use nephila_model::Statistics;
use nephila_store::{Counts, CrawlRecord, ErrorSample, StateExcerpt};
use std::fmt;
use std::time::Duration;

/// The states that an opening of a crawl can end in (Apify's run statuses, and one for what can be resumed).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words are those of docs/cli.md")]
pub enum CrawlStatus {
    Paused,
    Succeeded,
    Failed,
}

impl CrawlStatus {
    /// As people and scripts see it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paused => "PAUSED",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
        }
    }
}

/// Why a crawl ended (Scrapy: `finish_reason`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishReason {
    /// The queue is empty.
    Finished,
    /// `max-items` was reached.
    MaxItems,
    /// `max-requests` was reached.
    MaxRequests,
    /// `max-time` is over.
    MaxTime,
    /// The plugin asked for it, with its reason.
    StoppedByPlugin(String),
    /// A signal; the pages in hand were finished.
    Signal,
    /// A second signal, or the end of the grace; pages in hand were dropped and are pending.
    SignalForced,
    /// A request failed for good, and `abort-on-error` is set; with which one and why.
    AbortOnError(String),
    /// The queue is empty, but events wait that a listener could not hear because the host was at fault.
    EventsUnheard,
    /// The machine had no memory for sandboxes, again and again; with what was said of it.
    NoMemory(String),
    /// The finish entry point failed, with what it said.
    FinishFailed(String),
    /// Another process has taken the crawl over.
    TakenOver,
    /// The store failed.
    StoreFailed(String),
    /// An output failed.
    OutputFailed(String),
}

impl FinishReason {
    /// A stable word.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::MaxItems => "max-items",
            Self::MaxRequests => "max-requests",
            Self::MaxTime => "max-time",
            Self::StoppedByPlugin(_) => "stopped-by-plugin",
            Self::Signal => "signal",
            Self::SignalForced => "signal-forced",
            Self::AbortOnError(_) => "abort-on-error",
            Self::EventsUnheard => "events-unheard",
            Self::NoMemory(_) => "no-memory",
            Self::FinishFailed(_) => "finish-failed",
            Self::TakenOver => "taken-over",
            Self::StoreFailed(_) => "store-failed",
            Self::OutputFailed(_) => "output-failed",
        }
    }

    /// The state that a crawl is in after it.
    #[must_use]
    pub const fn status(&self) -> CrawlStatus {
        match self {
            Self::Finished | Self::MaxItems | Self::MaxRequests | Self::MaxTime | Self::StoppedByPlugin(_) => {
                CrawlStatus::Succeeded
            }
            Self::Signal
            | Self::SignalForced
            | Self::EventsUnheard
            | Self::NoMemory(_)
            | Self::TakenOver
            | Self::StoreFailed(_)
            | Self::OutputFailed(_) => CrawlStatus::Paused,
            Self::AbortOnError(_) | Self::FinishFailed(_) => CrawlStatus::Failed,
        }
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished => f.write_str("the queue is empty"),
            Self::MaxItems => f.write_str("max-items was reached"),
            Self::MaxRequests => f.write_str("max-requests was reached"),
            Self::MaxTime => f.write_str("max-time is over"),
            Self::StoppedByPlugin(reason) => write!(f, "the plugin stopped it: {reason}"),
            Self::Signal => f.write_str("stopped by a signal; the pages in hand were finished"),
            Self::SignalForced => f.write_str("stopped at once; the pages in hand are pending"),
            Self::AbortOnError(failed) => write!(f, "{failed}, and abort-on-error is set; what is pending stays pending"),
            Self::EventsUnheard => f.write_str(
                "the queue is empty, but events wait that could not be heard, because the host was at fault, as the log says",
            ),
            Self::NoMemory(cause) => write!(f, "no page could be handled any more: {cause}"),
            Self::FinishFailed(cause) => write!(f, "the finish entry point failed: {cause}"),
            Self::TakenOver => f.write_str("another process has taken this crawl over"),
            Self::StoreFailed(cause) | Self::OutputFailed(cause) => f.write_str(cause),
        }
    }
}

/// What a crawl came to, over all its starts.
#[derive(Debug, Clone)]
pub struct CrawlReport {
    /// The crawl as the store keeps it.
    pub record: CrawlRecord,
    /// Why it ended.
    pub reason: FinishReason,
    /// Requests by state.
    pub counts: Counts,
    /// Counters.
    pub statistics: Statistics,
    /// Errors that requests failed for, with a sample each.
    pub errors: Vec<ErrorSample>,
    /// Errors of attempts that were retried, with a sample each.
    pub retry_errors: Vec<ErrorSample>,
    /// The beginning of its state.
    pub state: StateExcerpt,
    /// How long this start ran.
    pub elapsed: Duration,
    /// Time on a processor inside the plugin, in this start.
    pub plugin_cpu: Duration,
    /// Where this start's time went.
    pub profile: ProfileLog,
    /// Whether this start found nothing to do.
    pub idle: bool,
}

impl CrawlReport {
    /// Whether the same command goes on from here.
    #[must_use]
    pub fn is_resumable(&self) -> bool {
        self.reason.status() == CrawlStatus::Paused
    }

    /// Failed requests among those that were finished or failed; 0 if there were none.
    #[must_use]
    pub fn failed_ratio(&self) -> f64 {
        let ended = self.counts.handled + self.counts.failed;
        if ended == 0 { 0.0 } else { self.counts.failed as f64 / ended as f64 }
    }
}
