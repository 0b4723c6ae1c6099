//! What one gets for a registered listener.
//!
//! Decision: dropping it changes nothing. Most listeners are there for as long as their manager runs, and one that ended because
//! somebody ignored a return value would be found out late. [`crate::Events::off`] ends one.

use crate::ListenerId;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

/// A registered listener, from outside. Cheap to clone.
#[derive(Clone)]
pub struct Subscription {
    id: ListenerId,
    name: Arc<str>,
    stats: Arc<dyn Fn() -> SubscriptionStats + Send + Sync>,
}

impl Subscription {
    /// For managers of one's own: `stats` is asked for the counts when somebody wants to know.
    pub fn new(id: ListenerId, name: Arc<str>, stats: impl Fn() -> SubscriptionStats + Send + Sync + 'static) -> Self {
        Self { id, name, stats: Arc::new(stats) }
    }

    /// Which listener, for [`crate::Events::off`].
    #[must_use]
    pub fn id(&self) -> ListenerId {
        self.id
    }

    /// What the log calls it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What became of its events so far.
    #[must_use]
    pub fn stats(&self) -> SubscriptionStats {
        (self.stats)()
    }
}

impl Debug for Subscription {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}

/// What became of a listener's events since it was registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SubscriptionStats {
    /// Calls that ended well.
    pub handled: u64,
    /// Calls that ended with an error or a panic.
    pub failed: u64,
    /// Events that gave way to a newer one of their kind before their turn came.
    pub replaced: u64,
    /// Events that found the queue full and were dropped.
    pub dropped: u64,
    /// Events that wait now, the one being handled apart.
    pub waiting: usize,
    /// Events that it is being called for now: one or none. Of the same moment as `waiting`: an event that is not over is in one
    /// of both.
    pub handling: usize,
}
