//! Which request goes next: per-site queues and the sites' next-allowed times (Mercator's scheme).
//!
//! Decision: waiting is a time on a site, never a sleeping worker, so that slow and polite sites cost others nothing. Among sites that
//! may be asked now, the highest head goes first; every [`TURN_EVERY`]th claim goes to the site that was served longest ago
//! instead, so that each ready site is served at least once in `TURN_EVERY` × (ready sites) claims (S2). No I/O in here: the frontier
//! reads the store and tells the scheduler.

// By its path, since a benchmark takes this file in by its own.
#[cfg(test)]
#[path = "scheduler/tests.rs"]
mod tests;

use crate::site_queue::{Next, SiteQueue};
use nephila_model::{QueuedRequest, RequestId, SiteId, SiteKey};
use nephila_store::SiteWindow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};
use std::time::{Duration, Instant};

/// Every how many claims the site that waited longest goes first, whatever its priority.
pub const TURN_EVERY: u64 = 8;

/// The sites in memory. `C` is a request in flight that waits for its site's next slot.
#[derive(Debug)]
pub struct Scheduler<C> {
    delay: Duration,
    sites: HashMap<SiteId, SiteQueue<C>>,
    // Sites that may be asked now and have something, twice: by head and by turn. The entry of a site says under which key it stands.
    by_head: BTreeSet<(Reverse<i32>, u64, SiteId)>,
    by_turn: BTreeSet<(u64, SiteId)>,
    standing: HashMap<SiteId, (i32, u64)>,
    // Sites that have something and must wait; each stands there once, under its `waits_until`. Older entries are passed over.
    waiting: BinaryHeap<Reverse<(Instant, SiteId)>>,
    // Sites that want rows from the store.
    hungry: HashSet<SiteId>,
    claims: u64,
}

/// A claim of the scheduler.
#[derive(Debug)]
pub struct Turn<C> {
    /// The site's name.
    pub key: SiteKey,
    /// What.
    pub next: Next<C>,
}

impl<C> Scheduler<C> {
    /// No sites yet; `delay` is between the starts of two requests to one site.
    pub fn new(delay: Duration) -> Self {
        Self {
            delay,
            sites: HashMap::new(),
            by_head: BTreeSet::new(),
            by_turn: BTreeSet::new(),
            standing: HashMap::new(),
            waiting: BinaryHeap::new(),
            hungry: HashSet::new(),
            claims: 0,
        }
    }

    /// How many sites are in memory.
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// Whether a site is in memory.
    pub fn has(&self, site: SiteId) -> bool {
        self.sites.contains_key(&site)
    }

    /// Brings a site into memory, unread. One that is there already is left as it is.
    pub fn admit(&mut self, site: SiteId, key: SiteKey, next_allowed: Instant) {
        let claims = self.claims;
        self.sites.entry(site).or_insert_with(|| SiteQueue::unread(key, next_allowed, claims));
        self.hungry.insert(site);
    }

    /// The sites that want rows from the store, with how many.
    pub fn hungry(&self) -> Vec<(SiteId, usize)> {
        let wants = |id: &SiteId| self.sites.get(id).map(|queue| (*id, queue.refill_limit()));
        self.hungry.iter().filter_map(wants).collect()
    }

    /// Takes in rows that were read for a site.
    pub fn refill(&mut self, site: SiteId, read: SiteWindow, now: Instant) {
        if let Some(queue) = self.sites.get_mut(&site) {
            queue.refill(read);
        }
        self.settle(site, now);
    }

    /// Takes in a row that a commit has accepted. `false` if its site is not in memory.
    pub fn offer(&mut self, row: QueuedRequest, now: Instant) -> bool {
        let site = row.site;
        let Some(queue) = self.sites.get_mut(&site) else { return false };
        queue.offer(row);
        self.settle(site, now);
        true
    }

    /// The store has rows of this site that were not offered.
    pub fn distrust(&mut self, site: SiteId, now: Instant) {
        if let Some(queue) = self.sites.get_mut(&site) {
            queue.distrust();
        }
        self.settle(site, now);
    }

    /// The next claim, if a site may be asked now. The site's next slot is one delay from `now`.
    pub fn claim(&mut self, now: Instant) -> Option<Turn<C>> {
        self.wake(now);
        let by_turn = self.claims % TURN_EVERY == TURN_EVERY - 1;
        let site = match (by_turn, self.by_turn.first(), self.by_head.first()) {
            (true, Some((_, site)), _) | (_, _, Some((_, _, site))) => *site,
            _ => return None,
        };
        self.serve(site, now)
    }

    /// The next claim of something that is in flight already, if a site that has some may be asked now. It looks at all sites: for when
    /// nothing else may be claimed.
    pub fn claim_continued(&mut self, now: Instant) -> Option<Turn<C>> {
        let may = self.sites.iter().filter(|(_, queue)| queue.continued() > 0 && queue.next_allowed <= now);
        let site = may.min_by_key(|(_, queue)| queue.turn).map(|(site, _)| *site)?;
        self.serve(site, now)
    }

