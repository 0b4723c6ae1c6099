//! The task that lets listeners hear: what is next.
//!
//! Decision: a loop of its own takes orders first, then what passes, then what waits in the store, one after another, so that
//! listeners hear events in an order and never two at a time. How one event is heard is in `trying.rs`.

mod trying;

use super::hearers::Hearers;
use super::outcome::Then;
use super::wants::{Passing, Wants, comes_again};
use super::{AtWork, Doing, Late, News, ON_ITS_WAY, Order, Pages, Sides};
use crate::handling::Handling;
use crate::line::Line;
use crate::visit::Suspicion;
use nephila_events::Event;
use nephila_model::{EventId, Heard, Lease, Timestamp};
use nephila_plugin::ListenerEvent;
use nephila_store::{LeftBehind, StoredEvent};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};

/// How long the host is left alone where it was at fault.
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
    /// When those listeners are asked again that could not say what they want to hear.
    ask_at: Option<Instant>,
    ears: Ears,
    phase: Phase,
    working: watch::Sender<Doing>,
    pages: watch::Receiver<Pages>,
}

impl Hearing {
    pub(super) fn new(line: Arc<Line>, lease: Lease, left: LeftBehind, Sides { news, working, pages }: Sides) -> Self {
        let hearers = Hearers::of(&line);
        let (sender, passing) = mpsc::channel(1);
        let wants = Wants::new(&line.bulletin, &hearers.names(), sender);
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
            ask_at: None,
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
        let mut then = self.hear_first().await;
        while then == Then::GoOn {
            if self.ears == Ears::Deaf {
                self.note(AtWork::Never);
            } else if !self.may_wait {
                self.note(AtWork::No);
            }
            let asks = self.ears == Ears::Open && self.hearers.wait_to_be_asked();
            self.ask_at = asks.then(|| self.ask_at.unwrap_or_else(|| Instant::now() + HOST_PAUSE));
            let (hears, again_at, ask_at) = (self.ears != Ears::Held, self.again_at, self.ask_at);
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
                () = pause_until(ask_at), if ask_at.is_some() => {
                    self.ask_at = None;
                    self.ask_again().await;
                    Then::GoOn
                }
                () = pause_until(again_at), if hears && self.may_wait => {
                    self.again_at = None;
                    self.next_stored().await
                }
            };
        }
    }

    // The manager's own first `persistState` is over before anybody of a crawl listens: the crawl's start is one of its own.
    async fn hear_first(&mut self) -> Then {
        let start = self.line.bulletin.start();
        match self.tell_of(start).await {
            Then::GoOn => self.tell_of(Event::PersistState { is_migrating: false }).await,
            Then::End => Then::End,
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
        let _handling = Handling::beside_others().await;
        self.hearers.subscribe().await;
        self.wants.set(self.hearers.hears(), &self.working);
    }

    async fn ask_again(&mut self) {
        let _handling = Handling::beside_others().await;
        self.hearers.ask_again().await;
        self.wants.set(self.hearers.hears(), &self.working);
    }

    // What the event manager has for this listener still, since a crawl that is being ended is over soon after it was told so.
    // What comes by the clock is left out: it would never be the rest.
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
        // One that needs longer for it than until the next comes would keep the crawl from its end.
        if self.phase == Phase::Open && *self.pages.borrow() == Pages::Done && comes_again(&event) {
            return Then::GoOn;
        }
        self.tell_of(event).await
    }

    async fn tell_of(&mut self, event: Event) -> Then {
        if !self.wants.has(&event) {
            return Then::GoOn;
        }
        self.passed += 1;
        let id = format!("p{}-{}", self.began.as_millis(), self.passed);
        let (name, payload) = (event.name().to_string(), event.payload().to_string());
        let event = ListenerEvent { id, name, payload, created_at: Timestamp::now() };
        self.hear(&event, Heard::Passing).await
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
