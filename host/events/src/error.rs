//! What can go wrong with events, each with the way out.

use crate::InvalidInterval;

/// A refusal of the access point or of a manager.
#[derive(Debug, thiserror::Error)]
pub enum EventsError {
    /// A manager came too late.
    #[error(
        "the event manager is in use already, so that another one would miss listeners and events; install yours before \
         anything calls on, emit or enter"
    )]
    AlreadyInUse,
    /// A second manager came before the first was used.
    #[error("another event manager is installed already, and a process has one; install only one of them")]
    AlreadyInstalled,
    /// The manager has to be awaited before it can be used.
    #[error(
        "`{call}` came before anybody entered the event manager, and this one needs an asynchronous start (it \
         declares StartKind::Asynchronous), which `{call}` cannot wait for; await `enter()` or use `run()` first"
    )]
    NotEntered {
        /// What was called.
        call: &'static str,
    },
    /// A listener without events would never be called.
    #[error("a listener was registered for no event at all; name one event at least")]
    NoEvents,
    /// There is no such listener.
    #[error(
        "this listener is not registered any more (it was taken off, or the last owner closed the event manager); register \
         it anew with `on`"
    )]
    NoSuchListener,
    /// The system gives no thread.
    #[error(
        "the system gave no thread for events ({cause}); raise its limit on threads (ulimit -u), or run less beside this process"
    )]
    Thread {
        /// What the system says.
        cause: std::io::Error,
    },
    /// The environment sets an interval to something else.
    #[error(transparent)]
    Config(#[from] InvalidInterval),
    /// What a custom manager says.
    #[error("the event manager failed: {0}")]
    Custom(Box<dyn std::error::Error + Send + Sync>),
}

/// Listeners that were not done in time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not done in time with the events they were given: {}; wait longer, or make these listeners faster", .listeners.join(", "))]
pub struct Late {
    /// Their names.
    pub listeners: Vec<String>,
}
