//! Beginning with fewer than the most, where memory might not bear the most.
//!
//! Decision: what a request takes of memory is not known before some are in flight, and memory is looked at once a second: enough
//! time for five hundred pages at once to end a process of 200 MB. So a crawl begins with as many as would fit if each took what
//! a large page with its sandbox takes, beside what other crawls of the process have promised (`budget.rs`), and half as many are
//! added each time that memory, looked at anew, is roomy. On a machine with some gigabytes that is all of them from the
//! beginning.

use crate::controller::Observations;
use crate::controller::brake::Brake;
use crate::settings::AutoscaleSettings;
use crate::snapshotter::MemoryLevel;
use crate::system_info::MemoryInfo;
use std::time::Instant;

/// What a large page, its tree and its sandbox take while they are in hand.
const ONE_REQUEST: u64 = 8 << 20;

/// So many requests may be in flight before it is known what they take. At least 1; without bounds where the system does not say
/// what memory there is.
#[must_use]
pub fn first_concurrency(memory: MemoryInfo, settings: &AutoscaleSettings) -> usize {
    let left = |used: u64, of: u64| if of == 0 { u64::MAX } else { of.saturating_sub(used) };
    let own = left(memory.current, settings.max_used_memory.of(memory.allowed));
    let wide = left(memory.system_wide_used, settings.max_system_memory.of(memory.total));
    usize::try_from(own.min(wide) / ONE_REQUEST).unwrap_or(usize::MAX).max(1)
}

/// Grows step by step.
#[derive(Debug, Default)]
pub(super) struct WarmUp {
    /// When the sample was taken that the last step went by.
    looked_at: Option<Instant>,
}

/// What a look came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// So many now.
    To(usize),
    /// Nothing new is known, or no more are wanted.
    Wait,
    /// Memory has no more room. What it bears is from now on found out by trials.
    End,
}

impl WarmUp {
    /// Looks at the newest sample, with `limit` in flight at most.
    pub(super) fn step(&mut self, now: Instant, limit: usize, seen: &Observations, brake: &Brake) -> Step {
        let Some(memory) = seen.memory.filter(|memory| Some(memory.at) > self.looked_at) else { return Step::Wait };
        if memory.level > MemoryLevel::Roomy {
            return Step::End;
        }
        if !seen.are_held_back() {
            return Step::Wait;
        }
        self.looked_at = Some(memory.at);
        match brake.bearable(now, limit, limit.saturating_add(limit.div_ceil(2))) {
            to if to > limit => Step::To(to),
            _ => Step::End,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::tests::{Plain, observations};
    use crate::decision::Reason;
    use crate::snapshotter::MemoryState;

    const MB: u64 = 1 << 20;

    fn first(current: u64, allowed: u64, wide: u64, total: u64) -> usize {
        let memory = MemoryInfo { current: current * MB, allowed: allowed * MB, system_wide_used: wide * MB, total: total * MB };
        first_concurrency(memory, &AutoscaleSettings::default())
    }

    #[test]
    fn a_small_container_begins_with_few_and_a_usual_machine_with_all() {
        assert_eq!(first(30, 220, 60, 220), 19, "0.97 of 220 MB without the 60 that are used");
        assert_eq!(first(30, 512, 60, 512), 53, "0.9 of 512 MB without the 30 that are ours");
        assert_eq!(first(30, 6_000, 4_000, 24_000), 671);
        assert_eq!(first(300, 200, 300, 200), 1, "never none");
        assert!(first(0, 0, 0, 0) > 1_000_000, "nothing is known");
    }

    fn with_memory(system: &Plain, limit: usize, level: MemoryLevel, used: f64) -> Observations {
        let mut seen = observations(limit, 10 * limit as u64);
        seen.memory = Some(MemoryState { at: system.now(), level, used, limit: 0.9 });
        seen
    }

    #[test]
    fn it_grows_by_half_while_memory_is_roomy_up_to_the_most() {
        let mut system = Plain::starting_with(1, 64, 10);
        assert_eq!(system.decision(), (10, Reason::Start));
        let mut steps = vec![10];
        for _ in 0..60 {
            let seen = with_memory(&system, system.decision().0, MemoryLevel::Roomy, 0.1);
            let decision = system.second(&seen);
            if steps.last() != Some(&decision) {
                steps.push(decision);
            }
        }
        assert_eq!(steps, [10, 15, 23, 35, 53, 64]);
    }

    #[test]
    fn it_stays_where_memory_is_tight_where_no_more_are_wanted_and_without_a_sample() {
        let mut tight = Plain::starting_with(1, 64, 10);
        let mut met = Plain::starting_with(1, 64, 10);
        let mut blind = Plain::starting_with(1, 64, 10);
        for _ in 0..50 {
            let seen = with_memory(&tight, 10, MemoryLevel::Tight, 0.8);
            assert_eq!(tight.second(&seen), 10);
            let mut seen = with_memory(&met, 10, MemoryLevel::Roomy, 0.1);
            seen.work.held_back = std::time::Duration::ZERO;
            assert_eq!(met.second(&seen), 10);
            assert_eq!(blind.second(&observations(10, 100)), 10);
        }
    }
}
