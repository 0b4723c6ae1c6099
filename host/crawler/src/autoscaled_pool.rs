//! How many requests this crawl has in flight (Crawlee: `AutoscaledPool`).
//!
//! Decision: the run loop owns it and asks; it decides nothing by itself and starts nothing. The system is sampled once per
//! process, by the event manager, for all crawls and listeners (Crawlee's issue 2242); here the newest sample is read, once a
//! second. Without one only what the crawl sees of itself counts. What memory bears at the beginning is shared with the other
//! crawls of the process.

use crate::settings::CrawlSettings;
use nephila_autoscale::{
    AutoscaleSettings, Bounds, Budget, Controller, Decision, Demand, EventLoopProbe, Observations, Promise, Snapshotter,
    SystemInfo, TaskRate, Workload, first_concurrency,
};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// What the pool goes by, beside the crawl's own settings.
#[derive(Debug, Clone)]
pub struct Load {
    /// What is too much.
    pub settings: AutoscaleSettings,
    /// The newest sample of the system, if anybody samples it.
    pub samples: watch::Receiver<Option<SystemInfo>>,
}

/// Says how many, and counts what they do.
pub struct AutoscaledPool {
    snapshots: Snapshotter,
    controller: Controller,
    workload: Workload,
    probe: EventLoopProbe,
    rate: Option<TaskRate>,
    samples: watch::Receiver<Option<SystemInfo>>,
    decision: Decision,
    promise: Promise,
}

impl AutoscaledPool {
    /// At the most that the settings allow, or at what memory bears for certain. To be called on the crawl's runtime, whose delay
    /// is measured.
    pub fn new(load: Load, settings: &CrawlSettings, now: Instant) -> Self {
        Self::within(&Budget::of_process(), load, settings, now)
    }

    fn within(budget: &Budget, mut load: Load, settings: &CrawlSettings, now: Instant) -> Self {
        let mut snapshots = Snapshotter::new(&load.settings);
        let sample = *load.samples.borrow_and_update();
        if let Some(sample) = &sample {
            snapshots.record_system(now, sample);
        }
        let free = sample.map_or(usize::MAX, |sample| first_concurrency(sample.memory, &load.settings));
        let (first, promise) = budget.begin(free, bounds(settings));
        let controller = Controller::starting_with(bounds(settings), first, now);
        Self {
            promise,
            snapshots,
            decision: controller.decision(),
            controller,
            workload: Workload::new(now),
            probe: EventLoopProbe::start(),
            rate: settings.max_tasks_per_minute.map(TaskRate::per_minute),
            samples: load.samples,
        }
    }

    /// Requests that may be served at a time.
    pub const fn concurrency(&self) -> usize {
        self.decision.concurrency
    }

    /// When the next request may begin, by the tasks that a minute may have: `None` if it may now.
    pub fn wait(&self, now: Instant) -> Option<Instant> {
        self.rate.as_ref().map(|rate| rate.next_allowed(now)).filter(|at| *at > now)
    }

    /// A request begins.
    pub fn begin(&mut self, now: Instant) {
        if let Some(rate) = &mut self.rate {
            // Whoever begins has asked.
            let _ = rate.take(now);
        }
    }

    /// So many are being served, and this is the demand for more.
    pub fn note(&mut self, now: Instant, served: usize, demand: Demand) {
        self.workload.note(now, served, demand);
    }

    /// A request was handled, after `took`.
    pub fn completed(&mut self, took: Duration) {
        self.workload.completed(took);
    }

    /// A visit is over, whatever it came to: what it took of memory was seen.
    pub fn landed(&mut self) {
        self.promise.ended();
    }

    /// Decides anew; about once a second.
    pub fn tick(&mut self, now: Instant) {
        for delay in self.probe.take() {
            self.snapshots.record_event_loop(delay.at, delay.late);
        }
        // An error means that nobody samples any more.
        if self.samples.has_changed().unwrap_or(false)
            && let Some(sample) = self.samples.borrow_and_update().as_ref()
        {
            self.snapshots.record_system(now, sample);
        }
        let before = self.decision;
        self.decision = self.controller.tick(now, &Observations::new(self.workload.take(now), &self.snapshots));
        if self.decision.concurrency != before.concurrency {
            self.promise.allow(self.decision.concurrency);
            let Decision { concurrency, reason } = self.decision;
            tracing::debug!(
                concurrency,
                before = before.concurrency,
                reason = reason.code(),
                "the concurrency has changed: {reason}"
            );
        }
    }
}

fn bounds(settings: &CrawlSettings) -> Bounds {
    let number = |count: usize| NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN);
    let most = number(settings.concurrency);
    // A minimum above the maximum was refused where the settings were read.
    Bounds::new(number(settings.min_concurrency), most).unwrap_or_else(|_| Bounds::up_to(most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nephila_autoscale::{CpuInfo, MemoryInfo};
    use nephila_model::Timestamp;

    #[tokio::test]
    async fn crawls_of_one_process_share_what_memory_bears_and_ended_requests_make_room() {
        const MB: u64 = 1 << 20;
        let memory = MemoryInfo { current: 30 * MB, allowed: 512 * MB, system_wide_used: 60 * MB, total: 512 * MB };
        let sample = SystemInfo { at: Timestamp::now(), cpu: CpuInfo::default(), memory };
        let (_sampler, samples) = watch::channel(Some(sample));
        let load = Load { settings: AutoscaleSettings::default(), samples };
        let mut settings = CrawlSettings::default();
        settings.set("concurrency", "40").expect("a setting");
        let (budget, now) = (Budget::default(), Instant::now());
        let begin = || AutoscaledPool::within(&budget, load.clone(), &settings, now);

        let (mut one, two) = (begin(), begin());
        assert_eq!((one.concurrency(), two.concurrency()), (40, 13), "53 of 8 MiB fit");
        drop(two);
        (0..40).for_each(|_| one.landed());
        assert_eq!(begin().concurrency(), 40, "what the first one's take is in the sample by now");
    }
}
