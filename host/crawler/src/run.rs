//! The run loop: claims what may be claimed, starts a visit for each, takes in what comes of them, and knows when to end.
//!
//! Decision: one task owns the scheduler and all decisions about the crawl as a whole; visits are tasks of their own and report back by
//! ending. So nothing is shared that needs a lock, and the loop reads from top to bottom.

use crate::committer::Commits;
use crate::conclude::{CameTo, Landing};
use crate::control::{Progress, StopLevel, StopOrder};
use crate::finish::{Finish, finish};
use crate::frontier::Frontier;
use crate::line::Line;
use crate::progress::Meter;
use crate::reads::StoreReads;
use crate::report::{CrawlReport, FinishReason};
use crate::settings::CrawlSettings;
use crate::site_queue::Next;
use crate::visit::{Suspicion, Visit, VisitEnd, walk};
use nephila_fetch::Fetcher;
use nephila_model::{
    CommitLimits, Counter, Effects, FailureCode, FailureReason, Lease, NewRequest, Outcome, RequestId, Shard, SiteId, StatsDelta,
    Subject, Timestamp, Verdict,
};
use nephila_plugin::{CallSettings, Plugin};
use nephila_store::{CrawlEnding, OpenedCrawl, Store, StoreError};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{RwLock, Semaphore, mpsc, watch};
use tokio::task::{Id, JoinError, JoinSet};

/// How often the running time is committed and progress is shown.
const TICK: Duration = Duration::from_secs(1);

/// Errors that a report shows.
const ERRORS_SHOWN: usize = 10;

/// Everything that a crawl needs.
pub struct CrawlSetup {
    /// The store, with the crawl opened in it.
    pub store: Arc<dyn Store>,
    /// The crawl.
    pub opened: OpenedCrawl,
    /// Understands pages.
    pub plugin: Arc<Plugin>,
    /// Gets pages.
    pub fetcher: Arc<Fetcher>,
    /// How the crawl behaves.
    pub settings: CrawlSettings,
    /// What all calls of the plugin have in common.
    pub call_settings: CallSettings,
    /// Where it starts. Those that the queue knows already change nothing.
    pub starts: Vec<NewRequest>,
    /// Told when the crawl is to stop.
    pub stop: watch::Receiver<StopOrder>,
    /// Told where the crawl stands, about once a second.
    pub progress: watch::Sender<Progress>,
    /// Told how many items were committed by this start, after each commit that has some.
    pub items: watch::Sender<u64>,
}

/// Runs a crawl until it ends or is stopped, and closes it in the store.
///
/// # Errors
/// Only if the store cannot even say how the crawl stands; everything else is a [`FinishReason`] of the report.
pub async fn run(setup: CrawlSetup) -> Result<CrawlReport, StoreError> {
    let started = Instant::now();
    let (store, crawl) = (Arc::clone(&setup.store), setup.opened.record.id);
    let lease = setup.opened.leases.of(Shard::CRAWL);
    let limits = CommitLimits { max_items: setup.settings.max_items, max_requests: setup.settings.max_requests };
    let (commits, committer) = Commits::start(Arc::clone(&store), crawl, limits);

    let mut run = Run::new(setup, commits, started).await?;
    let reason = run.until_the_end().await;
    let (idle, elapsed) = (run.claims == 0, started.elapsed());
    run.count_time().await;
    // The committer ends when the last handle is gone.
    drop(run);
    let _ = committer.await;

    tracing::debug!(reason = reason.code(), epoch = lease.epoch.0, "the crawl has ended");
    // A forced stop drops fetches that were on their way. Left unclosed, the next start waits each site's full delay first.
    if !matches!(reason, FinishReason::SignalForced | FinishReason::TakenOver) {
        let ending =
            CrawlEnding { status: reason.status().as_str().to_owned(), reason: reason.code().to_owned(), at: Timestamp::now() };
        if let Err(error) = store.close_crawl(crawl, &ending).await {
            tracing::warn!(%error, "how the crawl ended could not be noted; nothing is lost, the next start takes it for a crash");
        }
    }
    Ok(CrawlReport {
        record: store.crawl(crawl).await?,
        counts: store.counts(crawl).await?,
        statistics: store.statistics(crawl).await?,
        errors: store.errors(crawl, ERRORS_SHOWN).await?,
        reason,
        elapsed,
        idle,
    })
}

