//! What is done when the machine has no memory for a sandbox.
//!
//! Decision: such a page is not the worse for it: it waits and is tried again, and that is none of its retries. Where no call gets through
//! any more, the start ends, to be resumed when there is memory: to fail page after page would empty the queue.

use nephila_model::{QueuedRequest, SiteKey, Timestamp, Verdict};
use std::sync::atomic::{AtomicU32, Ordering};

/// Calls in a row that the machine has no memory for before the start ends.
pub const MOST: u32 = 30;

/// A call that the machine had no memory for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starved {
    /// How many in a row there are with this one.
    pub times: u32,
    /// What was said of it.
    pub cause: String,
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
        spec: Box::new(request.spec.clone()),
        not_before: Some(not_before),
    }
}
