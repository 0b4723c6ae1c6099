//! The task that lets listeners hear.
//!
//! Decision: what a call asks for is committed under the event that it heard, in the way of a handler's: if state that it saw has changed, a
//! fresh instance, which hears what the one before it heard, hears the same event again, alone from its second time. A call that fails
//! is logged, and its event counts as heard, since it would fail again; where the host is at fault it stays in the store, and after some
//! tries the listener hears nothing more: the next start finds what it has not heard.

use super::hearers::{Called, Faulty, Hearers};
use super::outcome::{Committed, Then, commit};
use super::wants::{Passing, Wants, comes_again};
use super::{AtWork, Doing, Late, News, ON_ITS_WAY, Order, Pages, Sides};
use crate::line::Line;
use crate::visit::Suspicion;
use nephila_events::Event;
use nephila_model::{Effects, EventId, Heard, Lease, StatsDelta, Timestamp};
use nephila_plugin::ListenerEvent;
use nephila_store::{LeftBehind, StoreError, StoredEvent};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};

/// Times that a listener hears an event beside handlers before it does so alone, and times at all.
const BESIDE_OTHERS: u32 = 1;
const TIMES: u32 = 8;

/// Times in a row that an event of the store is tried while the host is at fault, and how long it is left where it is in between. After
/// the last time nothing is heard any more, so that the end of a crawl waits for this once, however many events there are.
const HOST_FAILURES: u32 = 10;
const HOST_PAUSE: Duration = Duration::from_millis(300);

/// How long an event may be on its way from the event manager.
const REST: Duration = Duration::from_millis(5);

/// Events that are read from the store at a time.
const AT_A_TIME: usize = 64;

/// Where the crawl is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// Its reason to end stands, and the listener hears the last events.
    Closing,
}

/// Whether it hears what comes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ears {
    Open,
    /// Not until the next order.
    Held,
    /// Never again: the host is at fault.
    Deaf,
}

pub(super) struct Hearing {
    line: Arc<Line>,
    lease: Lease,
    news: mpsc::Sender<News>,
    hearers: Hearers,
    wants: Wants,
    passing: mpsc::Receiver<Passing>,
    began: Timestamp,
    passed: u64,
    /// Read from the store and not heard yet.
    read: VecDeque<StoredEvent>,
    /// Whether the store may have more.
    may_wait: bool,
    /// Of the first event of the store: the process may have died while it was heard.
    suspicion: Suspicion,
    /// The last event of the store that others were told of: whatever becomes of it here, they hear it once.
    named: EventId,
    /// Times in a row that the host's fault kept an event from being heard.
    host_failures: u32,
    /// When the store is looked at again, after a fault of the host.
    again_at: Option<Instant>,
    ears: Ears,
    phase: Phase,
    working: watch::Sender<Doing>,
    pages: watch::Receiver<Pages>,
}

impl Hearing {
    pub(super) fn new(line: Arc<Line>, lease: Lease, left: LeftBehind, Sides { news, working, pages }: Sides) -> Self {
        let hearers = Hearers::of(&line);
        let (sender, passing) = mpsc::channel(1);
        let wants = Wants::new(line.bulletin.events().clone(), &hearers.names(), sender);
        Self {
            line,
            lease,
            news,
            hearers,
            wants,
            passing,
            began: Timestamp::now(),
            passed: 0,
            read: VecDeque::new(),
            may_wait: true,
            suspicion: if left == LeftBehind::Crash { Suspicion::Suspect } else { Suspicion::None },
            named: EventId(0),
            host_failures: 0,
            again_at: None,
            ears: Ears::Open,
            phase: Phase::Open,
            working,
            pages,
        }
    }

