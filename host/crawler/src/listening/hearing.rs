//! The task that lets the plugin's listener hear.
//!
//! Decision: what a call asks for is committed under the event that it heard, in the way of a handler's: if state that it saw has changed, a
//! fresh instance hears the same event again, a few times beside others, then alone. A call that fails is logged, and its event counts
//! as heard, since it would fail again.

use super::{News, Order};
use crate::conclude::count_call;
use crate::line::Line;
use nephila_events::{Event, EventName, Listener as Told, Subscription};
use nephila_model::{CrawlerId, Effects, EventId, Heard, Lease, Outcome, Rejection, StatsDelta, Subject, Timestamp};
use nephila_plugin::{Listener, ListenerEvent};
use nephila_store::StoredEvent;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Times that a listener hears an event beside handlers before it does so alone, and times at all.
const BESIDE_OTHERS: u32 = 1;
const TIMES: u32 = 8;

/// How long an event may be on its way from the event manager.
const REST: Duration = Duration::from_millis(5);

/// Events that are read from the store at a time.
const AT_A_TIME: usize = 64;

/// Whether it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    End,
}

/// A host's own event, and whom to tell that it was heard.
type Passing = (Event, oneshot::Sender<()>);

pub(super) struct Hearing {
    line: Arc<Line>,
    lease: Lease,
    news: mpsc::Sender<News>,
    listener: Listener,
    hears: BTreeSet<String>,
    registered: Option<Subscription>,
    passing: (mpsc::Sender<Passing>, mpsc::Receiver<Passing>),
    began: Timestamp,
    passed: u64,
}

impl Hearing {
    pub(super) fn new(line: Arc<Line>, lease: Lease, news: mpsc::Sender<News>) -> Self {
        let listener = line.plugin.listener(Arc::clone(&line.call_settings));
        let (hears, registered, passing) = (BTreeSet::new(), None, mpsc::channel(1));
        Self { line, lease, news, listener, hears, registered, passing, began: Timestamp::now(), passed: 0 }
    }