struct Flight {
    request: RequestId,
    site: SiteId,
    lease: Lease,
}

struct Run {
    line: Arc<Line>,
    lease: Lease,
    frontier: Frontier<Box<Visit>>,
    walks: JoinSet<VisitEnd>,
    flights: HashMap<Id, Flight>,
    slow: HashSet<RequestId>,
    slow_sender: mpsc::UnboundedSender<RequestId>,
    slow_receiver: mpsc::UnboundedReceiver<RequestId>,
    starts: Vec<NewRequest>,
    stop: watch::Receiver<StopOrder>,
    stop_open: bool,
    progress: watch::Sender<Progress>,
    items_sender: watch::Sender<u64>,
    meter: Meter,
    finish_done: bool,
    // Requests that ended, and items of the default dataset, over all starts.
    ended: u64,
    items: u64,
    claims: u64,
    suspects_left: usize,
    ending: Option<(FinishReason, Option<Instant>)>,
    started: Instant,
    time_counted: Duration,
}

impl Run {
    async fn new(setup: CrawlSetup, commits: Commits, started: Instant) -> Result<Self, StoreError> {
        let CrawlSetup { store, opened, plugin, fetcher, settings, call_settings, starts, stop, progress, items } = setup;
        let crawl = opened.record.id;
        let statistics = store.statistics(crawl).await?;
        let reads = Arc::new(StoreReads { store: Arc::clone(&store), crawl, crawler: opened.record.crawler_id.clone() });
        let (slow_sender, slow_receiver) = mpsc::unbounded_channel();
        let frontier = Frontier::new(Arc::clone(&store), crawl, opened.leases.clone(), settings.delay, opened.unclean);
        let suspects_left = if opened.unclean { settings.concurrency.saturating_mul(2) } else { 0 };
        let line = Line {
            store,
            crawl,
            fetcher,
            plugin,
            commits,
            reads,
            call_settings: Arc::new(call_settings),
            handling: RwLock::new(()),
            state: RwLock::new(()),
            handlers: Semaphore::new(settings.concurrency),
            settings: Arc::new(settings),
        };
        Ok(Self {
            line: Arc::new(line),
            lease: opened.leases.of(Shard::CRAWL),
            frontier,
            walks: JoinSet::new(),
            flights: HashMap::new(),
            slow: HashSet::new(),
            slow_sender,
            slow_receiver,
            starts,
            stop,
            stop_open: true,
            progress,
            items_sender: items,
            meter: Meter::starting_at(started, &statistics),
            finish_done: opened.record.finish_done,
            ended: statistics.get(&Counter::Finished) + statistics.get(&Counter::Failed),
            items: statistics.get(&Counter::Items),
            claims: 0,
            suspects_left,
            ending: None,
            started,
            time_counted: Duration::ZERO,
        })
    }

    async fn until_the_end(&mut self) -> FinishReason {
        self.look_at_limits();
        if self.ending.is_none()
            && let Err(reason) = self.seed().await
        {
            self.end(reason);
        }
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut fruitless = 0;
        loop {
            self.look_at_stop();
            if let Err(error) = self.start_visits().await {
                self.end(FinishReason::StoreFailed(error.to_string()));
            }
            if !self.walks.is_empty() || self.frontier.next_event().is_some() {
                self.wait(&mut tick).await;
                continue;
            }
            match &self.ending {
                Some((reason, _)) => {
                    let reason = reason.clone();
                    return self.last_of_all(reason).await;
                }
                None => {
                    if let Some(reason) = self.at_rest(&mut fruitless).await {
                        self.end(reason);
                    }
                }
            }
        }
    }

