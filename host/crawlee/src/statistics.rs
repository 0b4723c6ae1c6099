//! `__CRAWLER_STATISTICS_<id>`: a crawler's statistics (Crawlee: `StatisticsState`).
//!
//! Decision: what can be computed is computed when it is written, and never read back: totals, averages and rates cannot disagree
//! with what they come from. Reading takes what both implementations write, and leaves out what it does not know. What Crawlee leaves
//! at zero (the rates) we fill; what it fills with something else than its name says (`requestsRetries`: requests that had retries)
//! the caller fills as he likes.
//!
//! Crawlee for Python does not read the running time. It takes the time between the last start and the end for it, so that a run
//! that was stopped and resumed looks shorter there than it was.

use crate::state::is_reset;
use crate::time::{millis, millis_or_null, rounded, time_or_null};
use crate::{CrawleeError, Record};
use nephila_model::{CrawlerId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// What a record of statistics should be, for people.
const WANTED: &str = "statistics of a crawler";

/// A crawler's statistics. Fields that a file does not have are zero, empty or `None`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CrawlerStatistics {
    /// Requests handled.
    pub requests_finished: u64,
    /// Requests given up.
    pub requests_failed: u64,
    /// Retries, each one. (Crawlee counts requests that had at least one.)
    pub requests_retries: u64,
    /// The shortest attempt that finished a request.
    #[serde(rename = "requestMinDurationMillis", with = "millis_or_null")]
    pub request_min_duration: Option<Duration>,
    /// The longest attempt that finished a request.
    #[serde(rename = "requestMaxDurationMillis", with = "millis_or_null")]
    pub request_max_duration: Option<Duration>,
    /// Of all last attempts of requests that failed.
    #[serde(rename = "requestTotalFailedDurationMillis", with = "millis")]
    pub request_total_failed_duration: Duration,
    /// Of all last attempts of requests that finished.
    #[serde(rename = "requestTotalFinishedDurationMillis", with = "millis")]
    pub request_total_finished_duration: Duration,
    /// Attempts that have ended, whatever came of them. Ours: Crawlee has the last one of each request alone.
    pub requests_attempts: u64,
    /// Of all of these. Ours, too.
    #[serde(rename = "requestTotalAttemptsDurationMillis", with = "millis")]
    pub request_total_attempts_duration: Duration,
    /// When the crawler was started for the first time.
    #[serde(with = "time_or_null")]
    pub crawler_started_at: Option<Timestamp>,
    /// When it was started for the last time.
    #[serde(rename = "crawlerLastStartTimestamp", with = "time_or_null")]
    pub crawler_last_started_at: Option<Timestamp>,
    /// When it ended; `None` while it runs.
    #[serde(with = "time_or_null")]
    pub crawler_finished_at: Option<Timestamp>,
    /// How long it has run, over all starts.
    #[serde(rename = "crawlerRuntimeMillis", with = "millis")]
    pub crawler_runtime: Duration,
    /// Errors of requests that failed, grouped. Crawlee prescribes nothing, and Crawlee for Python leaves it empty.
    pub errors: Map<String, Value>,
    /// Errors of attempts that were retried, grouped.
    pub retry_errors: Map<String, Value>,
    /// Responses by their status.
    pub requests_with_status_code: BTreeMap<u16, u64>,
    /// When this was written. Crawlee for Python puts the present in its place whenever it writes.
    #[serde(with = "time_or_null")]
    pub stats_persisted_at: Option<Timestamp>,
    /// How many requests ended after no retry, after one, after two …
    pub request_retry_histogram: Vec<u64>,
}

/// As it is written: with what is computed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    stats_id: Option<u64>,
    #[serde(flatten)]
    statistics: &'a CrawlerStatistics,
    requests_finished_per_minute: f64,
    requests_failed_per_minute: f64,
    request_total_duration_millis: u64,
    request_avg_failed_duration_millis: Option<u64>,
    request_avg_finished_duration_millis: Option<u64>,
    request_avg_attempt_duration_millis: Option<u64>,
    requests_total: u64,
}

