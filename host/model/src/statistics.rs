//! What is counted. Deltas travel with outcomes and are committed with them, so that statistics never disagree with the work.

use crate::Step;
use std::collections::BTreeMap;
use std::fmt;

/// Something that is counted. The names are stored: they never change their meaning.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Counter {
    /// Requests accepted into the queue.
    Requests,
    /// Requests handled.
    Finished,
    /// Requests given up.
    Failed,
    /// Requests set aside, by reason.
    Skipped(String),
    /// Requests refused before acceptance, by reason.
    Refused(String),
    /// Retries (each one, not requests that had some).
    Retries,
    /// Tries with another session, because a site had blocked the one before (Crawlee: `session_rotation_count`, over all requests). They
    /// are no retries.
    SessionRotations,
    /// Requests that ended (finished or failed) after this many retries (Crawlee: `retryHistogram`).
    EndedAfterRetries(u32),
    /// Fetches made, each redirect hop counted.
    Fetches,
    /// Items in the crawl's default dataset.
    Items,
    /// Items in a named dataset.
    ItemsOf(String),
    /// Responses by status, each hop counted.
    Status(u16),
    /// Bytes of decoded bodies.
    BodyBytes,
    /// Milliseconds from claim to commit of the last attempt of finished requests.
    FinishedMillis,
    /// The same of failed requests.
    FailedMillis,
    /// Microseconds on a processor inside the plugin.
    PluginMicros,
    /// Microseconds that a step took, over all requests.
    StepMicros(Step),
    /// Errors by code, retried ones included.
    Error(String),
    /// Milliseconds that the crawl has run, over all its starts.
    RuntimeMillis,
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requests => f.write_str("requests"),
            Self::Finished => f.write_str("finished"),
            Self::Failed => f.write_str("failed"),
            Self::Skipped(reason) => write!(f, "skipped:{reason}"),
            Self::Refused(reason) => write!(f, "refused:{reason}"),
            Self::Retries => f.write_str("retries"),
            Self::SessionRotations => f.write_str("session-rotations"),
            Self::EndedAfterRetries(count) => write!(f, "ended-after-retries:{count}"),
            Self::Fetches => f.write_str("fetches"),
            Self::Items => f.write_str("items"),
            Self::ItemsOf(dataset) => write!(f, "items-of:{dataset}"),
            Self::Status(status) => write!(f, "status:{status}"),
            Self::BodyBytes => f.write_str("body-bytes"),
            Self::FinishedMillis => f.write_str("finished-millis"),
            Self::FailedMillis => f.write_str("failed-millis"),
            Self::PluginMicros => f.write_str("plugin-micros"),
            Self::StepMicros(step) => write!(f, "step-micros:{step}"),
            Self::Error(code) => write!(f, "error:{code}"),
            Self::RuntimeMillis => f.write_str("runtime-millis"),
        }
    }
}

impl Counter {
    /// From its stored name; `None` for one that a newer version wrote.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.split_once(':') {
            None => match name {
                "requests" => Self::Requests,
                "finished" => Self::Finished,
                "failed" => Self::Failed,
                "retries" => Self::Retries,
                "session-rotations" => Self::SessionRotations,
                "fetches" => Self::Fetches,
                "items" => Self::Items,
                "body-bytes" => Self::BodyBytes,
                "finished-millis" => Self::FinishedMillis,
                "failed-millis" => Self::FailedMillis,
                "plugin-micros" => Self::PluginMicros,
                "runtime-millis" => Self::RuntimeMillis,
                _ => return None,
            },
            Some(("skipped", reason)) => Self::Skipped(reason.to_owned()),
            Some(("refused", reason)) => Self::Refused(reason.to_owned()),
            Some(("ended-after-retries", count)) => Self::EndedAfterRetries(count.parse().ok()?),
            Some(("items-of", dataset)) => Self::ItemsOf(dataset.to_owned()),
            Some(("step-micros", step)) => Self::StepMicros(Step::parse(step)?),
            Some(("status", status)) => Self::Status(status.parse().ok()?),
            Some(("error", code)) => Self::Error(code.to_owned()),
            Some(_) => return None,
        })
    }
}

/// Changes of counters. Deltas add up in any order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatsDelta(BTreeMap<Counter, i64>);

impl StatsDelta {
    /// Counts.
    pub fn add(&mut self, counter: Counter, by: i64) {
        if by != 0 {
            *self.0.entry(counter).or_default() += by;
        }
    }

    /// Adds another delta to this one.
    pub fn merge(&mut self, other: &Self) {
        for (counter, by) in &other.0 {
            self.add(counter.clone(), *by);
        }
    }

    /// The changes, in the counters' order.
    pub fn iter(&self) -> impl Iterator<Item = (&Counter, i64)> {
        self.0.iter().map(|(counter, by)| (counter, *by))
    }

    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A crawl's counters, over all its starts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statistics(BTreeMap<Counter, i64>);

impl Statistics {
    /// From stored counters.
    #[must_use]
    pub fn from_counters(counters: impl IntoIterator<Item = (Counter, i64)>) -> Self {
        Self(counters.into_iter().collect())
    }

    /// A counter's value; 0 if it was never counted.
    #[must_use]
    pub fn get(&self, counter: &Counter) -> u64 {
        self.0.get(counter).copied().and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
    }

    /// Applies a delta.
    pub fn apply(&mut self, delta: &StatsDelta) {
        for (counter, by) in delta.iter() {
            *self.0.entry(counter.clone()).or_default() += by;
        }
    }

    /// All counters, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&Counter, u64)> {
        self.0.iter().map(|(counter, value)| (counter, u64::try_from(*value).unwrap_or(0)))
    }

    /// Requests set aside, of all reasons.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.iter().filter(|(counter, _)| matches!(counter, Counter::Skipped(_))).map(|(_, value)| value).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_read_back_from_its_name() {
        let text = || "x:y".to_owned();
        for counter in [
            Counter::Requests,
            Counter::Finished,
            Counter::Failed,
            Counter::Skipped(text()),
            Counter::Refused(text()),
            Counter::Retries,
            Counter::SessionRotations,
            Counter::EndedAfterRetries(3),
            Counter::Fetches,
            Counter::Items,
            Counter::ItemsOf(text()),
            Counter::Status(404),
            Counter::BodyBytes,
            Counter::FinishedMillis,
            Counter::FailedMillis,
            Counter::PluginMicros,
            Counter::StepMicros(Step::HostCalls),
            Counter::Error(text()),
            Counter::RuntimeMillis,
        ] {
            assert_eq!(Counter::parse(&counter.to_string()), Some(counter));
        }
        assert_eq!(Counter::parse("of-a-later-version:1"), None);
    }
}
