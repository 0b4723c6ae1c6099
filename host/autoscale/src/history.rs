//! Whether one resource was overloaded, over the last half minute.
//!
//! Decision: weighed by time, not by samples, as Crawlee does: a sample speaks for the time since the one before. A sampler that
//! is itself slowed down by overload gives fewer samples of it, and they must not count less.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Samples that are kept at most, however fast they come.
const MOST: usize = 4_096;

/// One resource's load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// Within its limit.
    Fine,
    /// Over it.
    Over,
}

/// Samples of one resource.
#[derive(Debug)]
pub(crate) struct History {
    samples: VecDeque<(Instant, Load)>,
    kept: Duration,
}

impl History {
    /// Keeps samples for so long.
    pub(crate) fn new(kept: Duration) -> Self {
        Self { samples: VecDeque::new(), kept }
    }

    /// Notes a sample. One that is older than the newest is dropped.
    pub(crate) fn record(&mut self, at: Instant, load: Load) {
        if self.samples.back().is_some_and(|(newest, _)| *newest > at) {
            return;
        }
        self.samples.push_back((at, load));
        while self.samples.len() > MOST || self.samples.front().is_some_and(|(oldest, _)| at.duration_since(*oldest) > self.kept)
        {
            self.samples.pop_front();
        }
    }

    /// The share of the time in which it was overloaded, in a window that ends with the newest sample. Without samples nothing
    /// was; a single one speaks for all of it.
    pub(crate) fn overloaded(&self, window: Duration) -> f64 {
        let Some((newest, last)) = self.samples.back() else { return 0.0 };
        let inside = || self.samples.iter().skip_while(|(at, _)| newest.duration_since(*at) > window);
        let (mut all, mut over) = (Duration::ZERO, Duration::ZERO);
        for ((before, _), (at, load)) in inside().zip(inside().skip(1)) {
            let time = at.duration_since(*before);
            all += time;
            if *load == Load::Over {
                over += time;
            }
        }
        if !all.is_zero() {
            return over.as_secs_f64() / all.as_secs_f64();
        }
        if *last == Load::Over { 1.0 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(start: Instant, samples: &[(u64, Load)]) -> History {
        let mut history = History::new(Duration::from_secs(30));
        for (seconds, load) in samples {
            history.record(start + Duration::from_secs(*seconds), *load);
        }
        history
    }

    const FIVE: Duration = Duration::from_secs(5);
    const ALL: Duration = Duration::from_secs(30);

    #[test]
    fn without_samples_nothing_is_overloaded_and_one_speaks_for_all() {
        let start = Instant::now();
        assert_eq!(history(start, &[]).overloaded(FIVE), 0.0);
        assert_eq!(history(start, &[(0, Load::Over)]).overloaded(FIVE), 1.0);
        assert_eq!(history(start, &[(0, Load::Fine)]).overloaded(FIVE), 0.0);
    }

    #[test]
    fn a_sample_speaks_for_the_time_since_the_one_before() {
        let history = history(Instant::now(), &[(0, Load::Over), (1, Load::Fine), (4, Load::Over)]);
        assert_eq!(history.overloaded(FIVE), 0.75);
    }

    #[test]
    fn the_present_is_the_last_five_seconds_and_the_past_is_forgotten() {
        let start = Instant::now();
        let mut samples: Vec<_> = (0..=30).map(|second| (second, if second < 25 { Load::Over } else { Load::Fine })).collect();
        assert_eq!(history(start, &samples).overloaded(FIVE), 0.0);
        assert!((history(start, &samples).overloaded(ALL) - 0.8).abs() < 1e-9);
        samples.push((100, Load::Fine));
        assert_eq!(history(start, &samples).samples.len(), 1);
    }

    #[test]
    fn samples_out_of_order_or_without_number_do_no_harm() {
        let start = Instant::now();
        let mut history = history(start, &[(9, Load::Fine), (3, Load::Over)]);
        assert_eq!(history.overloaded(ALL), 0.0);
        for _ in 0..10_000 {
            history.record(start + Duration::from_secs(10), Load::Over);
        }
        assert_eq!(history.samples.len(), MOST);
        assert_eq!(history.overloaded(ALL), 1.0, "no time between them: the last one speaks");
    }
}
