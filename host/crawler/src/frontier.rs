//! The scheduler's window on the store: reads rows and sites when it runs low, wakes rows whose time has come.
//!
//! Decision: claiming is a read (S6), and what is read is bounded: a window of rows per site and a window of sites (S9). While all sites
//! that have ready rows fit into memory, the order among them is exact; beyond that, sites take turns in memory.

use crate::scheduler::{Scheduler, Turn};
use nephila_model::{Applied, Claim, CrawlId, QueuedRequest, RequestId, SiteId, SiteKey, Timestamp};
use nephila_store::{Leases, SiteHead, SiteOrder, Store, StoreError};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sites in memory at most.
const MAX_SITES: usize = 1_024;

/// Rows that are woken by one write.
const WAKE_BATCH: usize = 512;

/// The frontier of a crawl, as its run loop sees it.
pub struct Frontier<C> {
    store: Arc<dyn Store>,
    crawl: CrawlId,
    leases: Leases,
    scheduler: Scheduler<C>,
    // Whether every site that has ready rows is in memory.
    sites_complete: bool,
    // When the next waiting row is due, if one is known to wait.
    next_due: Option<Timestamp>,
    // After an unclean stop no site is asked before its full delay has passed (S7).
    not_before: Instant,
    claims_since_rotation: usize,
    retired: bool,
}

impl<C> Frontier<C> {
    /// A frontier that has read nothing yet.
    pub fn new(store: Arc<dyn Store>, crawl: CrawlId, leases: Leases, delay: Duration, unclean: bool) -> Self {
        let now = Instant::now();
        Self {
            store,
            crawl,
            leases,
            scheduler: Scheduler::new(delay),
            sites_complete: false,
            next_due: Some(Timestamp::EPOCH),
            not_before: if unclean { now + delay } else { now },
            claims_since_rotation: 0,
            retired: false,
        }
    }

    /// Reads what the scheduler needs before it can give the next claim.
    pub async fn refill(&mut self) -> Result<(), StoreError> {
        if self.retired {
            return Ok(());
        }
        self.wake_due().await?;
        if !self.sites_complete && self.scheduler.len() < MAX_SITES {
            self.load_sites().await?;
        } else if self.claims_since_rotation >= MAX_SITES {
            self.rotate_sites().await?;
        }
        for (site, limit) in self.scheduler.hungry() {
            let window = self.store.site_window(self.crawl, site, limit).await?;
            self.scheduler.refill(site, window, Instant::now());
        }
        Ok(())
    }

    /// The next claim, if a site may be asked now.
    pub fn claim(&mut self) -> Option<Turn<C>> {
        let turn = self.scheduler.claim(Instant::now());
        self.claims_since_rotation += usize::from(turn.is_some());
        turn
    }

    /// The right to decide about a request of a site.
    pub fn claim_of(&self, request: QueuedRequest, key: &SiteKey) -> Claim {
        Claim { request, lease: self.leases.of(key.shard()) }
    }

    /// When something may be claimed that may not be now; `None` if nothing waits for a time.
    pub fn next_event(&mut self) -> Option<Instant> {
        let slot = self.scheduler.next_slot();
        let due = self.next_due.map(|due| Instant::now() + due.since(Timestamp::now()));
        slot.into_iter().chain(due).min()
    }

    /// Takes in what a commit has made ready.
    pub fn take_in(&mut self, applied: Applied) {
        if self.retired {
            return;
        }
        let now = Instant::now();
        for (row, _) in applied.accepted {
            // A site that is not in memory is read with the next refill, with its next-allowed time.
            self.sites_complete &= self.scheduler.offer(row, now);
        }
        // A moved row is older than what its new site has seen, so that only the store knows whether it still waits.
        if let Some((row, _)) = applied.moved {
            self.sites_complete &= self.scheduler.has(row.site);
            self.scheduler.distrust(row.site, now);
        }
    }

    /// A row of this site waits until then.
    pub fn note_retry(&mut self, site: SiteId, not_before: Timestamp) {
        if self.retired {
            return;
        }
        // It may have been woken, and been passed over as still in flight, before this news of its retry came.
        if not_before <= Timestamp::now() {
            self.scheduler.distrust(site, Instant::now());
        }
        self.next_due = Some(self.next_due.map_or(not_before, |due| due.min(not_before)));
    }

    /// A request in flight waits for its site's next slot.
    pub fn put_back(&mut self, site: SiteId, continued: C) {
        self.scheduler.put_back(site, continued, Instant::now());
    }

    /// A request is no longer in flight.
    pub fn land(&mut self, site: SiteId, id: RequestId) {
        self.scheduler.land(site, id);
    }

    /// From here on only what is in flight goes on: nothing more is read or claimed from the queue.
    pub fn retire(&mut self) {
        self.retired = true;
        self.next_due = None;
        self.scheduler.retire(Instant::now());
    }

    /// Forgets everything, also what is in flight and waits for a slot.
    pub fn abandon(&mut self) {
        self.retire();
        self.scheduler.clear();
    }

    /// Looks at the store again, as if nothing of it had been read.
    pub fn start_over(&mut self) {
        self.sites_complete = false;
        self.next_due = Some(Timestamp::EPOCH);
    }

    async fn wake_due(&mut self) -> Result<(), StoreError> {
        let now = Timestamp::now();
        if self.next_due.is_none_or(|due| due > now) {
            return Ok(());
        }
        let woken = self.store.wake_due(self.crawl, now, WAKE_BATCH).await?;
        self.next_due = woken.next_due;
        for head in woken.sites {
            if self.scheduler.has(head.id) {
                self.scheduler.distrust(head.id, Instant::now());
            } else {
                self.sites_complete = false;
            }
        }
        Ok(())
    }

    async fn load_sites(&mut self) -> Result<(), StoreError> {
        self.scheduler.forget_idle(Instant::now());
        let room = MAX_SITES - self.scheduler.len().min(MAX_SITES);
        let limit = self.scheduler.len() + room;
        let heads = self.store.ready_sites(self.crawl, SiteOrder::ByHead, limit).await?;
        self.sites_complete = heads.len() < limit;
        self.admit(heads, room);
        Ok(())
    }

    // With more sites than fit, a quarter of them makes room: half for the highest heads, half for those that waited longest.
    async fn rotate_sites(&mut self) -> Result<(), StoreError> {
        self.claims_since_rotation = 0;
        if self.sites_complete {
            return Ok(());
        }
        let room = self.scheduler.evict(MAX_SITES / 4);
        let limit = self.scheduler.len() + room;
        let by_turn = self.store.ready_sites(self.crawl, SiteOrder::ByTurn, limit).await?;
        self.admit(by_turn, room / 2);
        let by_head = self.store.ready_sites(self.crawl, SiteOrder::ByHead, limit).await?;
        self.sites_complete = by_head.len() < limit;
        let left = MAX_SITES - self.scheduler.len().min(MAX_SITES);
        self.admit(by_head, left);
        Ok(())
    }

    fn admit(&mut self, heads: Vec<SiteHead>, room: usize) {
        let (now, clock) = (Instant::now(), Timestamp::now());
        let new = heads.into_iter().filter(|head| !self.scheduler.has(head.id)).take(room).collect::<Vec<_>>();
        for head in new {
            let allowed = (now + head.next_allowed.since(clock)).max(self.not_before);
            self.scheduler.admit(head.id, head.key, allowed);
        }
    }
}
