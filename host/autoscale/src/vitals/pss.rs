//! How much of a process's memory is its own.
//!
//! Decision: pages that several processes share (a browser's dozens of processes do little else) count by their share, as Crawlee
//! counts them. The kernel finds that share by walking all page tables, which takes milliseconds for a large process, and makes
//! its page faults wait. So what is private and what is shared is read each time, and which part of the shared pages is its own
//! is looked up for one process at a time, and so rarely that it costs less than a thousandth of the time.

use super::files::{Files, value_of};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Between two looks at one process, at least.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// And at least so many times as long as the look took.
const REST: u32 = 1_000;

/// Memory of a process, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resident {
    /// All that is in memory.
    pub all: u64,
    /// Of it, what belongs to files or is shared by agreement.
    pub shared: u64,
}

impl Resident {
    /// As `/proc/<pid>/statm` has it.
    pub(super) fn parse(statm: &str, page: u64) -> Option<Self> {
        let mut pages = statm.split_ascii_whitespace().skip(1).map(str::parse::<u64>);
        let (all, shared) = (pages.next()?.ok()?, pages.next()?.ok()?);
        let all = all.saturating_mul(page);
        Some(Self { all, shared: shared.saturating_mul(page).min(all) })
    }
}

/// What is known of processes' shares.
#[derive(Debug, Default)]
pub(super) struct Shares {
    known: HashMap<u32, Share>,
    looked: bool,
}

#[derive(Debug, Clone, Copy)]
struct Share {
    of_shared: f64,
    look_at: Instant,
}

impl Shares {
    /// Begins a round, in which one process may be looked at; those that are gone are forgotten.
    pub(super) fn begin(&mut self, alive: &[u32]) {
        self.looked = false;
        self.known.retain(|process, _| alive.contains(process));
    }

    /// Bytes that count as this process's own.
    pub(super) fn own(&mut self, files: &Files, process: u32, resident: Resident, now: Instant) -> u64 {
        let private = resident.all - resident.shared;
        let due = self.known.get(&process).is_none_or(|share| share.look_at <= now);
        if due && !self.looked {
            self.looked = true;
            let began = Instant::now();
            let pss = files.read(format!("/proc/{process}/smaps_rollup")).and_then(|text| value_of(&text, "Pss:"));
            let rest = LOOK_AGAIN.max(began.elapsed().saturating_mul(REST));
            // Where it is not to be had (old kernels, other users), all shared pages count: too much rather than too little.
            let of_shared = match pss {
                Some(kilobytes) if resident.shared > 0 => {
                    (kilobytes.saturating_mul(1_024).saturating_sub(private) as f64 / resident.shared as f64).clamp(0.0, 1.0)
                }
                _ => 1.0,
            };
            self.known.insert(process, Share { of_shared, look_at: now + rest });
        }
        let of_shared = self.known.get(&process).map_or(1.0, |share| share.of_shared);
        private + (resident.shared as f64 * of_shared) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_pages_count_by_their_share_which_is_looked_up_now_and_then() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/7")).unwrap();
        let rollup = root.path().join("proc/7/smaps_rollup");
        let files = Files::under(root.path());
        let (mut shares, start) = (Shares::default(), Instant::now());
        let resident = Resident::parse("900 100 40 1 0 0 0", 4_096).unwrap();
        let mut own = |after: Duration| {
            shares.begin(&[7]);
            shares.own(&files, 7, resident, start + after) / 4_096
        };
        std::fs::write(&rollup, "5647-7ffe ---p 00000000 00:00 0  [rollup]\nRss: 400 kB\nPss: 280 kB\nPss_Dirty: 1 kB\n")
            .unwrap();
        assert_eq!(own(Duration::ZERO), 70, "60 private pages and a quarter of the 40 that are shared");
        std::fs::write(&rollup, "Pss: 400 kB\n").unwrap();
        assert_eq!(own(Duration::from_secs(1)), 70, "known");
        assert_eq!(own(Duration::from_secs(3_600)), 100, "looked up again");
        std::fs::remove_file(&rollup).unwrap();
        assert_eq!(own(Duration::from_secs(7_200)), 100, "not to be had: all count");
    }

    #[test]
    fn one_process_is_looked_at_in_a_round() {
        let files = Files::under(tempfile::tempdir().unwrap().path());
        let (mut shares, now) = (Shares::default(), Instant::now());
        let resident = Resident { all: 10, shared: 4 };
        shares.begin(&[1, 2]);
        assert_eq!([1, 2].map(|process| shares.own(&files, process, resident, now)), [10, 10]);
        assert_eq!(shares.known.len(), 1);
        shares.begin(&[2]);
        shares.own(&files, 2, resident, now);
        assert_eq!(shares.known.keys().collect::<Vec<_>>(), [&2], "the other is gone");
    }
}
