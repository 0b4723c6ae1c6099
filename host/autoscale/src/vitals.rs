//! What this process, its children, its cgroup and the machine use.
//!
//! Decision: the scope that is tightest counts. Crawlee looks at the machine alone, so that a container is killed while its
//! crawler sees room (issue 1535); here the cgroup's limits of processors and memory, and those of its parents, are found and
//! measured against. On Linux the kernel's files are read directly, under a root that tests can fake; elsewhere the crate
//! `sysinfo` answers. Neither needs more than fractions of a millisecond, since this runs each second (`benches/sample.rs`).

#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod cpu_quota;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod kin;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod memory_limit;
#[cfg(target_os = "linux")]
mod pss;
// Compiled on Linux for tests only, which compare the two.
#[cfg(any(test, not(target_os = "linux")))]
mod portable;

#[cfg(target_os = "linux")]
use self::linux::Linux as Source;
#[cfg(not(target_os = "linux"))]
use self::portable::Portable as Source;

use crate::settings::AutoscaleSettings;
use crate::system_info::{CpuInfo, MemoryInfo, SystemInfo};
use nephila_model::Timestamp;
use std::time::Instant;

/// Takes samples. One per process is enough, and each needs its own `&mut`: use of processors is what has changed since the
/// sample before.
#[derive(Debug)]
pub struct Vitals {
    settings: AutoscaleSettings,
    source: Source,
}

impl Vitals {
    /// Of this process. Looks once, so that the first sample has something to compare with.
    #[must_use]
    pub fn new(settings: &AutoscaleSettings) -> Self {
        Self { settings: settings.clone(), source: Source::new(Instant::now()) }
    }

    /// Of the process that `/proc/self` under this root describes: a folder of a test, or where a container sees its host's
    /// files.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn under(root: &std::path::Path, settings: &AutoscaleSettings, now: Instant) -> Self {
        Self { settings: settings.clone(), source: Source::under(root, now) }
    }

    /// What is used now. Numbers that the system does not say are 0, and count as no overload.
    pub fn sample(&mut self) -> SystemInfo {
        self.sample_at(Instant::now())
    }

    /// What is used now, which is `now`.
    pub fn sample_at(&mut self, now: Instant) -> SystemInfo {
        let reading = self.source.read(now);
        let Scope { total: machine, used } = reading.machine;
        let cgroup = reading.cgroup.filter(|scope| machine == 0 || scope.total < machine);
        let (total, system_wide_used) = cgroup.map_or((machine, used), |scope| (scope.total, scope.used));
        let allowed = self.settings.memory_allowed(machine.max(total), cgroup.map(|scope| scope.total));
        let memory = MemoryInfo { current: reading.current, total, system_wide_used, allowed };
        SystemInfo { at: Timestamp::now(), cpu: reading.cpu, memory }
    }
}

/// What a source says.
#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    cpu: CpuInfo,
    /// Bytes of this process and its children.
    current: u64,
    /// The machine's memory.
    machine: Scope,
    /// The tightest cgroup's.
    cgroup: Option<Scope>,
}

/// Memory that several share, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Scope {
    /// All of it.
    total: u64,
    /// What could not be had back by dropping caches.
    used: u64,
}
