//! What the crate `sysinfo` says, where there is neither `/proc` nor cgroups.
//!
//! Decision: the machine and this process each time, and all processes, to find our children, every ten seconds only: listing
//! them takes milliseconds. Children that come in between are seen at the next listing.

use super::{Reading, Scope};
use crate::system_info::{CpuInfo, CpuTime};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// Between two listings of all processes.
const LIST: Duration = Duration::from_secs(10);

/// Reads through `sysinfo`.
#[derive(Debug)]
pub(super) struct Portable {
    // None where it knows nothing of the system.
    ours: Option<(System, Pid)>,
    children: Vec<Pid>,
    list_at: Instant,
    before: Before,
}

#[derive(Debug)]
struct Before {
    at: Instant,
    cpu: HashMap<Pid, u64>,
}

impl Portable {
    /// Of this process.
    pub(super) fn new(now: Instant) -> Self {
        let before = Before { at: now, cpu: HashMap::new() };
        let ours = System::new().ok().zip(sysinfo::get_current_pid().ok());
        let mut source = Self { ours, children: Vec::new(), list_at: now, before };
        source.read(now);
        source
    }

    /// What is used now.
    pub(super) fn read(&mut self, now: Instant) -> Reading {
        let Some((system, me)) = self.ours.as_mut() else { return Reading::default() };
        system.refresh_memory();
        system.refresh_cpu_usage();
        if self.list_at <= now {
            self.list_at = now + LIST;
            self.children = list(system, *me);
        } else {
            let family: Vec<Pid> = std::iter::once(*me).chain(self.children.iter().copied()).collect();
            system.refresh_processes_specifics(ProcessesToUpdate::Some(&family), true, wanted());
        }
        let (mut memory, mut used, mut times) = (0_u64, 0_u64, HashMap::new());
        for pid in std::iter::once(&*me).chain(&self.children) {
            let Some(process) = system.process(*pid) else { continue };
            memory = memory.saturating_add(process.memory());
            let time = process.accumulated_cpu_time();
            used += time.saturating_sub(self.before.cpu.get(pid).copied().unwrap_or(time));
            times.insert(*pid, time);
        }
        let elapsed = now.saturating_duration_since(self.before.at);
        self.before = Before { at: now, cpu: times };
        let cores = system.cpus().len().max(1) as f64;
        let own = CpuTime { elapsed, used: Duration::from_millis(used) };
        let used_ratio = f64::from(system.global_cpu_usage() / 100.0).clamp(0.0, 1.0);
        let total = system.total_memory();
        let machine = Scope { total, used: total.saturating_sub(system.available_memory()) };
        Reading { cpu: CpuInfo { used_ratio, own_ratio: own.share_of(cores), cores }, current: memory, machine, cgroup: None }
    }
}

fn wanted() -> ProcessRefreshKind {
    ProcessRefreshKind::nothing().with_memory().with_cpu()
}

/// Looks at all processes, and says which ones are our children or theirs.
fn list(system: &mut System, me: Pid) -> Vec<Pid> {
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, wanted());
    let parent = |pid: &Pid| system.process(*pid)?.parent();
    // Steps are bounded: what is read while processes come and go could be a ring. Linux lists threads too.
    let is_ours = |pid: &Pid| std::iter::successors(parent(pid), |at| parent(at)).take(64).any(|at| at == me);
    let processes = system.processes();
    processes.iter().filter(|(pid, process)| process.thread_kind().is_none() && is_ours(pid)).map(|(pid, _)| *pid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_we_read_ourselves_is_what_sysinfo_reads() {
        use super::super::linux::Linux;
        let ballast = std::hint::black_box(vec![1_u8; 64 << 20]);
        let now = Instant::now();
        let (theirs, ours) = (Portable::new(now).read(now), Linux::new(now).read(now));
        assert_eq!(theirs.machine.total, ours.machine.total);
        // Tests beside this one take and give memory in between.
        assert!(theirs.machine.used.abs_diff(ours.machine.used) < theirs.machine.total / 4, "{theirs:?} {ours:?}");
        assert!(ours.current > ballast.len() as u64 && ours.current <= 4 * theirs.current, "{theirs:?} {ours:?}");
        assert!(theirs.cpu.cores >= ours.cpu.cores);
    }
}
