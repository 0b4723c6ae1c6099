//! The scheduler's window on the store: reads rows and sites when it runs low, wakes rows whose time has come.
//!
//! Decision: claiming is a read (S6), and what is read is bounded: a window of rows per site and a window of sites (S9). While all sites
//! that have ready rows fit into memory, the order among them is exact. Beyond that they take turns in memory: those that are done make
//! room at once, and every so often, or when nobody in memory may be asked, a quarter of them makes room for others.

use crate::scheduler::{Scheduler, Turn};
use nephila_model::{Applied, Claim, CrawlId, QueuedRequest, RequestId, SiteId, SiteKey, Timestamp};
use nephila_store::{Leases, LeftBehind, SiteHead, SiteOrder, Store, StoreError};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sites in memory at most.
const MAX_SITES: usize = 1_024;

/// Rows that are woken by one write.
const WAKE_BATCH: usize = 512;

/// Between two rotations that are made because nobody in memory may be asked.
const ROTATION_PACE: Duration = Duration::from_millis(100);

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
    rotated_at: Instant,
    retired: bool,
}

impl<C> Frontier<C> {
    /// A frontier that has read nothing yet.
    pub fn new(store: Arc<dyn Store>, crawl: CrawlId, leases: Leases, delay: Duration, left: LeftBehind) -> Self {
        let now = Instant::now();
        // Fetches that nobody knows of may have reached their sites just now.
        let not_before = if left == LeftBehind::Nothing { now } else { now + delay };
        Self {
            store,
            crawl,
            leases,
            scheduler: Scheduler::new(delay),
            sites_complete: false,
            next_due: Some(Timestamp::EPOCH),
            not_before,
            claims_since_rotation: 0,
            rotated_at: now,
            retired: false,
        }
    }

