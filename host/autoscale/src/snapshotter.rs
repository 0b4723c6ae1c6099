//! The last half minute of processors, memory, event loop and storage. Crawlee: `Snapshotter`.
//!
//! Decision: it measures nothing itself. Whoever owns it hands in samples with their time, so that it needs no lock, and a test's
//! samples are as good as real ones. Inputs and thresholds are Crawlee's; what sandboxes may still take of memory is added.

use crate::history::{History, Load};
use crate::settings::{AutoscaleSettings, Ratio, Tolerated};
use crate::status::{Share, SystemStatus};
use crate::system_info::{MemoryInfo, SystemInfo};
use std::time::{Duration, Instant};

/// Between two warnings that memory is about to run out. Crawlee: the same.
const WARN_AGAIN: Duration = Duration::from_secs(10);

/// Below the limit by this much, memory is tight: not over it, but no room to grow into.
const TIGHT: f64 = 0.15;

/// Memory of plugins' sandboxes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SandboxMemory {
    /// What those that run hold, or may take without being asked again.
    pub reserved: u64,
    /// Of it, what is in this process's memory already, and so is counted there.
    pub resident: u64,
    /// What `reserved` may come to, if sandboxes have a limit of their own.
    pub limit: Option<u64>,
}

/// How full memory is, by the newest sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryLevel {
    /// There is room.
    Roomy,
    /// Not over the limit, but near it.
    Tight,
    /// Over the limit.
    Over,
    /// Over half of what was left above the limit: the next page may be the last.
    Critical,
}

/// The newest sample of memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryState {
    /// When it was taken.
    pub at: Instant,
    /// How full memory is.
    pub level: MemoryLevel,
    /// What is used of what may be used; 1 is all of it.
    pub used: f64,
    /// Up to which share it may be used. Crawlee: `max_used_memory_ratio`.
    pub limit: f64,
}

/// Keeps samples and says what they come to.
#[derive(Debug)]
pub struct Snapshotter {
    settings: AutoscaleSettings,
    cpu: History,
    memory: History,
    event_loop: History,
    client: History,
    client_errors: u64,
    sandboxes: SandboxMemory,
    newest_memory: Option<MemoryState>,
    warned_at: Option<Instant>,
}

impl Snapshotter {
    /// Without samples; nothing counts as overloaded.
    #[must_use]
    pub fn new(settings: &AutoscaleSettings) -> Self {
        let history = || History::new(settings.history);
        Self {
            settings: settings.clone(),
            cpu: history(),
            memory: history(),
            event_loop: history(),
            client: history(),
            client_errors: 0,
            sandboxes: SandboxMemory::default(),
            newest_memory: None,
            warned_at: None,
        }
    }

    /// Processors and memory, each second.
    pub fn record_system(&mut self, at: Instant, info: &SystemInfo) {
        self.record_cpu(at, info.cpu.used_ratio);
        self.record_memory(at, info.memory);
    }

    /// How busy processors are, from 0 to 1.
    pub fn record_cpu(&mut self, at: Instant, used_ratio: f64) {
        self.cpu.record(at, load(used_ratio > self.settings.max_used_cpu.get()));
    }

    /// Memory, to which that of sandboxes is added as it was last told.
    pub fn record_memory(&mut self, at: Instant, memory: MemoryInfo) {
        let state = self.memory_state(at, memory);
        self.memory.record(at, load(state.level >= MemoryLevel::Over));
        self.newest_memory = Some(state);
        if state.level == MemoryLevel::Critical && self.warned_at.is_none_or(|warned| at.duration_since(warned) >= WARN_AGAIN) {
            self.warned_at = Some(at);
            tracing::warn!(
                used_bytes = memory.current,
                allowed_bytes = memory.allowed,
                all_used_bytes = memory.system_wide_used,
                all_bytes = memory.total,
                "memory is about to run out; fewer requests will be in flight; give it more memory, or lower -c or plugin-memory"
            );
        }
    }

    /// What sandboxes hold from here on; counts with the next sample of memory.
    pub fn record_sandboxes(&mut self, sandboxes: SandboxMemory) {
        self.sandboxes = sandboxes;
    }

    /// By how much the event loop was late, each half second (see [`crate::EventLoopProbe`]).
    pub fn record_event_loop(&mut self, at: Instant, delay: Duration) {
        self.event_loop.record(at, load(delay > self.settings.max_event_loop_delay));
    }

    /// How often the storage has refused for overload since the process started, each second.
    pub fn record_client_errors(&mut self, at: Instant, so_far: u64) {
        let new = so_far.saturating_sub(self.client_errors);
        self.client_errors = so_far;
        self.client.record(at, load(new > self.settings.max_client_errors));
    }

    /// How it stands in the present, the last five seconds. Crawlee: `get_current_system_info`.
    #[must_use]
    pub fn current(&self) -> SystemStatus {
        self.status(self.settings.present)
    }

    /// How it stood over all that is kept, half a minute. Crawlee: `get_historical_system_info`.
    #[must_use]
    pub fn historical(&self) -> SystemStatus {
        self.status(self.settings.history)
    }

    /// The newest sample of memory; none before the first.
    #[must_use]
    pub fn memory(&self) -> Option<MemoryState> {
        self.newest_memory
    }

