//! The run loop: claims what may be claimed, starts a visit for each, takes in what comes of them, and knows when to end.
//!
//! Decision: one task owns the scheduler and all decisions about the crawl as a whole; visits are tasks of their own and report
//! back by ending. So nothing is shared that needs a lock, and the loop reads from top to bottom.

mod claiming;
mod ending;
mod taking;
mod telling;

use self::claiming::wait_for_session_began;
use self::ending::{Ending, Rest};
use crate::autoscaled_pool::AutoscaledPool;
use crate::committer::{Clocks, Commits};
use crate::control::{Progress, StopOrder};
use crate::flights::{Flight, FlightEvent, Flights};
use crate::frontier::Frontier;
use crate::line::Line;
use crate::listening::Listening;
use crate::persistence::Persistence;
use crate::profile_log::ProfileLog;
use crate::progress::Meter;
use crate::report::{CrawlReport, FinishReason};
use crate::running_time::RunningTime;
use crate::session_desk::SessionDesk;
use crate::setup::CrawlSetup;
use crate::status_message::StatusMessages;
use crate::visit::{Visit, VisitEnd};
use nephila_model::{
    Applied, Counter, Effects, FailureCode, FailureReason, Lease, NewRequest, Outcome, Rejection, RequestId, Shard, StatsDelta,
    Subject, Timestamp, Verdict,
};
use nephila_store::{CrawlEnding, ErrorsOf, ExcerptSize, InHand, LeftBehind, StoreError};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinError;

/// How often the running time is committed at the latest, progress is shown and the concurrency is decided anew.
const TICK: Duration = Duration::from_secs(1);

/// Kinds of errors that a report shows.
const ERRORS_SHOWN: usize = 20;

/// Runs a crawl until it ends or is stopped, and closes it in the store. It holds the event manager for as long as it runs,
/// beside whoever else does: crawls of one process begin and end in any order, and the last one's end is also the manager's,
/// unless its process holds it.
///
/// # Errors
/// If the store cannot say how the crawl stands in the end. What was committed is kept, and the same crawl can be resumed.
pub async fn run(setup: CrawlSetup) -> Result<CrawlReport, StoreError> {
    let owner = match setup.events.enter().await {
        Ok(owner) => Some(owner),
        Err(error) => {
            tracing::warn!(%error, "the event manager cannot be started; the crawl runs without its events");
            None
        }
    };
    let report = crawl(setup).await;
    if let Some(owner) = owner {
        owner.close().await;
    }
    report
}

async fn crawl(setup: CrawlSetup) -> Result<CrawlReport, StoreError> {
    let started = Instant::now();
    let (store, crawl) = (Arc::clone(&setup.store), setup.opened.record.id);
    let sessions = setup.sessions().await?;
    let time = Arc::new(RunningTime::since(started));
    let clocks = Clocks { time: Arc::clone(&time), profile: Arc::clone(&setup.profile) };
    let (commits, committer) = Commits::start(Arc::clone(&store), crawl, setup.commit_limits(), clocks, setup.named_storages);

    let before = store.statistics(crawl).await?.get(&Counter::PluginMicros);
    let mut run = Run::new(setup, commits, sessions, started).await?;
    let bulletin = run.line.bulletin.clone();
    bulletin.started();
    let reason = run.until_the_end().await;
    let (idle, elapsed, in_hand) = (run.claims == 0, started.elapsed(), run.in_hand);
    time.stop();
    run.count_time().await;
    run.line.failure_log.end();
    run.end_listening(&reason).await;
    // Whoever has taken over has the sessions, too.
    if let Some(sessions) = run.line.sessions.as_ref().filter(|_| reason != FinishReason::TakenOver) {
        sessions.close().await;
    }
    run.persist(Some(Timestamp::now())).await;
    let profile = run.profile.clone();
    // The committer ends when the last handle is gone.
    drop(run);
    let _ = committer.await;

    tracing::debug!(reason = reason.code(), "the crawl has ended");
    if reason != FinishReason::TakenOver {
        let (status, code) = (reason.status().as_str().to_owned(), reason.code().to_owned());
        let ending = CrawlEnding { status, reason: code, at: Timestamp::now(), in_hand };
        if let Err(error) = store.close_crawl(crawl, &ending).await {
            tracing::warn!(%error, "how the crawl ended could not be noted; nothing is lost, the next start takes it for a crash");
        }
    }
    bulletin.finished(reason.code());
    let statistics = store.statistics(crawl).await?;
    let record = store.crawl(crawl).await?;
    Ok(CrawlReport {
        state: store.state_excerpt(&record.crawler_id, ExcerptSize::default()).await?,
        record,
        counts: store.counts(crawl).await?,
        plugin_cpu: Duration::from_micros(statistics.get(&Counter::PluginMicros).saturating_sub(before)),
        statistics,
        errors: store.errors(crawl, ErrorsOf::FailedRequests, ERRORS_SHOWN).await?,
        retry_errors: store.errors(crawl, ErrorsOf::RetriedAttempts, ERRORS_SHOWN).await?,
        reason,
        elapsed,
        profile,
        idle,
    })
}

