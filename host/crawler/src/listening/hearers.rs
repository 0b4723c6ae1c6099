//! The listeners of a crawl: its own plugin's, and those of others that the operator named.
//!
//! Decision: each has an instance of its own, and all of them hear an event, in the operator's order, before what they asked for
//! is committed together under that event. So each hears it with effect exactly once, and nothing has to be noted for each; a
//! later one sees the state as the earlier ones left it. The cost is that they wait for each other, and that all who heard it
//! hear it once more where what one of them saw has changed. One that cannot be asked what it wants, because the host is at
//! fault, hears what it heard before, and is asked again.

use crate::call_cost::count_call;
use crate::companion::Companion;
use crate::line::Line;
use crate::pipelines;
use nephila_model::{Effects, StatsDelta};
use nephila_plugin::{Call, CallFailure, CallReport, CallSettings, Listener, ListenerEvent, ListenerReport};
use std::collections::BTreeSet;
use std::sync::Arc;

/// All of them.
pub(super) struct Hearers(Vec<Hearer>);

struct Hearer {
    name: String,
    settings: Arc<CallSettings>,
    listener: Listener,
    hears: BTreeSet<String>,
    asked: Asked,
}

/// Whether a listener has said what it wants to hear.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Or it will not say, by its own fault.
    Yes,
    /// The host was at fault when it was asked last.
    InVain,
}

/// What an event came to.
pub(super) struct Called {
    pub(super) effects: Effects,
    pub(super) stats: StatsDelta,
    pub(super) faulty: Faulty,
}

/// Whose fault it is that a call failed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Faulty {
    Nobody,
    Plugin,
    Host,
}

/// What each of them heard before an event, and whether it could say so.
pub(super) struct Before(Vec<(BTreeSet<String>, Asked)>);

impl Hearers {
    pub(super) fn of(line: &Line) -> Self {
        let hearer = |(place, one): (usize, &Companion)| {
            let settings = Arc::clone(&one.call_settings);
            let listener = one.plugin.listener(Arc::clone(&settings)).at(place);
            Hearer { name: one.plugin.name().to_owned(), settings, listener, hears: BTreeSet::new(), asked: Asked::Yes }
        };
        Self(line.listeners.iter().enumerate().map(hearer).collect())
    }

    /// Their plugins, for people.
    pub(super) fn names(&self) -> String {
        self.0.iter().map(|hearer| hearer.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// What any of them hears.
    pub(super) fn hears(&self) -> BTreeSet<String> {
        self.0.iter().flat_map(|hearer| hearer.hears.iter().cloned()).collect()
    }

    /// Asks each what it wants to hear.
    pub(super) async fn subscribe(&mut self) {
        for hearer in &mut self.0 {
            hearer.subscribe().await;
        }
    }

    /// Whether the host has kept one of them from saying what it wants to hear.
    pub(super) fn wait_to_be_asked(&self) -> bool {
        self.0.iter().any(|hearer| hearer.asked == Asked::InVain)
    }

    /// Asks these again.
    pub(super) async fn ask_again(&mut self) {
        for hearer in self.0.iter_mut().filter(|hearer| hearer.asked == Asked::InVain) {
            hearer.subscribe().await;
        }
    }

    /// What each of them hears now.
    pub(super) fn before(&self) -> Before {
        Before(self.0.iter().map(|hearer| (hearer.hears.clone(), hearer.asked)).collect())
    }

    /// Has those who heard an event forget it, with all that their instances remember; each hears what it heard before.
    pub(super) fn forget(&mut self, event: &ListenerEvent, before: Before) {
        for (hearer, (hears, asked)) in self.0.iter_mut().zip(before.0) {
            if hears.contains(&event.name) {
                hearer.listener.renew(hears.clone());
            } else if hearer.hears.contains(&event.name) {
                // It was asked by this event, after it had been asked in vain; so it is asked again.
                hearer.listener.restart();
            }
            (hearer.hears, hearer.asked) = (hears, asked);
        }
    }

    /// Lets each of them hear an event.
    pub(super) async fn hear(&mut self, line: &Line, event: &ListenerEvent) -> Called {
        let mut called = Called { effects: Effects::default(), stats: StatsDelta::default(), faulty: Faulty::Nobody };
        for hearer in &mut self.0 {
            let (settings, earlier) = (Arc::clone(&hearer.settings), called.effects.state_ops.clone());
            let call = Call { settings, earlier, ..line.call(None, None) };
            let ListenerReport { report, hears } = hearer.listener.on_event(call.clone(), event).await;
            count_call(line, &mut called.stats, &report);
            // Of a call that failed, what it saw is left: that may be why.
            let CallReport { effects, ended, .. } = pipelines::pass(line, &call, report, &mut called.stats).await;
            called.effects = called.effects.then(effects);
            if let Err(failure) = ended {
                let plugin = hearer.name.as_str();
                tracing::warn!(plugin, event = event.name, code = failure.code(), error = %failure, "the listener failed");
                let faulty = if matches!(failure, CallFailure::Host { .. } | CallFailure::Machine { .. }) {
                    Faulty::Host
                } else {
                    Faulty::Plugin
                };
                called.faulty = called.faulty.max(faulty);
            }
            match hears {
                Some(hears) => (hearer.hears, hearer.asked) = (hears, Asked::Yes),
                // Its instance is gone, and with it what it wanted.
                None => hearer.subscribe().await,
            }
        }
        called
    }
}

impl Hearer {
    async fn subscribe(&mut self) {
        let plugin = self.name.as_str();
        match self.listener.subscriptions().await {
            Ok(hears) => (self.hears, self.asked) = (hears, Asked::Yes),
            Err(failure @ (CallFailure::Host { .. } | CallFailure::Machine { .. })) => {
                if self.asked == Asked::Yes {
                    tracing::warn!(plugin, error = %failure, "the listener could not be asked what it wants; it is asked again");
                }
                self.asked = Asked::InVain;
            }
            Err(failure) => {
                tracing::warn!(plugin, error = %failure, "the listener did not say what it wants to hear");
                (self.hears, self.asked) = (BTreeSet::new(), Asked::Yes);
            }
        }
    }
}
