//! The built-in manager's inside: listeners, references, timers, under one lock.
//!
//! Decision: one lock for all of it, held for the moments that it takes to put an event into queues, so that listeners agree
//! about the order of events, and every step of the ownership is one with what follows from it. No foreign code runs under it,
//! the log included. It is taken before a listener's own lock, never the other way round.

use crate::config::Numbers;
use crate::lock::locked;
use crate::ownership::{Abandonment, Arrival, Ownership, Round, Touch};
use crate::progress::WaitsFor;
use crate::subscriber::{Forgot, HouseId, Offer, Place, Subscriber};
use crate::timers::{First, Series, Timers};
use crate::{Event, EventConfig, EventSet, EventsError, Late, Listener, ListenerId, Sampler, Subscription, waits, worker};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The built-in manager's inside.
pub(crate) struct House {
    pub(crate) id: HouseId,
    pub(crate) runtime: Handle,
    pub(crate) config: Numbers,
    /// Of the configuration, too; locked while it samples.
    pub(crate) sampler: Option<Arc<Mutex<Box<dyn Sampler>>>>,
    state: Mutex<State>,
    /// The last round that is over.
    pub(crate) rounds: watch::Sender<Round>,
}

/// What the lock guards.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) ownership: Ownership,
    listeners: Vec<Arc<Subscriber>>,
    /// Removed in the middle of a call, which others may have to wait for.
    leaving: Vec<Arc<Subscriber>>,
    pub(crate) timers: Option<Timers>,
    last_series: Series,
}

/// What became of an event.
pub(crate) struct Sent {
    /// Where it waits.
    pub(crate) places: Vec<Place>,
    /// Whose queue was full, as nobody was told yet.
    full: Vec<Arc<Subscriber>>,
}

impl House {
    pub(crate) fn new(config: EventConfig, runtime: Handle) -> Arc<Self> {
        let numbers = Numbers::from(&config);
        let sampler = config.sampler.map(|sampler| Arc::new(Mutex::new(sampler)));
        let (id, state, rounds) = (HouseId::new(), Mutex::default(), watch::Sender::default());
        Arc::new(Self { id, runtime, config: numbers, sampler, state, rounds })
    }

