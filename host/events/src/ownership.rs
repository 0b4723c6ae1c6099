//! Who holds the manager, and when it starts and stops: a state machine without threads, time or listeners.
//!
//! Decision: every step is taken under one lock together with what follows from it (timers started or stopped, the last
//! `persistState` put into the queues, listeners cleared), so that no two steps see half of each other. Only the wait for
//! listeners is outside: it lies between [`Ownership::leave`], which begins a *round*, and [`Ownership::conclude`], which looks
//! again at who holds the manager now. Crawlee decides before the wait, and that is where it loses timers and listeners.
//! `ownership/interleavings.rs` runs all of this through every interleaving of threads with loom.
//!
//! The lazy reference is that of the first `on` or `emit` before anybody entered. An owner's leaving does not touch it.

#[cfg(test)]
mod interleavings;

/// The references to the manager.
#[derive(Debug, Default)]
pub(crate) struct Ownership {
    owners: usize,
    lazily_held: bool,
    phase: Phase,
    /// Rounds that were begun.
    begun: Round,
    /// Rounds that are over.
    over: Round,
}

/// A last `persistState` and the wait for those who get it. The first is 1.
pub(crate) type Round = u64;

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Stopped,
    Running,
    Closing(Closing),
}

#[derive(Debug)]
struct Closing {
    /// Whether somebody has left as the last one since this round's `persistState` was sent, and needs one of their own.
    one_more: bool,
    /// Whose closing it is.
    whose: Leaving,
}

/// What a leaving one gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    /// Their own reference.
    Own,
    /// Theirs and the lazy one: nobody else would.
    OwnAndLazy,
}

/// What somebody without a reference does with the manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    /// They register a listener, which is to stay.
    Listen,
    /// They emit, or do anything from within a listener, which must not keep the manager from stopping.
    Pass,
}

/// What follows from an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Arrival {
    /// It was stopped: timers are to start, with the first `persistState`.
    Starts,
    /// It runs, or what is being closed will go on.
    Runs,
}

/// What follows from a leaving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Departure {
    /// Others hold it: nothing.
    NotLast,
    /// Timers are to stop, the last `persistState` is to be sent, and when its listeners are done, the round is to be concluded.
    /// The leaving one waits until it is over.
    Last(Round),
    /// A round is under way, and another one will follow for the leaving one, who waits until it is over.
    Joins(Round),
}

/// What follows from a reference that was given back without a close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Abandonment {
    /// Others hold it, or are closing it: nothing.
    NotLast,
    /// It is to stop at once: timers stop, listeners are cleared.
    Stops,
}

/// What follows when the listeners of a round are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Conclusion {
    /// Somebody came meanwhile: timers are to start again, listeners stay.
    GoesOn,
    /// Somebody came and went meanwhile: another `persistState` is to be sent, and its round to be concluded.
    OnceMore,
    /// Listeners are to be cleared.
    Stops,
}

impl Ownership {
    /// Somebody enters.
    pub(crate) fn enter(&mut self) -> Arrival {
        self.owners += 1;
        self.arrive()
    }

    /// Somebody uses it who has not entered.
    pub(crate) fn touch(&mut self, touch: Touch) -> Arrival {
        match &self.phase {
            Phase::Stopped => self.lazily_held = true,
            Phase::Closing(_) if touch == Touch::Listen && !self.is_held() => self.lazily_held = true,
            Phase::Running | Phase::Closing(_) => {}
        }
        self.arrive()
    }

    fn arrive(&mut self) -> Arrival {
        if matches!(self.phase, Phase::Stopped) {
            self.phase = Phase::Running;
            return Arrival::Starts;
        }
        Arrival::Runs
    }

    /// An owner closes.
    pub(crate) fn leave(&mut self, leaving: Leaving) -> Departure {
        self.owners = self.owners.saturating_sub(1);
        if leaving == Leaving::OwnAndLazy {
            self.lazily_held = false;
        }
        let is_held = self.is_held();
        match &mut self.phase {
            Phase::Stopped => Departure::NotLast,
            Phase::Running if is_held => Departure::NotLast,
            Phase::Running => {
                self.phase = Phase::Closing(Closing { one_more: false, whose: leaving });
                self.begun += 1;
                Departure::Last(self.begun)
            }
            Phase::Closing(closing) => {
                if leaving == Leaving::OwnAndLazy {
                    closing.whose = leaving;
                }
                if is_held {
                    return Departure::NotLast;
                }
                closing.one_more = true;
                Departure::Joins(self.begun + 1)
            }
        }
    }

