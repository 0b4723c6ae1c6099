//! What people see who look at a job: where it stands, what went wrong, the beginning of its state.

use crate::{Counts, CrawlRecord};
use nephila_model::Statistics;
use serde::{Deserialize, Serialize};

/// Whether a crawl is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// A process works on it, as far as can be seen from outside.
    Running,
    /// Nobody does: it has ended, or its process died, or is at other crawls of the store.
    AtRest,
}

/// Where a job stands, as `nephila status` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStatus {
    /// The crawl.
    pub crawl: CrawlRecord,
    /// Whether a process has the job open now, for whichever of its crawls.
    pub in_use: bool,
    /// Whether this crawl is worked on.
    pub activity: Activity,
    /// How many requests stand where.
    pub counts: Counts,
    /// Its counters.
    pub statistics: Statistics,
    /// Up to twenty kinds of errors of requests that failed, with a sample each.
    pub errors: Vec<ErrorSample>,
    /// Up to twenty kinds of errors of attempts that were retried, with a sample each.
    pub retry_errors: Vec<ErrorSample>,
    /// The beginning of its state, of the default size.
    pub state: StateExcerpt,
}

/// A crawl of a job, where several are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawlSummary {
    /// The crawl.
    pub crawl: CrawlRecord,
    /// Whether it is worked on.
    pub activity: Activity,
    /// How many requests stand where.
    pub counts: Counts,
    /// Items in its default dataset.
    pub items: u64,
}

/// Whose errors are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorsOf {
    /// Those that requests failed for (Crawlee: `errors`).
    FailedRequests,
    /// Those of attempts that were retried, whatever came of it (Crawlee: `retryErrors`).
    RetriedAttempts,
}

/// A kind of error ([`nephila_model::ErrorKind`]) with one example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorSample {
    /// Its code.
    pub code: String,
    /// Where in the plugin's source, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// What the messages have in common; `None` for all errors of the code that have no kind of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// How often.
    pub count: u64,
    /// The URL of the first one.
    pub url: String,
    /// Its message.
    pub message: String,
    /// The key of its page in the crawl's default key-value store, if that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
}

/// How much of a state is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExcerptSize {
    /// Bytes of one value at most; a larger one is left out.
    pub value: usize,
    /// Bytes of all keys and values at most.
    pub all: usize,
}

impl Default for ExcerptSize {
    /// 16 KiB a value, 64 KiB in all: what a person can still look through.
    fn default() -> Self {
        Self { value: 16 << 10, all: 64 << 10 }
    }
}

/// The beginning of a state, for people.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StateExcerpt {
    /// Keys and their values (JSON), in the order of the keys.
    pub values: Vec<(String, String)>,
    /// Keys that are left out, because their values are too large or there was no room.
    pub left_out: u64,
}

/// A request that has failed for good, for people who look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedRequest {
    /// Its URL.
    pub url: String,
    /// The one that it was accepted with, if a redirect led it to another site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_url: Option<String>,
    /// Its label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How often it was tried: its retries, and the first time.
    pub attempts: u64,
    /// The last HTTP status, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The code that it failed with.
    pub code: String,
    /// The sentence.
    pub message: String,
}
