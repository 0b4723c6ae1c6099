//! What the built-in manager does again and again: `persistState` and `systemInfo`.
//!
//! Decision: intervals are measured from start to start, and one that was missed is skipped, so that neither run time nor a
//! sleeping machine shifts or bunches them. A timed `persistState` is a barrier: the next one waits until listeners are done with
//! the last, or its timeout is over. Each set of timers has a number, and one that was stopped in the middle of a step can emit
//! nothing more: what it sends is checked under the lock.

use crate::house::House;
use crate::lock::locked;
use crate::progress::Waiter;
use crate::subscriber::Place;
use crate::{Event, Sampler, waits};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

/// Which set of timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Series(u64);

impl Series {
    /// The one after this.
    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// When timers act first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    /// Now, as the manager starts; the `persistState` was sent already.
    Now,
    /// After an interval, as the manager only goes on.
    Later,
}

/// A running set of timers. They stop when this is dropped.
pub(crate) struct Timers {
    series: Series,
    _tasks: JoinSet<()>,
}

impl Timers {
    /// `places`: where a first `persistState` waits.
    pub(crate) fn start(house: &Arc<House>, series: Series, first: First, places: Vec<Place>) -> Self {
        let mut tasks = JoinSet::new();
        tasks.spawn_on(persist_state(Arc::clone(house), series, places), &house.runtime);
        if let Some(sampler) = &house.sampler {
            tasks.spawn_on(system_info(Arc::clone(house), Arc::clone(sampler), series, first), &house.runtime);
        }
        Self { series, _tasks: tasks }
    }

    pub(crate) fn series(&self) -> Series {
        self.series
    }
}

async fn persist_state(house: Arc<House>, series: Series, mut places: Vec<Place>) {
    let mut beat = Beat::new(Instant::now(), house.config.persist_state_interval);
    loop {
        let late = waits::wait_for(places, Waiter::Outside, Some(house.config.persist_state_timeout)).await;
        if !late.is_empty() {
            tracing::warn!(
                listeners = ?waits::names(&late),
                waited_ms = house.config.persist_state_timeout.as_millis(),
                "listeners are late with persistState; the next one will not wait for them"
            );
        }
        beat.next().await;
        match house.send_timed(series, Event::PersistState { is_migrating: false }) {
            Some(sent) => places = sent,
            None => return,
        }
    }
}

async fn system_info(house: Arc<House>, sampler: Arc<Mutex<Box<dyn Sampler>>>, series: Series, first: First) {
    let mut beat = Beat::new(Instant::now(), house.config.system_info_interval);
    if first == First::Later {
        beat.next().await;
    }
    loop {
        let sampler = Arc::clone(&sampler);
        // A sample that outlives its timers is waited for by the next one: there is never a second at the same time.
        let sample = tokio::task::spawn_blocking(move || locked(&sampler).sample()).await;
        match sample {
            Ok(Some(info)) if house.send_timed(series, Event::SystemInfo(info)).is_none() => return,
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the system could not be sampled; the next sample is tried as usual"),
        }
        beat.next().await;
    }
}

/// Moments at a fixed distance. Those that nobody waited for in time are skipped, however many they are.
struct Beat {
    next: Instant,
    interval: Duration,
}

impl Beat {
    /// The first is an interval after the start.
    fn new(start: Instant, interval: Duration) -> Self {
        Self { next: start + interval, interval }
    }

    /// Until the next of them.
    async fn next(&mut self) {
        let next = self.following(Instant::now());
        sleep_until(next).await;
        self.next = next + self.interval;
    }

    /// The first of them that is not over yet.
    fn following(&self, now: Instant) -> Instant {
        let late = now.saturating_duration_since(self.next).as_nanos();
        let since_last = late % self.interval.as_nanos().max(1);
        match u64::try_from(since_last) {
            Ok(0) if late == 0 => self.next,
            Ok(0) => now,
            Ok(since_last) => now - Duration::from_nanos(since_last) + self.interval,
            // An interval is shorter than that.
            Err(_) => now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_keeps_its_distance_and_skips_what_was_missed() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let beat = Beat::new(start, Duration::from_millis(100));
        for (now, following) in [(0, 100), (40, 100), (100, 100), (101, 200), (450, 500), (700, 700), (1_999, 2_000)] {
            assert_eq!(beat.following(at(now)), at(following), "{now}");
        }
    }
}
