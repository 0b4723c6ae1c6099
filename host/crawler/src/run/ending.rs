//! When and why a crawl ends, and what is still done then.
//!
//! Decision: the first reason to end stands. Pages in hand go on until the grace is over or a second signal comes; what is
//! dropped then is pending. The plugin's finish is called when the queue is empty, and also where a limit was reached with its
//! last request.

use super::Run;
use crate::control::{Signal, StopLevel, out_of_patience};
use crate::finish::{Finish, finish};
use crate::listening::{Ahead, News};
use crate::report::FinishReason;
use crate::settings::{WhenFailed, WhenIdle};
use nephila_store::{InHand, StoreError};
use std::fmt::Display;
use std::time::{Duration, Instant};

// The first reason to end stands. Where a stop was asked for, pages in hand and what hears of the end have one grace together.
pub(super) struct Ending {
    pub(super) reason: FinishReason,
    grace_ends: Instant,
    pages: Pages,
}

/// The pages in hand when a crawl ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pages {
    GoOn,
    Dropped,
}

impl Ending {
    const fn new(reason: FinishReason, grace_ends: Instant) -> Self {
        Self { reason, grace_ends, pages: Pages::GoOn }
    }

    // When the pages in hand are dropped, unless they are already.
    pub(super) fn drops_pages_at(&self) -> Option<Instant> {
        (self.pages == Pages::GoOn).then_some(self.grace_ends)
    }

    // They are dropped before the grace is over, perhaps; what is left of it stays as it was.
    fn drop_pages(self, reason: FinishReason) -> Self {
        Self { reason, pages: Pages::Dropped, ..self }
    }

    // What is left of the grace.
    fn patience(&self, now: Instant) -> Duration {
        self.grace_ends.saturating_duration_since(now)
    }

    // How long whoever hears of the end may take. Where nobody asked for a stop nobody waits, and what pages and the finish have
    // taken is not to be missing to those who hear of it.
    pub(super) fn last_patience(&self, asked: StopLevel, grace: Duration, now: Instant) -> Duration {
        if asked == StopLevel::Run { grace } else { self.patience(now) }
    }
}

/// What comes of a crawl that is at rest.
pub(super) enum Rest {
    /// It ends.
    End(FinishReason),
    /// There is something to do again.
    GoOn,
    /// Something may come by itself.
    Wait,
}

impl Run {
    // Where nothing is in flight and nothing waits for a time: the end, unless the store knows better.
    pub(super) async fn at_rest(&mut self, fruitless: &mut u32) -> Rest {
        // What a listener hears may bring new requests: asked first, so that what it brings in between is counted.
        let ahead = match self.listening.ahead().await {
            Ok(ahead) => ahead,
            Err(error) => return Rest::End(FinishReason::StoreFailed(error.to_string())),
        };
        let pending = match self.line.store.counts(self.line.crawl).await {
            Ok(counts) => counts.pending,
            Err(error) => return Rest::End(FinishReason::StoreFailed(error.to_string())),
        };
        if pending > 0 {
            *fruitless += 1;
            self.frontier.start_over();
            let lost = format!("{pending} requests are pending, but no site offers them; this is a defect, please report it");
            return if *fruitless > 3 { Rest::End(FinishReason::StoreFailed(lost)) } else { Rest::GoOn };
        }
        *fruitless = 0;
        if self.line.settings.when_idle == WhenIdle::Wait {
            return Rest::Wait;
        }
        match ahead {
            Ahead::News => {
                self.listening.pages_are_done();
                return Rest::Wait;
            }
            // What it hears then may bring requests: the finish comes after it.
            Ahead::NextStart => return Rest::End(FinishReason::EventsUnheard),
            Ahead::Nothing => {}
        }
        if self.finish_done {
            return match self.is_over().await {
                Ok(true) => Rest::End(FinishReason::Finished),
                Ok(false) => Rest::GoOn,
                Err(error) => Rest::End(FinishReason::StoreFailed(error.to_string())),
            };
        }
        self.finish().await.map_or(Rest::GoOn, Rest::End)
    }

    // Asked once more when nothing is heard any more: a listener may have brought something since it was asked.
    async fn is_over(&mut self) -> Result<bool, StoreError> {
        if !self.listening.hold().await {
            return Ok(false);
        }
        let pending = self.line.store.counts(self.line.crawl).await?.pending;
        let is_over = pending == 0 && !self.listening.has_stored().await?;
        if !is_over {
            self.listening.nudge();
        }
        Ok(is_over)
    }

    // A limit that was reached with the last request is no reason to leave out the finish.
    pub(super) async fn last_of_all(&mut self, reason: FinishReason) -> FinishReason {
        if !matches!(reason, FinishReason::MaxItems | FinishReason::MaxRequests) {
            return reason;
        }
        match self.listeners_are_done().await {
            Ok(true) => {}
            // The next start calls it.
            Ok(false) => return reason,
            Err(error) => return FinishReason::StoreFailed(error.to_string()),
        }
        match self.line.store.counts(self.line.crawl).await {
            Ok(counts) if counts.pending == 0 => self.finish().await.unwrap_or(reason),
            Ok(_) => reason,
            Err(error) => FinishReason::StoreFailed(error.to_string()),
        }
    }