    // Waits until something happens, and takes it in.
    async fn wait(&mut self, tick: &mut tokio::time::Interval) {
        let grace = self.ending.as_ref().and_then(|(_, deadline)| *deadline);
        let event = if self.has_room() { self.frontier.next_event() } else { None };
        tokio::select! {
            biased;
            // Once whoever could ask for a stop is gone, the crawl goes on without.
            changed = self.stop.changed(), if self.stop_open => self.stop_open = changed.is_ok(),
            Some(ended) = self.walks.join_next_with_id(), if !self.walks.is_empty() => {
                self.take_in(ended).await;
                while let Some(ended) = self.walks.try_join_next_with_id() {
                    self.take_in(ended).await;
                }
            }
            Some(id) = self.slow_receiver.recv() => {
                // It may have landed while the letter was on its way.
                if self.flights.values().any(|flight| flight.request == id) {
                    self.slow.insert(id);
                }
            }
            () = sleep_until(event) => {}
            () = sleep_until(grace) => self.drop_everything(),
            _ = tick.tick() => self.tick().await,
        }
    }

    // Where nothing is in flight and nothing waits for a time: the end, unless the store knows better.
    async fn at_rest(&mut self, fruitless: &mut u32) -> Option<FinishReason> {
        let pending = match self.line.store.counts(self.line.crawl).await {
            Ok(counts) => counts.pending,
            Err(error) => return Some(FinishReason::StoreFailed(error.to_string())),
        };
        if pending > 0 {
            *fruitless += 1;
            self.frontier.start_over();
            let lost = format!("{pending} requests are pending, but no site offers them; this is a defect, please report it");
            return (*fruitless > 3).then_some(FinishReason::StoreFailed(lost));
        }
        *fruitless = 0;
        self.finish().await
    }

    // A limit that was reached with the last request is no reason to leave out the finish.
    async fn last_of_all(&mut self, reason: FinishReason) -> FinishReason {
        if !matches!(reason, FinishReason::MaxItems | FinishReason::MaxRequests) {
            return reason;
        }
        match self.line.store.counts(self.line.crawl).await {
            Ok(counts) if counts.pending == 0 => self.finish().await.unwrap_or(reason),
            Ok(_) => reason,
            Err(error) => FinishReason::StoreFailed(error.to_string()),
        }
    }

    // Calls the finish entry point, unless that was done. `None`: it was called, and may have enqueued.
    async fn finish(&mut self) -> Option<FinishReason> {
        if self.finish_done {
            return Some(FinishReason::Finished);
        }
        match finish(&self.line, self.lease).await {
            Finish::Done(applied) => {
                self.finish_done = true;
                self.note_items(applied.items, applied.items);
                self.frontier.take_in(*applied);
                None
            }
            Finish::Failed(cause) => Some(FinishReason::FinishFailed(cause)),
            Finish::Stale => Some(FinishReason::TakenOver),
            Finish::Lost(error) => Some(FinishReason::StoreFailed(error.to_string())),
        }
    }

    async fn seed(&mut self) -> Result<(), FinishReason> {
        let requests = std::mem::take(&mut self.starts);
        let effects = Effects { requests, ..Effects::default() };
        match self.commit_for_crawl(effects, StatsDelta::default()).await? {
            Some(applied) => self.frontier.take_in(applied),
            None => tracing::warn!("the start requests were refused by the store"),
        }
        Ok(())
    }

    async fn commit_for_crawl(
        &self,
        effects: Effects,
        stats: StatsDelta,
    ) -> Result<Option<nephila_model::Applied>, FinishReason> {
        let outcome =
            Outcome { subject: Subject::Crawl, lease: self.lease, verdict: None, effects, stats, site_next_allowed: None };
        match self.line.commits.commit(outcome).await {
            Err(error) => Err(FinishReason::StoreFailed(error.to_string())),
            Ok(Ok(applied)) => Ok(Some(applied)),
            Ok(Err(nephila_model::Rejection::Stale { .. })) => Err(FinishReason::TakenOver),
            Ok(Err(rejection)) => {
                tracing::warn!(%rejection, "the store refused what concerns the crawl as a whole");
                Ok(None)
            }
        }
    }

