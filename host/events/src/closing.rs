//! What happens when an owner leaves.
//!
//! Decision: the rounds of a close run as a task on the manager's own thread, and whoever closes waits for their outcome. So a
//! close that is given up half-way (a cancelled task, a time-out around it) is still carried through, and any executor will do
//! for waiting.

use crate::house::{House, State};
use crate::ownership::{Conclusion, Departure, Leaving, Round};
use crate::progress::{Waiter, WaitsFor};
use crate::subscriber::Place;
use crate::timers::First;
use crate::{Event, waits, worker};
use std::sync::Arc;

impl House {
    /// Takes a reference back, and waits for the round that concerns the leaving one.
    pub(crate) async fn leave(self: &Arc<Self>, leaving: Leaving) {
        // The mark comes first: the round must not wait for a listener that waits for the round.
        let (_, _mark) = worker::begin_wait(self.id, WaitsFor::Close);
        if let Some(round) = self.begin_leave(leaving) {
            // The sender lives as long as this house.
            drop(self.rounds.subscribe().wait_for(|over| *over >= round).await);
        }
    }

    fn begin_leave(self: &Arc<Self>, leaving: Leaving) -> Option<Round> {
        let mut state = self.state();
        match state.ownership.leave(leaving) {
            Departure::NotLast => None,
            Departure::Joins(round) => Some(round),
            Departure::Last(round) => {
                state.timers = None;
                let places = send_last(&mut state);
                self.runtime.spawn(Arc::clone(self).conclude_rounds(places));
                Some(round)
            }
        }
    }

    async fn conclude_rounds(self: Arc<Self>, mut places: Vec<Place>) {
        loop {
            let late = waits::wait_for(places, Waiter::Closing, Some(self.config.close_timeout)).await;
            if !late.is_empty() {
                tracing::warn!(
                    listeners = ?waits::names(&late),
                    waited_ms = self.config.close_timeout.as_millis(),
                    "the event manager closes without waiting longer for listeners; make them faster, or raise its close timeout"
                );
            }
            let mut state = self.state();
            let conclusion = state.ownership.conclude();
            match conclusion {
                Conclusion::GoesOn => self.start_timers(&mut state, First::Later, Vec::new()),
                Conclusion::Stops => state.stop(),
                Conclusion::OnceMore => {}
            }
            places = if conclusion == Conclusion::OnceMore { send_last(&mut state) } else { Vec::new() };
            self.rounds.send_replace(state.ownership.over());
            drop(state);
            match conclusion {
                Conclusion::OnceMore => {}
                Conclusion::GoesOn => return,
                Conclusion::Stops => {
                    for listener in late {
                        listener.abort();
                    }
                    return;
                }
            }
        }
    }
}

/// The last `persistState`, and all that is to be waited for.
fn send_last(state: &mut State) -> Vec<Place> {
    // It finds a place in every queue, so that there is nothing to warn of.
    state.send(&Arc::new(Event::PersistState { is_migrating: false }));
    state.last_places()
}