    // What a listener hears of the last pages may bring requests: it is waited for as long as the grace lasts. `false`: it is
    // still at it, or the next start is.
    async fn listeners_are_done(&mut self) -> Result<bool, StoreError> {
        self.listening.pages_are_done();
        let patience = self.ending.as_ref().map_or(self.line.settings.shutdown_grace, |ending| ending.patience(Instant::now()));
        let give_up = tokio::time::Instant::now() + patience;
        loop {
            match self.listening.ahead().await? {
                Ahead::News => {}
                Ahead::Nothing => return Ok(true),
                Ahead::NextStart => return Ok(false),
            }
            let news = tokio::select! {
                news = self.listening.next() => news,
                () = tokio::time::sleep_until(give_up) => return Ok(false),
                () = out_of_patience(self.stop.clone(), patience) => return Ok(false),
            };
            let is_gone = matches!(news, News::Gone);
            self.take_news(news);
            if is_gone {
                return Ok(false);
            }
        }
    }

    // Calls the finish entry point, unless that was done. `None`: it was called, and may have enqueued.
    async fn finish(&mut self) -> Option<FinishReason> {
        if self.finish_done {
            return Some(FinishReason::Finished);
        }
        let impatient = out_of_patience(self.stop.clone(), self.line.settings.shutdown_grace);
        match finish(&self.line, self.lease, impatient).await {
            Finish::Done(applied) => {
                self.finish_done = true;
                self.take_applied(*applied);
                None
            }
            Finish::GivenUp => Some(FinishReason::Signal),
            Finish::Failed(cause) => Some(FinishReason::FinishFailed(cause)),
            Finish::Starved(cause) => Some(FinishReason::NoMemory(cause)),
            Finish::Stale => Some(FinishReason::TakenOver),
            Finish::Lost(error) => Some(FinishReason::StoreFailed(error.to_string())),
        }
    }

    // A request has failed for good.
    pub(super) fn take_failure(&mut self, failed: &impl Display) {
        self.ended += 1;
        if self.line.settings.when_failed == WhenFailed::Abort {
            self.end(FinishReason::AbortOnError(failed.to_string()));
        }
    }

    // The opening may have failed a request that killed the host too often.
    pub(super) fn look_at_opening(&mut self) {
        if self.given_up == 0 {
            return;
        }
        tracing::warn!(
            requests = self.given_up,
            "a page crashed the host three times and is given up; `nephila status DIR --failed` names it"
        );
        if self.line.settings.when_failed == WhenFailed::Abort {
            self.end(FinishReason::AbortOnError("a page that crashed the host three times failed".to_owned()));
        }
    }

    pub(super) fn look_at_limits(&mut self) {
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

    pub(super) fn look_at_stop(&mut self) {
        let order = self.stop.borrow_and_update().clone();
        match order.level {
            StopLevel::Run => {}
            StopLevel::Graceful => self.end(order.failure.map_or(FinishReason::Signal, FinishReason::OutputFailed)),
            StopLevel::Now => self.drop_everything(),
        }
    }

    // From here on only what is in flight goes on, for at most the grace.
    pub(super) fn end(&mut self, reason: FinishReason) {
        if self.ending.is_some() {
            return;
        }
        let settings = &self.line.settings;
        // Whoever is to go on elsewhere is killed when that grace is over.
        let migration = settings.migration_grace.filter(|_| self.stop.borrow().signal == Some(Signal::Terminate));
        let deadline = Instant::now() + migration.map_or(settings.shutdown_grace, |grace| grace.min(settings.shutdown_grace));
        tracing::debug!(reason = reason.code(), in_flight = self.flights.len(), "the crawl ends once the pages in hand are done");
        self.ending = Some(Ending::new(reason, deadline));
        self.frontier.retire();
    }

    // Nothing in flight goes on. What was dropped is pending.
    pub(super) fn drop_everything(&mut self) {
        self.flights.abort_all();
        let dropped = self.flights.len() + self.frontier.abandon();
        let forced = dropped > 0;
        if forced {
            self.in_hand = InHand::Dropped;
        }
        let ending = self.ending.take().unwrap_or_else(|| Ending::new(FinishReason::Signal, Instant::now()));
        let reason = match &ending.reason {
            FinishReason::Signal if forced => FinishReason::SignalForced,
            reason => reason.clone(),
        };
        self.ending = Some(ending.drop_pages(reason));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_whoever_hears_of_the_end_have_one_grace_together() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let ending = Ending::new(FinishReason::Signal, now + 8 * second);
        assert_eq!(ending.drops_pages_at(), Some(now + 8 * second));
        assert_eq!(ending.patience(now + 3 * second), 5 * second);
        // Only where somebody asked for a stop: nobody waits for the end of a crawl that came to a limit.
        let (grace, later) = (10 * second, now + 7 * second);
        assert_eq!(ending.last_patience(StopLevel::Run, grace, later), grace);
        assert_eq!(ending.last_patience(StopLevel::Graceful, grace, later), second);
        assert_eq!(ending.last_patience(StopLevel::Now, grace, now + 9 * second), Duration::ZERO);
        let dropped = ending.drop_pages(FinishReason::SignalForced);
        assert_eq!((dropped.drops_pages_at(), &dropped.reason), (None, &FinishReason::SignalForced));
        assert_eq!(dropped.patience(now + 3 * second), 5 * second);
        assert_eq!(dropped.patience(now + 9 * second), Duration::ZERO);
    }
}
