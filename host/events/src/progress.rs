//! How far a listener is, for those who wait for it.
//!
//! Decision: one waits for a *place* in a listener's queue, the last one that was given out when the wait began, so that a wait
//! ends however many events follow. Who waits from within a listener cannot be waited for by those it waits for: such listeners
//! are left out of each other's waits for as long as they wait, whoever began first (Crawlee's issue 2088).

use crate::queue::Ticket;

/// How far a listener is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Progress {
    /// The last place that is done with.
    pub(crate) done: Ticket,
    /// Whether a call is under way.
    pub(crate) is_busy: bool,
    /// Whether there will be no other call.
    pub(crate) is_removed: bool,
    /// Waits for listeners that its present call is in.
    pub(crate) waits: usize,
    /// Closes of the manager that its present call is in.
    pub(crate) closes: usize,
}

/// Who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiter {
    /// Somebody that no listener waits for.
    Outside,
    /// A listener, from within.
    Listener,
    /// The close of the last owner, which listeners may wait for.
    Closing,
}

/// What a listener waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitsFor {
    /// Other listeners.
    Listeners,
    /// The close of the manager.
    Close,
}

impl Progress {
    /// Whether the waiter has nothing more to wait for at this place.
    pub(crate) fn is_over(&self, place: Ticket, waiter: Waiter) -> bool {
        let cannot_be_waited_for = match waiter {
            Waiter::Outside => false,
            Waiter::Listener => self.waits + self.closes > 0,
            Waiter::Closing => self.closes > 0,
        };
        self.done >= place || (self.is_removed && !self.is_busy) || cannot_be_waited_for
    }

    pub(crate) fn begin_wait(&mut self, what: WaitsFor) {
        *self.count(what) += 1;
    }

    pub(crate) fn end_wait(&mut self, what: WaitsFor) {
        let count = self.count(what);
        *count = count.saturating_sub(1);
    }

    fn count(&mut self, what: WaitsFor) -> &mut usize {
        match what {
            WaitsFor::Listeners => &mut self.waits,
            WaitsFor::Close => &mut self.closes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: [Waiter; 3] = [Waiter::Outside, Waiter::Listener, Waiter::Closing];

    #[test]
    fn a_place_is_over_when_it_is_done_or_will_never_be_called() {
        let busy = Progress { done: 3, is_busy: true, ..Progress::default() };
        for waiter in EACH {
            assert!(busy.is_over(3, waiter) && !busy.is_over(4, waiter));
            let removed = Progress { is_removed: true, ..busy };
            assert!(!removed.is_over(4, waiter), "its call is under way");
            assert!(Progress { is_busy: false, ..removed }.is_over(4, waiter));
        }
    }

    #[test]
    fn a_listener_that_waits_is_left_out_by_those_it_may_wait_for() {
        let over = |progress: Progress| EACH.map(|waiter| progress.is_over(1, waiter));
        let mut progress = Progress { is_busy: true, ..Progress::default() };
        progress.begin_wait(WaitsFor::Listeners);
        assert_eq!(over(progress), [false, true, false]);
        progress.begin_wait(WaitsFor::Close);
        assert_eq!(over(progress), [false, true, true]);
        progress.end_wait(WaitsFor::Close);
        progress.end_wait(WaitsFor::Listeners);
        assert_eq!(over(progress), [false, false, false]);
    }
}
