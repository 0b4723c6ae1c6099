//! A registered listener, from inside: its queue, how far it is, and how its worker is woken.
//!
//! Decision: emitting puts an event into queues and does nothing else. Each listener has a worker that takes one event after
//! another, so that it gets them in order and never overlaps itself, and a slow one delays nobody. A call begins when its event
//! is taken out of the queue: from then on taking the listener off does not stop it.

use crate::lock::locked;
use crate::progress::{Progress, Waiter, WaitsFor};
use crate::queue::{Pushed, Queue, Ticket};
use crate::{Event, EventName, EventSet, ListenerId, Subscription, SubscriptionStats};
use nephila_model::CrawlerId;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

/// A registered listener.
pub(crate) struct Subscriber {
    pub(crate) id: ListenerId,
    pub(crate) name: Arc<str>,
    /// Which manager it is registered with.
    pub(crate) house: HouseId,
    /// Whose crawl it hears of, if of one alone.
    crawler: Option<CrawlerId>,
    inbox: Mutex<Inbox>,
    /// Changed under the inbox's lock.
    progress: watch::Sender<Progress>,
    task: Notify,
    thread: Condvar,
    abort: OnceLock<AbortHandle>,
    handled: AtomicU64,
    failed: AtomicU64,
}

struct Inbox {
    wanted: EventSet,
    queue: Queue,
    is_removed: bool,
}

/// Which manager of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HouseId(u64);