    /// An owner goes without a close.
    pub(crate) fn abandon(&mut self) -> Abandonment {
        self.owners = self.owners.saturating_sub(1);
        if matches!(self.phase, Phase::Running) && !self.is_held() {
            self.phase = Phase::Stopped;
            return Abandonment::Stops;
        }
        Abandonment::NotLast
    }

    /// The listeners of the round that was begun last are done.
    pub(crate) fn conclude(&mut self) -> Conclusion {
        let Phase::Closing(Closing { one_more, whose }) = self.phase else { return Conclusion::GoesOn };
        // A listener that came while its manager was being closed for good gets its `persistState`, too.
        let came_late = whose == Leaving::OwnAndLazy && std::mem::take(&mut self.lazily_held);
        let is_held = self.is_held();
        if is_held || !came_late {
            // Otherwise the wrapper's round is not over: its process would end before the listener is done.
            self.over = self.begun;
        }
        self.begun += Round::from(one_more);
        if is_held {
            // Who waits for the next round does not close last any more.
            self.over = self.begun;
            self.phase = Phase::Running;
            return Conclusion::GoesOn;
        }
        if one_more || came_late {
            self.phase = Phase::Closing(Closing { one_more: false, whose });
            return Conclusion::OnceMore;
        }
        self.phase = Phase::Stopped;
        Conclusion::Stops
    }

    /// The last round that is over.
    pub(crate) fn over(&self) -> Round {
        self.over
    }

