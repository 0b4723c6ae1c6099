//! What is done when the machine has no memory for a sandbox.
//!
//! Decision: such a page is not the worse for it: it waits and is tried again, and that is none of its retries. Where no call gets through
//! any more, the start ends, to be resumed when there is memory: to fail page after page would empty the queue.

use nephila_model::{QueuedRequest, RequestSpec, SiteKey, Timestamp, Verdict};
use std::sync::atomic::{AtomicU32, Ordering};

/// Calls in a row that the machine has no memory for before the start ends; and of each that is in hand, since one shortage meets them all.
const MOST: u32 = 30;
const OF_EACH: usize = 5;

/// So often a request waits while others get through: then it is its own page that needs too much, and it fails as others do.
const OF_ONE: u32 = 20;

/// Others get through if so few in a row do not.
const FEW: u32 = 3;

/// A call that the machine had no memory for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starved {
    /// How many in a row there are with this one.
    pub times: u32,
    /// What was said of it.
    pub cause: String,
}

impl Starved {
    /// Whether nothing gets through any more, with so many visits in hand.
    pub fn is_the_end(&self, in_hand: usize) -> bool {
        let all = u32::try_from(in_hand.saturating_mul(OF_EACH)).unwrap_or(u32::MAX);
        self.times >= MOST.max(all)
    }

    /// Whether it is this request alone that gets no memory.
    pub fn is_its_own(&self, request: &QueuedRequest) -> bool {
        self.times <= FEW && request.spec.starvations >= OF_ONE
    }
}

/// Calls in a row that the machine had no memory for.
#[derive(Debug, Default)]
pub struct Hardship(AtomicU32);

impl Hardship {
    /// One more.
    pub fn note(&self, cause: String) -> Starved {
        Starved { times: self.0.fetch_add(1, Ordering::Relaxed).saturating_add(1), cause }
    }

    /// A call had its sandbox.
    pub fn is_over(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// A request as it was claimed, to be tried again later.
pub fn postponed(request: &QueuedRequest, site: &SiteKey, not_before: Timestamp) -> Verdict {
    Verdict::Moved {
        url: request.url.clone(),
        site: site.clone(),
        chain: request.chain.clone(),
        spec: Box::new(RequestSpec { starvations: request.spec.starvations.saturating_add(1), ..request.spec.clone() }),
        not_before: Some(not_before),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_that_meets_all_in_hand_at_once_is_not_the_end() {
        let starved = |times| Starved { times, cause: String::new() };
        assert!(!starved(29).is_the_end(1) && starved(30).is_the_end(1));
        assert!(!starved(64).is_the_end(64) && starved(320).is_the_end(64));
    }

    #[test]
    fn a_call_that_gets_through_begins_the_count_anew() {
        let hardship = Hardship::default();
        assert_eq!([1, 2], [(); 2].map(|()| hardship.note(String::new()).times));
        hardship.is_over();
        assert_eq!(hardship.note(String::new()).times, 1);
    }
}
