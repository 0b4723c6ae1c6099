//! What happens in a crawl when it is time to persist state.
//!
//! Decision: nothing is made durable here, for all of it is already. What Crawlee's users look for in the default key-value store
//! is written there in Crawlee's shapes, for people and for other programs: the state, the statistics and, where there is one,
//! the session pool, each as one moment of the crawl has it. Auto-saved values are shown in their own stores. Names are
//! Crawlee's, with the crawler's id, which is the same after a restart. The event manager waits until they are written.

use crate::line::Line;
use nephila_crawlee::{CrawlerStatistics, RecordKey, write_state};
use nephila_events::{Event, EventName, Events, Listener, ListenerId};
use nephila_model::{AutoSaved, Counter, CrawlerId, KeyValueWrite, KvStoreName, KvValue, Statistics, Timestamp};
use nephila_store::{CrawlRecord, ErrorSample, ErrorsOf, StoreError};
use serde_json::{Map, Value};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Errors that the statistics show, with a sample each.
pub const ERRORS: usize = 1_000;

/// Bytes of the state that are shown at most. What is more is in the store, and only there.
const SHOWN_STATE: usize = 16 << 20;

/// Bytes of auto-saved values that are shown at most.
const SHOWN_AUTO_SAVED: usize = 16 << 20;

/// Told when the records are written.
pub type Written = oneshot::Sender<()>;

/// Hears of `persistState` for a crawl.
pub struct Persistence {
    events: Events,
    listener: Option<ListenerId>,
    orders: mpsc::Receiver<Written>,
}

impl Persistence {
    /// Listens from now on.
    pub fn listen(events: &Events, crawler: &CrawlerId) -> Self {
        let (sender, orders) = mpsc::channel(1);
        let listener = Listener::new(move |_: Event| {
            let sender = sender.clone();
            async move {
                let (written, done) = oneshot::channel();
                // An error means that the crawl has ended, and has written its records then.
                if sender.send(written).await.is_ok() {
                    let _ = done.await;
                }
            }
        });
        let listener = events.on(EventName::PersistState, listener.named(format!("records of {crawler}")));
        let listener = listener.map(|subscription| subscription.id()).map_err(|error| {
            tracing::warn!(%error, "the crawl does not hear when to persist its records; they are written at its end alone");
        });
        Self { events: events.clone(), listener: listener.ok(), orders }
    }

