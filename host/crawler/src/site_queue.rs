//! One site's part of the scheduler: the head of its queue, what is in flight, and when it may be asked next.
//!
//! Decision: only a window of a site's rows is in memory, the rest stays in the store (S9). A commit offers its new rows to the window, so
//! that a forefront or high-priority row is seen at once; a row beyond the window's end is left to the next refill.

use nephila_model::{Position, QueuedRequest, RequestId, SiteKey};
use nephila_store::SiteWindow;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

/// Rows of one site in memory at most.
pub const WINDOW: usize = 64;

/// What a site offers next: a request from its queue, or one in flight that goes on (a redirect on the same site).
#[derive(Debug)]
pub enum Next<C> {
    /// A request at rest.
    Queued(Arc<QueuedRequest>),
    /// One that is in flight already.
    Continued(C),
}

/// A site in memory.
#[derive(Debug)]
pub struct SiteQueue<C> {
    pub key: SiteKey,
    pub next_allowed: Instant,
    /// When it was last served, as a count of claims.
    pub turn: u64,
    /// Under which time it stands among the sites that wait, if it does.
    pub waits_until: Option<Instant>,
    window: BTreeMap<Position, QueuedRequest>,
    complete: bool,
    // The newest request of the store when the window was last read. An older one was seen then, and may have been claimed since.
    newest: RequestId,
    in_flight: HashSet<RequestId>,
    continued: VecDeque<C>,
}

impl<C> SiteQueue<C> {
    /// A site of which nothing has been read yet.
    pub fn unread(key: SiteKey, next_allowed: Instant, turn: u64) -> Self {
        Self {
            key,
            next_allowed,
            turn,
            waits_until: None,
            window: BTreeMap::new(),
            complete: false,
            newest: RequestId(0),
            in_flight: HashSet::new(),
            continued: VecDeque::new(),
        }
    }

    /// The priority of what it offers next; `None` if it offers nothing that is in memory. What goes on comes first.
    pub fn head(&self) -> Option<i32> {
        if !self.continued.is_empty() {
            return Some(i32::MAX);
        }
        self.window.first_key_value().map(|(position, _)| position.priority)
    }

    /// Whether the store may have rows that ought to be read now.
    pub fn wants_refill(&self) -> bool {
        !self.complete && self.window.len() < WINDOW / 4
    }

    /// How many rows to read, so that those in flight, which come first, leave some.
    pub fn refill_limit(&self) -> usize {
        WINDOW + self.in_flight.len()
    }

    /// Whether nothing of it is lost from memory if it is forgotten: nothing in flight.
    pub fn is_evictable(&self) -> bool {
        self.in_flight.is_empty() && self.continued.is_empty()
    }

    /// Whether it has nothing, neither in memory nor in the store.
    pub fn is_idle(&self) -> bool {
        self.is_evictable() && self.window.is_empty() && self.complete
    }

    /// Takes in what the store has read.
    pub fn refill(&mut self, read: SiteWindow) {
        self.newest = read.newest;
        self.complete = read.complete;
        let waiting = read.requests.into_iter().filter(|row| !self.in_flight.contains(&row.id));
        self.window = waiting.map(|row| (row.position, row)).collect();
    }

    /// Forgets what waits in the queue.
    pub fn retire(&mut self) {
        self.window.clear();
        self.complete = true;
    }

    /// Takes in a row that a commit has accepted. One that the last refill has seen already is left alone: the news of a commit may come
    /// after a refill that read its rows, and by then they may have been claimed, or even decided.
    pub fn offer(&mut self, row: QueuedRequest) {
        if row.id <= self.newest {
            return;
        }
        let beyond = self.window.last_key_value().is_none_or(|(last, _)| row.position > *last);
        if beyond && !self.complete {
            return;
        }
        self.window.insert(row.position, row);
        if self.window.len() > WINDOW {
            self.window.pop_last();
            self.complete = false;
        }
    }

    /// A row that waits was found again, nearer to a start URL.
    pub fn lessen_depth(&mut self, id: RequestId, depth: u32) {
        if let Some(row) = self.window.values_mut().find(|row| row.id == id) {
            row.depth = row.depth.min(depth);
        }
    }

    /// There are rows in the store that this window has not seen and that may come first: it is read afresh.
    pub fn distrust(&mut self) {
        self.window.clear();
        self.complete = false;
    }

    /// What is next, taken out.
    pub fn take(&mut self) -> Option<Next<C>> {
        if let Some(continued) = self.continued.pop_front() {
            return Some(Next::Continued(continued));
        }
        let (_, row) = self.window.pop_first()?;
        self.in_flight.insert(row.id);
        Some(Next::Queued(Arc::new(row)))
    }

    /// A request in flight waits for the site's next slot.
    pub fn put_back(&mut self, continued: C) {
        self.continued.push_back(continued);
    }

    /// A request is no longer in flight: decided, or dropped. A dropped one is pending still.
    pub fn land(&mut self, id: RequestId) {
        self.in_flight.remove(&id);
    }

    /// How many in flight wait for a slot.
    pub fn continued(&self) -> usize {
        self.continued.len()
    }
}