    pub(super) async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        self.subscribe().await;
        let mut then = self.pass(self.line.bulletin.start()).await;
        if then == Then::GoOn {
            then = self.stored().await;
        }
        while then == Then::GoOn {
            then = tokio::select! {
                biased;
                order = orders.recv() => match order {
                    Some(Order::Emitted) => self.stored().await,
                    Some(Order::Last(events, done)) => {
                        self.hear_the_rest().await;
                        self.unregister();
                        for event in events {
                            self.pass(event).await;
                        }
                        // Whoever waited may have lost patience.
                        let _ = done.send(());
                        Then::End
                    }
                    None => Then::End,
                },
                Some((event, done)) = self.passing.1.recv() => {
                    let then = self.pass(event).await;
                    let _ = done.send(());
                    then
                }
            };
        }
    }

    // Asks the plugin what it wants to hear.
    async fn subscribe(&mut self) {
        match self.listener.subscriptions().await {
            Ok(hears) => self.hear_these(hears),
            Err(failure) => {
                tracing::warn!(plugin = self.line.plugin.name(), error = %failure, "the listener did not say what it wants to hear");
                self.hear_these(BTreeSet::new());
            }
        }
    }

    // Has the event manager tell the host's own among them. A plugin's come from the store, and the crawl's beginning and end from the
    // run loop, so that none is missed.
    fn hear_these(&mut self, hears: BTreeSet<String>) {
        let of_host = |names: &BTreeSet<String>| -> BTreeSet<EventName> {
            let names = names.iter().filter_map(|name| name.parse().ok());
            names.filter(is_of_manager).collect()
        };
        let (before, now) = (of_host(&self.hears), of_host(&hears));
        let gone: Vec<EventName> = before.difference(&now).cloned().collect();
        let new: Vec<EventName> = now.difference(&before).cloned().collect();
        self.hears = hears;
        let events = self.line.bulletin.events();
        if !new.is_empty() {
            let registered = match self.registered.take() {
                Some(subscription) => events.also_on(new, subscription.id()).map(|()| subscription),
                None => events.on(new, self.told()),
            };
            match registered {
                Ok(subscription) => self.registered = Some(subscription),
                Err(error) => tracing::warn!(%error, "the listener does not hear the host's own events"),
            }
        }
        if let (Some(subscription), false) = (&self.registered, gone.is_empty()) {
            events.off(gone, Some(subscription.id()));
            if now.is_empty() {
                self.registered = None;
            }
        }
    }

    fn told(&self) -> Told {
        let passing = self.passing.0.clone();
        let told = Told::new(move |event: Event| {
            let passing = passing.clone();
            async move {
                let (done, heard) = oneshot::channel();
                // An error means that the crawl has ended.
                if passing.send((event, done)).await.is_ok() {
                    let _ = heard.await;
                }
            }
        });
        told.named(format!("plugin {}", self.line.plugin.name()))
    }

    // What the event manager has for this listener still, since a crawl that is being ended is over soon after it was told so.
    async fn hear_the_rest(&mut self) {
        loop {
            let waiting = self.registered.as_ref().map_or(0, |subscription| subscription.stats().waiting);
            let passing = tokio::time::timeout(REST, self.passing.1.recv()).await;
            match passing {
                Ok(Some((event, done))) => {
                    self.pass(event).await;
                    let _ = done.send(());
                }
                Ok(None) => return,
                Err(_) if waiting == 0 => return,
                Err(_) => {}
            }
        }
    }

    fn unregister(&mut self) {
        if let Some(subscription) = self.registered.take() {
            let names: Vec<EventName> = self.hears.iter().filter_map(|name| name.parse().ok()).filter(is_of_manager).collect();
            self.line.bulletin.events().off(names, Some(subscription.id()));
        }
    }

    // Everything that waits in the store.
    async fn stored(&mut self) -> Then {
        loop {
            let waiting = match self.line.store.events(self.line.crawl, EventId(0), AT_A_TIME).await {
                Ok(waiting) => waiting,
                Err(error) => return self.lost(Arc::new(error)).await,
            };
            if waiting.is_empty() {
                return Then::GoOn;
            }
            for event in waiting {
                if self.hear_stored(event).await == Then::End {
                    return Then::End;
                }
            }
        }
    }

    async fn hear_stored(&mut self, stored: StoredEvent) -> Then {
        let StoredEvent { id, name, payload, emitted_at } = stored;
        self.line.bulletin.named(&name, &payload);
        let event = ListenerEvent { id: format!("e{}", id.0), name, payload, created_at: emitted_at };
        self.hear(&event, Heard::Stored(id)).await
    }

    async fn pass(&mut self, event: Event) -> Then {
        let name = event.name().to_string();
        if !self.hears.contains(&name) || crawler_of(&event).is_some_and(|crawler| *crawler != *self.line.bulletin.crawler()) {
            return Then::GoOn;
        }
        self.passed += 1;
        let id = format!("p{}-{}", self.began.as_millis(), self.passed);
        let event = ListenerEvent { id, name, payload: event.payload().to_string(), created_at: Timestamp::now() };
        self.hear(&event, Heard::Passing).await
    }

    async fn hear(&mut self, event: &ListenerEvent, heard: Heard) -> Then {
        for time in 1..=TIMES {
            let alone = if time > BESIDE_OTHERS { Some(Arc::clone(&self.line)) } else { None };
            let alone = match &alone {
                Some(line) => Some(line.state.write().await),
                None => None,
            };
            let (effects, stats) = self.call(event).await;
            let line = Arc::clone(&self.line);
            let beside = if alone.is_none() && !effects.state_ops.is_empty() { Some(line.state.read().await) } else { None };
            let committed = self.commit(heard, effects, stats).await;
            drop((alone, beside));
            match committed {
                Committed::Done(then) => return then,
                Committed::Conflict => self.listener.renew(),
            }
        }
        tracing::warn!(event = event.name, "the listener saw changing state too often; the event is left out");
        match self.commit(heard, Effects::default(), StatsDelta::default()).await {
            Committed::Done(then) => then,
            Committed::Conflict => Then::GoOn,
        }
    }

    async fn call(&mut self, event: &ListenerEvent) -> (Effects, StatsDelta) {
        let mut stats = StatsDelta::default();
        let heard = self.listener.on_event(self.line.call(None, None), event).await;
        count_call(&self.line, &mut stats, &heard.report);
        let effects = match heard.report.ended {
            Ok(()) => heard.report.effects,
            Err(failure) => {
                let plugin = self.line.plugin.name();
                tracing::warn!(plugin, event = event.name, code = failure.code(), error = %failure, "the listener failed");
                Effects::default()
            }
        };
        match heard.hears {
            Some(hears) if hears == self.hears => {}
            Some(hears) => self.hear_these(hears),
            // Its instance is gone, and with it what it wanted.
            None => self.subscribe().await,
        }
        (effects, stats)
    }

    async fn commit(&mut self, heard: Heard, effects: Effects, stats: StatsDelta) -> Committed {
        let stop = effects.stop.clone();
        let mut outcome = Outcome {
            subject: Subject::Event(heard),
            lease: self.lease,
            verdict: None,
            effects,
            stats,
            site_next_allowed: None,
            session: None,
        };
        if heard == Heard::Passing && outcome.effects == Effects::default() && outcome.stats.is_empty() {
            return Committed::Done(Then::GoOn);
        }
        loop {
            return Committed::Done(match self.line.commits.commit(outcome.clone()).await {
                Err(error) => self.lost(error).await,
                Ok(Ok(applied)) => self.tell(News::Applied { applied: Box::new(applied), stop }).await,
                Ok(Err(Rejection::Stale { .. })) => {
                    self.tell(News::Stale).await;
                    Then::End
                }
                Ok(Err(Rejection::StateConflict { what })) => {
                    tracing::debug!(state = what, "what the listener saw has changed; it hears the event again");
                    return Committed::Conflict;
                }
                Ok(Err(Rejection::Decided | Rejection::Deferred)) => Then::GoOn,
                Ok(Err(refused @ (Rejection::State(_) | Rejection::Engine(_)))) if outcome.effects != Effects::default() => {
                    tracing::warn!(error = %refused, "what the listener asked for was refused");
                    outcome.effects = Effects::default();
                    continue;
                }
                Ok(Err(refused)) => {
                    tracing::error!(error = %refused, "an event could not be noted as heard");
                    Then::End
                }
            });
        }
    }

    async fn tell(&mut self, news: News) -> Then {
        if self.news.send(news).await.is_ok() { Then::GoOn } else { Then::End }
    }

    async fn lost(&mut self, error: Arc<nephila_store::StoreError>) -> Then {
        self.tell(News::Lost(error)).await;
        Then::End
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.unregister();
    }
}

const fn is_of_manager(name: &EventName) -> bool {
    !matches!(name, EventName::Named(_) | EventName::CrawlStarted | EventName::CrawlFinished)
}

/// What a commit came to.
enum Committed {
    Done(Then),
    Conflict,
}

/// Whose crawl an event is about, if it is about one: a plugin hears nothing of the others that share its process.
const fn crawler_of(event: &Event) -> Option<&CrawlerId> {
    match event {
        Event::CrawlerStatus { crawler_id, .. }
        | Event::SessionRetired { crawler_id, .. }
        | Event::CrawlStarted { crawler_id }
        | Event::CrawlFinished { crawler_id, .. }
        | Event::RequestFailed { crawler_id, .. } => Some(crawler_id),
        _ => None,
    }
}
