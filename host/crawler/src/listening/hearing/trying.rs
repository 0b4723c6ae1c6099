//! How one event is heard.
//!
//! Decision: what a call asks for is committed under the event that it heard, in the way of a handler's: if state that it saw has
//! changed, a fresh instance, which hears what the one before it heard, hears the same event again, alone from its second time. A
//! call that fails is logged, and its event counts as heard, since it would fail again; where the host is at fault it stays in
//! the store, and after some tries the listener hears nothing more: the next start finds what it has not heard.

use super::super::News;
use super::super::hearers::{Called, Faulty};
use super::super::outcome::{Committed, Then, Turn, commit};
use super::{Ears, HOST_PAUSE, Hearing, Phase};
use crate::handling::Handling;
use crate::visit::Suspicion;
use nephila_model::{Effects, EventId, Heard, StatsDelta};
use nephila_plugin::ListenerEvent;
use nephila_store::StoreError;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// Times that a listener hears an event beside handlers before it does so alone, and times at all.
const BESIDE_OTHERS: u32 = 1;
const TIMES: u32 = 8;

/// Times in a row that an event of the store is tried while the host is at fault, with pauses. After the last time nothing is
/// heard any more, so that the end of a crawl waits for this once, however many events there are.
const HOST_FAILURES: u32 = 10;

impl Hearing {
    pub(super) async fn hear(&mut self, event: &ListenerEvent, heard: Heard) -> Then {
        // Told when others may handle again: whoever takes the news may be waiting for just that.
        let (news, then) = self.hear_in_turn(event, heard).await;
        self.tell(news, then).await
    }

    async fn hear_in_turn(&mut self, event: &ListenerEvent, heard: Heard) -> (Option<News>, Then) {
        let line = Arc::clone(&self.line);
        // For as long as the mark is there, also where it is heard again.
        let _handling = match self.begin(heard).await {
            Ok(handling) => handling,
            Err(error) => return lost(error),
        };
        for time in 1..=TIMES {
            let before = self.hearers.before();
            let committed = {
                let alone = if time > BESIDE_OTHERS { Some(line.state.write().await) } else { None };
                let Called { effects, stats, faulty } = self.call(event).await;
                match (faulty, heard) {
                    (Faulty::Host, Heard::Stored(id)) => {
                        self.hearers.forget(event, before);
                        self.wants.set(self.hearers.hears(), &self.working);
                        return match self.leave(id).await {
                            Ok(()) => (None, Then::GoOn),
                            Err(error) => lost(error),
                        };
                    }
                    // It is over, heard or not; and it says nothing of whether the host is well again.
                    (Faulty::Host, Heard::Passing) => {}
                    (Faulty::Nobody | Faulty::Plugin, _) => self.host_failures = 0,
                }
                let beside = if alone.is_none() && effects.may_conflict() { Some(line.state.read().await) } else { None };
                let turn = if time < TIMES { Turn::More } else { Turn::Last };
                let committed = commit(&line, self.lease, heard, effects, stats, turn).await;
                drop((alone, beside));
                committed
            };
            match committed {
                Committed::Done(news, then) => {
                    if matches!(heard, Heard::Stored(_)) {
                        self.suspicion = Suspicion::None;
                    }
                    return (news, then);
                }
                Committed::Conflict => {
                    self.hearers.forget(event, before);
                    self.wants.set(self.hearers.hears(), &self.working);
                }
            }
        }
        tracing::warn!(event = event.name, "the listener saw changing state too often; the event is left out");
        match commit(&line, self.lease, heard, Effects::default(), StatsDelta::default(), Turn::Last).await {
            Committed::Done(news, then) => (news, then),
            Committed::Conflict => (None, Then::GoOn),
        }
    }

    // Not beside a suspect, which is handled alone, behind a mark (S10).
    async fn begin(&mut self, heard: Heard) -> Result<Handling, StoreError> {
        let (Heard::Stored(id), Suspicion::Suspect) = (heard, self.suspicion) else {
            return Ok(Handling::beside_others().await);
        };
        let alone = Handling::alone().await;
        self.line.store.mark_suspect_event(self.line.crawl, id, self.lease).await?;
        Ok(alone)
    }

    // It would pass if it were tried again: the event stays where it is, without its mark. What the process dies of meanwhile is
    // not that.
    async fn leave(&mut self, event: EventId) -> Result<(), StoreError> {
        if self.suspicion == Suspicion::Suspect {
            self.line.store.clear_suspect_event(self.line.crawl, event, self.lease).await?;
        }
        self.host_failures += 1;
        self.read.clear();
        if self.host_failures < HOST_FAILURES {
            self.again_at = Some(Instant::now() + HOST_PAUSE);
            return Ok(());
        }
        tracing::error!(
            plugins = self.hearers.names(),
            tries = HOST_FAILURES,
            "the host was at fault each time that an event was to be heard; the listener hears nothing more, and the next start of \
             the crawl has it hear what waits"
        );
        self.wants.end(&self.working);
        self.wants.set(BTreeSet::new(), &self.working);
        (self.ears, self.may_wait) = (Ears::Deaf, false);
        Ok(())
    }

    async fn call(&mut self, event: &ListenerEvent) -> Called {
        #[cfg(debug_assertions)]
        crate::crash_hook::at_event(&event.name);
        let line = Arc::clone(&self.line);
        let Called { mut effects, stats, faulty } = self.hearers.hear(&line, event).await;
        if self.phase == Phase::Closing && !(effects.requests.is_empty() && effects.events.is_empty()) {
            let (requests, events) = (effects.requests.len(), effects.events.len());
            tracing::warn!(event = event.name, requests, events, "what a listener brings at the end of its crawl is left out");
            effects.requests.clear();
            effects.events.clear();
        }
        let hears = self.hearers.hears();
        if hears != *self.wants.names() {
            self.wants.set(hears, &self.working);
        }
        Called { effects, stats, faulty }
    }
}

fn lost(error: StoreError) -> (Option<News>, Then) {
    let news = if matches!(error, StoreError::Stale) { News::Stale } else { News::Lost(Arc::new(error)) };
    (Some(news), Then::End)
}
