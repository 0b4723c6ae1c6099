//! How long a call has been on a processor.
//!
//! Decision: what is charged is the thread's own processor time, so that a machine that is busy with other things is not charged to the
//! plugin, and work that the host does for it (selectors, JSON) is. But that clock is a call of the kernel, dearer than much of what a
//! small plugin does, while the wall's is not, and never runs slower. So a poll of less than a millisecond is charged what it took on
//! the wall; only in a longer one is the thread's clock read, and what it showed before the poll is known from a reading that was at
//! most a millisecond old. So a poll is never charged less than it spent, and at most a millisecond more.

use nephila_page::thread_clock;
use std::any::Any;
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::{Duration, Instant};

/// How long a poll is charged by the wall, and how old a reading of the thread's clock may be where the next poll begins.
const FINE: u64 = 1_000_000;

/// Time on a processor, over all polls of one call.
#[derive(Debug, Default)]
pub(crate) struct CpuMeter {
    /// Of finished polls.
    spent: AtomicU64,
    /// The same on the wall.
    polled: AtomicU64,
    /// When the present poll began, on the wall.
    began: AtomicU64,
    /// The thread's clock when the present poll began, or at most [`FINE`] before.
    since: AtomicU64,
}

thread_local! {
    /// The last reading of this thread's clock, and when that was on the wall.
    static READING: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

impl CpuMeter {
    /// What was spent so far. To be asked from within a metered poll.
    pub(crate) fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent.load(Ordering::Relaxed) + self.present(wall_clock()))
    }

    /// How long the call has been polled so far, on the wall: not less than what it spent, and cheap to ask. To be asked from within a
    /// metered poll.
    pub(crate) fn polled(&self) -> Duration {
        let present = wall_clock().saturating_sub(self.began.load(Ordering::Relaxed));
        Duration::from_nanos(self.polled.load(Ordering::Relaxed) + present)
    }

    /// How long finished polls took on the wall. To be asked from outside.
    pub(crate) fn total_polled(&self) -> Duration {
        Duration::from_nanos(self.polled.load(Ordering::Relaxed))
    }

    /// What finished polls spent. To be asked from outside.
    pub(crate) fn total(&self) -> Duration {
        Duration::from_nanos(self.spent.load(Ordering::Relaxed))
    }

    /// Begins another call.
    pub(crate) fn reset(&self) {
        self.spent.store(0, Ordering::Relaxed);
        self.polled.store(0, Ordering::Relaxed);
    }

    /// Runs a future and charges its polls. A panic in it ends it, and is told: the host's own mistakes cost one call, not the task.
    pub(crate) async fn run<F: Future>(self: Arc<Self>, future: F) -> Result<F::Output, Panicked> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            self.begin(wall_clock());
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
            let now = wall_clock();
            self.spent.fetch_add(self.present(now), Ordering::Relaxed);
            self.polled.fetch_add(now.saturating_sub(self.began.load(Ordering::Relaxed)), Ordering::Relaxed);
            match polled {
                Ok(polled) => polled.map(Ok),
                Err(payload) => Poll::Ready(Err(Panicked::of(payload.as_ref()))),
            }
        })
        .await
    }

    /// Begins a poll on this thread.
    fn begin(&self, now: u64) {
        let since = match READING.get() {
            Some((reading, at)) if now.saturating_sub(at) < FINE => reading,
            _ => read(now),
        };
        self.since.store(since, Ordering::Relaxed);
        self.began.store(now, Ordering::Relaxed);
    }

    /// What the present poll has spent.
    fn present(&self, now: u64) -> u64 {
        let wall = now.saturating_sub(self.began.load(Ordering::Relaxed));
        if wall < FINE {
            return wall;
        }
        wall.min(read(now).saturating_sub(self.since.load(Ordering::Relaxed)))
    }
}

/// Reads this thread's clock.
fn read(now: u64) -> u64 {
    let reading = thread_clock();
    READING.set(Some((reading, now)));
    reading
}

/// Nanoseconds on the wall, since some time before the first call.
fn wall_clock() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// What a panic said.
#[derive(Debug)]
pub(crate) struct Panicked(pub(crate) String);

impl Panicked {
    pub(crate) fn of(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
        Self(crate::failure::one_line(text.unwrap_or("no message"), 500))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_is_not_charged_and_working_is() {
        let meter = Arc::new(CpuMeter::default());
        meter.clone().run(tokio::time::sleep(Duration::from_millis(60))).await.expect("no panic");
        assert!(meter.total() < Duration::from_millis(30), "{:?}", meter.total());
        let inner = meter.clone();
        meter
            .clone()
            .run(async move {
                while inner.spent() < Duration::from_millis(20) {
                    std::hint::spin_loop();
                }
            })
            .await
            .expect("no panic");
        assert!(meter.total() >= Duration::from_millis(20));
        meter.reset();
        assert_eq!(meter.total(), Duration::ZERO);
    }

    #[test]
    fn a_long_poll_is_charged_what_the_thread_spent_and_a_short_one_what_it_took() {
        let (meter, now) = (CpuMeter::default(), wall_clock());
        meter.begin(now);
        assert_eq!(meter.present(now + FINE - 1), FINE - 1);
        assert!(meter.present(now + 1_000_000 * FINE) < 1_000 * FINE, "the thread did next to nothing");
    }

    #[tokio::test]
    async fn a_panic_ends_the_future_and_says_why() {
        let panicked = Arc::new(CpuMeter::default()).run(async { panic!("for the test") }).await;
        assert_eq!(panicked.map(|()| String::new()).unwrap_or_else(|panicked| panicked.0), "for the test");
    }
}
