//! Samples of machines that are folders: containers of both versions of cgroups, limits of parents, and kernels that say little.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use nephila_autoscale::{AutoscaleSettings, MemoryInfo, Snapshotter, Vitals};
use std::path::Path;
use std::time::{Duration, Instant};

const MB: u64 = 1 << 20;
const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
const V1: &str = "\
    32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
    33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n\
    35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

/// A machine of two processors and 16 GB, 4 of which are used, and one process of 40 MB on it.
struct Machine {
    root: tempfile::TempDir,
    start: Instant,
}

impl Machine {
    fn new(cgroup: &str, mounts: &str) -> Self {
        let machine = Self { root: tempfile::tempdir().unwrap(), start: Instant::now() };
        machine.write("proc/self/cgroup", cgroup);
        machine.write("proc/self/mountinfo", mounts);
        machine.write("proc/self/status", "Cpus_allowed_list:\t0-1\n");
        machine.write("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 12582912 kB\n");
        machine.processors(0, 0);
        machine.process(0);
        let pages = 40 * MB / rustix::param::page_size() as u64;
        machine.write("proc/7/statm", format!("{pages} {pages} 0 1 0 1 0"));
        machine
    }

    fn write(&self, path: impl AsRef<Path>, text: impl AsRef<str>) {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.as_ref()).unwrap();
    }

    /// Seconds that each of the two has been busy and idle.
    fn processors(&self, busy: u64, idle: u64) {
        let line = |number| format!("cpu{number} {} 0 0 {} 0 0 0 0 0 0\n", busy * 100, idle * 100);
        self.write("proc/stat", format!("cpu 1 2 3 4\n{}{}intr 1\n", line(0), line(1)));
    }

    /// Milliseconds that the process has been on processors.
    fn process(&self, millis: u64) {
        for name in ["self", "7"] {
            self.write(
                format!("proc/{name}/stat"),
                format!("7 (us) S 1 7 7 0 -1 0 0 0 0 0 {} 0 0 0 20 0 1 0 1 1 1", millis / 10),
            );
        }
    }

    fn vitals(&self) -> Vitals {
        Vitals::under(self.root.path(), &AutoscaleSettings::default(), self.start)
    }

    fn after(&self, seconds: u64) -> Instant {
        self.start + Duration::from_secs(seconds)
    }

    fn memory(&self) -> MemoryInfo {
        self.vitals().sample_at(self.after(1)).memory
    }
}

#[test]
fn without_cgroups_the_machine_is_all_there_is() {
    let machine = Machine::new("", "");
    let expected = MemoryInfo { current: 40 * MB, total: 16 << 30, system_wide_used: 4 << 30, allowed: 4 << 30 };
    assert_eq!(machine.memory(), expected);
    let mut vitals = machine.vitals();
    machine.processors(3, 1);
    machine.process(2_000);
    let cpu = vitals.sample_at(machine.after(4)).cpu;
    assert_eq!((cpu.used_ratio, cpu.own_ratio, cpu.cores), (0.75, 0.25, 2.0));
}

#[test]
fn the_tightest_limit_on_the_way_up_wins_and_file_pages_are_not_used() {
    let machine = Machine::new("0::/pod/box\n", V2);
    machine.write("sys/fs/cgroup/pod/box/memory.max", "max\n");
    machine.write("sys/fs/cgroup/pod/box/memory.current", "1");
    machine.write("sys/fs/cgroup/pod/memory.max", format!("{}\n", 512 * MB));
    machine.write("sys/fs/cgroup/pod/memory.current", format!("{}\n", 300 * MB));
    machine.write("sys/fs/cgroup/pod/memory.stat", format!("anon 1\nactive_file {}\ninactive_file {}\n", 50 * MB, 150 * MB));
    let expected = MemoryInfo { current: 40 * MB, total: 512 * MB, system_wide_used: 100 * MB, allowed: 512 * MB };
    assert_eq!(machine.memory(), expected);

    machine.write("sys/fs/cgroup/pod/box/memory.max", format!("{}\n", 600 * MB));
    assert_eq!(machine.memory(), expected, "a child's limit that is greater than its parent's");
    machine.write("sys/fs/cgroup/pod/box/memory.high", format!("{}\n", 200 * MB));
    assert_eq!((machine.memory().total, machine.memory().system_wide_used), (200 * MB, 1));
}

#[test]
fn a_limit_beyond_the_machine_is_none() {
    let machine = Machine::new("0::/\n", V2);
    machine.write("sys/fs/cgroup/memory.max", (64_u64 << 30).to_string());
    assert_eq!((machine.memory().total, machine.memory().allowed), (16 << 30, 4 << 30));
    let old = Machine::new("4:memory:/\n", V1);
    old.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    old.write("sys/fs/cgroup/memory/memory.stat", "hierarchical_memory_limit 9223372036854771712\n");
    assert_eq!((old.memory().total, old.memory().allowed), (16 << 30, 4 << 30));
}

