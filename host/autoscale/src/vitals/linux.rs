//! What Linux says.
//!
//! Decision: counters are read each time, and where they are is looked for every ten seconds only: a limit may be changed, or the
//! process moved to another cgroup, while it runs, but not each second.

use super::Reading;
use super::cpu_quota::CpuQuota;
use super::files::Files;
use super::kin::{Family, Kin};
use super::machine::{Busy, Processors, memory};
use super::memory_limit::MemoryLimit;
use crate::system_info::{CpuInfo, CpuTime};
use std::path::Path;
use std::time::{Duration, Instant};

/// Between two searches for limits.
const SEARCH: Duration = Duration::from_secs(10);

/// Reads what Linux says of a process.
#[derive(Debug)]
pub(super) struct Linux {
    files: Files,
    kin: Kin,
    limits: Limits,
    search_at: Instant,
    before: Look,
}

#[derive(Debug, Clone, PartialEq)]
struct Limits {
    memory: Option<MemoryLimit>,
    cpu: Option<CpuQuota>,
    processors: Processors,
}

/// Counters that only grow, at one time.
#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    machine: Busy,
    processors: usize,
    /// Of the cgroup that has the quota.
    cgroup: Option<Duration>,
    family: Family,
}

impl Linux {
    /// Of this process.
    pub(super) fn new(now: Instant) -> Self {
        Self::under(Path::new("/"), now)
    }

    /// Of the process that is `/proc/self` under this root.
    pub(super) fn under(root: &Path, now: Instant) -> Self {
        let files = Files::under(root);
        let (limits, mut kin) = (Limits::find(&files), Kin::new(now));
        let before = limits.look(&files, &mut kin, now);
        Self { files, kin, limits, search_at: now + SEARCH, before }
    }

    /// What is used now.
    pub(super) fn read(&mut self, now: Instant) -> Reading {
        if self.search_at <= now {
            self.search();
            self.search_at = now + SEARCH;
        }
        let look = self.limits.look(&self.files, &mut self.kin, now);
        let cpu = self.cpu(&look);
        self.before = look;
        Reading {
            cpu,
            current: look.family.memory,
            machine: memory(&self.files),
            cgroup: self.limits.memory.as_ref().map(|limit| limit.scope(&self.files)),
        }
    }

    fn search(&mut self) {
        let found = Limits::find(&self.files);
        if found == self.limits {
            return;
        }
        tracing::debug!(memory = ?found.memory, cpu = ?found.cpu, "other limits of processors or memory apply from here on");
        // Another cgroup's or other processors' counters have nothing to do with those of before.
        if found.cpu != self.limits.cpu {
            self.before.cgroup = None;
        }
        if found.processors != self.limits.processors {
            self.before.machine = Busy { busy: u64::MAX, all: u64::MAX };
        }
        self.limits = found;
    }

    fn cpu(&self, look: &Look) -> CpuInfo {
        let before = &self.before;
        let elapsed = look.at.saturating_duration_since(before.at);
        let machine = look.machine.since(before.machine);
        let processors = look.processors.max(1) as f64;
        let own = CpuTime { elapsed, used: look.family.cpu.saturating_sub(before.family.cpu) };
        let quota = self.limits.cpu.as_ref().filter(|quota| quota.cores < processors);
        let Some(quota) = quota else {
            return CpuInfo { used_ratio: machine, own_ratio: own.share_of(processors), cores: processors };
        };
        let counted = look.cgroup.zip(before.cgroup).map(|(now, before)| now.saturating_sub(before));
        let all = CpuTime { elapsed, used: counted.unwrap_or(own.used) };
        CpuInfo { used_ratio: all.share_of(quota.cores).max(machine), own_ratio: own.share_of(quota.cores), cores: quota.cores }
    }
}

impl Limits {
    fn find(files: &Files) -> Self {
        Self { memory: MemoryLimit::find(files), cpu: CpuQuota::find(files), processors: Processors::allowed(files) }
    }

    fn look(&self, files: &Files, kin: &mut Kin, at: Instant) -> Look {
        let (machine, processors) = self.processors.time(files);
        let cgroup = self.cpu.as_ref().and_then(|quota| quota.used(files));
        Look { at, machine, processors, cgroup, family: kin.family(files, at) }
    }
}