    pub(crate) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        locked(&self.state)
    }

    pub(crate) fn on(self: &Arc<Self>, events: EventSet, listener: Listener) -> Result<Subscription, EventsError> {
        if events.names().is_empty() {
            return Err(EventsError::NoEvents);
        }
        let touch = self.touch_of(Touch::Listen);
        let subscriber = worker::start(listener, events, self.id, self.config.queue_capacity, &self.runtime)?;
        let subscription = subscriber.subscription();
        let mut state = self.state();
        // First the listener, so that it gets the first `persistState` if it starts the manager.
        state.listeners.push(subscriber);
        let arrival = state.ownership.touch(touch);
        self.arrived(&mut state, arrival);
        Ok(subscription)
    }

    pub(crate) fn also_on(&self, events: &EventSet, listener: ListenerId) -> Result<(), EventsError> {
        let state = self.state();
        let known = state.listeners.iter().find(|subscriber| subscriber.id == listener);
        match known {
            Some(subscriber) if subscriber.also_wants(events) => Ok(()),
            _ => Err(EventsError::NoSuchListener),
        }
    }

    pub(crate) fn off(&self, events: &EventSet, listener: Option<ListenerId>) -> usize {
        let mut state = self.state();
        let mut touched = 0;
        let (mut stay, mut go) = (Vec::new(), Vec::new());
        for subscriber in std::mem::take(&mut state.listeners) {
            let is_meant = listener.is_none_or(|id| id == subscriber.id);
            let forgot = if is_meant { subscriber.forget(events) } else { Forgot::Nothing };
            touched += usize::from(forgot != Forgot::Nothing);
            if forgot == Forgot::All { go.push(subscriber) } else { stay.push(subscriber) }
        }
        state.listeners = stay;
        state.remove(go);
        touched
    }

    pub(crate) fn emit(self: &Arc<Self>, event: Event) {
        let mut state = self.state();
        let arrival = state.ownership.touch(Touch::Pass);
        self.arrived(&mut state, arrival);
        let sent = state.send(&Arc::new(event));
        drop(state);
        sent.warn();
    }

    pub(crate) fn enter(self: &Arc<Self>) {
        let mut state = self.state();
        let arrival = state.ownership.enter();
        self.arrived(&mut state, arrival);
    }

    pub(crate) fn abandon(&self) {
        let mut state = self.state();
        if state.ownership.abandon() == Abandonment::Stops {
            state.stop();
        }
    }

    /// Stops without a word, as nobody is left who could start it again.
    pub(crate) fn shut_down(&self) {
        self.state().stop();
    }

    pub(crate) async fn wait_for_listeners(&self, timeout: Option<Duration>) -> Result<(), Late> {
        let (waiter, _mark) = worker::begin_wait(self.id, WaitsFor::Listeners);
        let places = self.state().last_places();
        // On our own runtime, since the caller may have none that has timers; ended if the caller stops waiting.
        let mut waiting = JoinSet::new();
        waiting.spawn_on(waits::wait_for(places, waiter, timeout), &self.runtime);
        match waiting.join_next().await {
            Some(Ok(late)) if !late.is_empty() => Err(Late { listeners: waits::names(&late) }),
            _ => Ok(()),
        }
    }

    /// Sends the event if these timers have not been stopped meanwhile.
    pub(crate) fn send_timed(&self, series: Series, event: Event) -> Option<Vec<Place>> {
        let mut state = self.state();
        if state.timers.as_ref().is_none_or(|timers| timers.series() != series) {
            return None;
        }
        let sent = state.send(&Arc::new(event));
        drop(state);
        sent.warn();
        Some(sent.places)
    }

    /// What follows from an arrival.
    fn arrived(self: &Arc<Self>, state: &mut State, arrival: Arrival) {
        if arrival == Arrival::Starts {
            let sent = state.send(&Arc::new(Event::PersistState { is_migrating: false }));
            self.start_timers(state, First::Now, sent.places);
        }
    }

    pub(crate) fn start_timers(self: &Arc<Self>, state: &mut State, first: First, places: Vec<Place>) {
        state.last_series = state.last_series.next();
        state.timers = Some(Timers::start(self, state.last_series, first, places));
    }

    // What a listener does must not keep its own manager from stopping.
    fn touch_of(&self, touch: Touch) -> Touch {
        if worker::called(self.id).is_some() { Touch::Pass } else { touch }
    }
}

impl State {
    /// Puts the event into the queue of everybody who wants it.
    pub(crate) fn send(&mut self, event: &Arc<Event>) -> Sent {
        let name = event.name();
        let mut sent = Sent { places: Vec::new(), full: Vec::new() };
        for subscriber in &self.listeners {
            match subscriber.offer(&name, event) {
                Offer::Waits(place) => sent.places.push(place),
                Offer::DroppedFirst => sent.full.push(Arc::clone(subscriber)),
                Offer::Dropped | Offer::Unwanted => {}
            }
        }
        sent
    }

    /// What all listeners have been given so far, and calls of removed ones that are under way.
    pub(crate) fn last_places(&mut self) -> Vec<Place> {
        self.leaving.retain(|subscriber| subscriber.is_busy());
        self.listeners.iter().chain(&self.leaving).map(Subscriber::last_place).collect()
    }

    /// Stops timers and clears listeners.
    pub(crate) fn stop(&mut self) {
        self.timers = None;
        let all = std::mem::take(&mut self.listeners);
        self.remove(all);
    }

    fn remove(&mut self, subscribers: Vec<Arc<Subscriber>>) {
        self.leaving.retain(|subscriber| subscriber.is_busy());
        for subscriber in subscribers {
            subscriber.remove();
            if subscriber.is_busy() {
                self.leaving.push(subscriber);
            }
        }
    }
}

impl Sent {
    /// Says whose queue was full; to be called without the lock, as the log may lead anywhere.
    pub(crate) fn warn(&self) {
        for subscriber in &self.full {
            tracing::warn!(
                listener = %subscriber.name,
                "a listener is so far behind that events for it are being dropped; make it faster, or let it listen to fewer events"
            );
        }
    }
}
