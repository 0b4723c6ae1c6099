//! The clock that runs while the host works on a page for a plugin.
//!
//! Decision: epochs do not cover host code, so that every loop over a page asks this clock, but it looks at the time only once in a while:
//! a look is a system call, and a step takes less than it. Work is counted by its size before it is done, for a page may be one attribute
//! of 32 MiB. The time counts from the first look, so that a small query costs none; up to it a millisecond may pass.
//! It is the thread's processor time: a query never waits, and a busy machine must not make a page look slow. What runs out ends
//! with an error of the host's, and the plugin may go on.

use crate::clock::thread_clock;
use crate::fault::PageFault;
use std::cell::Cell;
use std::time::Duration;

/// Levels that a search below an element (`:has()`) goes down: it needs stack for each. Browsers build no page of more than 512.
pub(crate) const DEEPEST: u32 = 512;

/// What a step from element to element counts for, in bytes that are looked through.
pub(crate) const STEP: usize = 256;

/// What any piece of work counts for, however short the text.
const LEAST: u64 = 16;

/// The work between two looks at the clock, in bytes: fractions of a millisecond.
const LOOK: u64 = 256 << 10;

/// Time and bytes that one query may take.
#[derive(Debug)]
pub struct Watch {
    /// On the thread's clock; none before the first look at it.
    deadline: Cell<Option<u64>>,
    allowed: Duration,
    /// Work so far, in bytes looked through.
    done: Cell<u64>,
    over: Cell<bool>,
    too_deep: Cell<bool>,
    bytes_left: Cell<usize>,
}

impl Watch {
    /// A query that may take so much processor time of this thread, and answer with so many bytes.
    #[must_use]
    pub fn new(allowed: Duration, bytes: usize) -> Self {
        Self {
            deadline: Cell::new(None),
            allowed,
            done: Cell::new(0),
            over: Cell::new(false),
            too_deep: Cell::new(false),
            bytes_left: Cell::new(bytes),
        }
    }

    /// One step of work. `false` once the time is over, and then for ever.
    pub fn step(&self) -> bool {
        self.work(STEP)
    }

    /// Work that grows with the length of a text, about to be done. `false`: it is not to be, as the time is over.
    #[inline]
    pub(crate) fn work(&self, bytes: usize) -> bool {
        let before = self.done.get();
        let after = before.saturating_add(LEAST.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX)));
        self.done.set(after);
        if before / LOOK != after / LOOK && self.is_late() {
            self.over.set(true);
        }
        !self.over.get()
    }

    /// Whether the query has ended: what was answered since is no answer.
    pub(crate) fn is_over(&self) -> bool {
        self.over.get()
    }

    /// Looks at the clock.
    fn is_late(&self) -> bool {
        let now = thread_clock();
        match self.deadline.get() {
            Some(deadline) => now > deadline,
            None => {
                let allowed = u64::try_from(self.allowed.as_nanos()).unwrap_or(u64::MAX);
                self.deadline.set(Some(now.saturating_add(allowed)));
                false
            }
        }
    }

    /// Ends the query: the page goes deeper than it may be followed on this stack.
    pub(crate) fn end_too_deep(&self) {
        self.too_deep.set(true);
        self.over.set(true);
    }

    /// Whether the query has ended, without a look at the clock.
    pub(crate) fn settle(&self, code: &'static str, what: &str) -> Result<(), PageFault> {
        if self.over.get() { self.check(code, what) } else { Ok(()) }
    }

    /// Whether the query is to end, looking at the clock.
    ///
    /// # Errors
    /// [`PageFault`] with `code` if its time is over; `what` says what took so long.
    pub fn check(&self, code: &'static str, what: &str) -> Result<(), PageFault> {
        if self.too_deep.get() {
            return Err(PageFault::new(
                "page-too-deep",
                format!(
                    "the page has elements within elements more than {DEEPEST} levels down, deeper than `:has()` is followed; write the selector without it"
                ),
            ));
        }
        if self.over.get() || self.is_late() {
            self.over.set(true);
            let millis = self.allowed.as_millis();
            return Err(PageFault::new(
                code,
                format!("{what} took longer than {millis} ms; ask for less, write a simpler selector, or raise `query-timeout`"),
            ));
        }
        Ok(())
    }

    /// Takes from the bytes that the query may answer with.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), PageFault> {
        match self.bytes_left.get().checked_sub(bytes) {
            Some(left) => {
                self.bytes_left.set(left);
                Ok(())
            }
            None => Err(PageFault::quota("the page query would answer with more bytes than it may; ask for less at once")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_work_reads_no_clock_and_large_work_does_at_once() {
        let watch = Watch::new(Duration::ZERO, 0);
        assert!((0..900).all(|_| watch.step()));
        assert_eq!(watch.deadline.get(), None, "no look");
        assert!(watch.work(32 << 20), "the first look starts the clock");
        assert!(watch.deadline.get().is_some());
        while watch.work(1) {}
        assert!(watch.is_over() && !watch.step() && watch.settle("late", "it").is_err());
    }
}