struct Run {
    line: Arc<Line>,
    lease: Lease,
    frontier: Frontier<Box<Visit>>,
    flights: Flights,
    starts: Vec<NewRequest>,
    stop: watch::Receiver<StopOrder>,
    stop_open: bool,
    progress: watch::Sender<Progress>,
    items_sender: watch::Sender<u64>,
    meter: Meter,
    finish_done: bool,
    // Requests that the opening failed; they are among those that ended.
    given_up: u64,
    // Requests that ended, and items of the default dataset, over all starts.
    ended: u64,
    items: u64,
    claims: u64,
    suspects_left: usize,
    suspects_out: HashSet<RequestId>,
    ending: Option<Ending>,
    in_hand: InHand,
    started: Instant,
    profile: ProfileLog,
    persistence: Persistence,
    messages: StatusMessages,
    next_status: Instant,
    pool: AutoscaledPool,
    listening: Listening,
}

impl Run {
    async fn new(
        setup: CrawlSetup,
        commits: Commits,
        sessions: Option<SessionDesk>,
        started: Instant,
    ) -> Result<Self, StoreError> {
        let statistics = setup.store.statistics(setup.opened.record.id).await?;
        let line = setup.line(commits, sessions);
        let profile = ProfileLog::new(Arc::clone(&line.profile));
        let persistence = Persistence::listen(line.bulletin.events(), &setup.opened.record.crawler_id);
        let CrawlSetup { opened, starts, stop, progress, items, load, .. } = setup;
        let (left, concurrency) = (opened.left, line.settings.concurrency);
        let pool = AutoscaledPool::new(load, &line.settings, started);
        let next_status = started + line.settings.status_interval;
        let frontier = Frontier::new(Arc::clone(&line.store), line.crawl, opened.leases.clone(), line.settings.delay, left);
        let (line, lease) = (Arc::new(line), opened.leases.of(Shard::CRAWL));
        let listening = Listening::start(&line, lease, left);
        Ok(Self {
            line,
            lease,
            frontier,
            flights: Flights::new(),
            starts,
            stop,
            stop_open: true,
            progress,
            items_sender: items,
            meter: Meter::starting_at(started, &statistics),
            finish_done: opened.record.finish_done,
            given_up: opened.given_up,
            ended: statistics.get(&Counter::Finished) + statistics.get(&Counter::Failed),
            items: statistics.get(&Counter::Items),
            claims: 0,
            suspects_left: if left == LeftBehind::Crash { concurrency.saturating_mul(2) } else { 0 },
            suspects_out: HashSet::new(),
            ending: None,
            in_hand: InHand::Finished,
            started,
            profile,
            persistence,
            messages: StatusMessages::starting_at(&statistics),
            next_status,
            pool,
            listening,
        })
    }

