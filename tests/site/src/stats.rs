//! What the site saw. The counters are the tests' witnesses, so they are exact; they are sharded, so that they cost a
//! benchmark little.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const SHARDS: usize = 16;

/// What a site was asked since its start or its last reset; requests below `/_site/` are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// All requests.
    pub requests: u64,
    /// Requests per path with query; for another host than 127.0.0.1 and localhost the key is `//host/path`.
    pub by_url: BTreeMap<String, u64>,
    /// The smallest time between the starts of two requests to one host, for hosts that had two.
    pub min_gap_millis: BTreeMap<String, u64>,
    /// The most requests that were being answered at one time.
    pub max_concurrent: u64,
}

/// The counters behind [`Stats`].
pub(crate) struct Counters {
    born: Instant,
    requests: AtomicU64,
    in_flight: AtomicU64,
    max_concurrent: AtomicU64,
    hasher: RandomState,
    by_url: [Mutex<HashMap<Box<str>, u64>>; SHARDS],
    hosts: Mutex<HashMap<Box<str>, Starts>>,
}

struct Starts {
    last_micros: u64,
    min_gap_micros: Option<u64>,
}

/// A request that is being answered, until it is dropped (also when the client goes away).
pub(crate) struct InFlight<'a>(&'a Counters);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counters {
    pub fn new() -> Self {
        Self {
            born: Instant::now(),
            requests: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            max_concurrent: AtomicU64::new(0),
            hasher: RandomState::new(),
            by_url: std::array::from_fn(|_| Mutex::default()),
            hosts: Mutex::default(),
        }
    }

    /// Counts a request; `host` is the Host header as it came.
    pub fn begin(&self, host: &str, path_and_query: &str) -> InFlight<'_> {
        let host = bare_host(host);
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.note_start(&host);
        if is_home(&host) {
            self.note_url(path_and_query);
        } else {
            self.note_url(&format!("//{host}{path_and_query}"));
        }
        let now = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.max_concurrent.fetch_max(now, Ordering::Relaxed);
        InFlight(self)
    }

    fn note_start(&self, host: &str) {
        let mut hosts = lock(&self.hosts);
        // Read under the lock: starts are then in order, and a gap is never negative.
        let now = self.born.elapsed().as_micros() as u64;
        match hosts.get_mut(host) {
            Some(starts) => {
                let gap = now - starts.last_micros;
                starts.min_gap_micros = Some(starts.min_gap_micros.map_or(gap, |least| least.min(gap)));
                starts.last_micros = now;
            }
            None => {
                hosts.insert(host.into(), Starts { last_micros: now, min_gap_micros: None });
            }
        }
    }

    fn note_url(&self, key: &str) {
        let shard = self.hasher.hash_one(key) as usize % SHARDS;
        let mut urls = lock(&self.by_url[shard]);
        match urls.get_mut(key) {
            Some(count) => *count += 1,
            None => {
                urls.insert(key.into(), 1);
            }
        }
    }

    /// `with_urls: false` leaves out the map that grows with the site.
    pub fn stats(&self, with_urls: bool) -> Stats {
        let mut by_url = BTreeMap::new();
        for shard in self.by_url.iter().filter(|_| with_urls) {
            by_url.extend(lock(shard).iter().map(|(key, count)| (key.to_string(), *count)));
        }
        let gaps = lock(&self.hosts)
            .iter()
            .filter_map(|(host, starts)| Some((host.to_string(), starts.min_gap_micros? / 1_000)))
            .collect();
        Stats {
            requests: self.requests.load(Ordering::Relaxed),
            by_url,
            min_gap_millis: gaps,
            max_concurrent: self.max_concurrent.load(Ordering::Relaxed),
        }
    }

    pub fn reset(&self) {
        self.requests.store(0, Ordering::Relaxed);
        self.max_concurrent.store(self.in_flight.load(Ordering::Relaxed), Ordering::Relaxed);
        self.by_url.iter().for_each(|shard| lock(shard).clear());
        lock(&self.hosts).clear();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_home(host: &str) -> bool {
    matches!(host, "127.0.0.1" | "localhost" | "")
}

/// The host without its port, in lower case.
fn bare_host(host: &str) -> Cow<'_, str> {
    let bare = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    if bare.bytes().any(|byte| byte.is_ascii_uppercase()) { Cow::Owned(bare.to_ascii_lowercase()) } else { Cow::Borrowed(bare) }
}

#[cfg(test)]
mod tests {
    use super::Counters;

    #[test]
    fn hosts_of_other_names_do_not_merge() {
        let counters = Counters::new();
        drop(counters.begin("127.0.0.1:80", "/a?b"));
        drop(counters.begin("LOCALHOST:80", "/a?b"));
        drop(counters.begin("S1.localhost:80", "/a?b"));
        let stats = counters.stats(true);
        assert_eq!(stats.by_url["/a?b"], 2);
        assert_eq!(stats.by_url["//s1.localhost/a?b"], 1);
        assert!(stats.min_gap_millis.is_empty());
    }

    #[test]
    fn concurrency_is_the_most_at_one_time() {
        let counters = Counters::new();
        let first = counters.begin("127.0.0.1", "/");
        let second = counters.begin("127.0.0.1", "/");
        drop((first, second));
        drop(counters.begin("127.0.0.1", "/"));
        assert_eq!(counters.stats(true).max_concurrent, 2);
        assert_eq!(counters.stats(true).min_gap_millis.len(), 1);
        counters.reset();
        assert_eq!(counters.stats(true), super::Stats::default());
    }
}
