//! How fast requests are completed at one concurrency, and how sure that is.
//!
//! Decision: no two measurements are compared without their scatter. Pages differ, and a controller that believes each number
//! walks at random. Time is cut into batches at least as long as a request takes, since requests that began together end
//! together.

use crate::workload::Work;
use std::collections::VecDeque;
use std::time::Duration;

/// Batches that are kept: older ones tell of another time.
const KEPT: usize = 30;

/// A batch is no shorter.
const SHORTEST: Duration = Duration::from_secs(1);

/// Batches that an estimate needs.
pub(super) const ENOUGH: usize = 5;

/// Those that tell of the present.
pub(super) const LATE: usize = 2 * ENOUGH;

/// What pages differ by, however little the batches scatter.
const FLOOR: f64 = 0.005;

/// Completions at one concurrency.
#[derive(Debug, Default)]
pub(super) struct Measure {
    batches: VecDeque<f64>,
    // Those that have been filled, forgotten ones included.
    filled: usize,
    // The batch that is being filled.
    elapsed: Duration,
    completed: u64,
    // How long one takes, as of late.
    latency: Option<f64>,
    spent: Duration,
}

/// A rate and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rate {
    /// Requests completed in a second.
    pub per_second: f64,
    /// How far the truth may be from it, as a share of it.
    pub doubt: f64,
}

impl Measure {
    /// Adds what was done while the concurrency held requests back.
    pub(super) fn add(&mut self, work: &Work) {
        self.elapsed += work.elapsed;
        self.spent += work.elapsed;
        self.completed += work.completed;
        if work.completed > 0 {
            let latency = work.latency.as_secs_f64() / work.completed as f64;
            self.latency = Some(self.latency.map_or(latency, |before| before + (latency - before) / 4.0));
        }
        if self.elapsed >= SHORTEST && self.elapsed.as_secs_f64() >= self.latency.unwrap_or(f64::INFINITY) {
            self.filled += 1;
            self.batches.push_back(self.completed as f64 / self.elapsed.as_secs_f64());
            (self.elapsed, self.completed) = (Duration::ZERO, 0);
            if self.batches.len() > KEPT {
                self.batches.pop_front();
            }
        }
    }

    /// Begins anew; what is still true is how long a request takes.
    pub(super) fn restart(&mut self) {
        *self = Self { latency: self.latency, ..Self::default() };
    }

    /// For how long it has been measured.
    pub(super) fn spent(&self) -> Duration {
        self.spent
    }

    /// Batches that have been filled, forgotten ones included.
    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    /// How long a request takes; none before the first has ended.
    pub(super) fn latency(&self) -> Option<Duration> {
        self.latency.map(|seconds| Duration::from_secs_f64(seconds.clamp(0.0, 3_600.0)))
    }

    /// What all batches come to; none before there are enough of them.
    pub(super) fn rate(&self) -> Option<Rate> {
        rate_of(self.batches.iter())
    }

    /// What the newest batches come to.
    pub(super) fn of_late(&self) -> Option<Rate> {
        rate_of(self.batches.iter().skip(self.batches.len().saturating_sub(LATE)))
    }
}

fn rate_of<'a>(batches: impl Iterator<Item = &'a f64> + Clone) -> Option<Rate> {
    let count = batches.clone().count();
    if count < ENOUGH {
        return None;
    }
    let number = count as f64;
    let mean = batches.clone().sum::<f64>() / number;
    if mean <= 0.0 {
        return None;
    }
    let variance = batches.map(|batch| (batch - mean).powi(2)).sum::<f64>() / (number - 1.0);
    // A little more than Student's distribution has for an error of one in twenty, since one looks more than once.
    let quantile = 2.2 + 4.0 / number;
    let doubt = quantile * (variance / number).sqrt() / mean;
    Some(Rate { per_second: mean, doubt: doubt.max(FLOOR) })
}

/// How a rate compares with another, as the logarithm of their ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    /// Greater than 0: more.
    pub log: f64,
    /// How far the truth may be from it.
    pub doubt: f64,
}

impl Rate {
    /// From `before` to this.
    pub(super) fn since(self, before: Self) -> Change {
        Change { log: (self.per_second / before.per_second).ln(), doubt: self.doubt.hypot(before.doubt) }
    }
}

impl Change {
    /// Whether it is surely more than this.
    pub(super) fn is_over(self, log: f64) -> bool {
        self.log - self.doubt > log
    }

    /// Whether it is surely less than this.
    pub(super) fn is_under(self, log: f64) -> bool {
        self.log + self.doubt < log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(seconds: u64, completed: u64, latency: f64) -> Work {
        let elapsed = Duration::from_secs(seconds);
        let latency = Duration::from_secs_f64(latency * completed as f64);
        Work { elapsed, running: 4, mean_running: 4.0, held_back: elapsed, completed, latency }
    }

    fn measure(completed: &[u64]) -> Measure {
        let mut measure = Measure::default();
        for completed in completed {
            measure.add(&work(1, *completed, 0.1));
        }
        measure
    }

    #[test]
    fn a_few_batches_are_no_measurement_and_none_of_nothing_is() {
        assert_eq!(measure(&[9; 4]).rate(), None);
        assert_eq!(measure(&[0; 9]).rate(), None);
        assert_eq!(measure(&[9; 5]).rate(), Some(Rate { per_second: 9.0, doubt: FLOOR }));
    }

    #[test]
    fn scatter_is_doubt_and_more_batches_are_less_of_it() {
        let few = measure(&[8, 12, 8, 12, 8, 12]).rate().unwrap();
        let many = measure(&[8, 12, 8, 12, 8, 12, 8, 12, 8, 12, 8, 12, 8, 12, 8, 12, 8, 12]).rate().unwrap();
        assert_eq!((few.per_second, many.per_second), (10.0, 10.0));
        assert!(few.doubt > 0.2 && many.doubt < 0.12, "{few:?} {many:?}");
        let steady = measure(&[10; 10]).rate().unwrap();
        assert!(!steady.since(few).is_over(-0.1) && steady.since(steady).is_over(-0.1));
    }

    #[test]
    fn a_batch_is_as_long_as_a_request_takes() {
        let mut slow = Measure::default();
        for second in 0..30 {
            // All end together, each five seconds.
            slow.add(&work(1, if second % 5 == 4 { 50 } else { 0 }, 5.0));
        }
        assert_eq!(slow.rate(), Some(Rate { per_second: 10.0, doubt: FLOOR }));
        assert_eq!(slow.latency(), Some(Duration::from_secs(5)));
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let mut batches = vec![1; 100];
        batches.extend([9; 10]);
        let measure = measure(&batches);
        assert_eq!(measure.of_late().unwrap().per_second, 9.0);
        assert!(measure.rate().unwrap().per_second < 4.0);
    }
}
