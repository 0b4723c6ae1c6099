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
    /// Items that pipelines left out, by reason. Counted with the outcome that they were of.
    ItemsDropped(String),
    /// Responses by status, each hop counted.
    Status(u16),
    /// Bytes of decoded bodies.
    BodyBytes,
    /// Milliseconds from claim to commit of the last attempt of finished requests.
    FinishedMillis,
    /// The least of them (Crawlee: `requestMinDurationMillis`).
    LeastFinishedMillis,
    /// The most of them (Crawlee: `requestMaxDurationMillis`).
    MostFinishedMillis,
    /// The same as [`Counter::FinishedMillis`], of failed requests.
    FailedMillis,
    /// The same of attempts that neither finished a request nor failed it: it was retried, tried with another session, sent to another site, or
    /// set aside.
    OtherAttemptMillis,
    /// Microseconds on a processor inside the plugin.
    PluginMicros,
    /// Microseconds that a step took, over all requests.
    StepMicros(Step),
    /// Errors by code, those of attempts that were retried included.
    Error(String),
    /// Milliseconds that the crawl has run, over all its starts.
    RuntimeMillis,
}

/// How two values of a counter become one. Each of these gives the same in any order, so that outcomes may be committed in any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// They are added up.
    Sum,
    /// The lesser one stays.
    Least,
    /// The greater one stays.
    Most,
}

impl Fold {
    /// One value of two.
    #[must_use]
    pub const fn of(self, a: i64, b: i64) -> i64 {
        match self {
            Self::Sum => a.saturating_add(b),
            Self::Least => {
                if a < b {
                    a
                } else {
                    b
                }
            }
            Self::Most => {
                if a > b {
                    a
                } else {
                    b
                }
            }
        }
    }
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
            Self::ItemsDropped(reason) => write!(f, "items-dropped:{reason}"),
            Self::Status(status) => write!(f, "status:{status}"),
            Self::BodyBytes => f.write_str("body-bytes"),
            Self::FinishedMillis => f.write_str("finished-millis"),
            Self::LeastFinishedMillis => f.write_str("least-finished-millis"),
            Self::MostFinishedMillis => f.write_str("most-finished-millis"),
            Self::FailedMillis => f.write_str("failed-millis"),
            Self::OtherAttemptMillis => f.write_str("other-attempt-millis"),
            Self::PluginMicros => f.write_str("plugin-micros"),
            Self::StepMicros(step) => write!(f, "step-micros:{step}"),
            Self::Error(code) => write!(f, "error:{code}"),
            Self::RuntimeMillis => f.write_str("runtime-millis"),
        }
    }
}

impl Counter {
    /// How its values are put together. It belongs to the counter, and never changes.
    #[must_use]
    pub const fn fold(&self) -> Fold {
        match self {
            Self::LeastFinishedMillis => Fold::Least,
            Self::MostFinishedMillis => Fold::Most,
            _ => Fold::Sum,
        }
    }

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
                "least-finished-millis" => Self::LeastFinishedMillis,
                "most-finished-millis" => Self::MostFinishedMillis,
                "failed-millis" => Self::FailedMillis,
                "other-attempt-millis" => Self::OtherAttemptMillis,
                "plugin-micros" => Self::PluginMicros,
                "runtime-millis" => Self::RuntimeMillis,
                _ => return None,
            },
            Some(("skipped", reason)) => Self::Skipped(reason.to_owned()),
            Some(("refused", reason)) => Self::Refused(reason.to_owned()),
            Some(("ended-after-retries", count)) => Self::EndedAfterRetries(count.parse().ok()?),
            Some(("items-of", dataset)) => Self::ItemsOf(dataset.to_owned()),
            Some(("items-dropped", reason)) => Self::ItemsDropped(reason.to_owned()),
            Some(("step-micros", step)) => Self::StepMicros(Step::parse(step)?),
            Some(("status", status)) => Self::Status(status.parse().ok()?),
            Some(("error", code)) => Self::Error(code.to_owned()),
            Some(_) => return None,
        })
    }
}

