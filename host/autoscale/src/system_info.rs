//! One sample of what this process and the machine use.

use nephila_model::Timestamp;
use std::time::Duration;

/// What is used, and of how much: the payload of the event `systemInfo`, and what the snapshotter records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SystemInfo {
    /// When it was looked at. Crawlee: `createdAt`.
    pub at: Timestamp,
    /// The processors.
    pub cpu: CpuInfo,
    /// The memory.
    pub memory: MemoryInfo,
}

/// Use of processors since the sample before.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CpuInfo {
    /// How busy that is which we may use, from 0 to 1: the cgroup's quota or the machine's processors, whichever is busier,
    /// whoever keeps them busy. Crawlee: `usedRatio`, which knows no cgroups.
    pub used_ratio: f64,
    /// The part of it that this process and its children use, from 0 to 1.
    pub own_ratio: f64,
    /// Processors that may be used: those that the process may run on, or the cgroup's quota if that is less.
    pub cores: f64,
}

/// Use of memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryInfo {
    /// Of this process and its children, each shared page counted by its share where the system says so (PSS). Crawlee:
    /// `currentSize`.
    pub current: u64,
    /// All that there is: the machine's memory, or the tightest cgroup's limit if that is less. Crawlee: `totalSize`.
    pub total: u64,
    /// Of `total`, what is used by whomever and could not be had back by dropping caches. Crawlee: `systemWideUsedSize`.
    pub system_wide_used: u64,
    /// Of `total`, what `current` may come to by the settings. Crawlee: `max_memory_size` of its snapshotter.
    pub allowed: u64,
}

/// Use of processors from one look to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CpuTime {
    /// Of the wall, between the looks.
    pub elapsed: Duration,
    /// On processors.
    pub used: Duration,
}

impl CpuTime {
    /// The share of what so many processors had to give; nothing if no time has passed.
    pub(crate) fn share_of(self, cores: f64) -> f64 {
        let given = self.elapsed.as_secs_f64() * cores;
        if given > 0.0 { (self.used.as_secs_f64() / given).clamp(0.0, 1.0) } else { 0.0 }
    }
}