    /// Reads what the scheduler needs before it can give the next claim.
    pub async fn refill(&mut self) -> Result<(), StoreError> {
        if self.retired {
            return Ok(());
        }
        self.wake_due().await?;
        if !self.sites_complete {
            self.take_turns().await?;
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

    /// The next claim of something that is in flight already, if its site may be asked now.
    pub fn claim_continued(&mut self) -> Option<Turn<C>> {
        self.scheduler.claim_continued(Instant::now())
    }

    /// When something in flight may be claimed again; `None` if nothing waits for its site.
    pub fn next_continued(&self) -> Option<Instant> {
        self.scheduler.next_continued()
    }

    /// The right to decide about a request of a site.
    pub fn claim_of(&self, request: Arc<QueuedRequest>, key: &SiteKey) -> Claim {
        Claim { request, lease: self.leases.of(key.shard()) }
    }

    /// When something may be claimed that may not be now; `None` if nothing waits for a time.
    pub fn next_event(&mut self) -> Option<Instant> {
        let slot = self.scheduler.next_slot();
        let due = self.next_due.map(|due| Instant::now() + due.since(Timestamp::now()));
        // Sites that are not in memory may have something that can be claimed already.
        let others = (!self.sites_complete && !self.retired).then(|| self.rotated_at + ROTATION_PACE);
        slot.into_iter().chain(due).chain(others).min()
    }

    /// Whether something may be claimed now.
    pub fn has_ready(&mut self) -> bool {
        self.scheduler.has_ready(Instant::now())
    }

    /// Takes in what a commit has made ready.
    pub fn take_in(&mut self, applied: Applied) {
        if self.retired {
            return;
        }
        let now = Instant::now();
        for seen in applied.shallower {
            self.scheduler.lessen_depth(seen.site, seen.request, seen.depth);
        }
        for row in applied.accepted {
            // A site that is not in memory is read with the next refill, with its next-allowed time.
            self.sites_complete &= self.scheduler.offer(row, now);
        }
        // A moved row is older than what its new site has seen, so that only the store knows whether it still waits.
        if let Some(row) = applied.moved {
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

    /// Forgets everything, also what is in flight and waits for a slot; says how many those were.
    pub fn abandon(&mut self) -> usize {
        self.retire();
        let dropped = self.scheduler.continued();
        self.scheduler.clear();
        dropped
    }

    /// Looks at the store again, as if nothing of it had been read.
    pub fn start_over(&mut self) {
        self.scheduler.evict(usize::MAX, Instant::now());
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

    // Some sites that have ready rows are not in memory: makes room where there is none, and reads them.
    async fn take_turns(&mut self) -> Result<(), StoreError> {
        const ENOUGH: usize = MAX_SITES / 8;
        let now = Instant::now();
        if self.room() < ENOUGH {
            self.scheduler.forget_idle();
        }
        let starved = !self.scheduler.has_ready(now);
        if self.room() < ENOUGH {
            let due = starved && now >= self.rotated_at + ROTATION_PACE;
            if due || self.claims_since_rotation >= MAX_SITES {
                self.rotated_at = now;
                self.scheduler.evict(MAX_SITES / 4, now);
            }
        }
        if self.room() >= ENOUGH || (starved && self.room() > 0) {
            self.load_sites(now).await?;
        }
        Ok(())
    }

    // Half of the room for the highest heads, half for those that waited longest; all of it if both fit.
    async fn load_sites(&mut self, now: Instant) -> Result<(), StoreError> {
        self.claims_since_rotation = 0;
        self.rotated_at = now;
        let by_head = self.store.ready_sites(self.crawl, SiteOrder::ByHead, MAX_SITES).await?;
        self.sites_complete = by_head.len() < MAX_SITES;
        if self.sites_complete {
            let room = self.room();
            self.admit(by_head, room);
            return Ok(());
        }
        let by_turn = self.store.ready_sites(self.crawl, SiteOrder::ByTurn, MAX_SITES).await?;
        let half = self.room() / 2;
        self.admit(by_turn, half);
        let rest = self.room();
        self.admit(by_head, rest);
        Ok(())
    }

    fn room(&self) -> usize {
        MAX_SITES - self.scheduler.len().min(MAX_SITES)
    }

    fn admit(&mut self, heads: Vec<SiteHead>, room: usize) {
        let (now, clock) = (Instant::now(), Timestamp::now());
        let mut new: Vec<SiteHead> = heads.into_iter().filter(|head| !self.scheduler.has(head.id)).collect();
        // Those for which there is no room have their turn later.
        self.sites_complete &= new.len() <= room;
        new.truncate(room);
        for head in new {
            let allowed = (now + head.next_allowed.since(clock)).max(self.not_before);
            self.scheduler.admit(head.id, head.key, allowed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site_queue::Next;
    use nephila_model::{CrawlerId, Effects, Group, NewRequest, Outcome, Shard, SiteBy, StatsDelta, Subject, Verdict};
    use nephila_store::{Company, CrawlOrder, CrawlSpec, MemoryStore, OpenedCrawl};
    use std::collections::HashSet;
    use url::Url;

    async fn opened() -> (Arc<dyn Store>, OpenedCrawl) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new().expect("a store"));
        let spec = CrawlSpec {
            company: Company::Alone,
            crawler_id: CrawlerId::new("test").expect("an id"),
            plugin_name: "test".to_owned(),
            plugin_digest: String::new(),
            site_by: SiteBy::Hostname,
            order: CrawlOrder::Fifo,
            max_state_value: 1_000,
        };
        let opened = store.open_crawl(&spec).await.expect("a crawl");
        (store, opened)
    }

    fn request(site: usize, page: usize) -> NewRequest {
        let url = Url::parse(&format!("http://s{site}.test/{page}")).expect("a URL");
        NewRequest::get(url, SiteBy::Hostname)
    }

    async fn commit(store: &Arc<dyn Store>, crawl: CrawlId, outcome: Outcome) -> Applied {
        let group = Group { outcomes: vec![outcome], ..Group::default() };
        store.commit(crawl, group).await.expect("a commit").remove(0).expect("applied")
    }

    fn of_crawl(opened: &OpenedCrawl, requests: Vec<NewRequest>) -> Outcome {
        Outcome {
            subject: Subject::Crawl,
            lease: opened.leases.of(Shard::CRAWL),
            verdict: None,
            effects: Effects { requests, ..Effects::default() },
            stats: StatsDelta::default(),
            site_next_allowed: None,
            session: None,
        }
    }

    fn handled(claim: &Claim, next_allowed: Option<Timestamp>) -> Outcome {
        let request = &claim.request;
        Outcome {
            subject: Subject::Request(request.id),
            lease: claim.lease,
            verdict: Some(Verdict::Handled { final_key: request.unique_key, final_url: request.url.clone(), status: 200 }),
            effects: Effects::default(),
            stats: StatsDelta::default(),
            site_next_allowed: next_allowed,
            session: None,
        }
    }

    // Claims, commits and lands until the frontier says that there is nothing; gives what was claimed, in order.
    async fn drain(store: &Arc<dyn Store>, opened: &OpenedCrawl, delay: Duration) -> Vec<String> {
        let crawl = opened.record.id;
        let mut frontier: Frontier<()> = Frontier::new(Arc::clone(store), crawl, opened.leases.clone(), delay, opened.left);
        let mut claimed = Vec::new();
        loop {
            frontier.refill().await.expect("a refill");
            let Some(turn) = frontier.claim() else {
                let Some(event) = frontier.next_event() else { return claimed };
                tokio::time::sleep_until(event.into()).await;
                continue;
            };
            let Next::Queued(request) = turn.next else { panic!("nothing was put back") };
            let claim = frontier.claim_of(request, &turn.key);
            let applied = commit(store, crawl, handled(&claim, Some(Timestamp::now().plus(delay)))).await;
            claimed.push(claim.request.url.to_string());
            frontier.land(claim.request.site, claim.request.id);
            frontier.take_in(applied);
        }
    }

    #[tokio::test]
    async fn more_sites_than_fit_are_all_crawled_once() {
        for (sites, pages, delay) in [(3_000, 1, Duration::ZERO), (2_500, 2, Duration::from_millis(1))] {
            let (store, opened) = opened().await;
            let all = (0..sites).flat_map(|site| (0..pages).map(move |page| request(site, page))).collect();
            commit(&store, opened.record.id, of_crawl(&opened, all)).await;
            let claimed = drain(&store, &opened, delay).await;
            assert_eq!(claimed.len(), sites * pages);
            assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), sites * pages);
        }
    }

    #[tokio::test]
    async fn one_busy_site_keeps_nobody_out() {
        let (store, opened) = opened().await;
        let busy = (0..400).map(|page| request(0, page));
        let others = (1..2_000).map(|site| request(site, 0));
        commit(&store, opened.record.id, of_crawl(&opened, busy.chain(others).collect())).await;
        let claimed = drain(&store, &opened, Duration::ZERO).await;
        assert_eq!(claimed.len(), 2_399);
    }

    #[tokio::test]
    async fn a_site_that_was_forgotten_is_not_asked_before_its_time() {
        let (store, opened) = opened().await;
        let delay = Duration::from_millis(300);
        commit(&store, opened.record.id, of_crawl(&opened, vec![request(0, 0)])).await;
        let mut frontier: Frontier<()> =
            Frontier::new(Arc::clone(&store), opened.record.id, opened.leases.clone(), delay, opened.left);
        frontier.refill().await.expect("a refill");
        let turn = frontier.claim().expect("a claim");
        let Next::Queued(row) = turn.next else { panic!("nothing was put back") };
        let claim = frontier.claim_of(row, &turn.key);
        let allowed = Timestamp::now().plus(delay);
        let applied = commit(&store, opened.record.id, handled(&claim, Some(allowed))).await;
        frontier.land(claim.request.site, claim.request.id);
        frontier.take_in(applied);
        frontier.scheduler.forget_idle();
        assert!(!frontier.scheduler.has(claim.request.site));

        let more = commit(&store, opened.record.id, of_crawl(&opened, vec![request(0, 1)])).await;
        frontier.take_in(more);
        let turn = loop {
            frontier.refill().await.expect("a refill");
            match frontier.claim() {
                Some(turn) => break turn,
                None => tokio::time::sleep_until(frontier.next_event().expect("it waits").into()).await,
            }
        };
        assert!(Timestamp::now() >= allowed, "{turn:?} came too early");
    }

    #[tokio::test]
    async fn what_was_found_again_nearer_is_claimed_with_the_lesser_depth() {
        let (store, opened) = opened().await;
        let far = NewRequest { depth: 7, ..request(0, 0) };
        let first = commit(&store, opened.record.id, of_crawl(&opened, vec![far])).await;
        let mut frontier: Frontier<()> =
            Frontier::new(Arc::clone(&store), opened.record.id, opened.leases.clone(), Duration::ZERO, opened.left);
        frontier.take_in(first);
        frontier.refill().await.expect("a refill");
        let near = NewRequest { depth: 2, ..request(0, 0) };
        let again = commit(&store, opened.record.id, of_crawl(&opened, vec![near])).await;
        frontier.take_in(again);
        let Next::Queued(row) = frontier.claim().expect("a claim").next else { panic!("nothing was put back") };
        assert_eq!(row.depth, 2);
    }
}