#[test]
fn version_one_tells_of_limits_above_what_is_mounted() {
    let machine = Machine::new("4:memory:/box\n", V1);
    machine.write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", (256 * MB).to_string());
    machine.write("sys/fs/cgroup/memory/box/memory.usage_in_bytes", (90 * MB).to_string());
    let stat = |limit: u64| {
        format!(
            "active_file 1\ntotal_active_file {}\ntotal_inactive_file {}\nhierarchical_memory_limit {limit}\n",
            20 * MB,
            10 * MB
        )
    };
    machine.write("sys/fs/cgroup/memory/box/memory.stat", stat(256 * MB));
    assert_eq!((machine.memory().total, machine.memory().system_wide_used), (256 * MB, 60 * MB));
    machine.write("sys/fs/cgroup/memory/box/memory.stat", stat(128 * MB));
    assert_eq!(machine.memory().total, 128 * MB);
}

#[test]
fn use_of_processors_is_measured_against_the_tightest_quota() {
    let machine = Machine::new("0::/pod/box\n", V2);
    machine.write("sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
    machine.write("sys/fs/cgroup/pod/cpu.max", "50000 100000\n");
    machine.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
    machine.write("sys/fs/cgroup/pod/cpu.stat", "usage_usec 1000000\n");
    let mut vitals = machine.vitals();
    machine.write("sys/fs/cgroup/pod/cpu.stat", "usage_usec 1900000\nnr_throttled 3\n");
    machine.process(500);
    machine.processors(1, 1);
    let cpu = vitals.sample_at(machine.after(2)).cpu;
    assert_eq!((cpu.used_ratio, cpu.own_ratio, cpu.cores), (0.9, 0.5, 0.5));
    machine.processors(3, 1);
    machine.process(500);
    let cpu = vitals.sample_at(machine.after(4)).cpu;
    assert_eq!((cpu.used_ratio, cpu.own_ratio), (1.0, 0.0), "our quota is free, but the machine is full");
}

#[test]
fn version_one_accounts_in_a_hierarchy_of_its_own() {
    let quota = |machine: &Machine| {
        machine.write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "100000");
        machine.write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000");
        machine.write("sys/fs/cgroup/cpuacct/box/cpuacct.usage", "0");
    };
    let machine = Machine::new("2:cpuacct:/box\n1:cpu:/box\n", V1);
    quota(&machine);
    let mut vitals = machine.vitals();
    machine.write("sys/fs/cgroup/cpuacct/box/cpuacct.usage", "1500000000");
    machine.process(1_000);
    let cpu = vitals.sample_at(machine.after(2)).cpu;
    assert_eq!((cpu.used_ratio, cpu.own_ratio, cpu.cores), (0.75, 0.5, 1.0));

    let elsewhere = Machine::new("2:cpuacct:/\n1:cpu:/box\n", V1);
    quota(&elsewhere);
    let mut vitals = elsewhere.vitals();
    elsewhere.process(1_000);
    assert_eq!(vitals.sample_at(elsewhere.after(2)).cpu.used_ratio, 0.5, "what we use stands for all");
}

#[test]
fn limits_that_change_while_it_runs_are_found() {
    let machine = Machine::new("0::/box\n", V2);
    let mut vitals = machine.vitals();
    assert_eq!(vitals.sample_at(machine.after(1)).memory.total, 16 << 30);
    machine.write("sys/fs/cgroup/box/memory.max", (512 * MB).to_string());
    machine.write("sys/fs/cgroup/box/cpu.max", "50000 100000");
    machine.write("sys/fs/cgroup/box/cpu.stat", "usage_usec 99000000");
    let sample = vitals.sample_at(machine.after(20));
    assert_eq!((sample.memory.total, sample.cpu.cores, sample.cpu.used_ratio), (512 * MB, 0.5, 0.0));
    machine.write("sys/fs/cgroup/box/cpu.stat", "usage_usec 99500000");
    assert_eq!(vitals.sample_at(machine.after(21)).cpu.used_ratio, 1.0);
}

#[test]
fn a_kernel_that_says_nothing_is_not_overloaded() {
    let nothing = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let mut vitals = Vitals::under(nothing.path(), &AutoscaleSettings::default(), start);
    let sample = vitals.sample_at(start + Duration::from_secs(1));
    assert_eq!(sample.memory, MemoryInfo::default());
    assert_eq!((sample.cpu.used_ratio, sample.cpu.own_ratio), (0.0, 0.0));
    let mut snapshots = Snapshotter::new(&AutoscaleSettings::default());
    snapshots.record_system(start, &sample);
    assert!(snapshots.current().is_idle());
}