    fn has_room(&self) -> bool {
        let settings = &self.line.settings;
        let active = self.walks.len() - self.slow.len().min(self.walks.len());
        active < settings.concurrency && self.walks.len() < settings.max_sockets.max(settings.concurrency)
    }

    async fn start_visits(&mut self) -> Result<(), StoreError> {
        self.frontier.refill().await?;
        while self.has_room() {
            let over_limit = self.line.settings.max_requests.is_some_and(|most| self.ended + self.flights.len() as u64 >= most);
            if over_limit && self.ending.is_none() {
                break;
            }
            let Some(turn) = self.frontier.claim() else { break };
            let visit = match turn.next {
                Next::Continued(visit) => visit,
                Next::Queued(request) => {
                    let suspicion = if self.suspects_left > 0 { Suspicion::Suspect } else { Suspicion::None };
                    self.suspects_left = self.suspects_left.saturating_sub(1);
                    self.claims += 1;
                    let claim = self.frontier.claim_of(*request, &turn.key);
                    Box::new(Visit::begin(claim, turn.key, suspicion))
                }
            };
            self.launch(visit);
            // The window may have run dry in between.
            self.frontier.refill().await?;
        }
        Ok(())
    }

    fn launch(&mut self, visit: Box<Visit>) {
        let request = &visit.claim.request;
        let flight = Flight { request: request.id, site: request.site, lease: visit.claim.lease };
        let (id, line, slow) = (request.id, Arc::clone(&self.line), self.slow_sender.clone());
        let handle = self.walks.spawn(async move {
            let slow_after = line.settings.slow_after;
            let mut walking = std::pin::pin!(walk(line, visit));
            tokio::select! {
                end = &mut walking => return end,
                () = tokio::time::sleep(slow_after) => {}
            }
            // The loop is gone only at a forced stop, when nobody counts any more.
            let _ = slow.send(id);
            walking.await
        });
        self.flights.insert(handle.id(), flight);
    }

    async fn take_in(&mut self, ended: Result<(Id, VisitEnd), JoinError>) {
        let (task, end) = match ended {
            Ok((task, end)) => (task, Ok(end)),
            Err(error) => (error.id(), Err(error)),
        };
        let Some(flight) = self.flights.remove(&task) else { return };
        self.slow.remove(&flight.request);
        match end {
            Ok(VisitEnd::Continues(visit)) => self.frontier.put_back(flight.site, visit),
            Ok(VisitEnd::Landed { id, site, landing }) => {
                self.frontier.land(site, id);
                self.take_landing(site, landing);
            }
            Err(error) if error.is_cancelled() => self.frontier.land(flight.site, flight.request),
            Err(error) => {
                tracing::error!(%error, request = flight.request.0, "a visit panicked; this is a defect, please report it");
                self.fail_panicked(&flight).await;
                self.frontier.land(flight.site, flight.request);
            }
        }
    }

    async fn fail_panicked(&mut self, flight: &Flight) {
        let reason = FailureReason {
            code: FailureCode(Cow::Borrowed("host-panic")),
            message: "the host panicked while it had this request in hand; this is a defect, please report it".to_owned(),
            status: None,
        };
        let outcome = Outcome {
            subject: Subject::Request(flight.request),
            lease: flight.lease,
            verdict: Some(Verdict::Failed { reason, final_url: None }),
            effects: Effects::default(),
            stats: StatsDelta::default(),
            site_next_allowed: None,
        };
        match self.line.commits.commit(outcome).await {
            Ok(Ok(_)) => self.ended += 1,
            Ok(Err(rejection)) => tracing::debug!(%rejection, "the panicked visit had been decided"),
            Err(error) => self.end(FinishReason::StoreFailed(error.to_string())),
        }
    }