impl HouseId {
    /// One that no other manager has.
    pub(crate) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// What became of an event that was offered to a listener.
pub(crate) enum Offer {
    /// It has not asked for it.
    Unwanted,
    /// It waits in its queue.
    Waits(Place),
    /// Its queue is full, as nobody has been told yet.
    DroppedFirst,
    /// Its queue is full, as was told.
    Dropped,
}

/// What the worker finds.
pub(crate) enum Next {
    /// An event.
    Turn(Turn),
    /// Nothing yet.
    Nothing,
    /// There will be no other event.
    Removed,
}

impl Subscriber {
    pub(crate) fn new(
        name: Arc<str>,
        crawler: Option<CrawlerId>,
        house: HouseId,
        wanted: EventSet,
        capacity: NonZeroUsize,
    ) -> Self {
        Self {
            id: ListenerId::new(),
            name,
            house,
            crawler,
            inbox: Mutex::new(Inbox { wanted, queue: Queue::new(capacity), is_removed: false }),
            progress: watch::Sender::new(Progress::default()),
            task: Notify::new(),
            thread: Condvar::new(),
            abort: OnceLock::new(),
            handled: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    /// Puts the event into the queue, if the listener wants it.
    pub(crate) fn offer(self: &Arc<Self>, name: &EventName, event: &Arc<Event>) -> Offer {
        if let (Some(of), Some(own)) = (event.crawler_id(), &self.crawler)
            && of != own
        {
            return Offer::Unwanted;
        }
        let mut inbox = locked(&self.inbox);
        if !inbox.wanted.names().contains(name) {
            return Offer::Unwanted;
        }
        match inbox.queue.push(event) {
            Pushed::DroppedFirst => return Offer::DroppedFirst,
            Pushed::Dropped => return Offer::Dropped,
            Pushed::Waits => {}
        }
        let place = Place { subscriber: Arc::clone(self), ticket: inbox.queue.last() };
        drop(inbox);
        self.wake();
        Offer::Waits(place)
    }

    /// The place of the last event that was put into the queue.
    pub(crate) fn last_place(self: &Arc<Self>) -> Place {
        Place { subscriber: Arc::clone(self), ticket: locked(&self.inbox).queue.last() }
    }

    /// The next event for the worker, which holds the turn while it calls.
    pub(crate) fn take(self: &Arc<Self>) -> Next {
        self.take_from(&mut locked(&self.inbox))
    }

    /// The next event, or [`Next::Removed`]; blocks until there is either.
    pub(crate) fn take_or_block(self: &Arc<Self>) -> Next {
        let mut inbox = locked(&self.inbox);
        loop {
            match self.take_from(&mut inbox) {
                Next::Nothing => inbox = self.thread.wait(inbox).unwrap_or_else(PoisonError::into_inner),
                next => return next,
            }
        }
    }

    fn take_from(self: &Arc<Self>, inbox: &mut Inbox) -> Next {
        if inbox.is_removed {
            return Next::Removed;
        }
        let Some((ticket, event)) = inbox.queue.pop() else { return Next::Nothing };
        self.progress.send_modify(|progress| progress.is_busy = true);
        Next::Turn(Turn { subscriber: Arc::clone(self), ticket, event: Some(event) })
    }

    /// Until there may be something to take.
    pub(crate) async fn woken(&self) {
        self.task.notified().await;
    }

    /// Adds events to those it wants; `false` if it was removed.
    pub(crate) fn also_wants(&self, events: &EventSet) -> bool {
        let mut inbox = locked(&self.inbox);
        inbox.wanted = inbox.wanted.names().iter().chain(events.names()).cloned().collect();
        !inbox.is_removed
    }

    /// Takes events from those it wants, and what waits of them from its queue.
    pub(crate) fn forget(&self, events: &EventSet) -> Forgot {
        let mut inbox = locked(&self.inbox);
        let before = inbox.wanted.names().len();
        inbox.wanted = inbox.wanted.names().iter().filter(|name| !events.names().contains(name)).cloned().collect();
        inbox.queue.forget(events);
        self.progress.send_modify(|progress| progress.done = done(&inbox.queue, *progress, progress.done));
        match inbox.wanted.names().len() {
            left if left == before => Forgot::Nothing,
            0 => Forgot::All,
            _ => Forgot::Some,
        }
    }

    /// Ends it: no call begins from here on. The one that is under way goes on.
    pub(crate) fn remove(&self) {
        let mut inbox = locked(&self.inbox);
        inbox.is_removed = true;
        inbox.queue.clear();
        self.progress.send_modify(|progress| progress.is_removed = true);
        drop(inbox);
        self.wake();
    }

    /// Ends the call that is under way where it awaits; one on a thread of its own cannot be ended.
    pub(crate) fn abort(&self) {
        if let Some(abort) = self.abort.get() {
            abort.abort();
        }
    }

    /// How its worker is ended.
    pub(crate) fn set_abort(&self, handle: AbortHandle) {
        // A worker is started once.
        drop(self.abort.set(handle));
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.progress.borrow().is_busy
    }

    /// Notes that its present call waits, for as long as the guard lives.
    pub(crate) fn waits(self: Arc<Self>, what: WaitsFor) -> Waiting {
        self.progress.send_modify(|progress| progress.begin_wait(what));
        Waiting { subscriber: self, what }
    }

    /// Counts a call that has ended.
    pub(crate) fn count(&self, result: &Result<(), String>) {
        let counter = if result.is_ok() { &self.handled } else { &self.failed };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// What the outside gets.
    pub(crate) fn subscription(self: &Arc<Self>) -> Subscription {
        let this = Arc::clone(self);
        Subscription::new(self.id, Arc::clone(&self.name), move || this.stats())
    }

    fn stats(&self) -> SubscriptionStats {
        let inbox = locked(&self.inbox);
        SubscriptionStats {
            handled: self.handled.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            replaced: inbox.queue.replaced,
            dropped: inbox.queue.dropped,
            waiting: inbox.queue.len(),
            handling: usize::from(self.is_busy()),
        }
    }

    fn wake(&self) {
        self.task.notify_one();
        self.thread.notify_one();
    }
}

/// What is left to a listener after events were taken from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forgot {
    /// It had none of them.
    Nothing,
    /// It has others.
    Some,
    /// It has none left.
    All,
}

/// How far a listener with this queue is: what was taken out of the queue or moved in it is done with, too.
fn done(queue: &Queue, progress: Progress, ticket: Ticket) -> Ticket {
    if queue.is_empty() && !progress.is_busy { queue.last() } else { ticket }
}

/// An event that a listener is being called for. The call is over when this is dropped.
pub(crate) struct Turn {
    subscriber: Arc<Subscriber>,
    ticket: Ticket,
    event: Option<Arc<Event>>,
}

impl Turn {
    /// The event, once.
    pub(crate) fn take_event(&mut self) -> Option<Event> {
        self.event.take().map(Arc::unwrap_or_clone)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let inbox = locked(&self.subscriber.inbox);
        self.subscriber.progress.send_modify(|progress| {
            progress.is_busy = false;
            progress.done = done(&inbox.queue, *progress, self.ticket);
        });
    }
}

/// A listener's present call waits while this lives.
pub(crate) struct Waiting {
    subscriber: Arc<Subscriber>,
    what: WaitsFor,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.subscriber.progress.send_modify(|progress| progress.end_wait(self.what));
    }
}

/// A place in a listener's queue, to wait for.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) subscriber: Arc<Subscriber>,
    ticket: Ticket,
}

impl Place {
    /// Until the listener is done with it, or cannot be waited for.
    pub(crate) async fn over(&self, waiter: Waiter) {
        let mut progress = self.subscriber.progress.subscribe();
        // The sender lives as long as this place.
        drop(progress.wait_for(|progress| progress.is_over(self.ticket, waiter)).await);
    }

    pub(crate) fn is_over(&self, waiter: Waiter) -> bool {
        self.subscriber.progress.borrow().is_over(self.ticket, waiter)
    }
}