/// Changes of counters. Deltas come to the same in any order ([`Fold`]).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatsDelta(BTreeMap<Counter, i64>);

impl StatsDelta {
    /// Counts, as is the counter's way ([`Counter::fold`]): adds up, or keeps the least or the most.
    pub fn add(&mut self, counter: Counter, by: i64) {
        if by != 0 || counter.fold() != Fold::Sum {
            put(&mut self.0, counter, by);
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

fn put(values: &mut BTreeMap<Counter, i64>, counter: Counter, by: i64) {
    let fold = counter.fold();
    values.entry(counter).and_modify(|value| *value = fold.of(*value, by)).or_insert(by);
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
        self.find(counter).unwrap_or(0)
    }

    /// A counter's value; `None` if it was never counted. For those of which 0 says something.
    #[must_use]
    pub fn find(&self, counter: &Counter) -> Option<u64> {
        self.0.get(counter).map(|value| u64::try_from(*value).unwrap_or(0))
    }

    /// Applies a delta.
    pub fn apply(&mut self, delta: &StatsDelta) {
        for (counter, by) in delta.iter() {
            put(&mut self.0, counter.clone(), by);
        }
    }

    /// All counters, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&Counter, u64)> {
        self.0.iter().map(|(counter, value)| (counter, u64::try_from(*value).unwrap_or(0)))
    }

    /// Attempts that have ended, of requests at rest and of those that wait: as finished, failed, retried, with another session, or set aside.
    #[must_use]
    pub fn attempts(&self) -> u64 {
        let ended = [Counter::Finished, Counter::Failed, Counter::Retries, Counter::SessionRotations];
        ended.iter().map(|counter| self.get(counter)).sum::<u64>() + self.skipped()
    }

    /// Milliseconds that all attempts took, from claim to commit: not only the last one of each request.
    #[must_use]
    pub fn attempt_millis(&self) -> u64 {
        let parts = [Counter::FinishedMillis, Counter::FailedMillis, Counter::OtherAttemptMillis];
        parts.iter().map(|counter| self.get(counter)).sum()
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
            Counter::ItemsDropped(text()),
            Counter::Status(404),
            Counter::BodyBytes,
            Counter::FinishedMillis,
            Counter::LeastFinishedMillis,
            Counter::MostFinishedMillis,
            Counter::FailedMillis,
            Counter::OtherAttemptMillis,
            Counter::PluginMicros,
            Counter::StepMicros(Step::HostCalls),
            Counter::Error(text()),
            Counter::RuntimeMillis,
        ] {
            assert_eq!(Counter::parse(&counter.to_string()), Some(counter));
        }
        assert_eq!(Counter::parse("of-a-later-version:1"), None);
    }

    #[test]
    fn least_and_most_come_to_the_same_in_every_order_and_nothing_is_not_zero() {
        let of = |millis: i64| {
            let mut delta = StatsDelta::default();
            for counter in [Counter::LeastFinishedMillis, Counter::MostFinishedMillis, Counter::FinishedMillis] {
                delta.add(counter, millis);
            }
            delta
        };
        for order in [[7, 0, 30], [30, 7, 0], [0, 30, 7]] {
            let (mut merged, mut applied) = (StatsDelta::default(), Statistics::default());
            assert_eq!(applied.find(&Counter::LeastFinishedMillis), None);
            for millis in order {
                merged.merge(&of(millis));
                applied.apply(&of(millis));
            }
            let merged = Statistics::from_counters(merged.iter().map(|(counter, value)| (counter.clone(), value)));
            assert_eq!(merged, applied);
            let (least, most) = (Counter::LeastFinishedMillis, Counter::MostFinishedMillis);
            assert_eq!((merged.find(&least), merged.find(&most), merged.get(&Counter::FinishedMillis)), (Some(0), Some(30), 37));
        }
    }
}
