//! A plugin's listener: one instance that hears a crawl's events and lives on between them.
//!
//! Decision: a sandbox of its own, outside the pool of idle ones. A `&mut` of it hears one event at a time, so that nothing has to be
//! locked. What it hears belongs to the instance as its memory does: a fresh instance is asked anew, and what `on` and `off` changed
//! ends with the one that said it. The cost is room that is taken for as long as the listener lives; so that listeners never take all of
//! it from pages, they get half of the host's room together, and one that finds none is told so instead of waiting for ever.

use crate::bindings::exports::nephila::crawler::listener;
use crate::call::{Call, CallReport, CallSettings};
use crate::failure::{CallFailure, ErrorInfo};
use crate::fault::Fault;
use crate::imports::events::{MOST, too_many};
use crate::plugin::Plugin;
use crate::pool::Sandbox;
use crate::run::{Answer, Entry, Ran};
use crate::sandbox::Occasion;
use crate::{names, time};
use nephila_model::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// An event for a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerEvent {
    /// What tells it from all others of the crawl: the same if it is heard once more.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What is said about it, as JSON.
    pub payload: String,
    /// When it was emitted.
    pub created_at: Timestamp,
}

/// What came of an event.
#[derive(Debug)]
pub struct ListenerReport {
    /// What the call came to. An event that the instance does not want to hear comes to nothing.
    pub report: CallReport,
    /// The events that it hears from now on. `None`: its instance is gone; [`Listener::subscriptions`] starts another and asks it.
    pub hears: Option<BTreeSet<String>>,
}

/// A plugin's listener in a crawl. It has an instance from the first time that it is asked for anything.
pub struct Listener {
    plugin: Plugin,
    settings: Arc<CallSettings>,
    live: Option<Live>,
    /// What the next instance hears, instead of what it says itself.
    inherited: Option<BTreeSet<String>>,
    /// Its place among the listeners that hear the same events.
    place: usize,
}

/// A live instance.
struct Live {
    sandbox: Sandbox,
    /// Its share of what listeners may take of the host's room.
    _share: OwnedSemaphorePermit,
}

impl Live {
    fn hears(&self) -> BTreeSet<String> {
        self.sandbox.store.data().hears.clone()
    }
}

impl Plugin {
    /// Its listener, for one crawl. Nothing runs yet. Without the entry point, it hears nothing.
    #[must_use]
    pub fn listener(&self, settings: Arc<CallSettings>) -> Listener {
        Listener { plugin: self.clone(), settings, live: None, inherited: None, place: 0 }
    }
}

impl Listener {
    /// The same listener, as one of several that hear the same events: what they ask for under one event is told apart by their places.
    #[must_use]
    pub fn at(self, place: usize) -> Self {
        Self { place, ..self }
    }

    /// The events that it hears. A fresh instance is asked, within the limits of the settings; a live one has said it.
    ///
    /// # Errors
    /// [`CallFailure`] as of a handler; [`CallFailure::Fatal`] if it names what cannot be an event; [`CallFailure::Host`] if there is no
    /// room.
    pub async fn subscriptions(&mut self) -> Result<BTreeSet<String>, CallFailure> {
        if !self.plugin.entry_points().listener {
            return Ok(BTreeSet::new());
        }
        let live = match self.live.take() {
            Some(live) => live,
            None => self.start().await?,
        };
        Ok(self.live.insert(live).hears())
    }

    /// Lets it hear an event. Request, page and session of the call are left out: a listener has none. Its limits are those of a handler.
    ///
    /// The instance lives on if the call ends by itself, with an error too; else the next event is for a fresh one. Dropping the
    /// future throws it away.
    pub async fn on_event(&mut self, call: Call, event: &ListenerEvent) -> ListenerReport {
        if !self.plugin.entry_points().listener {
            return ListenerReport { report: CallReport::nothing(), hears: Some(BTreeSet::new()) };
        }
        let live = match self.live.take() {
            Some(live) => live,
            None => match self.start().await {
                Ok(live) => live,
                Err(failure) => return ListenerReport { report: Ran::never(failure).report(), hears: None },
            },
        };
        let Live { sandbox, _share: share } = live;
        if !sandbox.store.data().hears.contains(&event.name) {
            let live = self.live.insert(Live { sandbox, _share: share });
            return ListenerReport { report: CallReport::nothing(), hears: Some(live.hears()) };
        }
        let limits = call.settings.limits;
        let call = Call { request: None, page: None, session: None, ..call };
        let record = listener::Event {
            id: event.id.clone(),
            name: event.name.clone(),
            payload: event.payload.clone(),
            created_at: time::rfc3339(event.created_at),
            extra_json: None,
        };
        let id = if self.place == 0 { event.id.clone() } else { format!("{}-{}", event.id, self.place) };
        let occasion = Occasion::Event { call, id: id.into() };
        let (ran, sandbox) = self.plugin.run_in(sandbox, occasion, limits, Entry::Event(record)).await;
        let hears = sandbox.map(|sandbox| self.live.insert(Live { sandbox, _share: share }).hears());
        ListenerReport { report: ran.report(), hears }
    }

    /// Throws the instance away, with its memory; the next one hears `hears`. To be done before an event is heard once more, after a state
    /// conflict: what the first time left in memory must not count twice, and what was heard before it is heard still.
    pub fn renew(&mut self, hears: BTreeSet<String>) {
        self.live = None;
        self.inherited = Some(hears);
    }

    /// Throws the instance away, with its memory; the next one is asked what it wants.
    pub fn restart(&mut self) {
        (self.live, self.inherited) = (None, None);
    }

    /// A fresh instance that has said what it wants to hear.
    // `&mut`, since a sandbox may move between threads and not be shared by them, and so may the future.
    async fn start(&mut self) -> Result<Live, CallFailure> {
        let plugin = &self.plugin;
        let share = plugin.runtime.listeners.clone().try_acquire_many_owned(plugin.parts.weight);
        let share = share.map_err(|_| CallFailure::Host {
            message: "listeners have taken half of the room for sandboxes; let the host have more sandboxes, or run fewer crawls at a time"
                .to_owned(),
        })?;
        let limits = self.settings.limits;
        let sandbox = plugin.fresh(limits).await?;
        let occasion = Occasion::Settings(Arc::clone(&self.settings));
        let (ran, sandbox) = plugin.run_in(sandbox, occasion, limits, Entry::Subscriptions).await;
        let hears = match ran.answer? {
            Answer::Subscribed(names) => checked(names)?,
            _ => BTreeSet::new(),
        };
        let gone = || CallFailure::Host { message: "the sandbox of a listener is gone".to_owned() };
        let mut sandbox = sandbox.ok_or_else(gone)?;
        sandbox.store.data_mut().hears = self.inherited.take().unwrap_or(hears);
        Ok(Live { sandbox, _share: share })
    }
}

/// Names of events, each one that can be.
fn checked(wanted: Vec<String>) -> Result<BTreeSet<String>, CallFailure> {
    let check = || {
        wanted.iter().try_for_each(|name| names::event(name))?;
        if wanted.len() > MOST { Err(too_many()) } else { Ok(()) }
    };
    match check() {
        Ok(()) => Ok(wanted.into_iter().collect()),
        Err(Fault::Refused { code, message }) => {
            Err(CallFailure::Fatal(ErrorInfo { code: code.to_owned(), message: format!("its subscriptions: {message}") }))
        }
        Err(Fault::Trap(error)) => Err(CallFailure::Host { message: error.to_string() }),
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener")
            .field("plugin", &self.plugin.name())
            .field("is_live", &self.live.is_some())
            .finish_non_exhaustive()
    }
}
