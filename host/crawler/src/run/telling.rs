//! What is done beside the pages: once a second, and when somebody wants to know how the crawl stands.

use super::Run;
use crate::control::out_of_patience;
use crate::listening::Late;
use crate::persistence::{self, Written};
use crate::report::FinishReason;
use crate::session_desk::Aged;
use nephila_events::Event;
use nephila_model::{Effects, Statistics, StatsDelta, Timestamp};
use nephila_store::Counts;
use std::time::{Duration, Instant};

/// What a listener has at least to hear of the end, in however much of a hurry the crawl is.
const LAST_WORDS: Duration = Duration::from_millis(100);

impl Run {
    pub(super) async fn tick(&mut self) {
        if self.ending.is_none() {
            self.look_at_limits();
        }
        self.pool.tick(Instant::now());
        self.count_time().await;
        if let Some(sessions) = &self.line.sessions
            && sessions.end_aged().await == Aged::Some
        {
            self.listening.nudge();
        }
        let (counts, statistics, record) = tokio::join!(
            self.line.store.counts(self.line.crawl),
            self.line.store.statistics(self.line.crawl),
            self.line.store.crawl(self.line.crawl)
        );
        if let (Ok(counts), Ok(statistics), Ok(record)) = (counts, statistics, record) {
            let progress = self.meter.measure(counts, statistics, self.flights.len(), record.status_message);
            self.progress.send_replace(progress);
        }
    }

    // At its own pace, which may be quicker than the tick. What cannot be read now is said the next time.
    pub(super) async fn tell_status(&mut self) {
        let (counts, statistics, record) = tokio::join!(
            self.line.store.counts(self.line.crawl),
            self.line.store.statistics(self.line.crawl),
            self.line.store.crawl(self.line.crawl)
        );
        if let (Ok(counts), Ok(statistics), Ok(record)) = (counts, statistics, record) {
            self.say_status(&counts, &statistics, record.status_message.as_deref());
        }
        self.next_status = Instant::now() + self.line.settings.status_interval;
    }

    // What the plugin says of itself stands before what can be said of any crawl.
    fn say_status(&mut self, counts: &Counts, statistics: &Statistics, said: Option<&str>) {
        let message = self.messages.next(counts, statistics, self.pool.concurrency());
        let message = said.map_or(message, str::to_owned);
        tracing::info!(%message, "status");
        self.line.bulletin.status(message);
    }

    pub(super) async fn persist_now(&mut self, written: Written) {
        self.persist(None).await;
        // Nobody waits any more if it took too long.
        let _ = written.send(());
    }

    // A listener gets the grace, or what is left of it where a stop was asked for, and no more than that, but for the moment that
    // an idle one needs to hear of the end.
    pub(super) async fn end_listening(&mut self, reason: &FinishReason) {
        let last = vec![Event::PersistState { is_migrating: false }, self.line.bulletin.end(reason.code())];
        let grace = self.line.settings.shutdown_grace;
        let (asked, now) = (self.stop.borrow().level, Instant::now());
        let patience = self.ending.as_ref().map_or(grace, |ending| ending.last_patience(asked, grace, now));
        let (stop, moment) = (self.stop.clone(), tokio::time::sleep(LAST_WORDS));
        let impatient = async {
            tokio::select! {
                () = tokio::time::sleep(patience) => {}
                () = out_of_patience(stop, patience) => {}
            }
            moment.await;
        };
        let late = if *reason == FinishReason::Finished { Late::LeftOut } else { Late::Kept };
        self.listening.end(last, late, impatient).await;
    }

    // Nothing is lost if it fails: these records only show what the store has.
    pub(super) async fn persist(&mut self, finished_at: Option<Timestamp>) {
        match persistence::records(&self.line, finished_at).await {
            Ok(key_values) => {
                let effects = Effects { key_values, ..Effects::default() };
                if let Err(reason) = self.commit_for_crawl(effects, StatsDelta::default()).await {
                    self.end(reason);
                }
            }
            Err(error) => tracing::warn!(%error, "the crawl's records could not be written"),
        }
    }

    // The running time goes with it, as with every commit.
    pub(super) async fn count_time(&mut self) {
        let stats = self.profile.news();
        match self.commit_for_crawl(Effects::default(), stats.clone()).await {
            Ok(_) => self.profile.note(&stats),
            Err(reason) => self.end(reason),
        }
    }
}