impl CrawlerStatistics {
    /// The record in Crawlee's shape, for [`crate::KeyValueWriter::put_json`].
    ///
    /// `statsId` is a number in Crawlee for Python: it is the crawler's id if that is one, and else `null`.
    #[must_use]
    pub fn record<'a>(&'a self, id: &CrawlerId) -> impl Serialize + 'a {
        let per_minute = |count: u64| {
            let minutes = self.crawler_runtime.as_secs_f64() / 60.0;
            // Two digits are more than a rate has meaning.
            if minutes > 0.0 { (count as f64 / minutes * 100.0).round() / 100.0 } else { 0.0 }
        };
        let average = |total: Duration, count: u64| {
            let seconds = total.as_secs_f64() / count as f64;
            Duration::try_from_secs_f64(seconds).ok().map(rounded)
        };
        let (finished, failed) = (self.request_total_finished_duration, self.request_total_failed_duration);
        Written {
            stats_id: id.as_str().parse().ok(),
            statistics: self,
            requests_finished_per_minute: per_minute(self.requests_finished),
            requests_failed_per_minute: per_minute(self.requests_failed),
            request_total_duration_millis: rounded(finished.saturating_add(failed)),
            request_avg_failed_duration_millis: average(failed, self.requests_failed),
            request_avg_finished_duration_millis: average(finished, self.requests_finished),
            request_avg_attempt_duration_millis: average(self.request_total_attempts_duration, self.requests_attempts),
            requests_total: self.requests_finished.saturating_add(self.requests_failed),
        }
    }

    /// Reads what Crawlee or we wrote; `None` if it was reset.
    ///
    /// # Errors
    /// [`CrawleeError::Shape`] if a field that is known has a value of another kind.
    pub fn read(record: &Record) -> Result<Option<Self>, CrawleeError> {
        if is_reset(record) {
            return Ok(None);
        }
        let wrong = |cause| CrawleeError::Shape { key: record.key.to_string(), wanted: WANTED, cause };
        serde_json::from_slice(&record.bytes).map_err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MediaType, RecordKey};
    use serde_json::json;

    fn example() -> CrawlerStatistics {
        CrawlerStatistics {
            requests_finished: 90,
            requests_failed: 2,
            requests_retries: 7,
            request_min_duration: Some(Duration::from_millis(12)),
            request_max_duration: Some(Duration::from_millis(3_400)),
            request_total_failed_duration: Duration::from_millis(3_001),
            request_total_finished_duration: Duration::from_millis(45_000),
            requests_attempts: 100,
            request_total_attempts_duration: Duration::from_millis(50_040),
            crawler_started_at: Some(Timestamp::from_millis(1_785_585_600_000)),
            crawler_last_started_at: Some(Timestamp::from_millis(1_785_585_660_500)),
            crawler_finished_at: None,
            crawler_runtime: Duration::from_millis(90_000),
            errors: Map::from_iter([("timeout".to_owned(), json!({ "count": 2 }))]),
            retry_errors: Map::new(),
            requests_with_status_code: BTreeMap::from([(200, 90), (503, 9)]),
            stats_persisted_at: Some(Timestamp::from_millis(1_785_585_690_500)),
            request_retry_histogram: vec![88, 1, 3],
        }
    }

    fn id(id: &str) -> CrawlerId {
        CrawlerId::new(id).unwrap()
    }

    fn record(bytes: Vec<u8>) -> Record {
        Record { key: RecordKey::statistics(&id("a")), media_type: MediaType::json(), bytes }
    }

    #[test]
    fn all_fields_of_crawlees_are_written() {
        let written = serde_json::to_value(example().record(&id("books"))).unwrap();
        let expected = json!({
            "statsId": null,
            "requestsFinished": 90,
            "requestsFailed": 2,
            "requestsRetries": 7,
            "requestsFailedPerMinute": 1.33,
            "requestsFinishedPerMinute": 60.0,
            "requestMinDurationMillis": 12,
            "requestMaxDurationMillis": 3_400,
            "requestTotalFailedDurationMillis": 3_001,
            "requestTotalFinishedDurationMillis": 45_000,
            "crawlerStartedAt": "2026-08-01T12:00:00Z",
            "crawlerLastStartTimestamp": "2026-08-01T12:01:00.5Z",
            "crawlerFinishedAt": null,
            "errors": { "timeout": { "count": 2 } },
            "retryErrors": {},
            "requestsWithStatusCode": { "200": 90, "503": 9 },
            "statsPersistedAt": "2026-08-01T12:01:30.5Z",
            "requestRetryHistogram": [88, 1, 3],
            "crawlerRuntimeMillis": 90_000,
            "requestTotalDurationMillis": 48_001,
            "requestAvgFailedDurationMillis": 1_501,
            "requestAvgFinishedDurationMillis": 500,
            "requestsTotal": 92,
            "requestsAttempts": 100,
            "requestTotalAttemptsDurationMillis": 50_040,
            "requestAvgAttemptDurationMillis": 500,
        });
        assert_eq!(written, expected);
        assert_eq!(serde_json::to_value(example().record(&id("7"))).unwrap()["statsId"], 7);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let bytes = serde_json::to_vec_pretty(&example().record(&id("books"))).unwrap();
        assert_eq!(CrawlerStatistics::read(&record(bytes)).unwrap(), Some(example()));
    }

    #[test]
    fn a_crawler_that_has_done_nothing_has_no_averages() {
        let written = serde_json::to_value(CrawlerStatistics::default().record(&id("a"))).unwrap();
        for field in ["requestAvgFailedDurationMillis", "requestAvgFinishedDurationMillis", "requestMinDurationMillis"] {
            assert_eq!(written[field], Value::Null, "{field}");
        }
        assert_eq!(written["requestsFinishedPerMinute"], 0.0);
    }

    #[test]
    fn what_crawlee_for_python_writes_is_read() {
        let bytes = br#"{
            "statsId": 0, "requestsFinished": 1, "requestsFailed": 0, "requestsRetries": 0,
            "requestsFailedPerMinute": 0.0, "requestsFinishedPerMinute": 0.0,
            "requestMinDurationMillis": null, "requestMaxDurationMillis": 20.0,
            "requestTotalFailedDurationMillis": 0, "requestTotalFinishedDurationMillis": 20,
            "crawlerStartedAt": "2026-08-01T12:00:00.000123Z", "crawlerLastStartTimestamp": "2026-08-01T12:00:00Z",
            "crawlerFinishedAt": "2026-08-01T12:00:01.500Z", "errors": {}, "retryErrors": {},
            "requestsWithStatusCode": {"200": 1}, "statsPersistedAt": "2026-08-01T12:00:01.600Z",
            "requestRetryHistogram": [1], "crawlerRuntimeMillis": "PT1.5S", "requestTotalDurationMillis": 20,
            "requestAvgFailedDurationMillis": null, "requestAvgFinishedDurationMillis": 20, "requestsTotal": 1,
            "ofALaterVersion": [1]
        }"#;
        let read = CrawlerStatistics::read(&record(bytes.to_vec())).unwrap().unwrap();
        assert_eq!((read.requests_finished, read.crawler_runtime), (1, Duration::from_millis(1_500)));
        assert_eq!(read.crawler_finished_at, Some(Timestamp::from_millis(1_785_585_601_500)));
        assert_eq!((read.request_min_duration, read.request_max_duration), (None, Some(Duration::from_millis(20))));
    }

    #[test]
    fn what_is_missing_is_zero_what_was_reset_is_nothing_and_what_is_wrong_is_said() {
        assert_eq!(CrawlerStatistics::read(&record(b"{}".to_vec())).unwrap(), Some(CrawlerStatistics::default()));
        let reset = Record { media_type: MediaType::none(), ..record(Vec::new()) };
        assert_eq!(CrawlerStatistics::read(&reset).unwrap(), None);
        let error = CrawlerStatistics::read(&record(br#"{"requestsFinished": "many"}"#.to_vec())).unwrap_err();
        assert!(error.to_string().contains("`__CRAWLER_STATISTICS_a` is not statistics of a crawler"), "{error}");
    }
}
