//! Where a crawl's time goes, step by step along the line.
//!
//! Decision: always on, since what is measured only when somebody thinks of it is never there when it is asked for. A step costs two looks
//! at a clock and one addition. The sums live in memory and are committed with the running time, about once a second: a kill loses the
//! last second of the profile, and nothing else.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A step that a page takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// Choosing the next request, with reading rows when the window on the queue runs low.
    Claim,
    /// From sending a request to its last byte, waiting included: fetches run side by side, so that this sum may be many times the
    /// running time.
    Fetch,
    /// Decompressing bodies and finding out their character encodings.
    Decode,
    /// Parsing pages and scanning them for links, where the plugin asked for it.
    Parse,
    /// Making the sandbox and running the plugin's own code in it.
    Sandbox,
    /// What the host does for the plugin when it is called by it: selectors, links, checks of what is enqueued and pushed. Without the
    /// parsing, and without waiting for the store.
    HostCalls,
    /// Committing outcomes.
    Commit,
    /// Writing outputs.
    Export,
}

impl Step {
    /// All steps, in the order in which a page takes them.
    pub const ALL: [Self; 8] =
        [Self::Claim, Self::Fetch, Self::Decode, Self::Parse, Self::Sandbox, Self::HostCalls, Self::Commit, Self::Export];

    /// The name in the store, and in tables for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Fetch => "fetch",
            Self::Decode => "decode",
            Self::Parse => "parse",
            Self::Sandbox => "sandbox",
            Self::HostCalls => "host-calls",
            Self::Commit => "commit",
            Self::Export => "export",
        }
    }

    /// From its name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.name() == name)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Time per step, added up by whoever takes one.
#[derive(Debug, Default)]
pub struct Profile([AtomicU64; Step::ALL.len()]);

impl Profile {
    /// Adds to a step.
    pub fn add(&self, step: Step, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0[step as usize].fetch_add(nanos, Ordering::Relaxed);
    }

    /// Adds to a step what has passed since it began.
    pub fn since(&self, step: Step, began: Instant) {
        self.add(step, began.elapsed());
    }

    /// What a step has taken so far.
    #[must_use]
    pub fn get(&self, step: Step) -> Duration {
        Duration::from_nanos(self.0[step as usize].load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_named_and_added_up_each_for_itself() {
        let profile = Profile::default();
        profile.add(Step::Parse, Duration::from_micros(3));
        profile.add(Step::Parse, Duration::from_micros(4));
        for (index, step) in Step::ALL.into_iter().enumerate() {
            assert_eq!(step as usize, index);
            assert_eq!(Step::parse(step.name()), Some(step));
            assert_eq!(profile.get(step), Duration::from_micros(if step == Step::Parse { 7 } else { 0 }));
        }
    }
}
