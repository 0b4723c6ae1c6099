//! How long a start of a crawl has run, and how much of that the store has.
//!
//! Decision: it is committed with the work, in the same transaction as whatever else is committed, and not by a clock of its own.
//! So however short a start was before it was killed, what is finished per minute is right up to its last commit. It rides on one
//! outcome of a group; if the store refuses that one, the next group takes it along.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The running time of one start.
#[derive(Debug)]
pub struct RunningTime {
    started: Instant,
    state: Mutex<State>,
}

// In whole milliseconds, so that what is added up over many commits loses none.
#[derive(Debug, Default)]
struct State {
    committed: u64,
    in_all: Option<u64>,
}

impl RunningTime {
    /// Runs from then on.
    pub const fn since(started: Instant) -> Self {
        Self { started, state: Mutex::new(State { committed: 0, in_all: None }) }
    }

    /// Milliseconds that are to be committed next. They count as committed once [`Self::note`] is told.
    pub fn news(&self) -> u64 {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.in_all.unwrap_or_else(|| self.millis()).saturating_sub(state.committed)
    }

    /// These were committed.
    pub fn note(&self, millis: u64) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).committed += millis;
    }

    /// What comes after this moment is no running time, such as the writing of the records that show it.
    pub fn stop(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).in_all.get_or_insert(self.millis());
    }

    fn millis(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_was_committed_is_not_committed_again_and_what_was_refused_is() {
        let second = Duration::from_secs(1);
        let Some(started) = Instant::now().checked_sub(second) else { return };
        let time = RunningTime::since(started);
        let first = time.news();
        assert!(first >= 1_000);
        assert!(time.news() >= first, "it was refused, and comes again");
        time.note(first);
        time.stop();
        let rest = time.news();
        assert_eq!(time.news(), rest, "it stands still");
        time.note(rest);
        assert_eq!(time.news(), 0);
    }
}
