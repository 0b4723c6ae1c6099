//! What a dispatcher did since it was last asked.
//!
//! Decision: the controller judges a number of requests in flight by what came of it, and that says something only while this
//! number, and not politeness or an empty queue, held requests back. So the time is added up in which it did.

use std::time::{Duration, Instant};

/// Whether more requests would be in flight if they might.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// A request was ready, and the concurrency did not let it begin.
    HeldBack,
    /// All that was ready has begun.
    Met,
}

/// Adds up. The dispatcher tells it whenever something begins or ends.
#[derive(Debug)]
pub struct Workload {
    since: Instant,
    noted_at: Instant,
    running: usize,
    demand: Demand,
    running_seconds: f64,
    held_back: Duration,
    completed: u64,
    latency: Duration,
}

/// What happened between two times of asking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// How long it was.
    pub elapsed: Duration,
    /// Requests in flight now, those not counted that wait for slow sites.
    pub running: usize,
    /// Requests in flight on average.
    pub mean_running: f64,
    /// For how much of the time the concurrency held requests back.
    pub held_back: Duration,
    /// Requests that came to something.
    pub completed: u64,
    /// How long they took, all together.
    pub latency: Duration,
}

impl Workload {
    /// Nothing is running yet.
    #[must_use]
    pub fn new(now: Instant) -> Self {
        Self {
            since: now,
            noted_at: now,
            running: 0,
            demand: Demand::Met,
            running_seconds: 0.0,
            held_back: Duration::ZERO,
            completed: 0,
            latency: Duration::ZERO,
        }
    }

    /// From now on so many requests are in flight, and this is the demand for more.
    pub fn note(&mut self, now: Instant, running: usize, demand: Demand) {
        let passed = now.saturating_duration_since(self.noted_at);
        self.running_seconds += passed.as_secs_f64() * self.running as f64;
        if self.demand == Demand::HeldBack {
            self.held_back += passed;
        }
        self.noted_at = self.noted_at.max(now);
        (self.running, self.demand) = (running, demand);
    }

    /// A request has come to something after `took`, from its first byte sent to its commit. One that failed is not told: a site
    /// that refuses quickly would look like a fast one.
    pub fn completed(&mut self, took: Duration) {
        self.completed += 1;
        self.latency += took;
    }

    /// What happened since the last time.
    pub fn take(&mut self, now: Instant) -> Work {
        self.note(now, self.running, self.demand);
        let elapsed = now.saturating_duration_since(self.since);
        let seconds = elapsed.as_secs_f64();
        let work = Work {
            elapsed,
            running: self.running,
            mean_running: if seconds > 0.0 { self.running_seconds / seconds } else { self.running as f64 },
            held_back: self.held_back,
            completed: self.completed,
            latency: self.latency,
        };
        *self = Self { running: self.running, demand: self.demand, ..Self::new(now) };
        work
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_added_up_by_what_was_running_and_what_was_wanted() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut workload = Workload::new(start);
        workload.note(at(0), 4, Demand::HeldBack);
        workload.completed(Duration::from_millis(300));
        workload.note(at(3), 2, Demand::Met);
        workload.completed(Duration::from_millis(500));
        let work = workload.take(at(4));
        assert_eq!((work.elapsed, work.running, work.completed), (Duration::from_secs(4), 2, 2));
        assert_eq!((work.mean_running, work.held_back), (3.5, Duration::from_secs(3)));
        assert_eq!(work.latency, Duration::from_millis(800));
        let next = workload.take(at(6));
        assert_eq!((next.mean_running, next.held_back, next.completed), (2.0, Duration::ZERO, 0), "what runs goes on");
    }

    #[test]
    fn no_time_at_all_is_no_division_by_zero() {
        let start = Instant::now();
        let mut workload = Workload::new(start);
        workload.note(start, 3, Demand::HeldBack);
        assert_eq!(workload.take(start).mean_running, 3.0);
    }
}