    pub(super) async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        loop {
            match orders.recv().await {
                Some(Order::Emitted) => break,
                // Nobody waits for more than the answer.
                Some(Order::Hold(done)) => {
                    let _ = done.send(());
                }
                Some(Order::Last(_, _, done)) => {
                    let _ = done.send(());
                    return;
                }
                None => return,
            }
        }
        self.note(AtWork::Yes);
        self.subscribe().await;
        let mut then = self.pass(self.line.bulletin.start()).await;
        while then == Then::GoOn {
            if self.ears == Ears::Deaf {
                self.note(AtWork::Never);
            } else if !self.may_wait {
                self.note(AtWork::No);
            }
            let (hears, again_at) = (self.ears != Ears::Held, self.again_at);
            then = tokio::select! {
                biased;
                order = orders.recv() => match order {
                    Some(Order::Emitted) => {
                        if self.ears != Ears::Deaf {
                            (self.ears, self.may_wait) = (Ears::Open, true);
                        }
                        Then::GoOn
                    }
                    Some(Order::Hold(done)) => {
                        self.hold(done);
                        Then::GoOn
                    }
                    Some(Order::Last(events, late, done)) => {
                        self.hear_last(events, late).await;
                        // Whoever waited may have lost patience.
                        let _ = done.send(());
                        Then::End
                    }
                    None => Then::End,
                },
                // One of these between two of the store's, so that a backlog holds up none of them.
                Some((event, done)) = self.passing.recv(), if hears => {
                    self.note(AtWork::Yes);
                    let then = self.pass(event).await;
                    let _ = done.send(());
                    then
                }
                () = pause_until(again_at), if hears && self.may_wait => {
                    self.again_at = None;
                    self.next_stored().await
                }
            };
        }
    }

    async fn hear_last(&mut self, events: Vec<Event>, late: Late) {
        if late == Late::LeftOut {
            self.phase = Phase::Closing;
        }
        self.hear_the_rest().await;
        self.wants.end(&self.working);
        self.phase = Phase::Closing;
        for event in events {
            self.note(AtWork::Yes);
            self.pass(event).await;
        }
        self.note(AtWork::No);
    }

    fn hold(&mut self, done: oneshot::Sender<()>) {
        if self.ears == Ears::Deaf {
            let _ = done.send(());
        } else if done.send(()).is_ok() {
            self.ears = Ears::Held;
        } else {
            // While it stood in the way, no other order could come.
            self.may_wait = true;
        }
    }

    fn note(&self, at_work: AtWork) {
        self.working.send_if_modified(|doing| std::mem::replace(&mut doing.at_work, at_work) != at_work);
    }

    // Asks the plugins what they want to hear.
    async fn subscribe(&mut self) {
        self.hearers.subscribe().await;
        self.wants.set(self.hearers.hears(), &self.working);
    }

    // What the event manager has for this listener still, since a crawl that is being ended is over soon after it was told so. What comes
    // by the clock is left out: it would never be the rest.
    async fn hear_the_rest(&mut self) {
        let mut last = Instant::now();
        loop {
            let waiting = self.wants.on_their_way();
            let passing = tokio::time::timeout(REST, self.passing.recv()).await;
            match passing {
                Ok(Some((event, done))) if comes_again(&event) => {
                    let _ = done.send(());
                    if last.elapsed() > ON_ITS_WAY {
                        return;
                    }
                }
                Ok(Some((event, done))) => {
                    self.note(AtWork::Yes);
                    self.pass(event).await;
                    let _ = done.send(());
                    self.note(AtWork::No);
                    last = Instant::now();
                }
                Ok(None) => return,
                Err(_) if waiting == 0 => return,
                Err(_) => {}
            }
        }
    }

    // One of those that wait in the store.
    async fn next_stored(&mut self) -> Then {
        self.note(AtWork::Yes);
        if self.read.is_empty() {
            match self.line.store.events(self.line.crawl, EventId(0), AT_A_TIME).await {
                Ok(waiting) => self.read = waiting.into(),
                Err(error) => return self.tell(Some(News::Lost(Arc::new(error))), Then::End).await,
            }
        }
        let Some(StoredEvent { id, name, payload, emitted_at }) = self.read.pop_front() else {
            self.may_wait = false;
            return Then::GoOn;
        };
        if id > self.named {
            self.named = id;
            self.line.bulletin.stored(&name, &payload);
        }
        let event = ListenerEvent { id: format!("e{}", id.0), name, payload, created_at: emitted_at };
        self.hear(&event, Heard::Stored(id)).await
    }

    async fn pass(&mut self, event: Event) -> Then {
        if !self.wants.has(&event, self.line.bulletin.crawler()) {
            return Then::GoOn;
        }
        // One that needs longer for it than until the next comes would keep the crawl from its end.
        if self.phase == Phase::Open && *self.pages.borrow() == Pages::Done && comes_again(&event) {
            return Then::GoOn;
        }
        self.passed += 1;
        let id = format!("p{}-{}", self.began.as_millis(), self.passed);
        let (name, payload) = (event.name().to_string(), event.payload().to_string());
        let event = ListenerEvent { id, name, payload, created_at: Timestamp::now() };
        self.hear(&event, Heard::Passing).await
    }

    async fn hear(&mut self, event: &ListenerEvent, heard: Heard) -> Then {
        let line = Arc::clone(&self.line);
        for time in 1..=TIMES {
            let before = self.hearers.before();
            let committed = {
                // Not beside a suspect, which is handled alone (S10).
                let _handling = match (heard, self.suspicion) {
                    (Heard::Stored(id), Suspicion::Suspect) => {
                        let guard = line.handling.write().await;
                        match line.store.mark_suspect_event(line.crawl, id, self.lease).await {
                            Ok(()) => (Some(guard), None),
                            Err(StoreError::Stale) => return self.tell(Some(News::Stale), Then::End).await,
                            Err(error) => return self.tell(Some(News::Lost(Arc::new(error))), Then::End).await,
                        }
                    }
                    _ => (None, Some(line.handling.read().await)),
                };
                let alone = if time > BESIDE_OTHERS { Some(line.state.write().await) } else { None };
                let Called { effects, stats, faulty } = self.call(event).await;
                match (faulty, heard) {
                    (Faulty::Host, Heard::Stored(_)) => {
                        self.hearers.forget(event, before);
                        self.wants.set(self.hearers.hears(), &self.working);
                        self.leave();
                        return Then::GoOn;
                    }
                    // It is over, heard or not; and it says nothing of whether the host is well again.
                    (Faulty::Host, Heard::Passing) => {}
                    (Faulty::Nobody | Faulty::Plugin, _) => self.host_failures = 0,
                }
                let beside = if alone.is_none() && effects.may_conflict() { Some(line.state.read().await) } else { None };
                let committed = commit(&line, self.lease, heard, effects, stats).await;
                drop((alone, beside));
                committed
            };
            match committed {
                Committed::Done(news, then) => {
                    if matches!(heard, Heard::Stored(_)) {
                        self.suspicion = Suspicion::None;
                    }
                    return self.tell(news, then).await;
                }
                Committed::Conflict => {
                    self.hearers.forget(event, before);
                    self.wants.set(self.hearers.hears(), &self.working);
                }
            }
        }
        tracing::warn!(event = event.name, "the listener saw changing state too often; the event is left out");
        match commit(&line, self.lease, heard, Effects::default(), StatsDelta::default()).await {
            Committed::Done(news, then) => self.tell(news, then).await,
            Committed::Conflict => Then::GoOn,
        }
    }

    // It would pass if it were tried again: the event stays where it is.
    fn leave(&mut self) {
        self.host_failures += 1;
        self.read.clear();
        if self.host_failures < HOST_FAILURES {
            self.again_at = Some(Instant::now() + HOST_PAUSE);
            return;
        }
        tracing::error!(
            plugins = self.hearers.names(),
            tries = HOST_FAILURES,
            "the host was at fault each time that an event was to be heard; the listener hears nothing more, and the next start of the crawl \
             has it hear what waits"
        );
        self.wants.end(&self.working);
        self.wants.set(BTreeSet::new(), &self.working);
        (self.ears, self.may_wait) = (Ears::Deaf, false);
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

    async fn tell(&mut self, news: Option<News>, then: Then) -> Then {
        let Some(news) = news else { return then };
        if self.news.send(news).await.is_ok() { then } else { Then::End }
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.wants.end(&self.working);
    }
}

async fn pause_until(at: Option<Instant>) {
    if let Some(at) = at {
        tokio::time::sleep_until(at.into()).await;
    }
}