    /// Waits until it is time; for ever if it never is.
    pub async fn next(&mut self) -> Written {
        match self.orders.recv().await {
            Some(written) => written,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Persistence {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.take() {
            self.events.off(EventName::PersistState, Some(listener));
        }
    }
}

/// The records as they are to be now.
///
/// # Errors
/// If the store cannot be read.
pub async fn records(line: &Line, finished_at: Option<Timestamp>) -> Result<Vec<KeyValueWrite>, StoreError> {
    let record = line.store.crawl(line.crawl).await?;
    let statistics = line.store.statistics(line.crawl).await?;
    let errors = ShownErrors {
        failed: line.store.errors(line.crawl, ErrorsOf::FailedRequests, ERRORS).await?,
        retried: line.store.errors(line.crawl, ErrorsOf::RetriedAttempts, ERRORS).await?,
    };
    let shown = shown_statistics(&record, &statistics, errors, finished_at);
    // First, so that a value which has the name of one of the crawl's own records does not hide it.
    let mut writes = auto_saved(line, &record.crawler_id).await?;
    match serde_json::to_vec_pretty(&shown.record(&record.crawler_id)) {
        Ok(bytes) => writes.push(json(&RecordKey::statistics(&record.crawler_id), bytes)),
        Err(error) => tracing::warn!(%error, "the statistics could not be written as JSON"),
    }
    writes.extend(state(line, &record.crawler_id).await?);
    if let Some(sessions) = &line.sessions {
        writes.extend(sessions.record().await);
    }
    Ok(writes)
}

// The most frequent kind of a code is found under the code; others also need their words, and their place.
fn by_kind(errors: Vec<ErrorSample>) -> Map<String, Value> {
    let mut shown = Map::new();
    for sample in errors {
        let ErrorSample { code, position, shape, .. } = &sample;
        let mut key = code.clone();
        if shown.contains_key(&key) {
            key = [Some(code), shape.as_ref(), position.as_ref()].into_iter().flatten().cloned().collect::<Vec<_>>().join(" · ");
        }
        if let Ok(value) = serde_json::to_value(&sample) {
            shown.entry(key).or_insert(value);
        }
    }
    shown
}

async fn state(line: &Line, crawler: &CrawlerId) -> Result<Option<KeyValueWrite>, StoreError> {
    let Some(values) = line.store.state_all(crawler, SHOWN_STATE).await? else {
        tracing::warn!(limit = SHOWN_STATE, "the state is too large to be shown in the key-value store; it is kept all the same");
        return Ok(None);
    };
    let mut text = Vec::new();
    match write_state(&mut text, values) {
        Ok(()) => Ok(Some(json(&RecordKey::state(crawler), text))),
        Err(error) => {
            tracing::warn!(%error, "the state could not be written as JSON");
            Ok(None)
        }
    }
}

// Each under the key of its record, in its store.
async fn auto_saved(line: &Line, crawler: &CrawlerId) -> Result<Vec<KeyValueWrite>, StoreError> {
    let Some(values) = line.store.auto_saved(crawler, SHOWN_AUTO_SAVED).await? else {
        tracing::warn!(
            limit = SHOWN_AUTO_SAVED,
            "the auto-saved values are too large to be shown in the key-value stores; they are kept all the same"
        );
        return Ok(Vec::new());
    };
    let shown = |(AutoSaved { store, key }, text): (AutoSaved, String)| {
        let value = KvValue { content_type: JSON.to_owned(), value: text.into_bytes().into() };
        KeyValueWrite { store, key, value: Some(value) }
    };
    Ok(values.into_iter().map(shown).collect())
}

const JSON: &str = "application/json; charset=utf-8";

fn json(key: &RecordKey, bytes: Vec<u8>) -> KeyValueWrite {
    let value = KvValue { content_type: JSON.to_owned(), value: bytes.into() };
    KeyValueWrite { store: KvStoreName::Default, key: key.as_str().to_owned(), value: Some(value) }
}

/// Errors by their kind, each with a sample.
#[derive(Debug, Default)]
pub struct ShownErrors {
    /// Of requests that failed for good.
    pub failed: Vec<ErrorSample>,
    /// Of attempts that were tried again.
    pub retried: Vec<ErrorSample>,
}

/// The statistics in Crawlee's words, as the record `__CRAWLER_STATISTICS_<id>` shows them.
#[must_use]
pub fn shown_statistics(
    record: &CrawlRecord,
    statistics: &Statistics,
    errors: ShownErrors,
    finished_at: Option<Timestamp>,
) -> CrawlerStatistics {
    let (errors, retry_errors) = (by_kind(errors.failed), by_kind(errors.retried));
    CrawlerStatistics { errors, retry_errors, ..of_crawl(record, statistics, finished_at) }
}

fn of_crawl(record: &CrawlRecord, statistics: &Statistics, finished_at: Option<Timestamp>) -> CrawlerStatistics {
    let get = |counter| statistics.get(&counter);
    let millis = |counter| Duration::from_millis(get(counter));
    let mut shown = CrawlerStatistics {
        requests_finished: get(Counter::Finished),
        requests_failed: get(Counter::Failed),
        requests_retries: get(Counter::Retries),
        request_min_duration: statistics.find(&Counter::LeastFinishedMillis).map(Duration::from_millis),
        request_max_duration: statistics.find(&Counter::MostFinishedMillis).map(Duration::from_millis),
        request_total_failed_duration: millis(Counter::FailedMillis),
        request_total_finished_duration: millis(Counter::FinishedMillis),
        requests_attempts: statistics.attempts(),
        request_total_attempts_duration: Duration::from_millis(statistics.attempt_millis()),
        crawler_started_at: Some(record.created_at),
        crawler_last_started_at: Some(record.opened_at),
        crawler_finished_at: finished_at,
        crawler_runtime: millis(Counter::RuntimeMillis),
        stats_persisted_at: Some(Timestamp::now()),
        ..CrawlerStatistics::default()
    };
    for (counter, count) in statistics.iter() {
        match counter {
            Counter::Status(status) => {
                shown.requests_with_status_code.insert(*status, count);
            }
            Counter::EndedAfterRetries(retries) => {
                // A request has no more retries than this many.
                let place = usize::try_from(*retries).unwrap_or(usize::MAX).min(10_000);
                let histogram = &mut shown.request_retry_histogram;
                histogram.resize(histogram.len().max(place + 1), 0);
                histogram[place] += count;
            }
            _ => {}
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_one_code_do_not_hide_each_other() {
        let sample = |code: &str, position: Option<&str>, shape: Option<&str>, count| ErrorSample {
            code: code.to_owned(),
            position: position.map(str::to_owned),
            shape: shape.map(str::to_owned),
            count,
            url: "https://a.example/".to_owned(),
            message: "no".to_owned(),
            snapshot: None,
        };
        let (here, there) = (Some("a.js:1:2"), Some("a.js:3:4"));
        let shown = by_kind(vec![
            sample("exception", here, Some("no price"), 7),
            sample("status", None, Some("<url> answered"), 5),
            sample("exception", there, Some("no price"), 3),
            sample("exception", None, Some("no title"), 2),
        ]);
        let counts: Vec<_> = shown.iter().map(|(key, value)| (key.as_str(), value["count"].as_u64())).collect();
        let mut expected = [
            ("exception", Some(7)),
            ("exception · no price · a.js:3:4", Some(3)),
            ("exception · no title", Some(2)),
            ("status", Some(5)),
        ];
        expected.sort_unstable();
        let mut counts = counts;
        counts.sort_unstable();
        assert_eq!(counts, expected);
    }
}
