//! What the crawls of a process may put in flight before it is known what their requests take.
//!
//! Decision: memory is the process's, and a crawl that begins sees only what is used by now, not what others that have just begun
//! will use. So each promises what it may put in flight, and one that begins takes what free memory bears beside the promises of
//! the others. A promise is kept as far as requests have ended, for what they took has been seen: a crawl that has run for a
//! while promises nothing. Numbers alone are shared, and no crawl waits for another: each has one request at least.

use crate::settings::Bounds;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What is promised by all who share it. Clones are the same budget.
#[derive(Debug, Clone, Default)]
pub struct Budget(Arc<Mutex<usize>>);

impl Budget {
    /// The one of this process.
    #[must_use]
    pub fn of_process() -> Self {
        static PROCESS: OnceLock<Budget> = OnceLock::new();
        PROCESS.get_or_init(Self::default).clone()
    }

    /// Takes part in it, where free memory bears `free` requests (see [`crate::first_concurrency`]): how many to begin with,
    /// within `bounds`, and the promise of them.
    #[must_use]
    pub fn begin(&self, free: usize, bounds: Bounds) -> (usize, Promise) {
        let mut promised = self.promised();
        let first = bounds.clamp(free.saturating_sub(*promised));
        *promised += first;
        drop(promised);
        (first, Promise { budget: self.clone(), limit: first, ended: 0, open: first })
    }

    fn promised(&self) -> MutexGuard<'_, usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The share of one crawl. It is given back when this is dropped.
#[derive(Debug)]
pub struct Promise {
    budget: Budget,
    limit: usize,
    ended: usize,
    open: usize,
}

impl Promise {
    /// So many may be in flight from now on.
    pub fn allow(&mut self, limit: usize) {
        self.limit = limit;
        self.settle();
    }

    /// One has ended: what it took was seen.
    pub fn ended(&mut self) {
        self.ended = self.ended.saturating_add(1);
        self.settle();
    }

    fn settle(&mut self) {
        let open = self.limit.saturating_sub(self.ended);
        if open != self.open {
            let mut promised = self.budget.promised();
            *promised = promised.saturating_sub(self.open).saturating_add(open);
            self.open = open;
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        let mut promised = self.budget.promised();
        *promised = promised.saturating_sub(self.open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    fn up_to(most: usize) -> Bounds {
        Bounds::up_to(NonZeroUsize::new(most).expect("a number"))
    }

    #[test]
    fn crawls_that_begin_together_take_no_more_than_there_is() {
        let budget = Budget::default();
        let (first, _one) = budget.begin(53, up_to(40));
        let (second, two) = budget.begin(53, up_to(40));
        let (third, _three) = budget.begin(53, up_to(40));
        assert_eq!((first, second, third), (40, 13, 1), "and never none");
        drop(two);
        assert_eq!(budget.begin(53, up_to(40)).0, 12, "what is given back is free");
        assert_eq!(budget.begin(usize::MAX, up_to(40)).0, 40, "where nothing is known of memory");
    }

    #[test]
    fn what_ended_requests_took_was_seen_and_is_promised_no_more() {
        let budget = Budget::default();
        let (_, mut one) = budget.begin(20, up_to(16));
        (0..10).for_each(|_| one.ended());
        assert_eq!(budget.begin(20, up_to(16)).0, 14, "six are still to be seen");
        one.allow(24);
        assert_eq!(budget.begin(20, up_to(16)).0, 6, "and eight more");
        (0..100).for_each(|_| one.ended());
        assert_eq!(budget.begin(20, up_to(16)).0, 16);
        one.allow(1);
        drop(one);
        assert_eq!(*budget.promised(), 0);
    }
}