    /// When the next site may be asked that something in flight waits for.
    pub fn next_continued(&self) -> Option<Instant> {
        self.sites.values().filter(|queue| queue.continued() > 0).map(|queue| queue.next_allowed).min()
    }

    fn serve(&mut self, site: SiteId, now: Instant) -> Option<Turn<C>> {
        let queue = self.sites.get_mut(&site)?;
        let next = queue.take()?;
        self.claims += 1;
        queue.turn = self.claims;
        queue.next_allowed = now + self.delay;
        let key = queue.key.clone();
        self.settle(site, now);
        Some(Turn { key, next })
    }

    /// When the next site that must wait may be asked; `None` if none waits.
    pub fn next_slot(&mut self) -> Option<Instant> {
        while let Some(Reverse((at, site))) = self.waiting.peek() {
            match self.sites.get_mut(site).filter(|queue| queue.waits_until == Some(*at)) {
                Some(queue) if queue.head().is_some() => return Some(*at),
                // It has nothing any more, and stands here again once it has.
                Some(queue) => queue.waits_until = None,
                // It stands elsewhere, or is gone.
                None => {}
            }
            self.waiting.pop();
        }
        None
    }

    /// Whether a site may be asked now and has something.
    pub fn has_ready(&mut self, now: Instant) -> bool {
        self.wake(now);
        !self.by_turn.is_empty()
    }

    /// A request in flight waits for its site's next slot.
    pub fn put_back(&mut self, site: SiteId, continued: C, now: Instant) {
        if let Some(queue) = self.sites.get_mut(&site) {
            queue.put_back(continued);
        }
        self.settle(site, now);
    }

    /// A request is no longer in flight.
    pub fn land(&mut self, site: SiteId, id: RequestId) {
        if let Some(queue) = self.sites.get_mut(&site) {
            queue.land(id);
        }
    }

    /// A row that waits was found again, nearer to a start URL.
    pub fn lessen_depth(&mut self, site: SiteId, id: RequestId, depth: u32) {
        if let Some(queue) = self.sites.get_mut(&site) {
            queue.lessen_depth(id, depth);
        }
    }

    /// Forgets sites that have nothing. When they may be asked next is in the store, as of their last commit.
    pub fn forget_idle(&mut self) {
        let idle: Vec<SiteId> = self.sites.iter().filter(|(_, queue)| queue.is_idle()).map(|(id, _)| *id).collect();
        idle.into_iter().for_each(|site| self.remove(site));
    }

    /// Makes room: forgets up to `count` sites that have nothing in flight, those first that must wait longest, then those that were served
    /// last. Their rows stay in the store.
    pub fn evict(&mut self, count: usize, now: Instant) {
        let mut candidates: Vec<(Instant, u64, SiteId)> = self
            .sites
            .iter()
            .filter(|(_, queue)| queue.is_evictable())
            .map(|(id, queue)| (queue.next_allowed.max(now), queue.turn, *id))
            .collect();
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        candidates.into_iter().take(count).for_each(|(_, _, site)| self.remove(site));
    }

    /// How many requests in flight wait for a slot.
    pub fn continued(&self) -> usize {
        self.sites.values().map(SiteQueue::continued).sum()
    }

    /// Forgets what waits in the queue. What is in flight still gets its site's next slot.
    pub fn retire(&mut self, now: Instant) {
        let all: Vec<SiteId> = self.sites.keys().copied().collect();
        for site in all {
            if let Some(queue) = self.sites.get_mut(&site) {
                queue.retire();
            }
            self.settle(site, now);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::new(self.delay);
    }

    fn remove(&mut self, site: SiteId) {
        self.unstand(site);
        self.sites.remove(&site);
        self.hungry.remove(&site);
    }

    fn unstand(&mut self, site: SiteId) {
        if let Some((head, turn)) = self.standing.remove(&site) {
            self.by_head.remove(&(Reverse(head), turn, site));
            self.by_turn.remove(&(turn, site));
        }
    }

    // Puts a site where it belongs: among the ready, among the waiting, or nowhere.
    fn settle(&mut self, site: SiteId, now: Instant) {
        self.unstand(site);
        let Some(queue) = self.sites.get_mut(&site) else { return };
        if queue.wants_refill() {
            self.hungry.insert(site);
        } else {
            self.hungry.remove(&site);
        }
        let Some(head) = queue.head() else { return };
        let (next_allowed, turn) = (queue.next_allowed, queue.turn);
        if next_allowed <= now {
            self.by_head.insert((Reverse(head), turn, site));
            self.by_turn.insert((turn, site));
            self.standing.insert(site, (head, turn));
        } else if queue.waits_until != Some(next_allowed) {
            queue.waits_until = Some(next_allowed);
            self.waiting.push(Reverse((next_allowed, site)));
        }
    }

    fn wake(&mut self, now: Instant) {
        while let Some(at) = self.next_slot() {
            if at > now {
                break;
            }
            if let Some(Reverse((_, site))) = self.waiting.pop() {
                if let Some(queue) = self.sites.get_mut(&site) {
                    queue.waits_until = None;
                }
                self.settle(site, now);
            }
        }
    }
}
