//! How long a call has been on a processor.
//!
//! Decision: the thread's own processor clock is read around every poll of the call, and at every epoch tick inside one. So a
//! machine that is busy with other things is not charged to the plugin, and work that the host does for it (selectors, JSON)
//! is. The cost is two clock reads per poll, about half a microsecond.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

/// Time on a processor, over all polls of one call.
#[derive(Debug, Default)]
pub(crate) struct CpuMeter {
    /// Of finished polls.
    spent: AtomicU64,
    /// The thread's clock when the present poll began.
    since: AtomicU64,
}

impl CpuMeter {
    /// What was spent so far. To be asked from within a metered poll.
    pub(crate) fn spent(&self) -> Duration {
        let present = thread_clock().saturating_sub(self.since.load(Ordering::Relaxed));
        Duration::from_nanos(self.spent.load(Ordering::Relaxed) + present)
    }

    /// What finished polls spent. To be asked from outside.
    pub(crate) fn total(&self) -> Duration {
        Duration::from_nanos(self.spent.load(Ordering::Relaxed))
    }

    /// Begins another call.
    pub(crate) fn reset(&self) {
        self.spent.store(0, Ordering::Relaxed);
    }

    /// Runs a future and charges its polls. A panic in it ends it, and is told: the host's own mistakes cost one call, not the task.
    pub(crate) async fn run<F: Future>(self: Arc<Self>, future: F) -> Result<F::Output, Panicked> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            let since = thread_clock();
            self.since.store(since, Ordering::Relaxed);
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
            self.spent.fetch_add(thread_clock().saturating_sub(since), Ordering::Relaxed);
            match polled {
                Ok(polled) => polled.map(Ok),
                Err(payload) => Poll::Ready(Err(Panicked::of(payload.as_ref()))),
            }
        })
        .await
    }
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

/// Nanoseconds that this thread has spent on a processor.
#[cfg(unix)]
pub(crate) fn thread_clock() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Where threads have no such clock, the wall's: a busy machine is then charged to the plugin.
#[cfg(not(unix))]
pub(crate) fn thread_clock() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    u64::try_from(START.get_or_init(std::time::Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
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

    #[tokio::test]
    async fn a_panic_ends_the_future_and_says_why() {
        let panicked = Arc::new(CpuMeter::default()).run(async { panic!("for the test") }).await;
        assert_eq!(panicked.map(|()| String::new()).unwrap_or_else(|panicked| panicked.0), "for the test");
    }
}