    fn take_landing(&mut self, site: SiteId, landing: Landing) {
        match landing {
            Landing::Committed { applied, came_to, items, stop } => {
                match came_to {
                    CameTo::End => self.ended += 1,
                    CameTo::Retry(not_before) => self.frontier.note_retry(site, not_before),
                    CameTo::SetAside | CameTo::Moved => {}
                }
                self.note_items(applied.items, items);
                self.frontier.take_in(*applied);
                if let Some(reason) = stop {
                    self.end(FinishReason::StoppedByPlugin(reason));
                }
                self.look_at_limits();
            }
            Landing::Deferred => self.look_at_limits(),
            Landing::Dropped => {}
            Landing::Stale => self.end(FinishReason::TakenOver),
            Landing::Lost(error) => self.end(FinishReason::StoreFailed(error.to_string())),
        }
    }

    fn note_items(&mut self, written: u64, of_default: u64) {
        self.items += of_default;
        if written > 0 {
            self.items_sender.send_modify(|items| *items += written);
        }
    }

    fn look_at_limits(&mut self) {
        let settings = &self.line.settings;
        let reached = if settings.max_items.is_some_and(|most| self.items >= most) {
            FinishReason::MaxItems
        } else if settings.max_requests.is_some_and(|most| self.ended >= most) {
            FinishReason::MaxRequests
        } else if settings.max_time.is_some_and(|most| self.started.elapsed() >= most) {
            FinishReason::MaxTime
        } else {
            return;
        };
        self.end(reached);
    }

    fn look_at_stop(&mut self) {
        let order = self.stop.borrow_and_update().clone();
        match order.level {
            StopLevel::Run => {}
            StopLevel::Graceful => self.end(order.failure.map_or(FinishReason::Signal, FinishReason::OutputFailed)),
            StopLevel::Now => self.drop_everything(),
        }
    }

    // The first reason stands; from here on only what is in flight goes on, for at most the grace.
    fn end(&mut self, reason: FinishReason) {
        if self.ending.is_some() {
            return;
        }
        let deadline = Instant::now() + self.line.settings.shutdown_grace;
        tracing::debug!(reason = reason.code(), in_flight = self.walks.len(), "the crawl ends once the pages in hand are done");
        self.ending = Some((reason, Some(deadline)));
        self.frontier.retire();
    }

    // Nothing in flight goes on. What was dropped is pending.
    fn drop_everything(&mut self) {
        let dropped = self.walks.len();
        self.walks.abort_all();
        self.frontier.abandon();
        let reason = match self.ending.take() {
            Some((reason, _)) if dropped == 0 || !matches!(reason, FinishReason::Signal) => reason,
            _ => FinishReason::SignalForced,
        };
        self.ending = Some((reason, None));
    }

    async fn tick(&mut self) {
        if self.ending.is_none() {
            self.look_at_limits();
        }
        self.count_time().await;
        let (counts, statistics, record) = tokio::join!(
            self.line.store.counts(self.line.crawl),
            self.line.store.statistics(self.line.crawl),
            self.line.store.crawl(self.line.crawl)
        );
        if let (Ok(counts), Ok(statistics), Ok(record)) = (counts, statistics, record) {
            let progress = self.meter.measure(counts, statistics, self.walks.len(), record.status_message);
            self.progress.send_replace(progress);
        }
    }

    async fn count_time(&mut self) {
        let elapsed = self.started.elapsed();
        let mut stats = StatsDelta::default();
        let millis = elapsed.as_millis().saturating_sub(self.time_counted.as_millis());
        stats.add(Counter::RuntimeMillis, i64::try_from(millis).unwrap_or(i64::MAX));
        match self.commit_for_crawl(Effects::default(), stats).await {
            Ok(_) => self.time_counted = elapsed,
            Err(reason) => self.end(reason),
        }
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
