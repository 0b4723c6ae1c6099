//! The clock that runs while the host works on a page for a plugin.
//!
//! Decision: epochs do not cover host code, so that every loop over a page asks this clock, at every step but looking at the
//! time only at each 256th. It is the thread's processor time: a query never waits, and a busy machine must not make a page look
//! slow. What runs out ends with an error of the host's, and the plugin may go on.

use crate::fault::Fault;
use crate::meter::thread_clock;
use std::cell::Cell;
use std::time::Duration;

/// Levels that a search below an element (`:has()`) goes down: it needs stack for each. Browsers build no page of more than 512.
pub(crate) const DEEPEST: u32 = 512;

/// Time and bytes that one query may take.
pub(crate) struct Watch {
    /// On the thread's clock.
    deadline: u64,
    allowed: Duration,
    steps: Cell<u32>,
    over: Cell<bool>,
    too_deep: Cell<bool>,
    bytes_left: Cell<usize>,
}

impl Watch {
    pub(crate) fn new(allowed: Duration, bytes: usize) -> Self {
        Self {
            deadline: thread_clock().saturating_add(u64::try_from(allowed.as_nanos()).unwrap_or(u64::MAX)),
            allowed,
            steps: Cell::new(0),
            over: Cell::new(false),
            too_deep: Cell::new(false),
            bytes_left: Cell::new(bytes),
        }
    }

    /// One step of work. `false` once the time is over, and then for ever.
    pub(crate) fn step(&self) -> bool {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if steps.is_multiple_of(256) && thread_clock() > self.deadline {
            self.over.set(true);
        }
        !self.over.get()
    }

    /// Ends the query: the page goes deeper than it may be followed on this stack.
    pub(crate) fn end_too_deep(&self) {
        self.too_deep.set(true);
        self.over.set(true);
    }

    /// Whether the query is to end, looking at the clock.
    pub(crate) fn check(&self, code: &'static str, what: &str) -> Result<(), Fault> {
        if self.too_deep.get() {
            return Err(Fault::refused(
                "page-too-deep",
                format!(
                    "the page has elements within elements more than {DEEPEST} levels down, deeper than `:has()` is followed; write the selector without it"
                ),
            ));
        }
        if self.over.get() || thread_clock() > self.deadline {
            self.over.set(true);
            let millis = self.allowed.as_millis();
            return Err(Fault::refused(
                code,
                format!("{what} took longer than {millis} ms; ask for less, or write a simpler selector"),
            ));
        }
        Ok(())
    }

    /// Takes from the bytes that the query may answer with.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), Fault> {
        match self.bytes_left.get().checked_sub(bytes) {
            Some(left) => {
                self.bytes_left.set(left);
                Ok(())
            }
            None => Err(Fault::quota("the page query would answer with more bytes than it may; ask for less at once")),
        }
    }
}