    fn is_held(&self) -> bool {
        self.owners > 0 || self.lazily_held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_starts_it_and_the_last_one_closes_it() {
        let mut ownership = Ownership::default();
        assert_eq!(ownership.enter(), Arrival::Starts);
        assert_eq!(ownership.enter(), Arrival::Runs);
        assert_eq!(ownership.leave(Leaving::Own), Departure::NotLast);
        assert_eq!(ownership.leave(Leaving::Own), Departure::Last(1));
        assert_eq!(ownership.over(), 0);
        assert_eq!(ownership.conclude(), Conclusion::Stops);
        assert_eq!(ownership.over(), 1);
        assert_eq!(ownership.enter(), Arrival::Starts, "it can be started again");
    }

    #[test]
    fn an_owner_that_comes_and_goes_leaves_the_lazy_reference_alone() {
        let mut ownership = Ownership::default();
        assert_eq!(ownership.touch(Touch::Pass), Arrival::Starts);
        assert_eq!(ownership.touch(Touch::Listen), Arrival::Runs);
        assert_eq!(ownership.enter(), Arrival::Runs);
        assert_eq!(ownership.leave(Leaving::Own), Departure::NotLast);
        assert_eq!(ownership.enter(), Arrival::Runs);
        assert_eq!(ownership.leave(Leaving::OwnAndLazy), Departure::Last(1), "the wrapper gives both back");
        assert_eq!(ownership.conclude(), Conclusion::Stops);
    }

    #[test]
    fn a_touch_while_somebody_owns_it_takes_no_reference() {
        let mut ownership = Ownership::default();
        assert_eq!(ownership.enter(), Arrival::Starts);
        assert_eq!(ownership.touch(Touch::Listen), Arrival::Runs);
        assert_eq!(ownership.leave(Leaving::Own), Departure::Last(1));
    }

    #[test]
    fn an_entry_during_the_close_makes_it_go_on() {
        let mut ownership = Ownership::default();
        assert_eq!(ownership.enter(), Arrival::Starts);
        assert_eq!(ownership.leave(Leaving::Own), Departure::Last(1));
        assert_eq!(ownership.enter(), Arrival::Runs);
        assert_eq!(ownership.conclude(), Conclusion::GoesOn);
        assert_eq!(ownership.leave(Leaving::Own), Departure::Last(2));
        assert_eq!(ownership.conclude(), Conclusion::Stops);
    }

    #[test]
    fn one_that_came_and_went_during_the_close_gets_a_round_of_its_own() {
        let mut ownership = Ownership::default();
        assert_eq!(ownership.enter(), Arrival::Starts);
        assert_eq!(ownership.leave(Leaving::Own), Departure::Last(1));
        assert_eq!(ownership.enter(), Arrival::Runs);
        assert_eq!(ownership.leave(Leaving::Own), Departure::Joins(2));
        assert_eq!(ownership.conclude(), Conclusion::OnceMore);
        assert_eq!(ownership.over(), 1);
        assert_eq!(ownership.conclude(), Conclusion::Stops);
        assert_eq!(ownership.over(), 2);
    }

    #[test]
    fn one_that_waits_for_a_round_of_its_own_is_let_go_when_another_has_come() {
        let mut ownership = Ownership::default();
        assert_eq!(ownership.enter(), Arrival::Starts);
        assert_eq!(ownership.leave(Leaving::Own), Departure::Last(1));
        assert_eq!(ownership.enter(), Arrival::Runs);
        assert_eq!(ownership.leave(Leaving::Own), Departure::Joins(2));
        assert_eq!(ownership.enter(), Arrival::Runs);
        assert_eq!(ownership.conclude(), Conclusion::GoesOn);
        assert_eq!(ownership.over(), 2);
        assert_eq!(ownership.leave(Leaving::Own), Departure::Last(3));
    }

    #[test]
    fn one_that_goes_during_the_close_while_another_stays_waits_for_nothing() {
        let mut ownership = Ownership::default();
        assert_eq!(ownership.enter(), Arrival::Starts);
        assert_eq!(ownership.leave(Leaving::Own), Departure::Last(1));
        assert_eq!(ownership.enter(), Arrival::Runs);
        assert_eq!(ownership.enter(), Arrival::Runs);
        assert_eq!(ownership.leave(Leaving::Own), Departure::NotLast);
        assert_eq!(ownership.conclude(), Conclusion::GoesOn);
    }

    #[test]
    fn a_listener_that_comes_during_the_close_stays_unless_it_is_the_wrappers() {
        for (leaving, conclusion) in [(Leaving::Own, Conclusion::GoesOn), (Leaving::OwnAndLazy, Conclusion::OnceMore)] {
            let mut ownership = Ownership::default();
            assert_eq!(ownership.enter(), Arrival::Starts);
            assert_eq!(ownership.leave(leaving), Departure::Last(1));
            assert_eq!(ownership.touch(Touch::Listen), Arrival::Runs);
            assert_eq!(ownership.conclude(), conclusion);
            let waits_on = conclusion == Conclusion::OnceMore;
            assert_eq!(ownership.over(), if waits_on { 0 } else { 1 }, "the wrapper waits for it");
        }
    }

    #[test]
    fn what_passes_during_the_close_does_not_prolong_it() {
        let mut ownership = Ownership::default();
        assert_eq!(ownership.enter(), Arrival::Starts);
        assert_eq!(ownership.leave(Leaving::Own), Departure::Last(1));
        assert_eq!(ownership.touch(Touch::Pass), Arrival::Runs);
        assert_eq!(ownership.conclude(), Conclusion::Stops);
    }

    #[test]
    fn an_abandoned_reference_stops_it_only_if_it_was_the_last() {
        let mut ownership = Ownership::default();
        assert_eq!(ownership.enter(), Arrival::Starts);
        assert_eq!(ownership.enter(), Arrival::Runs);
        assert_eq!(ownership.abandon(), Abandonment::NotLast);
        assert_eq!(ownership.abandon(), Abandonment::Stops);
        assert_eq!(ownership.enter(), Arrival::Starts);
        assert_eq!(ownership.leave(Leaving::Own), Departure::Last(1));
        assert_eq!(ownership.enter(), Arrival::Runs);
        assert_eq!(ownership.abandon(), Abandonment::NotLast, "the close that is under way ends it");
        assert_eq!(ownership.conclude(), Conclusion::Stops);
    }
}
