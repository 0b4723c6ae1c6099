//! How late the event loop is: tokio's scheduler, and behind it the processors.
//!
//! Decision: a task asks to be woken each half second and notes by how much it comes later, as Crawlee does with Python's loop.
//! On many worker threads it comes late only when all of them are busy, which is what matters. What is measured waits in a short
//! queue for whoever keeps snapshots; if nobody fetches it, the oldest are dropped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// Between two measurements. Crawlee: the same.
pub const PROBE_PERIOD: Duration = Duration::from_millis(500);

/// Measurements that wait at most: a minute of them.
const WAITING: usize = 120;

/// By how much the event loop was late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// When it came.
    pub at: Instant,
    /// How much later than it had asked for.
    pub late: Duration,
}

/// Measures until it is dropped.
#[derive(Debug)]
pub struct EventLoopProbe {
    measured: Arc<Mutex<VecDeque<Delay>>>,
    task: JoinHandle<()>,
}

impl EventLoopProbe {
    /// Begins to measure the runtime that this is called on, each [`PROBE_PERIOD`].
    #[must_use]
    pub fn start() -> Self {
        let measured = Arc::new(Mutex::new(VecDeque::new()));
        let task = tokio::spawn(measure(Arc::clone(&measured)));
        Self { measured, task }
    }

    /// What was measured since the last time.
    #[must_use]
    pub fn take(&self) -> Vec<Delay> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}

impl Drop for EventLoopProbe {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn measure(measured: Arc<Mutex<VecDeque<Delay>>>) {
    let mut before = tokio::time::Instant::now();
    loop {
        let due = before + PROBE_PERIOD;
        tokio::time::sleep_until(due).await;
        before = tokio::time::Instant::now();
        let delay = Delay { at: before.into_std(), late: before.duration_since(due) };
        let mut measured = measured.lock().unwrap_or_else(PoisonError::into_inner);
        if measured.len() == WAITING {
            measured.pop_front();
        }
        measured.push_back(delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn pass(millis: u64) {
        tokio::time::advance(Duration::from_millis(millis)).await;
        // The probe's task has its turn.
        tokio::task::yield_now().await;
    }

    fn late(probe: &EventLoopProbe) -> Vec<u128> {
        probe.take().iter().map(|delay| delay.late.as_millis()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn it_notes_by_how_much_it_comes_later_than_it_asked_for() {
        let probe = EventLoopProbe::start();
        tokio::task::yield_now().await;
        pass(500).await;
        assert_eq!(late(&probe), [0]);
        // Nobody had the loop's attention for a while.
        pass(1_700).await;
        pass(500).await;
        assert_eq!(late(&probe), [1_200, 0]);
        assert!(probe.take().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_fetches_takes_no_more_room_and_the_task_ends_with_the_probe() {
        let probe = EventLoopProbe::start();
        tokio::task::yield_now().await;
        for _ in 0..200 {
            pass(500).await;
        }
        assert_eq!(probe.take().len(), WAITING);
        let task = probe.task.abort_handle();
        drop(probe);
        while !task.is_finished() {
            tokio::task::yield_now().await;
        }
    }
}