    fn status(&self, window: Duration) -> SystemStatus {
        let share =
            |history: &History, tolerated: Ratio| Share { overloaded: history.overloaded(window), tolerated: tolerated.get() };
        let Tolerated { cpu, memory, event_loop, client } = self.settings.tolerated;
        SystemStatus {
            cpu: share(&self.cpu, cpu),
            memory: share(&self.memory, memory),
            event_loop: share(&self.event_loop, event_loop),
            client: share(&self.client, client),
        }
    }

    fn memory_state(&self, at: Instant, memory: MemoryInfo) -> MemoryState {
        let SandboxMemory { reserved, resident, limit } = self.sandboxes;
        let ours = memory.current.saturating_add(reserved.saturating_sub(resident));
        let own = share(ours, memory.allowed).max(limit.map_or(0.0, |limit| share(reserved, limit)));
        let wide = share(memory.system_wide_used, memory.total);
        let limit = self.settings.max_used_memory.get();
        let level = level(own, limit).max(level(wide, self.settings.max_system_memory.get()));
        MemoryState { at, level, used: own, limit }
    }
}

fn load(is_over: bool) -> Load {
    if is_over { Load::Over } else { Load::Fine }
}

/// What is not known cannot be full.
fn share(used: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { used as f64 / of as f64 }
}

fn level(used: f64, limit: f64) -> MemoryLevel {
    // Crawlee: the limit and half of the rest.
    if used > limit + (1.0 - limit) / 2.0 {
        MemoryLevel::Critical
    } else if used > limit {
        MemoryLevel::Over
    } else if used > limit - TIGHT.min(limit / 2.0) {
        MemoryLevel::Tight
    } else {
        MemoryLevel::Roomy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn memory(current: u64, allowed: u64, wide: u64, total: u64) -> MemoryInfo {
        MemoryInfo { current: current * MB, allowed: allowed * MB, system_wide_used: wide * MB, total: total * MB }
    }

    fn at(start: Instant, millis: u64) -> Instant {
        start + Duration::from_millis(millis)
    }

    #[test]
    fn each_input_has_crawlees_threshold() {
        let start = Instant::now();
        let mut snapshots = Snapshotter::new(&AutoscaleSettings::default());
        assert!(snapshots.current().is_idle() && snapshots.memory().is_none());

        for (step, (cpu, delay)) in [(0.95, 50), (0.96, 51), (0.96, 51)].into_iter().enumerate() {
            let now = at(start, 1_000 * step as u64);
            snapshots.record_cpu(now, cpu);
            snapshots.record_event_loop(now, Duration::from_millis(delay));
            snapshots.record_client_errors(now, step as u64);
        }
        let status = snapshots.current();
        assert_eq!((status.cpu.overloaded, status.event_loop.overloaded, status.client.overloaded), (1.0, 1.0, 0.0));
        snapshots.record_client_errors(at(start, 3_000), 4);
        assert!((snapshots.current().client.overloaded - 1.0 / 3.0).abs() < 1e-9);
        assert!(snapshots.current().client.is_over(), "a third is more than 0.3");
    }

    #[test]
    fn memory_is_full_by_ours_or_by_everybodys() {
        let start = Instant::now();
        let mut snapshots = Snapshotter::new(&AutoscaleSettings::default());
        for (step, (sample, expected)) in [
            (memory(10, 100, 50, 1_000), MemoryLevel::Roomy),
            (memory(80, 100, 50, 1_000), MemoryLevel::Tight),
            (memory(91, 100, 91, 1_000), MemoryLevel::Over),
            (memory(96, 100, 91, 1_000), MemoryLevel::Critical),
            (memory(10, 100, 975, 1_000), MemoryLevel::Over),
            (memory(10, 100, 990, 1_000), MemoryLevel::Critical),
            (MemoryInfo::default(), MemoryLevel::Roomy),
        ]
        .into_iter()
        .enumerate()
        {
            snapshots.record_memory(at(start, 1_000 * step as u64), sample);
            assert_eq!(snapshots.memory().unwrap().level, expected, "{sample:?}");
        }
        assert!(snapshots.current().memory.is_over());
    }

    #[test]
    fn what_sandboxes_may_still_take_is_added_and_their_own_limit_counts() {
        let start = Instant::now();
        let mut snapshots = Snapshotter::new(&AutoscaleSettings::default());
        let sample = memory(50, 100, 50, 1_000);
        snapshots.record_sandboxes(SandboxMemory { reserved: 60 * MB, resident: 20 * MB, limit: None });
        snapshots.record_memory(start, sample);
        assert!((snapshots.memory().unwrap().used - 0.9).abs() < 1e-9, "20 of the 60 are in the 50 already");
        snapshots.record_sandboxes(SandboxMemory { reserved: 20 * MB, resident: 20 * MB, limit: Some(21 * MB) });
        snapshots.record_memory(at(start, 1_000), sample);
        assert_eq!(snapshots.memory().unwrap().level, MemoryLevel::Critical);
    }

    #[test]
    fn the_present_forgets_sooner_than_history() {
        let start = Instant::now();
        let mut snapshots = Snapshotter::new(&AutoscaleSettings::default());
        for second in 0..30 {
            snapshots.record_cpu(at(start, second * 1_000), if second < 20 { 1.0 } else { 0.1 });
        }
        assert!(!snapshots.current().cpu.is_over() && snapshots.historical().cpu.is_over());
    }
}
