//! `events`: what is heard, and what is emitted.
//!
//! Decision: what a listener hears belongs to its instance, as its memory does, so that the two never disagree: both change at once, and
//! both go with the sandbox. Emitting is an effect like any other.

use crate::bindings::nephila::crawler::events;
use crate::failure::one_line;
use crate::fault::Fault;
use crate::sandbox::Inside;
use crate::{json, names};

/// Events that one listener hears.
pub(crate) const MOST: usize = 1_000;

impl events::Host for Inside {
    fn on(&mut self, event: String) -> Result<(), Fault> {
        self.listening(&event)?;
        if self.hears.len() >= MOST && !self.hears.contains(&event) {
            return Err(too_many());
        }
        self.hears.insert(event);
        Ok(())
    }

    fn off(&mut self, event: String) -> Result<(), Fault> {
        self.listening(&event)?;
        self.hears.remove(&event);
        Ok(())
    }

    fn emit(&mut self, event: String, payload: String) -> Result<(), Fault> {
        self.check_time()?;
        let present = self.acting()?;
        names::own_event(&event)?;
        json::check(&payload).map_err(|cause| {
            let (cause, begins) = (one_line(&cause, 200), one_line(&payload, 60));
            Fault::refused("bad-json", format!("the payload of `{event}` is not JSON: {cause}; it begins `{begins}`"))
        })?;
        present.draft.emit(event, json::one_line(&payload).into_owned())
    }
}

impl Inside {
    /// Whether what is heard can be changed here, and whether it could be this.
    fn listening(&mut self, event: &str) -> Result<(), Fault> {
        if !self.present().is_ok_and(|present| present.event.is_some()) {
            let message =
                "only a listener changes what it hears, in `on-event`; what it hears from its start is named in `subscriptions`";
            return Err(Fault::refused("not-a-listener", message));
        }
        names::event(event)
    }
}

/// What is said of one event more.
pub(crate) fn too_many() -> Fault {
    Fault::quota(format!("a listener may hear {MOST} events; put what tells them apart into their payloads"))
}
