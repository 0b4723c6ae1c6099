//! The machine's memory and processors.
//!
//! Decision: only the processors that this process may run on count, and of memory what could not be had back by dropping caches,
//! as the kernel estimates it (`MemAvailable`). Time that a hypervisor gave to others counts as busy: it is not to be had either.

use super::Scope;
use super::files::{Files, value_of};

/// Time of some processors, in the kernel's ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Busy {
    /// Not idle.
    pub busy: u64,
    /// All.
    pub all: u64,
}

impl Busy {
    /// The busy share since an earlier look.
    pub(super) fn since(self, earlier: Self) -> f64 {
        let all = self.all.saturating_sub(earlier.all);
        if all == 0 { 0.0 } else { (self.busy.saturating_sub(earlier.busy) as f64 / all as f64).clamp(0.0, 1.0) }
    }
}

/// Processors, by number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Processors(Vec<(u32, u32)>);

impl Processors {
    /// Those that this process may run on.
    pub(super) fn allowed(files: &Files) -> Self {
        let status = files.read("/proc/self/status").unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
        let range = |range: &str| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some((first.parse().ok()?, last.parse().ok()?))
        };
        Self(list.trim().split(',').filter_map(range).collect())
    }

    // Where the kernel does not say, all of them.
    fn has(&self, processor: u32) -> bool {
        self.0.is_empty() || self.0.iter().any(|(first, last)| (*first..=*last).contains(&processor))
    }

    /// Their time so far, and how many of them are there.
    pub(super) fn time(&self, files: &Files) -> (Busy, usize) {
        let text = files.read("/proc/stat").unwrap_or_default();
        let (mut time, mut count) = (Busy::default(), 0);
        // The first line sums up all processors; theirs follow, and then others.
        for line in text.lines().take_while(|line| line.starts_with("cpu")) {
            let mut words = line.split_ascii_whitespace();
            let Some(processor) = words.next().and_then(|name| name.strip_prefix("cpu")?.parse().ok()) else { continue };
            if !self.has(processor) {
                continue;
            }
            // user nice system idle iowait irq softirq steal; what follows is in `user` already.
            let ticks: Vec<u64> = words.take(8).filter_map(|word| word.parse().ok()).collect();
            let all: u64 = ticks.iter().sum();
            let idle: u64 = ticks.iter().skip(3).take(2).sum();
            time.all += all;
            time.busy += all.saturating_sub(idle);
            count += 1;
        }
        (time, count)
    }
}

/// The machine's memory; zeros where it does not say.
pub(super) fn memory(files: &Files) -> Scope {
    let text = files.read("/proc/meminfo").unwrap_or_default();
    let bytes = |key| value_of(&text, key).map(|kilobytes| kilobytes.saturating_mul(1_024));
    let total = bytes("MemTotal:").unwrap_or(0);
    // Kernels before 3.14 make no estimate.
    let available =
        bytes("MemAvailable:").unwrap_or_else(|| ["MemFree:", "Buffers:", "Cached:"].iter().filter_map(|key| bytes(key)).sum());
    Scope { total, used: total.saturating_sub(available) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(entries: &[(&str, &str)]) -> (tempfile::TempDir, Files) {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/self")).unwrap();
        for (name, text) in entries {
            std::fs::write(root.path().join(name), text).unwrap();
        }
        let files = Files::under(root.path());
        (root, files)
    }

    #[test]
    fn only_processors_that_we_may_run_on_count() {
        let stat = "cpu 99 99 99 99 99 99 99 99 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\ncpu1 10 1 5 80 4 0 0 0 7 7\ncpu2 9 9 9 9 9 9 9 9\nintr 5\n";
        let (_root, files) = files(&[("proc/stat", stat), ("proc/self/status", "Name:\tx\nCpus_allowed_list:\t1,3-4\n")]);
        let allowed = Processors::allowed(&files);
        assert_eq!(allowed.time(&files), (Busy { busy: 16, all: 100 }, 1));
        let (time, count) = Processors::default().time(&files);
        assert_eq!((time.all, count), (244, 3), "where the kernel does not say, all count");
    }

    #[test]
    fn the_busy_share_is_that_of_the_time_between() {
        let (early, late) = (Busy { busy: 10, all: 100 }, Busy { busy: 60, all: 200 });
        assert_eq!(late.since(early), 0.5);
        assert_eq!(late.since(late), 0.0, "no time has passed");
        assert_eq!(early.since(late), 0.0, "a processor was taken away");
    }

    #[test]
    fn memory_that_can_be_had_back_is_not_used() {
        let (_root, new) =
            files(&[("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable:    600 kB\nCached: 500 kB\n")]);
        assert_eq!(memory(&new), Scope { total: 1_024_000, used: 409_600 });
        let (_root, old) = files(&[("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 50 kB\nCached: 500 kB\n")]);
        assert_eq!(memory(&old), Scope { total: 1_024_000, used: 350 * 1_024 });
        let (_root, none) = files(&[]);
        assert_eq!(memory(&none), Scope::default());
    }
}
