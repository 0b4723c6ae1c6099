//! How fast a crawl goes, for people who watch it.

use crate::control::Progress;
use nephila_model::{Counter, Statistics};
use nephila_store::Counts;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Over which time the rate is taken.
const WINDOW: Duration = Duration::from_secs(5);

/// Measures the rate over the last few seconds.
pub struct Meter {
    started: Instant,
    samples: VecDeque<(Instant, u64)>,
}

impl Meter {
    /// A meter for a start of a crawl that has these counters already.
    pub fn starting_at(started: Instant, statistics: &Statistics) -> Self {
        Self { started, samples: VecDeque::from([(started, ended(statistics))]) }
    }

    /// Where the crawl stands now.
    pub fn measure(&mut self, counts: Counts, statistics: Statistics, in_flight: usize, message: Option<String>) -> Progress {
        let now = Instant::now();
        self.samples.push_back((now, ended(&statistics)));
        while self.samples.len() > 2 && self.samples.front().is_some_and(|(at, _)| now - *at > WINDOW) {
            self.samples.pop_front();
        }
        let per_second = match self.samples.front() {
            Some((at, before)) if now > *at => ended(&statistics).saturating_sub(*before) as f64 / (now - *at).as_secs_f64(),
            _ => 0.0,
        };
        Progress { counts, statistics, in_flight, elapsed: now - self.started, per_second, message }
    }
}

fn ended(statistics: &Statistics) -> u64 {
    statistics.get(&Counter::Finished) + statistics.get(&Counter::Failed)
}