    async fn until_the_end(&mut self) -> FinishReason {
        self.look_at_opening();
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
            if !self.flights.is_empty() || self.next_claim().is_some() {
                self.listening.pages_go_on();
                self.wait(&mut tick).await;
                continue;
            }
            match &self.ending {
                Some(ending) => {
                    let reason = ending.reason.clone();
                    return self.last_of_all(reason).await;
                }
                None => match self.at_rest(&mut fruitless).await {
                    Rest::End(reason) => self.end(reason),
                    Rest::GoOn => {}
                    Rest::Wait => self.wait(&mut tick).await,
                },
            }
        }
    }

    // Waits until something happens, and takes it in. What is rare comes first, so that a busy crawl cannot starve it.
    async fn wait(&mut self, tick: &mut tokio::time::Interval) {
        let grace = self.ending.as_ref().and_then(Ending::drops_pages_at);
        let event = if self.may_claim() {
            self.next_claim()
        } else if self.others_wait_for_some() {
            self.frontier.next_continued()
        } else {
            None
        };
        tokio::select! {
            biased;
            // Once whoever could ask for a stop is gone, the crawl goes on without.
            changed = self.stop.changed(), if self.stop_open => self.stop_open = changed.is_ok(),
            () = sleep_until(grace) => self.drop_everything(),
            _ = tick.tick() => self.tick().await,
            () = sleep_until(Some(self.next_status)) => self.tell_status().await,
            news = self.listening.next() => self.take_news(news),
            written = self.persistence.next() => self.persist_now(written).await,
            event = self.flights.next(), if !self.flights.is_empty() => {
                self.take_in(event).await;
                while let Some(event) = self.flights.try_next() {
                    self.take_in(event).await;
                }
            }
            () = wait_for_session_began(self.line.sessions.as_ref()) => {}
            () = sleep_until(event) => {}
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

    async fn commit_for_crawl(&self, effects: Effects, stats: StatsDelta) -> Result<Option<Applied>, FinishReason> {
        let outcome = Outcome {
            subject: Subject::Crawl,
            lease: self.lease,
            verdict: None,
            effects,
            stats,
            site_next_allowed: None,
            session: None,
        };
        match self.line.commits.commit(outcome).await {
            Err(error) => Err(FinishReason::StoreFailed(error.to_string())),
            Ok(Ok(applied)) => Ok(Some(applied)),
            Ok(Err(Rejection::Stale { .. })) => Err(FinishReason::TakenOver),
            Ok(Err(rejection)) => {
                tracing::warn!(%rejection, "the store refused what concerns the crawl as a whole");
                Ok(None)
            }
        }
    }

    async fn take_in(&mut self, event: FlightEvent) {
        let FlightEvent::Ended(flight, end) = event else { return };
        if let Ok(VisitEnd::Continues(visit)) = end {
            self.frontier.put_back(flight.site, visit);
            return;
        }
        self.frontier.land(flight.site, flight.request);
        self.suspects_out.remove(&flight.request);
        match end {
            Ok(VisitEnd::Landed(landing)) => self.take_landing(&flight, landing),
            Ok(VisitEnd::Continues(_)) => {}
            Err(error) => self.take_fall(&flight, &error).await,
        }
    }

    // A visit that did not end by itself: dropped, or fallen over a defect of ours.
    async fn take_fall(&mut self, flight: &Flight, error: &JoinError) {
        if error.is_cancelled() {
            return;
        }
        tracing::error!(%error, request = flight.request.0, "a visit panicked; this is a defect, please report it");
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
            session: None,
        };
        match self.line.commits.commit(outcome).await {
            Ok(Ok(_)) => self.take_failure(&format_args!("request {} failed (host-panic)", flight.request.0)),
            Ok(Err(rejection)) => tracing::debug!(%rejection, "the panicked visit had been decided"),
            Err(error) => self.end(FinishReason::StoreFailed(error.to_string())),
        }
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
