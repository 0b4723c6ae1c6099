//! How many requests may begin in a minute. Crawlee: `max_tasks_per_minute`.
//!
//! Decision: a bucket of tokens that fills evenly, and a time at which the next request may begin: no worker sleeps, as Crawlee's
//! does. The bucket holds what one second brings, one token at least, so that a dispatcher that looks a little late loses
//! nothing, and no minute begins with a burst. In any minute at most `n` requests begin, and one second's worth more.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

/// Tokens for requests to begin.
#[derive(Debug, Clone)]
pub struct TaskRate {
    /// Between two tokens.
    interval: Duration,
    /// By how much the next one may have come earlier.
    slack: Duration,
    next: Option<Instant>,
}

impl TaskRate {
    /// So many in a minute.
    #[must_use]
    pub fn per_minute(tasks: NonZeroU32) -> Self {
        let interval = Duration::from_secs(60) / tasks.get();
        let slack = Duration::from_secs(1).saturating_sub(interval);
        Self { interval, slack, next: None }
    }

    /// When the next request may begin: now or earlier, or a time to wait for.
    #[must_use]
    pub fn next_allowed(&self, now: Instant) -> Instant {
        self.next.unwrap_or(now)
    }

    /// Takes a token for a request that begins now.
    ///
    /// # Errors
    /// The time to come again, if there is none yet.
    pub fn take(&mut self, now: Instant) -> Result<(), Instant> {
        let due = self.next_allowed(now);
        if due > now {
            return Err(due);
        }
        // What was not taken is kept, up to a second's worth.
        let oldest = now.checked_sub(self.slack).unwrap_or(now);
        self.next = Some(due.max(oldest) + self.interval);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(tasks: u32) -> TaskRate {
        TaskRate::per_minute(NonZeroU32::new(tasks).unwrap())
    }

    /// Begins whatever may begin, looking once in so many milliseconds, and counts by second.
    fn run(rate: &mut TaskRate, start: Instant, look_every: u64, seconds: u64) -> Vec<u32> {
        let mut counts = vec![0; usize::try_from(seconds).unwrap()];
        for look in 0..seconds * 1_000 / look_every {
            let millis = look * look_every;
            while rate.take(start + Duration::from_millis(millis)).is_ok() {
                counts[usize::try_from(millis / 1_000).unwrap()] += 1;
            }
        }
        counts
    }

    #[test]
    fn requests_begin_evenly() {
        let start = Instant::now();
        let mut rate = rate(60);
        assert_eq!(rate.take(start), Ok(()));
        assert_eq!(rate.next_allowed(start), start + Duration::from_secs(1));
        assert_eq!(rate.take(start), Err(start + Duration::from_secs(1)));
    }

    #[test]
    fn a_dispatcher_that_looks_seldom_loses_nothing() {
        for look_every in [1, 100, 500] {
            let counts = run(&mut rate(600), Instant::now(), look_every, 120);
            assert!((1_190..=1_210).contains(&counts.iter().sum::<u32>()), "{counts:?}");
        }
    }

    #[test]
    fn a_pause_saves_up_one_second_and_no_more() {
        let start = Instant::now();
        let mut rate = rate(6_000);
        run(&mut rate, start, 10, 1);
        let later = start + Duration::from_secs(3_600);
        assert!((100..=101).contains(&(0..).take_while(|_| rate.take(later).is_ok()).count()));
    }

    #[test]
    fn any_rate_can_be_kept() {
        for tasks in [1, 7, 1_000_000, u32::MAX] {
            let start = Instant::now();
            let mut rate = rate(tasks);
            assert_eq!(rate.take(start), Ok(()));
            assert!(rate.next_allowed(start) > start && rate.next_allowed(start) <= start + Duration::from_secs(60));
        }
    }
}
