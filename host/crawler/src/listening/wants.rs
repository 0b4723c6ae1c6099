//! What the plugin's listener wants to hear, and what of it the event manager tells.
//!
//! Decision: a plugin's events and the ends of sessions come from the store, and the crawl's beginning and end from the run loop,
//! so that none is missed by one that could be asked what it wants at the start; only the host's own in between are registered for, all under one subscription, so that they come in
//! their order. Those of other crawls in the process do not come at all: a plugin hears nothing of them, and none takes the place
//! of what it hears.

use super::Doing;
use crate::bulletin::Bulletin;
use nephila_events::{Event, EventName, Events, Listener, Subscription};
use nephila_model::CrawlerId;
use std::collections::BTreeSet;
use tokio::sync::{mpsc, oneshot, watch};

/// A host's own event, and whom to tell that it was heard.
pub(super) type Passing = (Event, oneshot::Sender<()>);

/// What the listener wants.
pub(super) struct Wants {
    events: Events,
    crawler: CrawlerId,
    plugin: String,
    names: BTreeSet<String>,
    registered: Option<Subscription>,
    passing: mpsc::Sender<Passing>,
}

impl Wants {
    /// Nothing yet. What the event manager tells goes to `passing`, one event after another, each when the one before was heard.
    pub(super) fn new(bulletin: &Bulletin, plugin: &str, passing: mpsc::Sender<Passing>) -> Self {
        let (events, crawler) = (bulletin.events().clone(), bulletin.crawler().clone());
        Self { events, crawler, plugin: plugin.to_owned(), names: BTreeSet::new(), registered: None, passing }
    }

    /// The names of the events.
    pub(super) const fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    /// Whether it is to hear this one.
    pub(super) fn has(&self, event: &Event) -> bool {
        // A manager of somebody's own may tell of all crawls.
        self.names.contains(&event.name().to_string()) && event.crawler_id().is_none_or(|of| *of == self.crawler)
    }

    /// Events that the event manager has for it still.
    pub(super) fn on_their_way(&self) -> usize {
        let stats = self.registered.as_ref().map(Subscription::stats).unwrap_or_default();
        stats.waiting + stats.handling
    }

    /// These from now on.
    pub(super) fn set(&mut self, names: BTreeSet<String>, working: &watch::Sender<Doing>) {
        let (before, now) = (of_manager(&self.names), of_manager(&names));
        let gone: Vec<EventName> = before.difference(&now).cloned().collect();
        let new: Vec<EventName> = now.difference(&before).cloned().collect();
        self.names = names;
        if !new.is_empty() {
            let registered = match self.registered.take() {
                Some(subscription) => self.events.also_on(new, subscription.id()).map(|()| subscription),
                None => self.events.on(new, self.told()),
            };
            match registered {
                Ok(subscription) => self.registered = Some(subscription),
                Err(error) => tracing::warn!(%error, "the listener does not hear the host's own events"),
            }
        }
        if let (Some(subscription), false) = (&self.registered, gone.is_empty()) {
            self.events.off(gone, Some(subscription.id()));
            if now.is_empty() {
                self.registered = None;
            }
        }
        working.send_modify(|doing| doing.registered.clone_from(&self.registered));
    }

    /// The event manager tells it nothing more. What it wants stays as it is.
    pub(super) fn end(&mut self, working: &watch::Sender<Doing>) {
        if let Some(subscription) = self.registered.take() {
            self.events.off(of_manager(&self.names).into_iter().collect::<Vec<_>>(), Some(subscription.id()));
            working.send_modify(|doing| doing.registered = None);
        }
    }

    fn told(&self) -> Listener {
        let passing = self.passing.clone();
        let told = Listener::new(move |event: Event| {
            let passing = passing.clone();
            async move {
                let (done, heard) = oneshot::channel();
                // An error means that the crawl has ended.
                if passing.send((event, done)).await.is_ok() {
                    let _ = heard.await;
                }
            }
        });
        told.named(format!("plugin {}", self.plugin)).of(self.crawler.clone())
    }
}

// Those of them that the event manager tells.
fn of_manager(names: &BTreeSet<String>) -> BTreeSet<EventName> {
    names.iter().filter_map(|name| name.parse().ok()).filter(is_of_manager).collect()
}

const fn is_of_manager(name: &EventName) -> bool {
    !matches!(name, EventName::Named(_) | EventName::SessionRetired | EventName::CrawlStarted | EventName::CrawlFinished)
}

/// Whether an event comes by the clock, whatever happens.
pub(super) const fn comes_again(event: &Event) -> bool {
    matches!(event, Event::SystemInfo(_) | Event::CrawlerStatus { .. } | Event::PersistState { is_migrating: false })
}
